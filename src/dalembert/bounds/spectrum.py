"""Functions of coordinates as tensors of coefficients: harmonics of each angle, powers of each slide, and what is not in them.

A function whose degrees are known is determined by its values on a grid, one value more per axis than its degree (two more per
degree for an angle). All nodes of its graph are evaluated there once, each over the axes it depends on; how wrong values can be
follows from the size of every node, by running error analysis [Higham2002, §3.3]. Between the points the polynomial is wrong by
no more than the errors at the points times the sizes of the cardinal functions of the grid: at most 1 each for equal steps of an
angle and for two or three points of a slide, and at most `_LEBESGUE` for more of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..expr import Expr
from ..expr.graph import reachable
from ..expr.primitives import PRIMITIVES
from .coordinate_degrees import degrees
from .rate_polynomial import NotPolynomialError

_UNIT = 2.0**-53
_SINE = 16 * _UNIT  # error of a sine of a rounded angle of the grid
_LEBESGUE = 11.0  # up to nine equal steps: all cardinal functions together
_MOST_POINTS = 400_000  # of a grid: seven joints have 118 000
_MOST_VALUES = 20_000_000  # numbers of a tensor: 160 MB
_MOST_DEGREE = 8


@dataclass(frozen=True)
class Axis:
    """One coordinate: its name, whether it turns, its degree, and the range that powers of a slide refer to."""

    name: str
    turns: bool
    degree: int
    lo: float
    hi: float

    @property
    def size(self) -> int:
        """Coefficients along it."""
        return 2 * self.degree + 1 if self.turns else self.degree + 1

    @property
    def cardinal(self) -> float:
        """What no cardinal function of its points exceeds in size."""
        return 1.0 if self.turns or self.degree <= 2 else _LEBESGUE

    def points(self) -> FloatArray:
        """Where functions are evaluated."""
        if self.turns:
            return 2 * math.pi * np.arange(self.size) / self.size
        return 0.5 * (self.lo + self.hi) + 0.5 * (self.hi - self.lo) * np.linspace(-1.0, 1.0, self.size)

    def analysis(self) -> FloatArray:
        """From values at the points to coefficients: 1, cos, sin, cos 2·, ..., or powers of the place in [-1, 1]."""
        if not self.turns:
            return np.asarray(np.linalg.inv(np.vander(np.linspace(-1.0, 1.0, self.size), increasing=True)), np.float64)
        angles = self.points()
        rows = [np.ones(self.size)]
        for k in range(1, self.degree + 1):
            rows += [2.0 * np.cos(k * angles), 2.0 * np.sin(k * angles)]
        return np.array(rows) / self.size


@dataclass(frozen=True, eq=False)
class Spectrum:
    """K functions: coefficients of shape (K, N_1, ..., N_d), each function within `rest` (K,) of what they stand for."""

    axes: tuple[Axis, ...]
    coefficients: FloatArray
    rest: FloatArray

    def combined(self, matrix: FloatArray) -> Spectrum:
        """Sums of the functions, by rows of a matrix."""
        flat = self.coefficients.reshape(len(self.rest), -1)
        size = np.abs(matrix) @ np.abs(flat).sum(axis=1)
        rounding = 2 * (len(self.rest) + 2) * _UNIT * size
        found = (matrix @ flat).reshape(len(matrix), *self.coefficients.shape[1:])
        return replace(self, coefficients=found, rest=_up(np.abs(matrix) @ self.rest + rounding))

    def shortened(self, budget: float) -> Spectrum:
        """Without highest harmonics, on any axis, whose sizes add up to no more than the budget; they go to the rest."""
        found, left = self, budget
        while found.axes:
            dropped = [found._last(k) for k in range(len(found.axes))]
            costs = [float(np.abs(piece).sum()) for piece in dropped]
            k = int(np.argmin(costs))
            if not costs[k] * (1 + 1e-9) <= left:
                break
            left -= costs[k] * (1 + 1e-9)
            found = found._without_last(k, dropped[k])
        return found

    def _last(self, k: int) -> FloatArray:
        keep = self.axes[k].size - (2 if self.axes[k].turns else 1)
        return np.moveaxis(self.coefficients, k + 1, 0)[keep:]

    def _without_last(self, k: int, piece: FloatArray) -> Spectrum:
        axis = replace(self.axes[k], degree=self.axes[k].degree - 1)
        size = np.abs(piece).sum(axis=(0, *range(2, piece.ndim)))
        kept = np.moveaxis(np.moveaxis(self.coefficients, k + 1, 0)[: axis.size], 0, k + 1)
        axes = (*self.axes[:k], axis, *self.axes[k + 1 :])
        if not axis.degree:
            kept, axes = np.squeeze(kept, axis=k + 1), (*self.axes[:k], *self.axes[k + 1 :])
        return Spectrum(axes, np.ascontiguousarray(kept), _up(self.rest + size * (1 + 1e-9)))


def _up(values: FloatArray) -> FloatArray:
    """A sum of few numbers that are not negative, rounded up; a sum of zeros is exact."""
    return np.where(values > 0.0, values * (1.0 + 1e-12) + np.finfo(float).tiny, 0.0)


def spectrum(outputs: Sequence[Any], ranges: Mapping[str, tuple[float, float]], turning: Mapping[str, bool]) -> Spectrum:
    """The spectrum of outputs of a graph whose inputs are coordinates, named in `ranges`."""
    nodes = reachable(outputs)
    found = degrees(nodes, [o for o in outputs if isinstance(o, Expr)], turning)
    axes = tuple(Axis(name, turning[name], found[name], *_wide(*ranges[name])) for name in ranges if name in found)
    shape = tuple(axis.size for axis in axes)
    points = math.prod(shape)
    if any(axis.degree > _MOST_DEGREE for axis in axes) or points > min(_MOST_POINTS, _MOST_VALUES / max(len(outputs), 1)):
        raise NotPolynomialError
    values, error = _on_grid(nodes, outputs, axes)
    count = float(math.prod(axis.size * axis.cardinal for axis in axes))
    largest = np.abs(values).reshape(len(outputs), -1).max(axis=1)
    for k, axis in enumerate(axes):
        values = np.moveaxis(np.tensordot(axis.analysis(), values, axes=(1, k + 1)), 0, k + 1)
    # Errors of all coefficients add up; each comes from sums of `size` terms, once per axis.
    growth = math.prod(float(np.abs(axis.analysis()).sum(axis=1).max()) for axis in axes)
    terms = sum(axis.size + 16 for axis in axes)  # entries of the matrices are right to some units
    rounding = float(math.prod(shape)) * growth * terms * _UNIT * largest
    whole = Spectrum(axes, np.ascontiguousarray(values), _up(count * error + rounding))
    scale = float(np.abs(values).sum()) or 1.0
    return whole.shortened(1e-13 * scale)


def _wide(lo: float, hi: float) -> tuple[float, float]:
    """A range to refer to, not much narrower than it is far from zero: one that is narrow is taken wider."""
    size = max(abs(lo), abs(hi), 1e-3)
    return (lo, hi) if hi - lo > 1e-3 * size else (lo - size, hi + size)


def _on_grid(nodes: Sequence[Expr], outputs: Sequence[Any], axes: tuple[Axis, ...]) -> tuple[FloatArray, FloatArray]:
    """Values of shape (K, N_1, ..., N_d), and a bound of the error of each function."""
    shape = tuple(axis.size for axis in axes)
    points = {axis.name: axis.points().reshape([-1 if a is axis else 1 for a in axes]) for axis in axes}
    wanted = {o.index: [k for k, other in enumerate(outputs) if other is o] for o in outputs if isinstance(o, Expr)}
    values = np.empty((len(outputs), *shape))
    errors = np.zeros(len(outputs))
    for k, output in enumerate(outputs):
        if not isinstance(output, Expr):
            values[k] = output
    live: dict[int, Any] = {}
    size: dict[int, tuple[float, float]] = {}  # the largest magnitude, and the largest error
    last = {a.index: place for place, node in enumerate(nodes) for a in node.args}
    for place, node in enumerate(nodes):
        value = _value(node, live, points)
        live[node.index] = value
        magnitude = float(np.max(np.abs(value)))
        size[node.index] = magnitude, _error(node, magnitude, [size[a.index] for a in node.args])
        for k in wanted.get(node.index, ()):
            values[k], errors[k] = value, size[node.index][1]
        for a in node.args:
            if last[a.index] == place:
                live.pop(a.index, None)
    return values, errors


def _value(node: Expr, live: Mapping[int, Any], points: Mapping[str, FloatArray]) -> Any:
    if node.op == "const":
        return np.float64(node.value)
    if node.op == "input":
        return points.get(node.value, np.float64(0.0))
    return PRIMITIVES[node.op].numpy(*(live[a.index] for a in node.args))


def _error(node: Expr, magnitude: float, args: Sequence[tuple[float, float]]) -> float:
    """How far the value is from the exact one at the exact point of the grid."""
    bound = magnitude + sum(e for _, e in args)
    if node.op == "const":
        return 0.0
    if node.op == "input":
        return 8 * _UNIT * magnitude
    if node.op == "mul":
        (a, da), (b, db) = args
        return (a * db + b * da + da * db + 2 * _UNIT * magnitude) * (1 + 1e-9)
    if node.op == "div":
        (a, da), (b, db) = args  # by a number
        return (da / b + 2 * _UNIT * magnitude) * (1 + 1e-9)
    if node.op in ("sin", "cos"):
        return _SINE + args[0][1]
    return (sum(e for _, e in args) + 2 * _UNIT * bound) * (1 + 1e-9)  # sums and signs; other operations are of numbers alone
