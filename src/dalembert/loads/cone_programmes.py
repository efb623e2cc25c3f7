"""Small convex programmes by Clarabel, one after the other with the same shape: its memory is set up once. They are

    minimise  ½ Σ p x² + cᵀ x    with    b − M x  in  {≥ 0}ᵏ × {|·, ·| ≤ ·}ʲ                                   (1)

with p ≥ 0 for each unknown.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..errors import MissingExtraError

TOLERANCE = 1e-10  # of gap and conditions; torques are then right to nine digits or so
SOLVED = ("Solved", "AlmostSolved")
INFEASIBLE = ("PrimalInfeasible", "AlmostPrimalInfeasible")


class Answer(NamedTuple):
    """What was found: the unknowns and the numbers of the linear conditions that bind (None where a cone binds), or that there
    is nothing.
    """

    feasible: bool
    x: FloatArray
    binding: Any


def clarabel() -> Any:
    """The solver, or the sentence that names its extra."""
    try:
        return importlib.import_module("clarabel")
    except ImportError:
        raise MissingExtraError.for_extra("distribute_load: limits and contacts that bind", "clarabel", "loads") from None


class ConeProgramme:
    """(1) for unknowns x of one size, k linear conditions and j cones, with p and c fixed."""

    def __init__(self, p: FloatArray, c: FloatArray, linear: int, cones: int) -> None:
        self.p, self.c, self.linear, self.cones = p, c, linear, cones
        self._solver: Any = None

    def __call__(self, M: FloatArray, b: FloatArray) -> Answer:
        """Solve for M of shape (k + 3j, x) and b; a cone's entries stand as in `Cones`, the bound last."""
        M, b = self._in_order(M), self._in_order(b)
        entries = np.ascontiguousarray(M.T).ravel()
        if self._solver is None:
            self._solver = self._made(M.shape, entries, b)
        else:
            self._solver.update(A=entries, b=b)
        found = self._solver.solve()
        status = str(found.status)
        if status not in SOLVED and status not in INFEASIBLE:  # numbers got stuck: once more from scratch
            self._solver = self._made(M.shape, entries, b)
            found = self._solver.solve()
            status = str(found.status)
        return Answer(status in SOLVED, np.array(found.x), self._binding(np.array(found.z), np.array(found.s)))

    def _binding(self, z: FloatArray, s: FloatArray) -> Any:
        """A condition binds where its multiplier is larger than what is left of it."""
        k = self.linear
        cones, left = z[k:].reshape(-1, 3), s[k:].reshape(-1, 3)
        if (cones[:, 0] > left[:, 0] - np.hypot(left[:, 1], left[:, 2])).any():
            return None
        return np.flatnonzero(z[:k] > s[:k])

    def _in_order(self, rows: FloatArray) -> FloatArray:
        """Clarabel has the bound of a cone first, we have it last."""
        k = self.linear
        if not self.cones:
            return rows
        cones = rows[k:].reshape(self.cones, 3, *rows.shape[1:])
        return np.concatenate([rows[:k], cones[:, [2, 0, 1]].reshape(rows[k:].shape)])

    def _made(self, shape: tuple[int, ...], entries: FloatArray, b: FloatArray) -> Any:
        solver, sparse = clarabel(), importlib.import_module("scipy.sparse")
        settings = solver.DefaultSettings()
        settings.verbose = False
        settings.presolve_enable = False  # which would change the shape
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e3 * TOLERANCE
        rows, columns = shape
        starts = np.arange(0, rows * columns + 1, rows)
        M = sparse.csc_matrix((entries, np.tile(np.arange(rows), columns), starts), shape=shape)
        P = sparse.csc_matrix(sparse.diags_array(self.p))
        kinds = [solver.NonnegativeConeT(self.linear)] if self.linear else []
        kinds += [solver.SecondOrderConeT(3)] * self.cones
        return solver.DefaultSolver(P, self.c, M, b, kinds, settings)


__all__ = ["Answer", "ConeProgramme", "clarabel"]
