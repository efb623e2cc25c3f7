"""The generalized d'Alembert terms against their definitions: sums over links of what the public Jacobians say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms import newton_euler_recursion
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.expr import trace
from dalembert.expr.operation_counts import counts
from dalembert.formulations import generalized_dalembert as gd
from dalembert.formulations.base import closed
from dalembert.model import Joint, Link, Robot, Rotor
from dalembert.model.dh import from_dh
from tests.robots import EVERYTHING, PLAIN, random_robot, relative_error, state, without_friction

NAME = "generalized_dalembert"
TOLERANCE = 1e-12  # relative: other orders of some thousand operations
BARE = dataclasses.replace(PLAIN, prismatic=True, branches=True, child_origins=True, homes=True, mimic=True, aligned=True)
SEEDS = range(6)
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, no compiling


def terms(robot: Robot, q: np.ndarray, qd: np.ndarray | None = None) -> dict[str, np.ndarray]:
    return dal.terms(robot, q, qd, formulation=NAME)


def moving_links(robot: Robot) -> list[Link]:
    """The link that each moving joint carries, in the order of the tree."""
    by_name = {link.name: link for link in robot.parameters.links}
    return [by_name[joint.child] for joint in robot.structure.joints if joint.moves]


@pytest.mark.parametrize("seed", SEEDS)
def test_each_link_adds_its_mass_and_tensor_by_its_own_jacobian(seed: int) -> None:
    """m Jvᵀ Jv at its centre of mass and Jωᵀ R I Rᵀ Jω; joints that turn and slide, branches, couplings."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, BARE)
    q = state(robot, rng)[0]
    found = terms(robot, q)
    for s, link in enumerate(moving_links(robot)):
        J = dal.jacobian(robot, q, link.name, point=link.com)
        R = dal.forward_kinematics(robot, q, link.name)[:3, :3]
        assert relative_error(found["D_tran_links"][s], link.mass * J[:3].T @ J[:3]) < TOLERANCE
        assert relative_error(found["D_rot_links"][s], J[3:].T @ R @ link.inertia @ R.T @ J[3:]) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_the_parts_add_up_to_the_model(seed: int) -> None:
    """With rotors of both kinds, several bodies, payload and couplings."""
    rng = np.random.default_rng(seed)
    robot = without_friction(random_robot(rng, 4))
    q, qd, qdd = state(robot, rng)
    t = terms(robot, q, qd)
    assert relative_error(t["D"], dal.mass_matrix(robot, q)) < TOLERANCE
    assert relative_error(t["D_rot"] + t["D_tran"], t["D"]) < TOLERANCE
    assert relative_error(t["D_rot_links"].sum(axis=0), t["D_rot"]) < TOLERANCE
    assert relative_error(t["D_tran_links"].sum(axis=0), t["D_tran"]) < TOLERANCE
    assert relative_error(t["h_rot"] + t["h_tran"], dal.christoffel(robot, q)) < TOLERANCE
    assert relative_error(t["G"], dal.gravity_torque(robot, q)) < TOLERANCE
    tau = t["D"] @ qdd + t["H_rot"] + t["H_tran"] + t["G"]
    assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("part", ["rot", "tran"])
