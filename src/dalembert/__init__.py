"""Dynamics of robot manipulators and mechanisms: from a robot description to compiled functions of NumPy arrays.

>>> import dalembert as dal
>>> robot = dal.robots.puma560()
>>> dal.mass_matrix(robot, [0.0] * 6).shape
(6, 6)
"""

from __future__ import annotations

import importlib as _importlib
import typing as _typing

from . import robots
from .algorithms.formulations import FORMULATIONS
from .dynamics import (
    NAMES,
    Contributions,
    Energy,
    EnergyGradient,
    ForwardDerivatives,
    Influence,
    InverseDerivatives,
    LinkMotion,
    Progressive,
    Recursion,
    SecondDerivatives,
    analytical_jacobian,
    applied_torque,
    bias,
    christoffel,
    contributions,
    coriolis_matrix,
    derivatives,
    energy,
    energy_gradient,
    evaluate,
    forward_dynamics,
    forward_kinematics,
    friction_torque,
    gravity_torque,
    influence,
    inverse_dynamics,
    jacobian,
    jacobian_dot,
    kernel,
    link_motion,
    link_wrenches,
    mass_matrix,
    parameter_derivatives,
    parameter_names,
    parameters,
    progressive,
    recursion,
    regressor,
    second_derivatives,
    terms,
)
from .errors import DalembertError, DalembertWarning
from .formats import load, save
from .model import Body, Friction, Joint, Limits, Link, Mimic, Parameters, Robot, Rotor, Structure, Tool
from .model.attach import attach, detach
from .model.dh import from_dh
from .model.loads import Damper, Spring
from .simulate import Rollout, Simulation, Solution, rollout, simulate

if _typing.TYPE_CHECKING:
    from .analysis import (
        Comparison,
        Complexity,
        Properties,
        SimplifiedModel,
        Workspace,
        compare,
        complexity,
        properties,
        simplify_model,
    )
    from .export import Equations, equations, export_code, to_jax

__version__ = "0.1.0"

__all__ = [
    "FORMULATIONS",
    "NAMES",
    "Body",
    "Comparison",
    "Complexity",
    "Contributions",
    "DalembertError",
    "DalembertWarning",
    "Damper",
    "Energy",
    "EnergyGradient",
    "Equations",
    "ForwardDerivatives",
    "Friction",
    "Influence",
    "InverseDerivatives",
    "Joint",
    "Limits",
    "Link",
    "LinkMotion",
    "Mimic",
    "Parameters",
    "Progressive",
    "Properties",
    "Recursion",
    "Robot",
    "Rollout",
    "Rotor",
    "SecondDerivatives",
    "SimplifiedModel",
    "Simulation",
    "Solution",
    "Spring",
    "Structure",
    "Tool",
    "Workspace",
    "analytical_jacobian",
    "applied_torque",
    "attach",
    "bias",
    "christoffel",
    "compare",
    "complexity",
    "contributions",
    "coriolis_matrix",
    "derivatives",
    "detach",
    "energy",
    "energy_gradient",
    "equations",
    "evaluate",
    "export_code",
    "forward_dynamics",
    "forward_kinematics",
    "friction_torque",
    "from_dh",
    "gravity_torque",
    "influence",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot",
    "kernel",
    "link_motion",
    "link_wrenches",
    "load",
    "mass_matrix",
    "parameter_derivatives",
    "parameter_names",
    "parameters",
    "progressive",
    "properties",
    "recursion",
    "regressor",
    "robots",
    "rollout",
    "save",
    "second_derivatives",
    "simplify_model",
    "simulate",
    "terms",
    "to_jax",
]

# The outermost layers are loaded when first asked for: most programs need neither.
_LATER = {
    **dict.fromkeys(("Comparison", "Complexity", "Properties", "SimplifiedModel", "Workspace"), "analysis"),
    **dict.fromkeys(("compare", "complexity", "properties", "simplify_model"), "analysis"),
    **dict.fromkeys(("Equations", "equations", "export_code", "to_jax"), "export"),
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
