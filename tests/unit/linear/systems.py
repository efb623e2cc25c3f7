"""Systems that linear models are tested on: random robots, and mechanisms with one and two freedoms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dalembert as dal
from dalembert.mechanism import Mechanism
from dalembert.model import Robot
from tests.robots import FRICTIONLESS, random_robot

LINKS = replace(FRICTIONLESS, full_rotors=False)  # what the document's expressions have
MECHANISMS = ("four_bar", "five_bar", "spatial_slider_crank")


def some_robot(seed: int, n: int = 4) -> Robot:
    return random_robot(np.random.default_rng(seed), n, LINKS)


def mechanism(name: str) -> Mechanism:
    """A mechanism of the catalogue without friction."""
    found = getattr(dal.mechanisms, name)()
    robot = found.robot
    return found.replace(robot=robot.replace(parameters=robot.parameters.replace(friction={})))


def motion(system: Robot | Mechanism, rng: np.random.Generator, count: int = 3) -> np.ndarray:
    """Some states near where a mechanism is assembled, or anywhere: q, qd, qdd of shape (count, n)."""
    q, qd, qdd = rng.normal(size=(3, count, system.n))
    return np.stack([q if isinstance(system, Robot) else system.q0 + 0.05 * q, qd, qdd])
