"""LU factorisation of a sparse matrix over scalars: zeros by structure cost nothing, and pivots are exchanged at run time.

The order of elimination is chosen once, from the matrix at one place (`plan`): the pivot that disturbs the least, as Markowitz
counts it, among those that are large enough. Elsewhere its entries have other sizes. So, before a row is used, it is compared
with those further rows whose zeros are nearly in the same places, and exchanged with one that has a larger pivot [theory:
mechanisms]: an exchange among all rows would fill the matrix.

The factors are kept as operations on the right-hand side, in their order, and rows of U: then an exchange needs to touch only
what is left of two rows, and the transposed system is solved by the same operations backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..expr import ops

Row = dict[int, Any]
LARGE_ENOUGH = 0.1  # of the largest entry in its column: a pivot that is chosen for the zeros it keeps
NEARLY_ALIKE = 2  # entries by which two rows may differ that are exchanged at run time


class Pivot(NamedTuple):
    """A pivot by its row and column, and the rows it may be exchanged with."""

    row: int
    column: int
    partners: tuple[int, ...]


class Plan(NamedTuple):
    """The order of elimination, and the rows that depend on others where it was made."""

    steps: tuple[Pivot, ...]
    dependent: tuple[int, ...]


class Operation(NamedTuple):
    """b[target] −= factor · b[source], or, with a condition, an exchange of the two where it is not 0."""

    target: int
    source: int
    factor: Any
    condition: Any = None


def plan(A: Any, structure: Sequence[set[int]], *, first: Sequence[int] = (), tolerance: float = 1e-9) -> Plan:
    """The order for a matrix like A (rows by columns), whose entries outside of `structure` are zero everywhere.

    Rows in `first` have to be independent, and go before others where sizes allow; what is left of a row below `tolerance`
    of its size is taken for rounding, and the row for a dependent one.
    """
    work, active = np.array(A, dtype=float), set(range(len(structure)))
    scale = np.abs(work).max(axis=1)
    nothing = scale <= tolerance * scale.max(initial=0.0)  # a row of rounding is a row of zeros, and not one of small numbers
    work /= np.where(nothing, np.inf, scale)[:, None]
    patterns = [set(row) for row in structure]
    columns, steps = set(range(work.shape[1])), []
    while active:
        found = _best(work, patterns, active, columns, first, tolerance)
        if found is None:
            break
        row, column = found
        steps.append(Pivot(row, column, _partners(patterns, active, row, column)))
        _eliminate(work, patterns, active, steps[-1])
        active.discard(row)
        columns.discard(column)
    return Plan(tuple(_among_used(step, active) for step in steps), tuple(sorted(active)))


def _among_used(step: Pivot, dependent: set[int]) -> Pivot:
    """The step without partners that depend on other rows: they are not eliminated, so they cannot take a row's place."""
    return step._replace(partners=tuple(p for p in step.partners if p not in dependent))


def _partners(patterns: list[set[int]], active: set[int], row: int, column: int) -> tuple[int, ...]:
    """The rows nearly alike; a row of one entry, as that of a coordinate which is a joint, stays alone and fills nothing."""
    if len(patterns[row]) == 1:
        return ()
    alike = (p for p in sorted(active - {row}) if column in patterns[p] and len(patterns[p] ^ patterns[row]) <= NEARLY_ALIKE)
    return tuple(p for p in alike if len(patterns[p]) > 1)


def _best(
    work: Any, patterns: list[set[int]], active: set[int], columns: set[int], first: Sequence[int], tolerance: float
) -> tuple[int, int] | None:
    """The pivot of least Markowitz count among large ones, rows in `first` before others at the same count."""
    rows = sorted(active)
    counts = {c: sum(c in patterns[r] for r in rows) for c in columns}
    largest = {c: max((abs(work[r, c]) for r in rows if c in patterns[r]), default=0.0) for c in columns}
    best: tuple[Any, ...] | None = None
    for r in rows:
        for c in patterns[r] & columns:
            size = abs(work[r, c])
            if size <= tolerance or size < LARGE_ENOUGH * largest[c]:
                continue
            key = ((len(patterns[r]) - 1) * (counts[c] - 1), r not in first, -size, r, c)
            best = key if best is None or key < best else best
    return None if best is None else (best[-2], best[-1])


