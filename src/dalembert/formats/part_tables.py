"""What several tables of a file have in common: poses and limits."""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray
from ..model import Limits
from .poses import make_pose, rotation_from_rpy
from .tables import Table

POSE_KEYS = ("xyz", "rpy", "rpy_deg", "rotation", "pose")


def pose_in(table: Table) -> FloatArray:
    """A pose written as `xyz` with one of `rpy`, `rpy_deg` and `rotation` (3x3), or as one 4x4 `pose`."""
    ways = [key for key in ("rpy", "rpy_deg", "rotation", "pose") if key in table.values]
    if len(ways) > 1 or ("pose" in ways and "xyz" in table.values):
        raise table.error("the orientation is given twice. Keep xyz with one of rpy, rpy_deg and rotation, or pose alone.")
    if ways == ["pose"]:
        return table.array("pose", (4, 4))
    xyz = table.array("xyz", (3,), default=np.zeros(3))
    if ways == ["rotation"]:
        return make_pose(xyz, table.array("rotation", (3, 3)))
    if ways:
        angles = table.array(ways[0], (3,))
        return make_pose(xyz, rotation_from_rpy(np.radians(angles) if ways == ["rpy_deg"] else angles))
    return make_pose(xyz)


def limits_of(table: Table) -> Limits:
    """The limits of a joint or coordinate; none where they are missing."""
    part = table.table("limits")
    if part is None:
        return Limits()
    part.refuse_other_keys("lower", "upper", "velocity", "effort")
    with part.building():
        return Limits(**part.given_numbers("lower", "upper", "velocity", "effort", infinite=True))
