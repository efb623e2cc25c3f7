"""[Siciliano, ch. 7]: Example 7.1, (7.82) to (7.84), minimal parameters, parallelogram, scaling, seen from the tip, the problems.

Symbolic results are evaluated at numbers drawn for their symbols and compared with the robot built from these numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.model import Robot
from tests.golden.formulas import draw, value
from tests.golden.reading import golden, robot_of
from tests.golden.siciliano_arms import (
    LOOP,
    cartesian,
    parallelogram,
    parallelogram_tree,
    pendulum,
    planar,
    scara,
    slider_and_arm,
)
from tests.robots import relative_error

TOLERANCE = 1e-12  # closed forms of a few dozen operations on numbers of the size of one
CASES = golden("siciliano_problems")["cases"]
MINIMAL = CASES["001.footnote6.minimal"]["value"]
PLANAR = "a1 a2 l1 l2 ml1 ml2 Il1 Il2 mm1 mm2 Im1 Im2 kr1 kr2 g th1"
EIGHT = [f"joint{i}.{name}" for i in (1, 2) for name in ("m", "mx", "Izz", "Im")]  # the parameters of (7.83)


def state(v: dict[str, float], *names: str) -> list[np.ndarray]:
    """q, q̇, q̈ from the drawn symbols, one letter more for each derivative."""
    return [np.array([v[f"{d}{name}"] for name in names]) for d in ("", "d", "dd")]


def velocity_torque(robot: Robot | dal.Mechanism, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """C q̇."""
    return dal.bias(robot, q, qd) - dal.gravity_torque(robot, q)


# Example 7.1: a pendulum with its motor


@pytest.fixture
def swing(rng: np.random.Generator) -> dict[str, float]:
    v = draw(rng, [CASES[f"001.ex7.1.{name}"]["value"] for name in ("T", "U", "eom", "xi")])
    return v | {"Ip": v["m"] * v["l"] ** 2 + 0.3}  # about the axis, so at least that of a point mass


def test_the_pendulum_s_kinetic_energy_contains_its_motor(swing: dict[str, float]) -> None:
    kinetic = dal.energy(pendulum(swing), [swing["th"]], [swing["dth"]]).kinetic
    assert kinetic == pytest.approx(value(CASES["001.ex7.1.T"]["value"], swing), rel=TOLERANCE)


def test_the_pendulum_s_potential_energy_counts_from_the_hanging_position(swing: dict[str, float]) -> None:
    high, hanging = dal.energy(pendulum(swing), [[swing["th"]], [0.0]], [0.0]).potential
    assert high - hanging == pytest.approx(value(CASES["001.ex7.1.U"]["value"], swing), rel=TOLERANCE)


def test_the_pendulum_s_torque_is_that_of_its_equation_of_motion(swing: dict[str, float]) -> None:
    tau = dal.inverse_dynamics(pendulum(swing), *state(swing, "th"))
    assert tau[0] == pytest.approx(value(CASES["001.ex7.1.eom"]["value"], swing), rel=TOLERANCE)


def test_friction_reduces_the_torque_that_moves_the_pendulum(swing: dict[str, float]) -> None:
    """ξ is what Lagrange's equation of T − U is left with: M q̈ + h, q̈ being the acceleration that τ produces."""
    robot, q, qd = pendulum(swing), [swing["th"]], [swing["dth"]]
    qdd = dal.forward_dynamics(robot, q, qd, [swing["tau"]])
    xi = dal.mass_matrix(robot, q)[0] @ qdd + dal.bias(robot, q, qd)[0]
    assert xi == pytest.approx(value(CASES["001.ex7.1.xi"]["value"], swing), rel=TOLERANCE)


# §7.3.3: the parallelogram arm, an open tree and the velocity map that closes it


PARALLELOGRAM = [CASES[f"001.7.3.3.{name}"]["value"] for name in ("Bprime", "b1pp", "closure", "Ba", "gprime", "g1pp", "Ca_qd")]


