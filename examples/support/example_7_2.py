"""The motion of [Siciliano, Example 7.2] with triangular velocity profiles: both joints turn by 90 degrees in half a second."""

import numpy as np

import dalembert as dal

START = np.array([-1.4706289056333368, 2.9412578112666736])  # tip at (0.2, 0) m, elbow below
DURATION, TURN = 0.5, np.pi / 2  # s, rad


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇, q̈ at times t, shape (k, 2): half of the time speeding up, half slowing down."""
    at = dal.trajectory.triangular(START, START + TURN, duration=DURATION)(t)
    return at.q, at.qd, at.qdd
