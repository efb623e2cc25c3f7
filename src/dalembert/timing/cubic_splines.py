"""Cubic splines through points of many paths at once, not-a-knot: the third derivative does not jump at the second knot and at
the last but one.

With the slopes s at the knots, h between knots and Δ the mean slope from one to the next, q″ is continuous where

    h₁ s₀ + 2 (h₀ + h₁) s₁ + h₀ s₂ = 3 (h₁ Δ₀ + h₀ Δ₁)                                                          (1)

and one of these for every inner knot. q‴ continuous there as well gives, with (1), for the first knot

    h₁ s₀ + (h₀ + h₁) s₁ = (h₁ (3 h₀ + 2 h₁) Δ₀ + h₀² Δ₁) / (h₀ + h₁)                                           (2)

and its mirror image for the last one.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ..checks import FloatArray


def cubics_through(knots: FloatArray, points: FloatArray) -> FloatArray:
    """Coefficients by rising power, (P, W − 1, 4, n), of splines through points (P, W, n) at knots (P, W)."""
    h = np.diff(knots, axis=1)[..., None]
    rise = np.diff(points, axis=1) / h
    s = _slopes(h, rise)
    first, last = s[:, :-1], s[:, 1:]
    return np.stack([points[:, :-1], first, (3 * rise - 2 * first - last) / h, (first + last - 2 * rise) / h**2], axis=2)


def _slopes(h: FloatArray, rise: FloatArray) -> FloatArray:
    """At the knots; through two points goes a line, through three a parabola."""
    if rise.shape[1] == 1:
        return np.repeat(rise, 2, axis=1)
    P, pieces, n = rise.shape
    below, diagonal, above = (np.empty((P, size)) for size in (pieces, pieces + 1, pieces))
    right = np.empty((P, pieces + 1, n))
    one, two = h[:, :-1], h[:, 1:]
    below[:, :-1], diagonal[:, 1:-1], above[:, 1:] = two[..., 0], 2 * (one + two)[..., 0], one[..., 0]
    right[:, 1:-1] = 3 * (two * rise[:, :-1] + one * rise[:, 1:])  # (1)
    if pieces == 2:
        diagonal[:, [0, -1]] = above[:, 0] = below[:, -1] = 1.0
        right[:, [0, -1]] = 2 * rise
    else:
        diagonal[:, 0], above[:, 0], right[:, 0] = _at_first(h[:, :2], rise[:, :2])
        diagonal[:, -1], below[:, -1], right[:, -1] = _at_first(h[:, :-3:-1], rise[:, :-3:-1])
    return np.stack([lapack.dgtsv(*rows)[3] for rows in zip(below, diagonal, above, right, strict=True)])


def _at_first(h: FloatArray, rise: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(2): the coefficients of s₀ and s₁ and the right side, out of the first two pieces."""
    one, two = h[:, 0], h[:, 1]
    both = one + two
    right: FloatArray = (two * (3 * one + 2 * two) * rise[:, 0] + one * one * rise[:, 1]) / both
    return two[:, 0], both[:, 0], right


__all__ = ["cubics_through"]
