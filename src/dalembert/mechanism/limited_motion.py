"""What has limits in a mechanism beside its coordinates: joints within loops, and drives at other joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics.functions import gravity_torque, inverse_dynamics
from ..dynamics.system import Coordinate, DrivesBeside
from ..model import Joint
from .joint_motion import driven_rows, joint_numbers, joint_path, loop_joints, other_drives
from .torque_sets import filled, largest, scaled


def axes_beside(system: Any) -> tuple[Coordinate, ...]:
    """The joints of a mechanism that are no coordinates."""
    return tuple(map(_axis, loop_joints(system).values()))


def motion_beside(system: Any, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Their positions and speeds along a motion (..., n)."""
    x, xd, _ = joint_path(system, (q, qd, np.zeros_like(q)), None, list(loop_joints(system)))
    return x, xd


def rows_beside(system: Any, q: Any) -> tuple[list[Any], list[list[Any]]]:
    """Their positions and the rows of ∂x/∂q, over scalars."""
    closed, which = system.state(q), list(loop_joints(system))
    return [closed.x[k] for k in which], [closed.G[k] for k in which]


def drives_beside(system: Any, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> DrivesBeside | None:
    """The drives of a mechanism that are not its coordinates, along a motion (..., n)."""
    joints = [system.robot.structure.coordinates[k] for k in joint_numbers(system, other_drives(system))]
    limits = np.array([joint.limits.effort for joint in joints])
    if not np.isfinite(limits).any():
        return None
    rows, m = scaled(driven_rows(system, q), limits).reshape(-1, len(joints), q.shape[-1]), len(joints)
    moving = filled(rows, inverse_dynamics(system, q, qd, qdd).reshape(-1, q.shape[-1]))
    still = filled(rows, gravity_torque(system, q).reshape(-1, q.shape[-1]), moving.facet)
    u = moving.use * largest(limits)
    part = np.copysign(still.ratio[:, None] * np.where(np.isfinite(limits), limits, 0.0), u)
    return DrivesBeside(tuple(map(_axis, joints)), u.reshape(*q.shape[:-1], m), part.reshape(*q.shape[:-1], m))


def _axis(joint: Joint) -> Coordinate:
    return Coordinate(joint.name, joint.turns, joint.limits)


__all__ = ["axes_beside", "drives_beside", "motion_beside", "rows_beside"]
