"""Misprints on the Newton-Euler recursion, E001-09 to 11, E003-01 to 04: the corrected form holds, the printed one does not."""

from __future__ import annotations

import numpy as np

import dalembert as dal
from tests.golden.formulas import draw
from tests.golden.newton_euler_tables import heights, link_recursion, table_1, table_2
from tests.golden.reading import golden, robot_of
from tests.golden.siciliano_arms import planar
from tests.robots import relative_error

HOLDS = 1e-12  # relative: recursions of some hundred operations
FAILS = 1e-3  # what a wrong term costs at numbers of the size of one is far above
PLANAR = "a1 a2 l1 l2 ml1 ml2 Il1 Il2 mm1 mm2 Im1 Im2 kr1 kr2 g"
SAMPLE = golden("milicevic_newton_euler")["cases"]["003.sample"]["value"]
ROBOT, STATE = SAMPLE["case"]["robot"], [np.array(SAMPLE["case"][key]) for key in ("q", "qd", "qdd")]


def test_e001_09_the_gyroscopic_moment_of_a_link_acts_once() -> None:
    """(7.113) is printed with ω × (Ī ω) twice, (7.105) with it once."""
    given = golden("serial_std_RPR")["input"]
    q, qd, qdd = np.array(given["q"]), 10 * np.array(given["qd"]), np.array(given["qdd"])  # fast enough for the term to matter
    tau = dal.inverse_dynamics(robot_of(given["robot"]), q, qd, qdd, formulation="lagrange_energy")
    assert relative_error(link_recursion(given["robot"], q, qd, qdd)["tau"], tau) < HOLDS
    assert relative_error(link_recursion(given["robot"], q, qd, qdd, gyroscopic=2)["tau"], tau) > FAILS


def test_e001_10_the_second_rotor_turns_with_link_1_and_its_own_joint(rng: np.random.Generator) -> None:
    """§7.5.3: ω̇_m2 is printed θ̈1 + θ̇2 θ̈1; rows of ω_2 and f_2 are missing."""
    v = draw(rng, PLANAR)
    q, qd, qdd = rng.uniform(0.5, 1.5, (3, 2))
    steps = dal.recursion(planar(v), q, qd, qdd)
    right = qdd[0] + v["kr2"] * qdd[1]
    assert relative_error(steps.domega_m[1], np.array([0, 0, right])) < HOLDS
    assert relative_error(steps.omega[1], np.array([0, 0, qd.sum()])) < HOLDS
    assert steps.f[1, 2] == 0.0
    assert abs(qdd[0] + qd[1] * qdd[0] - right) > FAILS
    rotor = v["kr2"] * v["Im2"]
    assert abs(steps.mu[1, 2] + rotor * right - steps.tau[1]) < HOLDS  # (7.114), with τ_2 as inverse dynamics has it
    assert relative_error(steps.tau, dal.inverse_dynamics(planar(v), q, qd, qdd)) < HOLDS


def test_e001_11_the_model_of_section_7_3_2_is_the_one_with_eight_parameters(rng: np.random.Generator) -> None:
    """§7.4 and §7.5.3 say "Example 7.2", which has data only: 8 of 22 parameters act in (7.82), those of (7.83)."""
    robot = planar(draw(rng, PLANAR))
    q, qd, qdd = rng.normal(size=(3, 20, 2))
    Y = dal.regressor(robot, q, qd, qdd, friction=False)
    acting = np.abs(Y * dal.parameters(robot, friction=False)).max(axis=(0, 1)) > 0
    names = dal.parameter_names(robot, friction=False)
    assert len(names) == 22
    eight = [f"joint{i}.{name}" for i in (1, 2) for name in ("m", "mx", "Izz", "Im")]
    assert [name for name, acts in zip(names, acting, strict=True) if acts] == eight


def test_e003_01_gravity_enters_eq_2_4_with_a_minus() -> None:
    """∂/∂q of Σ m g ⁰A r̄ by a complex step; (2.4) is printed with + Σ m_j g U_ji r̄_j."""
    (q, qd, qdd), step = STATE, 1e-30
    slopes = np.array([heights(ROBOT, q + 1j * step * unit).imag / step for unit in np.eye(5)])
    friction = np.array([link["viscous"] for link in ROBOT["links"]]) * qd
    rest = np.array(SAMPLE["D"]) @ qdd + np.array(SAMPLE["h"]) + friction
    tau = dal.inverse_dynamics(robot_of(ROBOT), q, qd, qdd)
    assert relative_error(rest - slopes, tau) < HOLDS
    assert relative_error(rest + slopes, tau) > FAILS


def test_e003_02_the_base_accelerates_upwards() -> None:
    """Tables 1 and 2 are printed with v̇_0 = g."""
    tau = dal.inverse_dynamics(robot_of(ROBOT), *STATE)
    gravity = np.array(ROBOT["gravity"])
    assert relative_error(table_1(ROBOT, *STATE, dv0=-gravity)["tau"], tau) < HOLDS
    assert relative_error(table_1(ROBOT, *STATE, dv0=gravity)["tau"], tau) > FAILS


def test_e003_03_a_turning_link_s_acceleration_is_not_its_angular_one() -> None:
    """Table 1 prints the lines of ω̇_i in place of the rotary case of v̇_i."""
    tau = dal.inverse_dynamics(robot_of(ROBOT), *STATE)
    assert relative_error(table_1(ROBOT, *STATE)["tau"], tau) < HOLDS
    assert relative_error(table_1(ROBOT, *STATE, printed=True)["tau"], tau) > FAILS


def test_e003_04_table_2_is_table_1_in_link_frames() -> None:
    """The lines from ā_i on are lost; restored, they give the steps of Table 1 turned into each link's axes."""
    base, own = table_1(ROBOT, *STATE), table_2(ROBOT, *STATE)
    robot = robot_of(ROBOT)
    names = [joint.child for joint in robot.structure.coordinates]
    R = np.array([dal.forward_kinematics(robot, STATE[0], name)[:3, :3] for name in names])
    for name in ("omega", "domega", "pdd", "pdd_C", "f", "mu"):
        assert relative_error(np.einsum("kij,kj->ki", R, own[name]), base[name]) < HOLDS, name
    assert relative_error(own["tau"], base["tau"]) < HOLDS
