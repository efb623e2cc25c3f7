"""The fastest timing: closed forms of one joint, limits kept on dense grids, batches, and what cannot be timed."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import dalembert as dal
from dalembert.errors import InfeasibleError, ModelError, ShapeError, UnknownNameError
from dalembert.timing.fastest_profile import ProfileSolver
from dalembert.timing.path_rests import without_rests
from dalembert.timing.path_shapes import SplinePaths

from .timing_cases import dense_times, efforts, excess, panda, points, rod, with_friction

TORQUE, ANGLE = 2.0, 3.0


def fastest(robot, **limits):
    return dal.fastest_timing(robot, [[0.0], [ANGLE]], **limits)


def test_full_torque_forwards_and_backwards_is_the_fastest():
    robot, inertia = rod()
    found = fastest(robot, torque=TORQUE)
    assert found.duration == pytest.approx(2 * np.sqrt(ANGLE * inertia / TORQUE), rel=1e-12)
    assert found.motion([0.0, float(found.duration)]).q.ravel() == pytest.approx([0.0, ANGLE], abs=1e-12)


def test_a_limit_of_speed_makes_a_trapezoid():
    robot, inertia = rod()
    a, v = TORQUE / inertia, 2.0
    found = fastest(robot, torque=TORQUE, velocity=v)
    assert found.duration == pytest.approx(ANGLE / v + v / a, rel=1e-4)  # ṡ² has its bend within an interval
    assert {limit for *_, limit in found.binding_parts()} == {"torque of 'pivot'", "velocity of 'pivot'"}


def test_a_limit_of_acceleration_does_as_one_of_torque():
    robot, inertia = rod()
    by_torque, by_acceleration = fastest(robot, torque=TORQUE), fastest(robot, acceleration=TORQUE / inertia)
    assert by_acceleration.duration == pytest.approx(by_torque.duration, rel=1e-12)


@pytest.mark.slow
def test_a_limit_of_acceleration_is_no_obstacle_where_a_joint_turns_round():
    """There q′ is rounding, and what a row at its limit leaves for s̈ is rounding by rounding."""
    robot = panda()
    for seed, torque in ((1, None), (2, None), (1, np.inf)):
        way = points(robot, np.random.default_rng(seed))
        found = dal.fastest_timing(robot, way, torque=torque, velocity=np.inf, acceleration=5.0)
        assert np.isfinite(found.duration)
        assert found.use.max() > 0.999
        assert np.abs(found.motion.at(dense_times(found.motion))[2]).max() <= 5.0 * (1 + 1e-6)


@pytest.mark.slow
def test_a_grid_that_is_much_too_coarse_still_gives_a_timing_within_limits():
    robot = panda()
    for seed in range(4, 10):
        way = points(robot, np.random.default_rng(seed))
        found = dal.fastest_timing(robot, way, velocity=np.inf, intervals=30)
        assert np.isfinite(found.duration)
        assert excess(robot, found.motion, efforts(robot)) <= 1e-6


def test_a_profile_that_stands_still_is_not_called_a_timing(monkeypatch):
    solve = ProfileSolver.solve

    def stuck(self):
        profile, excess = solve(self)
        profile.x[:, 50:52] = 0.0
        return profile, excess

    monkeypatch.setattr(ProfileSolver, "solve", stuck)
    rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    with pytest.raises(InfeasibleError, match=r"path: at s = 0\.\d+ of 1.* no speed was found .*Use more intervals"):
        dal.fastest_timing(rod, [[0.0], [3.0]], torque=2.0, intervals=100)


def test_dry_friction_brakes_for_nothing():
    """Accelerating with (τ − F)/I and braking with (τ + F)/I: T = √(2 θ (1/a + 1/b))."""
    robot, inertia = rod()
    dry = 0.5
    found = fastest(with_friction(robot, [dry], [0.0]), torque=TORQUE)
    a, b = (TORQUE - dry) / inertia, (TORQUE + dry) / inertia
    assert found.duration == pytest.approx(np.sqrt(2 * ANGLE * (1 / a + 1 / b)), rel=1e-4)


def test_viscous_friction_is_linear_in_the_speed():
    """I ω̇ = ±τ − b ω in closed form, switched where the angle is reached at rest."""
    robot, inertia = rod()
    b = 0.8
    found = fastest(with_friction(robot, [0.0], [b]), torque=TORQUE)
    k, top = b / inertia, TORQUE / b

    def braking(t):  # duration from ω(t) to rest, and the angle on the way
        omega = top * (1 - np.exp(-k * t))
        time = np.log(1 + omega / top) / k
        return time, (omega + top) * (1 - np.exp(-k * time)) / k - top * time

    switch = brentq(lambda t: top * (t - (1 - np.exp(-k * t)) / k) + braking(t)[1] - ANGLE, 1e-3, 20.0, xtol=1e-14)
    assert found.duration == pytest.approx(switch + braking(switch)[0], rel=1e-4)


def test_a_limit_of_power_is_kept_and_reached():
    robot, _ = rod()
    found = fastest(robot, torque=TORQUE, power=1.5)
    motion = found.motion(dense_times(found.motion))
    watts = dal.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd) * motion.qd
    assert 1.5 * (1 - 1e-3) < np.abs(watts).max() <= 1.5 * (1 + 1e-6)
    assert found.duration > fastest(robot, torque=TORQUE).duration
    assert "power of 'pivot'" in {limit for *_, limit in found.binding_parts()}


@pytest.mark.slow
@pytest.mark.parametrize(("watts", "intervals"), [(100.0, 200), (50.0, 200), (50.0, 1000), (20.0, 1000)])
def test_powers_of_many_joints_are_kept_between_grid_points_and_told(watts, intervals, rng):
    """Joints turn round on the way: there, and at rest, their torques are not bound by powers at all."""
    robot = panda()
    found = dal.fastest_timing(robot, points(robot, rng, batch=(4,)), power=watts, intervals=intervals)
    assert found.feasible.sum() >= 3
    for row in np.flatnonzero(found.feasible):
        motion = found.motion_of(row)
        at = motion(dense_times(motion))
        tau = dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)
        assert np.abs(tau * at.qd).max() <= watts * (1 + 1e-6)
        assert (np.abs(tau) <= efforts(robot) * (1 + 1e-6)).all()
        assert found.excess[row] <= 1e-6


@pytest.mark.slow
def test_timings_within_small_powers_converge(rng):
    robot = panda()
    way = points(robot, rng, batch=(4,))
    coarse, fine = (dal.fastest_timing(robot, way, power=20.0, intervals=N) for N in (1000, 4000))
    assert fine.feasible.all()
    np.testing.assert_allclose(coarse.duration, fine.duration, rtol=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["blended", "b_spline"])
def test_coarse_grids_keep_torques_and_speeds_where_a_path_turns_sharply(kind, rng):
    """Blends turn within a hundredth of a path; by its length, half of that angle is where the blend was slow."""
    robot = panda()
    speeds = np.array([joint.limits.velocity for joint in robot.structure.coordinates])
    for _ in range(12):
        way = points(robot, rng, count=4 if kind == "blended" else 7)
        if kind == "blended":
            path = dal.trajectory.blended(way, [0.0, 1.0, 2.0, 3.0], blend_time=0.2, kind="quintic")
        else:
            path = dal.trajectory.b_spline(way, duration=2.0, degree=3)
        found = dal.fastest_timing(robot, path, intervals=100)
        at = found.motion(dense_times(found.motion, parts=20))
        assert (np.abs(at.qd) <= speeds * (1 + 1e-6)).all()
        assert excess(robot, found.motion, efforts(robot)) <= 1e-6


@pytest.mark.parametrize("coulomb", [False, True])
@pytest.mark.parametrize("viscous", [False, True])
def test_no_limit_is_exceeded_on_a_grid_ten_times_denser(coulomb, viscous, rng):
    robot = panda(coulomb, viscous)
    way = points(robot, rng)
    found = dal.fastest_timing(robot, way, velocity=np.inf)
    assert excess(robot, found.motion, efforts(robot)) <= 1e-6
    fine = dal.fastest_timing(robot, way, velocity=np.inf, intervals=10_000)
    assert 0.999 < found.duration / fine.duration <= 1.003


def test_limits_of_speed_are_kept_between_grid_points_too(rng):
    robot = panda()
    found = dal.fastest_timing(robot, points(robot, rng))
    limits = np.array([joint.limits.velocity for joint in robot.structure.coordinates])
    motion = found.motion(dense_times(found.motion))
    assert (np.abs(motion.qd) / limits).max() <= 1 + 1e-6
    assert excess(robot, found.motion, efforts(robot)) <= 1e-6


def test_a_coarse_grid_costs_time_and_no_limit():
    """Between two slow points of a coarse grid, ṡ² as a parabola could fall below zero."""
    robot = panda()
    way = points(robot, np.random.default_rng(3))
    found = dal.fastest_timing(robot, way, intervals=30)
    assert excess(robot, found.motion, efforts(robot)) <= 1e-4
    assert (found.motion(dense_times(found.motion)).qd != 0.0).any(axis=-1).all()


def test_the_result_is_a_motion_along_the_path(rng):
    """Its derivatives are those of its positions, and its positions lie on the path."""
    robot = panda()
    way = dal.trajectory.spline(points(robot, rng), times=np.arange(6.0))
    found = dal.fastest_timing(robot, way, intervals=200)
    motion = found.motion
    assert motion.duration == pytest.approx(float(found.duration))
    t = np.linspace(0.1, 0.9, 50) * motion.duration
    step = 1e-5
    ahead, here, back = motion(t + step), motion(t), motion(t - step)
    smooth = np.array([np.searchsorted(motion.breaks, x - step) == np.searchsorted(motion.breaks, x + step) for x in t])
    assert np.allclose((ahead.q - back.q)[smooth] / (2 * step), here.qd[smooth], rtol=1e-6, atol=1e-6)
    assert np.allclose((ahead.qd - back.qd)[smooth] / (2 * step), here.qdd[smooth], rtol=1e-5, atol=1e-4)
    assert np.allclose((ahead.qdd - back.qdd)[smooth] / (2 * step), here.qddd[smooth], rtol=1e-4, atol=1e-2)
    assert np.allclose(motion(found.t).q, found.paths.motion(0)(found.s).q, atol=1e-9)


@pytest.mark.slow
def test_a_motion_that_rests_is_timed_by_its_arc_length(rng):
    """A quintic from rest to rest is a straight way: its timing is that of the two points."""
    robot = panda()
    start, end = points(robot, rng, count=2)
    straight = dal.fastest_timing(robot, [start, end], velocity=np.inf)
    for motion in (dal.trajectory.quintic(start, end, duration=2.0), dal.trajectory.cubic(start, end, duration=1.0)):
        found = dal.fastest_timing(robot, motion, velocity=np.inf)
        assert found.duration == pytest.approx(float(straight.duration), rel=1e-4)
        assert excess(robot, found.motion, efforts(robot)) <= 1e-6


def test_a_corner_is_passed_at_rest(rng):
    robot = panda()
    a, b, c = points(robot, rng, count=3)
    way = dal.trajectory.trapezoidal(a, b, duration=1.0, acceleration_time=0.2).then(
        dal.trajectory.trapezoidal(b, c, duration=1.0, acceleration_time=0.2)
    )
    found = dal.fastest_timing(robot, way, velocity=np.inf)
    halves = [dal.fastest_timing(robot, pair, velocity=np.inf).duration for pair in ([a, b], [b, c])]
    assert found.duration == pytest.approx(float(sum(halves)), rel=2e-3)
    assert excess(robot, found.motion, efforts(robot)) <= 1e-6


def widely_smoothed():
    """A Pelican whose dry friction comes up within half of its speeds; a path along which it turns often."""
    laws = {
        "joint1": dal.Friction(viscous=1.2, coulomb=0.28),
        "joint2": dal.Friction(viscous=1.5, coulomb=0.32, coulomb_negative=0.84, width=0.92),
    }
    robot = dal.robots.pelican()
    way = [[0.5, 1.4], [-1.0, 0.4], [-0.7, 0.8], [0.7, -0.9], [1.1, 0.5], [0.6, 1.1], [-0.2, 0.9], [1.2, -1.3], [1.2, -0.3]]
    return robot.replace(parameters=robot.parameters.replace(friction=laws)), way


def test_friction_that_is_far_from_a_line_keeps_limits_and_says_so():
    """Taken for dry at the speeds before, it went round: up to 4e-4 of limits were exceeded, and the excess told as 1e-15."""
    robot, way = widely_smoothed()
    limits = np.array([16.8, 1.8])
    found = dal.fastest_timing(robot, way, torque=limits, velocity=np.inf, acceleration=[13.3, 6.3], intervals=400)
    at = found.motion(dense_times(found.motion))
    use = np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / limits
    assert use.max() <= 1 + 1e-6
    assert use.max() > 1 - 1e-3
    assert found.excess <= 1e-6


def test_torques_at_grid_points_have_friction_as_it_is():
    robot, way = widely_smoothed()
    found = dal.fastest_timing(robot, way, torque=[16.8, 1.8], velocity=np.inf, acceleration=[13.3, 6.3], intervals=400)
    at = found.paths.at(found.s[None])
    q, q1, q2 = (part[0] for part in at[:3])
    tau = dal.inverse_dynamics(robot, q, q1 * found.sd[:, None], q2 * found.sd[:, None] ** 2 + q1 * found.sdd[:, None])
    assert found.tau[:, 1] == pytest.approx(tau[:, 1], abs=1e-9)


def test_a_joint_that_goes_to_and_fro_is_at_rest_wherever_it_turns():
    """Between places that were looked at, rests were not seen: a limit of speed was exceeded by its double."""
    robot = dal.robots.pendulum()
    way = [[-1.4], [-0.1], [-1.6], [1.0], [1.5], [-0.5], [0.3], [-0.7], [0.9], [-1.6], [0.0], [0.4]]
    found = dal.fastest_timing(robot, way, torque=12.0, velocity=0.2, intervals=100)
    at = found.motion(dense_times(found.motion))
    assert np.abs(at.qd).max() <= 0.2 * (1 + 1e-6)
    assert np.abs(np.diff(at.qd[:, 0]) / np.diff(at.t)).max() <= np.abs(at.qdd).max() * (1 + 1e-9)  # and does not jump
    assert np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)).max() <= 12.0 * (1 + 1e-6)
    assert found.excess <= 1e-6


def test_the_direction_of_a_way_that_turns_back_does_not_jump_at_its_rest():
    """It changes with the root of the length there; read elsewhere at the rest, limits were exceeded by 4e-4 just after it."""
    there = points(panda(), np.random.default_rng(2), count=5)
    paths, _ = without_rests(SplinePaths(np.concatenate([there, there[-2::-1]])[None]))
    motion = paths.motion(0)
    middle = motion.breaks[4]
    _, direction, *_ = motion.at(middle + motion.duration * np.array([0.0, 1e-9, 2e-9]))
    assert direction[1:] == pytest.approx(np.tile(direction[0], (2, 1)), abs=2e-5)


def test_a_timed_motion_answers_at_times_in_any_order(rng):
    robot = panda()
    found = dal.fastest_timing(robot, points(robot, rng), intervals=200)
    t = np.linspace(0.0, float(found.duration), 60)
    mixed = rng.permutation(60)
    for name in ("q", "qd", "qdd"):
        assert np.array_equal(getattr(found.motion(t[mixed]), name), getattr(found.motion(t), name)[mixed])


@pytest.mark.slow
def test_friction_with_a_peak_or_smoothed_keeps_limits_too(rng):
    robot = panda()
    law = dal.Friction(viscous=2.0, coulomb=3.0, breakaway=5.0, stribeck_velocity=0.2)
    bumpy = robot.replace(parameters=robot.parameters.replace(friction={"joint2": law, "joint4": law}))
    for case in (bumpy, robot.smoothed(0.05)):
        found = dal.fastest_timing(case, points(robot, rng), velocity=np.inf, intervals=300)
        assert excess(case, found.motion, efforts(robot)) <= 1e-6
        assert found.use.max() > 0.999


def test_paths_of_a_batch_are_timed_as_each_alone_and_for_any_number_of_threads(rng):
    robot = panda()
    ways = points(robot, rng, batch=(3, 4))
    together = dal.fastest_timing(robot, ways, intervals=100, threads=2)
    assert together.duration.shape == (3, 4)
    assert together.tau.shape == (3, 4, 101, 7)
    once = dal.fastest_timing(robot, ways, intervals=100, threads=1)
    assert np.array_equal(together.s, once.s)
    assert np.array_equal(together.sd, once.sd)
    for k, way in enumerate(ways.reshape(12, 6, 7)):
        alone = dal.fastest_timing(robot, way, intervals=100)
        assert together.duration.ravel()[k] == pytest.approx(float(alone.duration), rel=1e-6)
        assert excess(robot, together.motion_of(k), efforts(robot)) <= 1e-6


@pytest.mark.slow
def test_a_list_and_a_batch_of_motions_are_timed(rng):
    robot = panda()
    ways = points(robot, rng, batch=(3,))
    motions = [dal.trajectory.spline(way, times=np.arange(6.0)) for way in ways]
    several = dal.fastest_timing(robot, motions, intervals=200)
    batch = dal.fastest_timing(robot, dal.trajectory.spline(ways, times=np.arange(6.0)), intervals=200)
    assert several.duration == pytest.approx(batch.duration, rel=5e-3)  # the batch has no grid points where joints turn round
    for k in range(3):
        assert excess(robot, batch.motion_of(k), efforts(robot)) <= 1e-6


def test_paths_that_cannot_be_timed_are_marked_and_the_others_are_finished(rng):
    robot = panda()
    ways = points(robot, rng, batch=(5,))
    ways[1, 2, 3] = np.nan
    ways[2, 3] = ways[2, 2]
    ways[4, 0, 0] = 4.0
    with pytest.warns(dal.DalembertWarning, match="3 of 5 have no timing; row 1: path: point 3 is .*nan") as seen:
        found = dal.fastest_timing(robot, ways, intervals=100)
    assert seen[0].message.code == "timing-infeasible"
    assert found.feasible.tolist() == [True, False, False, True, False]
    assert np.isfinite(found.duration).tolist() == found.feasible.tolist()
    assert "points 3 and 4 are the same" in found.messages[2]
    assert "joint 'joint1': at s = 0 of 1 the path leads to 4 rad, beyond the joint's limit of 2.897 rad" in found.messages[4]
    assert found.duration[3] == pytest.approx(float(dal.fastest_timing(robot, ways[3], intervals=100).duration), rel=1e-6)
    with pytest.raises(InfeasibleError, match="finite numbers"):
        found.motion_of(1)


def test_gravity_alone_may_be_too_much(rng):
    robot = panda()
    with pytest.raises(InfeasibleError) as caught:
        dal.fastest_timing(robot, points(robot, rng), torque={"joint2": 5.0})
    text = str(caught.value)
    assert "joint 'joint2': at s = " in text
    assert "gravity and dry friction alone need a torque of" in text
    assert text.endswith("Raise the limit, take load off, or lead the path elsewhere.")


@pytest.mark.parametrize(
    ("path", "limits", "error", "words"),
    [
        ([[0.0], [3.0]], {"torque": np.inf}, ModelError, "nothing bounds how hard the robot accelerates"),
        ([[0.0], [3.0]], {"torque": -1.0}, ModelError, "'pivot' has a limit of -1; a magnitude above 0"),
        ([[0.0], [3.0]], {"torque": np.nan}, ModelError, "'pivot' has a limit of nan"),
        ([[0.0], [3.0]], {"torque": [1.0, 2.0]}, ShapeError, r"torque: shape \(2,\) found"),
        ([[0.0], [3.0]], {"torque": {"elbow": 1.0}}, UnknownNameError, "'elbow' is not known"),
        ([[0.0], [0.0]], {"torque": 1.0}, InfeasibleError, "points 1 and 2 are the same"),
        ([[0.0], [np.nan]], {"torque": 1.0}, InfeasibleError, "point 2 is"),
        ([0.0, 1.0], {"torque": 1.0}, ShapeError, r"path: shape \(2,\) found, \(..., W, 1\) expected"),
        ([[0.0, 1.0]], {"torque": 1.0}, ShapeError, "path: shape"),
        ("line", {"torque": 1.0}, ShapeError, "path: 'line' is not numeric"),
        ([[0.0], [3.0]], {"torque": 1.0, "intervals": 2}, ModelError, "intervals: 2 found"),
        ([[0.0], [3.0]], {"torque": 1.0, "end_speeds": (0.0, -1.0)}, ModelError, "end_speeds"),
        ([[0.0], [3.0]], {"torque": 1.0, "motors": True}, ModelError, "no motor found"),
        ([[0.0], [3.0]], {"torque": 1.0, "motors": 3}, ModelError, "motors: 3 found"),
        ([[0.0], [3.0]], {"torque": 1.0, "end_speeds": (50.0, 0.0)}, InfeasibleError, "at the start, but within the limits"),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_sentence(path, limits, error, words):
    with pytest.raises(error, match=words):
        dal.fastest_timing(rod()[0], path, **limits)


def test_a_motion_that_stays_where_it_is_is_no_path():
    with pytest.raises(InfeasibleError, match="it stays at one point"):
        dal.fastest_timing(rod()[0], dal.trajectory.cubic([1.0], [1.0], duration=1.0), torque=1.0)


def test_speeds_at_the_ends_are_kept():
    robot, inertia = rod()
    found = fastest(robot, torque=TORQUE, end_speeds=(0.3, 0.2))
    assert found.sd[[0, -1]] == pytest.approx([0.3, 0.2])
    assert found.duration < fastest(robot, torque=TORQUE).duration
    assert dal.fastest_timing(robot, [[0.0], [ANGLE]], torque=TORQUE, intervals=50).to_dict()["duration"] > 0
    assert inertia > 0


def test_a_timing_that_exceeds_a_limit_after_all_is_refused_with_joint_and_place(monkeypatch):
    """No timing is returned that does; which paths are so hard is not known beforehand, so none is taken for good enough here."""
    monkeypatch.setattr(importlib.import_module("dalembert.timing.fastest"), "MOST_EXCESS", -1.0)
    with pytest.raises(
        InfeasibleError, match=r"torque of 'joint\d': at s = .* of 1, q = .* no timing was found that keeps it within"
    ):
        dal.fastest_timing(dal.robots.two_link_planar(), [[0.0, 0.0], [1.0, 0.5]], torque=2000.0, intervals=40)
    with pytest.warns(dal.DalembertWarning, match=r"1 of 1 have no timing; row 0: .* begin and end at rest"):
        found = dal.fastest_timing(dal.robots.two_link_planar(), [[[0.0, 0.0], [1.0, 0.5]]], torque=2000.0, intervals=40)
    assert not found.feasible.any()


def test_speeds_at_the_ends_that_cannot_be_had_are_refused_with_the_limit_that_is_used():
    with pytest.raises(
        InfeasibleError, match=r"found at the start, .* there at most; the velocity of 'joint1' uses 100 % of its"
    ):
        dal.fastest_timing(
            dal.robots.two_link_planar(), [[0.0, 0.0], [1.0, 0.5]], torque=9000.0, velocity=1.0, end_speeds=(9.0, 0.0)
        )


def test_smooth_friction_above_the_torque_is_crept_through():
    """2 v / sqrt(v² + w²) of a rail is 1 N at v = w / √3, to which the speed tends; the law that jumps holds it at any speed."""

    def friction(v):
        return 2.0 * v / np.sqrt(v * v + 0.01)

    def until(t):  # full torque forwards, from rest
        run = solve_ivp(lambda t, y: [y[1], (1.0 - friction(y[1])) / 2.0], (0.0, t), [0.0, 0.0], rtol=1e-10, atol=1e-12)
        return run.y[:, -1]

    def braking(v, power):  # then backwards: the way (1) and the time (0) that it takes
        return quad(lambda u: 2.0 * u**power / (1.0 + friction(u)), 0.0, v)[0]

    switch = brentq(lambda t: until(t)[0] + braking(until(t)[1], 1) - 1.0, 10.0, 20.0)
    links = [dal.Link("base"), dal.Link("body", 2.0, inertia=np.eye(3))]
    joint = dal.Joint("slide", "prismatic", "base", "body", axis=(1, 0, 0))
    rough = dal.Robot.from_parts("rail", links, [joint], friction={"slide": dal.Friction(0.0, 2.0)})
    found = dal.fastest_timing(rough.smoothed(0.1), [[0.0], [1.0]], torque=1.0)
    assert found.duration == pytest.approx(switch + braking(until(switch)[1], 0), rel=2e-3)
    assert found.excess < 1e-6
    many = dal.fastest_timing(rough.smoothed(0.1), [[[0.0], [1.0]], [[0.0], [0.5]]], torque=1.0)
    assert many.duration[0] == pytest.approx(float(found.duration), rel=1e-6)
    with pytest.raises(InfeasibleError, match="gravity and dry friction alone need a torque of 2 N, however slow the motion is"):
        dal.fastest_timing(rough, [[0.0], [1.0]], torque=1.0)


def test_a_path_that_wiggles_too_much_for_its_grid_is_slowed_as_far_as_it_takes():
    """Profiles were slowed to half of ṡ² at most, and returned with ten times the acceleration that was allowed."""
    there = [
        [-713, -845],
        [569, 605],
        [-592, 51],
        [823, 733],
        [-442, -984],
        [818, 733],
        [-596, 233],
        [-363, -661],
        [632, 542],
        [909, -455],
    ]
    way = 1e-3 * np.array([*there, *there[-2::-1]])
    found = dal.fastest_timing(dal.robots.pr_arm(), way, torque=np.inf, velocity=np.inf, acceleration=1.0, intervals=60)
    at = found.motion(dense_times(found.motion))
    assert np.abs(at.qdd).max() <= 1.0 + 1e-6
    assert found.excess <= 1e-6
