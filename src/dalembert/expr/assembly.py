"""Putting a time loop together: runs of scalars by name, and stages made from functions of scalars.

An integrator is a handful of small functions (combine these slopes, accept or reject) around a large one (the dynamics). Each
becomes a stage of a loop program; what passes between them lives in buffers, one vector of lanes per scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .graph import Expr, Graph, reachable
from .loops import Address, Carry, LoopProgram, Repeat, Stage, Step, Write
from .program import Program, Slot

PART_SIZE = 1800  # nodes of a stage: compile time grows faster than linearly in the size of one function
UNROLLED = 32  # turns up to which a loop that should be quick is written out


@dataclass(frozen=True)
class Cells:
    """A run of scalars in an input, an output or a buffer; with an `index`, in the row of that number, `pitch` entries long."""

    kind: str
    number: int
    start: int
    size: int
    index: tuple[int, int] | None = None
    pitch: int = 0

    def __getitem__(self, part: slice) -> Cells:
        begin, end, _ = part.indices(self.size)
        return replace(self, start=self.start + begin, size=end - begin)

    def singly(self) -> list[Cells]:
        """Each scalar as a run of its own."""
        return [self[k : k + 1] for k in range(self.size)]

    def row(self, index: Cells, pitch: int) -> Cells:
        """The same run in the row whose number a buffer's cell holds."""
        return replace(self, index=index.place, pitch=pitch)

    @property
    def place(self) -> tuple[int, int]:
        """Buffer and entry of the first scalar, as an index or a condition."""
        assert self.kind == "buffer"
        return self.number, self.start

    def cell(self, k: int) -> Address:
        """Scalar k, in straight-line code."""
        return Address(self.kind, self.number, 0, 1, self.start + k, self.index, self.pitch)

    def by_turn(self) -> Address:
        """Scalar t in turn t; a single scalar in every turn."""
        return Address(self.kind, self.number, int(self.size > 1), 1, self.start, self.index, self.pitch)


