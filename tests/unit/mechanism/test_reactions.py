"""Forces at closures and joints: each link is in balance with them, and closures do no work."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import dalembert as dal
from tests.mechanism_cases import CASES
from tests.mechanism_oracle import Oracle
from tests.robots import relative_error

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("interpreted")]

TOLERANCE = 1e-9
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.3, 0.2])
BALANCED = ("five_bar", "rssr", "three_rrr_joints", "bricard", "delta", "mimicking", "screwed", "stewart_legs")
"""Those in joints, with all that moves being bodies of links: springs between points and spinning rotors push, too."""


def moved(wrench: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A wrench at one point, as one at another."""
    return np.concatenate([wrench[:3], wrench[3:] + np.cross(start - end, wrench[:3])])


@pytest.fixture(scope="module", params=BALANCED)
def case(request):
    mechanism = copy.copy(CASES[request.param]())
    rng = np.random.default_rng(11)
    q = mechanism.q0 + rng.uniform(-0.02, 0.02, mechanism.n)
    qd, qdd = rng.uniform(-1.0, 1.0, (2, mechanism.n))
    return mechanism, Oracle(mechanism), (q, qd, qdd), mechanism.assemble(q).x


def test_what_a_joint_transmits_moves_all_that_it_carries(case):
    mechanism, oracle, state, x = case
    robot, pushed = mechanism.robot, mechanism.link_names[-1]
    expected = oracle.inverse(x, *state[1:])
    found = dal.constraint_forces(mechanism, *state, wrenches={pushed: WRENCH})
    np.testing.assert_allclose(found.joints, dal.link_wrenches(mechanism, *state, wrenches={pushed: WRENCH}), rtol=1e-12)
    X = {link: np.real(pose) for link, pose in oracle.poses(x)[0].items()}
    acting: list[tuple[str, np.ndarray, np.ndarray]] = [(pushed, X[pushed][:3, 3], WRENCH)]
    for closure, wrench in zip(mechanism.closures, found.closures, strict=True):
        if closure.links:
            (a, _), (b, B) = closure.between
            p = (X[b] @ B)[:3, 3]
            acting += [(b, p, wrench), (a, p, -wrench)]
    for body, (_, f, m) in zip(oracle.bodies, oracle.body_forces(x, expected.xd, expected.xdd), strict=True):
        p = (X[body.link] @ [*body.com, 1.0])[:3]
        acting.append((body.link, p, -np.concatenate([f, m])))
    moving = [joint for joint in robot.structure.joints if joint.moves]
    for joint, wrench in zip(moving, found.joints, strict=True):
        carried = carried_by(robot, joint.child)
        origin = (X[joint.parent] @ joint.origin)[:3, 3]
        total = sum((moved(w, p, origin) for link, p, w in acting if link in carried), np.zeros(6))
        assert relative_error(wrench, -total) < TOLERANCE, joint.name


def carried_by(robot: dal.Robot, link: str) -> set[str]:
    """A link and all that hang on it."""
    found = {link}
    for joint in robot.structure.joints:  # parents come first
        if joint.parent in found:
            found.add(joint.child)
    return found


def test_closures_do_no_work(case):
    mechanism, oracle, (q, qd, qdd), x = case
    xd, _ = oracle.rates(x, qd)
    found = dal.constraint_forces(mechanism, q, qd, qdd)
    X, ways = oracle.poses(x)
    power = []
    for closure, wrench in zip(mechanism.closures, found.closures, strict=True):
        (a, _), (b, B) = closure.between
        p = np.real((X[b] @ B)[:3, 3])
        power.append(wrench @ np.real(oracle.jacobian(ways[b], p) - oracle.jacobian(ways[a], p)) @ xd)
    assert np.abs(power).max() < TOLERANCE * max(1.0, np.abs(found.closures).max())


def test_drives_do_all_the_work(case):
    """What drives do at the coordinates is what energy grows by, and what friction takes."""
    mechanism, _, (q, qd, qdd), _ = case
    by_q, momentum, by_potential = dal.energy_gradient(mechanism, q, qd)
    tau, friction = dal.inverse_dynamics(mechanism, q, qd, qdd), dal.friction_torque(mechanism, qd, q=q)
    assert (tau - friction) @ qd == pytest.approx((by_q + by_potential) @ qd + momentum @ qdd, rel=1e-9, abs=1e-9)
