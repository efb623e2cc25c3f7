"""Joint positions for wanted poses: found, within limits, in any directions, along paths; what is said of others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.task_directions import task_directions
from dalembert.errors import DalembertWarning, ModelError, ShapeError, UnknownNameError
from dalembert.expr import trace
from dalembert.expr.interpret import run
from dalembert.kinematics.pose_residual import residual
from tests import robots as random_robots

PANDA = dal.robots.panda()
MIDDLE = np.array([0.1, -0.4, 0.2, -2.0, 0.3, 1.8, 0.5])


def limits_of(robot):
    ends = [(joint.limits.lower, joint.limits.upper) for joint in robot.structure.coordinates]
    return np.clip(np.array(ends).T, -np.pi, np.pi)


def reachable(robot, rng, count, link=None):
    q = rng.uniform(*limits_of(robot), (count, robot.n))
    return q, dal.forward_kinematics(robot, q, link)


def turned(axis, angle):
    X = np.eye(4)
    k = np.cross(np.eye(3), axis) * -1.0
    X[:3, :3] = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
    return X


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_random_reachable_poses_are_reached_within_limits(name, rng):
    robot = getattr(dal.robots, name)()
    _, wanted = reachable(robot, rng, 2000)
    found = dal.inverse_kinematics(robot, wanted)
    assert found.success.mean() >= 0.999
    lower, upper = np.array([(j.limits.lower, j.limits.upper) for j in robot.structure.coordinates]).T
    assert np.all((found.q >= lower) & (found.q <= upper))
    off = dal.forward_kinematics(robot, found.q)[found.success] - wanted[found.success]
    assert np.linalg.norm(off[:, :3, 3], axis=-1).max() <= 1e-5
    assert np.abs(off[:, :3, :3]).max() <= 1e-5
    assert np.array_equal(found.pose, dal.forward_kinematics(robot, found.q))


def test_the_residual_that_is_told_is_that_of_the_positions(rng):
    _, wanted = reachable(PANDA, rng, 50)
    found = dal.inverse_kinematics(PANDA, wanted, tolerance=1e-3)
    gap = np.linalg.norm(found.pose[:, :3, 3] - wanted[:, :3, 3], axis=-1)
    assert found.position_error == pytest.approx(gap, abs=1e-12)
    R = wanted[:, :3, :3] @ found.pose[:, :3, :3].swapaxes(1, 2)
    sine = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]]) / 2
    assert found.rotation_error == pytest.approx(np.arcsin(np.linalg.norm(sine, axis=0)), abs=1e-12)


def test_a_row_is_the_same_to_the_bit_in_any_batch_and_for_any_number_of_threads(rng):
    _, wanted = reachable(PANDA, rng, 300)
    one, two = (dal.inverse_kinematics(PANDA, wanted, threads=k) for k in (1, 2))
    part = dal.inverse_kinematics(PANDA, wanted[:37], threads=1)
    assert np.array_equal(one.q, two.q)
    assert np.array_equal(one.q[:37], part.q)
    assert np.array_equal(one.turns, two.turns)
    alone = [dal.inverse_kinematics(PANDA, wanted[k], q0=one.q[0], threads=1).q for k in range(3)]  # by shorter registers
    assert np.array_equal(alone, dal.inverse_kinematics(PANDA, wanted[:3], q0=one.q[0]).q)


def test_random_starts_come_from_the_generator_that_is_given(rng):
    wanted = dal.forward_kinematics(PANDA, MIDDLE)
    several = [dal.inverse_kinematics(PANDA, wanted, rng=np.random.default_rng(k)).q for k in (1, 1, 2)]
    assert np.array_equal(several[0], several[1])
    assert not np.array_equal(several[0], several[2])


def test_shapes_follow_the_leading_axes_of_poses_and_starts(rng):
    q, wanted = reachable(PANDA, rng, 6)
    found = dal.inverse_kinematics(PANDA, wanted.reshape(2, 3, 4, 4), q0=q.reshape(2, 3, 7))
    assert found.q.shape == (2, 3, 7)
    assert found.pose.shape == (2, 3, 4, 4)
    assert found.success.shape == found.position_error.shape == found.turns.shape == (2, 3)
    assert np.all(found.turns == 1)  # the start is the solution
    assert dal.inverse_kinematics(PANDA, wanted[0], q0=q).q.shape == (6, 7)
    assert dal.inverse_kinematics(PANDA, wanted[:0]).q.shape == (0, 7)
    assert dal.inverse_kinematics(PANDA, wanted[:1]).q.shape == (1, 7)


def test_a_start_nearby_leads_to_the_solution_nearby(rng):
    q, wanted = reachable(dal.robots.ur5(), rng, 100)
    found = dal.inverse_kinematics(dal.robots.ur5(), wanted, q0=q + rng.uniform(-0.02, 0.02, q.shape))
    near = np.abs(found.q - q).max(axis=1) < 0.1
    assert near.mean() > 0.9  # others are next to a singularity


def test_the_pose_of_any_link_can_be_asked_for(rng):
    link = PANDA.parameters.links[4].name
    _, wanted = reachable(PANDA, rng, 50, link)
    found = dal.inverse_kinematics(PANDA, wanted, link=link)
    assert found.success.all()
    assert np.allclose(dal.forward_kinematics(PANDA, found.q, link), wanted, atol=2e-5)


def test_points_are_enough_where_only_positions_matter(rng):
    _, wanted = reachable(PANDA, rng, 50)
    found = dal.inverse_kinematics(PANDA, wanted[:, :3, 3], directions="position")
    assert found.success.all()
    assert np.allclose(found.pose[:, :3, 3], wanted[:, :3, 3], atol=1e-5)
    assert np.all(found.rotation_error == 0.0)


def test_orientation_alone(rng):
    _, wanted = reachable(PANDA, rng, 50)
    found = dal.inverse_kinematics(PANDA, wanted, directions="orientation")
    assert found.success.all()
    assert np.allclose(found.pose[:, :3, :3], wanted[:, :3, :3], atol=1e-5)


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5, np.pi, -3.0])
def test_a_tool_that_may_turn_about_its_axis_is_aligned_whatever_its_turn(angle, rng):
    """Without rz in the axes of the wanted pose, the axis z of the tool and its place are all that is asked for."""
    q, wanted = reachable(PANDA, rng, 30)
    spun = wanted @ turned(np.array([0.0, 0.0, 1.0]), angle)
    found = dal.inverse_kinematics(PANDA, spun, q0=q, frame="body", directions=("x", "y", "z", "rx", "ry"))
    assert found.success.all()
    assert np.all(found.turns == 1)  # the start is a solution, by any angle about z
    away = dal.inverse_kinematics(PANDA, spun, frame="body", directions=("x", "y", "z", "rx", "ry"))
    assert away.success.all()
    assert np.allclose(away.pose[:, :3, 2:], wanted[:, :3, 2:], atol=2e-5)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_free_directions_of_motion_are_left_free(frame, rng):
    _, wanted = reachable(PANDA, rng, 30)
    found = dal.inverse_kinematics(PANDA, wanted, frame=frame, directions=("x", "z", "rx", "ry", "rz"))
    assert found.success.all()
    off = wanted[:, :3, 3] - found.pose[:, :3, 3]
    if frame == "body":
        off = np.einsum("kji,kj->ki", wanted[:, :3, :3], off)
    assert np.abs(off[:, [0, 2]]).max() < 1e-5
    assert np.abs(off[:, 1]).max() > 1e-3


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("names", [("rx",), ("ry", "rz"), ("x", "rz"), ("x", "y", "z", "rx", "rz")])
def test_the_matrix_of_a_residual_is_its_derivative(frame, names, rng):
    """Central differences of the residual along joint rates, where some rotations are free."""
    robot = random_robots.chain(rng, 4) if hasattr(random_robots, "chain") else dal.robots.ur5()
    task = task_directions(None, frame, None, names)
    wanted = random_robots.pose(rng)
    shapes = {"X": (4, 4), "J": (6, robot.n), "w": (12,)}
    program = trace(lambda X, J, w: list(residual(task, X, J, w)), shapes, ["e", "rows"])

    def at(q):
        return run(program, dal.forward_kinematics(robot, q), dal.jacobian(robot, q), wanted.ravel()[:12])

    q, step = rng.uniform(-1, 1, robot.n), 1e-6
    slopes = np.stack([(at(q + step * d)[0] - at(q - step * d)[0]) / (2 * step) for d in np.eye(robot.n)], axis=-1)
    assert at(q)[1] == pytest.approx(-slopes, abs=1e-8)  # truncation 1e-12, rounding 1e-16 / 1e-6


def test_an_exact_half_turn_is_left(rng):
    """The axis of a half turn is lost in the formula, and the search goes on."""
    wanted = dal.forward_kinematics(PANDA, MIDDLE)
    flipped = wanted @ turned(np.array([1.0, 0.0, 0.0]), np.pi)
    found = dal.inverse_kinematics(PANDA, flipped, q0=MIDDLE, limits=False)
    assert found.success
    assert np.allclose(found.pose, flipped, atol=2e-5)


def test_joints_without_limits_and_joints_that_slide(rng):
    for robot in (dal.robots.stanford(), dal.robots.pelican()):
        _, wanted = reachable(robot, rng, 100)
        directions = None if robot.n == 6 else ("x", "y")
        found = dal.inverse_kinematics(robot, wanted, directions=directions)
        assert found.success.mean() > 0.97
    assert dal.inverse_kinematics(dal.robots.pelican(), [0.2, 0.2, 0.0], directions=("x", "y"), limits=False).success


def test_more_directions_than_joints_are_reached_where_they_agree(rng):
    robot = dal.robots.two_link_planar()
    q, wanted = reachable(robot, rng, 40)
    found = dal.inverse_kinematics(robot, wanted)
    assert found.success.all()
    assert np.allclose(np.sin(found.q - q), 0.0, atol=1e-4)


# -- paths ---------------------------------------------------------------------------------------------------------------------


def test_along_a_path_every_row_starts_at_the_one_before():
    way = MIDDLE + np.linspace(0.0, 0.4, 101)[:, None] * np.array([1.0, 0.5, -1.0, 0.6, 0.3, -0.4, 1.0])
    wanted = dal.forward_kinematics(PANDA, way)
    found = dal.inverse_kinematics(PANDA, wanted, q0=MIDDLE, continuous=True)
    assert found.success.all()
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.02
    assert found.turns.mean() < 4
    again = dal.inverse_kinematics(PANDA, wanted[None, :].repeat(3, axis=0), q0=MIDDLE, continuous=True)
    assert again.q.shape == (3, 101, 7)
    assert np.array_equal(again.q[0], again.q[2])
    assert np.array_equal(again.q[1], found.q)


def test_a_path_that_jumps_names_row_joint_and_size():
    robot = dal.robots.two_link_planar()
    way = np.array([[0.1, 0.6], [0.12, 0.6], [1.2, 0.6], [1.21, 0.6]])
    wanted = dal.forward_kinematics(robot, way)
    with pytest.warns(DalembertWarning, match="Row 2: reached only by a jump of joint 'joint1' by 1.08 rad") as told:
        found = dal.inverse_kinematics(robot, wanted, q0=way[0], continuous=True, directions=("x", "y"))
    assert told[0].message.code == "pose-not-reached"
    assert list(found.success) == [True, True, False, True]
    assert list(found.status) == [0, 0, 3, 0]
    assert dal.inverse_kinematics(robot, wanted, q0=way[0], continuous=True, jump=1.5, directions=("x", "y")).success.all()


def test_a_path_goes_on_after_rows_that_are_no_poses_or_out_of_reach():
    robot = dal.robots.two_link_planar()
    way = np.array([0.3, 0.8]) + np.linspace(0.0, 0.3, 7)[:, None]
    wanted = dal.forward_kinematics(robot, way)
    wanted[2, 0, 3], wanted[4, :2, 3] = np.nan, 9.0
    with pytest.warns(DalembertWarning, match="2 of 7 poses failed: 1 is not a pose, 1 was not reached"):
        found = dal.inverse_kinematics(robot, wanted, q0=way[0], continuous=True, directions=("x", "y"))
    assert list(found.status) == [0, 0, 1, 0, 2, 0, 0]
    assert np.allclose(found.q[found.success], way[found.success], atol=1e-4)
    assert np.isnan(found.q[2]).all()
    assert np.isfinite(found.q[4]).all()


# -- mechanisms ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "directions"), [("delta", "position"), ("planar_3rrr", ("x", "y", "rz")), ("stewart", None), ("hybrid", None)]
)
def test_mechanisms_are_served_through_their_positions(name, directions, rng):
    mechanism = getattr(dal.mechanisms, name)()
    box = dal.Workspace.of(mechanism)
    wanted = dal.forward_kinematics(mechanism, box.sample(rng, 40).q)
    found = dal.inverse_kinematics(mechanism, wanted, directions=directions)
    assert found.success.all()
    rows = [0, 1, 2] if directions == "position" else slice(None)
    assert np.allclose(dal.forward_kinematics(mechanism, found.q)[:, rows, 3], wanted[:, rows, 3], atol=2e-5)


# -- what cannot be --------------------------------------------------------------------------------------------------------------


def test_a_pose_out_of_reach_ends_at_the_nearest_one():
    """Of a planar arm of two metres, the point of its circle towards the goal."""
    robot = dal.robots.two_link_planar()
    with pytest.warns(
        DalembertWarning, match=r"not reached; the nearest pose found is 3 m and 0 rad away, where the arm is singular"
    ):
        found = dal.inverse_kinematics(robot, [3.0, 4.0, 0.0], directions=("x", "y"))
    assert not found.success
    assert found.pose[:2, 3] == pytest.approx([1.2, 1.6], abs=1e-4)
    assert found.position_error == pytest.approx(3.0, abs=1e-6)


def test_rows_that_fail_do_not_disturb_the_others(rng):
    _, wanted = reachable(PANDA, rng, 8)
    clean = dal.inverse_kinematics(PANDA, wanted)
    spoilt = wanted.copy()
    spoilt[1, 1, 1], spoilt[3, :3, 3], spoilt[5, :3, :3] = np.nan, 50.0, 2.0 * np.eye(3)
    with pytest.warns(DalembertWarning, match="3 of 8 poses failed: 2 are not poses, 1 was not reached"):
        found = dal.inverse_kinematics(PANDA, spoilt)
    good = np.array([0, 2, 4, 6, 7])
    assert found.success[good].all()
    assert list(found.status) == [0, 1, 0, 2, 0, 1, 0, 0]
    assert np.array_equal(found.q[0], clean.q[0])
    assert "NaN" in found.row_message(1)
    assert "not a rotation" in found.row_message(5)
    assert found.row_message(0) == "reached."


def test_limits_are_named_where_they_are_the_reason():
    q = MIDDLE.copy()
    q[3] = 0.2  # beyond its upper limit
    wanted = dal.forward_kinematics(PANDA, q)
    robot = PANDA
    link = robot.parameters.links[4].name
    with pytest.warns(DalembertWarning, match="at the limit. Try limits=False"):
        found = dal.inverse_kinematics(robot, dal.forward_kinematics(robot, q, link), link=link)
    assert not found.success
    assert dal.inverse_kinematics(robot, wanted, q0=q, limits=False).success


def test_a_singular_start_is_left_within_the_plane_and_along_the_arm():
    """A stretched arm cannot move along itself at first order: only another start leads there."""
    robot = dal.robots.two_link_planar()
    found = dal.inverse_kinematics(robot, [1.2, 0.5, 0.0], q0=[0.0, 0.0], directions=("x", "y"))
    assert found.success
    inwards = dal.inverse_kinematics(robot, [1.2, 0.0, 0.0], q0=[0.0, 0.0], directions=("x", "y"))
    assert inwards.success
    assert inwards.attempts > 1  # by another start


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"pose": np.full((4, 4), np.nan)}, ModelError, "pose: the pose contains NaN or infinity. Give finite numbers."),
        ({"pose": np.diag([2.0, 1.0, 1.0, 1.0])}, ModelError, "pose: the upper left 3x3 of the pose is not a rotation"),
        ({"pose": np.diag([1.0, 1.0, -1.0, 1.0])}, ModelError, "not a rotation"),
        ({"pose": np.eye(3)}, ShapeError, r"pose: shape \(3, 3\) found, \(..., 4, 4\) expected"),
        ({"link": "hnd"}, UnknownNameError, "link: 'hnd' is not known"),
        ({"directions": ("x", "up")}, UnknownNameError, "directions: 'up' is not known"),
        ({"frame": "tool"}, UnknownNameError, "frame: 'tool' is not known"),
        ({"q0": "random"}, ModelError, r"q0: 'random' found; positions of shape \(..., 7\) expected"),
        ({"q0": [0.0, 1.0]}, ShapeError, r"q0: shape \(2,\) found"),
        ({"q0": [np.nan] * 7}, ModelError, "q0: NaN or infinity found"),
        ({"tolerance": 0.0}, ModelError, "tolerance: 0 found; a number above zero"),
        ({"tolerance": (1e-3, 1e-3, 1e-3)}, ShapeError, "tolerance: 3 numbers found"),
        ({"attempts": 0}, ModelError, "attempts: 0 found; a whole number from 1"),
        ({"jump": 0.5}, ModelError, "jump: found without continuous=True"),
        ({"continuous": True}, ShapeError, "pose: a single one found; with continuous=True a path"),
        ({"length": -1.0}, ModelError, "length: -1 found"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(options, error, words):
    given = {"pose": dal.forward_kinematics(PANDA, MIDDLE)} | options
    with pytest.raises(error, match=words):
        dal.inverse_kinematics(PANDA, **given)


def test_starts_and_poses_that_do_not_broadcast_are_told_of(rng):
    q, wanted = reachable(PANDA, rng, 4)
    with pytest.raises(ShapeError, match=r"leading axes do not broadcast together: pose \(4,\), q0 \(3,\)"):
        dal.inverse_kinematics(PANDA, wanted, q0=q[:3])


def test_a_message_says_that_all_went_well():
    found = dal.inverse_kinematics(PANDA, dal.forward_kinematics(PANDA, MIDDLE))
    assert found.message == "Every pose was reached."
    assert "all_reached=True" in repr(found)


def test_without_a_compiler_the_same_is_found(monkeypatch, rng):
    robot = dal.robots.two_link_planar()
    _, wanted = reachable(robot, rng, 3)
    compiled = dal.inverse_kinematics(robot, wanted, directions=("x", "y"))
    monkeypatch.setenv("DALEMBERT_BACKEND", "numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = dal.inverse_kinematics(random_robots.fresh("two_link_planar"), wanted, directions=("x", "y"))
    assert plain.q == pytest.approx(compiled.q, abs=1e-9)


def test_a_place_without_its_directions_is_told_how_to_be_meant() -> None:
    with pytest.raises(ShapeError, match=r"pose: shape \(3,\) found, .* For places alone, give directions='position'."):
        dal.inverse_kinematics(dal.robots.panda(), [0.4, 0.2, 0.5])
