"""What closures and joints have to hold: multipliers as forces on links, and all that a joint transmits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms import applied_loads, joint_wrenches
from ..algorithms.kinematics import place_pose, segment_poses
from ..algorithms.newton_euler_recursion import wrench_step
from ..algorithms.position_rows import Positions, Push, Value
from ..algorithms.sweep import Unrolled
from ..checks import choice
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.recipes_forces import elements_of
from ..dynamics.surroundings import DEFAULT, FREE, Forces, extra_inputs, surroundings
from ..dynamics.system import AS_IT_IS, Reading, Recipe, Request
from ..errors import ModelError
from ..model.position_functions import JointSum
from ..model.tree import FramePlace, Tree
from ..spatial import IDENTITY, ZERO, Force, Pose, Vec3
from .assembled import Assembled
from .closed_state import ClosedState
from .elements import with_elements

STATES = ("q", "qd", "qdd")


def _multipliers(
    mechanism: Assembled, closed: ClosedState, motion: Sequence[Any], forces: Forces, extra: Any, reading: Any
) -> Any:
    """Of the closures, then forces at the coordinates."""
    recipe = with_elements(mechanism, Request("inverse_dynamics", (DEFAULT, forces, True)), reading)
    return closed.reactions(recipe.function(*motion, *extra))


def in_world(at: Positions, value: Value, push: Push) -> tuple[Vec3, Vec3, Vec3]:
    """Force, moment and point of a push, in the world."""
    X = at.pose(value.base, -1) if value.base >= 0 else Pose(IDENTITY, ZERO)
    return X.R @ push.f, X.R @ push.m, X.R @ push.p + X.p


def link_wrenches(mechanism: Assembled, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
    """What the joints of the tree transmit, closures and elements counted in."""
    frame, forces = request.options
    choice("frame", frame, {"world": 0, "link": 0})
    tree = mechanism.tree
    inputs = dict.fromkeys(STATES, (mechanism.n,)) | extra_inputs(tree, forces)

    def function(q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        closed = mechanism.state(q)
        motion = closed.x, closed.rates(qd), closed.accelerations(qd, qdd)
        w = _multipliers(mechanism, closed, motion, forces, extra, reading)
        around = surroundings(Unrolled(tree), closed.x, forces, extra)
        loads = _loads(mechanism, closed, motion, w, around.loads)
        return joint_wrenches.link_wrenches(around.sweep, *motion, around.base, loads, frame=frame)

    return Recipe(function, inputs, ["wrenches"])


def _loads(mechanism: Assembled, closed: ClosedState, motion: Sequence[Any], w: Sequence[Any], loads: Any) -> list[Any]:
    """Pushes of closures, coordinates and elements as loads of segments, in their own axes, beside those from around."""
    tree, (x, xd, _) = mechanism.tree, motion
    sweep = Unrolled(tree)
    at, poses = Positions(sweep, x), segment_poses(sweep, x)
    found: list[Any] = [None] * len(tree.segments) if loads is None else list(loads)

    def add(segment: int, f: Vec3, m: Vec3, p: Vec3) -> None:
        if segment < 0:
            return
        place = FramePlace(segment, IDENTITY, ZERO)
        moment = m + (p - poses[segment].p).cross(f)
        load = wrench_step(place, [*f, *moment], poses[segment])
        found[segment] = load if found[segment] is None else found[segment] + load

    for function, value, multiplier in zip(mechanism.functions, closed.values, w, strict=True):
        if isinstance(function, JointSum):
            continue
        for push in value.pushes:
            f, m, p = in_world(at, value, push)
            add(push.segment, f * multiplier, m * multiplier, p)
    _, elements = applied_loads.element_loads(sweep, poses, x, xd, *elements_of(tree, mechanism.springs, mechanism.dampers))
    for load in elements:
        add(load.segment, load.f, load.m, load.P)
    return found


def _refused(tree: Tree, forces: Forces = FREE) -> TreeRecipe:
    raise ModelError(f"constraint_forces: {tree.name!r} has no closures; joints are in link_wrenches.")


def _closure_wrenches(system: Any, forces: Forces = FREE, *, reading: Reading = AS_IT_IS) -> Recipe:
    """For each closure the force and moment that it exerts on its second link, at its place there, in world axes."""
    if not isinstance(system, Assembled):
        raise ModelError(f"constraint_forces: {system.name!r} has no closures; joints are in link_wrenches.")
    inputs = dict.fromkeys(STATES, (system.n,)) | extra_inputs(system.tree, forces)
    joints = link_wrenches(system, Request("link_wrenches", ("world", forces)), reading)

    def function(q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        closed = system.state(q)
        motion = closed.x, closed.rates(qd), closed.accelerations(qd, qdd)
        w = _multipliers(system, closed, motion, forces, extra, reading)
        at, found, k = Positions(Unrolled(system.tree), closed.x), [], 0
        for closure in system.closures:
            count = len(closure.rows)
            found.append(closure_wrench(at, closure, closed.values[k : k + count], w[k : k + count]))
            k += count
        return found, joints.function(q, qd, qdd, *extra), w[: closed.closures]

    return Recipe(function, inputs, ["closures", "joints", "multipliers"])


def closure_wrench(at: Positions, closure: Any, values: Sequence[Value], multipliers: Sequence[Any]) -> list[Any]:
    """The wrench of a closure at its place on the second link."""
    if not closure.links:
        return [0.0] * 6
    link, X = closure.between[1]
    place = at.place(link)
    pose = place_pose([at.pose(k, -1) for k in range(len(at.tree.segments))], place)
    origin = pose.p + pose.R @ Vec3(*X[:3, 3].tolist())
    total = Force(ZERO, ZERO)
    for value, multiplier in zip(values, multipliers, strict=True):
        for push in value.pushes:
            if push.segment == place.segment:
                f, m, p = in_world(at, value, push)
                total = total + Force(f, m + (p - origin).cross(f)) * multiplier
    return [*total.f, *total.n]


CONSTRAINT_FORCES = Quantity(
    "constraint_forces",
    (Output("closures"), Output("joints"), Output("multipliers")),
    _refused,
    derived=_closure_wrenches,
    exported=False,
)
