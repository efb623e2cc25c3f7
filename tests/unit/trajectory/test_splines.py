"""Splines through points: what they pass, how smooth they are, and that they are SciPy's where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline

from dalembert.errors import ShapeError, UnknownNameError
from dalembert.trajectory import spline

RNG = np.random.default_rng(5)
TIMES = np.cumsum([0.0, 0.4, 0.7, 0.2, 0.9, 1.3, 0.5])
POINTS = RNG.normal(size=(7, 2))
CLOSED = np.concatenate([POINTS[:-1], POINTS[:1]])
T = np.linspace(0.0, TIMES[-1], 157)


@pytest.mark.parametrize("ends", ["rest", "natural", "periodic"])
def test_a_cubic_spline_is_scipy_s(ends: str) -> None:
    points = CLOSED if ends == "periodic" else POINTS
    reference = CubicSpline(TIMES, points, bc_type={"rest": "clamped"}.get(ends, ends))
    found = spline(points, TIMES, ends=ends)(T)
    for k, name in enumerate(("q", "qd", "qdd", "qddd")):
        inside = slice(None, -1) if k == 3 else slice(None)
        np.testing.assert_allclose(getattr(found, name)[inside], reference(T, k)[inside], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("ends", "orders"), [("rest", (1, 2)), ("natural", (3, 4))])
def test_a_quintic_spline_is_scipy_s(ends: str, orders: tuple[int, ...]) -> None:
    zero = [(order, np.zeros(2)) for order in orders]
    reference = make_interp_spline(TIMES, POINTS, k=5, bc_type=(zero, zero))
    found = spline(POINTS, TIMES, kind="quintic", ends=ends)(T)
    for k, name in enumerate(("q", "qd", "qdd", "qddd")):
        np.testing.assert_allclose(getattr(found, name), reference(T, k), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("kind", "degree"), [("cubic", 3), ("quintic", 5), ("septic", 7)])
@pytest.mark.parametrize("ends", ["rest", "natural", "periodic"])
def test_all_but_the_last_derivative_are_continuous(kind: str, degree: int, ends: str) -> None:
    """Taylor coefficients of both pieces at each break, to order degree − 1, and around the ends of a closed one."""
    motion = spline(CLOSED, TIMES, kind=kind, ends=ends)
    c, h = motion.coefficients, np.diff(motion.breaks)
    powers = np.arange(degree + 1)
    for order in range(degree):
        falling = np.array([np.prod(np.arange(j, j - order, -1.0)) for j in powers])
        start, end = (np.einsum("j,pjn->pn", w, c) / h[:, None] ** order for w in (falling * (powers == order), falling))
        size = np.abs(end).max() + 1.0
        np.testing.assert_allclose(end[:-1], start[1:], atol=1e-10 * size)
        if ends == "periodic":
            np.testing.assert_allclose(end[-1], start[0], atol=1e-10 * size)


def test_a_spline_passes_its_points_and_begins_at_zero() -> None:
    motion = spline(POINTS, TIMES + 5.0, kind="septic", velocities=([1.0, 2.0], 3.0))
    found = motion(TIMES)
    np.testing.assert_allclose(found.q, POINTS, atol=1e-12)
    np.testing.assert_allclose(found.qd[[0, -1]], [[1.0, 2.0], [3.0, 3.0]], rtol=1e-10)


def test_many_points_take_one_sparse_solution() -> None:
    t = np.linspace(0.0, 1.0, 20_001)
    wave = np.stack([np.sin(9 * t), np.cos(7 * t)], axis=-1)
    motion = spline(wave, t, kind="quintic", ends="natural")
    middle = np.linspace(0.2, 0.8, 999)
    np.testing.assert_allclose(motion(middle).qd[:, 0], 9 * np.cos(9 * middle), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": [[1.0]]}, r"points: shape \(1, 1\) found, \(..., k, n\) expected"),
        ({"times": [0.0, 1.0]}, r"times: shape \(2,\) found, \(7,\) expected: one time for each point"),
        ({"times": [0, 1, 2, 2, 3, 4, 5]}, "times: point 3 at 2 s and point 4 at 2 s found; each time needs to be later"),
        ({"ends": "periodic"}, "points: the last is .* away from the first"),
        ({"ends": "natural", "velocities": (0, 0)}, "velocities: given with ends='natural'"),
        ({"points": np.where(np.arange(2) == 1, np.nan, POINTS)}, "points: .* contains NaN"),
        ({"kind": "cubi"}, "kind: 'cubi' is not known; did you mean 'cubic'"),
        ({"ends": "free"}, "ends: 'free' is not known"),
    ],
)
def test_what_is_no_spline_is_refused(change: dict, message: str) -> None:
    given = {"points": POINTS, "times": TIMES} | change
    with pytest.raises((ShapeError, UnknownNameError), match=message):
        spline(given.pop("points"), given.pop("times"), **given)
