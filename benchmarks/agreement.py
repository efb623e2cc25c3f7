"""Before anything is timed, the results of all libraries are compared."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.model import Robot

from .peers import Peer
from .subjects import FUNCTIONS, SIMPLE, States, arguments

TOLERANCE = 1e-9  # relative to the largest entry; the rounding errors of two libraries are much smaller


class DisagreementError(Exception):
    """Two libraries computed different results."""


def check(robot: Robot, states: States, peer: Peer, quantity: str) -> None:
    """Compare all results of a peer with ours."""
    compare(robot, states, quantity, peer.answer(quantity), peer.label)


def compare(robot: Robot, states: States, quantity: str, theirs: np.ndarray, label: str) -> None:
    """Compare results with ours."""
    ours = FUNCTIONS[quantity](robot, *arguments(quantity, states))
    if quantity not in SIMPLE:
        ours, theirs = _comparable(robot, quantity, ours, theirs)
    if quantity == "mass_matrix":  # Pinocchio computes the upper triangle
        ours, theirs = np.triu(ours), np.triu(theirs)
    if quantity == "forward_dynamics":
        # The mass matrix of a long chain is ill-conditioned, so accelerations are compared by the torques they need.
        ours, theirs = (dal.inverse_dynamics(robot, states.q, states.qd, qdd) for qdd in (ours, theirs))
    demand(ours, theirs, f"{quantity} of {robot.name!r}", label)


def demand(ours: np.ndarray, theirs: np.ndarray, what: str, label: str, tolerance: float = TOLERANCE) -> None:
    """Refuse results that differ."""
    difference = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not difference < tolerance:
        raise DisagreementError(f"{what}: {label} differs by {difference:.1e}, below {tolerance} expected.")


def _comparable(robot: Robot, quantity: str, ours: Any, theirs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Results whose layouts differ, in a form in which they should be equal."""
    n = robot.n
    if quantity == "regressor":  # columns are about other frames and in another order; the torques they give are the same
        own = ours @ dal.parameters(robot, rotor=False, friction=False)
        return own, theirs.reshape(*own.shape[:-1], n, 10 * n) @ _segment_parameters(robot)
    if quantity == "coriolis_matrix":
        return ours, theirs.reshape(ours.shape)
    stacked = np.stack(ours, axis=-3)
    theirs = theirs.reshape(stacked.shape)
    stacked[..., 2, :, :], theirs[..., 2, :, :] = np.triu(stacked[..., 2, :, :]), np.triu(theirs[..., 2, :, :])
    return stacked, theirs


def _segment_parameters(robot: Robot) -> np.ndarray:
    """The parameters in Pinocchio's order and frames."""
    rows = []
    for s in engine.tree(robot).segments:
        m, h, I = s.inertia
        rows.append([m, *h, I.xx, I.xy, I.yy, I.xz, I.yz, I.zz])
    return np.ravel(rows)
