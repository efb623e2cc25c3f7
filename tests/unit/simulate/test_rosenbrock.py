"""The stiff method: its order, its Jacobian, steps that do not grow with stiffness, and every kind of torque and system."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.errors import ModelError
from dalembert.expr import ops
from dalembert.model import Body, Friction, Joint, Link, Robot
from dalembert.simulate import rodas5p
from tests.robots import FRICTIONLESS, fresh, random_robot, without_friction

TIGHT = {"rtol": 1e-9, "atol": 1e-11}
LOOSE = {"rtol": 1e3, "atol": 1e3}  # every step is accepted, so first_step and max_step are the step
STIFF = {"method": "rosenbrock"}
GOAL = np.array([0.4, -0.2])


@pytest.fixture(scope="module")
def arm() -> Robot:
    return fresh("two_link_planar")


def chirp(t, q, qd):
    """Depends on all it can."""
    return [30.0 * (g - x) - 4.0 * v + 0.5 * ops.sin(3.0 * t * t) - x * v for g, x, v in zip(GOAL, q, qd, strict=True)]


def slider(mass: float = 2.0) -> Robot:
    """A mass on a horizontal rail."""
    link = Link("slider", bodies=(Body("load", mass, np.zeros(3), 0.1 * np.eye(3)),))
    return Robot.from_parts("rail", [Link("base"), link], [Joint("slide", "prismatic", "base", "slider", axis=(1, 0, 0))])


def test_the_coefficients_fulfil_the_conditions_of_their_form():
    """α_i = Σ_j α_ij and γ_i = Σ_j γ_ij, with Γ⁻¹ = 1/γ − C and α = A Γ: the nodes are told twice [HairerWanner1996, §IV.7]."""
    stages = rodas5p.STAGES
    C, A = np.zeros((2, stages, stages))
    for s in range(stages):
        C[s, :s], A[s, :s] = rodas5p.C[s], rodas5p.A[s]
    gamma = np.linalg.inv(np.eye(stages) / rodas5p.GAMMA - C)
    np.testing.assert_allclose((A @ gamma).sum(axis=1), rodas5p.NODES, atol=1e-13)
    np.testing.assert_allclose(gamma.sum(axis=1), rodas5p.SLOPES, atol=1e-13)
    assert (np.array(rodas5p.B) @ gamma).sum() == pytest.approx(1.0, abs=1e-13)


def slope_of_errors(arm, times, steps, pick):
    reference = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], tau=chirp, t_eval=times, rtol=1e-13, atol=1e-14)
    errors = []
    for h in steps:
        found = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], tau=chirp, t_eval=times, first_step=h, max_step=h, **STIFF, **LOOSE)
        assert found.rejected == 0
        errors.append(np.abs(pick(found) - pick(reference)).max())
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def test_the_order_is_five_and_that_of_the_interpolant_four(arm):
    """With a step as long as the rest of the interval, a half way in it is not reached by steps."""
    steps = 1.0 / np.array([16, 24, 32, 48])
    assert slope_of_errors(arm, [1.0], steps, lambda m: m.q) == pytest.approx(5.0, abs=0.35)
    assert slope_of_errors(arm, [1.0], steps, lambda m: m.qd) == pytest.approx(5.0, abs=0.35)
    between = np.linspace(0.0, 1.0, 480 * 2 + 1)
    assert slope_of_errors(arm, between, steps, lambda m: m.qd) > 3.8


@pytest.mark.parametrize("seed", range(2))
def test_it_agrees_with_other_integrators_on_random_robots(seed):
    """1e-7 of the largest entry, a hundred times what a step may be off."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, FRICTIONLESS)
    law = Friction(viscous=0.3, coulomb=0.2, width=0.1)
    robot = robot.replace(parameters=robot.parameters.replace(friction=dict.fromkeys(robot.joint_names, law)))
    q0, qd0 = rng.uniform(-0.5, 0.5, (2, robot.n))
    times = np.linspace(0.0, 0.2, 5)
    found = dal.simulate(robot, q0, qd0, t_eval=times, **STIFF, **TIGHT)
    explicit = dal.simulate(robot, q0, qd0, t_eval=times, rtol=1e-12, atol=1e-13)

    def slope(t, y):
        return np.r_[y[robot.n :], dal.forward_dynamics(robot, y[: robot.n], y[robot.n :], np.zeros(robot.n))]

    implicit = solve_ivp(slope, (0.0, 0.2), np.r_[q0, qd0], "Radau", t_eval=times, rtol=1e-10, atol=1e-12).y
    scale = max(1.0, np.abs(implicit).max())
    for known in (implicit.T, np.hstack([explicit.q, explicit.qd])):
        np.testing.assert_allclose(np.hstack([found.q, found.qd]), known, atol=1e-7 * scale)


