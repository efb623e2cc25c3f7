"""The parts of the torque: they add up in every way, and each is what its name says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics.contributions import SPLITS
from dalembert.errors import ShapeError, UnknownNameError
from dalembert.model import Link, Robot
from tests.robots import EVERYTHING, FRICTIONLESS, PLAIN, random_robot, relative_error, state

SUM = 1e-12  # relative to the largest torque: other orders of the same operations
SEEDS = range(8)
BARE = dataclasses.replace(PLAIN, prismatic=True, branches=True, child_origins=True, homes=True, mimic=True, aligned=True)
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, no compiling


def drawn(seed: int, features=EVERYTHING) -> tuple[Robot, tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, int(rng.integers(1, 6)), features)
    return robot, state(robot, rng, (3,))


def links_of(robot: Robot) -> list[Link]:
    """The link that each moving joint carries."""
    by_name = {link.name: link for link in robot.parameters.links}
    return [by_name[joint.child] for joint in robot.structure.joints if joint.moves]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_split_adds_up_to_the_torque(seed: int) -> None:
    robot, motion = drawn(seed)
    wrenches = {"tool": np.random.default_rng(seed).normal(size=(3, 6))}
    parts = dal.contributions(robot, *motion, wrenches=wrenches)
    tau = dal.inverse_dynamics(robot, *motion, wrenches=wrenches)
    assert relative_error(parts.tau, tau) < SUM
    for name, split in SPLITS.items():
        assert relative_error(sum(split(parts).values()), tau) < SUM, name


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_friction_and_wrenches_are_those_of_the_single_functions(seed: int) -> None:
    robot, (q, qd, qdd) = drawn(seed)
    wrenches = {"tool": np.ones(6)}
    parts = dal.contributions(robot, q, qd, qdd, wrenches=wrenches)
    assert relative_error(parts.gravity, dal.gravity_torque(robot, q)) < SUM
    assert relative_error(parts.friction, dal.friction_torque(robot, qd)) < SUM
    assert relative_error(parts.external, -np.einsum("...ij,i->...j", dal.jacobian(robot, q), np.ones(6))) < SUM


@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_and_velocity_parts_are_those_of_m_and_the_christoffel_symbols(seed: int) -> None:
    robot, (q, qd, qdd) = drawn(seed)
    parts = dal.contributions(robot, q, qd, qdd)
    M, c = dal.mass_matrix(robot, q), dal.christoffel(robot, q)
    own = np.einsum("kii->ki", M) * qdd
    assert relative_error(parts.inertia_own, own) < SUM
    assert relative_error(parts.inertia_coupling, np.einsum("kij,kj->ki", M, qdd) - own) < SUM
    centrifugal = np.einsum("kijj,kj->ki", c, qd**2)
    assert relative_error(parts.centrifugal, centrifugal) < SUM
    assert relative_error(parts.coriolis, np.einsum("kijl,kj,kl->ki", c, qd, qd) - centrifugal) < SUM


@pytest.mark.parametrize("seed", SEEDS)
def test_a_joint_moving_alone_feels_no_coriolis_torque(seed: int) -> None:
    robot, (q, qd, _) = drawn(seed)
    alone = np.zeros_like(qd)
    alone[:, 0] = qd[:, 0]
    assert not dal.contributions(robot, q, alone, np.zeros_like(q)).coriolis.any()


@pytest.mark.parametrize("seed", SEEDS)
def test_each_link_s_parts_follow_from_its_jacobian(seed: int) -> None:
    """m Jvᵀ (Jv q̈ + J̇v q̇) at the centre of mass, Jωᵀ (I ω̇ + ω × I ω) about it, −m Jvᵀ g."""
    robot, (q, qd, qdd) = drawn(seed, BARE)
    parts = dal.contributions(robot, q[0], qd[0], qdd[0])
    for k, link in enumerate(links_of(robot)):
        J, Jdot = (_at(robot, q[0], qd[0], link, part) for part in ("J", "Jdot"))
        R = dal.forward_kinematics(robot, q[0], link.name)[:3, :3]
        I, a, w = R @ link.inertia @ R.T, J @ qdd[0] + Jdot @ qd[0], (J @ qd[0])[3:]
        assert relative_error(parts.link_translational[k], link.mass * J[:3].T @ a[:3]) < SUM
        assert relative_error(parts.link_rotational[k], J[3:].T @ (I @ a[3:] + np.cross(w, I @ w))) < SUM
        assert relative_error(parts.link_gravity[k], -link.mass * J[:3].T @ robot.gravity) < SUM


def _at(robot: Robot, q: np.ndarray, qd: np.ndarray, link: Link, part: str) -> np.ndarray:
    """J of a link's centre of mass, and its rate from that of the origin: v_C = v + ω × r, v̇_C = ... + ω × (ω × r)."""
    if part == "J":
        return dal.jacobian(robot, q, link.name, point=link.com)
    r = dal.forward_kinematics(robot, q, link.name)[:3, :3] @ link.com
    J, Jdot = dal.jacobian(robot, q, link.name), dal.jacobian_dot(robot, q, qd, link.name)
    w = J[3:] @ qd
    shifted = Jdot[:3] + np.cross(Jdot[3:].T, r).T + np.cross(J[3:].T, np.cross(w, r)).T
    return np.vstack([shifted, Jdot[3:]])


