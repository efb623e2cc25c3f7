"""Misprints of [Siciliano, ch. 7], E001-01 to 08, 12 and 13: the corrected form holds and the printed one does not.

E001-09 to 11, on the Newton-Euler recursion, are in test_errata_newton_euler.py. docs/errata.md lists them all.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.golden.formulas import draw, value
from tests.golden.reading import golden
from tests.golden.siciliano_arms import LOOP, cartesian, parallelogram_tree, pendulum, planar
from tests.robots import relative_error

HOLDS = 1e-12  # closed forms of a few dozen operations
FAILS = 1e-3  # what a wrong term costs at numbers of the size of one is far above
CASES = golden("siciliano_problems")["cases"]
PLANAR = "a1 a2 l1 l2 ml1 ml2 Il1 Il2 mm1 mm2 Im1 Im2 kr1 kr2 g"


def test_e001_01_the_pendulum_s_friction_is_viscous_and_its_weight_is_gravity_s(rng: np.random.Generator) -> None:
    """Example 7.1: −F_m k_r² θ̇ (printed without the dot), U = m g l (1 − cos θ) (printed with q)."""
    v = draw(rng, "Ip m l Im kr F Fm g tau") | {"th": 0.7, "dth": -1.3}
    v["Ip"] += v["m"] * v["l"] ** 2
    robot, q, qd = pendulum(v), [v["th"]], [v["dth"]]
    qdd = dal.forward_dynamics(robot, q, qd, [v["tau"]])
    xi = (dal.mass_matrix(robot, q)[0] @ qdd + dal.bias(robot, q, qd))[0]
    assert xi == pytest.approx(value(CASES["001.ex7.1.xi"]["value"], v), rel=HOLDS)
    assert abs(xi - value(CASES["001.ex7.1.xi"]["printed"], v)) > FAILS
    gravity = dal.energy_gradient(robot, q, qd).dpotential_dq[0]
    assert gravity == pytest.approx(v["m"] * v["g"] * v["l"] * np.sin(v["th"]), rel=HOLDS)
    assert abs(gravity - v["m"] * v["th"] * v["l"] * np.sin(v["th"])) > FAILS


def test_e001_02_b_ij_is_the_effect_of_joint_j_s_acceleration_on_joint_i(rng: np.random.Generator) -> None:
    """List after (7.41), printed "on Joint j": then all rows of a column would be alike."""
    robot = planar(draw(rng, PLANAR))
    q = rng.normal(size=2)
    effect = dal.inverse_dynamics(robot, q, np.zeros(2), np.eye(2)) - dal.gravity_torque(robot, q)  # [j, i]
    B = dal.mass_matrix(robot, q)
    assert relative_error(effect.T, B) < HOLDS
    assert abs(B[0, 1] - B[1, 1]) > FAILS


def test_e001_03_the_cartesian_arm_s_inertia_is_the_sum_of_7_32(rng: np.random.Generator) -> None:
    """§7.3.1 refers to (4.34); the terms it simplifies are those of the rotors, J_Oᵀ R I Rᵀ J_O, in (7.32)."""
    v = draw(rng, "ml1 ml2 mm1 mm2 Im1 Im2 kr1 kr2 g")
    z0, z1, none = np.array([0.0, 0, 1]), np.array([1.0, 0, 0]), np.zeros(3)
    J_P = {"ml1": [z0, none], "ml2": [z0, z1], "mm1": [none, none], "mm2": [z0, none]}
    J_O = {"Im1": [v["kr1"] * z0, none], "Im2": [none, v["kr2"] * z1]}
    B = sum(v[name] * np.array(rows) @ np.array(rows).T for name, rows in (J_P | J_O).items())  # (7.32), links not turning
    assert relative_error(dal.mass_matrix(cartesian(v, np.pi / 2), rng.normal(size=2)), B) < HOLDS


def test_e001_04_the_middle_derivative_of_a_christoffel_symbol_is_by_q_j(rng: np.random.Generator) -> None:
    """(7.45): c_ijk = ½ (∂b_ij/∂q_k + ∂b_ik/∂q_j − ∂b_jk/∂q_i), printed ∂b_ik/∂q_i."""
    robot = planar(draw(rng, PLANAR))
    q, qd = rng.normal(size=(2, 2))
    dB = dal.second_derivatives(robot, q, qd, qd).dM_dq  # ∂b_ij/∂q_k
    corrected = (dB + dB.transpose(0, 2, 1) - dB.transpose(2, 0, 1)) / 2
    printed = (dB + np.einsum("iki->ik", dB)[:, None, :] - dB.transpose(2, 0, 1)) / 2
    assert relative_error(corrected, dal.christoffel(robot, q)) < HOLDS
    C_qd = dal.bias(robot, q, qd) - dal.gravity_torque(robot, q)
    assert relative_error(corrected @ qd @ qd, C_qd) < HOLDS
    assert np.abs(printed @ qd @ qd - C_qd).max() > FAILS


# §7.3.3, the parallelogram


@pytest.fixture
def loop(rng: np.random.Generator) -> dict[str, float]:
    closure = CASES["001.7.3.3.closure"]["value"]
    v = draw(rng, [CASES[f"001.7.3.3.{name}"]["value"] for name in ("Bprime", "Ba", "g1pp")])
    return v | {name: value(formula, v) for part in ("lengths", "angles") for name, formula in closure[part].items()}


def tree_inertia(v: dict[str, float]) -> np.ndarray:
    return dal.mass_matrix(parallelogram_tree(v), [v[name] for name in ("th1p", "th2p", "th3p", "th1pp")])


def test_e001_05_the_last_joint_of_a_branch_has_constant_inertia(loop: dict[str, float]) -> None:
    """b_3'3' = I3' + m3' l3'²; printed with a2' l3' c3', which is the coupling b_2'3'."""
    M = tree_inertia(loop)
    assert M[2, 2] == pytest.approx(value("I3p + m3p*l3p**2", loop), rel=HOLDS)
    assert abs(M[2, 2] - value("I3p + m3p*(l3p**2 + a2p*l3p*cos(th3p))", loop)) > FAILS


def test_e001_06_the_second_actuator_carries_link_1_double_prime_and_link_3(loop: dict[str, float]) -> None:
    """b_a22 = I1'' + m1'' l1''² + I2' + m2' l2'² + m3' a1''²; primes and the last mass are misprinted."""
    Ba = LOOP.T @ tree_inertia(loop) @ LOOP
    case = CASES["001.7.3.3.Ba"]
    assert relative_error(Ba, value(case["value"], loop)) < HOLDS
    assert abs(Ba[1, 1] - value(case["printed"], loop)[1, 1]) > FAILS


def with_mass_3(v: dict[str, float], below: str) -> dict[str, float]:
    """Links whose ratio m3' l̄3' / (`below` l2') is a1' / a1''; a positive one needs l3' > a1'."""
    v = v | {"l3p": v["a1p"] + 0.35}
    v["l3bar"] = v["l3p"] - v["a1p"]
    if below == "m2p":
        return v | {"m3p": v["m2p"] * v["l2p"] * v["a1p"] / (v["a1pp"] * v["l3bar"])}
    return v | {"l2p": v["l3bar"] * v["a1pp"] / v["a1p"]}  # m3' cancels: a condition on lengths alone


def test_e001_07_the_decoupling_condition_compares_links_2_and_3(loop: dict[str, float]) -> None:
    """m3' l̄3' / (m2' l2') = a1' / a1''; printed with m3' in numerator and denominator."""
    corrected, printed = (LOOP.T @ tree_inertia(with_mass_3(loop, below)) @ LOOP for below in ("m2p", "m3p"))
    assert abs(corrected[0, 1]) < HOLDS
    assert abs(printed[0, 1]) > FAILS


def test_e001_08_the_decoupled_inertia_contains_the_arm_of_link_3(loop: dict[str, float]) -> None:
    """The decoupled b_a22 has l̄3' in its last factor, printed l̄2', and the double primes of E001-06."""
    v = with_mass_3(loop, "m2p")
    b_a22 = (LOOP.T @ tree_inertia(v) @ LOOP)[1, 1]
    assert b_a22 == pytest.approx(value(CASES["001.7.3.3.decoupling"]["value"]["b_a22"], v), rel=HOLDS)
    printed = "I1p + m1p*l1p**2 + I2p + m2p*l2p**2*(1 + a1p*a1pp/(l2p*l3bar))"  # with l̄3', as there is no l̄2'
    assert abs(b_a22 - value(printed, v)) > FAILS


# Footnote 6 and §7.7


def rank(v: dict[str, float], rng: np.random.Generator, columns: str = "") -> int:
    robot = planar(v)
    Y = dal.regressor(robot, *rng.uniform(-2, 2, (3, 50, 2)), friction=False).reshape(100, -1)
    chosen = [not columns or name.split(".")[1] in columns.split() for name in dal.parameter_names(robot, friction=False)]
    s = np.linalg.svd(Y[:, chosen], compute_uv=False)
    return int((s > 1e-10 * s[0]).sum())


def test_e001_12_five_parameters_need_a_gear_and_gravity_in_the_plane(rng: np.random.Generator) -> None:
    """Footnote 6 states no condition: four are enough without a gear or without gravity; seven off the link axes."""
    v = draw(rng, PLANAR) | {"kr2": 100.0}
    eight = "m mx Izz Im"
    assert rank(v, rng, eight) == 5
    assert rank(v | {"kr2": 1.0}, rng, eight) == 4
    assert rank(v | {"g": 0.0}, rng, eight) == 4
    assert rank(v, rng) == 7


def test_e001_13_the_slower_motion_needs_the_smaller_torques(rng: np.random.Generator) -> None:
    """§7.7: τ̄_s = τ_s / c² for c > 1; the sentence can be read the other way round."""
    robot, c = planar(draw(rng, PLANAR)), 2.0
    q, qd, qdd = rng.normal(size=(3, 2))
    g = dal.gravity_torque(robot, q)
    fast, slow = dal.inverse_dynamics(robot, q, [qd, qd / c], [qdd, qdd / c**2]) - g
    assert relative_error(slow, fast / c**2) < HOLDS
    assert np.abs(slow - fast * c**2).max() > FAILS
