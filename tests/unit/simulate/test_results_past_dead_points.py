"""What results tell where the coordinates of a mechanism do not tell its positions: other coordinates, and motions, as judges."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.unit.simulate.blocks import block
from tests.unit.simulate.linkages import CHOICES, hanging, placed, rods, rubbing

FINE = {"rtol": 1e-10, "atol": 1e-12}
SPEEDS = (3.0, -2.0)


@pytest.fixture(scope="module")
def seed():
    return rods().seed


@pytest.fixture(scope="module")
def pair():
    """A linkage that rubs and swings on a spring and a damper, with its crank for the coordinate, and with its rocker.

    The rocker has two dead points in a turn of the crank.
    """
    crank = dal.mechanisms.crank_rocker()
    joined = {"springs": [dal.Spring(3.0, joint="joint2")], "dampers": [dal.Damper(0.02, joint="joint2")]}
    one = rubbing(dal.Mechanism("crank", crank.robot, crank.closures, ["joint1"], crank.seed, **joined), 0.02, 0.01)
    return one, one.replace(coordinates=["joint3"])


def speed_of(crank, speed):
    """The rate of the rocker."""
    J = crank.equations(crank.seed)[1]
    return np.linalg.solve(J, [0.0, 0.0, speed])[2:]


@pytest.mark.slow
@pytest.mark.parametrize("choice", [CHOICES[1], CHOICES[3]])
@pytest.mark.parametrize("friction", [(0.0, 0.3), (0.05, 0.1)])
def test_the_energy_balance_closes(seed, choice, friction):
    """Power was taken by the coordinates, which lost 2.5 J of what rubs at joints within loops."""
    mechanism = rubbing(hanging(choice), *friction)
    motion = dal.simulate(mechanism, placed(mechanism, seed), SPEEDS, t_end=3.0, dense=True, **FINE)
    assert len(mechanism.charts) > 0
    assert motion.success
    assert motion.balance.relative < 1e-9
    assert motion.balance.turnover > 10.0
    np.testing.assert_allclose(motion.solution.tree(motion.t)[1], motion.xd, rtol=0, atol=1e-7)


def test_a_motion_tells_the_same_in_other_coordinates(pair):
    """Energies, power by cause, positions and rates of all joints, at and beside dead points; the crank has none."""
    crank, rocker = pair
    times = np.linspace(0.0, 2.0, 801)
    known = dal.simulate(crank, crank.q0, [6.0], t_eval=times, **FINE)
    found = dal.simulate(rocker, rocker.q0, speed_of(crank, 6.0), t_eval=times, **FINE)
    assert np.sum(np.diff(np.sign(found.qd[:, 0])) != 0) > 3  # it turned round
    scale = np.abs(known.power.kinetic_rate).max()
    for part in ("gravity", "springs", "viscous", "dry", "dampers"):
        np.testing.assert_allclose(getattr(found.power, part), getattr(known.power, part), rtol=0, atol=1e-6 * scale)
        assert np.abs(getattr(known.power, part)).max() > 1e-4 * scale
    np.testing.assert_allclose(found.energies.kinetic, known.energies.kinetic, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.energies.potential, known.energies.potential, rtol=1e-6)
    np.testing.assert_allclose(found.x, known.x, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.xd, known.xd, rtol=0, atol=1e-6)


@pytest.mark.parametrize("law", [None, lambda t, q, qd: [0.3 - 0.1 * qd[0]]])
def test_accelerations_are_those_of_the_motion(pair, law):
    crank, rocker = pair
    h, times = 1e-6, np.linspace(0.001, 1.999, 500)
    motion = dal.simulate(rocker, rocker.q0, speed_of(crank, 6.0), tau=law, t_eval=times, t_end=2.0, dense=True, **FINE)
    apart = np.abs(np.subtract.outer(times, [e.t for e in motion.events] or [-1.0])).min(-1) > 2 * h
    known = (motion.solution(times + h)[1] - motion.solution(times - h)[1]) / (2 * h)
    assert np.isfinite(motion.qdd).all()
    assert np.abs(motion.qdd - known)[apart].max() < 1e-6 * np.abs(known).max()  # differences of an interpolant of order 7
    rates = (motion.solution.tree(times + h)[0] - motion.solution.tree(times - h)[0]) / (2 * h)
    np.testing.assert_allclose(motion.xd, rates, rtol=0, atol=1e-7 * np.abs(rates).max())


def test_samples_have_a_balance_too_and_so_have_batches(pair):
    crank, rocker = pair
    start, times = speed_of(crank, 6.0), np.linspace(0.0, 1.0, 2001)
    smooth = rocker.smoothed(0.5)
    sampled = dal.simulate(smooth, rocker.q0, start, t_eval=times, **FINE)
    assert sampled.balance.relative < 1e-8
    batch = dal.simulate(rocker, rocker.q0, [start, 0.5 * start], t_end=1.0, dense=True, **FINE)
    assert batch.x.shape == batch.xd.shape == (2, 2, 3)
    assert (batch.balance.relative < 1e-8).all()


def test_given_parameters_have_their_power_beside_springs_and_dampers(pair):
    crank, rocker = pair
    start, options = speed_of(crank, 6.0), {"t_end": 1.0, "dense": True, **FINE}
    motion = dal.simulate(rocker, rocker.q0, start, parameters=dal.parameters(crank.robot) * 1.1, **options)
    assert motion.balance.relative < 1e-8
    assert motion.power.viscous.min() < -0.01
    assert np.abs(motion.power.springs).max() > 0.1
    assert motion.power.dampers.min() < -0.01
    own = dal.simulate(rocker, rocker.q0, start, parameters=dal.parameters(crank.robot), **options)
    known = dal.simulate(rocker, rocker.q0, start, t_eval=own.t, **{**options, "t_end": None})
    for name, values in known.columns.items():
        scale = np.abs(values).max() + 1e-9
        np.testing.assert_allclose(own.columns[name], values, rtol=0, atol=1e-6 * scale, err_msg=name)


def test_positions_are_told_with_interpolants_at_any_times(pair):
    crank, rocker = pair
    motion = dal.simulate(rocker, rocker.q0, speed_of(crank, 6.0), t_eval=[0.0, 0.5, 1.0], dense=True)
    assert motion.x.shape == motion.xd.shape == (3, 3)
    assert 0.0 < motion.residual.max() < 1e-12


def test_positions_are_told_by_joints_where_coordinates_do_not_tell_them(pair):
    _, rocker = pair
    motion = dal.simulate(rocker, rocker.q0, speed_of(pair[0], 6.0), t_end=1.0)
    told = list(rocker.told_at(motion.x))
    assert sorted(np.concatenate([rows for rows, _, _ in told])) == list(range(len(motion.t)))
    assert [joints for _, _, joints in told] == [None, [1]]
    for rows, system, joints in told[1:]:
        assert system.joint_names == ("joint2",)
        np.testing.assert_array_equal(system.at(x=motion.x[rows]).positions_at(motion.x[rows][:, joints]), motion.x[rows])


def test_a_jump_of_velocities_tells_what_energy_it_took():
    """½ m v² (e² − 1) of a block that hits its stop."""
    motion = dal.simulate(block(), [0.0], [1.0], t_end=1.5, stops=0.5)
    (hit,) = motion.events
    assert hit.gained == pytest.approx(0.5 * 2.0 * (0.25 - 1.0), rel=1e-12)
    assert motion.balance.impacts[-1] == hit.gained


@pytest.mark.parametrize(("method", "off"), [("semi_implicit_euler", 0.1), ("rk4", 2e-8)])
def test_a_rollout_goes_on_past_dead_points(pair, method, off):
    """The rocker as the crank, which has none, at the order of the method: 0.065 and 7e-9 here."""
    crank, rocker = (mechanism.smoothed(0.5) for mechanism in pair)
    known = dal.simulate(crank, crank.q0, [6.0], t_eval=np.linspace(0.0, 2.0, 101), **FINE)
    found = dal.rollout(rocker, rocker.q0, speed_of(crank, 6.0), None, dt=5e-4, steps=4000, every=40, method=method)
    assert found.finite
    np.testing.assert_allclose(found.x, known.x, rtol=0, atol=off)
    np.testing.assert_allclose(found.q[:, 0], found.x[:, 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.qd[:, 0], found.xd[:, 2], rtol=0, atol=1e-12)
    kinetic = known.energies.kinetic
    np.testing.assert_allclose(found.energies.kinetic, kinetic, rtol=0, atol=10 * off * kinetic.max())
    assert np.isfinite(found.qdd).all()


def test_a_batch_of_rollouts_tells_positions_of_all_where_some_pass_dead_points(pair):
    crank, rocker = pair
    speeds = speed_of(crank, 6.0) * np.array([[1.0], [0.02], [-0.8]])
    options = {"dt": 5e-4, "steps": 1200, "every": 40, "method": "rk4"}

    def law(t, q, qd):
        return [0.2 - 0.1 * qd[0]]

    many = dal.rollout(rocker, rocker.q0, speeds, law, **options)
    assert many.x.shape == many.xd.shape == (3, 31, 3)
    for k, speed in enumerate(speeds):
        one = dal.rollout(rocker, rocker.q0, speed, law, **options)
        np.testing.assert_allclose(many.q[k], one.q, rtol=0, atol=1e-9)
        assert (one.x is None) == (k == 1)  # too slow to come to a dead point
        np.testing.assert_allclose(many.x[k], one._tree[0], rtol=0, atol=1e-9)
    again = dal.rollout(rocker, rocker.q0, speeds, law, progress=lambda share: None, **options)
    np.testing.assert_allclose(again.q, many.q, rtol=0, atol=1e-12)  # it comes into coordinates that were made for the first
    np.testing.assert_allclose(again.x, many.x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
def test_a_sampled_law_goes_on_past_dead_points_too(pair, python):
    crank, rocker = (mechanism.smoothed(0.5) for mechanism in pair)
    options = {"sample": 0.01, "delay": 0.004, "python": python}

    def law(t, q, qd):
        return -0.2 * qd

    start = rocker.q0, speed_of(crank, 6.0)
    found = dal.rollout(rocker, *start, law, dt=5e-4, steps=1400, method="rk4", **options)
    known = dal.simulate(rocker, *start, tau=law, t_end=0.7, **options, **FINE)
    np.testing.assert_allclose(found.q[-1], known.q[-1], rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.states["held"][-1], known.states["held"][-1], rtol=0, atol=1e-7)


def test_a_rollout_that_cannot_pass_a_dead_point_says_what_to_take_in_its_place(pair):
    crank, rocker = pair
    smooth = rocker.smoothed(0.1)
    with pytest.warns(dal.DalembertWarning, match=r"may come to a dead point, .*: take others, or another method"):
        motion = dal.rollout(smooth, smooth.q0, speed_of(crank, 6.0), None, dt=1e-3, steps=1000, method="symplectic")
    assert not motion.finite
