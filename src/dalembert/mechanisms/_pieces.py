"""Pieces of mechanisms: poses, thin rods, chains of bars, pins, and bodies that are free to move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..model import Joint, Link
from ..model.closures import Closure
from ._planar import hang, uniform

POSE = ("x", "y", "z", "roll", "pitch", "yaw")
"""The coordinates of a body that is free to move, in the order of `pose_of`."""
_STEPS = (("x", 0, False), ("y", 1, False), ("z", 2, False), ("yaw", 2, True), ("pitch", 1, True), ("roll", 0, True))


def about_z(angle: float, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> FloatArray:
    """A pose turned about z, its origin at a place that is turned along with it."""
    c, s = np.cos(angle), np.sin(angle)
    X = np.eye(4)
    X[:2, :2] = [[c, -s], [s, c]]
    X[:3, 3] = X[:3, :3] @ at
    return X


def thin_rod(mass: float, length: float, axis: str) -> FloatArray:
    """The inertia of a thin rod along 'x', 'y' or 'z', about its centre [kg m²]."""
    moments = np.full(3, mass * length**2 / 12)
    moments["xyz".index(axis)] = 0.0
    return np.diag(moments)


def free(body: Link, root: str, *, turning: bool = True) -> tuple[list[Link], list[Joint]]:
    """A body on slides along x, y, z, then on turns yaw, pitch, roll, with the names that `pose_of` gives to coordinates."""
    steps = _STEPS if turning else _STEPS[:3]
    names = [root, *(f"{body.name}_moved_{step}" for step, _, _ in steps[:-1]), body.name]
    joints = [
        Joint(f"{body.name}_{step}", "continuous" if turns else "prismatic", names[k], names[k + 1], axis=np.eye(3)[axis])
        for k, (step, axis, turns) in enumerate(steps)
    ]
    return [*(Link(name, virtual=True) for name in names[1:-1]), body], joints


def pose_names(body: str) -> tuple[str, ...]:
    """The joints of a free body in the order of `pose_of`."""
    return tuple(f"{body}_{name}" for name in POSE)


def planar_body(name: str, mass: float, moment: float) -> tuple[list[Link], list[Joint]]:
    """A flat body that is free to move in the plane of x and y, by joints <name>_x, <name>_y, <name>_yaw."""
    links = [
        Link(f"{name}_moved_x", virtual=True),
        Link(f"{name}_moved_y", virtual=True),
        Link(name, mass, np.zeros(3), np.diag([0.0, moment, moment])),
    ]
    joints = [
        Joint(f"{name}_x", "prismatic", "ground", f"{name}_moved_x", axis=np.array([1.0, 0, 0])),
        Joint(f"{name}_y", "prismatic", f"{name}_moved_x", f"{name}_moved_y", axis=np.array([0, 1.0, 0])),
        Joint(f"{name}_yaw", "continuous", f"{name}_moved_y", name),
    ]
    return links, joints


def bent(reach: tuple[float, float], first: float, second: float, side: float) -> list[float]:
    """The angles of two bars, one on the other, that end at a point; side is the sign of the second angle."""
    x, y = reach
    turn = side * float(np.arccos((x * x + y * y - first**2 - second**2) / (2 * first * second)))
    return [float(np.arctan2(y, x) - np.arctan2(second * np.sin(turn), first + second * np.cos(turn))), turn]


def on_circle(radius: float, angle: float) -> tuple[float, float]:
    """A point on a circle about the origin."""
    return radius * float(np.cos(angle)), radius * float(np.sin(angle))


def bars(
    name: str, root: str, at: tuple[float, float], lengths: Sequence[float], masses: Sequence[float]
) -> tuple[list[Link], list[Joint]]:
    """Thin rods in a row, the first on the root: links <name>_bar1, ... by joints <name>_1, ..."""
    places = [at, *((length, 0.0) for length in lengths[:-1])]
    chain = [
        uniform(f"{name}_bar{i}", f"{name}_{i}", place, mass, length)
        for i, (place, mass, length) in enumerate(zip(places, masses, lengths, strict=True), 1)
    ]
    return hang(root, chain)


def pin(name: str, bar: str, length: float, link: str, point: Sequence[Any]) -> Closure:
    """A pin, upright on the plane, between the end of a bar and a point of another link."""
    return Closure(name, "directions", ((bar, (length, 0, 0)), (link, (*point[:2], 0))), directions=("x", "y"))
