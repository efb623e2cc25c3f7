"""Influence coefficients against exact derivatives, by complex steps through the algorithms themselves.

A complex step of 1e-30 has no truncation error and no cancellation: what it gives is the derivative to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms import influence_coefficients
from dalembert.algorithms.kinematics import forward_kinematics
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.model.tree import FramePlace
from dalembert.spatial import SYM_ZERO, ZERO, Inertia, Vec3
from tests.robots import random_robot, relative_error

TOLERANCE = 1e-12
STEP = 1e-30


@pytest.fixture(params=range(6))
def arm(request: pytest.FixtureRequest) -> dal.Robot:
    """Trees with turning and sliding joints, couplings and offsets."""
    return random_robot(np.random.default_rng(request.param), 3 + request.param % 3)


def along(function: Any, q: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The derivative of an array-valued function of q."""
    return np.array(function(list(q + 1j * STEP * direction)), dtype=complex).imag / STEP


def by_each(function: Any, q: np.ndarray) -> list[np.ndarray]:
    return [along(function, q, e) for e in np.eye(len(q))]


def setting(arm: dal.Robot) -> tuple[Unrolled, FramePlace, np.ndarray]:
    tree = engine.tree(arm)
    assert tree.tool is not None
    return Unrolled(tree), tree.tool, np.random.default_rng(1).uniform(-2, 2, arm.n)


def test_coefficients_of_a_point_are_derivatives_of_its_position(arm: dal.Robot) -> None:
    sweep, place, q = setting(arm)
    G, H, D = (np.array(x, dtype=float) for x in influence_coefficients.influence(sweep, q, place, order=3, kind="point"))
    position = by_each(lambda x: np.array(forward_kinematics(sweep, x, [place])[0])[:3, 3], q)
    first = by_each(lambda x: influence_coefficients.influence(sweep, x, place, order=1, kind="point")[0], q)
    second = by_each(lambda x: influence_coefficients.influence(sweep, x, place, order=2, kind="point")[1], q)
    assert relative_error(G, np.stack(position, axis=-1)) < TOLERANCE
    assert relative_error(H, np.stack(first, axis=1)) < TOLERANCE  # H[c, m, n] = ∂G[c, n]/∂q_m
    assert relative_error(D, np.stack(second, axis=1)) < TOLERANCE  # D[c, l, m, n] = ∂H[c, m, n]/∂q_l


def test_coefficients_of_a_rotation_are_derivatives_of_its_angular_velocity(arm: dal.Robot) -> None:
    sweep, place, q = setting(arm)
    G, H, D = (np.array(x, dtype=float) for x in influence_coefficients.influence(sweep, q, place, order=3, kind="rotation"))
    R = np.array(forward_kinematics(sweep, list(q), [place])[0], dtype=float)[:3, :3]
    for n, dX in enumerate(by_each(lambda x: np.array(forward_kinematics(sweep, x, [place])[0]), q)):
        W = dX[:3, :3] @ R.T  # [ω]× per unit rate of q_n
        assert relative_error(G[:, n], np.array([W[2, 1], W[0, 2], W[1, 0]])) < TOLERANCE
    first = by_each(lambda x: influence_coefficients.influence(sweep, x, place, order=1, kind="rotation")[0], q)
    second = by_each(lambda x: influence_coefficients.influence(sweep, x, place, order=2, kind="rotation")[1], q)
    assert relative_error(H, np.stack(first, axis=1)) < TOLERANCE
    assert relative_error(D, np.stack(second, axis=1)) < TOLERANCE


def test_acceleration_and_jerk_are_rates_of_velocity_and_acceleration(arm: dal.Robot) -> None:
    """Along q(t) with given q̇, q̈, q⃛; the sums taken from the tip are those over G, H and D."""
    sweep, place, q = setting(arm)
    qd, qdd, qddd = np.random.default_rng(2).normal(size=(3, arm.n))
    step = 1j * STEP
    velocity, acceleration, jerk = (
        np.array(x, dtype=float) for x in influence_coefficients.link_motion(sweep, place, q, qd, qdd, qddd)
    )
    later = influence_coefficients.link_motion(sweep, place, q + step * qd, qd + step * qdd, qdd + step * qddd)
    assert relative_error(acceleration, np.array(later[0]).imag / STEP) < TOLERANCE
    assert relative_error(jerk, np.array(later[1]).imag / STEP) < TOLERANCE
    G, H, D = (np.array(x, dtype=float) for x in influence_coefficients.influence(sweep, q, place, order=3, kind="link"))
    mixed = np.einsum("m,cmn,n->c", qdd, H + 2 * np.swapaxes(H, 1, 2), qd)
    assert relative_error(velocity, G @ qd) < TOLERANCE
    assert relative_error(acceleration, G @ qdd + np.einsum("m,cmn,n->c", qd, H, qd)) < TOLERANCE
    assert relative_error(jerk, G @ qddd + mixed + np.einsum("l,clmn,m,n->c", qd, D, qd, qd)) < TOLERANCE


def test_a_point_s_coefficients_are_symmetric_and_a_rotation_s_are_not() -> None:
    arm = dal.robots.puma560()
    tree = engine.tree(arm)
    q = np.random.default_rng(1).normal(size=6)
    _, H, D = (np.array(x) for x in influence_coefficients.influence(Unrolled(tree), q, tree.tool, order=3, kind="link"))
    assert np.array_equal(H[:3], np.swapaxes(H[:3], 1, 2))
    for axes in ((0, 2, 1, 3), (0, 1, 3, 2)):
        assert np.array_equal(D[:3], D[:3].transpose(axes))
    size = np.abs(H[3:]).max(axis=0)
    assert size[0, 1] > 0.1
    assert not np.tril(size).any()  # an axis follows the joints before it only


def test_a_link_that_does_not_move_has_no_coefficients() -> None:
    sweep = Unrolled(engine.tree(dal.robots.two_link_planar()))
    base = FramePlace(-1, sweep.tree.tool.R, ZERO)
    for nest in influence_coefficients.influence(sweep, [0.1, 0.2], base, order=3, kind="link"):
        assert not np.array(nest).any()
    assert not np.array(influence_coefficients.link_motion(sweep, base, [0.1, 0.2], [1.0, 2.0])).any()


def test_point_masses_have_the_mass_and_first_moment_of_a_body() -> None:
    h = Vec3(0.3, -0.4, 0.5)
    assert influence_coefficients.point_masses(Inertia(0.0, ZERO, SYM_ZERO)) == []
    for body in (Inertia(2.0, h, SYM_ZERO), Inertia(0.0, h, SYM_ZERO)):
        masses = influence_coefficients.point_masses(body)
        assert sum(m for m, _ in masses) == body.mass
        assert np.sum([np.array(p) * m for m, p in masses], axis=0) == pytest.approx(np.array(h))
