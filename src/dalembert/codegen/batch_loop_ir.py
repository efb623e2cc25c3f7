"""The NumPy inner loop around a kernel's body, as LLVM IR text.

`@loop` walks the batch in blocks of W rows. In a last block of fewer rows the spare lanes repeat the last row: they compute and
store the same numbers again, so no second, scalar version is needed. Rows whose entries are not adjacent are copied to a buffer
first. Large results bypass the caches (stream_ir.py), and lines of smaller ones are asked for ahead (prefetch_ir.py). A body in
several parts takes some blocks at a time, a tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..expr import Slot
from . import float_mode_ir, prefetch_ir, stream_ir
from .ir import MARKS, FunctionBuilder, function
from .precision import DOUBLE, Real
from .rows_ir import lane_offset, row_pointer, rows_of_block

# Where the code of a loop lies relative to that of the body changes the time by up to a fifth on some processors, as both have to
# stay decoded. No rule is known; of the alignments tried, this was as good or better for all kernels (docs/develop/decisions.md).
_ALIGN = 1024


@dataclass(frozen=True)
class Layout:
    """The arrays of a kernel, inputs then outputs, the lane count, the family of the processor, the kind of number, how many
    blocks a tile has, the outputs with entries that `@constants` writes, and whether lines of results are asked for ahead,
    by the loop or spread over its body.
    """

    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    lanes: int
    x86: bool
    real: Real = DOUBLE
    tile: int = 1
    constants: tuple[int, ...] = ()
    ahead: bool = False
    spread: bool = False

    @property
    def lane_bytes(self) -> int:
        """The size of a block's table of lane pointers."""
        return 8 * self.lanes * len(self.arrays)

    @property
    def arrays(self) -> tuple[Slot, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs


def run_name(name: str, again: bool) -> str:
    """The function that runs a block or a tile, or the one for rows that have their constants already."""
    return f"{name}_again" if again else name


def emit_loop(layout: Layout, scratch: int) -> list[str]:
    """`@loop`: the NumPy inner loop around `@body`."""
    return _LoopCode(layout, scratch).emit()


class _LoopCode(FunctionBuilder):
    """The walk over the batch, for adjacent entries directly, for others through buffers."""

    def __init__(self, layout: Layout, scratch: int) -> None:
        super().__init__()
        self.layout = layout
        self.W = layout.lanes
        self.scratch_bytes = scratch * self.W * layout.real.bytes
        sizes = [max(slot.size, 1) * layout.real.bytes for slot in layout.arrays]
        self.row_bytes = sizes
        self.buffer_bytes = sum(sizes) * self.W
        self.span = self.W * layout.tile  # rows that go together
        self.outputs = range(len(layout.inputs), len(layout.arrays))
        self.streamed = stream_ir.streamed({k: sizes[k] for k in self.outputs}, self.span) if layout.x86 else []
        fixed = {len(layout.inputs) + i for i in layout.constants}
        tile_bytes = self.span * sum(sizes[k] for k in self.streamed)
        self.ahead = layout.ahead and 0 < tile_bytes <= prefetch_ir.MOST
        self.keeps_constants = bool(fixed) and fixed <= set(self.streamed)  # in the buffer of streamed rows

    def emit(self) -> list[str]:
        """The function, and those it calls."""
        x86 = self.layout.x86
        self._begin()
        self._direct()
        self._copied()
        self._end()
        return [
            *function(f"void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) align {_ALIGN}", self.lines),
            *_copy_function(self.layout.real),
            *float_mode_ir.declarations(x86),
            *(stream_ir.functions() if self.streamed else ()),
            *(prefetch_ir.fetch_function() if self.ahead else ()),
            *MARKS,
        ]

    def _begin(self) -> None:
        """Read the arguments, get memory, and go to `direct` or `copied`."""
        self.label("entry")
        self.load("i64", "%dims", name="N")
        for k in range(len(self.layout.arrays)):
            self.load_at("ptr", "%args", k * 8, name=f"base{k}")
            self.load_at("i64", "%steps", k * 8, name=f"step{k}")
        adjacent = self._adjacency()
        self.let(f"alloca [{self.layout.tile * self.layout.lane_bytes} x i8], align 64", "lanes")
        self.lines += float_mode_ir.room(self.layout.x86)
        self.go_if(self.let("icmp sle i64 %N, 0"), "exit", "start")
        self.label("start")
        self.lines += float_mode_ir.enter(self.layout.x86)
        self.scratch = self.let("bitcast ptr null to ptr") if not self.scratch_bytes else self._scratch()
        self.go_if(adjacent, "direct", "copied")

    def _scratch(self) -> str:
        memory = self.let(f"call ptr @malloc(i64 {self.scratch_bytes * self.layout.tile + 64})", "memory")
        self.go_unless_null(memory, "nowhere", "somewhere")
        return self.rounded_up(memory)

    def _end(self) -> None:
        """Blocks that give back memory, or say that there is none."""
        self.label("none")
        self.line("call void @fail(ptr %data)")
        self.go("finish")
        self.label("finish")
        if self.scratch_bytes:
            self.line("call void @free(ptr %memory)")
        self.go("leave")
        if self.scratch_bytes:
            self.label("nowhere")
            self.line("call void @fail(ptr %data)")
            self.go("leave")
        self.label("leave")
        self.lines += float_mode_ir.leave(self.layout.x86)
        self.go("exit")
        self.label("exit")
        self.line("ret void")

    def _adjacency(self) -> str:
        """Load the strides within rows, and tell whether all entries of a row are adjacent in memory."""
        flag, place = "true", len(self.layout.arrays)
        for k, slot in enumerate(self.layout.arrays):
            expected = self.layout.real.bytes
            wanted = []
            for extent in reversed(slot.shape):
                wanted.append(expected)
                expected *= extent
            for axis, stride in enumerate(reversed(wanted)):
                found = self.load_at("i64", "%steps", place * 8, name=f"core{k}.{axis}")
                place += 1
                if slot.shape[axis] > 1:  # the stride of a single entry is of no importance
                    flag = self.let(f"and i1 {flag}, {self.let(f'icmp eq i64 {found}, {stride}')}")
        return flag

    def _rows(self, first: str) -> list[str]:
        """The row of each lane in the block that starts at row `first`."""
        return rows_of_block(self, first, self.let("sub i64 %N, 1"), self.W)

    def _row_pointer(self, k: int, row: str) -> str:
        return row_pointer(self, f"%base{k}", f"%step{k}", row)

    def _lane(self, k: int, lane: int, block: int = 0) -> str:
        """Where the pointer to a lane's row is kept."""
        return self.at("%lanes", block * self.layout.lane_bytes + lane_offset(k, lane, self.W))

    def _aim(self, first: str, block: int = 0) -> None:
        """Point every lane of a block at its row."""
        rows = self._rows(first)
        for k in range(len(self.layout.arrays)):
            for lane, row in enumerate(rows):
                self.store("ptr", self._row_pointer(k, row), self._lane(k, lane, block))

    def _run(self, again: bool = False) -> None:
        self.line(f"call void @{run_name('body', again)}(ptr %lanes, ptr {self.scratch})")

    def _run_tile(self, again: bool = False) -> None:
        if self.layout.tile == 1:
            self._run(again)
        else:
            self.line(f"call void @{run_name('tile', again)}(ptr %lanes, ptr {self.scratch}, i64 {self.layout.tile})")

    def _direct(self) -> None:
        """Whole tiles, each lane moving on by their rows; then the blocks that are left."""
        self.label("direct")
        self.let(f"sub i64 %N, {self.span - 1}", "whole")
        for block in range(self.layout.tile):
            self._aim(str(block * self.W), block)
        for k in range(len(self.layout.arrays)):
            self.let(f"mul i64 %step{k}, {self.span}", f"stride{k}")
        self.go_if(self.let("icmp sgt i64 %whole, 0"), "choose" if self.streamed else "block", "rest")
        if self.streamed:
            self._choose()
            self._stream()
        with self.loop("i", "%whole", "block", "rest", step=self.span, before="choose" if self.streamed else "direct"):
            self._fetch_ahead()
            self._run_tile()
            self._advance(range(len(self.layout.arrays)))
        done = {"direct": "0", "block": "%i.next", "partial": "%e.next"} | ({"s.out": "%s.done"} if self.streamed else {})
        self.phi("i64", done, "done")
        self.go_if(self.let("icmp slt i64 %done, %N"), "partial", "finish")
        self.label("partial")
        self._aim("%done")
        self._run()
        self.let(f"add i64 %done, {self.W}", "e.next")
        self.go("rest")

    def _advance(self, arrays: Sequence[int]) -> None:
        """Move every lane on by the rows of a tile."""
        for block in range(self.layout.tile):
            for k in arrays:
                for lane in range(self.W):
                    place = self._lane(k, lane, block)
                    self.store("ptr", self.at(self.load("ptr", place), f"%stride{k}"), place)

    def _choose(self) -> None:
        """Stream if the results are large and their rows have no gaps; if they are not that large, ask for lines ahead."""
        self.label("choose")
        alone = self.let("icmp eq ptr %data, null")  # else these rows are a piece of a batch, and here is its number of rows
        rows = self.load("i64", self.let(f"select i1 {alone}, ptr %dims, ptr %data"))
        packed = "true"
        for k in self.streamed:
            packed = self.let(f"and i1 {packed}, {self.let(f'icmp eq i64 %step{k}, {self.row_bytes[k]}')}")
        if self.ahead:
            self.let(f"and i1 {packed}, {self._at_least(rows, prefetch_ir.FROM)}", "ahead")
        large = self._at_least(rows, self._limit)
        self.go_if(self.let(f"and i1 {packed}, {large}"), "s.start", "block")

    @property
    def _limit(self) -> int:
        """Bytes of results from which they bypass the caches: sooner than to lines that nobody asked for."""
        if self.layout.spread:
            return prefetch_ir.SPREAD * stream_ir.FROM
        return stream_ir.FROM if self.ahead else min(stream_ir.FROM, stream_ir.LEAST)

    def _at_least(self, rows: str, size: int) -> str:
        """Whether the results of so many rows take at least so many bytes."""
        return self.let(f"icmp sge i64 {rows}, {-(-size // sum(self.row_bytes[k] for k in self.streamed))}")

    def _fetch_ahead(self) -> None:
        """Ask for the lines to which the next tile is going to be written."""
        for k in self.streamed if self.ahead else ():
            size = self.row_bytes[k] * self.span
            following = self.at(self.load("ptr", self._lane(k, 0)), size)
            wanted = self.let(f"select i1 %ahead, i64 {size}, i64 0")
            self.line(f"call void @fetch(ptr {following}, i64 {wanted})")

    def _stream(self) -> None:
        """Results of a tile's rows to a buffer, and from there to memory in whole lines.

        The first tile is written directly to its rows, so that every line begun in the buffer is ours from its first byte.
        """
        others = [k for k in range(len(self.layout.arrays)) if k not in self.streamed]
        self.label("s.start")
        self._run_tile()
        places, size = stream_ir.places({k: self.row_bytes[k] for k in self.streamed}, self.span)
        memory = self.let(f"call ptr @malloc(i64 {size + stream_ir.PAGE})")
        self.go_unless_null(memory, "none", "s.aim")
        self._aim_at_buffer(self.rounded_up(memory, stream_ir.PAGE), places)
        self._advance(others)
        self.go_if(self.let(f"icmp sgt i64 %whole, {self.span}"), "s.block", "s.out")
        with self.loop("s", "%whole", "s.block", "s.out", first=self.span, step=self.span) as row:
            self._run_tile(again=self.keeps_constants)
            for k in self.streamed:
                line, start, begun = self._line_of(k, row)
                whole = self.let(f"add i64 {begun}, {self.row_bytes[k] * self.span}")
                self.line(f"call void @stream(ptr {line}, ptr {start}, i64 {whole})")
                self.line(f"call void @line(ptr %head{k}, ptr %end{k})")
            self._advance(others)
        self._stream_out(memory)

    def _aim_at_buffer(self, buffer: str, places: dict[int, int]) -> None:
        """Point lanes of streamed results at rows of the buffer; copy the last bytes of the finished tile before these."""
        for k in self.streamed:
            tile = self.row_bytes[k] * self.span
            rows = self.at(buffer, places[k], f"buffer{k}")
            head = self.at(rows, -stream_ir.LINE, f"head{k}")
            self.at(head, tile, f"end{k}")
            last = self.at(f"%base{k}", tile - stream_ir.LINE)
            self.line(f"call void @line(ptr {head}, ptr {last})")
            for row in range(self.span):
                block, lane = divmod(row, self.W)
                self.store("ptr", self.at(rows, row * self.row_bytes[k]), self._lane(k, lane, block))
        if self.keeps_constants:
            for block in range(self.layout.tile):
                self.line(f"call void @constants(ptr {self.at('%lanes', block * self.layout.lane_bytes)}, ptr {self.scratch})")

    def _line_of(self, k: int, row: str) -> tuple[str, str, str]:
        """The line in which a row begins, where in the buffer its first bytes are, and how many of them are before that row."""
        place = self.at(f"%base{k}", self.let(f"mul i64 {row}, {self.row_bytes[k]}"))
        begun = self.let(f"and i64 {self.let(f'ptrtoint ptr {place} to i64')}, {stream_ir.LINE - 1}")
        back = self.let(f"sub i64 0, {begun}")
        return self.at(place, back), self.at(f"%buffer{k}", back), begun

    def _stream_out(self, memory: str) -> None:
        """Lines that are not full; after the fence, results are visible to every reader."""
        done = self.phi("i64", {"s.aim": str(self.span), "s.block": "%s.next"}, "s.done")
        size = self.layout.real.bytes
        for k in self.streamed:
            line, start, begun = self._line_of(k, done)
            count = self.let(f"udiv i64 {begun}, {size}")
            numbers = f"i64 1, i64 1, i64 {count}, i64 0, i64 0, i64 {size}"
            self.line(f"call void @gather(ptr {line}, ptr {start}, {numbers})")
        self.line("call void @llvm.x86.sse.sfence()")
        self.line(f"call void @free(ptr {memory})")
        self.go("rest")

    def _copied(self) -> None:
        """Every block through a buffer in which the entries of a row are adjacent."""
        self.label("copied")
        buffer = self.let(f"call ptr @malloc(i64 {self.buffer_bytes})")
        self.go_unless_null(buffer, "none", "c.start")
        cells = self._cells(buffer)
        self.go("c.head")
        with self.loop("c", "%N", "c.head", "c.out", step=self.W) as first:
            lanes = self._rows(first)
            rows = {(k, lane): self._row_pointer(k, lanes[lane]) for k, lane in cells}
            for (k, lane), cell in cells.items():
                if k < len(self.layout.inputs):
                    self._copy("gather", k, cell, rows[k, lane])
            self._run()
            for (k, lane), cell in cells.items():
                if k >= len(self.layout.inputs):
                    self._copy("scatter", k, cell, rows[k, lane])
        self.line(f"call void @free(ptr {buffer})")
        self.go("finish")

    def _cells(self, buffer: str) -> dict[tuple[int, int], str]:
        """The buffer's row for each array and lane, entered in the lane table."""
        cells, place = {}, 0
        for k in range(len(self.layout.arrays)):
            for lane in range(self.W):
                cells[k, lane] = self.at(buffer, place)
                self.store("ptr", cells[k, lane], self._lane(k, lane))
                place += self.row_bytes[k]
        return cells

    def _copy(self, how: str, k: int, cell: str, row: str) -> None:
        shape = self.layout.arrays[k].shape
        extents = [1] * (3 - len(shape)) + list(shape)
        strides = ["0"] * (3 - len(shape)) + [f"%core{k}.{axis}" for axis in range(len(shape))]
        numbers = ", ".join(f"i64 {value}" for value in (*extents, *strides))
        self.line(f"call void @{how}(ptr {cell}, ptr {row}, {numbers})")


def _copy_function(real: Real) -> list[str]:
    """Copy a strided block of up to three axes to (gather) or from (scatter) adjacent memory."""
    return [line for gather in (True, False) for line in _copier("gather" if gather else "scatter", gather, real)]


def _copier(name: str, gather: bool, real: Real) -> list[str]:
    source, target = ("%at", "%cell") if gather else ("%cell", "%at")
    return f"""
define internal void @{name}(ptr %packed, ptr %row, i64 %n0, i64 %n1, i64 %n2, i64 %s0, i64 %s1, i64 %s2) noinline {{
entry:
  %n01 = mul i64 %n0, %n1
  %n = mul i64 %n01, %n2
  %none = icmp sle i64 %n, 0
  br i1 %none, label %exit, label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %i2 = urem i64 %k, %n2
  %r = udiv i64 %k, %n2
  %i1 = urem i64 %r, %n1
  %i0 = udiv i64 %r, %n1
  %d0 = mul i64 %i0, %s0
  %d1 = mul i64 %i1, %s1
  %d2 = mul i64 %i2, %s2
  %d01 = add i64 %d0, %d1
  %d = add i64 %d01, %d2
  %at = getelementptr i8, ptr %row, i64 %d
  %cell = getelementptr {real.name}, ptr %packed, i64 %k
  %x = load {real.name}, ptr {source}, align {real.bytes}
  store {real.name} %x, ptr {target}, align {real.bytes}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}""".splitlines()