@pytest.mark.parametrize("stiffness", [1e4, 1e8, 1e12])
def test_steps_do_not_grow_with_the_stiffness(arm, stiffness):
    """A joint on a spring and damper that get stiffer: the motion tends to that of the free joints, and so do the steps."""

    def law(t, q, qd, p):
        return [p.k * (0.3 - q[0]) - 0.1 * p.k * qd[0], 0.0]

    found = dal.simulate(arm, [0.4, 0.1], [0.0, 0.0], tau=law, inputs={"k": stiffness}, t_end=2.0, **STIFF)
    assert found.success
    assert found.accepted < 150
    assert found.q[-1, 0] == pytest.approx(0.3, abs=1e3 / stiffness + 1e-6)  # what it holds deflects it


def test_a_stiff_spring_has_its_closed_form():
    """m ẍ + d ẋ + k x = k sin t in the limit of large k and d: x follows (k sin t) / (k + d D + m D²) after its transient."""
    k, d, m = 1e9, 1e8, 2.0

    def law(t, q, qd):
        return [k * (ops.sin(t) - q[0]) - d * qd[0]]

    times = np.linspace(2.0, 4.0, 9)
    found = dal.simulate(slider(m), [0.0], [0.0], tau=law, t_eval=times, **STIFF, **TIGHT)
    phasor = k / (k + 1j * d - m)
    transient = -np.imag(phasor)  # of the slow root, near −k/d = −10
    expected = np.imag(phasor * np.exp(1j * times)) + transient * np.exp(-times * k / d)
    np.testing.assert_allclose(found.q[:, 0], expected, atol=3e-8)  # roots and weights of the transient to 1e-8
    assert found.accepted < 200


@pytest.mark.parametrize("between", ["hold", "linear"])
def test_sampled_torques_and_signals_enter(arm, rng, between):
    times, tau = np.linspace(0.0, 1.0, 6), rng.uniform(-2, 2, (6, 2))
    start = {"q0": [0.2, 0.1], "qd0": [0.0, 0.3], "t_eval": np.linspace(0.0, 1.0, 8), "tau_times": times, "tau_between": between}
    options = [{"tau": tau}, {"tau": lambda t, q, qd, p: p.u - 3.0 * p.u * qd - 5.0 * q, "signals": {"u": tau}}]
    for torque in options:
        found = dal.simulate(arm, **start, **torque, **STIFF, **TIGHT)
        known = dal.simulate(arm, **start, **torque, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found.q, known.q, atol=1e-8)
        np.testing.assert_allclose(found.qd, known.qd, atol=1e-7)


def test_the_time_in_a_law_does_not_lower_the_order():
    """ẍ = −1000 (ẋ − cos t) + ...: without ∂f/∂t the error would be that of order one."""
    robot = slider(1.0)
    found = dal.simulate(
        robot, [0.0], [1.0], tau=lambda t, q, qd: [1e3 * (ops.cos(t) - qd[0]) - ops.sin(t)], t_end=3.0, **STIFF, **TIGHT
    )
    np.testing.assert_allclose(found.q[:, 0], np.sin(found.t), atol=1e-8)
    assert found.accepted < 100


