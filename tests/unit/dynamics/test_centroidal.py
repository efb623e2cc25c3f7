"""Momentum about the centre of mass, against what it is defined by and against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.dynamics.system import Coordinate
from dalembert.dynamics.transferred import Transferred
from tests.robots import Features, random_robot, relative_error

TOLERANCE = 1e-10


@pytest.fixture(params=range(6))
def robot(request: pytest.FixtureRequest) -> dal.Robot:
    return random_robot(np.random.default_rng(request.param), 5, Features(friction=False))


def test_the_momentum_is_its_matrix_times_the_velocity(robot: dal.Robot, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, 4, robot.n))
    found = dal.centroidal_momentum(robot, q, qd)
    assert relative_error(np.einsum("...ij,...j->...i", found.momentum_matrix, qd), found.momentum) < TOLERANCE


def test_linear_momentum_is_mass_times_the_velocity_of_the_centre(robot: dal.Robot, rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, robot.n))
    step = 1e-6
    later, earlier = (dal.centroidal_momentum(robot, q + s * step * qd, qd).centre_of_mass for s in (1, -1))
    mass = sum(s.inertia.mass for s in engine.tree(robot).segments)
    found = dal.centroidal_momentum(robot, q, qd).momentum[:3]
    np.testing.assert_allclose(found, mass * (later - earlier) / (2 * step), rtol=1e-7, atol=1e-7)


def test_its_rate_is_the_wrench_on_the_base(robot: dal.Robot, rng: np.random.Generator) -> None:
    """Newton and Euler for all links together: weight and what the base transmits, about the centre of mass."""
    q, qd, qdd = rng.normal(size=(3, robot.n))
    step = 1e-6
    later, earlier = (dal.centroidal_momentum(robot, q + s * step * qd, qd + s * step * qdd).momentum for s in (1, -1))
    rate = (later - earlier) / (2 * step)
    tree = engine.tree(robot)
    centre = dal.centroidal_momentum(robot, q, qd).centre_of_mass
    force, moment = np.zeros(3), np.zeros(3)
    wrenches = dal.link_wrenches(robot, q, qd, qdd)
    for i, s in enumerate(tree.segments):
        if s.parent < 0:
            joint = next(j for j in robot.structure.joints if j.name == s.name)
            at = (dal.forward_kinematics(robot, q, joint.parent) @ joint.origin)[:3, 3]
            force += wrenches[i, :3]
            moment += wrenches[i, 3:] + np.cross(at - centre, wrenches[i, :3])
    mass = sum(s.inertia.mass for s in tree.segments)
    np.testing.assert_allclose(rate[:3], force + mass * robot.gravity, rtol=1e-6, atol=1e-6)
    if not any(s.spin is not None and s.spin.mount < 0 for s in tree.segments):  # else the base turns a rotor too
        np.testing.assert_allclose(rate[3:], moment, rtol=1e-6, atol=1e-6)


def test_other_coordinates_have_the_same_momentum(rng: np.random.Generator) -> None:
    arm = dal.robots.two_link_planar()
    system = Transferred(engine.tree_system(arm), [Coordinate("a"), Coordinate("b")], lambda u: [u[0], u[1] - u[0]])
    u, ud = rng.normal(size=(2, 2))
    G = np.array([[1.0, 0.0], [-1.0, 1.0]])
    found, expected = dal.centroidal_momentum(system, u, ud), dal.centroidal_momentum(arm, G @ u, G @ ud)
    np.testing.assert_allclose(found.momentum, expected.momentum, atol=TOLERANCE)
    np.testing.assert_allclose(found.momentum_matrix, expected.momentum_matrix @ G, atol=TOLERANCE)


def test_it_is_exported_and_evaluated_by_its_record_alone(rng: np.random.Generator) -> None:
    robot = dal.robots.two_link_planar()
    q, qd = rng.normal(size=(2, 2))
    assert "linear in kg m/s" in dal.export_code(robot, "centroidal_momentum")
    found = dal.evaluate(robot, ["momentum_matrix", "M"], q, qd)
    np.testing.assert_allclose(found["momentum_matrix"], dal.centroidal_momentum(robot, q, qd).momentum_matrix)
