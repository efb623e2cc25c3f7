"""Complete numeric cases: a robot, a state and all results, computed with 50 digits by two independent derivations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Robot
from tests.golden.reading import golden, robot_of
from tests.robots import relative_error, without_friction

TOLERANCE = 1e-9
SAMPLES = ("serial_std_RPR", "serial_mod_RRPR")


@pytest.fixture(scope="module", params=SAMPLES)
def case(request: pytest.FixtureRequest) -> tuple[Robot, dict[str, Any], dict[str, Any]]:
    data = golden(request.param)
    numbers = {key: np.array(value) for key, value in data["input"].items() if key != "robot"}
    return robot_of(data["input"]["robot"]), numbers, {key: np.array(value) for key, value in data["expected"].items()}


def wrenches(given: dict[str, Any]) -> dict[str, np.ndarray] | None:
    """The books count the wrench on the surroundings, we the one on the robot."""
    return {"tool": -given["he"]} if "he" in given else None


def test_the_tool_s_pose_and_jacobian_are_the_oracle_s(case: Any) -> None:
    robot, given, expected = case
    assert relative_error(dal.forward_kinematics(robot, given["q"]), expected["T_tool"]) < TOLERANCE
    assert relative_error(dal.jacobian(robot, given["q"]), expected["jacobian"]) < TOLERANCE


def test_mass_matrix_gravity_and_coriolis_terms_are_the_oracle_s(case: Any) -> None:
    robot, given, expected = case
    g = dal.gravity_torque(robot, given["q"])
    assert relative_error(dal.mass_matrix(robot, given["q"]), expected["M"]) < TOLERANCE
    assert relative_error(g, expected["g"]) < TOLERANCE
    assert relative_error(dal.bias(robot, given["q"], given["qd"]) - g, expected["Cqd"]) < TOLERANCE
    assert relative_error(expected["C"] @ given["qd"], expected["Cqd"]) < TOLERANCE


def test_friction_and_kinetic_energy_are_the_oracle_s(case: Any) -> None:
    robot, given, expected = case
    state = given["q"], given["qd"], given["qdd"]
    friction = dal.inverse_dynamics(robot, *state) - dal.inverse_dynamics(without_friction(robot), *state)
    assert relative_error(friction, expected["friction"]) < TOLERANCE
    assert relative_error(dal.energy(robot, given["q"], given["qd"]).kinetic, expected["kinetic_energy"]) < TOLERANCE


def test_torques_and_accelerations_are_the_oracle_s(case: Any) -> None:
    robot, given, expected = case
    q, qd, qdd, tau = (given[key] for key in ("q", "qd", "qdd", "tau"))
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd, wrenches=wrenches(given)), expected["tau"]) < TOLERANCE
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau, wrenches=wrenches(given)), expected["qdd_forward"]) < TOLERANCE
