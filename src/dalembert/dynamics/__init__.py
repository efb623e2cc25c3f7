"""The dynamics of a system: what users call."""

from .functions import (
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

__all__ = [
    "Energy",
    "bias",
    "energy",
    "forward_dynamics",
    "forward_kinematics",
    "gravity_torque",
    "inverse_dynamics",
    "jacobian",
    "mass_matrix",
]
