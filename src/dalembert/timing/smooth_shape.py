"""A profile whose s̈ is continuous: how it runs from grid point to grid point.

A motion from rest with constant jerk goes with s ~ t³, s̈ ~ s^(1/3) and ṡ² ~ s^(4/3); no polynomial in s does that. So an interval
of length h is measured by 0 ≤ v ≤ 1 that runs like time: with weights a, b at its ends,

    θ(v) = (s − s_k) / h,    θ′ = 3 (a + (b − a) v)² / W,    W = a² + a b + b²                                (1)

    s̈ = u_k + (u_{k+1} − u_k) v,    dx / ds = 2 s̈ with x = ṡ²,    ds̈ / ds = (u_{k+1} − u_k) / (h θ′)           (2)

With a⁴, b⁴ = x at the ends, dθ/dv goes with ṡ there: v is time, and the jerk of s is the same at both ends; out of rest, a = 0,
it is constant. Whatever a and b are, (2) is a profile without contradictions:

    x(v) = x_k + 2h (u_k θ + (u_{k+1} − u_k) Ψ),    Ψ(v) = ∫ v θ′ dv                                           (3)
    x_{k+1} = x_k + 2h (u_k (1 − Ψ₁) + u_{k+1} Ψ₁),    Ψ₁ = (a² + 2 a b + 3 b²) / 4W                              (4)

Intervals are always measured from their slower end, so that nothing cancels beside rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .path_grid import BoolArray, Grid

_DIP = 0.1  # of the lower of two grid points, below which a coarse profile is not followed in between
AT_REST = 1e-7  # v beside rest that stands for the rest itself: there dt/dv and the jerk are 0/0, and constant beside it


class Shape(NamedTuple):
    """Weights of (1) at both ends of every interval, shape (N,)."""

    a: FloatArray
    b: FloatArray

    @property
    def whole(self) -> FloatArray:
        """Ψ₁ of (4)."""
        a, b = self
        found: FloatArray = (a * a + 2 * a * b + 3 * b * b) / (4 * self._sum)
        return found

    def rate(self, v: FloatArray) -> FloatArray:
        """θ′ of (1)."""
        a, b = self
        found: FloatArray = 3 * (a + (b - a) * v) ** 2 / self._sum
        return found

    def share(self, v: FloatArray) -> FloatArray:
        """θ of (1)."""
        a, c = self.a, self.b - self.a
        found: FloatArray = v * (3 * a * a + v * (3 * a * c + v * c * c)) / self._sum
        return found

    def moment(self, v: FloatArray) -> FloatArray:
        """Ψ of (3)."""
        a, c = self.a, self.b - self.a
        found: FloatArray = v * v * (1.5 * a * a + v * (2 * a * c + v * 0.75 * c * c)) / self._sum
        return found

    @property
    def _sum(self) -> FloatArray:
        a, b = self
        return a * a + a * b + b * b


def shape_of(x: FloatArray) -> Shape:
    """In which v is time, about, where ṡ² is x at the grid points (N + 1,)."""
    root = np.sqrt(np.sqrt(x))
    return Shape(root[:-1], root[1:])


class SlowEnds(NamedTuple):
    """Intervals measured from their slower ends; `s̈` is that of a motion from there."""

    x: FloatArray
    u: FloatArray
    du: FloatArray
    shape: Shape
    flipped: BoolArray
    lengths: FloatArray

    def only(self, k: Any) -> SlowEnds:
        """Some of the intervals, by their numbers."""
        shape = Shape(self.shape.a[k], self.shape.b[k])
        return SlowEnds(self.x[k], self.u[k], self.du[k], shape, self.flipped[k], self.lengths[k])


class SmoothProfile(NamedTuple):
    """ṡ² and s̈ at the grid points (N + 1,), the shape of the intervals, and what drives press with (N + 1, r), linear in v."""

    x: FloatArray
    u: FloatArray
    shape: Shape
    lengths: FloatArray
    y: FloatArray

    def slowed(self, factor: float) -> SmoothProfile:
        """The same with ṡ² times a factor: a motion as a whole in other time."""
        return self._replace(x=self.x * factor, u=self.u * factor)

    def from_slow_ends(self) -> SlowEnds:
        """What is known of every interval, seen from its slower end."""
        a, b = self.shape
        flipped = b < a
        u = np.where(flipped, -self.u[1:], self.u[:-1])
        x = np.where(flipped, self.x[1:], self.x[:-1])
        return SlowEnds(x, u, np.diff(self.u), Shape(np.minimum(a, b), np.maximum(a, b)), flipped, self.lengths)

    def at(self, shares: FloatArray, *, beside: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ṡ², s̈ and ds̈/ds at shares of the intervals, all of shape (N, K); `beside` rests in place of these, if asked for."""
        return _at_shares(self.from_slow_ends(), shares, beside=beside)

    def last_share(self, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How much the last ends of intervals count at shares of them, and how that grows with s, both of shape (N, K)."""
        slow = self.from_slow_ends()
        flipped, shape = slow.flipped[:, None], Shape(*(part[:, None] for part in slow.shape))
        v = beside_rest(shape, place_of(shape, np.where(flipped, 1 - shares, shares)))
        return np.where(flipped, 1 - v, v), 1 / (slow.lengths[:, None] * shape.rate(v))

    def on(self, s: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ṡ² and s̈ at places along the path, of the profile with grid points s; ṡ² not far below that of the grid points."""
        k = np.clip(np.searchsorted(s, places, side="right") - 1, 0, len(s) - 2)
        x, u, _ = _at_shares(self.from_slow_ends().only(k), ((places - s[k]) / self.lengths[k])[:, None])
        return np.maximum(x[:, 0], _DIP * np.minimum(self.x[k], self.x[k + 1])), u[:, 0]

    def inside(self, grid: Grid) -> tuple[FloatArray, FloatArray]:
        """ṡ and s̈ at the places within the intervals of the one path of a grid, shape (1, N·places)."""
        x, u, _ = self.at(grid.shares[0])
        return np.sqrt(x).reshape(1, -1), u.reshape(1, -1)


def _at_shares(slow: SlowEnds, shares: FloatArray, *, beside: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ṡ², s̈ and ds̈/ds at shares of intervals from their first ends, shape (N, K)."""
    flipped, shape = slow.flipped[:, None], Shape(*(part[:, None] for part in slow.shape))
    v = place_of(shape, np.where(flipped, 1 - shares, shares))
    x, u, slope, _ = rates_at(slow, beside_rest(shape, v) if beside else v)
    return x, np.where(flipped, -u, u), slope


def place_of(shape: Shape, share: FloatArray) -> FloatArray:
    """v of a share θ of the interval: a + (b − a) v is the cube root of what (1) asks for, without differences."""
    a, b = shape
    w = np.cbrt(a**3 + (b**3 - a**3) * share)
    below = w * w + w * a + a * a  # zero at rest itself
    found: FloatArray = share * (a * a + a * b + b * b) / np.where(below > 0, below, 1.0)
    return found


def beside_rest(shape: Shape, v: FloatArray) -> FloatArray:
    """v, where what is 0/0 at rest is asked for."""
    found: FloatArray = np.where(shape.a > 0, v, np.maximum(v, AT_REST))
    return found


def rates_at(slow: SlowEnds, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """ṡ², s̈, ds̈/ds and dσ/dv at places v, shape (N, K), all seen from the slower ends: (2) and (3)."""
    shape, h = Shape(*(part[:, None] for part in slow.shape)), slow.lengths[:, None]
    x = slow.x[:, None] + 2 * h * (slow.u[:, None] * shape.share(v) + slow.du[:, None] * shape.moment(v))  # (3)
    stretch = h * shape.rate(v)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = slow.du[:, None] / stretch
    return np.maximum(x, 0.0), slow.u[:, None] + slow.du[:, None] * v, slope, stretch


__all__ = ["AT_REST", "Shape", "SlowEnds", "SmoothProfile", "beside_rest", "place_of", "rates_at", "shape_of"]
