"""Motion under voltages: closed forms, limits, controllers, and the linear model that predicts it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import dalembert as dal
from dalembert.errors import ExprError, ShapeError
from dalembert.model import Motor
from dalembert.simulate import run_kernels

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
MOTOR = Motor(2.0, 0.1, inductance=2e-3, ratio=50.0)


def wheel(motor: Motor) -> dal.Robot:
    """A rod that turns in the horizontal plane: a constant inertia of 1/3 kg m²."""
    return dal.robots.pendulum().with_gravity([0.0, 9.81, 0.0]).with_motors({"pivot": motor})


INERTIA = float(dal.mass_matrix(dal.robots.pendulum(), [0.0])[0, 0])


def test_a_motor_with_a_constant_load_is_a_linear_system() -> None:
    """Its current and speed are those of the matrix exponential."""
    A = np.array([[0, 50 * 0.1 / INERTIA], [-0.1 * 50 / 2e-3, -2.0 / 2e-3]])
    times = np.linspace(0, 0.2, 21)
    found = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=[12.0], t_eval=times, **TIGHT)
    end = -np.linalg.solve(A, [0.0, 12.0 / 2e-3])
    known = np.array([end - expm(A * t) @ end for t in times])
    np.testing.assert_allclose(found.qd[:, 0], known[:, 0], atol=1e-9)  # the tolerance of the steps
    np.testing.assert_allclose(found.states["i"][:, 0], known[:, 1], atol=2e-6)  # between large steps, of a stiff state


def test_without_inductance_the_current_follows_at_once() -> None:
    found = dal.simulate_motors(wheel(MOTOR.replace(inductance=0.0)), [0.0], [0.0], voltage=[12.0], t_eval=[0.0, 0.1], **TIGHT)
    rate = (50 * 0.1) ** 2 / 2.0 / INERTIA
    assert found.qd[-1, 0] == pytest.approx(12 / 5 * -np.expm1(-0.1 * rate), abs=1e-9)
    assert found.states == {}


def test_motors_with_and_without_inductance_go_together() -> None:
    arm = dal.robots.pelican().with_motors({"joint1": MOTOR, "joint2": MOTOR.replace(inductance=0.0)})

    def slope(t, y):
        q, qd, i = y[:2], y[2:4], y[4]
        w = 50 * qd
        other = (5.0 - 0.1 * w[1]) / 2.0
        return [*qd, *dal.forward_dynamics(arm, q, qd, [5 * i, 5 * other]), (3.0 - 2.0 * i - 0.1 * w[0]) / 2e-3]

    known = solve_ivp(slope, (0, 0.3), [0.2, 0.1, 0, 0, 0], "DOP853", **TIGHT).y[:, -1]
    found = dal.simulate_motors(arm, [0.2, 0.1], [0.0, 0.0], voltage=[3.0, 5.0], t_end=0.3, **TIGHT)
    np.testing.assert_allclose(found.q[-1], known[:2], atol=1e-9)
    np.testing.assert_allclose(found.states["i"][-1], known[4:], atol=1e-8)


@pytest.mark.slow
def test_a_wrench_brakes_a_motor_to_the_speed_of_its_current() -> None:
    """At a constant speed the motor's torque carries the moment: k_t r i = −m, and v = R i + k_e r ω."""
    arm = dal.robots.pelican().with_motors({"joint1": MOTOR, "joint2": MOTOR})
    push = {"link2": [0.3, 0.2, 0.1, 0.0, 0.0, 0.4]}

    def slope(t, y):
        q, qd, i = y[:2], y[2:4], y[4:]
        return [*qd, *dal.forward_dynamics(arm, q, qd, 5 * i, wrenches=push), *((4.0 - 2.0 * i - 5.0 * qd) / 2e-3)]

    known = solve_ivp(slope, (0, 0.2), [0.2, 0.1, 0, 0, 0, 0], "DOP853", **TIGHT).y[:, -1]
    found = dal.simulate_motors(arm, [0.2, 0.1], [0.0, 0.0], voltage=[4.0, 4.0], wrenches=push, t_end=0.2, **TIGHT)
    np.testing.assert_allclose(found.q[-1], known[:2], atol=1e-9)
    np.testing.assert_allclose(found.states["i"][-1], known[4:], atol=1e-8)
    axis, moment = (dal.jacobian(wheel(MOTOR), [0.0])[3:, 0], 1.5)
    braked = {"tool": np.r_[np.zeros(3), -moment * axis]}
    slow = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=[12.0], wrenches=braked, t_end=1.0, **TIGHT)
    assert slow.states["i"][-1, 0] == pytest.approx(moment / 5.0, abs=1e-6)
    assert slow.qd[-1, 0] == pytest.approx((12.0 - 2.0 * moment / 5.0) / 5.0, abs=1e-6)


