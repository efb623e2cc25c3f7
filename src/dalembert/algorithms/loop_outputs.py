"""What a loop program hands out: vectors, sums, matrices and tensors over the coordinates, made of columns over the segments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..expr import Expr
from ..expr.loops import IntArray
from ..model.tree import Tree
from .loop_body import LoopBody, LoopBuilder, RecordColumn
from .sweep import Entry, TensorTerm

ADJACENT = 4  # entries of a row that go to an output together


@dataclasses.dataclass(frozen=True, eq=False)
class Collected:
    """A column over the segments on its way to the coordinates."""

    column: RecordColumn

    def shape(self, n: int) -> tuple[int, ...]:
        """A vector over the coordinates."""
        return (n,)

    def write(self, sweep: LoopBuilder, number: int) -> None:
        """Send the sums over each coordinate's segments to an output: the first one sets, couplings add."""
        seen: set[int] = set()
        first = np.zeros(len(sweep.rows), bool)
        for i, s in enumerate(sweep.tree.segments):
            first[i] = s.coordinate not in seen
            seen.add(s.coordinate)
        for chosen in (first, ~first):
            if chosen.any():
                rows = sweep.rows[chosen]
                body = LoopBody(sweep, len(rows))
                value = body.read(self.column, rows) * body.segment(rows).multiplier
                body.write(value, "output", number, body.column(sweep.coordinates[chosen]), 1, 0, add=chosen is not first)
                body.finish()


@dataclasses.dataclass(frozen=True, eq=False)
class Total:
    """A sum over the segments."""

    column: RecordColumn

    def shape(self, n: int) -> tuple[int, ...]:
        """A scalar."""
        return ()

    def write(self, sweep: LoopBuilder, number: int) -> None:
        """Add up in an output."""
        for rows, add in ((sweep.rows[:1], False), (sweep.rows[1:], True)):
            if len(rows):
                body = LoopBody(sweep, len(rows))
                body.write(body.read(self.column, rows), "output", number, body.column(np.zeros(len(rows), int)), 1, 0, add=add)
                body.finish()


@dataclasses.dataclass(eq=False)
class MatrixOutput:
    """A symmetric matrix in the making: its diagonal as a column, the rest as the body of the climbing loop.

    Entries are gathered in a buffer, one triangle, and go from there to both halves of the output, row by row and some at a time.
    """

    n: int
    diagonal: RecordColumn
    climb: tuple[LoopBody, Any, IntArray, IntArray] | None = None

    def shape(self, n: int) -> tuple[int, ...]:
        """Coordinates by coordinates."""
        return (n, n)

    def write(self, sweep: LoopBuilder, number: int) -> None:
        """Send the entries to an output; where several segments share a coordinate, they add up."""
        rows, add, size = sweep.rows, not sweep.tree.is_plain, self._place(self.n, 0)
        buffer = sweep.zeroed(size, 1) if add or self._has_gaps(sweep.tree) else sweep.buffer(size)
        body = LoopBody(sweep, len(rows))
        s = body.segment(rows)
        value = body.read(self.diagonal, rows) * s.multiplier * s.multiplier
        self._put(sweep, body, value, buffer, rows - 1, rows - 1, add)
        body.finish()
        if self.climb is not None:
            body, value, i, j = self.climb
            same = 1.0 + (sweep.coordinates[i] == sweep.coordinates[j])  # then both halves meet on the diagonal
            value = value * body.constants(same[:, None])[0] if (same > 1).any() else value
            self._put(sweep, body, value, buffer, i, j, add)
            body.finish()
        self._spread(sweep, buffer, number)

    def _has_gaps(self, tree: Tree) -> bool:
        return sum(2 * len(tree.path(i)) - 1 for i in range(len(tree.segments))) < self.n**2

    @staticmethod
    def _place(i: Any, j: Any) -> Any:
        """Where an entry and its mirror image are in the triangle."""
        high, low = np.maximum(i, j), np.minimum(i, j)
        return high * (high + 1) // 2 + low

    def _put(self, sweep: LoopBuilder, body: LoopBody, value: Any, buffer: int, i: Any, j: Any, add: bool) -> None:
        place = self._place(sweep.coordinates[i], sweep.coordinates[j])
        body.write(value, "buffer", buffer, body.column(place), 1, 0, add=add)

    def _spread(self, sweep: LoopBuilder, buffer: int, number: int) -> None:
        """The triangle to all rows."""
        related = np.zeros((self.n, self.n), bool)
        for i in range(len(sweep.rows)):
            path = sweep.coordinates[sweep.tree.path(i)]
            related[path[0], path] = related[path, path[0]] = True
        _spread(sweep, number, related, lambda body, i, j: body.entry(buffer, self._place(i, j)))


