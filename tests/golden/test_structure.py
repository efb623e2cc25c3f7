"""The structure of the equations of motion in the complete numeric cases: Coriolis terms, regressor, wrenches, derivatives.

The oracle's words differ from ours in four places: products of inertia are +∫xy dm (ours are tensor entries, −∫xy dm); a joint
without a rotor has an empty column for one; wrenches of modified Denavit-Hartenberg links stand at the link's own origin, also
where it slides; and derivatives are taken with the force on the tool held constant in world axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Robot
from tests.golden.reading import golden, robot_of
from tests.robots import relative_error

TOLERANCE = 1e-9
PER_JOINT = 13
PRODUCTS = [5, 6, 8]  # Ixy, Ixz, Iyz among the columns of a joint
ROTOR = 10


class Case(NamedTuple):
    robot: Robot
    convention: str
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    he: np.ndarray  # on the surroundings; ours are on the robot
    expected: dict[str, np.ndarray]

    @property
    def wrenches(self) -> dict[str, np.ndarray]:
        return {"tool": -self.he}


@pytest.fixture(scope="module", params=["serial_std_RPR", "serial_mod_RRPR"])
def case(request: pytest.FixtureRequest) -> Case:
    given = golden(request.param)["input"]
    expected = golden(f"{request.param}_structure")["expected"]
    states = (np.array(given[key]) for key in ("q", "qd", "qdd"))
    he = np.array(given.get("he", np.zeros(6)))
    arrays = {key: np.array(value) for key, value in expected.items()}
    return Case(robot_of(given["robot"]), given["robot"]["convention"], *states, he, arrays)


def test_coriolis_matrix_and_christoffel_symbols_are_the_oracle_s(case: Case) -> None:
    assert relative_error(dal.coriolis_matrix(case.robot, case.q, case.qd), case.expected["C"]) < TOLERANCE
    assert relative_error(dal.christoffel(case.robot, case.q), case.expected["christoffel"]) < TOLERANCE


def signs(robot: Robot) -> np.ndarray:
    """From our parameters to the oracle's, and back."""
    one = np.ones(PER_JOINT)
    one[PRODUCTS] = -1
    return np.tile(one, robot.n)


def counted(robot: Robot) -> np.ndarray:
    """The columns the oracle counts: a rotor's only where there is one."""
    columns = np.ones((robot.n, PER_JOINT), bool)
    columns[:, ROTOR] = [name in robot.parameters.rotors for name in robot.joint_names]
    return columns.ravel()


def test_the_regressor_is_the_oracle_s(case: Case) -> None:
    robot = case.robot
    Y = dal.regressor(robot, case.q, case.qd, case.qdd) * signs(robot)
    columns = counted(robot)
    assert Y.shape == case.expected["regressor"].shape
    assert relative_error(Y[:, columns], case.expected["regressor"][:, columns]) < TOLERANCE
    assert not case.expected["regressor"][:, ~columns].any()


def test_the_parameters_are_the_oracle_s(case: Case) -> None:
    assert relative_error(dal.parameters(case.robot) * signs(case.robot), case.expected["parameters"]) < TOLERANCE


def slid(case: Case) -> np.ndarray:
    """How far, in the world, the oracle's point of a joint is from ours: a slide, in modified Denavit-Hartenberg frames."""
    shift = np.zeros((case.robot.n, 3))
    for k, joint in enumerate(case.robot.structure.joints):
        if case.convention == "modified" and not joint.turns:
            X = dal.forward_kinematics(case.robot, case.q, joint.parent) @ joint.origin
            shift[k] = X[:3, :3] @ joint.axis * (case.q[k] + joint.home)
    return shift


def test_forces_and_moments_of_the_joints_are_the_oracle_s(case: Case) -> None:
    found = dal.link_wrenches(case.robot, case.q, case.qd, case.qdd, wrenches=case.wrenches)
    found[:, 3:] -= np.cross(slid(case), found[:, :3])
    assert relative_error(found, case.expected["joint_wrenches"]) < TOLERANCE


def test_the_rate_of_the_jacobian_times_velocity_is_the_oracle_s(case: Case) -> None:
    found = dal.jacobian_dot(case.robot, case.q, case.qd) @ case.qd
    assert relative_error(found, case.expected["jacobian_dot_qd"]) < TOLERANCE


def pull(case: Case) -> Any:
    """∂(Jᵀ he)/∂q: column k is the rate of Jᵀ he as joint k alone moves."""
    rates = dal.jacobian_dot(case.robot, case.q, np.eye(case.robot.n))
    return np.einsum("kij,i->jk", rates, case.he)


def test_derivatives_of_the_torque_are_the_oracle_s(case: Case) -> None:
    found = dal.derivatives(case.robot, case.q, case.qd, case.qdd)
    assert relative_error(found.dtau_dq + pull(case), case.expected["dtau_dq"]) < TOLERANCE
    assert relative_error(found.dtau_dqd, case.expected["dtau_dqd"]) < TOLERANCE


def test_derivatives_of_the_acceleration_are_the_oracle_s(case: Case) -> None:
    tau = dal.inverse_dynamics(case.robot, case.q, case.qd, case.qdd)
    found = dal.derivatives(case.robot, case.q, case.qd, tau=tau)
    assert relative_error(found.dqdd_dq - found.dqdd_dtau @ pull(case), case.expected["A_qdd_q"]) < TOLERANCE
    assert relative_error(found.dqdd_dqd, case.expected["A_qdd_qd"]) < TOLERANCE
