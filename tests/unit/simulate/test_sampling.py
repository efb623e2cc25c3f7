"""Controllers that are sampled, held and late, and torques within limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.codegen import time_loop
from dalembert.errors import ShapeError
from dalembert.expr import ops
from tests.robots import fresh
from tests.unit.simulate.test_laws import compiled as compiled

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
LAGS = [0.0, 0.005, 0.02, 0.047]  # of 0.02 s: none, a part of a sample, one, two and a part
STARTED = {"kp": 900.0, "kd": 300.0}


@pytest.fixture
def robot():
    return fresh("two_link_planar")


def law(t, q, qd, p):
    wave = 1.0 + 0.1 * ops.sin(20.0 * t)
    return p.kp * (0.2 - q) - p.kd * qd + np.array([1000.0 * wave, 300.0 * wave])


def law_in_numbers(t, q, qd, kp=900.0, kd=300.0):
    wave = 1.0 + 0.1 * np.sin(20.0 * t)
    return kp * (0.2 - q) - kd * qd + np.array([1000.0 * wave, 300.0 * wave])


def piece_by_piece(system, law, q0, qd0, t_end, sample, delay, limits=np.inf):
    """The end of a motion by SciPy, from one sample or arrival to the next, each with one torque."""
    n, y, found = len(q0), np.r_[q0, qd0], []
    count = int(np.ceil(t_end / sample - 1e-9))
    events = {round(k * sample + late, 12) for k in range(count) for late in (0.0, delay)} | {t_end}
    events = sorted(event for event in events if event <= t_end)
    for begin, end in pairwise(events):
        if abs(begin - round(begin / sample) * sample) < 1e-9:
            found.append((begin, law(begin, y[:n], y[n:])))
        arrived = [u for t, u in found if t + delay <= begin + 1e-9]
        tau = np.clip(arrived[-1] if arrived else found[0][1], -limits, limits)
        y = solve_ivp(
            lambda t, y, tau=tau: np.r_[y[n:], dal.forward_dynamics(system, y[:n], y[n:], tau)],
            (begin, end), y, method="DOP853", **TIGHT,
        ).y[:, -1]  # fmt: skip
    return y[:n], y[n:]


@pytest.mark.parametrize("delay", LAGS)
def test_a_sampled_law_is_integrated_from_sample_to_sample(robot, delay):
    options = {"inputs": STARTED, "sample": 0.02, "delay": delay}
    q, qd = piece_by_piece(robot, law_in_numbers, [0.3, 0.5], [0, 1], 0.3, 0.02, delay)
    single = dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, t_end=0.3, **options, **TIGHT)
    many = dal.simulate(robot, [[0.3, 0.5]] * 5, [0, 1], tau=law, t_eval=np.linspace(0, 0.3, 8), **options, **TIGHT)
    for found in (single.q[-1], many.q[4, -1]):
        np.testing.assert_allclose(found, q, atol=1e-10)
    for found in (single.qd[-1], many.qd[4, -1]):
        np.testing.assert_allclose(found, qd, atol=1e-9)
    np.testing.assert_allclose(single.states["held"][0], law_in_numbers(0.0, np.array([0.3, 0.5]), np.array([0, 1])), rtol=1e-12)
    np.testing.assert_array_equal(single.states["held"][0], many.states["held"][2, 0])


def test_the_stiff_method_samples_at_the_same_times(robot):
    given = {"inputs": STARTED, "sample": 0.02, "delay": 0.026, "saturate": [950.0, 100.0], "t_end": 0.3}
    exact = dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, **given, **TIGHT)
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, method="rosenbrock", rtol=1e-9, atol=1e-10, **given)
    np.testing.assert_allclose(found.q[-1], exact.q[-1], atol=1e-8)


@pytest.mark.parametrize("delay", [0.0, 0.045])
@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4", "symplectic"])
def test_a_rollout_samples_its_law_at_the_same_times(robot, method, delay):
    q, _ = piece_by_piece(robot, law_in_numbers, [0.3, 0.5], [0, 1], 0.2, 0.02, delay)
    errors = []
    for dt in (0.0025, 0.00125):
        given = {"inputs": STARTED, "sample": 0.02, "delay": delay, "method": method}
        found = dal.rollout(robot, [[0.3, 0.5]] * 3, [0, 1], law, dt=dt, steps=round(0.2 / dt), **given)
        errors.append(np.abs(found.q[1, -1] - q).max())
    order = {"semi_implicit_euler": 1, "rk4": 4, "symplectic": 2}[method]
    assert errors[1] < 1e-12 or np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert errors[1] < {1: 1e-3, 2: 1e-6, 4: 1e-9}[order]


def test_a_mass_under_a_late_sampled_controller_follows_the_closed_form():
    """m ẍ = u with u held: x⁺ = x + T v + T² u / 2m, v⁺ = v + T u / m, u = −k x − d v of two samples before."""
    m, T, k, d = 2.0, 0.05, 30.0, 9.0
    slide = _mass(m)
    found = dal.simulate(
        slide, [0.4], [0.0], tau=lambda t, q, qd, p: -p.k * q - p.d * qd, inputs={"k": k, "d": d}, sample=T, delay=2 * T,
        t_eval=np.arange(41) * T, **TIGHT,
    )  # fmt: skip
    x, v, wanted, known = 0.4, 0.0, [-k * 0.4] * 3, []
    for _ in range(41):
        known.append(x)
        wanted = [-k * x - d * v, *wanted[:2]]
        x, v = x + T * v + T**2 * wanted[2] / (2 * m), v + T * wanted[2] / m
    np.testing.assert_allclose(found.q[:, 0], known, atol=1e-11)


def _mass(m):
    car = dal.model.Link("car", bodies=[dal.model.Body("car", m, inertia=np.eye(3))])
    joint = dal.model.Joint("slide", "prismatic", "base", "car", axis=(1.0, 0.0, 0.0))
    return dal.Robot.from_parts("mass", [dal.model.Link("base"), car], [joint])


def test_the_model_inside_a_sampled_law_with_signals_limits_wrenches_and_parameters(robot, rng):
    """All of it at once, against one step after the other of single rollouts."""
    model, dt = dal.inside(robot), 0.005
    path = np.cumsum(rng.uniform(-0.02, 0.02, (40, 2)), axis=0)
    phi = dal.parameters(robot) * rng.uniform(0.9, 1.1, (3, len(dal.parameters(robot))))

    def computed(t, q, qd, p):
        return model.mass_matrix(q) @ (100.0 * (p.path - q) - 20.0 * qd) + model.bias(q, qd)

    shared = {"parameters": phi, "wrenches": {"tool": [5.0, 9.0, 0, 0, 0, 3.0]}, "saturate": [1500.0, 350.0], "method": "rk4"}
    found = dal.rollout(
        robot, [0.3, 0.5], [0, 1], computed, dt=dt, signals={"path": path}, sample=4 * dt, delay=3 * dt, **shared
    )  # fmt: skip
    q, qd, wanted = np.tile([0.3, 0.5], (3, 1)), np.tile([0.0, 1.0], (3, 1)), {}
    for k in range(40):
        if k % 4 == 0:
            a = 100.0 * (path[k] - q) - 20.0 * qd
            wanted[k] = np.einsum("kij,kj->ki", dal.mass_matrix(robot, q), a) + dal.bias(robot, q, qd)
        tau = wanted[max([j for j in wanted if j + 3 <= k], default=0)]
        step = dal.rollout(robot, q, qd, tau[:, None], dt=dt, **shared)
        q, qd = step.q[:, -1], step.qd[:, -1]
    np.testing.assert_allclose(found.q[:, -1], q, atol=1e-12)
    assert np.abs(found.states["held"]).max() > 1500.0  # what is held is what the law wants


def test_continuous_torques_are_kept_within_limits(robot):
    limits = np.array([800.0, 150.0])
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, inputs=STARTED, saturate=limits, t_end=0.3, rtol=1e-10, atol=1e-12)

    def slope(t, y):
        tau = np.clip(law_in_numbers(t, y[:2], y[2:]), -limits, limits)
        return np.r_[y[2:], dal.forward_dynamics(robot, y[:2], y[2:], tau)]

    known = solve_ivp(slope, (0, 0.3), [0.3, 0.5, 0, 1], method="DOP853", rtol=1e-10, atol=1e-12, max_step=1e-3).y[:, -1]
    np.testing.assert_allclose(np.r_[found.q[-1], found.qd[-1]], known, atol=1e-7)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_results_have_the_torques_as_they_were_held_and_limited(robot, batch):
    """With interpolants the energy balance closes: the torque of each moment is the one that was in force."""
    limits = np.array([950.0, 100.0])
    given = {"tau": law, "inputs": STARTED, "sample": 0.02, "delay": 0.026, "saturate": limits, "t_eval": np.linspace(0, 0.3, 31)}
    found = dal.simulate(robot, np.broadcast_to([0.3, 0.5], (*batch, 2)), [0, 1], dense=True, **given, **TIGHT)
    np.testing.assert_array_equal(found.tau, np.clip(found.states["held"], -limits, limits))
    np.testing.assert_array_equal(found.saturated, np.abs(found.states["held"]) >= limits)
    assert 0 < found.saturated.mean() < 1
    assert np.max(found.balance.relative) < 1e-8
    plain = dal.simulate(robot, [0.3, 0.5], [0, 1], t_end=0.1)
    assert not plain.saturated.any()
    stepped = dal.rollout(robot, [0.3, 0.5], [0, 1], law, dt=0.002, steps=150, inputs=STARTED, saturate=limits)
    assert 0 < stepped.saturated.mean() < 1
    np.testing.assert_array_equal(stepped.saturated, np.abs(stepped.tau) == limits)


def test_limits_of_the_model_and_of_each_motion():
    robot = fresh("panda")
    tops = np.array([c.limits.effort for c in dal.dynamics.engine.system_of(robot).coordinates])
    start, options = np.full(7, 0.3), {"t_eval": [0.0, 0.05], **TIGHT}
    by_model = dal.simulate(robot, start, np.zeros(7), tau=np.full(7, 500.0), saturate=True, **options)
    given = dal.simulate(robot, start, np.zeros(7), tau=np.minimum(500.0, tops), **options)
    np.testing.assert_allclose(by_model.q, given.q, atol=1e-11)
    each = dal.simulate(robot, start, np.zeros(7), tau=np.full(7, 500.0), saturate=np.array([tops, tops / 2]), **options)
    np.testing.assert_allclose(each.q[0], given.q, atol=1e-11)
    half = dal.simulate(robot, start, np.zeros(7), tau=np.minimum(500.0, tops / 2), **options)
    np.testing.assert_allclose(each.q[1], half.q, atol=1e-11)


def test_new_times_gains_and_limits_compile_nothing(robot, compiled):
    for sample, delay, kp in ((0.02, 0.01, 900.0), (0.03, 0.002, 700.0), (0.01, 0.009, 500.0)):
        given = {"inputs": {"kp": kp, "kd": 300.0}, "sample": sample, "delay": delay, "saturate": [kp, kp]}
        dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, t_end=0.1, **given)
    assert len(compiled) == 1
    dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, t_end=0.1, inputs=STARTED, sample=0.01, delay=0.01)
    assert len(compiled) == 2  # one more place in the queue


def test_a_sampled_controller_of_a_mechanism_sees_its_coordinate_through_dead_points():
    crank = dal.mechanisms.slider_crank()

    def push(t, q, qd):
        return [0.05 * (6.0 - qd[0])]

    one, two = (
        dal.simulate(crank, [crank.q0] * 3, [[2.0], [4.0], [7.0]], tau=push, sample=0.01, delay=0.004, t_eval=[0, 1.5], threads=k)
        for k in (1, 2)
    )
    assert one.success
    np.testing.assert_array_equal(one.q, two.q)
    q, _ = piece_by_piece(crank, lambda t, q, qd: 0.05 * (6.0 - qd), crank.q0, [4.0], 0.2, 0.01, 0.004)
    short = dal.simulate(crank, crank.q0, [4.0], tau=push, sample=0.01, delay=0.004, t_end=0.2, **TIGHT)
    np.testing.assert_allclose(short.q[-1], q, atol=1e-8)


def test_the_end_of_a_long_run_does_not_depend_on_how_many_calls_it_takes(robot, monkeypatch):
    given = {"tau": law, "inputs": STARTED, "sample": 0.01, "delay": 0.025, "t_end": 0.5}
    whole = dal.simulate(robot, [0.3, 0.5], [0, 1], **given)
    monkeypatch.setattr(time_loop, "_LONGEST", 5e3)  # ns: a few steps in each call
    pieces = dal.simulate(fresh("two_link_planar"), [0.3, 0.5], [0, 1], **given)
    np.testing.assert_array_equal(whole.q, pieces.q)
    run = {"dt": 0.005, "steps": 100, "inputs": STARTED, "sample": 0.01, "delay": 0.025}
    straight = dal.rollout(robot, [0.3, 0.5], [0, 1], law, **run)
    told = dal.rollout(robot, [0.3, 0.5], [0, 1], law, progress=lambda share: None, **run)
    np.testing.assert_array_equal(straight.q, told.q)


def test_a_held_signal_and_the_time_are_seen_together(robot):
    """After a jump the slope is evaluated at the time of the jump, also where points were asked for just before."""
    times, rows = np.array([0.0, 0.1, 0.2]), np.array([[0.0, 0.0], [300.0, 10.0], [-100.0, 40.0]])

    def wave(t, q, qd, p):
        return p.pull * ops.cos(30.0 * t)

    given = {"tau": wave, "signals": {"pull": rows}, "tau_times": times}
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], t_eval=np.linspace(0, 0.3, 61), **given, **TIGHT)
    alone = dal.simulate(robot, [0.3, 0.5], [0, 1], t_end=0.3, **given, **TIGHT)
    np.testing.assert_allclose(found.q[-1], alone.q[-1], atol=1e-12)
    assert found.rejected == alone.rejected


def test_samples_and_limits_that_make_no_sense_are_refused_in_a_sentence(robot):
    def run(**given):
        return dal.simulate(robot, [0, 0], [0, 0], t_end=1.0, **{"tau": law, "inputs": STARTED, **given})

    with pytest.raises(ShapeError, match="delay: found without sample"):
        run(delay=0.1)
    with pytest.raises(ShapeError, match=r"delay: -0.1 s found, a time of 0 s or more"):
        run(sample=0.1, delay=-0.1)
    with pytest.raises(ShapeError, match="sample: 0.0 found, a number above 0"):
        run(sample=0.0)
    with pytest.raises(ShapeError, match=r"sample: 1e-09 s makes 1e\+09 samples in 1.0 s; at most"):
        run(sample=1e-9)
    with pytest.raises(ShapeError, match="at most 1000 are served. Is its unit seconds"):
        run(sample=1e-3, delay=5)
    with pytest.raises(ShapeError, match="sample: found without a function in tau"):
        dal.simulate(robot, [0, 0], [0, 0], t_end=1.0, tau=[1.0, 2.0], sample=0.1)
    with pytest.raises(ShapeError, match="held: the name of what a sampled law holds"):
        run(sample=0.1, inputs={**STARTED, "held": 3.0})
    with pytest.raises(ShapeError, match=r"saturate: shape \(3,\) found, \(..., 2\) expected"):
        run(saturate=[1, 2, 3])
    with pytest.raises(ShapeError, match="saturate: a limit of 'joint2' is negative or NaN"):
        run(saturate=[1.0, -2.0])
    with pytest.raises(ShapeError, match="saturate: True found, but no joint of the model has an effort limit"):
        run(saturate=True)
    for given, name in (({"sample": 0.013}, "sample"), ({"sample": 0.02, "delay": 0.013}, "delay")):
        with pytest.raises(ShapeError, match=f"{name}: 0.013 s found.*a whole number of steps of dt = 0.01 s"):
            dal.rollout(robot, [0, 0], [0, 0], law, dt=0.01, steps=10, inputs=STARTED, **given)


# -- functions that are Python code -----------------------------------------------------------------------------------------


def branching(t, q, qd, p):
    """What `law` does, in a way that cannot be traced."""
    wave = 1.0 + 0.1 * float(np.sin(20.0 * t))
    error = np.where(np.abs(0.2 - q) > 1e9, 0.0, 0.2 - q) if t >= 0 else None
    return p.kp * error - p.kd * qd + np.array([1000.0 * wave, 300.0 * wave])


def said_to_be_slow():
    return pytest.warns(dal.DalembertWarning, match=r"tau was called as Python code \d+ times, which took .* s of .* s")


@pytest.mark.parametrize("delay", LAGS)
def test_python_code_gives_the_motion_of_the_compiled_law(robot, delay):
    given = {"inputs": STARTED, "sample": 0.02, "delay": delay, "saturate": [950.0, 100.0]}
    known = dal.simulate(robot, [0.3, 0.5], [0, 1], tau=law, t_end=0.3, **given, **TIGHT)
    with said_to_be_slow():
        found = dal.simulate(robot, [0.3, 0.5], [0, 1], tau=branching, t_end=0.3, python=True, **given, **TIGHT)
    np.testing.assert_allclose(found.q[-1], known.q[-1], atol=1e-12)
    assert found.accepted == known.accepted  # a segment begins with the step that the one before has left
    np.testing.assert_allclose(found.states["held"][[0, -1]], known.states["held"][[0, -1]], rtol=1e-9)
    with said_to_be_slow():
        many = dal.simulate(
            robot, [[[0.3, 0.5]] * 3] * 2, [0, 1], tau=branching, t_eval=[0, 0.1, 0.3], python=True, **given, **TIGHT
        )
    assert many.q.shape == (2, 3, 3, 2)
    np.testing.assert_allclose(many.q[1, 2, -1], known.q[-1], atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "symplectic"])
def test_python_code_gives_the_rollout_of_the_compiled_law(robot, method):
    given = {"dt": 0.005, "steps": 40, "every": 5, "inputs": STARTED, "sample": 0.02, "delay": 0.045, "method": method}
    known = dal.rollout(robot, [[0.3, 0.5]] * 3, [0, 1], law, **given)
    with said_to_be_slow():
        found = dal.rollout(robot, [[0.3, 0.5]] * 3, [0, 1], branching, python=True, **given)
    np.testing.assert_allclose(found.q, known.q, atol=1e-12)
    np.testing.assert_allclose(found.states["held"], known.states["held"], rtol=1e-9)
    first = law_in_numbers(0.0, np.array([0.3, 0.5]), np.array([0.0, 1.0]))
    np.testing.assert_allclose(known.states["held"][1, 0], first, rtol=1e-12)


def test_python_code_finds_inputs_signals_and_states_of_the_whole_batch(robot):
    seen = []

    def watching(t, q, qd, p):
        seen.append((t, q.shape, p.gain.shape, p.path.tolist(), p.sum.shape))
        return -p.gain * q

    with said_to_be_slow():
        found = dal.simulate(
            robot, np.zeros((4, 2)), [0, 1], tau=watching, python=True, sample=0.1, t_eval=[0.0, 0.25],
            inputs={"gain": np.ones((4, 2))}, signals={"path": [[1.0], [2.0]]},
            tau_times=[0.0, 0.15], states={"sum": [0.0, 0.0]}, rates=lambda t, q, qd, p: q,
        )  # fmt: skip
    assert [round(t, 9) for t, *_ in seen] == [0.0, 0.1, 0.2]
    assert [path for *_, path, _ in seen] == [[1.0], [1.0], [2.0]]
    assert {(q, gain, z) for _, q, gain, _, z in seen} == {((4, 2), (4, 2), (4, 2))}
    assert found.states["sum"].shape == (4, 2, 2)


def test_python_code_steers_a_mechanism_through_dead_points():
    crank = dal.mechanisms.slider_crank()
    given = {"sample": 0.01, "t_eval": [0.0, 0.6], "rtol": 1e-9}
    known = dal.simulate(crank, [crank.q0] * 2, [[4.0], [7.0]], tau=lambda t, q, qd: [0.05 * (6.0 - qd[0])], **given)
    with said_to_be_slow():
        found = dal.simulate(crank, [crank.q0] * 2, [[4.0], [7.0]], tau=lambda t, q, qd: 0.05 * (6.0 - qd), python=True, **given)
    np.testing.assert_allclose(found.q, known.q, atol=1e-6)


def test_python_code_that_goes_wrong_is_told_of(robot):
    def run(function, **given):
        return dal.simulate(robot, [0, 0], [0, 0], t_end=0.3, **{"tau": function, "python": True, "sample": 0.1, **given})

    with pytest.raises(
        ShapeError, match=r"tau: the function returned shape \(3,\) at t = 0 s; torques of shape \(2,\) are expected"
    ):
        run(lambda t, q, qd: np.zeros(3))
    with pytest.raises(ShapeError, match="tau: the function returned 'much' at t = 0 s"):
        run(lambda t, q, qd: "much")
    with pytest.raises(ShapeError, match="python: True found without sample"):
        run(lambda t, q, qd: q, sample=None)
    with pytest.raises(ZeroDivisionError):
        run(lambda t, q, qd: 1 / 0)
    with pytest.raises(dal.errors.ExprError, match="python=True, sample="):
        run(lambda t, q, qd: [1.0 if t > 0 else 0.0, 0.0], python=False, sample=None)
