"""Linear models in new coordinates: of a map, and of a system, along a motion [Freeman, Eq. 3-48 to 3-53]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..dynamics import Influence
from ..errors import ShapeError
from .given import D_of, H_of, Map, array_of, batch_of, influence_of, together
from .products import form, times
from .ranks import inverted, names_of, square


class RateDerivatives(NamedTuple):
    """Derivatives of u̇ and ü by the old coordinates and their rates, each of shape (..., r, n).

    ∂u̇/∂q̇ = ∂ü/∂q̈ = G is not repeated here.
    """

    dud_dq: FloatArray
    dudd_dqd: FloatArray
    dudd_dq: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class StateModel(NamedTuple):
    """δẋ = F δx + G δv with x = (q, q̇, further states), of shape (..., m, m) and (..., m, p), m ≥ 2n [Freeman, Eq. 3-48]."""

    F: FloatArray
    G: FloatArray

    def __repr__(self) -> str:
        return brief(self)


def rate_derivatives(influence: Map, qd: ArrayLike, qdd: ArrayLike) -> RateDerivatives:
    """How velocity and acceleration of the new coordinates change with the motion of the old ones.

        ∂u̇/∂q  = H q̇                                        [Freeman, Eq. 2-20]
        ∂ü/∂q̇  = q̇ᵀ (H + Hᵀ)                                 [Freeman, Eq. 2-35]
        ∂ü/∂q  = H q̈ + q̇ᵀ D q̇                                [Freeman, Eq. 2-43]

    Parameters
    ----------
    influence : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n), (..., r, n, n, n)
        Of third order.
    qd, qdd : array_like, shape (..., n)
        The motion of the old coordinates.

    Returns
    -------
    RateDerivatives

    Examples
    --------
    >>> import dalembert as dal
    >>> tip = dal.influence(dal.robots.pelican(), [0.3, 0.5], order=3, kind="point")
    >>> dal.transfer.rate_derivatives(tip, [1.0, -2.0], [0.5, 0.0])
    RateDerivatives(dud_dq: (3, 2), dudd_dqd: (3, 2), dudd_dq: (3, 2))
    """
    found = influence_of("influence", influence, 3)
    return _derivatives(found, qd, qdd)


def _derivatives(influence: Influence, qd: ArrayLike, qdd: ArrayLike) -> RateDerivatives:
    n = str(influence.G.shape[-1])
    qd, qdd = array_of("qd", qd, n), array_of("qdd", qdd, n)
    together(influence=batch_of(influence), qd=qd.shape[:-1], qdd=qdd.shape[:-1])
    H, along = H_of(influence), qd[..., None, :]  # the same for each plane
    turning = times(H, along)  # (2-20)
    forward = times(H.swapaxes(-1, -2), along)
    by_position = times(H, qdd[..., None, :]) + form(D_of(influence), along, along)  # (2-43)
    return RateDerivatives(turning, forward + turning, by_position)  # (2-35)


def transferred_state(
    state: StateModel | tuple[ArrayLike, ArrayLike],
    influence: Map,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    new: Sequence[str] | None = None,
    old: Sequence[str] | None = None,
) -> StateModel:
    """The linear model of (δu, δu̇, δi) from that of (δq, δq̇, δi), along a motion [Freeman, Eq. 3-49 to 3-53].

    With S = [[G, 0, 0], [∂u̇/∂q, G, 0], [0, 0, 1]] the new states are S times the old ones (3-49, 3-50), and with (3-51)
    F̂ has the rows [0, 1, 0], ([∂ü/∂q, ∂ü/∂q̇, 0] + G F₂) S⁻¹ and F₃ S⁻¹; inputs act by G of the state model times S.

    Parameters
    ----------
    state : StateModel, or tuple of array_like, shape (..., m, m), (..., m, p)
        F and G; m is 2n, or more where currents or other states follow positions and velocities. For torques as inputs, F is
        made of `dal.derivatives(robot, q, qd, tau=tau)`.
    influence : Influence, or tuple of array_like, shape (..., n, n), (..., n, n, n), (..., n, n, n, n)
        Of the new coordinates over the old ones, to third order.
    qd, qdd : array_like, shape (..., n)
        The nominal motion of the old coordinates.
    new, old
        As in `inverse`, which see for singular maps too.

    Returns
    -------
    StateModel

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> robot, q, qd, tau = dal.robots.pelican(), [0.3, 0.5], [1.0, -2.0], [4.0, 1.0]
    >>> by, zero = dal.derivatives(robot, q, qd, tau=tau), np.zeros((2, 2))
    >>> F = np.block([[zero, np.eye(2)], [by.dqdd_dq, by.dqdd_dqd]])
    >>> state = dal.transfer.StateModel(F, np.vstack([zero, by.dqdd_dtau]))
    >>> tip = dal.transfer.rows(dal.influence(robot, q, order=3), [0, 1])
    >>> dal.transfer.transferred_state(state, tip, qd, dal.forward_dynamics(robot, q, qd, tau))
    StateModel(F: (4, 4), G: (4, 2))
    """
    found = influence_of("influence", influence, 3)
    square("transferred_state", found.G)
    n = found.G.shape[-1]
    F, B = _state(state, n)
    by = _derivatives(found, qd, qdd)
    together(state=F.shape[:-2], motion=by.dudd_dq.shape[:-2])
    back = inverted("transferred_state", found.G, names_of(found.G, new, old))
    S_back = _blocks(back, -back @ by.dud_dq @ back, F)  # (3-49), (3-50)
    S = _blocks(found.G, by.dud_dq, F)
    turning = np.zeros((*np.broadcast_shapes(S.shape[:-2], by.dudd_dq.shape[:-2]), *S.shape[-2:]))
    turning[..., n : 2 * n, :n], turning[..., n : 2 * n, n : 2 * n] = by.dudd_dq, by.dudd_dqd
    below = np.broadcast_to(F, S.shape).copy()
    below[..., :n, :] = 0.0  # the second row is δü of given δq, δq̇ and δq̈ = F₂ δx, without what S makes of δq̇
    F_new = (S @ below + turning) @ S_back  # (3-51), (3-53)
    F_new[..., :n, :] = np.eye(F.shape[-1])[n : 2 * n]
    return StateModel(F_new, S @ B)


def _state(state: StateModel | tuple[ArrayLike, ArrayLike], n: int) -> tuple[FloatArray, FloatArray]:
    if not isinstance(state, tuple) or len(state) != 2:
        raise ShapeError("state: a StateModel, or a tuple of its F and G, is expected. Try transfer.StateModel(F, G).")
    F = array_of("state: F", state[0], "m", "m")
    m = F.shape[-1]
    if m < 2 * n:
        raise ShapeError(
            f"state: F of {m} states found; {2 * n} or more are expected, positions and velocities of {n} coordinates."
        )
    B = array_of("state: G", state[1], str(m), "p")
    together(F=F.shape[:-2], G=B.shape[:-2])
    return F, B


def _blocks(diagonal: FloatArray, below: FloatArray, F: FloatArray) -> FloatArray:
    """[[diagonal, 0, 0], [below, diagonal, 0], [0, 0, 1]], as large as F."""
    n, m = diagonal.shape[-1], F.shape[-1]
    batch = np.broadcast_shapes(diagonal.shape[:-2], below.shape[:-2], F.shape[:-2])
    S = np.zeros((*batch, m, m))
    S[..., :n, :n] = S[..., n : 2 * n, n : 2 * n] = diagonal
    S[..., n : 2 * n, :n] = below
    S[..., 2 * n :, 2 * n :] = np.eye(m - 2 * n)
    return S


__all__ = ["RateDerivatives", "StateModel", "rate_derivatives", "transferred_state"]
