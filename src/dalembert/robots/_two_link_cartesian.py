"""Siciliano's two-link Cartesian arm."""

from __future__ import annotations

from functools import cache
from math import pi

from ..model import Robot
from ..model.dh import from_dh
from . import _example72 as data


@cache
def two_link_cartesian() -> Robot:
    """Two prismatic joints, the first vertical, the second horizontal, with spinning rotors [Siciliano, §7.3.1].

    Standard DH: q1 moves along z0, q2 along z1 = x0. The book gives no numbers here; masses, ratios and rotors are those of its
    Example 7.2, the ratio now in rad/m. The links only translate, so they need no moments of inertia. The
    electrical numbers of the motors are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.robots.two_link_cartesian(), [0.0, 0.0]).round(2)
    array([1030.05,    0.  ])
    """
    first = {"type": "P", "theta": pi / 2, "alpha": pi / 2, "mass": data.MASS, "rotor": data.rotor(), "motor": data.motor()}
    second = {"type": "P", "mass": data.MASS, "rotor": data.rotor(), "motor": data.motor()}
    return from_dh([first, second], convention="standard", name="two_link_cartesian", gravity=(0, 0, -data.GRAVITY))
