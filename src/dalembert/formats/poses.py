"""Poses as files write them: a position and roll, pitch, yaw."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray

_QUARTER = math.pi / 2
_SNAP = 1e-9  # rad: a quarter turn printed to ten digits is taken as exact; at 1 m this moves nothing by more than 1 nm


def sine_cosine(angle: float) -> tuple[float, float]:
    """sin and cos, exactly 0 and ±1 at the quarter turns, so that the matrices of a file keep their zeros."""
    quarters = round(angle / _QUARTER)
    if abs(angle - quarters * _QUARTER) <= _SNAP:
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[quarters % 4]
    return math.sin(angle), math.cos(angle)


def rotation_from_rpy(rpy: ArrayLike) -> FloatArray:
    """R = Rz(yaw) Ry(pitch) Rx(roll): turns about the fixed axes x, y, z, in this order."""
    (sr, cr), (sp, cp), (sy, cy) = (sine_cosine(float(angle)) for angle in np.asarray(rpy, float))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: FloatArray) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a rotation; at pitch ±90°, where only roll ∓ yaw is defined, yaw is zero."""
    level = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], level)
    if level < 1e-9:
        return math.atan2(-R[1, 2], R[1, 1]), pitch, 0.0
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def make_pose(xyz: ArrayLike, R: ArrayLike | None = None) -> FloatArray:
    """The 4x4 transform of a position and a rotation."""
    X = np.eye(4)
    X[:3, 3] = xyz
    if R is not None:
        X[:3, :3] = R
    return X


def turn(axis: ArrayLike, angle: float) -> FloatArray:
    """The rotation about a unit axis: R = cos I + sin [a]× + (1 − cos) a aᵀ (Rodrigues)."""
    a = np.asarray(axis, float)
    s, c = sine_cosine(angle)
    cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    R: FloatArray = c * np.eye(3) + s * cross + (1 - c) * np.outer(a, a)
    return R


def rotate_tensor(R: FloatArray, I: FloatArray) -> FloatArray:
    """R I Rᵀ, symmetric to the last bit; untouched when R is the identity."""
    if np.array_equal(R, np.eye(3)):
        return I
    rotated = R @ I @ R.T
    return (rotated + rotated.T) / 2
