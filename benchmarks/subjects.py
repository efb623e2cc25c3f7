"""What is measured: robots that every contestant can hold, and states to evaluate them in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import dalembert as dal
from dalembert.model import Robot


class States(NamedTuple):
    """Positions, velocities, accelerations and the torques that belong to them, each of shape (count, n), C order."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


ARGUMENTS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "mass_matrix": ("q",),
    "gravity_torque": ("q",),
    "jacobian": ("q",),
}
FUNCTIONS = {name: getattr(dal, name) for name in ARGUMENTS}


def plain(robot: Robot) -> Robot:
    """A new robot without friction and rotors, which not every contestant has."""
    return robot.replace(parameters=robot.parameters.replace(friction={}, rotors={}))


def states(robot: Robot, count: int, seed: int = 0) -> States:
    """Random states, and the torques of their motion."""
    q, qd, qdd = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, count, robot.n))
    q *= np.pi
    return States(q, qd, qdd, dal.inverse_dynamics(robot, q, qd, qdd))


def arguments(quantity: str, given: States) -> list[np.ndarray]:
    """Those arrays of the states that a quantity takes."""
    return [getattr(given, name) for name in ARGUMENTS[quantity]]


def result_shape(quantity: str, n: int) -> tuple[int, ...]:
    """The shape of a quantity in one state."""
    return {"mass_matrix": (n, n), "jacobian": (6, n)}.get(quantity, (n,))
