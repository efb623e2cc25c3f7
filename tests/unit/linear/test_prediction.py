"""The linear model predicts small deviations of the nonlinear motion, with an error of second order."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.unit.linear.systems import mechanism

TIGHT = {"rtol": 1e-12, "atol": 1e-13}  # so that integration is far more exact than the second order of these deviations
SIZES = np.array([4e-2, 2e-2, 1e-2])


def orders(system, q, direction, tau, loads=()):
    """By which power of the deviation the error of the prediction falls."""
    model = dal.linearize(system, q, tau=tau, loads=loads)
    t = np.linspace(0.0, 0.5, 6)
    n = system.n
    nominal = dal.simulate(system, q, np.zeros(n), tau=tau, t_end=t[-1], t_eval=t, **TIGHT)
    errors = []
    for size in SIZES:
        x0 = size * direction
        found = dal.simulate(system, q + x0[:n], x0[n:], tau=tau, t_end=t[-1], t_eval=t, **TIGHT)
        deviation = np.concatenate([found.q - nominal.q, found.qd - nominal.qd], axis=-1)
        errors.append(np.abs(deviation - model.response(t, x0)).max())
    return np.log2(np.array(errors[:-1]) / errors[1:])


def test_about_an_equilibrium_of_a_robot():
    arm = dal.robots.two_link_planar()
    q = np.array([-1.2, 0.5])
    found = orders(arm, q, np.array([1.0, -0.5, 0.3, 0.8]), dal.equilibrium(arm, q).tau)
    assert np.abs(found - 2.0).max() < 0.15  # third order shows a little at the largest deviation


@pytest.mark.slow
def test_about_an_equilibrium_of_a_mechanism():
    system = mechanism("four_bar")
    q = system.q0
    found = orders(system, q, np.array([1.0, 0.5]), dal.equilibrium(system, q).tau)
    assert np.abs(found - 2.0).max() < 0.15


def test_along_a_motion_by_models_that_change_with_time():
    arm = dal.robots.two_link_planar()
    q, qd, steps = np.array([-1.2, 0.5]), np.array([0.5, -1.0]), 400
    t = np.linspace(0.0, 0.4, 2 * steps + 1)
    nominal = dal.simulate(arm, q, qd, tau=[1.0, 0.5], t_end=t[-1], t_eval=t, **TIGHT)
    A = dal.linearize(arm, nominal.q[1::2], nominal.qd[1::2], tau=[1.0, 0.5]).discretised(t[2]).A  # in the middle of each step
    errors = []
    for size in SIZES:
        x = size * np.array([1.0, -0.5, 0.3, 0.8])
        found = dal.simulate(arm, q + x[:2], qd + x[2:], tau=[1.0, 0.5], t_end=t[-1], **TIGHT)
        for step in A:
            x = step @ x
        last = np.concatenate([found.q[-1] - nominal.q[-1], found.qd[-1] - nominal.qd[-1]])
        errors.append(np.abs(last - x).max())
    assert np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2.0).max() < 0.15
