"""Rollouts by a fixed step: orders, energy, torques, independence of the motions, and the sentence for each mistake."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertError, DalembertWarning, ExprError, ShapeError, UnknownNameError
from dalembert.expr import ops
from dalembert.model import Friction, Robot
from dalembert.simulate import METHODS, Rollout, rollout, simulate
from tests.robots import EVERYTHING, PLAIN, fresh, random_robot, without_friction


@pytest.fixture(scope="module")
def arm() -> Robot:
    return without_friction(fresh("two_link_planar"))


@pytest.fixture(scope="module")
def panda() -> Robot:
    return fresh("panda")


def by_hand(robot: Robot, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, h: float, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The same steps with `forward_dynamics` from Python."""

    def f(q, qd, t):
        return dal.forward_dynamics(robot, q, qd, t)

    for t in np.moveaxis(tau, -2, 0):
        if method == "semi_implicit_euler":
            qd = qd + h * f(q, qd, t)
            q = q + h * qd
        else:
            a = f(q, qd, t)
            v2, q2 = qd + h / 2 * a, q + h / 2 * qd
            b = f(q2, v2, t)
            v3, q3 = qd + h / 2 * b, q + h / 2 * v2
            c = f(q3, v3, t)
            v4, q4 = qd + h * c, q + h * v3
            d = f(q4, v4, t)
            q, qd = q + h / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + h / 6 * (a + 2 * b + 2 * c + d)
    return q, qd


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
def test_a_rollout_is_the_loop_written_in_python(method, count, panda, rng):
    """Every remainder of the lane count; 1e-13: the same operations, in slightly different order."""
    q0, qd0 = rng.uniform(-1, 1, (2, count, 7))
    tau = rng.uniform(-5, 5, (count, 6, 7))
    found = rollout(panda, q0, qd0, tau, dt=2e-3, method=method)
    q, qd = by_hand(panda, q0, qd0, tau, 2e-3, method)
    assert found.q.shape == found.qd.shape == (count, 7, 7)
    np.testing.assert_allclose(found.q[:, -1], q, atol=1e-13)
    np.testing.assert_allclose(found.qd[:, -1], qd, atol=1e-12)
    assert np.array_equal(found.q[:, 0], q0)
    assert np.array_equal(found.qd[:, 0], qd0)


@pytest.mark.parametrize(("method", "order"), [("semi_implicit_euler", 1), ("rk4", 4), ("symplectic", 2)])
def test_the_error_falls_with_the_order_of_the_method(method, order, arm):
    q0, qd0, tau = [0.7, -0.4], [0.3, 0.5], [0.5, -0.2]
    exact = simulate(arm, q0, qd0, tau=tau, t_eval=[1.0], rtol=1e-13, atol=1e-14)
    errors = []
    counts = (40, 80) if order == 4 else (200, 400)
    for steps in counts:
        end = rollout(arm, q0, qd0, tau, dt=1.0 / steps, steps=steps, every=steps, method=method)
        errors.append(np.abs(end.q[-1] - exact.q[-1]).max())
    slope = np.log2(errors[0] / errors[1])
    assert slope == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("name", ["pendulum", "two_link_planar"])
def test_the_energy_error_of_the_symplectic_method_stays_bounded_over_a_long_time(name):
    """10⁵ steps: the error swings but does not grow, unlike that of RK4 with four evaluations per step."""
    robot = without_friction(fresh(name))
    n = robot.n
    q0 = np.full(n, 0.5)
    motion = rollout(robot, q0, np.zeros(n), None, dt=0.01, steps=100_000, every=20, method="symplectic")
    energy = dal.energy(robot, motion.q, motion.qd).total
    error = np.abs(energy - energy[0])
    half = len(error) // 2
    scale = np.ptp(dal.energy(robot, motion.q, motion.qd).kinetic)
    assert error.max() < 0.02 * scale
    assert error[half:].max() < 1.5 * error[:half].max()


