"""Bounds of functions of control points, against all they are to bound."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dalembert.bounds.functionals import EuclideanNorm, LargestEigenvalue, RateFunctional, RateNorm

MONOMIALS = [(), (0,), (1,), (2,), (0, 1), (0, 2), (0, 0), (1, 1), (0, 0, 2), (1, 3), (3,), (2, 2, 2)]


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def values(monomials, points, eta):
    """Of the polynomials, in columns, at places in rows."""
    powers = np.stack([np.prod([eta[:, v] for v in m], axis=0) if m else np.ones(len(eta)) for m in monomials], axis=1)
    return powers @ points


def test_no_value_of_a_polynomial_is_above_its_bound(rng):
    functional = RateFunctional(MONOMIALS, 4)
    points = rng.normal(size=(len(MONOMIALS), 60))
    eta = np.concatenate([rng.uniform(-1, 1, (20_000, 4)), np.array(list(product([-1.0, 0.0, 1.0], repeat=4)))])
    largest = values(MONOMIALS, points, eta).max(axis=0)
    exact, quick = functional.exact(points), functional.quick(points)
    assert (largest <= exact + 1e-12).all()
    assert (exact <= quick + 1e-12).all()


def test_the_bound_is_attained_where_there_are_no_negative_squares(rng):
    monomials = [(), (0,), (1,), (0, 1), (0, 0), (1, 1), (2,), (0, 2)]
    functional = RateFunctional(monomials, 3)
    points = rng.normal(size=(len(monomials), 40))
    points[[4, 5]] = np.abs(points[[4, 5]])
    corners = np.array(list(product([-1.0, 1.0], repeat=3)))
    np.testing.assert_allclose(functional.exact(points), values(monomials, points, corners).max(axis=0), rtol=1e-12)


def test_parts_of_the_range_have_the_same_polynomial(rng):
    functional = RateFunctional(MONOMIALS, 4)
    points = rng.normal(size=(len(MONOMIALS), 7))
    assert functional.squared == [0, 1, 2]
    lo, hi = np.array([-1.0, 0.0, 0.25]), np.array([0.0, 1.0, 0.5])
    moved = functional.moved(points, lo, hi)
    zeta = rng.uniform(-1, 1, (50, 4))
    eta = zeta.copy()
    eta[:, functional.squared] = 0.5 * (lo + hi) + 0.5 * (hi - lo) * zeta[:, functional.squared]
    np.testing.assert_allclose(values(functional.closed, moved, zeta), values(MONOMIALS, points, eta), atol=1e-12)
    assert (values(MONOMIALS, points, eta).max(axis=0) <= functional.exact(moved) + 1e-12).all()
    assert functional.moved(points, -np.ones(3), np.ones(3)) is points


def test_eigenvalues_are_below_their_bounds(rng):
    factors = rng.normal(size=(200, 5, 5))
    matrices = factors @ np.swapaxes(factors, 1, 2)
    rows, columns = np.tril_indices(5)
    points = matrices[:, rows, columns].T
    found = np.linalg.eigvalsh(matrices)
    for sign, expected in ((1.0, found[:, -1]), (-1.0, -found[:, 0])):
        functional = LargestEigenvalue(5, sign)
        exact, quick = functional.exact(points), functional.quick(points)
        # What is added for rounding is some hundred units of the matrix.
        assert (exact >= expected).all()
        assert (exact <= expected + 1e-10).all()
        assert (quick >= expected).all()
    assert LargestEigenvalue(2).slack(np.array([1.0, 2.0, 3.0])) == pytest.approx(5.0)


def test_norms(rng):
    points = rng.normal(size=(4, 30))
    np.testing.assert_allclose(EuclideanNorm().exact(points), np.linalg.norm(points, axis=0), rtol=1e-11)
    symbols = rng.normal(size=(20, 3, 3, 3))
    symbols = symbols + np.swapaxes(symbols, 2, 3)
    bound = RateNorm(3).exact(symbols.reshape(20, -1).T)
    rates = rng.normal(size=(3000, 3))
    rates /= np.linalg.norm(rates, axis=1, keepdims=True)
    norms = np.linalg.norm(np.einsum("zijk,rk->zrij", symbols, rates), ord=2, axis=(-2, -1)).max(axis=1)
    assert (norms <= bound).all()
    # The control point that decides has the tight bound; random directions come near the largest.
    k = int(np.argmax(bound))
    assert bound[k] <= 1.15 * norms.max()
    single = np.concatenate([RateNorm(3).exact(s.reshape(-1, 1)) for s in symbols])
    assert (norms <= single).all()
    assert (single <= 1.15 * norms).all()
