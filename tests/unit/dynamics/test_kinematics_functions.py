"""Jacobians of points, their rates, and rates of orientation angles, at and around the singularities too."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, ShapeError, UnknownNameError
from dalembert.model import Robot
from tests.robots import relative_error

N = 6


@pytest.fixture(scope="module")
def robot() -> Robot:
    return dal.robots.puma560()


def hinge(axis: int, origin: np.ndarray | None = None) -> Robot:
    """One link turning about a coordinate axis; `origin` is the joint's rotation in the base."""
    links = [dal.Link("base"), dal.Link("link", 1.0, np.zeros(3), np.eye(3))]
    X = np.eye(4)
    X[:3, :3] = np.eye(3) if origin is None else origin
    return Robot.from_parts("hinge", links, [dal.Joint("turn", "revolute", "base", "link", origin=X, axis=np.eye(3)[axis])])


def test_a_point_at_the_origin_is_the_frame_itself(robot: Robot, rng: np.random.Generator) -> None:
    q = rng.normal(size=(4, N))
    for frame in ("world", "body"):
        found = dal.jacobian(robot, q, "link3", point=[0, 0, 0], frame=frame)
        np.testing.assert_allclose(found, dal.jacobian(robot, q, "link3", frame=frame), atol=1e-15)


def test_a_point_moves_with_the_frame_and_turns_about_its_origin(robot: Robot, rng: np.random.Generator) -> None:
    q, p = rng.normal(size=N), rng.normal(size=3)
    J, R = dal.jacobian(robot, q), dal.forward_kinematics(robot, q)[:3, :3]
    found = dal.jacobian(robot, q, point=p)
    np.testing.assert_allclose(found[3:], J[3:], atol=1e-15)
    np.testing.assert_allclose(found[:3], J[:3] + np.cross(J[3:].T, R @ p).T, atol=1e-14)


def test_points_broadcast_with_configurations(robot: Robot, rng: np.random.Generator) -> None:
    q, points = rng.normal(size=N), rng.normal(size=(5, 3))
    J = dal.jacobian(robot, q, "link2", point=points)
    assert J.shape == (5, 6, N)
    np.testing.assert_array_equal(J[2], dal.jacobian(robot, q, "link2", point=points[2]))
    out = np.empty_like(J)
    assert dal.jacobian(robot, q, "link2", point=points, out=out) is out
    np.testing.assert_array_equal(out, J)


def test_a_point_of_two_coordinates_is_refused(robot: Robot) -> None:
    with pytest.raises(ShapeError, match=r"point: shape \(2,\) found, \(\.\.\., 3\) expected"):
        dal.jacobian(robot, np.zeros(N), point=[1.0, 2.0])


@pytest.mark.parametrize("name", ["jacobian", "jacobian_dot", "analytical_jacobian"])
def test_an_unknown_link_is_named_with_its_near_match(name: str, robot: Robot) -> None:
    states = np.zeros((2 if name == "jacobian_dot" else 1, N))
    with pytest.raises(UnknownNameError, match=r"link: 'link7' is not known; did you mean 'link\d'\? Known: tool, base, link1"):
        getattr(dal, name)(robot, *states, "link7")


def test_an_unknown_frame_is_named(robot: Robot) -> None:
    sentence = r"frame: 'wrld' is not known; did you mean 'world'\? Known: world, body"
    with pytest.raises(UnknownNameError, match=sentence):
        dal.jacobian_dot(robot, *np.zeros((2, N)), frame="wrld")
    with pytest.raises(UnknownNameError, match=sentence):
        dal.jacobian(robot, np.zeros(N), point=np.zeros(3), frame="wrld")


def test_unknown_angles_are_named(robot: Robot) -> None:
    with pytest.raises(UnknownNameError, match=r"angles: 'zxz' is not known; did you mean 'zyz'\? Known: rpy, zyz, quaternion"):
        dal.analytical_jacobian(robot, np.zeros(N), angles="zxz")


def test_a_tree_with_several_tips_asks_for_a_link() -> None:
    links = [dal.Link("base"), dal.Link("a", 1.0), dal.Link("b", 1.0)]
    fork = Robot.from_parts(
        "fork", links, [dal.Joint("left", "prismatic", "base", "a"), dal.Joint("right", "prismatic", "base", "b")]
    )
    with pytest.raises(ModelError, match=r"tool: 'fork' has several tips and no tool\. Name a link: base, a, b"):
        dal.jacobian_dot(fork, np.zeros(2), np.zeros(2))
    assert dal.jacobian_dot(fork, np.zeros(2), np.ones(2), "b").shape == (6, 2)


