"""Motions of mechanisms: closures inside the time loop, dead points, starts, what is told when it goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as dal

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


@pytest.fixture(scope="module")
def crank():
    return dal.mechanisms.crank_rocker()


@pytest.fixture(scope="module")
def rocker(crank):
    """The same linkage with the rocker for its coordinate, which has two dead points in a turn of the crank."""
    return dal.Mechanism("rocker", crank.robot, crank.closures, ["joint3"], crank.seed)


def rates(mechanism, qd):
    """Rates of all joints at the seed, by the Jacobian."""
    J = mechanism.equations(mechanism.seed)[1]
    return np.linalg.solve(J, [*np.zeros(len(mechanism.rows)), *qd])


def test_a_motion_is_that_of_forward_dynamics_in_another_integrator(crank):
    def slope(t, y):
        return [y[1], dal.forward_dynamics(crank, y[:1], y[1:], [0.3])[0]]

    times = np.linspace(0, 1, 11)
    known = solve_ivp(slope, (0, 1), [crank.q0[0], 3.0], method="DOP853", t_eval=times, rtol=1e-10, atol=1e-12).y
    found = dal.simulate(crank, crank.q0, [3.0], tau=[0.3], t_eval=times, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.q[:, 0], known[0], atol=1e-8)  # both keep their own error below about 1e-9
    np.testing.assert_allclose(found.qd[:, 0], known[1], atol=1e-7)


def test_energy_and_closures_are_kept(crank):
    found = dal.simulate(crank, crank.q0, [3.0], t_end=10.0, **TIGHT)
    assert found.success
    assert np.ptp(found.energy) < 1e-9 * np.abs(found.energy).max()
    assert found.residual.max() < 1e-14
    assert found.x.shape == (len(found.t), 3)
    np.testing.assert_array_equal(found.x[:, 0], found.q[:, 0])


def test_the_energy_of_a_robot_is_in_its_result_too():
    pendulum = dal.robots.pendulum()
    found = dal.simulate(pendulum, [0.5], [0.0], t_end=1.0, **TIGHT)
    np.testing.assert_allclose(found.energy, dal.energy(pendulum, found.q, found.qd).total)
    assert not found.residual.any()


def test_a_linkage_passes_its_dead_points_a_hundred_times(crank, rocker):
    """The crank turns on while the rocker, which is the coordinate, comes to rest and turns round."""
    speed = rates(crank, [8.0])
    times = np.linspace(0.0, 50.0, 401)
    found = dal.simulate(rocker, rocker.q0, [speed[2]], t_eval=times, max_steps=10**6, **TIGHT)
    known = dal.simulate(crank, crank.q0, [8.0], t_eval=times, max_steps=10**6, **TIGHT)
    assert found.success
    turned = abs(found.x[-1, 0] - found.x[0, 0]) / (2 * np.pi)
    assert 2 * turned > 100  # two dead points in each turn
    # Errors grow with time as the phase drifts: 1e-11 a step over several thousand steps at rates of ten.
    np.testing.assert_allclose(found.x, known.x, atol=1e-5)
    assert np.ptp(found.energy) < 1e-8 * np.abs(found.energy).max()
    assert found.residual.max() < 1e-13


def test_torques_past_a_dead_point_are_still_those_of_the_chosen_coordinate(crank, rocker):
    """A torque at the rocker, in the coordinate of the crank: τ_crank = τ ∂rocker/∂crank."""
    speed = rates(crank, [5.0])
    rocker_angle = crank.robot.joint_names.index("joint3")

    def slope(t, y):
        x = crank.assemble(y[:1], near=np.array([y[0], *slope.x[1:]])).x
        slope.x = x
        pull = np.linalg.solve(crank.equations(x)[1], [0, 0, 1.0])[rocker_angle]
        return [y[1], dal.forward_dynamics(crank.at(x=x), y[:1], y[1:], [0.4 * pull])[0]]

    slope.x = crank.seed
    times = np.linspace(0, 2, 9)
    known = solve_ivp(slope, (0, 2), [crank.q0[0], 5.0], method="DOP853", t_eval=times, rtol=1e-9, atol=1e-11).y
    found = dal.simulate(rocker, rocker.q0, [speed[2]], tau=[0.4], t_eval=times, rtol=1e-10, atol=1e-12)
    assert rocker.charts
    np.testing.assert_allclose(found.x[:, 0], known[0], atol=1e-6)  # the tolerance of the other integrator, times its rates


def test_a_controller_sees_the_chosen_coordinates_past_a_dead_point(crank, rocker):
    speed = rates(crank, [5.0])
    times = np.linspace(0, 2, 21)
    damped = dal.simulate(rocker, rocker.q0, [speed[2]], tau=lambda t, q, qd: [-0.2 * qd[0] - q[0]], t_eval=times, **TIGHT)
    damper, spring = dal.Damper(0.2, joint="joint3"), dal.Spring(1.0, joint="joint3")
    inside = dal.Mechanism("damped", crank.robot, crank.closures, ["joint1"], crank.seed, springs=[spring], dampers=[damper])
    known = dal.simulate(inside, crank.q0, [5.0], t_eval=times, **TIGHT)
    assert len(rocker.charts) > 0
    np.testing.assert_allclose(damped.x, known.x, atol=1e-8)


def test_interpolants_are_in_the_chosen_coordinates_on_both_sides_of_a_dead_point(crank, rocker):
    speed = rates(crank, [5.0])
    times = np.linspace(0, 2, 101)
    q, qd = dal.simulate(rocker, rocker.q0, [speed[2]], t_end=2.0, dense=True, **TIGHT).solution(times)
    known = dal.simulate(crank, crank.q0, [5.0], t_eval=times, **TIGHT)
    np.testing.assert_allclose(q[:, 0], known.x[:, 2], atol=1e-8)
    J = crank.equations(known.x)[1]
    rate = np.linalg.solve(J, np.concatenate([np.zeros((101, 2)), known.qd], axis=-1)[..., None])[:, 2, 0]
    np.testing.assert_allclose(qd[:, 0], rate, atol=1e-7)


def test_interpolants_of_a_motion_with_a_start_of_its_own_pass_dead_points_too(crank, rocker):
    speed = rates(crank, [5.0])
    times = np.linspace(0, 2, 41)
    placed = rocker.at(near=rocker.seed)
    found = dal.simulate(placed, rocker.q0, [speed[2]], t_end=2.0, dense=True, **TIGHT)
    known = dal.simulate(rocker, rocker.q0, [speed[2]], t_eval=times, **TIGHT)
    np.testing.assert_allclose(found.solution(times)[0], known.q, atol=1e-10)
    np.testing.assert_allclose(found.energy, found.energy[0], rtol=1e-8)


def test_a_motion_does_not_depend_on_its_neighbours(crank, rocker):
    speeds = rates(crank, [1.0])[2] * np.linspace(0.5, 8.0, 11)[:, None]
    times = np.linspace(0, 1, 5)
    together = dal.simulate(rocker, np.tile(rocker.q0, (11, 1)), speeds, t_eval=times)
    for k in (0, 4, 10):
        alone = dal.simulate(rocker, rocker.q0, speeds[k], t_eval=times)
        np.testing.assert_array_equal(together.q[k], alone.q)
        np.testing.assert_array_equal(together.x[k], alone.x)


@pytest.mark.parametrize("method, order", [("semi_implicit_euler", 1), ("rk4", 4), ("symplectic", 2)])
def test_fixed_steps_have_the_order_of_their_method(crank, method, order):
    known = dal.simulate(crank, crank.q0, [3.0], t_end=0.5, **TIGHT).q[-1, 0]
    errors = [
        abs(dal.rollout(crank, crank.q0, [3.0], None, dt=0.5 / n, steps=n, method=method).q[-1, 0] - known) for n in (200, 400)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_a_rollout_in_pieces_is_the_same(crank):
    whole = dal.rollout(crank, crank.q0, [3.0], None, dt=1e-3, steps=500)
    pieces = dal.rollout(crank, crank.q0, [3.0], None, dt=1e-3, steps=500, progress=lambda share: None)
    np.testing.assert_array_equal(whole.q, pieces.q)


def test_the_branch_of_the_start_is_kept(crank):
    x = crank.seed
    other = dal.Mechanism("other", crank.robot, crank.closures, ["joint1"], [x[0], x[1] + 3.0, 2.0])
    start = other.assemble(crank.q0).x
    assert np.abs(start - x).max() > 0.5  # the other way to assemble it
    found = dal.simulate(crank.at(near=start), crank.q0, [3.0], t_eval=[0.0, 0.2], **TIGHT)
    known = dal.simulate(other, crank.q0, [3.0], t_eval=[0.0, 0.2], **TIGHT)
    np.testing.assert_allclose(found.x, known.x, atol=1e-9)


def test_a_start_out_of_reach_is_refused_and_marked_in_a_batch(rocker):
    with pytest.raises(dal.DalembertError, match=r"^mechanism 'rocker': it has no positions at joint3 = 0: .* stays off by"):
        dal.simulate(rocker, [0.0], [0.0], t_end=1.0)
    with pytest.warns(dal.DalembertWarning) as told:
        found = dal.simulate(rocker, [[0.0], rocker.q0], [[0.0], [0.1]], t_end=0.1)
    assert {warning.message.code for warning in told} == {"unreachable", "motion-failed"}
    assert np.isnan(found.q[0, -1]).all()
    assert found.status.tolist()[1] == 1


@pytest.mark.slow
def test_a_stewart_platform_keeps_its_energy_for_ten_seconds():
    """On springs in its legs, pushed; the drift is against the energy that goes to and fro, not against a large constant."""
    legs = dal.mechanisms.stewart()
    rest = legs.q0
    springs = [dal.Spring(2000.0, joint=name, rest=float(q)) for name, q in zip(legs.joint_names, rest, strict=True)]
    sprung = dal.Mechanism("sprung", legs.robot, legs.closures, legs.coordinates, legs.seed, springs=springs)
    found = dal.simulate(sprung, rest, [0.05, -0.05, 0.05, -0.05, 0.02, 0.01], t_end=10.0, rtol=1e-11, atol=1e-13)
    assert found.success
    kinetic = dal.energy(sprung.at(x=found.x), found.q, found.qd).kinetic
    assert np.ptp(found.energy) < 1e-10 * kinetic.max()
    assert found.residual.max() < 1e-13
