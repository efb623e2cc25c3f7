"""Recursion over a tree, in one place: outwards from the base, inwards from the tips, and segment by segment.

An algorithm is written as steps for one segment and handed to a sweep. `Unrolled` runs the steps one after another, on
numbers, batches or graph nodes; `RolledSweep` (loop_sweep.py) runs each step once, on symbols, and makes it the body of a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ..model.tree import FramePlace, Tree
from ..spatial import Matrix
from ..spatial.nested import add_at, zeros


class Entry(NamedTuple):
    """An entry of a tensor over segments: made of a record (of a pair, or a segment) and a segment, put in two places or one."""

    record: int
    segment: int
    place: tuple[int, ...]
    mirror: tuple[int, ...]


class TensorTerm(NamedTuple):
    """Entries made alike: read(record, value of the segment)."""

    read: Callable[[Any, Any], Any]
    records: Any
    entries: tuple[Entry, ...]


class Sweep(Protocol):
    """What an algorithm may ask of a sweep; a column is one value (of any kind of record) per segment."""

    tree: Tree

    def expand(self, q: Any, *, rate: bool = False) -> Any:
        """Coordinates to segments, through couplings; a rate has no offset."""

    def collect(self, column: Any) -> Any:
        """Generalised forces of the segments to those of the coordinates."""

    def total(self, column: Any) -> Any:
        """The sum over all segments."""

    def outward(self, step: Callable[..., Any], base: Any, *columns: Any) -> Any:
        """step(segment, parent's result, *values) from the base to the tips."""

    def inward(self, step: Callable[..., Any], *columns: Any) -> Any:
        """step(segment, sum over the children or None, *values) -> (result, what the parent receives), tips first."""

    def local(self, step: Callable[..., Any], *columns: Any) -> Any:
        """step(segment, *values) for each segment on its own."""

    def mounted(self, step: Callable[..., Any], base: Any, at_mount: Any, *columns: Any) -> tuple[Any, Any]:
        """step(segment, value at the rotor's mount, *values) -> (own result, load on the mount), for full rotors."""

    def applied(self, step: Callable[..., Any], places: Sequence[FramePlace], wrenches: Any, column: Any) -> Any:
        """step(place, wrench, value of the segment there) -> load, summed over the places of each segment."""

    def climb(self, diagonal: Callable[..., Any], step: Callable[..., Any], read: Callable[..., Any], start: Any, X: Any) -> Any:
        """The symmetric matrix of coordinates: column i is start[i], carried down to the base (composite_bodies.py)."""

    def pairs(self, step: Callable[[Any, Any], Any], pairs: Sequence[tuple[int, int]], first: Any, second: Any) -> Any:
        """step(value of a segment, value of another) for each of these pairs."""

    def tensor(self, rank: int, terms: Sequence[TensorTerm], column: Any) -> Any:
        """A tensor over the coordinates, of so many indices, as the sum of terms."""

    def with_diagonal(self, tensor: Any, column: Any) -> Any:
        """The tensor, with a column added where all indices are those of one segment."""

    def christoffel(self, slopes: Any, factor: float) -> Any:
        """∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i, times a factor."""


class Unrolled:
    """Steps run one after another."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def expand(self, q: Sequence[Any], *, rate: bool = False) -> list[Any]:
        """Coordinates to segments, through couplings; a rate has no offset."""
        return [q[s.coordinate] * s.multiplier + (0.0 if rate else s.shift) for s in self.tree.segments]

    def collect(self, column: Sequence[Any]) -> list[Any]:
        """Generalised forces of the segments to those of the coordinates: the transpose of `expand`."""
        total: list[Any] = [0.0] * self.tree.n
        for s, value in zip(self.tree.segments, column, strict=True):
            total[s.coordinate] = total[s.coordinate] + value * s.multiplier
        return total

    def total(self, column: Sequence[Any]) -> Any:
        """The sum over all segments."""
        return sum(column, 0.0)

    def outward(self, step: Callable[..., Any], base: Any, *columns: Sequence[Any]) -> list[Any]:
        """step(segment, parent's result, *values) from the base to the tips."""
        results: list[Any] = []
        for i, s in enumerate(self.tree.segments):
            parent = results[s.parent] if s.parent >= 0 else base
            results.append(step(s, parent, *(column[i] for column in columns)))
        return results

    def inward(self, step: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """step(segment, sum over the children or None, *values) -> (result, what the parent receives), tips first."""
        segments = self.tree.segments
        results: list[Any] = [None] * len(segments)
        received: list[Any] = [None] * len(segments)
        for i in reversed(range(len(segments))):
            results[i], passed = step(segments[i], received[i], *(column[i] for column in columns))
            parent = segments[i].parent
            if parent >= 0:
                received[parent] = passed if received[parent] is None else received[parent] + passed
        return results

    def local(self, step: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """step(segment, *values) for each segment on its own."""
        return [step(s, *(column[i] for column in columns)) for i, s in enumerate(self.tree.segments)]

    def mounted(
        self, step: Callable[..., Any], base: Any, at_mount: Sequence[Any], *columns: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """step(segment, value at the rotor's mount, *values) -> (own result, load on the mount), for full rotors."""
        own: list[Any] = [0.0] * len(self.tree.segments)
        loads: list[Any] = [None] * len(self.tree.segments)
        for i, s in enumerate(self.tree.segments):
            if s.spin is None:
                continue
            m = s.spin.mount
            own[i], load = step(s, at_mount[m] if m >= 0 else base, *(column[i] for column in columns))
            if m >= 0:
                loads[m] = load if loads[m] is None else loads[m] + load
        return own, loads

    def applied(
        self, step: Callable[..., Any], places: Sequence[FramePlace], wrenches: Sequence[Any], column: Sequence[Any]
    ) -> list[Any]:
        """step(place, wrench, value of the segment there) -> load, summed over the places of each segment."""
        loads: list[Any] = [None] * len(self.tree.segments)
        for place, wrench in zip(places, wrenches, strict=True):
            i = place.segment
            if i >= 0:  # a load on the base moves nothing
                load = step(place, wrench, column[i])
                loads[i] = load if loads[i] is None else loads[i] + load
        return loads

    def climb(
        self,
        diagonal: Callable[..., Any],
        step: Callable[..., Any],
        read: Callable[..., Any],
        start: Sequence[Any],
        X: Sequence[Any],
    ) -> Matrix:
        """The symmetric matrix of coordinates: column i is start[i], carried down to the base (composite_bodies.py)."""
        segments, n = self.tree.segments, self.tree.n
        M: Matrix = zeros(n, n)
        for i, s in enumerate(segments):
            value = start[i]
            self._enter(M, i, i, diagonal(s, value))
            c = i
            while segments[c].parent >= 0:
                a = segments[c].parent
                value = step(X[c], value, s.spin.axis * s.spin.kI if s.spin is not None and s.spin.mount == a else None)
                self._enter(M, i, a, read(segments[a], value))
                c = a
        return M

    def _enter(self, M: Matrix, i: int, j: int, value: Any) -> None:
        """Add an entry of the segments' matrix, and its mirror image, to the coordinates' matrix."""
        a, b = self.tree.segments[i], self.tree.segments[j]
        value = value * (a.multiplier * b.multiplier)
        add_at(M, (a.coordinate, b.coordinate), value)
        if i != j:
            add_at(M, (b.coordinate, a.coordinate), value)

    def pairs(
        self, step: Callable[[Any, Any], Any], pairs: Sequence[tuple[int, int]], first: Sequence[Any], second: Sequence[Any]
    ) -> list[Any]:
        """step(value of a segment, value of another) for each of these pairs."""
        return [step(first[i], second[j]) for i, j in pairs]

    def tensor(self, rank: int, terms: Sequence[TensorTerm], column: Sequence[Any]) -> Any:
        """A tensor over the coordinates, of so many indices, as the sum of terms."""
        total = zeros(*(self.tree.n,) * rank)
        for term in terms:
            for entry in term.entries:
                value = term.read(term.records[entry.record], column[entry.segment])
                for place in dict.fromkeys((entry.place, entry.mirror)):
                    self._accumulate(total, place, value)
        return total

    def with_diagonal(self, tensor: Any, column: Sequence[Any]) -> Any:
        """The tensor, with a column added where all indices are those of one segment."""
        rank = 3 if isinstance(tensor[0][0], list) else 2
        for i, value in enumerate(column):
            self._accumulate(tensor, (i,) * rank, value)
        return tensor

    def christoffel(self, slopes: Any, factor: float) -> Any:
        """∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i, times a factor."""
        n = range(self.tree.n)
        return [[[(slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * factor for k in n] for j in n] for i in n]

    def _accumulate(self, total: Any, place: Sequence[int], value: Any) -> None:
        """Add an entry over segments to that over coordinates."""
        segments = [self.tree.segments[k] for k in place]
        add_at(total, [s.coordinate for s in segments], value * math.prod(s.multiplier for s in segments))
