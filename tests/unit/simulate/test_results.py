"""What results tell beyond states: torques, accelerations, power by cause, energy balance, tables, dense output of batches."""

from __future__ import annotations

import copy
import csv
import importlib
import pickle

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import MissingExtraError, ModelError, ShapeError, UnknownNameError
from dalembert.model import Friction, Limits, Robot
from tests.robots import FRICTIONLESS, fresh, random_robot, without_friction

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def smooth(robot: Robot) -> Robot:
    """The robot with viscous and smoothed dry friction in every joint."""
    law = Friction(viscous=0.3, coulomb=0.4, width=0.1)
    return robot.replace(parameters=robot.parameters.replace(friction=dict.fromkeys(robot.joint_names, law)))


@pytest.fixture(scope="module")
def arm() -> Robot:
    return smooth(fresh("two_link_planar"))


def steering(t, q, qd, p):
    return p.kp * (p.target - q) - p.kd * qd


GAINS = {"kp": 60.0, "kd": 6.0, "target": [0.4, -0.3]}


@pytest.mark.parametrize("seed", range(4))
def test_the_energy_balance_closes_for_random_robots(seed):
    """1e-8 of the turnover, by the issue; steps of 1e-10 leave some 1e-10."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 3, FRICTIONLESS)
    robot = robot if seed % 2 else smooth(robot)
    q0, qd0, tau = rng.normal(size=(3, 3))
    motion = dal.simulate(robot, q0, qd0, tau=tau, t_end=0.5, dense=True, **TIGHT)
    assert motion.balance.relative < 1e-8
    assert abs(motion.balance.residual[0]) == 0.0


def test_a_wrong_torque_shows_in_the_balance(arm):
    motion = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=[5.0, 1.0], t_end=0.5, dense=True, **TIGHT)
    wrong = copy.copy(motion)
    object.__setattr__(wrong, "torque", motion.torque._replace(values=motion.torque.values * 1.01))
    for name in ("_acting", "tau", "qdd", "power", "balance"):
        vars(wrong).pop(name, None)
    assert motion.balance.relative < 1e-9 < 1e-5 < wrong.balance.relative


@pytest.mark.parametrize("name", ["panda", "scara", "stanford", "ur5"])
def test_the_balance_closes_with_smooth_friction_and_a_controller(name):
    robot = smooth(fresh(name))
    motion = dal.simulate(
        robot,
        np.full(robot.n, 0.2),
        np.zeros(robot.n),
        tau=lambda t, q, qd: 20.0 * (0.5 - q) - 2.0 * qd,
        t_end=0.3,
        dense=True,
        **TIGHT,
    )
    assert motion.balance.relative < 1e-8
    assert {"motors", "gravity", "viscous friction", "dry friction"} == set(motion.power.by_cause) | {"gravity"}


def test_power_is_the_rate_of_energy_and_of_kinetic_energy(arm):
    """Central differences of step h: h² and rounding / h are both well below 1e-6 of some 100 W."""
    motion = dal.simulate(arm, [0.1, 0.2], [0.5, -0.4], tau=[15.0, 4.0], t_eval=np.linspace(0, 0.4, 9), dense=True, **TIGHT)
    h = 1e-5
    ahead, behind = (dal.energy(arm, *motion.solution(motion.t[1:-1] + s)) for s in (h, -h))
    rates = (ahead.kinetic - behind.kinetic) / (2 * h), (ahead.total - behind.total) / (2 * h)
    np.testing.assert_allclose(motion.power.kinetic_rate[1:-1], rates[0], atol=1e-5, rtol=1e-6)
    np.testing.assert_allclose(motion.power.energy_rate[1:-1], rates[1], atol=1e-5, rtol=1e-6)


def test_friction_power_is_split_as_the_law_says(arm):
    motion = dal.simulate(arm, [0.1, 0.2], [0.5, -0.4], t_end=0.4, **TIGHT)
    qd = motion.qd
    np.testing.assert_allclose(motion.power.viscous, -0.3 * (qd**2).sum(-1), rtol=1e-12)
    np.testing.assert_allclose(motion.power.dry, -(0.4 * qd**2 / np.sqrt(qd**2 + 0.1**2)).sum(-1), rtol=1e-12)
    assert motion.power.motors.any() == motion.power.springs.any() == motion.power.dampers.any() == np.False_


def test_springs_and_dampers_of_a_mechanism_have_their_power():
    bar = dal.mechanisms.crank_rocker()
    crank = bar.robot.joint_names[0]
    made = dal.Mechanism(
        "sprung",
        bar.robot,
        bar.closures,
        bar.coordinates,
        guess=bar.seed,
        springs=[dal.Spring(40.0, joint=crank)],
        dampers=[dal.Damper(0.7, joint=crank)],
    )
    motion = dal.simulate(made, made.q0 + 0.3, [0.0], t_end=0.5, dense=True, **TIGHT)
    assert motion.balance.relative < 1e-8
    np.testing.assert_allclose(motion.power.springs, -40.0 * (motion.x[:, 0] * motion.qd[:, 0]), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(motion.power.dampers, -0.7 * motion.qd[:, 0] ** 2, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["crank_rocker", "slider_crank", "parallelogram"])
def test_the_balance_of_a_mechanism_closes(name):
    made = getattr(dal.mechanisms, name)()
    q0 = np.stack([made.q0, made.q0 + 0.05])
    motion = dal.simulate(made, q0, np.full(made.n, 0.3), t_eval=np.linspace(0, 0.5, 6), dense=True, **TIGHT)
    assert (motion.balance.relative < 1e-8).all()


def test_torques_are_those_that_were_applied(arm):
    start = ([0.1, 0.2], [0.0, 0.0])
    t = np.linspace(0.0, 0.5, 11)
    times, rows = np.array([0.0, 0.2, 0.35]), np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 5.0]])
    held = dal.simulate(arm, *start, tau=rows, tau_times=times, t_eval=t)
    np.testing.assert_array_equal(held.tau, rows[np.searchsorted(times, t, side="right") - 1])
    linear = dal.simulate(arm, *start, tau=rows, tau_times=times, tau_between="linear", t_eval=t)
    np.testing.assert_allclose(linear.tau, np.stack([np.interp(t, times, rows[:, k]) for k in range(2)], -1), rtol=1e-12)
    none = dal.simulate(arm, *start, t_eval=t)
    assert not none.tau.any()
    law = dal.simulate(arm, *start, tau=steering, inputs=GAINS, t_eval=t)
    np.testing.assert_allclose(law.tau, 60.0 * (np.array([0.4, -0.3]) - law.q) - 6.0 * law.qd, rtol=1e-12)


def test_accelerations_are_those_of_forward_dynamics(arm):
    motion = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=steering, inputs=GAINS, t_end=0.5)
    np.testing.assert_array_equal(motion.qdd, dal.forward_dynamics(arm, motion.q, motion.qd, motion.tau))
    again = motion.trajectory
    tau = dal.inverse_dynamics(arm, again.q, again.qd, again.qdd)
    np.testing.assert_allclose(tau, motion.tau, atol=1e-9)


def test_the_third_derivative_of_a_trajectory_is_that_of_the_motion(arm):
    """Rows 1 ms apart: h² / 6 of the fifth derivative, some 1e-4 at most; at the ends twice as much."""
    motion = dal.simulate(arm, [0.1, 0.2], [0.5, -0.4], tau=[5.0, 1.0], t_eval=np.linspace(0, 0.2, 201), dense=True, **TIGHT)
    h = 1e-5
    accelerations = [dal.forward_dynamics(arm, *motion.solution(motion.t[1:-1] + s), [5.0, 1.0]) for s in (h, -h)]
    expected = (accelerations[0] - accelerations[1]) / (2 * h)
    np.testing.assert_allclose(motion.trajectory.qddd[1:-1], expected, rtol=1e-4, atol=3e-4)
    again = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], t_eval=[0.0, 0.1, 0.1, 0.2])
    assert np.isfinite(again.trajectory.qddd).all()


def test_signals_and_further_states_reach_the_torques_of_a_law(arm):
    def law(t, q, qd, p):
        return p.kp * (p.ref - q) - 5.0 * qd - 3.0 * p.s

    times = np.linspace(0.0, 0.6, 4)
    motion = dal.simulate(
        arm,
        [[0.3, 0.2], [0.1, 0.0]],
        [0.0, 0.0],
        tau=law,
        inputs={"kp": [[50.0], [20.0]]},
        signals={"ref": np.stack([np.sin(times), np.cos(times)], -1)},
        tau_times=times,
        tau_between="linear",
        states={"s": [0.0, 0.0]},
        rates=lambda t, q, qd, p: {"s": q - p.ref},
        t_eval=np.linspace(0.0, 0.6, 7),
        dense=True,
        **TIGHT,
    )
    ref = np.stack([np.interp(motion.t, times, f(times)) for f in (np.sin, np.cos)], -1)
    expected = np.array([50.0, 20.0])[:, None, None] * (ref - motion.q) - 5.0 * motion.qd - 3.0 * motion.states["s"]
    np.testing.assert_allclose(motion.tau, expected, rtol=1e-12, atol=1e-12)
    assert (motion.balance.relative < 1e-8).all()


def pushing(t, q, qd):
    return [10.0 * q[0], -3.0, 0.0, 0.0, 0.0, -qd[1]]


@pytest.mark.parametrize("wrench", [[10.0, 5.0, 0.0, 0.0, 0.0, 1.0], pushing], ids=["constant", "function"])
def test_wrenches_have_their_power_and_the_balance_closes(arm, wrench):
    motion = dal.simulate(arm, [[0.1, 0.2], [0.4, 0.0]], [0.0, 0.0], wrenches={"tool": wrench}, t_end=0.4, dense=True, **TIGHT)
    given = np.broadcast_to(wrench, (2, 2, 6)) if isinstance(wrench, list) else motion.wrenches["tool"]
    twist = np.einsum("...ij,...j->...i", dal.jacobian(arm, motion.q), motion.qd)
    np.testing.assert_allclose(motion.power.external, (twist * given).sum(-1), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(motion.wrenches["tool"], given)
    assert (motion.balance.relative < 1e-8).all()


@pytest.mark.parametrize("options", [{"sample": 0.02}, {"sample": 0.02, "delay": 0.005}, {"saturate": [5.0, 5.0]}], ids=str)
def test_the_balance_closes_with_samples_delays_and_limits(arm, options):
    def law(t, q, qd):
        return 80.0 * (0.5 - q) - 8.0 * qd

    start = ([0.3, 0.2], [0.0, 0.0])
    assert dal.simulate(arm, *start, tau=law, t_end=0.5, dense=True, **TIGHT, **options).balance.relative < 1e-8
    assert dal.rollout(arm, *start, law, dt=1e-3, steps=500, method="rk4", **options).balance.relative < 1e-8


def test_other_parameters_change_accelerations_and_energies(arm):
    motion = dal.simulate(arm, [0.3, 0.2], [0.0, 0.0], t_end=0.2, parameters=dal.parameters(arm) * 1.1)
    expected = dal.forward_dynamics(arm, motion.q, motion.qd, motion.tau, parameters=dal.parameters(arm) * 1.1)
    np.testing.assert_allclose(motion.qdd, expected, rtol=1e-12)
    np.testing.assert_allclose(motion.energy, 1.1 * dal.energy(arm, motion.q, motion.qd).total, rtol=1e-12)
    again = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(again.energy, motion.energy)
    np.testing.assert_array_equal(again.power.gravity, motion.power.gravity)


def test_the_balance_closes_where_joints_stick_and_slip_and_held_ones_do_not_accelerate():
    """The PUMA with its own dry friction; an acceleration is judged by the difference of velocities about it."""
    robot = fresh("puma560")
    motion = dal.simulate(robot, [0.0, 0.5, 0.3, 0.0, 0.2, 0.0], np.zeros(6), t_end=2.0, dense=True, **TIGHT)
    assert {event.kind for event in motion.events} == {"stick", "slip"}
    assert motion.balance.relative < 1e-8
    assert (motion.qdd[-1][motion.qd[-1] == 0.0] == 0.0).all()
    h, times = 1e-6, np.array([0.05, 0.5, 1.2, 1.9])
    expected = (motion.solution(times + h)[1] - motion.solution(times - h)[1]) / (2 * h)
    again = dal.simulate(
        robot, [0.0, 0.5, 0.3, 0.0, 0.2, 0.0], np.zeros(6), t_eval=np.sort(np.r_[times, times + h, 2.0]), dense=True, **TIGHT
    )
    found = again.qdd[np.searchsorted(again.t, times)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def limited(robot: Robot, name: str, lower: float, upper: float) -> Robot:
    joints = [j.replace(limits=Limits(lower, upper)) if j.name == name else j for j in robot.structure.joints]
    return robot.replace(structure=robot.structure.replace(joints=joints))


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_what_is_lost_at_a_stop_is_part_of_the_balance(restitution):
    robot = limited(fresh("two_link_planar"), "joint2", -0.1, 0.3)
    options = {"t_end": 1.5, "dense": True, "stops": {"joint2": restitution}, **TIGHT}
    motion = dal.simulate(robot, [[0.3, 0.2], [0.2, 0.1]], [0.0, 0.0], **options)
    assert all(event.kind == "stop" for events in motion.events for event in events[:1])
    assert (motion.balance.relative < 1e-8).all()
    assert (motion.balance.impacts[:, -1] < -0.1).all()
    one = dal.simulate(robot, [0.3, 0.2], [0.0, 0.0], **options)
    assert one.balance.impacts[-1] == pytest.approx(motion.balance.impacts[0, -1], rel=1e-9)


def test_a_joint_that_is_locked_takes_energy_and_does_not_accelerate():
    lock = dal.Event(time=0.5, name="lock", lock=["joint2"])
    motion = dal.simulate(fresh("two_link_planar"), [0.3, 0.2], [0.0, 0.0], t_end=1.0, events=[lock], dense=True, **TIGHT)
    assert motion.balance.relative < 1e-8
    assert motion.balance.impacts[-1] < -1.0
    assert motion.qdd[-1, 1] == 0.0


def test_dense_output_of_a_batch_is_that_of_each_motion(arm):
    rng = np.random.default_rng(3)
    q0 = rng.normal(size=(2, 3, 2))
    options = {"tau": steering, "inputs": GAINS, "t_end": 1.0, "dense": True, **TIGHT}
    many = dal.simulate(arm, q0, [0.0, 0.0], **options)
    times = rng.uniform(0.0, 1.0, size=(4, 2))
    q, qd = many.solution(times)
    assert q.shape == qd.shape == (2, 3, 4, 2, 2)
    assert many.q.shape == (2, 3, 2, 2)
    for k in np.ndindex(2, 3):
        one = dal.simulate(arm, q0[k], [0.0, 0.0], **options)
        np.testing.assert_array_equal(q[k], one.solution(times)[0])
        np.testing.assert_array_equal(qd[k], one.solution(times)[1])
        np.testing.assert_allclose(many.balance.work[k][-1], one.balance.work[-1], rtol=1e-10)


def test_many_calls_of_a_dense_batch_are_put_together(arm, monkeypatch):
    """Room for few steps a call: the result does not depend on it."""
    q0 = np.random.default_rng(4).normal(size=(5, 2))
    options = {"t_end": 3.0, "dense": True, **TIGHT}
    whole = dal.simulate(arm, q0, [0.0, 0.0], **options).solution(np.linspace(0, 3, 50))
    monkeypatch.setattr(importlib.import_module("dalembert.simulate.step_rows"), "_ROOM", 1)
    pieces = dal.simulate(arm, q0, [0.0, 0.0], **options).solution(np.linspace(0, 3, 50))
    np.testing.assert_array_equal(whole, pieces)


def test_a_motion_that_ended_early_is_nan_in_dense_output_and_its_neighbours_are_not(arm):
    with pytest.warns(dal.DalembertWarning, match="1 of 2 motions ended early"):
        motion = dal.simulate(arm, [[0.1, 0.2], [np.nan, 0.0]], [0.0, 0.0], t_end=0.5, dense=True)
    q, _ = motion.solution([0.0, 0.25, 0.5])
    assert np.isfinite(q[0]).all()
    assert np.isnan(q[1]).all()
    assert motion.balance.relative[0] < 1e-3
    with pytest.raises(ShapeError, match=r"outside of the solution, which goes from 0.0 to 0.5 s"):
        motion.solution(0.6)


@pytest.mark.parametrize("threads", [2, 3])
def test_results_are_the_same_to_the_bit_for_any_number_of_threads(arm, threads):
    q0 = np.random.default_rng(5).normal(size=(40, 2))

    def found(count):
        options = {"tau": steering, "inputs": GAINS, "t_eval": np.linspace(0, 0.5, 6), "dense": True, "threads": count}
        motion = dal.simulate(arm, q0, [0.0, 0.0], **options)
        return [motion.q, motion.qd, motion.tau, motion.qdd, motion.energy, motion.balance.residual]

    for one, several in zip(found(1), found(threads), strict=True):
        np.testing.assert_array_equal(one, several)


@pytest.mark.parametrize("every", [1, 4])
def test_a_rollout_tells_its_torques_energies_and_balance(arm, every):
    """The residual of RK4 with held torques is its own error, 1e-12 of the turnover; more where torques jump between rows."""
    tau = np.random.default_rng(6).normal(size=(3, 40, 2))
    motion = dal.rollout(arm, [0.1, 0.2], [0.0, 0.0], tau, dt=1e-3, method="rk4", every=every)
    np.testing.assert_array_equal(motion.tau[:, :-1], tau[:, ::every])
    np.testing.assert_array_equal(motion.energies.total, dal.energy(arm, motion.q, motion.qd).total)
    assert (motion.balance.relative < (1e-9 if every == 1 else 1e-3)).all()


def test_a_rollout_by_a_law_tells_its_torques(arm):
    motion = dal.rollout(arm, [0.1, 0.2], [0.0, 0.0], steering, inputs=GAINS, dt=1e-3, steps=50)
    np.testing.assert_allclose(motion.tau, 60.0 * (np.array([0.4, -0.3]) - motion.q) - 6.0 * motion.qd, rtol=1e-12)


def test_states_between_rows_are_on_quintics(arm):
    """Rows every 0.01 s: h⁶ / 6! of the sixth derivative is below 1e-9."""
    dense = dal.simulate(arm, [0.1, 0.2], [0.5, 0.0], t_eval=np.linspace(0, 1, 101), dense=True, **TIGHT)
    rows = dal.simulate(arm, [0.1, 0.2], [0.5, 0.0], t_eval=np.linspace(0, 1, 101), **TIGHT)
    times = np.random.default_rng(7).uniform(0, 1, (3, 5))
    for one, other in zip(rows.at(times), dense.at(times), strict=True):
        assert one.shape == (3, 5, 2)
        np.testing.assert_allclose(one, other, atol=1e-8)
    with pytest.raises(ShapeError, match="outside of the motion, which goes from 0.0 to 1.0 s"):
        rows.at(1.5)


def test_a_table_has_names_units_and_every_digit(arm, tmp_path):
    motion = dal.simulate(arm, [[0.1, 0.2], [0.3, 0.0]], [0.0, 0.0], tau=[1.0, 2.0], t_eval=[0.0, 0.1, 0.2])
    motion.save(tmp_path / "swing.csv")
    with open(tmp_path / "swing.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert list(rows[0])[:4] == ["motion", "t [s]", "q_joint1 [rad]", "q_joint2 [rad]"]
    assert [float(row["qdd_joint2 [rad/s²]"]) for row in rows] == motion.qdd[..., 1].ravel().tolist()
    assert [float(row["power of motors [W]"]) for row in rows] == motion.power.motors.ravel().tolist()
    assert [entry.name for entry in tmp_path.iterdir()] == ["swing.csv"]


def test_a_table_of_parquet_and_one_of_pandas_agree(arm, tmp_path):
    parquet, pandas = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pandas")
    motion = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], t_eval=[0.0, 0.1, 0.2])
    motion.save(tmp_path / "swing.parquet")
    read = parquet.read_table(tmp_path / "swing.parquet")
    table = motion.to_dataframe()
    assert isinstance(table, pandas.DataFrame)
    assert read.column_names == list(table.columns)
    np.testing.assert_array_equal(np.column_stack([c.to_numpy() for c in read.columns]), table.to_numpy())


def test_a_table_that_cannot_be_written_is_refused_in_a_sentence(arm, tmp_path, monkeypatch):
    motion = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=0.1)
    with pytest.raises(UnknownNameError, match="'swing.xls' ends in '.xls', not a format of tables. Known: .csv"):
        motion.save("swing.xls")
    with pytest.raises(ShapeError, match="path: int found, the name of a .csv or .parquet file expected"):
        motion.save(3)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas"):
        motion.to_dataframe()


def test_copies_keep_the_torques_of_a_law_as_numbers(arm):
    motion = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=lambda t, q, qd: -q, t_end=0.1)
    again = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(again.tau, motion.tau)
    np.testing.assert_array_equal(again.qdd, motion.qdd)
    with pytest.raises(ModelError, match="the function of its torques is not known here"):
        _ = again.balance
    whole = pickle.loads(pickle.dumps(dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], tau=[1.0, 0.0], t_end=0.1)))
    assert whole.balance.relative < 1e-3


def test_a_result_made_by_hand_says_what_it_lacks():
    made = dal.Rollout(np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2)), True)
    with pytest.raises(ModelError, match="made without its system, so only t, q and qd are known"):
        _ = made.energy


def test_nothing_is_computed_before_it_is_asked_for(arm):
    motion = dal.simulate(arm, [0.1, 0.2], [0.0, 0.0], t_end=0.1)
    known = set(vars(motion))
    assert not known & {"tau", "qdd", "energies", "power", "balance", "trajectory", "columns"}
    motion.energy  # noqa: B018
    assert set(vars(motion)) - known <= {"energies", "_tree", "_acting", "_in_force"}


@pytest.mark.parametrize("name", ["two_link_planar", "panda", "stanford"])
def test_a_free_swing_keeps_its_energy(name):
    """1e-9 of the largest kinetic energy over 3 s; rtol is what a step may err."""
    robot = without_friction(fresh(name))
    motion = dal.simulate(robot, np.full(robot.n, 0.4), np.zeros(robot.n), t_end=3.0, rtol=1e-12, atol=1e-13)
    energies = motion.energies
    assert np.ptp(energies.total) < 1e-9 * energies.kinetic.max()
