"""Intervals contain what they stand for, rounding included."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.bounds import interval_reading
from dalembert.bounds.intervals import INTERVALS, Interval, square
from dalembert.expr import PRIMITIVES, ops, trace
from tests.unit.expr.exact_primitives import EXACT
from tests.unit.expr.random_programs import KINKED, SMOOTH, programs

HARD = [0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e300, math.pi, -math.pi / 2, 1.5 * math.pi, 22.0, 1e5, 1e9, 0.1, 3.0]


def intervals(rng: np.random.Generator, count: int) -> Interval:
    """Narrow ones, wide ones, points, and ends at hard places."""
    middle = np.where(
        rng.uniform(size=count) < 0.4, rng.choice(HARD, count), rng.normal(size=count) * 10.0 ** rng.integers(-3, 3, count)
    )
    half = rng.choice([0.0, 1e-16, 1e-8, 0.1, 3.0], count) * rng.uniform(size=count)
    return Interval(middle - half, middle + half)


def test_every_primitive_has_a_reading():
    assert INTERVALS.keys() == PRIMITIVES.keys() == EXACT.keys()


@pytest.mark.parametrize("name", PRIMITIVES)
def test_exact_values_are_inside(name, rng):
    count, arity = 300, PRIMITIVES[name].arity
    boxes = [intervals(rng, count) for _ in range(arity)]
    with np.errstate(all="ignore"):
        found = INTERVALS[name](*boxes)
    shares = [0.0, 1.0, *rng.uniform(size=3)]
    with mpmath.workdps(60):
        for k in range(count):
            for share in shares:
                point = [float(np.clip(b.lo[k] + share * (b.hi[k] - b.lo[k]), b.lo[k], b.hi[k])) for b in boxes]
                try:
                    value = EXACT[name](*map(mpmath.mpf, point))
                except ZeroDivisionError:
                    continue
                if isinstance(value, mpmath.mpc):
                    continue  # a root of a negative number
                assert mpmath.mpf(float(found.lo[k])) <= value <= mpmath.mpf(float(found.hi[k])), (
                    point,
                    found.lo[k],
                    found.hi[k],
                )


def test_a_quotient_by_an_interval_around_zero_is_the_whole_line():
    with np.errstate(all="ignore"):
        found = INTERVALS["div"](Interval(np.array([1.0]), np.array([2.0])), Interval(np.array([-1.0]), np.array([1.0])))
    assert found.lo == -np.inf
    assert found.hi == np.inf


def test_a_square_is_not_negative():
    found = square(Interval(np.array([-2.0, 1.0]), np.array([1.0, 3.0])))
    assert found.lo[0] == 0.0
    np.testing.assert_allclose(found.hi, [4.0, 9.0])


@pytest.mark.parametrize("function", ["sin", "cos"])
def test_sines_have_their_extremes_where_these_are_inside_and_only_there(function):
    turns = 2 * math.pi * np.arange(-3, 4)
    top = turns + (math.pi / 2 if function == "sin" else 0.0)
    reading = INTERVALS[function]
    around, beside = reading(Interval(top - 0.1, top + 0.1)), reading(Interval(top + 0.1, top + 0.2))
    assert (around.hi == 1.0).all()
    assert (beside.hi < 0.9951).all()
    assert (beside.hi > 0.9950).all()


@settings(max_examples=40)
@given(programs(SMOOTH | KINKED), st.integers(0, 2**32 - 1))
def test_a_graph_over_boxes_contains_its_values(program, seed):
    rng = np.random.default_rng(seed)
    lo = rng.uniform(-2.0, 1.0, (20, 3))
    hi = lo + rng.choice([0.0, 1e-9, 0.1, 2.0], (20, 1))
    box = {node.index: Interval(lo[:, k], hi[:, k]) for k, node in enumerate(program.entries[0])}
    found = interval_reading.enclose(program.nodes, box)
    for share in (0.0, 1.0, 0.3, 0.71):
        place = np.clip(lo + share * (hi - lo), lo, hi)
        inputs = {node.index: Interval(place[:, k], place[:, k]) for k, node in enumerate(program.entries[0])}
        values = interval_reading.enclose(program.nodes, inputs)
        for scalar in program.results[0]:
            inner, outer = interval_reading.of(scalar, values), interval_reading.of(scalar, found)
            assert (np.asarray(outer.lo) <= inner.lo).all()
            assert (np.asarray(outer.hi) >= inner.hi).all()


def test_a_jump_is_seen_where_it_is_not_decided():
    program = trace(lambda x: ops.sign(x[0]) * x[1], {"x": (2,)}, ["y"])
    lo, hi = np.array([[-1.0, 0.0], [0.5, 0.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])
    found = interval_reading.enclose(
        program.nodes, {node.index: Interval(lo[:, k], hi[:, k]) for k, node in enumerate(program.entries[0])}
    )
    assert interval_reading.smooth(program.nodes, found, (2,)).tolist() == [False, True]


@pytest.fixture
def rng():
    return np.random.default_rng(5)
