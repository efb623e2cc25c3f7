"""Pinocchio agrees: every dynamic and kinematic function, on the catalogue and on random robots with every feature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("pinocchio")

import dalembert as dal
from dalembert.model import Robot
from tests.cross.pinocchio_model import PinocchioRobot
from tests.robots import FRICTIONLESS, fresh, random_robot, relative_error, robots, seeds, state, without_friction

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-9  # relative; two libraries' rounding over twelve joints stays below 1e-11
NAMES = sorted(dal.robots.CATALOGUE)


def check_dynamics(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = state(robot, rng)
    oracle = PinocchioRobot(robot)
    friction = oracle.friction(qd)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    still = np.zeros(robot.n)
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd), tau + friction) < TOLERANCE
    assert relative_error(dal.bias(robot, q, qd), oracle.inverse_dynamics(q, qd, still)) < TOLERANCE
    assert relative_error(dal.gravity_torque(robot, q), oracle.inverse_dynamics(q, still, still)) < TOLERANCE
    assert relative_error(dal.mass_matrix(robot, q), oracle.mass_matrix(q)) < TOLERANCE
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau + friction), qdd) < TOLERANCE


def check_energy(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, _ = state(robot, rng)
    elsewhere, _, _ = state(robot, rng)
    oracle = PinocchioRobot(robot)
    energy = dal.energy(robot, q, qd)
    assert relative_error(energy.kinetic, oracle.kinetic_energy(q, qd)) < TOLERANCE
    # Where the zero of potential energy lies is a convention (a rotor on the base counts there, not here).
    ours = energy.potential - dal.energy(robot, elsewhere, qd).potential
    assert relative_error(ours, oracle.potential_energy(q) - oracle.potential_energy(elsewhere)) < TOLERANCE


def check_kinematics(robot: Robot, rng: np.random.Generator) -> None:
    q, _, _ = state(robot, rng)
    oracle = PinocchioRobot(robot)
    for name in robot.link_names:
        assert relative_error(dal.forward_kinematics(robot, q, name), oracle.pose(q, name)) < TOLERANCE
    assert relative_error(dal.forward_kinematics(robot, q), oracle.pose(q, "tool")) < TOLERANCE
    for name in ("tool", str(rng.choice(robot.link_names))):
        for frame in ("world", "body"):
            assert relative_error(dal.jacobian(robot, q, name, frame=frame), oracle.jacobian(q, name, frame)) < TOLERANCE


def check_momentum(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, _ = state(robot, rng)
    found = dal.centroidal_momentum(robot, q, qd)
    expected = PinocchioRobot(robot).momentum_matrix(q)
    assert relative_error(found.momentum_matrix, expected) < TOLERANCE
    assert relative_error(found.momentum, expected @ qd) < TOLERANCE


def check_surroundings(robot: Robot, rng: np.random.Generator) -> None:
    """Wrenches on any links and on the tool, and a base that moves in every way."""
    q, qd, qdd = state(robot, rng)
    oracle = PinocchioRobot(robot, free_base=True)
    chosen = {"tool", *rng.choice(robot.link_names, min(2, len(robot.link_names)), replace=False)}
    wrenches = {str(name): rng.uniform(-20, 20, 6) for name in chosen}
    velocity, acceleration = rng.uniform(-2, 2, (2, 6))
    options = {"wrenches": wrenches, "base_velocity": velocity, "base_acceleration": acceleration}
    tau = oracle.inverse_dynamics(q, qd, qdd, wrenches, velocity, acceleration)
    friction = oracle.friction(qd)
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd, **options), tau + friction) < TOLERANCE
    h = oracle.inverse_dynamics(q, qd, np.zeros(robot.n), wrenches, velocity, acceleration)
    assert relative_error(dal.bias(robot, q, qd, **options), h) < TOLERANCE
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau + friction, **options), qdd) < TOLERANCE


CHECKS = {"dynamics": check_dynamics, "energy": check_energy, "kinematics": check_kinematics, "surroundings": check_surroundings}


@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_agrees_on_the_catalogue(name: str, rng: np.random.Generator) -> None:
    robot = fresh(name)
    for check in CHECKS.values():
        check(robot, rng)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@given(robot=robots(full_rotors=False, mimic=False), seed=seeds)
@settings(max_examples=30)
def test_pinocchio_agrees_on_random_robots(check: str, robot: Robot, seed: int) -> None:
    CHECKS[check](robot, np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@given(robot=robots(full_rotors=True, mimic=True, friction=True), seed=seeds)
@settings(max_examples=15)
def test_full_rotors_and_couplings_equal_extra_joints_of_pinocchio(check: str, robot: Robot, seed: int) -> None:
    CHECKS[check](robot, np.random.default_rng(seed))


@pytest.mark.parametrize("name", ["panda", "ur5", "stanford", "two_link_cartesian"])
def test_pinocchio_has_the_same_momentum_about_the_centre_of_mass(name: str, rng: np.random.Generator) -> None:
    """Without rotors: one on the base has mass there, and none here, where the base does not count."""
    robot = fresh(name)
    check_momentum(robot.replace(parameters=robot.parameters.replace(rotors={})), rng)


@pytest.mark.slow
@given(robot=robots(full_rotors=False, mimic=False), seed=seeds)
@settings(max_examples=20)
def test_pinocchio_has_the_same_momentum_of_random_robots(robot: Robot, seed: int) -> None:
    check_momentum(robot, np.random.default_rng(seed))


@pytest.mark.parametrize("n", [9, 10, 12])
def test_articulated_bodies_agree_with_pinocchio_s(n: int, rng: np.random.Generator) -> None:
    """From nine plain joints on, forward dynamics takes another algorithm."""
    import pinocchio as pin

    robot = without_friction(dal.robots.chain(n))
    oracle = PinocchioRobot(robot)
    q, qd, tau = state(robot, rng)
    qdd = pin.aba(oracle.model, oracle.data, q, qd, tau)
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau), qdd) < TOLERANCE


def test_an_accelerating_base_equals_another_gravity(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 6, FRICTIONLESS)
    q, qd, qdd = state(robot, rng)
    push = rng.uniform(-5, 5, 3)
    tau = dal.inverse_dynamics(robot, q, qd, qdd, base_acceleration=[*push, 0, 0, 0])
    assert relative_error(tau, PinocchioRobot(robot.with_gravity(robot.gravity - push)).inverse_dynamics(q, qd, qdd)) < TOLERANCE
