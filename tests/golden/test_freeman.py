"""Tables, equations and examples of [Freeman]: influence coefficients, and the transfer of coordinates by `dal.transfer`.

Printed tables are compared to their last digit; numbers computed from the same data to rounding.
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
from tests.golden.freeman_tables import values
from tests.golden.mechanism_samples import mechanism_of
from tests.golden.reading import golden
from tests.robots import relative_error

TOLERANCE = 1e-12  # sums of products of numbers of the size of one
SAMPLE = 1e-9  # of the oracle's samples
COMPUTED = 1e-7  # the same derived data with other arithmetic, printed masses having six digits
TYPES = "RPRRP"
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, each asked once: compiling would take the time
NUMBERLESS = [
    "004.setup.stewart",
    "004.setup.parallel_serial",
    "004.setup.slider_crank",
    "004.setup.bricard",
    "004.setup.two_finger",
    "004.setup.planar6",
]


def sample(name: str) -> dict[str, Any]:
    return CASES[name]["value"]


def states(case: dict[str, Any], *names: str) -> list[np.ndarray]:
    return [np.array(case[name], dtype=float) for name in names]


# Chapter II: coefficients


@pytest.mark.parametrize("types", [TYPES, "RRRRR", "PRRPR"])
@pytest.mark.parametrize("part", ["translational", "rotational"])
@pytest.mark.parametrize("table, names, order", [("2-3", "n", 1), ("2-4", "mn", 2), ("2-5", "lmn", 3)])
def test_every_row_of_a_table_is_what_the_library_gives(
    table: str, names: str, order: int, part: str, types: str, rng: np.random.Generator
) -> None:
    """004.table2-3, 004.table2-4, 004.table2-5, as corrected: on link 4 of five, so that joints beyond it occur."""
    arm, q, at = random_arm(rng, types), rng.uniform(-2, 2, 5), rng.normal(size=3)
    chain = chain_of(arm, q, types, 4, at)
    kind = "point" if part == "translational" else "rotation"
    found = dal.influence(arm, q, "link4", order=3, point=at, kind=kind)[order - 1]
    rows = sample(f"004.table{table}")[part]
    for indices in itertools.product(range(1, 6), repeat=order):
        said = [v for v in values(rows, chain, names, indices) if v is not None]
        if not said and kind == "point":  # by symmetry: another order of the same joints is in the table
            said = [v for other in itertools.permutations(indices) for v in values(rows, chain, names, other) if v is not None]
        assert said, indices
        entry = found[(slice(None), *(i - 1 for i in indices))]
        assert all(np.abs(v - entry).max() < TOLERANCE for v in said), (indices, types)


def test_coefficients_and_arrays_of_the_sample_arm() -> None:
    """004.sample.GHD."""
    case = sample("004.sample.GHD")
    arm, q = arm_of(case["robot"]), case["q"]
    for kind, name in (("point", "point"), ("rotation", "rot")):
        found = dal.influence(arm, q, f"link{case['link']}", order=3, point=case["point"], kind=kind)
        for letter, array in zip("GHD", found, strict=True):
            assert relative_error(array, case[f"{letter}_{name}"]) < TOLERANCE, (letter, name)
    found = dal.terms(arm, q, formulation="influence")
    assert relative_error(found["I"], case["I_star"]) < TOLERANCE
    assert relative_error(found["P"], case["P_star"]) < TOLERANCE
    assert relative_error(transfer.symmetric(found["P"]), case["christoffel"]) < TOLERANCE
    assert relative_error(dal.christoffel(arm, q, formulation="influence"), case["christoffel"]) < TOLERANCE


def test_velocity_acceleration_and_jerk_follow_from_the_coefficients(rng: np.random.Generator) -> None:
    """004.eq2-44."""
    arm, q, (qd, qdd, qddd) = random_arm(rng, TYPES), rng.uniform(-2, 2, 5), rng.normal(size=(3, 5))
    G, H, D = dal.influence(arm, q, order=3)
    motion = dal.link_motion(arm, q, qd, qdd, qddd=qddd)
    for found, expected in zip(transfer.rates((G, H, D), qd, qdd, qddd=qddd), motion, strict=True):
        assert relative_error(found, expected) < TOLERANCE
    shortcut = G @ qddd + 3 * transfer.quadratic(H, qdd, qd) + np.einsum("l,clmn,m,n->c", qd, D, qd, qd)  # (2-116)
    assert relative_error(motion.jerk[:3], shortcut[:3]) < TOLERANCE
    assert np.abs(motion.jerk[3:] - shortcut[3:]).max() > 1e-3  # it holds for points only


def test_the_two_orders_of_rotational_coefficients_differ_by_a_cross_product(rng: np.random.Generator) -> None:
    """004.eq2-178: q̇ᵀ Hᵀ − Gᵀ × (G q̇) = q̇ᵀ H."""
    arm, q, qd = random_arm(rng, TYPES), rng.uniform(-2, 2, 5), rng.normal(size=5)
    G, H, _ = dal.influence(arm, q, kind="rotation")
    left = np.einsum("cnm,m->cn", H, qd) - np.cross(G.T, G @ qd).T
    assert relative_error(left, np.einsum("m,cmn->cn", qd, H)) < TOLERANCE


def test_the_dot_product_of_the_appendix() -> None:
    """004.appendixA: whole numbers, so equality is exact."""
    case = sample("004.appendixA")
    A, C, b, D = (np.array(case[name]) for name in "ACbD")
    assert np.array_equal(transfer.dot(A, C), case["A_dot_C"])
    assert np.array_equal(transfer.quadratic(C, b, b), case["bCb"])
    assert np.array_equal(transfer.congruent(D, C), case["DtCD"])
    assert np.array_equal(A @ transfer.quadratic(C, b, b), transfer.quadratic(transfer.dot(A, C), b, b))


# Chapter II: the linear model


def test_the_torque_is_linearised_by_influence_coefficients_of_third_order() -> None:
    """004.eq2-225.sample."""
    case = sample("004.eq2-225.sample")
    arm = arm_of(case["case"]["robot"])
    q, qd, qdd = states(case["case"], "q", "qd", "qdd")
    model = transfer.open_chain(arm, q)
    assert relative_error(model.I, case["I_star"]) < SAMPLE
    assert relative_error(model.P, case["P_star"]) < SAMPLE
    by_rate = np.einsum("m,pmn->pn", qd, model.P + np.swapaxes(model.P, 1, 2))  # (2-204)
    assert relative_error(by_rate, case["dT_dphidot"]) < SAMPLE
    by = load_partials(arm, q, qd, qdd)
    assert relative_error(by.dtau_dq, case["dT_dphi"]) < SAMPLE
    assert relative_error(by.dtau_dqd, case["dT_dphidot"]) < SAMPLE
    assert relative_error(by.dtau_dqdd, case["I_star"]) < SAMPLE
    exact = dal.derivatives(arm, q, qd, qdd)
    assert relative_error(exact.dtau_dq, case["dT_dphi"]) < SAMPLE
    assert relative_error(exact.dtau_dqd, case["dT_dphidot"]) < SAMPLE


def test_the_state_space_of_an_arm_with_motors() -> None:
    """004.statespace.sample."""
    case = sample("004.statespace.sample")
    arm, motor = arm_of(case["case"]["robot"]), linear.motors(case["actuator"])
    q, qd, qdd, qddd = states(case["case"], "q", "qd", "qdd", "qddd")
    dT_dq, dT_dqd, I = dT = dal.derivatives(arm, q, qd, qdd)
    F, G = linear.state_space(motor, dT)
    assert relative_error(F, case["F"]) < SAMPLE
    assert relative_error(G, case["G"]) < SAMPLE
    T = transfer.open_chain(arm, q).torque(qd, qdd) + motor.I @ qdd
    current = np.linalg.solve(motor.CM, T + motor.B @ qd)  # (2-238)
    rate = np.linalg.solve(motor.CM, (I + motor.I) @ qddd + (dT_dqd + motor.B) @ qdd + dT_dq @ qd)  # (2-239)
    assert relative_error(current, case["current"]) < SAMPLE
    assert relative_error(rate, case["current_rate"]) < SAMPLE
    assert relative_error(motor.L @ rate + motor.R @ current + motor.CE @ qd, case["voltage"]) < SAMPLE
    train = drive_train(case["actuator"], arm.joint_names)
    found = dal.nominal_voltage(arm, q, qd, qdd, qddd, drive=train)
    assert relative_error(found.current, case["current"]) < SAMPLE
    assert relative_error(found.current_rate, case["current_rate"]) < SAMPLE
    assert relative_error(found.voltage, case["voltage"]) < SAMPLE
    model = dal.linearize_motors(arm, q, qd, qdd, drive=train)
    assert relative_error(model.A, case["F"]) < SAMPLE
    assert relative_error(model.B, case["G"]) < SAMPLE


def drive_train(data: dict[str, Any], coordinates: tuple[str, ...]) -> dal.DriveTrain:
    """The motors of a sample; T is the inverse of the document's G."""
    numbers = zip(*(data[key] for key in ("R", "CM", "CE", "L", "I", "B")), strict=True)
    motors = {
        f"motor{k}": dal.Motor(R, CM, CE, L, inertia=I, damping=B) for k, (R, CM, CE, L, I, B) in enumerate(numbers, start=1)
    }
    return dal.DriveTrain(motors, np.linalg.inv(np.array(data["Gqphi"], dtype=float)), coordinates)


