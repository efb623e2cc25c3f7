"""Rigid-body algebra against plain matrices, on numbers and on whole batches alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dalembert.expr import interpret, trace
from dalembert.spatial import (
    IDENTITY,
    ZERO,
    ArticulatedInertia,
    Force,
    Inertia,
    Mat3,
    Pose,
    Sym3,
    Transform,
    Turn,
    Twist,
    Vec3,
    gyration,
    ldl,
    mat3,
    nested,
    outer,
    second_moment,
    skew,
    vec3,
)
from tests.robots import rotation


def random_vec3(rng: np.random.Generator) -> tuple[Vec3, np.ndarray]:
    v = rng.normal(size=3)
    return vec3(v), v


def symmetric(rng: np.random.Generator) -> tuple[Sym3, np.ndarray]:
    S = rng.normal(size=(3, 3))
    S = S + S.T
    return Sym3(S[0, 0], S[0, 1], S[0, 2], S[1, 1], S[1, 2], S[2, 2]), S


def cross_matrix(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def random_transform(rng: np.random.Generator) -> tuple[Transform, np.ndarray, np.ndarray]:
    """X_PB, its rotation and its translation."""
    R, p, angle = rotation(rng), rng.normal(size=3), rng.uniform(-3, 3)
    c, s = np.cos(angle), np.sin(angle)
    Rz = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return Transform(mat3(R), Turn(c, s), vec3(p)), R @ Rz, p


def check(found: Any, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(np.array(found, dtype=float), wanted, atol=1e-13)


def test_vectors_add_scale_and_multiply_as_numpy_s(rng: np.random.Generator) -> None:
    (a, A), (b, B) = random_vec3(rng), random_vec3(rng)
    check(a + b, A + B)
    check(a - b, A - B)
    check(-a, -A)
    check(a * 2.5, A * 2.5)
    check(2.5 * a, A * 2.5)
    assert a.dot(b) == pytest.approx(A @ B, rel=1e-14)
    check(a.cross(b), np.cross(A, B))
    check(outer(a, b), np.outer(A, B))
    check(skew(a) @ b, np.cross(A, B))


def test_vectors_hold_whole_batches(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(2, 3, 10))
    a, b = Vec3(*A), Vec3(*B)
    np.testing.assert_allclose(np.array(a.cross(b)), np.cross(A, B, axis=0))
    np.testing.assert_allclose(a.dot(b), (A * B).sum(axis=0))


def test_plain_numbers_become_floats_and_other_scalars_stay(rng: np.random.Generator) -> None:
    v = vec3(np.arange(3, dtype=np.float32))
    assert all(type(c) is float for c in v)
    batch = rng.normal(size=4)
    assert vec3([batch, 1, 2]).x is batch


def test_matrices_multiply_and_transpose_as_numpy_s(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(2, 3, 3))
    v = rng.normal(size=3)
    check(mat3(A).times(mat3(B)), A @ B)
    check(mat3(A) @ vec3(v), A @ v)
    check(mat3(A).T, A.T)
    check(mat3(A) + mat3(B), A + B)
    check(mat3(A) - mat3(B), A - B)
    check(IDENTITY.times(mat3(A)), A)


def test_a_turn_is_a_rotation_about_z(rng: np.random.Generator) -> None:
    angle = 0.7
    turn, v = Turn(np.cos(angle), np.sin(angle)), rng.normal(size=3)
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    check(turn.matrix(), R)
    check(turn.up(vec3(v)), R @ v)
    check(turn.down(vec3(v)), R.T @ v)


def test_a_transform_leads_up_and_down_again(rng: np.random.Generator) -> None:
    X, R, _ = random_transform(rng)
    v, V = random_vec3(rng)
    check(X.rotation(), R)
    check(X.up(v), R @ V)
    check(X.down(X.up(v)), V)


def test_poses_chain(rng: np.random.Generator) -> None:
    X, R, p = random_transform(rng)
    R0, p0 = rotation(rng), rng.normal(size=3)
    start = Pose(mat3(R0), vec3(p0))
    for found in (start.across(X), start @ Pose(mat3(R), vec3(p))):
        check(found.R, R0 @ R)
        check(found.p, R0 @ p + p0)


def test_symmetric_tensors_turn_and_rotate(rng: np.random.Generator) -> None:
    s, S = symmetric(rng)
    X, R, _ = random_transform(rng)
    c, sn = X.turn
    Rz = np.array([[c, -sn, 0], [sn, c, 0], [0, 0, 1]])
    check(s.turned(X.turn).matrix(), Rz @ S @ Rz.T)
    check(s.rotated(mat3(R)).matrix(), R @ S @ R.T)
    check(s @ vec3([1.0, 2.0, 3.0]), S @ [1, 2, 3])
    check(s.scaled(3.0).matrix(), 3 * S)
    t, T = symmetric(rng)
    check((s + t).matrix(), S + T)
    check((s - t).matrix(), S - T)


def body(rng: np.random.Generator) -> tuple[Inertia, float, np.ndarray, np.ndarray]:
    """An inertia about its frame's origin, with mass, centre and tensor about the centre."""
    m, c = rng.uniform(0.5, 3), rng.normal(size=3)
    _, S = symmetric(rng)
    I = S + m * (c @ c * np.eye(3) - np.outer(c, c))
    return Inertia(m, vec3(m * c), Sym3(I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])), m, c, S


