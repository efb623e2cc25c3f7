"""Branch and bound: what it has is valid at any time."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from dalembert.bounds.attained import Aim, climb, search
from dalembert.bounds.box_search import Bounded, BoxSearch
from dalembert.bounds.interval_problem import IntervalProblem
from dalembert.expr import ops, trace


class Hill:
    """1 - x² - y² over a square, with bounds that are too large by the widths of a box."""

    ceiling, inputs = 5.0, ("x", "y")

    def __init__(self, interrupted_after: int = 10**9):
        self.left = interrupted_after

    def first(self):
        return np.array([[-1.0, -1.0]]), np.array([[1.0, 2.0]])

    def bounded(self, lo, hi, floor):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        nearest = np.where((lo < 0) & (hi > 0), 0.0, np.minimum(np.abs(lo), np.abs(hi)))
        width = hi - lo
        return Bounded(1.0 - (nearest**2).sum(axis=1) + width.sum(axis=1), np.argmax(width, axis=1))


def test_the_bound_comes_down_to_the_maximum():
    found = BoxSearch(Hill(), 0.9)
    found.run(0.11, time.monotonic() + 60)
    assert 1.0 <= found.bound <= 1.01


@pytest.mark.parametrize("calls", range(8))
def test_after_an_interrupt_the_bound_is_valid(calls):
    found = BoxSearch(Hill(calls), 0.0)
    with pytest.raises(KeyboardInterrupt):
        found.run(0.0, time.monotonic() + 60)
    assert 1.0 <= found.bound <= 5.0


def test_without_time_the_ceiling_is_the_bound():
    found = BoxSearch(Hill(), 0.0)
    found.run(0.1, time.monotonic() - 1.0)
    assert found.bound == 5.0


def test_a_search_that_goes_on_later_ends_where_one_without_a_break_does():
    whole, parts = BoxSearch(Hill(), 0.5), BoxSearch(Hill(), 0.5)
    whole.run(0.51, time.monotonic() + 60)
    for gap in (2.0, 1.0, 0.7, 0.51):
        parts.run(gap, time.monotonic() + 60)
    assert parts.bound == whole.bound


def problem(function, lo, hi, sign=1.0):
    program = trace(function, {"x": (len(lo),)}, ["y"])
    return IntervalProblem(program.results[0][0], list(program.entries[0]), np.array(lo), np.array(hi), sign)


@pytest.mark.parametrize(
    ("function", "lo", "hi", "largest"),
    [
        (lambda x: [x[0] / (1.0 + x[0] * x[0])], [-4.0], [4.0], 0.5),
        (lambda x: [ops.sin(x[0]) * ops.cos(x[1]) / (2.0 + ops.cos(x[0]))], [-3.0, -1.0], [3.0, 1.0], 1 / math.sqrt(3)),
        (lambda x: [ops.sqrt(x[0]) - x[0]], [0.0], [2.0], 0.25),
        (lambda x: [ops.sign(x[0]) - 0.5 * x[0]], [-1.0], [1.0], 1.0),
        (lambda x: [ops.absolute(x[0] - 0.3) * x[1]], [-1.0, -1.0], [1.0, 1.0], 1.3),
        (lambda x: [ops.where(ops.less(x[0], 0.5), x[0], -x[0])], [-1.0], [1.0], 0.5),
        (lambda x: [ops.atan2(x[0], x[1])], [0.0, 1.0], [1.0, 2.0], math.pi / 4),
        (lambda x: [3.0], [0.0], [1.0], 3.0),
    ],
)
def test_intervals_come_down_to_the_maximum(function, lo, hi, largest):
    found = BoxSearch(problem(function, lo, hi), largest - 1e-3)
    found.run(2e-3, time.monotonic() + 20)
    # floor + gap, and nothing below the maximum but for its own rounding
    assert largest - 1e-12 <= found.bound <= largest + 1.1e-3


def test_the_least_value_is_the_largest_of_the_negative():
    found = BoxSearch(problem(lambda x: [x[0] * x[0]], [-1.0], [2.0], -1.0), 0.0)
    found.run(1e-3, time.monotonic() + 20)
    assert 0.0 <= found.bound <= 1e-3


def test_a_pole_has_no_bound():
    found = BoxSearch(problem(lambda x: [1.0 / x[0]], [-1.0], [1.0]), 1.0)
    found.run(1.0, time.monotonic() + 0.3)
    assert found.bound == math.inf


def test_values_that_are_not_finite_are_not_attained():
    lo, hi = np.array([-1.0]), np.array([1.0])

    def evaluate(x):
        with np.errstate(all="ignore"):
            return np.where(x > 0, np.sqrt(x), np.nan)

    found = search(evaluate, lo, hi, [Aim(0, 1.0), Aim(0, -1.0)], np.random.default_rng(0))
    assert found.value[0] == 1.0
    assert -0.1 < found.value[1] <= 0.0
    assert found.place[0, 0] == 1.0


def test_climbing_finds_the_top_of_a_hill():
    lo, hi = np.full(3, -2.0), np.full(3, 2.0)
    top = np.array([0.3, -1.1, 2.0])
    found = climb(
        lambda x: -((x - top) ** 2).sum(axis=1)[:, None],
        lo,
        hi,
        [Aim(0, 1.0)],
        np.zeros((4, 3)),
        0.5,
        30,
        np.random.default_rng(0),
    )
    np.testing.assert_allclose(found.place[0], top, atol=1e-4)
