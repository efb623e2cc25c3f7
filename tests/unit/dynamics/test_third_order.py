"""The rate at which torques change along a motion."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.model import Friction
from tests.robots import random_robot

STEP = 1e-3  # of the differences in time; those of fourth order leave about STEP⁴ of the fifth derivative


def motion(n: int, t: float) -> list[np.ndarray]:
    """q and three derivatives of a sum of sines and a cubic."""
    phase, rate = np.arange(1.0, n + 1), 1.0 + 0.3 * np.arange(n)
    s, c = np.sin(rate * t + phase), np.cos(rate * t + phase)
    cubic = [0.2 * t**3, 0.6 * t**2, 1.2 * t, 1.2]
    return [
        part + extra for part, extra in zip((0.5 * s, 0.5 * rate * c, -0.5 * rate**2 * s, -0.5 * rate**3 * c), cubic, strict=True)
    ]


def by_differences(system: dal.Robot | dal.Mechanism, path, t: float) -> np.ndarray:
    """dτ/dt by a central difference of fourth order in time."""
    tau = [dal.inverse_dynamics(system, *path(t + k * STEP)[:3]) for k in (-2, -1, 1, 2)]
    return (tau[0] - 8 * tau[1] + 8 * tau[2] - tau[3]) / (12 * STEP)


@pytest.mark.parametrize("name", ["puma560", "stanford", "two_link_planar"])
def test_the_rate_of_the_torque_is_its_derivative_in_time(name: str) -> None:
    arm = dal.load(name)
    smooth = {joint: law.replace(width=0.3, breakaway=None) for joint, law in arm.parameters.friction.items()}
    arm = arm.replace(parameters=arm.parameters.replace(friction=smooth))
    expected = by_differences(arm, lambda t: motion(arm.n, t), 0.4)
    found = dal.torque_rate(arm, *motion(arm.n, 0.4))
    assert np.abs(found - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())  # what the differences leave


def test_it_is_the_sum_of_the_three_derivatives() -> None:
    """[Freeman, Eq. 2-239] with the matrices of `derivatives`, for dry friction too, away from its jump."""
    tree = random_robot(np.random.default_rng(5), 5)
    q, qd, qdd, qddd = np.random.default_rng(1).uniform(-1, 1, (4, 7, tree.n))
    by = dal.derivatives(tree, q, qd, qdd)
    expected = sum(np.einsum("...ij,...j->...i", D, x) for D, x in zip(by, (qd, qdd, qddd), strict=True))
    np.testing.assert_allclose(dal.torque_rate(tree, q, qd, qdd, qddd), expected, rtol=1e-11, atol=1e-10)  # rounding


def test_of_a_mechanism_through_its_positions() -> None:
    linkage = dal.mechanisms.five_bar()

    def path(t: float) -> list[np.ndarray]:
        q, *rates = motion(linkage.n, t)
        return [linkage.q0 + 0.1 * (q - motion(linkage.n, 0.0)[0]), *(0.1 * x for x in rates)]

    expected = by_differences(linkage, path, 0.2)
    found = dal.torque_rate(linkage, *path(0.2))
    assert np.abs(found - expected).max() < 1e-7 * np.abs(expected).max()  # what the differences leave


@pytest.mark.slow
def test_long_chains_take_the_tangent_of_the_loops() -> None:
    chain = dal.robots.chain(30)
    assert engine.system_of(chain).recipe(engine.request_of("torque_rate")).way == "composed"
    q, qd, qdd, qddd = np.random.default_rng(2).uniform(-1, 1, (4, 3, chain.n))
    by = dal.derivatives(chain, q, qd, qdd)
    expected = sum(np.einsum("...ij,...j->...i", D, x) for D, x in zip(by, (qd, qdd, qddd), strict=True))
    found = dal.torque_rate(chain, q, qd, qdd, qddd)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max() * chain.n  # rounding


def test_dry_friction_counts_as_constant_at_its_jump() -> None:
    pendulum = dal.robots.pendulum()
    rough = pendulum.replace(parameters=pendulum.parameters.replace(friction={"pivot": Friction(coulomb=3.0)}))
    state = [0.3], [0.0], [1.0], [0.5]
    np.testing.assert_array_equal(dal.torque_rate(rough, *state), dal.torque_rate(pendulum, *state))
