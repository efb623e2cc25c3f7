"""Limits of power: rows that fall with the speed, on grids that are coarse for them."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

from .timing_cases import dense_times, rod, with_friction

TORQUE = 70.0


def case(seed):
    """A Pelican with some friction, a path through five points, and limits of power from 2 to 100 W."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.5, 1.5, (5, 2)).round(2)
    power = (10 ** rng.uniform(0.3, 2.0, 2)).round(1)
    coulomb, viscous = [(0.0, 0.0), (0.0, 4.0), (1.0, 4.0), (1.0, 0.0)][seed % 4]
    robot = with_friction(dal.robots.pelican(), [coulomb] * 2, [viscous] * 2)
    limits = {"torque": TORQUE, "power": power, "velocity": [[np.inf] * 2, [3.0, 2.0]][seed % 2]}
    return robot, points, limits


def most(robot, found, limits, *, torque=True):
    """The largest share of a limit in use, at places that are not the solver's."""
    times = dense_times(found.motion, parts=30)
    at = found.motion(times)
    tau = dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)
    power = float((np.abs(tau * at.qd) / limits["power"]).max())
    return max(float((np.abs(tau) / TORQUE).max()), power) if torque else power


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 11, 13, 18, 33, 48, 67, 246, 269, 350, 390])
def test_small_powers_are_kept_on_coarse_grids_without_giving_up_much_time(seed):
    """Of 400 such paths 130 were refused on 100 intervals, and others took up to three times as long as on 200."""
    robot, points, limits = case(seed)
    coarse, fine = (dal.fastest_timing(robot, points, **limits, intervals=N) for N in (100, 1000))
    assert most(robot, coarse, limits) <= 1 + 1e-6
    assert most(robot, fine, limits) <= 1 + 1e-6
    assert coarse.duration <= 1.15 * fine.duration


@pytest.mark.parametrize("power", [1e-3, 1.0, 1e3])
def test_power_alone_is_enough_of_a_limit(power):
    """Full power forwards and backwards, θ = 2/3 √(2p/I) t^(3/2) each; without a limit of torque nothing was found."""
    robot, inertia = rod()
    found = dal.fastest_timing(robot, [[0.0], [3.0]], power=power, intervals=1000)
    expected = 2 * (3 * 3.0 / (4 * np.sqrt(2 * power / inertia))) ** (2 / 3)
    assert found.duration == pytest.approx(expected, rel=2e-3)
    assert found.duration >= expected * (1 - 1e-6)


def test_power_alone_is_enough_for_an_arm_that_turns_round():
    robot, limits = dal.robots.pelican(), {"power": np.array([20.0, 20.0])}
    found = dal.fastest_timing(robot, [[0.0, 0.0], [0.5, 0.3], [0.2, -0.4]], **limits, intervals=400)
    assert most(robot, found, limits, torque=False) <= 1 + 1e-6


def test_a_joint_that_stands_has_no_power_and_bounds_nothing():
    """Its row had no s̈ in it at all, and forbade all speeds."""
    robot = with_friction(dal.robots.puma560(), [2.0] * 6, [0.0] * 6)
    start = np.array([0.38, 1.03, -1.47, 0.89, 0.18, -0.09])
    points = [start, start + [0, 0, 0, -0.17, 0, 0], start + [0, 0, 0, -0.17, 0, -0.2]]
    found = dal.fastest_timing(
        robot, points, torque=70.0, velocity=np.inf, power=[4.0, 17.0, 7.0, 34.0, 41.0, 23.0], intervals=200
    )
    assert 0.05 < found.duration < 1.0


def test_a_profile_that_nearly_stops_is_looked_at_where_it_leaves_again():
    """Sixteen even places saw nothing of a torque of 1.002 times its limit in the first twentieth of an interval."""
    robot = with_friction(dal.robots.pelican(), [25.6, 7.9], [18.4, 12.7])
    points = [[-0.922, 0.947], [-0.61, -0.843], [-0.756, 0.187], [-0.54, -0.859], [-0.865, 0.056]]
    limits = {"torque": TORQUE, "power": np.array([56.7, 66.2]), "velocity": np.inf}
    for intervals in (150, 200, 250):
        assert most(robot, dal.fastest_timing(robot, points, **limits, intervals=intervals), limits) <= 1 + 1e-6