def test_the_state_space_in_task_coordinates() -> None:
    """004.eq3-53.sample."""
    case = sample("004.eq3-53.sample")
    arm = arm_of(case["robot"])
    q, qd, qdd = states(case, "q", "qd", "qdd")
    state = transfer.StateModel(*linear.state_space(linear.motors(case["actuator"]), dal.derivatives(arm, q, qd, qdd)))
    assert relative_error(state.F, case["F"]) < SAMPLE
    tip = transfer.rows(dal.influence(arm, q, order=3), [0, 1])
    found = transfer.transferred_state(state, tip, qd, qdd)
    assert relative_error(found.F, case["F_hat"]) < COMPUTED
    assert np.array_equal(found.G, state.G)  # voltages drive currents, which are not transferred
    model = dal.linearize_motors(arm, q, qd, qdd, drive=drive_train(case["actuator"], arm.joint_names)).in_coordinates(tip)
    assert relative_error(model.A, case["F_hat"]) < COMPUTED
    n, names = arm.n, [f"x{k}" for k in range(3 * arm.n)]
    point = dal.OperatingPoint(q, qd, qdd, dal.inverse_dynamics(arm, q, qd, qdd))
    signals = {"states": names, "inputs": [f"V{k}" for k in range(n)], "outputs": names}
    model = dal.LinearModel(*state, np.eye(3 * n), np.zeros((3 * n, n)), **signals, point=point)
    assert relative_error(model.in_coordinates(tip).A, case["F_hat"]) < COMPUTED


