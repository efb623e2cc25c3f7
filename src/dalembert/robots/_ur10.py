"""Universal Robots UR10 (CB3)."""

from __future__ import annotations

from functools import cache
from math import pi, radians
from typing import Any

import numpy as np

from ..model import Limits, Robot
from ..model.dh import from_dh

# Standard DH, mass [kg], centre of mass [m] and Ixx, Iyy, Izz, Ixy, Ixz, Iyz about it [kg m²], in the DH frame
# [UniversalRobotsDH]. Moments are printed to four decimals. Of link 6, Ixx is printed as zero beside Iyy = 0.0004, which no body
# can have; the flange is round about z, so Ixx = Iyy is used.
_JOINTS = (
    (0.1273, 0.0, pi / 2, 7.1, (0.021, 0.0, 0.027), (0.0341, 0.0353, 0.0216, 0.0, -0.0043, 0.0001)),
    (0.0, -0.612, 0.0, 12.7, (0.38, 0.0, 0.158), (0.0281, 0.7707, 0.7694, 0.0001, -0.0156, 0.0)),
    (0.0, -0.5723, 0.0, 4.27, (0.24, 0.0, 0.068), (0.0101, 0.3093, 0.3065, 0.0001, 0.0092, 0.0)),
    (0.163941, 0.0, pi / 2, 2.0, (0.0, 0.007, 0.018), (0.003, 0.0022, 0.0026, 0.0, 0.0, -0.0002)),
    (0.1157, 0.0, -pi / 2, 2.0, (0.0, 0.007, 0.018), (0.003, 0.0022, 0.0026, 0.0, 0.0, -0.0002)),
    (0.0922, 0.0, 0.0, 0.365, (0.0, 0.0, -0.026), (0.0004, 0.0004, 0.0003, 0.0, 0.0, 0.0)),
)
_SPEED = (120, 120, 180, 180, 180, 180)  # [deg/s] [URDescription, joint_limits.yaml]
_TORQUE = (330, 330, 150, 56, 56, 56)  # [N m] [URDescription, joint_limits.yaml]


@cache
def ur10() -> Robot:
    """Universal Robots UR10: six revolute joints, standard DH; all numbers from the manufacturer [UniversalRobotsDH].

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.ur10()
    Robot 'ur10': 6 joints (RRRRRR), 7 links
    """
    return from_dh([_row(i) for i in range(6)], convention="standard", name="ur10")


def _row(i: int) -> dict[str, Any]:
    d, a, alpha, mass, com, (xx, yy, zz, xy, xz, yz) = _JOINTS[i]
    return {
        "d": d,
        "a": a,
        "alpha": alpha,
        "mass": mass,
        "com": com,
        "inertia": np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        "limits": Limits(-2 * pi, 2 * pi, radians(_SPEED[i]), _TORQUE[i]),
    }
