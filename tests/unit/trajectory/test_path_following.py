"""Joint motions along tool paths: exact at every instant, on one branch; what cannot be followed is said with its place."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ShapeError, SingularError, UnknownNameError
from dalembert.trajectory import Motion, circle, follow, line, quintic, through_poses, trapezoidal

ARM = dal.robots.two_link_planar()
PANDA, PUMA = dal.robots.panda(), dal.robots.puma560()
READY = np.array([0.0, -0.4, 0.1, -2.0, 0.1, 1.8, 0.7])
BENT = np.array([0.2, 0.3, -2.5, 0.3, 0.7, -0.2])
START = np.array([-1.4706289056333368, 2.9412578112666736])


def at(x: float, y: float = 0.0) -> np.ndarray:
    X = np.eye(4)
    X[:2, 3] = x, y
    return X


def moved(robot, q, way, turn: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The pose at q, and another one some way off, turned about z."""
    X = dal.forward_kinematics(robot, q)
    Z = np.eye(4)
    Z[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    other = X @ Z
    other[:3, 3] = X[:3, 3] + way
    return X, other


@cache
def motions() -> dict[str, tuple]:
    """Robot, path, joint motion and the rows that are followed."""
    line72 = line(at(0.2), at(1.8), timing=trapezoidal([0.0], [1.0], duration=0.47, acceleration_time=0.15))
    panda = line(*moved(PANDA, READY, [0.1, 0.3, -0.2], 0.5), duration=1.5)
    X = dal.forward_kinematics(PUMA, BENT)
    puma = circle(X, X[:3, 3] + [0.0, 0.05, 0.0], axis=[1, 0, 0], duration=2.0)
    poses = [moved(PUMA, BENT, way, turn)[1] for way, turn in (([0, 0, 0], 0.0), ([-0.1, 0, 0], 0.3), ([-0.1, 0.1, 0.1], -0.2))]
    spline = through_poses(poses, [0.0, 1.0, 1.7])
    return {
        "planar arm": (ARM, line72, follow(ARM, line72, start=START, directions=("x", "y")), (0, 1)),
        "panda": (PANDA, panda, follow(PANDA, panda, start=READY, held=["joint3"]), range(6)),
        "panda, positions": (PANDA, panda, follow(PANDA, panda, start=READY, directions=("x", "y", "z")), (0, 1, 2)),
        "puma": (PUMA, puma, follow(PUMA, puma, start=BENT), range(6)),
        "poses": (PUMA, spline, follow(PUMA, spline, start=BENT + 0.02), range(6)),
    }


NAMES = ("planar arm", "panda", "panda, positions", "puma", "poses")


@pytest.fixture(params=NAMES, ids=lambda name: name.replace(" ", "_").replace(",", ""))
def case(request) -> tuple:
    return motions()[request.param]


def test_the_tool_is_on_the_path_at_every_instant_with_all_its_rates(case) -> None:
    robot, path, motion, rows = case
    t = np.linspace(0.0, path.duration, 173)
    found, wanted, rows = motion(t), path(t), list(rows)
    X = dal.forward_kinematics(robot, found.q)
    position = [row for row in rows if row < 3]
    np.testing.assert_allclose(X[:, position, 3], wanted.pose[:, position, 3], atol=1e-13)
    if 3 in rows:
        np.testing.assert_allclose(X[:, :3, :3], wanted.pose[:, :3, :3], atol=1e-13)
    tool = dal.link_motion(robot, found.q, found.qd, found.qdd, qddd=found.qddd)
    for one, other in ((tool.velocity, wanted.twist), (tool.acceleration, wanted.acceleration), (tool.jerk, wanted.jerk)):
        np.testing.assert_allclose(one[:, rows], other[:, rows], rtol=1e-9, atol=1e-9 * (1 + np.abs(other).max()))


def test_each_derivative_is_that_of_the_one_before(case) -> None:
    """By Richardson's extrapolation: the motion is one curve, not samples of many."""
    _, _, motion, _ = case
    t = (motion.breaks[:-1, None] + np.diff(motion.breaks)[:, None] * [0.1, 0.37, 0.5, 0.81]).ravel()
    step = 1e-3 * np.diff(motion.breaks).min()
    for lower, higher in (("q", "qd"), ("qd", "qdd"), ("qdd", "qddd")):
        slopes = [(getattr(motion(t + h), lower) - getattr(motion(t - h), lower)) / (2 * h) for h in (step, 2 * step, 4 * step)]
        first, second = (4 * slopes[0] - slopes[1]) / 3, (4 * slopes[1] - slopes[2]) / 3
        size = np.abs(getattr(motion(t), lower)).max() / step
        np.testing.assert_allclose(getattr(motion(t), higher), (16 * first - second) / 15, rtol=1e-7, atol=1e-12 * size + 1e-8)


def test_the_planar_arm_follows_its_line_in_closed_form() -> None:
    """Two equal links with the tip on the x axis: q₂ = 2 arccos(x/2), q₁ = −q₂/2."""
    _, path, motion, _ = motions()["planar arm"]
    t = np.linspace(0.0, 0.47, 101)
    half = np.arccos(path.pose(t)[:, 0, 3] / 2)
    np.testing.assert_allclose(motion(t).q, np.stack([-half, 2 * half], axis=-1), atol=1e-13)


def test_held_joints_stay_and_the_name_says_which() -> None:
    _, _, motion, _ = motions()["panda"]
    at = motion.sample(count=20)
    np.testing.assert_allclose(at.q[:, 2], READY[2], atol=1e-14)
    assert not at.qd[:, 2].any()
    assert "panda with joint3 held" in motion.about
    free = motions()["panda, positions"][2]
    assert np.sum(np.ptp(free.sample(count=20).q, axis=0) > 1e-6) == 3


def test_a_closed_path_closes_in_the_joints() -> None:
    ends = motions()["puma"][2]([0.0, 2.0]).q
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


def test_a_mechanism_follows_too() -> None:
    five_bar = dal.mechanisms.five_bar()
    ranks = {name: np.linalg.svd(dal.jacobian(five_bar, five_bar.q0, name)[:2])[1][-1] for name in five_bar.link_names}
    link = max(ranks, key=ranks.__getitem__)
    X = dal.forward_kinematics(five_bar, five_bar.q0, link)
    there = X.copy()
    there[:2, 3] += 0.03, 0.02
    path = line(X, there, duration=1.0)
    motion = follow(five_bar, path, start=five_bar.q0, link=link, directions=("x", "y"))
    t = np.linspace(0.0, 1.0, 7)
    np.testing.assert_allclose(dal.forward_kinematics(five_bar, motion(t).q, link)[:, :2, 3], path.pose(t)[:, :2, 3], atol=1e-11)


def test_of_several_paths_those_that_cannot_be_followed_are_nan_and_told() -> None:
    timing = trapezoidal([0.0], [1.0], duration=0.47, acceleration_time=0.15)
    paths = [line(at(0.2), at(x), timing=timing) for x in (1.8, 2.3, 1.5)]
    with pytest.warns(
        dal.DalembertWarning, match=r"1 of 3 paths are not followed, NaN in their place; row 1: path: out of reach"
    ):
        motion = follow(ARM, paths, start=START, directions=("x", "y"))
    t = np.linspace(0.0, 0.47, 11)
    assert motion.shape == (3, 2)
    assert np.isnan(motion(t).q[1]).all()
    for row in (0, 2):
        single = follow(ARM, paths[row], start=START, directions=("x", "y"))
        np.testing.assert_array_equal(motion(t).qddd[row], single(t).qddd)
    assert "out of reach" in motion.about
    found = motion.check(ARM, torques=False)
    np.testing.assert_array_equal(found.passed, [True, False, True])


def test_several_paths_need_as_many_starts() -> None:
    path = line(at(0.2), at(1.8), duration=1.0)
    with pytest.raises(ShapeError, match=r"path, start: 2 paths and shape \(3, 2\) found; \(n,\) or \(2, n\) expected"):
        follow(ARM, [path, path], start=[START] * 3, directions=("x", "y"))


def test_a_followed_path_pickles() -> None:
    motion = motions()["planar arm"][2]
    again: Motion = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(again([0.2]).q, motion([0.2]).q)


@pytest.mark.parametrize(
    ("end", "error", "message"),
    [
        (
            2.3,
            InfeasibleError,
            r"path: out of reach after t = 0\.35\d+ s, at \(2, 0, 0\) m; .* off by .*Move the path into reach",
        ),
        (2.0, SingularError, r"path: at t = 0\.\d+ s, \(2, 0, 0\) m, the robot comes to a singular position.*another branch"),
    ],
)
def test_a_line_that_cannot_be_followed_is_named_with_its_place(end: float, error: type, message: str) -> None:
    timing = trapezoidal([0.0], [1.0], duration=0.47, acceleration_time=0.15)
    with pytest.raises(error, match=message):
        follow(ARM, line(at(0.2), at(end), timing=timing), start=START, directions=("x", "y"))


def test_a_singular_instant_between_knots_is_named_and_its_neighbours_are_not() -> None:
    """Straight through the base, where the arm is folded: the joints pass smoothly, but J has no inverse at that one instant."""
    crossing = 2.0 / 7.0  # of the way from 0.2 m to −0.5 m
    line_through = line(at(0.2), at(-0.5), timing=trapezoidal([0.0], [1.0], duration=1.0, acceleration_time=0.25))
    motion = follow(ARM, line_through, start=START, directions=("x", "y"))
    t = 0.125 + 0.75 * crossing
    near = motion([t - 1e-3, t + 1e-3])
    np.testing.assert_allclose(near.q.mean(axis=0), [-np.pi / 2, np.pi], atol=1e-5)
    folded = motion.path.pose([t])[0, 0, 3]
    assert abs(folded) < 1e-15
    with pytest.raises(SingularError, match=r"path: at t = 0\.33928\d s, .* m, the robot is singular"):
        motion([0.1, t, 0.9])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"start": [0.0, 0.0], "path": line(at(2.0), at(1.0), duration=1.0)},
            SingularError,
            r"start: .* singular at \(2, 0",
        ),
        (
            {"path": line(at(3.0), at(1.0), duration=1.0)},
            InfeasibleError,
            r"the first pose .* at \(3, 0, 0\) m, is not",
        ),
        ({"start": [0.0]}, ShapeError, r"start: shape \(1,\) found, \(2,\) expected"),
        ({"start": [np.nan, 0.0]}, ShapeError, "start: .* NaN"),
        ({"directions": ("x", "q")}, UnknownNameError, "directions: 'q' is not known"),
        ({"directions": None}, dal.DalembertError, "directions: 6 found .* 'two_link_planar' has 2 coordinates"),
        ({"directions": ("x",), "held": ["elbow"]}, UnknownNameError, "held: 'elbow' is not known"),
        ({"held": ["joint1"]}, ShapeError, "held: 1 joints found, 0 expected"),
        ({"path": quintic([0.0], [1.0], duration=1.0)}, dal.DalembertError, "path: .* a ToolPath is expected"),
        ({"robot": 3}, dal.DalembertError, "system: int found, a Robot is expected"),
    ],
)
def test_what_cannot_be_asked_is_refused(change: dict, error: type, message: str) -> None:
    given = {"robot": ARM, "path": line(at(0.2), at(1.8), duration=1.0), "start": START, "directions": ("x", "y")} | change
    with pytest.raises(error, match=message):
        follow(given.pop("robot"), given.pop("path"), **given)


def test_a_group_of_directions_has_a_name() -> None:
    robot, start = dal.robots.panda(), np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.7])
    X = dal.forward_kinematics(robot, start)
    there = X.copy()
    there[:3, 3] += [0.05, 0.1, -0.1]
    path = dal.trajectory.line(X, there, duration=1.0)
    named = dal.trajectory.follow(robot, path, start=start, directions="position")
    spelt = dal.trajectory.follow(robot, path, start=start, directions=("x", "y", "z"))
    np.testing.assert_array_equal(named([0.5]).q, spelt([0.5]).q)
