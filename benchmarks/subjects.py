"""What is measured: robots that every library can represent, and states to evaluate them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
    "coriolis_matrix": ("q", "qd"),
    "regressor": ("q", "qd", "qdd"),
    "inverse_derivatives": ("q", "qd", "qdd"),
    "forward_derivatives": ("q", "qd", "tau"),
}


def _inverse_derivatives(robot: Robot, q: Any, qd: Any, qdd: Any, **options: Any) -> Any:
    return dal.derivatives(robot, q, qd, qdd, **options)


def _forward_derivatives(robot: Robot, q: Any, qd: Any, tau: Any, **options: Any) -> Any:
    return dal.derivatives(robot, q, qd, tau=tau, **options)


def _regressor(robot: Robot, *state: Any, **options: Any) -> Any:
    return dal.regressor(robot, *state, rotor=False, friction=False, **options)


_OWN = {
    "inverse_derivatives": _inverse_derivatives,
    "forward_derivatives": _forward_derivatives,
    "regressor": _regressor,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {name: _OWN.get(name) or getattr(dal, name) for name in ARGUMENTS}
SIMPLE = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_torque", "jacobian")


def plain(robot: Robot) -> Robot:
    """A new robot without friction and rotors, which not every library has."""
    return robot.replace(parameters=robot.parameters.replace(friction={}, rotors={}))


def states(robot: Robot, count: int, seed: int = 0) -> States:
    """Random states, and the torques of their motion."""
    q, qd, qdd = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, count, robot.n))
    q *= np.pi
    return States(q, qd, qdd, dal.inverse_dynamics(robot, q, qd, qdd))


def arguments(quantity: str, given: States) -> list[np.ndarray]:
    """Those arrays of the states that a quantity takes."""
    return [getattr(given, name) for name in ARGUMENTS[quantity]]


def result_shapes(quantity: str, n: int) -> list[tuple[int, ...]]:
    """The shapes of a quantity's results in one state."""
    if quantity.endswith("derivatives"):
        return [(n, n)] * 3
    square = (n, n)
    return [{"mass_matrix": square, "coriolis_matrix": square, "jacobian": (6, n), "regressor": (n, 10 * n)}.get(quantity, (n,))]


def result_arrays(quantity: str, n: int, count: int) -> Any:
    """Arrays for the results of many states: one, or a tuple of several."""
    arrays = tuple(np.empty((count, *shape)) for shape in result_shapes(quantity, n))
    return arrays if len(arrays) > 1 else arrays[0]
