"""Franka Emika Panda."""

from __future__ import annotations

from functools import cache
from math import pi
from typing import Any

import numpy as np

from ..model import Limits, Robot
from ..model.dh import dh_transform, from_dh

# Modified DH [FrankaFCI, Denavit-Hartenberg parameters]: a [m], d [m], alpha [rad].
# Limits [FrankaFCI, Limits for Panda]: lower, upper [rad], speed [rad/s], torque [N m].
_JOINTS = (
    (0.0, 0.333, 0.0, -2.8973, 2.8973, 2.175, 87),
    (0.0, 0.0, -pi / 2, -1.7628, 1.7628, 2.175, 87),
    (0.0, 0.316, pi / 2, -2.8973, 2.8973, 2.175, 87),
    (0.0825, 0.0, pi / 2, -3.0718, -0.0698, 2.175, 87),
    (-0.0825, 0.384, -pi / 2, -2.8973, 2.8973, 2.61, 12),
    (0.0, 0.0, pi / 2, -0.0175, 3.7525, 2.61, 12),
    (0.088, 0.0, pi / 2, -2.8973, 2.8973, 2.61, 12),
)
_FLANGE = 0.107  # [m] from frame 7 along z7 [FrankaFCI]

# Links, identified under physical constraints [Gaz2019]: mass [kg]; centre of mass [m]; Ixx, Iyy, Izz, Ixy, Ixz, Iyz about it
# [kg m²], in the modified DH frames. Joint 1 is vertical, so of link 1 only cx, cy and Izz act; its other numbers are
# undetermined results of the identification, and cz is that of the manufacturer's own description [FrankaDescription].
_LINKS = (
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)


@cache
def panda() -> Robot:
    """Franka Emika Panda: seven revolute joints, modified DH, without hand; the tool frame is the flange.

    Geometry and limits from the manufacturer [FrankaFCI], inertial parameters from [Gaz2019].

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.panda()
    Robot 'panda': 7 joints (RRRRRRR), 8 links
    """
    flange = dh_transform("modified", 0.0, _FLANGE, 0.0, 0.0)
    return from_dh([_row(i) for i in range(7)], convention="modified", name="panda", tool=flange)


def _row(i: int) -> dict[str, Any]:
    a, d, alpha, lower, upper, speed, torque = _JOINTS[i]
    mass, com, (xx, yy, zz, xy, xz, yz) = _LINKS[i]
    return {
        "a": a,
        "d": d,
        "alpha": alpha,
        "limits": Limits(lower, upper, speed, torque),
        "mass": mass,
        "com": com,
        "inertia": np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
    }
