"""Identities of mechanics on random robots, so that no algorithm is judged by another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

import dalembert as dal
from dalembert.model import Robot
from tests.robots import EVERYTHING, random_friction, random_robot, relative_error, robots, seeds, state, without_friction

pytestmark = pytest.mark.usefixtures("interpreted")

STEP = 1e-3  # s or rad: the five-point rule errs by step⁴ (1e-12) and rounding by 1e-16 / step (1e-13), times scale
DERIVATIVE_TOLERANCE = 1e-8  # relative; ten thousand times what those two leave, since fifth derivatives grow with n
few = settings(max_examples=20)


def derivative(function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """d/dt at 0 of a function of a batch of times, by the five-point rule."""
    before2, before, after, after2 = function(STEP * np.array([-2.0, -1.0, 1.0, 2.0]))
    return (8 * (after - before) - (after2 - before2)) / (12 * STEP)


def motion(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    t = t[:, None]
    return q + qd * t + qdd * t**2 / 2, qd + qdd * t


@given(robots(max_n=9), seeds)
@few
def test_the_mass_matrix_is_symmetric_and_positive_definite(robot: Robot, seed: int) -> None:
    q, _, _ = state(robot, np.random.default_rng(seed), (3,))
    M = dal.mass_matrix(robot, q)
    np.testing.assert_array_equal(M, M.swapaxes(-1, -2))
    assert np.linalg.eigvalsh(M).min() > 0


@given(robots(max_n=9), seeds)
@few
def test_half_qd_M_qd_is_the_kinetic_energy(robot: Robot, seed: int) -> None:
    q, qd, _ = state(robot, np.random.default_rng(seed))
    M = dal.mass_matrix(robot, q)
    assert relative_error(dal.energy(robot, q, qd).kinetic, qd @ M @ qd / 2) < 1e-12


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
@given(robots(max_n=9), seeds)
@few
def test_joint_power_is_the_rate_of_change_of_energy(formulation: str, robot: Robot, seed: int) -> None:
    """τ·q̇ = dE/dt without friction."""
    robot = without_friction(robot)
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    energy = derivative(lambda t: dal.energy(robot, *motion(q, qd, qdd, t)).total)
    power = dal.inverse_dynamics(robot, q, qd, qdd, formulation=formulation) @ qd
    assert relative_error(power, energy) < DERIVATIVE_TOLERANCE


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
@given(robots(max_n=9), seeds)
@few
def test_gravity_torque_is_the_gradient_of_potential_energy(formulation: str, robot: Robot, seed: int) -> None:
    q, _, _ = state(robot, np.random.default_rng(seed))
    still = np.zeros(robot.n)
    directions = np.eye(robot.n)
    gradient = derivative(lambda t: dal.energy(robot, q + t[:, None, None] * directions, still).potential)
    assert relative_error(dal.gravity_torque(robot, q, formulation=formulation), gradient) < DERIVATIVE_TOLERANCE


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
@given(robots(max_n=9), seeds)
@few
def test_torque_is_M_qdd_plus_bias_plus_friction(formulation: str, robot: Robot, seed: int) -> None:
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    free = without_friction(robot)
    tau = dal.inverse_dynamics(free, q, qd, qdd, formulation=formulation)
    h = dal.bias(robot, q, qd, formulation=formulation)
    assert relative_error(tau, dal.mass_matrix(robot, q) @ qdd + h) < 1e-11


@given(robots(max_n=9), seeds)
@few
def test_velocity_terms_are_quadratic_in_velocity(robot: Robot, seed: int) -> None:
    q, qd, _ = state(robot, np.random.default_rng(seed))
    g, once, back, twice = (dal.bias(robot, q, k * qd) for k in (0.0, 1.0, -1.0, 2.0))
    scale = max(1.0, float(np.abs(twice).max()))
    np.testing.assert_allclose(back, once, atol=1e-12 * scale)
    np.testing.assert_allclose(twice - g, 4 * (once - g), atol=1e-12 * scale)


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
@given(robots(max_n=9), seeds)
@few
def test_mass_matrix_rate_and_velocity_terms_balance(formulation: str, robot: Robot, seed: int) -> None:
    """q̇ᵀ(Ṁ − 2C)q̇ = 0: the velocity terms do no work beyond the change of kinetic energy."""
    q, qd, _ = state(robot, np.random.default_rng(seed))
    rate = derivative(lambda t: dal.mass_matrix(robot, q + t[:, None] * qd))
    terms = dal.bias(robot, q, qd, formulation=formulation) - dal.gravity_torque(robot, q, formulation=formulation)
    scale = max(1.0, float(np.abs(rate).max()))
    assert qd @ rate @ qd == pytest.approx(2 * qd @ terms, abs=DERIVATIVE_TOLERANCE * scale)


def surroundings(robot: Robot, rng: np.random.Generator, *, moving_base: bool = True) -> dict[str, object]:
    """Every mixture of wrenches and, where it is served, base motion."""
    options: dict[str, object] = {}
    if rng.random() < 0.6:
        options["wrenches"] = {str(name): rng.uniform(-20, 20, 6) for name in {"tool", rng.choice(robot.link_names)}}
    if not moving_base:
        return options
    if rng.random() < 0.5:
        options["base_velocity"] = rng.uniform(-2, 2, 6)
    if rng.random() < 0.5:
        options["base_acceleration"] = rng.uniform(-2, 2, 6)
    return options


@pytest.mark.parametrize("formulation", dal.FORMULATIONS)
@given(robots(max_n=10), seeds)
@settings(max_examples=20)
def test_forward_dynamics_undoes_inverse_dynamics(formulation: str, robot: Robot, seed: int) -> None:
    method = dal.FORMULATIONS[formulation]
    assume(method.largest is None or sum(joint.moves for joint in robot.structure.joints) <= method.largest)
    rng = np.random.default_rng(seed)
    q, qd, qdd = state(robot, rng)
    options = surroundings(robot, rng, moving_base=method.moving_base)
    tau = dal.inverse_dynamics(robot, q, qd, qdd, formulation=formulation, **options)
    assert relative_error(dal.forward_dynamics(robot, q, qd, tau, **options), qdd) < 1e-8


@pytest.mark.parametrize("n", [9, 11, 12])
def test_articulated_bodies_undo_inverse_dynamics_on_plain_trees(n: int) -> None:
    """Long robots without coupling and full rotor take another algorithm than the rest."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        robot = random_robot(rng, n, replace(EVERYTHING, mimic=False, full_rotors=False))
        q, qd, qdd = state(robot, rng)
        options = surroundings(robot, rng)
        tau = dal.inverse_dynamics(robot, q, qd, qdd, **options)
        assert relative_error(dal.forward_dynamics(robot, q, qd, tau, **options), qdd) < 1e-8


