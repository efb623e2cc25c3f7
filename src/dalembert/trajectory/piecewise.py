"""Polynomials in pieces: the one form of profiles, interpolating polynomials and splines.

On piece p, between the breaks b_p and b_p + h_p, with u = (t − b_p)/h_p from 0 to 1,

    q(t) = Σ_k c_pk u^k,                                                                          (1)

so that coefficients are of the size of q whatever the unit of time. Horner's scheme gives the value and the first three
derivatives in one pass [Knuth1997, §4.6.4].
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from .. import checks
from ..checks import FloatArray
from .motion import IntArray, Motion, Rates


class Piecewise(Motion):
    """A motion of polynomials: breaks of shape (p + 1,), coefficients c of shape (..., p, degree + 1, n). Equation (1)."""

    def __init__(self, breaks: FloatArray, coefficients: FloatArray, about: str = "") -> None:
        self.breaks = checks.frozen(np.asarray(breaks, float))
        self.coefficients = checks.frozen(np.asarray(coefficients, float))
        self.by_power = np.ascontiguousarray(np.moveaxis(self.coefficients, (-3, -2), (-1, 0)))
        *batch, _, _, n = coefficients.shape
        self.shape, self.about = (*batch, n), about

    def rows(self, numbers: IntArray) -> Motion:
        """As said in `Motion`: only the polynomials of these."""
        return Piecewise(self.breaks, self.coefficients.reshape(-1, *self.coefficients.shape[-3:])[numbers], self.about)

    def at(self, t: FloatArray) -> Rates:
        """Value and three derivatives by one Horner scheme, in blocks that fit into a cache."""
        out = np.empty((4, *self.shape[:-1], len(t), self.n))
        block = max(16, _BLOCK * self.n // max(1, math.prod(self.shape)))
        for begin in range(0, len(t), block):
            self._fill(t[begin : begin + block], out[..., begin : begin + block, :])
        return out[0], out[1], out[2], out[3]

    def _fill(self, t: FloatArray, out: FloatArray) -> None:
        """One block. Time is the last axis inside, so that NumPy's loops are long."""
        breaks = self.breaks
        piece = np.clip(np.searchsorted(breaks, t, side="right") - 1, 0, len(breaks) - 2)
        rate = (1.0 / np.diff(breaks))[piece]
        u = (t - breaks[piece]) * rate
        q, first, second, third = found = np.zeros((4, *self.shape, len(t)))
        for c in self.by_power[::-1]:
            for higher, lower in ((third, second), (second, first), (first, q), (q, np.take(c, piece, axis=-1))):
                higher *= u
                higher += lower
        first *= rate
        second *= 2 * rate**2
        third *= 6 * rate**3
        out[...] = np.swapaxes(found, -1, -2)


_BLOCK = 1024  # instants


def hermite(breaks: FloatArray, values: FloatArray) -> Piecewise:
    """The polynomials of degree 2m + 1 with given q, q̇, ... up to order m at each break.

    Parameters
    ----------
    breaks : ndarray, shape (p + 1,)
    values : ndarray, shape (m + 1, ..., p + 1, n)
        Derivative k in row k.
    """
    h = np.diff(breaks)[:, None]
    scaled = [value * h**k for k, value in ((k, v[..., side, :]) for side in (_FROM, _TO) for k, v in enumerate(values))]
    return Piecewise(breaks, np.einsum("ki,i...pn->...pkn", hermite_matrix(len(values)), np.stack(scaled)))


_FROM, _TO = slice(None, -1), slice(1, None)


@cache
def hermite_matrix(orders: int) -> FloatArray:
    """Coefficients of u^k for each derivative at u = 0, then at u = 1: whole numbers over small factorials."""
    size = 2 * orders
    conditions = np.zeros((size, size))
    for k in range(orders):
        conditions[k, k] = factorial_power(k, k)
        conditions[orders + k] = [factorial_power(j, k) for j in range(size)]
    return checks.frozen(np.round(np.linalg.inv(conditions) * 720) / 720)  # 720 clears every denominator up to degree 7


def factorial_power(j: int, k: int) -> float:
    """j (j − 1) ... (j − k + 1): the k-th derivative of u^j at 1."""
    return float(np.prod(np.arange(j, j - k, -1.0)))
