"""Convex functions of a tensor's entries whose largest value over control points bounds their largest value over a box.

Each has `quick` (points of shape (K, I) to bounds (I,), cheap), `exact` (the same, as tight as it gets), `slack` (by how much an
error of each of the K entries can raise the result) and `scores` (what of the result at one control point a relaxation loses, for
each of its own variables, which a search can split).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Protocol

import numpy as np

from ..checks import FloatArray
from .rate_polynomial import Monomial
from .vertex_bound import VertexBound, vertex_bound

_UNIT = 2.0**-53
_ROUNDED_UP = 1.0 + 1e-12
_MIX = 0.8  # t of (1) in `RateNorm`: within 1 % of the norm on average, 6 % at worst, for positions of a PUMA 560 and a UR5
_AT_ONCE = 8  # matrices of this bound computed in a step
_MOST_REFINED = 1000  # control points of a box for which it is computed: all of six joints; of seven it would take seconds


class Functional(Protocol):
    """A convex function of K entries, and of own variables in [-1, 1] that can be split."""

    @property
    def own(self) -> int:
        """How many variables of its own can be split."""

    def moved(self, points: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Points of a part of the range of its own variables."""

    def quick(self, points: FloatArray) -> FloatArray:
        """A cheap bound for each control point."""

    def exact(self, points: FloatArray) -> FloatArray:
        """A tight bound for each control point."""

    def slack(self, error: FloatArray) -> float:
        """How much errors of the entries can add."""

    def scores(self, point: FloatArray) -> FloatArray:
        """What splitting each own variable can gain, at one control point (K,)."""


