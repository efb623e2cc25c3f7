"""Torque laws: the model inside, inputs and signals that are not compiled in, and when a kernel is used again."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.codegen import time_loop
from dalembert.errors import ExprError, ShapeError
from dalembert.expr import ops
from dalembert.simulate.fingerprint import fingerprint
from tests.robots import fresh

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture
def robot():
    return fresh("two_link_planar")


@pytest.fixture
def compiled(monkeypatch):
    """The time loops that were made."""
    made = []
    make = time_loop.TimeLoopKernel.__init__

    def counted(self, program, **options):
        made.append(program.name)
        make(self, program, **options)

    monkeypatch.setattr(time_loop.TimeLoopKernel, "__init__", counted)
    return made


def computed_torque(model):
    def law(t, q, qd, p):
        return model.mass_matrix(q) @ (p.kp * (p.target - q) - p.kd * qd) + model.bias(q, qd)

    return law


def test_computed_torque_makes_each_joint_a_linear_oscillator(robot):
    """With the model inside, q̈ = kp (target − q) − kd q̇, whose motion is known: critically damped for kd = 2 √kp."""
    times = np.linspace(0, 1, 21)
    gains = {"kp": 16.0, "kd": 8.0, "target": [1.0, -0.5]}
    law = computed_torque(dal.inside(robot))
    found = dal.simulate(robot, [0.0, 0.3], [0.0, 0.0], tau=law, inputs=gains, t_eval=times, **TIGHT)
    start, target = np.array([0.0, 0.3]), np.array([1.0, -0.5])
    known = target + (start - target) * (1 + 4 * times[:, None]) * np.exp(-4 * times[:, None])
    np.testing.assert_allclose(found.q, known, atol=1e-8)


def test_each_motion_has_its_own_inputs_and_nothing_is_compiled_for_them(robot, compiled):
    law = computed_torque(dal.inside(robot))
    kp = np.linspace(5.0, 50.0, 9)[:, None]
    gains = {"kp": kp, "kd": 2 * np.sqrt(kp), "target": [1.0, -0.5]}
    together = dal.simulate(robot, [0.0, 0.3], [0.0, 0.0], tau=law, inputs=gains, t_eval=[0.0, 0.5])
    assert together.q.shape == (9, 2, 2)
    assert len(compiled) == 1
    for k in (0, 8):
        own = {"kp": kp[k], "kd": 2 * np.sqrt(kp[k]), "target": [1.0, -0.5]}
        alone = dal.simulate(robot, [0.0, 0.3], [0.0, 0.0], tau=law, inputs=own, t_eval=[0.0, 0.5])
        np.testing.assert_array_equal(alone.q, together.q[k])
    assert len(compiled) == 2  # one for a batch, one for single motions


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4", "symplectic"])
def test_rollouts_take_inputs_and_signals(robot, method):
    """A reference per step: as if each step had been asked for by itself."""
    steps, dt = 50, 2e-3
    path = np.stack([np.sin(np.arange(steps) * dt), np.cos(np.arange(steps) * dt)], axis=-1)
    model = dal.inside(robot)

    def law(t, q, qd, p):
        return p.kp * (p.path - q) - 3.0 * qd + model.gravity_torque(q)

    found = dal.rollout(robot, [0.1, 0.2], [0, 0], law, dt=dt, method=method, inputs={"kp": 20.0}, signals={"path": path})
    q, qd = np.array([0.1, 0.2]), np.zeros(2)
    for k in range(steps):  # one step at a time, with numbers in place of signals
        numbers = {"kp": 20.0, "path": path[k]}
        step = dal.rollout(robot, q, qd, law, dt=dt, steps=1, method=method, inputs=numbers)
        q, qd = step.q[-1], step.qd[-1]
        if k > 3:
            break
    np.testing.assert_allclose(found.q[k + 1], q, atol=1e-12)


def test_signals_hold_or_go_on_a_line_between_their_samples(robot):
    times, rows = [0.0, 0.2, 0.5], np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])

    def law(t, q, qd, p):
        return p.pull

    for between in ("hold", "linear"):
        given = {"tau_times": times, "tau_between": between, "t_end": 0.7, **TIGHT}
        found = dal.simulate(robot, [0, 0], [0, 0], tau=law, signals={"pull": rows}, **given)
        known = dal.simulate(robot, [0, 0], [0, 0], tau=rows, **given)
        np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-13)


def test_a_law_that_does_the_same_is_not_compiled_again(robot, compiled):
    def made(gain):
        return lambda t, q, qd: [-gain * q[0], -gain * q[1]]

    for gain in (1.0, 1.0, 1):
        dal.simulate(robot, [0.1, 0], [0, 0], tau=made(gain), t_end=0.01)
    assert len(compiled) == 2  # 1 and 1.0 are told apart
    dal.simulate(robot, [0.1, 0], [0, 0], tau=made(2.0), t_end=0.01)
    assert len(compiled) == 3


def test_a_gain_in_an_array_that_changes_is_noticed(robot):
    gain = np.array([1.0, 1.0])

    def law(t, q, qd):
        return -gain * q

    first = dal.simulate(robot, [0.1, 0], [0, 0], tau=law, t_end=0.1).q[-1]
    gain[0] = 50.0
    second = dal.simulate(robot, [0.1, 0], [0, 0], tau=law, t_end=0.1).q[-1]
    assert np.abs(first - second).max() > 1e-4


class Holder:
    """Something that may change without anybody noticing."""

    gain = 1.0


def test_functions_have_keys_by_what_they_reach():
    holder, numbers = Holder(), [1.0, 2.0]
    assert fingerprint(lambda t: numbers[0] * np.sin(t)) is not None
    assert fingerprint(lambda t: holder.gain * t) is None
    assert fingerprint(lambda t: Holder.gain * t) is None
    assert fingerprint(computed_torque(dal.inside(fresh("pendulum")))) is not None

    def itself(t):
        return itself(t - 1) if t else 0

    assert fingerprint(lambda t: 0.0) != fingerprint(lambda t: -0.0)
    assert fingerprint(itself) is None  # closed over before it was bound: looked at no further than it can be


def test_kernels_of_laws_do_not_pile_up(robot):
    for gain in range(20):
        dal.rollout(robot, [0.1, 0], [0, 0], lambda t, q, qd, gain=gain: [-gain * q[0], 0.0], dt=1e-3, steps=1)
    kept = robot.kernels["rollout", ("laws",)]
    assert len(kept) == 16


def test_a_wrong_model_can_be_inside(robot):
    """A controller with the masses of another robot does not hold the arm where it should."""
    heavy = robot.replace(
        parameters=robot.parameters.replace(links=tuple(l.replace(mass=1.2 * l.mass) for l in robot.parameters.links))
    )
    hold = {"target": [0.3, 0.4], "kp": 30.0, "kd": 10.0}
    ends = []
    for model in (robot, heavy):
        law = computed_torque(dal.inside(model))
        ends.append(dal.simulate(robot, [0.3, 0.4], [0, 0], tau=law, inputs=hold, t_end=3.0).q[-1])
    np.testing.assert_allclose(ends[0], hold["target"], atol=1e-6)
    assert np.abs(ends[1] - hold["target"]).max() > 1e-2


def test_quantities_inside_are_those_of_the_functions(robot):
    """A kernel of one's own returns what the functions return."""
    puma = fresh("puma560")
    model, rng = dal.inside(puma), np.random.default_rng(3)
    q, qd, a, v = rng.normal(size=(4, 6))

    def everything(q, qd, a, v):
        M = model.mass_matrix(q)
        return (
            M.tolist(),
            model.solve(M, model.bias(q, qd)).tolist(),
            model.jacobian(q, frame="body").tolist(),
            (model.jacobian_dot(q, qd) @ qd).tolist(),
            model.forward_kinematics(q, "link3").tolist(),
            (model.tracking_regressor(q, qd, v, a) @ dal.parameters(puma, friction=False)).tolist(),
            model.friction_torque(q, qd).tolist(),
            model.solve(M, M @ M).tolist(),
        )

    names = ("M", "a", "J", "drift", "X", "tracking", "friction", "again")
    run = dal.kernel(everything, dict.fromkeys(("q", "qd", "a", "v"), (6,)), outputs=names)
    found = dict(zip(names, run(q, qd, a, v), strict=True))
    M, C, g = dal.mass_matrix(puma, q), dal.coriolis_matrix(puma, q, qd), dal.gravity_torque(puma, q)
    known = {
        "M": M,
        "a": np.linalg.solve(M, dal.bias(puma, q, qd)),
        "J": dal.jacobian(puma, q, frame="body"),
        "drift": dal.jacobian_dot(puma, q, qd) @ qd,
        "X": dal.forward_kinematics(puma, q, "link3"),
        "tracking": M @ a + C @ v + g,
        "friction": dal.friction_torque(puma, qd),
        "again": M,
    }
    for name, value in known.items():
        np.testing.assert_allclose(found[name], value, atol=1e-10, err_msg=name)


