"""What a pose still lacks of the wanted one, in some directions, and how joint rates change it; over scalars.

With p, R of the frame and p*, R* wanted, and (w, v) the unit quaternion, w ≥ 0, of the turn R* Rᵀ that is left:

    position     e = p* − p                     ė = −J_v q̇                                                          (1)
    orientation  r = 2 v = 2 sin(θ/2) a         ṙ = −(w 1 + [v]×) J_ω q̇                                             (2)

r is the rotation vector θ a but for third order, and needs neither the angle nor its sine. The two have the same zeros, in each
component: r_z alone is left where the frame is turned about z, by any angle [theory: inverse_kinematics]. Directions are along
the axes of the world, or along those of the wanted pose, which do not move, so that (1) and (2) hold in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics.task_directions import TaskDirections
from ..expr import ops
from ..spatial.nested import Matrix
from ..spatial.vec3 import IDENTITY, Mat3, Vec3, mat3

_HALF_TURN = 1e-12  # of 1 + trace: nearer to half a turn, rounding decides about the axis
_AWAY = Vec3(0.8, 0.5, 0.33)  # a turn to leave exact half turns by: any axis will do


class Residual(NamedTuple):
    """Components in the directions of a task, and the matrix that gives their decrease by joint rates."""

    values: list[Any]
    rows: Matrix


def residual(task: TaskDirections, pose: Matrix, J: Matrix, wanted: Sequence[Any]) -> Residual:
    """What is left to the first three rows of a wanted 4x4 pose, given as twelve scalars; J in world axes."""
    R, p = _parts([list(row) for row in pose[:3]])
    R_wanted, p_wanted = _parts([list(wanted[4 * i : 4 * i + 4]) for i in range(3)])
    e = p_wanted - p
    speeds, rates = ([Vec3(*column[k : k + 3]) for column in zip(*J, strict=True)] for k in (0, 3))
    if task.frame == "body":
        back = R_wanted.T
        e, speeds, rates = back @ e, [back @ v for v in speeds], [back @ w for w in rates]
        R, R_wanted = back.times(R), IDENTITY
    turns = [row for row in task.rows if row > 2]
    r, rates = _turn_left(R, R_wanted, rates, partly=0 < len(turns) < 3)
    whole = [*e, *r]
    rows = [[x[i] for x in speeds] for i in range(3)] + [[x[i] for x in rates] for i in range(3)]
    return Residual([whole[row] for row in task.rows], [rows[row] for row in task.rows])


def _parts(rows: Matrix) -> tuple[Mat3, Vec3]:
    return mat3([row[:3] for row in rows]), Vec3(*(row[3] for row in rows))


def _turn_left(R: Mat3, wanted: Mat3, rates: list[Vec3], *, partly: bool) -> tuple[Vec3, list[Vec3]]:
    """r, and J_ω in its place for (2): near r = 0 they are the same, and far from it whole turns go by the shortest way."""
    pairs = list(zip(R.T, wanted.T, strict=True))  # columns: axes of both frames
    twice = pairs[0][0].cross(pairs[0][1]) + pairs[1][0].cross(pairs[1][1]) + pairs[2][0].cross(pairs[2][1])  # 2 sin(θ) a
    above = 1.0 + (pairs[0][0].dot(pairs[0][1]) + pairs[1][0].dot(pairs[1][1]) + pairs[2][0].dot(pairs[2][1]))  # 4 w²
    if partly:
        return _turn_in_parts(R, wanted, twice, above, rates)
    sure = ops.less(_HALF_TURN, above)
    by = ops.divide(1.0, ops.sqrt(ops.maximum(above, _HALF_TURN)))
    return Vec3(*(ops.where(sure, x * by, far) for x, far in zip(twice, _AWAY, strict=True))), rates


def _turn_in_parts(R: Mat3, wanted: Mat3, twice: Vec3, above: Any, rates: list[Vec3]) -> tuple[Vec3, list[Vec3]]:
    """The same where some rotations are free, so that r need not become small: (2) in full, and |r| right up to half turns.

    4 v_x² = 1 + r_xx − r_yy − r_zz of the matrix R* Rᵀ, and alike for y and z; signs are those of sin(θ) a.
    """
    w = 0.5 * ops.sqrt(ops.maximum(above, 0.0))
    by = ops.divide(1.0, ops.sqrt(ops.maximum(above, 1.0)))
    diagonal = [a.dot(b) for a, b in zip(wanted, R, strict=True)]
    sizes = [ops.sqrt(ops.maximum(1.0 + 2.0 * x - (diagonal[0] + diagonal[1] + diagonal[2]), 0.0)) for x in diagonal]
    signed = [ops.where(ops.less(x, 0.0), -size, size) for x, size in zip(twice, sizes, strict=True)]
    near = ops.less(1.0, above)  # less than 120°
    r = Vec3(*(ops.where(near, x * by, far) for x, far in zip(twice, signed, strict=True)))
    v = r * 0.5
    return r, [rate * w + v.cross(rate) for rate in rates]


__all__ = ["Residual", "residual"]
