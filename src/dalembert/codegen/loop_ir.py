"""A loop program as LLVM IR text: one function per stage, a loop over its turns, SIMD over the batch as in straight_ir.py.

Index columns become tables of byte offsets in the module, so that a turn finds each of its rows by one load. A stage that
occurs in several places of the program is one function, called from each of them. A repetition is a branch back, taken while
the condition is not 0 in some lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..expr import Expr
from ..expr.loop_passes import entries
from ..expr.loops import Address, LoopProgram, Repeat, Stage, Step, Write, stages_of
from .batch_loop_ir import Layout
from .ir import CONSTANT, FunctionBuilder, Vectors, function, hexadecimal, table
from .node_ir import ConstantPool, NodeCode, declarations, sincos_pairs
from .precision import DOUBLE
from .rows_ir import STORE_RUN, lane_pointers
from .straight_ir import ALIGNED, entry_points

_ALIGN = 256  # alignment of the code that calls the stages, see batch_loop_ir.py


def emit(program: LoopProgram, lanes: int, *, x86: bool = True) -> str:
    """The whole module of a loop program."""
    entry = entry_points(Layout(program.inputs, program.outputs, lanes, x86), sum(program.buffers))
    body = emit_body(program, lanes)
    return "\n".join([*declarations(body, lanes), *body, *entry])


def emit_body(program: LoopProgram, lanes: int) -> list[str]:
    """`@body` with all it calls: the table, one function per stage."""
    bases = np.concatenate([[0], np.cumsum(program.buffers)]) * lanes * 8
    numbers = table("@table", "double", [hexadecimal(x) for x in program.table] or ["0.0"])
    unique = {id(stage): stage for stage in stages_of(program.stages)}
    numbered = {key: k for k, key in enumerate(unique)}
    pool = ConstantPool(lanes, DOUBLE)
    functions = [_StageCode(program, stage, k, pool, bases).emit() for k, stage in enumerate(unique.values())]
    stages = [line for function in functions for line in function]
    return [numbers, *stages, *_BodyCode(numbered, lanes, bases).emit(program.stages), *pool.definitions()]


class _BodyCode(FunctionBuilder):
    """`@body`: the stages called in order, repetitions as branches."""

    def __init__(self, numbered: dict[int, int], lanes: int, bases: Any) -> None:
        super().__init__()
        self.numbered = numbered
        self.v = Vectors(self, lanes, DOUBLE)
        self.bases = bases
        self.repetitions = 0

    def emit(self, steps: Sequence[Step]) -> list[str]:
        """The lines of the function."""
        self._walk(steps)
        self.line("ret void")
        return function(f"internal void @body(ptr noalias %lanes, ptr noalias %scratch) noinline align {_ALIGN}", self.lines)

    def _walk(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, Repeat):
                self._repeat(step)
            else:
                self.line(f"call void @stage_{self.numbered[id(step)]}(ptr %lanes, ptr %scratch)")

    def _repeat(self, step: Repeat) -> None:
        """Steps run while the condition is not 0 in some lane."""
        self.repetitions += 1
        ask, do, over = (f"{name}{self.repetitions}" for name in ("ask", "do", "over"))
        buffer, entry = step.condition
        self.go(ask)
        self.label(ask)
        condition = self.v.load(self.at("%scratch", int(self.bases[buffer]) + entry * self.v.size))
        self.go_if(self.v.any(self.v.compare("une", condition)), do, over)
        self.label(do)
        self._walk(step.steps)
        self.go(ask)
        self.label(over)


class _StageCode:
    """One stage: offsets as a constant array, a head that loads row pointers, the loop."""

    def __init__(self, program: LoopProgram, stage: Stage, number: int, pool: ConstantPool, bases: Any) -> None:
        self.program = program
        self.number = number
        self.stage = stage
        self.lanes = pool.lanes
        self.bases = bases
        # A loop keeps its few constants in registers; sine and cosine have too many.
        many = stage.turns == 1 or any(node.op in ("sin", "cos") for node in stage.nodes)
        self.code = NodeCode(pool.lanes, pool=pool if many else None)
        self.pairs = sincos_pairs(stage.nodes)
        self.sources = {node.index: address for node, address in self.stage.reads}
        self.rows_read = {address: node.index for node, address in self.stage.reads}
        self.offsets: dict[tuple[str, int, int, int], int] = {}  # (kind, array, column, stride) -> place among the offsets
        self.written = {write.address for write in stage.writes}
        self.held: dict[Address, str] = {}  # results to be stored in rows of an output
        self.head = FunctionBuilder("h")  # before the loop
        self.tail = FunctionBuilder("last")  # after the loop
        self.phis: list[str] = []
        self.pointers: dict[tuple[int, tuple[int, int] | None, int], list[str]] = {}  # (array, index, pitch) -> one per lane

    def emit(self) -> list[str]:
        """The lines of the stage's function, its offsets first."""
        for k, carry in enumerate(self.stage.carried):
            self.code.values[carry.node.index] = f"%carry{k}"
        for node, address in self.stage.reads:
            if address in self.written:  # the old value may be needed after the new one is stored
                self.code.values[node.index] = self._load(address)
        self._compute()
        computed = {node.index for node in self.stage.nodes if node.op not in ("const", "input")}
        for write in self.stage.writes:
            if not isinstance(write.scalar, Expr) or write.scalar.index not in computed:
                self._write(write)
        self._store_rows()
        self._carry()
        return [*self._offset_table(), *self._frame()]

    def _carry(self) -> None:
        """The values each turn passes to the next, and those the first turn starts with."""
        for k, carry in enumerate(self.stage.carried):
            if isinstance(carry.scalar, Expr):
                self._fetch(carry.scalar)
                value = self.code.value(carry.scalar)
            else:
                value = self.code.v.number(carry.scalar)
            place = int(entries(self.stage, carry.first)[0]) * self._size("buffer") + int(self.bases[carry.first.number])
            first = self._load_before(place)
            self.phis.append(f"  %carry{k} = phi {self.code.v.kind} [ {first}, %entry ], [ {value}, %turned ]")

    def _load_before(self, place: int) -> str:
        """A vector of the scratch buffer, loaded before the loop."""
        v = self.code.v
        return self.head.load(v.kind, self.head.at("%scratch", place), v.size)

    def _compute(self) -> None:
        """The nodes in order; values are loaded, and sines computed, at first use, and stored at once, which saves registers."""
        pending: dict[int, list[Write]] = {}
        for write in self.stage.writes:
            if isinstance(write.scalar, Expr):
                pending.setdefault(write.scalar.index, []).append(write)
        self._bring_near()
        for node in self.stage.nodes:
            writes = pending.get(node.index, ()) if node.op not in ("const", "input") else ()
            if node.op in ("sin", "cos") and not writes:
                continue  # computed where it is first needed, between other work
            for a in node.args:
                self._fetch(a)
            self._fetch(node)
            for write in writes:
                self._write(write)

    def _bring_near(self) -> None:
        """Bring arguments of sine and cosine that are read, not computed, within reach, with one test for all of them."""
        read = {a.index: a for n in self.stage.nodes if n.op in ("sin", "cos") for a in n.args if a.index in self.sources}
        for a in read.values():
            self._fetch(a)
        if read:
            self.code.bring_near(list(read.values()))

    def _fetch(self, node: Expr) -> None:
        """Make the value of a node available: load it, or compute it from available values."""
        code = self.code
        if node.op == "const" or node.index in code.values or node.index in code.masks:
            return
        if node.index in self.sources:
            self._read(node)
        elif node.op in ("sin", "cos"):
            self._fetch(node.args[0])
            if node.args[0].index not in code.near:
                code.bring_near([node.args[0]])
            code.sincos(*self.pairs[node.index])
        else:
            code.compute(node)

    def _read(self, node: Expr) -> None:
        """The value of a node that is read; two that are adjacent in rows of an input are loaded together."""
        address = self.sources[node.index]
        if self.stage.turns > 1 or address.kind != "input":
            self.code.values[node.index] = self._load(address)
            return
        pair = [replace(address, offset=address.offset & ~1), replace(address, offset=address.offset | 1)]
        nodes = [self.rows_read.get(a) for a in pair]
        if None in nodes:
            self.code.values[node.index] = self._load(address)
            return
        values = self.code.rows.load(self._lanes_of(pair[0]), 0, 2, CONSTANT)
        for index, value in zip(nodes, values, strict=True):
            self.code.values.setdefault(index, value)  # type: ignore[arg-type]

    def _store_rows(self) -> None:
        """Store results in an output's rows, adjacent entries together."""
        while self.held:
            first = min(self.held, key=lambda a: a.offset)
            run = [first]
            while len(run) < STORE_RUN and replace(first, offset=first.offset + len(run)) in self.held:
                run.append(replace(first, offset=first.offset + len(run)))
            run = run[: 1 << (len(run).bit_length() - 1)] if len(run) <= self.lanes else run[: self.lanes]
            self.code.rows.store([self.held.pop(a) for a in run], self._lanes_of(first), 0)

    def _has_neighbour(self, a: Address) -> bool:
        """Whether a turn also writes to the entry before or after."""
        return not self.written.isdisjoint((replace(a, offset=a.offset - 1), replace(a, offset=a.offset + 1)))

    def _write(self, write: Write) -> None:
        if isinstance(write.scalar, Expr):
            self._fetch(write.scalar)
            value = self.code.value(write.scalar)
        else:
            value = self.code.v.number(write.scalar)
        if write.last and self.stage.turns > 1:
            self._store_last(value, write.address)
        else:
            self._store(value, write.address, write.add)

    def _store_last(self, value: str, a: Address) -> None:
        """Store, after the loop, what its last turn has computed."""
        assert a.kind == "buffer"
        place = int(entries(self.stage, a)[-1]) * self._size("buffer") + int(self.bases[a.number])
        self.tail.store(self.code.v.kind, value, self.tail.at("%scratch", place), self.code.v.size)

    def _frame(self) -> list[str]:
        head = f"internal void @stage_{self.number}(ptr noalias %lanes, ptr noalias %scratch) noinline {ALIGNED}"
        if self.stage.turns == 1:
            return function(head, [*self.code.head, *self.head.lines, *self.code.lines, "  ret void"])
        frame = FunctionBuilder("f")
        frame.label("entry")
        frame.lines += [*self.code.head, *self.head.lines]
        frame.go("turn")
        with frame.loop("turns", str(self.stage.turns), "turn", "done") as turn:
            frame.lines += self.phis
            self._load_offsets(frame, turn)
            frame.lines += self.code.lines
            frame.go("turned")
            frame.label("turned")
        frame.lines += [*self.tail.lines, "  ret void"]
        return function(head, frame.lines)

    def _load_offsets(self, frame: FunctionBuilder, turn: str) -> None:
        """Where the rows of this turn begin, as `%o0`, `%o1`, ..."""
        row = frame.let(f"mul i64 {turn}, {max(len(self.offsets), 1) * 8}", "row")
        offsets = frame.at(f"@offsets_{self.number}", row, "offsets")
        for key, place in self.offsets.items():
            begins = self._bytes(key)
            steps = np.diff(begins)
            if (steps != steps[0]).any():
                frame.load_at("i64", offsets, place * 8, name=f"o{place}")
            else:  # rows at equal distances need no table
                distance = frame.let(f"mul i64 {turn}, {steps[0]}", f"o{place}.t")
                frame.let(f"add i64 {distance}, {begins[0]}", f"o{place}")

    def _offset_table(self) -> list[str]:
        if self.stage.turns == 1:
            return []
        rows = np.zeros((self.stage.turns, max(len(self.offsets), 1)), dtype=np.int64)
        for key, place in self.offsets.items():
            rows[:, place] = self._bytes(key)
        return [table(f"@offsets_{self.number}", "i64", [str(x) for x in rows.ravel()])]

    def _bytes(self, key: tuple[str, int, int, int]) -> Any:
        """Where a row begins, turn by turn."""
        kind, _, column, stride = key
        return self.stage.columns[column] * stride * self._size(kind)

    def _size(self, kind: str) -> int:
        return 8 * self.lanes if kind == "buffer" else 8

    def _offset(self, a: Address) -> str:
        if self.stage.turns == 1:
            return str(int(self.stage.columns[a.column][0]) * a.stride * self._size(a.kind))
        key = (a.kind, a.number if a.kind != "table" else 0, a.column, a.stride)
        return f"%o{self.offsets.setdefault(key, len(self.offsets))}"

    def _pointer(self, base: str, a: Address, extra: int = 0) -> str:
        return self.code.at(self.code.at(base, self._offset(a)), a.offset * self._size(a.kind) + extra)

    def _lanes_of(self, a: Address) -> list[str]:
        """Pointers to the entry in the rows of an input or output."""
        array = a.number + (len(self.program.inputs) if a.kind == "output" else 0)
        key = (array, a.index, a.pitch)
        if key not in self.pointers:
            rows = lane_pointers(self.head, array, self.lanes)
            self.pointers[key] = rows if a.index is None else self._moved(rows, a.index, a.pitch)
        return [self._pointer(name, a) for name in self.pointers[key]]

    def _moved(self, rows: list[str], index: tuple[int, int], pitch: int) -> list[str]:
        """Each lane's pointer moved on by its own index, read from a buffer."""
        head, v, (buffer, entry) = self.head, self.code.v, index
        found = self._load_before(int(self.bases[buffer]) + entry * v.size)
        numbers = head.let(f"fptosi {v.kind} {found} to {v.integer_kind}")
        moved = []
        for lane, row in enumerate(rows):
            number = head.let(f"extractelement {v.integer_kind} {numbers}, i32 {lane}")
            moved.append(head.at(row, head.let(f"mul i64 {number}, {8 * pitch}")))
        return moved

    def _load(self, a: Address) -> str:
        code, v = self.code, self.code.v
        if a.kind == "table":
            first = v.with_lane("poison", code.load("double", self._pointer("@table", a), mark=CONSTANT), 0)
            return code.let(f"shufflevector {v.kind} {first}, {v.kind} poison, <{self.lanes} x i32> zeroinitializer")
        if a.kind == "buffer":
            return v.load(self._pointer("%scratch", a, int(self.bases[a.number])))
        return code.load_lanes(self._lanes_of(a), 0, constant=a.kind == "input")

    def _store(self, value: str, a: Address, add: bool) -> None:
        v = self.code.v
        if add:
            value = v.op("fadd contract", self._load(a), value)
        if a.kind == "buffer":
            v.store(value, self._pointer("%scratch", a, int(self.bases[a.number])))
        elif not add and (self.stage.turns == 1 or self._has_neighbour(a)):
            self.held[a] = value
        else:
            self.code.store_lanes(value, self._lanes_of(a), 0)
