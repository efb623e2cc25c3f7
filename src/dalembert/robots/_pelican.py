"""The Pelican, a two-link arm in a vertical plane."""

from __future__ import annotations

from functools import cache

from ..model import Robot
from ..model.dh import from_dh

# [Kelly2005, chapter 5]: lengths a_i and distances l_i of the centres of mass from the joint axes [m], masses [kg], moments
# about the centres of mass [kg m²].
_LENGTH = (0.26, 0.26)
_CENTRE = (0.0983, 0.0229)
_MASS = (6.5225, 2.0458)
_MOMENT = (0.1213, 0.0116)
_GRAVITY = 9.81


@cache
def pelican() -> Robot:
    """The Pelican of CICESE: two revolute joints in a vertical plane, gravity along −y, angles counted from the x axis.

    Numbers from [Kelly2005, chapter 5], frames from [Laus, Table 1]. Kelly counts the first angle from the hanging arm: his q1
    is this one plus π/2.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.pelican()
    Robot 'pelican': 2 joints (RR), 3 links
    """
    rows = [
        {"a": a, "mass": mass, "com": (centre - a, 0, 0), "inertia": (0, 0, moment)}
        for a, centre, mass, moment in zip(_LENGTH, _CENTRE, _MASS, _MOMENT, strict=True)
    ]
    return from_dh(rows, convention="standard", name="pelican", gravity=(0, -_GRAVITY, 0))
