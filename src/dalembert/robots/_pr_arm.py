"""Siciliano's arm with a prismatic and a revolute joint."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..model import Joint, Link, Robot, Tool
from . import _example72 as data


@cache
def pr_arm() -> Robot:
    """A slider along the horizontal x axis carrying a link that turns about z [Siciliano, Problems 7.5, 7.8].

    Gravity along −y; tip at (q1 + a2 cos q2, a2 sin q2). The book leaves the numbers open; those of its Example 7.2 are used.
    The electrical numbers of the motors are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.pr_arm().joint_names
    ('slide', 'turn')
    """
    tip = np.eye(4)
    tip[0, 3] = data.LENGTH
    slide = Joint("slide", "prismatic", "base", "slider", axis=np.array([1.0, 0.0, 0.0]))
    turn = Joint("turn", "revolute", "slider", "arm")
    arm = Link("arm", data.MASS, np.array([data.CENTRE, 0, 0]), np.diag([0, 0, data.MOMENT]))
    return Robot.from_parts(
        "pr_arm",
        [Link("base"), Link("slider", data.MASS), arm],
        [slide, turn],
        rotors={"slide": data.rotor(axis=(1.0, 0.0, 0.0)), "turn": data.rotor()},
        motors={"slide": data.motor(), "turn": data.motor()},
        gravity=(0, -data.GRAVITY, 0),
        tool=Tool("arm", tip),
    )
