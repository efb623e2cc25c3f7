"""Unimation PUMA 560, the arm with the most published measurements."""

from __future__ import annotations

import warnings
from functools import cache
from math import pi, radians
from typing import Any

from ..errors import DalembertWarning
from ..model import Friction, Limits, Robot, Rotor
from ..model.dh import from_dh

# Standard DH [CorkeArmstrong1994]: d [m], a [m], alpha [rad], limits [deg].
_GEOMETRY = (
    (0.67183, 0.0, pi / 2, -160, 160),  # d1 = 26.45 in, shoulder above the floor
    (0.0, 0.4318, 0.0, -45, 225),
    (0.15005, 0.0203, -pi / 2, -225, 45),
    (0.4318, 0.0, pi / 2, -110, 170),
    (0.0, 0.0, -pi / 2, -100, 100),
    (0.0, 0.0, 0.0, -266, 266),
)

# Links, measured on a dismantled arm [Armstrong1986] and written in standard DH frames [CorkeArmstrong1994]:
# mass [kg], centre of mass [m], principal moments about it [kg m²]. Of link 1 only the moment about the vertical acts, so
# nothing else was measured: mass 0 is meant.
_LINKS = (
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (0.0018, 0.0013, 0.0018)),
    (0.34, (0.0, 0.0, 0.0), (0.0003, 0.0004, 0.0003)),
    (0.09, (0.0, 0.0, 0.032), (0.00015, 0.00015, 0.00004)),
)

# Motors, all on the motor side of the gear [CorkeArmstrong1994]: inertia [kg m²], ratio, viscous [N m s/rad], Coulomb
# friction for positive and for negative joint speed [N m].
_MOTORS = (
    (200e-6, -62.6111, 1.48e-3, 0.395, 0.435),
    (200e-6, 107.815, 0.817e-3, 0.126, 0.071),
    (200e-6, -53.7063, 1.38e-3, 0.132, 0.105),
    (33e-6, 76.0364, 71.2e-6, 11.2e-3, 16.9e-3),
    (33e-6, 71.923, 82.6e-6, 9.26e-3, 14.5e-3),
    (33e-6, 76.686, 36.7e-6, 3.96e-3, 10.5e-3),
)


@cache
def puma560() -> Robot:
    """Unimation PUMA 560: six revolute joints, standard DH, with reflected rotors and joint friction.

    Masses and inertias are those of [Armstrong1986], geometry and motors as collected by [CorkeArmstrong1994]. As published,
    the tensor of link 3 breaks the triangle inequality by 9 % (0.086 > 0.066 + 0.0125 kg m²), because the three moments
    were measured independently; the numbers are kept because every published result uses them, and `notes` says so.

    Friction is given at the joint: viscous G² B, Coulomb |G| Tc. The negative ratios of joints 1 and 3 mean that motor and
    joint turn in opposite directions. They do not change these values; Tc± are for the joint's directions.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.robots.puma560()
    Robot 'puma560': 6 joints (RRRRRR), 7 links
    """
    with warnings.catch_warnings():  # the one known flaw is documented above; it stays in `notes` and fails under strict
        warnings.simplefilter("ignore", DalembertWarning)
        return from_dh([_row(i) for i in range(6)], convention="standard", name="puma560")


def _row(i: int) -> dict[str, Any]:
    d, a, alpha, lower, upper = _GEOMETRY[i]
    mass, com, moments = _LINKS[i]
    inertia, ratio, viscous, forward, backward = _MOTORS[i]
    return {
        "d": d,
        "a": a,
        "alpha": alpha,
        "limits": Limits(radians(lower), radians(upper)),
        "mass": mass,
        "com": com,
        "inertia": moments,
        "rotor": Rotor(inertia, ratio),
        "friction": Friction(viscous * ratio**2, forward * abs(ratio), backward * abs(ratio)),
    }
