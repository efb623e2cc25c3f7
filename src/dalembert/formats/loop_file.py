"""The file beside a URDF that names the loops URDF cannot express, as the models of parallel robots for Pinocchio have it.

    closed_loop: [['loop1_A', 'loop1_B']]    # pairs of joints (or links) whose frames meet
    type: ['6d']                             # of each pair: '6d' holds the whole frame, '3d' its origin
    name_mot: ['motor1', 'motor2']           # the joints with a drive

Of YAML this is a small part: keys with lists of words. It is read here, strictly, so that no package for YAML is needed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import DalembertWarning, FormatError, Part, Place, UnknownNameError, listed, reading, shown
from ..model import Robot
from ..model.closures import Closure
from ..model.mechanism_parts import MechanismParts
from .text import decoded

_KINDS = {"6d": "weld", "3d": "spherical"}
_KEYS = ("closed_loop", "type", "name_mot")
_LOOPS = re.compile(r"^closed_loop[ \t]*:", re.M)
_KEY = re.compile(r"(?P<key>[A-Za-z_]\w*)[ \t]*:(?P<rest>.*)")
_TOKEN = re.compile(r"""[\[\],]|'[^'\n]*'|"[^"\n\\]*"|[^\s\[\],'"\#{}&*!|>%@`]+|\#[^\n]*|\s+|.""")
LARGEST = 100_000  # bytes; larger files beside a URDF are something else
_DEEPEST = 3


class _Entry(NamedTuple):
    """A key's value and its line."""

    value: Any
    line: int


def names_loops(text: bytes) -> bool:
    """Whether a YAML file is such a file: others that happen to stand beside a URDF are left alone."""
    return bool(_LOOPS.search(text.decode("utf-8", errors="replace")))


def with_loops(robot: Robot, text: bytes, source: str, *, strict: bool) -> Robot | MechanismParts:
    """The mechanism of a robot and its loops; where these are not understood the robot alone, with a warning that names them.

    Under `strict`, what is not understood is refused.
    """
    entries: dict[str, _Entry] = {}
    try:
        for key, entry in _entries(decoded(text, source), source):
            if key in entries:
                raise FormatError(f"key {shown(key)} stands twice. Keep one of the two.", place=Place(source, entry.line))
            entries[key] = entry
        return _mechanism(robot, entries, source, strict)
    except FormatError as error:
        if strict:
            raise
        found = entries.get("closed_loop")
        warn_of_open_loops(error, _said(found.value) if found else "")
        return robot


def warn_of_open_loops(error: FormatError, loops: str) -> None:
    """Say that a mechanism was loaded as an open tree, why, and which loops are missing."""
    with reading(lambda _part, _sentence: Place(error.file, error.line)):
        missing = f" Not closed: {loops}." if loops else ""
        warning = DalembertWarning(f"{error.sentence} The robot was loaded as an open tree.{missing}", "open-loop")
    warnings.warn(warning, stacklevel=2)


def _said(pairs: Any) -> str:
    """The loops as words, whatever was found there."""
    flat = [" – ".join(map(str, pair)) if isinstance(pair, list) else str(pair) for pair in pairs or ()]
    return listed(flat)


def _entries(text: str, source: str) -> Iterator[tuple[str, _Entry]]:
    """The keys of the file with their lists; a list may go on over several lines."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        start, line = number, lines[number]
        number += 1
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        match = _KEY.fullmatch(line)
        if match is None:
            raise FormatError(f"{shown(line)} found, a key with a list expected.", place=Place(source, start + 1))
        words = match["rest"]
        while words.count("[") > words.count("]") and number < len(lines):
            words += "\n" + lines[number]
            number += 1
        yield match["key"], _Entry(_list(words, Place(source, start + 1)), start + 1)


def _list(text: str, place: Place) -> Any:
    """Nested lists of words; a word alone is itself."""
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(text):
        if token.isspace() or token.startswith("#") or token == ",":
            continue
        if token == "[" and len(stack) <= _DEEPEST:
            stack.append([])
        elif token == "]" and len(stack) > 1:
            inner = stack.pop()
            stack[-1].append(inner)
        elif len(token) == 1 and not token.isalnum():
            raise FormatError(f"{shown(token)} found, lists of words expected.", place=place)
        else:
            stack[-1].append(token[1:-1] if token[0] in "'\"" else token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise FormatError("a list that is not closed, or more than one value found.", place=place)
    return stack[0][0]


def _mechanism(robot: Robot, entries: dict[str, _Entry], source: str, strict: bool) -> MechanismParts:
    for key, entry in entries.items():
        if key not in _KEYS:
            raise FormatError(f"key {shown(key)} is not understood. Known: {listed(_KEYS)}.", place=Place(source, entry.line))
    if "closed_loop" not in entries:
        raise FormatError("'closed_loop' is missing.", place=Place(source))
    loops = entries["closed_loop"]
    place = Place(source, loops.line)
    kinds = entries["type"].value if "type" in entries else ["6d"] * len(loops.value)
    if not _are_pairs(loops.value) or not isinstance(kinds, list) or len(kinds) != len(loops.value):
        raise FormatError("closed_loop: a list of pairs and as many types are expected.", place=place)
    with reading(lambda _part, _sentence: place):
        closures = tuple(_closure(robot, pair, kind) for pair, kind in zip(loops.value, kinds, strict=True))
        drives = _drives(robot, entries.get("name_mot"))
    return MechanismParts(
        robot.name,
        robot,
        closures,
        drives,
        np.zeros(robot.n),
        actuated=drives,
        strict=strict,
        extend=True,
        place_of=lambda _part, _sentence: place,
    )


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair) for pair in value
    )


def _closure(robot: Robot, pair: list[str], kind: Any) -> Closure:
    kind = str(kind).lower()
    if kind not in _KINDS:
        raise UnknownNameError.among("type", kind, _KINDS)
    return Closure("-".join(pair), _KINDS[kind], (_frame(robot, pair[0]), _frame(robot, pair[1])))


def _frame(robot: Robot, name: str) -> str:
    """The link whose frame is meant: in URDF that of a joint is that of the link it carries."""
    carried = {joint.name: joint.child for joint in robot.structure.joints}
    if name in carried:
        return carried[name]
    if name not in robot.link_names:
        raise UnknownNameError.among("frame", name, (*carried, *robot.link_names), part=Part("joint", name))
    return name


def _drives(robot: Robot, entry: _Entry | None) -> tuple[str, ...]:
    names = [] if entry is None else entry.value if isinstance(entry.value, list) else [entry.value]
    for name in names:
        if name not in robot.joint_names:
            raise UnknownNameError.among("name_mot", name, robot.joint_names)
    return tuple(names)


__all__ = ["LARGEST", "names_loops", "warn_of_open_loops", "with_loops"]
