"""Scaling in time: torques from parts equal inverse dynamics, the largest factor binds and no more, batches, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ModelError, ShapeError

from .timing_cases import efforts, panda, points, rod


@pytest.fixture
def motion(rng):
    return dal.trajectory.spline(points(dal.robots.panda(), rng, count=4), times=[0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.7])
def test_scaled_torques_are_those_of_inverse_dynamics(factor, motion):
    robot = panda()
    found = dal.scale_trajectory(robot, motion, factor=factor)
    expected = dal.inverse_dynamics(robot, found.q, found.qd, found.qdd)
    assert np.allclose(found.tau, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert found.duration == pytest.approx(3.0 / factor)
    again = found.motion(found.t)
    assert np.allclose(again.q, found.q, atol=1e-8)
    assert np.allclose(again.qd, found.qd, atol=1e-6)


def test_without_gravity_and_friction_torques_go_with_the_square(motion):
    """[Siciliano, Eq. 7.126] with r = c t: τ_s(t) = c² τ_s(c t)."""
    robot = dal.robots.panda().with_gravity([0.0, 0.0, 0.0])
    slow, fast = (dal.scale_trajectory(robot, motion, factor=c) for c in (1.0, 1.5))
    assert np.allclose(fast.tau, 1.5**2 * slow.tau, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strength", [0.9, 3.0])
def test_the_largest_factor_reaches_a_limit_and_exceeds_none(strength, motion):
    """Checked by inverse dynamics of the scaled motion itself, on a grid that the search did not use."""
    robot = panda()
    limits = strength * efforts(robot)
    found = dal.scale_trajectory(robot, motion, torque=limits, velocity=np.inf)
    scaled = found.motion
    at = scaled(np.linspace(0.0, scaled.duration, 33_333))
    use = np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / limits
    assert use.max() <= 1 + 1e-6
    assert use.max() > 1 - 1e-4
    assert np.array(robot.joint_names)[use.max(axis=0).argmax()] == str(found.joint)
    assert at.t[use.max(axis=1).argmax()] == pytest.approx(float(found.binding_time), abs=1e-2 * scaled.duration)
    assert str(found.limit) == "torque"
    assert found.feasible


def test_velocities_bind_where_torques_do_not(motion):
    robot = panda()
    found = dal.scale_trajectory(robot, motion, torque=np.inf)
    limits = np.array([joint.limits.velocity for joint in robot.structure.coordinates])
    peak = (np.abs(motion(np.linspace(0, 3, 30_001)).qd) / limits).max()
    assert found.factor == pytest.approx(1 / peak, rel=1e-6)
    assert str(found.limit) == "velocity"


def test_a_time_law_changes_torques_by_its_rates(motion):
    """[Siciliano, Eq. 7.126]: τ_s = ṙ² τ_s(r) + r̈ B q′, against inverse dynamics of the motion timed anew."""
    robot = panda()
    law = dal.trajectory.quintic([0.0], [3.0], duration=5.0)
    found = dal.scale_trajectory(robot, motion, law=law, torque=1e4, velocity=1e4)
    timed = found.motion(found.t)
    inner = slice(5, -5)  # at rest the sign of a speed is that of rounding
    expected = dal.inverse_dynamics(robot, timed.q, timed.qd, timed.qdd)
    assert np.allclose(found.tau[inner], expected[inner], rtol=0, atol=1e-6)
    assert found.duration == 5.0
    assert found.feasible
    assert not dal.scale_trajectory(robot, motion, law=dal.trajectory.quintic([0.0], [3.0], duration=0.5)).feasible


def test_friction_with_a_peak_or_smoothed_is_taken_as_it_is(motion):
    robot = panda().smoothed(0.2)
    found = dal.scale_trajectory(robot, motion, torque=efforts(robot), velocity=np.inf)
    at = found.motion(np.linspace(0.0, float(found.duration), 20_001))
    use = np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / efforts(robot)
    assert 1 - 1e-4 < use.max() <= 1 + 1e-6


@pytest.mark.parametrize("duration", [3.0, 300.0])
def test_smooth_friction_does_not_ask_how_slow_the_given_motion_is(duration):
    """At 300 s joints move within the width, where friction rises steeply: a line through two such speeds tells nothing."""
    robot = panda().smoothed(0.05)
    start = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.7])
    motion = dal.trajectory.septic(start, start + 0.3 * np.cos(np.arange(7)), duration=duration)
    found = dal.scale_trajectory(robot, motion, torque=efforts(robot), velocity=np.inf)
    at = found.motion(np.linspace(0.0, float(found.duration), 20_001))
    use = np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / efforts(robot)
    assert 1 - 1e-5 < use.max() <= 1 + 1e-6


def test_samples_are_scaled_as_they_are(motion):
    robot = panda()
    whole = dal.scale_trajectory(robot, motion)
    found = dal.scale_trajectory(robot, motion.sample(count=2001))
    assert found.factor == pytest.approx(float(whole.factor), rel=1e-3)
    assert found.tau.shape == (2001, 7)
    with pytest.raises(InfeasibleError, match="samples were scaled"):
        found.motion  # noqa: B018


def test_a_batch_has_a_factor_each_and_marks_rows_that_nothing_helps(rng):
    robot = panda()
    ways = points(robot, rng, count=3, batch=(3,))
    ways[1, 1, 1] = 1.7  # reaching far out
    ways[1, 1, 3] = -0.1
    motions = dal.trajectory.spline(ways, times=[0.0, 1.0, 2.0])
    single = dal.scale_trajectory(robot, dal.trajectory.spline(ways[0], times=[0.0, 1.0, 2.0]))
    limits = efforts(robot)
    limits[1] = 50.0
    with pytest.warns(dal.DalembertWarning, match="of 3 have no timing; row 1: joint 'joint2': at .* gravity and dry friction"):
        found = dal.scale_trajectory(robot, motions, torque=limits)
    assert found.factor.shape == (3,)
    assert np.isnan(found.factor[1])
    assert not found.feasible[1]
    whole = dal.scale_trajectory(robot, motions)
    assert whole.factor[0] == pytest.approx(float(single.factor), rel=1e-9)
    assert whole.to_dict()["feasible"] == [True, True, True]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"torque": 1.0}, InfeasibleError, "joint 'pivot': at 0.* s, q = .* gravity and dry friction alone need"),
        ({"torque": np.inf}, ModelError, "no limit found"),
        ({"factor": -1.0}, ModelError, "factor: -1 found; a number above 0"),
        ({"factor": np.nan}, ModelError, "factor: nan found"),
        ({"law": 3}, ModelError, "law: 3 found"),
        ({"samples": 1}, ModelError, "samples: 1 found"),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_sentence(options, error, words):
    with pytest.raises(error, match=words):
        dal.scale_trajectory(dal.robots.pendulum(), dal.trajectory.quintic([0.0], [3.0], duration=1.0), **options)


def test_laws_and_motions_that_do_not_fit_are_refused():
    robot, _ = rod()
    motion = dal.trajectory.quintic([0.0], [1.0], duration=1.0)
    with pytest.raises(ModelError, match="never to fall"):
        dal.scale_trajectory(robot, motion, law=dal.trajectory.quintic([1.0], [0.0], duration=1.0))
    with pytest.raises(ModelError, match="both found"):
        dal.scale_trajectory(robot, motion, law=dal.trajectory.quintic([0.0], [1.0], duration=1.0), factor=2.0)
    with pytest.raises(ShapeError, match="the system has 7 coordinates"):
        dal.scale_trajectory(panda(), motion)
    with pytest.raises(ModelError, match="a Motion or a Trajectory is expected"):
        dal.scale_trajectory(robot, [[0.0], [1.0]])
    with pytest.raises(InfeasibleError, match="it does not move"):
        dal.scale_trajectory(robot, dal.trajectory.quintic([1.0], [1.0], duration=1.0), torque=1.0)
