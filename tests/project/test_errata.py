"""docs/errata.md: it lists every misprint there is a test about, and each row names a test that proves it."""

from __future__ import annotations

import json
import re

import pytest

from tests.project.source import ROOT

GOLDEN = ROOT / "tests" / "golden"
KNOWN = [name for names in json.loads((GOLDEN / "errata_ids.json").read_text(encoding="utf-8"))["ids"].values() for name in names]
ROWS = dict(re.findall(r"^\| (E\d{3}-\d{2}) \|(.*)\|$", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), re.MULTILINE))
MODULES = {path.name: path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.py"))}


def misprints(text: str) -> set[str]:
    """The misprints a text speaks of, as E001-05 or, in names of functions, e001_05."""
    return {f"E{document}-{number}" for document, number in re.findall(r"[Ee](\d{3})[-_](\d{2})(?!\d)", text)}


def proofs(row: str) -> list[tuple[str, str]]:
    """The tests a row names, and their modules: [`test_name`](../tests/golden/module.py)."""
    return re.findall(r"\[`(test_\w+)`\]\(\.\./tests/golden/(\w+\.py)\)", row)


def test_the_page_lists_every_known_misprint_in_order():
    assert list(ROWS) == KNOWN


def test_the_page_lists_every_misprint_that_has_a_test():
    assert set().union(*map(misprints, MODULES.values())) <= set(ROWS)


@pytest.mark.parametrize("name", KNOWN)
def test_a_row_names_a_test_that_speaks_of_its_misprint(name):
    named = proofs(ROWS[name])
    assert named
    for test, module in named:
        assert f"def {test}(" in MODULES[module]
        assert name in misprints(MODULES[module])


@pytest.mark.parametrize("name", KNOWN)
def test_a_row_says_place_print_correction_and_proof(name):
    cells = [cell.strip() for cell in ROWS[name].split("|")]
    assert len(cells) == 5
    assert all(cells)