# Chapter IV


def test_a_platform_has_gyroscopic_planes(rng: np.random.Generator) -> None:
    """004.eq4-52, and the same from a body carried by six joints, transferred to the velocity of its centre and ω."""
    case = sample("004.eq4-52")["sample"]
    II, w = np.array(case["II"]), np.array(case["omega"])
    body = transfer.platform(3.0, II)
    assert relative_error(body.torque(np.r_[0, 0, 0, w], np.zeros(6))[3:], case["gyroscopic"]) < TOLERANCE
    assert np.array_equal(body.I, np.block([[3.0 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), II]]))
    arm, q = random_arm(rng, "PRPRPR"), rng.uniform(-2, 2, 6)
    last = arm.parameters.links[-1]
    free = arm.replace(parameters=arm.parameters.replace(links=tuple(_emptied(x, last.name) for x in arm.parameters.links)))
    R = dal.forward_kinematics(free, q, last.name)[:3, :3]
    found = transfer.transferred(transfer.open_chain(free, q), dal.influence(free, q, last.name, point=last.com))
    body = transfer.platform(last.mass, R @ last.inertia @ R.T, gravity=free.gravity)
    assert relative_error(found.I, body.I) < SAMPLE
    assert relative_error(transfer.symmetric(found.P), transfer.symmetric(body.P)) < SAMPLE
    assert np.abs(found.T - body.T).max() < SAMPLE


def _emptied(link: Any, kept: str) -> Any:
    return link if link.name == kept else dal.Link(link.name, virtual=True)


