"""Digital servos: voltages that are sampled, held and late, while currents go on."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.linalg import expm

import dalembert as dal
from dalembert.errors import ExprError, ModelError, ShapeError
from dalembert.expr import ops
from dalembert.simulate import run_kernels
from tests.unit.drives.test_electrical_motion import INERTIA, MOTOR, TIGHT, wheel

T = 1e-3  # the sample [s]
LAGS = [0.0, 0.3 * T, T, 2.4 * T]  # none, a part of a sample, one, two and a part
GAINS = {"kp": 60.0, "kd": 1.5, "ki": 0.5, "target": 0.2}
PELICAN = dal.robots.pelican().with_motors({"joint1": MOTOR, "joint2": MOTOR.replace(inductance=0.0)})


def servo(t, q, qd, p):
    return p.kp * (p.target - q) - p.kd * qd - p.ki * p.i


def plain_servo(t, q, qd, p):
    """Without a look at currents, of which a motor without inductance has none among its states."""
    return p.kp * (p.target - q) - p.kd * qd


def held_exactly(motor, delay, count, top=np.inf, gains=GAINS):
    """[q, ω, i] at the samples: the linear system under voltages that are held, by matrix exponentials."""
    n, R, L, k = motor.ratio, motor.resistance, motor.inductance, motor.torque_constant
    A = np.array([[0, 1, 0, 0], [0, 0, n * k / INERTIA, 0], [0, -k * n / L, -R / L, 1 / L], [0, 0, 0, 0]])
    whole = int(delay / T + 1e-9)
    parts = [delay - whole * T, T - (delay - whole * T)]
    x, found, wanted = np.zeros(3), [], []
    for k in range(count):
        found.append(x)
        wanted.append(gains["kp"] * (gains["target"] - x[0]) - gains["kd"] * x[1] - gains["ki"] * x[2])
        for length, late in zip(parts, (whole + 1, whole), strict=True):
            v = np.clip(wanted[max(k - late, 0)], -top, top)
            x = (expm(A * length) @ [*x, v])[:3]
    return np.array(found), np.array(wanted)


@pytest.mark.parametrize("delay", LAGS)
@pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
def test_a_servo_follows_its_exact_discretisation(method: str, delay: float) -> None:
    known, wanted = held_exactly(MOTOR, delay, 120)
    given = {"voltage": servo, "inputs": GAINS, "sample": T, "delay": delay, "t_eval": T * np.arange(120), "method": method}
    found = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], **given, **TIGHT)
    state = np.concatenate([found.q, found.qd, found.states["i"]], axis=-1)
    np.testing.assert_allclose(state, known, atol=1e-8)  # the tolerance of the steps, 100 of them
    assert found.states["v"][0, 0] == wanted[0]
    assert set(np.round(found.states["v"][1:, 0], 6)) <= set(np.round(wanted, 6))


def test_without_inductance_the_held_voltage_makes_the_current_at_once() -> None:
    """ω̇ = (n k / I) (v − k n ω) / R is linear too."""
    bare, n, k, R = MOTOR.replace(inductance=0.0), 50.0, 0.1, 2.0
    A = np.array([[0, 1, 0], [0, -((n * k) ** 2) / R / INERTIA, n * k / R / INERTIA], [0, 0, 0]])
    x, known, late = np.zeros(2), [], [60.0 * 0.2] * 2
    for _ in range(50):
        known.append(x)
        late = [60.0 * (0.2 - x[0]) - 1.5 * x[1], late[0]]
        x = (expm(A * T) @ [*x, late[1]])[:2]
    given = {"inputs": {k: GAINS[k] for k in ("kp", "kd", "target")}, "sample": T, "delay": T, "t_eval": T * np.arange(50)}
    found = dal.simulate_motors(wheel(bare), [0.0], [0.0], voltage=plain_servo, **given, **TIGHT)
    np.testing.assert_allclose(np.c_[found.q, found.qd], known, atol=1e-9)
    assert set(found.states) == {"v", "(waiting)"}
    fixed = {"voltage": lambda t, q, qd, p: 60.0 * (0.2 - q) - 1.5 * qd, **{k: x for k, x in given.items() if k != "inputs"}}
    np.testing.assert_allclose(dal.simulate_motors(wheel(bare), [0.0], [0.0], **fixed, **TIGHT).q, found.q, atol=1e-12)


def test_short_samples_tend_to_the_continuous_controller_at_first_order() -> None:
    given = {"voltage": servo, "inputs": GAINS, "t_end": 0.05, **TIGHT}
    exact = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], **given).q[-1, 0]
    errors = [
        abs(dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], sample=sample, **given).q[-1, 0] - exact)
        for sample in (4e-4, 2e-4, 1e-4)
    ]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 2.4 * T])
def test_held_voltages_are_kept_within_the_limit_of_the_motor(delay: float) -> None:
    top, gains = 6.0, GAINS | {"ki": 0.0}
    known, wanted = held_exactly(MOTOR, delay, 120, top, gains)
    assert 0 < np.mean(np.abs(wanted) > top) < 1
    given = {"voltage": servo, "inputs": gains, "sample": T, "delay": delay, "t_eval": T * np.arange(120)}
    found = dal.simulate_motors(wheel(MOTOR.replace(voltage_limit=top)), [0.0], [0.0], **given, **TIGHT)
    np.testing.assert_allclose(np.c_[found.q, found.qd, found.states["i"]], known, atol=1e-8)
    assert np.abs(found.states["v"]).max() == pytest.approx(np.abs(wanted).max())  # what is held is what was wanted


def test_the_current_stops_at_its_limit_while_the_voltage_is_held() -> None:
    """A quarter of the way through a sample already: L/R is 1 ms, a sample 20 ms."""
    given = {"voltage": lambda t, q, qd, p: [24.0], "sample": 0.02, "t_eval": np.linspace(0.005, 0.05, 10)}
    found = dal.simulate_motors(wheel(MOTOR.replace(current_limit=1.5)), [0.0], [0.0], **given)
    np.testing.assert_allclose(found.states["i"], 1.5, rtol=1e-3)  # it stops within the error of a step


def in_python(t, q, qd, p):
    """What `servo` does, in a way that cannot be traced."""
    if t < 0.0 or not np.isfinite(q).all():
        raise AssertionError
    return p.kp * (p.target - q) - p.kd * qd - p.ki * p.i


def said_to_be_slow():
    return pytest.warns(dal.DalembertWarning, match=r"^simulate: voltage was called as Python code \d+ times, which took .* s of")


@pytest.mark.parametrize("delay", LAGS)
def test_python_code_gives_the_motion_of_the_compiled_servo(delay: float) -> None:
    given = {"inputs": GAINS, "sample": T, "delay": delay, "t_eval": T * np.arange(31), **TIGHT}
    known = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=servo, **given)
    with said_to_be_slow() as told:
        found = dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=in_python, python=True, **given)
    assert told[0].filename == __file__
    assert found.accepted == known.accepted
    np.testing.assert_allclose(found.q, known.q, rtol=0, atol=1e-14)  # rounding
    np.testing.assert_allclose(found.states["v"], known.states["v"], rtol=1e-12)


def coupled(t, q, qd, p):
    """Three motors at two coordinates, of which one has an inductance: sizes that all differ."""
    pull = p.kp * (0.3 - q) - p.kd * qd
    return [pull[0] - 0.1 * p.i[0], pull[1], 0.5 * (pull[0] + pull[1])]


def coupled_in_python(t, q, qd, p):
    pull = p.kp * (0.3 - q) - p.kd * qd
    return np.stack([pull[..., 0] - 0.1 * p.i[..., 0], pull[..., 1], 0.5 * (pull[..., 0] + pull[..., 1])], axis=-1)


def three_motors():
    one = MOTOR.replace(ratio=None)
    motors = {"a": one, "b": one.replace(inductance=0.0), "c": one.replace(inductance=0.0, voltage_limit=4.0)}
    return dal.DriveTrain(motors, [[50, 0], [0, 50], [20, 30]], ["joint1", "joint2"])


def test_more_motors_than_coordinates_are_held_each_for_itself() -> None:
    given = {"inputs": {"kp": np.array([[30.0], [50.0]]), "kd": 2.0}, "sample": 2e-3, "delay": 5e-3, "drive": three_motors()}
    start = [[0.2, 0.1], [0.4, 0.0]], [0.0, 0.0]
    known = dal.simulate_motors(dal.robots.pelican(), *start, voltage=coupled, t_eval=[0.0, 0.02, 0.1], **given, **TIGHT)
    with said_to_be_slow():
        found = dal.simulate_motors(
            dal.robots.pelican(), *start, voltage=coupled_in_python, python=True, t_eval=[0.0, 0.02, 0.1], **given, **TIGHT
        )
    assert known.states["v"].shape == (2, 3, 3)
    np.testing.assert_allclose(found.q, known.q, atol=1e-12)
    np.testing.assert_allclose(found.states["v"], known.states["v"], rtol=1e-9)


def pelican_servo(t, q, qd, p):
    return p.kp * (0.3 - q) - p.kd * qd + ops.sin(t)


PUSHED = {"sample": 2e-3, "delay": 3e-3, "wrenches": {"link2": [0.3, 0.2, 0.1, 0.0, 0.0, 0.4]}, "t_eval": [0.0, 0.03, 0.1]}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
def test_a_batch_is_its_rows_alone_by_any_number_of_threads(method: str, rng) -> None:
    starts, kp = rng.uniform(-0.5, 0.5, (9, 2)), rng.uniform(20.0, 60.0, (9, 1))
    phi = dal.parameters(PELICAN) * rng.uniform(0.9, 1.1, (9, 1))

    def run(rows, threads):
        inputs = {"kp": kp[rows], "kd": 2.0}
        return dal.simulate_motors(
            PELICAN, starts[rows], [0.0, 0.0], voltage=pelican_servo, inputs=inputs, parameters=phi[rows], threads=threads,
            method=method, **PUSHED,
        )  # fmt: skip

    whole, other = run(slice(None), 1), run(slice(None), 2)
    for a, b in ((whole.q, other.q), (whole.qd, other.qd), (whole.states["v"], other.states["v"])):
        np.testing.assert_array_equal(a, b)
    for k in (0, 4, 8):
        alone = run(slice(k, k + 1), 1)
        np.testing.assert_array_equal(alone.q[0], whole.q[k])
        np.testing.assert_array_equal(alone.states["i"][0], whole.states["i"][k])


@pytest.mark.parametrize("dense", [False, True])
def test_torques_power_and_balance_are_those_of_the_held_voltages(dense: bool) -> None:
    """The joint with inductance has 5 N m/A of its current, the other one of (v − 5 ω) / R."""
    given = {"voltage": pelican_servo, "inputs": {"kp": 40.0, "kd": 2.0}, "sample": 2e-3, "delay": 3e-3, "dense": dense}
    found = dal.simulate_motors(PELICAN, [0.2, 0.1], [0.0, 0.0], t_eval=np.linspace(0, 0.1, 41), **given, **TIGHT)
    v, i = found.states["v"], found.states["i"]
    known = np.c_[5.0 * i[:, 0], 5.0 * (v[:, 1] - 5.0 * found.qd[:, 1]) / 2.0]
    np.testing.assert_allclose(found.tau, known, rtol=1e-12, atol=1e-12)
    if dense:
        assert np.max(found.balance.relative) < 1e-8
    assert "v_1" in found.columns


@pytest.mark.parametrize("method", ["dop853", "rosenbrock"])
@pytest.mark.parametrize("python", [False, True])
def test_a_servo_drives_its_joint_into_a_stop_and_an_event_is_noted(method: str, python: bool) -> None:
    """At the stop the servo asks for 20 (1.5 − 1) V for ever, and the current settles at v / R."""
    links = [dal.Link("base"), dal.Link("rod", 1.0, (0.2, 0.0, 0.0), np.diag([0.01, 0.05, 0.05]))]
    joint = dal.Joint("pivot", "revolute", "base", "rod", axis=(0, 0, 1), limits=dal.Limits(-1.0, 1.0))
    robot = dal.Robot.from_parts("rod", links, [joint]).with_motors({"pivot": MOTOR})
    half = dal.Event(lambda t, q, qd, p: q[0] - 0.5, name="half way")
    given = {"sample": 2e-3, "delay": 1e-3, "events": [half], "stops": 0.0, "t_end": 0.6, "method": method, "python": python}
    function = (lambda t, q, qd, p: 20.0 * (1.5 - q)) if python else (lambda t, q, qd, p: [20.0 * (1.5 - q[0])])
    with said_to_be_slow() if python else nullcontext():
        motion = dal.simulate_motors(robot, [0.0], [0.0], voltage=function, **given)
    assert [event.name for event in motion.events[:2]] == ["half way", "pivot"]
    assert (motion.q[-1, 0], motion.qd[-1, 0]) == (1.0, 0.0)
    assert motion.states["i"][-1, 0] == pytest.approx(5.0, abs=1e-6)


def test_new_times_and_gains_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, given = wheel(MOTOR), {"voltage": servo, "t_end": 0.01}
    dal.simulate_motors(robot, [0.0], [0.0], inputs=GAINS, sample=T, delay=0.5 * T, **given)
    monkeypatch.setattr(run_kernels, "TimeLoopKernel", None)
    dal.simulate_motors(robot, [0.0], [0.0], inputs=GAINS | {"kp": 7.0}, sample=2 * T, delay=0.1 * T, **given)
    with pytest.raises(TypeError):  # so that a compilation would be noticed
        dal.simulate_motors(robot, [0.0], [0.0], inputs=GAINS, **given)


def test_a_voltage_that_is_not_finite_is_told_with_its_motor_and_time() -> None:
    def broken(t, q, qd, p):
        return ops.sqrt(0.01 - t)

    for sampled in ({}, {"sample": T}):
        with pytest.warns(dal.DalembertWarning, match=r"The voltage of 'pivot' is NaN at t = 0.01"):
            dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], voltage=broken, t_end=0.1, **sampled)


def branching(t, q, qd, p):
    return [1.0 if t > 0.1 else 0.0]


REFUSED = {
    "delay": ({"delay": 0.1}, ShapeError, "delay: found without sample, the time between two evaluations of the law"),
    "negative": ({"sample": T, "delay": -0.1}, ShapeError, "delay: -0.1 s found, a time of 0 s or more is expected"),
    "zero": ({"sample": 0.0}, ShapeError, "sample: 0.0 found, a number above 0 is expected"),
    "many": ({"sample": 1e-9}, ShapeError, "samples in 0.1 s; at most"),
    "numbers": ({"voltage": [1.0], "sample": T}, ShapeError, "sample: found without a function in voltage that could be sampled"),
    "no code": ({"voltage": [1.0], "python": True}, ShapeError, "python: found without a function in voltage"),
    "python": (
        {"python": True},
        ShapeError,
        "without sample, the time between two calls of the function in voltage.",
    ),
    "flag": ({"python": "yes", "sample": T}, ModelError, "python: 'yes' found"),
    "name": (
        {"sample": T, "inputs": GAINS | {"v": 1.0}},
        ShapeError,
        "v: the name of what a sampled law holds, found as",
    ),
    "input": ({"voltage": [1.0], "inputs": {"v": 1.0}}, ShapeError, "inputs: 'v' found, which is the name of the voltage here"),
    "count": (
        {"voltage": lambda t, q, qd, p: [0.0, 1.0], "sample": T},
        ExprError,
        "voltage: the function returned 2 voltages; one for each of the 1 motors is expected.",
    ),
    "code count": (
        {"voltage": lambda t, q, qd, p: np.zeros(2), "sample": T, "python": True},
        ShapeError,
        "voltage: the function returned shape (2,) at t = 0 s; voltages of shape (1,) are expected.",
    ),
    "branch": ({"voltage": branching}, ExprError, "voltage: the function could not be traced"),
    "branch sampled": ({"voltage": branching, "sample": T}, ExprError, "which is slow: python=True, sample=..."),
}


@pytest.mark.parametrize("options, kind, words", REFUSED.values(), ids=REFUSED)
def test_samples_that_make_no_sense_are_refused_in_a_sentence(options, kind, words) -> None:
    with pytest.raises(kind) as refusal:
        dal.simulate_motors(wheel(MOTOR), [0.0], [0.0], t_end=0.1, **{"voltage": servo, "inputs": GAINS, **options})
    assert words in str(refusal.value)
