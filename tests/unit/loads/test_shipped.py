"""Cooperating arms, a hand and a walking machine of the catalogue share their loads: the motion arises, and nothing is better."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.mechanism_oracle import Oracle, second_rate, slopes

SHIPPED = ("two_arms", "three_arms", "two_finger_hand", "walking_machine")


def state_of(mechanism):
    rng = np.random.default_rng(11)
    position, qd, qdd = rng.normal(size=(3, mechanism.n))
    return mechanism.q0 + 0.004 * position, 0.2 * qd, qdd


def accelerations(mechanism, x, qd, drives):
    """q̈ under torques of joints, by an index-1 formulation over the tests' own matrices."""
    oracle, names = Oracle(mechanism), mechanism.robot.joint_names
    A, F = slopes(oracle.closures, x), slopes(oracle.coordinates, x)
    xd = np.linalg.lstsq(np.vstack([A, F]), np.concatenate([np.zeros(len(A)), qd]), rcond=None)[0]
    u = np.zeros(len(names))
    for name, torque in drives.items():
        u[names.index(name)] = torque
    h = oracle.tree_forces(x, xd, np.zeros(len(x)))
    K = np.block([[oracle.mass_matrix(x), -A.T], [A, np.zeros((len(A), len(A)))]])
    goal = np.concatenate([u - h, -second_rate(oracle.closures, x, xd)])
    xdd = np.linalg.lstsq(K, goal, rcond=None)[0][: len(x)]
    return F @ xdd + second_rate(oracle.coordinates, x, xd)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("objective", ["norm", "ratio"])
def test_shared_torques_of_a_shipped_mechanism_produce_the_motion(name, objective):
    mechanism = getattr(dal.mechanisms, name)()
    q, qd, qdd = state_of(mechanism)
    limits = None if objective == "norm" else np.full(len(mechanism.actuated), 1e3)
    shared = dal.distribute_load(mechanism, q, qd, qdd, objective=objective, limits=limits)
    found = accelerations(mechanism, mechanism.assemble(q).x, qd, dict(zip(shared.names, shared.torques, strict=True)))
    # the matrices of the tests have conditions up to 1e5, of which the comparison loses as many digits
    assert found == pytest.approx(qdd, rel=1e-9, abs=1e-9 * np.abs(qdd).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_no_other_torques_of_a_shipped_mechanism_are_smaller(name):
    """The least norm is orthogonal to every torque that moves nothing [Freeman, Eq. 4-86]."""
    mechanism = getattr(dal.mechanisms, name)()
    q, qd, qdd = state_of(mechanism)
    shared = dal.distribute_load(mechanism, q, qd, qdd)
    x, names = mechanism.assemble(q).x, mechanism.robot.joint_names
    J = mechanism.equations(x)[1]
    k = len(mechanism.rows)
    G = np.linalg.lstsq(J, np.vstack([np.zeros((k, mechanism.n)), np.eye(mechanism.n)]), rcond=None)[0]
    A = G[[names.index(drive) for drive in shared.names]]
    idle = np.linalg.svd(A.T)[2][np.linalg.matrix_rank(A) :]  # torques u with Aᵀ u = 0
    assert len(idle) > 0
    assert np.abs(idle @ shared.torques).max() < 1e-9 * np.abs(shared.torques).max()
    assert A.T @ shared.torques == pytest.approx(dal.inverse_dynamics(mechanism, q, qd, qdd), rel=1e-9, abs=1e-9)
