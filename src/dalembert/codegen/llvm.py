"""A program as LLVM IR text: one SIMD lane per configuration, inputs and outputs in NumPy's layout.

The module has three layers. `@loop` has the signature of a NumPy inner loop: it walks the batch in blocks of W rows and
hands each block to `@body` as a table of lane pointers, one row per lane. A last block of fewer rows repeats its last row
in the spare lanes: they compute and store the same numbers once more, so no second, scalar version exists. Rows whose
entries are not adjacent are copied to a buffer first. `@body` is the graph, cut into `@part_k` of bounded size when large,
with values that cross a cut kept in a scratch buffer: compile time then grows linearly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..expr import Expr, Program, Slot
from . import sincos
from .sincos import splat

PART_SIZE = 1800  # nodes per function: compile time grows faster than linearly in the size of one function
STORE_WEIGHT = 20  # nodes that an output counts for
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


@dataclass(frozen=True)
class Layout:
    """The arrays of a kernel, inputs then outputs, and the lane count."""

    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    lanes: int

    @property
    def arrays(self) -> tuple[Slot, ...]:
        """Inputs, then outputs."""
        return self.inputs + self.outputs


def emit(program: Program, lanes: int) -> str:
    """The whole module of an unrolled program."""
    layout = Layout(program.inputs, program.outputs, lanes)
    parts, scratch = _Parts(program, lanes).emit()
    body = ["define internal void @body(ptr noalias %lanes, ptr noalias %scratch) {"]
    body += [f"  call void @part_{k}(ptr %lanes, ptr %scratch)" for k in range(len(parts))]
    body += ["  ret void", "}"]
    return "\n".join([*declarations(lanes), *(line for part in parts for line in part), *body, *emit_loop(layout, scratch)])


def declarations(lanes: int) -> list[str]:
    """External functions every module may call."""
    D = f"<{lanes} x double>"
    return [
        f"declare {D} @llvm.fabs.v{lanes}f64({D})",
        f"declare {D} @llvm.sqrt.v{lanes}f64({D})",
        "declare double @sin(double)",
        "declare double @cos(double)",
        "declare double @atan2(double, double)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        *_wrap_function(lanes),
    ]


def _wrap_function(lanes: int) -> list[str]:
    """The angle in (-π, π] equal to each lane's, through the C library, for arguments beyond reach of the vector sine."""
    D = f"<{lanes} x double>"
    lines = [f"define internal {D} @wrap({D} %x) cold noinline {{"]
    value = "poison"
    for lane in range(lanes):
        lines += [
            f"  %x{lane} = extractelement {D} %x, i32 {lane}",
            f"  %s{lane} = call double @sin(double %x{lane})",
            f"  %c{lane} = call double @cos(double %x{lane})",
            f"  %y{lane} = call double @atan2(double %s{lane}, double %c{lane})",
            f"  %v{lane} = insertelement {D} {value}, double %y{lane}, i32 {lane}",
        ]
        value = f"%v{lane}"
    return [*lines, f"  ret {D} {value}", "}"]


