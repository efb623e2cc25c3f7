"""What options say of a motion: where it begins and ends, and what it needs."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from ..checks import FloatArray
from ..errors import ShapeError
from .dynamics import state_of
from .systems import Loaded


def start_of(robot: Loaded, given: Namespace) -> FloatArray:
    """Where --from says that a motion begins."""
    return state_of(robot, {"q": given.start}, degrees=given.degrees, option="--from", finite=True).q


def end_of(robot: Loaded, given: Namespace) -> FloatArray:
    """Where --to says that it ends."""
    return state_of(robot, {"q": given.end}, degrees=given.degrees, option="--to", finite=True).q


def needed(given: Namespace, name: str, why: str) -> Any:
    """What an option gives, refused where a kind of motion needs it and finds nothing."""
    value = getattr(given, name.replace("-", "_"))
    if value is None or value == []:
        raise ShapeError(f"--{name}: nothing found, but --kind {given.kind} needs it: {why}.")
    return value


def duration_of(given: Namespace) -> float:
    """How long --time says that it lasts."""
    return float(needed(given, "time", "the duration [s]"))


__all__ = ["duration_of", "end_of", "needed", "start_of"]
