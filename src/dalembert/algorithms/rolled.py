"""A sweep that makes loops: each step is run once, on symbols, and becomes the body of a loop over the segments.

What differs from segment to segment is read from a table of constants; a number that is the same for all of them (a zero of
the internal frames, say) folds as if the loop were unrolled. Columns live in buffers with one row per segment, row 0 being
the base. Numbers that a record merely repeats from its own segment's constants are not stored again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from ..expr import Expr, Graph, Slot
from ..expr.graph import reachable
from ..expr.loops import Address, IntArray, LoopProgram, Stage, Write
from ..model.tree import Place, Segment, Spin, Tree
from ..spatial import Vec3
from .sweep import Entry, Term

ADJACENT = 4  # entries of a row that go to an output together
PEEL = 6  # operations per turn from which the first segment is worth code of its own
_DRIVES = ("spin", "friction")
_TABLED = ("turn", "slide", "offset", "R", "p", "inertia", "armature", "multiplier", "shift", "spin", "friction")


def leaves(value: Any) -> Iterator[Any]:
    """The scalars of a record of records, in order; None has none."""
    if isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    elif dataclasses.is_dataclass(value):
        for f in dataclasses.fields(value):
            yield from leaves(getattr(value, f.name))
    elif value is not None:
        yield value


def rebuilt(value: Any, scalars: Iterator[Any]) -> Any:
    """A record of the same build with other scalars."""
    if isinstance(value, tuple):
        items = [rebuilt(item, scalars) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{f.name: rebuilt(getattr(value, f.name), scalars) for f in dataclasses.fields(value)})
    return None if value is None else next(scalars)


@dataclasses.dataclass(frozen=True)
class Stored:
    """A scalar of a column: component `place` of its buffer's row."""

    place: int


@dataclasses.dataclass(frozen=True)
class Tabled:
    """A scalar of a column that is a constant of the row's own segment: a place in the table's row."""

    place: int


@dataclasses.dataclass(frozen=True, eq=False)
class Column:
    """One record per row: `template` has the records' build, `sources` says where each scalar is (Stored, Tabled or a number)."""

    template: Any
    sources: tuple[Any, ...]
    buffer: int
    width: int
    first: int = 1  # row of the first record; where records are those of segments, the base comes before


@dataclasses.dataclass(frozen=True, eq=False)
class Collected:
    """A column over the segments on its way to the coordinates."""

    column: Column

    def shape(self, n: int) -> tuple[int, ...]:
        """A vector over the coordinates."""
        return (n,)

    def write(self, sweep: RolledSweep, number: int) -> None:
        """Send the sums over each coordinate's segments to an output: the first one sets, couplings add."""
        seen: set[int] = set()
        first = np.zeros(len(sweep.rows), bool)
        for i, s in enumerate(sweep.tree.segments):
            first[i] = s.coordinate not in seen
            seen.add(s.coordinate)
        for chosen in (first, ~first):
            if chosen.any():
                rows = sweep.rows[chosen]
                body = _Body(sweep, len(rows))
                value = body.read(self.column, rows) * body.segment(rows).multiplier
                body.write(value, "output", number, body.column(sweep.coordinates[chosen]), 1, 0, add=chosen is not first)
                body.finish()


@dataclasses.dataclass(frozen=True, eq=False)
class Total:
    """A sum over the segments."""

    column: Column

    def shape(self, n: int) -> tuple[int, ...]:
        """A scalar."""
        return ()

    def write(self, sweep: RolledSweep, number: int) -> None:
        """Add up in an output."""
        for rows, add in ((sweep.rows[:1], False), (sweep.rows[1:], True)):
            if len(rows):
                body = _Body(sweep, len(rows))
                body.write(body.read(self.column, rows), "output", number, body.column(np.zeros(len(rows), int)), 1, 0, add=add)
                body.finish()


@dataclasses.dataclass(frozen=True)
class InputColumn:
    """Coordinates as they come in: input `number`, entry by segment, times a multiplier plus a shift."""

    number: int
    rate: bool


