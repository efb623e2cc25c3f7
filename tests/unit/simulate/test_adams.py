"""The Adams method of variable order: its formulas, its orders, how it begins anew, and every kind of torque and system."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.expr import ops
from dalembert.model import Robot
from dalembert.simulate import adams, adaptive_run
from tests.robots import FRICTIONLESS, fresh, random_robot, without_friction

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
ADAMS = {"method": "adams"}
GOAL = np.array([0.4, -0.2])


@pytest.fixture(scope="module")
def arm() -> Robot:
    return without_friction(fresh("two_link_planar"))


@pytest.mark.parametrize("order", range(1, 13))
def test_prediction_and_correction_are_exact_for_polynomials_of_their_orders(order, rng):
    """On unequal steps: order k integrates slopes of degree k − 1 exactly, the correction those of degree k."""
    times = np.cumsum(rng.uniform(0.5, 1.5, 15))
    h, distances = 0.8, times[-1] - times[-2:-14:-1]
    for degree, exact_prediction in ((order - 1, True), (order, False)):
        slope = np.polynomial.Polynomial(rng.normal(size=degree + 1), domain=[times[0], times[-1] + h], window=[-1, 1])
        integral = slope.integ()
        differences = newton_differences(times[::-1], slope)
        weights, estimates = split(adams._coefficients([h], list(distances), [float(order), 0.0, 0.0, 0.0]))
        point, _, *sums = adams._predicted(integral(times[-1]), *differences, *weights)
        exact, scale = integral(times[-1] + h), np.abs(differences).max()
        corrected = adams._corrected(estimates.correct, 0.0, point, slope(times[-1] + h), *sums, 1.0, 1.0)[0]
        assert corrected == pytest.approx(exact, abs=1e-9 * scale)
        assert (abs(point - exact) < 1e-9 * scale) == exact_prediction


def newton_differences(times, slope):
    """Φ_j = Π (x_n − x_{n−1−i}) times the divided difference, from their definition."""
    table = slope(times)
    found, product = [table[0]], 1.0
    for j in range(1, adams.DIFFERENCES):
        table = (table[:-1] - table[1:]) / (times[: len(table) - 1] - times[j:])
        product *= times[0] - times[j]
        found.append(product * table[0])
    return np.array(found)


def split(rows):
    *weights, _, estimates = rows
    return [x for row in weights[:5] for x in row], estimates


def test_the_integral_of_slopes_at_nodes_is_exact_for_all_degrees():
    """∫ θ^d = θ^(d+1) / (d + 1), from the nested form that `Solution` evaluates."""
    nodes = np.array([float(x) for x in adams.NODES])
    for degree in range(13):
        F = np.array(adams.integration()) @ nodes**degree
        for x in (0.25, 0.8, 1.0):
            value = 0.0
            for k, power in enumerate(F[::-1]):
                value = (value + power) * (x if k % 2 == 0 else 1.0 - x)
            assert value == pytest.approx(x ** (degree + 1) / (degree + 1), abs=1e-12)


def test_errors_follow_the_tolerance_and_high_orders_are_reached(arm):
    times = np.linspace(0.0, 3.0, 31)
    known = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], t_eval=times, rtol=1e-13, atol=1e-14)
    evaluations = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
        found = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], t_eval=times, rtol=tolerance, atol=tolerance, **ADAMS)
        assert np.abs(found.q - known.q).max() < 300 * tolerance
        evaluations.append(int(found.evaluations))
    # Of order 12 or so: a hundred times the accuracy for less than (100)^(1/8) as many evaluations.
    assert evaluations[-1] < 1.78 * evaluations[-2]
    explicit = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], t_eval=times, rtol=1e-12, atol=1e-12)
    assert evaluations[-1] < 0.7 * explicit.evaluations  # what Freeman advises it for


@pytest.mark.parametrize("seed", range(2))
def test_it_agrees_with_scipy_on_random_robots(seed):
    """1e-8 of the largest entry: a hundred times what a step may be off."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, FRICTIONLESS)
    q0, qd0 = rng.uniform(-0.5, 0.5, (2, robot.n))
    times = np.linspace(0.0, 0.2, 5)
    found = dal.simulate(robot, q0, qd0, t_eval=times, **ADAMS, **TIGHT)

    def slope(t, y):
        return np.r_[y[robot.n :], dal.forward_dynamics(robot, y[: robot.n], y[robot.n :], np.zeros(robot.n))]

    known = solve_ivp(slope, (0.0, 0.2), np.r_[q0, qd0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-13).y.T
    np.testing.assert_allclose(np.hstack([found.q, found.qd]), known, atol=1e-8 * max(1.0, np.abs(known).max()))


@pytest.mark.parametrize("between", ["hold", "linear"])
def test_it_begins_anew_at_each_sample(arm, rng, between):
    times, tau = np.linspace(0.0, 1.0, 6), rng.uniform(-20, 20, (3, 6, 2))
    start = {"q0": [0.2, 0.1], "qd0": [0.0, 0.3], "t_eval": np.linspace(0.0, 1.0, 8), "tau_times": times, "tau_between": between}
    found = dal.simulate(arm, **start, tau=tau, **ADAMS, **TIGHT)
    known = dal.simulate(arm, **start, tau=tau, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.q, known.q, atol=1e-8)
    np.testing.assert_allclose(found.qd, known.qd, atol=1e-8)


def test_controllers_and_further_states_enter(arm):
    def law(t, q, qd, p):
        return p.k * (GOAL - q) - 40.0 * qd + 20.0 * p.sum + 3.0 * ops.sin(5.0 * t)

    start = {"q0": [0.0, 0.0], "qd0": [0.0, 0.0], "tau": law, "inputs": {"k": 300.0}, "states": {"sum": np.zeros(2)}}
    start |= {"rates": lambda t, q, qd, p: GOAL - q, "t_eval": np.linspace(0.0, 1.0, 7)}
    found, known = dal.simulate(arm, **start, **ADAMS, **TIGHT), dal.simulate(arm, **start, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.q, known.q, atol=1e-9)
    np.testing.assert_allclose(found.states["sum"], known.states["sum"], atol=1e-9)


def test_a_motion_goes_on_from_call_to_call_as_if_it_were_one(arm, monkeypatch):
    options = {"t_end": 1.0, **ADAMS, **TIGHT}
    known = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], **options)
    monkeypatch.setattr(adaptive_run, "BUDGET", 7)
    found = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], **options)
    np.testing.assert_array_equal(found.q, known.q)