@pytest.fixture
def tree(rng: np.random.Generator) -> tuple[dict[str, float], Robot]:
    v = draw(rng, PARALLELOGRAM)
    return v, parallelogram_tree(v)


@pytest.fixture
def loop(rng: np.random.Generator) -> tuple[dict[str, float], Robot]:
    """The same with lengths and angles that close the loop."""
    v = draw(rng, PARALLELOGRAM)
    closure = CASES["001.7.3.3.closure"]["value"]
    v |= {name: value(formula, v) for part in ("lengths", "angles") for name, formula in closure[part].items()}
    return v, parallelogram_tree(v)


def tree_angles(v: dict[str, float]) -> np.ndarray:
    return np.array([v[name] for name in ("th1p", "th2p", "th3p", "th1pp")])


def test_the_parallelogram_s_branches_have_the_inertias_of_two_arms(tree: tuple[dict[str, float], Robot]) -> None:
    v, robot = tree
    M = dal.mass_matrix(robot, tree_angles(v))
    assert relative_error(M[:3, :3], value(CASES["001.7.3.3.Bprime"]["value"], v)) < TOLERANCE
    assert M[3, 3] == pytest.approx(value(CASES["001.7.3.3.b1pp"]["value"], v), rel=TOLERANCE)
    assert not M[3, :3].any()


def test_the_parallelogram_s_branches_have_the_gravity_torques_of_two_arms(tree: tuple[dict[str, float], Robot]) -> None:
    v, robot = tree
    g = dal.gravity_torque(robot, tree_angles(v))
    assert relative_error(g[:3], value(CASES["001.7.3.3.gprime"]["value"], v)) < TOLERANCE
    assert g[3] == pytest.approx(value(CASES["001.7.3.3.g1pp"]["value"], v), rel=TOLERANCE)


def test_the_parallelogram_s_closure_keeps_the_ends_of_both_branches_together(loop: tuple[dict[str, float], Robot]) -> None:
    """In position, and in velocity by the map `velocity_map` of 001.7.3.3.closure."""
    v, robot = loop
    q = tree_angles(v)
    ends = {"3p": [v["a3p"], 0, 0], "1pp": [v["a1pp"], 0, 0]}
    places = [(dal.forward_kinematics(robot, q, link) @ [*point, 1])[:3] for link, point in ends.items()]
    rates = [dal.jacobian(robot, q, link, point=point)[:3] @ LOOP for link, point in ends.items()]
    assert np.array_equal(LOOP, CASES["001.7.3.3.closure"]["value"]["velocity_map"])
    assert relative_error(places[0], places[1]) < TOLERANCE
    assert relative_error(rates[0], rates[1]) < TOLERANCE


def test_the_closed_parallelogram_has_the_model_of_two_joints(loop: tuple[dict[str, float], Robot]) -> None:
    """B_a, g_a and C_a q̇_a of the mechanism, and B_a = Uᵀ B U with the constant map q̇ = U q̇_a."""
    v, robot = loop
    arm = parallelogram(v)
    q, qd = np.array([v["th1p"], v["th1pp"]]), np.array([v["dth1p"], v["dth1pp"]])
    Ba = dal.mass_matrix(arm, q)
    assert relative_error(Ba, value(CASES["001.7.3.3.Ba"]["value"], v)) < TOLERANCE
    assert relative_error(dal.gravity_torque(arm, q), value(CASES["001.7.3.3.ga"]["value"], v)) < TOLERANCE
    assert relative_error(velocity_torque(arm, q, qd), value(CASES["001.7.3.3.Ca_qd"]["value"], v)) < TOLERANCE
    assert relative_error(Ba, LOOP.T @ dal.mass_matrix(robot, tree_angles(v)) @ LOOP) < TOLERANCE


