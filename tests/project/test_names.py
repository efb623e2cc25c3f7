"""A name stands for one thing: no public class and no module has the name of another."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from tests.project.source import PACKAGE, modules, name_of

SHARED = {
    "__init__": "every package has one",
    "__main__": "python -m",
    "contributions": "a command and a plot are named for what they show",
    "simplify": "a command is named for what it does",
}


def repeated(names: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Name and place of those that occur more than once."""
    places = defaultdict(list)
    for name, place in names:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def public_classes(source: str) -> list[str]:
    if not re.search(r"^\s*class ", source, re.MULTILINE):  # half of all modules, which need not be parsed
        return []
    return [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def test_no_two_public_classes_have_the_same_name():
    found = repeated([(name, name_of(module)) for module in modules() for name in public_classes(module.read_text())])
    assert not found


def test_no_two_modules_have_the_same_name():
    found = repeated([(module.stem, str(module.relative_to(PACKAGE))) for module in modules()])
    assert found.keys() == set(SHARED) - {"__main__"}, "a name twice, or a reason that is none any more"


def test_a_name_used_twice_is_found():
    assert repeated([("A", "x"), ("B", "x"), ("A", "y")]) == {"A": ["x", "y"]}
    assert public_classes("class A:\n    class B: ...\nclass _C: ...") == ["A", "B"]
