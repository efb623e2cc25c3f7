"""Dynamics of robot manipulators and mechanisms: from a robot description to compiled functions of NumPy arrays.

>>> import dalembert as dal
>>> robot = dal.robots.puma560()
>>> dal.mass_matrix(robot, [0.0] * 6).shape
(6, 6)
"""

from . import robots
from .algorithms.formulations import FORMULATIONS
from .dynamics import (
    NAMES,
    Energy,
    EnergyGradient,
    ForwardDerivatives,
    InverseDerivatives,
    SecondDerivatives,
    analytical_jacobian,
    bias,
    christoffel,
    coriolis_matrix,
    derivatives,
    energy,
    energy_gradient,
    evaluate,
    forward_dynamics,
    forward_kinematics,
    friction_torque,
    gravity_torque,
    inverse_dynamics,
    jacobian,
    jacobian_dot,
    kernel,
    link_wrenches,
    mass_matrix,
    parameter_names,
    parameters,
    regressor,
    second_derivatives,
    terms,
)
from .errors import DalembertError, DalembertWarning
from .export import export_code, to_jax
from .formats import load, save
from .model import Body, Friction, Joint, Limits, Link, Mimic, Parameters, Robot, Rotor, Structure, Tool
from .model.dh import from_dh
from .simulate import Rollout, Simulation, Solution, rollout, simulate

__version__ = "0.1.0"

__all__ = [
    "FORMULATIONS",
    "NAMES",
    "Body",
    "DalembertError",
    "DalembertWarning",
    "Energy",
    "EnergyGradient",
    "ForwardDerivatives",
    "Friction",
    "InverseDerivatives",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Parameters",
    "Robot",
    "Rollout",
    "Rotor",
    "SecondDerivatives",
    "Simulation",
    "Solution",
    "Structure",
    "Tool",
    "analytical_jacobian",
    "bias",
    "christoffel",
    "coriolis_matrix",
    "derivatives",
    "energy",
    "energy_gradient",
    "evaluate",
    "export_code",
    "forward_dynamics",
    "forward_kinematics",
    "friction_torque",
    "from_dh",
    "gravity_torque",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot",
    "kernel",
    "link_wrenches",
    "load",
    "mass_matrix",
    "parameter_names",
    "parameters",
    "regressor",
    "robots",
    "rollout",
    "save",
    "second_derivatives",
    "simulate",
    "terms",
    "to_jax",
]
