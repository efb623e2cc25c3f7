"""Timings within limits of jerk and torque rate: closed forms, limits on dense grids, continuous torques, and what is refused."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import InfeasibleError, ModelError, ShapeError, UnknownNameError

from .timing_cases import dense_times, efforts, panda, points, rod, uses, with_friction

JERK, ANGLE = 20.0, 3.0


def speeds(robot):
    return np.array([joint.limits.velocity for joint in robot.structure.coordinates])


@pytest.mark.parametrize(("intervals", "error"), [(50, 1e-3), (200, 1e-4), (1000, 1e-5)])
def test_full_jerk_forwards_backwards_and_forwards_is_the_fastest(intervals, error):
    """T = ∛(32 θ / j), nearer and nearer as the grid gets finer."""
    found = dal.fastest_timing(rod()[0], [[0.0], [ANGLE]], torque=np.inf, jerk=JERK, intervals=intervals)
    assert found.duration == pytest.approx((32 * ANGLE / JERK) ** (1 / 3), rel=error)
    assert found.binding_parts() == [(0.0, 1.0, "jerk of 'pivot'")]


@pytest.mark.parametrize(("velocity", "acceleration"), [(1.5, 4.0), (50.0, 3.0), (1.0, 50.0), (4.0, 10.0)])
def test_limits_of_speed_acceleration_and_jerk_make_a_double_s(velocity, acceleration):
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": JERK}
    found = dal.fastest_timing(rod()[0], [[0.0], [ANGLE]], torque=np.inf, intervals=300, **limits)
    expected = dal.trajectory.double_s([0.0], [ANGLE], **limits)
    assert found.duration == pytest.approx(expected.duration, rel=1e-4)
    t = np.linspace(0.0, 1.0, 50)
    ours, theirs = found.motion(t * found.motion.duration), expected(t * expected.duration)
    assert np.allclose(ours.qd, theirs.qd, atol=0.01)


def test_a_limit_of_torque_rate_does_as_one_of_jerk():
    """In the horizontal plane τ̇ is the inertia times the jerk."""
    robot, inertia = rod()
    found = dal.fastest_timing(robot, [[0.0], [ANGLE]], torque=np.inf, torque_rate=JERK * inertia)
    assert found.duration == pytest.approx((32 * ANGLE / JERK) ** (1 / 3), rel=1e-5)


def test_viscous_friction_takes_its_part_of_the_torque_rate():
    """b q̈ adds to I q⃛ while the rod gets faster: the motion takes longer, and the limit is reached and kept."""
    robot, inertia = rod()
    braked = with_friction(robot, [0.5], [2.0])
    found = dal.fastest_timing(braked, [[0.0], [ANGLE]], torque=np.inf, torque_rate=JERK * inertia)
    assert found.duration > 1.02 * (32 * ANGLE / JERK) ** (1 / 3)
    assert uses(braked, found.motion, torque_rate=JERK * inertia)["torque_rate"] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rubs", "given"),
    [
        (False, {"jerk": 200.0, "torque_rate": 500.0, "acceleration": 8.0}),
        (True, {"jerk": 200.0, "torque_rate": 500.0, "acceleration": 8.0}),
        (True, {"jerk": 300.0}),
        (True, {"torque_rate": 600.0, "velocity": np.inf}),
    ],
)
def test_no_limit_is_exceeded_on_a_grid_ten_times_denser(rubs, given, rng):
    robot = panda(rubs, rubs)
    found = dal.fastest_timing(robot, points(robot, rng), intervals=100, **given)
    limits = {"torque": efforts(robot), "velocity": speeds(robot), **given}
    shares = uses(robot, found.motion, **limits)
    assert max(shares.values()) <= 1 + 1e-6
    assert max(shares.values()) > 1 - 1e-4
    assert found.excess <= 1e-6
    assert found.use.max() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
def test_a_thousand_intervals_keep_limits_and_are_nearly_the_optimum(rng):
    robot, given = panda(), {"jerk": 300.0, "torque_rate": 600.0}
    way = points(robot, rng)
    times = [float(dal.fastest_timing(robot, way, intervals=N, **given).duration) for N in (100, 200)]
    found = dal.fastest_timing(robot, way, **given)
    shares = uses(robot, found.motion, torque=efforts(robot), velocity=speeds(robot), **given)
    assert max(shares.values()) <= 1 + 1e-6
    errors = np.array(times) / float(found.duration) - 1
    assert np.all(errors > 0)
    assert np.all(errors <= [0.015, 0.008])  # at least to first order
    without = float(dal.fastest_timing(robot, way).duration)
    assert without < float(found.duration)


@pytest.mark.slow
def test_as_limits_grow_the_time_tends_to_that_without_them(rng):
    robot = panda()
    way = points(robot, rng)
    without = float(dal.fastest_timing(robot, way, velocity=np.inf).duration)
    found = [dal.fastest_timing(robot, way, velocity=np.inf, jerk=jerk, intervals=200) for jerk in (100.0, 3e3, 1e6)]
    ratios = [float(one.duration) / without for one in found]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] > 1.2
    assert ratios[-1] == pytest.approx(1.0, abs=5e-3)  # 200 intervals beside 1000


@pytest.mark.parametrize("given", [{"jerk": 300.0}, {"torque_rate": 600.0}])
def test_torques_are_continuous_but_for_dry_friction_that_turns_round(given, rng):
    """Just before and after each grid point they differ by their rate, or by a jump that is named: twice the dry friction."""
    robot = panda()
    found = dal.fastest_timing(robot, points(robot, rng), intervals=100, **given)
    motion, jumps = found.motion, found.jumps[0]
    step = 1e-8  # s; grid points lie where joints turn round, to rounding
    before, after = motion(found.t[1:-1] - step), motion(found.t[1:-1] + step)
    change = np.subtract(*(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd) for at in (after, before)))
    for jump in jumps:
        k, i = int(np.argmin(np.abs(found.t[1:-1] - jump.t))), robot.joint_names.index(jump.joint)
        assert found.s[k + 1] == jump.s
        assert abs(jump.size) == pytest.approx(2 * (9.0 if i < 4 else 1.2))
        change[k, i] -= jump.size
    assert len(jumps) > 3
    rate = dal.torque_rate(robot, after.q, after.qd, after.qdd, after.qddd)
    assert np.abs(change).max() < 4 * step * np.abs(rate).max()


def test_a_rest_begins_and_ends_without_acceleration(rng):
    robot = panda(coulomb=False)
    found = dal.fastest_timing(robot, points(robot, rng), intervals=100, jerk=300.0)
    ends = found.motion([0.0, float(found.duration)])
    assert np.abs(ends.qd).max() == 0.0
    assert np.abs(ends.qdd).max() == 0.0
    assert np.abs(ends.qddd).max() <= 300.0 * (1 + 1e-6)
    assert found.tau[0] == pytest.approx(dal.gravity_torque(robot, ends.q[0]))
    assert found.jumps == ((),)


def test_derivatives_of_the_motion_are_those_of_its_positions(rng):
    robot = panda()
    motion = dal.fastest_timing(robot, points(robot, rng), intervals=100, jerk=300.0).motion
    t = dense_times(motion, parts=2)[3:-3]
    step = 1e-6
    ahead, here, back = motion(t + step), motion(t), motion(t - step)
    for a, b, rate, size in (
        (ahead.q, back.q, here.qd, 1e-8),
        (ahead.qd, back.qd, here.qdd, 1e-6),
        (ahead.qdd, back.qdd, here.qddd, 1e-4),
    ):
        assert np.allclose((a - b) / (2 * step), rate, rtol=1e-5, atol=size)


def test_a_place_where_the_curvature_jumps_is_passed_at_rest():
    """A parabola between straight ways: the acceleration of a joint that runs through would jump."""
    robot = panda()
    corners = np.array(
        [[0.0, 0.0, 0.0, -1.6, 0.0, 1.6, 0.0], [0.5, 0.2, 0.3, -1.4, 0.2, 1.8, 0.3], [0.7, 0.6, 0.2, -1.9, 0.1, 1.5, 0.1]]
    )
    way = dal.trajectory.blended(corners, [0.0, 1.0, 2.0], blend_time=0.4)
    given = {"jerk": 200.0, "torque_rate": 1000.0}
    found = dal.fastest_timing(robot, way, intervals=120, **given)
    stops = found.t[1:-1][found.sd[1:-1] == 0.0]
    assert len(stops) == 2  # where the parabola begins and ends
    assert max(uses(robot, found.motion, torque=efforts(robot), **given).values()) <= 1 + 1e-6


@pytest.mark.slow
def test_a_motion_that_rests_is_timed_by_its_arc_length(rng):
    robot = panda()
    start, end = points(robot, rng, count=2)
    straight = dal.fastest_timing(robot, [start, end], jerk=100.0, intervals=100)
    for motion in (dal.trajectory.quintic(start, end, duration=2.0), dal.trajectory.cubic(start, end, duration=1.0)):
        found = dal.fastest_timing(robot, motion, jerk=100.0, intervals=100)
        assert found.duration == pytest.approx(float(straight.duration), rel=1e-4)


def test_rates_keep_their_limits_up_to_the_rests_themselves():
    """They were looked at up to a hundredth of an interval beside rests: with viscous friction a rate was 1.003 of its limit."""
    robot = with_friction(dal.robots.pelican(), [0.5, 0.2], [5.0, 5.0])
    corners = np.array([[0.0, 0.0], [0.4, 0.3], [0.2, -0.3]])
    found = dal.fastest_timing(robot, [*corners, *corners[-2::-1]], torque_rate=[40.0, 20.0], intervals=100)
    T, close = float(found.duration), 10.0 ** -np.arange(1, 10)
    at = found.motion(np.sort(np.concatenate([found.t[1] * close, T - (T - found.t[-2]) * close])))
    rates = dal.torque_rate(robot, at.q, at.qd, at.qdd, at.qddd)
    assert (np.abs(rates) / [40.0, 20.0]).max() <= 1 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 8])
def test_ways_from_rest_to_rest_are_as_fast_as_each_alone(seed):
    """Eight straight ways with five intervals each on the first, coarse grid, and curvature of rounding beside rests: refused."""
    robot = with_friction(dal.robots.ur10(), [20.0, 20.0, 10.0, 4.0, 4.0, 4.0], [0.0] * 6)
    rng = np.random.default_rng(seed)
    places, kinds = rng.uniform(-1.0, 1.0, (9, 6)), [dal.trajectory.cubic, dal.trajectory.quintic, dal.trajectory.septic]
    ways = [kinds[int(rng.integers(3))](a, b, duration=float(rng.uniform(0.5, 2.0))) for a, b in pairwise(places)]
    limits = {"torque_rate": [3000.0, 2000.0, 500.0, 220.0, 700.0, 2700.0], "velocity": np.inf}
    alone = sum(float(dal.fastest_timing(robot, way, **limits, intervals=100).duration) for way in ways)
    whole = reduce(lambda first, second: first.then(second), ways)
    for intervals in (200, 400):
        assert dal.fastest_timing(robot, whole, **limits, intervals=intervals).duration <= 1.03 * alone


@pytest.mark.slow
def test_power_and_jerk_are_limited_together(rng):
    robot = panda()
    found = dal.fastest_timing(robot, points(robot, rng, count=3), power=40.0, jerk=200.0, intervals=100)
    shares = uses(robot, found.motion, torque=efforts(robot), velocity=speeds(robot), power=40.0, jerk=200.0)
    assert max(shares.values()) <= 1 + 1e-6
    assert shares["power"] > 1 - 1e-3


@pytest.mark.slow
def test_motors_and_torque_rate_are_limited_together():
    motor = dal.Motor(resistance=1.0, torque_constant=0.1, ratio=30.0, voltage_limit=12.0, current_limit=6.0, efficiency=0.7)
    robot = rod()[0].with_motors({"pivot": motor})
    found = dal.fastest_timing(robot, [[0.0], [9.0]], motors=True, torque_rate=200.0, intervals=300)
    at = found.motion(dense_times(found.motion))
    needs = dal.nominal_voltage(robot, at.q, at.qd, at.qdd)
    assert np.abs(needs.voltage).max() <= 12.0 * (1 + 1e-6)
    assert np.abs(needs.current).max() <= 6.0 * (1 + 1e-6)
    assert {"voltage of 'pivot'", "current of 'pivot'", "torque rate of 'pivot'"} == {
        limit for *_, limit in found.binding_parts()
    }


def test_dry_friction_within_a_loop_has_a_rate_of_its_own():
    """Joints of a four-bar linkage rub; what of it reaches the crank changes with the linkage."""
    four_bar = dal.mechanisms.four_bar()
    given = {"torque": 20.0, "torque_rate": 30.0, "jerk": 500.0}
    found = dal.fastest_timing(four_bar, [[0.6], [2.2]], intervals=300, **given)
    shares = uses(four_bar, found.motion, **given)
    assert max(shares.values()) <= 1 + 1e-6
    assert shares["torque_rate"] > 1 - 1e-4


@pytest.mark.slow
def test_friction_with_a_peak_or_smoothed_keeps_limits_of_rates_too(rng):
    robot = panda()
    bumpy = dal.Friction(viscous=2.0, coulomb=3.0, breakaway=5.0, stribeck_velocity=0.2)
    smooth = dal.Friction(viscous=5.0, coulomb=9.0, width=0.05)
    robot = robot.replace(parameters=robot.parameters.replace(friction={"joint2": bumpy, "joint4": smooth}))
    given = {"torque_rate": 1000.0, "jerk": 500.0}
    found = dal.fastest_timing(robot, points(robot, rng, count=3), intervals=100, **given)
    assert max(uses(robot, found.motion, torque=efforts(robot), **given).values()) <= 1 + 1e-6
    assert {jump.joint for jump in found.jumps[0]} <= {"joint2"}  # smooth friction does not jump


def test_limits_by_name_leave_other_joints_alone(rng):
    robot = panda()
    way = points(robot, rng)
    found = dal.fastest_timing(robot, way, intervals=100, jerk={"joint3": 20.0})
    jerk = np.abs(found.motion(dense_times(found.motion)).qddd).max(axis=0)
    assert jerk[2] == pytest.approx(20.0, rel=1e-3)
    assert jerk.max() > 30.0
    assert "jerk of 'joint3'" in found.limits
    assert "jerk of 'joint1'" not in found.limits


def test_speeds_at_the_ends_are_kept():
    robot, _ = rod()
    found = dal.fastest_timing(robot, [[0.0], [ANGLE]], torque=np.inf, jerk=JERK, end_speeds=(0.3, 0.2))
    assert found.sd[[0, -1]] == pytest.approx([0.3, 0.2])
    assert found.duration < (32 * ANGLE / JERK) ** (1 / 3)
    assert uses(robot, found.motion, jerk=JERK)["jerk"] <= 1 + 1e-6


@pytest.mark.slow
def test_paths_of_a_batch_are_timed_as_each_alone(rng):
    robot = panda()
    ways = points(robot, rng, batch=(2, 2))
    ways[0, 1, 0, 0] = 4.0
    with pytest.warns(dal.DalembertWarning, match="1 of 4 have no timing; row 1: joint 'joint1': at s = 0"):
        found = dal.fastest_timing(robot, ways, intervals=60, jerk=300.0)
    assert found.duration.shape == (2, 2)
    assert found.tau.shape == (2, 2, 61, 7)
    assert found.feasible.tolist() == [[True, False], [True, True]]
    assert [bool(jumps) for jumps in found.jumps] == [True, False, True, True]
    for k in (0, 2, 3):
        alone = dal.fastest_timing(robot, ways.reshape(4, 6, 7)[k], intervals=60, jerk=300.0)
        assert found.duration.ravel()[k] == alone.duration


def test_results_tell_of_jumps_as_plain_data(rng):
    robot = panda()
    found = dal.fastest_timing(robot, points(robot, rng, count=3), intervals=60, jerk=300.0)
    plain = found.to_dict()["jumps"][0]
    assert plain[0] == found.jumps[0][0]._asdict()
    assert set(plain[0]) == {"s", "t", "joint", "size"}
    assert "jumps" not in dal.fastest_timing(robot, points(robot, rng, count=3), intervals=60).to_dict()


@pytest.mark.parametrize(
    ("limits", "error", "words"),
    [
        ({"jerk": 0.0}, ModelError, "jerk: 'pivot' has a limit of 0; a magnitude above 0"),
        ({"jerk": -1.0}, ModelError, "jerk: 'pivot' has a limit of -1"),
        ({"jerk": np.nan}, ModelError, "jerk: 'pivot' has a limit of nan"),
        ({"jerk": [1.0, 2.0]}, ShapeError, r"jerk: shape \(2,\) found, \(\) or \(1,\) expected"),
        ({"jerk": "fast"}, ModelError, "jerk: 'fast' is not numeric"),
        ({"torque_rate": 0.0}, ModelError, "torque_rate: 'pivot' has a limit of 0"),
        ({"torque_rate": {"elbow": 1.0}}, UnknownNameError, "torque_rate: joint: 'elbow' is not known"),
        ({"jerk": np.inf}, ModelError, "no limit of torque, acceleration, power, motors or jerk found"),
        (
            {"jerk": 1.0, "velocity": 1.0, "end_speeds": (0.5, 0.0)},
            InfeasibleError,
            "end_speeds: a path speed of 0.5 found at the start",
        ),
        (
            {"jerk": 0.1, "end_speeds": (2.0, 0.0)},
            InfeasibleError,
            "with which no timing keeps the limits of jerk, torque rate or voltage",
        ),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_sentence(limits, error, words):
    with pytest.raises(error, match=words):
        dal.fastest_timing(rod()[0], [[0.0], [ANGLE]], **{"torque": np.inf, "intervals": 100} | limits)


def test_limits_beyond_all_measure_are_refused_in_a_sentence(rng):
    robot = panda()
    with pytest.raises(
        InfeasibleError, match="jerk, torque_rate, motors: no timing was found within these limits on 50 intervals"
    ):
        dal.fastest_timing(robot, points(robot, rng, count=3), jerk=1e-200, intervals=50)


def test_gravity_alone_may_be_too_much(rng):
    robot = panda()
    with pytest.raises(InfeasibleError, match="joint 'joint2': at s = .* gravity and dry friction alone need a torque of"):
        dal.fastest_timing(robot, points(robot, rng), torque={"joint2": 5.0}, jerk=100.0, intervals=100)


@pytest.mark.slow
def test_joints_that_turn_round_together_share_a_grid_point(rng):
    """Two grid points a rounding apart would be an interval without length."""
    robot = dal.robots.panda()
    way = np.array([[0, 0, 0, -1.6, 0, 1.6, 0], [0.8, 0.5, -0.4, -1.2, 0.6, 2.0, 0.5], [0.2, 0.9, 0.3, -2.0, -0.4, 1.2, 1.0]])
    plain, *others = (
        dal.fastest_timing(robot, way + rounding, jerk=500.0, torque_rate=1000.0, intervals=300)
        for rounding in (0.0, *(1e-13 * rng.normal(size=(3, *way.shape))))
    )
    for found in others:
        assert found.duration == pytest.approx(plain.duration, rel=1e-4)


@pytest.mark.slow
def test_smoothed_friction_is_slowed_through_where_joints_turn_round():
    """Its rate at the last profile was taken for one of any speed: all such paths were refused, on any grid."""
    robot = dal.robots.pelican()
    friction = dict.fromkeys(robot.joint_names, dal.Friction(viscous=1.0, coulomb=8.0, width=0.1))
    robot = robot.replace(parameters=robot.parameters.replace(friction=friction))
    limits = {"torque_rate": np.array([400.0, 200.0])}
    for seed in range(3):
        places = np.random.default_rng(seed).uniform(-0.6, 0.6, (4, 2))
        found = dal.fastest_timing(robot, places, **limits, intervals=100)
        shares = uses(robot, found.motion, torque=efforts(robot), **limits)
        assert max(shares.values()) <= 1 + 1e-6
        assert found.duration < 3.0
