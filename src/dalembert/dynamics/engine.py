"""Which kernel serves which question: algorithms and the compiler meet here.

A quantity is described by a recipe: given a robot's tree and the options of the call, it names inputs, outputs and the
function of scalars to trace. The kernel is built on first use and kept with the robot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..algorithms import articulated, composite, energy, forward, kinematics
from ..algorithms.formulations import FORMULATIONS, newton_euler
from ..algorithms.rolled import RolledSweep
from ..algorithms.sweep import Sweep, Unrolled
from ..codegen import Kernel, build, refuse
from ..errors import DalembertError, ModelError, UnknownNameError
from ..expr import Program, Slot, interpret, trace
from ..expr.loops import LoopProgram
from ..model import Robot
from ..model.tree import Place, Tree, tree_of

# Segments from which a loop over joints serves: unrolled code is up to twice as fast, but takes seconds to compile when a
# quantity needs many operations per joint (docs/develop/decisions.md).
ROLLED_FROM = {
    "inverse_dynamics": 151,
    "bias": 151,
    "gravity_torque": 151,
    "energy": 151,
    "forward_dynamics": 61,
    "mass_matrix": 31,
}
DENSE_FROM = 45  # coordinates from which a traced LᵀDL factorisation would take too long to compile
ARTICULATED_FROM = 10  # joints: below, mass matrix and LᵀDL take less time (docs/develop/decisions.md)


class Recipe(NamedTuple):
    """A function of a sweep and scalars, its named inputs with shapes, the names of its outputs; whether it can be a
    loop, and whether base parameters are enough for it.
    """

    function: Callable[..., Any]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Sequence[str]
    can_roll: bool = True
    regroup: bool = True


class Forces(NamedTuple):
    """Options of the dynamic quantities: frames where wrenches act, and whether the base moves."""

    wrenches: tuple[str, ...] = ()
    moving_base: bool = False


def kernel(robot: Robot, quantity: str, *options: Any) -> Kernel:
    """The kernel of a quantity, built if this robot has none yet."""
    key = (quantity, *options)
    try:
        return robot.kernels[key]
    except KeyError:
        pass
    except TypeError:
        raise UnknownNameError(f"{quantity}: {options} found as options; names are expected.") from None
    except AttributeError:
        raise DalembertError(
            f"system: {type(robot).__name__} found, a Robot is expected. Try dal.load(name_or_path) or dal.robots."
        ) from None
    dense = quantity == "forward_dynamics" and _is_dense(tree(robot))
    built = _dense_forward(robot, *options) if dense else build(program(robot, quantity, *options))
    robot.kernels[key] = built
    return built


def _is_dense(segments: Tree) -> bool:
    """Whether forward dynamics needs a large matrix: many joints, and full rotors or couplings that rule out recursion."""
    return segments.n >= DENSE_FROM and (segments.has_spin or not segments.is_plain)


def _dense_forward(robot: Robot, forces: Forces) -> Kernel:
    """Forward dynamics of large systems with full rotors or couplings: two kernels, and LAPACK for M q̈ = τ − h."""
    mass_matrix = kernel(robot, "mass_matrix")
    inverse_dynamics = kernel(robot, "inverse_dynamics", "newton_euler", forces)
    recipe = forward_dynamics_recipe(tree(robot), forces)
    inputs = tuple(Slot(name, shape) for name, shape in recipe.inputs.items())
    outputs = (Slot("qdd", (robot.n,)),)

    def solve(*arrays: Any, out: Any = None) -> Any:
        for slot, array in zip(inputs, arrays, strict=True):
            interpret.batch_shape(slot, array.shape)
        q, qd, tau, *extra = arrays
        h = inverse_dynamics.ufunc(q, qd, np.zeros(robot.n), *extra)
        qdd = np.linalg.solve(mass_matrix.ufunc(q), (tau - h)[..., None])[..., 0]
        return qdd if out is None else _put(out, qdd)

    return Kernel((solve, refuse), inputs, outputs, cost_ns=robot.n**3)


def _put(out: Any, value: Any) -> Any:
    target = out[0] if isinstance(out, tuple) else out
    if target.shape != value.shape:
        raise ValueError("out does not fit")
    target[...] = value
    return out


def program(robot: Robot, quantity: str, *options: Any, rolled: bool | None = None) -> Program | LoopProgram:
    """The program of a quantity: unrolled and specialised for few joints, rolled into loops for many.

    `rolled` overrides the choice, for tests and measurements.
    """
    recipe: Recipe = checks.choice("quantity", quantity, QUANTITIES)(tree(robot), *options)
    # Energies depend on where masses are; joint forces and motion only on base parameters, which are fewer.
    segments = tree(robot).regrouped if recipe.regroup else tree(robot)
    many = quantity in ROLLED_FROM and len(segments.segments) >= ROLLED_FROM[quantity]
    if recipe.can_roll and (many if rolled is None else rolled):
        return _rolled(recipe, segments, quantity)
    sweep = Unrolled(segments)
    return trace(lambda *inputs: recipe.function(sweep, *inputs), recipe.inputs, recipe.outputs, name=quantity)


def _rolled(recipe: Recipe, segments: Tree, name: str) -> LoopProgram:
    sweep = RolledSweep(segments, recipe.inputs)
    results = recipe.function(sweep, *sweep.arguments())
    if len(recipe.outputs) == 1:
        results = (results,)
    return sweep.finish(name, dict(zip(recipe.outputs, results, strict=True)))


def tree(robot: Robot) -> Tree:
    """The robot's tree of segments, made once."""
    found: Tree | None = robot.kernels.get(tree_of)
    if found is None:
        if robot.n == 0:
            raise ModelError(f"robot {robot.name!r}: it has no moving joint, so there is nothing to compute.")
        found = robot.kernels[tree_of] = tree_of(robot)
    return found


