"""A platform that six six-joint arms hold together [Freeman, Fig. 4-2]."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..checks import FloatArray
from ..mechanism import Mechanism
from ..model import Body, Joint, Link, Robot, Tool
from ..model.closures import Closure
from ._pieces import about_z, thin_rod
from ._planar import shift

# All numbers are ours: motors and balls on circles, in pairs; lengths [m], masses [kg], moments [kg m²].
_BASE_RADIUS, _TOP_RADIUS, _HEIGHT = 0.35, 0.2, 0.55
_CRANK, _ROD = 0.25, 0.6
_CRANK_MASS, _ROD_MASS, _HAND_MASS, _HAND_MOMENT, _MASS = 0.8, 0.4, 0.1, 1e-4, 3.0
_ANGLES = tuple(np.radians(k * 120.0 + side) for k in range(3) for side in (-20.0, 20.0))
_TOP_ANGLES = np.radians([k * 120.0 + side for k in range(3) for side in (-45.0, 45.0)])
_BALLS = _TOP_RADIUS * np.column_stack([np.cos(_TOP_ANGLES), np.sin(_TOP_ANGLES), np.zeros(6)])
_LIFT = 0.4  # [rad] of the cranks, near which it is assembled
_Y = np.array([0.0, 1.0, 0.0])
_X = np.array([1.0, 0.0, 0.0])


@cache
def stewart_six_joint_legs() -> Mechanism:
    """Six arms of six joints hold one platform; coordinates: the first joint of each arm, q = (₁φ₁ ... ₆φ₁) [Freeman, Eq. 4-55].

    Each arm is a driven crank, a rod on a universal joint and a ball of three turns (6-RUS). The platform is the last link of
    the first arm, to which the hands of the other five are welded: 36 joints and 30 conditions. The numbers are ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.mechanisms.stewart_six_joint_legs().robot.n
    36
    """
    links: list[Link] = []
    joints: list[Joint] = []
    guess, welds = [], []
    for k, (angle, ball) in enumerate(zip(_ANGLES, _BALLS, strict=True), 1):
        own_links, own_joints = _leg(f"leg{k}", angle, _hand(f"leg{k}") if k > 1 else _platform())
        links, joints = links + own_links, joints + own_joints
        guess += _aimed(angle, ball)
        if k > 1:
            welds.append(Closure(f"grip{k}", "weld", ((f"leg{k}_hand", (0, 0, 0)), ("platform", ball - _BALLS[0]))))
    middle = shift(*-_BALLS[0])
    tree = Robot.from_parts("stewart_six_joint_legs", [Link("base"), *links], joints, tool=Tool("platform", middle))
    return Mechanism(tree.name, tree, welds, [f"leg{k}_1" for k in range(1, 7)], guess)


def _platform() -> Link:
    """A disc with the hand of the first leg, at whose ball its frame is."""
    quarter = _MASS * _TOP_RADIUS**2 / 4
    hand = Body("leg1_hand", _HAND_MASS, np.zeros(3), _HAND_MOMENT * np.eye(3))
    return Link("platform", _MASS, -_BALLS[0], np.diag([quarter, quarter, 2 * quarter]), bodies=(hand,))


def _hand(leg: str) -> Link:
    return Link(f"{leg}_hand", _HAND_MASS, np.zeros(3), _HAND_MOMENT * np.eye(3))


def _leg(leg: str, angle: float, last: Link) -> tuple[list[Link], list[Joint]]:
    """Crank along x, rod along z. Neighbouring axes are parallel where the joints allow it: y y, x x, y, z."""
    links = [
        Link(f"{leg}_crank", _CRANK_MASS, np.array([_CRANK / 2, 0, 0]), thin_rod(_CRANK_MASS, _CRANK, "x")),
        Link(f"{leg}_cross", virtual=True),
        Link(f"{leg}_rod", _ROD_MASS, np.array([0, 0, _ROD / 2]), thin_rod(_ROD_MASS, _ROD, "z")),
        Link(f"{leg}_ball_x", virtual=True),
        Link(f"{leg}_ball_y", virtual=True),
        last,
    ]
    axes = (-_Y, _Y, _X, _X, _Y, np.array([0.0, 0.0, 1.0]))
    places = (about_z(angle, (_BASE_RADIUS, 0, 0)), shift(_CRANK, 0), shift(0, 0), shift(0, 0, _ROD), shift(0, 0), shift(0, 0))
    parents = ["base", *(link.name for link in links[:-1])]
    joints = [
        Joint(f"{leg}_{i}", "continuous", parent, link.name, origin=place, axis=axis)
        for i, (parent, link, place, axis) in enumerate(zip(parents, links, places, axes, strict=True), 1)
    ]
    return links, joints


def _aimed(angle: float, ball: FloatArray) -> list[float]:
    """Positions of a leg whose rod points at the ball and whose hand is not turned; the rod may end short of it."""
    X = about_z(angle, (_BASE_RADIUS, 0, 0))
    d = X[:3, :3].T @ (ball + np.array([0, 0, _HEIGHT]) - X[:3, 3]) - _CRANK * np.array([np.cos(_LIFT), 0, np.sin(_LIFT)])
    across = float(np.arcsin(-d[1] / np.linalg.norm(d)))
    swing = float(np.arctan2(d[0], d[2]))
    return [_LIFT, swing + _LIFT, across, -across, -swing, -angle]
