"""Paths of a tool: their poses, that twist, acceleration and jerk are their derivatives, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dalembert.errors import ModelError, ShapeError
from dalembert.trajectory import ToolPath, circle, line, quintic, through_poses, trapezoidal

RNG = np.random.default_rng(4)


def some_pose(turn: float = 1.0) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_rotvec(turn * RNG.normal(size=3)).as_matrix(), RNG.normal(size=3)
    return X


A, B = some_pose(), some_pose()
POSES = [some_pose(0.7) for _ in range(5)]
TIMES = [0.0, 0.5, 1.2, 2.0, 2.5]
PATHS = {
    "line": line(A, B, duration=1.3),
    "trapezoidal line": line(A, B, timing=trapezoidal([0.0], [1.0], duration=1.0, acceleration_time=0.3)),
    "circle": circle(A, [0.1, 0.2, 0.3], axis=[1.0, 2.0, -1.0], angle=-2.0, duration=2.0),
    "turning circle": circle(A, [0.1, 0.2, 0.3], axis=[1.0, 2.0, -1.0], turning=True, duration=2.0),
    "poses": through_poses(POSES, TIMES),
    "faded": line(A, B, duration=1.0).faded(line(B, POSES[0], duration=0.7), overlap=0.2),
    "joined": line(A, B, duration=1.0).then(line(B, POSES[0], duration=0.7).reversed().reversed()).stretched(2.0),
}


@pytest.fixture(params=PATHS, ids=lambda name: name.replace(" ", "_"))
def path(request) -> ToolPath:
    return PATHS[request.param]


def between(path: ToolPath) -> np.ndarray:
    return (path.breaks[:-1, None] + np.diff(path.breaks)[:, None] * [0.1, 0.37, 0.5, 0.81]).ravel()


def extrapolated(difference, step: float) -> np.ndarray:
    """Richardson's extrapolation of central differences: error of order step⁶."""
    slopes = [difference(h) / (2 * h) for h in (step, 2 * step, 4 * step)]
    first, second = (4 * slopes[0] - slopes[1]) / 3, (4 * slopes[1] - slopes[2]) / 3
    return (16 * first - second) / 15


def test_twist_acceleration_and_jerk_are_the_derivatives_of_the_pose(path: ToolPath) -> None:
    t, step = between(path), 2e-3 * np.diff(path.breaks).min()

    def moved(h: float) -> np.ndarray:
        before, after = path.pose(t - h), path.pose(t + h)
        turn = Rotation.from_matrix(after[:, :3, :3] @ np.swapaxes(before[:, :3, :3], 1, 2)).as_rotvec()
        return np.concatenate([after[:, :3, 3] - before[:, :3, 3], turn], axis=-1)

    at = path(t)
    assert at.twist == pytest.approx(extrapolated(moved, step), rel=1e-8, abs=1e-9)
    for lower, higher in (("twist", "acceleration"), ("acceleration", "jerk")):
        slope = extrapolated(lambda h, name=lower: getattr(path(t + h), name) - getattr(path(t - h), name), step)
        size = np.abs(getattr(at, lower)).max() / step
        assert getattr(at, higher) == pytest.approx(slope, rel=1e-8, abs=1e-13 * size + 1e-10)


def test_poses_are_poses(path: ToolPath) -> None:
    X = path.sample(count=31).pose
    np.testing.assert_allclose(X[:, :3, :3] @ np.swapaxes(X[:, :3, :3], 1, 2), np.broadcast_to(np.eye(3), (31, 3, 3)), atol=1e-14)
    np.testing.assert_array_equal(X[:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (31, 1)))


def test_a_line_is_straight_and_turns_about_one_axis() -> None:
    path = PATHS["line"]
    np.testing.assert_allclose(path.pose([0.0, path.duration]), [A, B], atol=1e-14)
    at = path.sample(count=11)
    share = quintic([0.0], [1.0], duration=path.duration)(at.t)
    np.testing.assert_allclose(at.pose[:, :3, 3], A[:3, 3] + share.q * (B - A)[:3, 3], atol=1e-14)
    turn = Rotation.from_matrix(B[:3, :3] @ A[:3, :3].T).as_rotvec()
    np.testing.assert_allclose(at.twist[:, 3:], share.qd * turn, atol=1e-13)


def test_a_circle_keeps_its_distance_and_closes() -> None:
    centre, k = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
    at = PATHS["turning circle"].sample(count=21)
    r = at.pose[:, :3, 3] - centre
    np.testing.assert_allclose(r @ k, r[0] @ k, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), np.linalg.norm(r[0]), rtol=1e-14)
    np.testing.assert_allclose(at.pose[-1], A, atol=1e-14)
    np.testing.assert_allclose(at.twist[:, :3], np.cross(at.twist[:, 3:], r), atol=1e-13)  # rigid rotation about the axis
    np.testing.assert_array_equal(np.ptp(PATHS["circle"].sample(count=5).pose[:, :3, :3], axis=0), 0.0)
    quarter = circle(np.eye(4), [0.0, -1.0, 0.0], axis=[0, 0, 1], angle=np.pi / 2, duration=1.0).pose([1.0])[0, :3, 3]
    np.testing.assert_allclose(quarter, [-1.0, -1.0, 0.0], atol=1e-15)  # by the rule of the right hand


