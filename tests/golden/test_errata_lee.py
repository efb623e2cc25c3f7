"""Misprints of [Lee], E002-01 to 15, and of [Milicevic, §4], E003-05: the corrected form holds and the printed one does not.

`lee` writes the paper's formulas out; the other side of each comparison is the library, through public functions. docs/errata.md
lists them all.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import dalembert as dal
from tests.golden import lee
from tests.golden.formulas import value
from tests.golden.reading import golden
from tests.robots import relative_error

HOLDS = 1e-12  # closed forms of some hundred operations
DIFFERENCED = 1e-8  # central differences with a step of 1e-5: truncation and rounding are both near 1e-10
FAILS = 1e-5  # a wrong term may be small in a random state, but stays far above rounding
STEP = 1e-5
CASES = golden("lee_puma")["cases"]


@pytest.fixture(params=range(7), ids="state {}".format)
def state(request: pytest.FixtureRequest) -> lee.State:
    """A PUMA of random masses in a random state, with the offset d2 of Figure 3."""
    return lee.puma_state(np.random.default_rng(100 + request.param))


class Arm5:
    """Five turning joints in general position, in a random state."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.robot = lee.random_arm(rng, 5)
        self.q, self.qd, self.qdd = rng.uniform(-2, 2, (3, 5))
        self.v = lee.vectors(self.robot, self.q)

    def moved(self, t: float) -> np.ndarray:
        return self.q + self.qd * t

    def jacobian(self, s: int, q: np.ndarray) -> np.ndarray:
        """Of the centre of mass of link s, linear rows."""
        return dal.jacobian(self.robot, q, f"link{s}", point=self.robot.parameters.links[s].com)[:3]

    def jacobian_rate(self, s: int) -> np.ndarray:
        return difference(lambda t: self.jacobian(s, self.moved(t)))

    def terms(self, *names: str) -> dict[str, np.ndarray]:
        return dal.terms(self.robot, self.q, self.qd, formulation="generalized_dalembert", names=names)


@pytest.fixture
def arm(rng: np.random.Generator) -> Arm5:
    return Arm5(rng)


def difference(function) -> np.ndarray:
    """The derivative at 0."""
    return (function(STEP) - function(-STEP)) / (2 * STEP)


def at(state: lee.State, formula: str) -> float:
    """A formula with the paper's S1, C1, S23 and so on."""
    angles = {"1": state.q[0], "2": state.q[1], "23": state.q[1] + state.q[2]}
    short = {f"S{name}": np.sin(x) for name, x in angles.items()} | {f"C{name}": np.cos(x) for name, x in angles.items()}
    return value(formula, state.values | short)


def check(found: float, holds: float, fails: float) -> None:
    assert found == pytest.approx(holds, rel=HOLDS, abs=HOLDS)
    assert abs(found - fails) > FAILS


def test_e002_01_the_second_transform_needs_the_offset_of_figure_3(state: lee.State) -> None:
    """Printed A_1^2 and p2* have d2 = 0, the table 149.09 mm."""
    T1, T2 = dal.forward_kinematics(state.robot, state.q, ["link1", "link2"])
    A = np.linalg.inv(T1) @ T2
    assert relative_error(A, value(CASES["002.A12.with_d2"]["value"], state.values)) < HOLDS
    assert relative_error(A, value(CASES["002.A12"]["value"], state.values)) > FAILS
    p2_star = [at(state, f) for f in ("a2*C1*C2 - d2*S1", "a2*S1*C2 + d2*C1", "-a2*S2")]
    assert relative_error(T2[:3, 3] - T1[:3, 3], np.array(p2_star)) < HOLDS
    assert relative_error(T2[:3, 3] - T1[:3, 3], value(CASES["002.p2star"]["value"], state.values)) > FAILS


def test_e002_02_link_2_adds_to_d12_by_its_own_centre_of_mass(state: lee.State) -> None:
    """Printed with r̄_3z in the term of m2."""
    case = CASES["002.D12"]
    check(lee.dalembert(state)["D"][0, 1], at(state, case["value"]), at(state, case["printed"]))


def test_e002_03_subscripts_x_were_read_as_z(state: lee.State) -> None:
    """D_11 and D_33 as the recovered text has them."""
    D = lee.dalembert(state)["D"]
    masses = " + ".join(f"m{s}*(r{s}y**2 + r{s}z**2)" for s in (1, 2, 3))
    printed_11 = f"I1yy + S2**2*I2zz + C2**2*I2yy + S23**2*I3zz + C23**2*I3zz + {masses}"
    check(D[0, 0], at(state, CASES["002.D11"]["value"]), at(state, printed_11))
    check(D[2, 2], at(state, CASES["002.D33"]["value"]), at(state, "I3yy + m3*(c3z**2 + (S1*c3y + C1*c3z)**2)"))


