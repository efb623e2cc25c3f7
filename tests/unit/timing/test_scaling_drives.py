"""Scaling motions of mechanisms whose drives are not their coordinates: the factor is the largest of all ways to share."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ModelError
from tests.mechanisms_with_drives import platform, two_arms

from .test_fastest_sharing import driven_rows
from .timing_cases import with_friction


def rubbing(mechanism, dry=0.3, viscous=0.2):
    """The mechanism with friction at its driven joints."""
    names = mechanism.robot.joint_names
    laws = [np.array([size * (name in mechanism.actuated) for name in names]) for size in (dry, viscous)]
    return mechanism.replace(robot=with_friction(mechanism.robot, *laws))


@cache
def coupler_driven():
    """A four-bar that is told by its crank and driven at its last joint."""
    return dal.mechanisms.four_bar().replace(actuated=("joint3",))


CASES = {
    "six drives": (lambda: two_arms(effort=8.0), 0.3),
    "six drives that rub": (lambda: rubbing(two_arms(effort=8.0)), 0.3),
    "a platform": (lambda: rubbing(platform(effort=60.0)), 0.2),
    "a platform that hardly carries itself": (lambda: platform(effort=30.0), 0.1),
    "twelve drives": (dal.mechanisms.two_arms, 0.1),
    "another joint": (coupler_driven, 1.2),
}
ENDS = {"smooth": dal.trajectory.septic, "jumping": dal.trajectory.cubic}


def course(mechanism, size, seed=1, make=dal.trajectory.septic):
    """A motion from one point to another."""
    points = np.array(mechanism.q0) + size * np.random.default_rng(seed).uniform(-0.5, 0.5, size=(2, mechanism.n))
    return make(*points, duration=2.0)


def least_largest(mechanism, motion, limits, count=4999):
    """The least largest |u| / limit along a motion as `distribute_load` has it, which never saw the parts of its torques."""
    at = motion(np.linspace(0.0, motion.duration, count))
    return at.t, dal.distribute_load(mechanism, at.q, at.qd, at.qdd, objective="ratio", limits=2.0 * limits).objective * 2.0


def efforts(mechanism):
    joints = {joint.name: joint.limits.effort for joint in mechanism.robot.structure.coordinates}
    found = np.array([joints[name] for name in mechanism.actuated])
    return np.where(np.isfinite(found), found, 25.0)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("case", CASES)
def test_the_largest_factor_reaches_what_drives_can_do_and_no_more(case, ends):
    make, size = CASES[case]
    mechanism = make()
    limits = efforts(mechanism)
    motion = course(mechanism, size, make=ENDS[ends])
    found = dal.scale_trajectory(mechanism, motion, torque=limits, velocity=np.inf, samples=300)
    t, ratio = least_largest(mechanism, found.motion, limits)
    assert 1 - 1e-5 < ratio.max() <= 1 + 1e-6
    assert found.use == pytest.approx(1.0, abs=1e-6)
    assert found.feasible
    assert (str(found.limit), str(found.joint) in mechanism.actuated) == ("torque", True)
    at = np.interp(float(found.binding_time), t, ratio)
    assert at > 1 - 1e-5


def test_torques_of_the_drives_make_those_of_the_coordinates():
    arms = rubbing(two_arms(effort=8.0))
    found = dal.scale_trajectory(arms, course(arms, 0.3), samples=50)
    assert found.drives == tuple(arms.actuated)
    made = np.einsum("kmn,km->kn", driven_rows(arms, found.q), found.drive_torques)
    assert np.allclose(made, found.tau, atol=1e-6)
    assert np.allclose(found.tau[1:-1], dal.inverse_dynamics(arms, found.q, found.qd, found.qdd)[1:-1], atol=1e-9)
    assert np.abs(found.drive_torques).max() == pytest.approx(8.0, rel=1e-2)
    assert found.to_dict()["drives"] == list(arms.actuated)


def test_without_limits_of_torque_drives_share_by_least_squares():
    arms = two_arms()
    found = dal.scale_trajectory(arms, course(arms, 0.3), factor=1.3, samples=40)
    expected = dal.distribute_load(arms, found.q, found.qd, found.qdd).torques
    assert np.allclose(found.drive_torques, expected, atol=1e-9)
    assert found.feasible
    with pytest.raises(ModelError, match="no limit found that some factor would reach, so that there is no fastest one"):
        dal.scale_trajectory(arms, course(arms, 0.3))


def test_drives_without_a_limit_carry_what_others_cannot():
    """Three of them can make any torques of three coordinates; two leave one direction to the others."""
    arms = two_arms()
    arms = arms.replace(robot=arms.robot.with_gravity([0.0, 0.0, 0.0]))
    with pytest.raises(ModelError, match="no limit found that some factor would reach"):
        dal.scale_trajectory(arms, course(arms, 0.3), torque=dict.fromkeys(arms.actuated[:3], 6.0))
    limits = np.array([6.0] * 4 + [np.inf] * 2)
    motion = course(arms, 0.3)
    found = dal.scale_trajectory(arms, motion, torque=dict(zip(arms.actuated[:4], limits, strict=False)), samples=300)
    assert str(found.joint) in arms.actuated[:4]
    assert found.factor == pytest.approx(by_projection(arms, motion, limits), rel=2e-4)


def by_projection(mechanism, motion, limits):
    """The factor without gravity and friction, where torques of drives with a limit alone count: along the direction that the
    others cannot push.
    """
    at = motion(np.linspace(0.0, motion.duration, 3001))
    tau = dal.inverse_dynamics(mechanism, at.q, at.qd, at.qdd)
    A, free = driven_rows(mechanism, at.q), np.isinf(limits)
    across = np.cross(*np.moveaxis(A[:, free], 1, 0))
    most = (np.abs(A[:, ~free] @ across[..., None])[..., 0] * limits[~free]).sum(axis=1)
    return 1.0 / np.sqrt((np.abs((across * tau).sum(axis=1)) / most).max())


def test_a_time_law_and_a_factor_of_ones_own_tell_the_use_of_drives():
    arms = two_arms(effort=8.0)
    motion = course(arms, 0.3)
    law = dal.trajectory.quintic([0.0], [2.0], duration=3.0)
    for given, within in (({"law": law}, True), ({"factor": 0.7}, True), ({"factor": 4.0}, False)):
        found = dal.scale_trajectory(arms, motion, samples=200, **given)
        _, ratio = least_largest(arms, found.motion, np.full(6, 80.0))
        assert found.use == pytest.approx(10.0 * ratio.max(), rel=1e-5)
        assert bool(found.feasible) == within


def test_friction_that_is_no_line_in_speed_is_taken_as_it_is():
    arms = rubbing(two_arms(effort=8.0), dry=1.0).smoothed(0.2)
    found = dal.scale_trajectory(arms, course(arms, 0.3), samples=100)
    _, ratio = least_largest(arms, found.motion, np.full(6, 8.0))
    assert 1 - 1e-4 < ratio.max() <= 1 + 1e-6


def test_samples_and_batches_are_scaled_each_by_its_factor():
    arms = two_arms(effort=8.0)
    rng = np.random.default_rng(5)
    points = np.array(arms.q0) + 0.2 * rng.uniform(-0.5, 0.5, size=(2, 3, arms.n))
    motions = dal.trajectory.septic(*points, duration=2.0)
    found = dal.scale_trajectory(arms, motions, samples=200)
    each = [dal.trajectory.septic(*ends, duration=2.0) for ends in points.swapaxes(0, 1)]
    alone = [dal.scale_trajectory(arms, motion, samples=200) for motion in each]
    assert np.allclose(found.factor, [float(one.factor) for one in alone], rtol=1e-9)
    assert found.drive_torques.shape == (3, 200, 6)
    sampled = dal.scale_trajectory(arms, each[0].sample(count=2001))
    assert sampled.factor == pytest.approx(float(alone[0].factor), rel=1e-4)


@pytest.mark.parametrize("smooth", [False, True])
def test_a_batch_marks_rows_that_drives_cannot_carry_and_scales_the_others(smooth):
    """Row 1 leads far out, where gravity alone is too much."""
    stand = platform(effort=27.0).smoothed(0.1) if smooth else platform(effort=27.0)
    q0 = np.array(stand.q0)
    ends = q0 + np.array([[0.0, 0.0, 0.03], [0.0, 0.0, 0.9], [0.01, 0.0, -0.02]])
    motions = dal.trajectory.septic(np.broadcast_to(q0, (3, 3)), ends, duration=2.0)
    with pytest.warns(dal.DalembertWarning, match="1 of 3 have no timing; row 1: drives? .* gravity and dry friction alone need"):
        found = dal.scale_trajectory(stand, motions, samples=100)
    assert np.isnan(found.factor).tolist() == [False, True, False]
    assert found.feasible.tolist() == [True, False, True]
    assert np.isnan(found.drive_torques[1]).all()
    assert found.use[[0, 2]] == pytest.approx(1.0, abs=1e-5)


def test_drives_too_weak_for_gravity_are_named_together():
    weak = rubbing(platform(effort=20.0))
    with pytest.raises(InfeasibleError) as raised:
        dal.scale_trajectory(weak, course(weak, 0.1))
    text = str(raised.value)
    assert text.startswith("scale_trajectory: drives a_slide")
    assert "gravity and dry friction alone need 1." in text
    assert "times their largest torques (20 N, 20 N), whichever way they share them and however slow the motion is." in text


def test_a_motion_beyond_the_reach_of_a_mechanism_says_where():
    arms = two_arms(effort=8.0)
    q0 = np.array(arms.q0)
    away = dal.trajectory.septic(q0, q0 + [3.0, 0.0, 0.0], duration=1.0)
    with pytest.warns(dal.DalembertWarning), pytest.raises(InfeasibleError) as raised:
        dal.scale_trajectory(arms, away, samples=100)
    assert "motion: at 0." in str(raised.value)
    assert "the mechanism has no positions, since its closures cannot be met there" in str(raised.value)