def decoupled(v: dict[str, float]) -> dict[str, float]:
    """The mass of link 3' from the condition m3' l̄3' / (m2' l2') = a1' / a1'', and l3' > a1', which it needs."""
    v = v | {"l3p": v["a1p"] + 0.35}
    v["l3bar"] = v["l3p"] - v["a1p"]
    return v | {"m3p": v["m2p"] * v["l2p"] * v["a1p"] / (v["a1pp"] * v["l3bar"])}


def test_a_parallelogram_of_the_right_masses_has_constant_decoupled_inertia(loop: tuple[dict[str, float], Robot]) -> None:
    v = decoupled(loop[0])
    data = CASES["001.7.3.3.decoupling"]["value"]
    M = dal.mass_matrix(parallelogram(v), [v["th1p"], v["th1pp"]])
    expected = [[value(data["b_a11"], v), 0.0], [0.0, value(data["b_a22"], v)]]
    assert relative_error(M, np.array(expected)) < TOLERANCE


# (7.82) to (7.84): the planar arm's torques, linear in eight parameters


@pytest.fixture
def arm(rng: np.random.Generator) -> dict[str, float]:
    v = draw(rng, MINIMAL, [CASES[f"001.{name}"]["value"] for name in ("eq7.82.tau", "eq7.83.pi", "eq7.84.Y")], "mm1")
    return v | {"kr1": 100.0, "kr2": 100.0, "g": 9.81}


def eight_of(robot: Robot) -> list[int]:
    """Where the parameters of (7.83) stand among all."""
    return [dal.parameter_names(robot, friction=False).index(name) for name in EIGHT]


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
def test_the_planar_arm_s_torques_are_those_of_7_82(formulation: str, arm: dict[str, float]) -> None:
    tau = dal.inverse_dynamics(planar(arm), *state(arm, "th1", "th2"), formulation=formulation)
    assert relative_error(tau, value(CASES["001.eq7.82.tau"]["value"], arm)) < TOLERANCE


def test_the_planar_arm_s_parameters_are_those_of_7_83_and_the_others_do_not_act(arm: dict[str, float]) -> None:
    robot = planar(arm)
    phi = dal.parameters(robot, friction=False)
    assert relative_error(phi[eight_of(robot)], value(CASES["001.eq7.83.pi"]["value"], arm)) < TOLERANCE
    others = np.delete(np.arange(22), eight_of(robot))
    Y = dal.regressor(robot, *state(arm, "th1", "th2"), friction=False)
    assert not (Y[:, others] * phi[others]).any()


def test_the_planar_arm_s_regressor_is_that_of_7_84(arm: dict[str, float]) -> None:
    robot = planar(arm)
    Y = dal.regressor(robot, *state(arm, "th1", "th2"), friction=False)[:, eight_of(robot)]
    assert relative_error(Y, value(CASES["001.eq7.84.Y"]["value"], arm)) < TOLERANCE


# Footnote 6 and Problem 7.4: five parameters are enough


def stacked(robot: Robot, states: np.ndarray, columns: str) -> np.ndarray:
    """The regressor at several states, one below the other: the columns of (7.83), or all 22 of (7.77)."""
    Y = dal.regressor(robot, *states, friction=False).reshape(-1, 22)
    return Y[:, eight_of(robot)] if columns == "eight" else Y


@pytest.mark.parametrize(
    ("changes", "columns", "rank"),
    [
        ({}, "eight", 5),
        ({"kr2": 1.0}, "eight", 4),
        ({"g": 0.0}, "eight", 4),
        ({}, "all", 7),
        ({"g": 0.0}, "all", 5),
    ],
)
def test_the_planar_arm_s_regressor_has_the_rank_of_the_minimal_set(
    arm: dict[str, float], rng: np.random.Generator, changes: dict[str, float], columns: str, rank: int
) -> None:
    """The note of 001.footnote6.minimal: singular values of the stacked regressor."""
    s = np.linalg.svd(stacked(planar(arm | changes), rng.uniform(-2, 2, (3, 50, 2)), columns), compute_uv=False)
    assert (s > 1e-10 * s[0]).sum() == rank  # the least that counts is 8e-5 s₀, the others are rounding
    assert MINIMAL["count"] == 5