def test_a_redundant_arm_moves_with_least_kinetic_energy() -> None:
    """004.redundant.sample."""
    case = sample("004.redundant.sample")
    arm, (q, ud, udd) = arm_of(case["robot"]), states(case, "q", "ud", "udd")
    tip, model = transfer.rows(dal.influence(arm, q), [0, 1]), transfer.open_chain(arm, q)
    R = transfer.right_inverse(tip, weight=model.I)
    qd, qdd, _ = transfer.resolve(tip, ud, udd, weight=model.I)  # (4-71), (4-72)
    partial = transfer.redundant(model, tip)
    expected = {name: np.array(case[name]) for name in ("G", "G_right_inverse", "qd", "qdd", "I_qu", "P_quu_sym", "T_q")}
    found = {"G": tip.G, "G_right_inverse": R, "qd": qd, "qdd": qdd, "I_qu": partial.I}
    found["P_quu_sym"] = transfer.symmetric(partial.P)
    for name, array in (found | {"T_q": partial.torque(ud, udd)}).items():
        assert relative_error(array, expected[name]) < SAMPLE, name
    assert relative_error(dal.inverse_dynamics(arm, q, qd, qdd), expected["T_q"]) < SAMPLE


def test_a_redundant_spatial_arm_and_its_operational_space() -> None:
    """The sample redundant_3R_xy: B_A = (J M⁻¹ Jᵀ)⁻¹, J̄ the right inverse, and forces in the null space of J̄ᵀ."""
    data = golden("redundant_3R_xy")
    given, expected = data["input"], {name: np.array(x) for name, x in data["expected"].items()}
    arm, (q, ud, udd, gamma, tau0) = arm_of(given["robot"]), states(given, "q", "ud", "udd", "gamma", "tau0")
    G, H, _ = tip = transfer.rows(dal.influence(arm, q), [0, 1])
    model = transfer.open_chain(arm, q)
    R = transfer.right_inverse(G, weight=model.I)
    qd, qdd, _ = transfer.resolve(tip, ud, udd, weight=model.I)
    B_A = np.linalg.inv(G @ np.linalg.solve(model.I, G.T))
    plain = transfer.right_inverse(G)
    centrifugal = R.T @ transfer.quadratic(model.P, qd, qd) - B_A @ transfer.quadratic(H, qd, qd)
    found = {
        "J": G,
        "H": H,
        "M": model.I,
        "G_right_inverse": R,
        "Jbar": R,
        "qd": qd,
        "qdd": qdd,
        "I_qu": model.I @ R,
        "T_q": transfer.redundant(model, tip).torque(ud, udd),
        "B_A": B_A,
        "C_A_xd": centrifugal,
        "g_A": -R.T @ model.T,
        "tau_general": G.T @ gamma + transfer.null_projector(G, weight=model.I).T @ tau0,
        "ellipsoid_core": (model.I @ plain).T @ (model.I @ plain),
        "ellipsoid_centre": G @ np.linalg.solve(model.I, model.T),
    }
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert relative_error(array, expected[name]) < data["tolerance"], name


def test_a_four_bar_mechanism_from_its_open_chain() -> None:
    """The sample mechanism_fourbar: closed by x and y of the third link's end, driven by the first joint."""
    data = golden("mechanism_fourbar")
    given, expected = data["input"], {name: np.array(x) for name, x in data["expected"].items()}
    mechanism = given["mechanism"]
    arm = arm_of(mechanism["chains"][0])
    closures = mechanism["closures"]
    where = {"link": f"link{closures[0]['a']['link']}", "point": closures[0]["a"]["point"], "kind": "point"}
    q = mechanism_of(mechanism, given["x0"], "four-bar").assemble(given["y"]).x
    whole = transfer.inverse(augmented(transfer.rows(dal.influence(arm, q, **where), [0, 1])))
    back = (whole.G[:, :1], whole.H[:, :1, :1])  # closures do not move
    model = transfer.reduced(transfer.open_chain(arm, q), back)
    qd, qdd, _ = transfer.rates(back, given["yd"], given["ydd"])
    found = {
        "x": q,
        "xd": qd,
        "xdd": qdd,
        "G": back[0],
        "M": model.I,
        "christoffel": model.P,
        "g": -model.T,
        "tau": model.torque(given["yd"], given["ydd"]) + back[0].T @ dal.friction_torque(arm, qd),
    }
    assert found.keys() == expected.keys()
    for name, array in found.items():
        assert relative_error(array, expected[name]) < data["tolerance"], name