@pytest.mark.parametrize("seed", SEEDS)
def test_velocity_coefficients_are_the_christoffel_symbols_of_their_own_part(seed: int, part: str) -> None:
    """By complex steps of D_rot and D_tran, so each part is a model by itself."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 3)
    q, qd, _ = state(robot, rng)
    sweep, D, step = Unrolled(engine.tree(robot)), getattr(gd, f"D_{part}"), 1e-30
    dD = [np.array(D(sweep, list(q + 1j * step * e)), dtype=complex).imag / step for e in np.eye(robot.n)]  # [k, i, j]
    dD = np.moveaxis(np.array(dD), 0, 2)  # ∂D_ij/∂q_k
    expected = (dD + np.swapaxes(dD, 1, 2) - np.moveaxis(dD, 2, 0)) / 2
    t = terms(robot, q, qd)
    assert relative_error(t[f"h_{part}"], expected) < TOLERANCE
    assert relative_error(t[f"H_{part}"], np.einsum("ijk,j,k", expected, qd, qd)) < TOLERANCE


def test_a_coefficient_changes_its_sign_when_two_outer_joints_change_places(rng: np.random.Generator) -> None:
    """h_ijk = −h_kji for j before i and k: the joint j turns what they both see."""
    robot = random_robot(rng, 5, PLAIN)
    h = dal.terms(robot, state(robot, rng)[0], formulation=NAME, names=["h_tran"])["h_tran"]
    for j in range(5):
        outer = h[j:, j, j:]
        assert relative_error(outer, -outer.T) < TOLERANCE
        assert np.abs(outer).max() > 1e-3 or j == 4


def test_sliding_joints_alone_have_translation_and_gravity_only(rng: np.random.Generator) -> None:
    rows = [
        {"type": "P", "alpha": a, "theta": 0.3, "mass": m, "com": (0.1, 0, 0.2), "inertia": (0.1, 0.2, 0.25)}
        for a, m in ((1.0, 2.0), (-0.7, 3.0), (0.0, 1.0))
    ]
    robot = from_dh(rows, convention="standard")
    t = terms(robot, *state(robot, rng)[:2])
    for name in ("D_rot", "h_rot", "h_tran", "H_rot", "H_tran"):
        assert not t[name].any(), name
    assert t["D_tran"].diagonal() == pytest.approx([6.0, 4.0, 1.0], rel=TOLERANCE)
    assert np.abs(t["G"]).max() > 1.0


def test_a_reflected_rotor_is_rotation_of_its_own_joint_alone(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 3, PLAIN)
    name = robot.joint_names[1]
    geared = robot.replace(parameters=robot.parameters.replace(rotors={name: Rotor(2e-3, 50.0)}))
    q, qd, _ = state(robot, rng)
    bare, found = terms(robot, q, qd), terms(geared, q, qd)
    added = {key: found[key] - bare[key] for key in found}
    expected = np.zeros((3, 3, 3))
    expected[1, 1, 1] = 2e-3 * 50.0**2
    assert relative_error(added["D_rot_links"], expected) < TOLERANCE
    for key in ("D_tran", "D_tran_links", "h_rot", "h_tran", "H_rot", "H_tran", "G"):
        assert not added[key].any(), key


def test_a_full_rotor_spins_with_its_joint_s_link_and_weighs_on_its_mount(rng: np.random.Generator) -> None:
    """Mounted on link 1, driving joint 3: spin in the rotation of link 3, mass and inertia at rest in both parts of link 1."""
    robot = random_robot(rng, 3, PLAIN)
    drive = robot.joint_names[2]
    mount = robot.structure.joint(robot.joint_names[0]).child
    rotor = Rotor(2e-3, 50.0, "full", mass=1.5, transverse_inertia=1e-3, position=np.array([0.1, 0.2, 0.0]), mount=mount)
    geared = robot.replace(parameters=robot.parameters.replace(rotors={drive: rotor}))
    q, qd, _ = state(robot, rng)
    bare, found = terms(robot, q, qd), terms(geared, q, qd)
    spin = found["D_rot_links"][2] - bare["D_rot_links"][2]
    z = dal.forward_kinematics(robot, q, mount)[:3, 2]
    coupling = 2e-3 * 50.0 * z @ dal.jacobian(robot, q, mount)[3:]
    expected = np.outer([0, 0, 1], coupling) + np.outer(coupling, [0, 0, 1])
    expected[2, 2] = 2e-3 * 50.0**2
    assert relative_error(spin, expected) < TOLERANCE
    changed = [np.abs(found["D_tran_links"][s] - bare["D_tran_links"][s]).max() > 1e-6 for s in range(3)]
    assert changed == [True, False, False]
    assert relative_error(found["D_rot_links"][1], bare["D_rot_links"][1]) < TOLERANCE


def test_a_moving_link_without_mass_divides_by_nothing(rng: np.random.Generator) -> None:
    """A hand carried by a massless link: its terms are zero and those of the others stay right."""
    X = np.eye(4)
    X[:3, 3] = 0.3, 0.1, 0.0
    links = [Link("base"), Link("ghost", virtual=True), Link("hand", 2.0, np.array([0.1, 0.0, 0.2]), np.diag([0.1, 0.2, 0.15]))]
    axes = np.eye(3)
    joints = [
        Joint("a", "revolute", "base", "ghost", axis=axes[2]),
        Joint("b", "revolute", "ghost", "hand", origin=X, axis=axes[0]),
    ]
    robot = Robot.from_parts("arm", links, joints)
    q, qd, qdd = state(robot, rng)
    t = terms(robot, q, qd)
    assert all(np.isfinite(array).all() for array in t.values())
    assert not t["D_tran_links"][0].any()
    assert not t["D_rot_links"][0].any()
    assert relative_error(t["D"], dal.mass_matrix(robot, q)) < TOLERANCE
    tau = dal.inverse_dynamics(robot, q, qd, qdd, formulation=NAME)
    assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_masses_and_moments_may_be_inputs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 3)
    q, qd, qdd = state(robot, rng)
    phi = dal.parameters(robot) * rng.uniform(0.5, 1.5, dal.parameters(robot).shape)
    found = dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi, formulation=NAME)
    assert relative_error(found, dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi)) < TOLERANCE


def test_terms_run_on_batches(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 3, EVERYTHING)
    q, qd, _ = state(robot, rng, (4,))
    whole, third = terms(robot, q, qd), terms(robot, q[2], qd[2])
    m = len(moving_links(robot))
    assert whole["D_rot_links"].shape == (4, m, 3, 3)
    assert whole["h_tran"].shape == (4, 3, 3, 3)
    for name, array in third.items():
        assert relative_error(whole[name][2], array) < TOLERANCE, name


@pytest.mark.parametrize("n", [4, 6, 8])
def test_velocity_torques_by_pairs_of_joints_take_fewer_operations_than_by_triples(n: int) -> None:
    robot = random_robot(np.random.default_rng(3), n, PLAIN)
    tree = engine.tree(robot).regrouped
    base = newton_euler_recursion.still_base(tree.gravity)

    def operations(function) -> int:
        inputs = dict.fromkeys(("q", "qd", "qdd"), (n,))
        return counts(trace(lambda *a: function(Unrolled(tree), *a, base), inputs, ["tau"])).flops

    assert operations(gd.inverse_dynamics) < operations(closed(gd.model)["inverse_dynamics"])


@pytest.mark.parametrize("n", [4, 6, 8])
def test_the_christoffel_symbols_take_fewer_operations_than_by_differentiation(n: int) -> None:
    robot = random_robot(np.random.default_rng(3), n, PLAIN)
    found, default = (counts(engine.program(robot, "christoffel", name, rolled=False)).flops for name in (NAME, "newton_euler"))
    assert found < default


def test_all_documented_terms_have_a_meaning() -> None:
    assert set(gd.FORMULATION.terms) == {
        "D", "D_rot", "D_tran", "h_rot", "h_tran", "H_rot", "H_tran", "G", "D_rot_links", "D_tran_links",
    }  # fmt: skip
    assert all(term.meaning for term in gd.FORMULATION.terms.values())
