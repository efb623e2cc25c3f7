"""Linkages whose joints rub and have stops wherever they are, and forces on them that no choice of coordinates changes."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal
from dalembert.expr import ops
from tests.mechanisms_with_drives import DOWN, planar_arm, shifted

LEVEL = (0.0, 0.0, 0.0)
CHOICES = (
    ("left_joint1", "right_joint1"),
    ("left_joint1", "left_joint2"),
    ("left_joint2", "right_joint2"),
    ("right_joint2", "left_joint1"),
)


def rods(coordinates: tuple[str, ...] = CHOICES[0], gravity: Any = LEVEL) -> dal.Mechanism:
    """A linkage of four rods and the ground, with two freedoms."""
    arm = planar_arm("arm", (0.5, 0.6))
    poses = {"left": shifted(-0.3, 0), "right": shifted(0.3, 0)}
    tree = dal.gather("rods", {"left": arm, "right": arm}, poses=poses, gravity=gravity)
    ends = tuple((f"{side}_rod2", shifted(0.6, 0)) for side in ("left", "right"))
    tips = dal.Closure("tips", type="directions", directions=("x", "y"), between=ends)
    return dal.Mechanism("rods", tree, [tips], coordinates, [2.2, -1.4, np.pi - 2.2, 1.4])


def hanging(coordinates: tuple[str, ...] = CHOICES[0]) -> dal.Mechanism:
    """The same, under gravity."""
    return rods(coordinates, DOWN)


def rubbing(mechanism: dal.Mechanism, level: float, viscous: float = 0.0, **levels: float) -> dal.Mechanism:
    """The mechanism with friction in all joints of its tree, or in some by name."""
    names = [joint.name for joint in mechanism.robot.structure.coordinates]
    laws = {name: dal.Friction(viscous, levels.get(name, level)) for name in names}
    parameters = mechanism.robot.parameters.replace(friction=laws)
    return mechanism.replace(robot=mechanism.robot.replace(parameters=parameters))


def placed(mechanism: dal.Mechanism, x: Any) -> list[float]:
    """The coordinates, which are joints, at positions of the tree."""
    return [float(x[mechanism.robot.joint_names.index(name)]) for name in mechanism.joint_names]


def push(size: float) -> dict[str, Any]:
    """A force that swings, at the end of a rod."""
    return {"left_rod2": lambda t, q, qd: [6.0 * size * ops.sin(3.0 * t), 4.0 * size * ops.sin(5.0 * t + 1.0), 0, 0, 0, 0]}


__all__ = ["CHOICES", "hanging", "placed", "push", "rods", "rubbing"]
