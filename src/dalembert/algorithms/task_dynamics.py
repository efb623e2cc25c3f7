"""Dynamics in the directions of a task, over scalars: mobility, inertia and what the task leaves free [Siciliano, §7.8].

With J the rows of the task, M the mass matrix and N what tasks of higher priority leave free (the identity for the first one),

    J_f = J N,   A = J_f M⁻¹ J_fᵀ,   Λ = A⁻¹,   J̄ = M⁻¹ J_fᵀ Λ,   N' = N − J̄ J_f                        (1)

[Khatib1987], and, for several tasks, [SentisKhatib2005]. A damped task has A + λ² S in place of A, with S the size of A where
the task is easy:

    S = Σ_j |J_j|² / M_jj,   the sum over all three directions of the same kind                             (2)

How near a task is to a singular one is told without eigenvalues. With A_s = S^(−½) A S^(−½), which has no units, Λ_s its inverse
and κ² = max(1, λ_max(A_s)) / λ_min(A_s), norms by the squares of all entries give

    κ² ≤ max(1, |A_s|) |Λ_s| ≤ m κ²                                                                         (3)

since the norm of m eigenvalues lies between the largest one and √m times it. The first is nearly an equality where one direction
is much harder than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..expr import ops
from ..spatial import ldl
from ..spatial.nested import Matrix, dot, transposed

_ROUNDING = 1e-24  # the square of a picometre per radian


class TaskInertia(NamedTuple):
    """What (1) gives for one task; `bound` is the middle of (3), without limit where its directions depend on each other."""

    mobility: Matrix  # A
    Lambda: Matrix
    J_bar: Matrix
    bound: Any


def task_inertia(factors: Any, J: Matrix, sizes: Sequence[Any], free: Matrix | None, damping: Any = None) -> TaskInertia:
    """(1) of one task, from the factors of M; `free` is N of the tasks before it, None for the first."""
    J_free = J if free is None else product(J, free)
    solved = [ldl.solve_factored(factors, list(row)) for row in J_free]  # rows of J_f M⁻¹
    A = symmetric(lambda i, j: dot(J_free[i], solved[j]), len(J))
    if damping is not None:
        A = [[a + damping * damping * sizes[i] if i == j else a for j, a in enumerate(row)] for i, row in enumerate(A)]
    found = ldl.factor(A)
    Lambda = ldl.inverse(found)
    return TaskInertia(A, Lambda, transposed(product(Lambda, solved)), condition_bound(A, Lambda, sizes))


def condition_bound(A: Matrix, Lambda: Matrix, sizes: Sequence[Any]) -> Any:
    """The middle of (3), a bound of the squared condition; infinite or NaN where the task is singular, or nothing moves it."""
    hard, easy = _scaled_square(Lambda, sizes), _scaled_square(A, [ops.divide(1.0, size) for size in sizes])
    return ops.sqrt(ops.maximum(easy, 1.0) * hard)


def _scaled_square(B: Matrix, scales: Sequence[Any]) -> Any:
    """Σ s_i B_ij² s_j of a symmetric matrix, from its lower triangle."""
    total: Any = 0.0
    for i, row in enumerate(B):
        beside = sum((row[j] * row[j] * scales[j] for j in range(i)), 0.0)
        total = total + scales[i] * (row[i] * row[i] * scales[i] + 2.0 * beside)
    return total


def remaining(task: TaskInertia, J: Matrix, free: Matrix | None) -> Matrix:
    """N': what a task leaves free of what it found free."""
    n = len(task.J_bar)
    taken = product(task.J_bar, J if free is None else product(J, free))
    before = [[float(i == j) for j in range(n)] for i in range(n)] if free is None else free
    return [[b - t for b, t in zip(*rows, strict=True)] for rows in zip(before, taken, strict=True)]


def kind_sizes(M: Matrix, J: Matrix, rows: Sequence[int]) -> list[Any]:
    """S of (2) for the linear and for the angular rows of a Jacobian of six, 0 where none of them is chosen."""
    linear, angular = any(row < 3 for row in rows), any(row > 2 for row in rows)
    return [_size(M, J[:3]) if linear else 0.0, _size(M, J[3:]) if angular else 0.0]


def _size(M: Matrix, J: Matrix) -> Any:
    """The sum of (2); exactly zero where no joint moves the frame but for rounding, as in a link that closures hold fast."""
    columns = [(j, c) for j, c in enumerate(transposed(J)) if not all(map(ops.is_zero, c))]
    return sum((ops.divide(ops.maximum(dot(c, c) - _ROUNDING, 0.0), M[j][j]) for j, c in columns), 0.0)


def symmetric(entry: Any, n: int) -> Matrix:
    """A symmetric matrix from a function of row and column, asked for the lower triangle alone."""
    lower = [[entry(i, j) for j in range(i + 1)] for i in range(n)]
    return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def times(A: Matrix, x: Sequence[Any]) -> list[Any]:
    """A x."""
    return [dot(row, x) for row in A]


__all__ = ["TaskInertia", "condition_bound", "kind_sizes", "product", "remaining", "symmetric", "task_inertia", "times"]