class RolledSweep:
    """Builds a loop program by the requests of an algorithm."""

    def __init__(self, tree: Tree, inputs: Mapping[str, tuple[int, ...]]) -> None:
        self.tree = tree
        self.slots = tuple(Slot(name, shape) for name, shape in inputs.items())
        self.buffers: list[int] = []
        self.bodies: list[_Body] = []
        self.start = _Body(self, 1)  # straight-line code before all loops: base motion and other single values
        self.rows = np.arange(len(tree.segments)) + 1
        self.parents = np.array([s.parent for s in tree.segments]) + 1
        self.coordinates = np.array([s.coordinate for s in tree.segments])
        self.table = _Table(tree)

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
        return Column(0.0, (float(value),), -1, 0)  # a constant, such as q̇ = 0

    def collect(self, column: Any) -> Collected:
        """Generalised forces of the segments to those of the coordinates; done when the output is written."""
        return Collected(column)

    def total(self, column: Any) -> Total:
        """The sum over all segments; done when the output is written."""
        return Total(column)

    def outward(self, step: Callable[..., Any], base: Any, *columns: Any) -> Column:
        """step(segment, parent's result, *values) from the base to the tips."""

        def run(body: _Body, parent: Any, rows: IntArray) -> Any:
            return step(body.segment(rows), parent, *(body.read(c, rows) for c in columns))

        def trial(rows: IntArray) -> tuple[_Body, Any]:
            body = _Body(self, len(rows))
            symbols = iter([body.graph.input(f"parent{k}") for k, _ in enumerate(leaves(base))])
            return body, run(body, rebuilt(base, symbols), rows)

        result = self._planned(*trial(self.rows), base)
        for rows in self._peeled(trial):
            body = _Body(self, len(rows))
            self._store(body, result, run(body, body.read(result, self.parents[rows - 1]), rows), rows)
            body.finish()
        for source, scalar in zip(result.sources, leaves(base), strict=True):
            if isinstance(source, Stored):
                self.start.write(scalar, "buffer", result.buffer, self.start.column(np.zeros(1, int)), result.width, source.place)
        return result

    def _peeled(self, trial: Callable[[IntArray], tuple[_Body, Any]]) -> list[IntArray]:
        """The rows in one loop, or the first on its own: how it stands on the base may cost every other turn its zeros."""
        if len(self.rows) < 3:
            return [self.rows]
        together, apart = (len(reachable(leaves(trial(rows)[1]))) for rows in (self.rows, self.rows[1:]))
        return [self.rows] if apart > together - PEEL else [self.rows[:1], self.rows[1:]]

    def inward(self, step: Callable[..., Any], *columns: Any) -> Column:
        """step(segment, sum over the children or None, *values) -> (result, what the parent receives), tips first."""

        def run(body: _Body, received: Any, rows: IntArray) -> Any:
            return step(body.segment(rows), received, *(body.read(c, rows) for c in columns))

        _, passed = run(_Body(self, len(self.rows)), None, self.rows)
        width = len(list(leaves(passed)))
        sums = Column(passed, tuple(Stored(k) for k in range(width)), self.zeroed(len(self.rows) + 1, width), width)

        def trial(rows: IntArray) -> tuple[_Body, Any]:
            body = _Body(self, len(rows))
            return body, run(body, body.read(sums, rows), rows)

        body, (own, _) = trial(self.rows)
        result = self._planned(body, own, None)
        for rows in reversed(self._peeled(trial)):
            order = rows[::-1]
            body = _Body(self, len(order))
            own, passed = run(body, body.read(sums, order), order)
            self._store(body, result, own, order)
            self._store(body, sums, passed, self.parents[order - 1], add=True)
            body.finish()
        return result

    def local(self, step: Callable[..., Any], *columns: Any) -> Column:
        """step(segment, *values) for each segment on its own; one loop for each build of segments (friction, rotor)."""
        result: Column | None = None
        kinds = self._kinds()
        for chosen in kinds:
            rows = self.rows[chosen]
            body = _Body(self, len(rows))
            value = step(body.segment(rows, drives=_DRIVES), *(body.read(c, rows) for c in columns))
            same = self._unchanged(body, value) if len(kinds) == 1 else None
            if same is not None:
                return same
            if result is None:
                result = self._planned(body, value, None, all_stored=len(kinds) > 1)
            self._store(body, result, value, rows)
            body.finish()
        assert result is not None
        return result

    def _unchanged(self, body: _Body, value: Any) -> Column | None:
        """The column that a step merely handed on, if it did: no loop is needed to copy it."""
        found = [body.reads.get(x.index) if isinstance(x, Expr) else None for x in leaves(value)]
        places = [read[1] for read in found if read is not None and isinstance(read[1], Address) and read[1].kind == "buffer"]
        if not places or len(places) < len(found):
            return None
        (buffer, width), *others = {(a.number, a.stride) for a in places}
        return None if others else Column(value, tuple(Stored(a.offset) for a in places), buffer, width)

    def _kinds(self) -> list[IntArray]:
        kinds: dict[Any, list[int]] = {}
        for i, s in enumerate(self.tree.segments):
            law = s.friction and (s.friction.dry, s.friction.smooth, s.friction.stribeck)
            kinds.setdefault((law, s.spin is None), []).append(i)
        return [np.array(members) for members in kinds.values()]

    def mounted(self, step: Callable[..., Any], base: Any, at_mount: Column, *columns: Any) -> tuple[Column, Column]:
        """step(segment, value at the rotor's mount, *values) -> (own result, load on the mount), for full rotors."""
        chosen = np.array([i for i, s in enumerate(self.tree.segments) if s.spin is not None])
        rows = self.rows[chosen]
        mounts = np.array([s.spin.mount + 1 for s in self.tree.segments if s.spin is not None])
        body = _Body(self, len(rows))
        values = [body.read(c, rows) for c in columns]
        own, load = step(body.segment(rows, drives=("spin",)), body.read(at_mount, mounts), *values)
        results = []
        for value, where, add in ((own, rows, False), (load, mounts, True)):
            width = len(list(leaves(value)))
            column = Column(value, tuple(Stored(k) for k in range(width)), self.zeroed(len(self.rows) + 1, width), width)
            self._store(body, column, value, where, add=add)
            results.append(column)
        body.finish()
        return results[0], results[1]

    def applied(self, step: Callable[..., Any], places: Sequence[Place], wrenches: Any, column: Column) -> Any:
        """step(place, wrench, value of the segment there) -> load, summed over the places of each segment."""
        result: Column | None = None
        for place, wrench in zip(places, wrenches, strict=True):
            if place.segment < 0:
                continue
            body = _Body(self, 1)
            row = np.array([place.segment + 1])
            arrays = [body.input(*self.start.origin[node.index]) for node in wrench]
            load = step(place, arrays, body.read(column, row))
            if result is None:
                width = len(list(leaves(load)))
                result = Column(load, tuple(Stored(k) for k in range(width)), self.zeroed(len(self.rows) + 1, width), width)
            self._store(body, result, load, row, add=True)
            body.finish()
        return self.local(lambda s: None) if result is None else result

    def climb(
        self, diagonal: Callable[..., Any], step: Callable[..., Any], read: Callable[..., Any], start: Column, X: Column
    ) -> Matrix:
        """The symmetric matrix of coordinates whose column i arises by carrying start[i] down to the base (composite.py)."""
        matrix = Matrix(self.tree.n, self.local(diagonal, start))
        width = len(start.sources)
        carried = Column(start.template, tuple(map(Stored, range(width))), self.buffer((len(self.rows) + 1) * width), width)
        body = _Body(self, len(self.rows))
        self._store(body, carried, body.read(start, self.rows), self.rows)
        body.finish()
        # All first steps, then all second ones: what one turn computes is not what the next one waits for.
        steps = sorted((k, i, c) for i in range(len(self.rows)) for k, c in enumerate(self.tree.path(i)[:-1]))
        pairs = [(i, c, self.tree.segments[c].parent) for _, i, c in steps]
        if pairs:
            matrix.climb = self._climb(step, read, carried, X, np.array(pairs))
        return matrix

    def _climb(self, step: Callable[..., Any], read: Callable[..., Any], carried: Column, X: Column, pairs: Any) -> Any:
        own, child, parent = (pairs[:, k] + 1 for k in range(3))
        body = _Body(self, len(pairs))
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

    def pairs(self, step: Callable[[Any, Any], Any], pairs: Sequence[tuple[int, int]], first: Column, second: Column) -> Column:
        """step(value of a segment, value of another) for each of these pairs, a row each."""
        body = _Body(self, len(pairs))
        value = step(
            *(body.read(c, np.array(rows) + 1) for c, rows in zip((first, second), zip(*pairs, strict=True), strict=True))
        )
        places = count()
        sources = tuple(Stored(next(places)) if isinstance(scalar, Expr) else scalar for scalar in leaves(value))
        width = next(places)
        result = Column(value, sources, self.buffer(len(pairs) * width), width, first=0)
        self._store(body, result, value, np.arange(len(pairs)))
        body.finish()
        return result

    def tensor(self, rank: int, terms: Sequence[Term], column: Column) -> Tensor:
        """A tensor over the coordinates, of so many indices, as the sum of terms."""
        return Tensor(self, rank, terms, column)

    def with_diagonal(self, tensor: Tensor | Christoffel, column: Column) -> Diagonal:
        """The tensor, with a column added where all indices are those of one segment."""
        return Diagonal(tensor, column)

    def christoffel(self, slopes: Tensor, factor: float) -> Christoffel:
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

    def buffer(self, size: int) -> int:
        """The number of a new buffer."""
        self.buffers.append(size)
        return len(self.buffers) - 1

    def zeroed(self, rows: int, width: int, cleared: int | None = None) -> int:
        """The number of a new buffer that is cleared first, or some of its rows."""
        number = self.buffer(rows * width)
        if width:
            cleared = rows if cleared is None else cleared
            body = _Body(self, cleared)
            column = body.column(np.arange(cleared))
            for k in range(width):
                body.write(0.0, "buffer", number, column, width, k)
            body.finish()
        return number

    def _planned(self, body: _Body, value: Any, base: Any, *, all_stored: bool = False) -> Column:
        """Where each scalar of a result will be; numbers and repeated constants need no place, if the base agrees."""
        sources: list[Any] = []
        width = 0
        given = list(leaves(base)) if base is not None else [None] * len(list(leaves(value)))
        for scalar, at_base in zip(leaves(value), given, strict=True):
            own = body.tabled.get(scalar.index) if isinstance(scalar, Expr) else None
            if not all_stored and not isinstance(scalar, Expr) and (base is None or at_base == scalar):
                sources.append(float(scalar))
            elif not all_stored and own is not None:
                sources.append(Tabled(own))  # row 0, the base, has no joint: nobody reads such a constant of it
            else:
                sources.append(Stored(width))
                width += 1
        return Column(value, tuple(sources), self.buffer((len(self.rows) + 1) * width), width)

    def _store(self, body: _Body, column: Column, value: Any, rows: IntArray, *, add: bool = False) -> None:
        place = body.column(rows)
        for source, scalar in zip(column.sources, leaves(value), strict=True):
            if isinstance(source, Stored):
                body.write(scalar, "buffer", column.buffer, place, column.width, source.place, add=add)


