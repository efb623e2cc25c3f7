"""Spatial, redundant and overconstrained mechanisms of the catalogue: each closes, moves and keeps its energy balance."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from tests.unit.mechanisms.independent import energy, gap

# Coordinates, joints of the tree, scalar conditions, drives; how far q is sampled around q0 [rad | m].
SIZES = {
    "delta": (3, 12, 9, 3, 0.3),
    "delta_rods": (3, 9, 6, 3, 0.3),
    "hybrid": (6, 12, 6, 6, 0.1),
    "screw_press": (1, 4, 7, 1, 4.0),
    "six_freedom_planar": (6, 12, 6, 6, 0.1),
    "stewart": (6, 24, 18, 6, 0.05),
    "stewart_six_joint_legs": (6, 36, 30, 6, 0.08),
    "three_arms": (6, 24, 18, 18, 0.08),
    "two_arms": (6, 18, 12, 12, 0.08),
    "two_finger_hand": (3, 7, 4, 4, 0.008),
    "walking_machine": (3, 7, 4, 4, 0.05),
}
LONG = ("stewart_six_joint_legs", "three_arms", "two_arms")  # that take a second or more to compile
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in SIZES]


def sampled(name: str, count: int) -> tuple[dal.Mechanism, np.ndarray]:
    """A mechanism of the catalogue, and coordinates around those it is assembled at."""
    mechanism = dal.mechanisms.CATALOGUE[name]()
    return mechanism, mechanism.q0 + np.random.default_rng(3).uniform(-1, 1, (count, mechanism.n)) * SIZES[name][-1]


@pytest.mark.parametrize("name", SIZES)
def test_it_builds_once_without_warning_and_has_the_freedoms_it_should(name):
    build = dal.mechanisms.CATALOGUE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mechanism = build.__wrapped__()
    assert build() is build()
    assert (mechanism.name, mechanism.robot.notes) == (name, ())
    assert (mechanism.n, mechanism.robot.n, len(mechanism.rows), len(mechanism.actuated)) == SIZES[name][:4]
    assert gap(mechanism, mechanism.seed) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_it_closes_at_every_sampled_coordinate(name):
    mechanism, q = sampled(name, 30)
    found = mechanism.assemble(q)
    assert found.found.all()
    # Newton's last step is below 1e-8 and its error the square of that, so rounding is left; positions are of order one.
    assert max(gap(mechanism, x) for x in found.x) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_accelerations_come_back_from_the_torques_they_need(name, rng):
    mechanism, q = sampled(name, 5)
    qd, qdd = rng.normal(size=(2, *q.shape))
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    # Both ways lose the condition of the mass matrix, below 1e5 for all of these.
    assert dal.forward_dynamics(mechanism, q, qd, tau) == pytest.approx(qdd, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_power_of_the_torques_is_the_rate_of_the_energy(name, rng):
    mechanism, q = sampled(name, 1)
    scale = SIZES[name][-1]
    q, (qd, qdd) = q[0], scale * rng.normal(size=(2, mechanism.n))
    h = 1e-4  # a difference of differences: truncation h² and rounding 1e-16 / h² both stay below 1e-7
    t = h * np.arange(-2, 3)[:, None]
    x = mechanism.assemble(q + qd * t + qdd * t**2 / 2).x
    rate = (energy(mechanism, x[3], x[2], x[4], h) - energy(mechanism, x[1], x[0], x[2], h)) / (2 * h)
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd) - dal.friction_torque(mechanism, qd, q=q)
    assert tau @ qd == pytest.approx(rate, rel=1e-6, abs=1e-6 * np.abs(tau * qd).sum())