# Appendix B: the wrist-partitioned arm


def wrist(rng: np.random.Generator) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
    """Numbers for the symbols, and G, H of the wrist point."""
    v = draw(rng, "a23 a34 s11 th1 th2 th3")
    G, H, _ = dal.influence(wrist_partitioned(v), [v["th1"], v["th2"], v["th3"]], kind="point")
    return v, G, H


def test_coefficients_of_the_wrist_point(rng: np.random.Generator) -> None:
    """004.tableB-1.G, 004.tableB-1.H1, 004.tableB-1.H2, 004.tableB-1.H3."""
    v, G, H = wrist(rng)
    assert relative_error(G, value(sample("004.tableB-1.G"), v)) < TOLERANCE
    for plane in (1, 2, 3):
        assert relative_error(H[plane - 1], value(sample(f"004.tableB-1.H{plane}"), v)) < TOLERANCE


def test_the_wrist_point_as_generalised_coordinates(rng: np.random.Generator) -> None:
    """004.eqB-6, 004.eqB-7, 004.eqB-8: rates of the joints by the wrist's, and the curvature of the first."""
    v, G, H = wrist(rng)
    back, H_back, _ = transfer.inverse((G, H))
    assert relative_error(back, value(sample("004.eqB-6"), v)) < TOLERANCE
    assert relative_error(transfer.dot(back, H)[0], value(sample("004.eqB-7"), v)) < TOLERANCE
    assert relative_error(H_back[0], value(sample("004.eqB-8"), v)) < TOLERANCE


def test_the_acceleration_of_the_first_joint_by_hand(rng: np.random.Generator) -> None:
    """004.eqB-15 equals what the transferred coefficients give."""
    v, G, H = wrist(rng)
    pd, pdd = rng.normal(size=(2, 3))
    at = v | {"PXd": pd[0], "PYd": pd[1], "PXdd": pdd[0], "PYdd": pdd[1], "r": v["a23"] * np.cos(v["th2"])}
    at["r"] += v["a34"] * np.cos(v["th2"] + v["th3"])
    by_hand = value(sample("004.eqB-15").split("=")[1], at)
    assert by_hand == pytest.approx(transfer.rates(transfer.inverse((G, H)), pd, pdd).acceleration[0], rel=1e-11)


# Appendix C: the five-bar


def five_bar_motion() -> dict[str, Any]:
    """The model in w = (φ1, x, y, θ) of the end h, and the joints' motion for w' and w'' of Table C-3."""
    arm, q = five_bar()
    w = augmented(planar(arm, q))
    model = transfer.transferred(transfer.open_chain(arm, q), w)
    yd, ydd = (np.array(sample("004.tableC-3.T")[name], dtype=float) for name in ("yd", "ydd"))
    qd, qdd, _ = transfer.rates(transfer.inverse(w), yd, ydd)
    return {"arm": arm, "q": q, "qd": qd, "qdd": qdd, "model": model, "T": model.torque(yd, ydd)}


def test_the_five_bar_s_geometry() -> None:
    """004.tableC.geometry and 004.fivebar.mechanism: postures, positions of A and h."""
    case, (arm, q) = sample("004.tableC.geometry"), five_bar()
    assert np.degrees(q) == pytest.approx(case["phi_deg"])
    assert np.degrees(np.cumsum(q)) == pytest.approx(case["link_angles_deg"])
    assert dal.forward_kinematics(arm, q, "link2")[:2, 3] == pytest.approx(case["A"])
    assert dal.forward_kinematics(arm, q)[:2, 3] == pytest.approx(case["h"])
    second = arm.parameters.links[2]
    assert (second.mass, second.inertia[2, 2]) == (case["m2"], case["I2"])
    assert arm.parameters.links[1].inertia[2, 2] == case["I1_about_O"]