def test_the_voltage_is_kept_within_its_limit() -> None:
    limited = wheel(MOTOR.replace(voltage_limit=6.0))
    found = dal.simulate_motors(limited, [0.0], [0.0], voltage=[-50.0], t_end=0.5, **TIGHT)
    known = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=[-6.0], t_end=0.5, **TIGHT)
    np.testing.assert_array_equal(found.qd[-1], known.qd[-1])


@pytest.mark.parametrize("inductance", [2e-3, 0.0])
def test_the_current_grows_no_further_at_its_limit(inductance: float) -> None:
    """Until the back-EMF takes over, the wheel accelerates evenly with k_t i / I."""
    motor = MOTOR.replace(current_limit=1.5, inductance=inductance)
    found = dal.simulate_motors(wheel(motor), [0.0], [0.0], voltage=[24.0], t_eval=np.linspace(0, 0.1, 11))
    rates = np.diff(found.qd[2:, 0]) / 0.01
    np.testing.assert_allclose(rates, 50 * 0.1 * 1.5 / INERTIA, rtol=1e-3)  # the current stops within the error of a step
    back = dal.simulate_motors(wheel(motor), [0.0], [0.0], voltage=[-24.0], t_eval=np.linspace(0, 0.1, 11))
    np.testing.assert_allclose(back.qd, -found.qd, atol=1e-9)
    if inductance:
        assert np.abs(found.states["i"]).max() < 1.5 * (1 + 1e-3)


def test_a_controller_of_voltages_sees_currents_and_inputs() -> None:
    """A current loop: the voltage v = R i* + k_e ω + K (i* − i) makes the current go to its target as exp(−(R + K) t / L)."""

    def loop(t, q, qd, p):
        return 2.0 * p.target + 0.1 * 50 * qd + p.K * (p.target - p.i)

    times = np.linspace(0, 0.004, 9)
    given = {"voltage": loop, "inputs": {"target": [0.8], "K": 3.0}, "t_eval": times, **TIGHT}
    found = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], **given)
    np.testing.assert_allclose(found.states["i"][:, 0], 0.8 * -np.expm1(-5.0 * times / 2e-3), atol=1e-9)


def test_equal_motors_find_the_same_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = wheel(MOTOR)
    dal.simulate_motors(robot, [0.0], [0.0], voltage=[12.0], t_end=0.01)
    monkeypatch.setattr(run_kernels, "TimeLoopKernel", None)
    dal.simulate_motors(robot, [0.0], [0.0], voltage=[6.0], t_end=0.02)
    with pytest.raises(TypeError):  # so that a compilation would be noticed
        dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=lambda t, q, qd, p: [-1.25 * q[0]], t_end=0.02)


def test_many_voltages_are_one_batch() -> None:
    volts = np.linspace(-10, 10, 7)[:, None]
    found = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=volts, t_eval=[0.0, 1.0])
    np.testing.assert_allclose(found.qd[:, -1], volts / 5.0, rtol=1e-6)
    assert found.states["i"].shape == (7, 2, 1)


@pytest.mark.slow
def test_a_gear_with_losses_brakes_a_motor_that_drives() -> None:
    """Half of the torque arrives: the run-up has half the rate, the final speed is the same."""
    lossy = dal.simulate_motors(
        wheel(MOTOR.replace(efficiency=0.5, inductance=0.0)), [0.0], [0.0], voltage=[10.0], t_eval=[0.0, 0.02]
    )
    plain = dal.simulate_motors(wheel(MOTOR.replace(inductance=0.0)), [0.0], [0.0], voltage=[10.0], t_eval=[0.0, 0.01])
    np.testing.assert_allclose(lossy.qd[-1], plain.qd[-1], rtol=1e-5)