def test_a_controller_of_a_mechanism_has_its_model_inside():
    """Computed torque of a four-bar: its coordinate follows the linear oscillator."""
    crank = dal.mechanisms.crank_rocker()
    law = computed_torque(dal.inside(crank))
    times = np.linspace(0, 1, 5)
    gains = {"kp": 16.0, "kd": 8.0, "target": crank.q0 + 2.0}
    found = dal.simulate(crank, crank.q0, [0.0], tau=law, inputs=gains, t_eval=times, **TIGHT)
    known = crank.q0 + 2.0 - 2.0 * (1 + 4 * times[:, None]) * np.exp(-4 * times[:, None])
    np.testing.assert_allclose(found.q, known, atol=1e-8)


REFUSALS = {
    "inputs without a law": ({"inputs": {"kp": 1.0}}, r"^inputs: found without a function in tau"),
    "no mapping": (
        {"inputs": [1.0], "tau": lambda t, q, qd: q},
        r"^inputs: list found, a mapping such as \{'kp': 100.0\} expected",
    ),
    "a name that is none": ({"inputs": {"k p": 1.0}, "tau": lambda t, q, qd: q}, r"^inputs: 'k p' found as a name"),
    "signals without times": ({"signals": {"a": [[1.0]]}, "tau": lambda t, q, qd: q}, r"^signals: found without tau_times"),
    "signals of one row": (
        {"signals": {"a": [1.0]}, "tau": lambda t, q, qd: q, "tau_times": [0.0]},
        r"^signals: 'a' has the shape \(1,\); \(..., T, k\), a row per sample, is expected",
    ),
    "other times": (
        {"signals": {"a": [[1.0]]}, "tau": lambda t, q, qd: q, "tau_times": [0.0, 1.0]},
        r"^signals: 'a' has 1 rows, but 2 times are given",
    ),
    "no vector": ({"inputs": {"a": np.zeros((2, 0))}, "tau": lambda t, q, qd: q}, r"^inputs: 'a' has the shape \(2, 0\)"),
    "batches": (
        {"inputs": {"a": np.zeros((2, 1)), "b": np.zeros((3, 1))}, "tau": lambda t, q, qd: q},
        r"^inputs: leading axes do not broadcast together: a \(2, 1\), b \(3, 1\)",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_wrong_inputs_are_refused_in_a_sentence(robot, case):
    options, message = REFUSALS[case]
    with pytest.raises(ShapeError, match=message):
        dal.simulate(robot, [0, 0], [0, 0], t_end=0.1, **options)


def test_a_law_with_wrong_shapes_inside_is_refused_in_a_sentence(robot):
    model = dal.inside(robot)
    with pytest.raises(ExprError, match=r"could not be traced \(mass_matrix: q has the shape \(1,\); \(2,\) is expected"):
        dal.simulate(robot, [0, 0], [0, 0], tau=lambda t, q, qd: model.mass_matrix(q[:1]), t_end=0.1)
    with pytest.raises(ExprError, match=r"bias: 1 arguments found; q, qd are expected"):
        dal.simulate(robot, [0, 0], [0, 0], tau=lambda t, q, qd: model.quantity("bias", q), t_end=0.1)


# -- what was not a number --------------------------------------------------------------------------------------------------


def ends_at(when):
    """A law whose second torque ends being a number at that time."""
    return lambda t, q, qd: [0.0, ops.sqrt(when - t)]


def test_a_law_that_is_not_a_number_is_named_with_joint_and_time(robot):
    """Looked for from the last finite state on: at samples, within steps, in rows of torques and in wrenches."""

    def of(given, known):
        with pytest.warns(dal.DalembertWarning, match=f"{known} s.*a root of a negative number"):
            assert not dal.simulate(robot, [0.1, 0.2], [0, 0], t_end=0.1, **given).success

    of({"tau": ends_at(0.05)}, "The torque of 'joint2' is NaN at t = 0.05")
    of({"tau": ends_at(0.05), "sample": 0.02}, "The torque of 'joint2' is NaN at t = 0.06")
    of({"tau": [[0.0, 0.0], [np.nan, 0.0]], "tau_times": [0.0, 0.04]}, "The torque of 'joint1' is NaN at t = 0.04")
    of({"tau": lambda t, q, qd, p: p.a / (q - q), "inputs": {"a": 1.0}}, "The torque of 'joint1' is infinite at t = 0")
    push = {"tool": lambda t, q, qd: [ops.sqrt(0.03 - t), 0, 0, 0, 0, 0]}
    of({"wrenches": push}, "The wrench at 'tool' is NaN at t = 0.03")
    with pytest.warns(dal.DalembertWarning, match="The torque of 'joint2' is NaN at t = 0.06 s"):
        dal.rollout(robot, [0.1, 0.2], [0, 0], ends_at(0.05), dt=0.01, steps=10)


def test_the_motion_is_named_too_and_the_others_finish(robot):
    law = lambda t, q, qd, p: [ops.sqrt(p.top[0] - q[0]), 0.0]  # noqa: E731
    with pytest.warns(dal.DalembertWarning, match=r"1 of 3 motions .* torque of 'joint1' of motion 1 is NaN at t = 0"):
        found = dal.simulate(robot, [0.1, 0.2], [0, 0], tau=law, inputs={"top": [[9.0], [0.1 - 1e-9], [8.0]]}, t_eval=[0, 0.01])
    assert found.status.tolist() == [1, 3, 1]
    with pytest.warns(dal.DalembertWarning, match=r"1 of 3 motions .* torque of 'joint1' of motion 1 is NaN at t = 0"):
        dal.rollout(robot, [0.1, 0.2], [0, 0], law, inputs={"top": [[9.0], [0.1 - 1e-9], [8.0]]}, dt=1e-3, steps=5)


def test_python_code_that_returns_nan_is_named(robot):
    given = {"tau": lambda t, q, qd: [0.0, np.nan if t > 0.15 else 0.0], "python": True, "sample": 0.1}
    nan, slow = (pytest.warns(dal.DalembertWarning, match=m) for m in ("'joint2' is NaN at t = 0.2 s", "called as Python code"))
    with nan, slow:
        dal.simulate(robot, [0.1, 0.2], [0, 0], t_end=0.5, **given)
