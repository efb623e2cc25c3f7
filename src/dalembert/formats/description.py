"""`.json` robot descriptions: a Denavit-Hartenberg chain with everything it carries.

    {"convention": "standard", "gravity": [0, 0, -9.81], "links": [{"type": "R", "d": 0.1, "a": 0.4, "mass": 2, ...}]}

The object may also stand as `input.robot` in a file of sample cases. Tables in the manner of the Robotics Toolbox, recognised by
their column `joint`, are read by `dh_table`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import FormatError, Part, Place, reading, shown
from ..model import Body, Friction, Robot, Rotor
from ..model.dh import from_dh
from ..model.robot_data import STANDARD_GRAVITY
from ..wording import cut
from .dh_table import read_dh_table
from .places import json_lines
from .tables import CHOICES, Document, Table
from .text import decoded, line_of_digits

_ROBOT_KEYS = ("name", "convention", "gravity", "links", "tool", "payload", "base")
_DH_KEYS = ("theta", "theta_deg", "d", "a", "alpha", "alpha_deg")
_LINK_KEYS = ("name", "type", *_DH_KEYS, "mass", "com", "inertia", "viscous", "coulomb", "rotor")
_ROTOR_KEYS = ("mass", "Izz", "Ixx", "ratio", "axis", "position")


def read_json(text: str | bytes, *, source: str = "<string>", strict: bool = False) -> Robot:
    """The robot a JSON description holds; `source` is the file's name in messages.

    Raises
    ------
    FormatError
        `source:line: table: what was found, what was expected`; under `strict=True` also for what is merely unphysical.
    """
    top = _parse(text, source)
    inner = top.table("input") or top
    for key in ("mechanism", "chains"):
        if key in inner.values:
            raise top.error("a closed mechanism found, an open chain expected; closed mechanisms are not read from .json yet.")
    robot = inner.table("robot") or inner
    robot = Table.of_robot(top.document, robot.values, robot.path)
    with reading(top.document.place_of):
        if any("joint" in row.values for row in robot.tables("links")):
            return read_dh_table(robot, strict=strict)
        return _read_description(robot, top.text("id", "robot"), strict=strict)


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


def _read_description(table: Table, name: str, *, strict: bool) -> Robot:
    table.refuse_other_keys(*_ROBOT_KEYS)
    table.require("links")
    identity = np.eye(4)
    return from_dh(
        [_row(row, number) for number, row in enumerate(table.tables("links"), start=1)],
        convention=table.text("convention", choices=CHOICES),
        name=table.text("name", name),
        gravity=table.array("gravity", (3,), default=np.array(STANDARD_GRAVITY)),
        tool=table.array("tool", (4, 4), default=identity),
        payload=_payload(table),
        base=table.array("base", (4, 4), default=identity),
        strict=strict,
    )


def _row(table: Table, number: int) -> dict[str, Any]:
    table.belongs_to_row(number, link=table.text("name", f"link{number}"))
    table.refuse_other_keys(*_LINK_KEYS)
    row: dict[str, Any] = {"type": table.text("type"), "inertia": table.inertia()}
    row |= table.given_numbers("d", "a", "mass") | table.given_angles("theta", "alpha")
    if "name" in table.values:
        row["link"] = table.text("name")
    if "com" in table.values:
        row["com"] = table.array("com", (3,))
    with table.building():
        row["friction"] = Friction(table.number("viscous", 0.0), table.number("coulomb", 0.0))
    if rotor := table.table("rotor"):
        row["rotor"] = _rotor(rotor)
    return row


def _rotor(table: Table) -> Rotor:
    """A full rotor on the preceding link, whose frame its position and axis are given in."""
    table.refuse_other_keys(*_ROTOR_KEYS)
    with table.building():
        return Rotor(
            table.number("Izz"),
            table.number("ratio", 1.0),
            "full",
            table.number("mass", 0.0),
            table.number("Ixx", 0.0),
            table.array("position", (3,), default=np.zeros(3)),
            table.array("axis", (3,), default=np.array([0.0, 0.0, 1.0])),
        )


def _payload(table: Table) -> Body | None:
    body = table.table("payload")
    if body is None:
        return None
    body.belongs_to(Part("payload", ""))
    body.refuse_other_keys("mass", "com", "inertia")
    with body.building():
        return Body("payload", body.number("mass"), body.array("com", (3,), default=np.zeros(3)), body.inertia())
