"""Limits of motors, and systems that are no robot."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

from .timing_cases import dense_times, points, puma_with_motors, rod


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


@pytest.mark.slow
def test_the_benchmark_of_timing_measures_positive_times():
    """With compiled kernels: interpreted, it would take minutes."""
    from benchmarks import path_timing
    from benchmarks.effort import TINY

    for record in path_timing.measure(TINY).records:
        assert record["ms"] > 0
        assert record["batch_ms"] > 0
        assert record["excess"] <= 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("efficiency", [1.0, 0.8])
def test_voltages_that_speed_alone_makes_do_not_stop_an_arm_on_its_way(efficiency, rng):
    """Where a motor turns fast and its arm weighs next to nothing, s̈ has no part in its voltage: no speed is given up for it."""
    robot = puma_with_motors(efficiency=efficiency)
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


def test_a_motor_that_stands_holds_within_its_limits_though_its_gear_loses():
    """The second joint does not move: what it holds goes through its gear without loss, as `nominal_voltage` has it."""
    arm = dal.robots.two_link_planar()
    motor = dal.Motor(resistance=1.0, torque_constant=0.1, ratio=50.0, efficiency=0.6)
    for kind in ("voltage", "current"):
        limited = motor.replace(**{f"{kind}_limit": 75.0})
        motors = {"joint1": motor.replace(voltage_limit=2000.0), "joint2": limited}
        robot = arm.replace(parameters=arm.parameters.replace(motors=motors, rotors={}))
        found = dal.fastest_timing(robot, [[0.0, 0.3], [0.8, 0.3]], motors=True, intervals=200, torque=np.inf, velocity=np.inf)
        at = found.motion(dense_times(found.motion))
        needs = getattr(dal.nominal_voltage(robot, at.q, at.qd, at.qdd), kind)[:, 1]
        assert 75.0 * (1 - 1e-3) < np.abs(needs).max() <= 75.0 * (1 + 1e-6)


def test_no_speed_is_given_up_where_a_slower_next_one_allows_more():
    """Back-EMF that uses up the voltage makes the largest speed before a place fall and rise again with that behind it."""
    arm = dal.robots.two_link_planar()
    motors = {
        "joint1": dal.Motor(resistance=0.0366, torque_constant=0.0655, ratio=83.0, voltage_limit=12.0),
        "joint2": dal.Motor(resistance=0.0153, torque_constant=0.0928, ratio=22.8, voltage_limit=12.0),
    }
    robot = arm.replace(parameters=arm.parameters.replace(motors=motors, rotors={}))
    way = [[0.975, 0.486], [0.353, 1.332], [0.54, -1.035], [0.073, 0.314]]
    times = [
        float(dal.fastest_timing(robot, way, motors=True, intervals=N, torque=np.inf, velocity=np.inf).duration)
        for N in (200, 500, 2000)
    ]
    assert times[0] == pytest.approx(times[2], rel=5e-3)  # 9 % more, before
    assert times[1] == pytest.approx(times[2], rel=1e-3)
