"""More joints than the task needs: one motion out of many, by a weight, and what is left free [Freeman, Ch. IV]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ModelError, ShapeError
from .coefficients import Rates
from .given import H_of, Map, array_of, influence_of, together
from .models import DynamicModel, fits
from .products import dotted, form, squeezed, times
from .ranks import inverted, names_of

_ASYMMETRY = 1e-9  # of a weight, relative to its largest entry


def right_inverse(G: Map, *, weight: ArrayLike | None = None, new: Sequence[str] | None = None) -> FloatArray:
    """The R with G R = 1 for which q̇ = R u̇ has the least q̇ᵀ W q̇: W⁻¹ Gᵀ (G W⁻¹ Gᵀ)⁻¹ [Freeman, Eq. 4-69, 4-70].

    Without a weight the velocities have the least norm; with the effective inertia (`dal.mass_matrix`) the kinetic energy is
    least. Of a square G it is the inverse, whatever the weight.

    Parameters
    ----------
    G : Influence or array_like, shape (..., r, n)
        With n coordinates for r of the task, r ≤ n; of a map the first order counts.
    weight : array_like, shape (..., n, n), optional
        Symmetric and positive definite.
    new : sequence of str, optional
        Names of the task coordinates, for messages.

    Returns
    -------
    R : ndarray, shape (..., n, r)

    Raises
    ------
    SingularError
        Where the task is singular: rows of G depend on each other. In a batch such entries are NaN, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert import transfer
    >>> transfer.right_inverse([[1.0, 1.0]], weight=np.diag([3.0, 1.0]))  # the heavy one moves less
    array([[0.25],
           [0.75]])
    """
    found = influence_of("G", G).G
    return _right_inverse("right_inverse", found, weight, new)


def _right_inverse(subject: str, G: FloatArray, weight: ArrayLike | None, new: Sequence[str] | None) -> FloatArray:
    r, n = G.shape[-2:]
    if r > n:
        raise ShapeError(
            f"{subject}: G has {r} rows over {n} coordinates, more than these can follow; {n} or fewer expected. Keep some of "
            "them (transfer.rows); to share a load among more actuators than needed, take the right inverse of the transpose."
        )
    L = np.eye(n) if weight is None else _factor(weight, n, G.shape[:-2])
    Q, upper = np.linalg.qr(np.linalg.solve(L, G.swapaxes(-1, -2)))  # (G L⁻ᵀ)ᵀ = Q U with W = L Lᵀ
    R = Q @ inverted(subject, upper.swapaxes(-1, -2), names_of(G, new, None), wide=True)
    return np.asarray(np.linalg.solve(L.swapaxes(-1, -2), R), float)  # L⁻ᵀ Q U⁻ᵀ


def _factor(weight: ArrayLike, n: int, batch: tuple[int, ...]) -> FloatArray:
    """L of W = L Lᵀ."""
    W = array_of("weight", weight, str(n), str(n))
    together(G=batch, weight=W.shape[:-2])
    if not np.abs(W - W.swapaxes(-1, -2)).max(initial=0.0) <= _ASYMMETRY * np.abs(W).max(initial=0.0):
        raise ModelError(
            "weight: a matrix that is not symmetric, or not finite, found; a symmetric one is expected. Try (W + W.T) / 2."
        )
    try:
        return np.asarray(np.linalg.cholesky(W), float)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(W).min())
        raise ModelError(
            f"weight: least eigenvalue {least:.2g} found, but q̇ᵀ W q̇ needs positive ones to have a least value. "
            "Give idle coordinates a small weight too."
        ) from None


def null_projector(G: Map, *, weight: ArrayLike | None = None, new: Sequence[str] | None = None) -> FloatArray:
    """N = 1 − R G: what it makes of any q̇ moves no task coordinate, G N = 0, and is W-orthogonal to every R u̇.

    Parameters
    ----------
    G, weight, new
        As in `right_inverse`.

    Returns
    -------
    N : ndarray, shape (..., n, n)

    Examples
    --------
    >>> from dalembert import transfer
    >>> transfer.null_projector([[1.0, 1.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    found = influence_of("G", G).G
    return _projector(_right_inverse("null_projector", found, weight, new), found)


def _projector(R: FloatArray, G: FloatArray) -> FloatArray:
    return np.eye(G.shape[-1]) - R @ G


def resolve(
    influence: Map,
    ud: ArrayLike,
    udd: ArrayLike | None = None,
    *,
    weight: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    new: Sequence[str] | None = None,
) -> Rates:
    """Velocities and accelerations of the joints for a motion of the task, with a null-space motion of one's choice.

        q̇ = R u̇ + N q̇₀                                     [Freeman, Eq. 4-68]
        q̈ = R (ü − q̇ᵀ H q̇) + N q̈₀                           [Freeman, Eq. 4-71, 4-72]

    Both meet the task exactly. The acceleration is the least one, not the rate of the least velocity: R changes on the way, by
    what the null space hides; give that as `qdd` to follow it.

    Parameters
    ----------
    influence : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n)
        Of the task over the joints, r ≤ n.
    ud, udd : array_like, shape (..., r)
        Velocity and acceleration of the task.
    weight, new
        As in `right_inverse`.
    qd, qdd : array_like, shape (..., n), optional
        q̇₀ and q̈₀: motions of which the part that the task does not notice is added, such as towards a preferred posture.

    Returns
    -------
    Rates
        Of the joints, with arrays of shape (..., n).

    Examples
    --------
    >>> import numpy as np
    >>> from dalembert import transfer
    >>> free = transfer.linear([[1.0, 1.0, 1.0]])
    >>> transfer.resolve(free, [3.0]).velocity, transfer.resolve(free, [3.0], qd=[1.0, -1.0, 0.0]).velocity
    (array([1., 1., 1.]), array([2., 0., 1.]))
    """
    found = influence_of("influence", influence, 1 if udd is None else 2)
    r, n = (str(extent) for extent in found.G.shape[-2:])
    R = _right_inverse("resolve", found.G, weight, new)
    N = _projector(R, found.G)
    given = {"ud": (ud, r), "udd": (udd, r), "qd": (qd, n), "qdd": (qdd, n)}
    motion = {name: array_of(name, x, axis) for name, (x, axis) in given.items() if x is not None or name == "ud"}
    together(influence=R.shape[:-2], **{name: x.shape[:-1] for name, x in motion.items()})
    velocity = times(R, motion["ud"]) + (times(N, motion["qd"]) if "qd" in motion else 0.0)
    if udd is None:
        return Rates(velocity)
    wanted = motion["udd"] - form(H_of(found), velocity, velocity)
    return Rates(velocity, times(R, wanted) + (times(N, motion["qdd"]) if "qdd" in motion else 0.0))


def redundant(
    model: DynamicModel, influence: Map, *, weight: ArrayLike | None = None, new: Sequence[str] | None = None
) -> DynamicModel:
    """Torques of more joints than the task has coordinates, straight from the task's motion [Freeman, Eq. 4-73 to 4-75].

        I_qu  = I_qq R
        P_quu = Rᵀ (P_qqq − I_qu • H) R

    Loads stay at the joints.

    Parameters
    ----------
    model : DynamicModel
        In the n joints.
    influence : Influence, or tuple of array_like, shape (..., r, n), (..., r, n, n)
        Of the task over the joints, r ≤ n.
    weight : array_like, shape (..., n, n), optional
        Of the motion that is chosen, as in `right_inverse`; the model's own I if left out, for the least kinetic energy (4-70).
    new
        As in `right_inverse`.

    Returns
    -------
    DynamicModel
        Its `torque(ud, udd)` takes r rates and gives n torques; I is (..., n, r), P (..., n, r, r) and T (..., n).

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, q = dal.robots.panda(), [0.1, 0.5, -0.3, -1.5, 0.2, 1.8, 0.4]
    >>> tool = dal.influence(robot, q)
    >>> dal.transfer.redundant(dal.transfer.open_chain(robot, q), tool).torque([0.1] * 6, [0.0] * 6).shape
    (7,)
    """
    found = influence_of("influence", influence, 2)
    fits("redundant", model, found, found.G.shape[-1])
    R = _right_inverse("redundant", found.G, model.I if weight is None else weight, new)
    I = model.I @ R  # (4-74)
    return DynamicModel(I, squeezed(R, model.P - dotted(I, H_of(found))), model.T)  # (4-75)


__all__ = ["null_projector", "redundant", "resolve", "right_inverse"]