def test_currents_of_motors_are_further_states(arm):
    """L di/dt = u − R i − K ω with a time constant of 10 µs: a thousand times less than the steps."""
    L, R, K = 1e-5, 1.0, 5.0

    def law(t, q, qd, p):
        return K * p.current

    def rates(t, q, qd, p):
        return {"current": (300.0 * (GOAL - q) - R * p.current - K * qd) / L}

    start = {"q0": [0.0, 0.0], "qd0": [0.0, 0.0], "tau": law, "states": {"current": np.zeros(2)}, "rates": rates}
    times = np.linspace(0.0, 0.5, 6)
    found = dal.simulate(arm, **start, t_eval=times, **STIFF, **TIGHT)
    known = dal.simulate(arm, **start, t_eval=times, rtol=1e-10, atol=1e-10, max_steps=10**6)
    np.testing.assert_allclose(found.q, known.q, atol=1e-7)
    np.testing.assert_allclose(found.states["current"], known.states["current"], atol=1e-5)  # of 100 A
    assert found.accepted < known.accepted / 10


def test_a_controller_with_the_model_inside_is_differentiated_too(arm):
    model = dal.inside(arm)

    def law(t, q, qd):
        return model.mass_matrix(q) @ (1e6 * (GOAL - q) - 2e3 * qd) + model.bias(q, qd)

    frictionless = without_friction(arm)
    times = np.linspace(0.0, 0.05, 5)
    found = dal.simulate(frictionless, [0.0, 0.0], [0.0, 0.0], tau=law, t_eval=times, **STIFF, **TIGHT)
    decay = (1.0 + 1e3 * times) * np.exp(-1e3 * times)
    np.testing.assert_allclose(found.q, GOAL * (1.0 - decay[:, None]), atol=1e-8)


def test_motions_of_a_batch_do_not_see_each_other(arm, rng):
    q0, gains = rng.uniform(-1, 1, (5, 2)), 10.0 ** np.arange(2, 7)[:, None]

    def law(t, q, qd, p):
        return p.k * (GOAL - q) - 0.3 * p.k * qd

    together = dal.simulate(arm, q0, [0.0, 0.0], tau=law, inputs={"k": gains}, t_eval=[0.0, 0.5, 1.0], **STIFF)
    for k in range(5):
        alone = dal.simulate(arm, q0[k], [0.0, 0.0], tau=law, inputs={"k": gains[k]}, t_eval=[0.0, 0.5, 1.0], **STIFF)
        np.testing.assert_allclose(alone.q, together.q[k], atol=1e-10)
        assert alone.evaluations == together.evaluations[k]


def test_dense_output_goes_through_the_points(arm):
    found = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], tau=chirp, t_end=1.0, dense=True, **STIFF, **TIGHT)
    t = np.linspace(0.0, 1.0, 23)
    points = dal.simulate(arm, [0.5, -0.3], [1.0, 2.0], tau=chirp, t_eval=t, **STIFF, **TIGHT)
    q, qd = found.solution(t)
    np.testing.assert_allclose(q, points.q, atol=1e-12)
    np.testing.assert_allclose(qd, points.qd, atol=1e-12)


def test_without_a_compiler_the_steps_are_the_same(monkeypatch):
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    robot = fresh("pendulum")
    found = dal.simulate(robot, [0.5], [0.0], tau=lambda t, q, qd: [-1e4 * qd[0]], t_end=0.1, **STIFF)
    assert found.success
    assert found.accepted < 60


def test_a_linkage_agrees_with_the_explicit_method_and_keeps_its_closures():
    crank = dal.mechanisms.crank_rocker()
    times = np.linspace(0.0, 1.0, 11)
    found = dal.simulate(crank, crank.q0, [3.0], tau=[0.3], t_eval=times, **STIFF, **TIGHT)
    known = dal.simulate(crank, crank.q0, [3.0], tau=[0.3], t_eval=times, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.q, known.q, atol=1e-7)
    np.testing.assert_allclose(found.qd, known.qd, atol=1e-6)
    assert found.residual.max() < 1e-13


