"""Forward kinematics in a few lines of NumPy, independent of the library's own, to compare files with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dalembert.model import Joint, Robot


def motion(joint: Joint, value: float) -> np.ndarray:
    """The transform of a joint at this value: the exponential of its screw."""
    X = np.eye(4)
    if joint.turns:
        a = joint.axis
        K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        X[:3, :3] = np.eye(3) + np.sin(value) * K + (1 - np.cos(value)) * K @ K
    elif joint.moves:
        X[:3, 3] = joint.axis * value
    return X


def link_poses(robot: Robot, q: Mapping[str, float]) -> dict[str, np.ndarray]:
    """X_WB of every link, for joint values by name; mimic joints follow."""
    X = {robot.structure.root: np.eye(4)}
    for joint in robot.structure.joints:
        value = q.get(joint.name, 0.0)
        if joint.mimic is not None:
            value = joint.mimic.multiplier * q[joint.mimic.joint] + joint.mimic.offset
        X[joint.child] = X[joint.parent] @ joint.origin @ motion(joint, value + joint.home) @ joint.child_origin
    return X


def random_values(robot: Robot, rng: np.random.Generator) -> dict[str, float]:
    """A value for every coordinate, by name."""
    return dict(zip(robot.joint_names, rng.uniform(-1.5, 1.5, robot.n), strict=True))


def total_inertia(robot: Robot, q: Mapping[str, float]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, first moment and inertia about the world's origin of the whole robot with its payload."""
    X = link_poses(robot, q)
    placed = [(X[link.name], body) for link in robot.parameters.links for body in (link, *link.bodies)]
    if robot.parameters.payload is not None:
        placed.append((X[robot.tool.link] @ robot.tool.pose, robot.parameters.payload))
    mass, moment, I = 0.0, np.zeros(3), np.zeros((3, 3))
    for X_WB, body in placed:
        c = X_WB[:3, :3] @ body.com + X_WB[:3, 3]
        mass += body.mass
        moment += body.mass * c
        I += X_WB[:3, :3] @ body.inertia @ X_WB[:3, :3].T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return mass, moment, I
