"""Bounds over boxes of all inputs by the interval reading of a graph, for what is no polynomial.

Three enclosures, of which the tightest counts: of the graph itself; of the graph where those inputs are at their ends along which
it rises, or falls, all over the box; and the mean-value form f(m) + Σ_j f_j(X) (x_j - m_j), with the slopes f_j enclosed over the
whole box [Moore2009, §6.4]. The last two hold where the graph does not jump.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..expr import Expr
from ..expr.differentiate import gradient
from ..expr.graph import reachable
from . import interval_reading
from .box_search import Bounded
from .intervals import Interval, add, exactly, mul, neg, outward

_FOLDED = 1e-13  # of a slope: its numbers were put together while it was derived, each rounded once


class IntervalProblem:
    """The largest value of sign · f over a box of the inputs of its graph, given as nodes with ranges."""

    def __init__(self, output: Any, inputs: list[Expr], lo: FloatArray, hi: FloatArray, sign: float) -> None:
        used = {node.index for node in reachable([output])}
        self.places = [k for k, node in enumerate(inputs) if node.index in used]
        self.variables = [inputs[k] for k in self.places]
        self.lo, self.hi = np.asarray(lo, float)[self.places], np.asarray(hi, float)[self.places]
        self.inputs: list[str] = [node.value for node in self.variables]
        self.sign = sign
        self.output = output
        self.slopes = gradient(output, self.variables) if self.variables else []
        self.nodes, self.slope_nodes = reachable([output]), reachable([output, *self.slopes])
        self.ceiling = np.inf

    def first(self) -> tuple[FloatArray, FloatArray]:
        """The whole box."""
        return self.lo[None], self.hi[None]

    def bounded(self, lo: FloatArray, hi: FloatArray, floor: float) -> Bounded:
        """The least one of three upper ends."""
        found = interval_reading.enclose(self.slope_nodes, self._box(lo, hi))
        plain = self._end(interval_reading.of(self.output, found), len(lo))
        if not self.variables:
            return Bounded(plain, np.full(len(lo), -1))
        slopes = [self._signed(interval_reading.of(slope, found)) for slope in self.slopes]
        lower, upper = (np.stack([np.broadcast_to(s[k], len(lo)) for s in slopes], axis=1) for k in (0, 1))
        wrong = _FOLDED * np.maximum(np.abs(lower), np.abs(upper))
        lower, upper = lower - wrong, upper + wrong
        decided = interval_reading.smooth(self.nodes, found, (len(lo),)) & ~np.isnan(lower).any(1) & ~np.isnan(upper).any(1)
        rising, falling = (lower >= 0.0) & decided[:, None], (upper <= 0.0) & decided[:, None]
        a, b = np.where(rising, hi, lo), np.where(falling & ~rising, lo, hi)
        bound = np.minimum(plain, self._value(a, b))
        bound = np.where(decided, np.minimum(bound, self._mean_value(a, b, lower, upper)), bound)
        return Bounded(bound, self._axis(lo, hi, lower, upper, decided))

    def _box(self, lo: FloatArray, hi: FloatArray) -> dict[int, Interval]:
        return {node.index: Interval(lo[:, k], hi[:, k]) for k, node in enumerate(self.variables)}

    def _signed(self, found: Interval) -> Interval:
        return found if self.sign > 0 else neg(found)

    def _end(self, found: Interval, count: int) -> FloatArray:
        end = np.broadcast_to(np.asarray(self._signed(found).hi, float), (count,))
        return np.where(np.isnan(end), np.inf, end)

    def _value(self, lo: FloatArray, hi: FloatArray) -> FloatArray:
        found = interval_reading.enclose(self.nodes, self._box(lo, hi))
        return self._end(interval_reading.of(self.output, found), len(lo))

    def _mean_value(self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        middle = 0.5 * lo + 0.5 * hi
        total = exactly(self._value(middle, middle))
        with np.errstate(all="ignore"):
            for k in range(len(self.variables)):
                step = outward(lo[:, k] - middle[:, k], hi[:, k] - middle[:, k])
                still = lo[:, k] == hi[:, k]
                step = Interval(np.where(still, 0.0, step.lo), np.where(still, 0.0, step.hi))
                total = add(total, mul(Interval(lower[:, k], upper[:, k]), step))
        return np.where(np.isnan(total.hi), np.inf, total.hi)

    def _axis(self, lo: FloatArray, hi: FloatArray, lower: FloatArray, upper: FloatArray, decided: Any) -> np.ndarray:
        """The input whose slope and width give the largest change; the one least halved where that is not known."""
        width = hi - lo
        with np.errstate(all="ignore"):
            change = np.maximum(np.abs(lower), np.abs(upper)) * width
            share = width / np.maximum(self.hi - self.lo, 1e-300)
        known = np.isfinite(change).all(axis=1) & decided & (change.max(axis=1) > 0.0)
        score = np.where(known[:, None], change, share)
        axis = np.argmax(score, axis=1)
        return np.where(width[np.arange(len(lo)), axis] > 0.0, axis, np.where(width.max(axis=1) > 0, width.argmax(axis=1), -1))
