"""Motions in which a system takes the place of another: each part by itself, and other coordinates, as judges."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.robots import fresh
from tests.unit.simulate.blocks import TIGHT
from tests.unit.simulate.linkages import rubbing
from tests.unit.simulate.test_results_past_dead_points import speed_of

PARTS = ("motors", "gravity", "viscous", "dry", "external")


@pytest.fixture(scope="module")
def arm():
    robot = fresh("two_link_planar")
    laws = {name: dal.Friction(viscous=2.0, coulomb=3.0) for name in robot.joint_names}
    return robot.replace(parameters=robot.parameters.replace(friction=laws))


@pytest.fixture(scope="module")
def loaded(arm):
    return arm.with_payload(3.0)


def energy_jump(record, before, after):
    """E' − E of two systems at the state of a record."""
    return float(dal.energy(after, record.q, record.qd_after).total - dal.energy(before, record.q, record.qd).total)


def test_each_part_of_a_motion_is_told_by_its_own_system(arm, loaded):
    drop = dal.Event(time=0.4, name="drop", system=arm)
    times = np.linspace(0.0, 1.0, 101)
    options = {"tau": [1.0, 2.0], "wrenches": {"tool": [3.0, 1.0, 0, 0, 0, 0]}, "dense": True, **TIGHT}
    motion = dal.simulate(loaded, [0.3, 0.2], [0.0, 0.0], t_eval=times, events=[drop], **options)
    first = dal.simulate(loaded, [0.3, 0.2], [0.0, 0.0], t_eval=times[:41], **options)
    start = first.q[-1], first.qd[-1]
    second = dal.simulate(arm, *start, t_start=times[40], t_eval=times[40:], **options)
    for part, rows in ((first, slice(0, 41)), (second, slice(41, 101))):
        own = slice(None) if part is first else slice(1, None)  # the row at the change is told before it
        np.testing.assert_allclose(motion.qdd[rows], part.qdd[own], rtol=0, atol=1e-8)
        np.testing.assert_allclose(motion.energies.kinetic[rows], part.energies.kinetic[own], rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(motion.energies.potential[rows], part.energies.potential[own], rtol=1e-11)
        for name in PARTS:
            np.testing.assert_allclose(getattr(motion.power, name)[rows], getattr(part.power, name)[own], rtol=0, atol=1e-8)
    assert np.abs(second.energy[0] - first.energy[-1]) > 1.0


def test_the_energy_balance_closes_over_a_change(arm, loaded):
    drop = dal.Event(time=0.4, name="drop", system=arm)
    motion = dal.simulate(loaded, [0.3, 0.2], [0.0, 0.0], t_end=1.0, events=[drop], dense=True, **TIGHT)
    record = next(event for event in motion.events if event.kind == "change")
    assert record.gained == pytest.approx(energy_jump(record, loaded, arm), rel=1e-12)
    assert motion.balance.relative < 1e-9
    assert motion.balance.impacts[-1] == record.gained


def test_what_is_caught_is_told_in_a_batch_at_the_time_of_each_motion(arm, loaded):
    catch = dal.Event(lambda t, q, qd: q[1] - 0.5, name="catch", direction="rising", system=loaded, caught=True)
    drop = dal.Event(time=0.8, name="drop", system=arm)
    options = {"t_end": 1.0, "events": [catch, drop], "dense": True, **TIGHT}
    speeds = np.array([[0.0, 2.0], [0.0, 3.0], [0.0, -1.0]])
    many = dal.simulate(arm, [0.3, 0.2], speeds, **options)
    assert [[event.name for event in events if event.kind == "change"] for events in many.events] == [
        ["catch", "drop"],
        ["catch", "drop"],
        ["drop"],
    ]
    assert (many.balance.relative < 1e-9).all()
    for k, speed in enumerate(speeds):
        one = dal.simulate(arm, [0.3, 0.2], speed, **options)
        assert one.balance.relative < 1e-9
        np.testing.assert_array_equal(one.qdd[-1], many.qdd[k, -1])
        np.testing.assert_allclose(one.energy[-1], many.energy[k, -1], rtol=1e-12)


def test_samples_close_their_balance_too(arm, loaded):
    times = np.linspace(0.0, 1.0, 2001)
    smooth = [robot.smoothed(0.5) for robot in (arm, loaded)]
    catch = dal.Event(time=0.25, name="catch", system=smooth[1], caught=True)
    motion = dal.simulate(smooth[0], [0.3, 0.2], [0.0, 1.0], t_eval=times, events=[catch], **TIGHT)
    assert motion.balance.relative < 1e-8
    np.testing.assert_allclose(motion.trajectory.qdd, motion.qdd)


def test_a_table_has_energies_and_a_figure_all_its_panels(arm, loaded, tmp_path):
    drop = dal.Event(time=0.2, name="load", system=loaded)
    motion = dal.simulate(arm, [0.3, 0.2], [0.0, 0.0], t_end=0.4, events=[drop], tau=[1.0, 2.0])
    motion.save(tmp_path / "motion.csv")
    assert {"qdd_joint1 [rad/s²]", "kinetic energy [J]", "power of dry friction [W]"} <= set(motion.columns)
    pytest.importorskip("matplotlib")
    assert len(dal.plots.simulation(motion)) == 6


@pytest.fixture(scope="module")
def linkages():
    """A crank and rocker with friction, by its crank and by its rocker, which has dead points; and the same with more mass."""
    crank = dal.mechanisms.crank_rocker()
    light = rubbing(dal.Mechanism("crank", crank.robot, crank.closures, ["joint1"], crank.seed), 0.02, 0.01)
    heavy = light.replace(robot=light.robot.with_payload(0.5))
    return tuple((one, one.replace(coordinates=["joint3"])) for one in (light, heavy))


@pytest.mark.parametrize("caught", [True, False])
def test_a_mechanism_passes_dead_points_before_and_after_a_change(linkages, caught):
    """By its rocker as by its crank, which tells its positions everywhere."""
    (crank, rocker), (heavy_crank, heavy_rocker) = linkages
    times = np.linspace(0.0, 3.0, 301)
    motions = []
    for first, then, speed in ((crank, heavy_crank, [6.0]), (rocker, heavy_rocker, speed_of(crank, 6.0))):
        changes = [
            dal.Event(time=1.0, name="catch", system=then, caught=caught),
            dal.Event(time=2.0, name="drop", system=first),
        ]
        motions.append(dal.simulate(first, first.q0, speed, t_eval=times, events=changes, dense=True, rtol=1e-10, atol=1e-12))
    known, found = motions
    assert found.success
    assert np.sum(np.diff(np.sign(found.qd[:, 0])) != 0) > 4  # it turned round
    np.testing.assert_allclose(found.x, known.x, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.xd, known.xd, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.energy, known.energy, rtol=0, atol=1e-7)
    assert known.balance.relative < 1e-8
    assert found.balance.relative < 1e-8
    jumps = [[event.gained for event in motion.events if event.kind == "change"] for motion in motions]
    np.testing.assert_allclose(*jumps, rtol=0, atol=1e-7)


def test_a_change_while_other_coordinates_are_in_use_goes_on_in_them(linkages):
    """At any time, dead points among them: the energy gained is that of the crank at the same time."""
    (crank, rocker), (heavy_crank, heavy_rocker) = linkages
    options = {"t_end": 1.2, "dense": True, "rtol": 1e-10, "atol": 1e-12}
    free = dal.simulate(rocker, rocker.q0, speed_of(crank, 6.0), **options)
    charted = free.solution.pieces.chart.nonzero()[0]
    assert len(charted)
    for step in charted[:: max(len(charted) // 4, 1)]:
        time = float(free.solution.t[step : step + 2].mean())
        pairs = ((crank, heavy_crank, [6.0]), (rocker, heavy_rocker, speed_of(crank, 6.0)))
        events = [[dal.Event(time=time, system=then, caught=True)] for _, then, _ in pairs]
        known, found = (
            dal.simulate(first, first.q0, speed, events=event, **options)
            for (first, _, speed), event in zip(pairs, events, strict=True)
        )
        np.testing.assert_allclose(found.x[-1], known.x[-1], rtol=0, atol=1e-7)
        assert found.balance.relative < 1e-8
        assert known.events[-1].gained == pytest.approx(found.events[-1].gained, abs=1e-7)


def test_a_system_whose_joints_are_in_another_order_is_refused(linkages):
    (crank, _), _ = linkages
    names = {"joint1": "joint2", "joint2": "joint1"}
    joints = [joint.replace(name=names.get(joint.name, joint.name)) for joint in crank.robot.structure.joints]
    other = crank.replace(robot=crank.robot.replace(structure=crank.robot.structure.replace(joints=joints)))
    change = dal.Event(time=0.5, name="swap", system=other)
    with pytest.raises(
        dal.DalembertError, match=r"event 'swap': the system from then on has other joints than 'crank', or has them"
    ):
        dal.simulate(crank, crank.q0, [1.0], t_end=1.0, events=[change])