def test_a_spline_passes_its_poses_at_rest_at_both_ends() -> None:
    at = PATHS["poses"](TIMES)
    np.testing.assert_allclose(at.pose, POSES, atol=1e-12)
    np.testing.assert_allclose(at.twist[[0, -1]], 0.0, atol=1e-11)
    np.testing.assert_allclose(at.acceleration[[0, -1]], 0.0, atol=1e-9)


def test_a_spline_of_poses_does_not_depend_on_the_frames() -> None:
    """C X_i D gives C X(t) D: another world and another tool frame at the same point."""
    C, D = some_pose(), some_pose()
    D[:3, 3] = 0.0
    other = through_poses(C @ np.array(POSES) @ D, TIMES).pose(np.linspace(0.0, 2.5, 23))
    np.testing.assert_allclose(other, C @ PATHS["poses"].pose(np.linspace(0.0, 2.5, 23)) @ D, atol=1e-12)


def test_a_spline_of_poses_about_one_axis_is_that_of_the_angle_nearly() -> None:
    """Steps of 6 degrees: the quaternion runs along chords of its circle, off by the cube of half of them."""
    angles, t = np.radians(np.arange(0, 61, 6)), np.linspace(0.0, 1.0, 11)
    poses = np.tile(np.eye(4), (11, 1, 1))
    poses[:, :3, :3] = Rotation.from_rotvec(np.outer(angles, [0, 0, 1])).as_matrix()
    found = through_poses(poses, t, ends="natural").twist([0.47])[0, 5]
    assert found == pytest.approx(np.radians(60), rel=1e-4)


def test_joined_paths_take_either_sign_of_a_quaternion() -> None:
    half = np.diag([-1.0, -1.0, 1.0, 1.0])
    there = line(np.eye(4), POSES[1], duration=1.0)
    for turned in (POSES[1] @ half, half @ POSES[1], POSES[2]):
        whole = there.then(line(POSES[1], turned, duration=1.0))
        np.testing.assert_allclose(whole.pose([2.0])[0], turned, atol=1e-12)
        assert whole.duration == 2.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: line(A, B), "duration, timing: one of the two is expected"),
        (lambda: line(A, B, duration=1.0, timing=quintic([0.0], [1.0], duration=1.0)), "one of the two"),
        (
            lambda: line(A, B, timing=quintic([0.0], [2.0], duration=1.0)),
            "timing: s from 0 to 2 found, but the path runs",
        ),
        (lambda: line(A[:3], B, duration=1.0), r"start: shape \(3, 4\) found, \(4, 4\) expected"),
        (lambda: line(A, 2 * B, duration=1.0), "end: not a pose, off by"),
        (lambda: line(A, B @ np.diag([1.0, 1.0, -1.0, 1.0]), duration=1.0), "end: not a pose, off by 1;"),
        (lambda: circle(A, [0, 0, 0], axis=[0, 0, 0], duration=1.0), "axis, angle: .* both need to be other than zero"),
        (lambda: circle(A, [0, 0], axis=[0, 0, 1], duration=1.0), r"centre: shape \(2,\) found"),
        (lambda: through_poses([A], [0.0]), r"poses: shape \(1, 4, 4\) found, \(k, 4, 4\) expected"),
        (lambda: through_poses([A, A @ np.diag([-1, -1, 1, 1.0])], [0, 1]), "poses: 180 degrees found between poses 1 and 2"),
        (lambda: line(A, B, duration=1.0).then(3), "then: 3 found; a ToolPath is expected"),
        (lambda: line(A, B, duration=1.0).then(line(A, B, duration=1.0)), "then: part 1 ends .* away"),
    ],
)
def test_what_is_no_path_is_refused(call, message: str) -> None:
    with pytest.raises((ShapeError, ModelError), match=message):
        call()


def test_a_circle_without_a_radius_is_refused_unless_the_tool_turns_in_place() -> None:
    X = np.eye(4)
    X[:3, 3] = 0.4, 0.1, 0.5
    with pytest.raises(ShapeError, match=r"centre: .* found, but the tool begins on this axis, so that the circle has no radius"):
        circle(X, [0.4, 0.1, 0.2], axis=[0, 0, 1], duration=1.0)
    turned = circle(X, [0.4, 0.1, 0.2], axis=[0, 0, 1], angle=np.pi / 2, turning=True, duration=1.0)
    np.testing.assert_allclose(turned.pose(1.0), [[0, -1, 0, 0.4], [1, 0, 0, 0.1], [0, 0, 1, 0.5], [0, 0, 0, 1]], atol=1e-14)


def test_at_one_time_a_path_has_one_pose() -> None:
    there = np.eye(4)
    there[:3, 3] = 0.3, 0.1, 0.2
    path = line(np.eye(4), there, duration=2.0)
    alone, rows = path(0.7), path([0.7])
    for name in ("pose", "twist", "acceleration", "jerk"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(rows, name)[0])