@dataclasses.dataclass(eq=False)
class Matrix:
    """A symmetric matrix in the making: its diagonal as a column, the rest as the body of the climbing loop.

    Entries are gathered in a buffer, one triangle, and go from there to both halves of the output, row by row and some at a time.
    """

    n: int
    diagonal: Column
    climb: tuple[_Body, Any, IntArray, IntArray] | None = None

    def shape(self, n: int) -> tuple[int, ...]:
        """Coordinates by coordinates."""
        return (n, n)

    def write(self, sweep: RolledSweep, number: int) -> None:
        """Send the entries to an output; where several segments share a coordinate, they add up."""
        rows, add, size = sweep.rows, not sweep.tree.is_plain, self._place(self.n, 0)
        buffer = sweep.zeroed(size, 1) if add or self._has_gaps(sweep.tree) else sweep.buffer(size)
        body = _Body(sweep, len(rows))
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

    def _put(self, sweep: RolledSweep, body: _Body, value: Any, buffer: int, i: Any, j: Any, add: bool) -> None:
        place = self._place(sweep.coordinates[i], sweep.coordinates[j])
        body.write(value, "buffer", buffer, body.column(place), 1, 0, add=add)

    def _spread(self, sweep: RolledSweep, buffer: int, number: int) -> None:
        """The triangle to all rows."""
        related = np.zeros((self.n, self.n), bool)
        for i in range(len(sweep.rows)):
            path = sweep.coordinates[sweep.tree.path(i)]
            related[path[0], path] = related[path, path[0]] = True
        _spread(sweep, number, related, lambda body, i, j: body.entry(buffer, self._place(i, j)))