class Assembly:
    """A loop program in the making."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Slot] = []
        self.outputs: list[Slot] = []
        self.buffers: list[int] = []
        self.table: list[float] = []

    def input(self, name: str, size: int) -> Cells:
        """A further input; `size` entries, or of each of its rows."""
        self.inputs.append(Slot(name, (size,)))
        return Cells("input", len(self.inputs) - 1, 0, size)

    def output(self, name: str, size: int) -> Cells:
        """A further output; `size` entries, or of each of its rows."""
        self.outputs.append(Slot(name, (size,)))
        return Cells("output", len(self.outputs) - 1, 0, size)

    def buffer(self, size: int = 1) -> Cells:
        """Memory for scalars between stages."""
        self.buffers.append(size)
        return Cells("buffer", len(self.buffers) - 1, 0, size)

    def finish(self, steps: Sequence[Step]) -> LoopProgram:
        """The program that runs these steps."""
        slots = tuple(self.inputs), tuple(self.outputs)
        return LoopProgram(self.name, *slots, tuple(self.buffers), np.array(self.table), tuple(steps))

    def once(self, function: Callable[..., Any], sources: Sequence[Cells], targets: Sequence[Cells]) -> list[Step]:
        """Straight-line code: function(list of scalars per source) -> list of scalars per target."""
        graph = Graph()
        reads, given = {}, []
        for k, cells in enumerate(sources):
            nodes = [graph.input(f"x{k}[{j}]") for j in range(cells.size)]
            reads.update({node: cells.cell(j) for j, node in enumerate(nodes)})
            given.append(nodes)
        results = function(*given)
        writes = [
            Write(scalar, cells.cell(j))
            for cells, result in zip(targets, results, strict=True)
            for j, scalar in enumerate(_exactly(cells.size, result))
        ]
        return self._cut(reads, writes)

    def each(
        self,
        turns: int,
        function: Callable[..., Any],
        sources: Sequence[Cells],
        targets: Sequence[Cells],
        *,
        sums: Sequence[Cells] = (),
        quick: bool = False,
    ) -> list[Step]:
        """The same for every entry: function(scalar per source) -> scalar per target, then per sum to be added to.

        A source of one scalar is the same in every turn. A quick one is written out if the turns are few.
        """
        if quick and turns <= UNROLLED and not sums:
            return self.once(lambda *lists: _transposed(turns, function, lists), sources, targets)
        graph = Graph()
        reads = [(graph.input(f"x{k}"), cells.by_turn()) for k, cells in enumerate(sources)]
        results = function(*(node for node, _ in reads))
        places = [*targets, *sums]
        writes = tuple(
            Write(scalar, cells.by_turn(), add=k >= len(targets))
            for k, (scalar, cells) in enumerate(zip(results, places, strict=True))
        )
        nodes = tuple(node for node in reachable(results) if node.op != "input")
        columns = (np.zeros(turns, np.int64), np.arange(turns))
        return [Stage(turns, columns, tuple(reads), nodes, writes)]

    def embed(self, program: Program | LoopProgram, sources: Sequence[Cells], targets: Sequence[Cells]) -> list[Step]:
        """A program as part of this one, its inputs and outputs at the given places."""
        if isinstance(program, LoopProgram):
            return self._adopted(program, sources, targets)
        reads = {
            node: cells.cell(j) for cells, nodes in zip(sources, program.entries, strict=True) for j, node in enumerate(nodes)
        }
        writes = [
            Write(scalar, cells.cell(j))
            for cells, result in zip(targets, program.results, strict=True)
            for j, scalar in enumerate(result)
        ]
        return self._cut(reads, writes)

    def _cut(self, reads: dict[Expr, Address], writes: list[Write]) -> list[Step]:
        """Stages of bounded size; values that cross a cut, and results that overwrite what is read, wait in a buffer."""
        nodes = reachable(write.scalar for write in writes)
        order = [node for node in nodes if node.op not in ("const", "input")]
        if len(order) <= PART_SIZE * 3 // 2:
            return [_stage(order, reads, writes)]
        parts = [order[k : k + PART_SIZE] for k in range(0, len(order), PART_SIZE)]
        home = {node: k for k, part in enumerate(parts) for node in part}
        overwriting = [write for write in writes if write.address in set(reads.values())]
        wanted = {a for node in order for a in node.args if a in home and home[a] != home[node]}
        wanted |= {write.scalar for write in overwriting if write.scalar in home}
        kept = dict(zip(sorted(wanted, key=lambda node: node.index), range(len(wanted)), strict=True))
        cells = self.buffer(len(kept))
        crossing = {node: cells.cell(k) for node, k in kept.items()}
        steps: list[Step] = []
        for k, part in enumerate(parts):
            own = [
                w for w in writes if w not in overwriting and (home.get(w.scalar, 0) if isinstance(w.scalar, Expr) else 0) == k
            ]
            own += [Write(node, crossing[node]) for node in part if node in crossing]
            steps.append(_stage(part, reads | {n: a for n, a in crossing.items() if home[n] < k}, own))
        return [*steps, _stage([], reads | crossing, overwriting)] if overwriting else steps

    def _adopted(self, program: LoopProgram, sources: Sequence[Cells], targets: Sequence[Cells]) -> list[Step]:
        """The stages of another program, with its buffers and constants behind those of this one."""
        buffers, constants = len(self.buffers), len(self.table)
        self.buffers += program.buffers
        self.table += [float(x) for x in np.ravel(program.table)]

        def moved(a: Address) -> Address:
            if a.kind == "table":
                return replace(a, offset=a.offset + constants)
            if a.kind == "buffer":
                return replace(a, number=a.number + buffers)
            cells = (sources if a.kind == "input" else targets)[a.number]
            place = replace(a, kind=cells.kind, number=cells.number, offset=a.offset + cells.start)
            return replace(place, index=cells.index, pitch=cells.pitch)

        return [_with_addresses(step, moved, buffers) for step in program.stages]


def _with_addresses(step: Step, moved: Callable[[Address], Address], buffers: int) -> Step:
    """A step of another program, its addresses moved; conditions of repetitions are in buffers, which come later by a number."""
    if isinstance(step, Repeat):
        condition = step.condition[0] + buffers, step.condition[1]
        return Repeat(condition, tuple(_with_addresses(inner, moved, buffers) for inner in step.steps))
    reads = tuple((node, moved(a)) for node, a in step.reads)
    writes = tuple(replace(w, address=moved(w.address)) for w in step.writes)
    carried = tuple(Carry(c.node, moved(c.first), c.scalar) for c in step.carried)
    return replace(step, reads=reads, writes=writes, carried=carried)


def _stage(part: list[Expr], reads: dict[Expr, Address], writes: list[Write]) -> Stage:
    """One stage of straight-line code, with the constants and reads it needs."""
    own = set(part)
    scalars = [write.scalar for write in writes if isinstance(write.scalar, Expr)]
    used = {a.index: a for a in (*(a for node in part for a in node.args), *scalars) if a not in own}
    consts = [node for node in used.values() if node.op == "const"]
    taken = tuple((node, reads[node]) for node in used.values() if node.op != "const")
    return Stage(1, (np.zeros(1, np.int64),), taken, (*consts, *part), tuple(writes))


def _transposed(turns: int, function: Callable[..., Any], lists: Sequence[list[Any]]) -> list[list[Any]]:
    results = [function(*(row[t] if len(row) > 1 else row[0] for row in lists)) for t in range(turns)]
    return [list(column) for column in zip(*results, strict=True)]


def _exactly(size: int, result: Any) -> list[Any]:
    scalars = list(result) if isinstance(result, (list, tuple)) else [result]
    assert len(scalars) == size
    return scalars
