"""Limits of motors, and systems that are no robot."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

from .timing_cases import dense_times, points, rod


@pytest.mark.parametrize("efficiency", [1.0, 0.7])
def test_voltages_and_currents_of_motors_are_kept_and_reached(efficiency):
    motor = dal.Motor(
        resistance=1.0, torque_constant=0.1, ratio=30.0, voltage_limit=12.0, current_limit=6.0, efficiency=efficiency
    )
    robot = rod()[0].with_motors({"pivot": motor})
    found = dal.fastest_timing(robot, [[0.0], [9.0]], motors=True)
    at = found.motion(dense_times(found.motion))
    needs = dal.nominal_voltage(robot, at.q, at.qd, at.qdd)
    assert np.abs(needs.voltage).max() <= 12.0 * (1 + 1e-6)
    assert np.abs(needs.current).max() <= 6.0 * (1 + 1e-6)
    assert np.abs(needs.current).max() > 6.0 * (1 - 1e-3)
    kinds = {limit for *_, limit in found.binding_parts()}
    assert kinds == {"voltage of 'pivot'", "current of 'pivot'"}


def test_the_speed_of_a_motor_is_a_limit_too():
    motor = dal.Motor(resistance=1.0, torque_constant=0.1, ratio=30.0, current_limit=6.0, speed_limit=60.0)
    found = dal.fastest_timing(rod()[0].with_motors({"pivot": motor}), [[0.0], [9.0]], motors=True)
    assert np.abs(found.motion(dense_times(found.motion)).qd).max() * 30.0 == pytest.approx(60.0, rel=1e-6)
    assert "motor speed of 'pivot'" in {limit for *_, limit in found.binding_parts()}


def test_a_mechanism_is_timed_by_its_coordinates():
    four_bar = dal.mechanisms.four_bar()
    found = dal.fastest_timing(four_bar, [[0.6], [2.2]], torque=20.0, intervals=300)
    at = found.motion(dense_times(found.motion))
    use = np.abs(dal.inverse_dynamics(four_bar, at.q, at.qd, at.qdd)).max() / 20.0
    assert 1 - 1e-3 < use <= 1 + 1e-6
    scaled = dal.scale_trajectory(four_bar, dal.trajectory.quintic([0.6], [2.2], duration=1.0), torque=20.0)
    assert scaled.feasible
    assert scaled.duration > found.duration


def test_a_motion_of_drives_that_share_is_not_scaled_but_timed():
    arms = dal.mechanisms.two_arms()
    with pytest.raises(dal.DalembertError, match="driven at other joints than its coordinates"):
        dal.scale_trajectory(arms, dal.trajectory.quintic(arms.q0, np.array(arms.q0) + 0.05, duration=1.0))


@pytest.mark.slow
def test_the_benchmark_of_timing_measures_positive_times():
    """With compiled kernels: interpreted, it would take minutes."""
    from benchmarks import path_timing
    from benchmarks.effort import TINY

    for record in path_timing.measure(TINY).records:
        assert record["ms"] > 0
        assert record["batch_ms"] > 0
        assert record["excess"] <= 1e-4


@pytest.mark.parametrize("efficiency", [1.0, 0.8])
def test_voltages_that_speed_alone_makes_do_not_stop_an_arm_on_its_way(efficiency, rng):
    """Where a motor turns fast and its arm weighs next to nothing, s̈ has no part in its voltage: no speed is given up for it."""
    puma = dal.robots.puma560()
    ratios = [62.6, 107.8, 53.7, 76.0, 71.9, 76.7]
    motors = {
        name: dal.Motor(
            resistance=1.0 + 0.3 * k,
            torque_constant=0.2,
            ratio=ratio,
            voltage_limit=40.0,
            current_limit=8.0,
            efficiency=efficiency,
        )
        for k, (name, ratio) in enumerate(zip(puma.joint_names, ratios, strict=True))
    }
    robot = puma.replace(parameters=puma.parameters.replace(motors=motors, rotors={}))
    way = points(robot, rng, count=5, batch=(6,))
    given = {"motors": True, "velocity": np.inf, "torque": np.inf}
    fine = dal.fastest_timing(robot, way, intervals=1000, **given)
    for intervals, longer in ((60, 1.05), (200, 1.02)):
        found = dal.fastest_timing(robot, way, intervals=intervals, **given)
        assert found.feasible.all()
        assert (found.duration < longer * fine.duration).all()
        for row in range(6):
            motion = found.motion_of(row)
            at = motion(dense_times(motion))
            needs = dal.nominal_voltage(robot, at.q, at.qd, at.qdd)
            assert np.abs(needs.voltage).max() <= 40.0 * (1 + 1e-6)
            assert np.abs(needs.current).max() <= 8.0 * (1 + 1e-6)
