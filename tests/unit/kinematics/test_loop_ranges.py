"""Inverse kinematics of mechanisms keeps the ranges of joints within loops, which are none of their coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning
from tests.mechanisms_with_drives import limited

DIRECTIONS = ("x", "y")


def positions(mechanism, q, name):
    """Of one joint, by assembly."""
    return mechanism.assemble(q).x[..., mechanism.robot.joint_names.index(name)]


def reached(count=200):
    """Places of the five-bar's coupler around its seed, and where its second joint is there."""
    free = dal.mechanisms.five_bar()
    q = np.array(free.q0) + np.random.default_rng(2).uniform(-0.4, 0.4, size=(count, 2))
    return free, q, dal.forward_kinematics(free, q, "link3"), positions(free, q, "joint2")


def test_solutions_keep_the_range_of_a_joint_within_a_loop():
    free, _, wanted, x = reached()
    split = float(np.median(x))
    narrow = limited(free, {"joint2": dal.Limits(split - 0.25, split + 0.1)})
    within = (x > split - 0.25) & (x < split + 0.1)
    found = dal.inverse_kinematics(narrow, wanted[within], link="link3", directions=DIRECTIONS)
    assert found.success.mean() > 0.99
    at = positions(narrow, found.q[found.success], "joint2")
    assert at.min() >= split - 0.25 - 1e-9
    assert at.max() <= split + 0.1 + 1e-9
    loose = dal.inverse_kinematics(narrow, wanted[within], link="link3", directions=DIRECTIONS, limits=False)
    assert positions(narrow, loose.q, "joint2").max() > split + 0.1


def narrowed(count, room):
    """The five-bar with a narrow range, places that it reaches within, and as many starts that are beyond of it."""
    free, q, wanted, x = reached()
    split = float(np.median(x))
    narrow = limited(free, {"joint2": dal.Limits(split - room, split + room)})
    within, outside = np.abs(x - split) < room, np.abs(x - split) > room
    return narrow, split, wanted[within][:count], q[outside][: min(count, within.sum())]


def test_freedom_that_is_left_over_is_used_to_stay_within():
    """Only y is wanted: from starts beyond the range the search ends on its edge or within."""
    narrow, split, wanted, q = narrowed(20, 0.05)
    found = dal.inverse_kinematics(narrow, wanted, link="link3", directions=("y",), q0=q)
    assert found.success.all()
    at = positions(narrow, found.q, "joint2")
    assert np.abs(at - split).max() <= 0.05 + 1e-9
    assert np.abs(at - split).max() > 0.05 - 1e-6  # the nearest ones to starts beyond are on an edge
    assert np.allclose(found.pose[:, 1, 3], wanted[:, 1, 3], atol=1e-5)


@pytest.mark.parametrize("secondary", ["near", "manipulability"])
def test_second_goals_keep_the_range(secondary):
    narrow, split, wanted, q = narrowed(20, 0.05)
    plain, found = (
        dal.inverse_kinematics(narrow, wanted, link="link3", directions=("y",), q0=q, secondary=goal)
        for goal in (None, secondary)
    )
    assert found.success.all()
    assert np.abs(positions(narrow, found.q, "joint2") - split).max() <= 0.05 + 1e-9
    if secondary == "near":
        assert (np.linalg.norm(found.q - q, axis=1) <= np.linalg.norm(plain.q - q, axis=1) + 1e-6).all()


def test_a_pose_beyond_the_range_is_not_reached_and_the_joint_is_named():
    """A four-bar has one freedom: where its crank has to be, its coupler is too far."""
    free = dal.mechanisms.four_bar()
    wanted = dal.forward_kinematics(free, [1.6], "crank")
    x = float(positions(free, np.array([1.6]), "joint2"))
    narrow = limited(free, {"joint2": dal.Limits(x + 0.2, x + 3.0)})
    with pytest.warns(DalembertWarning, match="not reached; .* joint 'joint2' is at the limit. Try limits=False"):
        found = dal.inverse_kinematics(narrow, wanted, link="crank", directions=("rz",))
    assert not found.success
    assert dal.inverse_kinematics(narrow, wanted, link="crank", directions=("rz",), limits=False).success


def test_a_path_is_followed_within_the_range():
    free = dal.mechanisms.five_bar()
    way = np.linspace(np.array(free.q0), np.array(free.q0) + [0.3, 0.2], 50)
    path, at = dal.forward_kinematics(free, way, "link3"), positions(free, way, "joint2")
    wide = limited(free, {"joint2": dal.Limits(at.min() - 0.01, at.max() + 0.01)})
    found = dal.inverse_kinematics(wide, path, link="link3", directions=DIRECTIONS, q0=way[0], continuous=True)
    assert found.success.all()
    narrow = limited(free, {"joint2": dal.Limits(at.min() - 0.01, float(np.quantile(at, 0.7)))})
    with pytest.warns(DalembertWarning, match="of 50 poses failed"):
        found = dal.inverse_kinematics(narrow, path, link="link3", directions=DIRECTIONS, q0=way[at.argmin()], continuous=True)
    assert positions(narrow, found.q[found.success], "joint2").max() <= np.quantile(at, 0.7) + 1e-9
