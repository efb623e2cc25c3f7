"""Straight-line LLVM IR for nodes of a graph: one vector register per node, one lane per configuration."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Expr
from . import far_angles_ir, sincos_ir
from .precision import DOUBLE, Real
from .rows_ir import Rows
from .sincos_ir import splat

CONSTANT = ", !invariant.load !1"  # mark of a load that may move past stores
GROUP = 8  # sines and cosines computed at once
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


def declarations(lanes: int, real: Real = DOUBLE) -> list[str]:
    """External functions every module may call."""
    D = real.vector(lanes)
    return [
        *(f"declare {D} {real.intrinsic(name, lanes)}({D})" for name in ("fabs", "sqrt")),
        "declare double @atan2(double, double)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        *far_angles_ir.functions(lanes, real),
    ]


class ConstantPool:
    """Constants of a module as whole vectors in memory, where arithmetic instructions can take them from.

    LLVM's own way is to keep one number and to spread it into a register first.
    """

    def __init__(self, lanes: int, real: Real) -> None:
        self.lanes = lanes
        self.real = real
        self.names: dict[str, str] = {}

    def name(self, value: float) -> str:
        """The global that holds a number in every lane."""
        text = splat(value, self.lanes, self.real.name)
        return self.names.setdefault(text, f"@number{len(self.names)}")

    def definitions(self) -> list[str]:
        """The lines of the module."""
        kind, size = self.real.vector(self.lanes), self.lanes * self.real.bytes
        magic = f"{kind} {splat(sincos_ir.magic(self.real), self.lanes, self.real.name)}"
        near = f"@near = internal unnamed_addr constant [{GROUP} x {kind}] [{', '.join([magic] * GROUP)}], align {size}"
        return [
            near,
            *(f"{name} = internal unnamed_addr constant {kind} {text}, align {size}" for text, name in self.names.items()),
        ]


class NodeCode:
    """Straight-line code for nodes of a graph, with one register per node."""

    def __init__(self, lanes: int, real: Real = DOUBLE, pool: ConstantPool | None = None) -> None:
        self.lanes = lanes
        self.real = real
        self.pool = pool
        self.D = real.vector(lanes)
        self.mask = f"<{lanes} x i1>"
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.masks: dict[int, str] = {}
        self.head: list[str] = []  # lines that belong at the start of the function
        self.near: dict[int, tuple[str, str, int]] = {}  # arguments of sine and cosine within reach, and where their magic is
        self.counter = 0
        self.rows = Rows(self.let, lambda text: self.lines.append(f"  {text}"), lanes, real)

    def let(self, text: str) -> str:
        """A new register."""
        self.counter += 1
        name = f"%t{self.counter}"
        self.lines.append(f"  {name} = {text}")
        return name

    def value(self, node: Expr) -> str:
        """The register (or constant) that holds a node."""
        if node.op == "const":
            return self.number(node.value)
        if node.index not in self.values:  # a comparison used as a number
            self.values[node.index] = self.let(f"uitofp {self.mask} {self.masks[node.index]} to {self.D}")
        return self.values[node.index]

    def number(self, value: float) -> str:
        """A constant, the same in every lane."""
        return splat(value, self.lanes, self.real.name)

    def operand(self, value: float) -> str:
        """A constant for arithmetic, from the pool if there is one."""
        if self.pool is None:
            return self.number(value)
        size = self.lanes * self.real.bytes
        return self.let(f"load {self.D}, ptr {self.pool.name(value)}, align {size}{CONSTANT}")

    def _operand(self, node: Expr) -> str:
        return self.operand(node.value) if node.op == "const" else self.value(node)

    def compute(self, node: Expr) -> None:
        """Emit one node; inputs, sines and cosines are somebody else's business."""
        op, D = node.op, self.D
        if op in _BINARY:
            a, b = map(self._operand, node.args)
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
        return self.let(f"call {self.D} {self.real.intrinsic('sqrt', self.lanes)}({self.D} {self.value(a)})")

    def _abs(self, a: Expr) -> str:
        return self.let(f"call {self.D} {self.real.intrinsic('fabs', self.lanes)}({self.D} {self.value(a)})")

    def _sign(self, a: Expr) -> str:
        x = self.value(a)
        up, down = (self.let(f"fcmp {how} {self.D} {x}, zeroinitializer") for how in ("ogt", "olt"))
        part = self.select(up, self.number(1.0), x)  # 0 and NaN stay as they are
        return self.select(down, self.number(-1.0), part)

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
        result, sides = "poison", [self._with_plain_zeros(self.value(v)) for v in (a, b)]
        for lane in range(self.lanes):
            y, x = (self.extracted(side, lane) for side in sides)
            result = self.inserted(result, self.let(f"call double @atan2(double {y}, double {x})"), lane)
        return result

    def _with_plain_zeros(self, x: str) -> str:
        """What counts as zero (float_mode_ir.py) made zero: the C library also looks at bits."""
        integers = f"<{self.lanes} x {self.real.integer}>"
        sign = splat(-(2 ** (8 * self.real.bytes - 1)), self.lanes, self.real.integer)
        zero = self.let(f"and {integers} {self.let(f'bitcast {self.D} {x} to {integers}')}, {sign}")
        is_zero = self.let(f"fcmp oeq {self.D} {x}, zeroinitializer")
        return self.select(is_zero, self.let(f"bitcast {integers} {zero} to {self.D}"), x)

    def extracted(self, vector: str, lane: int) -> str:
        """A lane as a double, for the C library."""
        x = self.let(f"extractelement {self.D} {vector}, i32 {lane}")
        return x if self.real is DOUBLE else self.let(f"fpext {self.real.name} {x} to double")

    def inserted(self, vector: str, x: str, lane: int) -> str:
        """The vector with a double in this lane."""
        if self.real is not DOUBLE:
            x = self.let(f"fptrunc double {x} to {self.real.name}")
        return self.let(f"insertelement {self.D} {vector}, {self.real.name} {x}, i32 {lane}")

    def select(self, mask: str, a: str, b: str) -> str:
        """a where the mask is set, else b."""
        return self.let(f"select {self.mask} {mask}, {self.D} {a}, {self.D} {b}")

    def sincos(self, argument: Expr, sine: Expr | None, cosine: Expr | None) -> None:
        """Sine and cosine of an argument already within reach."""
        x, group, place = self.near[argument.index]
        at = self.let(f"getelementptr {self.D}, ptr {group}, i64 {place}") if place else group
        magic = self.let(f"load {self.D}, ptr {at}, align {self.lanes * self.real.bytes}")
        s, c = sincos_ir.emit(x, magic, self.let, self.lanes, self.real, self.operand)
        for node, value in ((sine, s), (cosine, c)):
            if node is not None:
                self.values[node.index] = value

    def bring_near(self, arguments: list[Expr]) -> None:
        """Replace arguments out of reach by their remainders of π/2, out of the way.

        One test serves all the arguments known at the start of a part, so that their sines can be computed where they
        are needed, between other work, without a branch each. Which multiples of π/2 were left out is told by a pointer to
        the magic numbers of each group of arguments; where all are within reach, to the same constants for every group.
        """
        masks = [sincos_ir.emit_far(self.value(argument), self.let, self.lanes, self.real) for argument in arguments]
        beyond = masks[0]
        for mask in masks[1:]:
            beyond = self.let(f"or {self.mask} {beyond}, {mask}")
        any_far, tag = sincos_ir.emit_any(beyond, self.let, self.lanes), f"b{self.counter}"
        self.lines += [f"  br label %{tag}.here", f"{tag}.here:"]
        self.lines += [f"  br i1 {any_far}, label %{tag}.far, label %{tag}.near, !prof !0", f"{tag}.far:"]
        angles, groups = self._brought(arguments, f"%{tag}")
        self.lines += [f"  br label %{tag}.near", f"{tag}.near:"]
        groups = [self.let(f"phi ptr [ @near, %{tag}.here ], [ {group}, %{tag}.far ]") for group in groups]
        for k, (a, x) in enumerate(zip(arguments, angles, strict=True)):
            near = self.let(f"phi {self.D} [ {self.value(a)}, %{tag}.here ], [ {x}, %{tag}.far ]")
            self.near[a.index] = near, groups[k // GROUP], k % GROUP

    def _brought(self, arguments: list[Expr], room: str) -> tuple[list[str], list[str]]:
        """The remainders, and pointers to the magic numbers of each group; lanes within reach stay as they are, to the bit."""
        count, size = len(arguments), self.lanes * self.real.bytes
        self.head.append(f"  {room} = alloca [{2 * count} x {self.D}], align {size}")
        places = [self.let(f"getelementptr {self.D}, ptr {room}, i64 {k}") for k in range(count)]
        for argument, place in zip(arguments, places, strict=True):
            self.lines.append(f"  store {self.D} {self.value(argument)}, ptr {place}, align {size}")
        self.lines.append(f"  call void @bring_near(ptr {room}, i64 {count})")
        angles = [self.let(f"load {self.D}, ptr {place}, align {size}") for place in places]
        return angles, [self.let(f"getelementptr {self.D}, ptr {room}, i64 {count + k}") for k in range(0, count, GROUP)]

    def load_lanes(self, pointers: list[str], offset: int, *, constant: bool = True) -> str:
        """One entry of W rows as a vector.

        Inputs are constant: they never overlap outputs (NumPy copies them if they do), so loads may move past stores.
        """
        mark = CONSTANT if constant else ""
        result = "poison"
        for lane, pointer in enumerate(pointers):
            address = self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer
            scalar = self.let(f"load {self.real.name}, ptr {address}, align {self.real.bytes}{mark}")
            result = self.let(f"insertelement {self.D} {result}, {self.real.name} {scalar}, i32 {lane}")
        return result

    def store_lanes(self, value: str, pointers: list[str], offset: int) -> None:
        """A vector to one entry of W rows."""
        for lane, pointer in enumerate(pointers):
            address = self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer
            scalar = self.let(f"extractelement {self.D} {value}, i32 {lane}")
            self.lines.append(f"  store {self.real.name} {scalar}, ptr {address}, align {self.real.bytes}")


Pair = tuple[Expr, Expr | None, Expr | None]


def sincos_pairs(nodes: Iterable[Expr]) -> dict[int, Pair]:
    """For each sin or cos node's index: their common argument, the sine and the cosine."""
    pairs: dict[int, list[Expr | None]] = {}
    trigonometric = [node for node in nodes if node.op in ("sin", "cos")]
    for node in trigonometric:
        pair = pairs.setdefault(node.args[0].index, [node.args[0], None, None])
        pair[1 + (node.op == "cos")] = node
    return {node.index: tuple(pairs[node.args[0].index]) for node in trigonometric}  # type: ignore[misc]
