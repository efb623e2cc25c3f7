"""Motions of random data: derivatives against fifty digits, continuity at breaks, limits on dense grids, tools on their paths."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import dalembert as dal
from dalembert import trajectory
from tests.robots import FRICTIONLESS, random_robot

RATES = ("q", "qd", "qdd", "qddd")
SEEDS = range(6)
CHAINS = replace(FRICTIONLESS, branches=False, mimic=False)


def polynomial(motion, t: float, column: int):
    """A motion of polynomials as a function of fifty digits, on the piece of t."""
    piece = min(int(np.searchsorted(motion.breaks, t, side="right")) - 1, len(motion.breaks) - 2)
    start, end = (mpmath.mpf(float(x)) for x in motion.breaks[piece : piece + 2])
    c = [mpmath.mpf(float(x)) for x in motion.coefficients[piece, :, column]]
    return lambda x: mpmath.polyval(c[::-1], (x - start) / (end - start))


def some_motions(rng: np.random.Generator) -> dict:
    points, times = rng.normal(size=(6, 2)), np.cumsum(rng.uniform(0.2, 1.0, 6))
    limits = rng.uniform(0.3, 3.0, 3)
    return {
        "septic": trajectory.septic(
            *points[:2], duration=rng.uniform(0.5, 2), velocities=(points[2], 1.0), jerks=(0.0, points[3])
        ),
        "trapezoidal": trajectory.trapezoidal(*points[:2], duration=[1.0, 1.7], acceleration_time=rng.uniform(0.1, 0.5, 2)),
        "spline": trajectory.spline(points, times, kind="quintic"),
        "b-spline": trajectory.b_spline(points, duration=2.0, degree=4),
        "double s": trajectory.double_s(*points[:2], velocity=limits[0], acceleration=limits[1], jerk=limits[2]),
        "blended": trajectory.blended(points, times, blend_time=0.1, kind="quintic"),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_polynomials_are_exact(seed: int) -> None:
    """Differentiated with fifty digits. Rounding grows with each derivative by the degree over the length of a piece."""
    rng = np.random.default_rng(seed)
    with mpmath.workdps(50):
        for name, motion in some_motions(rng).items():
            t = rng.uniform(0.0, motion.duration, 4)
            found = motion(t)
            for row, column in np.ndindex(4, 2):
                exact = polynomial(motion, t[row], column)
                c = motion.coefficients
                shortest = np.diff(motion.breaks).min()
                for k, rate in enumerate(RATES):
                    value = float(mpmath.diff(exact, mpmath.mpf(float(t[row])), k))
                    rounding = 1e-15 * np.abs(c).max() * (c.shape[-2] / shortest) ** k
                    assert getattr(found, rate)[row, column] == pytest.approx(value, rel=1e-12, abs=20 * rounding), (name, rate)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_a_path_in_time_are_those_of_the_composition(seed: int) -> None:
    """q(s(t)) as one function of fifty digits: the chain rule to third order, and series beside polynomials."""
    rng = np.random.default_rng(100 + seed)
    path = trajectory.septic(*rng.normal(size=(2, 2)), duration=3.0, velocities=(1.0, rng.normal(size=2)))
    timing = trajectory.quintic([0.0], [3.0], duration=1.7, velocities=([0.5], [0.3]))
    motion = path.timed(timing)
    t = rng.uniform(0.1, 1.6, 3)
    with mpmath.workdps(50):
        for row, column in np.ndindex(3, 2):
            outer, inner = polynomial(path, 1.0, column), polynomial(timing, 1.0, 0)
            for k, rate in enumerate(RATES):
                exact = float(mpmath.diff(lambda x: outer(inner(x)), mpmath.mpf(float(t[row])), k))  # noqa: B023
                assert getattr(motion(t), rate)[row, column] == pytest.approx(exact, rel=1e-11, abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_a_series_are_exact(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    a, b = rng.normal(size=(2, 3, 1))
    motion, t = trajectory.fourier(a, b, frequency=0.4), rng.uniform(0.0, 2.5, 3)
    with mpmath.workdps(40):
        omega = 2 * mpmath.pi * mpmath.mpf(0.4)

        def series(x):
            return sum(a[k, 0] * mpmath.sin((k + 1) * omega * x) + b[k, 0] * mpmath.cos((k + 1) * omega * x) for k in range(3))

        for k, rate in enumerate(RATES):
            exact = [float(mpmath.diff(series, mpmath.mpf(float(x)), k)) for x in t]
            np.testing.assert_allclose(getattr(motion(t), rate)[:, 0], exact, rtol=1e-11, atol=1e-11)


CONTINUOUS = {"trapezoidal": 1, "spline": 3, "b-spline": 3, "double s": 2, "blended": 2}  # highest order that does not jump


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_continuous_does_not_jump_at_breaks(seed: int) -> None:
    """Both sides of each break, by the polynomials of both pieces."""
    for name, motion in some_motions(np.random.default_rng(300 + seed)).items():
        inner = motion.breaks[1:-1]
        if not len(inner):
            continue
        before, after = motion(np.nextafter(inner, 0.0)), motion(inner)
        for rate in RATES[: CONTINUOUS[name] + 1]:
            size = 1 + np.abs(getattr(after, rate)).max()
            np.testing.assert_allclose(getattr(before, rate), getattr(after, rate), atol=1e-9 * size, err_msg=f"{name} {rate}")


@pytest.mark.parametrize("seed", SEEDS)
def test_limits_hold_on_a_dense_grid(seed: int) -> None:
    rng = np.random.default_rng(400 + seed)
    for _ in range(10):
        v, a, j = rng.uniform(0.1, 4.0, (3, 3))
        start, end = rng.normal(size=(2, 3))
        for straight in (False, True):
            motion = trajectory.synchronised(start, end, velocity=v, acceleration=a, jerk=j, straight=straight)
            at = motion.sample(count=5001)
            for rate, limit in ((at.qd, v), (at.qdd, a), (at.qddd, j)):
                assert (np.abs(rate) <= limit * (1 + 1e-11)).all()
            use = [np.max(np.abs(rate) / limit) for rate, limit in ((at.qd, v), (at.qdd, a), (at.qddd, j))]
            assert max(use) > 1 - 1e-9  # one limit of one joint binds


def able_robot(rng: np.random.Generator) -> tuple[dal.Robot, np.ndarray, str]:
    """A random chain of six or seven joints, and a position from which its last link moves in all six directions."""
    for _ in range(20):
        robot = random_robot(rng, int(rng.integers(6, 8)), CHAINS)
        q, link = rng.uniform(-1, 1, (200, robot.n)), robot.link_names[-1]
        values = np.linalg.svd(dal.jacobian(robot, q, link), compute_uv=False)
        best = np.argmax(values[:, -1] / values[:, 0])
        if values[best, -1] > 0.02 * values[best, 0]:
            return robot, q[best], link
    raise AssertionError("no robot was found")


@pytest.mark.parametrize("seed", range(4))
def test_the_tool_of_a_random_robot_stays_on_its_line(seed: int) -> None:
    """Pose, twist, acceleration and jerk at instants nobody chose."""
    rng = np.random.default_rng(500 + seed)
    robot, q, link = able_robot(rng)
    X = dal.forward_kinematics(robot, q, link)
    there = dal.forward_kinematics(robot, q + rng.uniform(-0.05, 0.05, robot.n), link)
    path = trajectory.line(X, there, duration=1.0)
    motion = trajectory.follow(robot, path, start=q, link=link)
    t = rng.uniform(0.0, 1.0, 20)
    at, wanted = motion(t), path(t)
    np.testing.assert_allclose(dal.forward_kinematics(robot, at.q, link), wanted.pose, atol=1e-12)
    tool = dal.link_motion(robot, at.q, at.qd, at.qdd, qddd=at.qddd, link=link)
    for one, other in ((tool.velocity, wanted.twist), (tool.acceleration, wanted.acceleration), (tool.jerk, wanted.jerk)):
        np.testing.assert_allclose(one, other, atol=1e-9 * (1 + np.abs(at.qddd).max()))
