"""What timings within limits of rates are made of: the shape of intervals, the time law, the programme, rates along a path."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import dalembert as dal
from dalembert.timing.banded_programme import BandedProgramme, Chain, ChainConditions, time_of
from dalembert.timing.path_rests import without_rests
from dalembert.timing.path_shapes import SplinePaths, read_paths
from dalembert.timing.path_torque_rates import path_torque_rates
from dalembert.timing.path_torques import path_torques
from dalembert.timing.smooth_grid import smooth_grid
from dalembert.timing.smooth_law import SmoothLaw
from dalembert.timing.smooth_shape import Shape, SmoothProfile, shape_of

from .timing_cases import panda


def constant_jerk(jerk=3.0, N=6):
    """s = j t³/6 at even times: positions, ṡ² and s̈."""
    t = np.linspace(0.0, 1.2, N + 1)
    return t, jerk * t**3 / 6, (jerk * t**2 / 2) ** 2, jerk * t


def test_constant_jerk_from_rest_is_met_exactly():
    t, s, x, u = constant_jerk()
    profile = SmoothProfile(x, u, shape_of(x), np.diff(s), np.zeros((len(x), 0)))
    law = SmoothLaw(s, profile)
    assert law.breaks == pytest.approx(t, rel=1e-13)
    times = np.linspace(0.0, t[-1], 50)
    found = np.array([part[:, 0] for part in law.at(times)])
    assert found == pytest.approx(
        np.array([3 * times**3 / 6, 3 * times**2 / 2, 3 * times, np.full(50, 3.0)]), rel=1e-11, abs=1e-13
    )
    chain = Chain(np.zeros((4, 6)), x, np.diff(s), np.zeros((7, 2), dtype=bool), np.zeros((7, 2)))
    assert time_of(chain, np.ones(7))[0] == pytest.approx(t[-1], rel=1e-13)


def test_within_an_interval_the_rate_of_squared_speed_is_twice_the_acceleration(rng):
    """Whatever the weights are, rising or falling, at rest or not."""
    x, u, h = np.array([0.0, 0.3, 1.0, 0.6]), np.array([0.0, 0.9, 0.4, -1.0]), np.array([0.2, 0.5, 0.4])
    for shape in (shape_of(x), Shape(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 1.0]))):
        ends = x.copy()
        for k in range(3):
            ends[k + 1] = ends[k] + 2 * h[k] * (u[k] * (1 - shape.whole[k]) + u[k + 1] * shape.whole[k])
        profile = SmoothProfile(ends, u, shape, h, np.zeros((2, 0)))
        share, step = rng.uniform(0.1, 0.9, size=(3, 20)), 1e-6
        (ahead, _, _), (_, here, slope), (back, _, _) = (profile.at(share + e) for e in (step, 0.0, -step))
        assert (ahead - back) / (2 * step * h[:, None]) == pytest.approx(2 * here, rel=1e-7, abs=1e-8)
        rise = (profile.at(share + step)[1] - profile.at(share - step)[1]) / (2 * step * h[:, None])
        assert rise == pytest.approx(slope, rel=1e-6)
        at_ends = profile.at(np.tile([0.0, 1.0], (3, 1)))
        assert at_ends[0] == pytest.approx(np.stack([ends[:-1], ends[1:]], axis=1), abs=1e-14)
        assert at_ends[1] == pytest.approx(np.stack([u[:-1], u[1:]], axis=1), abs=1e-14)


def test_gradient_and_hessian_of_the_time_are_its_differences(rng):
    x0 = np.concatenate([[0.0], rng.uniform(0.1, 2.0, size=5)])
    chain = Chain(np.zeros((4, 5)), x0, rng.uniform(0.1, 1.0, size=5), np.zeros((6, 2), dtype=bool), np.zeros((6, 2)))
    xi, step = rng.uniform(0.5, 2.0, size=6), 1e-5

    def parts(xi):
        _, gradient, hessian = time_of(chain, xi)
        whole = np.zeros(6)
        whole[:-1] += gradient[0]
        whole[1:] += gradient[1]
        return whole, hessian

    whole, hessian = parts(xi)
    for k in range(6):
        e = step * np.eye(6)[k]
        assert (time_of(chain, xi + e)[0] - time_of(chain, xi - e)[0]) / (2 * step) == pytest.approx(whole[k], abs=1e-8)
        column = (parts(xi + e)[0] - parts(xi - e)[0]) / (2 * step)
        exact = (hessian[0, k] if k < 5 else 0.0) + (hessian[2, k - 1] if k else 0.0)
        assert column[k] == pytest.approx(exact, abs=1e-8)
        if k < 5:
            assert column[k + 1] == pytest.approx(hessian[1, k], abs=1e-8)


def from_rest_to_rest(N, w):
    """A chain of so many intervals and unknowns, and its start."""
    s = np.linspace(0.0, 1.0, N + 1)
    x0 = np.minimum(s, 1 - s) ** (4 / 3)
    h, whole = np.diff(s), shape_of(x0).whole
    E = np.stack([-x0[:-1], -2 * h * (1 - whole), x0[1:], -2 * h * whole])
    held = np.zeros((N + 1, w), dtype=bool)
    held[[0, -1], :2] = True
    values, start = np.zeros((N + 1, w)), np.full((N + 1, w), 0.1)
    values[:, 0], start[:, 0] = 1.0, 0.5
    return Chain(E, x0, h, held, values), start


def by_scipy(chain, conditions, start, price):
    """Time and price of the least of a programme, by SLSQP with one more unknown for each condition that may be passed."""
    N, w = len(chain.h), chain.held.shape[1]
    free, soft = np.flatnonzero(~chain.held.ravel()), np.flatnonzero(~conditions.firm)

    def full(z):
        whole = np.where(chain.held, chain.values, 0.0)
        whole[~chain.held] = z[: len(free)]
        return whole

    def rows(z):
        ends = np.concatenate([full(z)[:-1], full(z)[1:]], axis=1)
        kept = (conditions.of * ends[conditions.interval]).sum(axis=1)
        kept[soft] -= z[len(free) :]
        return np.concatenate([(chain.E.T * ends[:, [0, 1, w, w + 1]]).sum(axis=1), kept])

    count = len(free) + len(soft)
    still = rows(np.zeros(count))
    A = np.array([rows(e) - still for e in np.eye(count)]).T
    limits = [LinearConstraint(A[:N], -still[:N], -still[:N]), LinearConstraint(A[N:], -np.inf, conditions.b - still[N:])]
    bounds = [(1e-3, None) if k % w == 0 else (None, None) for k in free] + [(0.0, None)] * len(soft)
    found = minimize(
        lambda z: time_of(chain, full(z)[:, 0])[0] / (1 + price) + price / (1 + price) * z[len(free) :].sum(),
        np.concatenate([start.ravel()[free], np.ones(len(soft))]),
        constraints=limits,
        bounds=bounds,
        method="SLSQP",
        options={"ftol": 1e-12 / (1 + price), "maxiter": 500},
    )
    assert found.success, found.message
    return found.fun * (1 + price)


def random_conditions(N, w, rng):
    """Six of each interval, which leave room; the last one keeps ξ from growing."""
    along = np.zeros((N, 1, 2 * w))
    along[..., [0, w]] = 1.0
    of = np.concatenate([rng.normal(size=(N, 5, 2 * w)), along], axis=1).reshape(6 * N, 2 * w)
    return ChainConditions(np.repeat(np.arange(N), 6), of, np.full(6 * N, 3.0), np.ones(6 * N, dtype=bool))


@pytest.mark.parametrize("further", [0, 2])
def test_a_programme_ends_where_another_solver_does(further, rng):
    """Eight intervals from rest to rest, with random conditions that leave room: beside SLSQP of scipy."""
    chain, start = from_rest_to_rest(8, 2 + further)
    conditions = random_conditions(8, 2 + further, rng)
    found = BandedProgramme(chain, conditions, 1e-9).solve(start)
    assert found.solved
    # of further unknowns the programme takes as few as can be, for a millionth of the time
    other = by_scipy(chain, conditions, start, 0.0)
    assert time_of(chain, found.z[:, 0])[0] == pytest.approx(other, rel=1e-5 if further else 1e-6)


def test_conditions_that_contradict_each_other_are_passed_where_it_costs_least(rng):
    """ξ ≤ 0.3 and ξ ≥ 0.7 in the middle, and one beside them that can be kept: all or none of these may be passed."""
    chain, start = from_rest_to_rest(8, 2)
    conditions = random_conditions(8, 2, rng)
    of, b = conditions.of.copy(), conditions.b.copy()
    of[24:27], b[24:27] = 0.0, [0.3, -0.7, 5.0]
    of[24:27, 0] = 1.0, -1.0, 2.0
    assert not BandedProgramme(chain, conditions._replace(of=of, b=b), 1e-9).solve(start).solved
    firm = ~np.isin(np.arange(len(b)), [24, 25, 26])
    conditions = conditions._replace(of=of, b=b, firm=firm)
    found = BandedProgramme(chain, conditions, 1e-9).solve(start)
    time, price = time_of(chain, found.z[:, 0])[0], 10.0 * time_of(chain, np.where(chain.held, 1.0, start)[:, 0])[0]
    ends = np.concatenate([found.z[:-1], found.z[1:]], axis=1)
    passed = np.maximum((of * ends[conditions.interval]).sum(axis=1) - b, 0.0)
    assert passed[firm].max() <= 1e-8
    assert passed[[24, 25]].sum() == pytest.approx(0.4, abs=1e-6)
    assert passed[26] <= 1e-8
    assert time + price * passed.sum() == pytest.approx(by_scipy(chain, conditions, start, price), rel=1e-6)


def test_rates_of_torque_along_a_path_are_those_of_the_motion(rng):
    robot = panda()
    q, q1, q2, q3 = rng.normal(size=(4, 5, 7))
    parts, rates = path_torques(robot, q, q1, q2), path_torque_rates(robot, q, q1, q2, q3)
    z, u, j = 0.7, 0.4, -1.3
    along = z * (
        parts.inertia * j / z + (rates.inertia + 2 * parts.motion) * u + rates.motion * z * z + rates.gravity + rates.dry
    )
    expected = dal.torque_rate(robot, q, q1 * z, q2 * z * z + q1 * u, q3 * z**3 + 3 * q2 * z * u + q1 * j)
    assert along + parts.viscous * u + rates.viscous * z * z == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert not rates.dry.any()


def test_rests_are_grid_points_and_the_others_are_closer_beside_them():
    rests = dal.trajectory.blended([[0.0, 0.0], [1.0, 0.2], [1.2, 1.0]], [0.0, 1.0, 2.0], blend_time=0.4)
    path, _, _ = read_paths(rests, 2)
    grid = smooth_grid(path, 120, (True, True))
    s, corners = grid.s[0], np.flatnonzero(grid.corners[0])
    assert s[corners] == pytest.approx([0.4, 1.0, 1.4, 2.0], abs=1e-12)  # where parabolas begin and end
    h = np.diff(s)
    assert np.all(h > 0)
    for k in (0, *corners):
        assert h[k] < 0.2 * h[k + 4]
    assert len(s) == 121
    assert smooth_grid(path, 40, (True, True)).s.shape == (1, 101)  # five ways from rest to rest, of twenty intervals each


def test_a_corner_is_no_turn_of_the_path_before_it():
    """Twenty grid points stood within 4e-8 before one, for what it turns there at rest, and profiles stopped among them."""
    points = np.array([[0.0, 0.0], [1.0, 0.2], [1.2, 1.0]])
    ways = dal.trajectory.quintic(points[0], points[1], duration=1.0).then(
        dal.trajectory.quintic(points[1], points[2], duration=1.0)
    )
    path, _ = without_rests(read_paths(ways, 2)[0])
    grid = smooth_grid(path, 200, (True, True))
    (corner,) = np.flatnonzero(grid.corners[0])
    h = np.diff(grid.s[0])
    assert h[corner - 1] < 0.5 * h[corner - 2] < 0.5 * h[corner - 4]


def test_grid_points_are_closer_where_a_path_turns():
    path = SplinePaths(np.array([[[0.0, 0.0], [1.0, 0.0], [1.1, 0.1], [1.1, 1.1]]]))
    s = smooth_grid(path, 100, (True, True)).s[0]
    q1 = path.at(s[None])[1][0]
    angle = np.unwrap(np.arctan2(q1[:, 1], q1[:, 0]))
    assert np.abs(np.diff(angle)).max() < 0.12  # 3 rad in all; even points would turn by 0.3 at once
