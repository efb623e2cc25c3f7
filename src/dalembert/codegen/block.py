"""Straight-line LLVM IR for nodes of a graph: one vector register per node, one lane per configuration."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Expr
from . import sincos
from .real import DOUBLE, Real
from .rows import Rows
from .sincos import splat

CONSTANT = ", !invariant.load !1"  # mark of a load that may move past stores
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


def declarations(lanes: int, real: Real = DOUBLE) -> list[str]:
    """External functions every module may call."""
    D = real.vector(lanes)
    return [
        *(f"declare {D} {real.intrinsic(name, lanes)}({D})" for name in ("fabs", "sqrt")),
        "declare double @sin(double)",
        "declare double @cos(double)",
        "declare double @atan2(double, double)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        *_wrap_function(lanes, real),
    ]


def _wrap_function(lanes: int, real: Real) -> list[str]:
    """The angle in (-π, π] equal to each lane's, through the C library, for arguments beyond reach of the vector sine."""
    block, value = Block(lanes, real), "poison"
    for lane in range(lanes):
        x = block.extracted("%x", lane)
        s, c = (block.let(f"call double @{name}(double {x})") for name in ("sin", "cos"))
        value = block.inserted(value, block.let(f"call double @atan2(double {s}, double {c})"), lane)
    head = f"define internal {block.D} @wrap({block.D} %x) cold noinline {{"
    return [head, *block.lines, f"  ret {block.D} {value}", "}"]


class Pool:
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

    @property
    def ends(self) -> tuple[str, str] | None:
        """The first and the last global, if there are any."""
        names = list(self.names.values())
        return (names[0], names[-1]) if names else None

    def definitions(self) -> list[str]:
        """The lines of the module."""
        kind, size = self.real.vector(self.lanes), self.lanes * self.real.bytes
        return [f"{name} = internal unnamed_addr constant {kind} {text}, align {size}" for text, name in self.names.items()]


class Block:
    """Straight-line code for nodes of a graph, with one register per node."""

    def __init__(self, lanes: int, real: Real = DOUBLE, pool: Pool | None = None) -> None:
        self.lanes = lanes
        self.real = real
        self.pool = pool
        self.D = real.vector(lanes)
        self.mask = f"<{lanes} x i1>"
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.masks: dict[int, str] = {}
        self.near: dict[int, str] = {}  # arguments of sine and cosine, brought within reach
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
        result = "poison"
        for lane in range(self.lanes):
            y, x = (self.extracted(self.value(v), lane) for v in (a, b))
            result = self.inserted(result, self.let(f"call double @atan2(double {y}, double {x})"), lane)
        return result

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
        s, c = sincos.emit(self.near.get(argument.index) or self.value(argument), self.let, self.lanes, self.real, self.operand)
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
            mask = sincos.emit_far(self.value(argument), self.let, self.lanes, self.real)
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
        mask = sincos.emit_far(x, self.let, self.lanes, self.real)
        return self.select(mask, self.let(f"call {self.D} @wrap({self.D} {x})"), x)

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
