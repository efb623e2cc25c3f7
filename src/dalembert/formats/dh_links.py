"""A Denavit-Hartenberg chain with everything it carries, out of a table with `convention` and `links`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Part
from ..model import Body, Friction, Robot, Rotor
from ..model.dh import from_dh
from ..model.robot_data import STANDARD_GRAVITY
from .tables import CHOICES, Table

_ROBOT_KEYS = ("name", "convention", "gravity", "links", "tool", "payload", "base")
_DH_KEYS = ("theta", "theta_deg", "d", "a", "alpha", "alpha_deg")
_LINK_KEYS = ("name", "type", *_DH_KEYS, "mass", "com", "inertia", "viscous", "coulomb", "rotor")
_ROTOR_KEYS = ("mass", "Izz", "Ixx", "ratio", "axis", "position")


def read_dh_links(table: Table, name: str, *, strict: bool) -> Robot:
    """The robot of the table; `name` is its name where it has none."""
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
