"""Closed loops through the Python bindings of other libraries, as their users call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.mechanism import Mechanism

from . import descriptions
from .mechanism_descriptions import mechanism_mjcf, meetings, proximal
from .mechanism_subjects import driven

Functions = dict[str, Callable[..., np.ndarray]]


def pinocchio_loops(mechanism: Mechanism) -> Functions:
    """Pinocchio's functions of positions, rates, accelerations (read at the driven joints), torques and a start."""
    import pinocchio as pin

    model, constraints = pinocchio_closures(mechanism)
    data, found = model.createData(), [constraint.createData() for constraint in constraints]
    pin.initConstraintDynamics(model, data, constraints, found)
    mu, turns = proximal(mechanism)
    settings = pin.ProximalSettings(1e-14, mu, turns)
    recipe = Recipe(mechanism, model, constraints)

    def forward_dynamics(x: Any, xd: Any, tau: Any) -> np.ndarray:
        return pin.constraintDynamics(model, data, x, xd, tau, constraints, found, settings)  # type: ignore[no-any-return]

    return {
        "forward_dynamics": forward_dynamics,
        "inverse_dynamics": recipe.inverse_dynamics,
        "closed_inverse_dynamics": lambda x, xd, xdd, start: recipe.inverse_dynamics(recipe.closed(x, start), xd, xdd),
    }


def pinocchio_closures(mechanism: Mechanism) -> tuple[Any, list[Any]]:
    """The tree as a Pinocchio model, and its closures at points."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity = pin.Motion(np.array(mechanism.tree.gravity), np.zeros(3))
    for s in mechanism.tree.segments:
        joint = pin.JointModelRZ() if s.turn else pin.JointModelPZ()
        index = model.addJoint(s.parent + 1, joint, pin.SE3(descriptions.rotation(s.R, s.offset), np.array(s.p)), s.name)
        model.appendBodyToJoint(index, pin.Inertia(*descriptions.mass_of(s.inertia)), pin.SE3.Identity())
    constraints = [
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            model,
            *(item for segment, p in (meeting.a, meeting.b) for item in (segment + 1, pin.SE3(np.eye(3), p))),
            pin.LOCAL_WORLD_ALIGNED,
        )
        for meeting in meetings(mechanism)
    ]
    return model, constraints


class Recipe:
    """Inverse dynamics in the driven joints, as `loops/pinocchio_mechanism_loop.cpp` has it, by NumPy."""

    def __init__(self, mechanism: Mechanism, model: Any, constraints: list[Any]) -> None:
        self.model, self.data = model, model.createData()
        self.rows = [meeting.rows for meeting in meetings(mechanism)]
        self.ends = [((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement)) for c in constraints]
        self.driven = list(driven(mechanism))
        self.others = [k for k in range(model.nv) if k not in self.driven]

    def inverse_dynamics(self, x: Any, xd: Any, xdd: Any) -> np.ndarray:
        """The torques of the driven joints."""
        import pinocchio as pin

        J = self._jacobian(x)
        v = self._completed(J, xd, 0.0)
        pin.forwardKinematics(self.model, self.data, x, v, np.zeros(len(x)))
        bias = self._differences(
            lambda joint, X: pin.getFrameClassicalAcceleration(self.model, self.data, joint, X, pin.LOCAL_WORLD_ALIGNED).linear
        )
        tau = pin.rnea(self.model, self.data, x, v, self._completed(J, xdd, bias))
        multipliers = np.linalg.solve(J[:, self.others].T, tau[self.others])
        return np.asarray(tau[self.driven] - J[:, self.driven].T @ multipliers)

    def closed(self, x: Any, start: Any) -> np.ndarray:
        """Positions from a start by Newton's method."""
        import pinocchio as pin

        found = np.array(start)
        found[self.driven] = x[self.driven]
        for _ in range(40):
            J = self._jacobian(found)
            gap = self._differences(lambda joint, X: (self.data.oMi[joint] * X).translation)
            step = np.linalg.solve(J[:, self.others], gap)
            found[self.others] -= step
            if np.abs(step).max() < 1e-8:
                break
        pin.forwardKinematics(self.model, self.data, found)
        return found

    def _jacobian(self, x: Any) -> np.ndarray:
        import pinocchio as pin

        pin.computeJointJacobians(self.model, self.data, x)
        return self._differences(
            lambda joint, X: pin.getFrameJacobian(self.model, self.data, joint, X, pin.LOCAL_WORLD_ALIGNED)[:3]
        )

    def _differences(self, value: Callable[[int, Any], Any]) -> np.ndarray:
        return np.concatenate([(value(*b) - value(*a))[:rows] for rows, (a, b) in zip(self.rows, self.ends, strict=True)])

    def _completed(self, J: Any, given: Any, bias: Any) -> np.ndarray:
        """Rates or accelerations of all joints from those of the driven ones."""
        found = np.array(given)
        found[self.others] = np.linalg.solve(J[:, self.others], -J[:, self.driven] @ found[self.driven] - bias)
        return found


def mujoco_loops(mechanism: Mechanism) -> Functions:
    """MuJoCo's forward dynamics; inverse dynamics of closed loops it has not."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(mechanism_mjcf(mechanism))
    data = mj.MjData(model)

    def forward_dynamics(x: Any, xd: Any, tau: Any) -> np.ndarray:
        data.qpos, data.qvel, data.qfrc_applied = x, xd, tau
        mj.mj_forward(model, data)
        return np.array(data.qacc)

    return {"forward_dynamics": forward_dynamics}