def _spread(sweep: RolledSweep, number: int, filled: Any, entry: Callable[..., Any]) -> None:
    """An output's rows, some adjacent entries in each turn, zeros where it is not filled; the last of a row may come twice."""
    *rows, n = filled.shape
    width = min(n, ADJACENT)
    starts = np.minimum(np.arange(0, n, width), n - width)
    indices = np.stack([grid.ravel() for grid in np.meshgrid(*map(np.arange, rows), starts, indexing="ij")])
    some = np.any([filled[(*indices[:-1], indices[-1] + k)] for k in range(width)], axis=0)
    for chosen, empty in ((some, False), (~some, True)):
        if chosen.any():
            *first, last = indices[:, chosen]
            body = _Body(sweep, len(last))
            target = body.column(np.ravel_multi_index((*first, last), filled.shape))
            for k in range(width):
                body.write(0.0 if empty else entry(body, *first, last + k), "output", number, target, 1, k)
            body.finish()


class Tensor:
    """A tensor in the making: what is not zero by structure, gathered in a buffer; its entry 0 is a zero."""

    def __init__(self, sweep: RolledSweep, rank: int, terms: Sequence[Term], column: Column) -> None:
        self.places = self._numbered(sweep, rank, terms)
        cleared = 1 if sweep.tree.is_plain else self.places.max() + 1
        self.buffer = sweep.zeroed(int(self.places.max()) + 1, 1, cleared)
        for term in terms:
            for single in (True, False):
                entries = [entry for entry in term.entries if (entry.place == entry.mirror) == single]
                if entries:
                    self._gather(sweep, term, entries, column)

    def _numbered(self, sweep: RolledSweep, rank: int, terms: Sequence[Term]) -> Any:
        """For each entry its place in the buffer, 0 for none."""
        filled = np.zeros((sweep.tree.n,) * rank, bool)
        for term in terms:
            for where in (entry.place for entry in term.entries), (entry.mirror for entry in term.entries):
                places = np.array(list(where), dtype=np.int64).reshape(-1, rank)
                filled[tuple(sweep.coordinates[places].T)] = True
        return np.where(filled, np.cumsum(filled).reshape(filled.shape), 0)

    def _gather(self, sweep: RolledSweep, term: Term, entries: list[Entry], column: Column) -> None:
        """The entries of a term, all of them in one place or all in two."""
        records, rows, places, mirrors = (np.array(part) for part in zip(*entries, strict=True))
        body = _Body(sweep, len(entries))
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

    def write(self, sweep: RolledSweep, number: int) -> None:
        """Send the entries to an output."""
        _spread(sweep, number, self.places > 0, self.entry)

    def entry(self, body: _Body, *indices: Any) -> Expr:
        """An entry in every turn."""
        return body.entry(self.buffer, self.places[indices])


