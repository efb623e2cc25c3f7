"""The vector sine and cosine: accuracy for every angle, within reach and beyond."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import Kernel, build, far_angles_ir, sincos_ir, straight_ir, target
from dalembert.codegen.precision import REALS as KINDS
from dalembert.codegen.precision import Real
from dalembert.dynamics import engine
from dalembert.expr import Program, interpret, loops, ops, trace


def program() -> Program:
    return trace(lambda x: (ops.sin(x), ops.cos(x)), {"x": ()}, ["s", "c"])


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return build(program())


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
    "within reach": np.concatenate([np.linspace(-1e5, 1e5, 801), [sincos_ir.REACH, -sincos_ir.REACH]]),
    "tiny": np.array([0.0, 3e-308, 1e-300, 1e-100, 1e-20, 1e-8, 1e-4, -1e-8, np.finfo(float).tiny]),
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


REALS = {"float64": (53, 17, 1023), "float32": (24, 14, 127)}  # bits; exponents beyond reach


def of_every_size(dtype: str) -> np.ndarray:
    _, least, most = REALS[dtype]
    rng = np.random.default_rng(12)
    return np.ldexp(rng.uniform(1, 2, 600) * rng.choice([-1, 1], 600), rng.integers(least, most, 600, endpoint=True))


def beside_right_angles_of_every_size(dtype: str) -> np.ndarray:
    """The numbers next to random multiples of π/2, on both sides."""
    _, least, most = REALS[dtype]
    real, rng = np.dtype(dtype).type, np.random.default_rng(13)
    with mpmath.workdps(400):
        multiples = [mpmath.floor(mpmath.ldexp(rng.uniform(1, 2), e) / mpmath.pi) for e in range(least, most, most // 64)]
        nearest = np.array([float(k * mpmath.pi / 2) for k in multiples]).astype(dtype)
    return np.concatenate([nearest, np.nextafter(nearest, real(0)), -np.nextafter(nearest, real(np.inf))])


def nearest_to_right_angles(dtype: str) -> np.ndarray:
    """For some exponents the numbers nearest to a multiple of π/2, by continued fractions; the nearest of all doubles first."""
    bits, least, most = REALS[dtype]
    found = [6381956970095103 * 2.0**797] if dtype == "float64" else []
    with mpmath.workdps(400):
        for exponent in range(least - bits + 1, most - bits + 2, max(1, most // 128)):
            rest, q, before = mpmath.ldexp(2 / mpmath.pi, exponent), 1, 0
            while q < 2**bits:
                found.append(q * 2.0**exponent)
                rest = 1 / (rest - mpmath.floor(rest))
                q, before = int(rest) * q + before, q
    angles = np.array(found)
    return angles[angles > (sincos_ir.REACH if dtype == "float64" else 1e4)]


FAR = [of_every_size, beside_right_angles_of_every_size, nearest_to_right_angles]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("angles", FAR)
def test_beyond_reach_they_are_right_to_two_units_too(angles: Any, dtype: str) -> None:
    x = angles(dtype).astype(dtype)
    assert len(x) > 100
    assert np.isfinite(x).all()
    with mpmath.workdps(400):
        for found, function in zip(build(program(), dtype)(x), (mpmath.sin, mpmath.cos), strict=True):
            exact = [function(mpmath.mpf(float(v))) for v in x]
            spacing = np.spacing(np.abs(np.array([float(v) for v in exact], dtype))).astype(float)
            errors = [abs(float((mpmath.mpf(float(f)) - e) / s)) for f, e, s in zip(found, exact, spacing, strict=True)]
            assert max(errors) <= 2


@pytest.mark.skipif(not target.host().x86, reason="other families have always had it")
def test_far_angles_do_without_fused_multiply_add(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the processor lacks it, the C library's function has the same answers."""
    plain = replace(target.host(), cpu="x86-64", features="", lanes=2)
    monkeypatch.setattr(target, "host", lambda: plain)
    x = nearest_to_right_angles("float64")
    for found, wanted in zip(build(program())(x), kernel(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=5e-16)


@pytest.mark.parametrize("real", far_angles_ir.TABLES, ids=lambda real: real.dtype)
def test_the_table_holds_two_over_pi(real: Real) -> None:
    table = far_angles_ir.TABLES[real]
    assert len(table.rows) == (table.last - table.first) // table.step + 1
    with mpmath.workprec(1600):
        for j, row in enumerate(table.rows):
            fraction = mpmath.frac(mpmath.ldexp(2 / mpmath.pi, table.step * j))
            assert abs(mpmath.fsum(row) - fraction) < mpmath.mpf(2) ** (-53 * table.parts)


def test_a_far_angle_leaves_its_neighbours_as_they_were_to_the_last_bit(kernel: Kernel) -> None:
    x = np.linspace(-3, 3, 64)
    near = kernel(x)
    mixed = x.copy()
    mixed[::8] = 1e7
    beyond = kernel(mixed)
    keep = np.arange(64) % 8 != 0
    for a, b in zip(near, beyond, strict=True):
        np.testing.assert_array_equal(b[keep], a[keep])


@pytest.mark.parametrize("dtype", REALS)
def test_no_angle_goes_through_the_c_library(dtype: str) -> None:
    """One row in eight would take tens of times as long; how long they take is in the benchmarks (extremes)."""
    gravity = engine.program(dal.robots.panda(), "gravity_torque", "newton_euler", engine.Forces())
    assert isinstance(gravity, Program)
    ir = straight_ir.emit(gravity, 4, x86=True, real=KINDS[dtype])
    assert re.findall(r"call double @(?:sin|cos|atan2)\(", ir) == []


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


def test_loops_over_joints_take_far_angles(rng: np.random.Generator) -> None:
    chain = engine.program(dal.robots.chain(12), "inverse_dynamics", "newton_euler", engine.Forces(), rolled=True)
    q, qd, qdd = rng.uniform(-3, 3, (3, 9, 12))
    q[::2, 3] *= 1e7
    q[4] *= 1e200
    (wanted,) = loops.run(chain, q, qd, qdd)
    np.testing.assert_allclose(build(chain)(q, qd, qdd), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())