def test_the_motor_linearization_predicts_small_deviations() -> None:
    """The error of the prediction falls with the square of the deviation."""
    arm = dal.robots.pelican().with_motors(dict.fromkeys(["joint1", "joint2"], MOTOR.replace(ratio=10.0)))
    q = np.array([0.3, -0.5])
    rest = dal.nominal_voltage(arm, q, np.zeros(2), np.zeros(2), np.zeros(2))
    model = dal.linearize_motors(arm, q)
    direction = np.array([1.0, -0.5, 0.3, 0.2, 0.5, -1.0])
    errors = []
    for size in (1e-2, 5e-3):
        start = size * direction
        found = dal.simulate_motors(
            arm, q + start[:2], start[2:4], current=rest.current + start[4:], voltage=rest.voltage, t_eval=[0.05], **TIGHT
        )  # fmt: skip
        state = np.concatenate([found.q[0] - q, found.qd[0], found.states["i"][0] - rest.current])
        errors.append(np.abs(state - expm(model.A * 0.05) @ start).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_its_inputs_are_voltages_with_and_without_inductance() -> None:
    """δẋ = B δv, by differences of the dynamics; a motor without inductance pushes at once."""
    arm = dal.robots.pelican().with_motors({"joint1": MOTOR, "joint2": MOTOR.replace(inductance=0.0)})
    model = dal.linearize_motors(arm, [0.3, -0.5])
    assert [s.name for s in model.states] == ["q_joint1", "q_joint2", "qd_joint1", "qd_joint2", "i_joint1"]
    assert model.inputs == (("v_joint1", "V"), ("v_joint2", "V"))
    M = dal.mass_matrix(arm, [0.3, -0.5])
    expected = np.zeros((5, 2))
    expected[4, 0] = 1 / 2e-3
    expected[2:4, 1] = np.linalg.solve(M, [0.0, 50 * 0.1 / 2.0])
    np.testing.assert_allclose(model.B, expected, rtol=1e-12)
    braking = np.linalg.solve(M, [[0, 0], [0, (50 * 0.1) ** 2 / 2.0]])
    still = dal.derivatives(arm, [0.3, -0.5], [0.0, 0.0], [0.0, 0.0])
    np.testing.assert_allclose(model.A[2:4, 2:4], -np.linalg.solve(M, still.dtau_dqd) - braking, atol=1e-9)
    along = dal.linearize_motors(arm, np.zeros((7, 2)), np.ones((7, 2)), np.ones((7, 2)))
    assert (along.A.shape, along.B.shape, along.C.shape, along.poles.shape) == ((7, 5, 5), (7, 5, 2), (7, 5, 5), (7, 5))


REFUSED = {
    "shape": ({"voltage": [1.0, 2.0]}, ShapeError, "voltage: shape (2,) found, (..., 1) expected, one for each motor"),
    "rows": (
        {"voltage": [1.0], "voltage_times": [0.0, 1.0]},
        ShapeError,
        "(..., G, 1) expected: a row for each of voltage_times",
    ),
    "function": ({"voltage": lambda t, q, qd, p: [0.0], "voltage_times": [0.0]}, ShapeError, "found with a function in voltage"),
    "count": (
        {"voltage": lambda t, q, qd, p: [0.0, 1.0]},
        ExprError,
        "voltage: the function returned 2 voltages; one for each of the 1 motors is",
    ),
    "current": ({"voltage": [1.0], "current": [1.0, 2.0]}, ShapeError, "one for each motor with inductance"),
}


@pytest.mark.parametrize("options, kind, words", REFUSED.values(), ids=REFUSED)
def test_voltages_that_do_not_fit_are_refused(options, kind, words) -> None:
    with pytest.raises(kind) as refusal:
        dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], t_end=0.1, **options)
    assert words in str(refusal.value)


def test_a_current_without_inductance_is_refused() -> None:
    with pytest.raises(ShapeError, match="no motor has an inductance"):
        dal.simulate_motors(wheel(MOTOR.replace(inductance=0.0)), [0.0], [0.0], voltage=[1.0], current=[0.0], t_end=0.1)


@pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
def test_a_motor_drives_its_joint_into_a_stop_and_stalls(method: str) -> None:
    """At the stop the current settles at v / R, and holds the joint there."""
    motor = dal.Motor(resistance=2.0, torque_constant=0.1, inductance=1e-3, ratio=50.0)
    links = [dal.Link("base"), dal.Link("rod", 1.0, (0.2, 0.0, 0.0), np.diag([0.01, 0.05, 0.05]))]
    joint = dal.Joint("pivot", "revolute", "base", "rod", axis=(0, 0, 1), limits=dal.Limits(-1.0, 1.0))
    robot = dal.Robot.from_parts("rod", links, [joint]).with_motors({"pivot": motor})
    half = dal.Event(lambda t, q, qd, p: q[0] - 0.5, name="half way")
    given = {"t_end": 2.0, "events": [half], "stops": 0.0, "method": method}
    motion = dal.simulate_motors(robot, [0.0], [0.0], voltage=[10.0], **given)
    assert [event.name for event in motion.events[:2]] == ["half way", "pivot"]
    assert motion.q[-1, 0] == 1.0
    assert motion.qd[-1, 0] == 0.0
    assert motion.states["i"][-1, 0] == pytest.approx(5.0, abs=1e-6)


def test_the_stiff_method_takes_currents_that_settle_at_once() -> None:
    rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    motor = dal.Motor(resistance=2.0, torque_constant=0.1, inductance=1e-7, ratio=50.0)
    given = {"voltage": lambda t, q, qd, p: [12.0 * (1.0 - q[0]) - 2.0 * qd[0]], "t_end": 1.0}
    stiff = dal.simulate_motors(rod.with_motors({"pivot": motor}), [0.0], [0.0], method="rosenbrock", **given)
    plain = dal.simulate_motors(rod.with_motors({"pivot": motor.replace(inductance=0.0)}), [0.0], [0.0], **given)
    assert stiff.success
    assert len(stiff.t) < 500
    np.testing.assert_allclose(stiff.q[-1], plain.q[-1], atol=1e-6)


def test_a_warning_is_told_at_the_line_of_the_user() -> None:
    with pytest.warns(dal.DalembertWarning, match="max_steps") as told:
        dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=[12.0], t_end=1.0, max_steps=3)
    assert told[0].filename == __file__
