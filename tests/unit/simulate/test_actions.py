"""Wrenches and parameters of motions: constant, sampled, by functions, one set for each motion."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.errors import ExprError, ShapeError, UnknownNameError
from dalembert.expr import ops
from tests.robots import fresh
from tests.unit.simulate.test_laws import compiled as compiled

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
PUSH = np.array([5.0, -3.0, 8.0, 1.0, 2.0, -1.0])


@pytest.fixture
def robot():
    return fresh("two_link_planar")


def reference(system, q0, qd0, t, tau=lambda t, q, qd: 0.0, wrenches=lambda t, q, qd: None, breaks=(), **options):
    """The state at the end by SciPy around `forward_dynamics`, piece by piece between the breaks."""
    n = len(q0)

    def slope(t, y):
        q, qd = y[:n], y[n:]
        torque = np.broadcast_to(tau(t, q, qd), n)
        return np.r_[qd, dal.forward_dynamics(system, q, qd, torque, wrenches=wrenches(t, q, qd), **options)]

    y, times = np.r_[q0, qd0], [0.0, *breaks, t]
    for begin, end in pairwise(times):
        inside = (begin + 1e-13, end - 1e-13)  # the torque of a piece, at both of its ends
        y = solve_ivp(lambda s, y, a=inside: slope(min(max(s, a[0]), a[1]), y), (begin, end), y, method="DOP853", **TIGHT).y[
            :, -1
        ]
    return y[:n], y[n:]


def test_a_constant_wrench_is_that_of_forward_dynamics(robot):
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], wrenches={"tool": 20 * PUSH}, t_end=0.5, **TIGHT)
    q, qd = reference(robot, [0.3, 0.5], [0, 1], 0.5, wrenches=lambda *_: {"tool": 20 * PUSH})
    np.testing.assert_allclose(found.q[-1], q, atol=1e-9)
    np.testing.assert_allclose(found.qd[-1], qd, atol=1e-9)
    assert np.abs(found.q[-1] - dal.simulate(robot, [0.3, 0.5], [0, 1], t_end=0.5).q[-1]).max() > 1e-3


@pytest.mark.parametrize("between", ["hold", "linear"])
def test_samples_of_torques_and_wrenches_have_times_of_their_own(robot, between, rng):
    tau_times, wrench_times = [0.0, 0.2, 0.4], [0.1, 0.25]
    tau, push = rng.uniform(-50, 50, (3, 2)), rng.uniform(-50, 50, (2, 6))
    options = {"tau": tau, "tau_times": tau_times, "wrench_times": wrench_times, "tau_between": between}
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], wrenches={"tool": push}, t_end=0.5, **options, **TIGHT)

    def at(t, times, rows):
        if between == "linear":
            return np.array([np.interp(t, times, column) for column in rows.T])
        return rows[max(np.searchsorted(times, t, side="right") - 1, 0)]

    laws = {"tau": lambda t, *_: at(t, tau_times, tau), "wrenches": lambda t, *_: {"tool": at(t, wrench_times, push)}}
    q, qd = reference(robot, [0.3, 0.5], [0, 1], 0.5, breaks=[0.1, 0.2, 0.25, 0.4], **laws)
    np.testing.assert_allclose(found.q[-1], q, atol=1e-8)
    np.testing.assert_allclose(found.qd[-1], qd, atol=1e-8)


def test_a_wrench_may_be_a_function_with_inputs_and_the_model_inside(robot):
    """A spring at the tool towards a point, as a wrench; as torques by virtual work it is the same motion."""
    model, place = dal.inside(robot), np.array([0.5, 0.8])

    def spring(t, q, qd, p):
        X = model.forward_kinematics(q)
        return [p.k * (p.place[0] - X[0, 3]), p.k * (p.place[1] - X[1, 3]), 0.0, 0.0, 0.0, 0.0]

    inputs = {"k": 300.0, "place": place}
    found = dal.simulate(robot, [0.3, 0.5], [0, 0], wrenches={"tool": spring}, inputs=inputs, t_end=0.4, **TIGHT)

    def wrenches(t, q, qd):
        X = dal.forward_kinematics(robot, q)
        return {"tool": np.r_[300.0 * (place - X[:2, 3]), np.zeros(4)]}

    q, qd = reference(robot, [0.3, 0.5], [0, 0], 0.4, wrenches=wrenches)
    np.testing.assert_allclose(found.q[-1], q, atol=1e-9)
    np.testing.assert_allclose(found.qd[-1], qd, atol=1e-9)


def test_a_wrench_function_acts_beside_a_controller_and_further_states(robot):
    def law(t, q, qd, p):
        return p.kp * (0.2 - q) - 200.0 * qd + p.sum

    def gust(t, q, qd):  # which does not ask for inputs, though there are some
        return [0.0, 0.0, 0.0, 0.0, 0.0, 40.0 * ops.sin(9.0 * t)]

    found = dal.simulate(
        robot, [0.3, 0.5], [0, 0], tau=law, inputs={"kp": 900.0}, states={"sum": [0.0, 0.0]},
        rates=lambda t, q, qd, p: 500.0 * (0.2 - q), wrenches={"link2": gust}, t_end=0.4, **TIGHT,
    )  # fmt: skip

    def slope(t, y):
        q, qd, z = y[:2], y[2:4], y[4:]
        push = {"link2": [0, 0, 0, 0, 0, 40.0 * np.sin(9.0 * t)]}
        tau = 900.0 * (0.2 - q) - 200.0 * qd + z
        return np.r_[qd, dal.forward_dynamics(robot, q, qd, tau, wrenches=push), 500.0 * (0.2 - q)]

    known = solve_ivp(slope, (0, 0.4), [0.3, 0.5, 0, 0, 0, 0], method="DOP853", **TIGHT).y[:, -1]
    np.testing.assert_allclose(np.r_[found.q[-1], found.qd[-1], found.states["sum"][-1]], known, rtol=1e-8, atol=1e-8)


def test_each_motion_has_its_own_parameters_and_nothing_is_compiled_for_them(robot, compiled, rng):
    phi = dal.parameters(robot) * rng.uniform(0.8, 1.2, (7, len(dal.parameters(robot))))
    options = {"t_eval": [0.0, 0.3], **TIGHT}
    together = dal.simulate(robot, [0.3, 0.5], [0, 1], parameters=phi, **options)
    assert together.q.shape == (7, 2, 2)
    assert len(compiled) == 1
    for k in (0, 6):
        q, _ = reference(robot, [0.3, 0.5], [0, 1], 0.3, parameters=phi[k])
        np.testing.assert_allclose(together.q[k, -1], q, atol=1e-9)
    again = dal.simulate(robot, [0.3, 0.5], [0, 1], parameters=phi[::-1], **options)
    np.testing.assert_array_equal(again.q[::-1], together.q)
    assert len(compiled) == 1


def test_the_stiff_method_has_the_jacobians_of_wrenches_and_parameters(robot):
    """Its order shows that they are right: errors fall with the tolerance as those of the other method do."""

    def drag(t, q, qd):
        return [30.0 * ops.sin(7.0 * t) - 9.0 * qd[0], 40.0 * q[1], 0.0, 0.0, 0.0, -20.0 * qd[1]]

    given = {"wrenches": {"tool": drag}, "parameters": 1.2 * dal.parameters(robot), "tau": [50.0, 0.0], "t_end": 0.5}
    exact = dal.simulate(robot, [0.3, 0.5], [0, 1], **given, **TIGHT)
    stiff = [dal.simulate(robot, [0.3, 0.5], [0, 1], method="rosenbrock", rtol=r, atol=r, **given) for r in (1e-6, 1e-9)]
    errors = [np.abs(found.q[-1] - exact.q[-1]).max() for found in stiff]
    assert errors[1] < 3e-9
    ratio = np.log(errors[0] / errors[1]) / np.log(stiff[1].accepted / stiff[0].accepted)
    assert ratio == pytest.approx(5.0, abs=0.8)


def test_own_parameters_change_nothing():
    robot = fresh("ur5")
    own = dal.parameters(robot)
    plain = dal.simulate(robot, np.full(6, 0.3), np.zeros(6), t_end=0.2, **TIGHT)
    given = dal.simulate(robot, np.full(6, 0.3), np.zeros(6), parameters=own, t_end=0.2, **TIGHT)
    np.testing.assert_allclose(given.q[-1], plain.q[-1], atol=1e-10)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4", "symplectic"])
def test_rollouts_approach_the_motion_with_wrenches(robot, method):
    """A push by a function of time, and a constant one on another link."""

    def push(t, q, qd):
        return [20.0 * ops.sin(5.0 * t), 30.0, 0.0, 0.0, 0.0, 2.0]

    wrenches = {"tool": push, "link1": [0.0, 9.0, 0.0, 0.0, 0.0, 1.0]}
    exact = dal.simulate(robot, [0.3, 0.5], [0, 1], wrenches=wrenches, tau=[40.0, 5.0], t_end=0.25, **TIGHT).q[-1]
    errors = []
    for steps in (12, 24):
        found = dal.rollout(
            robot, [0.3, 0.5], [0, 1], [40.0, 5.0], dt=0.25 / steps, steps=steps, method=method, wrenches=wrenches
        )
        errors.append(np.abs(found.q[-1] - exact).max())
    order = {"semi_implicit_euler": 1, "rk4": 4, "symplectic": 2}[method]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_rollouts_take_parameters_and_rows_of_torques_and_samples_of_wrenches(robot, rng):
    """Row by row as single steps with the numbers of that row."""
    steps, dt = 6, 0.01
    tau, push = rng.uniform(-50, 50, (3, steps, 2)), rng.uniform(-50, 50, (2, 6))
    phi = dal.parameters(robot) * rng.uniform(0.9, 1.1, (3, len(dal.parameters(robot))))
    found = dal.rollout(
        robot, [0.3, 0.5], [0, 1], tau, dt=dt, parameters=phi, wrenches={"tool": push}, wrench_times=[0.0, 3 * dt], method="rk4"
    )
    q, qd = np.tile([0.3, 0.5], (3, 1)), np.tile([0.0, 1.0], (3, 1))
    for k in range(steps):
        given = {"parameters": phi, "wrenches": {"tool": push[0 if k < 3 else 1]}}
        step = dal.rollout(robot, q, qd, tau[:, k : k + 1], dt=dt, method="rk4", **given)
        q, qd = step.q[:, -1], step.qd[:, -1]
    np.testing.assert_allclose(found.q[:, -1], q, atol=1e-13)


def test_signals_serve_a_wrench_function_without_a_torque_function(robot):
    rows = np.linspace(0, 30, 40)[:, None] * np.ones(6)
    by_signal = dal.rollout(
        robot, [0.3, 0.5], [0, 1], None, dt=0.01, wrenches={"tool": lambda t, q, qd, p: p.push}, signals={"push": rows}
    )
    by_samples = dal.rollout(
        robot, [0.3, 0.5], [0, 1], None, dt=0.01, steps=40, wrenches={"tool": rows}, wrench_times=np.arange(40) * 0.01
    )
    np.testing.assert_array_equal(by_signal.q, by_samples.q)


def test_a_mechanism_is_pushed_through_its_dead_points():
    """The wrench acts in whatever coordinates the motion goes on; the batch is the same for any number of threads."""
    crank = dal.mechanisms.slider_crank()
    name = crank.link_names[-1]
    push = {name: np.array([[3.0, 1.0, 0, 0, 0, 0], [-2.0, 0, 0, 0, 0, 0]])}
    one, two = (dal.simulate(crank, crank.q0, [2.0], wrenches=push, t_eval=[0, 0.3], threads=k, **TIGHT) for k in (1, 2))
    np.testing.assert_array_equal(one.q, two.q)
    q, qd = reference(crank, crank.q0, [2.0], 0.3, wrenches=lambda *_: {name: push[name][0]})
    np.testing.assert_allclose(one.q[0, -1], q, atol=1e-8)
    np.testing.assert_allclose(one.qd[0, -1], qd, atol=1e-8)


def test_results_know_wrenches_and_parameters(robot):
    """Accelerations are those of forward dynamics with them."""

    def gust(t, q, qd):
        return [30.0 * ops.sin(9.0 * t), 20.0, 0.0, 0.0, 0.0, -5.0 * qd[1]]

    phi = np.array([0.9, 1.2])[:, None] * dal.parameters(robot)
    given = {"wrenches": {"tool": gust}, "parameters": phi, "tau": [100.0, -20.0], "t_eval": np.linspace(0, 0.5, 6)}
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], **given)
    zero = np.zeros_like(found.t)
    push = np.stack([30.0 * np.sin(9.0 * found.t), zero + 20.0, zero, zero, zero], axis=-1) + np.zeros((2, 1, 1))
    push = np.concatenate([push, -5.0 * found.qd[..., 1:]], axis=-1)
    known = dal.forward_dynamics(robot, found.q, found.qd, [100.0, -20.0], wrenches={"tool": push}, parameters=phi[:, None])
    np.testing.assert_allclose(found.qdd, known, rtol=1e-12, atol=1e-12)


def test_energies_with_parameters_are_those_of_a_robot_that_has_them(robot):
    """Twice the masses, twice the energy; with a payload by parameters, that of the robot with it; the balance closes."""
    given = {"tau": [100.0, -20.0], "wrenches": {"tool": PUSH}, "t_eval": np.linspace(0, 0.5, 6), "dense": True}
    phi = np.array([1.0, 2.0])[:, None] * dal.parameters(robot)
    found = dal.simulate(robot, [0.3, 0.5], [0, 1], parameters=phi, **given, **TIGHT)
    own = dal.energy(robot, found.q, found.qd)
    np.testing.assert_allclose(found.energies.kinetic, [[1.0], [2.0]] * own.kinetic, rtol=1e-12)
    np.testing.assert_allclose(found.energies.potential, [[1.0], [2.0]] * own.potential, rtol=1e-12)
    assert np.max(found.balance.relative) < 1e-8
    loaded = robot.with_payload(3.0, com=(0.1, 0.2, 0.0))
    held = dal.simulate(robot, [0.3, 0.5], [0, 1], parameters=dal.parameters(loaded), t_eval=[0.0, 0.2], **TIGHT)
    known = dal.simulate(loaded, [0.3, 0.5], [0, 1], t_eval=[0.0, 0.2], **TIGHT)
    np.testing.assert_allclose(held.energy, known.energy, rtol=1e-9)
    np.testing.assert_allclose(held.power.gravity, known.power.gravity, rtol=1e-8, atol=1e-8)


def test_the_result_is_the_same_to_the_bit_for_any_number_of_threads(rng):
    """Wrenches, parameters, limits, samples and a delay at once, of a batch that does not fill its last registers."""
    robot = fresh("ur5")
    own = dal.parameters(robot)
    given = {
        "parameters": own * rng.uniform(0.9, 1.1, (37, len(own))),
        "wrenches": {"tool": rng.uniform(-20, 20, (37, 6))},
        "saturate": np.full(6, 20.0),
        "sample": 0.01,
        "delay": 0.015,
    }

    def law(t, q, qd):
        return 50.0 * (0.1 - q) - 5.0 * qd

    start = rng.uniform(-0.5, 0.5, (37, 6))
    motions = [dal.simulate(robot, start, np.zeros(6), tau=law, t_eval=[0, 0.1], threads=k, **given).q for k in (1, 2, 5)]
    steps = [dal.rollout(robot, start, np.zeros(6), law, dt=0.005, steps=20, threads=k, **given).q for k in (1, 2, 5)]
    for found in (motions, steps):
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])
    one = {name: value[30] if name in ("parameters",) else value for name, value in given.items()}
    one["wrenches"] = {"tool": given["wrenches"]["tool"][30]}
    alone = dal.simulate(robot, start[30], np.zeros(6), tau=law, t_eval=[0, 0.1], **one)
    np.testing.assert_allclose(alone.q, motions[0][30], atol=1e-12)


def test_a_motion_with_parameters_that_are_not_numbers_is_marked_and_the_others_finish(robot):
    phi = np.tile(dal.parameters(robot), (3, 1))
    phi[1, 0] = np.nan
    with pytest.warns(dal.DalembertWarning, match="1 of 3 motions ended early"):
        found = dal.simulate(robot, [0.3, 0.5], [0, 1], parameters=phi, t_eval=[0.0, 0.1])
    assert found.status.tolist() == [1, 3, 1]
    np.testing.assert_array_equal(found.q[0], found.q[2])


def test_wrenches_and_parameters_that_do_not_fit_are_refused_in_a_sentence(robot):
    def run(**given):
        return dal.simulate(robot, [0, 0], [0, 0], t_end=0.1, **given)

    with pytest.raises(UnknownNameError, match="did you mean 'tool'"):
        run(wrenches={"tol": PUSH})
    with pytest.raises(ShapeError, match=r"shape \(5,\) found, \(..., 6\) expected.*Samples in time need wrench_times"):
        run(wrenches={"tool": PUSH[:5]})
    with pytest.raises(ShapeError, match=r"shape \(2, 6\) found, \(..., 3, 6\) expected"):
        run(wrenches={"tool": [PUSH, PUSH]}, wrench_times=[0, 1, 2])
    with pytest.raises(ShapeError, match="wrench_times: found without wrenches"):
        run(wrench_times=[0, 1, 2])
    with pytest.raises(ShapeError, match="wrench_times: found without samples"):
        run(wrenches={"tool": lambda t, q, qd: PUSH}, wrench_times=[0, 1, 2])
    with pytest.raises(ShapeError, match=r"parameters: shape \(3,\) found, \(..., 26\) expected, as `parameter_names` lists"):
        run(parameters=[1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match="leading axes do not broadcast together"):
        run(parameters=np.tile(dal.parameters(robot), (3, 1)), wrenches={"tool": np.tile(PUSH, (2, 1))})
    with pytest.raises(ExprError, match=r"wrenches\['tool'\]: the function returned 3 numbers; 6 are expected"):
        run(wrenches={"tool": lambda t, q, qd: [1.0, 2.0, 3.0]})
    with pytest.raises(ExprError, match=r"wrenches\['tool'\]: the function could not be traced"):
        run(wrenches={"tool": lambda t, q, qd: [1.0 if t > 0 else 0.0] * 6})
    with pytest.raises(ShapeError, match="'symplectic' found together with parameters"):
        dal.rollout(robot, [0, 0], [0, 0], None, dt=0.1, steps=1, method="symplectic", parameters=dal.parameters(robot))
