"""Motions of first order at a position, and which of them can go on to second order.

With conditions c(y) = 0, J = ∂c/∂y and the second derivatives H, a motion y(t) with rates v and accelerations a has

    J v = 0                                                                                            (1)
    J a = − vᵀ H v                                                                                     (2)

(1) says that v lies in the null space V of J. (2) has a solution a where vᵀ H v has no part along the left null space U, in the
conditions that are lost: for v = V c, every form

    Q_l(c) = u_lᵀ (V c)ᵀ H (V c) = 0                                                                   (3)

Their common zeros c are the directions that go on. Where there are none but 0, the position is rigid, though motions of first
order exist: it is shaky. Where no condition is lost, all of V goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from .closure_equations import ClosureEquations
from .numeric import Rank, rank_of

FLAT = 1e-8  # of the size of second-order terms: below, a form counts as zero
STARTS = 24  # from which common zeros of the forms are sought
_TURNS = 60
_SAME = 1e-3  # directions that differ by less are one


class LocalMotions(NamedTuple):
    """What holds at a position: the rank of J, a basis V (N, f) of first-order motions, the forms Q (k, f, f) and their size."""

    x: FloatArray
    J: FloatArray
    found: Rank
    V: FloatArray
    forms: FloatArray
    size: float

    @property
    def is_flat(self) -> bool:
        """Whether every motion of first order goes on."""
        return not np.abs(self.forms).max(initial=0.0) > FLAT * self.size


def local_at(equations: ClosureEquations, x: FloatArray) -> LocalMotions:
    """The analysis at a closed position."""
    J = equations.jacobian(x)
    found = rank_of(J)
    V = found.lost_columns.T
    if not found.lost_rows.size or not V.size:
        return LocalMotions(x, J, found, V, np.zeros((len(found.lost_rows), V.shape[1], V.shape[1])), 1.0)
    second = _second_derivatives(equations, x, V)
    forms = np.einsum("km,mij->kij", found.lost_rows, second)
    return LocalMotions(x, J, found, V, forms, max(1.0, float(np.abs(second).max())))


def _second_derivatives(equations: ClosureEquations, x: FloatArray, V: FloatArray) -> FloatArray:
    """V_iᵀ H V_j of each condition, from the bias of sums of two directions."""
    i, j = np.triu_indices(V.shape[1])
    alone = equations.bias(x, V.T)
    mixed = (equations.bias(x, V.T[i] + V.T[j]) - alone[i] - alone[j]) / 2.0
    found = np.zeros((len(equations.kept), V.shape[1], V.shape[1]))
    found[:, i, j] = found[:, j, i] = mixed.T
    return found


def continued(local: LocalMotions) -> FloatArray:
    """Directions c, one per row and of length one, in which motions go on: samples of the common zeros of the forms [(3)].

    The zeros are sought by Gauss-Newton from fixed random starts; a direction and its opposite count once.
    """
    f = local.V.shape[1]
    starts = np.random.default_rng(0).standard_normal((STARTS, f))
    starts = starts / np.linalg.norm(starts, axis=1, keepdims=True) if f else starts[:0]
    if local.is_flat:
        return starts[: max(1, min(f, 2))]
    found: list[FloatArray] = []
    for start in starts:
        c = _zero(local.forms / local.size, start)
        if c is not None and not any(abs(abs(c @ other) - 1.0) < _SAME**2 for other in found):
            found.append(c)
    return np.array(found).reshape(-1, f)


def _zero(forms: FloatArray, c: FloatArray) -> FloatArray | None:
    """A common zero of the forms near c, on the sphere."""
    for _ in range(_TURNS):
        slopes = forms @ c
        values = slopes @ c
        if np.abs(values).max() < FLAT:
            return c
        step = np.linalg.lstsq(np.vstack([2.0 * slopes, c]), np.append(-values, 0.0), rcond=1e-12)[0]
        c = c + step * min(1.0, 0.5 / max(float(np.linalg.norm(step)), 1e-300))
        c = c / np.linalg.norm(c)
    return None


def span(local: LocalMotions) -> FloatArray:
    """A basis (N, d) of what the directions that go on span; at a position that is like its neighbours, the tangent space."""
    if local.is_flat:
        return local.V
    directions = continued(local)
    if not directions.size:
        return local.V[:, :0]
    _, s, Vt = np.linalg.svd(directions)
    found: FloatArray = local.V @ Vt[: int(np.sum(s > 0.01 * s[0]))].T
    return found


__all__ = ["LocalMotions", "continued", "local_at", "span"]
