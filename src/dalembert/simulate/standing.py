"""Accelerations along a motion in which axes stand: by friction, which holds them or acts against them, at stops, or locked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine, forward_dynamics, mass_matrix
from ..dynamics.system import AnySystem, MovingValue, solves
from .applied import Applied
from .axes import Axes, AxesAt, axes_kernel, axes_of
from .dry_friction import DryFriction, dry_friction, force, friction_axes, given_levels, jumping_joints
from .held_model import ROUNDING, slow_speeds
from .impacts import shared_forces

_MOST_TURNS = 200
_BLUR = 1e-9  # of what an acceleration is a sum of: a joint that others hold accelerates as little
_AXES_OF = (1, 1, 2, 1, 2)  # axes of the fields of `AxesAt`


class StandingTimes(NamedTuple):
    """From when on which axes stood, a list for each motion; the first n axes are coordinates."""

    names: tuple[str, ...]
    n: int
    stood: Sequence[Sequence[tuple[float, Any]]]

    @property
    def beside(self) -> tuple[str, ...]:
        """The joints within loops."""
        return self.names[self.n :]

    def at(self, t: FloatArray, batch: tuple[int, ...]) -> Any:
        """Which axes stand at times (K,), or (..., K) of each motion, shape (..., K, k)."""
        times = np.broadcast_to(t, (*batch, t.shape[-1])).reshape(len(self.stood), t.shape[-1])
        found = [_flags_at(known, own) for known, own in zip(self.stood, times, strict=True)]
        return np.array(found).reshape(*batch, t.shape[-1], len(self.names))


def _flags_at(known: Sequence[tuple[float, Any]], t: FloatArray) -> Any:
    starts, flags = np.array([time for time, _ in known]), np.array([flag for _, flag in known], dtype=bool)
    return flags[np.searchsorted(starts, t, side="right") - 1]


def axes_that_stand(system: AnySystem, times: StandingTimes | None, parameters: FloatArray | None) -> Axes:
    """The axes that may stand: those that were looked at, or else those that rub."""
    if times is not None:
        return axes_of(system, times.beside)
    return friction_axes(system, None if parameters is None else given_levels(system, parameters))


class StatesAlong(NamedTuple):
    """States along a motion: q and q̇ (..., n), positions x where they are solved for, and which axes are known to be held.

    These are coordinates that have stood for more than a row, and joints within loops by the times of their events.
    """

    q: FloatArray
    qd: FloatArray
    x: FloatArray | None
    held: Any


def accelerations(system: Any, axes: Axes, along: StatesAlong, acting: Applied) -> FloatArray:
    """q̈ as `forward_dynamics`, with axes that stand held up to their level of friction [theory: simulation, Eq. 12], and those
    that a stop or a lock holds. Torques are those of the first n axes, coordinates or not.
    """
    placed, phi, tau = system if along.x is None else system.at(x=along.x), acting.parameters, acting.tau
    if not axes.own:
        rows = axes_at(system, axes, along, phi).rows[..., : tau.shape[-1], :]
        tau = np.einsum("...ki,...k->...i", rows, tau)
    free: FloatArray = forward_dynamics(placed, along.q, along.qd, tau, **acting.around)
    given = None if phi is None else given_levels(system, phi)
    friction = dry_friction(system, axes, given) if jumping_joints(system, given) else None
    if friction is None and not along.held.any():
        return free
    at = axes_at(system, axes, along, phi)
    found = free if friction is None else _rubbing(friction, axes.own, at, along, free, phi)
    if not np.any(along.held & (np.einsum("...ki,...i->...k", at.rows, found) + at.bias != 0.0)):
        return found
    return _held_firmly(axes.own, at, found, along.held)


def axes_at(system: Any, axes: Axes, along: StatesAlong, phi: FloatArray | None) -> AxesAt:
    """The axes along the motion."""
    q, qd, batch = along.q, along.qd, along.q.shape[:-1]
    if not axes.beside:
        placed = system if along.x is None else system.at(x=along.x)
        found: list[Any] = [q, qd, np.eye(q.shape[-1]), np.zeros(q.shape[-1]), mass_matrix(placed, q, parameters=phi)]
    else:
        solved = [along.x] if solves(engine.system_of(system)) else []
        found = axes_kernel(system, axes, phi is not None)(q, qd, *([] if phi is None else [phi]), *solved)
    parts = zip(map(np.asarray, found), _AXES_OF, strict=True)
    return AxesAt(*(np.broadcast_to(part, (*batch, *part.shape[part.ndim - k :])) for part, k in parts))


def _rubbing(friction: DryFriction, own: int, at: AxesAt, along: StatesAlong, free: FloatArray, phi: Any) -> FloatArray:
    """q̈ with axes that stand held by their friction, or pulled against it; the first `own` are the coordinates."""
    still = np.abs(at.w) <= _slow(at, along.qd) if at.w.shape[-1] > own else at.w == 0.0
    still[..., own:] |= along.held[..., own:]
    still &= np.array(friction.acts)
    if not still.any():
        return free
    shares = friction.at(phi)

    def exerted(mode: Any, speed: Any) -> FloatArray:
        each = [np.broadcast_to(force(some, mode[..., i], speed[..., i]), at.w.shape[:-1]) for i, some in enumerate(shares)]
        return np.stack(each, axis=-1)

    counted = np.where(still, exerted(np.sign(at.w), at.w), 0.0)  # among what accelerates: speeds that are rounding have signs
    driving = np.einsum("...ij,...j->...i", at.M, free) + np.einsum("...ki,...k->...i", at.rows, counted)
    one, found = np.ones_like(at.w), free.copy()
    low, high = (exerted(way * one, 0.0 * one) for way in (-1.0, 1.0))
    for row in zip(*np.nonzero(still.any(-1) & np.isfinite(free).all(-1)), strict=True):
        found[row] = _held(AxesAt(*(part[row] for part in at)), driving[row], low[row], high[row], still[row])
    return found


def _slow(at: AxesAt, qd: FloatArray) -> FloatArray:
    """Speeds of axes that are rounding."""
    rows = [MovingValue(None, list(np.moveaxis(at.rows[..., k, :], -1, 0)), None, None) for k in range(at.w.shape[-1])]
    return np.stack(slow_speeds(rows, np.moveaxis(qd, -1, 0)), axis=-1)


def _held(at: AxesAt, driving: FloatArray, low: FloatArray, high: FloatArray, still: Any) -> FloatArray:
    """M q̈ = driving − Rᵀ f, with f between its levels where an axis stays, and at one of them where it starts to move."""
    A, mode = np.linalg.inv(at.M), np.zeros(len(still))
    slack = ROUNDING * (np.abs(at.rows) @ np.abs(driving))
    qdd = A @ driving
    for turn in range(_MOST_TURNS):
        slides, stays = still & (mode != 0), still & (mode == 0)
        sliding = np.where(mode[slides] > 0, high[slides], low[slides])
        first = A @ (driving - at.rows[slides].T @ sliding)
        R = at.rows[stays]
        f = np.zeros(len(still))
        f[stays] = shared_forces(R @ A @ R.T, R @ first + at.bias[stays])
        qdd = first - A @ R.T @ f[stays]
        a, size = at.rows @ qdd + at.bias, np.abs(at.rows) @ (np.abs(first) + np.abs(qdd)) + np.abs(at.bias)
        breaks = np.where(f - high > slack, 1.0, np.where(low - f > slack, -1.0, 0.0))
        wanted = np.where(stays, breaks, np.where(slides & (mode * a < -_BLUR * size), 0.0, mode))
        off = np.flatnonzero(wanted != mode)
        if not len(off):
            break
        mode[off if turn < 8 else off[:1]] = wanted[off if turn < 8 else off[:1]]
    return qdd


def _held_firmly(own: int, at: AxesAt, free: FloatArray, held: Any) -> FloatArray:
    """q̈ with some axes held, from those without: M q̈ = M q̈_free − Rᵀ r, R q̈ + c = 0 for these."""
    found = free.copy()
    n = free.shape[-1]
    if at.w.shape[-1] == own:  # coordinates alone: rows and columns of held ones are cleared
        f = np.where(held, 0.0, 1.0)
        A = at.M * f[..., :, None] * f[..., None, :] + (1.0 - f)[..., None] * np.eye(n)
        b = f * np.einsum("...ij,...j->...i", at.M, free)
        found[...] = np.linalg.solve(A, b[..., None])[..., 0]
        return found
    for row in zip(*np.nonzero(held.any(-1) & np.isfinite(free).all(-1)), strict=True):
        R, bias = at.rows[row][held[row]], at.bias[row][held[row]]
        Z = np.linalg.solve(at.M[row], R.T)
        found[row] = free[row] - Z @ shared_forces(R @ Z, R @ free[row] + bias)
    return found


__all__ = ["StandingTimes", "StatesAlong", "accelerations", "axes_at", "axes_that_stand"]
