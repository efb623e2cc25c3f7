"""The torque by cause, joint and link."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.algorithms.sweep import Unrolled
from dalembert.analysis.causes import CAUSES, DRIVE, PieceKey, pieces
from dalembert.dynamics import engine
from dalembert.robots import _example72 as data
from tests.robots import fresh, random_robot, relative_error

pytestmark = pytest.mark.usefixtures("interpreted")


def split(robot, q, qd, qdd):
    return pieces(Unrolled(engine.tree(robot)), *(list(np.moveaxis(x, -1, 0)) for x in (q, qd, qdd)))


def total(robot, found, count):
    tau = np.zeros((count, robot.n))
    for key, value in found.items():
        tau[:, key.joint] += value
    return tau


@pytest.mark.parametrize("seed", range(12))
def test_all_pieces_add_up_to_the_torque(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 1 + seed % 6)
    state = rng.uniform(-2, 2, (3, 4, robot.n))
    found = split(robot, *state)
    assert {key.cause for key in found} <= set(CAUSES)
    assert relative_error(total(robot, found, 4), dal.inverse_dynamics(robot, *state)) < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_pieces_of_a_link_add_up_to_its_contributions(seed):
    """Two ways to one split: closed terms that can be left out one by one, and recursions that cost less."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 1 + seed % 5)
    state = rng.uniform(-2, 2, (3, 4, robot.n))
    found, parts = split(robot, *state), dal.contributions(robot, *state)
    for start, wanted in (
        ("translational", parts.link_translational),
        ("rotational", parts.link_rotational),
        ("gravity", parts.link_gravity),
    ):
        sums = np.zeros_like(wanted)
        for key, value in found.items():
            if key.cause.startswith(start):
                sums[:, key.link, key.joint] += value
        assert relative_error(sums, wanted) < 1e-12


def test_pieces_of_the_planar_arm_are_those_of_the_book(rng):
    """[Siciliano, Eq. 7.82]: terms of the two-link planar arm, one by one."""
    robot = fresh("two_link_planar")
    q, qd, qdd = rng.uniform(-2, 2, (3, 5, 2))
    found = split(robot, q, qd, qdd)
    a, l, m, I, g = data.LENGTH, data.CENTRE, data.MASS, data.MOMENT, data.GRAVITY
    s2, c2 = np.sin(q[:, 1]), np.cos(q[:, 1])
    rotor = data.rotor()
    kI, moved = rotor.ratio * rotor.inertia, m + 0.0
    expected = {
        PieceKey("translational Coriolis", 0, 1): -2 * moved * a * l * s2 * qd[:, 0] * qd[:, 1],
        PieceKey("translational centrifugal", 0, 1): -moved * a * l * s2 * qd[:, 1] ** 2,
        PieceKey("translational centrifugal", 1, 1): moved * a * l * s2 * qd[:, 0] ** 2,
        PieceKey("translational inertia", 1, 1): moved * l**2 * qdd[:, 1],
        PieceKey("translational coupling", 1, 1): moved * (l**2 + a * l * c2) * qdd[:, 0],
        PieceKey("rotational inertia", 1, 1): I * qdd[:, 1],
        PieceKey("rotational coupling", 0, 1): I * qdd[:, 1],
        PieceKey("rotor inertia", 1, DRIVE): rotor.ratio * kI * qdd[:, 1],
        PieceKey("rotor coupling", 0, DRIVE): kI * qdd[:, 1],
        PieceKey("gravity", 1, 1): moved * l * g * np.cos(q.sum(axis=1)),
    }
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-12, atol=1e-12, err_msg=str(key))


def test_a_sliding_arm_has_no_velocity_products_and_no_rotation(rng):
    robot = fresh("two_link_cartesian")
    found = split(robot, *rng.uniform(-1, 1, (3, 5, 2)))
    moving = {key.cause for key, value in found.items() if np.any(value)}
    assert moving == {"translational inertia", "gravity", "rotor inertia"}
