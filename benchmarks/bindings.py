"""Other libraries through their Python bindings: functions of one state, called as their users call them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import util
from typing import Any

import numpy as np

from dalembert.dynamics import engine
from dalembert.model import Robot

from . import descriptions

Functions = dict[str, Callable[..., np.ndarray]]


def has(package: str) -> bool:
    """Whether a package is installed."""
    return util.find_spec(package) is not None


def pinocchio(robot: Robot) -> Functions:
    """Pinocchio's functions for a robot."""
    import pinocchio as pin

    model = pinocchio_model(robot)
    data = model.createData()
    tool = model.getFrameId("tool")
    return {
        "inverse_dynamics": lambda q, qd, qdd: pin.rnea(model, data, q, qd, qdd),
        "forward_dynamics": lambda q, qd, tau: pin.aba(model, data, q, qd, tau),
        "mass_matrix": lambda q: pin.crba(model, data, q),
        "gravity_torque": lambda q: pin.computeGeneralizedGravity(model, data, q),
        "jacobian": lambda q: pin.computeFrameJacobian(model, data, q, tool, pin.LOCAL_WORLD_ALIGNED),
        "coriolis_matrix": lambda q, qd: pin.computeCoriolisMatrix(model, data, q, qd),
        "regressor": lambda q, qd, qdd: pin.computeJointTorqueRegressor(model, data, q, qd, qdd),
        "inverse_derivatives": lambda q, qd, qdd: pin.computeRNEADerivatives(model, data, q, qd, qdd),
        "forward_derivatives": lambda q, qd, tau: pin.computeABADerivatives(model, data, q, qd, tau),
    }


def pinocchio_model(robot: Robot) -> Any:
    """A robot as a Pinocchio model."""
    import pinocchio as pin

    tree, model = engine.tree(robot), pin.Model()
    model.gravity = pin.Motion(np.array(tree.gravity), np.zeros(3))
    for s in tree.segments:
        joint = pin.JointModelRZ() if s.turn else pin.JointModelPZ()
        pose = pin.SE3(descriptions.rotation(s.R, s.offset), np.array(s.p))
        index = model.addJoint(s.parent + 1, joint, pose, s.name)
        model.appendBodyToJoint(index, pin.Inertia(*descriptions.mass_of(s.inertia)), pin.SE3.Identity())
    place = tree.tool
    assert place is not None
    pose = pin.SE3(descriptions.rotation(place.R), np.array(place.p))
    model.addFrame(pin.Frame("tool", place.segment + 1, 0, pose, pin.OP_FRAME))
    return model


def mujoco(robot: Robot) -> Functions:
    """MuJoCo's functions for a robot; it has inverse and forward dynamics in one call, the rest only in several."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(descriptions.as_mjcf(robot))
    data = mj.MjData(model)

    def inverse_dynamics(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mj.mj_inverse(model, data)
        return np.array(data.qfrc_inverse)

    def forward_dynamics(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        data.qpos, data.qvel, data.qfrc_applied = q, qd, tau
        mj.mj_forward(model, data)
        return np.array(data.qacc)

    return {"inverse_dynamics": inverse_dynamics, "forward_dynamics": forward_dynamics}