def test_five_combinations_of_parameters_give_the_torques_of_the_planar_arm(arm: dict[str, float]) -> None:
    tau = dal.inverse_dynamics(planar(arm), *state(arm, "th1", "th2"))
    assert relative_error(value(MINIMAL["regressor"], arm) @ value(MINIMAL["parameters"], arm), tau) < TOLERANCE


def test_the_minimal_parameters_are_linear_combinations_of_the_eight(arm: dict[str, float], rng: np.random.Generator) -> None:
    """Problem 7.4: Y = Y_min K with a constant matrix K, and β = K π."""
    problem, robot = CASES["001.problem7.4"]["value"], planar(arm)
    states = rng.uniform(-2, 2, (3, 50, 2))
    Y = stacked(robot, states, "eight")
    Y_min = np.concatenate([value(problem["regressor"], arm | named(*motion)) for motion in states.swapaxes(0, 1)])
    K = np.linalg.lstsq(Y_min, Y, rcond=None)[0]
    assert relative_error(Y_min @ K, Y) < 1e-11  # the least-squares solution loses what the gear ratio 100 spreads: cond 1e4
    beta = K @ dal.parameters(robot, friction=False)[eight_of(robot)]
    assert relative_error(beta, value(problem["parameters"], arm)) < 1e-11


def named(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, float]:
    """A state in the symbols of the book."""
    return {f"{d}th{i + 1}": x[i] for d, x in zip(("", "d", "dd"), (q, qd, qdd), strict=True) for i in (0, 1)}


# §7.7: the same path at another pace


def test_a_path_slowed_by_c_needs_the_torques_of_the_fast_one_over_c_squared() -> None:
    case = CASES["001.7.7.scaling"]["value"]
    robot, c = robot_of(case["robot"]), case["c"]
    q, qd, qdd = (np.array(case[name]) for name in ("q", "qd", "qdd"))
    g = dal.gravity_torque(robot, q)
    fast, slow = dal.inverse_dynamics(robot, q, [qd, qd / c], [qdd, qdd / c**2]) - g
    assert relative_error(fast, np.array(case["tau_s"])) < TOLERANCE
    assert relative_error(slow, np.array(case["tau_bar_s"])) < TOLERANCE
    assert relative_error(fast, c**2 * slow) < TOLERANCE


# Problems 7.1 to 7.8: other arms, other coordinates


def test_a_second_axis_at_45_degrees_couples_the_cartesian_arm(rng: np.random.Generator) -> None:
    data = CASES["001.problem7.1"]["value"]
    v = draw(rng, data, "mm1")
    robot = cartesian(v, np.pi / 4)
    q, qd = rng.normal(size=(2, 2))
    assert relative_error(dal.mass_matrix(robot, q), value(data["B"], v)) < TOLERANCE
    assert relative_error(dal.coriolis_matrix(robot, q, qd), value(data["C"], v)) < TOLERANCE
    assert relative_error(dal.gravity_torque(robot, q), value(data["g"], v)) < TOLERANCE


def test_another_choice_of_the_coriolis_matrix_loses_its_skew_symmetry_only(rng: np.random.Generator) -> None:
    """Problem 7.2: the same C q̇ and q̇ᵀ N q̇ = 0 (7.49), but wᵀ N w ≠ 0 for other w (7.48), N = Ḃ − 2C."""
    data = CASES["001.problem7.2"]["value"]
    v = draw(rng, [data["C"], data["N"], data["w_N_w"]], PLANAR)
    robot, (q, qd, _) = planar(v), state(v | {"ddth1": 0.0, "ddth2": 0.0}, "th1", "th2")
    C, rate = value(data["C"], v), dal.second_derivatives(robot, q, qd, 0 * q).dM_dq @ qd
    N, w = rate - 2 * C, np.array([v["w1"], v["w2"]])
    assert relative_error(C @ qd, velocity_torque(robot, q, qd)) < TOLERANCE
    assert relative_error(N, value(data["N"], v)) < TOLERANCE
    assert abs(qd @ N @ qd - value(data["qd_N_qd"], v)) < TOLERANCE
    assert w @ N @ w == pytest.approx(value(data["w_N_w"], v), rel=1e-11)
    own = rate - 2 * dal.coriolis_matrix(robot, q, qd)
    assert relative_error(own, -own.T) < TOLERANCE


