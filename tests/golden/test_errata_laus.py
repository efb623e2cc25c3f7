"""Misprints of [Laus], E000-01 to 12: the corrected form holds and the printed one does not. docs/errata.md lists them."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.golden.formulas import value
from tests.golden.laus_arm import CASES, arm, numbers, rotation_first, state, terms
from tests.robots import relative_error

HOLDS = 1e-12  # closed forms of a few dozen operations
FAILS = 1e-2  # what a wrong term costs at numbers of the size of one is far above


@pytest.fixture
def v() -> dict[str, float]:
    return numbers(np.random.default_rng(8)) | {"th1": 0.5, "th2": 0.8, "th3": -1.2, "dth1": 0.9, "dth2": -0.6, "dth3": 1.4}


def transformation(v: dict[str, float], link: int) -> np.ndarray:
    """(14) of link 1, 2 or 3 with R and p_C from the poses, rotation first."""
    X = dal.forward_kinematics(arm(v), state(v)[0], f"link{link}")
    x, y, z = X[:3] @ [v[f"l{link}"] - v[f"a{link}"], 0, 0, 1]
    R = X[:3, :3].T
    return np.block([[R, np.zeros((3, 3))], [-R @ [[0, -z, y], [z, 0, -x], [-y, x, 0]], R]])


def library_transformation(v: dict[str, float], link: int) -> np.ndarray:
    return rotation_first(rotation_first(terms(v)["T"][link - 1]).T).T


def test_e000_01_the_kinetic_energy_has_a_transposed_twist(v: dict[str, float]) -> None:
    """(1), printed ½ $ M̄ $: a 6x1 twist times a 6x6 matrix is no product; with the transpose it is the energy."""
    found = terms(v)
    qd = state(v)[1]
    twists = found["J"] @ qd
    energy = sum(S @ M @ S / 2 for S, M in zip(twists, found["Mbar"], strict=True))
    assert energy == pytest.approx(dal.energy(arm(v), *state(v)).kinetic, rel=HOLDS)
    with pytest.raises(ValueError, match="mismatch"):
        twists[0][:, None] @ found["Mbar"][0]


def test_e000_02_six_principal_screws_make_a_diagonal_product(v: dict[str, float]) -> None:
    """(2) to (8): five rows, the last [0 0 −c 0 0 1], leave an entry off the diagonal; six leave 2 diag(a², b², c², 1, 1, 1)."""
    S = value(CASES["000.eq8.SC"]["value"], v)
    wanted = 2 * np.diag([v["a"] ** 2, v["b"] ** 2, v["c"] ** 2, 1, 1, 1])
    assert relative_error(S.T @ S, wanted) < HOLDS
    printed = S[[0, 1, 2, 3, 5]]
    assert np.abs(printed.T @ printed - wanted).max() > FAILS


def test_e000_03_row_4_of_the_first_transformation_has_six_entries(v: dict[str, float]) -> None:
    """(41), printed [0 0 c1 s1 0]."""
    c, s = np.cos(v["th1"]), np.sin(v["th1"])
    for T in (transformation(v, 1), library_transformation(v, 1)):
        np.testing.assert_allclose(T[3], [0, 0, 0, c, s, 0], atol=HOLDS)
        assert T[3].size != len([0, 0, c, s, 0])
        assert min(np.abs(T[3] - np.insert([0, 0, c, s, 0], k, 0.0)).max() for k in (4, 5)) > FAILS


def test_e000_04_rows_4_and_5_of_the_second_transformation_carry_the_arm(v: dict[str, float]) -> None:
    """(42), printed with a second [0 0 1 0 0 0] and without c12."""
    wanted = value(CASES["000.T0C2"]["value"], v)
    for T in (transformation(v, 2), library_transformation(v, 2)):
        assert relative_error(T, wanted) < HOLDS
        assert np.abs(T[3] - [0, 0, 1, 0, 0, 0]).max() > FAILS
        assert np.abs(T[4] - [0, 0, v["l2"] + v["a1"] * np.cos(v["th2"]), -np.sin(v["th1"] + v["th2"]), 0, 0]).max() > FAILS


def test_e000_05_the_gravity_screw_has_six_entries(v: dict[str, float]) -> None:
    """Before (49), printed [0 0 0 −g 0]: with −g in the fifth of six places (36) is the gradient of the potential."""
    robot, (q, qd) = arm(v), state(v)
    J = [rotation_first(link) for link in terms(v)["Jbar"]]
    gradient = dal.energy_gradient(robot, q, qd).dpotential_dq
    masses = [v["m1"], v["m2"], v["m3"]]

    def torque(screw: list[float]) -> np.ndarray:
        return -sum(m * Ji.T @ screw for m, Ji in zip(masses, J, strict=True))

    assert relative_error(torque([0, 0, 0, 0, -v["g"], 0]), gradient) < HOLDS
    assert np.abs(torque([0, 0, 0, -v["g"], 0, 0]) - gradient).max() > FAILS  # the other place where a zero can be missing


def test_e000_06_the_first_link_s_jacobian_has_one_column(v: dict[str, float]) -> None:
    """(49), printed 6x2 with an empty column: link 1 has one joint, and g_1 one entry."""
    alone = terms(v, 1)
    assert alone["Jbar"][0].shape == (6, 1)
    assert alone["g_links"][0].shape == (1,)
    assert relative_error(rotation_first(alone["Jbar"][0]), value(CASES["000.Jbar10"]["value"], v)) < HOLDS


def test_e000_07_the_first_entry_of_m_3_has_m_3_once(v: dict[str, float]) -> None:
    """(58): a mass squared has the wrong unit, so the printed entry does not double when the mass and moment do."""
    case = CASES["000.eq58.m3_11.printed"]
    found = terms(v)["M_links"][2][0, 0]
    assert found == pytest.approx(value(case["value"], v), rel=HOLDS)
    assert abs(found - value(case["printed"], v)) > FAILS
    twice = v | {"m3": 2 * v["m3"], "Iz3": 2 * v["Iz3"]}
    assert value(case["value"], twice) == pytest.approx(2 * value(case["value"], v), rel=HOLDS)
    assert abs(value(case["printed"], twice) - 2 * value(case["printed"], v)) > FAILS


def test_e000_08_row_5_of_the_third_transformation_has_l_3(v: dict[str, float]) -> None:
    """(56), printed b_3, a symbol the document has nowhere else; b is a radius of gyration there."""
    wanted = v["l3"] + v["a2"] * np.cos(v["th3"]) + v["a1"] * np.cos(v["th2"] + v["th3"])
    for T in (transformation(v, 3), library_transformation(v, 3)):
        assert T[4, 2] == pytest.approx(wanted, rel=HOLDS)
        assert abs(T[4, 2] - (wanted - v["l3"] + v["b"])) > FAILS


def test_e000_09_the_last_entry_of_m_3_does_not_depend_on_the_configuration(v: dict[str, float]) -> None:
    """(58), labels repeated and m3_33 printed as m3_32."""
    M = terms(v)["M_links"][2]
    assert relative_error(M, value(CASES["000.M3"]["value"], v)) < HOLDS
    assert M[2, 2] == pytest.approx(v["m3"] * v["l3"] ** 2 + v["Iz3"], rel=HOLDS)
    printed = v["m3"] * v["l3"] * (v["l3"] + v["a2"] * np.cos(v["th3"])) + v["Iz3"]
    assert abs(M[2, 2] - printed) > FAILS
    assert M[1, 2] == pytest.approx(printed, rel=HOLDS)
    assert terms(v | {"th3": 2.2})["M_links"][2][2, 2] == pytest.approx(M[2, 2], rel=HOLDS)


def test_e000_10_c_3_of_christoffel_symbols_makes_the_rate_of_m_3_minus_2_c_3_skew(v: dict[str, float]) -> None:
    """(59), c3_12 without a1 and c3_22 with all three speeds."""
    C = terms(v)["C_links"][2]
    printed = C.copy()
    for entry, name in (((0, 1), "000.eq59.c3_12.printed"), ((1, 1), "000.eq59.c3_22.printed")):
        assert C[entry] == pytest.approx(value(CASES[name]["value"], v), rel=HOLDS)
        printed[entry] = value(CASES[name]["printed"], v)
    step = 1e-5  # central difference: truncation ~ step², rounding ~ 1e-16 / step, both under 1e-9
    ahead, behind = ({**v, **{f"th{i}": v[f"th{i}"] + s * v[f"dth{i}"] for i in (1, 2, 3)}} for s in (step, -step))
    rate = (terms(ahead)["M_links"][2] - terms(behind)["M_links"][2]) / (2 * step)
    assert np.abs(rate - C - C.T).max() < 1e-8
    assert np.abs(rate - printed - printed.T).max() > FAILS


def test_e000_11_the_third_column_of_the_crucible_s_jacobian(v: dict[str, float]) -> None:
    """(60), missing in rows 4 and 5: the rate of the centre of mass when the crucible alone turns."""
    robot, q = arm(v), state(v)[0]
    J = dal.jacobian(robot, q, "link3", point=[v["l3"] - v["a3"], 0, 0])
    angle = v["th1"] + v["th2"] + v["th3"]
    wanted = [0, 0, 1, -v["l3"] * np.sin(angle), v["l3"] * np.cos(angle), 0]
    np.testing.assert_allclose(rotation_first(J)[:, 2], wanted, atol=HOLDS)
    np.testing.assert_allclose(rotation_first(terms(v)["Jbar"][2])[:, 2], wanted, atol=HOLDS)
    assert np.abs(wanted[3:5]).max() > FAILS


def test_e000_12_the_sum_ends_with_the_last_link(v: dict[str, float]) -> None:
    """§2.4, printed M_1 + M_2 + … + M_2; with three links the last term is M_3."""
    found = terms(v)
    assert relative_error(found["M_links"].sum(axis=0), dal.mass_matrix(arm(v), state(v)[0])) < HOLDS
    ending_with_2 = found["M_links"][[0, 1, 1]].sum(axis=0)
    assert np.abs(ending_with_2 - found["M"]).max() > FAILS
    assert [row["link"] for row in CASES["000.table1.dh"]["value"]] == [1, 2, 3]