@pytest.mark.parametrize("seed", SEEDS)
def test_translation_and_rotation_are_those_of_the_generalized_dalembert_equations(seed: int) -> None:
    """Which count the rotors with the rotation [Lee, Eq. 29-32]."""
    robot, (q, qd, qdd) = drawn(seed, FRICTIONLESS)
    parts = dal.contributions(robot, q, qd, qdd)
    t = dal.terms(robot, q, qd, formulation="generalized_dalembert", names=["D_tran", "H_tran", "D_rot", "H_rot"])
    translational = np.einsum("kij,kj->ki", t["D_tran"], qdd) + t["H_tran"]
    rotational = np.einsum("kij,kj->ki", t["D_rot"], qdd) + t["H_rot"]
    assert relative_error(parts.translational, translational) < SUM
    assert relative_error(parts.rotational + parts.rotor, rotational) < SUM


def test_the_rotors_part_is_what_vanishes_with_their_spin_inertia() -> None:
    robot, motion = drawn(3, FRICTIONLESS)
    spins = [k for k, name in enumerate(dal.parameter_names(robot)) if name.endswith(".Im")]
    without = dal.parameters(robot)
    without[spins] = 0.0
    rest = dal.inverse_dynamics(robot, *motion, parameters=without)
    assert relative_error(dal.contributions(robot, *motion).rotor, dal.inverse_dynamics(robot, *motion) - rest) < SUM


def test_shapes_follow_the_batch_and_the_couplings() -> None:
    """A robot with a coupled joint has more links than coordinates."""
    robot = next(r for r, _ in map(drawn, range(30)) if len(links_of(r)) > r.n)
    n, m = robot.n, len(links_of(robot))
    parts = dal.contributions(robot, np.zeros((4, 1, n)), np.zeros((2, n)), np.zeros(n))
    assert parts.inertia.shape == parts.centrifugal_by.shape == (4, 2, n, n)
    assert parts.links.shape == parts.link_rotor.shape == (4, 2, m, n)
    assert parts.tau.shape == parts.gravity.shape == parts.external.shape == (4, 2, n)
    assert (len(parts.joints), len(parts.coordinates), len(parts.units)) == (m, n, n)


def test_names_and_units_are_the_robot_s() -> None:
    parts = dal.contributions(dal.robots.pr_arm().replace(), *np.zeros((3, 2)))
    assert (parts.coordinates, parts.units) == (dal.robots.pr_arm().joint_names, ("N", "N m"))
    assert list(parts.by_joint)[:2] == [f"inertia, {name}" for name in parts.coordinates]
    assert next(iter(parts.by_link)) == f"link of {parts.joints[0]}"


def test_wrenches_that_are_no_mapping_and_unknown_links_are_refused() -> None:
    robot = dal.robots.pendulum().replace()
    with pytest.raises(ShapeError, match="wrenches: ndarray found, a mapping"):
        dal.contributions(robot, *np.zeros((3, 1)), wrenches=np.zeros(6))
    with pytest.raises(UnknownNameError, match="link: 'tol' is not known; did you mean 'tool'"):
        dal.contributions(robot, *np.zeros((3, 1)), wrenches={"tol": np.zeros(6)})
    with pytest.raises(dal.DalembertError, match="system: str found"):
        dal.contributions("pendulum", *np.zeros((3, 1)))
