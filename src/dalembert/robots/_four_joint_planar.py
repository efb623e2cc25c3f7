"""An arm with one joint more than its plane needs."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..model import Robot
from ..model.dh import from_dh
from ._shapes import cylinder

_LENGTHS, _MASSES, _RADIUS = (0.4, 0.35, 0.3, 0.2), (4.0, 3.0, 2.0, 1.0), 0.03  # ours [m], [kg]


@cache
def four_joint_planar() -> Robot:
    """Four revolute joints in an upright plane, gravity along −y: one more than x, y and angle of the tip need.

    A redundant arm as in [Freeman, Ch. IV]; solid rods of 0.4, 0.35, 0.3 and 0.2 m, numbers ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.four_joint_planar()
    Robot 'four_joint_planar': 4 joints (RRRR), 5 links
    """
    rows: list[dict[str, Any]] = [
        {"a": length, "mass": mass, "com": (-length / 2, 0, 0), "inertia": cylinder(mass, _RADIUS, length, "x")}
        for length, mass in zip(_LENGTHS, _MASSES, strict=True)
    ]
    return from_dh(rows, convention="standard", name="four_joint_planar", gravity=(0, -9.81, 0))
