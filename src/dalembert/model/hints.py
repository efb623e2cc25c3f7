"""Where to find what a robot does not have as an attribute: functions take the robot, and its parts are in two records.

The keys are the functions of the package and the names that other libraries and other parts of this one use.
"""

from __future__ import annotations

from typing import NoReturn

_STATE = {
    "analytical_jacobian": "q",
    "bias": "q, qd",
    "centroidal_momentum": "q, qd",
    "christoffel": "q",
    "constraint_forces": "q, qd, qdd",
    "contributions": "q, qd, qdd",
    "coriolis_matrix": "q, qd",
    "derivatives": "q, qd, qdd",
    "distribute_load": "q, qd, qdd",
    "energy": "q, qd",
    "equilibrium": "q",
    "energy_gradient": "q, qd",
    "evaluate": "names, q, qd",
    "forward_dynamics": "q, qd, tau",
    "forward_kinematics": "q",
    "friction_torque": "qd",
    "gravity_torque": "q",
    "influence": "q",
    "inverse_branches": "pose",
    "inverse_dynamics": "q, qd, qdd",
    "inverse_kinematics": "pose",
    "jacobian": "q",
    "jacobian_dot": "q, qd",
    "linearize": "q, qd",
    "link_motion": "q, qd, qdd",
    "link_wrenches": "q, qd, qdd",
    "manipulability": "q",
    "manipulability_polytope": "q",
    "mass_matrix": "q",
    "operational_space": "q, qd",
    "prioritised_tasks": "q, qd, ...",
    "recursion": "q, qd, qdd",
    "regressor": "q, qd, qdd",
    "second_derivatives": "q, qd, qdd",
    "terms": "q, qd",
    "torque_rate": "q, qd, qdd, qddd",
}
_OTHER_NAMES = {
    "accel": "forward_dynamics",
    "aba": "forward_dynamics",
    "coriolis": "coriolis_matrix",
    "crba": "mass_matrix",
    "fk": "forward_kinematics",
    "fkine": "forward_kinematics",
    "forward": "forward_kinematics",
    "gravload": "gravity_torque",
    "inertia": "mass_matrix",
    "inertia_matrix": "mass_matrix",
    "jacob0": "jacobian",
    "jacobe": "jacobian",
    "ik": "inverse_kinematics",
    "ikine": "inverse_kinematics",
    "ikine_LM": "inverse_kinematics",
    "rne": "inverse_dynamics",
    "rnea": "inverse_dynamics",
}
_ELSEWHERE = {
    "base_link": "robot.structure.root",
    "com": "robot.link(name).com",
    "copy": "robot.replace(...)",
    "coordinates": "robot.structure.coordinates",
    "dof": "robot.n",
    "friction": "robot.parameters.friction",
    "joint": "robot.structure.joint(name)",
    "joints": "robot.structure.joints",
    "limits": "[joint.limits for joint in robot.structure.coordinates]",
    "links": "robot.parameters.links",
    "mass": "[link.mass for link in robot.parameters.links]",
    "masses": "[link.mass for link in robot.parameters.links]",
    "ndof": "robot.n",
    "nq": "robot.n",
    "nv": "robot.n",
    "payload": "robot.parameters.payload",
    "qlim": "[joint.limits for joint in robot.structure.coordinates]",
    "root": "robot.structure.root",
    "motors": "robot.parameters.motors",
    "rotors": "robot.parameters.rotors",
    "animate": "dal.animate(motion, path)",
    "applied_torque": "dal.applied_torque(robot, q, qd, ...)",
    "attach": "dal.attach(robot, part)",
    "compare": "dal.compare(robot)",
    "complexity": "dal.complexity(robot)",
    "detach": "dal.detach(robot, name)",
    "equations": "dal.equations(robot)",
    "export_code": "dal.export_code(robot, quantity)",
    "fastest_timing": "dal.fastest_timing(robot, path)",
    "inside": "dal.inside(robot)",
    "kernel": "dal.kernel(robot, what)",
    "mobility": "dal.mobility(robot, closures)",
    "linearize_motors": "dal.linearize_motors(robot, q)",
    "motor_table": "dal.motor_table(robot, q, qd, qdd, t)",
    "nominal_voltage": "dal.nominal_voltage(robot, q, qd, qdd, qddd)",
    "parameter_derivatives": "dal.parameter_derivatives(robot, q, qd, qdd)",
    "parameter_names": "dal.parameter_names(robot)",
    "progressive": "dal.progressive(robot)",
    "properties": "dal.properties(robot)",
    "rollout": "dal.rollout(robot, ...)",
    "scale_trajectory": "dal.scale_trajectory(robot, motion)",
    "save": "dal.save(robot, path)",
    "bounds": "dal.bounds(robot, ...)",
    "simplify_model": "dal.simplify_model(robot, ...)",
    "simulate": "dal.simulate(robot, ...)",
    "simulate_motors": "dal.simulate_motors(robot, ...)",
    "to_jax": "dal.to_jax(robot, quantity)",
}
HINTS = (
    {name: f"dal.{name}(robot, {state})" for name, state in _STATE.items()}
    | {other: f"dal.{name}(robot, {_STATE[name]})" for other, name in _OTHER_NAMES.items()}
    | _ELSEWHERE
)


class Hint:
    """Stands for an attribute that a class does not have, and says where to find it.

    A `__getattr__` would do so for every name, and make every attribute that is there slower to reach.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, robot: object, owner: type) -> NoReturn:
        """Called for what is not there."""
        raise AttributeError(f"{owner.__name__} has no attribute {self.name!r}; use {HINTS[self.name]}.")