@given(robots(max_n=9), seeds)
@few
def test_the_jacobian_is_the_rate_of_the_pose(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, _ = state(robot, rng)
    link = str(rng.choice(["tool", *robot.link_names]))
    X = dal.forward_kinematics(robot, q, link)
    rate = derivative(lambda t: dal.forward_kinematics(robot, q + t[:, None] * qd, link))
    W = rate[:3, :3] @ X[:3, :3].T
    twist = np.concatenate([rate[:3, 3], [W[2, 1], W[0, 2], W[1, 0]]])
    assert relative_error(dal.jacobian(robot, q, link) @ qd, twist) < DERIVATIVE_TOLERANCE
    R = X[:3, :3]
    own = np.concatenate([R.T @ twist[:3], R.T @ twist[3:]])
    assert relative_error(dal.jacobian(robot, q, link, frame="body") @ qd, own) < DERIVATIVE_TOLERANCE


@given(robots(max_n=9), seeds)
@few
def test_a_wrench_changes_the_torque_by_minus_its_jacobian_transposed(robot: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, qdd = state(robot, rng)
    wrenches = {str(name): rng.uniform(-20, 20, 6) for name in {"tool", *rng.choice(robot.link_names, 2)}}
    change = dal.inverse_dynamics(robot, q, qd, qdd, wrenches=wrenches) - dal.inverse_dynamics(robot, q, qd, qdd)
    expected = -sum(dal.jacobian(robot, q, name).T @ w for name, w in wrenches.items())
    assert relative_error(change, expected) < 1e-10


@given(robots(max_n=6, friction=True), seeds)
@few
def test_friction_takes_power_and_vanishes_at_rest(robot: Robot, seed: int) -> None:
    q, qd, qdd = state(robot, np.random.default_rng(seed))
    friction = dal.inverse_dynamics(robot, q, qd, qdd) - dal.inverse_dynamics(without_friction(robot), q, qd, qdd)
    assert (friction * qd >= -1e-9).all()
    still = np.zeros(robot.n)
    # Two graphs, each rewritten for its own terms: their sums may be rounded in another order.
    assert relative_error(dal.inverse_dynamics(robot, q, still, still), dal.gravity_torque(robot, q)) < 1e-14


def test_random_frictions_are_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    laws = [random_friction(rng) for _ in range(100)]
    assert {law.breakaway is None for law in laws} == {True, False}
    assert {law.width == 0 for law in laws} == {True, False}
    assert {law.coulomb == law.coulomb_negative for law in laws} == {True, False}
