"""Paths that rest somewhere: the parameter by which they rest nowhere, and what is timed along it."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.timing.path_rests import MovingPath, without_rests
from dalembert.timing.path_shapes import read_paths

from .timing_cases import dense_times


def to_and_fro(points):
    return np.array([*points, *points[-2::-1]])


def moving(way, n=2, *, turning=True):
    paths, _ = without_rests(read_paths(way, n)[0], turning=turning)
    found = paths.motion(0)
    assert isinstance(found, MovingPath)
    return found


RESTING = {
    "from rest to rest": dal.trajectory.quintic([0.0, 0.2], [1.0, -0.4], duration=2.0),
    "with near stops": dal.trajectory.spline(
        [[0.0, 0.1], [0.9, 0.3], [0.02, 0.15], [-0.7, -0.8], [-0.6, 0.9]], times=[0, 1, 2, 3, 4]
    ),
    "to and fro": to_and_fro([[0.0, 0.1], [0.9, 0.3], [0.85, 0.28], [-0.7, -0.8], [-0.6, 0.9]]),
}


@pytest.mark.parametrize("kind", RESTING)
def test_derivatives_by_the_new_parameter_are_those_of_differences(kind, rng):
    motion = moving(RESTING[kind])
    h = 1e-6 * motion.duration
    s = rng.uniform(2 * h, motion.duration - 2 * h, 400)
    s = s[np.abs(s[:, None] - motion.breaks).min(axis=1) > 2e-3 * motion.duration]  # beside rests they change with the root
    before, here, after = motion.at(s - h), motion.at(s), motion.at(s + h)
    for order in range(3):
        difference = (after[order] - before[order]) / (2 * h)
        scale = 1.0 + np.abs(here[order + 1]).max()
        assert difference / scale == pytest.approx(here[order + 1] / scale, abs=2e-6)


def test_a_path_from_rest_to_rest_is_taken_by_its_arc_length():
    motion = moving(RESTING["from rest to rest"])
    assert motion.duration == pytest.approx(np.hypot(1.0, 0.6), rel=1e-12)
    _, first, second, _ = motion.at(np.linspace(0.0, motion.duration, 50))
    assert np.linalg.norm(first, axis=-1) == pytest.approx(np.ones(50), abs=1e-12)
    assert np.abs(second[1:-1]).max() < 1e-9


def test_a_straight_way_is_passed_at_speed_where_its_motion_rests():
    robot, limits = dal.robots.pelican(), {"torque": [40.0, 12.0], "velocity": np.inf}
    start, middle, end = (np.array([0.0, 0.2]) + share * np.array([1.0, -0.6]) for share in (0.0, 0.37, 1.0))
    way = dal.trajectory.quintic(start, middle, duration=2.0).then(dal.trajectory.quintic(middle, end, duration=0.7))
    found = dal.fastest_timing(robot, way, **limits, intervals=300)
    at = found.motion(np.sort(np.concatenate([found.t, dense_times(found.motion), found.t[1:-1] + 1e-9])))
    assert (np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / limits["torque"]).max() <= 1 + 1e-6
    assert found.duration == pytest.approx(float(dal.fastest_timing(robot, [start, end], **limits).duration), rel=1e-3)


def test_where_a_path_nearly_stops_it_keeps_its_own_parameter():
    """By arc length the curvature there is a spike."""
    way = RESTING["with near stops"]
    motion = moving(way)
    speed = np.linalg.norm(way(np.linspace(0.5, 3.5, 600)).qd, axis=-1)
    slowest = 0.5 + 3.0 * np.argmin(speed) / 599
    sigma = np.interp(slowest, motion.places, motion.lengths)
    _, first, second, _ = motion.at(np.array([sigma]))
    own = way(slowest)
    assert first[0] == pytest.approx(own.qd, abs=1e-9)
    assert second[0] == pytest.approx(own.qdd, abs=1e-8)


def test_the_path_itself_stays_the_same():
    for way in RESTING.values():
        motion = moving(way)
        sigma = np.linspace(0.0, motion.duration, 300)
        assert motion.at(sigma)[0] == pytest.approx(motion.inner.at(motion.place(sigma))[0], abs=1e-12)
        assert (np.diff(motion.place(sigma)) > 0).all()
        ends = motion.inner.at(np.array([0.0, motion.inner.duration]))[0]
        assert motion.at(np.array([0.0, motion.duration]))[0] == pytest.approx(ends, abs=1e-12)


def test_a_pause_takes_no_length():
    first, second = np.array([0.0, 0.2]), np.array([1.0, -0.4])
    there = dal.trajectory.quintic(first, second, duration=2.0)
    pause = dal.trajectory.quintic(second, second, duration=3.0)
    motion = moving(there.then(pause).then(there.reversed()))
    assert motion.duration == pytest.approx(2 * np.hypot(1.0, 0.6), rel=1e-9)
    _, direction, *_ = motion.at(motion.duration * (0.5 + np.array([-1e-9, 1e-9])))
    assert direction[0] == pytest.approx(-direction[1], abs=1e-9)


def test_paths_that_only_turn_round_count_as_resting_where_they_may_stop():
    way = to_and_fro([[0.0, 0.1], [0.9, 0.3], [-0.7, -0.8]])
    paths = read_paths(way, 2)[0]
    assert isinstance(without_rests(paths)[0].motion(0), MovingPath)
    assert without_rests(paths, turning=False)[0] is paths


def excess_of_motion(found, **limits):
    at = found.motion(dense_times(found.motion))
    rates = {"velocity": at.qd, "acceleration": at.qdd, "jerk": at.qddd}
    return max(float((np.abs(rates[name]) / limit).max()) - 1 for name, limit in limits.items())


@pytest.mark.parametrize("intervals", [100, 1000])
@pytest.mark.slow
def test_a_way_that_turns_back_and_nearly_stops_elsewhere_keeps_its_limits(intervals):
    """By arc length all along, an acceleration was 1.29 times its limit between the points of a grid, and nothing told it."""
    for seed in range(6):
        way = to_and_fro(np.random.default_rng(seed).uniform(-1.0, 1.0, (10, 2)))
        limits = {"velocity": [1.0, 2.0], "acceleration": [8.0, 12.0]}
        found = dal.fastest_timing(dal.robots.pelican(), way, torque=np.inf, **limits, intervals=intervals)
        assert excess_of_motion(found, **limits) <= 1e-6
        assert found.excess <= 1e-6


@pytest.mark.slow
def test_limits_of_jerk_are_kept_from_rest_to_rest_past_near_stops():
    """One in four such paths was refused, and of others limits were exceeded."""
    for seed in (3, 4, 5):
        points = np.random.default_rng(seed).uniform(-1.0, 1.0, (7, 2))
        limits = {"velocity": [1.0, 2.0], "acceleration": [8.0, 12.0], "jerk": [200.0, 300.0]}
        way = dal.trajectory.spline(to_and_fro(points), times=np.arange(13.0))
        found = dal.fastest_timing(dal.robots.pelican(), way, torque=np.inf, **limits, intervals=200)
        assert excess_of_motion(found, **limits) <= 1e-6


def test_no_motion_crawls_beside_a_rest():
    """All of the next speed was given up for a little more before it: the way to and fro took 1145 s on 100 intervals."""
    way = to_and_fro([[0.9, 0.1], [0.6, 0.5], [0.1, 0.2]])
    limits = {"torque": np.inf, "velocity": [1.0, 2.0], "acceleration": [10.0, 10.0]}
    fine, coarse = (dal.fastest_timing(dal.robots.pelican(), way, **limits, intervals=N).duration for N in (2000, 100))
    assert fine <= coarse <= 1.05 * fine


def test_rests_close_to_each_other_have_grid_points_between_them():
    """Neighbours on the grid, both at rest, took 4e10 s."""
    way = dal.trajectory.spline([[0.7], [0.43], [0.4], [0.42], [0.58]], times=np.arange(5.0))
    limits = {"torque": np.inf, "velocity": 2.0, "acceleration": 10.0}
    found = dal.fastest_timing(dal.robots.pendulum(), way, **limits, intervals=200)
    turns = moving(way, 1).inner.at(moving(way, 1).rests.start)[0][:, 0]
    assert found.duration == pytest.approx(
        2 * np.sqrt(np.abs(np.diff(turns)) / 10.0).sum(), rel=1e-3
    )  # full acceleration all along


def test_just_before_a_corner_the_direction_is_that_before_it():
    """Beside a corner s is that of the corner to rounding; the direction after it went with s̈ before it: torques turned round."""
    way = to_and_fro([[0.0, 0.1], [0.9, 0.3], [-0.7, -0.8]])
    found = dal.fastest_timing(dal.robots.pelican(), way, torque=np.inf, acceleration=[8.0, 12.0], velocity=np.inf, intervals=100)
    corner = int(np.flatnonzero(found.sd == 0)[1])
    ends = found.t[corner] - (found.t[corner] - found.t[corner - 1]) * np.array([1e-3, 1e-6, 1e-9])
    before = found.motion(ends).qdd
    assert before[1:] == pytest.approx(np.tile(before[0], (2, 1)), rel=1e-3)


def test_friction_turns_round_at_grid_points_along_paths_that_are_no_cubics():
    """A thousandth of an interval beside one, a torque exceeded its limit by twice the friction."""
    robot = dal.robots.pelican()
    laws = dict.fromkeys(robot.joint_names, dal.Friction(coulomb=0.5))
    rough = robot.replace(parameters=robot.parameters.replace(friction=laws))
    t = np.linspace(0.0, 1.0, 200)
    for seed in range(4):
        points = np.random.default_rng(seed).uniform(-0.6, 0.6, (8, 2))
        way = dal.trajectory.spline(to_and_fro(points), times=np.arange(15.0))
        found = dal.fastest_timing(rough, way, torque=[40.0, 12.0], velocity=np.inf, intervals=100)
        times = (found.t[:-1, None] + np.diff(found.t)[:, None] * (1 - 10.0 ** -np.arange(1, 6))).ravel()
        at = found.motion(np.concatenate([times, t * found.duration]))
        tau = dal.inverse_dynamics(rough, at.q, at.qd, at.qdd)
        assert (np.abs(tau) / [40.0, 12.0]).max() <= 1 + 1e-6


def test_straight_ways_between_rests_have_no_curvature_of_rounding():
    """Beside rests q″ and q‴ by arc length were rounding, 18 and 1e13: limits of jerk were refused on 1000 intervals."""
    rng = np.random.default_rng(5)
    points = rng.uniform(-0.6, 0.6, (4, 2))
    kinds = [dal.trajectory.cubic, dal.trajectory.quintic, dal.trajectory.septic]
    first, second, third = (
        kind(a, b, duration=float(rng.uniform(0.5, 2.0))) for kind, a, b in zip(kinds, points, points[1:], strict=False)
    )
    motion = moving(first.then(second).then(third))
    beside = motion.breaks[:, None] + motion.duration * np.array([-1e-6, -1e-9, -1e-12, 1e-12, 1e-9, 1e-6])
    _, direction, bent, sharply = motion.at(np.clip(beside.ravel(), 0.0, motion.duration))
    assert np.linalg.norm(direction, axis=-1) == pytest.approx(1.0, abs=1e-14)
    assert not bent.any()
    assert not sharply.any()


def test_a_straight_way_that_turns_back_is_no_line():
    there = dal.trajectory.spline([[0.0, 0.0], [0.5, 0.25], [0.0, 0.0]], times=[0.0, 1.0, 2.0])
    motion = moving(there, turning=False)
    _, first, *_ = motion.at(np.linspace(0.0, motion.duration, 9)[1:-1])
    assert (first[:3] > 0).all()
    assert (first[-3:] < 0).all()


@pytest.mark.parametrize("seed", [4, 5])
def test_joints_that_turn_round_between_grid_points_have_their_friction_both_ways(seed):
    """Six joints turn within a millionth of the path, two grid points are there: a torque was 1.009 of its limit for 2 µs."""
    robot = dal.robots.ur5()
    laws = dict.fromkeys(robot.joint_names, dal.Friction(coulomb=6.0))
    rough = robot.replace(parameters=robot.parameters.replace(friction=laws))
    torque = 0.8 * np.array([joint.limits.effort for joint in robot.structure.coordinates])
    rng = np.random.default_rng(seed)
    way = to_and_fro(rng.uniform(-0.8, 0.8, (3, 6)))
    found = dal.fastest_timing(rough, way + 1e-6 * rng.normal(size=way.shape), torque=torque, velocity=np.inf, intervals=400)
    at = found.motion(dense_times(found.motion, parts=40, shift=0.5))
    assert (np.abs(dal.inverse_dynamics(rough, at.q, at.qd, at.qdd)) / torque).max() <= 1 + 1e-6
