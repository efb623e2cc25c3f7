"""Every kind of mechanism against a constrained formulation with multipliers, written in NumPy (tests/mechanism_oracle.py)."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dalembert as dal
from tests.mechanism_cases import CASES
from tests.mechanism_oracle import Oracle, slopes
from tests.robots import relative_error

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("interpreted")]

TOLERANCE = 1e-9  # relative: conditions of up to 1e3, times 1e-12 of derivatives by Cauchy's formula
BUILDERS = {**CASES, **{f"catalogue: {name}": build for name, build in dal.mechanisms.CATALOGUE.items()}}
NAMED = [name for name in BUILDERS if not name.endswith(("links", "ground"))]


@pytest.fixture(scope="module", params=BUILDERS)
def case(request):
    """A mechanism, its oracle, some states, and what the oracle says of them."""
    mechanism = copy.copy(BUILDERS[request.param]())
    oracle = Oracle(mechanism)
    rng = np.random.default_rng(3)
    shape = (2 if request.param in NAMED and mechanism.robot.n < 12 else 1, mechanism.n)
    q = mechanism.q0 + rng.uniform(-0.03, 0.03, shape) * (0.5 if mechanism.n > 4 else 1.0)
    qd, qdd = rng.uniform(-1.5, 1.5, (2, *shape))
    x = mechanism.assemble(q).x
    expected = [oracle.inverse(*state) for state in zip(x, qd, qdd, strict=True)]
    return mechanism, oracle, (q, qd, qdd), x, expected


def test_positions_are_closed_and_those_of_the_coordinates(case):
    _, oracle, (q, _, _), x, _ = case
    for state in zip(q, x, strict=True):
        assert oracle.open_by(*state) < 1e-12  # a Newton step after the last one that counts


def test_torques_are_those_of_the_formulation_with_multipliers(case):
    mechanism, _, state, _, expected = case
    tau = dal.inverse_dynamics(mechanism, *state)
    assert relative_error(tau, np.array([e.tau for e in expected])) < TOLERANCE


def test_accelerations_are_those_of_the_formulation_with_multipliers(case):
    mechanism, oracle, (q, qd, _), x, expected = case
    tau = np.array([e.tau for e in expected]) + 1.0
    found = dal.forward_dynamics(mechanism, q, qd, tau)
    for k in range(len(q)):
        by_multipliers, _ = oracle.forward(x[k], qd[k], tau[k])
        assert relative_error(found[k], by_multipliers) < TOLERANCE


def test_closures_push_as_the_multipliers_do(case):
    """Where some conditions hold what others hold, forces are not unique, but what they do to the tree is."""
    mechanism, oracle, state, x, expected = case
    found = dal.constraint_forces(mechanism, *state)
    unique = len(mechanism.rows) + mechanism.n == mechanism.robot.n
    for k, e in enumerate(expected):
        if unique:
            assert relative_error(found.closures[k], e.wrenches) < TOLERANCE
        by_closures = np.zeros(mechanism.robot.n)
        row = 0
        for closure, wrench in zip(mechanism.closures, found.closures[k], strict=True):
            by_closures += _at_joints(oracle, closure, x[k], wrench, found.multipliers[k, row : row + len(closure.rows)])
            row += len(closure.rows)
        assert relative_error(e.tree - by_closures, slopes(oracle.coordinates, x[k]).T @ e.tau) < TOLERANCE


def _at_joints(oracle, closure, x, wrench, multipliers):
    """What a closure exerts at the joints: by the difference of what its two links feel, or by its own slopes."""
    if not closure.links:
        return slopes(lambda x: oracle._residual(closure, oracle.poses(x)[0], x), x).T @ multipliers
    (a, _), (b, B) = closure.between
    X, ways = oracle.poses(x)
    p = np.real((X[b] @ B)[:3, 3])
    J = np.real(oracle.jacobian(ways[b], p) - oracle.jacobian(ways[a], p))
    return J.T @ wrench


@pytest.mark.parametrize("case", NAMED, indirect=True)
def test_jacobians_and_mass_matrix(case):
    mechanism, oracle, (q, qd, _), x, expected = case
    link = mechanism.link_names[-1]
    J, Jd = dal.jacobian(mechanism, q, link), dal.jacobian_dot(mechanism, q, qd, link)
    M = dal.mass_matrix(mechanism, q)
    for k, e in enumerate(expected):
        assert relative_error(J[k], np.real(oracle.link_jacobian(x[k], link, np.zeros(3))) @ e.G) < TOLERANCE
        assert relative_error(M[k], e.G.T @ oracle.mass_matrix(x[k]) @ e.G) < TOLERANCE
        later = oracle.inverse(x[k], qd[k], np.zeros(mechanism.n))
        moving = np.imag(oracle.link_jacobian(x[k] + 1e-30j * e.xd, link, np.zeros(3))) / 1e-30
        acceleration = np.real(oracle.link_jacobian(x[k], link, np.zeros(3))) @ later.xdd + moving @ e.xd
        assert relative_error(Jd[k] @ qd[k], acceleration) < TOLERANCE


def test_wrenches_and_a_moving_base_are_met(case):
    mechanism, oracle, state, x, _ = case
    link = mechanism.link_names[-1]
    wrenches = {link: np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])}
    velocity, acceleration = np.array([0.1, 0.2, 0.3, 0.4, -0.5, 0.6]), np.array([0.6, -0.5, 0.4, 0.3, 0.2, -0.1])
    given = {"wrenches": wrenches, "base_velocity": velocity, "base_acceleration": acceleration}
    tau = dal.inverse_dynamics(mechanism, *state, **given)
    for k, (_, qd, qdd) in enumerate(zip(*state, strict=True)):
        e = oracle.inverse(x[k], qd, qdd, wrenches=wrenches, base=(velocity, acceleration))
        assert relative_error(tau[k], e.tau) < TOLERANCE