def test_e002_04_h3_has_no_product_of_the_first_two_velocities(state: lee.State) -> None:
    """γ and H_3^tran are printed with (C1 p2y − C1 p2x) θ̇1 θ̇2; z0 × (z1 × p) has no component along z0."""
    corrected = at(
        state,
        "m3*(-c3z*dth1**2*((c3x + p2x)*C1 + (c3y + p2y)*S1) + dth2**2*(-c3z*(p2x*C1 + p2y*S1) + p2z*(c3x*C1 + c3y*S1)))",
    )
    printed = corrected + at(state, "m3*(-S1*c3y - C1*c3x)*(C1*p2y - C1*p2x)*dth1*dth2")
    check(lee.dalembert(state)["H_tran"][2], corrected, printed)
    z0, z1 = state.v.z[0], state.v.z[1]
    assert z0 @ np.cross(z0, np.cross(z1, state.v.p_star(2))) == pytest.approx(0.0, abs=HOLDS)


def test_e002_04_the_third_component_of_the_acceleration_is_gamma_without_that_product(state: lee.State) -> None:
    gamma = at(state, "-(p2z + c3z)*dth2**2 - c3z*dth3**2 - 2*c3z*dth2*dth3")
    check(acceleration(state, 3)[2], gamma, gamma + at(state, "(C1*p2y - C1*p2x)*dth1*dth2"))


def acceleration(state: lee.State, s: int) -> np.ndarray:
    """Of the centre of mass of link s without joint accelerations; extrapolated differences of the library's Jacobian."""

    def velocity(t: float) -> np.ndarray:
        com = state.robot.parameters.links[s].com
        return dal.jacobian(state.robot, state.q + state.qd * t, f"link{s}", point=com)[:3] @ state.qd

    def central(h: float) -> np.ndarray:
        return (velocity(h) - velocity(-h)) / (2 * h)

    h = 2e-2  # three extrapolations: truncation ~ h⁸ and rounding ~ 1e-16 / h are both under 1e-12
    rows = [central(h / 2**k) for k in range(4)]
    for power in (1, 2, 3):
        rows = [(4**power * fine - coarse) / (4**power - 1) for coarse, fine in pairwise(rows)]
    return rows[0]


def test_e002_05_every_translational_group_of_h3_has_its_mass(state: lee.State) -> None:
    """'Hence, H_3 = ...' is printed without m3 in the θ̇2² group."""
    first = "(C23*S23*(I3zz - I3xx) - m3*c3z*(C1*(p2x + c3x) + S1*(p2y + c3y)))*dth1**2"
    second = "(p2z*(S1*c3y + C1*c3x) - S1*c3z*p2y - C1*c3z*p2x)*dth2**2"
    found = lee.dalembert(state)
    check(found["H_tran"][2] + found["H_rot"][2], at(state, f"{first} + m3*{second}"), at(state, f"{first} + {second}"))


H2_SQUARES = (
    "m2*(-C1*c2x*c2z - S1*c2y*c2z)*dth1**2"
    " + m3*(-C1*p2x*r3z - S1*p2y*r3z - C1*c3x*r3z - S1*c3y*r3z)*dth1**2"
    " + m3*(S1*c3z*r3y + C1*c3z*r3x - S1*c3y*r3z - C1*c3x*r3z)*dth3**2"
)
H2_CLOSING = "m3*2*(S1*c3z*r3y + C1*c3z*r3x - S1*c3y*r3z - C1*c3x*r3z)*dth2*dth3"


def test_e002_06_h2_has_no_product_of_the_first_two_velocities(state: lee.State) -> None:
    """Printed groups come from third components with C1 p2y − C1 p2x and the like."""
    groups = (
        "m2*(S1*c2y + C1*c2x)*(C1*c2x - C1*c2y)*dth1*dth2",
        "m3*(C1*S1*p2x*r3y + C1**2*p2x*r3x - C1*S1*p2y*r3y - C1**2*p2y*r3x)*dth1*dth2",
        "m3*(C1*S1*c3x*r3y + C1**2*c3x*r3x - C1*S1*c3y*r3y - C1**2*c3y*r3x)*dth1*dth2",
    )
    corrected = at(state, CASES["002.H2tran"]["value"])
    found = lee.dalembert(state)["H_tran"][1]
    for printed in (groups[:1], groups[1:], groups):
        check(found, corrected, corrected + sum(at(state, group) for group in printed))


