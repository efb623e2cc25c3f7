"""The screw formulation: principal screws, three Jacobians, rates by screw products, each link's own terms, planar systems."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms import newton_euler_recursion
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.expr import trace
from dalembert.expr.operation_counts import counts
from dalembert.formulations import screw, screw_jacobians, screw_links
from dalembert.model import Body, Joint, Link, Robot
from dalembert.model.combinations import spherical
from dalembert.model.tree import Segment
from dalembert.spatial import Inertia, Mat3, Sym3, Twist, Vec3
from tests.robots import PLAIN, body, pose, random_robot, relative_error, rotation

EXACT = 1e-12  # relative: a few hundred operations
SEEDS = range(4)


def robot_of(seed: int, n: int = 4) -> Robot:
    return random_robot(np.random.default_rng(seed), n)


def sweep_of(robot: Robot) -> Unrolled:
    return Unrolled(engine.tree(robot))


def floats(values: Any) -> list[float]:
    return [float(x) for x in values]


def terms_of(robot: Robot, q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
    """All terms, on plain numbers."""
    table = screw.FORMULATION.terms
    sweep, still = sweep_of(robot), [0.0] * robot.n
    return {name: np.array(term.function(sweep, floats(q), floats(qd), still), dtype=float) for name, term in table.items()}


def directional(function: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The derivative along q̇ by a complex step, which rounding does not disturb."""
    step = 1e-30
    found = function([np.array([x + 1j * step * v]) for x, v in zip(q, qd, strict=True)])
    return np.array(_imaginary(found)) / step