def test_the_scara_of_problem_7_3_has_its_derived_model(rng: np.random.Generator) -> None:
    data = CASES["001.problem7.3"]["value"]
    v = draw(rng, [data["B"], data["C"], data["g"]], "th1 d3 th4 mm1")
    robot, q = scara(v), [v["th1"], v["th2"], v["d3"], v["th4"]]
    qd = [v["dth1"], v["dth2"], *rng.normal(size=2)]
    assert relative_error(dal.mass_matrix(robot, q), value(data["B"], v)) < TOLERANCE
    assert relative_error(dal.coriolis_matrix(robot, q, qd), value(data["C"], v)) < TOLERANCE
    assert relative_error(dal.gravity_torque(robot, q), value(data["g"], v)) < TOLERANCE


SLIDER = CASES["001.problem7.5"]["value"]


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
def test_the_slider_with_an_arm_has_its_derived_model(formulation: str, rng: np.random.Generator) -> None:
    """Problem 7.5 asks for it by Lagrange's equations; every formulation gives it."""
    v = draw(rng, [SLIDER["B"], SLIDER["C_qd"], SLIDER["g"]], "a2 d1 dd1 mm1")
    robot, q, qd = slider_and_arm(v), [v["d1"], v["th2"]], [v["dd1"], v["dth2"]]
    g = dal.gravity_torque(robot, q, formulation=formulation)
    C_qd = dal.bias(robot, q, qd, formulation=formulation) - g
    assert relative_error(dal.mass_matrix(robot, q, formulation=formulation), value(SLIDER["B"], v)) < TOLERANCE
    assert relative_error(g, value(SLIDER["g"], v)) < TOLERANCE
    assert relative_error(C_qd, value(SLIDER["C_qd"], v)) < TOLERANCE


def test_a_payload_on_the_slider_s_arm_changes_three_parameters(rng: np.random.Generator) -> None:
    """Problem 7.5, its second part: τ = Y π, and what a slope of the slider adds to the first row."""
    payload = SLIDER["payload"]
    v = draw(rng, payload["B"], payload["parameters"], payload["regressor_without_gx"], payload["extra_tau1"], "d1 dd1 mm1")
    robot = slider_and_arm(v)
    q, qd, qdd = [v["d1"], v["th2"]], [v["dd1"], v["dth2"]], [v["ddd1"], v["ddth2"]]
    linear = value(payload["regressor_without_gx"], v) @ value(payload["parameters"], v)
    linear[0] += value(payload["extra_tau1"], v)
    assert relative_error(dal.mass_matrix(robot, q), value(payload["B"], v)) < TOLERANCE
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd), linear) < TOLERANCE


def test_newton_euler_gives_the_slider_s_torques_without_its_matrices(rng: np.random.Generator) -> None:
    """001.problem7.8: the model of 001.problem7.5 by the recursion, torque by torque."""
    assert CASES["001.problem7.8"]["value"] == "same model as 001.problem7.5"
    v = draw(rng, [SLIDER["B"], SLIDER["C_qd"], SLIDER["g"]], "a2 d1 dd1 mm1")
    q, qd, qdd = [v["d1"], v["th2"]], [v["dd1"], v["dth2"]], rng.normal(size=2)
    tau = dal.inverse_dynamics(slider_and_arm(v), q, qd, qdd, formulation="newton_euler")
    expected = value(SLIDER["B"], v) @ qdd + value(SLIDER["C_qd"], v) + value(SLIDER["g"], v)
    assert relative_error(tau, expected) < TOLERANCE


