"""[Siciliano, §7.8, §7.9]: problems 7.9 to 7.11 and the ellipsoid of three links, by the functions that users call."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.golden.reading import golden, robot_of
from tests.robots import relative_error

TOLERANCE = 1e-12  # some hundred operations on numbers of the size of one
CASES = golden("siciliano_problems")["cases"]
XY = ("x", "y")


def test_the_model_of_the_tip_is_that_of_problem_7_9():
    case = CASES["001.problem7.9"]["value"]
    task = dal.operational_space(robot_of(case["robot"]), case["q"], case["qd"], directions=XY, coriolis=True)
    for name, found in (("B_A", task.Lambda), ("C_A", task.C), ("g_A", task.p)):
        assert relative_error(found, np.array(case[name])) < TOLERANCE
    assert relative_error(task.mu, task.C @ task.J @ np.array(case["qd"])) < TOLERANCE  # not redundant: μ = C_A ẋ


def test_the_torques_of_a_redundant_arm_are_those_of_problem_7_10():
    case = CASES["001.problem7.10"]["value"]
    task = dal.operational_space(robot_of(case["robot"]), case["q"], case["qd"], directions=XY)
    results = {"J": task.J, "B_A": task.Lambda, "Jbar": task.J_bar, "C_A_xd": task.mu, "g_A": task.p}
    for name, found in results.items():
        assert relative_error(found, np.array(case[name])) < TOLERANCE
    assert relative_error(task.Jdot_qd, np.array(case["Jdot"]) @ case["qd"]) < TOLERANCE
    gamma = np.array(case["gamma_A"])
    tau = task.torque(np.linalg.solve(task.Lambda, gamma - task.mu - task.p), tau0=case["tau0"])  # (7.133), (7.141)
    assert relative_error(tau, np.array(case["tau"])) < TOLERANCE


@pytest.mark.parametrize("least_norm", [False, True])
def test_the_dynamic_measure_is_the_kinematic_one_over_the_determinant_of_inertia(least_norm):
    """Problem 7.11; without redundancy, accelerations of least norm are all there are."""
    case = CASES["001.problem7.11"]["value"]
    robot = robot_of(case["robot"])
    found = dal.manipulability(robot, case["q"], directions=XY, least_norm=least_norm)
    kinematic = dal.manipulability(robot, case["q"], kind="velocity", directions=XY)
    assert relative_error(found.core, np.array(case["core"])) < TOLERANCE
    assert relative_error(found.centre, np.array(case["centre"])) < TOLERANCE
    assert (kinematic.measure, found.measure) == (
        pytest.approx(case["w"], rel=TOLERANCE),
        pytest.approx(case["w_d"], rel=TOLERANCE),
    )
    assert found.measure == pytest.approx(kinematic.measure / np.linalg.det(dal.mass_matrix(robot, case["q"])), rel=TOLERANCE)


def test_the_ellipsoid_of_three_links_is_that_of_7_148():
    case = CASES["001.eq7.148.ellipsoid"]["value"]
    found = dal.manipulability(robot_of(case["robot"]), case["q"], directions=XY, least_norm=True)
    assert relative_error(found.core, np.array(case["core"])) < TOLERANCE
    assert relative_error(found.centre, np.array(case["centre"])) < TOLERANCE
