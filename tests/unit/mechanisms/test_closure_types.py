"""A free body that a closure holds to the ground moves as on a joint of the same kind in a tree; the catalogue uses the rest."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import dalembert as dal
from dalembert.model.closures import TYPES
from dalembert.model.position_functions import JointSum

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "yaw": (0, 0, 1), "pitch": (0, 1, 0), "roll": (1, 0, 0)}
ORDER = ("x", "y", "z", "yaw", "pitch", "roll")  # of a free body's joints
PITCH = 0.3
LINEAR = tuple((JointSum({name: 1.0}), 0.0) for name in ("x", "y", "pitch", "roll"))
CASES = {  # the freedoms that are left, and what the closure needs beside its type
    "revolute": (("yaw",), {}),
    "prismatic": (("z",), {}),
    "cylindrical": (("z", "yaw"), {}),
    "planar": (("x", "y", "yaw"), {}),
    "spherical": (("yaw", "pitch", "roll"), {}),
    "universal": (("yaw", "roll"), {"axis": ((0, 0, 1), (1, 0, 0))}),
    "screw": (("yaw",), {"pitch": PITCH}),
    "directions": (("y", "yaw"), {"directions": ("x", "z", "rx", "ry")}),
    "function": (("yaw",), {"functions": (*LINEAR, (JointSum({"z": 1.0, "yaw": -PITCH / (2 * pi)}), 0.0))}),
}
BODY = {"mass": 2.0, "com": (0.1, -0.2, 0.3), "inertia": [[0.3, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.2]]}
GRAVITY = (1.0, -2.0, -9.0)

pytestmark = pytest.mark.usefixtures("interpreted")


def held(kind: str) -> dal.Mechanism:
    """The free body with a closure of this type between it and the world."""
    freedoms, options = CASES[kind]
    between = None if kind == "function" else ("world", "body")
    closure = dal.Closure("hold", kind, between, **options)
    return dal.Mechanism(kind, dal.free_body(**BODY).with_gravity(GRAVITY), [closure], freedoms)


def jointed(kind: str) -> dal.Robot:
    """The same body on joints of a tree; a thread is a slide that follows the turn."""
    freedoms, _ = CASES[kind]
    steps = [(name, None) for name in ORDER if name in freedoms]
    if kind in ("screw", "function"):
        steps.append(("z", dal.Mimic("yaw", PITCH / (2 * pi))))
    names = ["ground", *(f"step{k}" for k in range(1, len(steps))), "body"]
    joints = [
        dal.Joint(name, "prismatic" if name in "xyz" else "continuous", *names[k : k + 2], axis=np.array(AXES[name]), mimic=mimic)
        for k, (name, mimic) in enumerate(steps)
    ]
    links = [*(dal.Link(name, virtual=True) for name in names[:-1]), dal.Link("body", **BODY)]
    return dal.Robot.from_parts(kind, links, joints, gravity=GRAVITY)


@pytest.mark.parametrize("kind", CASES)
def test_a_held_body_moves_as_on_a_joint(kind, rng):
    mechanism, robot = held(kind), jointed(kind)
    assert mechanism.joint_names == robot.joint_names
    q, qd, qdd = rng.uniform(-0.8, 0.8, (3, 4, robot.n))
    tau = dal.inverse_dynamics(robot, q, qd, qdd)
    assert dal.inverse_dynamics(mechanism, q, qd, qdd) == pytest.approx(tau, rel=1e-11, abs=1e-12)
    assert dal.mass_matrix(mechanism, q) == pytest.approx(dal.mass_matrix(robot, q), rel=1e-11, abs=1e-12)
    assert dal.forward_dynamics(mechanism, q, qd, tau) == pytest.approx(qdd, rel=1e-10, abs=1e-11)


def test_a_weld_leaves_an_arm_as_many_freedoms_as_joints_beyond_six():
    """A seven-joint arm whose flange is welded to the ground still turns its elbow."""
    arm, start = dal.robots.panda.__wrapped__(), np.array([0.1, 0.5, -0.3, -1.5, 0.2, 1.8, 0.4])
    weld = dal.Closure("weld", "weld", ("tool", ("world", dal.forward_kinematics(arm, start))))
    mechanism = dal.Mechanism("held", arm, [weld], ["joint3"], start)
    moved = mechanism.assemble([-0.2]).x
    assert np.abs(moved - start).max() > 0.05
    assert dal.forward_kinematics(arm, moved) == pytest.approx(dal.forward_kinematics(arm, start), abs=1e-12)


def test_every_type_of_closure_is_used_here_or_in_the_catalogue():
    used = {closure.type for build in dal.mechanisms.CATALOGUE.values() for closure in build().closures}
    assert {*used, *CASES} == set(TYPES)