def test_absolute_angles_free_the_planar_arm_of_coriolis_torques(rng: np.random.Generator) -> None:
    """Problem 7.6: θ = T φ with constant T, so B_φ = Tᵀ B T, and the forces on φ are Tᵀ τ = [τ1 − τ2, τ2]."""
    data = CASES["001.problem7.6"]["value"]
    v = draw(rng, [data[name] for name in ("B", "C_qd", "g", "generalized_forces")], "a2 mm1")
    robot, T = planar(v), np.array([[1.0, 0.0], [-1.0, 1.0]])
    q, qd = T @ [v["ph1"], v["ph2"]], T @ [v["dph1"], v["dph2"]]
    assert relative_error(T.T @ dal.mass_matrix(robot, q) @ T, value(data["B"], v)) < TOLERANCE
    assert relative_error(T.T @ velocity_torque(robot, q, qd), value(data["C_qd"], v)) < TOLERANCE
    assert relative_error(T.T @ dal.gravity_torque(robot, q), value(data["g"], v)) < TOLERANCE
    assert relative_error(T.T @ [v["tau1"], v["tau2"]], value(data["generalized_forces"], v)) < TOLERANCE


@pytest.mark.parametrize("trajectory", ["triangular", "trapezoidal", "cartesian"])
def test_a_force_of_the_tip_adds_its_torques_along_the_trajectories_of_example_7_2(trajectory: str) -> None:
    """Problem 7.7: h_e is what the tip exerts on the surroundings, so these exert −h_e on the arm."""
    data = CASES["001.problem7.7"]["value"]
    samples = data["samples"][f"001.ex7.2.{trajectory}"]
    q, qd, qdd, tau, added = (np.array([row[name] for row in samples]) for name in ("q", "qd", "qdd", "tau", "JT_f"))
    robot = dal.robots.two_link_planar()
    on_arm = [-data["he"][0], -data["he"][1], 0, 0, 0, 0]
    found = dal.inverse_dynamics(robot, q, qd, qdd, wrenches={"tool": on_arm})
    assert relative_error(found, tau) < TOLERANCE
    assert relative_error(found - dal.inverse_dynamics(robot, q, qd, qdd), added) < 1e-11  # 8e3 N m are subtracted


# §7.8, §7.9 and Problems 7.9 to 7.11: seen from the tip


def planar_state(case: dict[str, Any]) -> tuple[Robot, np.ndarray, np.ndarray, np.ndarray]:
    robot, q = robot_of(case["robot"]), np.array(case["q"])
    return robot, q, dal.mass_matrix(robot, q), dal.jacobian(robot, q)[:2]


def test_the_model_of_the_tip_has_a_skew_symmetry_of_its_own() -> None:
    """Problem 7.9: Ḃ_A − 2 C_A is skew with C_A = J⁻ᵀ C J⁻¹ − B_A J̇ J⁻¹."""
    case = CASES["001.problem7.9"]["value"]
    robot, q, B, J = planar_state(case)
    qd, inverse = np.array(case["qd"]), np.linalg.inv(J)
    B_A = inverse.T @ B @ inverse
    Jd = dal.jacobian_dot(robot, q, qd)[:2]
    C_A = inverse.T @ dal.coriolis_matrix(robot, q, qd) @ inverse - B_A @ Jd @ inverse
    assert relative_error(B_A, np.array(case["B_A"])) < TOLERANCE
    assert relative_error(C_A, np.array(case["C_A"])) < TOLERANCE
    assert relative_error(inverse.T @ dal.gravity_torque(robot, q), np.array(case["g_A"])) < TOLERANCE
    skew = rate_of_tip_inertia(robot, q, qd) - 2 * C_A
    assert np.abs(skew + skew.T).max() < 1e-7  # central differences over 1e-5 s of entries up to 6


