"""One loop of a loop program in the making: a graph on symbols, the columns it reads, the table of constants.

What differs from segment to segment is read from a table of constants; a number that is the same for all of them (a zero of
the internal frames, say) folds as if the loop were unrolled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..expr import Expr, Graph
from ..expr.graph import reachable
from ..expr.loops import Address, IntArray, Stage, Write
from ..model.tree import Segment, Spin, Tree

DRIVES = ("spin", "friction")
_TABLED = ("turn", "slide", "offset", "R", "p", "inertia", "armature", "multiplier", "shift", "spin", "friction")


def leaves(value: Any) -> Iterator[Any]:
    """The scalars of a record of records, in order; None has none."""
    if isinstance(value, (float, Expr)):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from leaves(item)
    elif dataclasses.is_dataclass(value):
        for f in dataclasses.fields(value):
            yield from leaves(getattr(value, f.name))
    elif value is not None:
        yield value


def rebuilt(value: Any, scalars: Iterator[Any]) -> Any:
    """A record of the same build with other scalars."""
    if isinstance(value, (float, Expr)):
        return next(scalars)
    if isinstance(value, tuple):
        items = [rebuilt(item, scalars) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{f.name: rebuilt(getattr(value, f.name), scalars) for f in dataclasses.fields(value)})
    return None if value is None else next(scalars)


def _unmounted(part: Any) -> Any:
    """A part of a segment without the place of its rotor, which is structure."""
    return dataclasses.replace(part, mount=0) if isinstance(part, Spin) else part


@dataclasses.dataclass(frozen=True)
class Stored:
    """A scalar of a column: component `place` of its buffer's row."""

    place: int


@dataclasses.dataclass(frozen=True)
class Tabled:
    """A scalar of a column that is a constant of the row's own segment: a place in the table's row."""

    place: int


@dataclasses.dataclass(frozen=True, eq=False)
class RecordColumn:
    """One record per row: `template` has the records' build, `sources` says where each scalar is (Stored, Tabled or a number)."""

    template: Any
    sources: tuple[Any, ...]
    buffer: int
    width: int
    first: int = 1  # row of the first record; where records are those of segments, the base comes before


@dataclasses.dataclass(frozen=True)
class InputColumn:
    """Coordinates as they come in: input `number`, entry by segment, times a multiplier plus a shift."""

    number: int
    rate: bool


@dataclasses.dataclass(frozen=True)
class TableEntry:
    """A constant whose address is known once the table is complete: of a segment (`extra` is None), or of a loop's own block."""

    column: int
    place: int
    extra: int | None = None


class ConstantTable:
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

    def address(self, entry: TableEntry) -> Address:
        """Where an entry is in the flat table."""
        if entry.extra is None:
            return Address("table", 0, entry.column, len(self.columns), entry.place)
        before = self.rows * len(self.columns) + sum(block.size for block in self.extra[: entry.extra])
        return Address("table", 0, entry.column, self.extra[entry.extra].shape[1], before + entry.place)

    def flat(self) -> Any:
        """All of it."""
        return np.concatenate([np.column_stack(self.columns).ravel() if self.columns else [], *(b.ravel() for b in self.extra)])


class LoopBuilder:
    """A loop program in the making: its loops so far, their buffers, and the table of constants."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.buffers: list[int] = []
        self.bodies: list[LoopBody] = []
        self.rows = np.arange(len(tree.segments)) + 1
        self.parents = np.array([s.parent for s in tree.segments]) + 1
        self.coordinates = np.array([s.coordinate for s in tree.segments])
        self.table = ConstantTable(tree)
        self._numbers: dict[str, list[list[float] | None]] = {}

    def numbers(self, name: str) -> list[list[float] | None]:
        """The scalars of this part of each segment, read once for all loops; None for a segment that has no such part."""
        if name not in self._numbers:
            parts = (_unmounted(getattr(s, name)) for s in self.tree.segments)
            self._numbers[name] = [None if part is None else [float(x) for x in leaves(part)] for part in parts]
        return self._numbers[name]

    def buffer(self, size: int) -> int:
        """The number of a new buffer."""
        self.buffers.append(size)
        return len(self.buffers) - 1

    def zeroed(self, rows: int, width: int, cleared: int | None = None) -> int:
        """The number of a new buffer that is cleared first, or some of its rows."""
        number = self.buffer(rows * width)
        if width:
            cleared = rows if cleared is None else cleared
            body = LoopBody(self, cleared)
            column = body.column(np.arange(cleared))
            for k in range(width):
                body.write(0.0, "buffer", number, column, width, k)
            body.finish()
        return number


class LoopBody:
    """One stage in the making."""

    def __init__(self, sweep: LoopBuilder, turns: int) -> None:
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
        node = self._symbol(TableEntry(self.column(rows), place))
        if own:
            self.tabled[node.index] = place
        return node

    def segment(self, rows: IntArray, *, drives: tuple[str, ...] = ()) -> Segment:
        """The segment of the present turn: numbers where all agree, symbols where they differ.

        `drives` are those of friction and spin that are asked for: the segments need to be alike in them.
        """
        every = self.sweep.tree.segments
        first = every[rows[0] - 1]
        fields: dict[str, Any] = {}
        for name in _TABLED:
            part = _unmounted(getattr(first, name))
            if part is None or (name in DRIVES and name not in drives):
                fields[name] = None
                continue
            numbers = self.sweep.numbers(name)
            values = np.array([numbers[r - 1] for r in rows], dtype=float)
            symbols: list[Any] = []
            for k, same in enumerate((values == values[0]).all(axis=0)):
                if same:
                    symbols.append(float(values[0, k]))
                    continue
                full = [0.0 if row is None else row[k] for row in numbers]
                place = self.sweep.table.column(f"{name}.{k}", full)
                symbols.append(self.table(place, rows, own=True))
            fields[name] = self._filled(part, symbols, name)
        return dataclasses.replace(every[0], **fields)

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
        return [self._symbol(TableEntry(turns, k, number)) for k in range(values.shape[1])]

    def write(self, scalar: Any, kind: str, number: int, column: int, stride: int, offset: int, *, add: bool = False) -> None:
        """Put a scalar somewhere in every turn."""
        self.writes.append(Write(scalar, Address(kind, number, column, stride, offset), add))

    def stage(self) -> Stage:
        """The finished loop, with only what its results need."""
        nodes = reachable(w.scalar for w in self.writes)
        reads = tuple((n, self._address(self.reads[n.index][1])) for n in nodes if n.op == "input")
        return Stage(self.turns, tuple(self.columns), reads, tuple(n for n in nodes if n.op != "input"), tuple(self.writes))

    def _address(self, found: Any) -> Address:
        return self.sweep.table.address(found) if isinstance(found, TableEntry) else found

    def finish(self) -> None:
        """Enter the loop in the program."""
        self.sweep.bodies.append(self)
