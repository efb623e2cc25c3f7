"""Velocities that jump: at stops, where joints are locked, and where something is caught [theory: simulation, Eq. 14 to 16].

Forces that are finite, dry friction among them, do nothing in an instant; what acts are the impulses of stops and locks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .held_model import REFINED, SHARED

REST = 1e-6  # rad/s or m/s: a joint that comes back from a stop more slowly stays there
_MOST_TURNS = 1000
_TINY = 1e-300
_INTO = 1e-12  # of the speeds: what moves into a stop as little does not


def free_inverse(M: FloatArray, locked: FloatArray) -> FloatArray:
    """M⁻¹ of motions that leave locked axes, rows (k, n), where they are: M⁻¹ − M⁻¹ Lᵀ (L M⁻¹ Lᵀ)⁻¹ L M⁻¹."""
    A: FloatArray = np.asarray(np.linalg.inv(M), dtype=float)
    if not len(locked):
        return A
    Z = A @ locked.T
    found: FloatArray = A - Z @ shared_forces(locked @ Z, Z.T)
    return found


def moved(A: FloatArray, rows: FloatArray, by: FloatArray) -> FloatArray:
    """The least motion that moves axes of these rows by so much."""
    chosen = rows[by != 0.0]
    if not len(chosen):
        return np.zeros(len(A))
    Z = A @ chosen.T
    found: FloatArray = Z @ shared_forces(chosen @ Z, by[by != 0.0])
    return found


class Flight(NamedTuple):
    """What tells whether joints fly from their stops: accelerations (K,) of all axes if no stop held any, and what is too low.

    That is what positions do not tell [theory: simulation, Eq. 32].
    """

    pull: FloatArray
    depth: FloatArray


def from_stops(
    A: FloatArray,
    v: FloatArray,
    rows: FloatArray,
    lower: Any,
    upper: Any,
    restitution: FloatArray,
    *,
    pressed: bool = False,
    flight: Flight | None = None,
) -> FloatArray:
    """The velocities after all axes, rows (K, n), that stand at a stop and move into it have hit it.

    With n pointing away from each stop, n v' ≥ −e n v where a joint moves in and n v' ≥ 0 where it rests there; the impulses push
    away, and act only where equality holds. They solve a linear complementarity problem: Newton's rule for several stops at once
    [Brogliato2016]. Where joints were only `pressed` on their stops, and nothing has hit, nobody who rests is pushed off. Joints
    whose `flight` would be too short to tell stay.
    """
    places = np.flatnonzero(lower | upper)
    away = np.where(lower[places], 1.0, -1.0)
    N = (rows[places] * away[:, None]).T
    speed = N.T @ v
    wanted = np.where(speed < 0, -restitution[places] * speed, 0.0)
    G = N.T @ A @ N
    p = complementary(G, speed - wanted)
    leaving = speed + G @ p
    slow = (leaving <= REST) | (pressed & (speed <= 0))
    if flight is not None:
        slow |= _heights(G, leaving, away * flight.pull[places]) <= flight.depth[places]
    wanted[slow] = 0.0
    p, wanted, acting = _impulses(G, speed, wanted, slow | (p > 0))
    after: FloatArray = v + A @ (N @ p)
    for k in np.flatnonzero(acting):
        alone = np.flatnonzero(N[:, k])
        if len(alone) == 1:  # a coordinate, without the rounding of a sum
            after[alone[0]] = wanted[k] / N[alone[0], k]
    return after


def _impulses(G: FloatArray, speed: FloatArray, wanted: FloatArray, acting: Any) -> tuple[FloatArray, FloatArray, Any]:
    """Impulses after which joints that stops act upon have the speeds that are wanted, or as much of them as energy allows.

    Stops act as well on joints that those would drive into theirs. The speeds, and who is acted upon, come second and third.
    """
    for _ in range(len(speed)):
        own = np.ix_(acting, acting)
        goal = np.where(acting, _within_energy(G[own], speed[acting], wanted[acting]) * wanted, 0.0)
        p = np.zeros(len(speed))
        p[acting] = shared_forces(G[own], (goal - speed)[acting])
        driven = ~acting & (speed + G @ p < -_INTO * np.abs(speed).max())
        if not driven.any():
            break
        acting = acting | driven
    return p, goal, acting


def _within_energy(G: FloatArray, speed: FloatArray, wanted: FloatArray) -> float:
    """The share of wanted speeds at which no energy is gained [theory: simulation, Eq. 31].

    It is 1 where all joints that hit keep the same part of their speeds.
    """
    before, after = speed @ shared_forces(G, speed), wanted @ shared_forces(G, wanted)
    return 1.0 if after <= before else math.sqrt(before / after)


def _heights(G: FloatArray, leaving: FloatArray, pull: FloatArray) -> FloatArray:
    """How far joints that leave their stops at these speeds come before they fall back, if they do; others rest on theirs."""
    rests = leaving <= 0
    a = pull.copy()
    if rests.any():
        a += G[:, rests] @ complementary(G[np.ix_(rests, rests)], pull[rests])
    return np.where(a < 0, leaving**2 / (-2 * np.where(a < 0, a, -1.0)), np.inf)


def shared_forces(G: FloatArray, b: FloatArray) -> FloatArray:
    """G⁻¹ b of a matrix of mobilities, each axis giving way a little, as in `HeldRows`.

    Axes that hinder the same motion share what it takes, one that nothing moves has none; and pivoting comes to an end.
    """
    soft = G + np.diag(SHARED * np.diag(G) + _TINY)
    found: FloatArray = np.asarray(np.linalg.solve(soft, b), dtype=float)
    for _ in range(REFINED):
        found = found + np.linalg.solve(soft, b - G @ found)
    return found


def complementary(G: FloatArray, b: FloatArray) -> FloatArray:
    """p ≥ 0 with w = G p + b ≥ 0 and p·w = 0, for a positive definite G, by principal pivoting on the first place that is off."""
    active = np.zeros(len(b), dtype=bool)
    p = np.zeros(len(b))
    for _ in range(_MOST_TURNS):
        p = np.zeros(len(b))
        if active.any():
            p[active] = shared_forces(G[np.ix_(active, active)], -b[active])
        off = np.where(active, p < 0, G @ p + b < -1e-14 * np.abs(b).max(initial=0.0))
        if not off.any():
            break
        first = int(np.argmax(off))
        active[first] = not active[first]
    return p


def with_momenta(A: FloatArray, M: FloatArray, v: FloatArray) -> FloatArray:
    """Velocities that have the momenta of v before, A being M'⁻¹ of what is free now: something is locked, or was caught."""
    found: FloatArray = A @ (M @ v)
    return found


__all__ = ["Flight", "complementary", "free_inverse", "from_stops", "moved", "shared_forces", "with_momenta"]
