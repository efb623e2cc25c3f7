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
    """
    row = {
        "a": data.LENGTH,
        "mass": data.MASS,
        "com": (data.CENTRE - data.LENGTH, 0, 0),
        "inertia": (0, 0, data.MOMENT),
        "rotor": data.rotor(),
    }
    return from_dh([row, row], convention="standard", name="two_link_planar", gravity=(0, -data.GRAVITY, 0))
