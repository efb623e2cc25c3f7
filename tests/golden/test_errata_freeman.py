"""Misprints of [Freeman], E004-01 to 25: the corrected form holds and the printed one does not. docs/errata.md lists them all.

Where only a shape or a reading is at stake, the test shows that the printed one cannot be meant.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.linear import load_partials
from tests.golden import freeman_linear as linear
from tests.golden.formulas import draw, value
from tests.golden.freeman_arms import (
    CASES,
    arm_of,
    augmented,
    chain_of,
    five_bar,
    leg,
    planar,
    random_arm,
    wrist_partitioned,
)
from tests.golden.freeman_tables import Chain, values
from tests.robots import relative_error

HOLDS = 1e-11  # sums of a few hundred products of numbers of the size of one
FAILS = 1e-3  # what a wrong term costs is far above
STEP = 1e-5  # of central differences of values of the size of ten: truncation and rounding are both below 1e-8
DIFFERENCE = 1e-6
Row = dict[str, str]
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, each asked once: compiling would take the time


def moving_arm(rng: np.random.Generator, types: str = "RRPR") -> tuple[Any, list[np.ndarray]]:
    return random_arm(rng, types), list(rng.normal(size=(3, len(types))))


def faults(rows: list[Row], chain: Chain, names: str, found: np.ndarray) -> dict[str, list[tuple[int, ...]]]:
    """Index sets for which a table says something wrong, and those of which it says nothing, symmetry counted."""
    wrong, silent = [], []
    for indices in itertools.product(range(1, len(chain.types) + 1), repeat=len(names)):
        said = values(rows, chain, names, indices)
        entry = found[(slice(None), *(i - 1 for i in indices))]
        if not said:
            silent.append(indices)
        if any(v is not None and np.abs(v - entry).max() > FAILS for v in said):
            wrong.append(indices)
    return {"wrong": wrong, "silent": silent}


def changed(rows: list[Row], when: dict[str, str]) -> list[Row]:
    """A table with some restrictions as they are printed."""
    assert when.keys() <= {row["when"] for row in rows}
    return [row | {"when": when.get(row["when"], row["when"])} for row in rows]


def tables(rng: np.random.Generator, name: str, order: int, types: str) -> dict[str, tuple[list[Row], Chain, np.ndarray]]:
    arm, q, at = random_arm(rng, types), rng.normal(size=5), rng.normal(size=3)
    chain = chain_of(arm, q, types, 4, at)
    kinds = {"rotational": "rotation", "translational": "point"}
    found = {part: dal.influence(arm, q, "link4", order=order, point=at, kind=kind)[order - 1] for part, kind in kinds.items()}
    return {part: (CASES[name]["value"][part], chain, found[part]) for part in kinds}


def test_e004_01_the_restrictions_of_the_second_order_table(rng: np.random.Generator) -> None:
    """Table 2-4: zero rotation for m ≥ n (printed m < n), m ≤ n for two turning joints (m < n), zero beyond j (before)."""
    given = tables(rng, "004.table2-4", 2, "RRRPR")
    rows, chain, found = given["rotational"]
    assert faults(rows, chain, "mn", found) == {"wrong": [], "silent": []}
    assert faults(changed(rows, {"m >= n or n > j": "m < n or n > j"}), chain, "mn", found)["wrong"]
    rows, chain, found = given["translational"]
    assert faults(rows, chain, "mn", found) == {"wrong": [], "silent": []}
    two_turning = [row | {"when": "m < n <= j"} if row["when"] == "m <= n <= j" else row for row in rows]
    assert faults(two_turning, chain, "mn", found)["silent"] == [(1, 1), (2, 2), (3, 3)]
    assert faults(changed(rows, {"m > j or n > j": "m < j or n < j"}), chain, "mn", found)["wrong"]
    without_sliding = [row for row in rows if (row["m"], row["n"]) != ("P", "P")]
    assert faults(without_sliding, chain, "mn", found)["silent"] == [(4, 4)]


def test_e004_02_the_restrictions_of_the_third_order_table(rng: np.random.Generator) -> None:
    """Table 2-5: rotations need l and m before n (printed: zero for m, l ≤ n); so does the row of a sliding joint n."""
    given = tables(rng, "004.table2-5", 3, "RRRPR")
    rows, chain, found = given["rotational"]
    assert faults(rows, chain, "lmn", found) == {"wrong": [], "silent": []}
    assert faults(changed(rows, {"m >= n or l >= n or n > j": "m <= n and l <= n or n > j"}), chain, "lmn", found)["wrong"]
    assert faults(changed(rows, {"m < l < n <= j": "m < l <= j"}), chain, "lmn", found)["wrong"]
    rows, chain, found = given["translational"]
    assert faults(rows, chain, "lmn", found)["wrong"] == []
    assert faults(changed(rows, {"l >= n or m >= n or n > j": "m <= n and l <= n or n > j"}), chain, "lmn", found)["wrong"]


def test_e004_03_the_angular_term_of_the_linear_model_has_no_transpose(rng: np.random.Generator) -> None:
    """(2-224): II (q̇ᵀ H), printed [H]ᵀ, and q̈ᵀ [P] in the second term, printed with one dot; the result is M × M."""
    arm, (q, qd, qdd) = moving_arm(rng)
    exact = dal.derivatives(arm, q, qd, qdd).dtau_dq
    found = load_partials(arm, q, qd, qdd).dtau_dq
    assert relative_error(found, exact) < HOLDS
    assert relative_error(found + linear.printed_transpose(arm, q, qd), exact) > FAILS
    assert exact.shape == (arm.n, arm.n)
    P = transfer.open_chain(arm, q).P
    assert np.abs(np.einsum("p,npm->nm", qdd - qd, P)).max() > FAILS  # so the printed dot changes the term


def test_e004_04_the_power_array_has_three_indices_of_coordinates(rng: np.random.Generator) -> None:
    """(2-158): M × M × M, printed 3 × M × M; by Appendix A, Gᵀ • H of 3 × M and 3 × M × M."""
    arm, (q, _, _) = moving_arm(rng)
    found = dal.terms(arm, q, formulation="influence", names=["G_com", "H_com", "P"])
    assert transfer.dot(found["G_com"][-1].T, found["H_com"][-1]).shape == (4, 4, 4)
    assert found["P"].shape == (4, 4, 4)


def motor_case() -> tuple[Any, linear.Motors, list[np.ndarray]]:
    case = CASES["004.statespace.sample"]["value"]
    state = [np.array(case["case"][name]) for name in ("q", "qd", "qdd", "qddd")]
    return arm_of(case["case"]["robot"]), linear.motors(case["actuator"]), state


def differences(function: Any, *at: np.ndarray) -> list[np.ndarray]:
    """Central differences of a vector function by each of its vector arguments."""
    result = []
    for k, x in enumerate(at):
        columns = [
            (function(*at[:k], x + step, *at[k + 1 :]) - function(*at[:k], x - step, *at[k + 1 :])) / (2 * STEP)
            for step in STEP * np.eye(len(x))
        ]
        result.append(np.array(columns).T)
    return result


def test_e004_05_the_state_matrix_contains_the_derivative_by_position() -> None:
    """(2-248): F21 = −I*⁻¹ ∂T/∂φ, printed ∂T/∂φ̇; (2-251): F33 = −L⁻¹ R, printed G33. I* includes the rotors."""
    arm, motor, (q, qd, qdd, _) = motor_case()
    n, model = arm.n, transfer.open_chain(arm, q)
    current = np.linalg.solve(motor.CM, model.torque(qd, qdd) + motor.I @ qdd + motor.B @ qd)
    dT = dal.derivatives(arm, q, qd, qdd)
    F, _ = linear.state_space(motor, dT)

    def acceleration(q: np.ndarray, qd: np.ndarray, i: np.ndarray) -> np.ndarray:
        own = transfer.open_chain(arm, q)
        load = motor.CM @ i - motor.B @ qd - own.torque(qd, np.zeros(n))
        return np.linalg.solve(own.I + motor.I, load)

    def current_rate(q: np.ndarray, qd: np.ndarray, i: np.ndarray) -> np.ndarray:
        return np.linalg.solve(motor.L, -motor.R @ i - motor.CE @ qd)

    assert relative_error(F[n : 2 * n], np.hstack(differences(acceleration, q, qd, current))) < DIFFERENCE
    assert relative_error(F[2 * n :], np.hstack(differences(current_rate, q, qd, current))) < DIFFERENCE
    printed = -np.linalg.solve(model.I + motor.I, dT.dtau_dqd)
    assert relative_error(printed, F[n : 2 * n, :n]) > FAILS
    without_rotors = -np.linalg.solve(model.I, dT.dtau_dq)
    assert relative_error(without_rotors, F[n : 2 * n, :n]) > FAILS


def test_e004_06_the_rate_of_the_current_needs_the_jerk() -> None:
    """(2-239): each of the three derivatives multiplies a rate one order higher than printed."""
    arm, motor, (q, qd, qdd, qddd) = motor_case()

    def current(t: float) -> np.ndarray:
        at = q + qd * t + qdd * t**2 / 2 + qddd * t**3 / 6, qd + qdd * t + qddd * t**2 / 2, qdd + qddd * t
        torque = transfer.open_chain(arm, at[0]).torque(at[1], at[2])
        return np.linalg.solve(motor.CM, torque + motor.I @ at[2] + motor.B @ at[1])

    rate = (current(STEP) - current(-STEP)) / (2 * STEP)
    by = dal.derivatives(arm, q, qd, qdd)

    def formula(third: np.ndarray, second: np.ndarray, first: np.ndarray) -> np.ndarray:
        total = (by.dtau_dqdd + motor.I) @ third + (by.dtau_dqd + motor.B) @ second + by.dtau_dq @ first
        return np.linalg.solve(motor.CM, total)

    assert relative_error(formula(qddd, qdd, qd), rate) < DIFFERENCE
    assert relative_error(formula(qdd, qd, q), rate) > FAILS


def test_e004_07_the_transferred_state_matrix_multiplies_by_velocity_derivatives() -> None:
    """(3-51), (3-53): ∂q̈/∂φ̇ in the second term and before [G]⁻¹ ∂q̇/∂φ, printed ∂q̈/∂φ; Ĝ_i1 = G_i1, printed F_i1."""
    case = CASES["004.eq3-53.sample"]["value"]
    arm, (q, qd, qdd) = arm_of(case["robot"]), (np.array(case[name]) for name in ("q", "qd", "qdd"))
    F, G_in = linear.state_space(linear.motors(case["actuator"]), dal.derivatives(arm, q, qd, qdd))
    tip = transfer.rows(dal.influence(arm, q, order=3), [0, 1])
    G, by = tip.G, transfer.rate_derivatives(tip, qd, qdd)
    found = transfer.transferred_state((F, G_in), tip, qd, qdd).F
    assert relative_error(found, np.array(case["F_hat"])) < 1e-7
    assert relative_error(found, blocks_of_3_53(F, G, by)) < HOLDS
    assert relative_error(found, blocks_of_3_53(F, G, by._replace(dudd_dqd=by.dudd_dq))) > FAILS
    back = np.linalg.inv(G)
    perturbed = rate_by_task(arm, q, qd, qdd)
    turn = back @ by.dud_dq @ back
    assert relative_error(-back @ (by.dudd_dq - by.dudd_dqd @ back @ by.dud_dq) @ back, perturbed[0]) < DIFFERENCE
    assert relative_error(-back @ by.dudd_dqd @ back, perturbed[1]) < DIFFERENCE  # the second term of (3-51)
    assert relative_error(-back @ by.dudd_dq @ back, perturbed[1]) > FAILS
    assert np.abs(turn).max() > FAILS
    assert G_in.shape == (6, 2)  # Ĝ multiplies voltages, which F̂ does not: F_i1 are derivatives by φ
    assert np.abs(G_in[4:] - F[4:, :2]).max() > FAILS


def blocks_of_3_53(F: np.ndarray, G: np.ndarray, by: transfer.RateDerivatives) -> np.ndarray:
    """F̂, block by block."""
    n, back = len(G), np.linalg.inv(G)
    block = [[F[n * i : n * (i + 1), n * j : n * (j + 1)] for j in range(3)] for i in range(3)]
    turn = back @ by.dud_dq
    F21 = by.dudd_dq - by.dudd_dqd @ turn + G @ (block[1][0] - block[1][1] @ turn)
    return np.block(
        [
            block[0],
            [F21 @ back, (by.dudd_dqd + G @ block[1][1]) @ back, G @ block[1][2]],
            [-block[2][1] @ turn @ back, block[2][1] @ back, block[2][2]],
        ]
    )


def rate_by_task(arm: Any, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[np.ndarray]:
    """Differences of φ̈ by position and velocity of the task, its acceleration kept."""

    def task(q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        G, H, _ = dal.influence(arm, q)
        return dal.forward_kinematics(arm, q)[:2, 3], G[:2] @ qd, G[:2] @ qdd + transfer.quadratic(H[:2], qd, qd)

    def joints(u: np.ndarray, ud: np.ndarray) -> np.ndarray:
        at = q.copy()
        for _ in range(6):  # quadratic from a step of 1e-5
            at = at - np.linalg.solve(dal.influence(arm, at).G[:2], dal.forward_kinematics(arm, at)[:2, 3] - u)
        G, H, _ = dal.influence(arm, at)
        rate = np.linalg.solve(G[:2], ud)
        return np.linalg.solve(G[:2], task(q, qd)[2] - transfer.quadratic(H[:2], rate, rate))

    return differences(joints, *task(q, qd)[:2])


def test_e004_08_the_appendices_verify_what_they_are_said_to(rng: np.random.Generator) -> None:
    """(3-19) is verified in Appendix B (printed C), (4-31) in Appendix C (printed D): Appendix D has no numbers."""
    v = draw(rng, "a23 a34 s11 th1 th2 th3")
    G, H, _ = dal.influence(wrist_partitioned(v), [v["th1"], v["th2"], v["th3"]], kind="point")
    assert relative_error(transfer.inverse((G, H)).H[0], value(CASES["004.eqB-8"]["value"], v)) < HOLDS  # (3-19)
    case = CASES["004.tableC-3.T"]["value"]
    model, yd, ydd = five_bar_model(), np.array(case["yd"]), np.array(case["ydd"])
    assert np.abs(model.torque(yd, ydd) - case["T_w"]).max() < 1.1e-5  # (4-31): driving torques and constraint forces
    in_D = [case for case in CASES.values() if case["source"].startswith("Appendix D")]
    assert in_D
    assert all(case["status"] == "not-numeric" for case in in_D)


def five_bar_model() -> transfer.DynamicModel:
    arm, q = five_bar()
    return transfer.transferred(transfer.open_chain(arm, q), augmented(planar(arm, q)))


def test_e004_09_the_weighted_acceleration_is_not_the_rate_of_the_weighted_velocity() -> None:
    """(4-71) and d/dt of (4-68) both give ü; they differ by (d/dt [G]⁻ᴿ) u̇, which no task coordinate notices."""
    case = CASES["004.redundant.sample"]["value"]
    arm, (q, ud, udd) = arm_of(case["robot"]), (np.array(case[name]) for name in ("q", "ud", "udd"))

    def R(q: np.ndarray) -> np.ndarray:
        return transfer.right_inverse(dal.influence(arm, q).G[:2], weight=dal.mass_matrix(arm, q, formulation="influence"))

    qd = R(q) @ ud
    tip = transfer.rows(dal.influence(arm, q), [0, 1])
    weighted = transfer.resolve(tip, ud, udd, weight=dal.mass_matrix(arm, q, formulation="influence")).acceleration
    rate = (R(q + STEP * qd) - R(q - STEP * qd)) / (2 * STEP) @ ud + R(q) @ udd
    for qdd in (weighted, rate):
        assert transfer.rates(tip, qd, qdd).acceleration == pytest.approx(udd, abs=DIFFERENCE)
    assert np.abs(weighted - rate).max() > FAILS


def test_e004_10_loads_at_the_task_reach_the_joints_by_the_jacobian() -> None:
    """(4-73): T_q^L = [G]ᵀ T_u^L; the printed [G]⁻ᴿᵀ is N × M and takes no N-vector to an M-vector."""
    case = CASES["004.redundant.sample"]["value"]
    arm, q = arm_of(case["robot"]), np.array(case["q"])
    G, R = dal.influence(arm, q).G[:2], np.array(case["G_right_inverse"])
    T_u = np.array([3.0, -2.0])
    assert R.T.shape == (2, 3)
    with pytest.raises(ValueError, match="mismatch"):
        R.T @ T_u
    wrench = np.r_[T_u, np.zeros(4)]
    assert relative_error(dal.applied_torque(arm, q, wrenches={"tool": wrench}), G.T @ T_u) < HOLDS


def test_e004_11_the_hand_s_jacobian_is_made_of_rows(rng: np.random.Generator) -> None:
    """(4-78): joint rows 1 and 2 of each finger, 4 × 3, printed as columns [..]_,1."""
    stacked, columns, rates = [], [], []
    ud = rng.normal(size=3)
    for arm in (leg(0), leg(1)):
        back = transfer.inverse(planar(arm, np.zeros(3))).G
        stacked.append(back[:2])
        columns.append(back.T[:2])
        rates.append((back @ ud)[:2])
    assert np.vstack(stacked).shape == (4, 3)
    assert relative_error(np.vstack(stacked) @ ud, np.concatenate(rates)) < HOLDS
    assert relative_error(np.vstack(columns) @ ud, np.concatenate(rates)) > FAILS


def test_e004_12_the_shapes_of_the_appendix() -> None:
    """Appendix A, with C of N × M × M, D of M × K, A of P × N: DᵀCD is N × K × K, bᵀCb N × 1, A_p • C is M × M."""
    case = CASES["004.appendixA"]["value"]
    A, C, b, D = (np.array(case[name]) for name in "ACbD")
    (P, N), (_, M, _), (_, K) = A.shape, C.shape, D.shape
    assert len({P, N, M}) == 3
    assert transfer.congruent(D, C).shape == (N, K, K) != (N, M, M)
    assert transfer.quadratic(C, b, b).shape == (N,) != (M,)
    assert transfer.dot(A, C)[0].shape == (M, M) != (N, N)


@pytest.mark.parametrize("plane", [1, 2, 3])
def test_e004_13_the_planes_of_the_wrist_point_are_symmetric(plane: int, rng: np.random.Generator) -> None:
    """Table B-1: second derivatives; the printed planes differ from them, two of the three by being unsymmetric."""
    v = draw(rng, "a23 a34 s11 th1 th2 th3")
    H = dal.influence(wrist_partitioned(v), [v["th1"], v["th2"], v["th3"]], kind="point").H[plane - 1]
    case = CASES[f"004.tableB-1.H{plane}"]
    printed = value(case["printed"], v)
    assert relative_error(H, value(case["value"], v)) < HOLDS
    assert np.abs(H - printed).max() > FAILS
    assert (np.abs(printed - printed.T).max() > FAILS) == (plane < 3)


def test_e004_14_the_inverse_at_the_wrist_has_sums_of_angles(rng: np.random.Generator) -> None:
    """(B-6): row 2 = [c1 c23, s1 c23, s23] / (a23 s3), printed c2 and s2; a34 in (3, 2), printed s34."""
    v = draw(rng, "a23 a34 s11 th1 th2 th3")
    G = dal.influence(wrist_partitioned(v), [v["th1"], v["th2"], v["th3"]], kind="point").G
    corrected = value(CASES["004.eqB-6"]["value"], v)
    assert relative_error(corrected @ G, np.eye(3)) < HOLDS
    row = value(["cos(th1)*cos(th2)/(a23*sin(th3))", "sin(th1)*cos(th2)/(a23*sin(th3))", "sin(th2)/(a23*sin(th3))"], v)
    assert np.abs(row @ G - [0, 1, 0]).max() > FAILS
    lengthless = corrected[2] * [1, v["a34"] / np.sin(v["a34"]), 1]  # s34 read as a sine: no length in its place
    assert np.abs(lengthless @ G - [0, 0, 1]).max() > FAILS


def first_joint(rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray, np.ndarray, float]:
    """Numbers, motion of the wrist point, and θ̈1 by differentiating atan2 twice along it."""
    v = draw(rng, "r th1")
    p, pd, pdd = v["r"] * np.array([np.cos(v["th1"]), np.sin(v["th1"])]), *rng.normal(size=(2, 2))
    step = 1e-4  # second differences: rounding 1e-16 / step² and truncation ~ step² are both near 1e-8

    def angle(t: float) -> float:
        x, y = p + pd * t + pdd * t**2 / 2
        return float(np.arctan2(y, x))

    return v, pd, pdd, (angle(step) - 2 * angle(0.0) + angle(-step)) / step**2


def test_e004_15_the_last_sine_of_the_quadratic_form_is_negative(rng: np.random.Generator) -> None:
    """(B-9): −s(2θ1) in place (2, 2) as in (B-8), printed +."""
    v, pd, pdd, wanted = first_joint(rng)
    s, c = np.sin(2 * v["th1"]), np.cos(2 * v["th1"])
    linear = np.array([-np.sin(v["th1"]), np.cos(v["th1"])]) @ pdd / v["r"]
    forms = {sign: linear + pd @ np.array([[s, -c], [-c, sign * s]]) @ pd / v["r"] ** 2 for sign in (-1, 1)}
    assert forms[-1] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert abs(forms[1] - wanted) > FAILS


def test_e004_16_the_equation_for_the_first_joint_is_one_of_rates(rng: np.random.Generator) -> None:
    """(B-14): r θ̇1 = −Ṗ^X s1 + Ṗ^Y c1; without dots the right side is zero, since P lies in the direction of θ1."""
    v, pd, _, _ = first_joint(rng)
    s, c = np.sin(v["th1"]), np.cos(v["th1"])
    assert -v["r"] * c * s + v["r"] * s * c == pytest.approx(0.0, abs=1e-15)
    assert v["r"] * v["th1"] > FAILS
    step = 1e-6
    x, y = np.transpose([v["r"] * np.array([c, s]) + sign * step * pd for sign in (1, -1)])
    rate = np.diff(np.arctan2(y, x))[0] / (-2 * step)
    assert v["r"] * rate == pytest.approx(-pd[0] * s + pd[1] * c, rel=1e-8)


def test_e004_17_the_product_of_rates_has_a_minus(rng: np.random.Generator) -> None:
    """(B-15): −(2/r²)(Ṗ^X c + Ṗ^Y s)(Ṗ^Y c − Ṗ^X s), printed +."""
    v, pd, pdd, wanted = first_joint(rng)
    at = v | {"PXd": pd[0], "PYd": pd[1], "PXdd": pdd[0], "PYdd": pdd[1]}
    corrected = value(CASES["004.eqB-15"]["value"].split("=")[1], at)
    s, c = np.sin(v["th1"]), np.cos(v["th1"])
    printed = (pdd[1] * c - pdd[0] * s) / v["r"] + 2 / v["r"] ** 2 * (pd[0] * c + pd[1] * s) * (pd[1] * c - pd[0] * s)
    assert corrected == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert abs(printed - wanted) > FAILS


def test_e004_18_signs_and_a_decimal_of_the_dyad_table() -> None:
    """Table C-1: y^B = +3.29, F^AX = −0.091, T_2 = −0.83, q_2 = π/2; printed −3.29, −0.009, 0.83, '1 π/2'."""
    arm, q = five_bar()
    case = CASES["004.tableC-3.T"]["value"]
    yd, ydd = np.array(case["yd"], dtype=float), np.array(case["ydd"], dtype=float)
    T = five_bar_model().torque(yd, ydd)
    qd, qdd, _ = transfer.rates(transfer.inverse(augmented(planar(arm, q))), yd, ydd)
    second = arm.parameters.links[2]
    centre = dal.link_motion(arm, q, qd, qdd, link="link2", point=second.com)
    F_A = second.mass * centre.acceleration[:2] - T[1:3]
    assert dal.forward_kinematics(arm, q, "link4")[1, 3] == pytest.approx(3.29, abs=0.005)
    assert F_A[0] == pytest.approx(-0.091, abs=5e-4)
    assert abs(F_A[0] + 0.009) > 0.05
    assert T[3] == pytest.approx(-0.826, abs=5e-4)
    assert T[3] == pytest.approx(-12 * T[1], rel=1e-9)  # moments about h on the massless link 4
    assert np.sum(q) == pytest.approx(-np.pi / 2)  # link 4 from B down to h; q_2 counts it from h up to B


def test_e004_19_rounding_in_the_open_chain_table() -> None:
    """Table C-2: 19.985, 0.8075, 0.4275, printed 19.98, 0.808, 0.428."""
    arm, q = five_bar()
    model, G = transfer.open_chain(arm, q), planar(arm, q).G
    assert G[0, 1] == pytest.approx(19.9856, abs=1e-4)
    assert model.I[1, 1] == pytest.approx(0.80748, abs=1e-5)
    assert model.P[0, 1, 1] == pytest.approx(0.42748, abs=1e-5)
    assert abs(G[0, 1] - 19.98) > 0.005  # so that the nearest of two decimals is 19.99
    assert abs(model.P[0, 1, 1] - 0.428) > 0.0005


def test_e004_20_planes_of_the_constrained_five_bar() -> None:
    """Table C-3: plane 2 (3, 4) = −0.17 as (4, 3), printed +; plane 3 −0.297 and 3.387, printed −0.29 and 3.38 (× 10⁻³)."""
    P = transfer.symmetric(five_bar_model().P) * 1e3
    printed = np.array(CASES["004.tableC-3.P"]["printed"]) * 1e3
    assert P[1, 2, 3] == pytest.approx(-0.17, abs=0.005)
    assert printed[1, 2, 3] == pytest.approx(0.17)
    assert printed[1, 3, 2] == pytest.approx(-0.17)
    assert [P[2, 0, 2], P[2, 0, 3]] == pytest.approx([-0.297, 3.387], abs=5e-4)
    assert relative_error(P[2] * P[3, 3, 3], P[3] * P[2, 3, 3]) < 1e-9  # link 3 has no mass: the planes are proportional


def test_e004_21_a_sign_in_the_first_leg_s_power_array() -> None:
    """Table E-1: plane 2 (1, 3) = +0.026 as (3, 1), printed −."""
    arm = leg(0)
    model = transfer.transferred(transfer.open_chain(arm, np.zeros(3)), planar(arm, np.zeros(3)))
    printed = CASES["004.tableE-1"]["printed"]["P_www"][1]
    assert transfer.symmetric(model.P)[1, 0, 2] == pytest.approx(0.026, abs=5e-4)
    assert (printed[0][2], printed[2][0]) == (-0.026, 0.026)


def mechanism() -> tuple[dal.Influence, transfer.DynamicModel]:
    """The base joints over the platform, and the platform's model."""
    q, arms = np.zeros(3), [leg(r) for r in range(3)]
    inputs = [transfer.rows(transfer.inverse(planar(arm, q)), [0]) for arm in arms]
    first, second, third = (transfer.transferred(transfer.open_chain(arm, q), planar(arm, q)) for arm in arms)
    return transfer.stack(*inputs), first + second + third


