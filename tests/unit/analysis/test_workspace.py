"""Ranges of states: a robot's own limits, defaults where it states none, samples within."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.analysis.workspace import workspace_of
from dalembert.model import Joint, Limits, Link, Robot


def slider(limits: Limits) -> Robot:
    """A sliding mass."""
    return Robot.from_parts("slider", [Link("base"), Link("mass", 1.0)], [Joint("x", "prismatic", "base", "mass", limits=limits)])


def test_limits_are_those_of_the_robot():
    box = dal.Workspace.of(slider(Limits(-0.2, 0.5, velocity=2.0)))
    assert (box.lower, box.upper, box.velocity, box.acceleration) == ([-0.2], [0.5], [2.0], [4.0])


def test_a_joint_without_limits_turns_by_pi_or_slides_by_a_metre():
    box = dal.Workspace.of(dal.robots.pr_arm())
    turns = np.array([joint.turns for joint in dal.robots.pr_arm().structure.coordinates])
    np.testing.assert_array_equal(box.upper, np.where(turns, np.pi, 1.0))
    np.testing.assert_array_equal(box.lower, -box.upper)
    np.testing.assert_array_equal(box.velocity, np.where(turns, np.pi, 1.0))


@pytest.mark.parametrize(("limits", "expected"), [(Limits(lower=3.0), (3.0, 5.0)), (Limits(upper=-3.0), (-5.0, -3.0))])
def test_one_limit_alone_is_kept(limits, expected):
    box = dal.Workspace.of(slider(limits))
    assert (box.lower[0], box.upper[0]) == expected


def test_samples_lie_within_and_reach_far(rng):
    box = dal.Workspace(np.array([-1.0, 2.0]), np.array([1.0, 2.5]), np.array([3.0, 0.0]), np.array([0.5, 7.0]))
    q, qd, qdd = box.sample(rng, 2000)
    assert q.shape == qd.shape == qdd.shape == (2000, 2)
    assert (q >= box.lower).all()
    assert (q <= box.upper).all()
    for values, bound in ((qd, box.velocity), (qdd, box.acceleration)):
        assert (np.abs(values) <= bound).all()
        assert (np.abs(values).max(axis=0) >= 0.99 * bound).all()


def test_ranges_of_negative_width_are_refused():
    with pytest.raises(dal.DalembertError, match="range of negative width found; lower ≤ upper"):
        dal.Workspace(np.ones(2), np.zeros(2), np.ones(2), np.ones(2))
    with pytest.raises(dal.DalembertError, match=r"workspace: upper: shape \(3,\) found, \(2,\) expected"):
        dal.Workspace(np.zeros(2), np.zeros(3), np.ones(2), np.ones(2))


def test_a_workspace_of_another_robot_is_refused():
    with pytest.raises(dal.DalembertError, match="workspace: 6 coordinates found, a Workspace of 1 is expected"):
        workspace_of(dal.robots.pendulum(), dal.Workspace.of(dal.robots.puma560()))
    with pytest.raises(dal.DalembertError, match="workspace: str found"):
        workspace_of(dal.robots.pendulum(), "everywhere")
