"""Linkages for tests of freedoms: trees, closures and positions, with conditions that are computed here by other means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

import dalembert as dal
from dalembert.model.combinations import spherical, universal


class Linkage(NamedTuple):
    """A tree, what closes it, and positions near which it is closed."""

    robot: dal.Robot
    closures: list[dal.Closure]
    guess: list[float]


def bars(*starts: float) -> dal.Robot:
    """Bars in the plane of x and y, each starting so far along the one before."""
    rows = [{"a": a, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (0, 0, 0.01)} for a in starts]
    return dal.from_dh(rows, convention="modified", name="bars")


def pinned(starts, end, pivot, guess, kind="plane") -> Linkage:
    """A chain of bars whose end is pinned to the ground, in the plane or by a revolute joint of space."""
    ends = ((f"link{len(starts)}", (end, 0, 0)), ("world", (*pivot, 0)))
    pin = dal.Closure("pin", "directions", ends, directions=("x", "y"))
    return Linkage(bars(*starts), [pin if kind == "plane" else dal.Closure("pin", kind, ends)], guess)


def end_of_bars(starts, end, x) -> np.ndarray:
    """Where the end of such a chain is, by adding vectors."""
    angles, lengths = np.cumsum(x), [*starts[1:], end]
    return np.array([np.sum(lengths * np.cos(angles)), np.sum(lengths * np.sin(angles))])


def dh_loop(rows, guess) -> Linkage:
    """A chain of revolute joints in standard Denavit-Hartenberg rows (a, alpha), its last link welded to the ground."""
    links = [{"a": a, "alpha": alpha, "mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.1, 0.1, 0.1)} for a, alpha in rows]
    robot = dal.from_dh(links, convention="standard", name="loop")
    return Linkage(robot, [dal.Closure("weld", "weld", (f"link{len(rows)}", "world"))], guess)


def dh_residual(rows, x) -> np.ndarray:
    """The product of the 4x4 matrices of the rows, less the identity."""
    X = np.eye(4)
    for (a, alpha), theta in zip(rows, x, strict=True):
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        X = X @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, 0], [0, 0, 0, 1]]
    return (X - np.eye(4))[:3].ravel()


def moved_along(residual, x, v, steps=20, step=0.05) -> np.ndarray:
    """Positions along a motion: steps along the last direction, each closed by another solver with the step held."""
    found = [np.array(x)]
    direction = np.array(v) / np.linalg.norm(v)
    for _ in range(steps):
        last, along = found[-1], direction
        ahead = last + step * along
        solved = least_squares(lambda y, e=along, p=ahead: [*residual(y), e @ (y - p)], ahead, xtol=1e-15, ftol=1e-15, gtol=1e-15)
        found.append(solved.x)
        direction = (found[-1] - last) / np.linalg.norm(found[-1] - last)
    return np.array(found)


ANGLE = np.pi / 2
BRICARD = [(1.0, ANGLE), (1.0, -ANGLE)] * 3
# Opposite bars are equal, and a / sin(alpha) is the same for all: 0.3 / sin(30°) = 0.6 = 0.6 sin(beta) / sin(beta).
BENNETT = [(0.3, np.pi / 6), (0.6, np.pi / 2), (0.3, np.pi / 6), (0.6, np.pi / 2)]


def point_on_bars(*feet: float) -> Linkage:
    """A point in the plane, held by bars of the x axis that all lead to the origin; its body does not turn."""
    point = dal.free_body(1.0, inertia=[0.1, 0.1, 0.1], planar=True, name="point")
    held = [dal.Closure(f"bar{k}", "distance", ("point", ("world", (x, 0, 0))), length=abs(x)) for k, x in enumerate(feet, 1)]
    turn = dal.Closure("guide", "directions", ("point", "world"), directions=("rz",))
    return Linkage(point, [*held, turn], [0.0, 0.0, 0.0])


def spatial_slider_crank() -> Linkage:
    """A crank about z, a rod between two spherical joints, and a slider along x that is higher than the crank: RSSP."""
    inertia = np.eye(3) * 0.01
    links = [dal.Link("ground"), *(dal.Link(name, 1.0, (0.1, 0, 0), inertia) for name in ("crank", "rod", "slider"))]
    up = np.eye(4)
    up[:3, 3] = 0.0, 0.1, 0.3
    tip = np.eye(4)
    tip[0, 3] = 0.2
    ball, frames = spherical("ball", "crank", "rod", origin=tip)
    joints = [
        dal.Joint("crank_turn", "continuous", "ground", "crank"),
        *ball,
        dal.Joint("slide", "prismatic", "ground", "slider", origin=up, axis=(1, 0, 0)),
    ]
    robot = dal.Robot.from_parts("slider-crank", [*links, *frames], joints, tool=dal.Tool("slider"))
    return Linkage(robot, [dal.Closure("pin", "spherical", (("rod", (0.8, 0, 0)), "slider"))], [0.6, 0.1, -0.3, 0.0, 0.8])


def stewart(foot=universal) -> Linkage:
    """A platform on six legs, each with a universal (or other) joint at its foot, a slide, and a spherical joint on top."""
    inertia = np.eye(3) * 0.01
    links = [dal.Link("base"), *(dal.Link(name, 1.0, (0, 0, 0.2), inertia) for name in ("lower", "upper"))]
    joints, frames = foot("foot", "base", "lower")
    leg = dal.Robot.from_parts("leg", [*links, *frames], [*joints, dal.Joint("slide", "prismatic", "lower", "upper")])
    feet = ring(1.0, (0, 20, 120, 140, 240, 260))
    tops = ring(0.5, (-40, 60, 80, 180, 200, 300))
    poses, guess = {}, []
    for k in range(6):
        poses[f"leg{k + 1}"] = np.eye(4)
        poses[f"leg{k + 1}"][:3, 3] = feet[k]
        d = tops[k] + (0.1, 0.05, 1.0) - feet[k]  # along Rx(a) Ry(b) z = (sin b, -sin a cos b, cos a cos b)
        length = np.linalg.norm(d)
        guess += [np.arctan2(-d[1], d[2]), np.arcsin(d[0] / length), *[0.0] * (len(joints) - 2), length]
    parts = dict.fromkeys(poses, leg) | {"top": dal.free_body(5.0, inertia=[1, 1, 1], name="platform")}
    balls = [dal.Closure(f"ball{k + 1}", "spherical", (f"leg{k + 1}_upper", ("top_platform", tuple(tops[k])))) for k in range(6)]
    return Linkage(dal.gather("stewart", parts, poses=poses), balls, [*guess, 0.1, 0.05, 1.0, 0.1, 0.0, 0.05])


def ring(radius, degrees) -> np.ndarray:
    """Points of a circle about z."""
    angles = np.radians(degrees)
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])


def two_arms() -> Linkage:
    """Two planar arms of three bars that hold one body between them by rigid grips."""
    arm = bars(0.0, 0.5, 0.4)
    right = np.eye(4)
    right[0, 3] = 1.2
    parts = {"left": arm, "right": arm, "held": dal.free_body(1.0, inertia=[0.1, 0.1, 0.1], planar=True)}
    tree = dal.gather("two arms", parts, poses={"right": right})
    held = ("x", "y", "rz")
    grips = [
        dal.Closure("left grip", "directions", (("left_link3", (0.2, 0, 0)), ("held_body", (-0.1, 0, 0))), directions=held),
        dal.Closure("right grip", "directions", (("right_link3", grip_pose()), ("held_body", (0.1, 0, 0))), directions=held),
    ]
    return Linkage(tree, grips, [2.0, -1.4, -0.8, 1.2, 1.4, 0.6, 0.6, 0.7, 0.0])


def grip_pose() -> np.ndarray:
    """The end of the right arm's last bar, its x pointing back into the bar."""
    X = np.diag([-1.0, -1.0, 1.0, 1.0])
    X[0, 3] = 0.2
    return X