def test_e002_06_the_square_of_the_second_velocity_cancels_in_h2() -> None:
    """Its coefficient of m3 is printed; with r̄_3 = p_2* + c̄_3, as for d2 = 0 and any other, it is 0."""
    state = lee.puma_state(np.random.default_rng(3))
    r3 = state.v.p_star(2) + state.v.c[3]
    assert relative_error(state.v.r[3], r3) < HOLDS
    group = at(
        state,
        "S1*p2z*r3y + C1*p2z*r3x - S1*p2y*r3z - C1*p2x*r3z + S1*c3z*r3y + C1*c3z*r3x - S1*c3y*r3z - C1*c3x*r3z",
    )
    assert group == pytest.approx(0.0, abs=HOLDS)
    h = dal.terms(state.robot, state.q, formulation="generalized_dalembert", names=["h_tran"])["h_tran"]
    assert h[1, 1, 1] == pytest.approx(0.0, abs=HOLDS)


@pytest.mark.parametrize(
    ("s", "row", "corrected", "printed"),
    [
        (3, 1, "-S1**2*(dth2 + dth3)**2*c3y", "-S1**2*(dth2 + dth3)*c3y"),
        (2, 2, "-C1**2*c2z*dth2**2", "-C1*c2z*dth2**2"),
    ],
)
def test_e002_07_velocities_enter_the_accelerations_squared(s: int, row: int, corrected: str, printed: str, state) -> None:
    """Vectors inside H_2^tran: row 2 of link 3 misses a square of the velocity, row 3 of link 2 one of C1."""
    rest = {
        (3, 1): "-S1*C1*(dth2 + dth3)**2*c3x + 2*C1*c3z*dth1*(dth2 + dth3) - dth1**2*c3y",
        (2, 2): "-S1**2*c2z*dth2**2",
    }[s, row]
    # without the origin before the centre of mass, which for link 2 is at rest
    relative = acceleration(state, s)[row] - (0.0 if s == 2 else origin_acceleration(state)[row])
    check(relative, at(state, f"{corrected} + {rest}"), at(state, f"{printed} + {rest}"))


def origin_acceleration(state: lee.State) -> np.ndarray:
    """Of p_2* without joint accelerations."""
    v, qd = state.v, state.qd
    w, p = lee.omega(v, 2, qd), v.p_star(2)
    return np.cross(w, np.cross(w, p)) + np.cross(lee.coriolis_spin(v, 2, qd), p)


def test_e002_08_the_last_factor_of_a_group_of_h1_is_c1(state: lee.State) -> None:
    """The group of θ̇2 θ̇3 is printed with − S1 C2 c3x r3x."""
    corrected = at(state, CASES["002.H1tran"]["value"])
    printed = corrected + at(state, "m3*2*(S1*C1*c3x*r3x - S1*C2*c3x*r3x)*dth2*dth3")
    check(lee.dalembert(state)["H_tran"][0], corrected, printed)


def test_e002_09_the_product_of_the_last_two_velocities_closes_h2(state: lee.State) -> None:
    """The end of H_2^tran is garbled: without its last group the rest fails."""
    check(lee.dalembert(state)["H_tran"][1], at(state, f"{H2_SQUARES} + {H2_CLOSING}"), at(state, H2_SQUARES))


@pytest.mark.parametrize("i", [2, 3])
def test_e002_10_gravity_has_its_sign_in_g(state: lee.State, i: int) -> None:
    """g is g_z, −9.8062 m/s² with z up; printed with |g| = 9.8062."""
    formula = CASES[f"002.G{i}"]["value"]
    printed = value(formula, state.values | {"g": 9.8062})
    check(dal.gravity_torque(state.robot, state.q)[i - 1], at(state, formula), printed)


def test_e002_11_links_before_joint_j_do_not_add_to_d_ij(arm: Arm5) -> None:
    """Last line of Eq. 30, printed with sums from s = i; [Milicevic, Eq. 4.2] has s = j."""

    def D(first) -> np.ndarray:
        return lee.symmetric(lambda i, j: lee.D_rot(arm.v, i, j, first(i, j)) + lee.D_tran(arm.v, i, j, first(i, j)), 5)

    M = dal.mass_matrix(arm.robot, arm.q)
    assert relative_error(M, D(lambda i, j: j)) < HOLDS
    assert relative_error(M, D(lambda i, j: i)) > FAILS


