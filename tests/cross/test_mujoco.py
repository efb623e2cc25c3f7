"""MuJoCo agrees: a second engine with its own recursions, on robots it can describe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco

import dalembert as dal
from dalembert.model import Friction, Robot
from tests.cross.mujoco_model import Writer
from tests.robots import EVERYTHING, fresh, random_robot, relative_error, state

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-9  # relative; MuJoCo diagonalises each inertia tensor to 1e-12
DESCRIBABLE = replace(EVERYTHING, full_rotors=False, mimic=False, friction=False)


class MujocoRobot:
    """The oracle."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.model = mujoco.MjModel.from_xml_string(Writer(robot).text())
        self.data = mujoco.MjData(self.model)
        self.home = np.array([joint.home for joint in robot.structure.coordinates])

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        self.data.qpos[:], self.data.qvel[:], self.data.qacc[:] = q + self.home, qd, qdd
        mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse.copy()

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, link: str, wrench: np.ndarray) -> np.ndarray:
        """`wrench` acts at the link's centre of mass here, in world axes."""
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = q + self.home, qd, tau
        self.data.xfrc_applied[mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link)] = wrench
        mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()

    def centre(self, link: str) -> np.ndarray:
        return self.data.xipos[mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, link)].copy()

    def mass_matrix(self) -> np.ndarray:
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M


def viscous_only(robot: Robot) -> Robot:
    """MuJoCo treats dry friction as a constraint, so only the viscous part can be compared."""
    friction = {name: Friction(law.viscous) for name, law in robot.parameters.friction.items()}
    return robot.replace(parameters=robot.parameters.replace(friction=friction))


def check(robot: Robot, rng: np.random.Generator) -> None:
    oracle = MujocoRobot(robot)
    assert oracle.model.nv == robot.n
    q, qd, qdd = state(robot, rng)
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd), oracle.inverse_dynamics(q, qd, qdd)) < TOLERANCE
    moving = [joint.child for joint in robot.structure.joints]
    link, wrench = str(rng.choice(moving)), rng.uniform(-20, 20, 6)
    tau = rng.uniform(-20, 20, robot.n)
    accelerations = oracle.forward_dynamics(q, qd, tau, link, wrench)
    arm = oracle.centre(link) - dal.forward_kinematics(robot, q, link)[:3, 3]
    ours = {link: [*wrench[:3], *(wrench[3:] + np.cross(arm, wrench[:3]))]}
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau, wrenches=ours), accelerations) < TOLERANCE * 10  # κ(M) adds


@pytest.mark.parametrize("name", ["panda", "ur10", "ur5"])
def test_mujoco_agrees_on_arms_of_the_catalogue(name: str, rng: np.random.Generator) -> None:
    check(viscous_only(fresh(name)), rng)


@pytest.mark.parametrize("seed", range(8))
def test_mujoco_agrees_on_random_robots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, None, DESCRIBABLE)
    damping = {j.name: Friction(rng.uniform(0.1, 1)) for j in robot.structure.joints if j.moves}
    check(robot.replace(parameters=robot.parameters.replace(friction=damping)), rng)


def test_mujoco_s_mass_matrix_is_ours(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 8, DESCRIBABLE)
    oracle = MujocoRobot(robot)
    q, qd, qdd = state(robot, rng)
    oracle.inverse_dynamics(q, qd, qdd)
    assert relative_error(dal.mass_matrix(robot, q), oracle.mass_matrix()) < TOLERANCE
