"""Before anything is timed, contestants have to agree."""

from __future__ import annotations

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from .peers import Peer
from .subjects import FUNCTIONS, States, arguments

TOLERANCE = 1e-9  # relative to the largest entry; two libraries' rounding stays far below


class DisagreementError(Exception):
    """Two contestants computed different things."""


def check(robot: Robot, states: States, peer: Peer, quantity: str) -> None:
    """Compare all results of a peer with ours."""
    compare(robot, states, quantity, peer.answer(quantity), peer.label)


def compare(robot: Robot, states: States, quantity: str, theirs: np.ndarray, label: str) -> None:
    """Compare results with ours."""
    ours = FUNCTIONS[quantity](robot, *arguments(quantity, states))
    if quantity == "mass_matrix":  # Pinocchio computes the upper triangle
        ours, theirs = np.triu(ours), np.triu(theirs)
    if quantity == "forward_dynamics":
        # The mass matrix of a long chain is ill-conditioned, so accelerations are compared by the torques they need.
        ours, theirs = (dal.inverse_dynamics(robot, states.q, states.qd, qdd) for qdd in (ours, theirs))
    difference = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if not difference < TOLERANCE:
        raise DisagreementError(f"{quantity} of {robot.name!r}: {label} differs by {difference:.1e}, below {TOLERANCE} expected.")
