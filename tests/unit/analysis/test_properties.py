"""The properties of the model as numbers: they hold where they should, fail where they should, and bounds are attained."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dalembert as dal
from dalembert.analysis.identities import coriolis, mass_rate, other_coriolis
from dalembert.model import Joint, Link, Robot
from tests.golden.formulas import draw, value
from tests.golden.reading import golden
from tests.golden.siciliano_arms import planar
from tests.robots import EVERYTHING, random_robot, relative_error

PROBLEM = golden("siciliano_problems")["cases"]["001.problem7.2"]["value"]
ROUNDING = 1e-12  # identities of a few hundred operations on numbers of similar size


@pytest.fixture(scope="module")
def planar_arm():
    return dal.properties(dal.robots.two_link_planar(), samples=200)


@pytest.mark.parametrize("name", ["two_link_planar", "two_link_cartesian", pytest.param("stanford", marks=pytest.mark.slow)])
def test_residuals_are_rounding(name):
    found = dal.properties(dal.robots.CATALOGUE[name](), samples=100)
    numbers = {check.name: check.residual for check in found.checks if check.limit is not None}
    assert len(numbers) == 8
    assert max(numbers.values()) < ROUNDING
    assert found.hold


def test_another_coriolis_matrix_is_that_of_problem_7_2(rng):
    """[Siciliano, Problem 7.2]: the same C q̇, q̇ᵀNq̇ = 0, but wᵀNw ≠ 0."""
    v = draw(rng, list(PROBLEM.values()), "a2 l1 ml1 Il1 Il2 mm1 mm2 Im1 Im2 kr1 kr2 g th1")
    robot = planar(v)
    q, qd, w = (np.array([v[f"{name}1"], v[f"{name}2"]]) for name in ("th", "dth", "w"))
    C = other_coriolis(dal.christoffel(robot, q), qd)
    N = mass_rate(robot, q[None], qd[None])[0] - 2 * C
    assert relative_error(C, value(PROBLEM["C"], v)) < ROUNDING
    assert relative_error(N, value(PROBLEM["N"], v)) < ROUNDING
    assert abs(qd @ N @ qd - value(PROBLEM["qd_N_qd"], v)) < ROUNDING
    assert w @ N @ w == pytest.approx(value(PROBLEM["w_N_w"], v), rel=1e-10)


def test_another_coriolis_matrix_is_not_skew_but_the_christoffel_one_is(planar_arm):
    assert planar_arm.residuals["another C: not skew"] > 0.1
    assert planar_arm.residuals["Mdot - 2C skew"] < ROUNDING


def test_both_coriolis_matrices_give_the_same_torque(rng):
    robot = random_robot(rng, 4, EVERYTHING)
    q, qd = rng.uniform(-2, 2, (2, 4))
    symbols = dal.christoffel(robot, q)
    expected = dal.bias(robot, q, qd) - dal.gravity_torque(robot, q)
    for C in (coriolis(symbols, qd), other_coriolis(symbols, qd)):
        assert relative_error(C @ qd, expected) < ROUNDING


def test_the_rate_of_the_mass_matrix_is_that_of_differences(rng):
    robot = dal.robots.stanford()
    q, qd = rng.uniform(-1, 1, (2, 5, 6))
    step = 1e-5  # truncation ~ step² and rounding ~ 1e-16 / step are both below 1e-9
    difference = (dal.mass_matrix(robot, q + step * qd) - dal.mass_matrix(robot, q - step * qd)) / (2 * step)
    assert relative_error(mass_rate(robot, q, qd), difference) < 1e-8


def test_eigenvalue_bounds_of_the_planar_arm_are_those_of_the_stretched_and_the_folded_arm(planar_arm):
    """M depends on cos q2 alone and each eigenvalue is monotonic in it, so both extremes are at q2 = 0 or ±π."""
    robot = dal.robots.two_link_planar()
    ends = np.linalg.eigvalsh(dal.mass_matrix(robot, [[0.0, 0.0], [0.0, np.pi]]))
    assert planar_arm.smallest.value == pytest.approx(ends.min(), rel=1e-9)
    assert planar_arm.largest.value == pytest.approx(ends.max(), rel=1e-9)


@pytest.mark.slow
def test_refined_bounds_are_attained_within_the_limits_and_wider_than_the_samples(rng):
    robot = dal.robots.panda()
    found = dal.properties(robot, samples=300, rng=rng)
    box = dal.Workspace.of(robot)
    assert found.smallest.value < found.smallest.sampled
    assert found.largest.value > found.largest.sampled
    for extreme, which in ((found.smallest, 0), (found.largest, -1)):
        assert np.linalg.eigvalsh(dal.mass_matrix(robot, extreme.q))[which] == pytest.approx(extreme.value, rel=1e-12)
        assert (extreme.q >= box.lower).all()
        assert (extreme.q <= box.upper).all()
    values = np.linalg.eigvalsh(dal.mass_matrix(robot, box.sample(rng, 20_000).q))
    assert found.smallest.value <= values.min()
    assert found.largest.value >= values.max()


def test_a_robot_of_negative_mass_is_not_definite():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)
        body = Link("bob", -1.0, np.array([0.5, 0.0, 0.0]), np.eye(3) * 0.01)
        robot = Robot.from_parts("bubble", [Link("base"), body], [Joint("hinge", "revolute", "base", "bob")])
    found = dal.properties(robot, samples=20)
    assert found.smallest.value == pytest.approx(0.01 - 0.25)
    assert not found.hold
    assert "FAILS" in str(found)


def test_a_single_joint_has_no_other_coriolis_matrix():
    found = dal.properties(dal.robots.pendulum(), samples=20)
    assert found.residuals["another C: not skew"] == 0.0
    assert found.hold


def test_the_table_names_every_property(planar_arm):
    text = str(planar_arm)
    assert text.startswith("Properties of 'two_link_planar' on 200 random states")
    for check in planar_arm.checks:
        assert check.name in text
    assert "smallest eigenvalue of M" in text
    lines = text.splitlines()
    ends = [line.rfind("holds") for line in lines if "holds" in line]
    dots = [sum(letter == "̇" for letter in line) for line in lines if "holds" in line]
    assert len({end - dot for end, dot in zip(ends, dots, strict=True)}) == 1  # columns are aligned on a screen


def test_the_same_generator_gives_the_same_numbers():
    robot = dal.robots.two_link_planar()
    first, second = (dal.properties(robot, samples=10, rng=np.random.default_rng(3)) for _ in range(2))
    assert first.residuals == second.residuals


def test_something_else_than_a_robot_is_refused():
    with pytest.raises(dal.DalembertError, match="a Robot is expected"):
        dal.properties("puma560")


def test_eigenvalues_are_proved_when_asked():
    found = dal.properties(dal.robots.two_link_planar(), samples=20, proved=True)
    assert found.proved.lower[0] <= found.smallest.value * (1 + 1e-12)
    assert found.largest.value <= found.proved.upper[0] * (1 + 1e-12)
    assert "no eigenvalue below" in str(found)
    assert dal.properties(dal.robots.two_link_planar(), samples=20).proved is None


def test_a_proof_that_ran_out_of_time_says_so():
    found = dal.properties(dal.robots.puma560(), samples=5, proved=True, seconds=1e-3)
    assert found.proved is not None
    assert not found.proved.finished
    assert str(found).count("over the whole workspace; time was up before it was close") == 2
    assert found.proved.lower[0] <= found.smallest.value
    assert found.largest.value <= found.proved.upper[0]
