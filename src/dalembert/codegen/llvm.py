"""A program as LLVM IR text: one SIMD lane per configuration, inputs and outputs in NumPy's layout.

A module has two doors, `@loop` for batches (loop.py) and `@call` for a single configuration (call.py). Both hand blocks of W
rows to `@body` as a table of lane pointers, one row per lane. `@body` is the graph, cut into `@part_k` of bounded size when
large, with values that cross a cut kept in a scratch buffer: compile time then grows linearly.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..expr import Expr, Program
from . import sincos
from .call import emit_call
from .loop import Layout, emit_loop
from .sincos import splat

PART_SIZE = 1800  # nodes per function: compile time grows faster than linearly in the size of one function
STORE_WEIGHT = 20  # nodes that an output counts for
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


def emit(program: Program, lanes: int, *, x86: bool = True) -> str:
    """The whole module of an unrolled program."""
    parts, scratch = _Parts(program, lanes).emit()
    body = ["define internal void @body(ptr noalias %lanes, ptr noalias %scratch) {"]
    body += [f"  call void @part_{k}(ptr %lanes, ptr %scratch)" for k in range(len(parts))]
    body += ["  ret void", "}"]
    layout = Layout(program.inputs, program.outputs, lanes, x86)
    return "\n".join([*declarations(lanes), *(line for part in parts for line in part), *body, *doors(layout, scratch)])


def doors(layout: Layout, scratch: int) -> list[str]:
    """The two ways into a module."""
    return [*emit_loop(layout, scratch), *emit_call(layout, scratch)]


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
        wrapped = [self._wrapped(self.value(a)) for a in arguments]
        self.lines += [f"  br label %{tag}.near", f"{tag}.near:"]
        for a, w in zip(arguments, wrapped, strict=True):
            self.near[a.index] = self.let(f"phi {self.D} [ {self.value(a)}, %{tag}.here ], [ {w}, %{tag}.far ]")

    def _wrapped(self, x: str) -> str:
        """Lanes out of reach brought back; their neighbours stay as they are, to the last bit."""
        mask = sincos.emit_far(x, self.let, self.lanes)
        return self.select(mask, self.let(f"call {self.D} @wrap({self.D} {x})"), x)

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