def test_e004_22_six_entries_of_the_platform_s_tables() -> None:
    """Table E-2: H(1,2,1), H(1,2,3), H(1,3,2), H(2,2,3), H(2,3,2) and P(3,3,3)."""
    inputs, model = mechanism()
    found = {"H": inputs.H, "P": transfer.symmetric(model.P)}
    entries = {("H", 0, 1, 0): -0.105, ("H", 0, 1, 2): 0.328, ("H", 0, 2, 1): 0.328}
    entries |= {("H", 1, 1, 2): -0.063, ("H", 1, 2, 1): -0.063, ("P", 2, 2, 2): 2.047}
    case = CASES["004.tableE-2"]
    differ = []
    for name in ("H", "P"):
        printed, corrected = (np.array(case[key][name]) for key in ("printed", "value"))
        differ += [(name, *map(int, place)) for place in np.argwhere(printed != corrected)]
    assert sorted(differ) == sorted(entries)
    for (name, *place), corrected in entries.items():
        assert found[name][tuple(place)] == pytest.approx(corrected, abs=6e-4)
        assert abs(found[name][tuple(place)] - np.array(case["printed"][name])[tuple(place)]) > 1.5e-3


def test_e004_23_the_power_array_at_the_inputs_uses_the_inertia_at_the_inputs() -> None:
    """(E-7): − I*_qq • H^q_ww, as (4-62) has it; printed I*_ww, which leaves entries up to 1.48."""
    (G, H, _), model = mechanism()
    back = np.linalg.inv(G)
    corrected = transfer.transferred(model, (G, H))
    printed = transfer.congruent(back, transfer.dot(back.T, model.P) - transfer.dot(model.I, H))
    assert np.abs(transfer.symmetric(corrected.P)).max() < 1e-9
    assert np.abs(transfer.symmetric(printed)).max() == pytest.approx(1.48, abs=0.005)