def test_the_rate_of_the_jacobian_is_linear_in_velocity_and_vanishes_at_rest(robot: Robot, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, N))
    rate = dal.jacobian_dot(robot, q, qd, "link4")
    np.testing.assert_array_equal(dal.jacobian_dot(robot, q, np.zeros(N), "link4"), np.zeros((6, N)))
    assert relative_error(dal.jacobian_dot(robot, q, -2 * qd, "link4"), -2 * rate) < 1e-14
    assert (dal.jacobian_dot(robot, q, qd, "base") == 0).all()


def test_a_point_on_a_circle_is_drawn_to_its_centre() -> None:
    """J̇ q̇ = −r q̇² towards the axis."""
    arm = hinge(2).with_tool(np.array([[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    np.testing.assert_allclose(dal.jacobian_dot(arm, [0.0], [3.0])[:, 0] * 3.0, [-4.5, 0, 0, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(dal.jacobian_dot(arm, [0.0], [3.0], frame="body"), np.zeros((6, 1)), atol=1e-14)


# Angles


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_turning_about_one_axis_changes_one_of_roll_pitch_and_yaw(axis: int) -> None:
    rates = dal.analytical_jacobian(hinge(axis), [0.4])[3:, 0]
    np.testing.assert_allclose(rates, np.eye(3)[axis], atol=1e-15)


def test_position_rows_are_those_of_the_geometric_jacobian(robot: Robot, rng: np.random.Generator) -> None:
    q = rng.normal(size=(3, N))
    for angles in ("rpy", "zyz", "quaternion"):
        found = dal.analytical_jacobian(robot, q, "link5", angles=angles)
        np.testing.assert_allclose(found[:, :3], dal.jacobian(robot, q, "link5")[:, :3], atol=1e-15)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("q", [0.0, 1e-9, 0.5, 2.0, np.pi - 1e-3, np.pi + 1e-3, 4.0, 6.0, -3.0])
def test_the_quaternion_of_a_turn_is_followed_with_w_not_negative(axis: int, q: float) -> None:
    """(cos q/2, sin q/2 · axis), its sign changed where the cosine is negative."""
    side = np.sign(np.cos(q / 2))
    wanted = np.array([-np.sin(q / 2), *(np.cos(q / 2) * np.eye(3)[axis])]) * side / 2
    found = dal.analytical_jacobian(hinge(axis), [q], angles="quaternion")[3:, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_quaternion_s_rate_is_finite_at_half_a_turn_too(axis: int) -> None:
    rates = dal.analytical_jacobian(hinge(axis), [np.pi], angles="quaternion")[3:, 0]
    assert abs(rates[0]) == pytest.approx(0.5, abs=1e-14)
    np.testing.assert_allclose(rates[1:], 0.0, atol=1e-14)


def pitched() -> Robot:
    """A link that rolls, then pitches."""
    links = [dal.Link("base"), dal.Link("a", 1.0), dal.Link("b", 1.0, np.zeros(3), np.eye(3))]
    joints = [dal.Joint("x", "revolute", "base", "a", axis=[1, 0, 0]), dal.Joint("y", "revolute", "a", "b", axis=[0, 1, 0])]
    return Robot.from_parts("pitched", links, joints)


@pytest.mark.parametrize("angles, q", [("rpy", [0.0, np.pi / 2]), ("zyz", [0.0, 0.0])])
@pytest.mark.parametrize("batch", [(), (5,)])
def test_at_the_singularity_rates_are_huge_or_not_numbers_and_positions_are_fine(
    angles: str, q: list[float], batch: tuple[int, ...]
) -> None:
    """π/2 is not a float, and rounding decides on which side of the pole it falls."""
    found = dal.analytical_jacobian(pitched(), np.broadcast_to(q, (*batch, 2)), angles=angles)
    assert np.isfinite(found[..., :3, :]).all()
    assert not (np.abs(found[..., 3:, :]) < 1e12).all(axis=(-1, -2)).any()


UPRIGHT = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # pitch of exactly π/2


@pytest.mark.parametrize("angles, arm", [("rpy", hinge(0, UPRIGHT)), ("zyz", hinge(2))])
def test_a_frame_singular_in_every_configuration_has_no_finite_rates(angles: str, arm: Robot) -> None:
    found = dal.analytical_jacobian(arm, [0.3], angles=angles)
    assert not np.isfinite(found[3:]).all()
    assert np.isfinite(found[:3]).all()


@pytest.mark.parametrize("distance", [1e-3, 1e-6])
def test_rates_grow_towards_the_singularity_as_the_inverse_of_the_distance(distance: float) -> None:
    """A turn about the world's x is roll and yaw at once, with 1 / cos(pitch)."""
    rates = dal.analytical_jacobian(pitched(), [0.0, np.pi / 2 - distance])[3:, 0]
    assert rates == pytest.approx([1 / np.sin(distance), 0.0, 1 / np.tan(distance)], rel=1e-9, abs=1e-9)
