"""The largest value of a polynomial in variables from [-1, 1], from its coefficients: exact where squares are not negative.

Coefficients C of control points enter by a convex function of them, so the largest over all control points of a box bounds every
value in the box: f(q, η) = Σ λ_I(q) f_I(η), with weights λ_I ≥ 0 that add up to 1. Monomials are sorted into

    P(s) + Σ_j |L_j(s)| + Σ_σ max(D_σ(s), 0) + Σ loose                                                         (1)

L_j is the factor of a variable that is linear and never meets another of its kind (accelerations, friction), D_σ that of a square
(or of several), P the rest, which has no squares. All are linear in each of the other variables s alone, so (1) is convex in each
and largest at a corner, s in {-1, 1}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from .rate_polynomial import Monomial

_MOST_CORNERS = 12  # variables whose corners are all tried


class _Part(NamedTuple):
    """A polynomial in the corners: the coefficients it has, and their signs at each corner, (S, columns), or (1, columns)."""

    columns: np.ndarray
    signs: FloatArray

    def at(self, points: FloatArray) -> FloatArray:
        """Its value at each corner, for control points (K, I)."""
        return self.signs @ points[self.columns]


@dataclass(frozen=True, eq=False)
class VertexBound:
    """The parts of (1)."""

    product: _Part
    linear: tuple[_Part, ...]
    squares: tuple[_Part, ...]
    loose: np.ndarray  # monomials of which only the size is used
    halves: FloatArray  # (K,): 1 where a monomial is an even power, between 0 and 1

    def quick(self, points: FloatArray) -> FloatArray:
        """A bound from sizes alone, for control points (K, I)."""
        positive = np.where(self.halves[:, None] > 0, np.maximum(points, 0.0), np.abs(points))
        return positive[1:].sum(axis=0) + points[0]

    def exact(self, points: FloatArray) -> FloatArray:
        """The bound (1) for control points (K, I); shape (I,)."""
        total = self.product.at(points)
        same = np.abs(points[self.loose]).sum(axis=0)
        for parts, size in ((self.linear, np.abs), (self.squares, _positive)):
            for part in parts:
                found = size(part.at(points))
                if len(found) > 1:
                    total += found
                else:
                    same += found[0]
        return total.max(axis=0) + same


def _positive(values: FloatArray) -> FloatArray:
    return np.maximum(values, 0.0)


def vertex_bound(monomials: Sequence[Monomial], count: int) -> VertexBound:
    """How monomials in `count` variables are bounded; the first is the constant."""
    powers = [Counter(m) for m in monomials]
    outer = _outer(powers, count)
    inner = [v for v in range(count) if v not in outer and any(v in p for p in powers)]
    groups: dict[tuple[str, object], list[int]] = {}
    for k, p in enumerate(powers):
        groups.setdefault(_kind(p, outer), []).append(k)
    if len(inner) > _MOST_CORNERS:
        groups, inner = {("product", None): [0], ("loose", None): list(range(1, len(monomials)))}, []
    corners = _corners(inner, count, powers)
    signs = np.array([[np.prod([c[v] for v, e in p.items() if e % 2 and v in inner]) for p in powers] for c in corners])

    def part(key: tuple[str, object]) -> _Part:
        columns = np.array(groups[key])
        found = signs[:, columns]
        return _Part(columns, found[:1] if (found == found[0]).all() and key[0] != "product" else found)

    parts = {kind: tuple(part(key) for key in groups if key[0] == kind) for kind in ("linear", "square")}
    even = np.array([float(bool(p) and all(e % 2 == 0 for e in p.values())) for p in powers])
    loose = np.array(groups.get(("loose", None), []), dtype=int)
    return VertexBound(part(("product", None)), parts["linear"], parts["square"], loose, even)


def _outer(powers: Sequence[Counter[int]], count: int) -> set[int]:
    """Variables that are linear wherever they occur and never meet another of them; those that meet fewest come first."""
    meets = {v: {w for p in powers if v in p for w in p if w != v} for v in range(count)}
    linear = [v for v in range(count) if all(p[v] <= 1 for p in powers)]
    found: set[int] = set()
    for v in sorted(linear, key=lambda v: (len(meets[v]), v)):
        if not meets[v] & found:
            found.add(v)
    return found


def _kind(p: Counter[int], outer: set[int]) -> tuple[str, object]:
    """Which part of (1) a monomial belongs to."""
    mine = [v for v in p if v in outer]
    squared = tuple(v for v, e in p.items() if e == 2)
    if any(e > 2 for e in p.values()) or (mine and squared):
        return "loose", None
    if mine:
        return "linear", mine[0]
    return ("square", squared) if squared else ("product", None)


def _corners(inner: Sequence[int], count: int, powers: Sequence[Counter[int]]) -> FloatArray:
    """All corners, or half of them where the opposite ones give the same."""
    even = all(sum(e for v, e in p.items() if v in inner) % 2 == 0 for p in powers)
    free = list(inner[1:]) if even and inner else list(inner)
    grid = np.array(np.meshgrid(*[[-1.0, 1.0]] * len(free), indexing="ij")).reshape(len(free), -1).T if free else np.zeros((1, 0))
    corners = np.zeros((len(grid), count))
    corners[:, free] = grid
    if even and inner:
        corners[:, inner[0]] = 1.0
    return corners
