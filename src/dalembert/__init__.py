"""Dynamics of robot manipulators and mechanisms: from a robot description to compiled functions of NumPy arrays.

>>> import dalembert as dal
>>> robot = dal.robots.puma560()
>>> dal.mass_matrix(robot, [0.0] * 6).shape
(6, 6)
"""

from __future__ import annotations

from .lazy import load_later as _load_later

TYPE_CHECKING = False  # `typing` has the same, and takes as long to load as all of this
if TYPE_CHECKING:
    from . import plots, robots, trajectories
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
    from .dynamics import *
    from .errors import DalembertError, DalembertWarning
    from .export import Equations, equations, export_code, to_jax
    from .formats import load, save
    from .formulations import FORMULATIONS
    from .model import Body, Friction, Joint, Limits, Link, Mimic, Parameters, Robot, Rotor, Structure, Tool
    from .model.attach import attach, detach
    from .model.dh import from_dh
    from .model.springs import Damper, Spring
    from .simulate import Rollout, Simulation, Solution, rollout, simulate

__version__ = "0.1.0"

__all__ = [
    "FORMULATIONS",
    "NAMES",
    "Body",
    "CentroidalMomentum",
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
    "centroidal_momentum",
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
    "plots",
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
    "trajectories",
]

if not TYPE_CHECKING:
    # Every name is loaded when it is first asked for, so that a command which needs no numbers loads no NumPy. The package
    # `simulate` is here from the start, as good as empty: loaded later, it would take the place of the function of its name.
    _load_later(__name__, {"simulate": ""})[0]("simulate")
    del globals()["simulate"]
    _HOMES = {
        **dict.fromkeys(__all__, "dynamics"),
        "FORMULATIONS": "formulations",
        **dict.fromkeys(("Comparison", "Complexity", "Properties", "SimplifiedModel", "Workspace"), "analysis"),
        **dict.fromkeys(("compare", "complexity", "properties", "simplify_model"), "analysis"),
        **dict.fromkeys(("DalembertError", "DalembertWarning"), "errors"),
        **dict.fromkeys(("Equations", "equations", "export_code", "to_jax"), "export"),
        **dict.fromkeys(("load", "save"), "formats"),
        **dict.fromkeys(("Body", "Friction", "Joint", "Limits", "Link", "Mimic", "Parameters", "Robot"), "model"),
        **dict.fromkeys(("Rotor", "Structure", "Tool"), "model"),
        **dict.fromkeys(("attach", "detach"), "model.attach"),
        **dict.fromkeys(("Damper", "Spring"), "model.springs"),
        "from_dh": "model.dh",
        **dict.fromkeys(("Rollout", "Simulation", "Solution", "rollout", "simulate"), "simulate"),
        **dict.fromkeys(("plots", "robots", "trajectories"), ""),
    }
    __getattr__, __dir__ = _load_later(__name__, _HOMES)
del TYPE_CHECKING
