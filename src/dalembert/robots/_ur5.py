"""Universal Robots UR5 (CB3)."""

from __future__ import annotations

from functools import cache
from math import pi
from typing import Any

from ..model import Limits, Robot
from ..model.dh import from_dh
from ._shapes import cylinder

# Standard DH, mass [kg] and centre of mass [m] in the DH frame [UniversalRobotsDH]: d, a, alpha, mass, com.
_JOINTS = (
    (0.089159, 0.0, pi / 2, 3.7, (0.0, -0.02561, 0.00193)),
    (0.0, -0.425, 0.0, 8.393, (0.2125, 0.0, 0.11336)),
    (0.0, -0.39225, 0.0, 2.33, (0.15, 0.0, 0.0265)),
    (0.10915, 0.0, pi / 2, 1.219, (0.0, -0.0018, 0.01634)),
    (0.09465, 0.0, -pi / 2, 1.219, (0.0, 0.0018, 0.01634)),
    (0.0823, 0.0, 0.0, 0.1879, (0.0, 0.0, -0.001159)),
)

# The manufacturer gives no moments for this arm. They are computed here for solid cylinders of the sizes used in its ROS
# description [URDescription, physical_parameters.yaml]: radius [m], length [m], axis in the DH frame.
_CYLINDERS = (
    (0.075, 0.178, "y"),
    (0.06, 0.425, "x"),
    (0.06, 0.39225, "x"),
    (0.06, 0.095, "y"),
    (0.06, 0.085, "y"),
    (0.0375, 0.0305, "z"),
)
_TORQUE = (150, 150, 150, 28, 28, 28)  # [N m] [URDescription, joint_limits.yaml]
_SPEED = pi  # [rad/s] 180 deg/s at every joint [URDescription, joint_limits.yaml]


@cache
def ur5() -> Robot:
    """Universal Robots UR5: six revolute joints, standard DH.

    Geometry, masses and centres of mass from the manufacturer [UniversalRobotsDH]; the moments of inertia are estimates from
    solid cylinders, without which the last joint would have none at all.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.ur5()
    Robot 'ur5': 6 joints (RRRRRR), 7 links
    """
    return from_dh([_row(i) for i in range(6)], convention="standard", name="ur5")


def _row(i: int) -> dict[str, Any]:
    d, a, alpha, mass, com = _JOINTS[i]
    return {
        "d": d,
        "a": a,
        "alpha": alpha,
        "mass": mass,
        "com": com,
        "inertia": cylinder(mass, *_CYLINDERS[i]),
        "limits": Limits(-2 * pi, 2 * pi, _SPEED, _TORQUE[i]),
    }
