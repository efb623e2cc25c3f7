"""Pages that tell how to do something show code that runs and prints what they say."""

from __future__ import annotations

import re

import pytest

from tests.project.source import ROOT, run_python


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        "close_a_loop",
        "choose_coordinates",
        "control",
        "simulate",
        "simulate_with_inputs",
        "friction_and_stops",
        "plan_a_motion",
        "inverse_kinematics",
        "time_a_path",
    ],
)
def test_the_code_prints_what_the_page_says(page, tmp_path):
    text = (ROOT / "docs" / "howto" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    script = "".join(block for language, block in blocks if language == "python")
    shown = "".join(block for language, block in blocks if language == "text")
    done = run_python("-c", script, folder=tmp_path)
    assert (done.stdout, done.stderr) == (shown, "")
