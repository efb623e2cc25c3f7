"""Friction that is no line in the speed: smoothed at rest, with a Stribeck peak, or both."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

import dalembert as dal
from dalembert.timing import smooth_timing
from dalembert.timing.path_friction import path_friction
from dalembert.timing.smooth_timing import SmoothTiming

from .timing_cases import rod, uses

TORQUE = np.array([40.0, 14.0])
LAWS = {
    "smooth": {"coulomb": 6.0, "width": 2e-3},
    "peak": {"coulomb": 5.0, "breakaway": 7.0, "stribeck_velocity": 0.03},
    "both": {"coulomb": 5.0, "breakaway": 7.0, "stribeck_velocity": 0.03, "width": 2e-3, "viscous": 2.0},
}


def pelican(law):
    robot = dal.robots.pelican()
    friction = dict.fromkeys(robot.joint_names, dal.Friction(**law))
    return robot.replace(parameters=robot.parameters.replace(friction=friction))


def way(kind, seed):
    points = np.random.default_rng(seed).uniform(-0.6, 0.6, (4, 2))
    if kind == "to and fro":
        return np.array([*points, *points[-2::-1]])
    return dal.trajectory.quintic(points[0], points[1], duration=1.0).then(
        dal.trajectory.quintic(points[1], points[2], duration=1.0)
    )


def most(robot, found):
    """The largest share of a torque in use, at the ends of intervals too: friction has bent there already."""
    breaks = found.motion.breaks
    shares = np.concatenate([(np.arange(10) + 0.37) / 10, 10.0 ** -np.arange(3, 10), 1 - 10.0 ** -np.arange(3, 10)])
    at = found.motion((breaks[:-1, None] + np.diff(breaks)[:, None] * np.sort(shares)).ravel())
    return float((np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / TORQUE).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "kind", "seed"),
    [("smooth", "to and fro", 3), ("peak", "to and fro", 2), ("peak", "joined", 4), ("both", "joined", 4), ("both", "joined", 2)],
)
def test_limits_hold_up_to_the_ends_of_intervals_where_friction_bends(law, kind, seed):
    """Ends had the friction of a line from within: beside a rest a torque was 1.23 of its limit, and nothing told it."""
    robot = pelican(LAWS[law])
    for intervals in (100, 400):
        found = dal.fastest_timing(robot, way(kind, seed), torque=TORQUE, velocity=np.inf, intervals=intervals)
        assert most(robot, found) <= 1 + 1e-6
        assert found.excess <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [("to and fro", 1), ("joined", 3)])
def test_tangents_that_lead_to_a_stop_are_no_result(kind, seed):
    """Where tangents of steep friction beside rest follow each other without an end, the first profile is slowed a little."""
    robot = pelican(LAWS["both"])
    coarse, fine = (dal.fastest_timing(robot, way(kind, seed), torque=TORQUE, velocity=np.inf, intervals=N) for N in (100, 1000))
    assert max(most(robot, coarse), most(robot, fine)) <= 1 + 1e-6
    assert fine.duration <= coarse.duration <= 1.1 * fine.duration


def fastest_of_rod(inertia, law, rate, angle):
    """T of a rod alone, whose torque grows, falls and grows at its full rate: switching times by shooting."""

    def state_rate(_, state, way):
        _, speed, torque = state
        drag = law.viscous * speed + law.coulomb * speed / np.sqrt(speed**2 + law.width**2)
        return [speed, (torque - drag) / inertia, way * rate]

    def missed(times):
        state = np.zeros(3)
        for way, time in zip((1, -1, 1), times, strict=True):
            state = solve_ivp(state_rate, (0, time), state, args=(way,), method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
        return state - [angle, 0.0, 0.0]

    found = root(missed, np.array([0.33, 0.5, 0.17]) * (32 * angle * inertia / rate) ** (1 / 3), tol=1e-10)
    assert found.success, found.message
    return float(found.x.sum())


@pytest.mark.parametrize("width", [0.3, 0.03, 0.003])
def test_with_smooth_friction_a_rod_is_as_fast_as_its_switching_times_say(width):
    robot, inertia = rod()
    law = dal.Friction(viscous=0.1 * inertia, coulomb=2.0 * inertia, width=width)
    robot = robot.replace(parameters=robot.parameters.replace(friction={"pivot": law}))
    given, exact = 20.0 * inertia, fastest_of_rod(inertia, law, 20.0 * inertia, 1.0)
    for intervals, error in ((200, 1e-2), (1000, 4e-3)):
        found = dal.fastest_timing(robot, [[0.0], [1.0]], torque=np.inf, torque_rate=given, intervals=intervals)
        assert (1 - 1e-6) * exact <= found.duration <= (1 + error) * exact


@pytest.mark.slow
@pytest.mark.parametrize(("width", "rate", "seed"), [(5e-3, 400.0, 5), (0.15, 400.0, 7)])
def test_with_rates_of_torque_too_times_hardly_depend_on_the_grid(width, rate, seed):
    """Friction was that of the profile before: times differed by tens of percent, and by several times for narrow knees."""
    robot = pelican({"coulomb": 5.0, "viscous": 1.0, "width": width})
    limits = {"torque": TORQUE, "torque_rate": rate * TORQUE / TORQUE[0]}
    coarse, middle, fine = (
        dal.fastest_timing(robot, way("to and fro", seed), velocity=np.inf, intervals=N, **limits) for N in (400, 1000, 3000)
    )
    for found in (coarse, middle, fine):
        assert max(uses(robot, found.motion, **limits).values()) <= 1 + 1e-6
        assert found.excess <= 1e-6
    assert middle.duration <= 1.01 * fine.duration
    assert coarse.duration <= 1.03 * fine.duration


@pytest.mark.slow
@pytest.mark.parametrize(("width", "rate", "seed", "intervals"), [(2e-3, 400.0, 83, 200), (5e-3, 3000.0, 31, 1000)])
def test_grids_are_as_fine_as_knees_ask_for(width, rate, seed, intervals):
    """On 200 intervals the first was refused; the second took twice as long, for rounding of places that are the same."""
    robot = pelican({"coulomb": 5.0, "viscous": 1.0, "width": width})
    limits = {"torque": TORQUE, "torque_rate": rate * TORQUE / TORQUE[0]}
    found, finer = (
        dal.fastest_timing(robot, way("to and fro", seed), velocity=np.inf, intervals=N, **limits) for N in (intervals, 1500)
    )
    assert max(uses(robot, found.motion, **limits).values()) <= 1 + 1e-6
    assert found.duration <= 1.03 * finer.duration


@pytest.mark.parametrize(("times", "kept"), [((np.inf, 3.0), 3.0), ((3.0, np.inf), 3.0), ((5.0, 1.0), 1.0), ((1.2, 1.0), 1.2)])
def test_of_timings_that_are_lost_the_fastest_is_kept(monkeypatch, times, kept):
    """One that is slow and within limits was given up for a refusal."""

    def found(time):
        judged = SimpleNamespace(excess=np.nan if time == np.inf else 0.0)
        return SmoothTiming(
            None, SimpleNamespace(N=200), None, None, SimpleNamespace(time=1.0 if time == np.inf else time, judged=judged), 1.0
        )

    tries = iter(times)
    monkeypatch.setattr(smooth_timing, "bends", lambda _: True)
    monkeypatch.setattr(smooth_timing._Makers, "_timed", lambda *_: found(next(tries)))
    makers = smooth_timing._Makers(SimpleNamespace(system=None), None, None)
    assert makers.timed(None, 200, None).time == kept


def test_friction_along_a_path_changes_as_its_differences_do(rng):
    """By the speed and along the path, of smooth friction with a peak."""
    robot, step = pelican(LAWS["both"]), 1e-6
    q, q1, q2 = rng.normal(size=(3, 20, 2))
    z = np.abs(rng.normal(size=(20, 1))) * 0.05

    def friction(s, z):
        path = q + q1 * s + q2 * s * s / 2, q1 + q2 * s, q2, np.zeros_like(q)
        return path_friction(robot, path, z)

    here = friction(0.0, z)
    assert here.value == pytest.approx(dal.friction_torque(robot, q1 * z), rel=1e-12)
    along = [(ahead - back) / (2 * step) for ahead, back in zip(friction(step, z), friction(-step, z), strict=True)]
    faster = [(ahead - back) / (2 * step) for ahead, back in zip(friction(0.0, z + step), friction(0.0, z - step), strict=True)]
    close = {"rel": 1e-4, "abs": 1e-4}  # knees of 2 mrad/s: third derivatives of some 1e9, times the square of the step
    assert here.by_s == pytest.approx(along[0], **close)
    assert here.by_z == pytest.approx(faster[0], **close)
    assert here.by_zz == pytest.approx(faster[1], rel=1e-3, abs=1e-3)
    assert here.by_sz == pytest.approx(along[1], rel=1e-3, abs=1e-3)
