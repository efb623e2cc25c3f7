"""Control points of polynomials over boxes: every value inside is a mean of them, with weights that add up to 1.

For an angle d in [-r, r], r < π/2, let u = sin((r - d)/2) / sin r and v = sin((r + d)/2) / sin r, both not negative there. Then

    1 = u² + 2 cos r · u v + v²,    cos d = cos r · u² + 2 u v + cos r · v²,    sin d = sin r · (v² - u²)        (1)

so that a trigonometric polynomial of degree D is Σ_k b_k β_k with β_k = binomial(2D, k) u^(2D-k) v^k ≥ 0, and 1 = Σ_k w_k β_k
with w_k > 0: a mean of the control points b_k / w_k with the weights w_k β_k [SanchezReyes1998]. For a slide this is the
polynomial's Bernstein form. Over a box of several coordinates weights are products, control points a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .spectrum import Axis, Spectrum

WIDEST = math.pi / 3  # half of the widest box of an angle
_ROUNDING = 256 * 2.0**-53  # of sums of few terms, per axis, with matrices that are right to some units
_NEGLIGIBLE = 1e-14  # of all coefficients together: what a function may lose along an axis


class _Group(NamedTuple):
    """Functions that depend on the same axes: which, on which, and their coefficients, the functions last."""

    functions: np.ndarray
    axes: tuple[int, ...]
    coefficients: FloatArray


class ControlPoints:
    """The control points of a spectrum over any boxes. Functions are grouped by the axes they depend on."""

    def __init__(self, found: Spectrum) -> None:
        self.axes, self.rest = found.axes, found.rest.copy()
        count = len(found.rest)
        self.largest = np.abs(found.coefficients).reshape(count, -1).max(axis=1)
        limit = _NEGLIGIBLE * float(np.abs(found.coefficients).sum())
        members: dict[tuple[int, ...], list[int]] = {}
        for k in range(count):
            members.setdefault(self._dependence(found.coefficients[k], limit, k), []).append(k)
        self.groups = [_group(found.coefficients, np.array(ks), axes) for axes, ks in members.items()]

    def _dependence(self, coefficients: FloatArray, limit: float, k: int) -> tuple[int, ...]:
        """The axes a function depends on; along the others it is constant but for what goes to its rest."""
        needed = []
        for axis in range(len(self.axes)):
            moving = float(np.abs(np.moveaxis(coefficients, axis, 0)[1:]).sum()) * (1 + 1e-9)
            if moving > limit:
                needed.append(axis)
            else:
                self.rest[k] += moving
        return tuple(needed)

    def matrices(self, lo: FloatArray, hi: FloatArray) -> list[FloatArray]:
        """For each axis, from coefficients to control points over the boxes (boxes, d)."""
        return [axis_matrix(axis, lo[:, k], hi[:, k]) for k, axis in enumerate(self.axes)]

    def over(self, matrices: Sequence[FloatArray], boxes: int) -> tuple[FloatArray, FloatArray]:
        """Control points, shape (boxes, K, N_1, ..., N_d), and how wrong they can be, shape (boxes, K)."""
        points = np.empty((boxes, len(self.rest), *(axis.size for axis in self.axes)))
        for functions, axes, coefficients in self.groups:
            found = _contracted(coefficients, [matrices[k] for k in axes], boxes)
            shape = [axis.size if k in axes else 1 for k, axis in enumerate(self.axes)]
            points[:, functions] = found.reshape(boxes, len(functions), *shape)
        growth = np.ones(boxes)
        for matrix in matrices:
            growth = growth * np.abs(matrix).sum(axis=2).max(axis=1)
        return points, _ROUNDING * (len(matrices) + 1) * growth[:, None] * self.largest + self.rest


def _group(coefficients: FloatArray, functions: np.ndarray, axes: tuple[int, ...]) -> _Group:
    """What these functions have along their axes: the first coefficient along the others."""
    part = coefficients[functions]
    for k in reversed(range(part.ndim - 1)):
        if k not in axes:
            part = np.take(part, 0, axis=k + 1)
    return _Group(functions, axes, np.ascontiguousarray(np.moveaxis(part, 0, -1)))


def _contracted(coefficients: FloatArray, matrices: Sequence[FloatArray], boxes: int) -> FloatArray:
    """Each step contracts the first axis and puts the new one last, the functions being behind the others at first."""
    points = coefficients.reshape(1, -1)
    for matrix in matrices:
        rows = points.reshape(len(points), matrix.shape[2], -1)
        points = np.matmul(np.swapaxes(rows, 1, 2), np.swapaxes(matrix, 1, 2)).reshape(boxes, -1)
    return np.broadcast_to(points, (boxes, points.shape[1]))


def axis_matrix(axis: Axis, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """From coefficients along an axis to control points on [lo, hi]; shape (boxes, N, N), the first column is 1."""
    return _angle_matrix(axis.degree, lo, hi) if axis.turns else _slide_matrix(axis, lo, hi)


def _angle_matrix(degree: int, lo: FloatArray, hi: FloatArray) -> FloatArray:
    middle, half = 0.5 * (lo + hi), 0.5 * (hi - lo) * (1.0 + 1e-15) + 1e-15 * (1.0 + np.abs(lo) + np.abs(hi))
    one, cosine, sine = _first_harmonic(half)
    unit = np.ones((len(lo), 1))
    c, s = [unit], [np.zeros_like(unit)]
    for k in range(1, degree + 1):
        last = _difference(c[-1], s[-1], cosine, sine, k), _addition(c[-1], s[-1], cosine, sine, k)
        c, s = ([*(_times(x, one) for x in terms), new] for terms, new in zip((c, s), last, strict=True))
    weights = c[0]
    columns = [np.ones_like(weights)]
    for k in range(1, degree + 1):
        co, si = np.cos(k * middle)[:, None], np.sin(k * middle)[:, None]
        columns += [(co * c[k] - si * s[k]) / weights, (si * c[k] + co * s[k]) / weights]
    return np.stack(columns, axis=2)


def _first_harmonic(half: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients (1) of 1, cos d and sin d."""
    c, s, nothing, unit = np.cos(half), np.sin(half), np.zeros_like(half), np.ones_like(half)
    return np.stack([unit, c, unit], 1), np.stack([c, unit, c], 1), np.stack([-s, nothing, s], 1)


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    """Coefficients of a product: those of the factors weighed by binomials."""
    m, n = a.shape[1] - 1, b.shape[1] - 1
    product = np.zeros((len(a), m + n + 1))
    for i in range(m + 1):
        for j in range(n + 1):
            product[:, i + j] += math.comb(m, i) * math.comb(n, j) / math.comb(m + n, i + j) * a[:, i] * b[:, j]
    return product


