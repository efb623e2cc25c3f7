"""Fixtures for the tests of commands."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from dalembert.cli import main


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys):
    """Run the command `dalembert` in this process."""

    def command(*arguments: str) -> Result:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        captured = capsys.readouterr()
        return Result(int(left.value.code or 0), captured.out, captured.err)

    return command