def test_the_symplectic_method_preserves_the_momentum_of_a_symmetry(arm):
    """Without gravity the first joint's momentum is conserved to rounding, whatever the step."""
    free = arm.with_gravity([0, 0, 0])
    motion = rollout(free, [0.3, 0.4], [0.7, -1.1], None, dt=0.02, steps=2000, method="symplectic")
    momentum = (dal.mass_matrix(free, motion.q) @ motion.qd[..., None])[:, 0, 0]
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_motions_of_a_batch_do_not_know_of_each_other(method, panda, rng):
    q0, qd0 = rng.uniform(-1, 1, (2, 6, 7))
    tau = rng.uniform(-5, 5, (6, 30, 7))
    together = rollout(panda, q0, qd0, tau, dt=2e-3, method=method)
    for k in range(6):
        alone = rollout(panda, q0[k], qd0[k], tau[k], dt=2e-3, method=method)
        np.testing.assert_allclose(alone.q, together.q[k], rtol=0, atol=1e-12)
        np.testing.assert_allclose(alone.qd, together.qd[k], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_that_breaks_down_is_told_and_leaves_its_neighbours_alone(method, arm):
    q0 = np.tile([0.3, 0.4], (5, 1))
    q0[2, 0] = np.nan
    with pytest.warns(
        DalembertWarning, match=r"^rollout: 1 of 5 motions left the finite numbers \(see `finite`\)\. Take a"
    ) as caught:
        motion = rollout(arm, q0, [0.0, 0.0], None, dt=1e-3, steps=20, method=method)
    assert [(warning.message.code, warning.filename) for warning in caught] == [("motion-failed", __file__)]
    assert motion.finite.tolist() == [True, True, False, True, True]
    assert "1 of 5 motions left the finite numbers" in motion.message
    assert np.isfinite(motion.q[[0, 1, 3, 4]]).all()


def test_fewer_states_are_those_of_the_full_rollout(arm):
    full = rollout(arm, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=60)
    some = rollout(arm, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=60, every=15)
    last = rollout(arm, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=60, every=60)
    assert np.array_equal(some.q, full.q[::15])
    assert np.array_equal(some.t, full.t[::15])
    assert np.array_equal(last.qd, full.qd[[0, -1]])


def test_torques_are_shared_or_held_or_one_per_motion(arm, rng):
    q0 = rng.uniform(-1, 1, (3, 4, 2))
    tau = rng.uniform(-1, 1, (9, 2))
    shared = rollout(arm, q0, [0.0, 0.0], tau, dt=1e-2)
    own = rollout(arm, q0, [0.0, 0.0], np.broadcast_to(tau, (3, 4, 9, 2)), dt=1e-2)
    assert np.array_equal(shared.q, own.q)
    held = rollout(arm, q0, [0.0, 0.0], tau[0], dt=1e-2, steps=9)
    repeated = rollout(arm, q0, [0.0, 0.0], np.tile(tau[0], (9, 1)), dt=1e-2)
    assert np.array_equal(held.q, repeated.q)
    many = rollout(arm, q0[0, 0], [0.0, 0.0], np.broadcast_to(tau, (5, 9, 2)), dt=1e-2)
    assert many.q.shape == (5, 10, 2)


@pytest.mark.parametrize("method", METHODS)
def test_a_controller_is_compiled_into_the_loop(method, arm):
    """A PD controller against the same torques given back as rows, where the method evaluates them once a step."""
    target = np.array([0.2, -0.5])

    def controller(t, q, qd):
        return [*(20.0 * (target - q) - 3.0 * qd)[:1], 20.0 * (target[1] - q[1]) - 3.0 * qd[1] + 0.1 * ops.sin(t)]

    end = rollout(arm, [0.0, 0.0], [0.0, 0.0], controller, dt=1e-3, steps=4000, every=4000, method=method)

    def numeric(t, q, qd):
        tau = 20.0 * (target - q) - 3.0 * qd
        return tau + [0.0, 0.1 * np.sin(t)]

    from scipy.integrate import solve_ivp

    def slope(t, y):
        return np.r_[y[2:], dal.forward_dynamics(arm, y[:2], y[2:], numeric(t, y[:2], y[2:]))]

    exact = solve_ivp(slope, (0, 4), np.zeros(4), method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    tolerance = {"semi_implicit_euler": 2e-3, "rk4": 1e-8, "symplectic": 1e-4}[method]
    np.testing.assert_allclose(end.q[-1], exact[:2], atol=tolerance)


def test_progress_is_told_and_changes_nothing(arm):
    seen: list[float] = []
    told = rollout(arm, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=120, every=2, method="symplectic", progress=seen.append)
    quiet = rollout(arm, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=120, every=2, method="symplectic")
    assert np.array_equal(told.q, quiet.q)
    assert np.array_equal(told.qd, quiet.qd)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) > 10


def test_results_go_where_they_are_wanted(arm):
    out = np.empty((3, 11, 2)), np.empty((3, 11, 2))
    motion = rollout(arm, np.zeros((3, 2)), [0.1, 0.2], None, dt=1e-3, steps=10, out=out)
    assert motion.q is out[0]
    assert motion.qd is out[1]
    assert np.isfinite(out[1]).all()


PLACES = {
    "an earlier result": lambda shape: Rollout(np.zeros(1), np.empty(shape), np.empty(shape), True),
    "every second motion": lambda shape: tuple(np.empty((2, 2 * shape[0], *shape[1:]))[:, ::2]),
    "by columns": lambda shape: tuple(np.empty(shape, order="F") for _ in range(2)),
    "unaligned": lambda shape: tuple(np.empty(8 * math.prod(shape) + 1, np.uint8)[1:].view(float).reshape(shape) for _ in "ab"),
}


@pytest.mark.parametrize("place", PLACES)
def test_results_go_to_arrays_of_any_layout(place, arm, rng):
    q0 = rng.uniform(-1, 1, (3, 2))
    out = PLACES[place]((3, 11, 2))
    motion = rollout(arm, q0, [0.1, 0.2], None, dt=1e-3, steps=10, out=out)
    q, qd = (out.q, out.qd) if isinstance(out, Rollout) else out
    assert motion.q is q
    assert motion.qd is qd
    wanted = rollout(arm, q0, [0.1, 0.2], None, dt=1e-3, steps=10)
    assert np.array_equal(q, wanted.q)
    assert np.array_equal(qd, wanted.qd)


def test_results_may_overlap_torques_and_initial_states(arm, rng):
    memory = rng.uniform(-1, 1, (3, 11, 2))
    q0, tau = memory[:, 3], memory[:, 1:]
    wanted = rollout(arm, q0.copy(), [0.1, 0.2], tau.copy(), dt=1e-3)
    found = rollout(arm, q0, [0.1, 0.2], tau, dt=1e-3, out=(memory, np.empty(memory.shape)))
    assert np.array_equal(found.q, wanted.q)
    assert np.array_equal(found.qd, wanted.qd)


OUTS = {
    r"out, qd: shape \(11, 2\) found, \(3, 11, 2\) expected\.": lambda a: (a, np.empty((11, 2))),
    r"out, q: int64 entries found, float64 expected, of shape \(3, 11, 2\)\.": lambda a: (a.astype(int), a),
    r"out: list found, a tuple of 2 NumPy arrays of float64: q \(3, 11, 2\), qd \(3, 11, 2\) expected\.": lambda a: [a, a.copy()],
    r"out: q and qd share memory": lambda a: (a, a),
}


@pytest.mark.parametrize("sentence", OUTS)
def test_an_out_that_does_not_fit_is_refused(sentence, arm):
    with pytest.raises(ShapeError, match=sentence):
        rollout(arm, np.zeros((3, 2)), [0.1, 0.2], None, dt=1e-3, steps=10, out=OUTS[sentence](np.empty((3, 11, 2))))


def test_threads_change_nothing(arm, rng):
    q0 = rng.uniform(-1, 1, (103, 2))
    one, three = (rollout(arm, q0, [0.0, 0.0], None, dt=1e-3, steps=20, threads=k) for k in (1, 3))
    assert np.array_equal(one.q, three.q)


def test_no_steps_and_no_motions_are_served(arm):
    assert rollout(arm, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=0).q.shape == (1, 2)
    assert rollout(arm, np.zeros((0, 2)), [0.0, 0.0], None, dt=1e-3, steps=5).q.shape == (0, 6, 2)


@pytest.mark.parametrize("method", METHODS)
def test_the_interpreter_gives_the_same_motion(method, monkeypatch, rng):
    robot = random_robot(rng, 3, EVERYTHING)
    q0, qd0 = rng.uniform(-1, 1, (2, 3, robot.n))
    tau = rng.uniform(-1, 1, (4, robot.n))
    compiled = rollout(robot, q0, qd0, tau, dt=1e-3, method=method)
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    plain = rollout(robot.replace(), q0, qd0, tau, dt=1e-3, method=method)
    np.testing.assert_allclose(plain.q, compiled.q, atol=1e-12)
    np.testing.assert_allclose(plain.qd, compiled.qd, atol=1e-10)


@pytest.mark.parametrize("n", [12, 24])
def test_dynamics_of_several_functions_or_loops_serve_too(n, rng, monkeypatch):
    """Beyond some 2700 operations the dynamics is cut into parts; rolled loops are taken up as they are."""
    from dalembert.dynamics import sizes

    if n == 12:
        monkeypatch.setattr(sizes, "FORWARD_RECURSION", 10)
        monkeypatch.setattr(sizes, "CHAIN_FORWARD_RECURSION", 10)
    robot = random_robot(rng, n, PLAIN)
    q0, qd0 = rng.uniform(-0.5, 0.5, (2, 3, robot.n))
    tau = rng.uniform(-1, 1, (3, 4, robot.n))
    found = rollout(robot, q0, qd0, tau, dt=1e-4)
    q, qd = by_hand(robot, q0, qd0, tau, 1e-4, "semi_implicit_euler")
    np.testing.assert_allclose(found.q[:, -1], q, atol=1e-11)
    np.testing.assert_allclose(found.qd[:, -1], qd, rtol=1e-9, atol=1e-9)


def test_friction_brings_the_arm_to_rest():
    robot = fresh("two_link_planar")
    parameters = robot.parameters.replace(friction={name: Friction(viscous=2.0) for name in robot.joint_names})
    damped = robot.replace(parameters=parameters)
    ends = [rollout(damped, [0.3, 0.4], [0.0, 0.0], None, dt=1e-3, steps=2000, every=2000, method=m).q[-1] for m in METHODS]
    energy = [float(dal.energy(damped, q, np.zeros(2)).potential) for q in ends]
    assert max(energy) < float(dal.energy(damped, [0.3, 0.4], [0.0, 0.0]).total)
    np.testing.assert_allclose(ends[2], ends[1], atol=1e-4)


MISTAKES = {
    "method: 'euler' is not known": {"method": "euler"},
    r"q0: shape \(3,\) found, \(..., 2\) expected": {"q0": [1, 2, 3]},
    r"qd0: text entries found, real numbers": {"qd0": "fast"},
    "leading axes do not broadcast": {"q0": np.zeros((3, 2)), "qd0": np.zeros((4, 2))},
    "dt: -0.1 found, a number above 0": {"dt": -0.1},
    "dt: nan found, a finite number": {"dt": np.nan},
    "steps: without torque rows": {"steps": None},
    "steps: 2.5 found; a whole number": {"steps": 2.5},
    "every: 3 found, which does not divide the 10 steps": {"every": 3},
    "every: 0 found; a whole number of 1 or more is expected": {"every": 0},
    r"tau: shape \(10, 3\) found, \(..., T, 2\)": {"tau": np.zeros((10, 3))},
    "steps: 10 found, but tau has 4 rows": {"tau": np.zeros((4, 2))},
    r"broadcast together: initial states \(3,\), tau \(4,\)": {"q0": np.zeros((3, 2)), "tau": np.zeros((4, 10, 2))},
    "tau: text entries found, real numbers": {"tau": "strong"},
    "out: ndarray found, a tuple of 2 NumPy arrays of float64: q ": {"out": np.zeros(3)},
    "system: str found, a Robot is expected": {"system": "arm"},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_gets_a_sentence(message, arm):
    call = {"system": arm, "q0": [0.1, 0.2], "qd0": [0.0, 0.0], "tau": None, "dt": 1e-3, "steps": 10} | MISTAKES[message]
    with pytest.raises((DalembertError, ShapeError, UnknownNameError), match=message):
        rollout(**call)


def test_a_function_of_arrays_only_is_refused_with_a_way_out(arm):
    with pytest.raises(ExprError, match="could not be traced .* python=True, sample="):
        rollout(arm, [0.1, 0.2], [0.0, 0.0], lambda t, q, qd: np.sin(q), dt=1e-3, steps=3)
    with pytest.raises(ExprError, match="returned 1 torques; one for each of the 2 coordinates"):
        rollout(arm, [0.1, 0.2], [0.0, 0.0], lambda t, q, qd: [q[0]], dt=1e-3, steps=3)


def test_a_controller_sees_what_it_refers_to_as_it_is_now(arm):
    """Nothing of an earlier call is kept for a function, whose gains may have changed."""
    gains = [0.0]
    first = rollout(arm, [0.3, 0.4], [0.0, 0.0], lambda t, q, qd: gains[0] * q, dt=1e-3, steps=50)
    gains[0] = -50.0
    second = rollout(arm, [0.3, 0.4], [0.0, 0.0], lambda t, q, qd: gains[0] * q, dt=1e-3, steps=50)
    assert np.abs(first.q - second.q).max() > 1e-5


def test_plain_random_robots_agree_with_the_loop_in_python(rng):
    robot = random_robot(rng, 4, PLAIN)
    q0, qd0 = rng.uniform(-1, 1, (2, robot.n))
    tau = rng.uniform(-1, 1, (5, robot.n))
    found = rollout(robot, q0, qd0, tau, dt=1e-3, method="rk4")
    q, _qd = by_hand(robot, q0, qd0, tau, 1e-3, "rk4")
    np.testing.assert_allclose(found.q[-1], q, atol=1e-12)
