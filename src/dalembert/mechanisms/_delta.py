"""Delta robots: three driven arms, each joined to the platform by a parallelogram of two rods."""

from __future__ import annotations

from functools import cache

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..mechanism import Mechanism
from ..model import Body, Joint, Link, Robot, Tool
from ..model.closures import Closure
from ._pieces import about_z, free, pose_names, thin_rod
from ._planar import shift

# Dimensions of the ABB FlexPicker IRB 360-1/1600 as [Williams2016] lists them [m]: motors and rods from the middle, arm, rod, and
# how far the two rods of an arm are apart.
_BASE, _PLATFORM, _ARM, _ROD, _WIDTH = 0.164, 0.044, 0.524, 1.244, 0.131
_DIRECTIONS = tuple(np.radians((-90.0, 30.0, 150.0)))
# Masses are not published; these are ours [kg]: an arm, one of the six rods, the platform.
_ARM_MASS, _ROD_MASS, _PLATFORM_MASS = 1.6, 0.12, 0.4
_HOME = 0.3  # [rad] of the arms below the horizontal, near which it is assembled
_MOTORS = ("motor1", "motor2", "motor3")
_Y = np.array([0.0, 1.0, 0.0])


@cache
def delta(coordinates: str = "motors") -> Mechanism:
    """A delta robot of the FlexPicker's size, its rods as bodies; motors at angle 0 hold the arms level, positive is down.

    The two rods of an arm stay parallel, and the platform does not turn; so one rod of both masses moves as the two do, on a
    universal joint at the arm, and the platform needs three slides. Dimensions from [Williams2016], masses ours.

    Parameters
    ----------
    coordinates : {'motors', 'point'}
        The angles of the motors, or x, y, z of the platform.

    Examples
    --------
    >>> import dalembert as dal, numpy as np
    >>> robot = dal.mechanisms.delta("point")
    >>> np.degrees(robot.assemble([0.3, 0.5, -1.1]).x[[3, 6, 9]]).round(1)
    array([ 47.5, -11.6,  21.4])
    """
    chosen = checks.choice("coordinates", coordinates, {"motors": _MOTORS, "point": pose_names("platform")[:3]})
    disc = Link("platform", _PLATFORM_MASS, np.zeros(3), _disc())
    links, joints = free(disc, "base", turning=False)
    guess, balls = [0.0, 0.0, _height()], []
    for k, direction in enumerate(_DIRECTIONS, 1):
        rod = Link(f"rods{k}", 2 * _ROD_MASS, np.array([0, 0, -_ROD / 2]), thin_rod(2 * _ROD_MASS, _ROD, "z"))
        links += [_arm(k), Link(f"cross{k}", virtual=True), rod]
        joints += [
            _motor(k, direction),
            Joint(f"rods{k}_y", "continuous", f"arm{k}", f"cross{k}", origin=shift(_ARM, 0), axis=_Y),
            Joint(f"rods{k}_x", "continuous", f"cross{k}", rod.name, axis=np.array([1.0, 0, 0])),
        ]
        balls.append(Closure(f"ball{k}", "spherical", ((rod.name, (0, 0, -_ROD)), ("platform", _vertex(direction)))))
        guess += [_HOME, float(np.arctan2(_reach(), -_height() - _ARM * np.sin(_HOME))) - _HOME, 0.0]
    tree = Robot.from_parts("delta", [Link("base"), *links], joints, tool=Tool("platform"))
    return Mechanism("delta", tree, balls, chosen, guess, actuated=_MOTORS)


@cache
def delta_rods() -> Mechanism:
    """The same delta robot with six rods that only hold a distance; coordinates: the motors.

    The platform could turn in every direction; the rods hold it level. Half of a rod's mass is at its arm, half at the platform,
    as is usual in models for control.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.mechanisms.delta_rods().assemble([0.2, 0.3, 0.4]).x[3:6].round(9) + 0.0  # yaw, pitch, roll of the platform
    array([0., 0., 0.])
    """
    ends = [(k, side, direction) for k, direction in enumerate(_DIRECTIONS, 1) for side in (-0.5, 0.5)]
    lumps = [Body(f"rod{k}{side:+g}", _ROD_MASS / 2, _rod_end(direction, side), np.zeros((3, 3))) for k, side, direction in ends]
    links, joints = free(Link("platform", _PLATFORM_MASS, np.zeros(3), _disc(), bodies=tuple(lumps)), "base")
    for k, direction in enumerate(_DIRECTIONS, 1):
        elbows = [np.array([_ARM, side * _WIDTH, 0.0]) for side in (-0.5, 0.5)]
        lumps = [Body(f"rod{i}", _ROD_MASS / 2, elbow, np.zeros((3, 3))) for i, elbow in enumerate(elbows, 1)]
        links.append(_arm(k).replace(bodies=tuple(lumps)))
        joints.append(_motor(k, direction))
    rods = [
        Closure(
            f"rod{k}{'left' if side < 0 else 'right'}",
            "distance",
            ((f"arm{k}", (_ARM, side * _WIDTH, 0)), ("platform", _rod_end(direction, side))),
            length=_ROD,
        )
        for k, side, direction in ends
    ]
    tree = Robot.from_parts("delta_rods", [Link("base"), *links], joints, tool=Tool("platform"))
    return Mechanism("delta_rods", tree, rods, _MOTORS, [0, 0, _height(), 0, 0, 0, *[_HOME] * 3])


def _disc() -> FloatArray:
    """A disc through the ends of the rods."""
    quarter = _PLATFORM_MASS * _PLATFORM**2 / 4
    return np.diag([quarter, quarter, 2 * quarter])


def _arm(k: int) -> Link:
    """A thin rod along x."""
    return Link(f"arm{k}", _ARM_MASS, np.array([_ARM / 2, 0, 0]), thin_rod(_ARM_MASS, _ARM, "x"))


def _motor(k: int, direction: float) -> Joint:
    return Joint(f"motor{k}", "continuous", "base", f"arm{k}", origin=about_z(direction, (_BASE, 0, 0)), axis=_Y)


def _vertex(direction: float) -> FloatArray:
    """Where the rods of an arm meet the platform, in the middle between them."""
    return np.asarray(about_z(direction, (_PLATFORM, 0, 0))[:3, 3], float)


def _rod_end(direction: float, side: float) -> FloatArray:
    return np.asarray(about_z(direction, (_PLATFORM, side * _WIDTH, 0))[:3, 3], float)


def _reach() -> float:
    """How far the rods of an arm lead inwards at home."""
    return float(_BASE + _ARM * np.cos(_HOME) - _PLATFORM)


def _height() -> float:
    """Of the platform at home."""
    return float(-_ARM * np.sin(_HOME) - np.sqrt(_ROD**2 - _reach() ** 2))
