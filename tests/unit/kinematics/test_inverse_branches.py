"""All joint positions of a pose in closed form: each reaches it, none is missing, and the kind is seen from the axes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import DalembertWarning, ModelError, ShapeError
from dalembert.model import Joint, Link, Robot, Tool
from tests import robots as random_robots

KINDS = {
    "puma560": ("spherical wrist", 8),
    "stanford": ("spherical wrist", 8),
    "ur5": ("three parallel axes", 8),
    "ur10": ("three parallel axes", 8),
    "scara": ("parallel axes", 2),
    "two_link_planar": ("parallel axes", 2),
    "pelican": ("parallel axes", 2),
}


def apart(a, b, turning):
    """The largest difference of two positions, whole turns aside."""
    return np.where(turning, np.abs(np.angle(np.exp(1j * (a - b)))), np.abs(a - b)).max(axis=-1)


def arm_of(axes, rng):
    """An open chain with these axes, each a direction, a point and a type, in the world at q = 0."""
    links, joints, before = [Link("base")], [], np.zeros(3)
    for k, (direction, point, kind) in enumerate(axes):
        origin = np.eye(4)
        origin[:3, 3] = np.asarray(point) - before
        before = np.asarray(point, dtype=float)
        links.append(Link(f"link{k + 1}", 1.0, inertia=0.01 * np.eye(3)))
        parent, child = links[-2].name, links[-1].name
        joints.append(Joint(f"joint{k + 1}", kind, parent, child, origin=origin, axis=direction))
    return Robot.from_parts("arm", links, joints, tool=Tool(links[-1].name, random_robots.pose(rng)))


@pytest.mark.parametrize("name", KINDS)
def test_every_branch_reaches_the_pose_and_the_one_it_came_from_is_among_them(name, rng):
    robot = getattr(dal.robots, name)()
    q = rng.uniform(-2.0, 2.0, (200, robot.n))
    wanted = dal.forward_kinematics(robot, q)
    found = dal.inverse_branches(robot, wanted, limits=False)
    assert (found.kind, found.q.shape[1]) == KINDS[name]
    rows = slice(0, 3) if found.reaches == "position" else slice(None)
    off = dal.forward_kinematics(robot, found.q) - wanted[:, None]
    off = off[..., rows, 3] if found.reaches == "position" else off
    assert np.abs(off[found.valid]).max() < 1e-9  # rounding, where no two branches meet
    turning = [joint.turns for joint in robot.structure.coordinates]
    assert np.all(apart(found.nearest(q), q, turning) < 1e-6)
    assert np.all(found.count >= 1)
    assert np.isnan(found.q[~found.valid]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "ur5", "stanford", "scara"])
def test_a_search_from_a_thousand_starts_finds_the_same_set(name, rng):
    """No branch is missing in closed form, and none is invented: at poses drawn at random, which are not singular."""
    robot = getattr(dal.robots, name)()
    turning = np.array([joint.turns for joint in robot.structure.coordinates])
    wanted = dal.forward_kinematics(robot, rng.uniform(-2.0, 2.0, (4, robot.n)))
    closed = dal.inverse_branches(robot, wanted, limits=False)
    starts = rng.uniform(np.where(turning, -np.pi, -3.0), np.where(turning, np.pi, 3.0), (1000, 1, robot.n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        search = dal.inverse_kinematics(robot, wanted, q0=starts, limits=False, attempts=1, tolerance=1e-9)
    for k in range(len(wanted)):
        mine = closed.q[k][closed.valid[k]]
        theirs = search.q[:, k][search.success[:, k]]
        gaps = apart(theirs[:, None], mine[None], turning)
        assert np.all(gaps.min(axis=1) < 1e-5)  # each that was found is a branch
        assert np.all(gaps.min(axis=0) < 1e-5)  # each branch was found


def test_limits_take_whole_turns_into_account(rng):
    robot = dal.robots.ur5()  # joints turn twice
    q = rng.uniform(-6.0, 6.0, (100, 6))
    wanted = dal.forward_kinematics(robot, q)
    within = dal.inverse_branches(robot, wanted)
    assert np.all(within.count == dal.inverse_branches(robot, wanted, limits=False).count)
    assert np.abs(within.q[within.valid]).max() <= np.pi + 1e-9
    back = dal.inverse_branches(robot, wanted, near=q).nearest(q)
    assert np.abs(back - q).max() < 1e-6


def test_branches_beyond_limits_are_left_out(rng):
    robot = dal.robots.puma560()
    lower, upper = np.array([(j.limits.lower, j.limits.upper) for j in robot.structure.coordinates]).T
    assert np.isfinite(lower).all()
    q = rng.uniform(lower, upper, (100, 6))
    found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q))
    inside = found.q[found.valid]
    assert np.all((inside >= lower - 1e-9) & (inside <= upper + 1e-9))
    assert np.all(found.count >= 1)
    assert found.count.mean() < 8


@pytest.mark.slow
def test_a_wrist_and_a_shoulder_in_any_attitude(rng):
    """Axes 1 and 2 skew and oblique, 3 parallel to 2, and a wrist of three oblique axes that meet somewhere."""
    for _ in range(5):
        z = [random_robots.rotation(rng)[:, 0] for _ in range(5)]
        p = rng.uniform(-0.5, 0.5, (4, 3))
        axes = [(z[0], p[0]), (z[1], p[1]), (-z[1], p[2]), (z[2], p[3]), (z[3], p[3]), (z[4], p[3])]
        robot = arm_of([(*axis, "revolute") for axis in axes], rng)
        q = rng.uniform(-np.pi, np.pi, (50, 6))
        found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q), limits=False)
        assert found.kind == "spherical wrist"
        assert np.all(apart(found.nearest(q), q, True) < 1e-5)


@pytest.mark.slow
def test_a_shoulder_whose_axes_meet(rng):
    for _ in range(5):
        z = [random_robots.rotation(rng)[:, 0] for _ in range(6)]
        p = rng.uniform(-0.5, 0.5, (3, 3))
        places = [p[0], p[0], p[1], p[2], p[2], p[2]]
        robot = arm_of([(axis, place, "revolute") for axis, place in zip(z, places, strict=True)], rng)
        q = rng.uniform(-np.pi, np.pi, (50, 6))
        found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q), limits=False)
        assert found.kind == "spherical wrist"
        gaps = apart(found.q, q[:, None], True)
        assert np.all(np.nanmin(gaps, axis=1) < 1e-5)


@pytest.mark.slow
def test_three_parallel_axes_in_any_attitude_and_sense(rng):
    for _ in range(5):
        z = [random_robots.rotation(rng)[:, 0] for _ in range(4)]
        p = rng.uniform(-0.5, 0.5, (5, 3))
        axes = [(z[0], p[0]), (z[1], p[1]), (-z[1], p[2]), (-z[1], p[3]), (z[2], p[4]), (z[3], p[4])]
        robot = arm_of([(*axis, "revolute") for axis in axes], rng)
        q = rng.uniform(-np.pi, np.pi, (50, 6))
        found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q), limits=False)
        assert found.kind == "three parallel axes"
        gaps = apart(found.q, q[:, None], True)
        assert np.all(np.nanmin(gaps, axis=1) < 1e-5)


def test_planar_arms_in_any_plane_with_a_joint_that_slides(rng):
    z = random_robots.rotation(rng)[:, 0]
    p = rng.uniform(-0.5, 0.5, (3, 3))
    axes = [(z, p[0], "revolute"), (-z, p[0], "prismatic"), (-z, p[1], "revolute"), (z, p[2], "revolute")]
    robot = arm_of(axes, rng)
    q = rng.uniform(-1.0, 1.0, (50, 4))
    found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q), limits=False)
    assert (found.kind, found.reaches) == ("parallel axes", "pose")
    assert np.abs(found.nearest(q) - q).max() < 1e-6
    assert np.all(found.count == 2)


def test_three_joints_reach_positions_in_four_ways(rng):
    _, y, z = np.eye(3)
    robot = arm_of([(z, (0, 0, 0), "revolute"), (y, (0, 0.1, 0.3), "revolute"), (y, (0.4, 0.1, 0.3), "revolute")], rng)
    q = rng.uniform(-1.0, 1.0, (50, 3))
    found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q)[:, :3, 3], limits=False)
    assert (found.kind, found.reaches) == ("three joints", "position")
    assert np.abs(found.nearest(q) - q).max() < 1e-6
    assert found.count.max() == 4


def test_branches_that_meet_are_counted_once(rng):
    """A wrist with q5 = 0 has one place for the two, and a stretched planar arm too."""
    robot = dal.robots.puma560()
    q = rng.uniform(-1.0, 1.0, 6)
    q[4] = 0.0
    found = dal.inverse_branches(robot, dal.forward_kinematics(robot, q), limits=False)
    assert found.count < 8
    assert np.allclose(dal.forward_kinematics(robot, found.q[found.valid]), dal.forward_kinematics(robot, q), atol=1e-6)
    arm = dal.robots.two_link_planar()
    assert dal.inverse_branches(arm, dal.forward_kinematics(arm, [0.3, 0.0])).count == 1


def test_poses_out_of_reach_and_rows_that_are_no_poses_have_no_branches(rng):
    robot = dal.robots.ur5()
    wanted = dal.forward_kinematics(robot, rng.uniform(-1, 1, (3, 6)))
    wanted[0, :3, 3], wanted[1, 0, 0] = 9.0, np.nan
    found = dal.inverse_branches(robot, wanted)
    assert list(found.count[:2]) == [0, 0]
    assert found.count[2] > 0
    assert np.isnan(found.nearest(np.zeros(6))[:2]).all()


def test_arms_of_other_kinds_are_refused_in_a_sentence():
    for robot in (dal.robots.panda(), dal.robots.four_joint_planar(), dal.robots.pendulum()):
        with pytest.raises(
            ModelError, match=f"inverse_branches: '{robot.name}' has no closed form that is known here: its . axes"
        ):
            dal.inverse_branches(robot, np.eye(4))
    with pytest.raises(ModelError, match="it is not an open chain. Known are"):
        dal.inverse_branches(dal.mechanisms.delta(), np.eye(4))
    with pytest.raises(ModelError, match="a joint does not move this frame"):
        dal.inverse_branches(dal.robots.ur5(), np.eye(4), link=dal.robots.ur5().parameters.links[3].name)


def test_what_cannot_be_meant_is_refused(rng):
    robot = dal.robots.ur5()
    with pytest.raises(ModelError, match="pose: the pose contains NaN"):
        dal.inverse_branches(robot, np.full((4, 4), np.nan))
    with pytest.raises(ShapeError, match=r"near: shape \(3, 6\) found, which does not broadcast to poses of \(2,\)"):
        dal.inverse_branches(robot, dal.forward_kinematics(robot, np.zeros((2, 6))), near=np.zeros((3, 6)))


def test_without_a_compiler_the_same_branches_are_found(monkeypatch, rng):
    q = rng.uniform(-2.0, 2.0, (5, 6))
    wanted = dal.forward_kinematics(dal.robots.ur5(), q)
    compiled = dal.inverse_branches(dal.robots.ur5(), wanted)
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    plain = dal.inverse_branches(random_robots.fresh("ur5"), wanted)
    assert np.array_equal(plain.valid, compiled.valid)
    assert plain.q == pytest.approx(compiled.q, abs=1e-9, nan_ok=True)
