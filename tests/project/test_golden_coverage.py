"""Every golden value of the five documents is named in a test, or stands in a data file that a test reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.project.source import ROOT

GOLDEN = ROOT / "tests" / "golden"
LISTS = {"golden_ids", "errata_ids"}
IDS: dict[str, list[str]] = json.loads((GOLDEN / "golden_ids.json").read_text(encoding="utf-8"))["ids"]


def texts() -> dict[Path, str]:
    """The test modules, and the data files whose name stands in one of them."""
    modules = {path: path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.py"))}
    read = {path for path in GOLDEN.glob("*.json") if path.stem not in LISTS and any(named(path, m) for m in modules.values())}
    return modules | {path: path.read_text(encoding="utf-8") for path in sorted(read)}


def named(path: Path, module: str) -> bool:
    """Whether a module speaks of a data file, with or without its ending."""
    return re.search(rf"\b{re.escape(path.stem)}\b", module) is not None


def occurs(name: str, text: str) -> bool:
    """Whether an identifier stands in a text by itself, not as the beginning of a longer one."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def test_an_identifier_is_not_found_in_a_longer_one():
    assert occurs("001.problem7.1", 'CASES["001.problem7.1"]')
    assert occurs("001.problem7.1", "as in 001.problem7.1.")
    assert not occurs("001.problem7.1", "001.problem7.10, 001.problem7.1.B")


@pytest.mark.slow
@pytest.mark.parametrize("document", IDS)
def test_every_golden_value_is_a_test(document):
    found = "\n".join(texts().values())
    assert [name for name in IDS[document] if not occurs(name, found)] == []
