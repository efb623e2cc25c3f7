"""docs/howto/equations.md: what it shows runs, and prints what it says."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.project.source import ROOT, run_python

pytest.importorskip("sympy", reason="sympy is not installed (extra 'symbolic')")

PAGE = (ROOT / "docs" / "howto" / "equations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCRIPTS = [text for language, text in BLOCKS if language == "python"]
SHOWN = [text for language, text in BLOCKS if language == "text"]
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]


@pytest.mark.slow
def test_the_examples_print_what_the_page_says(tmp_path):
    done = run_python("-c", "\n".join(SCRIPTS), folder=tmp_path)
    assert (done.stdout, done.stderr) == ("".join(SHOWN), "")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path):
    done = run_python("-m", *shlex.split(command), folder=tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if not line.startswith("written: ")] == []
