"""docs/howto/export.md: what it shows runs, and prints what it says."""

from __future__ import annotations

import importlib.util
import re
import shlex

import pytest

from tests.project.source import ROOT, run_python

PAGE = (ROOT / "docs" / "howto" / "export.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCRIPTS = [text for language, text in BLOCKS if language == "python"]
SHOWN = [text for language, text in BLOCKS if language == "text"]
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]


def test_the_c_example_prints_what_the_page_says(tmp_path):
    done = run_python("-c", SCRIPTS[0], folder=tmp_path)
    assert (done.stdout, done.stderr) == (SHOWN[0], "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scara.c", "scara.h"]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed (extra 'jax')")
def test_the_jax_example_prints_what_the_page_says(tmp_path):
    done = run_python("-c", "\n".join(SCRIPTS), folder=tmp_path)
    assert (done.stdout, done.stderr) == ("".join(SHOWN), "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path):
    done = run_python("-m", *shlex.split(command), folder=tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if not line.startswith("written: ")] == []
