"""The forces at the coordinates that drives can make together, as a set with facets.

With A the rows of ∂x/∂q of m driven joints and their largest torques L, Z = {Aᵀ u : |u| ≤ L} is a zonotope: a convex set with
as many pairs of facets as there are ways to choose n − 1 drives C out of m. The normal ν of a facet is at right angles to their
rows,

    A_C ν = 0,    |νᵀ τ| ≤ h(ν) = Σ L_j |A_j ν|    for all τ in Z                                               (1)

and on it all other drives are at their limits, which way (A ν) tells, while those of C have what is left to do. (1) holds for any
ν. By how much τ fills Z, the least largest |u| / L of all torques that make it, is

    ρ(τ) = max ν of νᵀ τ / h(ν),    1/ρ = min ν of h(ν) with νᵀ τ = 1                                           (2)

found at a facet. (2) is a least sum of absolute values, solved as such are [BarrodaleRoberts1973]: from facet to facet, each time
giving up the zero of A_C ν that costs most, and going on along that edge until the sum does not fall any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import combinations
from math import comb
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import FloatArray
from ..codegen import Kernel, build
from ..expr import ops, trace

Drives = NDArray[np.intp]

_STEPS = 30  # from facet to facet; three to ten are usual
_SHAKE = 1e-8  # of the largest entry of A, where these are not enough
_OPTIMAL = 1e-9  # by which a drive of C may be above its limit, relative
_ZERO = 1e-9  # of the sum of |A ν|: below, it is rounding
_WIDE = 1e6  # a drive without a limit has so many times the largest one
_LOST = 1e-13  # of the volume that rows span: below, it is rounding
_TINY = 1e-300
_KERNEL = 9  # freedoms up to which normals are compiled: what it takes doubles with each


class Filled(NamedTuple):
    """ρ of (2), shape (R,); the drives C of the facet that tells it, (R, n − 1), and its normal with h(ν) = 1, (R, n); u / L of
    the torques there, (R, m); and whether no other torques have as small a largest one, (R,): on an edge between facets there are
    others.
    """

    ratio: FloatArray
    facet: Drives
    normal: FloatArray
    use: FloatArray
    only: Any


def scaled(A: FloatArray, limits: FloatArray) -> FloatArray:
    """The rows of A times the limits, so that all drives go from −1 to 1."""
    found: FloatArray = A * largest(limits)[:, None]
    return found


def largest(limits: FloatArray) -> FloatArray:
    """The limits, with others far beyond them where there are none."""
    finite = np.isfinite(limits)
    return np.where(finite, limits, _WIDE * limits[finite].max(initial=1.0))


def every_facet(m: int, n: int, most: int) -> Drives | None:
    """All choices of n − 1 drives out of m, if there are no more than some."""
    count = comb(m, n - 1)
    return None if count > most else np.array(list(combinations(range(m), n - 1)), dtype=np.intp).reshape(count, n - 1)


def filled(A: FloatArray, tau: FloatArray, start: Drives | None = None, slack: int = 0) -> Filled:
    """(2) for rows A (R, m, n), scaled, and τ (R, n); `start` are facets to begin with, (R, n − 1).

    The last rows, as many as `slack`, are −1 in one of the last columns each, and zero elsewhere.
    """
    (R, m, n), size = A.shape, np.abs(tau).max(axis=1)
    found = Filled(np.zeros(R), np.zeros((R, n - 1), dtype=np.intp), np.zeros((R, n)), np.zeros((R, m)), np.zeros(R, dtype=bool))
    if not R:
        return found
    known: Any = np.isfinite(size) & np.isfinite(A).all(axis=(1, 2))
    first = int(np.argmax(known & (size > 0)))
    found.facet[:] = _independent(A[first], tau[first]) if start is None else start
    left = _moved(A, tau, found, np.flatnonzero(known & (size > 0)), slack, _STEPS)
    if len(left):  # more than n − 1 drives have zeros there, among which steps go round
        _moved(_shaken(A, left, slack), tau, found, left, slack, _STEPS)
        _settle(A[left], tau[left], found, left)
    for part in (found.ratio, found.normal, found.use):
        part[~known] = np.nan
    return found


def _moved(A: FloatArray, tau: FloatArray, found: Filled, left: Drives, slack: int, steps: int) -> Drives:
    """From facet to facet, those rows that are left; which of them still are after so many steps."""
    for turn in range(steps):
        facet = found.facet[left]
        step = _Vertex.at(A[left], tau[left], facet, slack)
        found.ratio[left], found.use[left], found.only[left] = step.ratio, step.use, step.only(facet)
        found.normal[left] = step.normals(A[left])
        going = np.flatnonzero(np.abs(step.slopes).max(axis=1, initial=0.0) > 1 + _OPTIMAL)
        left, step = left[going], step.rows(going)
        if not len(left) or turn == steps - 1:
            break
        step.move(A[left], found.facet, left, slack)
    return left


def _settle(A: FloatArray, tau: FloatArray, found: Filled, left: Drives) -> None:
    """Torques of shaken rows as they have to be without: as much is made as is wanted, with the least change."""
    u = found.use[left]
    lack = tau - (u[:, None] @ A)[:, 0]
    u += (A @ np.linalg.solve(np.swapaxes(A, 1, 2) @ A, lack[..., None]))[..., 0]
    h = np.abs(A @ found.normal[left][..., None]).sum(axis=(1, 2))
    found.use[left], found.ratio[left] = u, np.abs(u).max(axis=1)
    found.normal[left] /= h[:, None]
    found.only[left] = False


def _shaken(A: FloatArray, left: Drives, slack: int) -> FloatArray:
    """A with slightly other entries in the rows that are left, zeros too, so that no drives depend on each other."""
    found, (m, n) = A.copy(), A.shape[1:]
    noise = np.random.default_rng(0).uniform(-1.0, 1.0, size=(m, n))
    noise[m - slack :] = 0.0
    found[left] += _SHAKE * noise * np.abs(A[left]).max(axis=1, keepdims=True).max(axis=2, keepdims=True)
    return found


def _independent(A: FloatArray, tau: FloatArray) -> Drives:
    """n − 1 rows that together with τ span all directions, by pivoted elimination."""
    n = A.shape[1]
    rest = A - np.outer(A @ tau, tau) / (tau @ tau) if tau.any() else A.copy()
    found: list[int] = []
    for _ in range(n - 1):
        sizes = (rest * rest).sum(axis=1)
        sizes[found] = -1.0
        j = int(np.argmax(sizes))
        found.append(j)
        if sizes[j] > 0:
            rest = rest - np.outer(rest @ rest[j], rest[j]) / sizes[j]
    return np.array(found, dtype=np.intp)


class _Basis(NamedTuple):
    """The equations K = [A_C; τᵀ] of a facet in each row, solved without those of C that have one entry each: such a row leaves
    its column out. As many of them stay as make all systems as large.

    `places` (R, k − 1) tells which of C are there, `columns` (R, k) in which columns; `rows` (R, k, n) are they in all columns,
    and τ; `inverse` (R, k, k) is that of what is left of K.
    """

    places: Drives
    columns: Drives
    rows: FloatArray
    inverse: FloatArray

    @staticmethod
    def at(A: FloatArray, tau: FloatArray, C: Drives, slack: int) -> _Basis:
        """Of facets C."""
        (R, total, n), each = A.shape, np.arange(len(A))[:, None]
        m = total - slack
        out = max(slack - (total - n + 1), 0)  # as many of C have one entry, at least, and are left out
        single = m <= C
        late = np.cumsum(single, axis=1) > np.sum(single, axis=1, keepdims=True) - out
        gone = single & late
        places = np.argsort(gone, axis=1, kind="stable")[:, : n - 1 - out]
        there = np.ones((R, n), dtype=bool)
        there[np.broadcast_to(each, C.shape)[gone], n - slack + C[gone] - m] = False
        columns = np.argsort(~there, axis=1, kind="stable")[:, : n - out]
        rows = np.concatenate([A[each, C[each, places]], tau[:, None]], axis=1)
        return _Basis(places, columns, rows, _inverse(np.take_along_axis(rows, columns[:, None], axis=2) if out else rows))

    @property
    def normal(self) -> FloatArray:
        """ν with A_C ν = 0 and νᵀ τ = 1, (R, n)."""
        return self._whole(self.inverse[:, :, -1])

    def multipliers(self, pull: FloatArray, C: Drives, m: int, slack: int) -> FloatArray:
        """By which the rows of C, and some τ, make a vector (R, n): of each of C, (R, n − 1)."""
        each, n = np.arange(len(C))[:, None], pull.shape[1]
        z = (pull[each, self.columns][:, None] @ self.inverse)[:, 0]
        found = np.zeros(C.shape)
        if self.places.shape[1] < C.shape[1]:
            rest = pull - (z[:, None] @ self.rows)[:, 0]
            found = -np.where(m <= C, rest[each, np.maximum(n - slack + C - m, 0)], 0.0)
        found[each, self.places] = z[:, :-1]
        return found

    def edge(self, leaving: Drives, C: Drives, m: int, slack: int) -> FloatArray:
        """The direction (R, n) in which all rows of C but one, given by its place, and τ stay as they are, and that one rises."""
        each, n = np.arange(len(C)), self.rows.shape[2]
        column = n - slack + C[each, leaving] - m  # of a row with one entry
        at = np.argmax(self.places == leaving[:, None], axis=1)
        gone = self.places[each, at] != leaving
        of_gone = np.take_along_axis(self.rows, np.maximum(column, 0)[:, None, None], axis=2)
        found = self._whole(np.where(gone[:, None], (self.inverse @ of_gone)[..., 0], self.inverse[each, :, at]))
        found[each[gone], column[gone]] = -1.0
        return found

    def _whole(self, part: FloatArray) -> FloatArray:
        found = np.zeros((len(part), self.rows.shape[2]))
        np.put_along_axis(found, self.columns, part, axis=1)
        return found


class _Vertex(NamedTuple):
    """A facet in each row: A ν with νᵀ τ = 1, and what the drives of C would have to do, (R, n − 1)."""

    basis: _Basis
    values: FloatArray
    slopes: FloatArray
    ratio: FloatArray
    use: FloatArray

    @staticmethod
    def at(A: FloatArray, tau: FloatArray, C: Drives, slack: int) -> _Vertex:
        """Of facets C."""
        rows = np.arange(len(C))[:, None]
        basis = _Basis.at(A, tau, C, slack)
        values = (A @ basis.normal[..., None])[..., 0]
        values[rows, C] = 0.0
        signs = np.where(values < 0, -1.0, 1.0)
        signs[rows, C] = 0.0
        slopes = basis.multipliers((signs[:, None] @ A)[:, 0], C, A.shape[1] - slack, slack)
        total = np.abs(values).sum(axis=1)
        ratio = 1.0 / np.where(total > 0, total, np.inf)
        use = signs
        use[rows, C] = -slopes
        return _Vertex(basis, values, slopes, ratio, use * ratio[:, None])

    def normals(self, A: FloatArray) -> FloatArray:
        """ν with h(ν) = 1, of all drives: where the rows of C lose a direction, those of C have a part in it."""
        nu = self.basis.normal
        h = np.abs(A @ nu[..., None]).sum(axis=(1, 2))
        return nu / np.where(h > 0, h, np.inf)[:, None]

    def rows(self, rows: Any) -> _Vertex:
        """Some of the rows."""
        return _Vertex(_Basis(*(part[rows] for part in self.basis)), *(part[rows] for part in self[1:]))

    def only(self, C: Drives) -> Any:
        """Whether all drives but those of C are at their limits, whatever the torques are: none of them has a zero in A ν."""
        size = np.abs(self.values)
        size[np.arange(len(C))[:, None], C] = np.inf
        return size.min(axis=1) * self.ratio > _ZERO

    def move(self, A: FloatArray, facet: Drives, at: Drives, slack: int) -> None:
        """To the next facet: the drive that is most beyond its limit leaves C, the one at which h stops to fall enters."""
        rows = np.arange(len(A))
        leaving = np.argmax(np.abs(self.slopes), axis=1)
        slope = self.slopes[rows, leaving]
        C = facet[at]
        edge = self.basis.edge(leaving, C, A.shape[1] - slack, slack)
        along = -np.sign(slope)[:, None] * (A @ edge[..., None])[..., 0]
        held = np.zeros(along.shape, dtype=bool)
        held[rows[:, None], C] = True
        with np.errstate(divide="ignore", invalid="ignore"):
            kinks = -self.values / along
        down = np.where(self.values == 0, along < 0, kinks > 0) & ~held & (along != 0)  # at zero the sign counts as +
        kinks = np.where(down, np.maximum(kinks, 0.0), np.inf)
        order = np.argsort(kinks, axis=1)
        rise = np.where(down, 2 * np.abs(along), 0.0)[rows[:, None], order].cumsum(axis=1)
        enough = rise >= (np.abs(slope) - 1.0)[:, None]
        entering = order[rows, np.argmax(enough, axis=1)]
        found = enough.any(axis=1)
        facet[at[found], leaving[found]] = entering[found]


def _inverse(K: FloatArray) -> FloatArray:
    """Inverses; of matrices that have none, those of others nearby, which will do to go on from."""
    try:
        return np.asarray(np.linalg.inv(K), dtype=float)
    except np.linalg.LinAlgError:
        noise = np.random.default_rng(0).normal(size=K.shape[1:])
        return _inverse(K + 1e-12 * np.abs(K).max(axis=(1, 2), keepdims=True) * noise)


class Normals(NamedTuple):
    """ν of (1) with h(ν) = 1, shape (..., F, n), zero where there is none; and how far the rows of C are from losing a direction,
    (..., F): the volume that they span, as a share of the largest of such rows.
    """

    nu: FloatArray
    span: FloatArray


def normals(A: FloatArray, facets: Drives, slack: int = 0) -> Normals:
    """The normals of facets (F, n − 1), for rows A (..., m, n), scaled.

    With `slack` as in `filled`: those of the last rows that are among C leave their columns out.
    """
    if slack:
        found = [_reduced(A, C, slack) for C in facets]
        return Normals(np.concatenate([nu for nu, _ in found], axis=-2), np.concatenate([span for _, span in found], axis=-1))
    m, n = A.shape[-2:]
    if n == 1:  # all drives push along the one coordinate
        h = np.abs(A).sum(axis=-2, keepdims=True)
        return Normals(1.0 / h, np.ones(h.shape[:-1]))
    rows = A[..., facets, :]
    if n <= _KERNEL:
        nu, span = _normal_kernel(m, n)(rows, A[..., None, :, :])
        return Normals(nu, span[..., 0])
    last = np.broadcast_to(np.cos(np.arange(n)), (*rows.shape[:-2], 1, n))  # any row will do
    K = np.concatenate([rows, last], axis=-2)
    across = np.linalg.det(K)[..., None] * _inverse(K.reshape(-1, n, n)).reshape(K.shape)[..., -1]
    h = np.abs(A[..., None, :, :] @ across[..., None]).sum(axis=(-2, -1))
    span = np.linalg.norm(across, axis=-1) / np.maximum(np.linalg.norm(rows, axis=-1).prod(axis=-1), _TINY)
    return Normals(np.where(span > _LOST, 1.0 / np.maximum(h, _TINY), 0.0)[..., None] * across, span)


def _reduced(A: FloatArray, C: Drives, slack: int) -> Normals:
    """The normal of one facet, found among the columns in which it is not zero."""
    m, n = A.shape[-2] - slack, A.shape[-1]
    acts = np.setdiff1d(np.arange(slack), C[m <= C] - m)
    columns = np.concatenate([np.arange(n - slack), n - slack + acts])
    rows = np.concatenate([np.arange(m), m + acts])
    nu, span = normals(A[..., rows[:, None], columns], np.sort(C[m > C])[None])
    whole = np.zeros((*nu.shape[:-1], n))
    whole[..., columns] = nu
    return Normals(whole, span)


@lru_cache(maxsize=32)
def _normal_kernel(m: int, n: int) -> Kernel:
    def normal(rows: Any, A: Any) -> Any:
        across = _across(rows)
        h = sum(ops.absolute(sum(a * b for a, b in zip(row, across, strict=True))) for row in A)
        largest = reduce(mul, (ops.sqrt(sum(a * a for a in row)) for row in rows))
        span = ops.divide(ops.sqrt(sum(a * a for a in across)), ops.maximum(largest, _TINY))
        inverse = ops.where(ops.less(_LOST, span), ops.divide(1.0, ops.maximum(h, _TINY)), 0.0)
        return [inverse * one for one in across], [span]

    return build(trace(normal, {"rows": (n - 1, n), "A": (m, n)}, ["normal", "span"], name="facet_normal"))


def _across(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """The vector at right angles to n − 1 others whose entries are their minors: it turns without jumps where they do."""
    n = len(rows) + 1
    minors: dict[tuple[int, ...], Any] = {(k,): rows[0][k] for k in range(n)}
    for count, row in enumerate(rows[1:], start=2):
        minors = {
            columns: sum(
                (-1.0) ** (count - 1 - k) * row[column] * minors[columns[:k] + columns[k + 1 :]]
                for k, column in enumerate(columns)
            )
            for columns in combinations(range(n), count)
        }
    return [(-1.0) ** k * minors[tuple(j for j in range(n) if j != k)] for k in range(n)]


__all__ = ["Drives", "Filled", "Normals", "every_facet", "filled", "largest", "normals", "scaled"]