class Block:
    """Straight-line code for nodes of a graph, with one register per node."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.D = f"<{lanes} x double>"
        self.mask = f"<{lanes} x i1>"
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.masks: dict[int, str] = {}
        self.near: dict[int, str] = {}  # arguments of sine and cosine, brought within reach
        self.counter = 0

    def let(self, text: str) -> str:
        """A new register."""
        self.counter += 1
        name = f"%t{self.counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def value(self, node: Expr) -> str:
        """The register (or constant) that holds a node."""
        if node.op == "const":
            return splat(node.value, self.lanes)
        if node.index not in self.values:  # a comparison used as a number
            self.values[node.index] = self.let(f"uitofp {self.mask} {self.masks[node.index]} to {self.D}")
        return self.values[node.index]

    def compute(self, node: Expr) -> None:
        """Emit one node; inputs, sines and cosines are somebody else's business."""
        op, D = node.op, self.D
        if op in _BINARY:
            a, b = map(self.value, node.args)
            flag = "" if op == "div" else "contract "
            self.values[node.index] = self.let(f"{_BINARY[op]} {flag}{D} {a}, {b}")
        elif op in _COMPARE:
            a, b = map(self.value, node.args)
            self.masks[node.index] = self.let(f"fcmp {_COMPARE[op]} {D} {a}, {b}")
        else:
            self.values[node.index] = getattr(self, f"_{op}")(*node.args)

    def _neg(self, a: Expr) -> str:
        return self.let(f"fneg {self.D} {self.value(a)}")

    def _sqrt(self, a: Expr) -> str:
        return self.let(f"call {self.D} @llvm.sqrt.v{self.lanes}f64({self.D} {self.value(a)})")

    def _abs(self, a: Expr) -> str:
        return self.let(f"call {self.D} @llvm.fabs.v{self.lanes}f64({self.D} {self.value(a)})")

    def _sign(self, a: Expr) -> str:
        x = self.value(a)
        up, down = (self.let(f"fcmp {how} {self.D} {x}, zeroinitializer") for how in ("ogt", "olt"))
        part = self.select(up, splat(1.0, self.lanes), x)  # 0 and NaN stay as they are
        return self.select(down, splat(-1.0, self.lanes), part)

    def _min(self, a: Expr, b: Expr) -> str:
        return self._extreme("olt", a, b)

    def _max(self, a: Expr, b: Expr) -> str:
        return self._extreme("ogt", a, b)

    def _extreme(self, how: str, a: Expr, b: Expr) -> str:
        x, y = self.value(a), self.value(b)
        chosen = self.select(self.let(f"fcmp {how} {self.D} {y}, {x}"), y, x)
        return self.select(self.let(f"fcmp uno {self.D} {y}, {y}"), y, chosen)  # NaN on either side wins

    def _where(self, condition: Expr, a: Expr, b: Expr) -> str:
        mask = self.masks.get(condition.index)
        if mask is None:
            mask = self.let(f"fcmp une {self.D} {self.value(condition)}, zeroinitializer")
        return self.select(mask, self.value(a), self.value(b))

    def _atan2(self, a: Expr, b: Expr) -> str:
        result = "poison"
        for lane in range(self.lanes):
            y, x = (self.let(f"extractelement {self.D} {self.value(v)}, i32 {lane}") for v in (a, b))
            angle = self.let(f"call double @atan2(double {y}, double {x})")
            result = self.let(f"insertelement {self.D} {result}, double {angle}, i32 {lane}")
        return result

    def select(self, mask: str, a: str, b: str) -> str:
        """a where the mask is set, else b."""
        return self.let(f"select {self.mask} {mask}, {self.D} {a}, {self.D} {b}")

    def sincos(self, argument: Expr, sine: Expr | None, cosine: Expr | None) -> None:
        """Sine and cosine of an argument already within reach."""
        s, c = sincos.emit(self.near.get(argument.index) or self.value(argument), self.let, self.lanes)
        for node, value in ((sine, s), (cosine, c)):
            if node is not None:
                self.values[node.index] = value

    def bring_near(self, arguments: list[Expr]) -> None:
        """Replace arguments out of reach by equal angles within (-π, π], through the C library and out of the way.

        One test serves all the arguments known at the start of a part, so that their sines can be computed where they
        are needed, between other work, without a branch each.
        """
        far = ""
        for argument in arguments:
            mask = sincos.emit_far(self.value(argument), self.let, self.lanes)
            far = mask if not far else self.let(f"or {self.mask} {far}, {mask}")
        tag = f"b{self.counter}"
        any_far = self.let(f"icmp ne i{self.lanes} {self.let(f'bitcast {self.mask} {far} to i{self.lanes}')}, 0")
        self.lines += [f"  br label %{tag}.here", f"{tag}.here:"]
        self.lines += [f"  br i1 {any_far}, label %{tag}.far, label %{tag}.near, !prof !0", f"{tag}.far:"]
        wrapped = [self.let(f"call {self.D} @wrap({self.D} {self.value(a)})") for a in arguments]
        self.lines += [f"  br label %{tag}.near", f"{tag}.near:"]
        for a, w in zip(arguments, wrapped, strict=True):
            self.near[a.index] = self.let(f"phi {self.D} [ {self.value(a)}, %{tag}.here ], [ {w}, %{tag}.far ]")

    def load_lanes(self, pointers: list[str], offset: int, *, constant: bool = True) -> str:
        """One entry of W rows as a vector.

        Inputs are constant: they never overlap outputs (NumPy copies them if they do), so loads may move past stores.
        """
        mark = ", !invariant.load !1" if constant else ""
        result = "poison"
        for lane, pointer in enumerate(pointers):
            address = self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer
            scalar = self.let(f"load double, ptr {address}, align 8{mark}")
            result = self.let(f"insertelement {self.D} {result}, double {scalar}, i32 {lane}")
        return result

    def store_lanes(self, value: str, pointers: list[str], offset: int) -> None:
        """A vector to one entry of W rows."""
        for lane, pointer in enumerate(pointers):
            address = self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer
            scalar = self.let(f"extractelement {self.D} {value}, i32 {lane}")
            self.lines.append(f"  store double {scalar}, ptr {address}, align 8")


