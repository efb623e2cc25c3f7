"""Moments of inertia of simple solids, for arms whose published data stop at masses."""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray


def cylinder(mass: float, radius: float, length: float, axis: str) -> FloatArray:
    """A solid cylinder along 'x', 'y' or 'z', about its centre [kg m²]."""
    across = mass * (3 * radius**2 + length**2) / 12
    moments = np.full(3, across)
    moments["xyz".index(axis)] = mass * radius**2 / 2
    return np.diag(moments)


def box(mass: float, x: float, y: float, z: float) -> FloatArray:
    """A solid box with these edges, about its centre [kg m²]."""
    return mass / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])


def about_com(inertia: FloatArray, mass: float, com: FloatArray) -> FloatArray:
    """A tensor given about the frame origin, moved to the centre of mass: I − m (cᵀc 1 − c cᵀ) (Steiner)."""
    return inertia - mass * (com @ com * np.eye(3) - np.outer(com, com))
