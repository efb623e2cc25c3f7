"""The NumPy inner loop around a kernel's body, as LLVM IR text.

`@loop` walks the batch in blocks of W rows. A last block of fewer rows repeats its last row in the spare lanes: they compute
and store the same numbers once more, so no second, scalar version exists. Rows whose entries are not adjacent are copied to
a buffer first. Large results bypass the caches (stream_ir.py). A body in several parts takes some blocks at a time, a tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..expr import Slot
from . import float_mode_ir, stream_ir
from .precision import DOUBLE, Real

# Where the code of a loop lies beside that of the body makes up to a fifth of the time on some processors, as both have to stay
# decoded. There is no rule to it; of the places tried, these were as good or better for every kernel (docs/develop/decisions.md).
_ALIGN = 1024


@dataclass(frozen=True)
class Layout:
    """The arrays of a kernel, inputs then outputs, the lane count, the family of the processor, the kind of number, and how
    many blocks a tile has.
    """

    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    lanes: int
    x86: bool
    real: Real = DOUBLE
    tile: int = 1

    @property
    def lane_bytes(self) -> int:
        """The size of a block's table of lane pointers."""
        return 8 * self.lanes * len(self.arrays)

    @property
    def arrays(self) -> tuple[Slot, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs


def emit_loop(layout: Layout, scratch: int) -> list[str]:
    """`@loop`: the NumPy inner loop around `@body`."""
    return _LoopCode(layout, scratch).emit()


class _LoopCode:
    """The walk over the batch, for adjacent entries directly, for others through buffers."""

    def __init__(self, layout: Layout, scratch: int) -> None:
        self.layout = layout
        self.W = layout.lanes
        self.scratch_bytes = scratch * self.W * layout.real.bytes
        sizes = [max(slot.size, 1) * layout.real.bytes for slot in layout.arrays]
        self.row_bytes = sizes
        self.buffer_bytes = sum(sizes) * self.W
        self.lines: list[str] = []
        self.span = self.W * layout.tile  # rows that go together
        self.outputs = range(len(layout.inputs), len(layout.arrays))
        self.streamed = stream_ir.streamed({k: sizes[k] for k in self.outputs}, self.span) if layout.x86 else []

    def emit(self) -> list[str]:
        arrays = self.layout.arrays
        self.lines = [f"define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) align {_ALIGN} {{", "entry:"]
        self._line("%N = load i64, ptr %dims, align 8")
        for k in range(len(arrays)):
            self._load(f"%base{k}", "ptr", "%args", k)
            self._load(f"%step{k}", "i64", "%steps", k)
        adjacent = self._adjacency()
        self._line(f"%lanes = alloca [{self.layout.tile * self.layout.lane_bytes} x i8], align 64")
        self.lines += float_mode_ir.room(self.layout.x86)
        self._line("%empty = icmp sle i64 %N, 0")
        self._line("br i1 %empty, label %exit, label %start")
        self._label("start")
        self.lines += float_mode_ir.enter(self.layout.x86)
        if self.scratch_bytes:
            self._line(f"%scratch = call ptr @malloc(i64 {self.scratch_bytes * self.layout.tile + 64})")
            self._unless_null("%scratch", "nowhere", "somewhere")
            self._aligned("%scratch", "%scratch64")
        else:
            self._line("%scratch64 = bitcast ptr null to ptr")
        self._line(f"br i1 {adjacent}, label %direct, label %copied")
        self._direct()
        self._copied()
        self._label("none")
        self._line("call void @fail(ptr %data)")
        self._line("br label %finish")
        self._label("finish")
        if self.scratch_bytes:
            self._line("call void @free(ptr %scratch)")
        self._line("br label %leave")
        if self.scratch_bytes:
            self._label("nowhere")
            self._line("call void @fail(ptr %data)")
            self._line("br label %leave")
        self._label("leave")
        self.lines += float_mode_ir.leave(self.layout.x86)
        self._line("br label %exit")
        self._label("exit")
        self._line("ret void")
        return [
            *self.lines,
            "}",
            *_copy_function(self.layout.real),
            *float_mode_ir.declarations(self.layout.x86),
            *(stream_ir.functions() if self.streamed else ()),
            '!0 = !{!"branch_weights", i32 1, i32 1000000}',
            "!1 = !{}",
        ]

    def _line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def _label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def _load(self, name: str, kind: str, source: str, place: int) -> None:
        self._line(f"{name}.at = getelementptr i8, ptr {source}, i64 {place * 8}")
        self._line(f"{name} = load {kind}, ptr {name}.at, align 8")

    def _unless_null(self, pointer: str, no: str, yes: str) -> None:
        """Go on where there is memory; `@fail` tells that there is none."""
        self._line(f"{pointer}.null = icmp eq ptr {pointer}, null")
        self._line(f"br i1 {pointer}.null, label %{no}, label %{yes}")
        self._label(yes)

    def _aligned(self, raw: str, name: str, size: int = 64) -> None:
        self._line(f"{name}.i = ptrtoint ptr {raw} to i64")
        self._line(f"{name}.u = add i64 {name}.i, {size - 1}")
        self._line(f"{name}.a = and i64 {name}.u, -{size}")
        self._line(f"{name} = inttoptr i64 {name}.a to ptr")

    def _adjacency(self) -> str:
        """Load the core strides, and tell whether all entries of a row are adjacent in memory."""
        flag, place = "true", len(self.layout.arrays)
        for k, slot in enumerate(self.layout.arrays):
            expected = self.layout.real.bytes
            wanted = []
            for extent in reversed(slot.shape):
                wanted.append(expected)
                expected *= extent
            for axis, stride in enumerate(reversed(wanted)):
                name = f"%core{k}.{axis}"
                self._load(name, "i64", "%steps", place)
                place += 1
                if slot.shape[axis] > 1:  # the stride of a single entry says nothing
                    self._line(f"{name}.ok = icmp eq i64 {name}, {stride}")
                    self._line(f"{name}.all = and i1 {flag}, {name}.ok")
                    flag = f"{name}.all"
        return flag

    def _rows(self, tag: str, first: str) -> None:
        """%tag.row.l, the row of lane l in the block that starts at row `first`; spare lanes repeat the last row."""
        self._line(f"%{tag}.last = sub i64 %N, 1")
        for lane in range(self.W):
            self._line(f"%{tag}.r{lane} = add i64 {first}, {lane}")
            self._line(f"%{tag}.o{lane} = icmp slt i64 %{tag}.r{lane}, %{tag}.last")
            self._line(f"%{tag}.row{lane} = select i1 %{tag}.o{lane}, i64 %{tag}.r{lane}, i64 %{tag}.last")

    def _row_pointer(self, tag: str, k: int, lane: int) -> str:
        name = f"%{tag}.p{k}.{lane}"
        self._line(f"{name}.d = mul i64 %{tag}.row{lane}, %step{k}")
        self._line(f"{name} = getelementptr i8, ptr %base{k}, i64 {name}.d")
        return name

    def _lane(self, tag: str, k: int, lane: int, block: int = 0) -> str:
        at = f"%{tag}.l{k}.{lane}" + (f".{block}" if block else "")
        self._line(f"{at} = getelementptr i8, ptr %lanes, i64 {block * self.layout.lane_bytes + (k * self.W + lane) * 8}")
        return at

    def _aim(self, tag: str, first: str, block: int = 0) -> None:
        """Point every lane of a block at its row."""
        self._rows(tag, first)
        for k in range(len(self.layout.arrays)):
            for lane in range(self.W):
                pointer = self._row_pointer(tag, k, lane)
                self._line(f"store ptr {pointer}, ptr {self._lane(tag, k, lane, block)}, align 8")

    def _run(self) -> None:
        self._line("call void @body(ptr %lanes, ptr %scratch64)")

    def _run_tile(self) -> None:
        if self.layout.tile == 1:
            self._run()
        else:
            self._line(f"call void @tile(ptr %lanes, ptr %scratch64, i64 {self.layout.tile})")

    def _direct(self) -> None:
        """Whole tiles, each lane moving on by their rows; then the blocks that are left."""
        self._label("direct")
        self._line(f"%whole = sub i64 %N, {self.span - 1}")
        for block in range(self.layout.tile):
            self._aim(f"d{block}", str(block * self.W), block)
        for k in range(len(self.layout.arrays)):
            self._line(f"%stride{k} = mul i64 %step{k}, {self.span}")
        self._line("%any = icmp sgt i64 %whole, 0")
        self._line(f"br i1 %any, label %{'choose' if self.streamed else 'block'}, label %rest")
        if self.streamed:
            self._choose()
            self._stream()
        self._blocks()
        streamed = ", [ %s.done, %s.out ]" if self.streamed else ""
        self._label("rest")
        self._line(f"%done = phi i64 [ 0, %direct ], [ %next, %block ], [ %e.next, %partial ]{streamed}")
        self._line("%left = icmp slt i64 %done, %N")
        self._line("br i1 %left, label %partial, label %finish")
        self._label("partial")
        self._aim("e", "%done")
        self._run()
        self._line(f"%e.next = add i64 %done, {self.W}")
        self._line("br label %rest")

    def _blocks(self) -> None:
        """Results straight to their rows."""
        self._label("block")
        self._line(f"%i = phi i64 [ 0, %{'choose' if self.streamed else 'direct'} ], [ %next, %block ]")
        self._run_tile()
        self._advance("b", range(len(self.layout.arrays)))
        self._line(f"%next = add i64 %i, {self.span}")
        self._line("%more = icmp slt i64 %next, %whole")
        self._line("br i1 %more, label %block, label %rest")

    def _advance(self, tag: str, arrays: Sequence[int]) -> None:
        """Move every lane on by the rows of a tile."""
        for block in range(self.layout.tile):
            for k in arrays:
                for lane in range(self.W):
                    at = self._lane(tag, k, lane, block)
                    self._line(f"{at}.v = load ptr, ptr {at}, align 8")
                    self._line(f"{at}.n = getelementptr i8, ptr {at}.v, i64 %stride{k}")
                    self._line(f"store ptr {at}.n, ptr {at}, align 8")

    def _choose(self) -> None:
        """Whether to stream: large results, in rows without gaps."""
        self._label("choose")
        self._line("%s.alone = icmp eq ptr %data, null")  # else these rows are a piece of a batch, and here is how many that has
        self._line("%s.rows.at = select i1 %s.alone, ptr %dims, ptr %data")
        self._line("%s.rows = load i64, ptr %s.rows.at, align 8")
        self._line(f"%s.large = icmp sge i64 %s.rows, {-(-stream_ir.FROM // sum(self.row_bytes[k] for k in self.streamed))}")
        flag = "%s.large"
        for k in self.streamed:
            self._line(f"%s.packed{k} = icmp eq i64 %step{k}, {self.row_bytes[k]}")
            self._line(f"%s.all{k} = and i1 {flag}, %s.packed{k}")
            flag = f"%s.all{k}"
        self._line(f"br i1 {flag}, label %s.start, label %block")

    def _stream(self) -> None:
        """Results of a tile's rows to a buffer, and from there to memory in whole lines.

        The first tile goes straight to its rows, so that every line begun in the buffer is ours from its first byte.
        """
        others = [k for k in range(len(self.layout.arrays)) if k not in self.streamed]
        self._label("s.start")
        self._run_tile()
        self._aim_at_buffer()
        self._advance("s", others)
        self._line(f"%s.any = icmp sgt i64 %whole, {self.span}")
        self._line("br i1 %s.any, label %s.block, label %s.out")
        self._label("s.block")
        self._line(f"%s.i = phi i64 [ {self.span}, %s.aim ], [ %s.next, %s.block ]")
        self._run_tile()
        for k in self.streamed:
            self._line_of("s", k, "%s.i")
            self._line(f"%s.size{k} = add i64 %s.begun{k}, {self.row_bytes[k] * self.span}")
            self._line(f"call void @stream(ptr %s.line{k}, ptr %s.from{k}, i64 %s.size{k})")
            self._line(f"call void @line(ptr %s.head{k}, ptr %s.end{k})")
        self._advance("t", others)
        self._line(f"%s.next = add i64 %s.i, {self.span}")
        self._line("%s.more = icmp slt i64 %s.next, %whole")
        self._line("br i1 %s.more, label %s.block, label %s.out")
        self._stream_out()

    def _aim_at_buffer(self) -> None:
        """Lanes of streamed results on rows of the buffer, and before these the last bytes of the tile that is done."""
        places, size = stream_ir.places({k: self.row_bytes[k] for k in self.streamed}, self.span)
        self._line(f"%s.raw = call ptr @malloc(i64 {size + stream_ir.PAGE})")
        self._unless_null("%s.raw", "none", "s.aim")
        self._aligned("%s.raw", "%s.buffer", stream_ir.PAGE)
        for k in self.streamed:
            tile = self.row_bytes[k] * self.span
            self._line(f"%s.b{k} = getelementptr i8, ptr %s.buffer, i64 {places[k]}")
            self._line(f"%s.head{k} = getelementptr i8, ptr %s.b{k}, i64 -{stream_ir.LINE}")
            self._line(f"%s.end{k} = getelementptr i8, ptr %s.head{k}, i64 {tile}")
            self._line(f"%s.last{k} = getelementptr i8, ptr %base{k}, i64 {tile - stream_ir.LINE}")
            self._line(f"call void @line(ptr %s.head{k}, ptr %s.last{k})")
            for row in range(self.span):
                block, lane = divmod(row, self.W)
                self._line(f"%s.b{k}.{row} = getelementptr i8, ptr %s.b{k}, i64 {row * self.row_bytes[k]}")
                self._line(f"store ptr %s.b{k}.{row}, ptr {self._lane('s', k, lane, block)}, align 8")

    def _line_of(self, tag: str, k: int, row: str) -> None:
        """The line in which a row begins, how many of its bytes are before that row, and where in the buffer these are."""
        self._line(f"%{tag}.d{k} = mul i64 {row}, {self.row_bytes[k]}")
        self._line(f"%{tag}.to{k} = getelementptr i8, ptr %base{k}, i64 %{tag}.d{k}")
        self._line(f"%{tag}.place{k} = ptrtoint ptr %{tag}.to{k} to i64")
        self._line(f"%{tag}.begun{k} = and i64 %{tag}.place{k}, {stream_ir.LINE - 1}")
        self._line(f"%{tag}.back{k} = sub i64 0, %{tag}.begun{k}")
        self._line(f"%{tag}.line{k} = getelementptr i8, ptr %{tag}.to{k}, i64 %{tag}.back{k}")
        self._line(f"%{tag}.from{k} = getelementptr i8, ptr %s.b{k}, i64 %{tag}.back{k}")

    def _stream_out(self) -> None:
        """Lines that are not full; then results are there for whoever reads them."""
        self._label("s.out")
        self._line(f"%s.done = phi i64 [ {self.span}, %s.aim ], [ %s.next, %s.block ]")
        for k in self.streamed:
            self._line_of("o", k, "%s.done")
            size = self.layout.real.bytes
            self._line(f"%o.count{k} = udiv i64 %o.begun{k}, {size}")
            numbers = f"i64 1, i64 1, i64 %o.count{k}, i64 0, i64 0, i64 {size}"
            self._line(f"call void @gather(ptr %o.line{k}, ptr %o.from{k}, {numbers})")
        self._line("call void @llvm.x86.sse.sfence()")
        self._line("call void @free(ptr %s.raw)")
        self._line("br label %rest")

    def _copied(self) -> None:
        """Every block through a buffer in which the entries of a row are adjacent."""
        self._label("copied")
        self._line(f"%buffer = call ptr @malloc(i64 {self.buffer_bytes})")
        self._unless_null("%buffer", "none", "c.start")
        cells = self._cells()
        self._line("br label %c.head")
        self._label("c.head")
        self._line("%c.i = phi i64 [ 0, %c.start ], [ %c.next, %c.head ]")
        self._rows("c", "%c.i")
        rows = {cell: self._row_pointer("c", *cell) for cell in cells}
        for (k, lane), cell in cells.items():
            if k < len(self.layout.inputs):
                self._copy("gather", k, cell, rows[k, lane])
        self._run()
        for (k, lane), cell in cells.items():
            if k >= len(self.layout.inputs):
                self._copy("scatter", k, cell, rows[k, lane])
        self._line(f"%c.next = add i64 %c.i, {self.W}")
        self._line("%c.more = icmp slt i64 %c.next, %N")
        self._line("br i1 %c.more, label %c.head, label %c.out")
        self._label("c.out")
        self._line("call void @free(ptr %buffer)")
        self._line("br label %finish")

    def _cells(self) -> dict[tuple[int, int], str]:
        """The buffer's row for each array and lane, entered in the lane table."""
        cells, place = {}, 0
        for k in range(len(self.layout.arrays)):
            for lane in range(self.W):
                cell = f"%c.b{k}.{lane}"
                self._line(f"{cell} = getelementptr i8, ptr %buffer, i64 {place}")
                self._line(f"store ptr {cell}, ptr {self._lane('c', k, lane)}, align 8")
                place += self.row_bytes[k]
                cells[k, lane] = cell
        return cells

    def _copy(self, how: str, k: int, cell: str, row: str) -> None:
        shape = self.layout.arrays[k].shape
        extents = [1] * (3 - len(shape)) + list(shape)
        strides = ["0"] * (3 - len(shape)) + [f"%core{k}.{axis}" for axis in range(len(shape))]
        numbers = ", ".join(f"i64 {value}" for value in (*extents, *strides))
        self._line(f"call void @{how}(ptr {cell}, ptr {row}, {numbers})")


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
