"""MuJoCo agrees: a second engine with its own recursions, on robots it can describe."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pytest.importorskip("mujoco")

import mujoco

import dalembert as dal
from dalembert.model import Body, Friction, Joint, Robot
from tests.robots import EVERYTHING, fresh, random_robot, relative_error, state

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-9  # relative; MuJoCo diagonalises each inertia tensor to 1e-12
DESCRIBABLE = replace(EVERYTHING, full_rotors=False, mimic=False, friction=False)


def numbers(values: np.ndarray) -> str:
    return '"' + " ".join(repr(float(v)) for v in np.ravel(values)) + '"'


def placed(X: np.ndarray) -> str:
    """A pose as attributes; `as_quat` puts the scalar last, MuJoCo first."""
    return f"pos={numbers(X[:3, 3])} quat={numbers(np.roll(Rotation.from_matrix(X[:3, :3]).as_quat(), 1))}"


def merged(parts: list[tuple[np.ndarray, Body]]) -> str:
    """All bodies of a link as one inertial element."""
    mass = sum(body.mass for _, body in parts)
    centres = [X[:3, :3] @ body.com + X[:3, 3] for X, body in parts]
    com = sum(body.mass * c for c, (_, body) in zip(centres, parts, strict=True)) / mass
    I = np.zeros((3, 3))
    for c, (X, body) in zip(centres, parts, strict=True):
        r = c - com
        I += X[:3, :3] @ body.inertia @ X[:3, :3].T + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
    six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return f'<inertial pos={numbers(com)} mass="{mass!r}" fullinertia={numbers(np.array(six))}/>'


class Writer:
    """A robot as MJCF: a MuJoCo body stands where our joint frame is, so `child_origin` moves into what it carries."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.children: dict[str, list[Joint]] = defaultdict(list)
        for joint in robot.structure.joints:
            self.children[joint.parent].append(joint)

    def text(self) -> str:
        inner = self.carried(self.robot.structure.root, np.eye(4))
        flags = '<flag contact="disable" limit="disable" equality="disable"/>'
        option = f"<option gravity={numbers(self.robot.gravity)}>{flags}</option>"
        compiler = '<compiler angle="radian" inertiafromgeom="false"/>'
        return f"<mujoco>{compiler}{option}<worldbody>{inner}</worldbody></mujoco>"

    def carried(self, link: str, X: np.ndarray) -> str:
        """The joints on a link whose frame is X in the MuJoCo body."""
        return "".join(self.body(joint, X @ joint.origin) for joint in self.children[link])

    def body(self, joint: Joint, X: np.ndarray) -> str:
        link = self.robot.link(joint.child)
        parts = [(joint.child_origin, body) for body in (link, *link.bodies)]
        payload, tool = self.robot.parameters.payload, self.robot.tool
        if payload is not None and tool.link == link.name:
            parts.append((joint.child_origin @ tool.pose, payload))
        inertial = merged(parts) if any(body.mass for _, body in parts) else ""
        inner = inertial + self.carried(link.name, joint.child_origin)
        return f"<body name={quoteattr(link.name)} {placed(X)}>{self.joint(joint) if joint.moves else ''}{inner}</body>"

    def joint(self, joint: Joint) -> str:
        rotor = self.robot.parameters.rotors.get(joint.name)
        friction = self.robot.parameters.friction.get(joint.name, Friction())
        armature = rotor.ratio**2 * rotor.inertia if rotor else 0.0
        kind = "hinge" if joint.turns else "slide"
        axis = numbers(joint.axis)
        return f'<joint type="{kind}" axis={axis} armature="{armature!r}" damping="{friction.viscous!r}"/>'


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
