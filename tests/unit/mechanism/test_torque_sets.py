"""What drives can make together, beside linear programs, and facets beside samples of the set."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog

from dalembert.mechanism import torque_sets
from dalembert.mechanism.torque_sets import every_facet, filled, normals, scaled

SIZES = [(1, 1), (3, 1), (3, 2), (4, 4), (6, 3), (8, 6), (12, 6), (14, 8), (13, 10)]


def least_ratio(A, tau):
    """The least largest |u| with Aᵀ u = τ, by a linear program."""
    m, n = A.shape
    one = np.ones((m, 1))
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.block([[np.eye(m), -one], [-np.eye(m), -one]]),
        b_ub=np.zeros(2 * m),
        A_eq=np.hstack([A.T, np.zeros((n, 1))]),
        b_eq=tau,
        bounds=[(None, None)] * (m + 1),
    )
    assert found.success
    return found.fun


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_how_far_torques_fill_what_drives_can_do_agrees_with_linear_programs(m, n, rng):
    A, tau = rng.normal(size=(30, m, n)), rng.normal(size=(30, n))
    found = filled(A, tau)
    expected = [least_ratio(*row) for row in zip(A, tau, strict=True)]
    np.testing.assert_allclose(found.ratio, expected, rtol=1e-9)
    np.testing.assert_allclose(np.einsum("rmn,rm->rn", A, found.use), tau, atol=1e-9)
    np.testing.assert_allclose(np.abs(found.use).max(axis=1), found.ratio, rtol=1e-12)


@pytest.mark.parametrize(("m", "n"), [(6, 3), (8, 4), (12, 6)])
def test_drives_that_depend_on_each_other_do_not_go_round(m, n, rng):
    """n drives push along n − 1 directions only, as those of a plane do: steps between facets with more zeros would go round.

    That torques make what is wanted, and that no torques with smaller ones do, shows without a linear program: νᵀ τ ≤ ρ h(ν).
    """
    A, tau = rng.normal(size=(3000, m, n)), rng.normal(size=(3000, n))
    A[:, :n, -1] = 0.0
    found = filled(A, tau)
    np.testing.assert_allclose(np.einsum("rmn,rm->rn", A, found.use), tau, atol=1e-9)
    np.testing.assert_allclose(np.abs(found.use).max(axis=1), found.ratio, rtol=1e-12)
    assert np.abs(np.einsum("rmn,rn->rm", A, found.normal)).sum(axis=1).max() <= 1 + 1e-12
    np.testing.assert_allclose((found.normal * tau).sum(axis=1), found.ratio, rtol=1e-5)


def test_what_is_not_a_number_stays_none(rng):
    A, tau = rng.normal(size=(4, 5, 3)), rng.normal(size=(4, 3))
    tau[1], A[2, 0, 0], tau[3] = np.nan, np.nan, 0.0
    found = filled(A, tau)
    assert np.isnan(found.ratio).tolist() == [False, True, True, False]
    assert np.isnan(found.use[1:3]).all()
    assert found.ratio[3] == 0.0
    assert found.ratio[0] == pytest.approx(least_ratio(A[0], tau[0]), rel=1e-9)


@pytest.mark.parametrize(("m", "n"), [(6, 3), (12, 6)])
def test_any_facet_to_begin_with_leads_to_the_same(m, n, rng):
    A, tau = rng.normal(size=(40, m, n)), rng.normal(size=(40, n))
    start = np.stack([rng.permutation(m)[: n - 1] for _ in range(40)])
    np.testing.assert_allclose(filled(A, tau, start).ratio, filled(A, tau).ratio, rtol=1e-10)


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_the_facet_found_tells_the_ratio_and_no_torque_of_the_drives_is_beyond_a_facet(m, n, rng):
    A, tau = rng.normal(size=(20, m, n)), rng.normal(size=(20, n))
    found = filled(A, tau)
    inside = rng.uniform(-1, 1, size=(200, m))
    corners = np.sign(inside)
    for k in range(20):
        (nu,), _ = normals(A[k], found.facet[k : k + 1])
        assert abs(nu @ tau[k]) == pytest.approx(found.ratio[k], rel=1e-8)
        assert np.abs(np.concatenate([inside, corners]) @ A[k] @ nu).max() <= 1 + 1e-9
        if n > 1:
            np.testing.assert_allclose(A[k][found.facet[k]] @ nu, 0.0, atol=1e-9)


@pytest.mark.parametrize(("m", "n"), [(3, 2), (6, 3), (8, 6)])
def test_all_facets_together_are_the_set(m, n, rng):
    A, tau = rng.normal(size=(m, n)), rng.normal(size=(50, n))
    every = every_facet(m, n, 100)
    assert len(every) == comb(m, n - 1)
    most = np.abs(tau @ normals(A, every).nu.T).max(axis=1)
    np.testing.assert_allclose(most, filled(np.broadcast_to(A, (50, m, n)), tau).ratio, rtol=1e-9)
    assert every_facet(m, n, comb(m, n - 1) - 1) is None


def test_normals_of_many_freedoms_are_those_of_the_compiled_ones(rng, monkeypatch):
    A = rng.normal(size=(5, 7, 5))
    facets = every_facet(7, 5, 100)
    compiled = normals(A, facets)
    monkeypatch.setattr(torque_sets, "_KERNEL", 0)
    np.testing.assert_allclose(normals(A, facets).nu, compiled.nu, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(normals(A, facets).span, compiled.span, rtol=1e-9)


def test_drives_that_do_the_same_span_no_facet_and_bound_nothing(rng):
    A = rng.normal(size=(4, 3))
    A[1] = -2.0 * A[0]
    nu, span = normals(A, np.array([[0, 1], [0, 2]]))
    assert span[0] < 1e-12 < 1e-3 < span[1]
    assert not nu[0].any()
    tau = rng.normal(size=(1, 3))
    assert filled(A[None], tau).ratio[0] == pytest.approx(least_ratio(A, tau[0]), rel=1e-9)
    assert filled(A[None], tau, np.array([[0, 1]])).ratio[0] == pytest.approx(least_ratio(A, tau[0]), rel=1e-6)


def test_no_torque_fills_nothing_and_a_drive_without_a_limit_carries_all_it_can():
    A = np.array([[1.0], [1.0]])
    assert filled(A[None], np.zeros((1, 1))).ratio.tolist() == [0.0]
    wide = scaled(A, np.array([2.0, np.inf]))
    assert filled(wide[None], np.array([[100.0]])).ratio[0] < 1e-4
