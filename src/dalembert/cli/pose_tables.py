"""Poses as commands take and give them: a place and roll, pitch, yaw, in options and in tables.

    x [m], y [m], z [m], roll [rad], pitch [rad], yaw [rad]

Angles may be in degrees, which the unit of a column says; a table without any asks for places alone.
"""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from ..checks import FloatArray
from ..errors import FormatError, Place, ShapeError
from ..formats.poses import make_pose, rotation_from_rpy, rpy_from_rotation
from ..wording import listed
from .motion_files import column, named_columns

PLACES = ("x", "y", "z")
ANGLES = ("roll", "pitch", "yaw")
_LENGTHS = {"": 1.0, "m": 1.0, "mm": 1e-3}
_TURNS = {"": 1.0, "rad": 1.0, "deg": np.pi / 180, "°": np.pi / 180}


def poses_of(given: Namespace) -> tuple[FloatArray, bool]:
    """The wanted pose of the options, shape (4, 4), or those of a file, (K, 4, 4); and whether they have an orientation."""
    if given.poses is not None:
        if given.position or given.rpy:
            raise ShapeError("--poses: found together with --position or --rpy, but the file has the poses. Leave one out.")
        return _from_file(given.poses)
    place = _three("--position", given.position)
    if place is None:
        raise ShapeError("--position: missing; three numbers are expected, or a table of poses by --poses.")
    rpy = _three("--rpy", given.rpy)
    if rpy is None:
        return make_pose(place), False
    return make_pose(place, rotation_from_rpy(np.radians(rpy) if given.degrees else rpy)), True


def _three(option: str, values: list[float]) -> list[float] | None:
    if values and len(values) != 3:
        raise ShapeError(f"{option}: {len(values)} numbers found, three are expected.")
    return values or None


def _from_file(path: str) -> tuple[FloatArray, bool]:
    table = named_columns(path, gaps=True)  # a row that is no pose fails, and no other one
    turned = any(name in table for name in ANGLES)
    missing = [name for name in (*PLACES, *(ANGLES if turned else ())) if name not in table]
    if missing:
        expected = listed([*PLACES, *ANGLES])
        raise FormatError(f"no column {missing[0]!r} found; {expected} are expected, or the first three.", place=Place(path))
    places = np.column_stack([column(path, table, name, _LENGTHS) for name in PLACES])
    if not turned:
        return np.array([make_pose(p) for p in places]), False
    angles = np.column_stack([column(path, table, name, _TURNS) for name in ANGLES])
    return np.array([make_pose(p, rotation_from_rpy(a)) for p, a in zip(places, angles, strict=True)]), True


def place_and_angles(pose: FloatArray) -> FloatArray:
    """x, y, z, roll, pitch, yaw of poses, shape (..., 6); NaN where a pose is."""
    rows = pose.reshape(-1, 4, 4)
    found = [[*X[:3, 3], *(rpy_from_rotation(X[:3, :3]) if np.isfinite(X).all() else [np.nan] * 3)] for X in rows]
    return np.array(found, dtype=float).reshape(*pose.shape[:-2], 6)


def pose_columns(pose: FloatArray, prefix: str = "") -> dict[str, FloatArray]:
    """Poses (K, 4, 4) as columns with units."""
    values = place_and_angles(pose)
    heads = [f"{prefix}{name} [{unit}]" for names, unit in ((PLACES, "m"), (ANGLES, "rad")) for name in names]
    return {head: values[:, k] for k, head in enumerate(heads)}


__all__ = ["ANGLES", "PLACES", "place_and_angles", "pose_columns", "poses_of"]
