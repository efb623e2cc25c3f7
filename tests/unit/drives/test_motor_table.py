"""What a motion asks of drives, and the choice among motors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dalembert as dal
from dalembert.drives.motor_demand import temperature_rise
from dalembert.errors import ModelError, ShapeError, UnknownNameError
from dalembert.model import DriveTrain, Motor

T = np.linspace(0.0, 2.0, 2001)
W = np.pi
SWING = [x[:, None] for x in (0.8 * np.sin(W * T), 0.8 * W * np.cos(W * T), -0.8 * W**2 * np.sin(W * T))]
JERK = (-0.8 * W**3 * np.cos(W * T))[:, None]


def test_peaks_and_effective_values_of_a_harmonic_load() -> None:
    """Without gravity the torque is I q̈, a sine: peak I A ω², effective value that over √2; power I A² ω³ / 2."""
    rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    I = float(dal.mass_matrix(rod, [0.0])[0, 0])
    joint = dal.motor_table(rod, *SWING, T).joints[0]
    assert joint.torque_peak == pytest.approx(I * 0.8 * W**2, rel=1e-6)
    assert joint.torque_rms == pytest.approx(I * 0.8 * W**2 / np.sqrt(2), rel=1e-9)
    assert joint.speed_peak == pytest.approx(0.8 * W)
    assert joint.power_peak == pytest.approx(I * 0.8**2 * W**3 / 2, rel=1e-6)


def test_the_demand_on_motors_that_are_there_is_that_of_nominal_voltage() -> None:
    motor = Motor(2.0, 0.1, inductance=5e-3, ratio=40.0, voltage_limit=24.0, current_limit=4.0, continuous_current=1.0)
    robot = dal.robots.pendulum().with_motors({"pivot": motor})
    demand = dal.motor_table(robot, *SWING, T, qddd=JERK).motors[0]
    known = dal.nominal_voltage(robot, *SWING, JERK)
    assert demand.current_peak == pytest.approx(np.abs(known.current).max(), rel=1e-12)
    assert demand.voltage_peak == pytest.approx(np.abs(known.voltage).max(), rel=1e-12)
    assert demand.speed_peak == pytest.approx(40 * 0.8 * W)
    used = {"voltage": demand.voltage_peak / 24, "current": demand.current_peak / 4, "lasting current": demand.current_rms / 1}
    assert demand.limiting == max(used, key=used.get)
    assert demand.margin == pytest.approx(1 - max(used.values()))
    by_differences = dal.motor_table(robot, *SWING, T).motors[0]
    assert by_differences.voltage_peak == pytest.approx(demand.voltage_peak, rel=1e-3)


def test_a_motor_of_the_list_brings_its_own_rotor() -> None:
    """As if the robot had been built with it."""
    motor = Motor(2.0, 0.1, ratio=40.0, inertia=1e-4, damping=1e-5, voltage_limit=24.0, name="m")
    chosen = dal.motor_table(dal.robots.pendulum(), *SWING, T, motors=[motor]).choices["pivot"][0]
    built = dal.motor_table(dal.robots.pendulum().with_motors({"pivot": motor}), *SWING, T).motors[0]
    assert chosen.limiting == built.limiting
    assert chosen[1:9] == pytest.approx(built[1:9], rel=1e-12)
    swapped = dal.motor_table(
        dal.robots.pendulum().with_motors({"pivot": motor.replace(inertia=5e-4, damping=0.0)}), *SWING, T, motors=[motor]
    ).choices["pivot"][0]
    assert swapped.torque_peak == pytest.approx(dal.motor_table(
        dal.robots.pendulum().with_motors({"pivot": motor.replace(damping=0.0)}), *SWING, T).motors[0].torque_peak)  # fmt: skip


def test_the_motor_that_is_used_best_comes_first() -> None:
    sizes = {
        name: Motor(1.0, k, ratio=30.0, continuous_current=2.0) for name, k in (("big", 0.5), ("right", 0.02), ("small", 0.005))
    }
    table = dal.motor_table(dal.robots.pendulum(), *SWING, T, motors=sizes)
    assert [d.motor for d in table.choices["pivot"]] == ["right", "big", "small"]
    assert table.chosen("pivot").motor == "right"
    assert table.choices["pivot"][-1].fits is False
    weak = dal.motor_table(dal.robots.pendulum(), *SWING, T, motors={"small": sizes["small"]})
    assert weak.chosen("pivot") is None
    with pytest.raises(UnknownNameError, match="joint: 'pivto' is not known; did you mean 'pivot'"):
        table.chosen("pivto")


def test_it_prints_and_becomes_plain_data() -> None:
    strong = Motor(2.0, 10.0, voltage_limit=24.0, thermal_resistance=5.0, name="m")
    table = dal.motor_table(dal.robots.two_link_cartesian(), *np.zeros((3, 5, 2)), np.arange(5.0), motors=[strong])
    text = str(table)
    assert "Motors for joint1" in text
    assert "N, m/s" in text
    assert json.loads(json.dumps(table.to_dict()))["choices"]["joint1"][0]["fits"] is True
    unknown = dal.motor_table(dal.robots.pendulum(), *SWING, T, motors=[Motor(name="x")]).choices["pivot"][0]
    assert (unknown.current_peak, unknown.voltage_peak, unknown.margin, unknown.fits) == (None, None, None, None)


def test_temperature_of_a_constant_current_and_of_a_pulse() -> None:
    motor = Motor(2.0, 0.1, thermal_resistance=3.0, thermal_time=10.0)
    t = np.linspace(0, 5, 501)
    assert temperature_rise(motor, t, np.full(501, 1.5)) == pytest.approx(3.0 * 2.0 * 1.5**2)
    pulse = np.where(t < 2.5, 1.5, 0.0)
    full, share = 3.0 * 2.0 * 1.5**2, np.exp(-2.5 / 10.0)
    assert temperature_rise(motor, t, pulse) == pytest.approx(
        full / (1 + share), rel=5e-3
    )  # one sample of 250; periodic, at the end of the pulse
    assert temperature_rise(motor.replace(thermal_time=None), t, pulse) == pytest.approx(full / 2, rel=5e-3)
    assert temperature_rise(Motor(2.0, 0.1), t, pulse) is None


def test_drive_trains_have_their_demands_too() -> None:
    arm = dal.robots.pelican()
    train = DriveTrain({"a": Motor(1.0, 0.2), "b": Motor(1.0, 0.2)}, [[20, 20], [20, -20]], arm.joint_names)
    state = [np.repeat(x, 2, axis=1) for x in SWING]
    table = dal.motor_table(arm, *state, T, drive=train)
    assert [d.motor for d in table.motors] == ["a", "b"]
    assert table.motors[1].speed_peak < 1e-13  # both joints turn alike, and the second motor stands still


REFUSED = {
    "times": ((*SWING, T[::-1]), {}, ShapeError, "two or more times (K,), rising, are expected"),
    "rows": ((*SWING, T[1:]), {}, ShapeError, "q: shape (2001, 1) found, (2000, 1) expected: a row for each time in t"),
    "kind": ((*SWING, T), {"motors": [3]}, ModelError, "motors: 3 found; a Motor(...) is expected"),
    "twice": ((*SWING, T), {"motors": [Motor(name="a"), Motor(name="a")]}, ModelError, "motors: 'a' stands twice"),
}


@pytest.mark.parametrize("given, options, kind, words", REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(given, options, kind, words) -> None:
    with pytest.raises(kind) as refusal:
        dal.motor_table(dal.robots.pendulum(), *given, **options)
    assert words in str(refusal.value)


def test_another_gear_than_that_of_a_full_rotor_is_refused() -> None:
    arm = dal.robots.two_link_planar()
    with pytest.raises(ModelError, match="has the ratio 50, but the full rotor of joint 'joint1' turns with 100"):
        dal.motor_table(arm, *np.zeros((3, 5, 2)), np.arange(5.0), motors=[Motor(1.0, 0.1, ratio=50.0, name="m")])
