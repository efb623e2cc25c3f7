"""Which kernel serves which question: algorithms and the compiler meet here.

A quantity's recipe (quantities.py) says what to trace; here it is traced, unrolled or rolled into loops, compiled on first use
and kept with the robot.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .. import checks
from ..algorithms.loop_sweep import RolledSweep
from ..algorithms.sweep import Unrolled
from ..codegen import Kernel, build, thread_count
from ..errors import DalembertError, ModelError, UnknownNameError
from ..expr import Program, trace
from ..expr.loops import LoopProgram
from ..expr.rewrite import apply_passes
from ..expr.tangent import tangent
from ..model import Robot
from ..model.tree import Tree, tree_of
from ..wording import shown
from . import large
from .quantities import QUANTITIES, Forces, Recipe

# Segments from which a loop over joints serves. Along a chain its turns hand results on in registers, and its code stays in
# the first cache; a tree's branches wait in memory, and straight-line code is faster until it takes seconds to compile
# (docs/develop/decisions.md).
ROLLED_FROM = {
    "inverse_dynamics": 151,
    "bias": 151,
    "gravity_torque": 151,
    "energy": 151,
    "forward_dynamics": 101,
}
CHAIN_ROLLED_FROM = ROLLED_FROM | {"inverse_dynamics": 25, "bias": 25, "forward_dynamics": 30}
MATRIX_ROLLED_FROM = 700  # pairs of a segment and one before it: what the mass matrix grows with
# Triples of a segment and two before it: what second derivatives grow with, and straight code of first ones.
DERIVATIVES_ROLLED_FROM = {"inverse_derivatives": 2400, "coriolis_matrix": 2400, "christoffel": 1000, "second_derivatives": 150}
# Quantities whose graphs lose some per cent of their operations by common factors (recursions have none to lose); the search
# takes a tenth of a second per thousand nodes.
REWRITTEN = ("mass_matrix", "coriolis_matrix", "christoffel", "inverse_derivatives")
REWRITTEN_NODES = 3000
NO_KERNEL = (KeyError, AttributeError, TypeError)  # none built yet, or a system or option that has none


def not_a_robot(system: object) -> DalembertError:
    """The sentence for anything else in a robot's place."""
    return DalembertError(
        f"system: {type(system).__name__} found, a Robot is expected. Try dal.load(name_or_path) or dal.robots."
    )


def kernel(robot: Robot, quantity: str, *options: Any) -> Kernel:
    """The kernel of a quantity, built if this robot has none yet."""
    key = (quantity, *options)
    try:
        return robot.kernels[key]
    except KeyError:
        pass
    except TypeError:
        raise UnknownNameError(f"{quantity}: {shown(options)} found as options; names are expected.") from None
    except AttributeError:
        raise not_a_robot(robot) from None
    built = _build(robot, quantity, options)
    robot.kernels[key] = built
    return built


def _build(robot: Robot, quantity: str, options: tuple[Any, ...]) -> Kernel:
    """A kernel of one program; for large systems, of several that share the work (large.py)."""
    if large.serves(tree(robot), quantity, *options):
        source = large.Source(tree(robot), partial(kernel, robot), partial(_directional, robot))
        return large.build(source, quantity, *options)
    return build(program(robot, quantity, *options))


def _directional(robot: Robot, quantity: str, order: int = 1) -> Kernel:
    """The directional derivative of a quantity's loop program, once or several times over."""
    key = ("directional", quantity, order)
    if key not in robot.kernels:
        looped = program(robot, quantity, rolled=True)
        assert isinstance(looped, LoopProgram)
        for _ in range(order):
            looped = tangent(looped)
        robot.kernels[key] = build(looped)
    return robot.kernels[key]


def program(robot: Robot, quantity: str, *options: Any, rolled: bool | None = None) -> Program | LoopProgram:
    """The program of a quantity: unrolled and specialised for few joints, rolled into loops for many.

    `rolled` overrides the choice, for tests and measurements.
    """
    recipe: Recipe = checks.choice("quantity", quantity, QUANTITIES)(tree(robot), *options)
    # Energies depend on where masses are; joint forces and motion only on base parameters, which are fewer.
    segments = tree(robot).regrouped if recipe.regroup else tree(robot)
    if recipe.can_roll and (_has_many(segments, quantity) if rolled is None else rolled):
        return _rolled(recipe, segments, quantity)
    sweep = Unrolled(segments)
    traced = trace(lambda *inputs: recipe.function(sweep, *inputs), recipe.inputs, recipe.outputs, name=quantity)
    return apply_passes(traced) if quantity in REWRITTEN and len(traced.nodes) <= REWRITTEN_NODES else traced


def _has_many(segments: Tree, quantity: str) -> bool:
    """Whether there are enough segments, or pairs or triples of them, for a loop."""
    if quantity == "mass_matrix":
        return segments.pairs >= MATRIX_ROLLED_FROM
    if quantity in DERIVATIVES_ROLLED_FROM:
        return segments.triples >= DERIVATIVES_ROLLED_FROM[quantity]
    limits = CHAIN_ROLLED_FROM if segments.is_chain else ROLLED_FROM
    return quantity in limits and len(segments.segments) >= limits[quantity]


def _rolled(recipe: Recipe, segments: Tree, name: str) -> LoopProgram:
    sweep = RolledSweep(segments, recipe.inputs)
    results = recipe.function(sweep, *sweep.arguments())
    if len(recipe.outputs) == 1:
        results = (results,)
    return sweep.finish(name, dict(zip(recipe.outputs, results, strict=True)))


def tree(robot: Robot) -> Tree:
    """The robot's tree of segments, made once."""
    if not isinstance(robot, Robot):
        raise not_a_robot(robot)
    found: Tree | None = robot.kernels.get(tree_of)
    if found is None:
        if robot.n == 0:
            raise ModelError(f"robot {robot.name!r}: it has no moving joint, so there is nothing to compute.")
        found = robot.kernels[tree_of] = tree_of(robot)
    return found


def ask(robot: Robot, quantity: str, options: tuple[Any, ...], arrays: tuple[Any, ...], out: Any, threads: int | None) -> Any:
    """Run the kernel of a quantity: by its door for one configuration if that is what is asked, else through NumPy."""
    if out is None:
        try:
            result = robot.kernels[(quantity, *options)].single(*arrays)
            if result is not NotImplemented and (threads is None or thread_count(threads)):
                return result
        except NO_KERNEL:
            pass
    return kernel(robot, quantity, *options)(*arrays, out=out, threads=threads)


__all__ = ["NO_KERNEL", "QUANTITIES", "Forces", "ask", "kernel", "not_a_robot", "program", "tree"]