@dataclasses.dataclass(frozen=True, eq=False)
class Christoffel:
    """The Christoffel symbols of a mass matrix, times a factor, by its slopes."""

    slopes: Tensor
    factor: float

    def shape(self, n: int) -> tuple[int, ...]:
        """Coordinates thrice."""
        return (n, n, n)

    def write(self, sweep: RolledSweep, number: int) -> None:
        """Send the sums to an output."""
        slope, filled = self.slopes.entry, self.slopes.places > 0
        filled = filled | filled.transpose(0, 2, 1) | filled.transpose(2, 0, 1)  # as i j k, i k j and j k i

        def entry(body: _Body, i: Any, j: Any, k: Any) -> Any:
            return (slope(body, i, j, k) + slope(body, i, k, j) - slope(body, j, k, i)) * self.factor

        _spread(sweep, number, filled, entry)


@dataclasses.dataclass(frozen=True, eq=False)
class Diagonal:
    """A tensor with a column on its diagonal."""

    tensor: Tensor | Christoffel
    column: Column

    def shape(self, n: int) -> tuple[int, ...]:
        """That of the tensor."""
        return self.tensor.shape(n)

    def write(self, sweep: RolledSweep, number: int) -> None:
        """The tensor first, then the column's sums over the segments of each coordinate."""
        self.tensor.write(sweep, number)
        if self.column.sources == (0.0,):
            return
        shape = self.shape(sweep.tree.n)
        body = _Body(sweep, len(sweep.rows))
        value = body.read(self.column, sweep.rows)
        for _ in shape:
            value = value * body.segment(sweep.rows).multiplier
        own = np.ravel_multi_index((sweep.coordinates,) * len(shape), shape)
        body.write(value, "output", number, body.column(own), 1, 0, add=True)
        body.finish()


