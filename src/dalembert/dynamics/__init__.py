"""The dynamics of a system: what users call."""

from .applied_loads_functions import applied_torque
from .compile import evaluate, kernel
from .contributions import Contributions, contributions
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
from .influence_functions import Influence, LinkMotion, influence, link_motion
from .kinematics_functions import analytical_jacobian, forward_kinematics, jacobian, jacobian_dot
from .progressive import Progressive, progressive
from .quantities import NAMES
from .recursion_table import Recursion, recursion
from .structure import (
    EnergyGradient,
    ForwardDerivatives,
    InverseDerivatives,
    SecondDerivatives,
    christoffel,
    coriolis_matrix,
    derivatives,
    energy_gradient,
    parameter_derivatives,
    parameter_names,
    parameters,
    regressor,
    second_derivatives,
)
from .terms import terms

__all__ = [
    "NAMES",
    "Contributions",
    "Energy",
    "EnergyGradient",
    "ForwardDerivatives",
    "Influence",
    "InverseDerivatives",
    "LinkMotion",
    "Progressive",
    "Recursion",
    "SecondDerivatives",
    "analytical_jacobian",
    "applied_torque",
    "bias",
    "christoffel",
    "contributions",
    "coriolis_matrix",
    "derivatives",
    "energy",
    "energy_gradient",
    "evaluate",
    "forward_dynamics",
    "forward_kinematics",
    "friction_torque",
    "gravity_torque",
    "influence",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot",
    "kernel",
    "link_motion",
    "link_wrenches",
    "mass_matrix",
    "parameter_derivatives",
    "parameter_names",
    "parameters",
    "progressive",
    "recursion",
    "regressor",
    "second_derivatives",
    "terms",
]
