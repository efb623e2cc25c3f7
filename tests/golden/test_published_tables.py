"""Reference values of other projects' test suites, kept outside this repository."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Joint, Link, Robot
from dalembert.model.dh import from_dh
from tests.robots import relative_error, without_friction
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared


def reference(name: str) -> dict[str, Any]:
    return json.loads((SHARED / "data/reference" / f"{name}.json").read_text())


def puma_by_frame_origins(data: dict[str, Any]) -> Robot:
    """The file gives inertias about the link frames' origins and first moments."""
    rows = []
    for (alpha, a, d), p in zip(data["dh"], np.array(data["parameters"]).reshape(6, 10), strict=True):
        xx, xy, xz, yy, yz, zz, *h, m = p
        c = np.array(h) / m if m else np.zeros(3)
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c))
        rows.append({"alpha": alpha, "a": a, "d": d, "mass": m, "com": c, "inertia": I})
    return from_dh(rows, convention="standard", name="puma560")


@pytest.mark.filterwarnings(
    "ignore:link 'link3':dalembert.DalembertWarning"
)  # its published tensor breaks the triangle inequality
def test_the_puma_s_bodies_alone_give_the_full_precision_values_of_sympybotics() -> None:
    data = reference("puma560_standard_dh_full_precision")
    robot = puma_by_frame_origins(data)
    q, qd, qdd = (np.array(data[key]) for key in ("q", "qd", "qdd"))
    g = dal.gravity_torque(robot, q)
    results = {
        "T_0_6": dal.forward_kinematics(robot, q),
        "J_base": dal.jacobian(robot, q),
        "tau": dal.inverse_dynamics(robot, q, qd, qdd),
        "gravity": g,
        "coriolis_vector": dal.bias(robot, q, qd) - g,
        "M": dal.mass_matrix(robot, q),
    }
    errors = {key: relative_error(value, np.array(data[key])) for key, value in results.items()}
    assert max(errors.values()) < data["tolerance"], errors


PUMA_CASES = range(6)


@pytest.mark.parametrize("number", PUMA_CASES)
def test_the_catalogue_s_puma_gives_the_torques_of_the_robotics_toolbox(number: int) -> None:
    """Motors and friction included, so that the signs of both conventions agree."""
    data = reference("puma560_rtb_python")
    case = data["rne"][number]
    robot = dal.robots.puma560()
    if "gravity" in case:
        robot = robot.with_gravity(case["gravity"])
    wrenches = None
    if "fext_in_end_effector_frame" in case:  # there it is the wrench of the robot on its surroundings
        f = np.array(case["fext_in_end_effector_frame"], float).reshape(2, 3)
        R = dal.forward_kinematics(robot, data["q"])[:3, :3]
        wrenches = {"tool": -np.concatenate([R @ f[0], R @ f[1]])}
    tau = dal.inverse_dynamics(robot, data["q"], case["qd"], case["qdd"], wrenches=wrenches)
    np.testing.assert_allclose(tau, case["tau"], atol=data["tolerance"])


def test_the_catalogue_s_puma_accelerates_as_in_the_robotics_toolbox() -> None:
    data = reference("puma560_rtb_python")
    case = data["accel"]
    qdd = dal.forward_dynamics(dal.robots.puma560(), data["q"], case["qd"], case["tau"])
    np.testing.assert_allclose(qdd, case["qdd"], atol=data["tolerance"])


def test_the_catalogue_s_puma_has_the_coriolis_and_inertia_torques_of_the_robotics_toolbox() -> None:
    data = reference("puma560_rtb_python")
    robot = without_friction(dal.robots.puma560())
    qd, C = np.array(data["coriolis"]["qd"], float), np.array(data["coriolis"]["C"])
    velocity_terms = dal.bias(robot, data["q"], qd) - dal.gravity_torque(robot, data["q"])
    np.testing.assert_allclose(velocity_terms, C @ qd, atol=12 * 5e-5)  # entries printed to 4 decimals, times Σ|q̇| = 12
    inertial = dal.mass_matrix(robot, data["q"]) @ data["itorque"]["qdd"]
    np.testing.assert_allclose(inertial, data["itorque"]["tau"], atol=data["tolerance"])


def test_reversed_speeds_meet_the_puma_s_other_coulomb_friction() -> None:
    """The toolbox's rule: τ_f = |G| (B |G| q̇ + Tc±), Tc⁻ < 0 for negative speeds."""
    motors = json.loads((SHARED / "data/models/dh/Puma560.json").read_text())["links"]
    robot = dal.robots.puma560()
    q, still = np.zeros(6), np.zeros(6)
    for speed in (1.0, -1.0):
        qd = np.full(6, speed)
        friction = dal.inverse_dynamics(robot, q, qd, still) - dal.bias(robot, q, qd)
        expected = [abs(m["G"]) * (m["B"] * abs(m["G"]) * speed + m["Tc"][0 if speed > 0 else 1]) for m in motors]
        np.testing.assert_allclose(friction, expected, rtol=1e-12)


def rbdl_robot(case: dict[str, Any]) -> Robot:
    links, joints = [Link("body0")], []
    for k, body in enumerate(case["bodies"], start=1):
        X = np.eye(4)
        X[:3, 3] = body["placement"]
        links.append(Link(f"body{k}", body["mass"], np.array(body["com"], float), np.diag(body["inertia_com_diag"])))
        axis = np.eye(3)["xyz".index(body["axis"])]
        joints.append(Joint(f"joint{k}", "revolute", f"body{body['parent']}", f"body{k}", origin=X, axis=axis))
    return Robot.from_parts("chain", links, joints, gravity=case["gravity"])


@pytest.mark.parametrize("name", ["single", "single_nontrivial_inertia", "double", "triple", "double_3d"])
def test_falling_chains_accelerate_as_in_rbdl(name: str) -> None:
    data = reference("rbdl_chains")
    case = data["cases"][name]
    qdd = dal.forward_dynamics(rbdl_robot(case), case["q"], case["qd"], case["tau"])
    np.testing.assert_allclose(qdd, case["qdd"], atol=1e-12)
