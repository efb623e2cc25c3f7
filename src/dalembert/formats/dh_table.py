"""Denavit-Hartenberg tables with the columns of the Robotics Toolbox, whose motor data are given on the motor side of the gear.

Reflected to the joint: rotor inertia G² Jm, viscous friction G² B, Coulomb friction |G| |Tc|. The first of the two Coulomb values
acts for positive *joint* speed, whatever the sign of G: that is how the toolbox itself evaluates its tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..model import Friction, Limits, Robot, Rotor
from ..model.dh import from_dh
from ..model.robot_data import STANDARD_GRAVITY
from .tables import CHOICES, Table

_REMARKS = ("has_dynamics", "configs", "note")
_TABLE_KEYS = ("source", "name", "manufacturer", "convention", "base", "tool", "gravity", "links", *_REMARKS)
_LINK_KEYS = ("joint", "theta", "d", "a", "alpha", "offset", "flip", "qlim", "mass", "com", "inertia_com", "Jm", "G", "B", "Tc")


def read_dh_table(table: Table, *, strict: bool) -> Robot:
    """The robot of such a table; `flip` turns a joint's positive direction around."""
    table.refuse_other_keys(*_TABLE_KEYS)
    rows = table.tables("links")
    identity = np.eye(4)
    robot = from_dh(
        [_row(row, number) for number, row in enumerate(rows, start=1)],
        convention=table.text("convention", choices=CHOICES),
        name=table.text("name"),
        gravity=table.array("gravity", (3,), default=np.array(STANDARD_GRAVITY)),
        tool=table.array("tool", (4, 4), default=identity),
        base=_tidy(table.array("base", (4, 4), default=identity)),
        strict=strict,
    )
    flipped = [-joint.axis if row.flag("flip") else joint.axis for joint, row in zip(robot.structure.joints, rows, strict=True)]
    joints = tuple(joint.replace(axis=axis) for joint, axis in zip(robot.structure.joints, flipped, strict=True))
    return robot.replace(structure=robot.structure.replace(joints=joints), notes=(*_notes(table), *robot.notes))


def _tidy(X: FloatArray) -> FloatArray:
    """Without the rounding error of a computed cos(π/2), so that zeros of the structure are exact."""
    rounded = np.round(X)
    return np.where(np.abs(X - rounded) < 1e-12, rounded, X)


def _notes(table: Table) -> list[str]:
    notes = [f"{table.document.source}: {table.text('note')}"] if "note" in table.values else []
    if configs := table.table("configs"):
        notes.append(
            f"{table.document.source}: configs {', '.join(configs.values)} are not part of a robot and were left in the file."
        )
    return notes


def _row(table: Table, number: int) -> dict[str, Any]:
    table.belongs_to_row(number)
    table.refuse_other_keys(*_LINK_KEYS)
    kind = table.text("joint")
    with table.building():
        row: dict[str, Any] = {"type": kind, "limits": _limits(table), "friction": _friction(table)}
        ratio = _given(table, "G", 1.0)
        if table.number("Jm", 0.0):
            row["rotor"] = Rotor(table.number("Jm"), ratio)
    row |= {key: _given(table, key, 0.0) for key in ("theta", "d", "a", "alpha")}
    row["d" if kind == "prismatic" else "theta"] += table.number("offset", 0.0)
    row |= {"mass": table.number("mass", 0.0), "inertia": table.inertia("inertia_com")}
    row["com"] = table.array("com", (3,), default=np.zeros(3))
    return row


def _given(table: Table, key: str, default: float) -> float:
    """A number; null, which stands for the joint's variable and for unknown values, gives the default."""
    return default if table.values.get(key) is None else table.number(key)


def _limits(table: Table) -> Limits:
    if table.values.get("qlim") is None:
        return Limits()
    lower, upper = table.array("qlim", (2,))
    return Limits(lower, upper)


def _friction(table: Table) -> Friction:
    ratio = _given(table, "G", 1.0)
    positive, negative = table.array("Tc", (2,), default=np.zeros(2)).tolist()
    return Friction(_given(table, "B", 0.0) * ratio * ratio, abs(positive * ratio), abs(negative * ratio))
