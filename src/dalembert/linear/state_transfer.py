"""Matrices of a linear model in other coordinates, along its motion [Freeman, Eq. 3-49 to 3-53]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..transfer.state_models import StateModel, rate_derivatives, transferred_state
from .signals import OperatingPoint


def transferred_matrices(
    A: FloatArray, B: FloatArray, C: FloatArray, influence: Any, point: OperatingPoint, names: Sequence[Sequence[str]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A, B and C for states (u, u̇, further ones) in place of (q, q̇, further ones)."""
    n, m = point.q.shape[-1], A.shape[-1]
    F, G = transferred_state(StateModel(A, B), influence, point.qd, point.qdd, new=names[0], old=names[1])
    slopes, turning = np.asarray(influence[0], dtype=float), rate_derivatives(influence, point.qd, point.qdd).dud_dq
    S = np.zeros((*np.broadcast_shapes(slopes.shape[:-2], turning.shape[:-2]), m, m))
    S[..., :n, :n] = S[..., n : 2 * n, n : 2 * n] = slopes  # [Freeman, Eq. 3-49]
    S[..., n : 2 * n, :n] = turning  # [Freeman, Eq. 3-50]
    S[..., 2 * n :, 2 * n :] = np.eye(m - 2 * n)
    C_new: Any = np.linalg.solve(S.swapaxes(-1, -2), C.swapaxes(-1, -2)).swapaxes(-1, -2)
    return F, G, C_new


__all__ = ["transferred_matrices"]
