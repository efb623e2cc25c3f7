"""The energy balance of a motion: what its energy changed by, against the work of drives and friction.

    residual(t) = E(t) − E(t₀) − ∫ P dt − Σ ΔE,   P = dE/dt by Eq. (2) of `power`, ΔE of velocities that jump

The integral is taken by Gauss's rule of 7 points (order 14) in every step of the integration, on its interpolant; where none was
kept, between the samples of the result, on the quintic that has their positions, velocities and accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..brief import brief
from ..checks import FloatArray

NODES, WEIGHTS = (np.array(x) for x in np.polynomial.legendre.leggauss(7))
SHARES, WEIGHTS = (NODES + 1.0) / 2.0, WEIGHTS / 2.0


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """How far the energy of a motion is from what work explains.

    Attributes
    ----------
    t : ndarray, shape (K,)
        Times [s].
    change, work, impacts, residual : ndarray, shape (..., K)
        E(t) − E(t₀), the work of drives and friction since t₀, what was lost where something was hit or locked, and what is
        left of the change without these [J].
    turnover : ndarray, shape (...)
        What the residual is to be compared with [J]: the largest kinetic energy, or the work done to and fro if that is more.
    """

    t: FloatArray
    change: FloatArray
    work: FloatArray
    impacts: FloatArray
    residual: FloatArray
    turnover: FloatArray

    def __repr__(self) -> str:
        return brief(self, "change", "work", "impacts", "turnover", largest=float(np.max(self.largest, initial=0.0)))

    @property
    def largest(self) -> FloatArray:
        """The largest residual, as a magnitude [J], shape (...); rows without numbers do not count."""
        return np.max(np.nan_to_num(np.abs(self.residual)), axis=-1, initial=0.0)

    @property
    def at(self) -> FloatArray:
        """When that is [s], shape (...)."""
        found: FloatArray = self.t[np.argmax(np.nan_to_num(np.abs(self.residual)), axis=-1)]
        return found

    @property
    def relative(self) -> FloatArray:
        """The largest residual as a share of the turnover, shape (...)."""
        return self.largest / np.maximum(self.turnover, np.finfo(float).tiny)


def nodes_between(times: FloatArray) -> FloatArray:
    """Gauss's points between each two of the times (..., B), shape (..., (B − 1) · 7)."""
    steps = np.diff(times)[..., None]
    return (times[..., :-1, None] + steps * SHARES).reshape(*times.shape[:-1], -1)


def accumulated(times: FloatArray, values: FloatArray) -> FloatArray:
    """The integral from the first of the times (..., B) to each of them, of values at the points between."""
    steps = np.diff(times)
    parts = values.reshape(*values.shape[:-1], -1, len(WEIGHTS)) @ WEIGHTS * steps
    return np.concatenate([np.zeros((*parts.shape[:-1], 1)), np.cumsum(parts, axis=-1)], axis=-1)


Ends = tuple[Any, Any, Any]
"""q, q̇, q̈ at one end of an interval."""


def quintic(length: Any, share: Any, begin: Ends, end: Ends) -> tuple[Any, Any]:
    """Position and velocity at a share of an interval, by the polynomial of fifth order that has q, q̇ and q̈ at both its ends."""
    s, (p0, v0, a0), (c3, c4, c5) = share, begin, _coefficients(length, begin, end)
    v0, a0 = v0 * length, a0 * length * length
    q = p0 + s * (v0 + s * (a0 / 2 + s * (c3 + s * (c4 + s * c5))))
    return q, (v0 + s * (a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / length


def _coefficients(h: Any, begin: Ends, end: Ends) -> tuple[Any, Any, Any]:
    """Of the powers 3, 4 and 5 of the share."""
    (p0, v0, a0), (p1, v1, a1) = begin, end
    v0, v1, a0, a1 = v0 * h, v1 * h, a0 * h * h, a1 * h * h
    d, e, f = p1 - p0 - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
    return 10 * d - 4 * e + f / 2, -15 * d + 7 * e - f, 6 * d - 3 * e + f / 2


__all__ = ["Ends", "EnergyBalance", "accumulated", "nodes_between", "quintic"]
