"""Arms that hold one object together: more drives than freedoms [Freeman, Fig. 4-5]."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..checks import FloatArray
from ..mechanism import Mechanism
from ..model.closures import Closure
from ..model.gather import free_body, gather
from ..robots._ur5 import ur5
from ._pieces import about_z, pose_names

# All numbers but those of the arms are ours: bases and grips from the middle, height of the object above the bases [m].
_BASE, _GRIP, _HEIGHT = 0.7, 0.15, 0.4
# Positions of an arm that grips the object with its elbow up; the mechanism is assembled from here [rad].
_ARM = (0.2355482133, -1.8411628478, -1.8159374177, 0.5155076119, 1.3352481135, -1.5707963268)


@cache
def two_arms() -> Mechanism:
    """Two UR5 that face each other and hold a beam of 5 kg by both ends; coordinates: the pose of the beam.

    Twelve driven joints for six freedoms: the arms can also press the beam between them, in six independent ways. The arms are
    those of `dal.robots.ur5`; the rest is ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> arms = dal.mechanisms.two_arms()
    >>> len(arms.actuated), arms.n
    (12, 6)
    """
    return _holding("two_arms", 2, 5.0, (0.01, 0.05, 0.05))


@cache
def three_arms() -> Mechanism:
    """Three UR5 around a plate of 8 kg, each gripping it at its rim; coordinates: the pose of the plate.

    Eighteen driven joints for six freedoms. The arms are those of `dal.robots.ur5`; the rest is ours.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.mechanisms.three_arms().joint_names[:3]
    ('object_x', 'object_y', 'object_z')
    """
    return _holding("three_arms", 3, 8.0, (0.05, 0.05, 0.09))


def _holding(name: str, count: int, mass: float, moments: tuple[float, float, float]) -> Mechanism:
    """Arms evenly on a circle, the first at −x, each welded by its flange to the object in their middle."""
    arms = {f"arm{k}": np.pi * (1 + 2 * (k - 1) / count) for k in range(1, count + 1)}
    poses = {arm: _facing(direction) for arm, direction in arms.items()}
    parts = {"object": free_body(mass, inertia=np.diag(moments), name="body")} | dict.fromkeys(arms, ur5())
    tree = gather(name, parts, poses=poses).with_tool(np.eye(4), "object_body")
    grips = [
        Closure(f"grip_{arm}", "weld", ((f"{arm}_link6", (0, 0, 0)), ("object_body", _grip(direction))))
        for arm, direction in arms.items()
    ]
    drives = [joint for joint in tree.joint_names if joint.startswith("arm")]
    return Mechanism(name, tree, grips, pose_names("object"), [0, 0, _HEIGHT, 0, 0, 0, *_ARM * count], actuated=drives)


def _facing(direction: float) -> FloatArray:
    """A base in some direction from the middle, its x axis towards the middle."""
    X = about_z(direction + np.pi)
    X[:3, 3] = _BASE * np.cos(direction), _BASE * np.sin(direction), 0.0
    return X


def _grip(direction: float) -> FloatArray:
    """The flange of the arm in some direction, seen from the object: x up, z towards the middle."""
    out = np.array([np.cos(direction), np.sin(direction), 0.0])
    X = np.eye(4)
    X[:3, :3] = np.column_stack([(0, 0, 1), np.cross(-out, (0, 0, 1)), -out])
    X[:3, 3] = _GRIP * out
    return X
