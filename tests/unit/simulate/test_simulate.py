"""Adaptive simulation: scipy's steps, closed forms, torques, dense output, and how failures are told."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import dalembert as dal
from dalembert.dynamics.robot_system import RobotSystem
from dalembert.dynamics.system import Coordinate
from dalembert.dynamics.transferred import Transferred
from dalembert.errors import DalembertError, DalembertWarning, ExprError, ShapeError, UnknownNameError
from dalembert.expr import ops
from dalembert.model import Body, Friction, Joint, Link, Robot
from dalembert.simulate import run_kernels, simulate
from tests.robots import EVERYTHING, FRICTIONLESS, fresh, random_robot, without_friction

TIGHT = {"rtol": 1e-8, "atol": 1e-10}


@pytest.fixture(scope="module")
def arm() -> Robot:
    return without_friction(fresh("two_link_planar"))


def peer(robot: Robot, q0, qd0, t_end, tau=None, **options):
    """scipy's integrator around `forward_dynamics`."""
    n = robot.n

    def slope(t, y):
        torque = np.zeros(n) if tau is None else tau(t, y[:n], y[n:])
        return np.r_[y[n:], dal.forward_dynamics(robot, y[:n], y[n:], torque)]

    return solve_ivp(slope, (0, t_end), np.r_[q0, qd0], method="DOP853", **options)


def damped(name: str, viscous: float = 0.1) -> Robot:
    robot = fresh(name)
    parameters = robot.parameters.replace(friction={joint: Friction(viscous=viscous) for joint in robot.joint_names})
    return robot.replace(parameters=parameters)


@pytest.mark.parametrize("name", ["pendulum", "two_link_planar", "scara", "stanford", "puma560", "panda"])
def test_the_steps_are_those_of_scipy(name):
    robot = damped(name)
    n = robot.n
    q0, qd0 = np.linspace(0.3, 0.7, n), np.linspace(-0.2, 0.4, n)
    found, expected = simulate(robot, q0, qd0, t_end=0.6, **TIGHT), peer(robot, q0, qd0, 0.6, **TIGHT)
    assert found.success
    assert (found.accepted, found.evaluations) == (len(expected.t) - 1, expected.nfev)
    np.testing.assert_allclose(found.t, expected.t, atol=1e-4)  # the error estimate is a difference, of few digits


