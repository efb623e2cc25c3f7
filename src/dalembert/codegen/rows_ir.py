"""Rows to vectors and back: entries that are adjacent in W rows, one vector register per entry.

A row is read and written some entries at a time, with a transposition of registers in between: for four doubles in four rows
4 loads and 8 shuffles instead of 16 loads, each put into its place by a shuffle.
"""

from __future__ import annotations

from collections.abc import Iterator

from .ir import FunctionBuilder, Vectors
from .precision import Real

STORE_RUN = 4  # entries stored together; more would wait for each other in registers


def runs(size: int, longest: int) -> Iterator[range]:
    """The entries of a row cut into runs of the greatest length, then shorter powers of two."""
    first = 0
    while first < size:
        while longest > size - first:
            longest //= 2
        yield range(first, first + longest)
        first += longest


def load_run_length(lanes: int, real: Real) -> int:
    """Entries loaded together: 128 bits, which go to their half of a wider register without a shuffle of their own."""
    return min(lanes, 16 // real.bytes)


def store_run_length(lanes: int, real: Real, *, pairs: bool) -> int:
    """Entries stored together; `pairs` is for registers of 512 bits, whose entries then wait for one exchange instead of two."""
    wide = lanes * real.bytes == 64
    return min(lanes, 16 // real.bytes if wide and pairs else STORE_RUN)


def lane_offset(array: int, lane: int, lanes: int) -> int:
    """Where in a block's table of row pointers that of an array and a lane is [bytes]."""
    return (array * lanes + lane) * 8


def lane_pointer(to: FunctionBuilder, array: int, lane: int, lanes: int) -> str:
    """The pointer to an array's row in a lane, read from the table `%lanes`."""
    return to.load_at("ptr", "%lanes", lane_offset(array, lane, lanes))


def lane_pointers(to: FunctionBuilder, array: int, lanes: int) -> list[str]:
    """The pointers to an array's rows in all lanes."""
    return [lane_pointer(to, array, lane, lanes) for lane in range(lanes)]


def rows_of_block(to: FunctionBuilder, first: str, last: str, lanes: int) -> list[str]:
    """The number of each lane's row in the block that begins at row `first`; spare lanes repeat the last row."""
    rows = []
    for lane in range(lanes):
        row = to.let(f"add i64 {first}, {lane}")
        inside = to.let(f"icmp slt i64 {row}, {last}")
        rows.append(to.let(f"select i1 {inside}, i64 {row}, i64 {last}"))
    return rows


def row_pointer(to: FunctionBuilder, base: str, stride: str, row: str) -> str:
    """The pointer to a row of an array."""
    return to.at(base, to.let(f"mul i64 {row}, {stride}"))


class Rows:
    """Loads and stores of runs of entries."""

    def __init__(self, vectors: Vectors) -> None:
        self.let = vectors.to.let
        self.store_run = vectors.to.store
        self.lanes = vectors.lanes
        self.real = vectors.real
        self.D = vectors.kind

    def load(self, pointers: list[str], first: int, count: int, mark: str) -> list[str]:
        """`count` entries of W rows, each as a vector: a load per row, then a transposition."""
        kind = self.real.vector(count)
        pieces = [self.let(f"load {kind}, ptr {self._at(pointer, first)}, align {self.real.bytes}{mark}") for pointer in pointers]
        return self._transposed([self._joined(pieces[g::count], count) for g in range(count)])

    def store(self, values: list[str], pointers: list[str], first: int) -> None:
        """Vectors to adjacent entries of W rows: a transposition, then a store per row."""
        count = len(values)
        kind = self.real.vector(count)
        for g, vector in enumerate(self._transposed(values)):
            for q, pointer in enumerate(pointers[g::count]):
                piece = vector if count == self.lanes else self._shuffle(vector, "poison", range(q * count, (q + 1) * count))
                self.store_run(kind, piece, self._at(pointer, first), self.real.bytes)

    def _at(self, pointer: str, entry: int) -> str:
        return self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {entry * self.real.bytes}") if entry else pointer

    def _joined(self, pieces: list[str], size: int) -> str:
        """Short vectors, one after the other."""
        while len(pieces) > 1:
            kind, picks = self.real.vector(size), _picks(range(2 * size))
            pieces = [
                self.let(f"shufflevector {kind} {a}, {kind} {b}, {picks}") for a, b in zip(pieces[::2], pieces[1::2], strict=True)
            ]
            size *= 2
        return pieces[0]

    def _transposed(self, vectors: list[str]) -> list[str]:
        """As many vectors as a piece has entries, each piece being a square matrix: transposed by halves of halves."""
        step = 1
        while step < len(vectors):
            vectors = [self._exchanged(vectors[i & ~step], vectors[i | step], step, i & step) for i in range(len(vectors))]
            step *= 2
        return vectors

    def _exchanged(self, upper: str, lower: str, step: int, which: int) -> str:
        """The upper (`which` = 0) or lower of two rows whose off-diagonal blocks of `step` entries change places."""
        picks = [(k & ~step | which) + (self.lanes if k & step else 0) for k in range(self.lanes)]
        return self._shuffle(upper, lower, picks)

    def _shuffle(self, a: str, b: str, picks: range | list[int]) -> str:
        return self.let(f"shufflevector {self.D} {a}, {self.D} {b}, {_picks(picks)}")


def _picks(places: range | list[int]) -> str:
    return f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"