def test_e002_12_the_contribution_of_gravity_is_plus_the_slope_of_the_potential(arm: Arm5) -> None:
    """Eq. 27 is said to be summed with 15 and 23, but enters Eq. 28 with a minus sign."""
    g = dal.gravity_torque(arm.robot, arm.q)
    equation_33 = np.array([lee.G(arm.v, i) for i in range(1, 6)])
    assert relative_error(g, equation_33) < HOLDS
    assert relative_error(g, -equation_33) > FAILS
    slope = dal.energy_gradient(arm.robot, arm.q, arm.qd).dpotential_dq
    assert relative_error(slope, equation_33) < HOLDS


@pytest.mark.parametrize("i", [0, 2])
def test_e002_13_the_rate_of_a_partial_velocity_is_the_slope_of_the_velocity(arm: Arm5, i: int) -> None:
    """Eq. 13: d/dt ∂v/∂θ̇_i = ∂v/∂θ_i, printed ∂v̇/∂θ̇_i, which is twice that."""
    s, e = 5, np.eye(5)[i]
    rate = arm.jacobian_rate(s)[:, i]
    slope = difference(lambda t: arm.jacobian(s, arm.q + e * t) @ arm.qd)
    assert relative_error(rate, slope) < DIFFERENCED

    def velocity_terms(qd: np.ndarray) -> np.ndarray:  # v̇ with θ̈ = 0, quadratic in q̇: differences over ±1 are exact
        return difference(lambda t: arm.jacobian(s, arm.q + qd * t)) @ qd

    printed = (velocity_terms(arm.qd + e) - velocity_terms(arm.qd - e)) / 2
    assert relative_error(printed, 2 * slope) < DIFFERENCED
    assert relative_error(rate, printed) > FAILS


@pytest.mark.parametrize("s", [2, 5])
def test_e002_14_c_s_leads_to_the_centre_of_mass_of_link_s(arm: Arm5, s: int) -> None:
    """Eq. 8, r̄_s = p_{s−1} + c̄_s; the text has that of link s − 1. Eq. 9 with either, against the velocity of link s."""
    v, qd = arm.v, arm.qd

    def velocity(c: np.ndarray) -> np.ndarray:
        inner = sum((np.cross(lee.omega(v, k, qd), v.p_star(k)) for k in range(1, s)), np.zeros(3))
        return inner + np.cross(lee.omega(v, s, qd), c)

    found = arm.jacobian(s, arm.q) @ qd
    assert relative_error(found, velocity(v.c[s])) < HOLDS
    assert relative_error(found, velocity(v.r[s - 1] - v.p[s - 1])) > FAILS


def twist(v: lee.Vectors, j: int) -> np.ndarray:
    """Q with ∂T_0^k/∂θ_j = Q T_0^k for k ≥ j."""
    z, p = v.z[j - 1], v.p[j - 1]
    Q = np.zeros((4, 4))
    Q[:3, :3] = np.cross(np.eye(3), z)
    Q[:3, 3] = np.cross(p, z)
    return Q


def pseudo_inertia(arm: Arm5, s: int) -> np.ndarray:
    m, com, I = arm.v.m[s], arm.robot.parameters.links[s].com, arm.v.I[s]
    second = np.trace(I) / 2 * np.eye(3) - I + m * np.outer(com, com)
    return np.block([[second, m * com[:, None]], [m * com[None, :], np.array([[m]])]])


def test_e002_15_the_lagrangian_coefficients_derive_transforms_from_the_base(arm: Arm5) -> None:
    """Eq. 3 and 4 with T_0^j. In the recovered text (3) has T_i^j, which θ_i does not change, so that C_ii would be 0."""
    T = [np.eye(4), *dal.forward_kinematics(arm.robot, arm.q, [f"link{s}" for s in range(1, 6)])]
    Q = [np.zeros((4, 4)), *(twist(arm.v, j) for j in range(1, 6))]
    n = range(1, 6)

    def C(i: int, k: int) -> float:
        return sum(np.trace(Q[k] @ T[j] @ pseudo_inertia(arm, j) @ (Q[i] @ T[j]).T) for j in range(max(i, k), 6))

    def C3(i: int, k: int, m: int) -> float:
        Q2 = Q[min(k, m)] @ Q[max(k, m)]
        return sum(np.trace(Q2 @ T[j] @ pseudo_inertia(arm, j) @ (Q[i] @ T[j]).T) for j in range(max(i, k, m), 6))

    M, c = dal.mass_matrix(arm.robot, arm.q), dal.christoffel(arm.robot, arm.q)
    assert relative_error(M, np.array([[C(i, k) for k in n] for i in n])) < HOLDS
    assert relative_error(c, np.array([[[C3(i, k, m) for m in n] for k in n] for i in n])) < HOLDS
    moved = arm.q + np.eye(5)[1]
    T2, T5 = dal.forward_kinematics(arm.robot, moved, ["link2", "link5"])
    assert relative_error(np.linalg.inv(T2) @ T5, np.linalg.inv(T[2]) @ T[5]) < HOLDS  # so ∂T_2^5/∂θ_2 = 0
    assert M[1, 1] > FAILS


