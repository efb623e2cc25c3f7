"""Convex programmes along a path, whose conditions tie each grid point to the next one only:

    minimise  f(z)   with   E z = 0,   G z ≤ b                                                              (1)

f is the time of the profile, convex in ṡ² [VerscheureEtAl2009]. Unknowns of a grid point are ξ = x / x₀ and η = u / u₀, shares of
some scales, so that all are about one. A primal-dual interior-point method with predictor and corrector [Mehrotra1992] brings

    ∇f + Gᵀ y + Eᵀ λ = 0,   G z + s = b,   E z = 0,   s y = μ,   s, y > 0                                      (2)

to μ = 0. Its linear systems have bands of nine, whatever N is, so that a step costs a few milliseconds for a thousand points and
some ten conditions at each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..checks import FloatArray

_BAND = 4  # of ξ, η and the multiplier of one interval, to those of the next
_STEPS = 60
_BACK = 0.995  # of the way to the nearest bound
_ROOM = 0.1  # of a condition at the start, at least


class ChainConditions(NamedTuple):
    """G z ≤ b: rows with coefficients (4, m) of ξ_k, η_k, ξ_{k+1}, η_{k+1} of their interval k, in the order of k."""

    interval: NDArray[np.intp]
    of: FloatArray
    b: FloatArray


class Chain(NamedTuple):
    """What is the same for all conditions: coefficients (4, N) of E, scales x₀ (N + 1,) and lengths h of the time, which
    unknowns are held (N + 1, 2), and at which values.
    """

    E: FloatArray
    x0: FloatArray
    h: FloatArray
    held: NDArray[np.bool_]
    values: FloatArray


class ChainSolution(NamedTuple):
    """z of shape (N + 1, 2), and whether it is one."""

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
    """Unknowns of (2), or a step of them."""

    z: FloatArray
    lam: FloatArray
    s: FloatArray
    y: FloatArray


class _Residuals(NamedTuple):
    """What is left of the equations (2) in their order, the mean of s y, and the Hessian of f."""

    dual: FloatArray
    primal: FloatArray
    tie: FloatArray
    mu: float
    hessian: FloatArray


class BandedProgramme:
    """(1), solved from a start that need not keep anything."""

    def __init__(self, chain: Chain, conditions: ChainConditions, tolerance: float) -> None:
        self.chain, self.G, self.tolerance = chain, conditions, tolerance
        self.N, self.m = len(chain.h), len(conditions.b)
        self.free = ~chain.held
        self.scale = 1.0

    def solve(self, z: FloatArray) -> ChainSolution:
        """The minimum, from z of shape (N + 1, 2)."""
        z = np.where(self.chain.held, self.chain.values, z)
        self.scale = 1.0 / max(time_of(self.chain, z[:, 0])[0], 1e-300)
        s = np.maximum(self.G.b - self._rows(z), _ROOM)
        point = _Point(z, np.zeros(self.N), s, 1.0 / (self.N * s))
        for _ in range(_STEPS):
            left = self._residuals(point)
            worst = [np.abs(part).max() for part in (left.dual, left.primal, left.tie)]
            if max(left.mu * self.m, *worst) < self.tolerance:
                return ChainSolution(point.z, True)
            after = self._step(point, left)
            if after is None:
                break
            point = after
        return ChainSolution(point.z, False)

    def _residuals(self, point: _Point) -> _Residuals:
        gradient, hessian = self._objective(point.z)
        dual = gradient + self._back(point.y) + self._tied_back(point.lam)
        dual[self.chain.held] = 0.0
        primal = self._rows(point.z) + point.s - self.G.b
        return _Residuals(dual, primal, self._tied(point.z), float((point.s * point.y).sum()) / self.m, hessian)

    def _step(self, point: _Point, left: _Residuals) -> _Point | None:
        """First towards s y = 0, which tells how far one can get; then towards what can be reached of that [Mehrotra1992]."""
        factors = self._factored(left.hessian, point.y / point.s)
        if factors is None:
            return None
        first = self._direction(factors, point, left, 0.0)
        reach = min(_reach(point.s, first.s), _reach(point.y, first.y))
        ahead = float(((point.s + reach * first.s) * (point.y + reach * first.y)).sum()) / self.m
        move = self._direction(factors, point, left, left.mu * (ahead / left.mu) ** 3 - first.s * first.y)
        pairs = ((point.s, move.s), (point.y, move.y), (point.z[:, 0], move.z[:, 0]))
        step = _BACK * min(_reach(values, change) for values, change in pairs)
        found = _Point(*(value + step * change for value, change in zip(point, move, strict=True)))
        return found if np.isfinite(found.z).all() else None

    def _objective(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (N + 1, 2) and Hessian (3, N) of f, in shares of its first value."""
        _, gradient, hessian = time_of(self.chain, z[:, 0])
        found = np.zeros_like(z)
        found[:-1, 0] += self.scale * gradient[0]
        found[1:, 0] += self.scale * gradient[1]
        return found, self.scale * hessian

    def _rows(self, z: FloatArray) -> FloatArray:
        """G z."""
        k, of = self.G.interval, self.G.of
        xi, eta = np.ascontiguousarray(z[:, 0]), np.ascontiguousarray(z[:, 1])
        found: FloatArray = of[0] * xi[:-1].take(k)
        for coefficients, ends in ((of[1], eta[:-1]), (of[2], xi[1:]), (of[3], eta[1:])):
            found += coefficients * ends.take(k)
        return found

    def _back(self, y: FloatArray) -> FloatArray:
        """Gᵀ y."""
        k = self.G.interval
        parts: list[FloatArray] = [np.bincount(k, weights=row * y, minlength=self.N).astype(float) for row in self.G.of]
        return _joined(parts)

    def _tied(self, z: FloatArray) -> FloatArray:
        """E z."""
        E = self.chain.E
        found: FloatArray = E[0] * z[:-1, 0] + E[1] * z[:-1, 1] + E[2] * z[1:, 0] + E[3] * z[1:, 1]
        return found

    def _tied_back(self, lam: FloatArray) -> FloatArray:
        return _joined([row * lam for row in self.chain.E])

    def _direction(
        self, factors: tuple[FloatArray, FloatArray], point: _Point, left: _Residuals, target: FloatArray | float
    ) -> _Point:
        """A Newton step of (2), to s y = target; s and y are eliminated."""
        s, y = point.s, point.y
        push = target / s - y + y / s * left.primal
        right = np.zeros((self.N + 1, 3))
        right[:, :2] = np.where(self.chain.held, 0.0, -left.dual - self._back(push))
        right[:-1, 2] = -left.tie
        solved, info = lapack.dgbtrs(factors[0], _BAND, _BAND, right.ravel(), factors[1])
        assert info == 0
        found = solved.reshape(-1, 3)
        dz = found[:, :2]
        ds = -left.primal - self._rows(dz)
        return _Point(dz, found[:-1, 2], ds, (target - y * ds) / s - y)

    def _factored(self, hessian: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """LU factors of the band of [∇²f + Gᵀ D G, Eᵀ; E, 0]."""
        N, k, of = self.N, self.G.interval, self.G.of
        blocks = np.zeros((4, 4, N))
        for i in range(4):
            scaled = of[i] * weights
            for j in range(i, 4):
                blocks[i, j] = np.bincount(k, weights=scaled * of[j], minlength=N)
        blocks[0, 0] += hessian[0]
        blocks[0, 2] += hessian[1]
        blocks[2, 2] += hessian[2]
        band = self._band(blocks)
        lu, pivots, info = lapack.dgbtrf(band, _BAND, _BAND)
        return (lu, pivots) if info == 0 else None

    def _band(self, blocks: FloatArray) -> FloatArray:
        """Unknowns in the order ξ_k, η_k, λ_k, ξ_{k+1}, ...; rows of what is held are those of the unit matrix."""
        N, free = self.N, self.free.astype(float)
        ends = [free[:-1, 0], free[:-1, 1], free[1:, 0], free[1:, 1]]
        places = (0, 1, 3, 4)  # of the four unknowns of an interval, counted from its first
        band = np.zeros((3 * _BAND + 1, 3 * (N + 1)))
        start = 3 * np.arange(N)
        middle = 2 * _BAND
        for i, pi in enumerate(places):
            for j, pj in enumerate(places):
                block = blocks[min(i, j), max(i, j)] * ends[i] * ends[j]
                band[middle + pi - pj, start + pj] += block
            tie = self.chain.E[i] * ends[i]
            band[middle + pi - 2, start + 2] = tie
            band[middle + 2 - pi, start + pi] = tie
        held = np.zeros((N + 1, 3))
        held[:, :2] = 1.0 - free
        held[-1, 2] = 1.0
        band[middle] += held.ravel()
        tied_nowhere = (np.abs(self.chain.E) * np.stack(ends)).max(axis=0) == 0
        band[middle, start[tied_nowhere] + 2] = 1.0
        return band


def _joined(parts: list[FloatArray]) -> FloatArray:
    found = np.zeros((len(parts[0]) + 1, 2))
    found[:-1, 0] += parts[0]
    found[:-1, 1] += parts[1]
    found[1:, 0] += parts[2]
    found[1:, 1] += parts[3]
    return found


def _reach(values: FloatArray, change: FloatArray) -> float:
    """The largest step up to 1 that keeps values above zero."""
    falling = change < 0
    if not falling.any():
        return 1.0
    return min(1.0, float((values[falling] / -change[falling]).min()))


__all__ = ["BandedProgramme", "Chain", "ChainConditions", "ChainSolution", "time_of"]
