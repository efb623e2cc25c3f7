"""The poses that are asked for, checked once: which rows are poses, and as rows for a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics.task_directions import TaskDirections, task_directions
from ..errors import ModelError, ShapeError

_ROTATION = 1e-6  # of RᵀR − 1: what rounding to six digits leaves
FINE, NOT_FINITE, NOT_A_ROTATION = 0, 1, 2
REASONS = {
    NOT_FINITE: "the pose contains NaN or infinity",
    NOT_A_ROTATION: "the upper left 3x3 of the pose is not a rotation, whose columns are perpendicular and of length one",
}


class WantedPoses(NamedTuple):
    """Rows of 4x4 matrices, the leading axes they come from, and for each row whether it is a pose (`REASONS`)."""

    batch: tuple[int, ...]
    rows: FloatArray
    kinds: Any


def directions_of(link: str | None, frame: str, directions: Any) -> TaskDirections:
    """The task: directions by name, or a group of them."""
    return task_directions(link, frame, None, directions)


def wanted_poses(pose: Any, task: TaskDirections) -> WantedPoses:
    """4x4 matrices, or points of shape (..., 3) where no rotation is among the directions; a single one has to be a pose."""
    given = real("pose", pose, "(..., 4, 4)")
    positions_only = max(task.rows) < 3
    if positions_only and given.ndim and given.shape[-1] == 3:
        given = _at_points(given)
    if given.ndim < 2 or given.shape[-2:] != (4, 4):
        also = " or (..., 3)" if positions_only else ""
        remedy = " For places alone, give directions='position'." if not positions_only and given.shape[-1:] == (3,) else ""
        raise ShapeError(
            f"pose: shape {given.shape} found, (..., 4, 4){also} expected: homogeneous matrices in the world.{remedy}"
        )
    rows = np.ascontiguousarray(given).reshape(-1, 4, 4)
    kinds = _kinds(rows, with_rotation=not positions_only or task.frame == "body")
    if given.ndim == 2 and kinds[0] != FINE:
        raise ModelError(f"pose: {REASONS[int(kinds[0])]}. {_REMEDIES[int(kinds[0])]}")
    return WantedPoses(given.shape[:-2], rows, kinds)


_REMEDIES = {
    NOT_FINITE: "Give finite numbers.",
    NOT_A_ROTATION: "Is it the transpose, in degrees, or rounded? Orthonormalise it first.",
}


def _at_points(points: FloatArray) -> FloatArray:
    found = np.zeros((*points.shape[:-1], 4, 4))
    found[..., :, :] = np.eye(4)
    found[..., :3, 3] = points
    return found


def _kinds(rows: FloatArray, *, with_rotation: bool) -> Any:
    """What is wrong with each row, if anything."""
    finite = np.isfinite(rows[:, :3]).all(axis=(1, 2))
    kinds = np.where(finite, FINE, NOT_FINITE)
    return np.where(finite & ~_are_rotations(rows), NOT_A_ROTATION, kinds) if with_rotation else kinds


def _are_rotations(rows: FloatArray) -> Any:
    """Whether x and y, the first two columns, are perpendicular and of length one, and z is x × y; entry by entry, for speed."""
    with np.errstate(all="ignore"):
        (a, b, c), (d, e, f), (g, h, i) = np.ascontiguousarray(rows[:, :3, :3].transpose(2, 1, 0))  # columns x, y, z
        gaps = [a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, a * d + b * e + c * f]
        gaps += [b * f - c * e - g, c * d - a * f - h, a * e - b * d - i]
        return np.max(np.abs(gaps), axis=0) <= _ROTATION


__all__ = ["FINE", "NOT_A_ROTATION", "NOT_FINITE", "REASONS", "WantedPoses", "directions_of", "wanted_poses"]
