"""Small mechanisms with more drives than freedoms: arms that carry a bar, fingers that hold a body, a platform on four legs.

Lengths in m, masses in kg; all numbers are chosen for these tests.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import dalembert as dal

DOWN = (0.0, -9.81, 0.0)


def shifted(x: float, y: float, z: float = 0.0):
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def planar_arm(name: str, lengths, effort=np.inf) -> dal.Robot:
    """Uniform rods of 2 kg per metre in a row; the last one's end is the place of closures."""
    links, joints = [dal.Link("base")], []
    before, parent = 0.0, "base"
    for k, length in enumerate(lengths, 1):
        mass = 2.0 * length
        links.append(dal.Link(f"rod{k}", mass, (length / 2, 0, 0), np.diag([0, 1, 1]) * mass * length**2 / 12))
        limits = dal.Limits(effort=effort)
        joints.append(dal.Joint(f"joint{k}", "continuous", parent, f"rod{k}", origin=shifted(before, 0), limits=limits))
        before, parent = length, f"rod{k}"
    return dal.Robot.from_parts(name, links, joints)


@cache
def two_arms(closure: str = "planar", effort: float = np.inf) -> dal.Mechanism:
    """Two planar arms of three joints, welded to the ends of a bar: six drives for three freedoms.

    With closure='weld' all six directions are held: three of each weld by the plane already.
    """
    lengths = (0.5, 0.4, 0.2)
    arm = planar_arm("arm", lengths, effort)
    bar = dal.free_body(3.0, inertia=(0.01, 0.1, 0.1), planar=True, name="bar")
    poses = {"left": shifted(-0.6, 0), "right": shifted(0.6, 0)}
    tree = dal.gather("two_arms", {"left": arm, "right": arm, "bar": bar}, poses=poses, gravity=DOWN)
    half_turn = np.diag([-1.0, -1.0, 1.0, 1.0])
    half_turn[:3, 3] = 0.25, 0, 0
    ends = {"left": shifted(-0.25, 0), "right": half_turn}
    kind = {"type": "weld"} if closure == "weld" else {"type": "directions", "directions": ("x", "y", "rz")}
    welds = [
        dal.Closure(f"{side}_hand", between=((f"{side}_rod3", shifted(0.2, 0)), ("bar_bar", end)), **kind)
        for side, end in ends.items()
    ]
    guess = [1.9, -1.3, -0.6, np.pi - 1.9, 1.3, 0.6, 0.0, 0.55, 0.0]
    drives = [f"{side}_joint{k}" for side in ("left", "right") for k in (1, 2, 3)]
    return dal.Mechanism("two_arms", tree, welds, ("bar_x", "bar_y", "bar_yaw"), guess, actuated=drives)


@cache
def two_fingers() -> dal.Mechanism:
    """The two-finger hand of [Freeman, Fig. 4-5b]: two joints each, contacts taken for pins; four drives, three freedoms."""
    finger = planar_arm("finger", (0.3, 0.3))
    body = dal.free_body(0.8, inertia=(0.001, 0.002, 0.002), planar=True, name="body")
    poses = {"left": shifted(-0.15, 0), "right": shifted(0.15, 0)}
    tree = dal.gather("two_fingers", {"left": finger, "right": finger, "object": body}, poses=poses, gravity=DOWN)
    tips = [
        dal.Closure(
            f"{side}_tip",
            "directions",
            ((f"{side}_rod2", (0.3, 0, 0)), ("object_body", (x, 0, 0))),
            directions=("x", "y"),
        )
        for side, x in (("left", -0.08), ("right", 0.08))
    ]
    guess = [2.2, -1.4, np.pi - 2.2, 1.4, 0.0, 0.45, 0.0]
    drives = [f"{side}_joint{k}" for side in ("left", "right") for k in (1, 2)]
    return dal.Mechanism("two_fingers", tree, tips, ("object_x", "object_y", "object_yaw"), guess, actuated=drives)


def leg(effort: float) -> dal.Robot:
    """A leg that turns freely and pushes by a slide."""
    links = [dal.Link("base"), dal.Link("tube", 1.0, (0.1, 0, 0), np.diag([0, 0.01, 0.01])), dal.Link("piston", 0.6)]
    joints = [
        dal.Joint("swing", "continuous", "base", "tube"),
        dal.Joint("slide", "prismatic", "tube", "piston", axis=(1, 0, 0), limits=dal.Limits(effort=effort)),
    ]
    return dal.Robot.from_parts("leg", links, joints)