def test_e002_15_the_acceleration_sums_the_links_before_with_joint_accelerations(arm: Arm5) -> None:
    """Eq. 16: upper limit s − 1 (printed l − 1, and with s in its place one term too many), θ̈ in the first group (printed θ̇)."""
    s, v = 4, arm.v

    def linear(rates: np.ndarray, last: int) -> np.ndarray:
        inner = sum((np.cross(lee.omega(v, k, rates), v.p_star(k)) for k in range(1, last + 1)), np.zeros(3))
        return inner + np.cross(lee.omega(v, s, rates), v.c[s])

    found = arm.jacobian(s, arm.q) @ arm.qdd + arm.jacobian_rate(s) @ arm.qd
    velocity_terms = lee.acceleration(v, s, arm.qd)
    assert relative_error(found, linear(arm.qdd, s - 1) + velocity_terms) < DIFFERENCED
    assert relative_error(found, linear(arm.qdd, s) + velocity_terms) > FAILS
    assert relative_error(found, linear(arm.qd, s - 1) + velocity_terms) > FAILS


@pytest.mark.parametrize(("i", "j"), [(3, 1), (4, 4), (5, 2)])
def test_e002_15_an_axis_seen_from_a_link_turns_against_the_joints_between(arm: Arm5, i: int, j: int) -> None:
    """Eq. 19: ∂(R_s^0 z_{j−1})/∂θ_i = R_s^0 z_{j−1} × R_s^0 z_{i−1}, i ≥ j; printed z_{j−1} × z_{j−1}, which is 0."""
    s = 5
    slope = difference(lambda t: lee.vectors(arm.robot, arm.q + np.eye(5)[i - 1] * t).turned(s, j))
    expected = np.cross(arm.v.turned(s, j), arm.v.turned(s, i))
    assert relative_error(slope, expected) < DIFFERENCED
    assert i == j or np.abs(slope).max() > FAILS


@pytest.mark.parametrize("i", [2, 3])
def test_e002_15_the_slope_of_the_rotational_energy_has_the_whole_angular_velocity(arm: Arm5, i: int) -> None:
    """Eq. 22: the second factor sums to s, printed to i."""
    s = 5

    def energy(t: float) -> float:
        q = arm.q + np.eye(5)[i - 1] * t
        D = dal.terms(arm.robot, q, formulation="generalized_dalembert", names=["D_rot_links"])["D_rot_links"][s - 1]
        return arm.qd @ D @ arm.qd / 2

    def slope(last: int) -> float:
        turns = [arm.qd[j - 1] * arm.v.turned(s, j) for j in range(1, s + 1)]
        return np.cross(sum(turns[:i]), arm.v.turned(s, i)) @ arm.v.I[s] @ sum(turns[:last])

    found = difference(energy)
    assert found == pytest.approx(slope(s), rel=DIFFERENCED, abs=DIFFERENCED)
    assert abs(found - slope(i)) > FAILS


def test_e002_15_the_inertia_torque_sums_over_the_accelerated_joints(arm: Arm5) -> None:
    """Eq. 29: Σ_j D_ij θ̈_j; printed Σ_i."""
    t = arm.terms("D", "H_tran", "H_rot", "G")
    rest = t["H_tran"] + t["H_rot"] + t["G"]
    tau = dal.inverse_dynamics(arm.robot, arm.q, arm.qd, arm.qdd)
    assert relative_error(tau, t["D"] @ arm.qdd + rest) < HOLDS
    assert relative_error(tau, t["D"].sum(axis=0) * arm.qdd + rest) > FAILS


def test_e003_05_the_lost_rotational_torque_is_that_of_lee(arm: Arm5) -> None:
    """[Milicevic, Eq. 4.4] is lost: Eq. 32 of [Lee] in its place completes (4.1), and nothing does not."""
    t = arm.terms("D", "H_tran", "H_rot", "G")
    h_rot = np.array([lee.H_rot(arm.v, i, arm.qd) for i in range(1, 6)])
    assert relative_error(t["H_rot"], h_rot) < HOLDS
    tau = dal.inverse_dynamics(arm.robot, arm.q, arm.qd, arm.qdd)
    without = t["D"] @ arm.qdd + np.array([lee.H_tran(arm.v, i, arm.qd) for i in range(1, 6)]) + t["G"]
    assert relative_error(tau, without + h_rot) < HOLDS
    assert relative_error(tau, without) > FAILS