class RateFunctional:
    """The largest value of a polynomial in rates in [-1, 1], from its K coefficients; rates with squares can be split."""

    def __init__(self, monomials: Sequence[Monomial], count: int) -> None:
        self.monomials = tuple(monomials)
        powers = [Counter(m) for m in monomials]
        self.squared = [v for v in range(count) if any(p[v] > 1 for p in powers)]
        divisors = {tuple(sorted(part)) for m in monomials for part in _divisors(m, set(self.squared))}
        self.closed = tuple(sorted({*self.monomials, *divisors}, key=lambda m: (len(m), m)))
        self.whole, self.part = vertex_bound(self.monomials, count), vertex_bound(self.closed, count)
        self._place = {m: k for k, m in enumerate(self.closed)}

    @property
    def own(self) -> int:
        """The variables with squares."""
        return len(self.squared)

    def moved(self, points: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """Coefficients of the same polynomial in ζ, η = middle + half·ζ; as they are where all of the range is meant."""
        if (lo == -1.0).all() and (hi == 1.0).all():
            return points
        middle, half = 0.5 * (lo + hi), 0.5 * (hi - lo)  # halves of halves of 1: exact
        matrix = np.zeros((len(self.closed), len(self.monomials)))
        for k, monomial in enumerate(self.monomials):
            for kept, weight in _expanded(monomial, self.squared, middle, half):
                matrix[self._place[kept], k] += weight
        return matrix @ points

    def _bound(self, points: FloatArray) -> VertexBound:
        return self.whole if points.shape[-2] == len(self.monomials) else self.part

    def quick(self, points: FloatArray) -> FloatArray:
        """By sizes of coefficients."""
        return self._bound(points).quick(points)

    def exact(self, points: FloatArray) -> FloatArray:
        """At all corners."""
        return self._bound(points).exact(points)

    def slack(self, error: FloatArray) -> float:
        """The sum."""
        return float(error.sum()) * _ROUNDED_UP

    def scores(self, point: FloatArray) -> FloatArray:
        """The negative squares, which a bound leaves out."""
        monomials = self.monomials if len(point) == len(self.monomials) else self.closed
        return np.array([sum(max(-point[k], 0.0) for k, m in enumerate(monomials) if m.count(v) > 1) for v in self.squared])


def _divisors(monomial: Monomial, squared: set[int]) -> list[Monomial]:
    """The monomial without some of the factors that can be split."""
    choices = [((), (v,)) if v in squared else ((v,),) for v in monomial]
    return [tuple(v for part in chosen for v in part) for chosen in product(*choices)]


def _expanded(monomial: Monomial, squared: Sequence[int], middle: FloatArray, half: FloatArray) -> list[tuple[Monomial, float]]:
    """Π (middle + half·ζ) over the factors that can be split, term by term."""
    place = {v: k for k, v in enumerate(squared)}
    choices = [(((), middle[place[v]]), ((v,), half[place[v]])) if v in place else (((v,), 1.0),) for v in monomial]
    return [
        (tuple(sorted(v for part, _ in chosen for v in part)), math.prod(weight for _, weight in chosen))
        for chosen in product(*choices)
    ]


class _Whole:
    """A function without variables of its own."""

    own = 0

    def moved(self, points: FloatArray, lo: FloatArray, hi: FloatArray) -> FloatArray:
        """The points themselves."""
        return points

    def scores(self, point: FloatArray) -> FloatArray:
        """Nothing to gain."""
        return np.zeros(0)


class LargestEigenvalue(_Whole):
    """Of a symmetric matrix, given by its entries on and below the diagonal; with sign -1, of its negative."""

    def __init__(self, n: int, sign: float = 1.0) -> None:
        self.n, self.sign = n, sign
        self.rows, self.columns = np.tril_indices(n)

    def _matrices(self, points: FloatArray) -> FloatArray:
        found = np.zeros((points.shape[-1], self.n, self.n))
        found[:, self.rows, self.columns] = self.sign * points.T
        found[:, self.columns, self.rows] = self.sign * points.T
        return found

    def quick(self, points: FloatArray) -> FloatArray:
        """Gershgorin's circles, in axes in which the mean of the matrices is diagonal."""
        if points.ndim > 2:
            return np.stack([self.quick(p) for p in points])
        matrices = self._matrices(points)
        _, axes = np.linalg.eigh(matrices.mean(axis=0))
        turned = axes.T @ matrices @ axes
        diagonal = np.einsum("...ii->...i", turned)
        circles = (diagonal + np.abs(turned).sum(axis=-1) - np.abs(diagonal)).max(axis=-1)
        # The axes are orthogonal but for rounding.
        return circles + 64 * self.n**3 * _UNIT * np.abs(matrices).sum(axis=(-1, -2))

    def exact(self, points: FloatArray) -> FloatArray:
        """Its value, and how wrong it can be, by what is left of A V - V W and of Vᵀ V - 1."""
        matrices = self._matrices(points)
        values, vectors = np.linalg.eigh(matrices)
        left = matrices @ vectors - vectors * values[:, None, :]
        skew = np.swapaxes(vectors, -1, -2) @ vectors - np.eye(self.n)
        size = np.abs(matrices).sum(axis=(-1, -2)) + np.abs(values).sum(axis=-1)
        wrong = np.abs(left).sum(axis=(-1, -2)) + size * (np.abs(skew).sum(axis=(-1, -2)) + 16 * self.n**3 * _UNIT)
        return values[:, -1] + 2.0 * wrong

    def slack(self, error: FloatArray) -> float:
        """The norm of a matrix of errors, by its row sums."""
        full = np.zeros((self.n, self.n))
        full[self.rows, self.columns] = full[self.columns, self.rows] = error
        return float(full.sum(axis=1).max()) * _ROUNDED_UP


class EuclideanNorm(_Whole):
    """Of the vector of all entries."""

    def quick(self, points: FloatArray) -> FloatArray:
        """The norm itself."""
        return np.sqrt((points * points).sum(axis=-2)) * _ROUNDED_UP

    def exact(self, points: FloatArray) -> FloatArray:
        """The norm itself."""
        return self.quick(points)

    def slack(self, error: FloatArray) -> float:
        """The norm of the errors."""
        return float(np.linalg.norm(error)) * _ROUNDED_UP


class RateNorm(EuclideanNorm):
    """The least k with |C(q̇)| ≤ k |q̇|, C_ij = Σ_k c_ijk q̇_k, from above, for entries c_ijk = c_ikj.

    As a matrix from pairs (j, k) to i, and from pairs (i, k) to j, the symbols have norms that are at least k. For the largest of
    these, k² = max Σ_i (uᵀ c_i u)² over unit vectors u, a form of fourth degree: it is (u ⊗ u)ᵀ A (u ⊗ u) for every

        A = (1 - t) Σ_i c_ijk c_ilm + t/2 Σ_i (c_ijl c_ikm + c_ijm c_ikl)                                          (1)

    so the largest eigenvalue of A on symmetric matrices is at least k² for every t.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.square = LargestEigenvalue(n)
        self.pairs = LargestEigenvalue(n * (n + 1) // 2)
        self.basis = _symmetric_basis(n)

    def exact(self, points: FloatArray) -> FloatArray:
        """The least one of these bounds; the third one where it decides which control point is the largest."""
        symbols = points.T.reshape(-1, self.n, self.n, self.n)
        symbols = 0.5 * (symbols + np.swapaxes(symbols, -1, -2))
        norms = [self._norm(np.einsum(rule, symbols, symbols), self.square) for rule in ("ziab,zjab->zij", "zaib,zajb->zij")]
        found = np.minimum(*norms)
        order = np.argsort(-found, kind="stable")
        largest = 0.0
        for k in range(0, min(len(order), _MOST_REFINED), _AT_ONCE):
            some = order[k : k + _AT_ONCE]
            if found[some[0]] <= largest:
                break
            found[some] = np.minimum(found[some], self._fourth_degree(symbols[some]))
            largest = max(largest, float(found[some].max()))
        return found

    def _fourth_degree(self, c: FloatArray) -> FloatArray:
        """By (1)."""
        pairs = self.n * self.n
        straight = np.einsum("zijk,zilm->zjklm", c, c).reshape(-1, pairs, pairs)
        crossed = np.einsum("zijl,zikm->zjklm", c, c)
        crossed = 0.5 * (crossed + np.swapaxes(crossed, -1, -2)).reshape(-1, pairs, pairs)
        norms = [
            self._norm(self.basis @ ((1.0 - t) * straight + t * crossed) @ self.basis.T, self.pairs) for t in (_MIX - 0.1, _MIX)
        ]
        return np.minimum(*norms)

    def _norm(self, squares: FloatArray, by: LargestEigenvalue) -> FloatArray:
        entries = squares[:, by.rows, by.columns].T
        largest = by.exact(entries) + 16 * by.n**3 * _UNIT * np.abs(squares).sum(axis=(-1, -2))
        return np.sqrt(np.maximum(largest, 0.0)) * _ROUNDED_UP


def _symmetric_basis(n: int) -> FloatArray:
    """Orthonormal symmetric matrices, one in each row."""
    rows, columns = np.tril_indices(n)
    found = np.zeros((len(rows), n, n))
    weight = np.where(rows == columns, 1.0, np.sqrt(0.5))
    found[np.arange(len(rows)), rows, columns] = found[np.arange(len(rows)), columns, rows] = weight
    return found.reshape(len(rows), -1)