def _spread(sweep: LoopBuilder, number: int, filled: Any, entry: Callable[..., Any]) -> None:
    """An output's rows, some adjacent entries in each turn, zeros where it is not filled; the last of a row may come twice."""
    *rows, n = filled.shape
    width = min(n, ADJACENT)
    starts = np.minimum(np.arange(0, n, width), n - width)
    indices = np.stack([grid.ravel() for grid in np.meshgrid(*map(np.arange, rows), starts, indexing="ij")])
    some = np.any([filled[(*indices[:-1], indices[-1] + k)] for k in range(width)], axis=0)
    for chosen, empty in ((some, False), (~some, True)):
        if chosen.any():
            *first, last = indices[:, chosen]
            body = LoopBody(sweep, len(last))
            target = body.column(np.ravel_multi_index((*first, last), filled.shape))
            for k in range(width):
                body.write(0.0 if empty else entry(body, *first, last + k), "output", number, target, 1, k)
            body.finish()


class TensorOutput:
    """A tensor in the making: what is not zero by structure, gathered in a buffer; its entry 0 is a zero."""

    def __init__(self, sweep: LoopBuilder, rank: int, terms: Sequence[TensorTerm], column: RecordColumn) -> None:
        self.places = self._numbered(sweep, rank, terms)
        cleared = 1 if sweep.tree.is_plain else self.places.max() + 1
        self.buffer = sweep.zeroed(int(self.places.max()) + 1, 1, cleared)
        for term in terms:
            for single in (True, False):
                entries = [entry for entry in term.entries if (entry.place == entry.mirror) == single]
                if entries:
                    self._gather(sweep, term, entries, column)

    def _numbered(self, sweep: LoopBuilder, rank: int, terms: Sequence[TensorTerm]) -> Any:
        """For each entry its place in the buffer, 0 for none."""
        filled = np.zeros((sweep.tree.n,) * rank, bool)
        for term in terms:
            for where in (entry.place for entry in term.entries), (entry.mirror for entry in term.entries):
                places = np.array(list(where), dtype=np.int64).reshape(-1, rank)
                filled[tuple(sweep.coordinates[places].T)] = True
        return np.where(filled, np.cumsum(filled).reshape(filled.shape), 0)

    def _gather(self, sweep: LoopBuilder, term: TensorTerm, entries: list[Entry], column: RecordColumn) -> None:
        """The entries of a term, all of them in one place or all in two."""
        records, rows, places, mirrors = (np.array(part) for part in zip(*entries, strict=True))
        body = LoopBody(sweep, len(entries))
        value = term.read(body.read(term.records, records + term.records.first), body.read(column, rows + 1))
        if not sweep.tree.is_plain:
            for axis in range(places.shape[1]):
                value = value * body.segment(places[:, axis] + 1).multiplier
        for where in (places,) if (places == mirrors).all() else (places, mirrors):
            found = self.places[tuple(sweep.coordinates[where].T)]
            body.write(value, "buffer", self.buffer, body.column(found), 1, 0, add=not sweep.tree.is_plain)
        body.finish()

    def shape(self, n: int) -> tuple[int, ...]:
        """Coordinates, as often as it has indices."""
        return self.places.shape

    def write(self, sweep: LoopBuilder, number: int) -> None:
        """Send the entries to an output."""
        _spread(sweep, number, self.places > 0, self.entry)

    def entry(self, body: LoopBody, *indices: Any) -> Expr:
        """An entry in every turn."""
        return body.entry(self.buffer, self.places[indices])


@dataclasses.dataclass(frozen=True, eq=False)
class Christoffel:
    """The Christoffel symbols of a mass matrix, times a factor, by its slopes."""

    slopes: TensorOutput
    factor: float

    def shape(self, n: int) -> tuple[int, ...]:
        """Coordinates, three times."""
        return (n, n, n)

    def write(self, sweep: LoopBuilder, number: int) -> None:
        """Send the sums to an output."""
        slope, filled = self.slopes.entry, self.slopes.places > 0
        filled = filled | filled.transpose(0, 2, 1) | filled.transpose(2, 0, 1)  # as i j k, i k j and j k i

        def entry(body: LoopBody, i: Any, j: Any, k: Any) -> Any:
            return (slope(body, i, j, k) + slope(body, i, k, j) - slope(body, j, k, i)) * self.factor

        _spread(sweep, number, filled, entry)


@dataclasses.dataclass(frozen=True, eq=False)
class Diagonal:
    """A tensor with a column on its diagonal."""

    tensor: TensorOutput | Christoffel
    column: RecordColumn

    def shape(self, n: int) -> tuple[int, ...]:
        """That of the tensor."""
        return self.tensor.shape(n)

    def write(self, sweep: LoopBuilder, number: int) -> None:
        """The tensor first, then the column's sums over the segments of each coordinate."""
        self.tensor.write(sweep, number)
        if self.column.sources == (0.0,):
            return
        shape = self.shape(sweep.tree.n)
        body = LoopBody(sweep, len(sweep.rows))
        value = body.read(self.column, sweep.rows)
        for _ in shape:
            value = value * body.segment(sweep.rows).multiplier
        own = np.ravel_multi_index((sweep.coordinates,) * len(shape), shape)
        body.write(value, "output", number, body.column(own), 1, 0, add=True)
        body.finish()
