"""[Siciliano, Example 7.2]: the data, three trajectories, and what the torques along them are made of (Figs. 7.5-7.11)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.trajectory import Motion, Trajectory, duration_at, follow, line, trapezoidal, triangular
from tests.golden.reading import golden
from tests.golden.siciliano_arms import planar
from tests.robots import relative_error

TOLERANCE = 1e-9
CASES = {name: case["value"] for name, case in golden("siciliano_contributions")["cases"].items()}
TORQUES = golden("siciliano_example_7_2")["cases"]
START, END = (np.array(CASES[f"001.ex7.2.{name}"]["q"]) for name in ("initial", "final"))
TRIANGULAR, TRAPEZOIDAL, LINE = (CASES[f"001.ex7.2.{name}"] for name in ("triangular", "trapezoidal", "cartesian"))


def column(case: dict[str, Any], name: str) -> np.ndarray:
    return np.array([sample[name] for sample in case["samples"]])


def joint_motion(name: str) -> tuple[dict[str, Any], Trajectory]:
    """A trajectory of the example at the times of its samples."""
    if name == "triangular":
        t, end = column(TRIANGULAR, "t"), START + TRIANGULAR["displacement"]
        return TRIANGULAR, triangular(START, end, duration=TRIANGULAR["duration"])(t)
    velocity, ta = TRAPEZOIDAL["vmax"], TRAPEZOIDAL["ta"]
    T = duration_at(START, END, velocity=velocity, acceleration_time=ta)
    return TRAPEZOIDAL, trapezoidal(START, END, duration=T, acceleration_time=ta)(column(TRAPEZOIDAL, "t"))


def test_the_catalogue_s_arm_has_the_data_of_the_example() -> None:
    data = CASES["001.ex7.2.data"] | {"g": 9.81}
    assert relative_error(dal.parameters(dal.robots.two_link_planar()), dal.parameters(planar(data))) < 1e-15


def test_the_second_trajectory_takes_the_tip_to_its_end() -> None:
    tip = dal.forward_kinematics(dal.robots.two_link_planar(), [START, END])[:, :2, 3]
    assert tip == pytest.approx(np.array([CASES[f"001.ex7.2.{name}"]["tip"] for name in ("initial", "final")]), abs=1e-12)


def test_the_mass_matrix_depends_on_the_second_angle_as_the_constants_say() -> None:
    b = CASES["001.ex7.2.constants"]
    q = np.array([[0.0, -0.4], [0.3, 1.9], START])
    c2 = np.cos(q[:, 1])
    b11, b12, b22 = b["b11_const"] + b["b11_c2"] * c2, b["b12_const"] + b["b12_c2"] * c2, np.full(3, b["b22"])
    B = np.moveaxis(np.array([[b11, b12], [b12, b22]]), -1, 0)
    assert relative_error(B[2], np.array(CASES["001.ex7.2.B_initial"])) < TOLERANCE
    assert relative_error(dal.mass_matrix(dal.robots.two_link_planar(), q), B) < TOLERANCE


def test_the_eight_parameters_are_those_of_eq_7_83() -> None:
    robot = dal.robots.two_link_planar()
    found = dict(zip(dal.parameter_names(robot), dal.parameters(robot), strict=True))
    eight = [found[f"joint{i}.{name}"] for i in (1, 2) for name in ("m", "mx", "Izz", "Im")]
    assert eight == pytest.approx(CASES["001.ex7.2.constants"]["pi"], rel=1e-14)


@pytest.mark.parametrize("name", ["triangular", "trapezoidal"])
def test_a_joint_trajectory_is_the_book_s(name: str) -> None:
    case, motion = joint_motion(name)
    for key in ("q", "qd", "qdd"):
        assert relative_error(getattr(motion, key), column(case, key)) < 1e-12, key


def test_the_trapezoidal_motion_of_each_joint_has_its_own_duration() -> None:
    T = duration_at(START, END, velocity=TRAPEZOIDAL["vmax"], acceleration_time=TRAPEZOIDAL["ta"])
    assert pytest.approx(TRAPEZOIDAL["durations"], rel=1e-12) == T
    assert pytest.approx(TRAPEZOIDAL["displacement"], rel=1e-12) == END - START


@pytest.mark.parametrize("name", ["triangular", "trapezoidal"])
def test_the_contributions_along_a_joint_trajectory_are_the_book_s(name: str) -> None:
    case, motion = joint_motion(name)
    parts = dal.contributions(dal.robots.two_link_planar(), motion.q, motion.qd, motion.qdd)
    for i in (1, 2):
        for j in (1, 2):
            assert relative_error(parts.inertia[:, i - 1, j - 1], column(case, f"inertia_{i}{j}")) < TOLERANCE
        other = 2 - i  # a joint feels the velocity of the other one only
        assert relative_error(parts.centrifugal_by[:, i - 1, other], column(case, f"centrifugal_{i}")) < TOLERANCE
        assert not parts.centrifugal_by[:, i - 1, i - 1].any()
        assert relative_error(parts.gravity[:, i - 1], column(case, f"gravity_{i}")) < TOLERANCE
    assert relative_error(parts.coriolis[:, 0], column(case, "coriolis_1")) < TOLERANCE
    assert not parts.coriolis[:, 1].any()  # the tip is fixed in the frame of link 2
    assert relative_error(parts.tau, column({"samples": TORQUES[name]}, "tau")) < TOLERANCE


def test_the_straight_line_of_the_tip_is_the_book_s() -> None:
    """Figs. 7.9-7.11: x by a trapezoidal velocity, the joints by the lower elbow and by J⁻¹."""
    t, ta = column(LINE, "t"), LINE["ta"]
    T = duration_at([0.2], [1.8], velocity=LINE["vmax"], acceleration_time=ta)
    assert pytest.approx([LINE["duration"]], rel=1e-12) == T
    line = trapezoidal([0.2], [1.8], duration=T, acceleration_time=ta)(t)
    for key, found in (("x", line.q), ("xd", line.qd), ("xdd", line.qdd)):
        assert relative_error(found[:, 0], column(LINE, key)) < 1e-12
    half = np.arccos(line.q[:, 0] / 2)  # two equal links of 1 m with their tip on the x axis
    q = np.stack([-half, 2 * half], axis=-1)
    assert relative_error(q, column(LINE, "q")) < TOLERANCE
    qd, qdd = _joint_rates(q, line)
    assert relative_error(qd, column(LINE, "qd")) < TOLERANCE
    assert relative_error(qdd, column(LINE, "qdd")) < TOLERANCE
    parts = dal.contributions(dal.robots.two_link_planar(), q, qd, qdd)
    assert relative_error(parts.tau, column({"samples": TORQUES["cartesian"]}, "tau")) < TOLERANCE


def _joint_rates(q: np.ndarray, line: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """q̇ = J⁻¹ ẋ and q̈ = J⁻¹ (ẍ − J̇ q̇)."""
    robot = dal.robots.two_link_planar()
    J = dal.jacobian(robot, q)[:, :2]
    along_x = np.array([1.0, 0.0])
    qd = np.linalg.solve(J, (line.qd * along_x)[..., None])[..., 0]
    bent = np.einsum("kij,kj->ki", dal.jacobian_dot(robot, q, qd)[:, :2], qd)
    return qd, np.linalg.solve(J, (line.qdd * along_x - bent)[..., None])[..., 0]


def planned(name: str) -> Motion:
    """The motions of Figs. 7.5, 7.7 and 7.10, made by the library alone."""
    if name == "triangular":
        return triangular(START, START + TRIANGULAR["displacement"], duration=TRIANGULAR["duration"])
    if name == "trapezoidal":
        T = duration_at(START, END, velocity=TRAPEZOIDAL["vmax"], acceleration_time=TRAPEZOIDAL["ta"])
        return trapezoidal(START, END, duration=T, acceleration_time=TRAPEZOIDAL["ta"])
    ends = [np.eye(4), np.eye(4)]
    ends[0][0, 3], ends[1][0, 3] = 0.2, 1.8
    share = trapezoidal([0.0], [1.0], duration=LINE["duration"], acceleration_time=LINE["ta"])
    return follow(dal.robots.two_link_planar(), line(*ends, timing=share), start=START, directions=("x", "y"))


@pytest.mark.parametrize("name", ["triangular", "trapezoidal", "cartesian"])
def test_problem_7_7_along_the_planned_motions(name: str) -> None:
    """Positions, velocities, accelerations and, with the tip pushing, torques: the motion and its loads from end to end."""
    problem = golden("siciliano_problems")["cases"]["001.problem7.7"]["value"]
    case = {"samples": problem["samples"][f"001.ex7.2.{name}"]}
    at, robot = planned(name)(column(case, "t")), dal.robots.two_link_planar()
    for key in ("q", "qd", "qdd"):
        assert relative_error(getattr(at, key), column(case, key)) < TOLERANCE, key
    push = {"tool": [-problem["he"][0], -problem["he"][1], 0, 0, 0, 0]}
    assert relative_error(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd, wrenches=push), column(case, "tau")) < TOLERANCE


def test_figure_7_9_is_the_tip_of_the_followed_line() -> None:
    robot, at = dal.robots.two_link_planar(), planned("cartesian")(column(LINE, "t"))
    tip = dal.link_motion(robot, at.q, at.qd, at.qdd)
    assert relative_error(dal.forward_kinematics(robot, at.q)[:, 0, 3], column(LINE, "x")) < 1e-12
    assert relative_error(tip.velocity[:, 0], column(LINE, "xd")) < 1e-12
    assert tip.acceleration is not None
    assert relative_error(tip.acceleration[:, 0], column(LINE, "xdd")) < 1e-12


def test_figure_7_11_adds_up_and_says_what_the_text_does() -> None:
    """Joint 2's own inertia torque follows its acceleration; coupling torques are not equal, as accelerations are not."""
    at = planned("cartesian").sample(count=501)
    parts = dal.contributions(dal.robots.two_link_planar(), at.q, at.qd, at.qdd)
    assert relative_error(sum(parts.by_cause.values()), parts.tau) < 1e-12
    assert relative_error(parts.inertia_own[:, 1], 122.5 * at.qdd[:, 1]) < 1e-12
    assert not parts.coriolis[:, 1].any()
    assert parts.inertia[:, 0, 1] == pytest.approx(-2 * parts.inertia[:, 1, 0], rel=1e-9)  # q̈₂ = −2 q̈₁


def test_what_the_text_says_of_figure_7_6() -> None:
    _, motion = joint_motion("triangular")
    parts = dal.contributions(dal.robots.two_link_planar(), motion.q, motion.qd, motion.qdd)
    magnitudes = np.abs(parts.inertia_own[:, 1])
    assert np.ptp(magnitudes) < 1e-12 * magnitudes.max()  # joint 2's own inertia is constant, so its torque is piecewise constant
    assert relative_error(parts.inertia[:, 0, 1], parts.inertia[:, 1, 0]) < 1e-14  # equal accelerations, symmetric B
    assert relative_error(parts.centrifugal[:, 0], -parts.centrifugal[:, 1]) < 1e-12
