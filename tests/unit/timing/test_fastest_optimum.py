"""The fastest timing beside an independent optimum: sequences of linear programs with limits at the middles of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.interpolate import CubicSpline
from scipy.optimize import linprog

import dalembert as dal

from .timing_cases import efforts, panda, points


def chord_spline(way):
    """The spline that `fastest_timing` lays through points, made anew."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    return CubicSpline(lengths / lengths[-1], way)


def optimum(robot, path, limits, velocity, N=600, turns=8):
    """T by linear programs in x = ṡ² at N + 1 points: the largest Σ x, √x by its tangent at the last solution.

    Nothing of the library's timing is in it: torques by inverse dynamics at the middles of intervals, and another grid.
    """
    s = (1 - np.cos(np.pi * np.linspace(0, 1, N + 1))) / 2  # denser at the ends
    h, middle = np.diff(s), (s[1:] + s[:-1]) / 2
    q, q1, q2 = path(middle), path(middle, 1), path(middle, 2)
    still = np.zeros_like(q)
    frictionless = robot.replace(parameters=robot.parameters.replace(friction={}))
    gravity = dal.inverse_dynamics(frictionless, q, still, still)
    inertia = dal.inverse_dynamics(frictionless, q, still, q1) - gravity
    motion = dal.inverse_dynamics(frictionless, q, q1, q2) - gravity
    laws = [robot.parameters.friction.get(name, dal.Friction()) for name in robot.joint_names]
    dry = np.sign(q1) * [law.coulomb for law in laws]
    viscous = q1 * [law.viscous for law in laws]
    cap = np.concatenate([[0.0], (np.min(velocity / np.abs(path(s[1:-1], 1)), axis=1)) ** 2, [0.0]])
    x = np.full(N + 1, 0.05)
    k, n = np.arange(N), robot.n
    for _ in range(turns):
        mean = np.maximum((x[1:] + x[:-1]) / 2, 1e-6)
        tangent = viscous / (2 * np.sqrt(mean))[:, None]
        rate = inertia / (2 * h)[:, None]
        before, after = (motion + tangent) / 2 - rate, (motion + tangent) / 2 + rate
        rows = np.repeat(k, n) * n + np.tile(np.arange(n), N)
        matrix = sparse.csr_matrix(
            (
                np.concatenate([before.ravel(), after.ravel()]),
                (np.tile(rows, 2), np.concatenate([np.repeat(k, n), np.repeat(k + 1, n)])),
            ),
            shape=(N * n, N + 1),
        )
        constant = (gravity + dry + viscous * (np.sqrt(mean) / 2)[:, None]).ravel()
        bound = np.tile(limits, N)
        found = linprog(
            -np.ones(N + 1),
            A_ub=sparse.vstack([matrix, -matrix]),
            b_ub=np.concatenate([bound - constant, bound + constant]),
            bounds=np.column_stack([np.zeros(N + 1), np.minimum(cap, 1e4)]),
        )
        assert found.success, found.message
        x = found.x
    z = np.sqrt(np.maximum(x, 0))
    return float((2 * h / (z[1:] + z[:-1])).sum())


@pytest.mark.slow
@pytest.mark.parametrize("viscous", [False, True])
@pytest.mark.parametrize("speed", [np.inf, 2.0])
def test_the_time_is_within_half_a_percent_of_linear_programs(viscous, speed, rng):
    robot = panda(coulomb=True, viscous=viscous)
    way = points(robot, rng, count=4)
    limits = efforts(robot)
    found = dal.fastest_timing(robot, way, velocity=speed)
    expected = optimum(robot, chord_spline(way), limits, np.full(7, min(speed, 1e3)))
    assert found.duration == pytest.approx(expected, rel=5e-3)
