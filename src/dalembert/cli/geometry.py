"""The Denavit-Hartenberg rows of a robot's joints, where they have any."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..model import Joint, Robot
from ..model.dh import CONVENTIONS, dh_transform

_Z = np.array([0.0, 0.0, 1.0])
_SAME = 1e-9  # [m, rad] apart by rounding alone


class DhRow(NamedTuple):
    """One row: θ and α in rad, d and a in m; q is added to θ of a revolute and to d of a prismatic joint."""

    theta: float
    d: float
    a: float
    alpha: float


class DhTable(NamedTuple):
    """A table and the convention it is read in."""

    convention: str
    rows: list[DhRow]


def dh_table(robot: Robot) -> DhTable | None:
    """The robot's joints as a Denavit-Hartenberg table, if they can be written as one in either convention.

    In the standard convention the first joint may be anywhere: its origin is the base. In the modified convention the base is
    part of the first row. A robot whose base no row can express, or whose joints move along other axes than z, has no table.
    """
    for convention in CONVENTIONS:
        rows = [_row(convention, joint, first=number == 0) for number, joint in enumerate(robot.structure.joints)]
        kept = [row for row in rows if row is not None]
        if kept and len(kept) == len(rows):
            return DhTable(convention, kept)
    return None


def _row(convention: str, joint: Joint, *, first: bool) -> DhRow | None:
    """The row of one joint, or None where it cannot be written as one."""
    standard = convention == "standard"
    constant, other = (joint.child_origin, joint.origin) if standard else (joint.origin, joint.child_origin)
    free_base = standard and first
    if not joint.moves or not np.array_equal(joint.axis, _Z) or not (free_base or np.array_equal(other, np.eye(4))):
        return None
    row = _standard(constant) if standard else _modified(constant)
    if np.abs(dh_transform(convention, *row) - constant).max() > _SAME:
        return None
    return row._replace(theta=row.theta + joint.home) if joint.turns else row._replace(d=row.d + joint.home)


def _standard(A: FloatArray) -> DhRow:
    """Read Rz(θ) Tz(d) Tx(a) Rx(α): x of the result is (cos θ, sin θ, 0), and p = d z + a x."""
    return DhRow(_angle(A[1, 0], A[0, 0]), A[2, 3], float(A[:3, 0] @ A[:3, 3]), _angle(A[2, 1], A[2, 2]))


def _modified(A: FloatArray) -> DhRow:
    """Read Rx(α) Tx(a) Rz(θ) Tz(d): z of the result is (0, −sin α, cos α), and p = a x0 + d z."""
    return DhRow(_angle(-A[0, 1], A[0, 0]), float(A[:3, 2] @ A[:3, 3]), A[0, 3], _angle(-A[1, 2], A[2, 2]))


def _angle(sine: float, cosine: float) -> float:
    return math.atan2(sine, cosine)