def test_a_linkage_passes_its_dead_points_under_a_stiff_law():
    """In other coordinates than the user's, a torque has derivatives of its own: that of the map between the two."""
    crank = dal.mechanisms.crank_rocker()
    rocker = dal.Mechanism("rocker", crank.robot, crank.closures, ["joint3"], crank.seed)
    J = crank.equations(crank.seed)[1]
    speed = np.linalg.solve(J, [*np.zeros(len(crank.rows)), 8.0])[2]

    def law(t, q, qd):
        return [0.2 - 0.02 * qd[0]]

    times = np.linspace(0.0, 2.0, 9)
    start = {"q0": crank.seed[2:3], "qd0": [speed], "tau": law, "t_eval": times}
    found, known = dal.simulate(rocker, **start, **STIFF, **TIGHT), dal.simulate(rocker, **start, rtol=1e-11, atol=1e-12)
    assert found.success
    np.testing.assert_allclose(found.q, known.q, atol=1e-6)


def test_a_system_too_large_is_refused_with_a_way_out():
    links = [Link("base"), *(Link(f"l{k}", bodies=(Body("b", 1.0, np.zeros(3), np.eye(3)),)) for k in range(45))]
    joints = [Joint(f"j{k}", "revolute", links[k].name, links[k + 1].name) for k in range(45)]
    chain = Robot.from_parts("chain", links, joints)
    with pytest.raises(ModelError, match="'rosenbrock' serves up to 44 coordinates.*'chain' has 45. Try 'dop853'"):
        dal.simulate(chain, np.zeros(45), np.zeros(45), t_end=0.1, **STIFF)


def test_the_explicit_method_tells_a_stiff_motion_from_a_long_one(arm):
    """High damping bounds its steps by stability; an undamped spring as stiff asks for as many steps by accuracy."""

    def damped(t, q, qd):
        return [1e6 * (g - x) - 1e5 * v for g, x, v in zip(GOAL, q, qd, strict=True)]

    with pytest.warns(dal.DalembertWarning, match="more than max_steps steps. Stability bounds the steps.*method='rosenbrock'"):
        found = dal.simulate(arm, [0.0, 0.0], [0.0, 0.0], tau=damped, t_end=50.0, max_steps=3000)
    assert found.stiff
    assert "max_steps" in found.message
    assert "try method='rosenbrock'" in found.message
    short = dal.simulate(arm, [0.0, 0.0], [0.0, 0.0], tau=damped, t_end=0.5)
    assert short.success
    assert "end of the interval" in short.message
    assert "rosenbrock" in short.message
    spring = dal.simulate(arm, [0.0, 0.0], [0.0, 0.0], tau=lambda t, q, qd: 1e8 * (GOAL - q), t_end=0.5)
    assert spring.accepted > 300
    assert not spring.stiff
    assert "stiff" not in spring.message
    assert dal.simulate(arm, [0.0, 0.0], [0.0, 0.0], tau=damped, t_end=50.0, max_steps=3000, **STIFF).success


def test_steep_friction_costs_no_more_steps_than_the_motion():
    """The PUMA with its own friction, smoothed over a millionth of a radian per second: joints stop and break loose."""
    puma = fresh("puma560").smoothed(1e-6)
    start = {"q0": np.linspace(0.3, 0.7, 6), "qd0": np.zeros(6), "t_end": 3.0}
    found = dal.simulate(puma, **start, rtol=1e-7, atol=1e-9, **STIFF)
    fine = dal.simulate(puma, **start, rtol=1e-10, atol=1e-12, **STIFF)
    assert found.accepted < 400
    np.testing.assert_allclose(found.q[-1], fine.q[-1], atol=1e-7)


@pytest.mark.parametrize("method", ["adams", "rosenbrock"])
def test_a_motion_that_breaks_down_leaves_the_others_alone(arm, method):
    q0 = np.array([[0.1, 0.2], [np.nan, 0.0], [0.3, 0.4]])
    with pytest.warns(dal.DalembertWarning, match="1 of 3 motions ended early.*left the finite numbers"):
        found = dal.simulate(arm, q0, [0.0, 0.0], t_eval=[0.0, 0.5], method=method)
    assert np.isnan(found.q[1]).all()
    assert np.isfinite(found.q[[0, 2]]).all()
