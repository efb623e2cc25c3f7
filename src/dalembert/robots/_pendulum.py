"""A pendulum."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..model import Joint, Link, Robot, Tool
from ._shapes import cylinder

_MASS, _LENGTH, _RADIUS = 1.0, 1.0, 0.01


@cache
def pendulum() -> Robot:
    """A uniform rod of 1 kg and 1 m that hangs from a horizontal axis (y); q = 0 is hanging at rest, z is up.

    τ = (I + m l²) q̈ + m g l sin q with l = 0.5 m, as in [Siciliano, Example 7.1] without its motor; the numbers are ours.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.robots.pendulum(), [np.pi / 2]).round(6)
    array([4.905])
    """
    tip = np.eye(4)
    tip[2, 3] = -_LENGTH
    rod = Link("rod", _MASS, np.array([0, 0, -_LENGTH / 2]), cylinder(_MASS, _RADIUS, _LENGTH, "z"))
    pivot = Joint("pivot", "continuous", "base", "rod", axis=np.array([0.0, 1.0, 0.0]))
    return Robot.from_parts("pendulum", [Link("base"), rod], [pivot], tool=Tool("rod", tip))
