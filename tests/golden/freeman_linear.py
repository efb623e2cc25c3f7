"""The linear model of [Freeman, Ch. II] on arrays: an erratum of its derivatives (`linear.load_partials`), and d-c motors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import dalembert as dal
from dalembert.model import Robot

Array = np.ndarray


def printed_transpose(robot: Robot, q: Array, qd: Array) -> Array:
    """What the [H]ᵀ that (2-224) prints in II (q̇ᵀ H)ᵀ adds to ∂T/∂q, link by link."""
    total = np.zeros((robot.n, robot.n))
    for link in robot.parameters.links[1:]:
        R = dal.forward_kinematics(robot, q, link.name)[:3, :3]
        G, H, _ = dal.influence(robot, q, link.name, kind="rotation")
        II, change = R @ link.inertia @ R.T, np.einsum("cnm,m->cn", H, qd) - np.einsum("m,cmn->cn", qd, H)
        total += G.T @ np.cross(G @ qd, (II @ change).T).T
    return total


class Motors(NamedTuple):
    """D-c motors seen from the joints [Freeman, Eq. 2-235 to 2-237]."""

    L: Array
    R: Array
    CE: Array
    CM: Array
    B: Array
    I: Array


def motors(data: dict[str, list[float]]) -> Motors:
    """Motor-side numbers, and the drive train φ̇ = Gqphi q̇, as matrices at the joints."""
    back = np.linalg.inv(np.array(data["Gqphi"], dtype=float))
    diagonal = {name: np.diag(data[name]) for name in ("L", "R", "CE", "CM", "B", "I")}
    return Motors(
        diagonal["L"],
        diagonal["R"],
        diagonal["CE"] @ back,
        back.T @ diagonal["CM"],
        back.T @ diagonal["B"] @ back,
        back.T @ diagonal["I"] @ back,
    )


def state_space(motor: Motors, dT: Sequence[Array]) -> tuple[Array, Array]:
    """F and G of (δφ, δφ̇, δi) from ∂T/∂φ, ∂T/∂φ̇, I* [Freeman, Eq. 2-244 to 2-252]."""
    dT_dq, dT_dqd, I = dT
    n = len(I)
    none, L = np.zeros((n, n)), np.linalg.inv(motor.L)
    inertia = np.linalg.inv(I + motor.I)
    F = np.block(
        [
            [none, np.eye(n), none],
            [-inertia @ dT_dq, -inertia @ (dT_dqd + motor.B), inertia @ motor.CM],
            [none, -L @ motor.CE, -L @ motor.R],
        ]
    )
    return F, np.vstack([none, none, L])