def test_the_open_chain_of_the_five_bar() -> None:
    """004.tableC-2: one unit of the last printed digit."""
    case, (arm, q) = CASES["004.tableC-2"], five_bar()
    printed, computed = case["value"], case["computed"]
    G, H, _ = augmented(planar(arm, q))
    model = transfer.open_chain(arm, q)
    assert np.abs(G - printed["G_w_phi"]).max() < 0.0101
    assert np.abs(H[1] - _outer_max(-G[2])).max() < TOLERANCE * 100  # the printed planes repeat rows of G
    assert np.abs(H[2] - _outer_max(G[1])).max() < TOLERANCE * 100
    assert relative_error(G[1], computed["G_x"]) < TOLERANCE
    assert relative_error(G[2], computed["G_y"]) < TOLERANCE
    assert relative_error(model.I, computed["I_star"]) < TOLERANCE
    assert relative_error(model.P, computed["P_star"]) < TOLERANCE
    assert np.abs(model.I[:2, :2] - printed["I_star"]).max() < 0.00101
    for plane in (0, 1):
        assert np.abs(model.P[plane, :2, :2] - printed[f"P_star_{plane + 1}"]).max() < 0.00101


def _outer_max(row: np.ndarray) -> np.ndarray:
    """The matrix with entry (m, n) = row[max(m, n)]."""
    n = range(len(row))
    return np.array([[row[max(i, j)] for j in n] for i in n])


def test_the_five_bar_referred_to_its_inputs_and_constraints() -> None:
    """004.tableC-3.T, 004.tableC-3.I, 004.tableC-3.P: one unit of the last printed digit, and as recomputed."""
    found = five_bar_motion()
    arrays = {"T": found["T"], "I": found["model"].I, "P": transfer.symmetric(found["model"].P)}
    for name, array in arrays.items():
        case = CASES[f"004.tableC-3.{name}"]
        printed = case["value"]["T_w"] if name == "T" else case["value"]
        assert np.abs(array - printed).max() < case["tol"], name
        assert np.abs(array - case["computed"]).max() < COMPUTED, name


def test_the_five_bar_by_dyads() -> None:
    """004.tableC-1: kinematics of the pins A and B and of link 2, pin forces by Newton, driving torques."""
    case, found = CASES["004.tableC-1"], five_bar_motion()
    printed, computed = case["value"], case["computed"]
    arm, q, qd, qdd = (found[name] for name in ("arm", "q", "qd", "qdd"))
    A, B = (dal.link_motion(arm, q, qd, qdd, link=name) for name in ("link2", "link4"))
    centre = dal.link_motion(arm, q, qd, qdd, link="link2", point=arm.parameters.links[2].com)
    assert A.velocity[:2] == pytest.approx(computed["A_vel"], rel=COMPUTED)
    assert [A.velocity[5], A.acceleration[5]] == pytest.approx([computed["omega2"], computed["alpha2"]], rel=COMPUTED)
    assert centre.acceleration[:2] == pytest.approx(computed["centroid_acc"], rel=COMPUTED)
    assert A.acceleration[:2] == pytest.approx(printed["A"]["acc"], abs=0.005)
    assert B.velocity[:2] == pytest.approx(printed["B"]["vel"], abs=1e-9)
    assert B.acceleration[:2] == pytest.approx(printed["B"]["acc"], abs=1e-9)
    assert dal.forward_kinematics(arm, q, "link4")[:2, 3] == pytest.approx(computed["B"], rel=COMPUTED)
    F_H = found["T"][1:3]
    F_A = arm.parameters.links[2].mass * centre.acceleration[:2] - F_H  # links 3 and 4 have no mass and pass F_H on
    assert pytest.approx(computed["F_H"], rel=COMPUTED) == F_H
    assert pytest.approx(computed["F_A"], rel=COMPUTED) == F_A
    assert pytest.approx(printed["F_B"], abs=0.005) == F_H
    assert [found["T"][0], found["T"][3]] == pytest.approx([computed["T1"], computed["T_h"]], rel=COMPUTED)
    assert [found["T"][0], found["T"][3]] == pytest.approx([printed["T1"], printed["T2"]], abs=0.005)


# Appendix E: the parallel mechanism