def test_an_inertia_moves_by_the_parallel_axis_theorem(rng: np.random.Generator) -> None:
    own, m, c, S = body(rng)
    X, R, p = random_transform(rng)
    moved = own.up(X)
    centre = R @ c + p
    check(moved.h, m * centre)
    check(moved.I.matrix(), R @ S @ R.T + m * (centre @ centre * np.eye(3) - np.outer(centre, centre)))
    assert moved.mass == m


def test_inertias_add(rng: np.random.Generator) -> None:
    (a, ma, _, _), (b, mb, _, _) = body(rng), body(rng)
    both = a + b
    assert both.mass == ma + mb
    check(both.h, np.array(a.h) + np.array(b.h))
    check(both.I, np.array(a.I) + np.array(b.I))


def six_by_six(inertia: ArticulatedInertia) -> np.ndarray:
    """(a, α) to (f, n)."""
    M, H, I = (np.array(part, float) for part in (inertia.M.matrix(), inertia.H, inertia.I.matrix()))
    return np.block([[M, H], [H.T, I]])


def test_an_articulated_inertia_moves_as_a_six_by_six_matrix(rng: np.random.Generator) -> None:
    (m, _), (i, _) = symmetric(rng), symmetric(rng)
    inertia = ArticulatedInertia(m, mat3(rng.normal(size=(3, 3))), i)
    X, R, p = random_transform(rng)
    # The parent's (a, α) seen in B: α_B = Rᵀ α, a_B = Rᵀ (a + α × p).
    down = np.block([[R.T, -R.T @ cross_matrix(p)], [np.zeros((3, 3)), R.T]])
    check(six_by_six(inertia.up(X)), down.T @ six_by_six(inertia) @ down)


def test_a_rigid_body_moves_alike_as_articulated_inertia(rng: np.random.Generator) -> None:
    own, _, _, _ = body(rng)
    X, _, _ = random_transform(rng)
    check(six_by_six(ArticulatedInertia.of(own).up(X)), six_by_six(ArticulatedInertia.of(own.up(X))))


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_ldl_solves_symmetric_positive_definite_systems(n: int, rng: np.random.Generator) -> None:
    A = rng.normal(size=(n, n))
    M, b = A @ A.T + np.eye(n), rng.normal(size=n)
    check(ldl.solve(M.tolist(), b.tolist()), np.linalg.solve(M, b))
    lower = [row[: i + 1] for i, row in enumerate(M.tolist())]
    check(ldl.solve(lower, b.tolist()), np.linalg.solve(M, b))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_ldl_gives_a_symmetric_inverse(n: int, rng: np.random.Generator) -> None:
    A = rng.normal(size=(n, n))
    M = A @ A.T + n * np.eye(n)
    found = np.array(ldl.inverse(ldl.factor(M.tolist())))
    check(found, np.linalg.inv(M))
    np.testing.assert_array_equal(found, found.T)


def test_ldl_factors_from_the_last_row_up(rng: np.random.Generator) -> None:
    A = rng.normal(size=(4, 4))
    M = A @ A.T + np.eye(4)
    rows, inverse_d = ldl.factor(M.tolist())
    L = np.eye(4)
    for i, row in enumerate(rows):
        L[i, :i] = row
    check(L.T @ np.diag(1 / np.array(inverse_d)) @ L, M)


def test_ldl_solves_whole_batches(rng: np.random.Generator) -> None:
    A = rng.normal(size=(7, 3, 3))
    M, b = A @ A.swapaxes(1, 2) + np.eye(3), rng.normal(size=(7, 3))
    x = ldl.solve([list(row) for row in np.moveaxis(M, 0, -1)], list(b.T))
    np.testing.assert_allclose(np.array(x).T, np.linalg.solve(M, b[..., None])[..., 0], atol=1e-12)


def test_ldl_leaves_the_zeros_of_a_tree_alone(rng: np.random.Generator) -> None:
    """Two branches of one trunk: entries between them are zero and stay so, so nothing is computed for them."""

    def factored(x: list[Any]) -> Any:
        M = [[x[0]], [x[1], x[2]], [x[3], 0.0, x[4]]]
        L, _ = ldl.factor(M)
        assert L[2][1] == 0.0
        return ldl.solve(M, x[5:])

    program = trace(factored, {"x": (8,)}, ["y"])
    M = np.array([[9.0, 1.0, 2.0], [1.0, 5.0, 0.0], [2.0, 0.0, 4.0]])
    b = rng.normal(size=3)
    found = interpret.run(program, [9.0, 1.0, 5.0, 2.0, 4.0, *b])[0]
    check(found, np.linalg.solve(M, b))


