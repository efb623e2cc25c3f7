"""Straight-line LLVM IR for nodes of a graph: one vector register per node, one lane per configuration."""

from __future__ import annotations

from collections.abc import Iterable

from ..expr import Expr
from . import far_angles_ir, sincos_ir
from .ir import CONSTANT, UNLIKELY, FunctionBuilder, Vectors, splat
from .precision import DOUBLE, Real
from .rows_ir import Rows

GROUP = 8  # sines and cosines computed at once
_BINARY = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}


def declarations(lines: list[str], lanes: int, real: Real = DOUBLE) -> list[str]:
    """External functions every module may call, and what its lines call for large angles: LLVM compiles it though none do."""
    D = real.vector(lanes)
    far = any("@bring_near(" in line for line in lines)
    return [
        *(f"declare {D} {real.intrinsic(name, lanes)}({D})" for name in ("fabs", "sqrt")),
        "declare double @atan2(double, double)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        *(far_angles_ir.functions(lanes, real) if far else ()),
    ]


class ConstantPool:
    """Constants of a module as whole vectors in memory, so that arithmetic instructions can read them directly.

    LLVM would keep one number, and copy it to all lanes of a register before each use.
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


class NodeCode(FunctionBuilder):
    """Straight-line code for nodes of a graph, with one register per node."""

    def __init__(self, lanes: int, real: Real = DOUBLE, pool: ConstantPool | None = None) -> None:
        super().__init__()
        self.lanes = lanes
        self.real = real
        self.pool = pool
        self.v = Vectors(self, lanes, real)
        self.rows = Rows(self.v)
        self.values: dict[int, str] = {}
        self.masks: dict[int, str] = {}
        self.head: list[str] = []  # lines that belong at the start of the function
        # Arguments of sine and cosine within reach: register, pointer to the magic numbers of the group, place in the group.
        self.near: dict[int, tuple[str, str, int]] = {}

    def value(self, node: Expr) -> str:
        """The register (or constant) that holds a node."""
        if node.op == "const":
            return self.v.number(node.value)
        if node.index not in self.values:  # a comparison used as a number
            self.values[node.index] = self.let(f"uitofp {self.v.mask_kind} {self.masks[node.index]} to {self.v.kind}")
        return self.values[node.index]

    def operand(self, value: float) -> str:
        """A constant for arithmetic, from the pool if there is one."""
        return self.v.number(value) if self.pool is None else self.v.load(self.pool.name(value), CONSTANT)

    def _operand(self, node: Expr) -> str:
        return self.operand(node.value) if node.op == "const" else self.value(node)

    def compute(self, node: Expr) -> None:
        """Emit one node; inputs, sines and cosines are emitted elsewhere."""
        op = node.op
        if op in _BINARY:
            a, b = map(self._operand, node.args)
            self.values[node.index] = self.v.op(_BINARY[op], a, b)
        elif op in _COMPARE:
            self.masks[node.index] = self.v.compare(_COMPARE[op], *map(self.value, node.args))
        else:
            self.values[node.index] = getattr(self, f"_{op}")(*node.args)

    def _neg(self, a: Expr) -> str:
        return self.v.negated(self.value(a))

    def _sqrt(self, a: Expr) -> str:
        return self.v.call("sqrt", self.value(a))

    def _abs(self, a: Expr) -> str:
        return self.v.call("fabs", self.value(a))

    def _sign(self, a: Expr) -> str:
        x = self.value(a)
        up, down = (self.v.compare(how, x) for how in ("ogt", "olt"))
        part = self.v.select(up, self.v.number(1.0), x)  # 0 and NaN stay as they are
        return self.v.select(down, self.v.number(-1.0), part)

    def _min(self, a: Expr, b: Expr) -> str:
        return self._extreme("olt", a, b)

    def _max(self, a: Expr, b: Expr) -> str:
        return self._extreme("ogt", a, b)

    def _extreme(self, how: str, a: Expr, b: Expr) -> str:
        x, y = self.value(a), self.value(b)
        chosen = self.v.select(self.v.compare(how, y, x), y, x)
        return self.v.select(self.v.compare("uno", y, y), y, chosen)  # NaN on either side wins

    def _where(self, condition: Expr, a: Expr, b: Expr) -> str:
        mask = self.masks.get(condition.index)
        if mask is None:
            mask = self.v.compare("une", self.value(condition))
        return self.v.select(mask, self.value(a), self.value(b))

    def _atan2(self, a: Expr, b: Expr) -> str:
        result, sides = "poison", [self._with_plain_zeros(self.value(v)) for v in (a, b)]
        for lane in range(self.lanes):
            y, x = (self._as_double(self.v.lane(side, lane)) for side in sides)
            result = self.v.with_lane(result, self._from_double(self.let(f"call double @atan2(double {y}, double {x})")), lane)
        return result

    def _with_plain_zeros(self, x: str) -> str:
        """Numbers that count as zero (float_mode_ir.py) replaced by zero: the C library reads their bits."""
        sign = self.v.integers(-(2 ** (8 * self.real.bytes - 1)))
        zero = self.v.integer_op("and", self.v.bits(x), sign)
        is_zero = self.v.compare("oeq", x)
        return self.v.select(is_zero, self.v.from_bits(zero), x)

    def _as_double(self, x: str) -> str:
        """A number as the C library takes it."""
        return x if self.real is DOUBLE else self.let(f"fpext {self.real.name} {x} to double")

    def _from_double(self, x: str) -> str:
        return x if self.real is DOUBLE else self.let(f"fptrunc double {x} to {self.real.name}")

    def sincos(self, argument: Expr, sine: Expr | None, cosine: Expr | None) -> None:
        """Sine and cosine of an argument already within reach."""
        x, group, place = self.near[argument.index]
        magic = self.v.load(self._vector_at(group, place) if place else group)
        found = sincos_ir.emit(self.v, x, magic, self.operand)
        for node, value in zip((sine, cosine), found, strict=True):
            if node is not None:
                self.values[node.index] = value

    def _vector_at(self, pointer: str, place: int) -> str:
        return self.let(f"getelementptr {self.v.kind}, ptr {pointer}, i64 {place}")

    def bring_near(self, arguments: list[Expr]) -> None:
        """Replace arguments out of reach by their remainders of π/2, in a branch that is hardly ever taken.

        One test serves all the arguments known at the start of a part, so that their sines can be computed where they
        are needed, between other work, without a branch each. Which multiples of π/2 were left out is in the magic numbers of
        each group of arguments, found by a pointer; where all are within reach, every group has the same constants.
        """
        masks = [sincos_ir.emit_far(self.v, self.value(argument)) for argument in arguments]
        beyond = masks[0]
        for mask in masks[1:]:
            beyond = self.let(f"or {self.v.mask_kind} {beyond}, {mask}")
        any_far, tag = self.v.any(beyond), f"b{self.count}"
        here, far, near = (f"{tag}.{name}" for name in ("here", "far", "near"))
        self.go(here)
        self.label(here)
        self.go_if(any_far, far, near, UNLIKELY)
        self.label(far)
        angles, groups = self._brought(arguments, f"%{tag}")
        self.go(near)
        self.label(near)
        groups = [self.phi("ptr", {here: "@near", far: group}) for group in groups]
        for k, (a, x) in enumerate(zip(arguments, angles, strict=True)):
            self.near[a.index] = self.phi(self.v.kind, {here: self.value(a), far: x}), groups[k // GROUP], k % GROUP

    def _brought(self, arguments: list[Expr], room: str) -> tuple[list[str], list[str]]:
        """The remainders, and pointers to the magic numbers of each group; lanes within reach stay as they are, to the bit."""
        count = len(arguments)
        self.head.append(f"  {room} = alloca [{2 * count} x {self.v.kind}], align {self.v.size}")
        places = [self._vector_at(room, k) for k in range(count)]
        for argument, place in zip(arguments, places, strict=True):
            self.v.store(self.value(argument), place)
        self.line(f"call void @bring_near(ptr {room}, i64 {count})")
        angles = [self.v.load(place) for place in places]
        return angles, [self._vector_at(room, count + k) for k in range(0, count, GROUP)]

    def load_lanes(self, pointers: list[str], offset: int, *, constant: bool = True) -> str:
        """One entry of W rows as a vector.

        Inputs are constant: they never overlap outputs (NumPy copies them if they do), so loads may move past stores.
        """
        result = "poison"
        for lane, pointer in enumerate(pointers):
            scalar = self.load(self.real.name, self._entry(pointer, offset), self.real.bytes, CONSTANT if constant else "")
            result = self.v.with_lane(result, scalar, lane)
        return result

    def store_lanes(self, value: str, pointers: list[str], offset: int) -> None:
        """A vector to one entry of W rows."""
        for lane, pointer in enumerate(pointers):
            address = self._entry(pointer, offset)
            self.store(self.real.name, self.v.lane(value, lane), address, self.real.bytes)

    def _entry(self, pointer: str, offset: int) -> str:
        return self.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer


Pair = tuple[Expr, Expr | None, Expr | None]


def sincos_pairs(nodes: Iterable[Expr]) -> dict[int, Pair]:
    """For each sin or cos node's index: their common argument, the sine and the cosine."""
    pairs: dict[int, list[Expr | None]] = {}
    trigonometric = [node for node in nodes if node.op in ("sin", "cos")]
    for node in trigonometric:
        pair = pairs.setdefault(node.args[0].index, [node.args[0], None, None])
        pair[1 + (node.op == "cos")] = node
    return {node.index: tuple(pairs[node.args[0].index]) for node in trigonometric}  # type: ignore[misc]
