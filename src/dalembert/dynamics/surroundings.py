"""What acts on a robot from around it, as inputs of a recipe: wrenches at links, a moving base, other parameters.

Here is also what recipes have in common: the place a name means, the formulation a name means, and who can serve what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import checks
from ..algorithms import kinematics, newton_euler_recursion, regressor
from ..algorithms.sweep import Unrolled
from ..errors import ModelError, UnknownNameError
from ..formulations import FORMULATIONS, Formulation
from ..model.idle import idle_joints
from ..model.tree import FramePlace, Tree
from ..spatial import ZERO

DEFAULT = "newton_euler"  # the formulation whose quantities have algorithms of their own, chosen for speed


class Forces(NamedTuple):
    """Options of the dynamic quantities: frames where wrenches act, whether the base moves, whether parameters are inputs."""

    wrenches: tuple[str, ...] = ()
    moving_base: bool = False
    parameters: bool = False


FREE = Forces()
WEIGHTLESS = newton_euler_recursion.still_base(ZERO)


def place_of(tree: Tree, name: str | None) -> FramePlace:
    """The frame of a link, or the tool's for None or 'tool'."""
    if name is not None and name in tree.links:
        return tree.links[name]
    if name not in (None, "tool"):
        raise UnknownNameError.among("link", name, ["tool", *tree.links] if tree.tool else list(tree.links))
    if tree.tool is None:
        raise ModelError(f"tool: {tree.name!r} has several tips and no tool. Name a link: {', '.join(tree.links)}.")
    return tree.tool


class Surroundings(NamedTuple):
    """What the extra inputs of a kernel amount to."""

    sweep: Any
    base: Any
    loads: Any


def surroundings(sweep: Any, q: Any, forces: Forces, extra: Sequence[Any]) -> Surroundings:
    """Free parameters, base motion and external loads from the extra inputs of a kernel, in this order from the end."""
    if forces.parameters:
        *extra, phi = extra
        sweep = Unrolled(regressor.with_parameters(sweep.tree, phi))
    gravity = sweep.tree.gravity
    base = newton_euler_recursion.still_base(gravity)
    if forces.moving_base:
        base = newton_euler_recursion.moving_base(gravity, *extra[len(forces.wrenches) :])
    if not forces.wrenches:
        return Surroundings(sweep, base, None)
    places = [place_of(sweep.tree, name) for name in forces.wrenches]
    poses = kinematics.segment_poses(sweep, q)
    return Surroundings(sweep, base, sweep.applied(newton_euler_recursion.wrench_step, places, extra[: len(places)], poses))


def extra_inputs(tree: Tree, forces: Forces) -> dict[str, tuple[int, ...]]:
    """The inputs of a kernel that come from around the robot, with shapes."""
    shapes: dict[str, tuple[int, ...]] = {f"wrenches[{name!r}]": (6,) for name in forces.wrenches}
    if forces.moving_base:
        shapes |= {"base_velocity": (6,), "base_acceleration": (6,)}
    if forces.parameters:
        shapes["parameters"] = (len(regressor.columns(tree, regressor.STANDARD)),)
    return shapes


def method_of(tree: Tree, formulation: str, forces: Forces = FREE) -> Formulation:
    """A formulation by name, if it can serve this robot and these forces; else a sentence that names one that can."""
    method = checks.choice("formulation", formulation, FORMULATIONS)
    if forces.moving_base and not method.moving_base:
        raise _cannot(method, "it has no moving base", lambda other: other.moving_base)
    if forces.parameters and not method.parameters:
        raise _cannot(method, "it has no dynamic parameters as inputs", lambda other: other.parameters)
    size = len(tree.segments)
    if method.largest is not None and size > method.largest:
        reason = f"{tree.name!r} has {size} moving joints, and its operations grow too fast beyond {method.largest}"
        raise _cannot(method, reason, lambda other: other.largest is None or size <= other.largest)
    return method


def _cannot(method: Formulation, reason: str, can: Callable[[Formulation], bool]) -> ModelError:
    others = " or ".join(repr(other.name) for other in FORMULATIONS.values() if can(other))
    return ModelError(f"formulation: {method.name!r} cannot serve this: {reason}. Try {others}.")


def check_inverse(tree: Tree) -> None:
    """Refuse a tree whose mass matrix has no inverse in any configuration."""
    idle = idle_joints(tree)
    if idle:
        first, *others = idle
        also = f" The same holds for {', '.join(repr(other.joint) for other in others)}." if others else ""
        raise ModelError(first.sentence + also)
