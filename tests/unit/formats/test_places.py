"""The lines of keys, found without a parser."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from dalembert.formats.places import KeyPath, json_lines, toml_lines

TOML = """
name = "r" # [not.a.header]
notes = ['''
[neither] = 1
''', "# no comment", "\\"]", 'x']
gravity = [0, # first
  0,
  -9.81]
[ tool ]
link = "a"
[[link]]
name = "a # = [b]"
"odd key" = 1
[[link.body]]
name = "b"
[[link]]
name = "c"
inertia = [
  [1, 0, 0],
  [0, 1, 0]]
[[link.body]]
name = "d"
[[link.body]]
name = "e"
[[joint]]
when = 07:32:00
rotor = { inertia = 1, more = { at = 07:32:00, z = "}" }, list = [ { x = 1 }, { y = 2 } ] }
last.part = 1
"""


def paths_of(value: Any, path: KeyPath = ()) -> dict[KeyPath, Any]:
    """Every key of a parsed file."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found: dict[KeyPath, Any] = {}
    for key, item in items:
        if isinstance(value, dict):
            found[(*path, key)] = item
        found |= paths_of(item, (*path, key))
    return found


def test_every_key_of_a_toml_file_stands_on_the_line_that_is_found():
    rows = TOML.splitlines()
    lines = toml_lines(TOML)
    for path in paths_of(tomllib.loads(TOML)):
        if path in (("link",), ("link", 0, "body"), ("link", 1, "body"), ("joint",), ("joint", 0, "last")):
            continue  # these have no key of their own
        assert str(path[-1]) in rows[lines[path] - 1], path
    assert [lines["link", 0], lines["link", 1], lines["link", 1, "body", 1]] == [11, 16, 23]


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_every_key_of_a_json_file_stands_on_the_line_that_is_found(indent):
    content = {"a": [1, {"b": "x: {[,"}, [2, {"c": {}}]], "d\\": {"e": [], "f": None}, "g": "\\"}
    text = json.dumps(content, indent=indent)
    rows, lines = text.splitlines(), json_lines(text)
    for path in paths_of(json.loads(text)):
        if path[-1] != "d\\" and "d\\" not in path:  # escapes in keys are not undone
            assert f'"{path[-1]}":' in rows[lines[path] - 1], path


@pytest.mark.slow
def test_paths_deeper_than_a_robot_are_not_kept():
    deep = "[" * 900 + "[]," * 100_000 + "[]" + "]" * 900
    assert len(json_lines(f'{{"a": {deep}, "b": 1}}')) < 20
