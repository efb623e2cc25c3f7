"""Principal axes of a small symmetric matrix over scalars: a fixed number of Jacobi sweeps [GolubVanLoan2013, §8.5].

Every sweep turns each pair of directions once, so that their product vanishes; what is left shrinks with its own square, and
after the sweeps below next to nothing is left. No step depends on values, so a batch runs in lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..expr import ops
from .nested import Matrix

# By size. For two and three rows, one more than the most that 10⁶ random matrices needed. Where three or more of at least five
# values are equal, what is left of their products only halves with each sweep: values are then right to 1e-9 of the largest.
SWEEPS = {1: 0, 2: 1, 3: 5, 4: 6, 5: 8, 6: 8}


class PrincipalAxes(NamedTuple):
    """Values, largest first, and unit vectors as columns."""

    values: list[Any]
    axes: Matrix


def principal_axes(A: Matrix) -> PrincipalAxes:
    """Eigenvalues and eigenvectors of a symmetric matrix of up to six rows."""
    n = len(A)
    work = [list(row) for row in A]
    axes: Matrix = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(SWEEPS[n]):
        for p in range(n):
            for q in range(p + 1, n):
                _turn(work, axes, p, q)
    return _sorted([work[k][k] for k in range(n)], axes)


def _turn(A: Matrix, axes: Matrix, p: int, q: int) -> None:
    """Turn the directions p and q so that A[p][q] vanishes."""
    off = A[p][q]
    if ops.is_zero(off):
        return
    d, b = A[q][q] - A[p][p], off + off
    r = ops.sqrt(d * d + b * b)
    below = d + ops.where(ops.less(d, 0.0), -r, r)
    t = ops.where(ops.equal(below, 0.0), 0.0, ops.divide(b, below))  # tangent of the smaller of the two angles
    c = ops.divide(1.0, ops.sqrt(t * t + 1.0))
    s = t * c
    A[p][p], A[q][q] = A[p][p] - t * off, A[q][q] + t * off
    A[p][q] = A[q][p] = 0.0
    for k in range(len(A)):
        if k not in (p, q):
            A[k][p], A[k][q] = c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]
            A[p][k], A[q][k] = A[k][p], A[k][q]
    for row in axes:
        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]


def _sorted(values: list[Any], axes: Matrix) -> PrincipalAxes:
    """By exchanges of neighbours, as many as the worst order needs."""
    n = len(values)
    for last in range(n - 1, 0, -1):
        for k in range(last):
            smaller = ops.less(values[k], values[k + 1])
            for row in (values, *axes):
                row[k], row[k + 1] = ops.where(smaller, row[k + 1], row[k]), ops.where(smaller, row[k], row[k + 1])
    return PrincipalAxes(values, axes)


__all__ = ["PrincipalAxes", "principal_axes"]
