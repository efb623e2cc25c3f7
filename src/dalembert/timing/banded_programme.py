"""Convex programmes along a path, whose conditions tie each grid point to the next one only:

    minimise  f(z)   with   E z = 0,   G z ≤ b                                                              (1)

f is the time of the profile, convex in ṡ² [VerscheureEtAl2009]. Unknowns of a grid point are ξ = x / x₀ and η = u / u₀, shares of
some scales, so that all are about one, and what else conditions have, which moves nothing: forces ζ that drives press with, say.
Of those that take the same time, the least are found, by ε Σ ζ² in f. A primal-dual interior-point method with predictor and
corrector [Mehrotra1992] brings

    ∇f + Gᵀ y + Eᵀ λ = 0,   G z + s = b,   E z = 0,   s y = μ,   s, y > 0                                      (2)

to μ = 0. Its linear systems have bands of nine, with r further unknowns of 4r + 9, whatever N is, so that a step costs a few
milliseconds for a thousand points and some ten conditions at each.

Conditions that may be passed have G z ≤ b + t with t ≥ 0, and p Σ t in f, which brings t to zero where that is possible at all:

    G z + s = b + t,   y + v = p,   t v = μ,   t, v > 0                                                      (3)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..checks import FloatArray

_STEPS = 60
_IDLE, _ENOUGH = 4, 1e-6  # steps without progress after which rounding has the word, and what is left then at most
_NEAR = 1e-2  # what may be left of a programme that is only to lead back to limits
_BACK = 0.995  # of the way to the nearest bound
_ROOM = 0.1  # of a condition at the start, at least
_PRICE = 10.0  # p: passing a condition by one costs as much as ten times the time
_LEAST = 1e-5  # ε N: time is given for less of the further unknowns, a millionth or so of it


class ChainConditions(NamedTuple):
    """G z ≤ b: rows with coefficients (m, 2w) of the w unknowns ξ, η, ... of both ends of their interval k, in the order of k."""

    interval: NDArray[np.intp]
    of: FloatArray
    b: FloatArray
    firm: NDArray[np.bool_] | None = None  # which are kept in any case; None for all


class Chain(NamedTuple):
    """What is the same for all conditions: coefficients (4, N) of E, of ξ_k, η_k, ξ_{k+1}, η_{k+1}; scales x₀ (N + 1,) and
    lengths h of the time; which unknowns are held (N + 1, w), and at which values.
    """

    E: FloatArray
    x0: FloatArray
    h: FloatArray
    held: NDArray[np.bool_]
    values: FloatArray


class ChainSolution(NamedTuple):
    """z of shape (N + 1, w), and whether it is one."""

    z: FloatArray
    solved: bool


def time_of(chain: Chain, xi: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """f = Σ 3h / D with D = √x + ⁴√(x y) + √y of the ends x, y of intervals; its gradient (2, N) and Hessian (3, N) by ξ.

    It is the time of a profile of constant jerk in each interval: exact out of rest, where x = 0, and convex, D being concave.
    """
    x, y = chain.x0[:-1] * xi[:-1], chain.x0[1:] * xi[1:]
    a, b = np.sqrt(x), np.sqrt(y)
    mean = np.sqrt(a * b)
    D, h = a + mean + b, 3 * chain.h
    left, right = (a / 2 + mean / 4) / xi[:-1], (b / 2 + mean / 4) / xi[1:]
    f, first = h / D, h / D**2
    gradient = np.stack([-first * left, -first * right])
    twice = 2 * h / D**3
    ll = twice * left**2 + first * (a / 4 + 3 / 16 * mean) / xi[:-1] ** 2
    rr = twice * right**2 + first * (b / 4 + 3 / 16 * mean) / xi[1:] ** 2
    lr = twice * left * right - first * mean / 16 / (xi[:-1] * xi[1:])
    return float(f.sum()), gradient, np.stack([ll, lr, rr])


class _Point(NamedTuple):
    """Unknowns of (2) and (3), or a step of them; t is zero where a condition may not be passed."""

    z: FloatArray
    lam: FloatArray
    s: FloatArray
    y: FloatArray
    t: FloatArray
    v: FloatArray

    @property
    def signed(self) -> tuple[FloatArray, ...]:
        """What is above zero."""
        return self[2:]


class _Residuals(NamedTuple):
    """What is left of the equations (2) and of y + v = p, the mean of s y and t v, and the Hessian of f."""

    dual: FloatArray
    primal: FloatArray
    tie: FloatArray
    price: FloatArray
    mu: float
    hessian: FloatArray


class _Factors(NamedTuple):
    """Of the linear system, with the weights D of its conditions."""

    lu: FloatArray
    pivots: FloatArray
    weights: FloatArray


class BandedProgramme:
    """(1), solved from a start that need not keep anything."""

    def __init__(self, chain: Chain, conditions: ChainConditions, tolerance: float) -> None:
        self.chain, self.tolerance, self.b = chain, tolerance, conditions.b
        self.soft = np.zeros(len(self.b)) if conditions.firm is None else (~conditions.firm).astype(float)
        self.N, self.m, self.w = len(chain.h), len(conditions.b), chain.held.shape[1]
        self.free = ~chain.held
        self.scale = 1.0
        self._pad(conditions)

    def _pad(self, conditions: ChainConditions) -> None:
        """G as one matrix for each interval, all with as many rows as the longest needs: (N, rows, 2w)."""
        counts = np.bincount(conditions.interval, minlength=self.N)
        most = int(counts.max(initial=0))
        self.places = np.arange(self.m) + np.repeat(np.arange(self.N) * most - (np.cumsum(counts) - counts), counts)
        G = np.zeros((self.N * most, 2 * self.w))
        G[self.places] = conditions.of
        self.G = G.reshape(self.N, most, 2 * self.w)
        self.GT = np.ascontiguousarray(np.swapaxes(self.G, 1, 2))

    def _padded(self, values: FloatArray) -> FloatArray:
        """One value for each row, as a column for each interval."""
        found = np.zeros(self.G.shape[0] * self.G.shape[1])
        found[self.places] = values
        return found.reshape(*self.G.shape[:2], 1)

    def solve(self, z: FloatArray) -> ChainSolution:
        """The minimum, from z of shape (N + 1, w)."""
        z = np.where(self.chain.held, self.chain.values, z)
        self.scale = 1.0 / max(time_of(self.chain, z[:, 0])[0], 1e-300)
        point, best, idle = self._start(z), (np.inf, z), 0
        for _ in range(_STEPS):
            left = self._residuals(point)
            parts = left.dual, left.primal, left.tie, left.price
            worst = max(left.mu * self.m, *(float(np.abs(part).max(initial=0.0)) for part in parts))
            idle = 0 if worst < best[0] else idle + 1
            best = (worst, point.z) if worst < best[0] else best
            after = self._step(point, left) if worst >= self.tolerance else None
            if after is None or (idle >= _IDLE and best[0] < _ENOUGH):
                break
            point = after
        return ChainSolution(best[1], best[0] < max(self.tolerance, _NEAR if self.soft.any() else _ENOUGH))

    def _start(self, z: FloatArray) -> _Point:
        rows = self._rows(z)
        s = np.maximum(self.b - rows, _ROOM)
        y = 1.0 / (self.N * s)
        t = self.soft * np.maximum(s + rows - self.b, y * s / _PRICE)
        return _Point(z, np.zeros(self.N), s, y, t, np.maximum(_PRICE - y, 0.1 * _PRICE))

    def _residuals(self, point: _Point) -> _Residuals:
        gradient, hessian = self._objective(point.z)
        dual = gradient + self._back(point.y) + self._tied_back(point.lam)
        dual[self.chain.held] = 0.0
        primal = self._rows(point.z) + point.s - point.t - self.b
        price = self.soft * (point.y + point.v - _PRICE)
        return _Residuals(dual, primal, self._tied(point.z), price, self._mean(*point.signed), hessian)

    def _mean(self, s: FloatArray, y: FloatArray, t: FloatArray, v: FloatArray) -> float:
        return float((s * y).sum() + (t * v).sum()) / self.m

    def _step(self, point: _Point, left: _Residuals) -> _Point | None:
        """First towards s y = 0, which tells how far one can get; then towards what can be reached of that [Mehrotra1992]."""
        factors = self._factored(left.hessian, 1.0 / (point.s / point.y + point.t / point.v))
        if factors is None:
            return None
        nothing = np.zeros(self.m)
        first = self._direction(factors, point, left, nothing, nothing)
        pairs = list(zip(point.signed, first.signed, strict=True))
        reach = min(_reach(values, change) for values, change in pairs)
        aim = left.mu * (self._mean(*(values + reach * change for values, change in pairs)) / left.mu) ** 3
        move = self._direction(factors, point, left, aim - first.s * first.y, self.soft * (aim - first.t * first.v))
        pairs = [*zip(point.signed, move.signed, strict=True), (point.z[:, 0], move.z[:, 0])]
        step = _BACK * min(_reach(values, change) for values, change in pairs)
        found = _Point(*(value + step * change for value, change in zip(point, move, strict=True)))
        return found if np.isfinite(found.z).all() else None

    def _objective(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (N + 1, w) and Hessian (3, N) of the time, in shares of its first value."""
        _, gradient, hessian = time_of(self.chain, z[:, 0])
        found = np.zeros_like(z)
        found[:, 2:] = _LEAST / self.N * z[:, 2:]
        found[:-1, 0] += self.scale * gradient[0]
        found[1:, 0] += self.scale * gradient[1]
        return found, self.scale * hessian

    def _rows(self, z: FloatArray) -> FloatArray:
        """G z."""
        found: FloatArray = (self.G @ np.concatenate([z[:-1], z[1:]], axis=1)[..., None]).ravel()[self.places]
        return found

    def _back(self, y: FloatArray) -> FloatArray:
        """Gᵀ y."""
        return _joined((self.GT @ self._padded(y))[..., 0])

    def _tied(self, z: FloatArray) -> FloatArray:
        """E z."""
        E = self.chain.E
        found: FloatArray = E[0] * z[:-1, 0] + E[1] * z[:-1, 1] + E[2] * z[1:, 0] + E[3] * z[1:, 1]
        return found

    def _tied_back(self, lam: FloatArray) -> FloatArray:
        parts = np.zeros((self.N, 2 * self.w))
        parts[:, self._tied_places()] = (self.chain.E * lam).T
        return _joined(parts)

    def _tied_places(self) -> list[int]:
        """Of ξ_k, η_k, ξ_{k+1}, η_{k+1} among the unknowns of an interval."""
        return [0, 1, self.w, self.w + 1]

    def _direction(self, factors: _Factors, point: _Point, left: _Residuals, sy: FloatArray, tv: FloatArray) -> _Point:
        """A Newton step of (2) and (3), to s y and t v as given; s, y, t and v are eliminated."""
        _, _, s, y, t, v = point
        w = self.w
        push = factors.weights * (left.primal + sy / y - s - tv / v + t - t / v * left.price)
        right = np.zeros((self.N + 1, w + 1))
        right[:, :w] = np.where(self.chain.held, 0.0, -left.dual - self._back(push))
        right[:-1, w] = -left.tie
        solved, info = lapack.dgbtrs(factors.lu, 2 * w, 2 * w, right.ravel(), factors.pivots)
        assert info == 0
        found = solved.reshape(-1, w + 1)
        dz = found[:, :w]
        dy = push + factors.weights * self._rows(dz)
        dv = self.soft * (-left.price - dy)
        return _Point(dz, found[:-1, w], (sy - s * dy) / y - s, dy, (tv - t * dv) / v - t, dv)

    def _factored(self, hessian: FloatArray, weights: FloatArray) -> _Factors | None:
        """LU factors of the band of [∇²f + Gᵀ D G, Eᵀ; E, 0]."""
        w, blocks = self.w, self.GT @ (self.G * self._padded(weights))
        blocks[:, 0, 0] += hessian[0]
        blocks[:, 0, w] += hessian[1]
        blocks[:, w, 0] += hessian[1]
        blocks[:, w, w] += hessian[2]
        lu, pivots, info = lapack.dgbtrf(self._band(blocks), 2 * w, 2 * w, overwrite_ab=1)
        return _Factors(lu, pivots, weights) if info == 0 else None

    def _band(self, blocks: FloatArray) -> FloatArray:
        """Unknowns in the order ξ_k, η_k, ..., λ_k, ξ_{k+1}, ...; rows of what is held are those of the unit matrix.

        Written column by column, with what each column has of its own grid point, of the one before and of the one after.
        """
        N, w, free = self.N, self.w, self.free.astype(float)
        ends = np.concatenate([free[:-1], free[1:]], axis=1)
        blocks = blocks * ends[:, :, None] * ends[:, None, :]
        tied = np.zeros((N, 2 * w))
        tied[:, self._tied_places()] = self.chain.E.T
        tied *= ends
        whole = np.zeros((N + 1, w + 1, 3 * (w + 1)))  # of each grid point: its columns, with rows from those of the one before
        own, after, before = whole[..., w + 1 : 2 * w + 2], whole[:-1, ..., 2 * w + 2 :], whole[1:, ..., : w + 1]
        own[:-1, :w, :w] += blocks[:, :w, :w]
        own[1:, :w, :w] += blocks[:, w:, w:]
        after[:, :w, :w], before[:, :w, :w] = blocks[:, :w, w:], blocks[:, w:, :w]
        own[:-1, w, :w], own[:-1, :w, w] = tied[:, :w], tied[:, :w]
        after[:, w, :w], before[:, :w, w] = tied[:, w:], tied[:, w:]
        k = np.arange(w)
        own[:, k, k] += 1.0 - free
        own[:, k[2:], k[2:]] += _LEAST / N
        own[:, w, w] = np.append(np.abs(tied).max(axis=1) == 0, 1.0)  # λ that ties nothing
        band = np.zeros(((N + 1) * (w + 1), 6 * w + 1))
        columns = band.reshape(N + 1, w + 1, -1)
        for j in range(w + 1):  # row i stands at 4w + i − (w + 1) − j
            first, last, shift = max(j - w + 1, 0), min(j + 3 * w + 2, 3 * w + 3), 3 * w - 1 - j
            columns[:, j, shift + first : shift + last] = whole[:, j, first:last]
        return band.T


def _joined(parts: FloatArray) -> FloatArray:
    """Sums for grid points of what the intervals beside them have, (N, 2w)."""
    w = parts.shape[1] // 2
    found = np.zeros((len(parts) + 1, w))
    found[:-1] += parts[:, :w]
    found[1:] += parts[:, w:]
    return found


def _reach(values: FloatArray, change: FloatArray) -> float:
    """The largest step up to 1 that keeps values above zero."""
    falling = change < 0
    if not falling.any():
        return 1.0
    return min(1.0, float((values[falling] / -change[falling]).min()))


__all__ = ["BandedProgramme", "Chain", "ChainConditions", "ChainSolution", "time_of"]
