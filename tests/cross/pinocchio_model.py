"""One of our robots as a Pinocchio model, with Pinocchio's answers expressed in our coordinates.

Pinocchio knows neither couplings nor spinning rotors, so both become joints of their own there: a full rotor is a symmetric
top on a revolute joint on its mount. Our coordinates drive all its joints, v = K q̇ with a constant K, and therefore

    τ = Kᵀ τ_pin,   M = Kᵀ M_pin K,   J = J_pin K.

Friction is added by cases (`tests.robots.friction_of`), since Pinocchio's dynamics have none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from dalembert.model import Body, Joint, Robot
from tests.robots import friction_of


class PinocchioRobot:
    """The oracle; with `free_base`, the base link floats and its motion is prescribed."""

    def __init__(self, robot: Robot, *, free_base: bool = False) -> None:
        self.robot = robot
        self.free_base = free_base
        self.model = pin.Model()
        self.model.gravity = pin.Motion(robot.gravity, np.zeros(3))
        self.coupling: list[tuple[int, float, float, float]] = []  # (coordinate, factor, shift, home) of each joint
        root = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base") if free_base else 0
        self.places: dict[str, tuple[int, pin.SE3]] = {robot.structure.root: (root, pin.SE3.Identity())}
        self._place_links(root)
        self._add_bodies()
        self.data = self.model.createData()
        self.offset = 6 if free_base else 0
        self.K = np.zeros((self.model.nv, robot.n))
        for row, (coordinate, factor, _, _) in enumerate(self.coupling, start=self.offset):
            self.K[row, coordinate] = factor

    def _place_links(self, root: int) -> None:
        """Joints are numbered depth first, as Pinocchio needs them: rotors directly after the joint that carries their mount."""
        rigid = _rigid_groups(self.robot)
        self._add_group(rigid[self.robot.structure.root], root, pin.SE3.Identity())
        for joint in self.robot.structure.joints:
            if joint.moves:
                parent, X = self.places[joint.parent]
                model = (pin.JointModelRevoluteUnaligned if joint.turns else pin.JointModelPrismaticUnaligned)(joint.axis)
                index = self.model.addJoint(parent, model, X * pin.SE3(joint.origin), joint.name)
                self.coupling.append((*self._coupling(joint), joint.home))
                self._add_armature(joint, index)
                self._add_group(rigid[joint.child], index, pin.SE3(joint.child_origin))

    def _add_group(self, links: Mapping[str, np.ndarray], joint: int, X: pin.SE3) -> None:
        """Links fixed to each other, their frames and the rotors mounted on them."""
        for name, pose in links.items():
            self.places[name] = (joint, X * pin.SE3(pose))
            self.model.addFrame(pin.Frame(name, joint, 0, self.places[name][1], pin.OP_FRAME))
        for driven, rotor in self.robot.parameters.rotors.items():
            mount = rotor.mount or self.robot.structure.joint(driven).parent
            if rotor.model == "full" and mount in links:
                self._add_rotor(driven, rotor, *self.places[mount])

    def _add_rotor(self, driven: str, rotor: object, joint: int, X: pin.SE3) -> None:
        place = X * pin.SE3(np.eye(3), rotor.position)
        index = self.model.addJoint(joint, pin.JointModelRevoluteUnaligned(rotor.axis), place, f"rotor of {driven}")
        along = np.outer(rotor.axis, rotor.axis)
        I = rotor.inertia * along + rotor.transverse_inertia * (np.eye(3) - along)
        self.model.appendBodyToJoint(index, pin.Inertia(rotor.mass, np.zeros(3), I), pin.SE3.Identity())
        coordinate, factor, shift = self._coupling(self.robot.structure.joint(driven))
        self.coupling.append((coordinate, factor * rotor.ratio, shift * rotor.ratio, 0.0))

    def _coupling(self, joint: Joint) -> tuple[int, float, float]:
        if joint.mimic is None:
            return self.robot.joint_names.index(joint.name), 1.0, 0.0
        return self.robot.joint_names.index(joint.mimic.joint), joint.mimic.multiplier, joint.mimic.offset

    def _add_armature(self, joint: Joint, index: int) -> None:
        rotor = self.robot.parameters.rotors.get(joint.name)
        armature = self.model.armature.copy()
        armature[self.model.joints[index].idx_v] = rotor.ratio**2 * rotor.inertia if rotor and rotor.model == "reflected" else 0.0
        self.model.armature = armature

    def _add_bodies(self) -> None:
        for link in self.robot.parameters.links:
            for body in (link, *link.bodies):
                self._add_body(body, *self.places[link.name])
        tool, payload = self.robot.tool, self.robot.parameters.payload
        if tool is not None:
            joint, X = self.places[tool.link]
            self.places["tool"] = (joint, X * pin.SE3(tool.pose))
            self.model.addFrame(pin.Frame("tool", joint, 0, self.places["tool"][1], pin.OP_FRAME))
            if payload is not None:
                self._add_body(payload, *self.places["tool"])

    def _add_body(self, body: Body, joint: int, X: pin.SE3) -> None:
        if joint > 0 and not body.is_massless:
            self.model.appendBodyToJoint(joint, pin.Inertia(body.mass, body.com, body.inertia), X)

    def q(self, q: np.ndarray) -> np.ndarray:
        values = [factor * q[c] + shift + home for c, factor, shift, home in self.coupling]
        return np.concatenate([pin.neutral(self.model)[:7] if self.free_base else [], values])

    def v(self, qd: np.ndarray, base: np.ndarray | None = None) -> np.ndarray:
        v = self.K @ qd
        if base is not None:
            v[:6] = base
        return v

    def friction(self, qd: np.ndarray) -> np.ndarray:
        tau = np.zeros(self.robot.n)
        for joint in self.robot.structure.joints:
            if joint.moves:
                coordinate, factor, _ = self._coupling(joint)
                tau[coordinate] += factor * friction_of(self.robot.parameters.friction.get(joint.name), factor * qd[coordinate])
        return tau

    def inverse_dynamics(self, q, qd, qdd, wrenches=None, base_velocity=None, base_acceleration=None) -> np.ndarray:
        """τ without friction."""
        v = self.v(qd, base_velocity)
        a = self.v(qdd)
        if self.free_base:
            linear, angular = base_acceleration[:3], base_acceleration[3:]
            a[:6] = [*(linear - np.cross(base_velocity[3:], base_velocity[:3])), *angular]  # spatial, from that of the origin
        external = self.external(q, wrenches or {})
        return self.K.T @ self._without_base(pin.rnea(self.model, self.data, self.q(q), v, a, external))

    def _without_base(self, tau: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(self.offset), tau[self.offset :]])

    def external(self, q: np.ndarray, wrenches: Mapping[str, np.ndarray]) -> pin.StdVec_Force:
        """Wrenches at frame origins in world axes, as Pinocchio wants them: in joint frames."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        for name, wrench in wrenches.items():
            joint, X = self.places[name]
            R = self.data.oMf[self.model.getFrameId(name)].rotation
            forces[joint] += X.act(pin.Force(R.T @ wrench[:3], R.T @ wrench[3:]))
        result = pin.StdVec_Force()
        result.extend(forces)
        return result

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = pin.crba(self.model, self.data, self.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        return self.K.T @ M @ self.K

    def pose(self, q: np.ndarray, name: str) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return self.data.oMf[self.model.getFrameId(name)].homogeneous.copy()

    def jacobian(self, q: np.ndarray, name: str, frame: str) -> np.ndarray:
        axes = {"world": pin.LOCAL_WORLD_ALIGNED, "body": pin.LOCAL}[frame]
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), self.model.getFrameId(name), axes)
        return J.reshape(6, -1) @ self.K  # a single column comes back flat

    def momentum_matrix(self, q: np.ndarray) -> np.ndarray:
        """Of the momentum about the centre of mass."""
        return pin.computeCentroidalMap(self.model, self.data, self.q(q)).reshape(6, -1) @ self.K

    def kinetic_energy(self, q: np.ndarray, qd: np.ndarray) -> float:
        """Pinocchio's of the bodies, plus that of the armatures, which Pinocchio 4.1 counts for some joint types only."""
        v = self.v(qd)
        bodies = self.model.copy()
        bodies.armature = np.zeros(bodies.nv)
        return pin.computeKineticEnergy(bodies, self.data, self.q(q), v) + v @ (self.model.armature * v) / 2

    def potential_energy(self, q: np.ndarray) -> float:
        return pin.computePotentialEnergy(self.model, self.data, self.q(q))


def _rigid_groups(robot: Robot) -> dict[str, dict[str, np.ndarray]]:
    """For the root and each moving joint's child: the links fixed to it, with their poses in its frame."""
    groups = {robot.structure.root: {robot.structure.root: np.eye(4)}}
    group_of = {robot.structure.root: robot.structure.root}
    for joint in robot.structure.joints:
        if joint.moves:
            groups[joint.child] = {joint.child: np.eye(4)}
            group_of[joint.child] = joint.child
        else:
            first = group_of[joint.child] = group_of[joint.parent]
            groups[first][joint.child] = groups[first][joint.parent] @ joint.origin @ joint.child_origin
    return groups
