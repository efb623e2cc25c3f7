"""Linear models in new coordinates: against the exact derivatives of a system compiled in them, and against differences."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert import transfer
from dalembert.errors import ShapeError
from tests.robots import FRICTIONLESS, PLAIN, random_robot, relative_error
from tests.unit.transfer.maps import bent, in_new_coordinates

pytestmark = pytest.mark.usefixtures("interpreted")  # many robots, each asked once: compiling would take the time


@pytest.mark.parametrize("kind", ["point", "rotation"])
def test_derivatives_of_velocity_and_acceleration(kind: str, rng: np.random.Generator) -> None:
    """Central differences of the motion of a link: truncation ~ step² and rounding ~ 1e-16 / step are below 1e-9."""
    robot, step = random_robot(rng, 4, PLAIN), 1e-5
    q, qd, qdd = rng.uniform(-1, 1, (3, 4))
    found = transfer.rate_derivatives(dal.influence(robot, q, order=3, kind=kind), qd, qdd)

    def motion(dq: np.ndarray, dqd: np.ndarray) -> transfer.Rates:
        return transfer.rates(dal.influence(robot, q + dq, kind=kind), qd + dqd, qdd)

    steps, still = step * np.eye(4), np.zeros((4, 4))
    by_q = [(motion(steps, still)[k] - motion(-steps, still)[k]).T / (2 * step) for k in (0, 1)]
    by_qd = (motion(still, steps)[1] - motion(still, -steps)[1]).T / (2 * step)
    assert np.abs(found.dud_dq - by_q[0]).max() < 1e-8
    assert np.abs(found.dudd_dq - by_q[1]).max() < 1e-8
    assert np.abs(found.dudd_dqd - by_qd).max() < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_the_state_model_is_that_of_the_system_compiled_in_new_coordinates(seed: int) -> None:
    """With torques at the joints as inputs: in new coordinates they are Bᵀ τ, which changes with the configuration."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    robot = random_robot(rng, n, FRICTIONLESS)
    u, ud, tau = rng.uniform(-0.5, 0.5, (3, 5, n))
    over_u = transfer.CoordinateMap(bent, n)
    q, back = over_u(u), over_u.influence(u, order=3)
    qd = transfer.rates(back, ud).velocity
    qdd = dal.forward_dynamics(robot, q, qd, tau)
    by = dal.derivatives(robot, q, qd, tau=tau)
    found = transfer.transferred_state(state_of(by.dqdd_dq, by.dqdd_dqd, by.dqdd_dtau), transfer.inverse(back), qd, qdd)

    own = dal.derivatives(in_new_coordinates(robot), u, ud, tau=(back.G.swapaxes(-1, -2) @ tau[..., None])[..., 0])
    moving = own.dqdd_dtau @ np.einsum("...nca,...n->...ac", back.H, tau)
    exact = state_of(own.dqdd_dq + moving, own.dqdd_dqd, own.dqdd_dtau @ back.G.swapaxes(-1, -2))
    assert relative_error(found.F, exact.F) < 1e-9
    assert relative_error(found.G, exact.G) < 1e-9


def state_of(by_q: np.ndarray, by_qd: np.ndarray, by_input: np.ndarray) -> transfer.StateModel:
    n = by_q.shape[-1]
    top = np.broadcast_to(np.hstack([np.zeros((n, n)), np.eye(n)]), (*by_q.shape[:-1], 2 * n))
    F = np.concatenate([top, np.concatenate([by_q, by_qd], axis=-1)], axis=-2)
    return transfer.StateModel(F, np.concatenate([np.zeros_like(by_input), by_input], axis=-2))


def test_further_states_go_along(rng: np.random.Generator) -> None:
    """By a linear map at rest, positions, velocities and currents change apart: S is block diagonal."""
    G, F, B = np.array([[2.0, 1.0], [0.0, 1.0]]), rng.normal(size=(5, 5)), rng.normal(size=(5, 1))
    F[:2] = np.eye(5)[2:4]
    found = transfer.transferred_state((F, B), transfer.linear(G, order=3), [0.0, 0.0], [0.0, 0.0])
    S = np.eye(5)
    S[:2, :2] = S[2:4, 2:4] = G
    assert relative_error(found.F, S @ F @ np.linalg.inv(S)) < 1e-13
    assert relative_error(found.G, S @ B) < 1e-13
    assert repr(found) == "StateModel(F: (5, 5), G: (5, 1))"


@pytest.mark.parametrize("many", ["qd", "qdd"])
def test_one_state_model_along_many_motions(many: str, rng: np.random.Generator) -> None:
    """Batch axes broadcast, wherever they are."""
    tip = transfer.rows(dal.influence(dal.robots.pelican(), [0.3, 0.8], order=3), [0, 1])
    F, B, rates = rng.normal(size=(5, 5)), rng.normal(size=(5, 1)), rng.normal(size=(4, 2))
    motion = {"qd": [0.3, -0.4], "qdd": [0.1, 0.2]}
    found = transfer.transferred_state((F, B), tip, **motion | {many: rates})
    assert found.F.shape == (4, 5, 5)
    inputs = np.broadcast_to(found.G, (4, 5, 1))
    for k in range(4):
        one = transfer.transferred_state((F, B), tip, **motion | {many: rates[k]})
        assert relative_error(found.F[k], one.F) < 1e-13
        assert relative_error(inputs[k], one.G) < 1e-13


def test_what_does_not_fit_is_refused_by_a_sentence() -> None:
    two, still = transfer.linear(np.eye(2), order=3), [0.0, 0.0]
    with pytest.raises(
        ShapeError, match=r"state: F of 3 states found; 4 or more are expected, positions and velocities of 2 coordinates\."
    ):
        transfer.transferred_state((np.eye(3), np.eye(3)), two, still, still)
    with pytest.raises(
        ShapeError, match=r"state: a StateModel, or a tuple of its F and G, is expected\. Try transfer\.StateModel"
    ):
        transfer.transferred_state(np.eye(4), two, still, still)
    with pytest.raises(ShapeError, match=r"state: G: shape \(3, 2\) found, \(\.\.\., 4, p\) expected\."):
        transfer.transferred_state((np.eye(4), np.zeros((3, 2))), two, still, still)
    with pytest.raises(ShapeError, match=r"influence: no D found beside H\. Ask dal\.influence for order=3"):
        transfer.rate_derivatives(transfer.linear(np.eye(2)), still, still)
    with pytest.raises(ShapeError, match=r"transferred_state: G has 1 rows over 2 coordinates, but 2 are expected"):
        transfer.transferred_state((np.eye(4), np.eye(4)), transfer.rows(two, [0]), still, still)
