"""Branch and bound: the largest value of a function over a box, from above, best first and many boxes at once.

A problem bounds the function over boxes. Boxes whose bound is not above a value that is attained somewhere are done with; of the
others those with the largest bounds are halved. At any time the largest bound of all open boxes, or the value attained if that is
larger, is above the function everywhere.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..checks import FloatArray

_AT_ONCE = 64  # boxes halved in a step, at most
_SHORT = 0.1  # [s]: what is begun is finished, so it should not take longer
_HARDLY = 1e-14  # of a range: what is not halved any more


class Bounded(NamedTuple):
    """For each box: a bound of the function, and the coordinate to halve next (-1: none)."""

    bound: FloatArray
    halve: np.ndarray


class BoxProblem(Protocol):
    """A function over boxes of shape (boxes, d)."""

    @property
    def ceiling(self) -> float:
        """A bound over everything, known without a search."""

    @property
    def inputs(self) -> Sequence[str]:
        """The inputs that the first columns of a box are about."""

    def first(self) -> tuple[FloatArray, FloatArray]:
        """Boxes that cover everything."""

    def bounded(self, lo: FloatArray, hi: FloatArray, floor: float) -> Bounded:
        """Bounds of some boxes; below `floor` they need not be tight."""


class BoxSearch:
    """A search that can be stopped and taken up again. `floor` is attained, `bound` proved."""

    def __init__(self, problem: BoxProblem, floor: float) -> None:
        self.problem, self.floor = problem, floor
        self.boxes = 0
        self._open: list[tuple[float, int, FloatArray, FloatArray, int]] = []
        self._waiting: tuple[FloatArray, FloatArray] | None = None  # boxes not bounded yet
        self._waiting_bound = problem.ceiling
        self._stuck = -math.inf  # the largest bound of boxes too small to halve
        self._proved = problem.ceiling
        self._some = 1  # boxes bounded at once

    @property
    def bound(self) -> float:
        """What the function never exceeds; also after an interrupt, which may come between any two steps."""
        return max(self._proved, self.floor)

    def _largest(self) -> float:
        """The same, from all boxes there are."""
        largest = -self._open[0][0] if self._open else -math.inf
        waiting = self._waiting_bound if self._waiting is not None or not self.boxes else -math.inf
        return max(self.floor, largest, waiting, self._stuck)

    @property
    def top(self) -> tuple[FloatArray, FloatArray] | None:
        """The open box with the largest bound."""
        return (self._open[0][2], self._open[0][3]) if self._open else None

    def run(self, gap: float, deadline: float, look: Callable[[FloatArray, FloatArray], float] | None = None) -> None:
        """Search until the bound is within `gap` of what is attained, or time.monotonic() reaches the deadline.

        `look` returns a value attained in a box; it is asked about the most promising one now and then.
        """
        if not self.boxes and self._waiting is None:
            self._waiting = self.problem.first()
        looked = 0
        while self.bound > self.floor + gap and time.monotonic() < deadline:
            if self._waiting is None and not self._halved():
                self._proved = min(self._proved, self._largest())
                break
            self._work(deadline)
            self._proved = min(self._proved, self._largest())
            if look is not None and self.top is not None and self.boxes > 2 * looked:
                looked = self.boxes
                self.floor = max(self.floor, look(*self.top))

    def _work(self, deadline: float) -> None:
        """Bound the boxes that wait, some at a time."""
        while self._waiting is not None:
            lo, hi = self._waiting
            begun, some = time.monotonic(), self._some
            found = self.problem.bounded(lo[:some], hi[:some], self.floor)
            for k, (bound, axis) in enumerate(zip(found.bound.tolist(), found.halve.tolist(), strict=True)):
                bound = min(bound, self._waiting_bound)
                if bound > self.floor:
                    heapq.heappush(self._open, (-bound, self.boxes + k, lo[k], hi[k], axis))
            self.boxes += len(found.bound)
            self._waiting = (lo[some:], hi[some:]) if len(lo) > some else None
            now = time.monotonic()
            self._some = min(_AT_ONCE, 2 * some) if now - begun < _SHORT else max(1, some // 2)
            if now > deadline:
                break

    def _halved(self) -> bool:
        """Take the boxes with the largest bounds and halve them; False if there are none."""
        lower: list[FloatArray] = []
        upper: list[FloatArray] = []
        largest = -math.inf
        while self._open and len(lower) < _AT_ONCE:
            bound, _, lo, hi, axis = heapq.heappop(self._open)
            if -bound <= self.floor:
                self._open.clear()
                break
            if axis < 0 or hi[axis] - lo[axis] <= _HARDLY * max(abs(lo[axis]), abs(hi[axis]), 1e-300):
                self._stuck = max(self._stuck, -bound)
                continue
            middle = 0.5 * (lo[axis] + hi[axis])
            left, right = hi.copy(), lo.copy()
            left[axis] = right[axis] = middle
            lower += [lo, right]
            upper += [left, hi]
            largest = max(largest, -bound)
        if not lower:
            return False
        self._waiting, self._waiting_bound = (np.array(lower), np.array(upper)), largest
        return True