Pair = tuple[Expr, Expr | None, Expr | None]


def sincos_pairs(nodes: Iterable[Expr]) -> dict[int, Pair]:
    """For each sin or cos node's index: their common argument, the sine and the cosine."""
    pairs: dict[int, list[Expr | None]] = {}
    trigonometric = [node for node in nodes if node.op in ("sin", "cos")]
    for node in trigonometric:
        pair = pairs.setdefault(node.args[0].index, [node.args[0], None, None])
        pair[1 + (node.op == "cos")] = node
    return {node.index: tuple(pairs[node.args[0].index]) for node in trigonometric}  # type: ignore[misc]


class _Parts:
    """The graph of a program, cut into functions of bounded size."""

    def __init__(self, program: Program, lanes: int) -> None:
        self.program = program
        self.lanes = lanes
        self.pairs = sincos_pairs(program.nodes)
        self.cuts = self._cut([node for node in program.nodes if node.op not in ("const", "input")])
        self.home = {node.index: k for k, part in enumerate(self.cuts) for node in part}
        self.slots: dict[int, int] = {}

    def _cut(self, order: list[Expr]) -> list[list[Expr]]:
        """Parts of about PART_SIZE nodes; an output counts for more: LLVM's time is quadratic in the stores of a function."""
        stored = {scalar.index for result in self.program.results for scalar in result if isinstance(scalar, Expr)}
        weights = np.array([1 + STORE_WEIGHT * (node.index in stored) for node in order])
        part = np.cumsum(weights) // PART_SIZE
        if not order or part[-1] == 0 or weights.sum() < PART_SIZE * 3 // 2:
            return [order]
        return [[order[i] for i in np.flatnonzero(part == k)] for k in range(part[-1] + 1)]

    def emit(self) -> tuple[list[list[str]], int]:
        """The functions, and the number of scratch vectors they need."""
        for k, part in enumerate(self.cuts):
            for a in (a for node in part for a in node.args):
                if a.op not in ("const", "input") and self.home[a.index] != k:
                    self.slots.setdefault(a.index, len(self.slots))
        outputs = self._outputs_by_part()
        return [self._part(k, outputs[k]) for k in range(len(self.cuts))], len(self.slots)

    def _outputs_by_part(self) -> list[list[tuple[int, int, Expr | float]]]:
        by_part: list[list[tuple[int, int, Expr | float]]] = [[] for _ in self.cuts]
        for i, result in enumerate(self.program.results):
            for j, scalar in enumerate(result):
                k = self.home.get(scalar.index, 0) if isinstance(scalar, Expr) else 0
                by_part[k].append((i, j, scalar))
        return by_part

    def _part(self, k: int, outputs: list[tuple[int, int, Expr | float]]) -> list[str]:
        block = Block(self.lanes)
        reader = _Reader(block, self, k)
        places: dict[int, list[tuple[int, int]]] = {}
        for i, j, scalar in outputs:
            if isinstance(scalar, Expr):
                places.setdefault(scalar.index, []).append((i, j))
        self._bring_near(self.cuts[k], block, reader)
        for node in self.cuts[k]:
            if node.op in ("sin", "cos") and node.index not in self.slots and node.index not in places:
                continue  # computed where it is first needed, between other work
            for a in node.args:
                reader.fetch(a)
            reader.fetch(node)
            reader.keep(node, places.pop(node.index, []))
        for i, j, scalar in outputs:  # constants and bare inputs
            if not isinstance(scalar, Expr):
                reader.store(splat(scalar, self.lanes), i, j)
            elif scalar.index in places:
                reader.fetch(scalar)
                reader.store(block.value(scalar), i, j)
        head = f"define internal void @part_{k}(ptr noalias %lanes, ptr noalias %scratch) noinline {{"
        return [head, *reader.head, *block.lines, "  ret void", "}"]

    def _bring_near(self, part: list[Expr], block: Block, reader: _Reader) -> None:
        """Arguments of sine and cosine that need nothing but inputs are brought within reach first; the rest where they arise."""
        early = {a.index: a for node in part if node.op in ("sin", "cos") for a in node.args if _is_simple(a)}
        if not early:
            return
        for a in early.values():
            for b in a.args:
                reader.fetch(b)
            reader.fetch(a)
        block.bring_near(list(early.values()))


