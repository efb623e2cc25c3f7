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
    from . import mechanisms, plots, robots, trajectory, transfer
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
    from .bounds import Bounds, bounds
    from .drives import (
        MotorTable,
        NominalVoltage,
        linearize_motors,
        motor_table,
        nominal_voltage,
        simulate_motors,
    )
    from .dynamics import *
    from .ellipsoids import Manipulability, ManipulabilityPolytope, manipulability, manipulability_polytope
    from .errors import DalembertError, DalembertWarning
    from .export import Equations, equations, export_code, to_jax
    from .formulations import FORMULATIONS
    from .kinematics import Branches, InverseKinematics, inverse_branches, inverse_kinematics
    from .linear import Equilibrium, LinearModel, Modes, OperatingPoint, Reach, Signal, equilibrium, linearize
    from .loading import load, save
    from .loads import Contact, HeldForce, LoadDistribution, Squeeze, distribute_load
    from .mechanism import ConstraintForces, Mechanism, Mobility, constraint_forces, mobility
    from .model import Body, DriveTrain, Friction, Joint, Limits, Link, Mimic, Motor, Parameters, Robot, Rotor, Structure, Tool
    from .model.attach import attach, detach
    from .model.closures import Closure
    from .model.dh import from_dh
    from .model.gather import free_body, gather
    from .model.position_functions import Chosen, point_of, pose_of
    from .model.springs import Damper, Spring
    from .opspace import OperationalSpace, PrioritisedTask, PrioritisedTasks, operational_space, prioritised_tasks
    from .plots.animation import animate
    from .simulate import (
        BatchSolution,
        EnergyBalance,
        Event,
        EventRecord,
        PowerFlow,
        Rollout,
        Simulation,
        Solution,
        rollout,
        simulate,
    )
    from .timing import FastestTiming, ScaledTrajectory, fastest_timing, scale_trajectory

__version__ = "0.1.0"

__all__ = [
    "FORMULATIONS",
    "NAMES",
    "BatchSolution",
    "Body",
    "Bounds",
    "Branches",
    "CentroidalMomentum",
    "Chosen",
    "Closure",
    "Comparison",
    "Complexity",
    "ConstraintForces",
    "Contact",
    "Contributions",
    "DalembertError",
    "DalembertWarning",
    "Damper",
    "DriveTrain",
    "Energy",
    "EnergyBalance",
    "EnergyGradient",
    "Equations",
    "Equilibrium",
    "Event",
    "EventRecord",
    "FastestTiming",
    "ForwardDerivatives",
    "Friction",
    "HeldForce",
    "Influence",
    "InsideModel",
    "InverseDerivatives",
    "InverseKinematics",
    "Joint",
    "Limits",
    "LinearModel",
    "Link",
    "LinkMotion",
    "LoadDistribution",
    "Manipulability",
    "ManipulabilityPolytope",
    "Mechanism",
    "Mimic",
    "Mobility",
    "Modes",
    "Motor",
    "MotorTable",
    "NominalVoltage",
    "OperatingPoint",
    "OperationalSpace",
    "Parameters",
    "PowerFlow",
    "PrioritisedTask",
    "PrioritisedTasks",
    "Progressive",
    "Properties",
    "Reach",
    "Recursion",
    "Robot",
    "Rollout",
    "Rotor",
    "ScaledTrajectory",
    "SecondDerivatives",
    "Signal",
    "SimplifiedModel",
    "Simulation",
    "Solution",
    "Spring",
    "Squeeze",
    "Structure",
    "Tool",
    "Workspace",
    "analytical_jacobian",
    "animate",
    "applied_torque",
    "attach",
    "bias",
    "bounds",
    "centroidal_momentum",
    "christoffel",
    "compare",
    "complexity",
    "constraint_forces",
    "contributions",
    "coriolis_matrix",
    "derivatives",
    "detach",
    "distribute_load",
    "energy",
    "energy_gradient",
    "equations",
    "equilibrium",
    "evaluate",
    "export_code",
    "fastest_timing",
    "forward_dynamics",
    "forward_kinematics",
    "free_body",
    "friction_torque",
    "from_dh",
    "gather",
    "gravity_torque",
    "influence",
    "inside",
    "inverse_branches",
    "inverse_dynamics",
    "inverse_kinematics",
    "jacobian",
    "jacobian_dot",
    "kernel",
    "linearize",
    "linearize_motors",
    "link_motion",
    "link_wrenches",
    "load",
    "manipulability",
    "manipulability_polytope",
    "mass_matrix",
    "mechanisms",
    "mobility",
    "motor_table",
    "nominal_voltage",
    "operational_space",
    "parameter_derivatives",
    "parameter_names",
    "parameters",
    "plots",
    "point_of",
    "pose_of",
    "prioritised_tasks",
    "progressive",
    "properties",
    "recursion",
    "regressor",
    "robots",
    "rollout",
    "save",
    "scale_trajectory",
    "second_derivatives",
    "simplify_model",
    "simulate",
    "simulate_motors",
    "terms",
    "to_jax",
    "torque_rate",
    "trajectory",
    "transfer",
]