def _imaginary(nest: Any) -> Any:
    return [_imaginary(entry) for entry in nest] if isinstance(nest, (list, tuple)) else float(np.imag(np.sum(nest)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_jacobian_is_that_of_the_centre_of_mass_in_link_axes(seed: int, rng: np.random.Generator) -> None:
    """Against the kinematics of a point, which know no screws."""
    robot = random_robot(np.random.default_rng(seed), 3, dataclasses.replace(PLAIN, prismatic=True, mimic=True))
    q = rng.uniform(-2, 2, robot.n)
    J = terms_of(robot, q, q)["J"]
    for own, joint in zip(J, [j for j in robot.structure.joints if j.moves], strict=True):
        point = robot.link(joint.child).com
        assert relative_error(own, dal.jacobian(robot, q, joint.child, frame="body", point=point)) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_the_transformation_leads_from_the_base_screws_to_the_jacobian(seed: int, rng: np.random.Generator) -> None:
    robot = robot_of(seed)
    found = terms_of(robot, *rng.uniform(-2, 2, (2, robot.n)))
    assert relative_error(found["T"] @ found["J0"], found["J"]) < EXACT
    R = found["T"][:, :3, :3]
    assert relative_error(np.concatenate([R @ found["Jbar"][:, :3], R @ found["Jbar"][:, 3:]], axis=1), found["J"]) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_a_link_s_mass_matrix_is_its_generalized_one_between_jacobians(seed: int, rng: np.random.Generator) -> None:
    """In the users' link frames here, in internal frames where M_i is computed."""
    robot = robot_of(seed)
    found = terms_of(robot, *rng.uniform(-2, 2, (2, robot.n)))
    assert relative_error(np.swapaxes(found["J"], 1, 2) @ found["Mbar"] @ found["J"], found["M_links"]) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_the_principal_screws_of_inertia_make_the_generalized_mass_matrix(seed: int) -> None:
    """M̄ = ½ m S_Cᵀ S_C; and they are principal: M̄ maps each to a wrench on the same screw, m r times it [Laus, Eq. 10]."""
    robot = robot_of(seed)
    still = np.zeros(robot.n)
    found = terms_of(robot, still, still)
    for S, M in zip(found["principal_screws"], found["Mbar"], strict=True):
        m = M[0, 0]
        assert relative_error(m / 2 * S.T @ S, M) < EXACT
        for row in S:
            axis, pitch = row[:3], row[:3] @ row[3:]
            twist = np.concatenate([pitch * axis, axis])  # a turn about the axis with this pitch, linear part first
            wrench = M @ twist
            np.testing.assert_allclose(wrench, m * pitch * np.concatenate([axis, pitch * axis]), atol=1e-10)


def inertia(mass: float, *moments: float) -> screw_links.Body:
    xx, yy, zz = moments
    return screw_links.body_about(Inertia(mass, Vec3(0.0, 0.0, 0.0), Sym3(xx, 0.0, 0.0, yy, 0.0, zz)), Vec3(0.0, 0.0, 0.0))


def test_principal_axes_are_numbered_like_the_link_axes_they_lie_on() -> None:
    S = np.array(screw_jacobians.principal_screws_of(inertia(2.0, 8.0, 2.0, 4.5)))
    np.testing.assert_allclose(S[::2, :3], np.eye(3), atol=1e-15)
    np.testing.assert_allclose(S[::2, 3:], np.diag([2.0, 1.0, 1.5]), atol=1e-15)
    np.testing.assert_allclose(S[1::2, 3:], -np.diag([2.0, 1.0, 1.5]), atol=1e-15)


def test_a_body_without_mass_has_zero_screws_and_an_impossible_one_none() -> None:
    assert not np.any(screw_jacobians.principal_screws_of(inertia(0.0, 0.0, 0.0, 0.0)))
    assert np.isnan(screw_jacobians.principal_screws_of(inertia(0.0, 1.0, 1.0, 1.0))).all()
    broken = np.array(screw_jacobians.principal_screws_of(inertia(1.0, -1.0, 1.0, 1.0)))
    assert np.isnan(broken[:2, 3:]).all()
    assert np.isfinite(broken[2:]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_rates_of_the_columns_are_their_derivatives(seed: int, rng: np.random.Generator) -> None:
    """Screw products against a complex step."""
    robot = robot_of(seed)
    sweep, still = sweep_of(robot), [0.0] * robot.n
    q, qd = rng.uniform(-2, 2, (2, robot.n))
    found = screw_links.links(sweep, floats(q), floats(qd), still, Vec3(0.0, 0.0, 0.0))
    for i, link in enumerate(found):
        for a, rate in link.rates.items():

            def column(values: Any, i: int = i, a: int = a) -> Twist:
                return screw_links.links(sweep, values, still, still, Vec3(0.0, 0.0, 0.0))[i].columns[a]

            wanted = directional(column, q, qd)
            np.testing.assert_allclose(np.array(rate, dtype=float), wanted, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_link_s_coriolis_matrix_is_that_of_the_christoffel_symbols_of_its_mass_matrix(
    seed: int, rng: np.random.Generator
) -> None:
    """[Laus, Eq. 35] written out, with derivatives of M_i by complex steps."""
    robot = robot_of(seed)
    sweep = sweep_of(robot)
    q, qd = rng.uniform(-2, 2, (2, robot.n))
    dM = np.stack([directional(lambda x: screw.link_inertias(sweep, x), q, e) for e in np.eye(robot.n)], axis=-1)
    c = (dM + np.swapaxes(dM, -1, -2) - np.moveaxis(dM, -1, -3)) / 2  # c_ijk of each link
    assert relative_error(terms_of(robot, q, qd)["C_links"], c @ qd) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sum_of_the_links_terms_is_the_robot_s_without_its_rotors(seed: int, rng: np.random.Generator) -> None:
    robot = robot_of(seed)
    q, qd = rng.uniform(-2, 2, (2, robot.n))
    found = terms_of(robot, q, qd)
    assert relative_error(found["g_links"].sum(axis=0), dal.gravity_torque(robot, q)) < EXACT
    assert relative_error(found["M"], dal.mass_matrix(robot, q)) < EXACT
    assert relative_error(found["C"], dal.coriolis_matrix(robot, q, qd)) < EXACT
    bare = random_robot(np.random.default_rng(seed), 4, PLAIN)
    found = terms_of(bare, q, qd)
    assert relative_error(found["M_links"].sum(axis=0), dal.mass_matrix(bare, q)) < EXACT
    assert relative_error(found["C_links"].sum(axis=0), dal.coriolis_matrix(bare, q, qd)) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_symbols_of_composite_bodies_contract_to_the_sum_of_the_links_coriolis_matrices(
    seed: int, rng: np.random.Generator
) -> None:
    """Two ways to sum: bodies first, or terms first."""
    robot = robot_of(seed, 5)
    q, qd = rng.uniform(-2, 2, (2, robot.n))
    c = np.array(screw.christoffel(sweep_of(robot), floats(q)), dtype=float)
    assert relative_error(c @ qd, np.array(screw.coriolis(sweep_of(robot), floats(q), floats(qd)), dtype=float)) < EXACT
    assert np.array_equal(c, np.swapaxes(c, 1, 2))


def test_massless_links_between_joints_add_nothing(rng: np.random.Generator) -> None:
    joints, frames = spherical("ball", "base", "arm")
    own = body(rng)
    robot = Robot.from_parts("ball", [Link("base"), Link("arm", own.mass, own.com, own.inertia), *frames], joints)
    q, qd, qdd = rng.uniform(-1, 1, (3, 3))
    found = terms_of(robot, q, qd)
    assert not found["M_links"][:2].any()
    assert not found["principal_screws"][:2].any()
    tau = dal.inverse_dynamics(robot, q, qd, qdd, formulation="screw")
    assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd)) < EXACT


@pytest.mark.filterwarnings("ignore:link 'arm', body:dalembert.DalembertWarning")
def test_a_link_whose_masses_cancel_has_a_first_moment_all_the_same(rng: np.random.Generator) -> None:
    """No centre of mass then; the screws are at the frame's origin instead."""
    tensor = np.diag([0.1, 0.1, 0.1])
    ghost = Body("ghost", -2.0, (0.3, 0.1, 0.0))
    arm = Link("arm", 2.0, (-0.2, 0.0, 0.4), tensor, bodies=(ghost,))
    far = Link("far", 1.0, (0.1, 0.2, 0.3), tensor)
    joints = [Joint("a", "revolute", "base", "arm"), Joint("b", "revolute", "arm", "far", axis=(1.0, 0.2, 0.0))]
    robot = Robot.from_parts("odd", [Link("base"), arm, far], joints)
    q, qd, qdd = rng.uniform(-1, 1, (3, 2))
    tau = dal.inverse_dynamics(robot, q, qd, qdd, formulation="screw")
    assert relative_error(tau, dal.inverse_dynamics(robot, q, qd, qdd)) < EXACT
    C = dal.coriolis_matrix(robot, q, qd, formulation="screw")
    assert relative_error(C, dal.coriolis_matrix(robot, q, qd)) < EXACT
    assert relative_error(terms_of(robot, q, qd)["C"], C) < EXACT


def test_masses_may_be_symbols(rng: np.random.Generator) -> None:
    """Then the screws are at the frames' origins, and no mass is divided by."""
    robot = random_robot(rng, 3, PLAIN)
    tree = engine.tree(robot)

    def function(q: Any, qd: Any, qdd: Any, masses: Any) -> Any:
        segments = [
            dataclasses.replace(s, inertia=s.inertia._replace(mass=m)) for s, m in zip(tree.segments, masses, strict=True)
        ]
        given = Unrolled(dataclasses.replace(tree, segments=tuple(segments)))
        return screw.inverse_dynamics(given, q, qd, qdd, newton_euler_recursion.still_base(tree.gravity))

    inputs = {"q": (3,), "qd": (3,), "qdd": (3,), "masses": (3,)}
    program = trace(function, inputs, ["tau"])
    assert counts(program).div == 0
    q, qd, qdd = rng.uniform(-2, 2, (3, 3))
    found = dal.kernel(function, inputs)(q, qd, qdd, [s.inertia.mass for s in tree.segments])
    assert relative_error(found, dal.inverse_dynamics(robot, q, qd, qdd)) < EXACT


def planar_arm(kinds: str, tilt: float, rng: np.random.Generator) -> Robot:
    """Turns about one normal and slides across it, on a base that stands askew; tilted, the same arm leaves its plane."""
    links, joints = [Link("base")], []
    for i, kind in enumerate(kinds):
        own, origin = body(rng), np.eye(4)
        if i == 0:
            origin[:3, :3] = rotation(rng)
        origin[:3, 3] = origin[:3, :3] @ rng.uniform(-0.4, 0.4, 3)
        angle = rng.uniform(0, 6)
        axis = np.array([0.0, 0.0, 1.0]) if kind == "R" else np.array([np.cos(angle), np.sin(angle), 0.0])
        links.append(Link(f"link{i}", own.mass, own.com, own.inertia))
        joints.append(
            Joint(
                f"joint{i}",
                "revolute" if kind == "R" else "prismatic",
                links[-2].name,
                links[-1].name,
                origin=origin,
                axis=axis + tilt * rng.normal(size=3),
            )
        )
    return Robot.from_parts("planar", links, joints, gravity=rng.normal(size=3))


def flops(robot: Robot, quantity: str) -> int:
    options = (engine.Forces(), "screw") if quantity == "mass_matrix" else ("screw",)
    return counts(engine.program(robot, quantity, *options)).flops


@pytest.mark.parametrize("name", ["pelican", "two_link_planar", "two_link_cartesian", "pr_arm", "pendulum"])
def test_a_planar_arm_s_screws_have_three_components(name: str) -> None:
    """Of the six, three are zero while tracing; in a plane x, y these are the velocity across it and the turns about it."""
    robot = dal.robots.CATALOGUE[name]()
    program = trace(lambda q: screw_jacobians.at_centre(sweep_of(robot), q)[-1], {"q": (robot.n,)}, ["J"])
    rows = np.array([[not (isinstance(x, float) and x == 0.0) for x in program.results[0]]]).reshape(6, robot.n)
    assert np.count_nonzero(rows.any(axis=1)) <= 3


def six_dimensional(robot: Robot, quantity: str) -> int:
    """The operations if rotations, offsets and tensors are unknown numbers, so that no component is known to be zero."""
    tree = engine.tree(robot)
    options = (engine.Forces(), "screw") if quantity == "mass_matrix" else ("screw",)
    recipe = engine.QUANTITIES[quantity](tree, *options)

    def function(*given: Any) -> Any:
        fresh = (given[0][0].graph.input(f"constant{k}") for k in itertools.count())
        segments = tuple(_unknown(s, fresh) for s in tree.segments)
        return recipe.function(Unrolled(dataclasses.replace(tree, segments=segments)), *given)

    return counts(trace(function, recipe.inputs, recipe.outputs)).flops


def _unknown(s: Segment, fresh: Iterator[Any]) -> Segment:
    rows = [Vec3(*itertools.islice(fresh, 3)) for _ in range(4)]
    tensor = Sym3(*itertools.islice(fresh, 6))
    return dataclasses.replace(s, R=Mat3(*rows[:3]), p=rows[3], inertia=s.inertia._replace(I=tensor))


@pytest.mark.parametrize("quantity", ["mass_matrix", "inverse_dynamics", "coriolis_matrix"])
@pytest.mark.parametrize("kinds", ["RR", "RRR", "RPR", "PRP", "RRPR", "RRRRRR"])
def test_a_planar_system_takes_less_than_a_third_of_the_operations_of_the_six_dimensional_form(kinds: str, quantity: str) -> None:
    """And less than half of those of a similar arm whose axes are tilted out of the plane."""
    planar, spatial = (planar_arm(kinds, tilt, np.random.default_rng(3)) for tilt in (0.0, 0.1))
    assert six_dimensional(planar, quantity) > 3 * flops(planar, quantity)
    assert flops(spatial, quantity) > 2 * flops(planar, quantity)


def test_more_joints_than_it_serves_are_refused_by_a_sentence() -> None:
    with pytest.raises(dal.DalembertError, match="'screw' cannot serve this: 'chain41' has 41 moving joints.*Try 'newton_euler'"):
        dal.mass_matrix(dal.robots.chain(41), np.zeros(41), formulation="screw")


def second_moments(kind: str, rng: np.random.Generator) -> np.ndarray:
    """∫ r rᵀ dm of some kilograms in a shape, about its centre of mass, in random directions."""
    sizes = {"point": (0, 0, 0), "rod": (1, 0, 0), "disc": (1, 1, 0), "sphere": (1, 1, 1), "body": (0.3, 0.7, 1)}[kind]
    Q = rotation(rng)
    return (Q * (np.array(sizes) * rng.uniform(1e-4, 1e-1))) @ Q.T


@pytest.mark.parametrize("kind", ["point", "rod", "disc", "sphere", "body"])
def test_principal_screws_of_any_shape_anywhere_make_its_inertia(kind: str) -> None:
    rng = np.random.default_rng(10)
    for _ in range(200):
        second, mass, com = second_moments(kind, rng), rng.uniform(0.1, 20.0), rng.normal(size=3) * rng.uniform(0.0, 1.0)
        I = np.trace(second) * np.eye(3) - second
        joint = Joint("j", "revolute", "base", "b", pose(rng), axis=rng.normal(size=3), child_origin=pose(rng))
        robot = Robot.from_parts("one", [Link("base"), Link("b", mass, com, I)], [joint])
        S = np.array(screw_jacobians.principal_screws(engine.tree(robot))[0])
        assert np.isfinite(S).all()
        found = 0.5 * mass * S.T @ S
        about_joint = np.trace(I) + mass * (np.linalg.norm(com) + np.linalg.norm(joint.child_origin[:3, 3])) ** 2
        np.testing.assert_allclose(found[:3, :3], mass * np.eye(3), rtol=0, atol=1e-12 * mass)
        np.testing.assert_allclose(found[3:, 3:], I, rtol=0, atol=1e-12 * about_joint)
        np.testing.assert_allclose(found[:3, 3:], 0, atol=1e-12 * mass)
        if kind == "point":
            assert not S[:, 3:].any()
