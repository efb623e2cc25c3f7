"""The page on comparing and simplifying shows code that runs and prints what it says."""

from __future__ import annotations

import re

import pytest

from dalembert.cli.app import COMMANDS
from tests.project.source import ROOT, run_python

PAGE = (ROOT / "docs" / "howto" / "compare.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_code_prints_what_the_page_says(tmp_path):
    script = "".join(text for language, text in BLOCKS if language == "python")
    shown = "".join(text for language, text in BLOCKS if language == "text")
    done = run_python("-c", script, folder=tmp_path)
    assert (done.stdout, done.stderr) == (shown, "")


def test_the_commands_shown_are_known():
    lines = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    assert {line.split()[1] for line in lines} == {"compare", "simplify"}
    assert {"compare", "simplify"} <= set(COMMANDS)
