"""The sparse LU factorisation on numbers, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.spatial.sparse_lu import factor, plan

TOLERANCE = 1e-11  # matrices of some ten rows with a condition of a few thousand


def matrix(rng: np.random.Generator, n: int, share: float = 0.4) -> np.ndarray:
    """A sparse matrix that is regular, as n by n."""
    while True:
        A = np.where(rng.random((n, n)) < share, rng.normal(size=(n, n)), 0.0)
        if np.linalg.cond(A) < 1e3:
            return A


def factors(A: np.ndarray, like: np.ndarray):
    """Factors of A by the order that was planned for another matrix with zeros in the same places."""
    structure = [set(np.flatnonzero(row)) for row in like]
    return factor([{k: float(row[k]) for k in columns} for row, columns in zip(A, structure, strict=True)], plan(like, structure))


@pytest.mark.parametrize("seed", range(5))
def test_it_solves_both_systems_where_it_was_planned_and_elsewhere(seed):
    rng = np.random.default_rng(seed)
    like = matrix(rng, 8)
    other = like * rng.uniform(0.2, 3.0, like.shape)
    b, t = rng.normal(size=(2, 8))
    for A in (like, other):
        if np.linalg.cond(A) > 1e3:
            continue
        found = factors(A, like)
        np.testing.assert_allclose(found.solve(b), np.linalg.solve(A, b), rtol=TOLERANCE, atol=TOLERANCE)
        np.testing.assert_allclose(found.solve_transposed(t, 8), np.linalg.solve(A.T, t), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_depend_on_others_take_no_part(seed):
    rng = np.random.default_rng(seed)
    A = matrix(rng, 6, 0.8)
    double = rng.normal(size=(2, 6)) @ A
    whole = np.vstack([A[:3], double, A[3:]])
    x = rng.normal(size=6)
    found = factors(whole, whole)
    np.testing.assert_allclose(found.solve(whole @ x), x, rtol=TOLERANCE, atol=TOLERANCE)
    w = np.array(found.solve_transposed(whole.T @ rng.normal(size=8), 8))
    assert np.sum(w == 0.0) == 2


def test_a_row_of_rounding_is_a_row_of_zeros():
    A = np.array([[1e-17, -2e-17, 0.0], [0.7, 0.6, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    structure = [{0, 1}, {0, 1}, {0, 1, 2}, {0}]
    assert plan(A, structure, first=[3]).dependent == (0,)
