"""Friction that is no line in the speed: smoothed at rest, with a Stribeck peak, or both."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal

TORQUE = np.array([40.0, 14.0])
LAWS = {
    "smooth": {"coulomb": 6.0, "width": 2e-3},
    "peak": {"coulomb": 5.0, "breakaway": 7.0, "stribeck_velocity": 0.03},
    "both": {"coulomb": 5.0, "breakaway": 7.0, "stribeck_velocity": 0.03, "width": 2e-3, "viscous": 2.0},
}


def pelican(law):
    robot = dal.robots.pelican()
    friction = dict.fromkeys(robot.joint_names, dal.Friction(**LAWS[law]))
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
    robot = pelican(law)
    for intervals in (100, 400):
        found = dal.fastest_timing(robot, way(kind, seed), torque=TORQUE, velocity=np.inf, intervals=intervals)
        assert most(robot, found) <= 1 + 1e-6
        assert found.excess <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [("to and fro", 1), ("joined", 3)])
def test_tangents_that_lead_to_a_stop_are_no_result(kind, seed):
    """Where tangents of steep friction beside rest follow each other without an end, the first profile is slowed a little."""
    robot = pelican("both")
    coarse, fine = (dal.fastest_timing(robot, way(kind, seed), torque=TORQUE, velocity=np.inf, intervals=N) for N in (100, 1000))
    assert max(most(robot, coarse), most(robot, fine)) <= 1 + 1e-6
    assert fine.duration <= coarse.duration <= 1.1 * fine.duration
