"""Pinocchio agrees on the structure of the equations of motion: Coriolis matrix, regressor, derivatives, joint forces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("pinocchio")

import pinocchio as pin

import dalembert as dal
from dalembert.model import Robot
from tests.cross.pinocchio_model import PinocchioRobot
from tests.robots import fresh, relative_error, robots, seeds, state, without_friction

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-9  # relative; two libraries' rounding over twelve joints stays below 1e-11
NAMES = sorted(dal.robots.CATALOGUE)
AXES = {"world": pin.LOCAL_WORLD_ALIGNED, "body": pin.LOCAL}
TO_THEIR_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # they put Iyy before Ixz


def moving_joints(robot: Robot) -> list:
    return [joint for joint in robot.structure.joints if joint.moves]


def check_coriolis(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, _ = state(robot, rng)
    oracle = PinocchioRobot(robot)
    C = pin.computeCoriolisMatrix(oracle.model, oracle.data, oracle.q(q), oracle.v(qd))
    assert relative_error(dal.coriolis_matrix(robot, q, qd), oracle.K.T @ C @ oracle.K) < TOLERANCE
    assert relative_error(dal.friction_torque(robot, qd), oracle.friction(qd)) < TOLERANCE


def theirs(oracle: PinocchioRobot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    by_q, by_v, _ = pin.computeRNEADerivatives(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd))
    return oracle.K.T @ by_q @ oracle.K, oracle.K.T @ by_v @ oracle.K


def check_inverse_derivatives(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = state(robot, rng)
    robot = without_friction(robot)
    oracle = PinocchioRobot(robot)
    found = dal.derivatives(robot, q, qd, qdd)
    by_q, by_qd = theirs(oracle, q, qd, qdd)
    assert relative_error(found.dtau_dq, by_q) < TOLERANCE
    assert relative_error(found.dtau_dqd, by_qd) < TOLERANCE
    assert relative_error(found.dtau_dqdd, oracle.mass_matrix(q)) < TOLERANCE


def check_forward_derivatives(robot: Robot, rng: np.random.Generator) -> None:
    """Through M ∂q̈ = −∂τ, since Pinocchio's forward dynamics know no couplings."""
    q, qd, qdd = state(robot, rng)
    robot = without_friction(robot)
    oracle = PinocchioRobot(robot)
    found = dal.derivatives(robot, q, qd, tau=dal.inverse_dynamics(robot, q, qd, qdd))
    by_q, by_qd = theirs(oracle, q, qd, qdd)
    M = oracle.mass_matrix(q)
    assert relative_error(M @ found.dqdd_dq, -by_q) < TOLERANCE
    assert relative_error(M @ found.dqdd_dqd, -by_qd) < TOLERANCE
    assert relative_error(M @ found.dqdd_dtau, np.eye(robot.n)) < TOLERANCE


def check_jacobian_rates(robot: Robot, rng: np.random.Generator) -> None:
    q, qd, _ = state(robot, rng)
    oracle = PinocchioRobot(robot)
    model, data = oracle.model, oracle.data
    pin.computeJointJacobiansTimeVariation(model, data, oracle.q(q), oracle.v(qd))
    pin.updateFramePlacements(model, data)
    for name in ("tool", str(rng.choice(robot.link_names))):
        for frame, axes in AXES.items():
            rate = pin.getFrameJacobianTimeVariation(model, data, model.getFrameId(name), axes)
            found = dal.jacobian_dot(robot, q, qd, name, frame=frame)
            assert relative_error(found, rate.reshape(6, -1) @ oracle.K) < TOLERANCE


def check_point_jacobians(robot: Robot, rng: np.random.Generator) -> None:
    q, _, _ = state(robot, rng)
    oracle = PinocchioRobot(robot)
    point = rng.uniform(-1, 1, 3)
    for name in ("tool", str(rng.choice(robot.link_names))):
        joint, X = oracle.places[name]
        place = f"point of {name}"
        oracle.model.addFrame(pin.Frame(place, joint, 0, X * pin.SE3(np.eye(3), point), pin.OP_FRAME))
        oracle.data = oracle.model.createData()
        for frame in AXES:
            found = dal.jacobian(robot, q, name, point=point, frame=frame)
            assert relative_error(found, oracle.jacobian(q, place, frame)) < TOLERANCE


def check_angle_rates(robot: Robot, rng: np.random.Generator) -> None:
    q, _, _ = state(robot, rng)
    oracle = PinocchioRobot(robot)
    angles = pin.rpy.matrixToRpy(oracle.pose(q, "tool")[:3, :3])
    found, J = dal.analytical_jacobian(robot, q), oracle.jacobian(q, "tool", "world")
    assert relative_error(found[:3], J[:3]) < TOLERANCE
    if abs(np.cos(angles[1])) > 1e-3:  # at the singularity there are no rates
        rates = pin.rpy.computeRpyJacobianInverse(angles, pin.LOCAL_WORLD_ALIGNED) @ J[3:]
        assert relative_error(found[3:], rates) < TOLERANCE


