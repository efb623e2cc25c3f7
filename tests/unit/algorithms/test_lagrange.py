"""The two routes to Lagrange's equations: their matrices by definition, by complex steps and beside the other algorithms."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms import newton_euler_recursion
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.formulations import lagrange_euler
from dalembert.model import Body, Friction, Joint, Link, Robot, Rotor
from dalembert.model.dh import from_dh
from dalembert.spatial import Inertia, Pose, Vec3
from tests.robots import pose, random_robot, relative_error, without_friction

pytestmark = pytest.mark.usefixtures("interpreted")

TOLERANCE = 1e-12  # relative: the same numbers by other products of a few matrices
STEP = 1e-30  # a complex step this short has neither truncation nor cancellation
ROUTES = ["lagrange_euler", "lagrange_energy"]


@pytest.fixture(params=range(6))
def robot(request: pytest.FixtureRequest) -> Robot:
    """Trees of two to seven coordinates with sliding joints, couplings, rotors and frames anywhere."""
    return random_robot(np.random.default_rng(100 + request.param), 2 + request.param)


@pytest.fixture
def q(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-2, 2, robot.n)


def moving(robot: Robot) -> list[Joint]:
    return [joint for joint in robot.structure.joints if joint.moves]


def assembled(nest: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Nested sequences of scalars and batches as one array, the batch last."""
    if isinstance(nest, (list, tuple)):
        return np.stack([assembled(entry, shape) for entry in nest])
    return np.broadcast_to(nest, shape)


# The 4x4 matrices of Lagrange-Euler


def stepped(robot: Robot, rng: np.random.Generator) -> list[lagrange_euler.LinkMatrices]:
    """T, U, U2 of all links for a batch in which each joint variable has a complex step in its turn."""
    tree = engine.tree(robot)
    size = len(tree.segments)
    return lagrange_euler.link_matrices(Unrolled(tree), list(rng.uniform(-2, 2, (size, 1)) + 1j * STEP * np.eye(size)))


def upper(U: Pose, size: int) -> np.ndarray:
    """The three upper rows of a matrix, shape (3, 4, size)."""
    return np.concatenate([assembled(U.R, (size,)), assembled(U.p, (size,))[:, None]], axis=1)


def test_the_transforms_are_the_poses_of_the_links_own_frames(robot: Robot, q: np.ndarray) -> None:
    T = dal.terms(robot, q, formulation="lagrange_euler", names=["T"])["T"]
    poses = [dal.forward_kinematics(robot, q, joint.child) for joint in moving(robot)]
    assert relative_error(T, np.array(poses)) < TOLERANCE


def test_the_first_matrices_are_the_derivatives_of_the_transforms(robot: Robot, rng: np.random.Generator) -> None:
    links = stepped(robot, rng)
    size = len(links)
    for i, link in enumerate(links):
        rates = upper(link.T, size).imag / STEP
        assert set(link.U) == set(engine.tree(robot).path(i))
        for j in range(size):
            found = upper(link.U[j], size)[..., 0].real if j in link.U else np.zeros((3, 4))
            assert relative_error(found, rates[..., j]) < TOLERANCE


def test_the_second_matrices_are_the_derivatives_of_the_first(robot: Robot, rng: np.random.Generator) -> None:
    links = stepped(robot, rng)
    size = len(links)
    for link in links:
        assert len(link.U2) == len(link.U) * (len(link.U) + 1) // 2
        for j, U in link.U.items():
            rates = upper(U, size).imag / STEP
            for k in link.U:
                found = upper(link.U2[min(j, k), max(j, k)], size)[..., 0].real
                assert relative_error(found, rates[..., k]) < TOLERANCE


def test_the_terms_are_the_matrices_with_their_last_rows_and_zeros_off_the_path(robot: Robot, q: np.ndarray) -> None:
    found = dal.terms(robot, q, formulation="lagrange_euler", names=["U", "U2"])
    links = lagrange_euler.link_matrices(Unrolled(engine.tree(robot)), Unrolled(engine.tree(robot)).expand(list(q)))
    size = len(links)
    U, U2 = np.zeros((size, size, 4, 4)), np.zeros((size, size, size, 4, 4))
    for i, link in enumerate(links):
        for j, first in link.U.items():
            U[i, j, :3] = upper(first, 1)[..., 0]
        for (j, k), second in link.U2.items():
            U2[i, j, k, :3] = U2[i, k, j, :3] = upper(second, 1)[..., 0]
    assert relative_error(found["U"], U) < TOLERANCE
    assert relative_error(found["U2"], U2) < TOLERANCE


