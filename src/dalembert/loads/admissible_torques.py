"""All torques of the drives that carry a load, written so that the best of them is at zero.

    Aᵀ u = τ      is met by      u = u* + Y y,      with      Yᵀ W Y = 1,   Yᵀ W u* = 0                         (1)

so that uᵀ W u = u*ᵀ W u* + |y|²: of all such torques, u* has the least weighted norm, [Freeman, Eq. 4-85, 4-86] where W = 1. What
is held in addition, E u = e, takes directions away from Y. Rows of a batch come first in every array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray

RANK = 1e-9  # of the largest singular value: below, a direction counts as lost


class Balance(NamedTuple):
    """A minimum-norm solution of Aᵀ u = τ, the internal directions N (columns, orthonormal), and the lost directions of q."""

    u: FloatArray
    N: FloatArray
    lost: FloatArray


class Admissible(NamedTuple):
    """u* and Y of (1)."""

    u: FloatArray
    Y: FloatArray

    def at(self, y: FloatArray) -> FloatArray:
        """The torques u* + Y y."""
        return self.u + np.einsum("rmk,rk->rm", self.Y, y)


def balance(tau: FloatArray, A: FloatArray) -> Balance:
    """u = A (Aᵀ A)⁻¹ τ [Freeman, Eq. 4-86], by singular values; A has shape (R, m, n) with m ≥ n."""
    U, s, Vt = np.linalg.svd(A)
    n = A.shape[2]
    lost = s[:, -1] <= RANK * s[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.einsum("rnk,rk->rn", Vt, tau) / s
    u = np.einsum("rmn,rn->rm", U[:, :, :n], np.where(lost[:, None], np.nan, parts))
    return Balance(u, U[:, :, n:], np.where(lost[:, None], Vt[:, -1], 0.0))


def aligned(N: FloatArray, N0: FloatArray) -> FloatArray:
    """The orthonormal basis of the same directions that is nearest to N0, so that it turns with q and does not jump."""
    if N.shape[2] == 0:
        return N
    U, _, Vt = np.linalg.svd(np.swapaxes(N, 1, 2) @ N0)
    found: FloatArray = N @ U @ Vt
    return found


def admissible(found: Balance, W: FloatArray) -> Admissible:
    """(1), with weights W of shape (m, m)."""
    N = found.N
    L = np.linalg.cholesky(np.swapaxes(N, 1, 2) @ W @ N)
    Y = np.swapaxes(np.linalg.solve(L, np.swapaxes(N, 1, 2)), 1, 2)
    part = np.einsum("rmk,rm->rk", Y, found.u @ W)
    return Admissible(found.u - np.einsum("rmk,rk->rm", Y, part), Y)


def held(given: Admissible, E: FloatArray, e: FloatArray) -> tuple[Admissible, FloatArray]:
    """The same with E u = e, shapes (R, p, m) and (R, p), p not above the number of directions; and how well E can be set:
    its least singular value on Y, against the size that its rows have.
    """
    p = E.shape[1]
    left = e - np.einsum("rpm,rm->rp", E, given.u)
    size = np.maximum(np.linalg.norm(E, axis=2), 1e-300)
    U, s, Vt = np.linalg.svd((E / size[:, :, None]) @ given.Y)
    reach = np.linalg.norm(given.Y, axis=(1, 2))
    y0 = np.einsum("rpk,rp->rk", Vt[:, :p], np.einsum("rqp,rq->rp", U, left / size) / np.maximum(s, 1e-300))
    rest = given.Y @ np.swapaxes(Vt[:, p:], 1, 2)
    return Admissible(given.at(y0), rest), s[:, -1] / reach


__all__ = ["Admissible", "Balance", "admissible", "aligned", "balance", "held"]
