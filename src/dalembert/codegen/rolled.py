"""A loop program as LLVM IR text: one function per stage, a loop over its turns, SIMD over the batch as in llvm.py.

Index columns become tables of byte offsets in the module, so that a turn finds its rows by one load each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..expr import Expr
from ..expr.loops import Address, LoopProgram, Stage, Write
from .llvm import Block, declarations, doors, sincos_pairs
from .loop import Layout
from .sincos import hexadecimal, splat


def emit(program: LoopProgram, lanes: int, *, x86: bool = True) -> str:
    """The whole module of a loop program."""
    bases = np.concatenate([[0], np.cumsum(program.buffers)]) * lanes * 8
    numbers = ", ".join(f"double {hexadecimal(x)}" for x in program.table) or "double 0.0"
    table = f"@table = internal constant [{max(len(program.table), 1)} x double] [{numbers}], align 64"
    stages = [_StageCode(program, k, lanes, bases).emit() for k in range(len(program.stages))]
    body = ["define internal void @body(ptr noalias %lanes, ptr noalias %scratch) {"]
    body += [f"  call void @stage_{k}(ptr %lanes, ptr %scratch)" for k in range(len(stages))]
    body += ["  ret void", "}"]
    entry = doors(Layout(program.inputs, program.outputs, lanes, x86), sum(program.buffers))
    return "\n".join([*declarations(lanes), table, *(line for stage in stages for line in stage), *body, *entry])


class _StageCode:
    """One stage: offsets as a constant array, a head that loads lane pointers, the loop."""

    def __init__(self, program: LoopProgram, number: int, lanes: int, bases: Any) -> None:
        self.program = program
        self.number = number
        self.stage: Stage = program.stages[number]
        self.lanes = lanes
        self.bases = bases
        self.block = Block(lanes)
        self.sources = {node.index: address for node, address in self.stage.reads}
        self.offsets: dict[tuple[str, int, int, int], int] = {}  # (kind, array, column, stride) -> place among the offsets
        self.head: list[str] = []
        self.pointers: dict[int, list[str]] = {}

    def emit(self) -> list[str]:
        """The lines of the stage's function, its offsets first."""
        overwritten = {write.address for write in self.stage.writes}
        for node, address in self.stage.reads:
            if address in overwritten:  # the old value may be wanted after the new one is stored
                self.block.values[node.index] = self._load(address)
        self._compute()
        for write in self.stage.writes:
            if not isinstance(write.scalar, Expr) or write.scalar.op in ("const", "input"):
                self._write(write)
        return [*self._offset_table(), *self._frame()]

    def _compute(self) -> None:
        """The nodes in order; values are loaded at first use and stored at once, which spares registers."""
        block = self.block
        pairs = sincos_pairs(self.stage.nodes)
        pending: dict[int, list[Write]] = {}
        for write in self.stage.writes:
            if isinstance(write.scalar, Expr):
                pending.setdefault(write.scalar.index, []).append(write)
        for node in self.stage.nodes:
            for a in node.args:
                self._fetch(a)
            if node.op in ("sin", "cos") and node.index not in block.values:
                if node.args[0].index not in block.near:
                    block.bring_near([node.args[0]])
                block.sincos(*pairs[node.index])
            elif node.op not in ("const", "sin", "cos"):
                block.compute(node)
            for write in pending.get(node.index, ()) if node.op != "const" else ():
                self._write(write)

    def _fetch(self, node: Expr) -> None:
        if node.op == "input" and node.index not in self.block.values:
            self.block.values[node.index] = self._load(self.sources[node.index])

    def _write(self, write: Write) -> None:
        if isinstance(write.scalar, Expr):
            self._fetch(write.scalar)
            value = self.block.value(write.scalar)
        else:
            value = splat(write.scalar, self.lanes)
        self._store(value, write.address, write.add)

    def _frame(self) -> list[str]:
        k, turns = self.number, self.stage.turns
        return [
            f"define internal void @stage_{k}(ptr noalias %lanes, ptr noalias %scratch) noinline {{",
            "entry:",
            *self.head,
            "  br label %turn",
            "turn:",
            "  %t = phi i64 [ 0, %entry ], [ %t.next, %turned ]",
            f"  %row = mul i64 %t, {max(len(self.offsets), 1) * 8}",
            f"  %offsets = getelementptr i8, ptr @offsets_{k}, i64 %row",
            *self._offset_loads(),
            *self.block.lines,
            "  br label %turned",
            "turned:",
            "  %t.next = add i64 %t, 1",
            f"  %t.more = icmp slt i64 %t.next, {turns}",
            "  br i1 %t.more, label %turn, label %done",
            "done:",
            "  ret void",
            "}",
        ]

    def _offset_loads(self) -> list[str]:
        lines = []
        for place in self.offsets.values():
            lines += [
                f"  %o{place}.at = getelementptr i8, ptr %offsets, i64 {place * 8}",
                f"  %o{place} = load i64, ptr %o{place}.at, align 8",
            ]
        return lines

    def _offset_table(self) -> list[str]:
        rows = np.zeros((self.stage.turns, max(len(self.offsets), 1)), dtype=np.int64)
        for (kind, _, column, stride), place in self.offsets.items():
            rows[:, place] = self.stage.columns[column] * stride * self._size(kind)
        numbers = ", ".join(f"i64 {x}" for x in rows.ravel())
        return [f"@offsets_{self.number} = internal constant [{rows.size} x i64] [{numbers}], align 64"]

    def _size(self, kind: str) -> int:
        return 8 * self.lanes if kind == "buffer" else 8

    def _offset(self, a: Address) -> str:
        key = (a.kind, a.number if a.kind != "table" else 0, a.column, a.stride)
        return f"%o{self.offsets.setdefault(key, len(self.offsets))}"

    def _pointer(self, base: str, a: Address, extra: int = 0) -> str:
        block = self.block
        row = block.let(f"getelementptr i8, ptr {base}, i64 {self._offset(a)}")
        return block.let(f"getelementptr i8, ptr {row}, i64 {a.offset * self._size(a.kind) + extra}")

    def _lanes_of(self, a: Address) -> list[str]:
        """Pointers to the entry in the rows of an input or output."""
        array = a.number + (len(self.program.inputs) if a.kind == "output" else 0)
        if array not in self.pointers:
            names = [f"%a{array}.{lane}" for lane in range(self.lanes)]
            for lane, name in enumerate(names):
                place = (array * self.lanes + lane) * 8
                self.head += [
                    f"  {name}.at = getelementptr i8, ptr %lanes, i64 {place}",
                    f"  {name} = load ptr, ptr {name}.at, align 8",
                ]
            self.pointers[array] = names
        return [self._pointer(name, a) for name in self.pointers[array]]

    def _load(self, a: Address) -> str:
        block = self.block
        if a.kind == "table":
            scalar = block.let(f"load double, ptr {self._pointer('@table', a)}, align 8, !invariant.load !1")
            first = block.let(f"insertelement {block.D} poison, double {scalar}, i32 0")
            zeros = f"<{self.lanes} x i32> zeroinitializer"
            return block.let(f"shufflevector {block.D} {first}, {block.D} poison, {zeros}")
        if a.kind == "buffer":
            pointer = self._pointer("%scratch", a, int(self.bases[a.number]))
            return block.let(f"load {block.D}, ptr {pointer}, align {8 * self.lanes}")
        return block.load_lanes(self._lanes_of(a), 0, constant=a.kind == "input")

    def _store(self, value: str, a: Address, add: bool) -> None:
        block = self.block
        if add:
            value = block.let(f"fadd contract {block.D} {self._load(a)}, {value}")
        if a.kind == "buffer":
            pointer = self._pointer("%scratch", a, int(self.bases[a.number]))
            block.lines.append(f"  store {block.D} {value}, ptr {pointer}, align {8 * self.lanes}")
        else:
            block.store_lanes(value, self._lanes_of(a), 0)
