"""The dynamics of a system: what users call."""

from .compile import NAMES, evaluate, kernel
from .functions import (
    Energy,
    bias,
    energy,
    forward_dynamics,
    friction_torque,
    gravity_torque,
    inverse_dynamics,
    link_wrenches,
    mass_matrix,
)
from .motion import analytical_jacobian, forward_kinematics, jacobian, jacobian_dot
from .structure import (
    EnergyGradient,
    ForwardDerivatives,
    InverseDerivatives,
    SecondDerivatives,
    christoffel,
    coriolis_matrix,
    derivatives,
    energy_gradient,
    parameter_names,
    parameters,
    regressor,
    second_derivatives,
)
from .terms import terms

__all__ = [
    "NAMES",
    "Energy",
    "EnergyGradient",
    "ForwardDerivatives",
    "InverseDerivatives",
    "SecondDerivatives",
    "analytical_jacobian",
    "bias",
    "christoffel",
    "coriolis_matrix",
    "derivatives",
    "energy",
    "energy_gradient",
    "evaluate",
    "forward_dynamics",
    "forward_kinematics",
    "friction_torque",
    "gravity_torque",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot",
    "kernel",
    "link_wrenches",
    "mass_matrix",
    "parameter_names",
    "parameters",
    "regressor",
    "second_derivatives",
    "terms",
]
