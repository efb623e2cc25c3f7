"""The motion of [Siciliano, Example 7.2] with triangular velocity profiles: both joints turn by 90 degrees in half a second."""

import numpy as np

START = np.array([-1.4706289056333368, 2.9412578112666736])  # tip at (0.2, 0) m, elbow below
DURATION, TURN = 0.5, np.pi / 2  # s, rad


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇, q̈ at times t, shape (k, 2): half of the time speeding up, half slowing down."""
    rate, left, early = 4 * TURN / DURATION**2, DURATION - t, t <= DURATION / 2
    way = np.where(early, rate * t**2 / 2, TURN - rate * left**2 / 2)
    steps = [way, np.where(early, rate * t, rate * left), np.where(early, rate, -rate)]
    q, qd, qdd = (np.stack([x, x], axis=-1) for x in steps)
    return START + q, qd, qdd
