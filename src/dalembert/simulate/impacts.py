"""Velocities that jump: at stops, where joints are locked, and where something is caught [theory: simulation, Eq. 14 to 16].

Forces that are finite, dry friction among them, do nothing in an instant; what acts are the impulses of stops and locks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray

REST = 1e-6  # rad/s or m/s: a joint that comes back from a stop more slowly stays there
_MOST_TURNS = 1000


def free_inverse(M: FloatArray, locked: Any) -> FloatArray:
    """M⁻¹ of the coordinates that are not locked; zero rows and columns for the others."""
    free = np.flatnonzero(~np.asarray(locked, dtype=bool))
    A = np.zeros_like(M)
    A[np.ix_(free, free)] = np.linalg.inv(M[np.ix_(free, free)])
    return A


def from_stops(
    A: FloatArray, v: FloatArray, lower: Any, upper: Any, restitution: FloatArray, pressed: bool = False
) -> FloatArray:
    """The velocities after all joints that stand at a stop and move into it have hit it.

    With n pointing away from each stop, n v' ≥ −e n v where a joint moves in and n v' ≥ 0 where it rests there; the impulses push
    away, and act only where equality holds. They solve a linear complementarity problem: Newton's rule for several stops at once
    [Brogliato2016]. Where joints were only `pressed` on their stops, and nothing has hit, nobody who rests is pushed off.
    """
    places = np.flatnonzero(lower | upper)
    N = np.zeros((len(v), len(places)))
    N[places, np.arange(len(places))] = np.where(lower[places], 1.0, -1.0)
    speed = N.T @ v
    wanted = np.where(speed < 0, -restitution[places] * speed, 0.0)
    G = N.T @ A @ N
    p = complementary(G, speed - wanted)
    # Stops that joints leave slowly, hit or pushed off by another, keep them: small bounces would push each other for ever.
    slow = (speed + G @ p <= REST) | (pressed & (speed <= 0))
    acting = slow | (p > 0)
    wanted[slow] = 0.0
    p = np.zeros(len(places))
    p[acting] = np.linalg.solve(G[np.ix_(acting, acting)], (wanted - speed)[acting])
    after: FloatArray = v + A @ (N @ p)
    after[places[acting]] = (N[places, np.arange(len(places))] * wanted)[acting]  # without the rounding of a sum
    return after


def complementary(G: FloatArray, b: FloatArray) -> FloatArray:
    """p ≥ 0 with w = G p + b ≥ 0 and p·w = 0, for a positive definite G, by principal pivoting on the first place that is off."""
    active = np.zeros(len(b), dtype=bool)
    p = np.zeros(len(b))
    for _ in range(_MOST_TURNS):
        p = np.zeros(len(b))
        if active.any():
            p[active] = np.linalg.solve(G[np.ix_(active, active)], -b[active])
        off = np.where(active, p < 0, G @ p + b < -1e-14 * np.abs(b).max(initial=0.0))
        if not off.any():
            break
        first = int(np.argmax(off))
        active[first] = not active[first]
    return p


def when_locked(M: FloatArray, v: FloatArray, locked: Any) -> FloatArray:
    """The velocities after some coordinates stand still at once: the momenta of the others stay."""
    free = np.flatnonzero(~np.asarray(locked, dtype=bool))
    after = np.zeros_like(v)
    after[free] = np.linalg.solve(M[np.ix_(free, free)], (M @ v)[free])
    return after


def when_caught(M: FloatArray, M_after: FloatArray, v: FloatArray, locked: Any) -> FloatArray:
    """The velocities after something that was at rest belongs to the system: the momenta of all coordinates stay."""
    free = np.flatnonzero(~np.asarray(locked, dtype=bool))
    after = np.zeros_like(v)
    after[free] = np.linalg.solve(M_after[np.ix_(free, free)], (M @ v)[free])
    return after


__all__ = ["complementary", "free_inverse", "from_stops", "when_caught", "when_locked"]
