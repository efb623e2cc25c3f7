"""Spectra stand for functions, and control points enclose them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.bounds.control_points import ControlPoints, axis_matrix, first_boxes
from dalembert.bounds.coordinate_degrees import degrees
from dalembert.bounds.rate_polynomial import NotPolynomialError
from dalembert.bounds.spectrum import Axis, Spectrum, spectrum
from dalembert.expr import interpret, ops, trace
from dalembert.expr.graph import reachable

RANGES = {"x[0]": (-1.0, 2.5), "x[1]": (0.3, 0.9), "x[2]": (-2.0, -1.0)}
TURNING = {"x[0]": True, "x[1]": True, "x[2]": False}


def arm(x):
    """Two angles and a slide, as in an arm."""
    a, b, s = x
    c, d = ops.cos(a + 0.3), ops.sin(a + b)
    return [c * d * s + 2.0, (c * s + ops.sin(b)) * (c * s + ops.sin(b)), ops.cos(2.0 * a - b) * s * s - 0.5 * d]


def traced(function=arm):
    program = trace(function, {"x": (3,)}, ["y"])
    return program, spectrum(program.results[0], RANGES, TURNING)


def value(found: Spectrum, rows: np.ndarray) -> np.ndarray:
    """The polynomials at some places: control points of boxes that are points are all the same."""
    points, _ = ControlPoints(found).over(ControlPoints(found).matrices(rows, rows), len(rows))
    return points.reshape(*points.shape[:2], -1)[:, :, 0]


def inside(rng, count):
    lo, hi = np.array(list(RANGES.values())).T
    return rng.uniform(lo, hi, (count, 3))


def test_degrees_follow_from_the_operations():
    program, _ = traced()
    outputs = program.results[0]
    assert degrees(reachable(outputs), outputs, TURNING) == {"x[0]": 2, "x[1]": 2, "x[2]": 2}
    assert degrees(reachable(outputs[:1]), outputs[:1], TURNING) == {"x[0]": 2, "x[1]": 1, "x[2]": 1}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [x[0] * 2.0],
        lambda x: [ops.sin(x[0]) + x[0]],
        lambda x: [ops.sin(0.5 * x[0])],
        lambda x: [ops.sin(x[2])],
        lambda x: [1.0 / ops.cos(x[0])],
        lambda x: [ops.sqrt(x[2])],
        lambda x: [ops.cos(ops.sin(x[0]))],
        lambda x: [x[0] * ops.cos(x[1])],
    ],
)
def test_what_is_no_polynomial_of_sines_and_slides_is_told(function):
    with pytest.raises(NotPolynomialError):
        traced(function)


def test_a_spectrum_stands_for_the_functions_within_its_rest(rng):
    program, found = traced()
    rows = inside(rng, 200)
    expected = interpret.run(program, rows)[0]
    # Rounding of this evaluation is some units of values of a few.
    assert (np.abs(value(found, rows) - expected) <= found.rest + 1e-13).all()
    assert (found.rest < 1e-10).all()


def test_degrees_that_cancel_are_dropped():
    # (c a - s b) c + (s a + c b) s = a: the graph has degree 2 in the angle, the function none.
    def there_and_back(x):
        c, s, a, b = ops.cos(x[0]), ops.sin(x[0]), ops.cos(x[1]), x[2]
        return [(c * a - s * b) * c + (s * a + c * b) * s]

    _, found = traced(there_and_back)
    assert [axis.name for axis in found.axes] == ["x[1]"]
    assert found.rest.max() < 1e-10  # rounding times all points of the grid


def test_what_is_left_out_goes_to_the_rest(rng):
    program, found = traced()
    short = found.shortened(1.0)
    assert short.coefficients.size < found.coefficients.size
    assert 0.1 < (short.rest - found.rest).sum() <= 1.0 + 1e-9
    rows = inside(rng, 300)
    names = [axis.name for axis in short.axes]
    columns = [k for k, name in enumerate(RANGES) if name in names]
    difference = np.abs(value(short, rows[:, columns]) - interpret.run(program, rows)[0])
    assert (difference <= short.rest + 1e-12).all()


def test_sums_of_functions(rng):
    _, found = traced()
    matrix = rng.normal(size=(2, 3))
    rows = inside(rng, 50)
    np.testing.assert_allclose(value(found.combined(matrix), rows), value(found, rows) @ matrix.T, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_values_in_a_box_are_between_control_points(seed):
    rng = np.random.default_rng(seed)
    axes = (Axis("a", True, int(rng.integers(1, 4)), -1.0, 1.0), Axis("s", False, int(rng.integers(1, 4)), -1.0, 2.0))
    coefficients = rng.normal(size=(2, *(axis.size for axis in axes)))
    found = Spectrum(axes, coefficients, np.zeros(2))
    middle = np.array([rng.uniform(-9.0, 9.0), rng.uniform(-1.0, 2.0)])
    half = np.array([rng.uniform(0.0, math.pi / 3), rng.uniform(0.0, 0.5)])
    lo, hi = middle - half, np.minimum(middle + half, [99.0, 2.0])
    lo[1] = max(lo[1], -1.0)
    control = ControlPoints(found)
    points, error = control.over(control.matrices(lo[None], hi[None]), 1)
    flat = points[0].reshape(2, -1)
    rows = rng.uniform(lo, hi, (400, 2))
    values = np.concatenate([direct(found, rows), direct(found, np.array([lo, hi]))])
    assert (values <= flat.max(axis=1) + error[0]).all()
    assert (values >= flat.min(axis=1) - error[0]).all()
    # Control points at corners are values; the box is wider by rounding.
    np.testing.assert_allclose(points[0][:, 0, 0], direct(found, lo[None])[0], atol=1e-11)
    np.testing.assert_allclose(points[0][:, -1, -1], direct(found, hi[None])[0], atol=1e-11)


def direct(found: Spectrum, rows: np.ndarray) -> np.ndarray:
    """The polynomials by their definition."""
    bases = []
    for k, axis in enumerate(found.axes):
        x = rows[:, k]
        if axis.turns:
            bases.append(np.stack([np.ones_like(x), *(f(j * x) for j in range(1, axis.degree + 1) for f in (np.cos, np.sin))], 1))
        else:
            t = (x - 0.5 * (axis.lo + axis.hi)) / (0.5 * (axis.hi - axis.lo))
            bases.append(np.stack([t**j for j in range(axis.degree + 1)], 1))
    return np.einsum("kab,za,zb->zk", found.coefficients, *bases)


def test_bounds_of_half_the_width_are_four_times_as_tight():
    axis = Axis("a", True, 2, 0.0, 1.0)
    coefficients = np.array([0.3, 1.0, -0.4, 0.2, 0.5])
    excess = []
    for half in (0.4, 0.2, 0.1, 0.05):
        points = axis_matrix(axis, np.array([0.2 - half]), np.array([0.2 + half]))[0] @ coefficients
        rows = np.linspace(0.2 - half, 0.2 + half, 2001)
        found = Spectrum((axis, replace(axis, name="b", turns=False, degree=0)), coefficients[None, :, None], np.zeros(1))
        excess.append(points.max() - direct(found, np.stack([rows, rows], 1)).max())
    # The largest value is inside at first; then control points bend by the square of the width.
    assert excess[0] > 3.0 * excess[1] > 0
    assert excess[-1] <= excess[-2] / 3.0 + 1e-12


def test_first_boxes_cover_the_range_and_are_narrow_enough():
    axes = (Axis("a", True, 1, 0, 1), Axis("s", False, 1, 0, 1))
    lo, hi = first_boxes(axes, np.array([-math.pi, 0.0]), np.array([math.pi, 5.0]))
    assert lo.shape == (3, 2)
    assert (hi[:, 0] - lo[:, 0] <= 2 * math.pi / 3 + 1e-12).all()
    assert lo[0, 0] == -math.pi
    assert hi[-1, 0] == math.pi
    assert (lo[1:, 0] == hi[:-1, 0]).all()


@pytest.fixture
def rng():
    return np.random.default_rng(3)
