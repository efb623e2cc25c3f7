"""Five-bar, 3-RRR and parallelogram: what they are without numbers of a document."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import UnknownNameError
from dalembert.mechanisms._planar import INCH
from dalembert.mechanisms._planar_3rrr import VECTORS


def test_driven_at_its_first_two_joints_the_five_bar_is_an_open_arm():
    """Links 3 and 4 have no mass: as bars that carry forces along themselves alone, in two directions, they carry none."""
    linkage = dal.mechanisms.five_bar(("joint1", "joint2"))
    q, qd, qdd = linkage.q0 - 0.05, np.array([2.0, -1.0]), np.array([1.0, 0.5])
    alone = dal.inverse_dynamics(linkage.robot, [*q, 0, 0], [*qd, 0, 0], [*qdd, 0, 0])[:2]
    assert dal.inverse_dynamics(linkage, q, qd, qdd) == pytest.approx(alone, rel=1e-11)
    assert dal.constraint_forces(linkage, q, qd, qdd).closures == pytest.approx(0.0, abs=1e-12)


def test_a_joint_that_the_five_bar_does_not_have_is_refused():
    with pytest.raises(UnknownNameError, match="coordinate: joint: 'joint6' is not known"):
        dal.mechanisms.five_bar(("joint1", "joint6"))


def test_the_platform_s_legs_are_where_the_cosine_law_puts_them():
    """The angle of each base joint, from the triangle of its leg; the tree and the closures play no part in it."""
    mechanism = dal.mechanisms.planar_3rrr("platform")
    p, yaw = np.array([0.3, -0.2]) * INCH, 0.25
    x = dict(zip(mechanism.robot.joint_names, mechanism.assemble([*p, yaw]).x, strict=True))
    R = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    for leg in (1, 2, 3):
        base, elbow, pin = -np.array(VECTORS[leg - 1]) * INCH

        def angle(pin: np.ndarray, base=base, elbow=elbow, old=pin) -> float:
            """Direction to the pin, and the angle of the triangle there, on the side where it was."""
            a, b, d = np.linalg.norm(elbow - base), np.linalg.norm(old - elbow), pin - base
            side = np.sign(np.linalg.det([old - base, elbow - base]))
            return np.arctan2(d[1], d[0]) + side * np.arccos((a**2 + d @ d - b**2) / (2 * a * np.linalg.norm(d)))

        turned = angle(p + R @ pin) - angle(pin)
        assert np.sin(x[f"leg{leg}_joint1"] - turned) == pytest.approx(0.0, abs=1e-12)


def test_a_force_on_the_platform_is_carried_by_the_base_joints():
    """Work at rest: τ · δq + f · δp = 0, with δp by the platform's motion."""
    mechanism = dal.mechanisms.planar_3rrr()
    q, f = np.array([0.1, -0.05, 0.08]), np.array([3.0, -2.0, 0, 0, 0, 0.4])
    rest = np.zeros(3)
    tau = dal.inverse_dynamics(mechanism, q, rest, rest, wrenches={"tool": f})
    J, h = np.zeros((3, 3)), 1e-5
    for k, step in enumerate(h * np.eye(3)):
        ahead, behind = dal.forward_kinematics(mechanism, q + step), dal.forward_kinematics(mechanism, q - step)
        turn = (ahead[:3, :3] @ behind[:3, :3].T)[1, 0]
        J[:, k] = [*(ahead - behind)[:2, 3] / (2 * h), turn / (2 * h)]
    assert tau == pytest.approx(-J.T @ f[[0, 1, 5]], rel=1e-7)  # differences


def test_coordinates_that_the_platform_does_not_have_are_refused():
    with pytest.raises(UnknownNameError, match="coordinates: 'legs' is not known"):
        dal.mechanisms.planar_3rrr("legs")


def test_the_decoupled_parallelogram_has_constant_inertia_and_no_coriolis_torques(rng):
    q, qd = rng.uniform(-3, 3, (2, 6, 2))
    M = dal.mass_matrix(dal.mechanisms.parallelogram(decoupled=True), q)
    C = dal.coriolis_matrix(dal.mechanisms.parallelogram(decoupled=True), q, qd)
    assert pytest.approx(np.broadcast_to(np.diag(np.diag(M[0])), M.shape), abs=1e-13) == M
    assert pytest.approx(0.0, abs=1e-12) == C
    assert np.abs(dal.coriolis_matrix(dal.mechanisms.parallelogram(), q, qd)).max() > 0.1
