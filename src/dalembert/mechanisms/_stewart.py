"""Platforms on six legs [Freeman, Fig. 4-2]."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..mechanism import Mechanism
from ..model import Joint, Limits, Link, Robot, Tool
from ..model.closures import Closure
from ._pieces import free, pose_names
from ._planar import shift

# Stewart-Gough platform [Tsai2000]: joints of the base and, in its own frame, of the platform [m].
_BASE = ((-2.12, 1.374, 0), (-2.38, 1.224, 0), (-2.38, -1.224, 0), (-2.12, -1.374, 0), (0, -0.15, 0), (0, 0.15, 0))
_PLATFORM = (
    (0.17, 0.595, -0.4),
    (-0.6, 0.15, -0.4),
    (-0.6, -0.15, -0.4),
    (0.17, -0.595, -0.4),
    (0.43, -0.445, -0.4),
    (0.43, 0.445, -0.4),
)
# Masses [kg] and moments [kg m²] [Tsai2000]: platform; cylinder and piston of a leg, each with its centre 0.5 m from its joint.
_MASS, _MOMENT, _LEG_MASS, _LEG_MOMENT, _LEG_CENTRE = 1.5, 0.08, 0.1, 0.00625, 0.5
_HOME = (-1.5, 0.0, 1.0)  # the middle of the motions in [Tsai2000]
_LEGS = tuple(f"leg{k}" for k in range(1, 7))


@cache
def stewart(coordinates: str = "legs") -> Mechanism:
    """A Stewart platform (6-UPS): six legs that are driven along their length, on universal joints below, on balls above.

    Dimensions, masses and moments are those of [Tsai2000]. It is cut open at the balls: a free platform, and six legs of two
    turns and a slide each. The axes of the universal joints are parallel to x and y of the ground, which leaves the most zeros.

    Parameters
    ----------
    coordinates : {'legs', 'pose'}
        The lengths of the legs, or x, y, z, roll, pitch, yaw of the platform.

    Examples
    --------
    >>> import dalembert as dal
    >>> platform = dal.mechanisms.stewart()
    >>> dal.gravity_torque(platform, platform.q0).round(3)  # [N]
    array([7.218, 7.22 , 7.22 , 7.218, 7.22 , 7.22 ])
    """
    chosen = checks.choice("coordinates", coordinates, {"legs": _LEGS, "pose": pose_names("platform")})
    body = Link("platform", _MASS, np.zeros(3), _MOMENT * np.eye(3))
    links, joints = free(body, "base")
    guess = dict.fromkeys((joint.name for joint in joints), 0.0) | dict(zip(pose_names("platform")[:3], _HOME, strict=True))
    for leg, base, top in zip(_LEGS, _BASE, _PLATFORM, strict=True):
        own_links, own_joints = _sliding_leg(leg, base)
        links, joints = links + own_links, joints + own_joints
        guess |= _aimed(leg, np.array(_HOME) + top - base)
    tree = Robot.from_parts("stewart", [Link("base"), *links], joints, tool=Tool("platform"))
    balls = [
        Closure(f"ball{k}", "spherical", ((f"{leg}_piston", (0, 0, 0)), ("platform", top)))
        for k, (leg, top) in enumerate(zip(_LEGS, _PLATFORM, strict=True), 1)
    ]
    return Mechanism("stewart", tree, balls, chosen, [guess[name] for name in tree.joint_names], actuated=_LEGS)


def _sliding_leg(leg: str, base: Any) -> tuple[list[Link], list[Joint]]:
    """Universal joint, cylinder and piston; z is along the leg, and the piston's frame is at the ball."""
    moments = np.diag([_LEG_MOMENT, _LEG_MOMENT, 0.0])
    links = [
        Link(f"{leg}_cross", virtual=True),
        Link(f"{leg}_cylinder", _LEG_MASS, np.array([0, 0, _LEG_CENTRE]), moments),
        Link(f"{leg}_piston", _LEG_MASS, np.array([0, 0, -_LEG_CENTRE]), moments),
    ]
    joints = [
        Joint(f"{leg}_x", "continuous", "base", f"{leg}_cross", origin=shift(*base), axis=np.array([1.0, 0, 0])),
        Joint(f"{leg}_y", "continuous", f"{leg}_cross", f"{leg}_cylinder", axis=np.array([0, 1.0, 0])),
        Joint(leg, "prismatic", f"{leg}_cylinder", f"{leg}_piston", limits=Limits(lower=0.0)),
    ]
    return links, joints


def _aimed(leg: str, d: FloatArray) -> dict[str, float]:
    """The positions of a leg that leads along d: Rx(x) Ry(y) turns z into (sin y, −sin x cos y, cos x cos y)."""
    length = float(np.linalg.norm(d))
    return {f"{leg}_x": float(np.arctan2(-d[1], d[2])), f"{leg}_y": float(np.arcsin(d[0] / length)), leg: length}