# Pseudo-inertia, against its definition on clouds of points


def cloud(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Point masses, and where they are as (r, 1)."""
    return rng.uniform(0.1, 1.0, 8), np.column_stack([rng.uniform(-0.3, 0.3, (8, 3)), np.ones(8)])


def of_cloud(name: str, masses: np.ndarray, points: np.ndarray) -> Body:
    """The same as mass, centre of mass and tensor Σ m (r·r 1 − r rᵀ) about that."""
    mass, com = masses.sum(), masses @ points[:, :3] / masses.sum()
    r = points[:, :3] - com
    return Body(name, mass, com, sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True)))


def test_the_pseudo_inertia_is_the_sum_over_all_mass_the_link_carries(rng: np.random.Generator) -> None:
    """Its own, that of another body on it, of a welded link and of a full rotor, all in the frame of the moved link."""
    own, other, welded = cloud(rng), cloud(rng), cloud(rng)
    first = of_cloud("first", *own)
    second = of_cloud("second", *welded)
    weld, rotor = pose(rng), Rotor(2e-3, 30.0, "full", mass=0.7, transverse_inertia=1e-3, position=rng.uniform(-0.2, 0.2, 3))
    last = of_cloud("last", *cloud(rng))
    robot = Robot.from_parts(
        "carrier",
        [
            Link("base"),
            Link("first", first.mass, first.com, first.inertia, bodies=(of_cloud("other", *other),)),
            Link("second", second.mass, second.com, second.inertia),
            Link("last", last.mass, last.com, last.inertia),
        ],
        [
            Joint("a", "revolute", "base", "first", origin=pose(rng), axis=rng.normal(size=3), child_origin=pose(rng)),
            Joint("weld", "fixed", "first", "second", origin=weld),
            Joint("b", "prismatic", "first", "last", origin=pose(rng), axis=rng.normal(size=3)),
        ],
        rotors={"b": rotor},
    )
    expected = sum((points.T * masses) @ points for masses, points in (own, other, (welded[0], welded[1] @ weld.T)))
    at = np.append(rotor.position, 1.0)
    spin = np.array([1e-3, 1e-3, 0.0])  # ∫ x² dm = ∫ y² dm = I_m / 2 of a symmetric top about z, ∫ z² dm = I_t − I_m / 2 = 0
    expected = expected + rotor.mass * np.outer(at, at) + np.diag([*spin, 0.0])
    J = dal.terms(robot, [0.3, 0.1], formulation="lagrange_euler", names=["J"])["J"]
    assert relative_error(J[0], expected) < TOLERANCE


# The coefficients of both routes


@pytest.mark.parametrize(("route", "names"), [("lagrange_euler", "Dhc"), ("lagrange_energy", "Bcg")])
def test_the_coefficients_are_mass_matrix_christoffel_symbols_and_gravity(route: str, names: str, robot: Robot, rng: Any) -> None:
    q, qd, qdd = rng.uniform(-2, 2, (3, 4, robot.n))
    found = dal.terms(robot, q, formulation=route, names=list(names))
    M, c, g = (found[name] for name in names)
    assert relative_error(M, dal.mass_matrix(robot, q)) < TOLERANCE
    assert relative_error(c, dal.christoffel(robot, q)) < TOLERANCE
    assert relative_error(g, dal.gravity_torque(robot, q)) < TOLERANCE
    tau = np.einsum("bij,bj->bi", M, qdd) + np.einsum("bijk,bj,bk->bi", c, qd, qd) + g
    assert relative_error(tau, dal.inverse_dynamics(without_friction(robot), q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("route", ROUTES)
def test_the_coefficients_of_velocity_products_have_their_symmetries(route: str, robot: Robot, q: np.ndarray) -> None:
    """c_ijk = c_ikj [Siciliano, Eq. 7.46]; and Ṁ = Cᵀ + C for unit rates makes ∂M_ij/∂q_k = c_ijk + c_jik."""
    tree = engine.tree(robot)
    c = dal.christoffel(robot, q, formulation=route)
    stepped = [x + 1j * STEP * np.eye(robot.n)[i] for i, x in enumerate(q)]
    M = assembled(dal.FORMULATIONS[route].mass_matrix(Unrolled(tree), stepped), (robot.n,))
    assert np.array_equal(c, np.swapaxes(c, 1, 2))
    assert relative_error(c + np.swapaxes(c, 0, 1), M.imag / STEP) < TOLERANCE


@pytest.mark.parametrize("seed", range(3))
def test_lagrange_euler_takes_masses_and_moments_as_inputs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    phi = dal.parameters(robot) * rng.uniform(0.5, 1.5, len(dal.parameters(robot)))
    expected = dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi)
    found = dal.inverse_dynamics(robot, q, qd, qdd, parameters=phi, formulation="lagrange_euler")
    assert relative_error(found, expected) < TOLERANCE


# Jacobians and parts of the energy route


def test_the_jacobians_are_those_of_the_centres_of_mass(robot: Robot, q: np.ndarray) -> None:
    found = dal.terms(robot, q, formulation="lagrange_energy", names=["J_P", "J_O"])
    standard = dict(zip(dal.parameter_names(robot), dal.parameters(robot), strict=True))
    for i, joint in enumerate(moving(robot)):
        com = np.array([standard[f"{joint.name}.{name}"] for name in ("mx", "my", "mz")]) / standard[f"{joint.name}.m"]
        J = dal.jacobian(robot, q, link=joint.child, point=com)
        assert relative_error(found["J_P"][i], J[:3]) < TOLERANCE
        assert relative_error(found["J_O"][i], J[3:]) < TOLERANCE


def test_a_full_rotor_turns_with_its_mount_and_k_times_as_fast_as_its_joint(robot: Robot, q: np.ndarray) -> None:
    found = dal.terms(robot, q, formulation="lagrange_energy", names=["J_O_rotor"])["J_O_rotor"]
    rotors = robot.parameters.rotors
    for i, joint in enumerate(moving(robot)):
        expected = np.zeros((3, robot.n))
        if joint.name in rotors and rotors[joint.name].model == "full":
            rotor = rotors[joint.name]
            mount = rotor.mount or joint.parent
            column = rotor.ratio * dal.forward_kinematics(robot, q, mount)[:3, :3] @ rotor.axis
            master = joint.name if joint.mimic is None else joint.mimic.joint
            expected = dal.jacobian(robot, q, link=mount)[3:].copy()
            expected[:, robot.joint_names.index(master)] += column * (1.0 if joint.mimic is None else joint.mimic.multiplier)
        assert relative_error(found[i], expected) < TOLERANCE


def test_links_and_rotors_add_up_to_the_inertia_matrix_and_no_link_has_negative_energy(robot: Robot, q: np.ndarray) -> None:
    found = dal.terms(robot, q, formulation="lagrange_energy", names=["B", "links", "rotors"])
    assert relative_error(found["links"].sum(0) + found["rotors"].sum(0), found["B"]) < TOLERANCE
    assert np.linalg.eigvalsh(found["links"]).min() > -1e-12 * np.abs(found["links"]).max()


# Links without mass


@pytest.fixture
def hollow(rng: np.random.Generator) -> Robot:
    """A massless link between two bodies, its frame away from its axis."""
    end = of_cloud("end", *cloud(rng))
    return Robot.from_parts(
        "hollow",
        [
            Link("base"),
            Link("first", 1.0, inertia=np.eye(3)),
            Link("none", virtual=True),
            Link("end", end.mass, end.com, end.inertia),
        ],
        [
            Joint("a", "revolute", "base", "first", origin=pose(rng)),
            Joint("b", "revolute", "first", "none", origin=pose(rng), axis=rng.normal(size=3), child_origin=pose(rng)),
            Joint("c", "prismatic", "none", "end", origin=pose(rng), axis=rng.normal(size=3)),
        ],
        friction={"a": Friction(0.3)},
    )


@pytest.mark.parametrize("route", ROUTES)
def test_a_massless_link_divides_nothing_by_zero(route: str, hollow: Robot, rng: np.random.Generator) -> None:
    q, qd, qdd = rng.uniform(-2, 2, (3, 3))
    expected = dal.inverse_dynamics(hollow, q, qd, qdd)
    assert relative_error(dal.inverse_dynamics(hollow, q, qd, qdd, formulation=route), expected) < TOLERANCE


def test_the_jacobian_of_a_massless_link_is_that_of_its_frame(hollow: Robot, rng: np.random.Generator) -> None:
    q = rng.uniform(-2, 2, 3)
    found = dal.terms(hollow, q, formulation="lagrange_energy", names=["J_P"])["J_P"]
    assert relative_error(found[1], dal.jacobian(hollow, q, link="none")[:3]) < TOLERANCE


@pytest.mark.parametrize("route", ROUTES)
def test_moments_without_mass_act_all_the_same(route: str, hollow: Robot, rng: np.random.Generator) -> None:
    """As of masses of both signs, a correction that identification may give."""
    tree = engine.tree(hollow)
    q, qd, qdd = ([float(x) for x in row] for row in rng.uniform(-2, 2, (3, 3)))
    for h in (Vec3(0.0, 0.0, 0.0), Vec3(0.2, -0.3, 0.4)):
        odd = dataclasses.replace(tree.segments[1], inertia=Inertia(0.0, h, tree.segments[2].inertia.I))
        sweep = Unrolled(dataclasses.replace(tree, segments=(tree.segments[0], odd, tree.segments[2])))
        base = newton_euler_recursion.still_base(tree.gravity)
        tau = [dal.FORMULATIONS[name].inverse_dynamics(sweep, q, qd, qdd, base) for name in (route, "newton_euler")]
        assert relative_error(*np.array(tau)) < TOLERANCE


# Kinds of scalars


@pytest.mark.parametrize("route", ROUTES)
def test_lengths_masses_and_moments_may_be_batches(route: str, rng: np.random.Generator) -> None:
    """Two arms of the same axes in one run."""

    def arm(scale: float) -> Robot:
        rows = [
            {"a": 0.4 * scale, "alpha": 0.7, "mass": 2.0 / scale, "com": (-0.1, 0.1 * scale, 0.05), "inertia": (0.2, 0.3, 0.4)},
            {
                "type": "P",
                "d": 0.3 * scale,
                "a": 0.2,
                "alpha": -0.4,
                "mass": scale,
                "com": (0.1, 0, 0),
                "inertia": (0.2, 0.3, 0.4),
            },
            {"a": 0.3, "d": 0.1 * scale, "mass": 1.0, "com": (0, 0, 0.2 * scale), "inertia": (0.1, 0.1, 0.1)},
        ]
        return from_dh(rows, convention="standard")

    def both(*vectors: Any) -> Any:
        """The same record twice, numbers as pairs where they differ."""
        if isinstance(vectors[0], tuple):
            return type(vectors[0])(*(both(*parts) for parts in zip(*vectors, strict=True)))
        return vectors[0] if vectors[0] == vectors[1] else np.array(vectors)

    trees = [engine.tree(arm(scale)) for scale in (1.0, 1.5)]
    segments = [
        dataclasses.replace(a, p=both(a.p, b.p), inertia=both(a.inertia, b.inertia))
        for a, b in zip(*(tree.segments for tree in trees), strict=True)
    ]
    frames = [dataclasses.replace(a, p=both(a.p, b.p)) for a, b in zip(*(tree.frames for tree in trees), strict=True)]
    tree = dataclasses.replace(trees[0], segments=tuple(segments), frames=tuple(frames))
    q, qd, qdd = ([float(x) for x in row] for row in rng.uniform(-2, 2, (3, 3)))
    base = newton_euler_recursion.still_base(tree.gravity)
    tau = dal.FORMULATIONS[route].inverse_dynamics(Unrolled(tree), q, qd, qdd, base)
    expected = [newton_euler_recursion.inverse_dynamics(Unrolled(one), q, qd, qdd, base) for one in trees]
    assert relative_error(np.array([np.broadcast_to(t, (2,)) for t in tau]), np.array(expected).T) < TOLERANCE


# Operations


@pytest.mark.parametrize("route", ROUTES)
def test_an_arm_takes_a_thirtieth_of_the_published_operations(route: str) -> None:
    """A panda's constants fold and products are shared; 173425 and 132496 for any seven joints [Milicevic, Table 3]."""
    count = Counter(node.op for node in engine.program(dal.robots.panda(), "inverse_dynamics", route).nodes)
    assert count["mul"] < 173425 / 30
    assert count["add"] + count["sub"] < 132496 / 30
