"""The numbers of Siciliano's Example 7.2, which the textbook arms of this catalogue share.

The book solves its Cartesian arm (§7.3.1), planar arm (§7.3.2) and the prismatic-revolute arm of Problem 7.5 in symbols, and
gives numbers for the planar arm only.
"""

from __future__ import annotations

import numpy as np

from ..model import Motor, Rotor

GRAVITY = 9.81  # [m/s²]

# [Siciliano, Example 7.2]
LENGTH = 1.0  # a_i [m]
CENTRE = 0.5  # l_i, distance of the centre of mass from the joint axis [m]
MASS = 50.0  # of a link [kg]
MOMENT = 10.0  # of a link about its centre of mass [kg m²]
RATIO = 100.0  # k_ri
ROTOR_MASS = 5.0  # [kg]
ROTOR_INERTIA = 0.01  # about its axis [kg m²]

# The book gives the motors no electrical data. These are ours: direct-current motors that hold the outstretched arm, where
# 1030 N m / 100 are 10.3 N m, with two thirds of the current that they bear for ever.
RESISTANCE = 0.4  # [Ω]
INDUCTANCE = 2e-3  # [H]
TORQUE_CONSTANT = 0.5  # [N m/A]
VOLTAGE_LIMIT = 180.0  # [V]
CURRENT_LIMIT = 60.0  # [A]
CONTINUOUS_CURRENT = 30.0  # [A]


def motor() -> Motor:
    """The motor of one joint, its gear that of the rotor; the electrical numbers are ours."""
    return Motor(
        RESISTANCE,
        TORQUE_CONSTANT,
        inductance=INDUCTANCE,
        voltage_limit=VOLTAGE_LIMIT,
        current_limit=CURRENT_LIMIT,
        continuous_current=CONTINUOUS_CURRENT,
    )


def rotor(axis: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> Rotor:
    """The rotor of one joint: a spinning body at the origin of the link that carries it [Siciliano, Eq. 7.23]."""
    return Rotor(ROTOR_INERTIA, RATIO, "full", mass=ROTOR_MASS, axis=np.array(axis))