def place_of(tree: Tree, name: str | None) -> Place:
    """The frame of a link, or the tool's for None or 'tool'."""
    if name is not None and name in tree.links:
        return tree.links[name]
    if name not in (None, "tool"):
        raise UnknownNameError.among("link", name, ["tool", *tree.links] if tree.tool else list(tree.links))
    if tree.tool is None:
        raise ModelError(f"tool: {tree.name!r} has several tips and no tool. Name a link: {', '.join(tree.links)}.")
    return tree.tool


def _surroundings(tree: Tree, sweep: Sweep, q: Any, forces: Forces, extra: Sequence[Any]) -> tuple[Any, Any]:
    """Base state and external loads from the extra inputs of a kernel."""
    base = newton_euler.still_base(tree.gravity)
    if forces.moving_base:
        base = newton_euler.moving_base(tree.gravity, *extra[len(forces.wrenches) :])
    if not forces.wrenches:
        return base, None
    places = [place_of(tree, name) for name in forces.wrenches]
    poses = kinematics.segment_poses(sweep, q)
    return base, sweep.applied(newton_euler.wrench_step, places, extra[: len(places)], poses)


def _extra_inputs(forces: Forces) -> dict[str, tuple[int, ...]]:
    names = [f"wrenches[{name!r}]" for name in forces.wrenches]
    if forces.moving_base:
        names += ["base_velocity", "base_acceleration"]
    return dict.fromkeys(names, (6,))


def _states(tree: Tree, *names: str) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(names, (tree.n,))


def inverse_dynamics_recipe(tree: Tree, formulation: str, forces: Forces, with_friction: bool = True) -> Recipe:
    """τ = M q̈ + C q̇ + g + friction − Jᵀ wrench."""
    method = checks.choice("formulation", formulation, FORMULATIONS)

    def function(sweep: Sweep, q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        base, loads = _surroundings(tree, sweep, q, forces, extra)
        return method.inverse_dynamics(sweep, q, qd, qdd, base, loads, with_friction=with_friction)

    return Recipe(function, _states(tree, "q", "qd", "qdd") | _extra_inputs(forces), ["tau"])


def bias_recipe(tree: Tree, formulation: str, forces: Forces) -> Recipe:
    """h = C q̇ + g: inverse dynamics without acceleration and friction."""
    full = inverse_dynamics_recipe(tree, formulation, forces, with_friction=False)
    return Recipe(
        lambda sweep, q, qd, *extra: full.function(sweep, q, qd, [0.0] * tree.n, *extra),
        _states(tree, "q", "qd") | _extra_inputs(forces),
        ["h"],
    )


def gravity_recipe(tree: Tree, formulation: str) -> Recipe:
    """g: inverse dynamics at rest."""
    full = inverse_dynamics_recipe(tree, formulation, Forces())
    zero = [0.0] * tree.n
    return Recipe(lambda sweep, q: full.function(sweep, q, zero, zero), _states(tree, "q"), ["g"])


def mass_matrix_recipe(tree: Tree) -> Recipe:
    """M."""
    return Recipe(lambda sweep, q: composite.mass_matrix(sweep, q), _states(tree, "q"), ["M"])


def forward_dynamics_recipe(tree: Tree, forces: Forces) -> Recipe:
    """q̈ = M⁻¹ (τ − C q̇ − g − friction + Jᵀ wrench)."""
    simple = tree.is_plain and not tree.has_spin
    algorithm = articulated if simple and tree.n >= ARTICULATED_FROM else forward

    def function(sweep: Sweep, q: Any, qd: Any, tau: Any, *extra: Any) -> Any:
        base, loads = _surroundings(tree, sweep, q, forces, extra)
        return algorithm.forward_dynamics(sweep, q, qd, tau, base, loads)

    return Recipe(function, _states(tree, "q", "qd", "tau") | _extra_inputs(forces), ["qdd"], can_roll=algorithm is articulated)


def energy_recipe(tree: Tree) -> Recipe:
    """Kinetic and potential energy."""
    return Recipe(
        lambda sweep, q, qd: energy.energy(sweep, q, qd), _states(tree, "q", "qd"), ["kinetic", "potential"], regroup=False
    )


def forward_kinematics_recipe(tree: Tree, link: str | tuple[str, ...] | None) -> Recipe:
    """World pose of one frame, or of several."""
    several = isinstance(link, tuple)
    places = [place_of(tree, name) for name in (link if isinstance(link, tuple) else (link,))]

    def function(sweep: Unrolled, q: Any) -> Any:
        poses = kinematics.forward_kinematics(sweep, q, places)
        return poses if several else poses[0]

    return Recipe(function, _states(tree, "q"), ["X"], can_roll=False)


def jacobian_recipe(tree: Tree, link: str | None, frame: str) -> Recipe:
    """Geometric Jacobian of a frame."""
    checks.choice("frame", frame, {"world": 0, "body": 0})
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any) -> Any:
        return kinematics.jacobian(sweep, q, place, frame=frame)

    return Recipe(function, _states(tree, "q"), ["J"], can_roll=False)


QUANTITIES: dict[str, Callable[..., Recipe]] = {
    "inverse_dynamics": inverse_dynamics_recipe,
    "bias": bias_recipe,
    "gravity_torque": gravity_recipe,
    "mass_matrix": mass_matrix_recipe,
    "forward_dynamics": forward_dynamics_recipe,
    "energy": energy_recipe,
    "forward_kinematics": forward_kinematics_recipe,
    "jacobian": jacobian_recipe,
}
