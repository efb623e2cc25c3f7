"""The vector sine and cosine: accuracy, reach, and what happens beyond."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from dalembert.codegen import Kernel, build, sincos
from dalembert.expr import interpret, ops, trace


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return build(trace(lambda x: (ops.sin(x), ops.cos(x)), {"x": ()}, ["s", "c"]))


def error_in_ulp(found: np.ndarray, exact: list[mpmath.mpf]) -> float:
    worst = 0.0
    for value, true in zip(found, exact, strict=True):
        spacing = np.spacing(abs(float(true)))
        worst = max(worst, float(abs(mpmath.mpf(float(value)) - true) / mpmath.mpf(float(spacing))))
    return worst


def angles_near_multiples_of_a_right_angle() -> np.ndarray:
    k = np.concatenate([np.arange(-40, 41), [101, 1000, 4097, 31415, 63661, -63661]])
    with mpmath.workdps(40):
        nearest = np.array([float(int(i) * mpmath.pi / 2) for i in k])
    steps = [nearest]
    for _ in range(2):
        steps += [np.nextafter(steps[-1], np.inf)]
    return np.concatenate([*steps, nearest - 1e-9, nearest + 1e-5])


def angles_just_beyond_a_power_of_two_from_a_right_angle() -> np.ndarray:
    """There a rounding of the reduced angle is two units of its sine."""
    rng = np.random.default_rng(11)
    right_angles = rng.integers(-63000, 63000, 400) * (np.pi / 2)
    return right_angles + np.repeat([0.5, 0.25, -0.5, -0.125], 100) * rng.uniform(1.0, 1.05, 400)


GRIDS = {
    "a few turns": np.linspace(-20, 20, 1501),
    "within reach": np.concatenate([np.linspace(-1e5, 1e5, 801), [sincos.REACH, -sincos.REACH]]),
    "tiny": np.array([0.0, 5e-324, 1e-310, 1e-300, 1e-100, 1e-20, 1e-8, 1e-4, -1e-8, np.finfo(float).tiny]),
    "near multiples of a right angle": angles_near_multiples_of_a_right_angle(),
    "just beyond a power of two from them": angles_just_beyond_a_power_of_two_from_a_right_angle(),
}


@pytest.mark.parametrize("grid", GRIDS)
def test_sine_and_cosine_are_right_to_two_units_in_the_last_place(grid: str, kernel: Kernel) -> None:
    x = GRIDS[grid]
    s, c = kernel(x)
    with mpmath.workdps(60):
        points = [mpmath.mpf(float(v)) for v in x]
        assert error_in_ulp(s, [mpmath.sin(v) for v in points]) <= 2
        assert error_in_ulp(c, [mpmath.cos(v) for v in points]) <= 2


@pytest.mark.parametrize("size", [1.0001e5, 1e6, 1e9, 1e12, 1e18, 1e300])
def test_beyond_reach_the_angle_is_brought_back_by_the_c_library(size: float, kernel: Kernel) -> None:
    """The wrapped angle carries rounding of 1 ulp of π, so errors are absolute: 4e-16."""
    x = size * np.linspace(-1, 1, 41)[[*range(20), *range(21, 41)]]
    s, c = kernel(x)
    np.testing.assert_allclose(s, np.sin(x), atol=6e-16)
    np.testing.assert_allclose(c, np.cos(x), atol=6e-16)


def test_a_far_angle_leaves_its_neighbours_as_they_were_to_rounding(kernel: Kernel) -> None:
    """The lanes of a block go through the C library together, so a near one may change by a rounding, not more."""
    x = np.linspace(-3, 3, 64)
    near = kernel(x)
    mixed = x.copy()
    mixed[::8] = 1e7
    far = kernel(mixed)
    keep = np.arange(64) % 8 != 0
    for a, b in zip(near, far, strict=True):
        np.testing.assert_allclose(b[keep], a[keep], atol=6e-16)


def test_nan_and_infinity_give_nan_in_their_lane_only(kernel: Kernel) -> None:
    x = np.array([0.1, np.nan, 0.2, np.inf, 0.3, -np.inf, 0.4, 0.5, 0.6])
    with np.errstate(invalid="ignore"):
        s, c = kernel(x)
    finite = np.isfinite(x)
    np.testing.assert_allclose(s[finite], np.sin(x[finite]), rtol=4e-16)
    np.testing.assert_allclose(c[finite], np.cos(x[finite]), rtol=4e-16)
    assert np.isnan(s[~finite]).all()
    assert np.isnan(c[~finite]).all()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 20])
def test_any_number_of_angles_is_served_in_groups(count: int, rng: np.random.Generator) -> None:
    """Some need the sine alone, some the cosine, some both; some are sums of inputs, some sines of products."""

    def function(x: list[Any]) -> list[Any]:
        plain = [ops.sin(a) if k % 3 else ops.sin(a) * ops.cos(a) for k, a in enumerate(x)]
        shifted = [ops.cos(a + 0.5) for a in x[::2]]
        return [*plain, *shifted, ops.sin(plain[0] * plain[-1])]

    program = trace(function, {"x": (count,)}, ["y"])
    x = rng.uniform(-9, 9, (13, count))
    x[3, 0] = 1e7
    np.testing.assert_allclose(build(program)(x), interpret.run(program, x)[0], atol=2e-15)
