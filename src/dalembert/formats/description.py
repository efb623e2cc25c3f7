"""`.json` robot descriptions: a Denavit-Hartenberg chain with everything it carries.

    {"convention": "standard", "gravity": [0, 0, -9.81], "links": [{"type": "R", "d": 0.1, "a": 0.4, "mass": 2, ...}]}

The object may also stand as `input.robot` in a file of sample cases. Tables in the manner of the Robotics Toolbox, recognised by
their column `joint`, are read by `dh_table`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..errors import FormatError
from ..model import Body, Friction, Robot, Rotor
from ..model.dh import from_dh
from ..model.robot import STANDARD_GRAVITY
from .dh_table import read_dh_table
from .tables import Table

_ROBOT_KEYS = ("name", "convention", "gravity", "links", "tool", "payload", "base")
_LINK_KEYS = ("name", "type", "theta", "d", "a", "alpha", "mass", "com", "inertia", "viscous", "coulomb", "rotor")
_ROTOR_KEYS = ("mass", "Izz", "Ixx", "ratio", "axis", "position")


def read_json(text: str | bytes, *, source: str = "<string>", strict: bool = False) -> Robot:
    """The robot a JSON description holds; `source` is the file's name in messages.

    Raises
    ------
    FormatError
        `source: table: what was found, what was expected`, with the line where the text is not JSON at all.
    """
    top = _parse(text, source)
    inner = top.table("input") or top
    if "mechanism" in inner.values or "chains" in inner.values:
        raise top.error("a closed mechanism found, an open chain expected; closed mechanisms are not read from .json yet.")
    robot = inner.table("robot") or inner
    with top.building():
        if any("joint" in row.values for row in robot.tables("links")):
            return read_dh_table(Table(source, "", robot.values), strict=strict)
        return _read_description(Table(source, "", robot.values), top.text("id", "robot"), strict=strict)


def _parse(text: str | bytes, source: str) -> Table:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"{source}:{error.lineno}: not JSON: {error.msg[:1].lower()}{error.msg[1:]}.") from None
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{source}: byte 0x{error.object[error.start]:02x} is not UTF-8 text. Save the file as UTF-8."
        ) from None
    except RecursionError:
        raise FormatError(f"{source}: values are nested too deeply; a robot needs no more than five levels.") from None
    if not isinstance(content, dict):
        raise FormatError(f"{source}: a {type(content).__name__} found, an object with 'convention' and 'links' expected.")
    return Table(source, "", content)


def _read_description(table: Table, name: str, *, strict: bool) -> Robot:
    table.refuse_other_keys(*_ROBOT_KEYS)
    table.require("links")
    identity = np.eye(4)
    return from_dh(
        [_row(row) for row in table.tables("links")],
        convention=table.text("convention"),
        name=table.text("name", name),
        gravity=table.array("gravity", (3,), default=np.array(STANDARD_GRAVITY)),
        tool=table.array("tool", (4, 4), default=identity),
        payload=_payload(table),
        base=table.array("base", (4, 4), default=identity),
        strict=strict,
    )


def _row(table: Table) -> dict[str, Any]:
    table.refuse_other_keys(*_LINK_KEYS)
    row: dict[str, Any] = {"type": table.text("type"), "inertia": table.inertia()}
    row |= table.given_numbers("theta", "d", "a", "alpha", "mass")
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
    body.refuse_other_keys("mass", "com", "inertia")
    with body.building():
        return Body("payload", body.number("mass"), body.array("com", (3,), default=np.zeros(3)), body.inertia())
