"""LᵀDL factorisation of a small symmetric matrix over scalars, from the last row up, which keeps the zeros of a tree.

For a mass matrix whose rows are numbered parents first, no fill-in arises [Featherstone2008, §6.4].
"""

from __future__ import annotations

from typing import Any

from ..expr import ops
from .nested import Matrix


def solve(M: Matrix, b: list[Any]) -> list[Any]:
    """x with M x = b, for a symmetric positive definite M given in full or by its lower triangle."""
    return solve_factored(factor(M), b)


def solve_factored(factors: tuple[Matrix, list[Any]], b: list[Any]) -> list[Any]:
    """x with Lᵀ D L x = b, for L and 1/D as `factor` gives them."""
    L, inverse_d = factors
    n = len(b)
    x = list(b)
    for i in reversed(range(n)):  # Lᵀ y = b
        for j in range(i):
            x[j] = x[j] - L[i][j] * x[i]
    x = [x[i] * inverse_d[i] for i in range(n)]
    for i in range(n):  # L x = D⁻¹ y
        for j in range(i):
            x[i] = x[i] - L[i][j] * x[j]
    return x


def factor(M: Matrix) -> tuple[Matrix, list[Any]]:
    """L (unit lower triangular) and 1/D with M = Lᵀ D L; infinite and NaN where M is singular."""
    n = len(M)
    A = [list(row[: i + 1]) for i, row in enumerate(M)]
    L: Matrix = [[0.0] * i for i in range(n)]
    inverse_d = [0.0] * n
    for k in reversed(range(n)):
        inverse_d[k] = ops.divide(1.0, A[k][k])
        for i in range(k):
            L[k][i] = A[k][i] * inverse_d[k]
        for i in range(k):
            for j in range(i + 1):
                A[i][j] = A[i][j] - L[k][i] * A[k][j]
    return L, inverse_d


def inverse(factors: tuple[Matrix, list[Any]]) -> Matrix:
    """M⁻¹ = X of M = Lᵀ D L, each pair of entries computed once, half the work of solving for unit vectors.

    D L X = L⁻ᵀ is upper triangular with ones on its diagonal, so on and below the diagonal

        X_ij = δ_ij / D_i − Σ_{k<i} L_ik X_kj,   row by row.
    """
    L, inverse_d = factors
    n = len(inverse_d)
    X: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            entry = inverse_d[i] if i == j else 0.0
            for k in range(i):
                entry = entry - L[i][k] * X[k][j]
            X[i][j] = X[j][i] = entry
    return X