def test_e004_24_a_point_turns_with_the_joint_of_its_own_link(rng: np.random.Generator) -> None:
    """(2-62): the sum goes up to n = j; up to j − 1 the coefficient of joint j would vanish."""
    arm, (q, qd, _) = moving_arm(rng, "RRRR")
    at = np.array([0.1, -0.2, 0.3])
    chain = chain_of(arm, q, "RRRR", 3, at)
    arm_j = chain.P - chain.R[2]
    rate = dal.link_motion(arm, q, qd, link="link3", point=at).velocity - dal.link_motion(arm, q, qd, link="link3").velocity
    sums = [sum(qd[n] * chain.S[n] for n in range(count)) for count in (3, 2)]
    assert relative_error(np.cross(sums[0], arm_j), rate[:3]) < HOLDS
    assert np.abs(np.cross(sums[1], arm_j) - rate[:3]).max() > FAILS
    g = dal.influence(arm, q, "link3", point=at, kind="point").G[:, 2]
    assert relative_error(np.cross(chain.S[2], arm_j), g) < HOLDS
    assert np.abs(g).max() > FAILS


def test_e004_25_small_misprints(rng: np.random.Generator) -> None:
    """(2-84) h_mn = h_nm; (2-105) l < m < n; (2-116) 3 q̈ᵀ H q̇; (4-31) P_wcc; (4-66), (4-67) q̇ᵀ [H] q̇; Table 1-1 [G^C]."""
    arm, (q, qd, qdd) = moving_arm(rng, "RRRR")
    G, H, D = dal.influence(arm, q, order=3, kind="point")
    assert relative_error(H, np.swapaxes(H, 1, 2)) < HOLDS  # (2-84), where h_mn = h_mn says nothing
    rotation = dal.influence(arm, q, order=3, kind="rotation")
    assert np.abs(rotation.D[:, 0, 1, 2]).max() > FAILS  # (2-105): 1 < m < m, as printed, holds for no joint
    jerk = dal.link_motion(arm, q, qd, qdd, qddd=np.zeros(4)).jerk[:3]
    cubic = np.einsum("l,clmn,m,n->c", qd, D, qd, qd)
    assert relative_error(3 * transfer.quadratic(H, qdd, qd) + cubic, jerk) < HOLDS  # (2-116)
    assert relative_error(3 * transfer.quadratic(H, qd, qd) + cubic, jerk) > FAILS
    P = five_bar_model().P
    free, fixed = [0, 3], [1, 2]
    blocks = [P[:, rows][:, :, columns] for rows in (free, fixed) for columns in (free, fixed)]  # P_wyy, P_wyc, P_wcy, P_wcc
    assert [block.size for block in blocks] == [P.size // 4] * 4  # four different blocks make up P_www
    assert transfer.quadratic(H, qd, qd).shape == (G @ qdd).shape  # a row times each plane times a column