@dataclasses.dataclass(frozen=True)
class _TableEntry:
    """A constant whose address is known once the table is complete: of a segment (`extra` is None), or of a loop's own block."""

    column: int
    place: int
    extra: int | None = None


class _Table:
    """The numbers of the segments, one row each after a row of zeros for the base; then blocks of constants of single loops."""

    def __init__(self, tree: Tree) -> None:
        self.rows = len(tree.segments) + 1
        self.columns: list[Any] = []
        self.known: dict[str, int] = {}
        self.extra: list[Any] = []

    def column(self, name: str, values: Sequence[float]) -> int:
        """The number of a column with one value per segment."""
        if name not in self.known:
            self.known[name] = len(self.columns)
            self.columns.append(np.concatenate([[0.0], values]))
        return self.known[name]

    def address(self, entry: _TableEntry) -> Address:
        """Where an entry is in the flat table."""
        if entry.extra is None:
            return Address("table", 0, entry.column, len(self.columns), entry.place)
        before = self.rows * len(self.columns) + sum(block.size for block in self.extra[: entry.extra])
        return Address("table", 0, entry.column, self.extra[entry.extra].shape[1], before + entry.place)

    def flat(self) -> Any:
        """All of it."""
        return np.concatenate([np.column_stack(self.columns).ravel() if self.columns else [], *(b.ravel() for b in self.extra)])