def _is_simple(node: Expr) -> bool:
    """An input, or an operation on inputs and constants."""
    return node.op == "input" or (bool(node.args) and all(a.op in ("input", "const") for a in node.args))


class _Reader:
    """Lane pointers of the arrays, loaded once at the head; inputs and scratch values, loaded at first use."""

    def __init__(self, block: Block, parts: _Parts, part: int) -> None:
        self.block = block
        self.parts = parts
        self.part = part
        self.head: list[str] = []
        self.pointers: dict[int, list[str]] = {}

    def lanes_of(self, array: int) -> list[str]:
        if array not in self.pointers:
            names = [f"%a{array}.{lane}" for lane in range(self.block.lanes)]
            for lane, name in enumerate(names):
                place = (array * self.block.lanes + lane) * 8
                self.head += [
                    f"  {name}.at = getelementptr i8, ptr %lanes, i64 {place}",
                    f"  {name} = load ptr, ptr {name}.at, align 8",
                ]
            self.pointers[array] = names
        return self.pointers[array]

    def fetch(self, node: Expr) -> None:
        block, parts = self.block, self.parts
        if node.op == "const" or node.index in block.values or node.index in block.masks:
            return
        if parts.home.get(node.index) == self.part:
            if node.op in ("sin", "cos"):
                self.fetch(node.args[0])
                if node.args[0].index not in block.near:
                    block.bring_near([node.args[0]])
                block.sincos(*parts.pairs[node.index])
            else:
                block.compute(node)
        elif node.op == "input":
            array, entry = parts.program.input_places[node.index]
            block.values[node.index] = block.load_lanes(self.lanes_of(array), entry * 8)
        else:
            block.values[node.index] = block.let(f"load {block.D}, ptr {self._slot(node)}, align {block.lanes * 8}")

    def keep(self, node: Expr, places: list[tuple[int, int]]) -> None:
        if node.index in self.parts.slots:
            value = self.block.value(node)
            self.block.lines.append(f"  store {self.block.D} {value}, ptr {self._slot(node)}, align {self.block.lanes * 8}")
        for i, j in places:
            self.store(self.block.value(node), i, j)

    def store(self, value: str, output: int, entry: int) -> None:
        array = len(self.parts.program.inputs) + output
        self.block.store_lanes(value, self.lanes_of(array), entry * 8)

    def _slot(self, node: Expr) -> str:
        place = self.parts.slots[node.index] * self.block.lanes * 8
        return self.block.let(f"getelementptr i8, ptr %scratch, i64 {place}")


def emit_loop(layout: Layout, scratch: int) -> list[str]:
    """`@loop`: the NumPy inner loop around `@body`."""
    return _Loop(layout, scratch).emit()


