"""Numbers and closed forms of the textbook arms [Siciliano, ch. 7; Laus, §3]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Rotor
from dalembert.model.dh import from_dh
from tests.golden.reading import golden, robot_of
from tests.robots import relative_error

TOLERANCE = 1e-9
EXAMPLE = golden("siciliano_example_7_2")["cases"]


def columns(samples: list[dict[str, Any]], *names: str) -> list[np.ndarray]:
    return [np.array([sample[name] for sample in samples]) for name in names]


def test_example_7_2_starts_where_the_book_says_with_its_mass_matrix() -> None:
    robot = dal.robots.two_link_planar()
    X = dal.forward_kinematics(robot, EXAMPLE["q_initial"])
    assert X[:2, 3] == pytest.approx(EXAMPLE["tip_initial"], abs=1e-12)
    assert relative_error(dal.mass_matrix(robot, EXAMPLE["q_initial"]), np.array(EXAMPLE["B_initial"])) < TOLERANCE


@pytest.mark.parametrize("trajectory", ["triangular", "trapezoidal", "cartesian"])
def test_the_torques_of_example_7_2_are_the_book_s(trajectory: str) -> None:
    q, qd, qdd, tau = columns(EXAMPLE[trajectory], "q", "qd", "qdd", "tau")
    robot = dal.robots.two_link_planar()
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd), tau) < TOLERANCE
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau), qdd) < TOLERANCE


def test_the_gravity_torques_of_example_7_2_are_the_book_s() -> None:
    q, first, second = columns(EXAMPLE["triangular"], "q", "gravity_1", "gravity_2")
    g = dal.gravity_torque(dal.robots.two_link_planar(), q)
    assert relative_error(g, np.stack([first, second], axis=-1)) < TOLERANCE


def test_a_force_on_the_surroundings_adds_its_torque_as_in_problem_7_7() -> None:
    q, qd, qdd = columns(EXAMPLE["triangular"], "q", "qd", "qdd")
    on_robot = [-EXAMPLE["force_on_environment"][0], -EXAMPLE["force_on_environment"][1], 0, 0, 0, 0]
    tau = dal.inverse_dynamics(dal.robots.two_link_planar(), q, qd, qdd, wrenches={"tool": on_robot})
    assert relative_error(tau, np.array(EXAMPLE["triangular_with_force"])) < TOLERANCE


def test_a_path_twice_as_slow_needs_a_quarter_of_the_torque_beyond_gravity() -> None:
    slowed = EXAMPLE["slowed"]
    robot, c = dal.robots.two_link_planar(), slowed["c"]
    q, qd, qdd = (np.array(slowed[key]) for key in ("q", "qd", "qdd"))
    g = dal.gravity_torque(robot, q)
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd) - g, np.array(slowed["tau_s"])) < TOLERANCE
    assert relative_error(dal.inverse_dynamics(robot, q, qd / c, qdd / c**2) - g, np.array(slowed["tau_bar_s"])) < TOLERANCE


@pytest.mark.parametrize("arm", ["three_links", "two_links"])
def test_the_dynamics_of_the_tip_is_that_of_problems_7_9_and_7_10(arm: str) -> None:
    data = golden("siciliano_planar_arms")["cases"][arm]
    robot, q, qd = robot_of(data["robot"]), np.array(data["q"]), np.array(data["qd"])
    J = dal.jacobian(robot, q)[:2]
    M_inverse = np.linalg.inv(dal.mass_matrix(robot, q))
    B = np.linalg.inv(J @ M_inverse @ J.T)
    J_bar = M_inverse @ J.T @ B
    g = dal.gravity_torque(robot, q)
    assert relative_error(B, np.array(data["B_A"])) < TOLERANCE
    assert relative_error(J_bar.T @ g, np.array(data["g_A"])) < TOLERANCE
    if arm == "three_links":
        assert relative_error(J, np.array(data["J"])) < TOLERANCE
        coriolis = J_bar.T @ (dal.bias(robot, q, qd) - g) - B @ np.array(data["Jdot"]) @ qd
        assert relative_error(coriolis, np.array(data["C_A_xd"])) < TOLERANCE
    else:
        assert abs(np.linalg.det(J)) == pytest.approx(data["w"], rel=TOLERANCE)
        assert abs(np.linalg.det(J @ M_inverse)) == pytest.approx(data["w_d"], rel=TOLERANCE)


def test_the_pelican_with_a_crucible_has_the_closed_form_of_laus() -> None:
    data = golden("laus_crucible")["cases"]
    v = data["values"]
    rows = [
        {"a": v[f"a{i}"], "mass": v[f"m{i}"], "com": (v[f"l{i}"] - v[f"a{i}"], 0, 0), "inertia": (0, 0, v[f"Iz{i}"])}
        for i in (1, 2, 3)
    ]
    robot = from_dh(rows, convention="standard", gravity=(0, -v["g"], 0))
    q, qd = ([v[f"{letter}{i}"] for i in (1, 2, 3)] for letter in ("th", "dth"))
    g = dal.gravity_torque(robot, q)
    assert relative_error(dal.mass_matrix(robot, q), np.array(data["M"])) < 1e-12
    assert relative_error(g, np.array(data["g"])) < 1e-12
    assert relative_error(dal.bias(robot, q, qd) - g, np.array(data["C"]) @ qd) < 1e-12
    assert relative_error(dal.mass_matrix(dal.robots.pelican(), q[:2]), np.array(data["M_pelican"])) < 1e-12


def test_the_cartesian_arm_has_constant_gravity_and_no_velocity_terms() -> None:
    """[Siciliano, §7.3.1]: g = [(m_l1 + m_m2 + m_l2) g, 0], C = 0."""
    robot = dal.robots.two_link_cartesian()
    assert dal.bias(robot, [0.3, -0.8], [1.5, 2.5]) == pytest.approx([9.81 * 105.0, 0.0], abs=1e-11)


def test_an_inclined_second_axis_couples_the_cartesian_arm_as_in_problem_7_1(rng: np.random.Generator) -> None:
    """The second axis at 45° from the first: B12 = m_l2 √2/2 and gravity loads joint 2, still without velocity terms."""
    ml1, ml2, mm2, Im, k, g = 3.0, 2.0, 0.5, 1e-3, 20.0, 9.81
    rotor = Rotor(Im, k, "full", mass=mm2)
    rows = [
        {"type": "P", "theta": np.pi / 2, "alpha": np.pi / 4, "mass": ml1, "rotor": rotor},
        {"type": "P", "mass": ml2, "rotor": rotor},
    ]
    robot = from_dh(rows, convention="standard", gravity=(0, 0, -g))
    q, qd = rng.normal(size=(2, 2))
    r = np.sqrt(2) / 2
    M = [[Im * k**2 + ml1 + ml2 + mm2, r * ml2], [r * ml2, Im * k**2 + ml2]]
    assert relative_error(dal.mass_matrix(robot, q), np.array(M)) < 1e-14
    assert relative_error(dal.bias(robot, q, qd), np.array([g * (ml1 + ml2 + mm2), r * g * ml2])) < 1e-14


def test_the_pr_arm_has_the_closed_form_of_problem_7_5(rng: np.random.Generator) -> None:
    q, qd = rng.normal(size=(2, 2))
    m, l, g = 50.0, 0.5, 9.81
    h = [-(qd[1] ** 2) * l * m * np.cos(q[1]), l * m * g * np.cos(q[1])]
    assert relative_error(dal.bias(dal.robots.pr_arm(), q, qd), np.array(h)) < 1e-12


def test_the_scara_s_rotors_couple_its_axes_as_in_problem_7_3(rng: np.random.Generator) -> None:
    """All axes vertical: a rotor on link i−1 adds I_m k to the coupling of its joint with each turning joint before."""
    a, l = np.array([0.5, 0.4]), np.array([0.2, 0.15])
    m, I = np.array([5.0, 4.0, 2.0, 1.0]), np.array([0.2, 0.1, 0.02, 0.01])
    mm, Im, k = np.array([1.0, 0.8, 0.6, 0.4]), np.array([4e-3, 3e-3, 2e-3, 1e-3]), np.array([50.0, 40.0, 30.0, 20.0])
    rotors = [Rotor(Im[i], k[i], "full", mass=mm[i]) for i in range(4)]
    rows = [
        {"a": a[0], "mass": m[0], "com": (l[0] - a[0], 0, 0), "inertia": (0, 0, I[0]), "rotor": rotors[0]},
        {"a": a[1], "mass": m[1], "com": (l[1] - a[1], 0, 0), "inertia": (0, 0, I[1]), "rotor": rotors[1]},
        {"type": "P", "mass": m[2], "inertia": (0, 0, I[2]), "rotor": rotors[2]},
        {"mass": m[3], "inertia": (0, 0, I[3]), "rotor": rotors[3]},
    ]
    robot = from_dh(rows, convention="standard", gravity=(0, 0, -9.81))
    q = rng.normal(size=4)
    M = dal.mass_matrix(robot, q)
    tip = m[2] + m[3] + mm[2] + mm[3]
    turning = I[1:].sum() + Im[2] + Im[3] + m[1] * l[1] ** 2 + a[1] ** 2 * tip
    M11 = I.sum() + Im[0] * k[0] ** 2 + Im[1:].sum() + a[0] ** 2 * mm[1] + l[0] ** 2 * m[0]
    M11 += m[1] * (a[0] ** 2 + 2 * a[0] * l[1] * np.cos(q[1]) + l[1] ** 2)
    M11 += (a[0] ** 2 + 2 * a[0] * a[1] * np.cos(q[1]) + a[1] ** 2) * tip
    M12 = turning + Im[1] * k[1] + a[0] * np.cos(q[1]) * (m[1] * l[1] + a[1] * tip)
    expected = [
        [M11, M12, Im[2] * k[2], I[3] + Im[3] * k[3]],
        [M12, turning + Im[1] * k[1] ** 2, Im[2] * k[2], I[3] + Im[3] * k[3]],
        [Im[2] * k[2], Im[2] * k[2], Im[2] * k[2] ** 2 + m[2] + m[3] + mm[3], 0.0],
        [I[3] + Im[3] * k[3], I[3] + Im[3] * k[3], 0.0, I[3] + Im[3] * k[3] ** 2],
    ]
    assert relative_error(M, np.array(expected)) < 1e-13
    assert relative_error(dal.gravity_torque(robot, q), np.array([0, 0, 9.81 * (m[2] + m[3] + mm[3]), 0])) < 1e-13
