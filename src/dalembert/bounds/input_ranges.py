"""The box a quantity is looked at in: a range for each entry of each input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..dynamics.engine import size, system_of
from ..dynamics.system import AnySystem
from ..errors import ModelError, ShapeError
from ..wording import shown

TURN, SLIDE = math.pi, 1.0  # half-ranges of a coordinate that states no limit, as in `Workspace`
SECONDS_TO_SPEED = 0.5  # [s]
_HUGE = 1e100  # beyond, squares may overflow

Ranges = dict[str, tuple[FloatArray, FloatArray]]
"""For each input: lower and upper ends, shape (n,)."""


def default_ranges(system: AnySystem) -> Ranges:
    """Limits of the coordinates, of velocities and of efforts; where there are none, those of `Workspace.of`.

    Efforts have no default: they are left out where one of them has no limit.
    """
    joints = system_of(system).coordinates
    lower, upper = np.transpose([_range(joint) for joint in joints])
    velocity = np.array([_either(joint.limits.velocity, joint.turns) for joint in joints])
    effort = np.array([joint.limits.effort for joint in joints])
    found = {"q": (lower, upper), "qd": (-velocity, velocity)}
    found["qdd"] = (-velocity / SECONDS_TO_SPEED, velocity / SECONDS_TO_SPEED)
    return found | ({"tau": (-effort, effort)} if np.isfinite(effort).all() else {})


def _either(limit: float, turns: bool) -> float:
    return limit if math.isfinite(limit) else TURN if turns else SLIDE


def _range(joint: Any) -> tuple[float, float]:
    lower, upper = joint.limits.lower, joint.limits.upper
    half = TURN if joint.turns else SLIDE
    if not math.isfinite(lower):
        lower = upper - 2 * half if math.isfinite(upper) else -half
    return lower, upper if math.isfinite(upper) else lower + 2 * half


def ranges_of(system: AnySystem, given: Mapping[str, Any]) -> Ranges:
    """The ranges given, and the others by default."""
    n, found = size(system), default_ranges(system)
    for name, value in given.items():
        if value is not None:
            found[name] = pair(name, value, n)
    return found


def pair(name: str, value: Any, n: int) -> tuple[FloatArray, FloatArray]:
    """A number for both sides of zero, or lower and upper ends as numbers or arrays of shape (n,)."""
    expected = f"a pair (lower, upper) of numbers or of {n} numbers each is expected"
    if _is_real(value):
        value = _plain(value)
        if not 0 <= value < _HUGE:
            raise ShapeError(f"{name}: {shown(value)} found; a finite number that is not negative, for ±, is expected.")
        value = (-float(value), float(value))
    if not isinstance(value, (list, tuple, np.ndarray)) or getattr(value, "ndim", 1) == 0 or len(value) != 2:
        raise ShapeError(f"{name}: {shown(value)} found; {expected}, or one number for both sides of zero.")
    ends = [checks.numbers(name, end, expected, ShapeError) for end in value]
    if any(end.shape not in ((), (n,)) for end in ends) or not all(np.isfinite(end).all() for end in ends):
        raise ShapeError(f"{name}: ends of shape {' and '.join(str(e.shape) for e in ends)} found; {expected}, all finite.")
    lower, upper = (np.array(np.broadcast_to(end, (n,)), dtype=float) for end in ends)
    if (lower > upper).any():
        k = int(np.argmax(lower > upper))
        raise ShapeError(f"{name}: {lower[k]:g} found above {upper[k]:g} in entry {k}; lower ends come first.")
    return lower, upper


def masses(value: Any) -> tuple[float, float]:
    """The least and the largest mass of a payload."""
    lower, upper = pair("payload", (0.0, value) if _is_real(value) else value, 1)
    if lower[0] < 0.0:
        raise ModelError(f"payload: a mass of {lower[0]:g} kg found; masses are not negative.")
    return float(lower[0]), float(upper[0])


def positive(name: str, value: Any) -> float:
    """A number above zero, which may be infinite."""
    if not _is_real(value) or not value > 0 or _HUGE < _plain(value) < math.inf:
        raise ModelError(f"{name}: {shown(value)} found; a number above zero is expected.")
    return float(value)


def _plain(value: Any) -> Any:
    """A number of Python: one of fewer bits cannot be compared with one that is huge."""
    return value.item() if isinstance(value, np.generic) else value


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