def _difference(c: FloatArray, s: FloatArray, cosine: FloatArray, sine: FloatArray, k: int) -> FloatArray:
    """cos kd = cos (k-1)d cos d - sin (k-1)d sin d."""
    return cosine if k == 1 else _times(c, cosine) - _times(s, sine)


def _addition(c: FloatArray, s: FloatArray, cosine: FloatArray, sine: FloatArray, k: int) -> FloatArray:
    """sin kd = cos (k-1)d sin d + sin (k-1)d cos d."""
    return sine if k == 1 else _times(c, sine) + _times(s, cosine)


def _slide_matrix(axis: Axis, lo: FloatArray, hi: FloatArray) -> FloatArray:
    """Bernstein coefficients of powers of the place t in [-1, 1] on a part of it."""
    middle, half = 0.5 * (axis.lo + axis.hi), 0.5 * (axis.hi - axis.lo)
    wrong = 1e-15 * (1.0 + (np.abs(lo) + np.abs(hi) + abs(middle)) / half)
    t0, t1 = (lo - middle) / half - wrong, (hi - middle) / half + wrong
    degree = axis.degree
    found = np.zeros((len(lo), degree + 1, degree + 1))
    for i in range(degree + 1):
        for k in range(degree + 1):
            for j in range(max(0, k - degree + i), min(i, k) + 1):
                weight = math.comb(i, j) * math.comb(degree - i, k - j) / math.comb(degree, k)
                found[:, i, k] += weight * t1**j * t0 ** (k - j)
    return found


def first_boxes(axes: Sequence[Axis], lo: FloatArray, hi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The box cut so that angles are no wider than control points allow; all pieces, shape (boxes, d)."""
    cuts = [max(1, math.ceil((b - a) / (2 * WIDEST))) if axis.turns else 1 for axis, a, b in zip(axes, lo, hi, strict=True)]
    edges = [np.linspace(a, b, cut + 1) for a, b, cut in zip(lo, hi, cuts, strict=True)]
    return _corner(edges, slice(None, -1)), _corner(edges, slice(1, None))


def _corner(edges: Sequence[FloatArray], part: slice) -> FloatArray:
    """The same corner of all pieces."""
    found: Any = np.meshgrid(*(e[part] for e in edges), indexing="ij")
    return np.stack([x.ravel() for x in found], axis=1) if edges else np.zeros((1, 0))