class _Body:
    """One stage in the making."""

    def __init__(self, sweep: RolledSweep, turns: int) -> None:
        self.sweep = sweep
        self.turns = turns
        self.graph = Graph()
        self.columns: list[IntArray] = []
        self.reads: dict[int, tuple[Expr, Any]] = {}
        self.tabled: dict[int, int] = {}
        self.origin: dict[int, tuple[int, IntArray, int]] = {}
        self.writes: list[Write] = []

    def column(self, rows: Any) -> int:
        """The number of an index column."""
        rows = np.asarray(rows, dtype=np.int64)
        for k, known in enumerate(self.columns):
            if np.array_equal(known, rows):
                return k
        self.columns.append(rows)
        return len(self.columns) - 1

    def _symbol(self, address: Any) -> Expr:
        node = self.graph.input(repr(address))
        self.reads[node.index] = (node, address)
        return node

    def input(self, number: int, rows: IntArray, offset: int) -> Expr:
        """An entry of a kernel input."""
        node = self._symbol(Address("input", number, self.column(rows), 1, offset))
        self.origin[node.index] = (number, rows, offset)
        return node

    def table(self, place: int, rows: IntArray, *, own: bool = False) -> Any:
        """A constant of the segments at these rows, a number if they agree; `own` ones are those a stored record may repeat."""
        values = self.sweep.table.columns[place][rows]
        if not own and (values == values[0]).all():
            return float(values[0])
        node = self._symbol(_TableEntry(self.column(rows), place))
        if own:
            self.tabled[node.index] = place
        return node

    def segment(self, rows: IntArray, *, drives: tuple[str, ...] = ()) -> Segment:
        """The segment of the present turn: numbers where all agree, symbols where they differ.

        `drives` are those of friction and spin that are asked for: the segments need to be alike in them.
        """
        segments = [self.sweep.tree.segments[r - 1] for r in rows]
        every = self.sweep.tree.segments
        fields: dict[str, Any] = {}
        for name in _TABLED:
            if name in _DRIVES and name not in drives:
                fields[name] = None
                continue
            parts = [getattr(s, name) for s in segments]
            if parts[0] is None:
                fields[name] = None
                continue
            if name == "spin":
                parts = [dataclasses.replace(p, mount=0) for p in parts]
            values = np.array([list(leaves(p)) for p in parts], dtype=float)
            symbols: list[Any] = []
            for k in range(values.shape[1]):
                if (values[:, k] == values[0, k]).all():
                    symbols.append(float(values[0, k]))
                    continue
                full = [self._leaf(getattr(s, name), k) for s in every]
                place = self.sweep.table.column(f"{name}.{k}", full)
                symbols.append(self.table(place, rows, own=True))
            fields[name] = self._filled(parts[0], symbols, name)
        return dataclasses.replace(every[0], **fields)

    @staticmethod
    def _leaf(part: Any, k: int) -> float:
        if part is None:
            return 0.0
        if isinstance(part, Spin):
            part = dataclasses.replace(part, mount=0)
        return float(list(leaves(part))[k])

    @staticmethod
    def _filled(part: Any, symbols: list[Any], name: str) -> Any:
        filled = rebuilt(part, iter(symbols))
        if name == "friction":  # what a law contains is structure: plain flags again, the same for this whole loop
            return dataclasses.replace(filled, dry=part.dry, smooth=part.smooth, stribeck=part.stribeck)
        return filled

    def read(self, column: Any, rows: IntArray) -> Any:
        """The record of a column at these rows."""
        if isinstance(column, InputColumn):
            s = self.segment(rows)
            coordinates = np.array([self.sweep.tree.segments[r - 1].coordinate for r in rows])
            return self.input(column.number, coordinates, 0) * s.multiplier + (0.0 if column.rate else s.shift)
        place = self.column(rows)
        scalars = []
        for source in column.sources:
            if isinstance(source, Stored):
                scalars.append(self._symbol(Address("buffer", column.buffer, place, column.width, source.place)))
            elif isinstance(source, Tabled):
                scalars.append(self.table(source.place, rows))
            else:
                scalars.append(source)
        return rebuilt(column.template, iter(scalars))

    def entry(self, buffer: int, places: IntArray) -> Expr:
        """An entry of a buffer."""
        return self._symbol(Address("buffer", buffer, self.column(places), 1, 0))

    def constants(self, values: Any) -> list[Expr]:
        """Constants of this loop alone, one row per turn."""
        number = len(self.sweep.table.extra)
        self.sweep.table.extra.append(values)
        turns = self.column(np.arange(self.turns))
        return [self._symbol(_TableEntry(turns, k, number)) for k in range(values.shape[1])]

    def write(self, scalar: Any, kind: str, number: int, column: int, stride: int, offset: int, *, add: bool = False) -> None:
        """Put a scalar somewhere in every turn."""
        self.writes.append(Write(scalar, Address(kind, number, column, stride, offset), add))

    def stage(self) -> Stage:
        """The finished loop, with only what its results need."""
        nodes = reachable(w.scalar for w in self.writes)
        reads = tuple((n, self._address(self.reads[n.index][1])) for n in nodes if n.op == "input")
        return Stage(self.turns, tuple(self.columns), reads, tuple(n for n in nodes if n.op != "input"), tuple(self.writes))

    def _address(self, found: Any) -> Address:
        return self.sweep.table.address(found) if isinstance(found, _TableEntry) else found

    def finish(self) -> None:
        """Enter the loop in the program."""
        self.sweep.bodies.append(self)
