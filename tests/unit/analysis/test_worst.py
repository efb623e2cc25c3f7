"""The search for the largest value of a function over a box of states."""

from __future__ import annotations

import itertools

import numpy as np

import dalembert as dal
from dalembert.analysis.worst import at_corners, largest


def box(n: int) -> dal.Workspace:
    return dal.Workspace(np.full(n, -2.0), np.full(n, 3.0), np.arange(1.0, n + 1), np.full(n, 5.0))


def test_the_maximum_of_a_torque_like_function_is_found(rng: np.random.Generator) -> None:
    """Quadratic in q̇ with an indefinite form, linear in q̈, with many waves in q: against all corners and a fine grid."""
    A, b = rng.normal(size=(2, 2)), rng.normal(size=2)

    def function(q, qd, qdd):
        wave = np.sin(3 * q[:, 0]) + np.cos(2 * q[:, 1])
        return np.stack([wave + np.einsum("si,ij,sj->s", qd, A, qd) + qdd @ b, q[:, 0] * qdd[:, 1]], axis=-1)

    found = largest(function, box(2), box(2).sample(rng, 500), rng)
    grid = np.linspace(-2, 3, 401)
    waves = (np.sin(3 * grid)[:, None] + np.cos(2 * grid)).ravel()
    rates = np.array(list(itertools.product(np.linspace(-1, 1, 201), np.linspace(-2, 2, 201))))
    forms = np.einsum("si,ij,sj->s", rates, A, rates)
    linear = np.abs(b).sum() * 5
    expected = max(waves.max() + forms.max(), -waves.min() - forms.min()) + linear
    np.testing.assert_allclose(found.size, [expected, 15.0], rtol=2e-4)  # the grid is that coarse
    assert found.size[0] >= expected * (1 - 1e-12)


def test_what_is_found_is_attained_within_the_box(rng: np.random.Generator) -> None:
    robot, where = dal.robots.pelican(), dal.Workspace.of(dal.robots.pelican())
    found = largest(lambda *x: dal.inverse_dynamics(robot, *x), where, where.sample(rng, 300), rng)
    torque = np.abs(dal.inverse_dynamics(robot, *found.state)).reshape(2, -1, 2)
    np.testing.assert_array_equal([torque[0, :, 0].max(), torque[1, :, 1].max()], found.size)
    assert (found.state.q >= where.lower).all()
    assert (found.state.q <= where.upper).all()
    assert (np.abs(found.state.qd) <= where.velocity).all()
    assert (np.abs(found.state.qdd) <= where.acceleration).all()


def test_rates_at_corners_are_at_corners(rng: np.random.Generator) -> None:
    drawn = box(3).sample(rng, 50)
    state = at_corners(box(3), drawn, rng)
    np.testing.assert_array_equal(state.q, drawn.q)
    np.testing.assert_array_equal(np.abs(state.qd), np.broadcast_to([1.0, 2.0, 3.0], (50, 3)))
    assert set(np.sign(state.qdd).ravel()) == {-1.0, 1.0}


def test_few_starts_and_values_that_are_not_finite_do_no_harm(rng: np.random.Generator) -> None:
    found = largest(lambda q, qd, qdd: np.where(q > 2.9, np.nan, q), box(1), box(1).sample(rng, 1), rng)
    assert 2.0 <= found.size[0] <= 2.9
