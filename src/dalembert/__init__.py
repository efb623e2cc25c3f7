"""Dynamics of robot manipulators and mechanisms: from a robot description to compiled functions of NumPy arrays.

>>> import dalembert as dal
>>> robot = dal.robots.puma560()
>>> dal.mass_matrix(robot, [0.0] * 6).shape
(6, 6)
"""

from . import robots
from .algorithms.formulations import FORMULATIONS
from .dynamics import (
    Energy,
    bias,
    energy,
    forward_dynamics,
    forward_kinematics,
    gravity_torque,
    inverse_dynamics,
    jacobian,
    mass_matrix,
)
from .errors import DalembertError, DalembertWarning
from .formats import load, save
from .model import Body, Friction, Joint, Limits, Link, Mimic, Parameters, Robot, Rotor, Structure, Tool
from .model.dh import from_dh

__version__ = "0.1.0"

__all__ = [
    "FORMULATIONS",
    "Body",
    "DalembertError",
    "DalembertWarning",
    "Energy",
    "Friction",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Parameters",
    "Robot",
    "Rotor",
    "Structure",
    "Tool",
    "bias",
    "energy",
    "forward_dynamics",
    "forward_kinematics",
    "from_dh",
    "gravity_torque",
    "inverse_dynamics",
    "jacobian",
    "load",
    "mass_matrix",
    "robots",
    "save",
]
