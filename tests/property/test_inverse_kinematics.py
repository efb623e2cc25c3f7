"""Inverse kinematics on random robots: positions near a known solution lead back to its pose, of any link."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning
from tests.robots import EVERYTHING, random_robot


@pytest.mark.parametrize("seed", range(8))
def test_the_pose_of_a_link_is_reached_from_nearby(seed):
    """Branches, sliding and coupled joints, fixed ones and offsets: the pose is that of forward kinematics."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, int(rng.integers(2, 8)))
    link = str(rng.choice([joint.child for joint in robot.structure.joints if joint.moves]))
    q = rng.uniform(-0.8, 0.8, (40, robot.n))
    wanted = dal.forward_kinematics(robot, q, link)
    start = q + rng.uniform(-0.05, 0.05, q.shape)
    found = dal.inverse_kinematics(robot, wanted, q0=start, link=link, limits=False, tolerance=1e-8)
    assert found.success.all()
    assert np.abs(dal.forward_kinematics(robot, found.q, link) - wanted).max() < 1e-7
    idle = np.abs(dal.jacobian(robot, q, link)).max(axis=(0, 1)) == 0.0
    assert np.array_equal(found.q[:, idle], start[:, idle])  # joints that do not move the link stay where they start


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_of_a_pose_out_of_reach_has_no_slope(seed):
    """At the nearest position found, no joint rate makes the distance smaller: Jᵀ e = 0, to a thousandth of |e|."""
    rng = np.random.default_rng(100 + seed)
    robot = random_robot(rng, int(rng.integers(3, 7)), replace(EVERYTHING, mimic=False, prismatic=False))
    wanted = np.array([9.0, -7.0, 5.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        moving = [joint.child for joint in robot.structure.joints if joint.moves and joint.turns]
        found = dal.inverse_kinematics(robot, wanted, link=moving[-1], directions="position", attempts=20)
    assert not found.success
    lower, upper = np.array([(c.limits.lower, c.limits.upper) for c in robot.structure.coordinates]).T
    inside = (found.q > lower + 1e-9) & (found.q < upper - 1e-9)
    J = dal.jacobian(robot, found.q, moving[-1])[:3]
    e = wanted - found.pose[:3, 3]
    slopes = np.abs(J.T @ e)[inside]
    assert np.all(slopes <= 1e-3 * np.linalg.norm(e))