class _Loop:
    """The walk over the batch, for adjacent entries directly, for others through buffers."""

    def __init__(self, layout: Layout, scratch: int) -> None:
        self.layout = layout
        self.W = layout.lanes
        self.scratch_bytes = scratch * self.W * 8
        sizes = [max(slot.size, 1) * 8 for slot in layout.arrays]
        self.row_bytes = sizes
        self.buffer_bytes = sum(sizes) * self.W
        self.lines: list[str] = []

    def emit(self) -> list[str]:
        arrays = self.layout.arrays
        self.lines = ["define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {", "entry:"]
        self._line("%N = load i64, ptr %dims, align 8")
        for k in range(len(arrays)):
            self._load(f"%base{k}", "ptr", "%args", k)
            self._load(f"%step{k}", "i64", "%steps", k)
        adjacent = self._adjacency()
        self._line(f"%lanes = alloca [{len(arrays) * self.W} x ptr], align 32")
        self._line("%empty = icmp sle i64 %N, 0")
        self._line("br i1 %empty, label %exit, label %start")
        self._label("start")
        if self.scratch_bytes:
            self._line(f"%scratch = call ptr @malloc(i64 {self.scratch_bytes + 64})")
            self._aligned("%scratch", "%scratch64")
        else:
            self._line("%scratch64 = bitcast ptr null to ptr")
        self._line(f"br i1 {adjacent}, label %direct, label %copied")
        self._direct()
        self._copied()
        self._label("finish")
        if self.scratch_bytes:
            self._line("call void @free(ptr %scratch)")
        self._line("br label %exit")
        self._label("exit")
        self._line("ret void")
        return [*self.lines, "}", *_copy_function(), '!0 = !{!"branch_weights", i32 1, i32 1000000}', "!1 = !{}"]

    def _line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def _label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def _load(self, name: str, kind: str, source: str, place: int) -> None:
        self._line(f"{name}.at = getelementptr i8, ptr {source}, i64 {place * 8}")
        self._line(f"{name} = load {kind}, ptr {name}.at, align 8")

    def _aligned(self, raw: str, name: str) -> None:
        self._line(f"{name}.i = ptrtoint ptr {raw} to i64")
        self._line(f"{name}.u = add i64 {name}.i, 63")
        self._line(f"{name}.a = and i64 {name}.u, -64")
        self._line(f"{name} = inttoptr i64 {name}.a to ptr")

    def _adjacency(self) -> str:
        """Load the core strides, and tell whether all entries of a row are adjacent in memory."""
        flag, place = "true", len(self.layout.arrays)
        for k, slot in enumerate(self.layout.arrays):
            expected = 8
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

    def _lane(self, tag: str, k: int, lane: int) -> str:
        at = f"%{tag}.l{k}.{lane}"
        self._line(f"{at} = getelementptr i8, ptr %lanes, i64 {(k * self.W + lane) * 8}")
        return at

    def _aim(self, tag: str, first: str) -> None:
        """Point every lane at its row."""
        self._rows(tag, first)
        for k in range(len(self.layout.arrays)):
            for lane in range(self.W):
                pointer = self._row_pointer(tag, k, lane)
                self._line(f"store ptr {pointer}, ptr {self._lane(tag, k, lane)}, align 8")

    def _direct(self) -> None:
        """Whole blocks, each lane moving on by W rows; then what is left."""
        self._label("direct")
        self._line(f"%whole = sub i64 %N, {self.W - 1}")
        self._aim("d", "0")
        for k in range(len(self.layout.arrays)):
            self._line(f"%stride{k} = mul i64 %step{k}, {self.W}")
        self._line("%any = icmp sgt i64 %whole, 0")
        self._line("br i1 %any, label %block, label %rest")
        self._label("block")
        self._line("%i = phi i64 [ 0, %direct ], [ %next, %block ]")
        self._line("call void @body(ptr %lanes, ptr %scratch64)")
        for k in range(len(self.layout.arrays)):
            for lane in range(self.W):
                at = self._lane("b", k, lane)
                self._line(f"{at}.v = load ptr, ptr {at}, align 8")
                self._line(f"{at}.n = getelementptr i8, ptr {at}.v, i64 %stride{k}")
                self._line(f"store ptr {at}.n, ptr {at}, align 8")
        self._line(f"%next = add i64 %i, {self.W}")
        self._line("%more = icmp slt i64 %next, %whole")
        self._line("br i1 %more, label %block, label %rest")
        self._label("rest")
        self._line("%done = phi i64 [ 0, %direct ], [ %next, %block ]")
        self._line("%left = icmp slt i64 %done, %N")
        self._line("br i1 %left, label %partial, label %finish")
        self._label("partial")
        self._aim("e", "%done")
        self._line("call void @body(ptr %lanes, ptr %scratch64)")
        self._line("br label %finish")

    def _copied(self) -> None:
        """Every block through a buffer in which the entries of a row are adjacent."""
        self._label("copied")
        self._line(f"%buffer = call ptr @malloc(i64 {self.buffer_bytes})")
        cells = self._cells()
        self._line("br label %c.head")
        self._label("c.head")
        self._line("%c.i = phi i64 [ 0, %copied ], [ %c.next, %c.head ]")
        self._rows("c", "%c.i")
        rows = {cell: self._row_pointer("c", *cell) for cell in cells}
        for (k, lane), cell in cells.items():
            if k < len(self.layout.inputs):
                self._copy("gather", k, cell, rows[k, lane])
        self._line("call void @body(ptr %lanes, ptr %scratch64)")
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


def _copy_function() -> list[str]:
    """Copy a strided block of up to three axes to (gather) or from (scatter) adjacent memory."""
    return [line for gather in (True, False) for line in _copier("gather" if gather else "scatter", gather)]


def _copier(name: str, gather: bool) -> list[str]:
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
  %cell = getelementptr double, ptr %packed, i64 %k
  %x = load double, ptr {source}, align 8
  store double %x, ptr {target}, align 8
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}""".splitlines()