@pytest.mark.parametrize("seed", range(3))
def test_the_motion_is_that_of_scipy_for_random_robots(seed):
    """1e-9 of the largest entry: rounding, amplified by the motion, stays below the tolerance of the steps."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 3, FRICTIONLESS)
    q0, qd0 = rng.uniform(-0.5, 0.5, (2, robot.n))
    t_eval = np.linspace(0, 0.2, 9)
    found = simulate(robot, q0, qd0, t_eval=t_eval, **TIGHT)
    expected = peer(robot, q0, qd0, 0.2, t_eval=t_eval, **TIGHT)
    assert found.evaluations == expected.nfev
    scale = max(1.0, np.abs(expected.y).max())
    np.testing.assert_allclose(found.q, expected.y[: robot.n].T, atol=1e-9 * scale)
    np.testing.assert_allclose(found.qd, expected.y[robot.n :].T, atol=1e-9 * scale)


def test_a_pendulum_has_the_period_of_the_elliptic_integral():
    """T = 4 sqrt(I / m g l) K(sin²(θ₀/2)); after it, the pendulum is back."""
    robot = without_friction(fresh("pendulum"))
    inertia = float(dal.mass_matrix(robot, [0.0])[0, 0])
    stiffness = -float(dal.gravity_torque(robot, [0.5 * np.pi])[0])
    rest = 0.0 if dal.gravity_torque(robot, [0.1])[0] > 0 else np.pi
    amplitude = 1.2
    period = 4 * np.sqrt(inertia / abs(stiffness)) * ellipk(np.sin(amplitude / 2) ** 2)
    motion = simulate(robot, [rest + amplitude], [0.0], t_eval=[0.0, period / 2, period], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(motion.q[:, 0] - rest, [amplitude, -amplitude, amplitude], atol=1e-9)


def test_a_sliding_mass_falls_by_half_g_t_squared():
    slider = Link("slider", bodies=(Body("load", 2.0, np.zeros(3), 0.1 * np.eye(3)),))
    robot = Robot.from_parts("lift", [Link("base"), slider], [Joint("slide", "prismatic", "base", "slider")])
    t = np.linspace(0, 2, 5)
    motion = simulate(robot, [1.0], [0.5], t_eval=t)
    np.testing.assert_allclose(motion.q[:, 0], 1.0 + 0.5 * t + 0.5 * robot.gravity[2] * t**2, atol=1e-12)


def test_each_motion_of_a_batch_has_its_own_steps(arm, rng):
    q0 = rng.uniform(-1, 1, (7, 2))
    qd0 = rng.uniform(-8, 8, (7, 2))
    t_eval = np.linspace(0, 1, 5)
    together = simulate(arm, q0, qd0, t_eval=t_eval, **TIGHT)
    assert len(set(together.accepted.tolist())) > 2
    for k in range(7):
        alone = simulate(arm, q0[k], qd0[k], t_eval=t_eval, **TIGHT)
        np.testing.assert_allclose(alone.q, together.q[k], rtol=0, atol=1e-12)
        assert alone.evaluations == together.evaluations[k]


def test_a_batch_without_times_gives_both_ends(arm):
    motion = simulate(arm, np.zeros((3, 2)), [0.1, 0.2], t_end=0.5)
    assert motion.t.tolist() == [0.0, 0.5]
    assert motion.q.shape == (3, 2, 2)
    assert motion.status.shape == (3,)


def test_dense_output_is_that_of_scipy(arm):
    q0, qd0 = [0.5, -0.3], [1.0, 2.0]
    found = simulate(arm, q0, qd0, t_end=1.0, dense=True, **TIGHT)
    expected = peer(arm, q0, qd0, 1.0, dense_output=True, **TIGHT)
    t = np.linspace(0, 1, 37)
    assert found.solution is not None
    q, qd = found.solution(t)
    np.testing.assert_allclose(np.hstack([q, qd]), expected.sol(t).T, atol=1e-11)
    assert found.evaluations == expected.nfev
    q, qd = found.solution(0.25)
    assert q.shape == (2,)
    at_points = simulate(arm, q0, qd0, t_eval=t, dense=True, **TIGHT)
    np.testing.assert_allclose(at_points.q, simulate(arm, q0, qd0, t_eval=t, **TIGHT).q, atol=1e-12)
    with pytest.raises(ShapeError, match="t: outside of the solution, which goes from 0.0 to 1.0 s"):
        found.solution([0.5, 1.5])


def test_a_controller_is_compiled_into_the_loop(arm):
    target = np.array([0.4, -0.2])

    def controller(t, q, qd):
        return [x + 0.5 * ops.sin(3.0 * t) for x in 30.0 * (target - q) - 4.0 * qd]

    def numeric(t, q, qd):
        return 30.0 * (target - q) - 4.0 * qd + 0.5 * np.sin(3.0 * t)

    t = np.linspace(0, 2, 6)
    found = simulate(arm, [0.0, 0.0], [0.0, 0.0], tau=controller, t_eval=t, **TIGHT)
    expected = peer(arm, [0.0, 0.0], [0.0, 0.0], 2.0, numeric, t_eval=t, **TIGHT)
    np.testing.assert_allclose(found.q, expected.y[:2].T, atol=1e-11)


def test_constant_torques_are_shared_or_one_per_motion(arm, rng):
    tau = rng.uniform(-1, 1, (4, 2))
    each = simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=tau, t_eval=[0.5])
    assert each.q.shape == (4, 1, 2)
    for k in range(4):
        alone = simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=tau[k], t_eval=[0.5])
        np.testing.assert_allclose(alone.q, each.q[k], atol=1e-12)


@pytest.mark.parametrize("between", ["hold", "linear"])
@pytest.mark.parametrize("first", [0.0, 0.2, -0.3])
def test_sampled_torques_are_held_or_joined_by_lines(between, first, arm, rng):
    """Against scipy run from sample to sample, so that no step crosses one."""
    times = first + np.array([0.0, 0.15, 0.4, 0.7])
    tau = rng.uniform(-3, 3, (4, 2))

    def torque(t):
        if between == "linear":
            return np.array([np.interp(t, times, column) for column in tau.T])
        return tau[max(0, np.searchsorted(times, t, side="right") - 1)]

    y, edges = np.array([0.3, -0.2, 0.0, 0.0]), np.unique(np.clip([0.0, *times, 1.0], 0.0, 1.0))
    for a, b in itertools.pairwise(edges):
        held = torque(0.5 * (a + b))

        def slope(t, y, held=held):
            now = torque(t) if between == "linear" else held
            return np.r_[y[2:], dal.forward_dynamics(arm, y[:2], y[2:], now)]

        y = solve_ivp(slope, (a, b), y, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    found = simulate(
        arm, [0.3, -0.2], [0.0, 0.0], tau=tau, tau_times=times, tau_between=between, t_eval=[1.0], rtol=1e-11, atol=1e-12
    )
    np.testing.assert_allclose(np.r_[found.q[-1], found.qd[-1]], y, atol=1e-8)
    several = simulate(arm, np.tile([0.3, -0.2], (3, 1)), [0.0, 0.0], tau=np.tile(tau, (3, 1, 1)), tau_times=times, t_end=1.0)
    assert several.success


def test_a_motion_that_breaks_down_is_told_and_leaves_its_neighbours_alone(arm):
    q0 = np.tile([0.3, 0.4], (5, 1))
    q0[3, 1] = np.inf
    with pytest.warns(
        DalembertWarning, match=r"^simulate: 1 of 5 motions ended early, and are NaN from there: 1 left the"
    ) as caught:
        motion = simulate(arm, q0, [0.0, 0.0], t_eval=[0.0, 0.5, 1.0])
    assert [(warning.message.code, warning.filename) for warning in caught] == [("motion-failed", __file__)]
    assert motion.status.tolist() == [1, 1, 1, 3, 1]
    assert not motion.success
    assert "1 of 5: The motion left the finite numbers." in motion.message
    assert np.isnan(motion.q[3]).all()
    assert np.isfinite(motion.q[[0, 1, 2, 4]]).all()


def test_a_torque_that_becomes_infinite_ends_the_motion_with_a_status(arm):
    with pytest.warns(DalembertWarning, match=r"^simulate: the motion ended early, since it (needed|left)"):
        motion = simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=lambda t, q, qd: [1.0 / (0.5 - t) ** 2, 0.0], t_end=1.0)
    assert int(motion.status) in (2, 3, 4)
    assert motion.t[-1] <= 0.5 + 1e-6
    assert np.isfinite(motion.q).all()


def test_the_number_of_steps_is_bounded(arm):
    with pytest.warns(DalembertWarning, match=r"needed more than max_steps steps\. Allow more max_steps, or a looser rtol\.$"):
        motion = simulate(arm, [0.1, 0.2], [0.0, 0.0], t_eval=[0.0, 5.0], max_steps=4, max_step=0.01)
    assert int(motion.status) == 4
    assert "max_steps" in motion.message
    assert motion.q[0].tolist() == [0.1, 0.2]
    assert np.isnan(motion.q[1]).all()


def test_dry_friction_that_jumps_elsewhere_is_named_where_it_makes_steps_short():
    """A pendulum that friction holds, in another coordinate, whose model knows no sticking: q̇ would have to stay zero."""
    pendulum = fresh("pendulum")
    held = pendulum.replace(parameters=pendulum.parameters.replace(friction={"pivot": Friction(0.0, 20.0)}))
    twice = Transferred(RobotSystem(held), [Coordinate("twice")], lambda u: [0.5 * u[0]])
    with pytest.warns(DalembertWarning, match=r"The dry friction of 'pivot' jumps .*: smooth the robot, smoothed\(width\)\.$"):
        assert not simulate(twice, [1.0], [0.6], t_end=2.0, max_steps=300).success


def test_failures_of_all_kinds_are_told_in_one_warning_that_can_be_filtered(arm):
    q0, qd0 = np.tile([0.3, 0.4], (4, 1)), np.zeros((4, 2))
    q0[0, 0], qd0[1] = np.nan, 1e3
    with pytest.warns(DalembertWarning) as caught:
        motion = simulate(arm, q0, qd0, t_eval=[0.0, 1.0], max_steps=60)
    counts = [int(np.sum(motion.status == status)) for status in (4, 3)]
    assert counts == [1, 1]
    (warning,) = caught
    assert str(warning.message) == (
        "simulate: 2 of 4 motions ended early, and are NaN from there: 1 needed more than max_steps steps, 1 left the finite "
        "numbers. Allow more max_steps, or a looser rtol. Look at the torques and initial states of these."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        simulate(arm, q0, qd0, t_eval=[0.0, 1.0], max_steps=60)


def test_long_runs_tell_their_progress_and_can_take_many_calls(arm):
    seen: list[float] = []
    motion = simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=5.0, max_step=1e-3, progress=seen.append)
    assert motion.success
    assert len(motion.t) == motion.accepted + 1 >= 5001
    assert np.all(np.diff(motion.t) > 0)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) >= 2


def test_first_and_longest_step_are_kept(arm):
    motion = simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=1.0, max_step=0.05, first_step=0.01)
    assert motion.t[1] == 0.01
    assert np.diff(motion.t).max() <= 0.05 + 1e-15
    expected = peer(arm, [0.1, 0.2], [0.0, 0.0], 1.0, max_step=0.05, first_step=0.01, rtol=1e-6, atol=1e-9)
    assert motion.evaluations == expected.nfev


def test_the_interpreter_gives_the_same_motion(monkeypatch):
    rng = np.random.default_rng(1)
    robot = random_robot(rng, 2, FRICTIONLESS)
    q0, qd0 = rng.uniform(-0.5, 0.5, (2, 2, robot.n))
    compiled = simulate(robot, q0, qd0, t_eval=[0.0, 0.03, 0.1])
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    plain = simulate(robot.replace(), q0, qd0, t_eval=[0.0, 0.03, 0.1])
    np.testing.assert_allclose(plain.q, compiled.q, atol=1e-11)
    assert np.array_equal(plain.evaluations, compiled.evaluations)


def test_energy_is_kept_without_friction_and_falls_with_it():
    free, slowed = without_friction(fresh("panda")), damped("panda")
    q0 = np.array([0.3, -0.5, 0.2, -1.8, 0.4, 1.9, 0.7])
    for robot, keeps in ((free, True), (slowed, False)):
        motion = simulate(robot, q0, np.zeros(7), t_end=0.5, rtol=1e-10, atol=1e-12)
        energy = dal.energy(robot, motion.q, motion.qd).total
        assert (np.ptp(energy) < 1e-7) == keeps
        assert energy[-1] <= energy[0] + 1e-7


MISTAKES = {
    "method: 'rk45' is not known": {"method": "rk45"},
    "t_end: neither t_end nor t_eval": {"t_end": None},
    "t_end: 0.0 s found, a time after t_start = 0.0 s": {"t_end": 0.0},
    "t_eval: a row of finite times in rising order": {"t_eval": [0.5, 0.2]},
    "t_eval: times from -1.0 to 0.5 s found, but": {"t_eval": [-1.0, 0.5]},
    "rtol: 0.0 found, a number above 0": {"rtol": 0.0},
    "first_step: 3.0 s found, longer than the whole motion": {"first_step": 3.0},
    "max_step: 'long' found, a number": {"max_step": "long"},
    r"tau: shape \(3,\) found, \(..., 2\) expected": {"tau": [1, 2, 3]},
    r"broadcast together: initial states \(3,\), tau \(4,\)": {"q0": np.zeros((3, 2)), "tau": np.zeros((4, 2))},
    "tau_times: found without an array": {"tau_times": [0.0, 1.0]},
    "tau_times: a row of finite times, each after": {"tau": np.zeros((2, 2)), "tau_times": [1.0, 0.0]},
    r"tau: shape \(3, 2\) found, \(..., 2, 2\)": {"tau": np.zeros((3, 2)), "tau_times": [0.0, 1.0]},
    "tau_between: 'cubic' is not known": {"tau": np.zeros((2, 2)), "tau_times": [0.0, 1.0], "tau_between": "cubic"},
    "system: list found": {"system": []},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_gets_a_sentence(message, arm):
    call = {"system": arm, "q0": [0.1, 0.2], "qd0": [0.0, 0.0], "t_end": 1.0} | MISTAKES[message]
    with pytest.raises((DalembertError, ShapeError, UnknownNameError), match=message):
        simulate(**call)


def test_a_function_of_arrays_only_is_refused_with_a_way_out(arm):
    with pytest.raises(ExprError, match="could not be traced .* rollout or simulate"):
        simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=1.0, tau=lambda t, q, qd: np.sin(q))


def test_robots_with_everything_run(rng):
    robot = without_friction(random_robot(rng, 4, EVERYTHING))
    motion = simulate(robot, np.zeros(robot.n), np.zeros(robot.n), t_eval=[0.05])
    assert motion.success


def test_the_coefficients_are_those_of_scipy():
    from scipy.integrate._ivp import dop853_coefficients as scipys

    from dalembert.simulate import tableau

    for name in ("A", "B", "C", "E3", "E5", "D"):
        assert np.array_equal(getattr(tableau, name), getattr(scipys, name))


NOT_FINITE = {
    "a position": {"q0": [np.nan, 0.0]},
    "a velocity": {"qd0": [np.inf, 0.0]},
    "a torque": {"tau": [np.nan, 0.0]},
    "a later sample of the torque": {"tau": [[0.0, 0.0], [np.nan, 0.0]], "tau_times": [0.0, 0.2]},
}


@pytest.mark.parametrize("where", NOT_FINITE)
@pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
def test_what_is_not_finite_is_told(where, arm):
    motion = simulate(arm, **({"q0": [0.1, 0.2], "qd0": [0.0, 0.0], "t_end": 0.4} | NOT_FINITE[where]))
    assert not motion.success
    assert "left the finite numbers" in motion.message


@pytest.mark.parametrize("returned", [["a", "b"], [None, 1.0], ["0.1", "0.2"], [10**400, 1.0], [1j, 0.0]])
def test_a_torque_function_that_returns_no_scalars_gets_a_sentence(returned, arm):
    with pytest.raises(ExprError, match="tau: the function could not be traced"):
        simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=0.1, tau=lambda t, q, qd: returned)


def test_times_that_are_no_numbers_are_refused_by_a_solution(arm):
    solution = simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=0.1, dense=True).solution
    with pytest.raises(ShapeError, match="t: text entries found, real numbers expected"):
        solution(["0.05"])


@pytest.mark.parametrize("name", sorted(set(dal.robots.__all__) - {"CATALOGUE", "chain"}))
def test_a_free_swing_keeps_its_energy_over_ten_seconds(name):
    """To 1e-11 of the largest kinetic energy or of the total, at a tolerance near rounding."""
    robot = without_friction(fresh(name))
    motion = simulate(robot, np.full(robot.n, 0.3), np.zeros(robot.n), t_eval=np.linspace(0, 10, 21), rtol=1e-12, atol=1e-13)
    assert motion.success
    total = motion.energies.total
    scale = max(abs(total[0]), motion.energies.kinetic.max())
    assert np.abs(total - total[0]).max() < 1e-11 * scale


def test_a_method_for_fixed_steps_is_sent_to_rollout(arm):
    with pytest.raises(
        UnknownNameError, match=r"method: 'variational' found, .* Take rollout\(..., method='symplectic', dt=...\)"
    ):
        simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=1.0, method="variational")


@pytest.mark.parametrize("method", ["dop853", "adams", "rosenbrock"])
def test_a_second_call_with_an_equal_controller_compiles_nothing(arm, method, monkeypatch):
    """Written anew in each call, as in a loop over runs; what it does is the same."""

    def run():
        def law(t, q, qd):
            return 30.0 * (0.2 - q) - 4.0 * qd

        return simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=law, t_end=0.5, method=method)

    first = run()
    monkeypatch.setattr(run_kernels, "TimeLoopKernel", None)
    np.testing.assert_array_equal(run().q, first.q)


@pytest.mark.parametrize("make", [dal.robots.two_link_planar, dal.mechanisms.four_bar])
def test_a_motion_that_takes_no_step_is_told_where_it_began(make) -> None:
    system = make()
    q0 = np.zeros(2) if system.n == 2 else np.array(system.q0)
    with pytest.warns(DalembertWarning, match="NaN|finite numbers"):
        motion = dal.simulate(system, q0, 0 * q0, tau=np.full(system.n, np.nan), t_eval=[0.0, 0.5, 1.0], dense=True)
    assert not motion.success
    np.testing.assert_array_equal(motion.q[0], q0)
    assert np.isnan(motion.q[1:]).all()
    np.testing.assert_array_equal(motion.solution(0.0)[0], q0)
    with pytest.warns(DalembertWarning, match="finite numbers"):
        lost = dal.simulate(system, q0 * np.nan, 0 * q0, t_eval=[0.0, 0.5, 1.0], dense=True)
    assert np.isnan(lost.q).all()
