"""Every value of [Lee]: the three-link PUMA in closed form, the general formulas on an arm of five joints, the operation counts.

The closed forms are in the components of vectors in base axes, so they are evaluated with those of a PUMA of random masses in
random states, with d2 = 0 as in §4 and with that of Figure 3.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.expr.operation_counts import counts
from dalembert.formulations.published_counts import PUBLISHED
from dalembert.model.dh import dh_transform, from_dh
from tests.golden import lee
from tests.golden.formulas import value
from tests.golden.reading import golden
from tests.robots import relative_error

CASES = golden("lee_puma")["cases"]
TABLE_3 = golden("milicevic_complexity")["cases"]
TOLERANCE = 1e-12  # closed forms of some hundred operations
FORMULATIONS = {"LE": "lagrange_euler", "NE": "newton_euler", "GD": "generalized_dalembert"}
OPERATIONS = {"mult": "multiplications", "add": "additions"}


@pytest.fixture(params=[0.0, 0.14909], ids=["d2 = 0", "d2 of Figure 3"])
def state(request: pytest.FixtureRequest) -> lee.State:
    return lee.puma_state(np.random.default_rng(11), request.param)


@pytest.fixture
def flat(rng: np.random.Generator) -> lee.State:
    """A state of the arm as §4 has it, with d2 = 0."""
    return lee.puma_state(rng, 0.0)


def poses(state: lee.State) -> list[np.ndarray]:
    return [np.eye(4), *dal.forward_kinematics(state.robot, state.q, ["link1", "link2", "link3"])]


def test_the_table_of_figure_3_gives_the_matrices_of_section_4_but_for_d2(rng: np.random.Generator) -> None:
    """002.fig3.dh: the third column of A_1^2 has d2 = 149.09 mm by the table."""
    for number, name in enumerate(("002.A01", "002.A12.with_d2", "002.A23")):
        row = CASES["002.fig3.dh"]["value"][number]
        theta = rng.uniform(-2, 2)
        lengths = {f"{key}{number + 1}": row[f"{key}_mm"] / 1000 for key in ("a", "d")}
        A = dh_transform("standard", theta, lengths[f"d{number + 1}"], lengths[f"a{number + 1}"], np.deg2rad(row["alpha_deg"]))
        assert relative_error(A, value(CASES[name]["value"], lengths | {f"th{number + 1}": theta})) < TOLERANCE


def test_the_arm_of_figure_3_is_drawn_within_its_ranges_and_reaches_as_far_as_its_links() -> None:
    """002.fig3.dh, all six joints: shoulder and elbow offsets and the lengths up to the hand bound the reach."""
    table = CASES["002.fig3.dh"]["value"]
    rows = [
        {"a": r["a_mm"] / 1000, "d": r["d_mm"] / 1000, "alpha": np.deg2rad(r["alpha_deg"]), "mass": 1.0, "inertia": [0.1] * 3}
        for r in table
    ]
    robot = from_dh(rows, convention="standard")
    drawn = np.deg2rad([row["theta_deg"] for row in table])
    assert all(low <= row["theta_deg"] <= high for row in table for low, high in [row["range_deg"]])
    hand = dal.forward_kinematics(robot, drawn)[:3, 3]
    upper, forearm, offset = 0.4318, 0.43307 + 0.05625, 0.02032
    # As drawn, joint 1 at 90° turns the upper arm along y, joint 3 at 90° lays the forearm along it.
    assert hand == pytest.approx([-0.14909, upper + forearm, offset], abs=1e-12)


@pytest.mark.parametrize(("name", "i"), [("002.A01", 1), ("002.A12", 2), ("002.A23", 3)])
def test_the_transform_between_neighbouring_links_is_the_paper_s(flat: lee.State, name: str, i: int) -> None:
    T = poses(flat)
    assert relative_error(np.linalg.inv(T[i - 1]) @ T[i], value(CASES[name]["value"], flat.values)) < TOLERANCE


def test_the_second_transform_carries_the_offset_of_the_shoulder(state: lee.State) -> None:
    T = poses(state)
    expected = value(CASES["002.A12.with_d2"]["value"], state.values)
    assert relative_error(np.linalg.inv(T[1]) @ T[2], expected) < TOLERANCE


@pytest.mark.parametrize(("name", "i", "j"), [("002.R02", 0, 2), ("002.R03", 0, 3), ("002.R13", 1, 3)])
def test_the_rotation_from_one_link_to_another_is_the_paper_s(state: lee.State, name: str, i: int, j: int) -> None:
    T = poses(state)
    assert relative_error(T[i][:3, :3].T @ T[j][:3, :3], value(CASES[name]["value"], state.values)) < TOLERANCE


@pytest.mark.parametrize(("name", "k"), [("002.p2star", 2), ("002.p3star", 3)])
def test_the_vector_from_origin_to_origin_is_the_paper_s(flat: lee.State, name: str, k: int) -> None:
    T = poses(flat)
    assert relative_error(T[k][:3, 3] - T[k - 1][:3, 3], value(CASES[name]["value"], flat.values)) < TOLERANCE


@pytest.mark.parametrize("j", range(4))
def test_the_joint_axes_are_the_paper_s(state: lee.State, j: int) -> None:
    assert relative_error(poses(state)[j][:3, 2], value(CASES[f"002.z{j}"]["value"], state.values)) < TOLERANCE


@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize("j", [0, 1, 2])
def test_the_joint_axes_in_link_axes_are_the_paper_s(state: lee.State, s: int, j: int) -> None:
    T = poses(state)
    turned = T[s][:3, :3].T @ T[j][:3, 2]
    # R_1^0 z_2 is the paper's only for the parallel axes 2 and 3, z_1 = z_2, whatever the angles
    assert relative_error(turned, value(CASES[f"002.R{s}z{j}"]["value"], state.values)) < TOLERANCE


@pytest.mark.parametrize(("i", "j"), [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)])
def test_the_inertia_coefficients_of_the_puma_are_the_paper_s(state: lee.State, i: int, j: int) -> None:
    expected = value(CASES[f"002.D{i}{j}"]["value"], state.values)
    D = lee.dalembert(state)["D"]
    assert D[i - 1, j - 1] == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)
    assert D[j - 1, i - 1] == D[i - 1, j - 1]


@pytest.mark.parametrize("part", ["tran", "rot"])
@pytest.mark.parametrize("i", [1, 2, 3])
def test_the_velocity_torques_of_the_puma_are_the_paper_s(state: lee.State, i: int, part: str) -> None:
    expected = value(CASES[f"002.H{i}{part}"]["value"], state.values)
    assert lee.dalembert(state)[f"H_{part}"][i - 1] == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("i", [1, 2, 3])
def test_the_gravity_torques_of_the_puma_are_the_paper_s(state: lee.State, i: int) -> None:
    expected = value(CASES[f"002.G{i}"]["value"], state.values)
    # 0 is the sum of terms of some 10 N m
    assert lee.dalembert(state)["G"][i - 1] == pytest.approx(expected, rel=TOLERANCE, abs=1e-14)


def test_the_puma_in_numbers() -> None:
    """002.numeric."""
    case = CASES["002.numeric"]
    inputs = case["value"]["inputs"]
    q, qd = ([inputs[f"{letter}{s}"] for s in (1, 2, 3)] for letter in ("th", "dth"))
    found = dal.terms(lee.puma_at(inputs), q, qd, formulation="generalized_dalembert", names=lee.NAMES)
    for name in ("D", "H_tran", "H_rot", "G"):
        assert relative_error(found[name], np.array(case["value"][name])) < case["tol"]


@pytest.mark.parametrize("n", [1, 5])
def test_the_general_formulas_hold_for_an_arm_in_general_position(rng: np.random.Generator, n: int) -> None:
    """002.general: Eq. 30 to 33 as sums over links and joints, with sums over s from j in (30)."""
    robot = lee.random_arm(rng, n)
    q, qd = rng.uniform(-2, 2, (2, n))
    v = lee.vectors(robot, q)
    found = dal.terms(robot, q, qd, formulation="generalized_dalembert", names=lee.NAMES)
    joints = range(1, n + 1)
    expected = {
        "D_rot": lee.symmetric(lambda i, j: lee.D_rot(v, i, j), n),
        "D_tran": lee.symmetric(lambda i, j: lee.D_tran(v, i, j), n),
        "H_tran": np.array([lee.H_tran(v, i, qd) for i in joints]),
        "H_rot": np.array([lee.H_rot(v, i, qd) for i in joints]),
        "G": np.array([lee.G(v, i) for i in joints]),
    }
    for name, array in expected.items():
        published = CASES["002.general"]["value"][f"max_error_{name[0]}"]  # rounding on another arm of this size
        assert relative_error(found[name], array) < 10 * published, name


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("short", FORMULATIONS)
def test_the_published_operation_counts_are_those_of_both_tables(short: str, operation: str) -> None:
    """002.table1 and 003.table3, which print the same polynomials: the table here, the expression and the values agree."""
    polynomial = getattr(PUBLISHED[FORMULATIONS[short]], OPERATIONS[operation])
    for case in (CASES[f"002.table1.{short}_{operation}"], TABLE_3[f"003.table3.{short}_{operation}"]):
        assert [polynomial(n) for n in range(1, 8)] == case["values_n1_to_7"]
        for n in range(8, 20):
            assert polynomial(n) == value(case["value"], {"n": Fraction(n)})


def test_every_published_count_names_its_source() -> None:
    assert {count.source for count in PUBLISHED.values()} == {"Lee, Table 1; Milicevic, Table 3"}


def test_the_closed_forms_take_fewer_operations_than_the_paper_counts(rng: np.random.Generator) -> None:
    """Sums shared by joints and constants of one arm folded: for six joints in general position a third of Table 1."""
    found = counts(engine.program(lee.random_arm(rng, 6), "inverse_dynamics", "generalized_dalembert", rolled=False))
    published = PUBLISHED["generalized_dalembert"]
    assert found.mul < published.multiplications(6) / 2.5
    assert found.add < published.additions(6) / 2.5
