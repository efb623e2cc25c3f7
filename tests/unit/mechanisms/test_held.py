"""Objects held by several chains: the weight is carried, and drives share it as they like."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.unit.mechanisms.independent import influence_of_joints, poses

HELD = {"two_arms": "object_body", "three_arms": "object_body", "two_finger_hand": "object", "walking_machine": "body"}
LONG = ("two_arms", "three_arms")
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in HELD]


def potential(mechanism: dal.Mechanism, x: np.ndarray) -> float:
    X = poses(mechanism, x)
    links = mechanism.robot.parameters.links
    return -sum(link.mass * mechanism.robot.gravity @ (X[link.name] @ [*link.com, 1.0])[:3] for link in links)


@pytest.mark.parametrize("name", NAMES)
def test_gravity_is_the_slope_of_the_height_of_all_links(name):
    mechanism = dal.mechanisms.CATALOGUE[name]()
    q, h = mechanism.q0 + 0.01, 1e-5
    slopes = [
        (potential(mechanism, mechanism.assemble(q + step).x) - potential(mechanism, mechanism.assemble(q - step).x)) / (2 * h)
        for step in h * np.eye(mechanism.n)
    ]
    # h² by the third derivative of the heights, up to 1/length² of a finger: 1e-10 · 1e3
    assert dal.gravity_torque(mechanism, q) == pytest.approx(np.array(slopes), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["two_finger_hand", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_grips_and_the_force_at_the_coordinates_carry_the_object(name):
    """What chains without drives press on the object, and what holds the object by its coordinates, balance its weight."""
    mechanism = dal.mechanisms.CATALOGUE[name]()
    q, rest = mechanism.q0 + 0.01, np.zeros(mechanism.n)
    grips = dal.constraint_forces(mechanism, q, rest, rest).closures[:, :3].sum(axis=0)
    slides = 2 if name == "two_finger_hand" else 3
    at_coordinates = np.zeros(3)
    at_coordinates[:slides] = dal.gravity_torque(mechanism, q)[:slides]
    mass = next(link.mass for link in mechanism.robot.parameters.links if link.name == HELD[name])
    assert grips + at_coordinates == pytest.approx(-mass * mechanism.robot.gravity, abs=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_drives_of_least_norm_do_the_work_of_the_object(name, rng):
    """T_q = G (Gᵀ G)⁻¹ T_u [Freeman, Eq. 4-85]: as the forces at the object, and no part of them is internal."""
    mechanism = dal.mechanisms.CATALOGUE[name]()
    q, qd, qdd = mechanism.q0 + 0.01, 0.01 * rng.normal(size=mechanism.n), 0.1 * rng.normal(size=mechanism.n)
    T_u = dal.inverse_dynamics(mechanism, q, qd, qdd)
    G = influence_of_joints(mechanism, q, mechanism.actuated)
    assert G.shape == (len(mechanism.actuated), mechanism.n)
    T_q = dal.transfer.right_inverse(G.T) @ T_u
    assert G.T @ T_q == pytest.approx(T_u, rel=1e-10, abs=1e-12)
    internal = dal.transfer.null_projector(G.T)
    assert np.linalg.matrix_rank(internal, tol=1e-6) == len(mechanism.actuated) - mechanism.n
    assert internal @ T_q == pytest.approx(np.zeros(len(T_q)), abs=1e-10 * np.abs(T_q).max())


def test_the_feet_of_the_walking_machine_stand_still(rng):
    mechanism = dal.mechanisms.walking_machine()
    for x in mechanism.assemble(mechanism.q0 + rng.uniform(-0.05, 0.05, (10, 3))).x:
        X = poses(mechanism, x)
        feet = [(X[f"leg{k}_bar2"] @ [0.35, 0, 0, 1])[:2] for k in (1, 2)]
        assert np.array(feet) == pytest.approx(np.array([[-0.25, 0], [0.35, 0]]), abs=1e-14)
