"""How well inputs reach the states of a linear model, and, by duality, how well outputs tell them.

    W = ∫₀ᵀ e^(A t) B Bᵀ e^(Aᵀ t) dt,     xᵀ W⁻¹ x = the least ∫ uᵀ u dt that leads from rest to x in T          (1)
    σ_i = the least singular value of [A − λ_i 1, B]: zero where mode i is not reached, and else how far [A, B]
          is from one that has a mode λ_i which is not                                                          (2)

(1) is the Gramian of a finite time, so that growing and drifting modes have one as well; (2) is the test of Popov, Belevitch and
Hautus as a number [Kailath1980, §2.4.3].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..brief import brief
from ..checks import FloatArray, number
from ..errors import ModelError

_ROUNDING = 1e-12  # of the largest singular value: smaller ones are rounding


@dataclass(frozen=True, eq=False)
class Reach:
    """Controllability, or observability, within a time.

    `gramian` (..., m, m) is W of (1), in units of the states; `strengths` (..., m) its eigenvalues, largest first, and
    `directions` (..., m, m) the states that belong to them, in columns: the last is reached, or told, worst. `by_mode` (..., m)
    is (2) for each of `poles`, and `rank` (...) how many of them are not zero, to rounding. All but the rank depend on the units
    of the states: rad and rad/s, m and m/s count alike.
    """

    gramian: FloatArray
    strengths: FloatArray
    directions: FloatArray
    by_mode: FloatArray
    poles: Any
    rank: Any
    horizon: float
    states: tuple[str, ...]

    def __repr__(self) -> str:
        return brief(self, "states")

    @property
    def complete(self) -> Any:
        """Whether every mode is reached, or told."""
        return self.rank == self.gramian.shape[-1]


def reach_of(what: str, A: FloatArray, B: FloatArray, horizon: Any, states: tuple[str, ...]) -> Reach:
    """The measures of a pair (A, B)."""
    T = number("horizon", horizon)
    if T <= 0.0:
        raise ModelError(f"{what}: horizon {T:g} s found; a time larger than zero is expected.")
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        raise ModelError(f"{what}: entries of the model that are not finite found. Look at the point it was made at.")
    W = gramian(A, B, T)
    strengths, directions = np.linalg.eigh(W)
    poles = np.linalg.eigvals(A).astype(complex)
    by_mode = _by_mode(A, B, poles)
    scale = np.linalg.norm(A, axis=(-2, -1)) + np.linalg.norm(B, axis=(-2, -1))
    rank = np.count_nonzero(by_mode > _ROUNDING * scale[..., None] * A.shape[-1], axis=-1)
    return Reach(W, strengths[..., ::-1], directions[..., ::-1], by_mode, poles, rank, T, states)


def gramian(A: FloatArray, B: FloatArray, T: float) -> FloatArray:
    """W of (1), from the exponential of [[−A, B Bᵀ], [0, Aᵀ]] over a short time, doubled up to T [VanLoan1978, Theorem 1]."""
    from scipy.linalg import expm

    m = A.shape[-1]
    norm = float(np.linalg.norm(A, axis=(-2, -1)).max(initial=0.0)) * T
    halvings = max(0, int(np.ceil(np.log2(max(norm, 1.0)))))  # e^(−A t) would swamp e^(A t) over a long time
    whole = np.zeros((*np.broadcast_shapes(A.shape[:-2], B.shape[:-2]), 2 * m, 2 * m))
    whole[..., :m, :m], whole[..., :m, m:], whole[..., m:, m:] = -A, B @ B.swapaxes(-1, -2), A.swapaxes(-1, -2)
    found = expm(whole * (T / 2**halvings))
    F = found[..., m:, m:].swapaxes(-1, -2)
    W = F @ found[..., :m, m:]
    for _ in range(halvings):  # W(2t) = W(t) + e^(A t) W(t) e^(Aᵀ t)
        W = W + F @ W @ F.swapaxes(-1, -2)
        F = F @ F
    return 0.5 * (W + W.swapaxes(-1, -2))


def _by_mode(A: FloatArray, B: FloatArray, poles: Any) -> FloatArray:
    m = A.shape[-1]
    shifted = A[..., None, :, :] - poles[..., :, None, None] * np.eye(m)
    beside = np.broadcast_to(B[..., None, :, :], (*shifted.shape[:-1], B.shape[-1]))
    return np.linalg.svd(np.concatenate([shifted, beside], axis=-1), compute_uv=False)[..., -1]


__all__ = ["Reach", "gramian", "reach_of"]
