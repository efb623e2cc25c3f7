"""The closed loops that are measured: without friction, driven at joints, cut at points; and states to evaluate them in.

The numbers are ours, of the size of laboratory machines; centres of mass lie beside the axes, so that few numbers are zero, which
only dalembert makes use of. Loops are cut where every library can close them: at points. In the tree the platform stands on
joints of its own, so that all legs are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.expr import Program
from dalembert.mechanism import Mechanism
from dalembert.model import Joint, Link, Robot
from dalembert.model.closures import Closure
from dalembert.model.combinations import floating, universal

from .subjects import plain

PLANE = ("x", "y")
DOWN = (0.0, 0.0, -9.81)
START = 1e-2  # [rad | m]: how far the start of the position closure is off


class LoopStates(NamedTuple):
    """Positions, rates, accelerations and torques of all joints of the tree, each of shape (count, N); a start off x.

    The torques are those of the driven joints, and zero at all others.
    """

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray
    tau: np.ndarray
    start: np.ndarray
    driven: tuple[int, ...]

    def at_drives(self, name: str) -> np.ndarray:
        """One of the arrays in the driven joints, in C order."""
        return np.ascontiguousarray(getattr(self, name)[:, self.driven])


@cache
def four_bar() -> Mechanism:
    """The four-bar linkage of the catalogue without its friction; its bars a little thick, since MuJoCo takes no needles."""
    found = dal.mechanisms.four_bar()
    robot = plain(found.robot)
    thick = [link.replace(inertia=link.inertia + np.diag([1e-4, 0, 0])) if link.mass else link for link in robot.parameters.links]
    return found.replace(robot=robot.replace(parameters=robot.parameters.replace(links=thick)))


@cache
def five_bar() -> Mechanism:
    """Two arms of two bars each, pinned at their tips."""
    links, joints = [], []
    for side, base in (("left", 0.0), ("right", 0.4)):
        links += [_bar(f"{side}_crank", 0.3), _bar(f"{side}_rod", 0.45)]
        joints += [
            _turn(f"{side}_drive", "ground", f"{side}_crank", (base, 0, 0)),
            _turn(f"{side}_elbow", f"{side}_crank", f"{side}_rod", (0.3, 0, 0)),
        ]
    tree = Robot.from_parts("five_bar", [Link("ground"), *links], joints, gravity=(0, -9.81, 0))
    pin = Closure("tip", "directions", (("left_rod", (0.45, 0, 0)), ("right_rod", (0.45, 0, 0))), directions=PLANE)
    return Mechanism("five_bar", tree, (pin,), ("left_drive", "right_drive"), (2.1, -1.2, 1.0, 1.2))


@cache
def planar_3rrr() -> Mechanism:
    """A platform in the plane on three legs of two bars, each driven at the ground."""
    links, joints, pins, guess = [Link("ground"), *_platform_steps()], _platform_slides(), [], [0.0, 0.0, 0.0]
    for k, angle in enumerate(np.deg2rad((90, 210, 330)), 1):
        base, tip = 0.5 * _circle(angle), 0.12 * _circle(angle)
        links += [_bar(f"crank{k}", 0.35), _bar(f"rod{k}", 0.35)]
        joints += [
            _turn(f"drive{k}", "ground", f"crank{k}", base),
            _turn(f"elbow{k}", f"crank{k}", f"rod{k}", (0.35, 0, 0)),
        ]
        pins.append(Closure(f"pin{k}", "directions", ((f"rod{k}", (0.35, 0, 0)), ("platform", tip)), directions=PLANE))
        bend = np.arccos(np.linalg.norm(tip - base) / 0.7)
        guess += [angle + np.pi + bend, -2 * bend]
    tree = Robot.from_parts("planar_3rrr", links, joints, gravity=(0, -9.81, 0), tool=None)
    return Mechanism("planar_3rrr", tree, pins, ("drive1", "drive2", "drive3"), guess)


def _platform_steps() -> list[Link]:
    steps = [Link("platform_x", virtual=True), Link("platform_y", virtual=True)]
    return [*steps, Link("platform", 0.8, (0.01, 0.005, 0), np.diag([0.005, 0.005, 0.008]))]


def _platform_slides() -> list[Joint]:
    return [
        Joint("platform_x", "prismatic", "ground", "platform_x", axis=(1, 0, 0)),
        Joint("platform_y", "prismatic", "platform_x", "platform_y", axis=(0, 1, 0)),
        Joint("platform_turn", "continuous", "platform_y", "platform", axis=(0, 0, 1)),
    ]


@cache
def delta() -> Mechanism:
    """A delta robot: driven arms, rods on universal joints for its parallelograms, and a platform that does not turn."""
    names = ["platform_x", "platform_y", "platform"]
    slides = [
        Joint(f"slide_{axis}", "prismatic", parent, child, axis=line)
        for axis, parent, child, line in zip("xyz", ["ground", *names], names, np.eye(3), strict=False)
    ]
    links = [Link("ground"), *(Link(name, virtual=True) for name in names[:2]), Link("platform", 0.5, (0, 0, 0.01), _BOX)]
    joints, pins, guess = list(slides), [], [0.0, 0.0, -0.5]
    for k, angle in enumerate(np.deg2rad((0, 120, 240)), 1):
        hinge = _pose(angle, 0.15 * _circle(angle))
        knees, frames = universal(f"knee{k}", f"arm{k}", f"rod{k}", origin=_pose(0.0, (0.25, 0, 0)))
        links += [_bar(f"arm{k}", 0.25, 0.6), Link(f"rod{k}", 0.2, (0, 0, 0.25), np.diag([0.0045, 0.0045, 2e-5])), *frames]
        joints += [Joint(f"drive{k}", "continuous", "ground", f"arm{k}", origin=hinge, axis=(0, 1, 0)), *knees]
        pins.append(Closure(f"pin{k}", "spherical", ((f"rod{k}", (0, 0, 0.5)), ("platform", 0.05 * _circle(angle)))))
        guess += [0.2, 0.0, -2.9]
    tree = Robot.from_parts("delta", links, joints, gravity=DOWN, tool=None)
    return Mechanism("delta", tree, pins, ("drive1", "drive2", "drive3"), guess)


@cache
def stewart() -> Mechanism:
    """A platform of six freedoms on six legs: a universal joint at the ground, a driven slide, a spherical joint above."""
    height = 0.7
    steps, frames = floating("platform", "ground", "platform")
    links = [Link("ground"), *frames, Link("platform", 10.0, (0.01, -0.02, 0.03), np.diag([0.35, 0.3, 0.6]))]
    joints, balls, guess = list(steps), [], [0.0, 0.0, height, 0.0, 0.0, 0.0]
    below, above = np.deg2rad((-8, 8, 112, 128, 232, 248)), np.deg2rad((-52, 52, 68, 172, 188, 292))
    for k, (b, a) in enumerate(zip(below, above, strict=True), 1):
        foot, ball = 0.5 * _circle(b), 0.3 * _circle(a)
        hips, frames = universal(f"hip{k}", "ground", f"cylinder{k}", origin=_pose(0.0, foot))
        links += [
            Link(f"cylinder{k}", 1.5, (0.002, 0.001, 0.2), np.diag([0.02, 0.021, 0.002])),
            Link(f"rod{k}", 0.8, (0.001, 0, -0.2), np.diag([0.011, 0.011, 0.0005])),
            *frames,
        ]
        joints += [*hips, Joint(f"leg{k}", "prismatic", f"cylinder{k}", f"rod{k}", axis=(0, 0, 1))]
        balls.append(Closure(f"ball{k}", "spherical", ((f"rod{k}", (0, 0, 0)), ("platform", ball))))
        line = ball - foot + np.array([0.0, 0.0, height])
        length = float(np.linalg.norm(line))
        guess += [float(np.arctan2(-line[1], line[2])), float(np.arcsin(line[0] / length)), length]
    tree = Robot.from_parts("stewart", links, joints, gravity=DOWN, tool=None)
    return Mechanism("stewart", tree, balls, [f"leg{k}" for k in range(1, 7)], guess)


_BOX = np.diag([0.0008, 0.0008, 0.0015])
# How far the coordinates go from those of the seed [rad | m]
REACH = {"four_bar": 0.3, "five_bar": 0.4, "planar_3rrr": 0.1, "delta": 0.3, "stewart": 0.05}
MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "four_bar": four_bar,
    "five_bar": five_bar,
    "planar_3rrr": planar_3rrr,
    "delta": delta,
    "stewart": stewart,
}


def _bar(name: str, length: float, mass: float = 0.5) -> Link:
    """A rod along x with a little thickness."""
    return Link(name, mass, (length / 2, 0.01, 0), np.diag([2e-4, mass * length**2 / 12, mass * length**2 / 12 + 1e-4]))


def _turn(name: str, parent: str, child: str, at: object) -> Joint:
    return Joint(name, "continuous", parent, child, origin=_pose(0.0, at))


def _circle(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def _pose(angle: float, at: object) -> np.ndarray:
    """Turned about z, then moved."""
    X = np.eye(4)
    X[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    X[:3, 3] = at
    return X


def driven(mechanism: Mechanism) -> tuple[int, ...]:
    """The places of the coordinates, which are joints here, in the tree."""
    return tuple(mechanism.robot.joint_names.index(name) for name in mechanism.joint_names)


def loop_states(mechanism: Mechanism, count: int, seed: int = 0) -> LoopStates:
    """Random states near the seed, closed, and the torques of their motion."""
    random, drives = np.random.default_rng(seed), driven(mechanism)
    q = mechanism.q0 + REACH[mechanism.name] * random.uniform(-1, 1, (count, mechanism.n))
    qd, qdd = random.uniform(-1, 1, (2, count, mechanism.n)) * (1.0 if mechanism.coordinates[0].turns else 0.3)
    x = mechanism.assemble(q).x
    xd, xdd, tau = np.zeros((3, count, mechanism.robot.n))
    xd[:] = np.einsum("kij,kj->ki", _slopes(mechanism, x), qd)
    xdd[:, drives] = qdd
    tau[:, drives] = dal.inverse_dynamics(mechanism.at(x=x), q, qd, qdd)
    others = np.ones(mechanism.robot.n)
    others[list(drives)] = 0.0
    start = x + START * others * np.sign(random.uniform(-1, 1, x.shape))
    return LoopStates(x, xd, xdd, tau, start, drives)


def _slopes(mechanism: Mechanism, x: np.ndarray) -> np.ndarray:
    """∂x/∂q at all positions, by NumPy."""
    J = mechanism.equations(x)[1]
    columns = np.zeros((mechanism.robot.n, mechanism.n))
    columns[-mechanism.n :] = np.eye(mechanism.n)
    return np.linalg.solve(J, np.broadcast_to(columns, (len(x), *columns.shape)))


def program(mechanism: Mechanism, quantity: str) -> Program:
    """The program of a quantity with positions given, for counting its nodes."""
    request = engine.request_of(quantity)
    found = engine.program_of(engine.with_solved(mechanism, mechanism.recipe(request)), quantity)
    assert isinstance(found, Program)
    return found
