"""Siciliano's two-link planar arm."""

from __future__ import annotations

from functools import cache

from ..model import Robot
from ..model.dh import from_dh
from . import _example72 as data


@cache
def two_link_planar() -> Robot:
    """Two revolute joints in a vertical plane with spinning rotors [Siciliano, §7.3.2, §7.5.3; numbers of Example 7.2].

    Standard DH, gravity along −y, angles counted from the x axis. Each rotor sits on its joint axis, on the link before.
    The electrical numbers of the motors are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.robots.two_link_planar(), [0.0, 0.0]).round(2)
    array([1030.05,  245.25])
    """
    row = {
        "a": data.LENGTH,
        "mass": data.MASS,
        "com": (data.CENTRE - data.LENGTH, 0, 0),
        "inertia": (0, 0, data.MOMENT),
        "rotor": data.rotor(),
        "motor": data.motor(),
    }
    return from_dh([row, row], convention="standard", name="two_link_planar", gravity=(0, -data.GRAVITY, 0))
