"""Loop programs: a sequence of loops, each with a graph as its body, over vectors kept in buffers.

Where a program would repeat the same few operations for hundreds of joints, a loop program holds them once and reads what
differs from a table of constants. Addresses are index columns: in turn t of a stage, a scalar is found at
`column[t] · stride + offset` of an input, an output, a buffer or the table. Where configurations differ, each adds an
index of its own, read from a buffer; and stages can be repeated until every configuration is done, which makes a time loop of
them. This module also evaluates such programs in NumPy, which defines what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import FloatArray
from .graph import Expr
from .interpret import batch_shape, evaluate
from .program import Slot

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Address:
    """Where a scalar is, in each turn: array `number` of a kind ('input', 'output', 'buffer', 'table'), entry by turn.

    With an `index` (a buffer and an entry in it), each configuration adds its own `pitch · index` to the entry.
    """

    kind: str
    number: int
    column: int
    stride: int
    offset: int
    index: tuple[int, int] | None = None
    pitch: int = 0


@dataclass(frozen=True)
class Write:
    """A scalar (node or number) put at an address, or added to what is there; in every turn, or in the last one only."""

    scalar: Any
    address: Address
    add: bool = False
    last: bool = False


@dataclass(frozen=True)
class Carry:
    """A scalar handed from turn to turn: `node` is what is at `first` in the first turn, then the `scalar` of the turn before."""

    node: Expr
    first: Address
    scalar: Any


@dataclass(frozen=True, eq=False)
class Stage:
    """One loop: the nodes of its body, where its inputs come from, where its results go, what its turns hand on."""

    turns: int
    columns: tuple[IntArray, ...]
    reads: tuple[tuple[Expr, Address], ...]
    nodes: tuple[Expr, ...]
    writes: tuple[Write, ...]
    carried: tuple[Carry, ...] = ()


@dataclass(frozen=True, eq=False)
class Repeat:
    """Steps run again and again while a buffer's entry (0 or not) is not 0 in some configuration; not at all if it is 0 in all.

    A configuration that is done still takes part: the steps must leave it as it is.
    """

    condition: tuple[int, int]
    steps: tuple[Step, ...]


Step: TypeAlias = Stage | Repeat


def stages_of(steps: Sequence[Step]) -> Iterator[Stage]:
    """The stages among some steps and their repetitions, in order; one that stands twice comes twice."""
    for step in steps:
        if isinstance(step, Repeat):
            yield from stages_of(step.steps)
        else:
            yield step


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """Stages run one after another; `buffers` are their sizes in scalars, `table` the constants, row by row."""

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    buffers: tuple[int, ...]
    table: FloatArray
    stages: tuple[Step, ...]

    @property
    def work(self) -> int:
        """Operations per configuration; what is repeated counts once."""
        return sum(stage.turns * len(stage.nodes) for stage in stages_of(self.stages))


def run(program: LoopProgram, *arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Evaluate a loop program on arrays of shape (..., *slot.shape); leading axes broadcast."""
    values = [np.asarray(a, dtype=float) for a in arrays]
    shapes = [batch_shape(slot, value.shape) for slot, value in zip(program.inputs, values, strict=True)]
    batch = np.broadcast_shapes(*shapes)
    memory = {
        "input": [v.reshape(*s, slot.size) for slot, v, s in zip(program.inputs, values, shapes, strict=True)],
        "output": [np.zeros((*batch, slot.size)) for slot in program.outputs],
        "buffer": [np.zeros((*batch, size)) for size in program.buffers],
        "table": [program.table.ravel()],
    }
    _run_steps(program.stages, memory)
    return tuple(o.reshape(*batch, *slot.shape) for o, slot in zip(memory["output"], program.outputs, strict=True))


def run_time_loop(program: LoopProgram, inputs: Sequence[FloatArray], outputs: Sequence[FloatArray]) -> None:
    """Run a program on arrays of any length, filling the outputs in place.

    Each array has the shape (N, entries), an input also (1, entries) where all N configurations share it.
    """
    count = outputs[0].shape[0]
    memory = {
        "input": [np.broadcast_to(a, (count, a.shape[1])) for a in inputs],
        "output": list(outputs),
        "buffer": [np.zeros((count, size)) for size in program.buffers],
        "table": [program.table.ravel()],
    }
    _run_steps(program.stages, memory)


def _run_steps(steps: Sequence[Step], memory: dict[str, list[Any]]) -> None:
    for step in steps:
        if isinstance(step, Repeat):
            buffer, entry = step.condition
            while np.any(memory["buffer"][buffer][..., entry]):
                _run_steps(step.steps, memory)
        else:
            handed: list[Any] = []
            for turn in range(step.turns):
                handed = _turn(step, turn, memory, handed)


def _turn(stage: Stage, turn: int, memory: dict[str, list[Any]], handed: list[Any]) -> list[Any]:
    """One turn, given what the turn before hands on; what this one does."""

    def entry(a: Address) -> Any:
        """The array and the key under which it holds the scalar."""
        array, k = memory[a.kind][a.number], int(stage.columns[a.column][turn]) * a.stride + a.offset
        if a.index is None:
            return array, (..., k)
        buffer, place = a.index
        own = memory["buffer"][buffer][:, place].astype(np.int64) * a.pitch
        return array, (np.arange(len(own)), own + k)

    found: dict[int, Any] = {}
    for node, address in stage.reads:
        array, key = entry(address)
        found[node.index] = array[key].copy()
    for k, carry in enumerate(stage.carried):
        array, key = entry(carry.first)
        found[carry.node.index] = array[key].copy() if turn == 0 else handed[k]
    evaluate(stage.nodes, found)
    places = [entry(write.address) for write in stage.writes]  # by the indices as they were, should one be written too
    for write, (array, key) in zip(stage.writes, places, strict=True):
        if write.last and turn < stage.turns - 1:
            continue
        value = found[write.scalar.index] if isinstance(write.scalar, Expr) else write.scalar
        array[key] = array[key] + value if write.add else value
    return [found[c.scalar.index] if isinstance(c.scalar, Expr) else c.scalar for c in stage.carried]