def _eliminate(work: Any, patterns: list[set[int]], active: set[int], step: Pivot) -> None:
    """One step of the elimination on numbers, and on the places of entries, exchanges counted in."""
    row, column, partners = step
    for p in partners:  # after an exchange, either row may have the other's entries
        patterns[p] = patterns[row] = patterns[p] | patterns[row]
    rest = patterns[row] - {column}
    for r in active - {row}:
        if column in patterns[r]:
            work[r] -= work[row] * (work[r, column] / work[row, column])
            work[r, column] = 0.0
            patterns[r] = (patterns[r] | rest) - {column}
    patterns[row] = rest


class Factors(NamedTuple):
    """A factorised matrix: operations on the right-hand side, then rows of U with the inverse of each pivot."""

    steps: tuple[Pivot, ...]
    operations: tuple[Operation, ...]
    upper: tuple[Row, ...]
    inverses: tuple[Any, ...]
    pivots: tuple[Any, ...]

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """x with A x = b; entries of b belong to rows, those of x to columns."""
        b = list(b)
        for target, source, factor, condition in self.operations:
            if condition is None:
                b[target] = b[target] - factor * b[source]
            else:
                b[target], b[source] = _exchanged(condition, b[target], b[source])
        x: dict[int, Any] = {}
        for step, row, inverse in zip(reversed(self.steps), reversed(self.upper), reversed(self.inverses), strict=True):
            total = b[step.row]
            for column, entry in row.items():
                total = total - entry * x[column]
            x[step.column] = total * inverse
        return [x[column] for column in sorted(x)]

    def solve_transposed(self, t: Sequence[Any], rows: int) -> list[Any]:
        """w with Aᵀ w = t; entries of t belong to columns, those of w to rows; dependent rows get zero."""
        t, w = list(t), [0.0] * rows
        for step, row, inverse in zip(self.steps, self.upper, self.inverses, strict=True):
            w[step.row] = t[step.column] * inverse
            for column, entry in row.items():
                t[column] = t[column] - entry * w[step.row]
        for target, source, factor, condition in reversed(self.operations):
            if condition is None:
                w[source] = w[source] - factor * w[target]
            else:
                w[target], w[source] = _exchanged(condition, w[target], w[source])
        return w


def factor(rows: Sequence[Row], order: Plan) -> Factors:
    """The factors of a matrix given by the entries of its rows that are not zero by structure."""
    left = [dict(row) for row in rows]
    active = {step.row for step in order.steps}
    operations: list[Operation] = []
    upper, inverses, pivots = [], [], []
    for row, column, partners in order.steps:
        active.discard(row)
        for p in partners:
            _exchange(left, row, p, column, operations)
        pivot = left[row].pop(column)
        inverse = ops.divide(1.0, pivot)
        for r in sorted(active):
            entry = left[r].pop(column, 0.0)
            if ops.is_zero(entry):
                continue
            multiplier = entry * inverse
            operations.append(Operation(r, row, multiplier))
            for c, value in left[row].items():
                left[r][c] = left[r].get(c, 0.0) - multiplier * value
        upper.append(left[row])
        inverses.append(inverse)
        pivots.append(pivot)
    return Factors(order.steps, tuple(operations), tuple(upper), tuple(inverses), tuple(pivots))


def _exchange(left: list[Row], row: int, partner: int, column: int, operations: list[Operation]) -> None:
    """Exchange what is left of two rows where the partner's pivot is larger."""
    mine, other = left[row].get(column, 0.0), left[partner].get(column, 0.0)
    if ops.is_zero(other):
        return
    condition = ops.less(ops.absolute(mine), ops.absolute(other))
    operations.append(Operation(row, partner, None, condition))
    for c in sorted({*left[row], *left[partner]}):
        a, b = left[row].get(c, 0.0), left[partner].get(c, 0.0)
        left[row][c], left[partner][c] = _exchanged(condition, a, b)


def _exchanged(condition: Any, a: Any, b: Any) -> tuple[Any, Any]:
    return ops.where(condition, b, a), ops.where(condition, a, b)


__all__ = ["Factors", "Operation", "Pivot", "Plan", "factor", "plan"]
