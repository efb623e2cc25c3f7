"""Redundant arms: the motion a weight chooses is the least one, the null space is free, and the task is met."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.errors import DalembertWarning, ModelError, ShapeError, SingularError
from tests.robots import FRICTIONLESS, random_robot, relative_error

TOLERANCE = 1e-11
pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, each asked once: compiling would take the time


def weight_of(rng: np.random.Generator, n: int) -> np.ndarray:
    half = rng.normal(size=(4, n, n))
    return half @ half.swapaxes(-1, -2) + np.eye(n)


def norm_of(W: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...ij,...j->...", qd, W, qd)


def test_the_motion_by_a_weight_is_the_least_of_all_that_meet_the_task(rng: np.random.Generator) -> None:
    G, W, ud = rng.normal(size=(4, 3, 6)), weight_of(rng, 6), rng.normal(size=(4, 3))
    R, N = transfer.right_inverse(G, weight=W), transfer.null_projector(G, weight=W)
    assert relative_error(G @ R, np.broadcast_to(np.eye(3), (4, 3, 3))) < TOLERANCE
    assert np.abs(G @ N).max() < TOLERANCE
    assert np.abs(N @ N - N).max() < TOLERANCE
    assert np.abs(R.swapaxes(-1, -2) @ W @ N).max() < 1e-9  # W-orthogonal
    least = (R @ ud[..., None])[..., 0]
    for _ in range(20):
        other = least + (N @ rng.normal(size=(4, 6, 1)))[..., 0]
        assert (norm_of(W, other) > norm_of(W, least)).all()
    W_back = np.linalg.inv(W)
    formula = W_back @ G.swapaxes(-1, -2) @ np.linalg.inv(G @ W_back @ G.swapaxes(-1, -2))
    assert relative_error(R, formula) < 1e-9  # (4-70) as it is written


def test_without_a_weight_the_norm_is_least(rng: np.random.Generator) -> None:
    G = rng.normal(size=(3, 7))
    assert relative_error(transfer.right_inverse(G), np.linalg.pinv(G)) < TOLERANCE
    square = rng.normal(size=(4, 3, 3))
    assert relative_error(transfer.right_inverse(square, weight=weight_of(rng, 3)), np.linalg.inv(square)) < 1e-9


def test_joints_follow_the_task_with_any_motion_in_the_null_space(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 5, FRICTIONLESS)
    q, free, more = rng.uniform(-1, 1, (3, 4, 5))
    tip = transfer.rows(dal.influence(robot, q), [0, 1])
    ud, udd = rng.normal(size=(2, 4, 2))
    M = dal.mass_matrix(robot, q)
    for given in ({}, {"weight": M}, {"qd": free}, {"weight": M, "qd": free, "qdd": more}):
        joints = transfer.resolve(tip, ud, udd, **given)
        task = transfer.rates(tip, joints.velocity, joints.acceleration)
        assert relative_error(task.velocity, ud) < TOLERANCE
        assert relative_error(task.acceleration, udd) < TOLERANCE
    assert transfer.resolve(tip, ud).acceleration is None
    moved = transfer.resolve(tip, ud, qd=free).velocity - transfer.resolve(tip, ud).velocity
    assert relative_error(moved, (transfer.null_projector(tip) @ free[..., None])[..., 0]) < TOLERANCE


def test_torques_of_the_joints_straight_from_the_task(rng: np.random.Generator) -> None:
    robot = random_robot(rng, 5, FRICTIONLESS)
    q = rng.uniform(-1, 1, (4, 5))
    tip, model = transfer.rows(dal.influence(robot, q), [0, 1]), transfer.open_chain(robot, q)
    ud, udd = rng.normal(size=(2, 4, 2))
    for weight in (None, np.eye(5), dal.mass_matrix(robot, q)):
        joints = transfer.resolve(tip, ud, udd, weight=model.I if weight is None else weight)
        tau = dal.inverse_dynamics(robot, q, joints.velocity, joints.acceleration)
        assert relative_error(transfer.redundant(model, tip, weight=weight).torque(ud, udd), tau) < 1e-9


def test_least_kinetic_energy_is_less_than_that_of_the_least_norm(rng: np.random.Generator) -> None:
    robot, q = dal.robots.panda(), rng.uniform(-1, 1, 7)
    tool, ud = dal.influence(robot, q), rng.normal(size=6)
    M = dal.mass_matrix(robot, q)
    energies = [dal.energy(robot, q, transfer.resolve(tool, ud, weight=W).velocity).kinetic for W in (M, None)]
    assert energies[0] < energies[1]


def test_a_singular_task_is_an_error_and_a_marked_row() -> None:
    G = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    with pytest.raises(SingularError) as caught:
        transfer.right_inverse(G, new=["x", "y"])
    assert "right_inverse: G has rank 1 where 2 is needed" in str(caught.value)
    assert str(caught.value).endswith(
        "no motion gives 0.89 x - 0.45 y. "
        "Leave a row out that is not needed (transfer.rows), or move away from this configuration."
    )
    for name in ("null_projector", "resolve", "redundant"):
        with pytest.raises(SingularError, match=f"^{name}: G has rank 1"):
            calls(transfer.linear(G))[name]()
    many = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], G])
    with pytest.warns(DalembertWarning, match=r"right_inverse: 1 of 2 entries are singular and NaN in the result") as warned:
        found = transfer.right_inverse(many)
    assert [warning.message.code for warning in warned] == ["singular"]
    assert warned[0].filename == __file__
    assert np.array_equal(np.isnan(found).all((-1, -2)), [False, True])


def calls(task: dal.Influence) -> dict[str, object]:
    model = transfer.DynamicModel(np.eye(3), np.zeros((3, 3, 3)), np.zeros(3))
    return {
        "null_projector": lambda: transfer.null_projector(task),
        "resolve": lambda: transfer.resolve(task, [1.0, 0.0]),
        "redundant": lambda: transfer.redundant(model, task),
    }


def test_what_is_no_weight_or_no_task_is_refused_by_a_sentence() -> None:
    G = np.eye(3)[:2]
    with pytest.raises(ShapeError) as tall:
        transfer.right_inverse(G.T)
    assert str(tall.value) == (
        "right_inverse: G has 3 rows over 2 coordinates, more than these can follow; 2 or fewer expected. Keep some of them "
        "(transfer.rows); to share a load among more actuators than needed, take the right inverse of the transpose."
    )
    with pytest.raises(
        ModelError, match=r"weight: least eigenvalue 0 found, but q̇ᵀ W q̇ needs positive ones .* a small weight too\."
    ):
        transfer.right_inverse(G, weight=np.diag([1.0, 1.0, 0.0]))
    with pytest.raises(
        ModelError, match=r"weight: a matrix that is not symmetric, or not finite, found; .* Try \(W \+ W\.T\) / 2\."
    ):
        transfer.right_inverse(G, weight=np.triu(np.ones((3, 3))))
    with pytest.raises(ModelError, match=r"weight: a matrix that is not symmetric, or not finite, found"):
        transfer.right_inverse(G, weight=np.full((3, 3), np.nan))
    with pytest.raises(ShapeError, match=r"weight: shape \(3,\) found, \(\.\.\., 3, 3\) expected\."):
        transfer.right_inverse(G, weight=[1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match=r"ud: shape \(3,\) found, \(\.\.\., 2\) expected\."):
        transfer.resolve(G, [1.0, 2.0, 3.0])
    with pytest.raises(ShapeError, match=r"ud: NoneType found, real numbers of shape \(\.\.\., 2\) expected\."):
        transfer.resolve(G, None)
    with pytest.raises(
        ShapeError, match=r"redundant: a model with an I of 2x2 found, but the coefficients are of 3 old coordinates\."
    ):
        transfer.redundant(transfer.DynamicModel(np.eye(2), np.zeros((2, 2, 2)), np.zeros(2)), transfer.linear(G))
