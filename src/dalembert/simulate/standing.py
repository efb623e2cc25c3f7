"""Accelerations of states at which joints with dry friction stand: it holds them, or all of its level acts against motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics import forward_dynamics, friction_torque, mass_matrix
from ..dynamics.system import AnySystem
from .dry_friction import ROUNDING, DryFriction, dry_friction, force, given_levels, jumping_joints, with_level

_SLOW = 1e-12  # rad/s or m/s: friction there is that at rest, without what is viscous
_MOST_TURNS = 200


def standing_dynamics(system: AnySystem, q: FloatArray, qd: FloatArray, tau: FloatArray, **around: Any) -> FloatArray:
    """q̈ as `forward_dynamics`, with joints that stand held up to their level of dry friction [theory: simulation, Eq. 12]."""
    free: FloatArray = forward_dynamics(system, q, qd, tau, **around)
    phi = around.get("parameters")
    given = None if phi is None else given_levels(system, np.asarray(phi))
    friction = dry_friction(system, given) if jumping_joints(system, given) else None
    if friction is None or (phi is not None and friction.passive):
        return free
    still = np.broadcast_to(np.array(friction.acts) & (qd == 0.0), free.shape)
    if not still.any():
        return free
    M = np.broadcast_to(mass_matrix(system, q, parameters=phi), (*free.shape, free.shape[-1]))
    levels = [_level(system, q, qd, way) if phi is None else _given_level(friction, phi, way) for way in (-_SLOW, _SLOW)]
    low, high = (np.broadcast_to(level, free.shape) for level in levels)
    found = free.copy()
    for row in zip(*np.nonzero(still.any(-1) & np.isfinite(free).all(-1)), strict=True):
        found[row] = _held(M[row], free[row], low[row], high[row], still[row])
    return found


def _level(system: AnySystem, q: FloatArray, qd: FloatArray, slow: float) -> FloatArray:
    """Friction of joints that stand, just about to move."""
    moving: FloatArray = friction_torque(system, np.where(qd == 0.0, slow, qd), q=q)
    return moving - np.asarray(friction_torque(system, qd, q=q))


def _given_level(friction: DryFriction, phi: FloatArray, slow: float) -> FloatArray:
    """The same with levels among given parameters."""
    shares = [[with_level(share, phi[..., share.place]) for share in own] for own in friction.shares]
    return np.stack([np.broadcast_to(force(own, np.sign(slow), 0.0), phi.shape[:-1]) for own in shares], axis=-1)


def _held(M: FloatArray, free: FloatArray, low: FloatArray, high: FloatArray, still: Any) -> FloatArray:
    """M q̈ = M q̈_free − f, with f between its levels where a joint stays, and at one of them where it starts to move."""
    driving, mode = M @ free, np.where(still, 0.0, 1.0)
    slack = ROUNDING * (np.abs(driving) + np.minimum(np.abs(low), np.abs(high)))
    qdd = np.zeros_like(free)
    for turn in range(_MOST_TURNS):
        slides = mode != 0
        f = np.where(still & slides, np.where(mode > 0, high, low), 0.0)
        qdd = np.zeros_like(free)
        qdd[slides] = np.linalg.solve(M[np.ix_(slides, slides)], (driving - f)[slides])
        hold = driving - M @ qdd
        breaks = np.where(hold - high > slack, 1.0, np.where(low - hold > slack, -1.0, 0.0))
        wanted = np.where(slides, np.where(still & (mode * qdd < 0), 0.0, mode), np.where(still, breaks, mode))
        off = np.flatnonzero(wanted != mode)
        if not len(off):
            break
        mode[off if turn < 8 else off[:1]] = wanted[off if turn < 8 else off[:1]]
    return qdd


__all__ = ["standing_dynamics"]
