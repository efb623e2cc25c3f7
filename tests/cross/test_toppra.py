"""The fastest timing beside toppra, along one path without friction, where both solve the same problem."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import dalembert as dal

toppra = pytest.importorskip("toppra", reason="toppra is not installed")


@pytest.mark.slow
@pytest.mark.parametrize("speed", [np.inf, 2.0])
def test_both_find_the_same_time(speed):
    """To 1 %: toppra keeps limits at its grid points and is right to first order in 1/N."""
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.CRITICAL)
    robot = dal.robots.panda()
    limits = [joint.limits for joint in robot.structure.coordinates]
    lower, upper, effort = np.array([(limit.lower, limit.upper, limit.effort) for limit in limits]).T
    way = lower + (upper - lower) * np.random.default_rng(3).uniform(0.25, 0.75, size=(6, 7))
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    path = toppra.SplineInterpolator(lengths / lengths[-1], way)

    def torque(q, qd, qdd):
        return dal.inverse_dynamics(robot, q, qd, qdd)

    scheme = constraint.DiscretizationType.Interpolation
    rows = [constraint.JointTorqueConstraint(torque, np.c_[-effort, effort], np.zeros(7), discretization_scheme=scheme)]
    if np.isfinite(speed):
        rows.append(constraint.JointVelocityConstraint(np.tile([-speed, speed], (7, 1))))
    s = np.linspace(0.0, 1.0, 1001)
    sd = algorithm.TOPPRA(rows, path, gridpoints=s, parametrizer="ParametrizeConstAccel").compute_parameterization(0, 0)[1]
    theirs = (2 * np.diff(s) / (sd[1:] + sd[:-1])).sum()
    ours = dal.fastest_timing(robot, way, velocity=speed)
    assert ours.duration == pytest.approx(theirs, rel=1e-2)
    assert ours.duration <= theirs * (1 + 1e-4)