def test_structural_zeros_vanish_while_tracing() -> None:
    def function(x: list[Any]) -> list[Any]:
        v = Vec3(x[0], 0.0, 0.0)
        return [*v.cross(Vec3(1.0, 0.0, 0.0)), *(Mat3(v, ZERO, ZERO) @ Vec3(0.0, 1.0, 1.0))]

    program = trace(function, {"x": (1,)}, ["y"])
    assert program.results[0] == (0.0,) * 6
    assert program.nodes == []


def random_body(rng: np.random.Generator) -> tuple[Inertia, np.ndarray]:
    """A body, and its 6x6 matrix, linear rows first."""
    (h, H), (I, tensor), mass = random_vec3(rng), symmetric(rng), rng.uniform(0.5, 2.0)
    return Inertia(mass, h, I), np.block([[mass * np.eye(3), -cross_matrix(H)], [cross_matrix(H), tensor]])


def random_motion(rng: np.random.Generator) -> tuple[Twist, np.ndarray]:
    (v, V), (w, W) = random_vec3(rng), random_vec3(rng)
    return Twist(v, w), np.concatenate([V, W])


def flat(pair: Any) -> list[Any]:
    return [*pair[0], *pair[1]]


def test_momentum_is_the_inertia_matrix_times_the_motion(rng: np.random.Generator) -> None:
    (body, M), (motion, V) = random_body(rng), random_motion(rng)
    check(flat(body.times(motion)), M @ V)


def test_a_motion_carries_motions_and_forces_by_its_cross_matrices(rng: np.random.Generator) -> None:
    (a, A), (b, B) = random_motion(rng), random_motion(rng)
    v, w = cross_matrix(A[:3]), cross_matrix(A[3:])
    ad = np.block([[w, v], [np.zeros((3, 3)), w]])
    check(flat(a.cross(b)), ad @ B)
    check(flat(a.carries(Force(*b))), -ad.T @ B)


def test_the_third_column_of_a_rotation_is_its_z_axis(rng: np.random.Generator) -> None:
    R = rotation(rng)
    check(mat3(R).third, R[:, 2])


def test_a_pose_times_its_inverse_is_the_identity(rng: np.random.Generator) -> None:
    pose = Pose(mat3(rotation(rng)), vec3(rng.normal(size=3)))
    for product in (pose @ pose.inverse, pose.inverse @ pose):
        check(product.R, np.eye(3))
        check(product.p, np.zeros(3))


def test_second_moments_of_point_masses_are_their_sums_of_products(rng: np.random.Generator) -> None:
    masses, points = rng.uniform(0.1, 1.0, 5), rng.normal(size=(5, 3))
    S = np.einsum("k,ki,kj->ij", masses, points, points)
    I = np.trace(S) * np.eye(3) - S
    check(second_moment(Sym3(I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])).matrix(), S)


def test_gyration_is_the_velocity_dependent_wrench_of_a_body(rng: np.random.Generator) -> None:
    """G(V) V is the momentum carried along by the body's own motion."""
    (body, _), (V, _) = random_body(rng), random_motion(rng)
    wrench = gyration(body, second_moment(body.I), V, V)
    check(flat(wrench), np.array(flat(V.carries(body.times(V)))))


@pytest.mark.parametrize("mass", [2.0, 0.0])
def test_a_body_is_a_point_at_its_centre_and_a_tensor_about_it(mass: float) -> None:
    """Without mass the split is arbitrary, its sum is not."""
    body = Inertia(mass, Vec3(0.2, -0.4, 0.6), Sym3(0.3, 0.01, -0.02, 0.4, 0.03, 0.5))
    point, turning = body.as_point(), body.about_centre()
    total = point + turning
    assert (total.mass, total.h) == (body.mass, body.h)
    check(total.I, np.array(body.I))
    assert (turning.mass, turning.h) == (0.0, ZERO)
    at_centre = point.placed(Pose(IDENTITY, -body.centre))
    check(at_centre.I, np.zeros(6) if mass else np.array(point.I))


def test_nested_lists_add_multiply_and_transpose_as_arrays(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(2, 3, 3))
    check(nested.sum_of(A.tolist(), B.tolist()), A + B)
    check(nested.transposed(A.tolist()), A.T)
    check(nested.dot([0.0, *A[0]], [np.nan, *B[0]]), A[0] @ B[0])  # a zero by structure hides what it multiplies
    check(nested.zeros(2, 3), np.zeros((2, 3)))
    nest = nested.zeros(2, 2, 2)
    nested.add_at(nest, (1, 0, 1), 2.0)
    nested.add_at(nest, (1, 0, 1), 3.0)
    assert nest == [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 5.0], [0.0, 0.0]]]