def test_the_legs_geometry() -> None:
    """004.appendixE.geometry: lengths and radii of the recovered vectors."""
    case = sample("004.appendixE.geometry")
    for r in range(3):
        vectors = np.array(case["vectors_P_minus_R"][r])
        X = dal.forward_kinematics(leg(r), np.zeros(3), ["link1", "link2", "link3"])
        assert X[:, :2, 3] == pytest.approx(-vectors, abs=1e-15)
        assert X[0, :2, 3] == pytest.approx(case["base_joints"][r], abs=1e-15)
        assert np.linalg.norm(np.diff(X[:, :2, 3], axis=0), axis=1) == pytest.approx(case["link_lengths"][r])
        assert np.linalg.norm(vectors[0]) == pytest.approx(case["base_radius"], abs=5e-3)  # two decimals
        assert np.linalg.norm(vectors[2]) == pytest.approx(case["platform_radius"], abs=5e-4)


def relative_to_size(found: np.ndarray, printed: Any) -> float:
    """The largest difference of an entry beside 1 + its size: half a unit of three decimals is 5e-4, and one is off by 6.1e-4."""
    return float((np.abs(found - printed) / (1 + np.abs(printed))).max())


def leg_model(r: int) -> dict[str, Any]:
    """Leg r referred to its joints and to the platform [Freeman, Eq. 4-43 to 4-46]."""
    arm, q = leg(r), np.zeros(3)
    tip, own = planar(arm, q), transfer.open_chain(arm, q)
    back = transfer.inverse(tip)
    return {"G": tip.G, "H": tip.H, "own": own, "back": back, "model": transfer.transferred(own, tip)}


def test_one_leg_referred_to_joints_and_platform() -> None:
    """004.tableE-1: half a unit of the last printed digit, and as recomputed."""
    case, found = CASES["004.tableE-1"], leg_model(0)
    printed, computed = case["value"], case["computed"]
    assert relative_error(found["own"].I, printed["I_phiphi"]) < TOLERANCE
    assert relative_error(found["H"][0], _outer_max(-found["G"][1])) < TOLERANCE
    assert relative_error(found["H"][1], _outer_max(found["G"][0])) < TOLERANCE
    assert np.abs(found["own"].P).max() == 0.0
    arrays = {
        ("G", "G"): found["G"],
        ("G_w", "Gw"): found["back"].G,
        ("H_ww", "Hw"): found["back"].H,
        ("I_ww", "I_ww"): found["model"].I,
        ("P_www", "P_www"): transfer.symmetric(found["model"].P),
    }
    for (in_print, again), array in arrays.items():
        assert relative_to_size(array, printed[in_print]) < case["tol"], in_print
        assert relative_error(array, computed[again]) < SAMPLE, in_print


def platform_model() -> tuple[dal.Influence, transfer.DynamicModel]:
    """The base joints over the platform, and the sum of the legs [Freeman, Eq. E-5, E-6]."""
    first, second, third = (leg_model(r) for r in range(3))
    inputs = transfer.stack(*(transfer.rows(x["back"], [0]) for x in (first, second, third)))
    return inputs, first["model"] + second["model"] + third["model"]


def test_the_mechanism_referred_to_its_platform() -> None:
    """004.tableE-2: half a unit of the last printed digit, and as recomputed."""
    case, (inputs, model) = CASES["004.tableE-2"], platform_model()
    for name, array in {"G": inputs.G, "H": inputs.H, "I": model.I, "P": transfer.symmetric(model.P)}.items():
        assert relative_to_size(array, case["value"][name]) < case["tol"], name
        assert relative_error(array, case["computed"][name]) < SAMPLE, name


def test_referred_to_its_base_joints_the_mechanism_is_what_was_built() -> None:
    """004.eqE-7: each actuator has its own constant inertia and no velocity torque."""
    case, (inputs, model) = CASES["004.eqE-7"], platform_model()
    found = transfer.transferred(model, inputs)
    assert relative_error(found.I, case["value"]["I_qq"]) < case["tol"]
    assert np.abs(transfer.symmetric(found.P) - case["value"]["P_qqq"]).max() < case["tol"]


# What has no numbers


@pytest.mark.parametrize("name", NUMBERLESS)
def test_a_set_up_without_numbers_is_described_only(name: str) -> None:
    """004.setup.*: the document gives no dimensions, so there is nothing to reproduce; each says which coordinates it means."""
    case = CASES[name]
    assert case["status"] == "not-numeric"
    assert {"desired", "q", "y"} & case["value"].keys()


def test_every_other_value_has_numbers_or_formulas() -> None:
    assert {name for name, case in CASES.items() if case["status"] == "not-numeric"} == set(NUMBERLESS)
