"""The products of Freeman's appendix A: their meaning entry by entry, their batch axes, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert import transfer
from dalembert.errors import ShapeError

TOLERANCE = 1e-13  # sums of some products of numbers of the size of one


def test_each_product_is_its_definition(rng: np.random.Generator) -> None:
    A, C, D = rng.normal(size=(4, 3)), rng.normal(size=(3, 2, 2)), rng.normal(size=(2, 5))
    a, b = rng.normal(size=(2, 2))
    assert transfer.dot(A, C) == pytest.approx(np.array([sum(A[p, n] * C[n] for n in range(3)) for p in range(4)]), rel=TOLERANCE)
    assert transfer.congruent(D, C) == pytest.approx(np.array([D.T @ plane @ D for plane in C]), rel=TOLERANCE)
    assert transfer.quadratic(C, a, b) == pytest.approx(np.array([a @ plane @ b for plane in C]), rel=TOLERANCE)
    assert np.array_equal(transfer.symmetric(C)[1], (C[1] + C[1].T) / 2)


def test_a_matrix_goes_into_a_quadratic_form(rng: np.random.Generator) -> None:
    """A (bᵀ C b) = bᵀ (A • C) b, for which the product is made."""
    A, C, b = rng.normal(size=(4, 3)), rng.normal(size=(3, 2, 2)), rng.normal(size=2)
    assert A @ transfer.quadratic(C, b, b) == pytest.approx(transfer.quadratic(transfer.dot(A, C), b, b), rel=TOLERANCE)


def test_leading_axes_are_a_batch_and_broadcast(rng: np.random.Generator) -> None:
    A, C, D, b = (
        rng.normal(size=(6, 1, 4, 3)),
        rng.normal(size=(5, 3, 2, 2)),
        rng.normal(size=(6, 1, 2, 5)),
        rng.normal(size=(5, 2)),
    )
    found = transfer.dot(A, C), transfer.congruent(D, C), transfer.quadratic(C, b, b)
    assert [x.shape for x in found] == [(6, 5, 4, 2, 2), (6, 5, 3, 5, 5), (5, 3)]
    assert found[0][4, 2] == pytest.approx(transfer.dot(A[4, 0], C[2]), rel=TOLERANCE)
    assert found[1][4, 2] == pytest.approx(transfer.congruent(D[4, 0], C[2]), rel=TOLERANCE)
    assert found[2][2] == pytest.approx(transfer.quadratic(C[2], b[2], b[2]), rel=TOLERANCE)


def test_shapes_that_do_not_fit_are_named() -> None:
    C = np.zeros((3, 2, 2))
    with pytest.raises(ShapeError, match=r"A: 2 columns found, but C has 3 planes; one column for each is expected\."):
        transfer.dot(np.zeros((4, 2)), C)
    with pytest.raises(ShapeError, match=r"D: 3 rows found, but planes of C have 2; as many are expected\."):
        transfer.congruent(np.zeros((3, 3)), C)
    with pytest.raises(ShapeError, match=r"a: shape \(3,\) found, \(\.\.\., 2\) expected\."):
        transfer.quadratic(C, np.zeros(3), np.zeros(2))
    with pytest.raises(ShapeError, match=r"C: shape \(2, 2\) found, \(\.\.\., N, M, K\) expected\."):
        transfer.dot(np.zeros((4, 2)), np.zeros((2, 2)))
    with pytest.raises(ShapeError, match=r"P: shape \(2, 3\) found, \(\.\.\., M, M\) expected\."):
        transfer.symmetric(np.zeros((2, 3)))
    with pytest.raises(
        ShapeError, match=r"batch axes: \(4,\) of A and \(5,\) of C found, which do not broadcast\. Give them the same"
    ):
        transfer.dot(np.zeros((4, 4, 3)), np.zeros((5, 3, 2, 2)))
    with pytest.raises(ShapeError, match=r"A: text entries found, real numbers expected\."):
        transfer.dot("four", C)
