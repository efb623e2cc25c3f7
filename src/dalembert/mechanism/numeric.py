"""The equations of a mechanism as numbers: values and Jacobian at some positions, the nearest closed positions, ranks.

Used where a mechanism is made and where something is wrong with it; what runs often is compiled (assembly_program.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.position_rows import Positions, evaluated
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..expr import Program, trace
from ..expr.interpret import run
from ..model.position_functions import PositionFunction
from ..model.tree import Tree

TURNS = 60
STUCK = 1e-9  # what is left open, beyond rounding, where equations cannot be met
CLOSED = 1e-12  # of the sizes that occur: what is left open at the end of an assembly
RESTING = 1e-6  # of a unit motion: a joint that moves less does not tell the positions
RANK = 1e-9  # of the largest singular value: below, a direction counts as lost


class NumericEquations:
    """Functions of the positions of a tree, and their Jacobian, at numbers."""

    def __init__(self, tree: Tree, functions: Sequence[PositionFunction]) -> None:
        self.size = len(functions)
        self.columns = tree.n
        self.tree, self.functions = tree, tuple(functions)
        self.structure: list[set[int]] = []

        def equations(x: Any) -> Any:
            at = Positions(Unrolled(tree), x)
            found = [evaluated(at, function) for function in functions]
            self.structure = [set(value.row) for value in found]
            rows = [[value.row.get(k, 0.0) for k in range(tree.n)] for value in found]
            return [value.value for value in found] or [0.0], rows or [[0.0] * tree.n]

        self._program = trace(equations, {"x": (tree.n,)}, ["F", "J"], name="equations")

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and Jacobian at positions of shape (..., N)."""
        F, J = run(self._program, x)
        return F[..., : self.size], J[..., : self.size, :]

    def bias(self, x: FloatArray, xd: FloatArray) -> FloatArray:
        """J̇ ẋ, the second rates of the functions while no joint accelerates: in each, ẋᵀ H ẋ with its second derivatives H."""
        return run(self._second, *np.broadcast_arrays(x, xd))[0][..., : self.size]

    @cached_property
    def _second(self) -> Program:
        def second(x: Any, xd: Any) -> Any:
            at = Positions(Unrolled(self.tree), x, xd)
            return [evaluated(at, function).bias for function in self.functions] or [0.0]

        return trace(second, {"x": (self.columns,), "xd": (self.columns,)}, ["bias"], name="bias")


class Nearest(NamedTuple):
    """Positions near a guess that meet equations as well as they can be met, and what is left of each equation."""

    x: FloatArray
    residual: FloatArray


def nearest(equations: NumericEquations, goal: FloatArray, guess: FloatArray) -> Nearest:
    """The nearest positions with these values: Gauss-Newton by smallest steps, shortened where that helps.

    Where no such step helps, since the equations cannot be met and their Jacobian loses rank, steps are damped.
    """
    x = np.array(guess, dtype=float)
    F, J = equations(x)
    left = F - goal
    for _ in range(TURNS):
        if not np.abs(left).max(initial=0.0) > 0.0:
            break
        size = np.linalg.norm(left)
        for step, share in itertools.chain(_shortened(J, left), _damped(J, left) if np.abs(left).max() > STUCK else ()):
            F, J = equations(x + step)
            if np.linalg.norm(F - goal) < size * (1.0 - share):
                break
        else:
            break
        x, left = x + step, F - goal
        if np.abs(step).max() < 1e-15:
            break
    return Nearest(x, left)


def _shortened(J: FloatArray, left: FloatArray) -> Iterator[tuple[FloatArray, float]]:
    """The smallest step of Gauss and Newton and halves of it, each with the share of what is left that it has to take away."""
    step = np.linalg.lstsq(J, -left, rcond=RANK)[0]
    share = min(1.0, 1.0 / max(np.abs(step).max(initial=0.0), 1e-300))  # a turn of a radian is far enough
    for half in 0.5 ** np.arange(10):
        yield share * half * step, 0.1 * share * half if np.abs(left).max() > STUCK else 0.0


def _damped(J: FloatArray, left: FloatArray) -> Iterator[tuple[FloatArray, float]]:
    """Steps after Levenberg and Marquardt, shorter and shorter, and nearer to the steepest descent."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    if not s[0] > 0.0:  # no joint moves anything
        return
    for damping in s[0] * 10.0 ** np.arange(-2.0, 4.0):
        yield -Vt.T @ (s / (s**2 + damping**2) * (U.T @ left)), 0.0


def telling_joints(motions: FloatArray, first: Sequence[int] = ()) -> list[int]:
    """Joints that tell the positions: by and by the one that moves most while those before rest.

    `motions` are rates of the joints, one row for each freedom; joints in `first` are taken for granted, and not listed.
    """
    left: FloatArray = np.array(motions, dtype=float).T
    for k in first:
        left = _while_resting(left, k)
    found: list[int] = []
    while left.shape[1]:
        found.append(int(np.argmax(np.linalg.norm(left, axis=1))))
        left = _while_resting(left, found[-1])
    return found


def _while_resting(motions: FloatArray, k: int) -> FloatArray:
    """The motions in which joint k rests: one less, unless it rests in all of them."""
    row = motions[k]
    if np.linalg.norm(row) < RESTING:
        return motions
    kept: FloatArray = motions @ np.linalg.svd(row[None, :])[2][1:].T
    return kept


class Rank(NamedTuple):
    """The rank of a Jacobian, its singular values, and the directions it loses: of columns and of rows, as rows of arrays."""

    rank: int
    singular_values: FloatArray
    lost_columns: FloatArray
    lost_rows: FloatArray


def rank_of(J: FloatArray) -> Rank:
    """By singular values; a value below a small share of the largest is zero."""
    if 0 in J.shape:
        return Rank(0, np.zeros(0), np.eye(J.shape[1]), np.eye(J.shape[0]))
    U, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > RANK * s[0])) if s[0] > 0 else 0
    return Rank(rank, s, Vt[rank:], U.T[rank:])


__all__ = ["CLOSED", "RANK", "Nearest", "NumericEquations", "Rank", "nearest", "rank_of", "telling_joints"]
