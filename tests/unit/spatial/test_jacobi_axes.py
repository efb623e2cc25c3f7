"""Principal axes by a fixed number of sweeps, over arrays and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.spatial.jacobi_axes import principal_axes


def spectra(rng, n, count):
    """Symmetric matrices with values over six decades, some equal, some nearly diagonal."""
    values = np.exp(rng.uniform(-12, 2, (count, n)))
    values[::3, : min(n, 2)] = 1.5
    Q = np.linalg.qr(rng.normal(size=(count, n, n)))[0]
    Q[::5] = np.linalg.qr(np.eye(n) + 1e-4 * rng.normal(size=(len(Q[::5]), n, n)))[0]
    return np.einsum("aij,aj,akj->aik", Q, values, Q)


def by_arrays(A):
    n = A.shape[-1]
    found = principal_axes([[A[:, i, j] for j in range(n)] for i in range(n)])
    ones = np.ones(len(A))
    return np.stack([v * ones for v in found.values], -1), np.stack(
        [np.stack([x * ones for x in row], -1) for row in found.axes], -2
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_values_and_axes_make_up_the_matrix(n, rng):
    A = spectra(rng, n, 5000)
    values, axes = by_arrays(A)
    size = np.abs(A).max(axis=(1, 2))
    tolerance = 1e-14 if n < 4 else 1e-9  # rounding; where several of many values are equal, see the module
    assert (np.abs(np.einsum("aij,aj,akj->aik", axes, values, axes) - A).max(axis=(1, 2)) / size).max() < tolerance
    assert np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(n)).max() < 1e-14
    assert (np.diff(values, axis=1) <= 0.0).all()
    assert np.abs(values - np.linalg.eigvalsh(A)[:, ::-1]).max() < tolerance * size.max()


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.eye(3), np.diag([1.0, 3.0, 2.0]), np.ones((3, 3))])
def test_matrices_with_equal_and_vanishing_values_have_axes_too(A):
    values, axes = by_arrays(A[None])
    assert values[0] == pytest.approx(np.sort(np.linalg.eigvalsh(A))[::-1], abs=1e-15)
    assert axes[0].T @ axes[0] == pytest.approx(np.eye(3), abs=1e-15)


def test_compiled_it_is_the_same(rng):
    A = spectra(rng, 3, 100)
    run = dal.kernel(lambda A: [*principal_axes(A)], {"A": (3, 3)}, outputs=("values", "axes"))
    values, axes = run(A)
    assert values == pytest.approx(by_arrays(A)[0], abs=1e-13)
    assert np.einsum("aij,aj,akj->aik", axes, values, axes) == pytest.approx(A, abs=1e-13)
