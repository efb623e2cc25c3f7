"""Drives that are not the coordinates: limits of power and of motors hold for them, whichever way they share torques."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.mechanisms_with_drives import two_arms, two_fingers

from .test_fastest_sharing import SHIFT, TIPS, way_of
from .test_sharing_rates import arms_problem, slack_of, tends_to

MOTOR = dal.Motor(resistance=1.0, torque_constant=0.1, ratio=30.0, voltage_limit=7.0, current_limit=2.5)


def states(mechanism, found):
    """Torques and speeds of the drives at ten places of every interval; speeds by differences of assembled positions."""
    t = (found.t[:-1, None] + np.diff(found.t)[:, None] * (np.arange(10) + 0.5) / 10).ravel()
    step, index = 1e-6 * float(found.duration), [mechanism.robot.joint_names.index(name) for name in found.drives]
    t = t[(t > step) & (t < t[-1] - step)]
    ahead, back = (mechanism.assemble(found.motion(t + e).q).x[:, index] for e in (step, -step))
    return found.drive_torques(t), (ahead - back) / (2 * step)


def with_motors(mechanism, **changes):
    motors = dict.fromkeys(mechanism.actuated, MOTOR.replace(**changes))
    return mechanism.replace(robot=mechanism.robot.with_motors(motors))


@pytest.mark.slow
@pytest.mark.parametrize("power", [2.0, 5.0])
def test_drives_share_powers_as_cone_programmes_over_all_their_torques_do(power, rng):
    arms = two_arms(effort=8.0)
    way = way_of(arms, rng)
    found = dal.fastest_timing(arms, way, power=power, intervals=400)
    fine, limit = tends_to(lambda *grid: arms_problem(arms, *grid), way, counts=(150, 300), start=0.2, torque=8.0, power=power)
    assert fine == pytest.approx(float(found.duration), rel=3e-3)
    assert limit == pytest.approx(float(found.duration), rel=3e-3)
    torque, speed = states(arms, found)
    assert 1 - 1e-3 < np.abs(torque * speed).max() / power <= 1 + 2e-6  # differences are no better
    assert np.abs(torque).max() <= 8.0 * (1 + 1e-6)
    assert found.limits[-3 - 6 : -3] == tuple(f"power of {name!r}" for name in arms.actuated)
    assert found.use.shape[-1] == len(found.limits)


@pytest.mark.slow
@pytest.mark.parametrize(("fastest", "bound"), [(20.0, ("current", "motor speed")), (200.0, ("current", "voltage"))])
def test_voltages_currents_and_speeds_of_motors_are_kept(fastest, bound):
    arms = with_motors(two_arms(effort=8.0), speed_limit=fastest)
    way = np.array(arms.q0) + [[-0.1, -0.1, -0.1], [0.15, 0.05, 0.2]]
    found = dal.fastest_timing(arms, way, motors=True, intervals=100)
    torque, speed = states(arms, found)
    current, motor_speed = torque / 30.0 / 0.1, 30.0 * speed
    shares = {
        "current": np.abs(current).max() / 2.5,
        "voltage": np.abs(current + 0.1 * motor_speed).max() / 7.0,
        "motor speed": np.abs(motor_speed).max() / fastest,
    }
    assert max(shares.values()) <= 1 + 2e-6
    assert min(shares[kind] for kind in bound) > 1 - 1e-4
    assert {limit.split(" of ")[0] for *_, limit in found.binding_parts()} >= set(bound)
    train = dal.DriveTrain(
        dict.fromkeys(arms.actuated, MOTOR.replace(ratio=None, speed_limit=fastest)), 30 * np.eye(6), arms.actuated, added=False
    )
    plain = two_arms(effort=8.0)
    assert dal.fastest_timing(plain, way, motors=train, intervals=100).duration == pytest.approx(float(found.duration), rel=1e-9)


@pytest.mark.slow
def test_gears_that_lose_take_more_current_while_they_drive():
    way = np.array(two_arms().q0) + [[-0.1, -0.1, -0.1], [0.15, 0.05, 0.2]]
    arms = with_motors(two_arms(effort=8.0), efficiency=0.8)
    found = dal.fastest_timing(arms, way, motors=True, intervals=100)
    torque, speed = states(arms, found)
    gain = np.where(torque * speed > 0, 1 / 0.8, 0.8)
    current = gain * torque / 30.0 / 0.1
    assert 0.99 < np.abs(current).max() / 2.5 <= 1 + 2e-6
    assert np.abs(current + 0.1 * 30.0 * speed).max() <= 7.0 * (1 + 2e-6)
    assert found.duration > dal.fastest_timing(with_motors(two_arms(effort=8.0)), way, motors=True, intervals=100).duration


@pytest.mark.slow
@pytest.mark.parametrize(("inductance", "efficiency"), [(1e-3, 1.0), (5e-2, 1.0), (1e-2, 0.7)])
def test_currents_of_drives_take_their_time(inductance, efficiency):
    """v = L di/dt + R i + k_e ω, by differences in time, with what gears lose."""
    arms = with_motors(two_arms(effort=8.0), inductance=inductance, efficiency=efficiency, current_limit=5.0)
    way = np.array(arms.q0) + [[-0.1, -0.1, -0.1], [0.15, 0.05, 0.2]]
    found = dal.fastest_timing(arms, way, motors=True, intervals=100)
    h = np.diff(found.t)[:, None]
    t, step = (found.t[:-1, None] + h * (np.arange(10) + 0.5) / 10).ravel(), (1e-3 * h * np.ones(10)).ravel()
    index = [arms.robot.joint_names.index(name) for name in found.drives]
    before, here, after = (found.drive_torques(t + e) for e in (-step, 0.0, step))
    back, ahead = (arms.assemble(found.motion(t + e).q).x[:, index] for e in (-step, step))
    slope, speed = (after - before) / (2 * step[:, None]), (ahead - back) / (2 * step[:, None])
    gain = np.where(here * speed > 0, 1 / efficiency, efficiency) / 30.0 / 0.1
    voltage = gain * (inductance * slope + here) + 0.1 * 30.0 * speed
    assert 1 - 1e-4 < np.abs(voltage).max() / 7.0 <= 1 + 1e-6
    assert np.abs(gain * here).max() <= 5.0 * (1 + 1e-6)
    assert found.use.shape[-1] == len(found.limits)
    assert any(limit.startswith("voltage") for *_, limit in found.binding_parts())


@pytest.mark.slow
def test_a_drive_that_is_no_coordinate_moves_as_if_it_were():
    """A linkage driven at its rocker, in the angle of its crank and in that of its rocker: the same motion."""
    by_crank = with_motors(dal.mechanisms.four_bar().replace(actuated=("joint3",)), current_limit=12.0, voltage_limit=24.0)
    ends = by_crank.assemble([[0.6], [2.2]]).x[:, [2]]
    by_rocker = by_crank.replace(coordinates=("joint3",))
    crank = by_crank.assemble(np.linspace(0.6, 2.2, 400)[:, None]).x[:, [2]]
    assert np.all(np.diff(crank[:, 0]) > 0)
    given = {"torque": 30.0, "motors": True}
    times = [float(dal.fastest_timing(by_crank, [[0.6], [2.2]], intervals=1000, **given).duration)]
    times.append(float(dal.fastest_timing(by_rocker, ends, intervals=1000, **given).duration))
    assert times[0] == pytest.approx(times[1], rel=3e-3)


@pytest.mark.slow
def test_what_is_gripped_does_not_slip_within_powers():
    hand = two_fingers()
    way = np.array(hand.q0) + SHIFT
    found = dal.fastest_timing(hand, way, torque=10.0, power=3.0, contacts=TIPS, intervals=100)
    torque, speed = states(hand, found)
    assert 0.999 < np.abs(torque * speed).max() / 3.0 <= 1 + 2e-6
    assert slack_of(hand, found) > 0
    assert found.use.shape[-1] == len(found.limits)


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"current_limit": 1.0}, {}, r"drives .*: at s = 0 of 1, .* times their largest torques \(3 N m"),
        (None, {}, "joint 'left_joint1': no motor found"),
        ({}, {"power": {"bar_x": 1.0}}, "power: joint: 'bar_x' is not known. Known: left_joint1"),
        ({}, {"motors": 3}, "motors: 3 found; True for the motors"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_had_is_refused_in_a_sentence(changes, options, words):
    plain = two_arms(effort=8.0)
    arms = plain if changes is None else with_motors(plain, **changes)
    way = np.array(arms.q0) + [[-0.1, -0.1, -0.1], [0.15, 0.05, 0.2]]
    with pytest.raises(dal.DalembertError, match=words):
        dal.fastest_timing(arms, way, intervals=40, **({"motors": True} | options))