@cache
def platform(effort: float = np.inf) -> dal.Mechanism:
    """A planar platform on four legs that turn freely and push: four drives for three freedoms."""
    corners = {"a": (-0.2, -0.1), "b": (0.2, -0.1), "c": (0.2, 0.1), "d": (-0.2, 0.1)}
    feet = {"a": (-0.6, -0.5), "b": (0.7, -0.5), "c": (0.6, 0.6), "d": (-0.5, 0.5)}
    plate = dal.free_body(4.0, inertia=(0.02, 0.08, 0.1), planar=True, name="plate")
    parts = {name: leg(effort) for name in corners} | {"top": plate}
    tree = dal.gather("platform", parts, poses={name: shifted(*p) for name, p in feet.items()}, gravity=DOWN)
    pins = [
        dal.Closure(f"pin_{name}", "directions", ((f"{name}_piston", (0, 0, 0)), ("top_plate", (*p, 0))), directions=("x", "y"))
        for name, p in corners.items()
    ]
    guess = []
    for name, p in corners.items():
        reach = np.subtract(p, feet[name])
        guess += [np.arctan2(reach[1], reach[0]), np.hypot(*reach)]
    drives = [f"{name}_slide" for name in corners]
    return dal.Mechanism("platform", tree, pins, ("top_x", "top_y", "top_yaw"), [*guess, 0, 0, 0], actuated=drives)


@cache
def three_fingers() -> dal.Mechanism:
    """Three fingers of three joints hold a ball by points: nine drives for six freedoms, friction in two directions."""
    links = [dal.Link("base"), *(dal.Link(f"rod{k}", 0.2, (0.05, 0, 0), np.eye(3) * 2e-4) for k in (1, 2, 3))]
    places = [np.eye(4), shifted(0, 0, 0), shifted(0.12, 0)]
    axes = [(0, 0, 1), (0, -1, 0), (0, -1, 0)]
    names = ["base", "rod1", "rod2", "rod3"]
    joints = [
        dal.Joint(f"joint{k}", "continuous", names[k - 1], names[k], origin=X, axis=axis)
        for k, (X, axis) in enumerate(zip(places, axes, strict=True), 1)
    ]
    finger = dal.Robot.from_parts("finger", links, joints)
    ball = dal.free_body(0.3, inertia=(2e-4, 2e-4, 2e-4), name="ball")
    angles = {"a": 0.3, "b": 0.3 + 2 * np.pi / 3, "c": 0.3 + 4 * np.pi / 3}
    parts, poses, tips, guess = {}, {}, [], []
    for name, angle in angles.items():
        c, s = np.cos(angle), np.sin(angle)
        X = np.eye(4)
        X[:3, :3] = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
        X[:3, 3] = 0.12 * c, 0.12 * s, 0.0
        parts[name], poses[name] = finger, X
        on_ball = np.eye(4)
        on_ball[:3, :3] = np.column_stack([(-s, c, 0), (0, 0, 1), (c, s, 0)]) @ np.diag([1.0, -1.0, -1.0])  # z points inwards
        on_ball[:3, 3] = 0.04 * c, 0.04 * s, 0.0
        tips.append(dal.Closure(f"tip_{name}", "spherical", ((f"{name}_rod3", (0.12, 0, 0)), ("ball_ball", on_ball))))
        guess += [0.0, 0.9, 1.6]
    tree = dal.gather("three_fingers", parts | {"ball": ball}, poses=poses)
    coordinates = [f"ball_{k}" for k in ("x", "y", "z", "yaw", "pitch", "roll")]
    drives = [f"{name}_joint{k}" for name in parts for k in (1, 2, 3)]
    return dal.Mechanism("three_fingers", tree, tips, coordinates, [*guess, 0, 0, 0.16, 0, 0, 0], actuated=drives)


def limited(mechanism: dal.Mechanism, limits: dict[str, dal.Limits]) -> dal.Mechanism:
    """The mechanism with other limits of some joints of its tree."""
    structure = mechanism.robot.structure
    joints = [joint.replace(limits=limits.get(joint.name, joint.limits)) for joint in structure.joints]
    return mechanism.replace(robot=mechanism.robot.replace(structure=structure.replace(joints=joints)))


def motion(mechanism: dal.Mechanism, count: int, size: float = 0.04, seed: int = 3):
    """A smooth motion near the seed: q, q̇, q̈ over a second."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, count)[:, None]
    phase, rate = rng.uniform(0, 2 * np.pi, mechanism.n), rng.uniform(2.0, 6.0, mechanism.n)
    angle = rate * t + phase
    return mechanism.q0 + size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)
