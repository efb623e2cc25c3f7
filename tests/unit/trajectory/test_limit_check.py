"""Limits along a motion: which joint passes which, when, by how much; and that the remedy is one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ShapeError
from dalembert.trajectory import quintic, triangular
from dalembert.trajectory.limit_check import excess

PANDA = dal.robots.panda()
READY = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.7])


def limited(**changes: float) -> dal.Robot:
    """The planar arm with limits."""
    robot = dal.robots.two_link_planar()
    limits = dal.Limits(lower=-2.0, upper=2.0, velocity=3.0, effort=2000.0)
    joints = tuple(replace(joint, limits=replace(limits, **changes)) for joint in robot.structure.joints)
    return robot.replace(structure=replace(robot.structure, joints=joints))


def test_a_slow_motion_keeps_all_limits() -> None:
    found = quintic(READY, READY + 0.3, duration=2.0).check(PANDA)
    assert found
    assert found.passed is True
    assert found.exceeded == ()
    assert str(found) == "All limits are kept, at 1002 instants."
    assert {name: use.shape for name, use in found.use.items()} == {"position": (7,), "velocity": (7,), "torque": (7,)}
    found.require()


def test_peaks_are_named_with_joint_instant_value_and_limit() -> None:
    """A triangle over 90 degrees in half a second peaks at 2π rad/s halfway."""
    motion = triangular([0.0, 0.0], [np.pi / 2, 0.0], duration=0.5)
    first = motion.check(limited(effort=np.inf)).exceeded[0]
    assert (first.joint, first.quantity, first.unit) == ("joint1", "velocity", "rad/s")
    assert (first.t, first.value, first.limit) == pytest.approx((0.25, 2 * np.pi, 3.0))
    factor = float(re.search(r"stretched\(([\d.]+)\)", first.remedy)[1])
    assert motion.stretched(factor).check(limited(effort=np.inf))


def test_a_peak_between_samples_is_found() -> None:
    """The quintic peaks at 15/8 of its mean velocity halfway, which an even number of samples misses."""
    motion, limit = quintic([0.0, 0.0], [1.0, 0.5], duration=1.0), 15 / 8 / (1 + 1e-6)
    found = motion.check(limited(effort=np.inf, velocity=limit), samples=100)
    assert [one.joint for one in found.exceeded] == ["joint1"]
    assert found.exceeded[0].value == pytest.approx(15 / 8, rel=1e-7)
    assert found.t["velocity"][0] == pytest.approx(0.5, abs=1e-3)


def test_positions_beyond_a_limit_are_found_on_either_side() -> None:
    found = quintic([0.0, -2.5], [2.2, 0.0], duration=9.0).check(limited(effort=np.inf))
    assert {(one.joint, one.quantity) for one in found.exceeded} == {("joint1", "position"), ("joint2", "position")}
    by_joint = {one.joint: one for one in found.exceeded}
    assert (by_joint["joint1"].value, by_joint["joint1"].limit, by_joint["joint1"].t) == pytest.approx((2.2, 2.0, 9.0))
    assert (by_joint["joint2"].value, by_joint["joint2"].limit, by_joint["joint2"].t) == pytest.approx((-2.5, -2.0, 0.0))


def test_torques_are_those_of_the_inverse_dynamics_and_the_remedy_helps() -> None:
    motion, robot = quintic([0.0, 0.0], [1.5, 1.0], duration=0.7), limited(velocity=99.0)
    found = motion.check(robot)
    worst = found.exceeded[0]
    at = motion([worst.t])
    tau = dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)[0]
    assert worst.quantity == "torque"
    assert worst.value == pytest.approx(tau[int(worst.joint[-1]) - 1])
    factor = float(re.search(r"stretched\(([\d.]+)\)", worst.remedy)[1])
    assert motion.stretched(1.02 * factor).check(robot)


def test_where_gravity_alone_is_too_much_no_timing_is_advised() -> None:
    found = quintic([0.0, 0.0], [0.3, 0.0], duration=50.0).check(limited(effort=500.0))
    assert "Gravity alone takes" in str(found)
    assert "no timing helps" in str(found)
    with pytest.raises(InfeasibleError, match=r"joint 'joint1': torque .* N m at t = .* the limit is 500"):
        found.require()


def test_a_batch_marks_the_rows_that_fail() -> None:
    ends = np.array([[0.1, 0.0], [1.9, 0.0], [0.2, 2.1]])
    found = quintic(np.zeros((3, 2)), ends, duration=1.0).check(limited(), torques=False)
    np.testing.assert_array_equal(found.passed, [True, False, False])
    assert {one.row for one in found.exceeded} == {(1,), (2,)}
    assert "motion 1, joint 'joint1': velocity" in str(found)


def test_a_motion_of_another_robot_is_refused() -> None:
    with pytest.raises(ShapeError, match="robot: 7 coordinates found, but the motion has 2"):
        quintic([0.0, 0.0], [1.0, 1.0], duration=1.0).check(PANDA)


def test_each_motion_of_a_batch_is_looked_at_closely_by_itself() -> None:
    """What is found of a row is what is found of it alone, peaks between samples among it."""
    rng = np.random.default_rng(3)
    batch = quintic(READY + 0.3 * rng.normal(size=(2, 3, 7)), READY + 0.3 * rng.normal(size=(2, 3, 7)), duration=0.4)
    found = batch.check(PANDA, samples=60)
    assert found.passed.shape == (2, 3)
    assert not found.passed.all()
    for row in np.ndindex(2, 3):
        alone = batch[row].check(PANDA, samples=60)
        assert found.passed[row] == alone.passed
        assert {one._replace(row=()) for one in found.exceeded if one.row == row} == set(alone.exceeded)
        for name, use in alone.use.items():
            np.testing.assert_array_equal(found.use[name][row], use)
            np.testing.assert_array_equal(found.t[name][row], alone.t[name])
    assert found.exceeded[0] == max(found.exceeded, key=excess)


def test_the_instants_looked_at_do_not_grow_with_the_batch() -> None:
    """Peaks of a thousand motions are at a thousand times; all motions at all of them would take a minute and gigabytes."""
    rng = np.random.default_rng(3)
    batch = quintic(rng.normal(size=(300, 7)), rng.normal(size=(300, 7)), duration=0.4)
    found = batch.check(PANDA, samples=30)
    most = 30 + 2 + 41 * 3 * 7  # a closer look at each quantity of each joint
    assert found.samples <= most


def test_no_motions_have_no_excess() -> None:
    found = quintic(np.zeros((0, 7)), np.zeros((0, 7)), duration=1.0).check(PANDA)
    assert found
    assert found.passed.shape == (0,)
