"""Both routes to Lagrange's equations against the formulas and numbers of [Milicevic, §2] and [Siciliano, §7.3]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms.sweep import Unrolled
from dalembert.dynamics import engine
from dalembert.model import Robot
from dalembert.model.dh import from_dh
from tests.golden.formulas import draw, value
from tests.golden.reading import golden, robot_of
from tests.golden.siciliano_arms import cartesian, planar
from tests.robots import relative_error

TOLERANCE = 1e-12  # closed forms of a few dozen operations on numbers of the size of one
ROUTES = ["lagrange_euler", "lagrange_energy"]
EULER = golden("milicevic_lagrange_euler")["cases"]
ARMS = golden("siciliano_two_links")["cases"]
SAMPLE = EULER["003.sample"]


# [Milicevic, §2]: the 4x4 matrices and the sums over them, written out with the terms of the formulation


@pytest.fixture(scope="module")
def arm() -> Robot:
    return robot_of(SAMPLE["robot"])


@pytest.fixture(scope="module")
def state() -> list[np.ndarray]:
    return [np.array(SAMPLE[name]) for name in ("q", "qd", "qdd")]


@pytest.fixture(scope="module")
def found(arm: Robot, state: list[np.ndarray]) -> dict[str, np.ndarray]:
    return dal.terms(arm, *state, formulation="lagrange_euler")


def weights(arm: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses, centres of mass (r̄, 1) and the row vector (g, 0)."""
    links = SAMPLE["robot"]["links"]
    return (
        np.array([link["mass"] for link in links]),
        np.array([[*link["com"], 1.0] for link in links]),
        np.append(arm.gravity, 0),
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_the_transform_of_a_link_is_its_row_of_the_table(kind: str, rng: np.random.Generator) -> None:
    """003.eq2.1.A and 003.R: θ is the variable of a turning joint, d that of a sliding one."""
    v = draw(rng, EULER["003.eq2.1.A"]["value"])
    q = v["theta"] if kind == "revolute" else v["d"]
    constants = {name: x for name, x in v.items() if name != ("theta" if kind == "revolute" else "d")}
    before = {"theta": 0.3, "d": 0.2, "a": 0.5, "alpha": -0.7, "mass": 1.0, "inertia": (1, 1, 1)}
    robot = from_dh([before, before | {"type": kind, "theta": 0.0, "d": 0.0} | constants], convention="standard")
    T = dal.terms(robot, [0.4, q], formulation="lagrange_euler", names=["T"])["T"]
    A = np.linalg.inv(T[0]) @ T[1]
    assert relative_error(A, value(EULER["003.eq2.1.A"]["value"], v)) < TOLERANCE
    assert relative_error(A[:3, :3], value(EULER["003.R"]["value"], v)) < TOLERANCE


def test_the_lagrangian_of_the_matrices_is_kinetic_less_potential_energy(arm: Robot, state: Any, found: Any) -> None:
    """003.eq2.3.L."""
    m, r, g = weights(arm)
    kinetic = np.einsum("ijab,ibc,ikac,j,k", found["U"], found["J"], found["U"], state[1], state[1]) / 2
    energy = dal.energy(arm, *state[:2])
    falling = np.einsum("i,a,iab,ib", m, g, found["T"], r)
    assert kinetic == pytest.approx(energy.kinetic, rel=TOLERANCE)
    assert falling == pytest.approx(-energy.potential, rel=TOLERANCE)


def test_the_sums_over_the_matrices_are_the_published_coefficients(arm: Robot, state: Any, found: Any) -> None:
    """003.eq2.11.D, 003.eq2.14.h, 003.eq2.15.c: U_ji is zero for i > j, so the sums may run over all links. And h_iii = 0."""
    m, r, g = weights(arm)
    U, U2, J = (found[name] for name in ("U", "U2", "J"))
    D = np.einsum("jkab,jbc,jiac->ik", U, J, U)
    h = np.einsum("jkmab,jbc,jiac->ikm", U2, J, U)
    c = -np.einsum("j,a,jiab,jb->i", m, g, U, r)
    for name, sums in (("D", D), ("h", h), ("c", c)):
        assert relative_error(found[name], sums) < TOLERANCE, name
    assert np.abs(np.einsum("iii->i", h)).max() < TOLERANCE
    assert relative_error(D, np.array(SAMPLE["D"])) < SAMPLE["tol"]
    assert relative_error(np.einsum("ikm,k,m->i", h, state[1], state[1]), np.array(SAMPLE["h"])) < SAMPLE["tol"]
    assert relative_error(c, np.array(SAMPLE["c"])) < SAMPLE["tol"]


def test_gravity_enters_with_a_minus_sign(arm: Robot, state: Any, found: Any) -> None:
    """003.eq2.4.tau: the printed plus sign (E003-01) misses the torque by twice the gravity terms."""
    _, qd, qdd = state
    tau = found["D"] @ qdd + np.einsum("ikm,k,m->i", found["h"], qd, qd) + found["c"]
    tau += [link["viscous"] * rate for link, rate in zip(SAMPLE["robot"]["links"], qd, strict=True)]
    assert relative_error(tau, np.array(SAMPLE["tau"])) < SAMPLE["tol"]
    assert relative_error(tau - 2 * found["c"], np.array(SAMPLE["tau"])) > 0.1


@pytest.mark.parametrize("route", ROUTES)
def test_the_torques_of_the_five_joint_arm_are_the_oracle_s(route: str, arm: Robot, state: Any) -> None:
    """003.sample."""
    q, qd, qdd = state
    g = dal.gravity_torque(arm, q, formulation=route)
    assert relative_error(dal.inverse_dynamics(arm, q, qd, qdd, formulation=route), np.array(SAMPLE["tau"])) < SAMPLE["tol"]
    assert relative_error(dal.mass_matrix(arm, q, formulation=route), np.array(SAMPLE["D"])) < SAMPLE["tol"]
    assert relative_error(dal.bias(arm, q, qd, formulation=route) - g, np.array(SAMPLE["h"])) < SAMPLE["tol"]
    assert relative_error(g, np.array(SAMPLE["c"])) < SAMPLE["tol"]


# [Siciliano, §7.3.1 and §7.3.2]: the two-link arms, their symbols drawn at random


def expected(section: str, names: str) -> dict[str, Any]:
    return {name: ARMS[f"001.{section}.{name}"]["value"] for name in names.split()}


CARTESIAN = expected("7.3.1", "B C g jacobians")
PLANAR = expected("7.3.2", "B h christoffel C N g jacobians")


@pytest.fixture(params=["7.3.1", "7.3.2"])
def two_links(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[Robot, np.ndarray, np.ndarray, dict[str, Any]]:
    """An arm, its q and q̇, and what the section says of it, as arrays."""
    formulas = CARTESIAN if request.param == "7.3.1" else PLANAR
    v = draw(rng, list(formulas.values()), "a2 th1 th2 dth1 dth2 mm1")
    numbers = {name: value(formula, v) for name, formula in formulas.items() if name != "jacobians"}
    numbers |= {name: value(formula, v).astype(float) for name, formula in formulas["jacobians"].items()}
    robot = cartesian(v, np.pi / 2) if request.param == "7.3.1" else planar(v)
    return robot, np.array([v["th1"], v["th2"]]), np.array([v["dth1"], v["dth2"]]), numbers | {"v": v}


@pytest.mark.parametrize("route", ROUTES)
def test_the_two_link_arms_have_the_book_s_model(route: str, two_links: Any) -> None:
    """001.7.3.1.B, 001.7.3.1.C, 001.7.3.1.g; 001.7.3.2.B, 001.7.3.2.C, 001.7.3.2.g."""
    robot, q, qd, book = two_links
    assert relative_error(dal.mass_matrix(robot, q, formulation=route), book["B"]) < TOLERANCE
    assert relative_error(dal.coriolis_matrix(robot, q, qd, formulation=route), book["C"]) < TOLERANCE
    assert relative_error(dal.gravity_torque(robot, q, formulation=route), book["g"]) < TOLERANCE


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("two_links", ["7.3.2"], indirect=True)
def test_the_planar_arm_has_the_book_s_christoffel_symbols(route: str, two_links: Any) -> None:
    """001.7.3.2.christoffel, whose entries are 0 and ±001.7.3.2.h."""
    robot, q, _, book = two_links
    c = dal.christoffel(robot, q, formulation=route)
    assert relative_error(c, book["christoffel"]) < TOLERANCE
    assert c[0, 1, 1] == pytest.approx(book["h"], rel=TOLERANCE)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("two_links", ["7.3.2"], indirect=True)
def test_the_planar_arm_has_the_book_s_skew_matrix(route: str, two_links: Any) -> None:
    """001.7.3.2.N = Ḃ − 2C, with Ḃ by a complex step, which rounding does not disturb."""
    robot, q, qd, book = two_links
    step = 1e-30
    B = dal.FORMULATIONS[route].mass_matrix(Unrolled(engine.tree(robot)), list(np.atleast_2d(q + 1j * step * qd).T))
    rate = np.array([[np.imag(entry).item() / step for entry in row] for row in B])
    assert relative_error(rate - 2 * dal.coriolis_matrix(robot, q, qd, formulation=route), book["N"]) < TOLERANCE


def test_the_jacobians_of_links_and_rotors_are_the_book_s(two_links: Any) -> None:
    """001.7.3.1.jacobians, 001.7.3.2.jacobians.

    The second rotor is part of the first link, whose centre of mass moves by the mean of both Jacobians, weighted by mass.
    """
    robot, q, _, book = two_links
    v = book["v"]
    found = dal.terms(robot, q, formulation="lagrange_energy")
    first = (v["ml1"] * book["JP_l1"] + v["mm2"] * book["JP_m2"]) / (v["ml1"] + v["mm2"])
    assert relative_error(found["J_P"], np.array([first, book["JP_l2"]])) < TOLERANCE
    assert relative_error(dal.jacobian(robot, q, link="link1")[:3], book["JP_m2"]) < TOLERANCE
    none = np.zeros((3, 2))  # the links of the Cartesian arm do not turn, and the book gives no Jacobians for that
    assert relative_error(found["J_O"], np.array([book.get("JO_l1", none), book.get("JO_l2", none)])) < TOLERANCE
    assert relative_error(found["J_O_rotor"], np.array([book["JO_m1"], book["JO_m2"]])) < TOLERANCE


def test_the_inertia_matrix_is_the_sum_of_the_book_s_contributions(two_links: Any) -> None:
    """[Siciliano, Eq. 7.32], term by term from 001.7.3.1.jacobians and 001.7.3.2.jacobians."""
    robot, q, _, book = two_links
    v = book["v"]

    def contribution(body: str, mass: float, moment: float) -> np.ndarray:
        P, O = book[f"JP_{body}"], book.get(f"JO_{body}", np.zeros((3, 2)))
        return mass * P.T @ P + moment * O.T @ O

    links = [contribution(f"l{i}", v[f"ml{i}"], v.get(f"Il{i}", 0.0)) for i in (1, 2)]
    rotors = [contribution(f"m{i}", v[f"mm{i}"], v[f"Im{i}"]) for i in (1, 2)]
    found = dal.terms(robot, q, formulation="lagrange_energy")
    assert relative_error(found["links"][1], links[1]) < TOLERANCE  # it carries no rotor
    assert relative_error(found["rotors"][0], rotors[0]) < TOLERANCE  # its mount is the base
    assert relative_error(found["links"][0] + found["rotors"][1], links[0] + rotors[1]) < TOLERANCE
    assert relative_error(found["links"].sum(0) + found["rotors"].sum(0), book["B"]) < TOLERANCE
