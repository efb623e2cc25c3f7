"""One-joint systems whose motion with dry friction is known in closed form, and what the tests of events share."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal

MASS = 2.0
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def block(friction: dal.Friction | None = None, limits: tuple[float, float] = (-1.0, 1.0)) -> dal.Robot:
    """A mass on a horizontal rail."""
    links = [dal.Link("base"), dal.Link("body", MASS, inertia=np.eye(3))]
    joint = dal.Joint("slide", "prismatic", "base", "body", axis=(1, 0, 0), limits=dal.Limits(*limits))
    return dal.Robot.from_parts("block", links, [joint], friction={} if friction is None else {"slide": friction})


def with_friction(robot: dal.Robot, scale: float = 1.0, **laws: dal.Friction) -> dal.Robot:
    """The robot with its friction scaled, or other laws by joint."""
    own = robot.parameters.friction
    scaled = {
        name: dal.Friction(scale * law.viscous, scale * law.coulomb, scale * (law.coulomb_negative or 0.0))
        for name, law in own.items()
    }
    return robot.replace(parameters=robot.parameters.replace(friction=scaled | laws))


def happened(motion: Any) -> list[tuple[str, str, float]]:
    """Kind, name and time of all events."""
    return [(event.kind, event.name, event.t) for event in motion.events]


def friction_loss(robot: Any, solution: Any) -> float:
    """The work done by friction, by Gauss quadrature on each step of a dense solution: inside of it the motion is smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    a, b = solution.t[:-1], solution.t[1:]
    times = np.clip(a[:, None] + (b - a)[:, None] * (nodes + 1) / 2, a[:, None], b[:, None])
    q, qd = solution(times)
    power = (dal.friction_torque(robot, qd, q=q) * qd).sum(-1)
    return float((power @ weights) @ (b - a) / 2)
