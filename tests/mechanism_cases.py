"""Mechanisms for tests: every type of closure, every kind of coordinate, and all that a tree can carry.

`CASES` maps names to functions that build a mechanism (once). Places of closures are taken from the poses of links at the guess,
by the forward kinematics of the tests, so that each loop is closed there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Friction, Joint, Link, Mimic, Robot, Rotor, Tool
from dalembert.model.combinations import universal
from dalembert.model.position_functions import Distance, JointFunction, JointSum
from tests.link_poses import link_poses
from tests.robots import FRICTIONLESS, body, pose, random_friction, random_robot, rotation

HEAVY = ("stewart", "stewart_legs", "delta", "three_rrr_joints")
"""Those which take longest to compile."""


def shift(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def turned(axis: str, angle: float) -> np.ndarray:
    X, (i, j) = np.eye(4), {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    X[i, i] = X[j, j] = np.cos(angle)
    X[i, j], X[j, i] = -np.sin(angle), np.sin(angle)
    return X


def link(name: str, rng: np.random.Generator) -> Link:
    own = body(rng)
    return Link(name, own.mass, own.com, own.inertia)


def at_guess(robot: Robot, guess: Any) -> dict[str, np.ndarray]:
    """Poses of links at a guess, and those of the world and the tool."""
    poses = link_poses(robot, dict(zip(robot.joint_names, guess, strict=True)))
    if robot.tool is not None:
        poses["tool"] = poses[robot.tool.link] @ robot.tool.pose
    return poses | {"world": np.eye(4)}


def meeting(poses: dict[str, np.ndarray], a: str, b: str, X: np.ndarray, turn: np.ndarray | None = None) -> tuple[Any, Any]:
    """Two ends of a closure which are one frame at the guess, X in link a (the second turned in it, if asked)."""
    Y = np.linalg.inv(poses[b]) @ poses[a] @ X @ (np.eye(4) if turn is None else turn)
    return (a, X), (b, Y)


def chain(name: str, lengths: tuple[float, ...], rng: np.random.Generator) -> Robot:
    """Bars in the plane of x and y that turn about z."""
    names = ["root", *(f"bar{k}" for k in range(1, len(lengths) + 1))]
    links = [Link("root"), *(link(n, rng) for n in names[1:])]
    offsets = (0.0, *lengths[:-1])
    joints = [
        Joint(f"turn{k}", "continuous", *ends, origin=shift(offset))
        for k, (ends, offset) in enumerate(zip(pairwise(names), offsets, strict=True), 1)
    ]
    return Robot.from_parts(name, links, joints, tool=Tool(names[-1], shift(lengths[-1])), gravity=(0.3, -9.81, 0.0))


def dressed(robot: Robot, rng: np.random.Generator) -> Robot:
    """With friction at all joints, a full rotor at the first and a reflected one at the second, and a payload."""
    names = robot.joint_names
    friction = {name: random_friction(rng, "smoothed") for name in names}
    rotors = {
        names[0]: Rotor(2e-3, 20.0, "full", 0.4, 1.5e-3, position=(0.1, 0.05, -0.1), axis=(0.2, 0.3, 1.0)),
        names[1]: Rotor(1e-4, -60.0),
    }
    dressed = robot.replace(parameters=robot.parameters.replace(friction=friction, rotors=rotors))
    own = body(rng)
    return dressed.with_payload(own.mass, own.com, own.inertia)


def five_bar_tree(seed: int = 1) -> tuple[Robot, np.ndarray]:
    rng = np.random.default_rng(seed)
    sides = {side: chain(side, (0.4, 0.5), rng) for side in ("left", "right")}
    poses = {"left": shift(-0.2), "right": shift(0.2)}
    tree = dal.gather("five-bar", sides, poses=poses, gravity=(0.3, -9.81, 0.0))
    # Both ends meet at (0, 0.7): two circles of 0.4 and 0.5 m about each pivot.
    d = np.hypot(0.2, 0.7)
    elbow = np.arccos((d**2 + 0.4**2 - 0.5**2) / (2 * d * 0.4))
    bend = np.pi - np.arccos((0.4**2 + 0.5**2 - d**2) / (2 * 0.4 * 0.5))
    left, right = np.arctan2(0.7, 0.2), np.arctan2(0.7, -0.2)
    return tree, np.array([left + elbow, -bend, right - elbow, bend])


@cache
def four_bar() -> dal.Mechanism:
    """With everything that a tree can carry, and springs and dampers."""
    rng = np.random.default_rng(2)
    tree = dressed(chain("four-bar", (0.3, 0.7, 0.5), rng), rng)
    pin = dal.Closure("pin", "revolute", (("bar3", (0.5, 0, 0)), ("world", (0.9346, 0.0862, 0))))
    springs = [
        dal.Spring(40.0, joint="turn2", rest=-0.3),
        dal.Spring(150.0, between=(("bar2", (0.3, 0.1, 0.0)), ("world", (0.2, -0.5, 0.1))), rest=0.2),
    ]
    dampers = [dal.Damper(1.5, joint="turn3"), dal.Damper(20.0, between=(("bar1", (0.1, 0.1, 0)), ("bar3", (0.2, 0.0, 0.0))))]
    return dal.Mechanism("four-bar", tree, [pin], "turn1", (1.2, -0.8, -1.6), springs=springs, dampers=dampers)


@cache
def five_bar() -> dal.Mechanism:
    """In two joints; its pin holds more than it needs to in the plane."""
    tree, guess = five_bar_tree()
    pin = dal.Closure("pin", "revolute", (("left_bar2", (0.5, 0, 0)), ("right_bar2", (0.5, 0, 0))))
    return dal.Mechanism("five-bar", tree, [pin], ("left_turn1", "right_turn1"), guess)


@cache
def five_bar_tool() -> dal.Mechanism:
    """In the coordinates of its point."""
    tree, guess = five_bar_tree()
    pin = dal.Closure("pin", "directions", (("left_bar2", (0.5, 0, 0)), ("right_bar2", (0.5, 0, 0))), directions=("x", "y"))
    return dal.Mechanism("five-bar-tool", tree, [pin], dal.point_of("left_bar2", point=(0.5, 0, 0), axes="xy"), guess)


@cache
def five_bar_distance() -> dal.Mechanism:
    """In one joint and the distance of the point from the ground, a choice that mixes angle and length."""
    tree, guess = five_bar_tree()
    pin = dal.Closure("pin", "spherical", (("left_bar2", (0.5, 0, 0)), ("right_bar2", (0.5, 0, 0))))
    far = dal.Chosen("far", Distance(("left_bar2", (0.5, 0, 0)), ("world", (0.5, -0.1, 0.3))), turns=False)
    return dal.Mechanism("five-bar-distance", tree, [pin], ("right_turn2", far), guess)


@cache
def slider_crank() -> dal.Mechanism:
    rng = np.random.default_rng(3)
    tree = dressed(chain("slider-crank", (0.2, 0.6, 0.1), rng), rng)
    # The slide is along x of the ground: z of the closure's frames.
    along = turned("y", np.pi / 2)
    guide = dal.Closure("guide", "prismatic", (("world", along), ("bar3", along)))
    return dal.Mechanism("slider-crank", tree, [guide], "turn1", (0.7, -0.92, 0.22))


@cache
def rssr() -> dal.Mechanism:
    """Two skew cranks and a coupler: universal joint at one end, a spherical closure at the other."""
    rng = np.random.default_rng(4)
    hook, frames = universal("hook", "crank", "coupler", origin=shift(0.2))
    links = [Link("ground"), *(link(n, rng) for n in ("crank", "coupler", "rocker")), *frames]
    skew = shift(0.5, 0.1, 0.05) @ turned("x", 0.6) @ turned("y", 0.3)
    joints = [
        Joint("crank_turn", "continuous", "ground", "crank"),
        *hook,
        Joint("rocker_turn", "continuous", "ground", "rocker", origin=skew),
    ]
    tree = Robot.from_parts("rssr", links, joints, gravity=(0, 0, -9.81), tool=Tool("coupler"))
    guess = (0.4, 0.3, 0.5, 1.2)
    poses = at_guess(tree, guess)
    ball = dal.Closure("ball", "spherical", meeting(poses, "rocker", "coupler", shift(0.3, 0.0, 0.1)))
    return dal.Mechanism("rssr", tree, [ball], "crank_turn", guess, dampers=[dal.Damper(0.3, joint="hook_x")])


def three_rrr_tree() -> tuple[Robot, list[dal.Closure], np.ndarray]:
    rng = np.random.default_rng(5)
    parts = {f"leg{k}": chain("leg", (0.35, 0.35), rng) for k in range(3)}
    own = body(rng)
    parts["plate"] = dal.free_body(own.mass, com=own.com, inertia=own.inertia, planar=True)
    corners = [0.6 * np.array([np.cos(t), np.sin(t), 0.0]) for t in np.array([210, 330, 90]) * np.pi / 180]
    poses = {f"leg{k}": shift(*corner) for k, corner in enumerate(corners)}
    tree = dal.gather("3-RRR", parts, poses=poses, gravity=(0.0, -9.81, 0.0))
    guess, pins = [], []
    for k, corner in enumerate(corners):
        target = corner / 6.0  # corners of the plate at the middle, 0.1 m from its centre
        d, towards = np.linalg.norm(target - corner), np.arctan2(*(target - corner)[1::-1])
        inner = np.arccos(d / 0.7)
        guess += [towards + inner, -2 * inner]
        ends = ((f"leg{k}_bar2", (0.35, 0, 0)), ("plate_body", target))
        pins.append(dal.Closure(f"pin{k}", "directions", ends, directions=("x", "y")))
    return tree, pins, np.array([*guess, 0.0, 0.0, 0.0])


@cache
def three_rrr() -> dal.Mechanism:
    """In the pose of its plate."""
    tree, pins, guess = three_rrr_tree()
    chosen = [*dal.point_of("plate_body", axes="xy"), dal.pose_of("plate_body")[5]]
    return dal.Mechanism("3-RRR", tree, pins, chosen, guess)


@cache
def three_rrr_joints() -> dal.Mechanism:
    """In the joints at the ground."""
    tree, pins, guess = three_rrr_tree()
    return dal.Mechanism("3-RRR-joints", tree, pins, [f"leg{k}_turn1" for k in range(3)], guess)


@cache
def bricard() -> dal.Mechanism:
    """Six links in a ring with three planes of symmetry: over-closed by one, and mobile."""
    first = 1.0
    second = np.arccos(-np.cos(first) / (1 + np.cos(first)))
    mass = {"com": (-0.15, 0.02, 0.0), "inertia": (0.01, 0.02, 0.02)}
    rows = [{"a": 0.3, "alpha": np.pi / 2 * (-1) ** k, "mass": 1.0 + 0.2 * k, **mass} for k in range(5)]
    arm = dal.from_dh(rows, convention="standard", name="bricard")
    guess = np.array([first, second] * 3)[:5]
    poses = at_guess(arm, guess)
    X6 = turned("z", second) @ shift(0.3) @ turned("x", -np.pi / 2)  # the sixth joint turns about z of link 5
    assert np.allclose(poses["link5"] @ X6, np.eye(4))
    hinge = dal.Closure("hinge", "revolute", (("link5", np.eye(4)), ("world", np.linalg.inv(X6))))
    return dal.Mechanism("bricard", arm, [hinge], "joint1", guess)


@cache
def delta() -> dal.Mechanism:
    """Three cranks, each with two parallel rods to a plate; in the cranks."""
    rng = np.random.default_rng(6)
    crank = Robot.from_parts(
        "crank",
        [Link("root"), link("upper", rng)],
        [Joint("turn", "revolute", "root", "upper", axis=(0, 1, 0))],
        rotors={"turn": Rotor(1e-4, 50.0)},
    )
    parts: dict[str, Robot] = {f"arm{k}": crank for k in range(3)}
    parts["plate"] = dal.free_body(1.2, com=(0.01, 0, -0.02), inertia=(0.01, 0.012, 0.02))
    around = [turned("z", 2 * np.pi * k / 3) for k in range(3)]
    tree = dal.gather("delta", parts, poses={f"arm{k}": X @ shift(0.2) for k, X in enumerate(around)})
    guess = np.array([0.3, 0.3, 0.3, 0.0, 0.0, -0.7, 0.0, 0.0, 0.0])
    poses = at_guess(tree, guess)
    rods = []
    for k, X in enumerate(around):
        for side in (-0.05, 0.05):
            a, b = np.array([0.3, side, 0.0]), (X @ [0.06, side, 0, 1])[:3]
            ends = [(poses[n] @ [*p, 1])[:3] for n, p in ((f"arm{k}_upper", a), ("plate_body", b))]
            length = float(np.linalg.norm(ends[1] - ends[0]))
            rods.append(dal.Closure(f"rod{k}{side:+}", "distance", ((f"arm{k}_upper", a), ("plate_body", b)), length=length))
    return dal.Mechanism("delta", tree, rods, [f"arm{k}_turn" for k in range(3)], guess)


def stewart_tree() -> tuple[Robot, list[dal.Closure], np.ndarray]:
    rng = np.random.default_rng(8)
    parts: dict[str, Robot] = {}
    hook, frames = universal("hook", "root", "tube")
    for k in range(6):
        links = [Link("root"), link("tube", rng), link("rod", rng), *frames]
        joints = [*hook, Joint("slide", "prismatic", "tube", "rod", axis=(0, 0, 1))]
        parts[f"leg{k}"] = Robot.from_parts("leg", links, joints, friction={"slide": Friction(5.0)})
    own = body(rng)
    parts["plate"] = dal.free_body(4.0 * own.mass, com=own.com, inertia=10 * own.inertia)
    angles = np.array([-0.2, 0.2, 1.9, 2.3, 4.0, 4.4])
    feet = [0.5 * np.array([np.cos(t), np.sin(t), 0.0]) for t in angles]
    top = [0.3 * np.array([np.cos(t), np.sin(t), -0.1]) for t in (angles - 0.9 * (-1) ** np.arange(6))]
    tree = dal.gather("stewart", parts, poses={f"leg{k}": shift(*foot) for k, foot in enumerate(feet)})
    guess, balls, centre = [], [], np.array([0.0, 0.0, 0.8])
    for k, (foot, corner) in enumerate(zip(feet, top, strict=True)):
        d = centre + corner - foot  # of a tube along z after Rx(a) Ry(b): (sin b, −sin a cos b, cos a cos b)
        length = float(np.linalg.norm(d))
        b = np.arcsin(d[0] / length)
        guess += [np.arctan2(-d[1], d[2]), b, length - 0.4]
        balls.append(dal.Closure(f"ball{k}", "spherical", ((f"leg{k}_rod", (0, 0, 0.4)), ("plate_body", corner))))
    return tree, balls, np.array([*guess, *centre, 0.0, 0.0, 0.0])


@cache
def stewart() -> dal.Mechanism:
    """In the pose of its plate."""
    tree, balls, guess = stewart_tree()
    return dal.Mechanism("stewart", tree, balls, dal.pose_of("plate_body", point=(0.0, 0.05, 0.1)), guess)


@cache
def stewart_legs() -> dal.Mechanism:
    """In the lengths of its legs."""
    tree, balls, guess = stewart_tree()
    return dal.Mechanism("stewart-legs", tree, balls, [f"leg{k}_slide" for k in range(6)], guess)


@cache
def geared() -> dal.Mechanism:
    """Three pendulums on a carriage, two coupled by gears and the third by a belt; one by a function."""
    rng = np.random.default_rng(9)
    names = ("one", "two", "three", "four")
    links = [Link("ground"), link("carriage", rng), *(link(n, rng) for n in names)]
    joints = [Joint("slide", "prismatic", "ground", "carriage", axis=(1, 0.2, 0))]
    joints += [Joint(n, "continuous", "carriage", n, origin=pose(rng), axis=rng.normal(size=3), home=0.3) for n in names]
    tree = Robot.from_parts("geared", links, joints, rotors={"two": Rotor(1e-3, 30.0)}, tool=Tool("one"))
    bent = JointFunction(lambda x: x["four"] - 0.3 * x["one"] * x["one"] + 0.1 * x["slide"])
    closures = [
        dal.Closure("gear", "gear", ("one", "two"), ratio=-2.0, offset=0.3),
        dal.Closure("belt", "belt", ("three", "one"), ratio=0.5),
        dal.Closure("cam", "function", functions=((bent, 0.2),)),
    ]
    sum_of = dal.Chosen("sum", JointSum({"one": 1.0, "three": 2.0}))
    return dal.Mechanism("geared", tree, closures, ("slide", sum_of), (0.1, 0.2, 0.0, 0.1, 0.1))


@cache
def screwed() -> dal.Mechanism:
    """A spindle on skew bearings drives a carriage by its thread."""
    rng = np.random.default_rng(10)
    links = [Link("ground"), *(link(n, rng) for n in ("spindle", "carriage", "arm"))]
    joints = [
        Joint("spin", "continuous", "ground", "spindle", origin=pose(rng), axis=(0, 0, 1)),
        Joint("travel", "prismatic", "spindle", "carriage", axis=(0, 0, 1)),
        Joint("counter", "continuous", "carriage", "arm", axis=(0, 0, 1)),
    ]
    tree = Robot.from_parts("screwed", links, joints, tool=Tool("arm", pose(rng)))
    guess = (0.4, 0.1, -0.7)
    nut = dal.Closure("nut", "screw", meeting(at_guess(tree, guess), "world", "arm", pose_along(tree, guess)), pitch=0.25)
    return dal.Mechanism("screwed", tree, [nut], ("spin", "travel"), guess)


def pose_along(tree: Robot, guess: Any) -> np.ndarray:
    """A frame of the world on the common axis of the joints."""
    return at_guess(tree, guess)["arm"]


GENERIC = {
    "revolute": (5, 1, 2, 26),
    "prismatic": (5, 1, 2, 23),
    "cylindrical": (4, 2, 2, 23),
    "planar": (3, 3, 2, 4),
    "universal": (4, 2, 2, 23),
    "weld": (6, 1, 2, 24),
    "spherical": (3, 2, 0, 0),
    "screw": (5, 1, 2, 23),
    "distance": (1, 2, 0, 33),
    "rx": (1, 2, 0, 40),
    "ry rz": (2, 1, 0, 15),
    "x z ry": (3, 1, 0, 6),
}
"""Types of closure, or directions: how many conditions, how many coordinates, and seeds that give well conditioned loops to the
ground and between links."""


def generic(what: str, seed: int, *, ground: bool = False) -> dal.Mechanism | None:
    """A random tree, with all that one can carry, closed between two of its links (or one and the ground); None if the first
    joints are no coordinates there.
    """
    rng = np.random.default_rng(seed)
    rows, freedoms = GENERIC[what][:2]
    tree = random_robot(rng, rows + freedoms, FRICTIONLESS)
    joints = [joint.name for joint in tree.structure.joints if joint.moves]
    friction = {name: random_friction(rng, "smoothed") for name in joints}
    tree = tree.replace(parameters=tree.parameters.replace(friction=friction))
    guess = rng.uniform(-1, 1, tree.n)
    a, b = ("world" if ground else str(rng.choice(tree.link_names))), tree.link_names[-1]
    if a == b:
        return None
    turn = np.eye(4)
    if what == "universal":
        turn = turned("z", rng.uniform(-1, 1)) @ turned("x", np.pi / 2) @ turned("z", rng.uniform(-1, 1))
    elif what in ("distance", "spherical"):
        turn[:3, :3] = rotation(rng)
    elif what in ("revolute", "cylindrical", "planar"):
        turn = turned("z", rng.uniform(-3, 3))
    ends = meeting(at_guess(tree, guess), a, b, pose(rng), shift(0.3, 0.2, 0.1) @ turn if what == "distance" else turn)
    own: dict[str, Any] = {"distance": {"length": float(np.sqrt(0.14))}, "screw": {"pitch": 0.4}}.get(what, {})
    type_ = what
    if what.split()[0] in ("x", "rx", "ry"):
        type_, own = "directions", {"directions": tuple(what.split())}
    try:
        return dal.Mechanism(
            f"{what}-{seed}", tree, [dal.Closure("loop", type_, ends, **own)], tree.joint_names[:freedoms], guess
        )
    except dal.DalembertError as error:
        if "coordinates" in str(error):
            return None
        raise


def _case(what: str, *, ground: bool) -> Callable[[], dal.Mechanism]:
    seed = GENERIC[what][2 if ground else 3]

    @cache
    def build() -> dal.Mechanism:
        found = generic(what, seed, ground=ground)
        assert found is not None
        return found

    return build


def well(mechanism: dal.Mechanism) -> bool:
    """Whether its equations are well conditioned where it is assembled."""
    return float(np.linalg.cond(mechanism.equations(mechanism.seed)[1][: mechanism.n + len(mechanism.rows)])) < 200


@cache
def mimicking() -> dal.Mechanism:
    """A parallelogram whose tree has a joint that follows another, closed by a rod's length, on a free body."""
    rng = np.random.default_rng(12)
    own = body(rng)
    free = dal.free_body(own.mass, com=own.com, inertia=own.inertia, planar=True, name="base")
    links = [*free.parameters.links, *(link(n, rng) for n in ("first", "second", "third"))]
    joints = [
        *free.structure.joints,
        Joint("first", "continuous", "base", "first", origin=shift(0.1)),
        Joint("second", "continuous", "first", "second", origin=shift(0.3), mimic=Mimic("first", -0.5, 0.4)),
        Joint("third", "revolute", "base", "third", origin=shift(-0.2)),
    ]
    tree = Robot.from_parts("mimicking", links, joints, tool=Tool("second"), gravity=(0, -9.81, 0))
    ends = (("second", (0.2, 0.1, 0.0)), ("third", (0.3, 0.0, 0.0)))
    X = at_guess(tree, guess := (0.1, -0.1, 0.2, 0.8, 1.1))
    length = float(np.linalg.norm(X["second"] @ [0.2, 0.1, 0, 1] - X["third"] @ [0.3, 0, 0, 1]))
    return dal.Mechanism(
        "mimicking", tree, [dal.Closure("rod", "distance", ends, length=length)], ("x", "y", "yaw", "first"), guess
    )


CASES: dict[str, Callable[[], dal.Mechanism]] = {
    "four_bar": four_bar,
    "five_bar": five_bar,
    "five_bar_tool": five_bar_tool,
    "five_bar_distance": five_bar_distance,
    "slider_crank": slider_crank,
    "rssr": rssr,
    "three_rrr": three_rrr,
    "three_rrr_joints": three_rrr_joints,
    "bricard": bricard,
    "delta": delta,
    "stewart": stewart,
    "stewart_legs": stewart_legs,
    "geared": geared,
    "screwed": screwed,
    "mimicking": mimicking,
    **{f"{what} to the ground": _case(what, ground=True) for what in ("prismatic", "cylindrical", "weld", "distance", "ry rz")},
    **{f"{what} between links": _case(what, ground=False) for what in ("revolute", "planar", "universal", "spherical", "screw")},
    **{f"{what} between links": _case(what, ground=False) for what in ("rx", "x z ry")},
}

__all__ = ["CASES", "GENERIC", "HEAVY", "generic", "well"]
