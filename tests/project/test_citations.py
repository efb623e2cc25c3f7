"""Every `[Key, Eq. n]` in the source leads to an entry of docs/references.bib, and every entry is cited."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from functools import cache

import pytest

from dalembert import FORMULATIONS
from tests.project.source import ROOT, modules, name_of

DOCUMENTS = {"Siciliano", "Laus", "Lee", "Milicevic", "Freeman"}
BIBLIOGRAPHY = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY, re.MULTILINE)
BRACKETS = re.compile(r"\[([A-Z][^\[\]]*)\]")
KEY = re.compile(r"[A-Z][A-Za-z]{2,}(?:\d{4})?(?=$|, )|[A-Z][A-Za-z]{2,}\d{3,4}(?=$|, )")
NOT_KEYS = {"None", "Any"}  # types in doctests and messages


def cited(text: str) -> list[str]:
    """The keys of all citations in a piece of prose; `[A, §1; B]` cites two."""
    parts = (part.strip() for bracket in BRACKETS.findall(text) for part in bracket.split(";"))
    found = (KEY.match(part) for part in parts)
    return [match.group() for match in found if match and match.group() not in NOT_KEYS]


def prose(text: str) -> str:
    """Comments and strings of a module: annotations such as `list[Joint]` stand in neither."""
    kinds = (tokenize.COMMENT, tokenize.STRING)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(token.string for token in tokens if token.type in kinds)


@cache
def keys_by_module() -> dict[str, list[str]]:
    return {name_of(module): cited(prose(module.read_text(encoding="utf-8"))) for module in modules()}


def test_citations_are_found_in_prose_and_only_there():
    assert cited("as in [Siciliano, Eq. 7.42] and [Craig2005, Eq. 3.6; Freeman]") == ["Siciliano", "Craig2005", "Freeman"]
    assert cited("a length [m], [N m | N], [J], [C qd], [DH]") == []
    assert prose("x: list[Joint] = []  # [Laus]\n") == "# [Laus]"


def test_every_citation_has_an_entry():
    unknown = {module: set(keys) - set(ENTRIES) for module, keys in keys_by_module().items()}
    assert {module: keys for module, keys in unknown.items() if keys} == {}


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_names_a_source_that_has_an_entry(name):
    assert re.match(r"\w+", FORMULATIONS[name].reference).group() in ENTRIES


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.stem)
def test_every_citation_of_the_documentation_has_an_entry(page):
    without_links = re.sub(r"\[[^\]]*\]\([^)]*\)", "", page.read_text(encoding="utf-8"))
    assert set(cited(without_links)) <= set(ENTRIES)


def test_every_entry_is_cited_or_one_of_the_five_documents():
    used = {key for keys in keys_by_module().values() for key in keys}
    assert set(ENTRIES) - used - DOCUMENTS == set()
    assert set(ENTRIES) >= DOCUMENTS


def test_no_key_stands_twice():
    assert [key for key, count in Counter(ENTRIES).items() if count > 1] == []


@pytest.mark.parametrize("key", ENTRIES)
def test_every_entry_has_a_title_and_balanced_braces(key):
    entry = re.split(r"^(?=@)", BIBLIOGRAPHY, flags=re.MULTILINE)
    text = next(part for part in entry if f"{{{key}," in part)
    assert "title" in text
    assert text.count("{") == text.count("}")
