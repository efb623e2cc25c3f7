"""Motions under wrenches, other masses and a sampled controller, beside SciPy around Pinocchio."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("pinocchio")
from scipy.integrate import solve_ivp

import dalembert as dal
from dalembert.expr import ops
from tests.cross.pinocchio_model import PinocchioRobot
from tests.robots import FRICTIONLESS, fresh, random_robot

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
PUSH = np.array([20.0, -15.0, 30.0, 2.0, -1.0, 3.0])


def moved(oracle, y, span, tau, wrenches):
    """The state at the end, with accelerations from Pinocchio's mass matrix and torques of a motion without any."""
    n = len(y) // 2

    def slope(t, y):
        q, qd = y[:n], y[n:]
        h = oracle.inverse_dynamics(q, qd, np.zeros(n), wrenches(t, q, qd))
        return np.r_[qd, np.linalg.solve(oracle.mass_matrix(q), tau - h)]

    return solve_ivp(slope, span, y, method="DOP853", **TIGHT).y[:, -1]


@pytest.mark.parametrize("seed", range(3))
def test_wrenches_on_random_robots(seed):
    """One that pushes the tool in time, and a constant one on another link."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, FRICTIONLESS)
    link = robot.link_names[-1]
    q, qd = rng.uniform(-1, 1, (2, robot.n))
    other = rng.uniform(-5, 5, 6)

    def wave(t, q, qd):
        return [a * ops.cos(6.0 * t) for a in PUSH]

    found = dal.simulate(robot, q, qd, wrenches={"tool": wave, link: other}, t_end=0.2, **TIGHT)

    def wrenches(t, q, qd):
        return {"tool": PUSH * np.cos(6.0 * t), link: other}

    known = moved(PinocchioRobot(robot), np.r_[q, qd], (0, 0.2), np.zeros(robot.n), wrenches)
    np.testing.assert_allclose(np.r_[found.q[-1], found.qd[-1]], known, rtol=1e-7, atol=1e-7)


def test_a_sampled_and_late_controller_of_an_arm_with_another_payload():
    """Mass and place of the payload by parameters here, as a body there."""
    robot = fresh("panda")
    loaded = robot.with_payload(2.0, com=(0.01, 0.02, 0.05))
    start, n, sample = np.array([0.1, 0.3, -0.2, -1.5, 0.1, 1.6, 0.2]), robot.n, 0.01

    def law(t, q, qd, p):
        return 20.0 * (0.2 - q) - 0.3 * qd

    given = {"tau": law, "inputs": {"none": 0.0}, "parameters": dal.parameters(loaded), "wrenches": {"tool": PUSH}}
    found = dal.simulate(robot, start, np.zeros(n), sample=sample, delay=sample, t_end=0.1, **given, **TIGHT)
    bare = loaded.replace(parameters=loaded.parameters.replace(friction={}))
    oracle, y = PinocchioRobot(bare), np.r_[start, np.zeros(n)]
    wanted = [20.0 * (0.2 - start)] * 2
    for span in pairwise(np.arange(11) * sample):
        wanted = [wanted[1], 20.0 * (0.2 - y[:n]) - 0.3 * y[n:]]
        y = moved(oracle, y, span, wanted[0], lambda t, q, qd: {"tool": PUSH})
    np.testing.assert_allclose(np.r_[found.q[-1], found.qd[-1]], y, rtol=1e-7, atol=1e-7)
