"""A sweep that makes loops: each step is run once, on symbols, and becomes the body of a loop over the segments.

Columns live in buffers with one row per segment, row 0 being the base. Numbers that a record merely repeats from its own
segment's constants are not stored again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from ..expr import Expr, Slot
from ..expr.graph import reachable
from ..expr.loops import Address, IntArray, LoopProgram
from ..model.tree import FramePlace, Tree
from ..spatial import Vec3
from .loop_body import DRIVES, InputColumn, LoopBody, LoopBuilder, RecordColumn, Stored, Tabled, leaves, rebuilt
from .loop_outputs import Christoffel, Collected, Diagonal, MatrixOutput, TensorOutput, Total
from .sweep import TensorTerm

PEEL = 6  # operations per turn from which the first segment is worth code of its own


class RolledSweep(LoopBuilder):
    """Builds a loop program while an algorithm runs on symbols."""

    def __init__(self, tree: Tree, inputs: Mapping[str, tuple[int, ...]]) -> None:
        super().__init__(tree)
        self.slots = tuple(Slot(name, shape) for name, shape in inputs.items())
        self.start = LoopBody(self, 1)  # straight-line code before all loops: base motion and other single values

    def arguments(self) -> list[Any]:
        """What the algorithm receives: a marker for each input over the coordinates, scalars for any other."""
        n = self.tree.n
        return [
            InputColumn(k, rate=False) if slot.shape == (n,) and slot.name in ("q", "qd", "qdd", "tau") else self._scalars(k)
            for k, slot in enumerate(self.slots)
        ]

    def _scalars(self, number: int) -> list[Expr]:
        return [self.start.input(number, np.zeros(1, int), k) for k in range(self.slots[number].size)]

    def expand(self, q: Any, *, rate: bool = False) -> Any:
        """Coordinates to segments, through couplings; a rate has no offset."""
        if isinstance(q, InputColumn):
            return dataclasses.replace(q, rate=rate)
        (value,) = set(q)
        return RecordColumn(0.0, (float(value),), -1, 0)  # a constant, such as q̇ = 0

    def collect(self, column: Any) -> Collected:
        """Generalised forces of the segments to those of the coordinates; done when the output is written."""
        return Collected(column)

    def total(self, column: Any) -> Total:
        """The sum over all segments; done when the output is written."""
        return Total(column)

    def outward(self, step: Callable[..., Any], base: Any, *columns: Any) -> RecordColumn:
        """step(segment, parent's result, *values) from the base to the tips."""

        def run(body: LoopBody, parent: Any, rows: IntArray) -> Any:
            return step(body.segment(rows), parent, *(body.read(c, rows) for c in columns))

        def trial(rows: IntArray) -> tuple[LoopBody, Any]:
            body = LoopBody(self, len(rows))
            symbols = iter([body.graph.input(f"parent{k}") for k, _ in enumerate(leaves(base))])
            return body, run(body, rebuilt(base, symbols), rows)

        result = self._planned(*trial(self.rows), base)
        for rows in self._peeled(trial):
            body = LoopBody(self, len(rows))
            self._store(body, result, run(body, body.read(result, self.parents[rows - 1]), rows), rows)
            body.finish()
        for source, scalar in zip(result.sources, leaves(base), strict=True):
            if isinstance(source, Stored):
                self.start.write(scalar, "buffer", result.buffer, self.start.column(np.zeros(1, int)), result.width, source.place)
        return result

    def _peeled(self, trial: Callable[[IntArray], tuple[LoopBody, Any]]) -> list[IntArray]:
        """The rows in one loop, or the first apart: its place on the base may have fewer zeros than all the others."""
        if len(self.rows) < 3:
            return [self.rows]
        together, apart = (len(reachable(leaves(trial(rows)[1]))) for rows in (self.rows, self.rows[1:]))
        return [self.rows] if apart > together - PEEL else [self.rows[:1], self.rows[1:]]

    def inward(self, step: Callable[..., Any], *columns: Any) -> RecordColumn:
        """step(segment, sum over the children or None, *values) -> (result, what the parent receives), tips first."""

        def run(body: LoopBody, received: Any, rows: IntArray) -> Any:
            return step(body.segment(rows), received, *(body.read(c, rows) for c in columns))

        _, passed = run(LoopBody(self, len(self.rows)), None, self.rows)
        width = len(list(leaves(passed)))
        sums = RecordColumn(passed, tuple(Stored(k) for k in range(width)), self.zeroed(len(self.rows) + 1, width), width)

        def trial(rows: IntArray) -> tuple[LoopBody, Any]:
            body = LoopBody(self, len(rows))
            return body, run(body, body.read(sums, rows), rows)

        body, (own, _) = trial(self.rows)
        result = self._planned(body, own, None)
        for rows in reversed(self._peeled(trial)):
            order = rows[::-1]
            body = LoopBody(self, len(order))
            own, passed = run(body, body.read(sums, order), order)
            self._store(body, result, own, order)
            self._store(body, sums, passed, self.parents[order - 1], add=True)
            body.finish()
        return result

    def local(self, step: Callable[..., Any], *columns: Any) -> RecordColumn:
        """step(segment, *values) for each segment on its own; one loop for each build of segments (friction, rotor)."""
        result: RecordColumn | None = None
        kinds = self._kinds()
        for chosen in kinds:
            rows = self.rows[chosen]
            body = LoopBody(self, len(rows))
            value = step(body.segment(rows, drives=DRIVES), *(body.read(c, rows) for c in columns))
            same = self._unchanged(body, value) if len(kinds) == 1 else None
            if same is not None:
                return same
            if result is None:
                result = self._planned(body, value, None, all_stored=len(kinds) > 1)
            self._store(body, result, value, rows)
            body.finish()
        assert result is not None
        return result

    def _unchanged(self, body: LoopBody, value: Any) -> RecordColumn | None:
        """The column that a step merely handed on, if it did: no loop is needed to copy it."""
        found = [body.reads.get(x.index) if isinstance(x, Expr) else None for x in leaves(value)]
        places = [read[1] for read in found if read is not None and isinstance(read[1], Address) and read[1].kind == "buffer"]
        if not places or len(places) < len(found):
            return None
        (buffer, width), *others = {(a.number, a.stride) for a in places}
        return None if others else RecordColumn(value, tuple(Stored(a.offset) for a in places), buffer, width)

    def _kinds(self) -> list[IntArray]:
        kinds: dict[Any, list[int]] = {}
        for i, s in enumerate(self.tree.segments):
            law = s.friction and (s.friction.dry, s.friction.smooth, s.friction.stribeck)
            kinds.setdefault((law, s.spin is None), []).append(i)
        return [np.array(members) for members in kinds.values()]

    def mounted(
        self, step: Callable[..., Any], base: Any, at_mount: RecordColumn, *columns: Any
    ) -> tuple[RecordColumn, RecordColumn]:
        """step(segment, value at the rotor's mount, *values) -> (own result, load on the mount), for full rotors."""
        chosen = np.array([i for i, s in enumerate(self.tree.segments) if s.spin is not None])
        rows = self.rows[chosen]
        mounts = np.array([s.spin.mount + 1 for s in self.tree.segments if s.spin is not None])
        body = LoopBody(self, len(rows))
        values = [body.read(c, rows) for c in columns]
        own, load = step(body.segment(rows, drives=("spin",)), body.read(at_mount, mounts), *values)
        results = []
        for value, where, add in ((own, rows, False), (load, mounts, True)):
            width = len(list(leaves(value)))
            column = RecordColumn(value, tuple(Stored(k) for k in range(width)), self.zeroed(len(self.rows) + 1, width), width)
            self._store(body, column, value, where, add=add)
            results.append(column)
        body.finish()
        return results[0], results[1]

    def applied(self, step: Callable[..., Any], places: Sequence[FramePlace], wrenches: Any, column: RecordColumn) -> Any:
        """step(place, wrench, value of the segment there) -> load, summed over the places of each segment."""
        result: RecordColumn | None = None
        for place, wrench in zip(places, wrenches, strict=True):
            if place.segment < 0:
                continue
            body = LoopBody(self, 1)
            row = np.array([place.segment + 1])
            arrays = [body.input(*self.start.origin[node.index]) for node in wrench]
            load = step(place, arrays, body.read(column, row))
            if result is None:
                width = len(list(leaves(load)))
                result = RecordColumn(load, tuple(Stored(k) for k in range(width)), self.zeroed(len(self.rows) + 1, width), width)
            self._store(body, result, load, row, add=True)
            body.finish()
        return self.local(lambda s: None) if result is None else result

    def climb(
        self,
        diagonal: Callable[..., Any],
        step: Callable[..., Any],
        read: Callable[..., Any],
        start: RecordColumn,
        X: RecordColumn,
    ) -> MatrixOutput:
        """The symmetric matrix of coordinates: column i is start[i], carried down to the base (composite_bodies.py)."""
        matrix = MatrixOutput(self.tree.n, self.local(diagonal, start))
        width = len(start.sources)
        carried = RecordColumn(start.template, tuple(map(Stored, range(width))), self.buffer((len(self.rows) + 1) * width), width)
        body = LoopBody(self, len(self.rows))
        self._store(body, carried, body.read(start, self.rows), self.rows)
        body.finish()
        # All first steps, then all second ones: no turn needs the result of the turn before.
        steps = sorted((k, i, c) for i in range(len(self.rows)) for k, c in enumerate(self.tree.path(i)[:-1]))
        pairs = [(i, c, self.tree.segments[c].parent) for _, i, c in steps]
        if pairs:
            matrix.climb = self._climb(step, read, carried, X, np.array(pairs))
        return matrix

    def _climb(
        self, step: Callable[..., Any], read: Callable[..., Any], carried: RecordColumn, X: RecordColumn, pairs: Any
    ) -> Any:
        own, child, parent = (pairs[:, k] + 1 for k in range(3))
        body = LoopBody(self, len(pairs))
        moment = None
        if self.tree.has_spin:
            moments = np.zeros((len(pairs), 3))
            for k, (i, _, a) in enumerate(pairs):
                spin = self.tree.segments[i].spin
                if spin is not None and spin.mount == a:
                    moments[k] = np.array(spin.axis) * spin.kI
            moment = Vec3(*body.constants(moments))
        value = step(body.read(X, child), body.read(carried, own), moment)
        self._store(body, carried, value, own)
        a, b = body.segment(own), body.segment(parent)
        entry = read(b, value) * a.multiplier * b.multiplier
        return body, entry, own - 1, parent - 1

    def pairs(
        self, step: Callable[[Any, Any], Any], pairs: Sequence[tuple[int, int]], first: RecordColumn, second: RecordColumn
    ) -> RecordColumn:
        """step(value of a segment, value of another) for each of these pairs, a row each."""
        body = LoopBody(self, len(pairs))
        value = step(
            *(body.read(c, np.array(rows) + 1) for c, rows in zip((first, second), zip(*pairs, strict=True), strict=True))
        )
        places = count()
        sources = tuple(Stored(next(places)) if isinstance(scalar, Expr) else scalar for scalar in leaves(value))
        width = next(places)
        result = RecordColumn(value, sources, self.buffer(len(pairs) * width), width, first=0)
        self._store(body, result, value, np.arange(len(pairs)))
        body.finish()
        return result

    def tensor(self, rank: int, terms: Sequence[TensorTerm], column: RecordColumn) -> TensorOutput:
        """A tensor over the coordinates, of so many indices, as the sum of terms."""
        return TensorOutput(self, rank, terms, column)

    def with_diagonal(self, tensor: TensorOutput | Christoffel, column: RecordColumn) -> Diagonal:
        """The tensor, with a column added where all indices are those of one segment."""
        return Diagonal(tensor, column)

    def christoffel(self, slopes: TensorOutput, factor: float) -> Christoffel:
        """∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i, times a factor."""
        return Christoffel(slopes, factor)

    def finish(self, name: str, outputs: Mapping[str, Any]) -> LoopProgram:
        """The loop program whose outputs are these columns, matrices or totals."""
        slots = []
        for number, (key, result) in enumerate(outputs.items()):
            result.write(self, number)
            slots.append(Slot(key, result.shape(self.tree.n)))
        bodies = [self.start, *self.bodies] if self.start.writes else self.bodies
        stages = tuple(body.stage() for body in bodies)
        return LoopProgram(name, self.slots, tuple(slots), tuple(self.buffers), self.table.flat(), stages)

    def _planned(self, body: LoopBody, value: Any, base: Any, *, all_stored: bool = False) -> RecordColumn:
        """Where each scalar of a result will be; numbers and repeated constants need no place, if the base agrees."""
        sources: list[Any] = []
        width = 0
        given = list(leaves(base)) if base is not None else [None] * len(list(leaves(value)))
        for scalar, at_base in zip(leaves(value), given, strict=True):
            own = body.tabled.get(scalar.index) if isinstance(scalar, Expr) else None
            if not all_stored and not isinstance(scalar, Expr) and (base is None or at_base == scalar):
                sources.append(float(scalar))
            elif not all_stored and own is not None:
                sources.append(Tabled(own))  # row 0 is the base, which has no joint: such a constant of it is never read
            else:
                sources.append(Stored(width))
                width += 1
        return RecordColumn(value, tuple(sources), self.buffer((len(self.rows) + 1) * width), width)

    def _store(self, body: LoopBody, column: RecordColumn, value: Any, rows: IntArray, *, add: bool = False) -> None:
        place = body.column(rows)
        for source, scalar in zip(column.sources, leaves(value), strict=True):
            if isinstance(source, Stored):
                body.write(scalar, "buffer", column.buffer, place, column.width, source.place, add=add)