def test_each_motion_of_a_batch_has_its_own_order(arm, rng):
    q0, qd0, times = rng.uniform(-1, 1, (5, 2)), rng.uniform(-8, 8, (5, 2)), np.linspace(0.0, 1.0, 5)
    together = dal.simulate(arm, q0, qd0, t_eval=times, **ADAMS, **TIGHT)
    for k in range(5):
        alone = dal.simulate(arm, q0[k], qd0[k], t_eval=times, **ADAMS, **TIGHT)
        np.testing.assert_allclose(alone.q, together.q[k], rtol=0, atol=1e-12)
        assert alone.evaluations == together.evaluations[k]


def test_dense_output_is_as_accurate_as_the_steps(arm):
    found = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], t_end=1.0, dense=True, **ADAMS, **TIGHT)
    t = np.linspace(0.0, 1.0, 57)
    known = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], t_eval=t, rtol=1e-13, atol=1e-14)
    q, qd = found.solution(t)
    assert np.abs(q - known.q).max() < 1e-9
    assert np.abs(qd - known.qd).max() < 1e-8
    ends = found.solution(found.t)
    np.testing.assert_allclose(ends[0], found.q, atol=1e-14)


def test_the_steps_of_a_linkage_do_not_depend_on_the_times_that_are_asked_for():
    crank = dal.mechanisms.crank_rocker()
    start = {"q0": crank.q0, "qd0": [3.0], "tau": [0.3]}
    found = dal.simulate(crank, **start, t_eval=np.linspace(0.0, 1.0, 50), **ADAMS, **TIGHT)
    steps = dal.simulate(crank, **start, t_end=1.0, **ADAMS, **TIGHT)
    assert (found.accepted, found.rejected) == (steps.accepted, steps.rejected)
    np.testing.assert_allclose(found.q[-1], steps.q[-1], atol=1e-12)


def test_a_linkage_passes_its_dead_points():
    """In new coordinates it begins anew; energy and closures are kept."""
    crank = dal.mechanisms.crank_rocker()
    rocker = dal.Mechanism("rocker", crank.robot, crank.closures, ["joint3"], crank.seed)
    J = crank.equations(crank.seed)[1]
    speed = np.linalg.solve(J, [*np.zeros(len(crank.rows)), 8.0])[2]
    found = dal.simulate(rocker, crank.seed[2:3], [speed], t_end=2.0, **ADAMS, **TIGHT)
    assert found.success
    assert np.ptp(found.energy) < found.accepted * 1e-10 * np.abs(found.energy).max()  # a tolerance per step
    assert found.residual.max() < 1e-12


def test_without_a_compiler_the_steps_are_the_same(monkeypatch):
    steps = dal.simulate(fresh("pendulum"), [0.5], [0.0], t_end=0.3, **ADAMS).accepted
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    assert dal.simulate(fresh("pendulum"), [0.5], [0.0], t_end=0.3, **ADAMS).accepted == steps


def test_wrenches_limits_and_sampled_laws_act_too(arm):
    """What jumps at a sample starts the method anew, so that errors stay those of the tolerance."""

    def law(t, q, qd):
        return 300.0 * (GOAL - q) - 60.0 * qd

    given = {
        "tau": law,
        "sample": 0.05,
        "delay": 0.02,
        "saturate": [150.0, 60.0],
        "wrenches": {"tool": [30.0, -20.0, 0, 0, 0, 5.0]},
    }
    start = {"q0": [0.0, 0.0], "qd0": [0.0, 0.0], "t_eval": np.linspace(0.0, 0.3, 7)}
    found, known = (
        dal.simulate(arm, **start, **given, **ADAMS, **TIGHT),
        dal.simulate(arm, **start, **given, rtol=1e-12, atol=1e-13),
    )
    np.testing.assert_allclose(found.q, known.q, atol=1e-9)
    np.testing.assert_array_equal(found.states["held"].shape, known.states["held"].shape)