def rate_of_tip_inertia(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Ḃ_A by central differences, independent of Coriolis matrix and J̇."""
    step = 1e-5  # s
    around = q + np.array([[-step], [step]]) * qd
    inverse = np.linalg.inv(dal.jacobian(robot, around)[:, :2])
    before, after = inverse.transpose(0, 2, 1) @ dal.mass_matrix(robot, around) @ inverse
    return (after - before) / (2 * step)


def test_a_redundant_arm_s_torques_follow_from_forces_at_the_tip_and_free_ones() -> None:
    """Problem 7.10, (7.130) to (7.141)."""
    case = CASES["001.problem7.10"]["value"]
    robot, q, B, J = planar_state(case)
    qd = np.array(case["qd"])
    Jd = dal.jacobian_dot(robot, q, qd)[:2]
    B_A = np.linalg.inv(J @ np.linalg.solve(B, J.T))  # (7.130)
    J_bar = np.linalg.solve(B, J.T) @ B_A  # (7.138)
    C_A_xd = J_bar.T @ velocity_torque(robot, q, qd) - B_A @ Jd @ qd  # (7.131)
    found = {"J": J, "Jdot": Jd, "B_A": B_A, "Jbar": J_bar, "C_A_xd": C_A_xd, "g_A": J_bar.T @ dal.gravity_torque(robot, q)}
    errors = {name: relative_error(array, np.array(case[name])) for name, array in found.items()}
    assert max(errors.values()) < TOLERANCE, errors
    gamma, tau0 = np.array(case["gamma_A"]), np.array(case["tau0"])
    tau = J.T @ gamma + (np.eye(3) - J.T @ J_bar.T) @ tau0  # (7.141)
    assert relative_error(tau, np.array(case["tau"])) < TOLERANCE
    assert relative_error(J_bar.T @ tau, gamma) < TOLERANCE  # (7.140)
    free = np.linalg.svd(J_bar.T)[2][2]  # torques that do not move the tip
    assert abs(free @ np.linalg.solve(B, tau - tau0)) < 1e-11  # nearest to τ0 in the metric B⁻¹, whose entries reach 60


def test_the_dynamic_manipulability_is_the_kinematic_one_over_the_determinant_of_inertia() -> None:
    """Problem 7.11: w_d = w / det B without redundancy; unit torques of the resting arm reach the ellipsoid (7.149)."""
    case = CASES["001.problem7.11"]["value"]
    robot, q, B, J = planar_state(case)
    core = np.linalg.inv(J).T @ B.T @ B @ np.linalg.inv(J)
    centre = -J @ np.linalg.solve(B, dal.gravity_torque(robot, q))
    assert relative_error(core, np.array(case["core"])) < TOLERANCE
    assert relative_error(centre, np.array(case["centre"])) < TOLERANCE
    w, w_d = abs(np.linalg.det(J)), 1 / np.sqrt(np.linalg.det(core))
    assert (w, w_d) == (pytest.approx(case["w"], rel=TOLERANCE), pytest.approx(case["w_d"], rel=TOLERANCE))
    assert w_d == pytest.approx(w / np.linalg.det(B), rel=TOLERANCE)
    angle = np.linspace(0, 2 * np.pi, 7)
    tau = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    reached = dal.forward_dynamics(robot, q, np.zeros(2), tau) @ J.T - centre
    assert np.einsum("ki,ij,kj->k", reached, core, reached) == pytest.approx(np.ones(7), abs=1e-11)


def test_the_dynamic_manipulability_ellipsoid_of_three_links_is_that_of_7_148() -> None:
    case = CASES["001.eq7.148.ellipsoid"]["value"]
    robot, q, B, J = planar_state(case)
    pinv = np.linalg.pinv(J)
    assert relative_error(pinv.T @ B.T @ B @ pinv, np.array(case["core"])) < TOLERANCE
    assert relative_error(-J @ np.linalg.solve(B, dal.gravity_torque(robot, q)), np.array(case["centre"])) < TOLERANCE
