"""The Stanford arm of Victor Scheinman."""

from __future__ import annotations

from functools import cache
from math import pi, radians
from typing import Any

import numpy as np

from ..model import Limits, Robot, Rotor
from ..model.dh import dh_transform, from_dh
from ._shapes import about_com

_INCH = 0.0254

# Standard DH [Paul1972, Fig. 2.3]: type, theta [rad], d [m], alpha [rad], lower and upper limit [rad | m]. All a are zero.
_JOINTS = (
    ("R", 0.0, 0.412, -pi / 2, -radians(170), radians(170)),
    ("R", 0.0, 0.154, pi / 2, -radians(170), radians(170)),
    ("P", -pi / 2, 0.0, 0.0, 12 * _INCH, 50 * _INCH),
    ("R", 0.0, 0.0, -pi / 2, -radians(170), radians(170)),
    ("R", 0.0, 0.0, pi / 2, -radians(90), radians(90)),
    ("R", 0.0, 0.0, 0.0, -radians(170), radians(170)),
)
_HAND = 0.263  # [m] from the wrist to the point between the fingers [Paul1972, Fig. 2.3]

# Links and drives [Paul1981, Tables 6.5, 6.6]: mass [kg]; centre of mass [cm] in the link frame; Ixx, Iyy, Izz [kg m²] about the
# link frame; drive inertia at the joint [kg m² | kg]. Widely copied files give the centres of links 2 to 6 in decimetres under
# the name of metres. That the moments are about the link frame shows at link 3: about the centre of mass 2.51 kg m² would need
# a boom of 2.7 m, about the frame 1.45 m; and at link 6, where 0.51 kg · (15.54 cm)² alone is 0.0123 of the 0.013 kg m².
_LINKS = (
    (9.29, (0.0, 1.75, -11.05), (0.276, 0.255, 0.071), 0.953),
    (5.01, (0.0, -10.54, 0.0), (0.108, 0.018, 0.100), 2.193),
    (4.25, (0.0, 0.0, -64.47), (2.51, 2.51, 0.006), 0.782),
    (1.08, (0.0, 0.92, -0.54), (0.002, 0.001, 0.001), 0.106),
    (0.63, (0.0, 0.0, 5.66), (0.003, 0.003, 0.0004), 0.097),
    (0.51, (0.0, 0.0, 15.54), (0.013, 0.013, 0.0003), 0.020),
)


@cache
def stanford() -> Robot:
    """The Stanford arm: two revolute joints, a prismatic one and a revolute wrist (RRPRRR), standard DH, drives reflected.

    Geometry from [Paul1972], dynamics from [Paul1981, Tables 6.5, 6.6]. The boom's coordinate q3 is the length d3 itself.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.stanford()
    Robot 'stanford': 6 joints (RRPRRR), 7 links
    """
    hand = dh_transform("standard", 0.0, _HAND, 0.0, 0.0)
    return from_dh([_row(i) for i in range(6)], convention="standard", name="stanford", tool=hand)


def _row(i: int) -> dict[str, Any]:
    kind, theta, d, alpha, lower, upper = _JOINTS[i]
    mass, com_cm, moments, drive = _LINKS[i]
    com = np.array(com_cm) / 100
    return {
        "type": kind,
        "theta": theta,
        "d": d,
        "alpha": alpha,
        "limits": Limits(lower, upper),
        "mass": mass,
        "com": com,
        "inertia": about_com(np.diag(moments), mass, com),
        "rotor": Rotor(drive),
    }
