"""Poses as commands take and give them: a place and roll, pitch, yaw, in options and in tables.

    x [m], y [m], z [m], roll [rad], pitch [rad], yaw [rad]

Angles may be in degrees, which the unit of a column says; a table without any asks for places alone.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import FormatError, Place, ShapeError
from ..formats.poses import make_pose, rotation_from_rpy, rpy_from_rotation
from ..wording import counted, listed
from .motion_files import TIMES, column, named_columns, rising

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
    if not given.position:
        raise ShapeError("--position: missing; three numbers are expected, or a table of poses by --poses.")
    place = three("--position", given.position)
    if not given.rpy:
        return make_pose(place), False
    rpy = three("--rpy", given.rpy)
    return make_pose(place, rotation_from_rpy(np.radians(rpy) if given.degrees else rpy)), True


def three(option: str, values: list[float]) -> list[float]:
    """Three numbers that an option gives."""
    if len(values) != 3:
        raise ShapeError(f"{option}: {counted(len(values), 'number')} found, three are expected.")
    return values


def read_path(path: str) -> tuple[FloatArray, FloatArray]:
    """Times (K,) and whole poses (K, 4, 4) of a file."""
    table = named_columns(path)
    missing = [name for name in ("t", *PLACES, *ANGLES) if name not in table]
    if missing:
        raise FormatError(f"no column {missing[0]!r} found; {listed(['t', *PLACES, *ANGLES])} are expected.", place=Place(path))
    t = column(path, table, "t", TIMES)
    rising(path, t, 2)
    return t, _poses(path, table)


def _from_file(path: str) -> tuple[FloatArray, bool]:
    table = named_columns(path, gaps=True)  # a row that is no pose fails, and no other one
    turned = any(name in table for name in ANGLES)
    missing = [name for name in (*PLACES, *(ANGLES if turned else ())) if name not in table]
    if missing:
        expected = listed([*PLACES, *ANGLES])
        raise FormatError(f"no column {missing[0]!r} found; {expected} are expected, or the first three.", place=Place(path))
    return _poses(path, table), turned


def _poses(path: str, table: Mapping[str, Any]) -> FloatArray:
    """Of all rows, not turned where there are no angles."""
    places = np.column_stack([column(path, table, name, _LENGTHS) for name in PLACES])
    if ANGLES[0] not in table:
        return np.array([make_pose(p) for p in places])
    angles = np.column_stack([column(path, table, name, _TURNS) for name in ANGLES])
    return np.array([make_pose(p, rotation_from_rpy(a)) for p, a in zip(places, angles, strict=True)])


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


__all__ = ["ANGLES", "PLACES", "place_and_angles", "pose_columns", "poses_of", "read_path", "three"]
