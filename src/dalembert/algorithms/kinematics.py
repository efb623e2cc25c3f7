"""Where links are and how they move: poses and geometric Jacobians."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from ..expr import ops
from ..model.tree import FramePlace, Segment
from ..spatial import AT_REST, IDENTITY, ZERO, Mat3, Matrix, Pose, Twist, Vec3
from .joint import joint_screw, transform
from .sweep import Sweep, Unrolled

WORLD = Pose(IDENTITY, ZERO)


def pose_step(s: Segment, parent: Pose, q: Any) -> Pose:
    """The pose of a segment in the world, from its parent's."""
    return parent.across(transform(s, q))


def segment_poses(sweep: Sweep, q: Any) -> Any:
    """World poses of all segments' internal frames."""
    return sweep.outward(pose_step, WORLD, sweep.expand(q))


def place_pose(poses: Sequence[Pose], place: FramePlace) -> Pose:
    """World pose of a frame fixed in a segment."""
    carrier = poses[place.segment] if place.segment >= 0 else WORLD
    return carrier @ place.pose


def shifted(place: FramePlace, point: Sequence[Any] | None) -> FramePlace:
    """The same frame at another origin, a point given in it."""
    return place if point is None else dataclasses.replace(place, p=place.R @ Vec3(*point) + place.p)


def homogeneous(X: Pose) -> Matrix:
    """A pose as rows of a 4x4 matrix."""
    return [[*row, p] for row, p in zip(X.R, X.p, strict=True)] + [[0.0, 0.0, 0.0, 1.0]]


def forward_kinematics(sweep: Unrolled, q: Any, places: Sequence[FramePlace]) -> list[Matrix]:
    """4x4 world poses of some frames."""
    poses = segment_poses(sweep, q)
    return [homogeneous(place_pose(poses, place)) for place in places]


def jacobian(sweep: Unrolled, q: Any, place: FramePlace, *, frame: str) -> Matrix:
    """Geometric Jacobian of a frame's origin, linear rows first: column j is (z × r, z) or (z, 0) [Siciliano, §3.1.3].

    In world axes, or, with frame='body', in those of the frame itself.
    """
    poses = segment_poses(sweep, q)
    end = place_pose(poses, place)
    columns = [AT_REST] * sweep.tree.n
    for i in sweep.tree.path(place.segment):
        s = sweep.tree.segments[i]
        v, w = joint_screw(s, poses[i].R.third, end.p - poses[i].p)
        twist = Twist(end.R.T @ v, end.R.T @ w) if frame == "body" else Twist(v, w)
        columns[s.coordinate] = columns[s.coordinate] + twist * s.multiplier
    return [[column[part][row] for column in columns] for part in (0, 1) for row in range(3)]


def analytical_jacobian(sweep: Unrolled, q: Any, place: FramePlace, *, angles: str) -> Matrix:
    """Rates of position and orientation angles instead of velocity: J_A = T(φ)⁻¹ J [Siciliano, §3.6]."""
    J = jacobian(sweep, q, place, frame="world")
    R = place_pose(segment_poses(sweep, q), place).R
    columns = [RATES[angles](R, Vec3(*(J[row][j] for row in (3, 4, 5)))) for j in range(len(J[0]))]
    return J[:3] + [[column[k] for column in columns] for k in range(len(columns[0]))]


def _rpy_rates(R: Mat3, w: Vec3) -> list[Any]:
    """Rates of roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll); infinite where cos(pitch) = 0."""
    inverse = _inverse(ops.sqrt(R.x.x * R.x.x + R.y.x * R.y.x))  # 1 / cos(pitch)
    cos_yaw, sin_yaw = R.x.x * inverse, R.y.x * inverse
    roll = (cos_yaw * w.x + sin_yaw * w.y) * inverse
    return [roll, cos_yaw * w.y - sin_yaw * w.x, w.z - R.z.x * roll]


def _zyz_rates(R: Mat3, w: Vec3) -> list[Any]:
    """Rates of φ, ϑ, ψ with R = Rz(φ) Ry(ϑ) Rz(ψ); infinite where sin(ϑ) = 0."""
    inverse = _inverse(ops.sqrt(R.x.z * R.x.z + R.y.z * R.y.z))
    c, s = R.x.z * inverse, R.y.z * inverse
    psi = (c * w.x + s * w.y) * inverse
    return [w.z - R.z.z * psi, c * w.y - s * w.x, psi]


def _inverse(x: Any) -> Any:
    """1/x, infinite for a plain 0 too: a frame that is singular in every configuration."""
    return math.inf if ops.is_zero(x) else 1.0 / x


def _quaternion_rates(R: Mat3, omega: Vec3) -> list[Any]:
    """Rates of the unit quaternion (w, x, y, z) with w ≥ 0: ½ (0, ω) ∘ (w, v)."""
    w, v = quaternion(R)
    rate = (omega * w + omega.cross(v)) * 0.5
    return [omega.dot(v) * -0.5, *rate]


def quaternion(R: Mat3) -> tuple[Any, Vec3]:
    """The unit quaternion of a rotation, w ≥ 0, by its largest component, so that no root is taken of a small number."""
    squares = [
        (R.x.x + R.y.y + R.z.z + 1.0) * 0.25,
        (R.x.x - R.y.y - R.z.z + 1.0) * 0.25,
        (R.y.y - R.x.x - R.z.z + 1.0) * 0.25,
        (R.z.z - R.x.x - R.y.y + 1.0) * 0.25,
    ]
    products = {
        (0, 1): (R.z.y - R.y.z) * 0.25,
        (0, 2): (R.x.z - R.z.x) * 0.25,
        (0, 3): (R.y.x - R.x.y) * 0.25,
        (1, 2): (R.x.y + R.y.x) * 0.25,
        (1, 3): (R.x.z + R.z.x) * 0.25,
        (2, 3): (R.y.z + R.z.y) * 0.25,
    }
    best, row = squares[0], [squares[0], *(products[0, k] for k in (1, 2, 3))]
    for i in (1, 2, 3):
        larger = ops.less(best, squares[i])
        other = [squares[i] if k == i else products[min(i, k), max(i, k)] for k in range(4)]
        row = [ops.where(larger, o, r) for o, r in zip(other, row, strict=True)]
        best = ops.where(larger, squares[i], best)
    scale = 1.0 / ops.sqrt(ops.maximum(best, 0.2))  # the largest square is at least ¼
    scale = ops.where(row[0] < 0.0, -scale, scale)
    return row[0] * scale, Vec3(row[1] * scale, row[2] * scale, row[3] * scale)


RATES = {"rpy": _rpy_rates, "zyz": _zyz_rates, "quaternion": _quaternion_rates}
