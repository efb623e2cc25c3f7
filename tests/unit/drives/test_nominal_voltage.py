"""Currents and voltages along motions, and what the electrical simulation makes of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning, InfeasibleError, ModelError, ShapeError
from dalembert.model import DriveTrain, Friction, Motor
from dalembert.robots import CATALOGUE
from tests.robots import fresh

MOTOR = Motor(2.0, 0.1, inductance=2e-3, ratio=50.0)


def one_way(n: int, t: np.ndarray, start: np.ndarray) -> list[np.ndarray]:
    """q and three derivatives; no velocity changes its sign, so that dry friction does not jump."""
    size, rate, phase = 0.1 * (1 + 0.1 * np.arange(n)), 2.0 + 0.3 * np.arange(n), 0.7 * np.arange(n)
    angle = rate * t[:, None] + phase
    s, c, drift = np.sin(angle), np.cos(angle), 1.3 * size * rate
    q = start + size * (s - np.sin(phase)) + drift * t[:, None]
    return [q, size * rate * c + drift, -size * rate**2 * s, -size * rate**3 * c]


def with_motors(robot: dal.Robot) -> dal.Robot:
    """Motors of ours at every joint that has none; drives without a gear in the source get a strong motor."""
    motors = {}
    for joint in robot.joint_names:
        rotor = robot.parameters.rotors.get(joint)
        ratio = None if rotor else 100.0
        strong = rotor is not None and rotor.ratio == 1.0
        motors[joint] = Motor(2.0, 5.0 if strong else 0.2, inductance=3e-3, ratio=ratio)
    return robot.with_motors({joint: motor for joint, motor in motors.items() if joint not in robot.parameters.motors})


@pytest.mark.slow
@pytest.mark.parametrize("name", CATALOGUE)
def test_voltages_without_feedback_reproduce_the_motion(name: str) -> None:
    """To 1e-6 over 2 s, on every arm; samples half a millisecond apart, joined by lines, leave less than half of that."""
    arm = with_motors(dal.load(name))
    t = np.linspace(0.0, 2.0, 4001)
    q, qd, qdd, qddd = one_way(arm.n, t, np.full(arm.n, 0.3))
    nominal = dal.nominal_voltage(arm, q, qd, qdd, qddd)
    found = dal.simulate_motors(
        arm, q[0], qd[0], voltage=nominal.voltage, voltage_times=t, current=nominal.current[0], t_eval=t[::200],
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    assert found.success
    assert np.abs(found.q - q[::200]).max() < 1e-6
    assert np.abs(found.states["i"] - nominal.current[::200]).max() < 1e-3 * np.abs(nominal.current).max()  # ripple of the lines


def test_the_error_of_sampled_voltages_is_of_second_order() -> None:
    arm = with_motors(dal.robots.two_link_planar())
    errors = []
    for count in (251, 501, 1001):
        t = np.linspace(0.0, 1.0, count)
        q, qd, qdd, qddd = one_way(arm.n, t, np.full(arm.n, 0.3))
        found = dal.nominal_voltage(arm, q, qd, qdd, qddd)
        motion = dal.simulate_motors(
            arm, q[0], qd[0], voltage=found.voltage, voltage_times=t, current=found.current[0], t_eval=t[[-1]],
            rtol=1e-11, atol=1e-13,
        )  # fmt: skip
        errors.append(np.abs(motion.q[-1] - q[-1]).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)  # the next term is of fourth order
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


@pytest.mark.slow
def test_a_mechanism_is_driven_at_its_coordinates() -> None:
    linkage = dal.mechanisms.crank_rocker()
    driven = dal.Mechanism("driven", linkage.robot.with_motors({"joint1": MOTOR}), linkage.closures, ["joint1"], linkage.seed)
    t = np.linspace(0.0, 1.0, 1001)
    swing = [0.3 * np.sin(3 * t), 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t), -8.1 * np.cos(3 * t)]
    q, qd, qdd, qddd = (x[:, None] for x in swing)
    q = q + linkage.q0
    found = dal.nominal_voltage(driven, q, qd, qdd, qddd)
    motion = dal.simulate_motors(
        driven, q[0], qd[0], voltage=found.voltage, voltage_times=t, current=found.current[0], t_eval=t[::100],
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    assert np.abs(motion.q - q[::100]).max() < 2e-6  # of lines a millisecond apart


def test_the_rate_of_the_current_is_its_derivative_in_time() -> None:
    arm = with_motors(dal.robots.puma560())
    t = 0.3 + np.linspace(-2e-4, 2e-4, 5)
    q, qd, qdd, qddd = one_way(arm.n, t, np.zeros(arm.n))
    found = dal.nominal_voltage(arm, q, qd, qdd, qddd)
    i, h = found.current, t[1] - t[0]
    expected = (i[0] - 8 * i[1] + 8 * i[3] - i[4]) / (12 * h)
    np.testing.assert_allclose(found.current_rate[2], expected, atol=1e-8)  # rounding over h


def test_a_spline_through_accelerations_stands_for_the_jerk() -> None:
    arm = with_motors(dal.robots.two_link_planar())
    t = np.linspace(0.0, 1.0, 401)
    q, qd, qdd, qddd = one_way(arm.n, t, np.zeros(arm.n))
    exact, found = dal.nominal_voltage(arm, q, qd, qdd, qddd), dal.nominal_voltage(arm, q, qd, qdd, t=t)
    assert np.abs(found.voltage - exact.voltage).max() < 1e-6 * np.abs(exact.voltage).max()
    with pytest.raises(ShapeError, match="qddd: neither it nor t found"):
        dal.nominal_voltage(arm, q, qd, qdd)
    with pytest.raises(ShapeError, match=r"t: shape \(400,\) found with qdd of shape \(401, 2\)"):
        dal.nominal_voltage(arm, q, qd, qdd, t=t[1:])


def test_without_inductance_no_jerk_is_needed() -> None:
    robot = dal.robots.pendulum().with_motors({"pivot": MOTOR.replace(inductance=0.0)})
    found = dal.nominal_voltage(robot, [0.3], [1.0], [2.0])
    tau = dal.inverse_dynamics(robot, [0.3], [1.0], [2.0])
    np.testing.assert_allclose(found.voltage, 2.0 * tau / (50 * 0.1) + 0.1 * 50 * 1.0, rtol=1e-14)
    assert not found.current_rate.any()


def test_coupled_drives_share_a_coupled_load() -> None:
    """A wrist whose second motor turns with the first joint: power in equals power out, motor by motor."""
    arm = dal.robots.two_link_planar()
    bare = arm.replace(parameters=arm.parameters.replace(rotors={}))
    train = DriveTrain({"a": Motor(1.0, 0.2), "b": Motor(1.0, 0.2)}, [[100, 0], [-30, 80]], bare.joint_names)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, 6, 2))
    found = dal.nominal_voltage(bare, q, qd, qdd, drive=train)
    np.testing.assert_allclose((found.torque * found.speed).sum(-1), (found.tau * qd).sum(-1), rtol=1e-10)
    assert found.motors == ("a", "b")


@pytest.mark.slow
def test_inertia_of_a_drive_train_acts_as_a_rotor_does() -> None:
    """For a diagonal train, Tᵀ J T and Tᵀ B T are what reflected rotors and viscous friction are."""
    arm = dal.robots.pelican()
    motors = {name: Motor(1.0, 0.2, inductance=1e-3, ratio=20.0, inertia=3e-4, damping=1e-4) for name in arm.joint_names}
    inside = arm.with_motors(motors)
    train = DriveTrain({k: m.replace(ratio=None) for k, m in motors.items()}, 20.0 * np.eye(2), arm.joint_names)
    state = np.random.default_rng(4).uniform(-1, 1, (4, 5, 2))
    one, other = dal.nominal_voltage(inside, *state), dal.nominal_voltage(arm, *state, drive=train)
    np.testing.assert_allclose(other.voltage, one.voltage, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        dal.linearize_motors(arm, *state[:3], drive=train).A, dal.linearize_motors(inside, *state[:3]).A, rtol=1e-9, atol=1e-8
    )
    options = {"voltage": [3.0, -1.0], "t_eval": [0.0, 0.3]}
    moved = [
        dal.simulate_motors(arm, [0.1, 0.2], [0, 0], drive=train, **options),
        dal.simulate_motors(inside, [0.1, 0.2], [0, 0], **options),
    ]
    np.testing.assert_allclose(moved[0].q, moved[1].q, atol=1e-9)  # the tolerance of the steps


def test_a_gear_with_losses_takes_more_when_it_drives_and_less_when_it_is_driven() -> None:
    lossy = dal.robots.pendulum().with_motors({"pivot": MOTOR.replace(inductance=0.0, efficiency=0.8)})
    plain = dal.robots.pendulum().with_motors({"pivot": MOTOR.replace(inductance=0.0)})
    for qd, factor in (([1.0], 1 / 0.8), ([-1.0], 0.8), ([0.0], 1.0)):
        found = [dal.nominal_voltage(robot, [0.5], qd, [0.0]).current[0] for robot in (lossy, plain)]
        assert found[0] == pytest.approx(found[1] * factor)


def test_dry_friction_that_jumps_is_named() -> None:
    rough = dal.robots.pendulum()
    rough = rough.replace(parameters=rough.parameters.replace(friction={"pivot": Friction(coulomb=1.0)}))
    rough = rough.with_motors({"pivot": MOTOR})
    t = np.linspace(0, 2, 21)
    swing = [x[:, None] for x in (np.sin(t), np.cos(t), -np.sin(t), -np.cos(t))]
    with pytest.warns(DalembertWarning, match=r"nominal_voltage: pivot turns? round \(first before sample 16\)") as caught:
        dal.nominal_voltage(rough, *swing)
    assert caught[0].message.code == "friction-jump"
    smooth = rough.replace(parameters=rough.parameters.replace(friction={"pivot": Friction(coulomb=1.0, width=0.1)}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dal.nominal_voltage(smooth, *swing)
        dal.nominal_voltage(rough, *(x[:10] for x in swing))


@pytest.mark.slow
def test_smoothed_friction_lets_a_motion_turn_round() -> None:
    arm = dal.robots.puma560()
    laws = {name: law.replace(width=0.05) for name, law in arm.parameters.friction.items()}
    arm = with_motors(arm.replace(parameters=arm.parameters.replace(friction=laws)))
    t = np.linspace(0, 1, 4001)
    angle = 5.0 * t[:, None] + np.zeros(6)
    q, qd, qdd, qddd = 0.2 * np.sin(angle), np.cos(angle), -5 * np.sin(angle), -25 * np.cos(angle)
    found = dal.nominal_voltage(arm, q, qd, qdd, qddd)
    motion = dal.simulate_motors(
        arm, q[0], qd[0], voltage=found.voltage, voltage_times=t, current=found.current[0], t_eval=t[::200], rtol=1e-9, atol=1e-11
    )  # fmt: skip
    assert (
        np.abs(motion.q - q[::200]).max() < 1e-5
    )  # lines a quarter of a millisecond long, across slopes of 20 N m per 0.05 rad/s


def test_limits_are_told_or_refused() -> None:
    robot = fresh("pendulum").with_motors({"pivot": Motor(2.0, 0.1, ratio=10.0, current_limit=3.0, voltage_limit=24.0, name="m")})
    held = dal.nominal_voltage(robot, [[0.1], [1.5]], [0.0], [0.0])
    assert held.exceeded == {"pivot": ["current"]}
    assert "within_limits=False" in repr(held)
    assert held.to_dict()["exceeded"] == {"pivot": ["current"]}
    with pytest.raises(InfeasibleError) as refusal:
        dal.nominal_voltage(robot, [[0.1], [1.5]], [0.0], [0.0], strict=True)
    assert str(refusal.value) == (
        "motor 'pivot': 4.893 A needed at sample 1, but its limit is 3 A. Gravity alone takes 4.893 A. Take a larger ratio or a "
        "stronger motor, or a slower motion."
    )
    with pytest.raises(InfeasibleError, match=r"motor 'pivot': 50\.\d+ V needed, but its limit is 24 V\. Take a stronger motor"):
        dal.nominal_voltage(robot, [0.1], [50.0], [0.0], strict=True)
    assert not dal.nominal_voltage(robot, [0.1], [0.0], [0.0], strict=True).exceeded


def every(motor: Motor):
    return lambda robot: robot.with_motors(dict.fromkeys(robot.joint_names, motor))


SWAPPED = DriveTrain({"a": Motor(), "b": Motor()}, np.eye(2), ["b", "a"])
REFUSED = {
    "no motor": (lambda r: r, {}, "joint 'joint1': no motor found, but all of joint1, joint2 need one here"),
    "one motor": (lambda r: r.with_motors({"joint1": MOTOR}), {}, "joint 'joint2': no motor found"),
    "no constants": (every(Motor(1.0)), {}, "motor 'joint1': no torque constant found, which this needs"),
    "no resistance": (every(Motor(torque_constant=1.0)), {}, "motor 'joint1': no resistance found"),
    "names": (lambda r: r, {"drive": SWAPPED}, "drive: coordinates b, a found, but"),
    "kind": (lambda r: r, {"drive": MOTOR}, "a DriveTrain(...) is expected"),
}


@pytest.mark.parametrize("change, options, words", REFUSED.values(), ids=REFUSED)
def test_what_is_missing_is_named(change, options, words) -> None:
    with pytest.raises(ModelError) as refusal:
        dal.nominal_voltage(change(dal.robots.pelican()), *np.zeros((4, 2)), **options)
    assert words in str(refusal.value)


def test_inertia_is_not_counted_twice() -> None:
    arm = dal.robots.puma560()
    train = DriveTrain({name: Motor(1.0, 0.1, inertia=1e-4) for name in arm.joint_names}, 50 * np.eye(6), arm.joint_names)
    with pytest.raises(ModelError, match="its motors have inertia, and so have the rotors of joint1, .* would count twice"):
        dal.nominal_voltage(arm, *np.zeros((3, 6)), drive=train)
    assert dal.nominal_voltage(arm, *np.zeros((3, 6)), drive=train.replace(added=False)).tau.shape == (6,)


def test_a_motor_where_nothing_is_chosen_is_named() -> None:
    linkage = dal.mechanisms.crank_rocker()
    tree = linkage.robot.with_motors({"joint1": MOTOR, "joint3": MOTOR})
    driven = dal.Mechanism("driven", tree, linkage.closures, ["joint1"], linkage.seed)
    with pytest.raises(ModelError, match="joint 'joint3': it has a motor, but is none of the coordinates joint1"):
        dal.nominal_voltage(driven, driven.q0, [0.0], [0.0])
