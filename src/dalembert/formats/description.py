"""`.json` descriptions: a Denavit-Hartenberg chain with everything it carries, or a mechanism of several (`chains`).

    {"convention": "standard", "gravity": [0, 0, -9.81], "links": [{"type": "R", "d": 0.1, "a": 0.4, "mass": 2, ...}]}

The object may also stand as `input.robot` in a file of sample cases. Tables in the manner of the Robotics Toolbox, recognised by
their column `joint`, are read by `dh_table`.
"""

from __future__ import annotations

import json
from typing import Any

from ..errors import FormatError, Place, reading, shown
from ..model import Robot
from ..model.mechanism_parts import MechanismParts
from ..wording import cut
from .chains import read_chains
from .dh_links import read_dh_links
from .dh_table import read_dh_table
from .places import json_lines
from .tables import Document, Table
from .text import decoded, line_of_digits


def read_json(text: str | bytes, *, source: str = "<string>", strict: bool = False) -> Robot | MechanismParts:
    """The robot a JSON description holds, or the parts of a mechanism; `source` is the file's name in messages.

    Raises
    ------
    FormatError
        `source:line: table: what was found, what was expected`; under `strict=True` also for what is merely unphysical.
    """
    top = _parse(text, source)
    inner = top.table("input") or top
    if "mechanism" in inner.values or "chains" in inner.values:
        return _read_mechanism(top, inner, strict=strict)
    robot = inner.table("robot") or inner
    robot = Table.of_robot(top.document, robot.values, robot.path)
    with reading(top.document.place_of):
        if any("joint" in row.values for row in robot.tables("links")):
            return read_dh_table(robot, strict=strict)
        return read_dh_links(robot, top.text("id", "robot"), strict=strict)


def _read_mechanism(top: Table, inner: Table, *, strict: bool) -> MechanismParts:
    """Chains, closures and coordinates, bare or beside the other inputs of a sample case."""
    found = inner.inner("mechanism") if "mechanism" in inner.values else inner
    table = Table.of_robot(top.document, found.values, found.path)
    with reading(top.document.place_of):
        return read_chains(table, inner, top.text("id", "mechanism"), strict=strict)


def _parse(text: str | bytes, source: str) -> Table:
    words = decoded(text, source, json.detect_encoding(text) if isinstance(text, bytes) else "")
    try:
        content = json.loads(words, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}."
        raise FormatError(reason, place=Place(source, error.lineno)) from None
    except RecursionError:
        raise FormatError("values are nested too deeply; a robot needs no more than five levels.", place=Place(source)) from None
    except _TwiceError as error:
        sentence = f"key {shown(error.args[0])} stands twice in one object. Keep one of the two."
        raise FormatError(sentence, place=Place(source)) from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise FormatError(f"not JSON: {cut(str(error), 200)}.", place=Place(source, line_of_digits(words))) from None
    if not isinstance(content, dict):
        sentence = f"a {type(content).__name__} found, an object with 'convention' and 'links' expected."
        raise FormatError(sentence, place=Place(source))
    return Table.of_robot(Document(source, words, json_lines), content)


class _TwiceError(Exception):
    """A key stands twice, and JSON would silently keep the last."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise _TwiceError(key)
        table[key] = value
    return table
