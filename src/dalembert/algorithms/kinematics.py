"""Where links are and how they move: poses and geometric Jacobians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.tree import Place, Segment
from ..spatial import AT_REST, IDENTITY, ZERO, Motion, Pose, Vec3
from .joint import transform
from .sweep import Sweep, Unrolled

WORLD = Pose(IDENTITY, ZERO)


def pose_step(s: Segment, parent: Pose, q: Any) -> Pose:
    """The pose of a segment in the world, from its parent's."""
    return parent.across(transform(s, q))


def segment_poses(sweep: Sweep, q: Any) -> Any:
    """World poses of all segments' internal frames."""
    return sweep.outward(pose_step, WORLD, sweep.expand(q))


def place_pose(poses: Sequence[Pose], place: Place) -> Pose:
    """World pose of a frame fixed in a segment."""
    carrier = poses[place.segment] if place.segment >= 0 else WORLD
    return carrier @ Pose(place.R, place.p)


def homogeneous(X: Pose) -> list[list[Any]]:
    """A pose as rows of a 4x4 matrix."""
    return [[*row, p] for row, p in zip(X.R, X.p, strict=True)] + [[0.0, 0.0, 0.0, 1.0]]


def forward_kinematics(sweep: Unrolled, q: Any, places: Sequence[Place]) -> list[list[list[Any]]]:
    """4x4 world poses of some frames."""
    poses = segment_poses(sweep, q)
    return [homogeneous(place_pose(poses, place)) for place in places]


def jacobian(sweep: Unrolled, q: Any, place: Place, *, frame: str) -> list[list[Any]]:
    """Geometric Jacobian of a frame's origin, linear rows first: column j is (z × r, z) or (z, 0) [Siciliano, §3.1.3].

    In world axes, or, with frame='body', in those of the frame itself.
    """
    poses = segment_poses(sweep, q)
    end = place_pose(poses, place)
    columns = [AT_REST] * sweep.tree.n
    for i in sweep.tree.path(place.segment):
        s = sweep.tree.segments[i]
        v, w = _twist(s, poses[i], end)
        twist = Motion(end.R.T @ v, end.R.T @ w) if frame == "body" else Motion(v, w)
        columns[s.coordinate] = columns[s.coordinate] + twist * s.multiplier
    return [[column[part][row] for column in columns] for part in (0, 1) for row in range(3)]


def _twist(s: Segment, pose: Pose, end: Pose) -> Motion:
    """Velocity of the end frame for unit joint velocity."""
    z = Vec3(pose.R.x.z, pose.R.y.z, pose.R.z.z)
    return Motion(z.cross(end.p - pose.p) * s.turn + z * s.slide, z * s.turn)
