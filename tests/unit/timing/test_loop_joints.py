"""Joints of a mechanism that are none of its coordinates: their speeds and ranges bound timings too."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.mechanisms_with_drives import limited

from .timing_cases import dense_times


def joint_speeds(mechanism, motion):
    """The largest |dx/dt| of every joint of the tree, by differences of assembled positions."""
    t, step = np.union1d(dense_times(motion), np.linspace(0.0, motion.duration, 1001))[1:-1], 1e-6 * motion.duration
    ahead, back = (mechanism.assemble(motion(t + e).q).x for e in (step, -step))
    return dict(zip(mechanism.robot.joint_names, np.abs((ahead - back) / (2 * step)).max(axis=0), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"jerk": 200.0}, {"torque_rate": 200.0}])
def test_a_joint_within_a_loop_keeps_its_speed(given):
    fast = dal.mechanisms.four_bar()
    slow = limited(fast, {"joint2": dal.Limits(velocity=1.5)})
    way = [[0.6], [2.2]]
    found = dal.fastest_timing(slow, way, torque=20.0, intervals=100, **given)
    assert joint_speeds(slow, found.motion)["joint2"] == pytest.approx(1.5, rel=1e-4)
    assert found.excess <= 1e-6
    assert "velocity of 'joint2'" in {limit for *_, limit in found.binding_parts()}
    assert found.use.shape[-1] == len(found.limits)
    by_name = dal.fastest_timing(fast, way, torque=20.0, intervals=100, velocity={"joint2": 1.5}, **given)
    assert by_name.duration == found.duration
    free = [dal.fastest_timing(one, way, torque=20.0, intervals=100, velocity=np.inf, **given) for one in (fast, slow)]
    assert free[0].duration == free[1].duration < found.duration


def test_the_speed_of_one_joint_within_a_loop_is_set_free_by_its_name():
    slow = limited(dal.mechanisms.four_bar(), {"joint2": dal.Limits(velocity=1.5), "joint3": dal.Limits(velocity=9.0)})
    by_name, free = (
        dal.fastest_timing(slow, [[0.6], [2.2]], torque=20.0, intervals=40, velocity=given)
        for given in ({"joint2": np.inf}, {"joint2": np.inf, "joint3": np.inf})
    )
    assert joint_speeds(slow, by_name.motion)["joint2"] > 2.0
    assert "velocity of 'joint3'" in by_name.limits
    assert "velocity of 'joint3'" not in free.limits


@pytest.mark.slow
def test_arms_that_hold_a_beam_keep_the_speeds_of_their_joints():
    arms = dal.mechanisms.two_arms()
    pose = np.array(arms.q0)
    found = dal.fastest_timing(arms, [pose, pose + [0.1, 0.05, 0.05, 0.0, 0.0, 0.2]], intervals=200)
    speeds = joint_speeds(arms, found.motion)
    own = {joint.name: joint.limits.velocity for joint in arms.robot.structure.coordinates}
    shares = {name: speeds[name] / own[name] for name in arms.actuated}
    assert max(shares.values()) == pytest.approx(1.0, abs=1e-5)
    at = found.motion(dense_times(found.motion, parts=2))
    assert dal.distribute_load(arms, at.q, at.qd, at.qdd, objective="ratio").objective.max() <= 1.0


def test_a_motion_is_scaled_until_a_joint_within_a_loop_is_at_its_speed():
    four_bar = limited(dal.mechanisms.four_bar(), {"joint2": dal.Limits(velocity=1.5)})
    motion = dal.trajectory.quintic([0.6], [2.2], duration=1.0)
    found = dal.scale_trajectory(four_bar, motion, torque=np.inf)
    assert (str(found.joint), str(found.limit)) == ("joint2", "velocity")
    assert joint_speeds(four_bar, found.motion)["joint2"] == pytest.approx(1.5, rel=1e-6)
    law = dal.trajectory.quintic([0.0], [1.0], duration=0.5)
    assert float(dal.scale_trajectory(four_bar, motion, torque=np.inf, law=law).use) > 1.0


def test_a_path_that_leads_a_joint_within_a_loop_out_of_its_range_is_refused():
    four_bar = limited(dal.mechanisms.four_bar(), {"joint3": dal.Limits(lower=-1.9, upper=0.0)})
    with pytest.raises(
        dal.DalembertError, match=r"joint 'joint3': at s = 0 of 1 the path leads to -1.953 rad, beyond .* -1.9 rad"
    ):
        dal.fastest_timing(four_bar, [[0.6], [2.2]], torque=20.0, intervals=40)
    dal.fastest_timing(four_bar, [[0.9], [2.2]], torque=20.0, intervals=40)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"joint9": 1.0}, "velocity: joint: 'joint9' is not known; .* Known: joint1, joint2, joint3"),
        ({"joint2": -1.0}, "velocity: 'joint2' has a limit of -1; a magnitude above 0"),
        ({"joint2": float("nan")}, "velocity: 'joint2'"),
    ],
)
def test_speeds_that_are_none_are_refused_in_a_sentence(given, words):
    with pytest.raises(dal.DalembertError, match=words):
        dal.fastest_timing(dal.mechanisms.four_bar(), [[0.6], [2.2]], torque=20.0, velocity=given)