def check_joint_forces(robot: Robot, rng: np.random.Generator) -> None:
    """Theirs stand at the joint's moving frame, ours where the joint is on its parent."""
    q, qd, qdd = state(robot, rng)
    oracle = PinocchioRobot(robot)
    wrenches = {"tool": rng.uniform(-20, 20, 6)}
    oracle.inverse_dynamics(q, qd, qdd, wrenches)
    forces, poses = oracle.data.f.tolist(), oracle.data.oMi.tolist()
    found = dal.link_wrenches(robot, q, qd, qdd, wrenches=wrenches)
    for joint, wrench in zip(moving_joints(robot), found, strict=True):
        i = oracle.model.getJointId(joint.name)
        place = dal.forward_kinematics(robot, q, joint.parent) @ joint.origin
        at = poses[i].translation - place[:3, 3]
        f, n = poses[i].rotation @ forces[i].linear, poses[i].rotation @ forces[i].angular
        assert relative_error(wrench, np.concatenate([f, n + np.cross(at, f)])) < TOLERANCE


def pseudo_inertia(phi: np.ndarray) -> np.ndarray:
    """∫ r̃ r̃ᵀ dm, r̃ = (r, 1), from our ten parameters of a body."""
    m, *h, xx, xy, xz, yy, yz, zz = phi
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    second = np.trace(I) / 2 * np.eye(3) - I
    return np.block([[second, np.array(h)[:, None]], [np.array([h]), np.array([[m]])]])


def ten_parameters(pseudo: np.ndarray) -> np.ndarray:
    I = np.trace(pseudo[:3, :3]) * np.eye(3) - pseudo[:3, :3]
    return np.array([pseudo[3, 3], *pseudo[:3, 3], I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]])


def moved(X: np.ndarray) -> np.ndarray:
    """The matrix that takes a body's ten parameters from a frame to the one it has pose X in."""
    return np.column_stack([ten_parameters(X @ pseudo_inertia(unit) @ X.T) for unit in np.eye(10)])


def check_regressor(robot: Robot, rng: np.random.Generator) -> None:
    """Theirs is about the joint's frame, ours about the link's."""
    q, qd, qdd = state(robot, rng)
    oracle = PinocchioRobot(robot)
    Y = pin.computeJointTorqueRegressor(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), oracle.v(qdd))
    Y = (oracle.K.T @ Y.reshape(oracle.model.nv, -1)).reshape(robot.n, -1, 10)[:, :, TO_THEIR_ORDER]
    blocks, phi = [], []
    for joint in moving_joints(robot):
        i = oracle.model.getJointId(joint.name)
        blocks.append(Y[:, i - 1] @ moved(joint.child_origin))
        inertia = oracle.model.inertias[i].toDynamicParameters()[TO_THEIR_ORDER]
        phi.append(moved(np.linalg.inv(joint.child_origin)) @ inertia)
    assert relative_error(dal.regressor(robot, q, qd, qdd, rotor=False, friction=False), np.hstack(blocks)) < TOLERANCE
    if not any(rotor.model == "full" for rotor in robot.parameters.rotors.values()):  # there, rotors are bodies of their own
        assert relative_error(dal.parameters(robot, rotor=False, friction=False), np.concatenate(phi)) < TOLERANCE


CHECKS: dict[str, Callable[[Robot, np.random.Generator], None]] = {
    "Coriolis matrix": check_coriolis,
    "inverse derivatives": check_inverse_derivatives,
    "forward derivatives": check_forward_derivatives,
    "Jacobian rates": check_jacobian_rates,
    "Jacobians of points": check_point_jacobians,
    "rates of angles": check_angle_rates,
    "joint forces": check_joint_forces,
    "regressor": check_regressor,
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_agrees_on_the_catalogue(name: str, check: str, rng: np.random.Generator) -> None:
    CHECKS[check](fresh(name), rng)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@given(robot=robots(max_n=7, full_rotors=False, mimic=False), seed=seeds)
@settings(max_examples=15)
def test_pinocchio_agrees_on_random_robots(check: str, robot: Robot, seed: int) -> None:
    CHECKS[check](robot, np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@given(robot=robots(max_n=6, full_rotors=True, mimic=True, friction=True), seed=seeds)
@settings(max_examples=10)
def test_full_rotors_and_couplings_equal_extra_joints_of_pinocchio(check: str, robot: Robot, seed: int) -> None:
    CHECKS[check](robot, np.random.default_rng(seed))


@pytest.mark.parametrize("name", NAMES)
def test_articulated_body_derivatives_of_pinocchio_agree_on_the_catalogue(name: str, rng: np.random.Generator) -> None:
    robot = without_friction(fresh(name))
    if any(rotor.model == "full" for rotor in robot.parameters.rotors.values()):
        robot = robot.replace(parameters=robot.parameters.replace(rotors={}))
    q, qd, tau = state(robot, rng)
    oracle = PinocchioRobot(robot)
    theirs = pin.computeABADerivatives(oracle.model, oracle.data, oracle.q(q), oracle.v(qd), tau)
    for found, expected in zip(dal.derivatives(robot, q, qd, tau=tau), theirs, strict=True):
        assert relative_error(found, expected.reshape(robot.n, robot.n)) < TOLERANCE


def test_pinocchio_agrees_on_a_chain_too_long_for_straight_line_code(rng: np.random.Generator) -> None:
    robot = dal.robots.chain(24)
    for check in ("Coriolis matrix", "inverse derivatives", "Jacobian rates", "joint forces"):
        CHECKS[check](robot, rng)
