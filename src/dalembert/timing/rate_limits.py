"""The limits of jerk and torque rate, as given: nothing bounds them where nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dynamics import engine
from .limit_rows import Limit
from .rate_rows import RateLimits
from .timing_limits import sizes_of

UNITS = {"jerk": ("rad/s³", "m/s³"), "torque_rate": ("N m/s", "N/s")}


def read_rates(system: Any, given: Mapping[str, Any], drives: Limit | None) -> RateLimits:
    """`given` has what was given for "jerk" and "torque_rate"; rates of torque are those of `drives` where these are others."""
    coordinates = engine.system_of(system).coordinates
    names = tuple(coordinate.name for coordinate in coordinates)
    turns = [getattr(coordinate, "turns", True) for coordinate in coordinates]
    of_drives = None
    if drives is not None:
        units = tuple(f"{unit}/s" for unit in drives.units)
        of_drives = Limit("torque rate", drives.names, units, _sizes("torque_rate", given, drives.names))
        given = {**given, "torque_rate": None}
    jerk, torque = (
        Limit(kind.replace("_", " "), names, tuple(UNITS[kind][not turn] for turn in turns), _sizes(kind, given, names))
        for kind in UNITS
    )
    return RateLimits(jerk, torque, of_drives)


def _sizes(kind: str, given: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return sizes_of(kind, given[kind], names, np.full(len(names), np.inf))


__all__ = ["read_rates"]