if not TYPE_CHECKING:
    # Every name is loaded when it is first asked for, so that a command which needs no numbers loads no NumPy. The packages
    # `simulate` and `bounds` are here from the start, as good as empty: loaded later, they would take the place of the functions
    # of their names.
    for _name in ("simulate", "bounds"):
        _load_later(__name__, {_name: ""})[0](_name)
        del globals()[_name]
    del _name
    _HOMES = {
        **dict.fromkeys(__all__, "dynamics"),
        "FORMULATIONS": "formulations",
        **dict.fromkeys(("Comparison", "Complexity", "Properties", "SimplifiedModel", "Workspace"), "analysis"),
        **dict.fromkeys(("compare", "complexity", "properties", "simplify_model"), "analysis"),
        **dict.fromkeys(("DalembertError", "DalembertWarning"), "errors"),
        **dict.fromkeys(("Equations", "equations", "export_code", "to_jax"), "export"),
        **dict.fromkeys(("Manipulability", "ManipulabilityPolytope"), "ellipsoids"),
        **dict.fromkeys(("manipulability", "manipulability_polytope"), "ellipsoids"),
        **dict.fromkeys(("OperationalSpace", "PrioritisedTask", "PrioritisedTasks"), "opspace"),
        **dict.fromkeys(("operational_space", "prioritised_tasks"), "opspace"),
        **dict.fromkeys(("Equilibrium", "LinearModel", "Modes", "OperatingPoint", "Reach", "Signal"), "linear"),
        **dict.fromkeys(("equilibrium", "linearize"), "linear"),
        **dict.fromkeys(("Branches", "InverseKinematics", "inverse_branches", "inverse_kinematics"), "kinematics"),
        **dict.fromkeys(("load", "save"), "loading"),
        **dict.fromkeys(("Body", "Friction", "Joint", "Limits", "Link", "Mimic", "Parameters", "Robot"), "model"),
        **dict.fromkeys(("DriveTrain", "Motor", "Rotor", "Structure", "Tool"), "model"),
        **dict.fromkeys(("attach", "detach"), "model.attach"),
        **dict.fromkeys(("Damper", "Spring"), "model.springs"),
        "from_dh": "model.dh",
        **dict.fromkeys(("Bounds", "bounds"), "bounds"),
        **dict.fromkeys(("ConstraintForces", "Mechanism", "Mobility", "constraint_forces", "mobility"), "mechanism"),
        **dict.fromkeys(("Contact", "HeldForce", "LoadDistribution", "Squeeze", "distribute_load"), "loads"),
        **dict.fromkeys(("MotorTable", "NominalVoltage"), "drives"),
        **dict.fromkeys(("linearize_motors", "motor_table", "nominal_voltage", "simulate_motors"), "drives"),
        **dict.fromkeys(("FastestTiming", "ScaledTrajectory", "fastest_timing", "scale_trajectory"), "timing"),
        "Closure": "model.closures",
        **dict.fromkeys(("Chosen", "point_of", "pose_of"), "model.position_functions"),
        **dict.fromkeys(("free_body", "gather"), "model.gather"),
        **dict.fromkeys(("Event", "EventRecord", "Rollout", "Simulation", "Solution", "rollout", "simulate"), "simulate"),
        "animate": "plots.animation",
        **dict.fromkeys(("BatchSolution", "EnergyBalance", "PowerFlow"), "simulate"),
        **dict.fromkeys(("mechanisms", "plots", "robots", "trajectory", "transfer"), ""),
    }
    __getattr__, __dir__ = _load_later(__name__, _HOMES)
del TYPE_CHECKING
