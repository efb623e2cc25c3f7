"""Loop programs: a sequence of loops, each with a graph as its body, over vectors kept in buffers.

Where a program would repeat the same few operations for hundreds of joints, a loop program holds them once and reads what
differs from a table of constants. Addresses are index columns: in turn t of a stage, a scalar is found at
`column[t] · stride + offset` of an input, an output, a buffer or the table. This module also says what that means, in NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import FloatArray
from .graph import Expr
from .interpret import batch_shape, evaluate
from .program import Slot

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Address:
    """Where a scalar is, in each turn: array `number` of a kind ('input', 'output', 'buffer', 'table'), entry by turn."""

    kind: str
    number: int
    column: int
    stride: int
    offset: int


@dataclass(frozen=True)
class Write:
    """A scalar (node or number) put at an address, or added to what is there."""

    scalar: Any
    address: Address
    add: bool = False


@dataclass(frozen=True, eq=False)
class Stage:
    """One loop: the nodes of its body, where its inputs come from, where its results go."""

    turns: int
    columns: tuple[IntArray, ...]
    reads: tuple[tuple[Expr, Address], ...]
    nodes: tuple[Expr, ...]
    writes: tuple[Write, ...]


@dataclass(frozen=True, eq=False)
class LoopProgram:
    """Stages run one after another; `buffers` are their sizes in scalars, `table` the constants, row by row."""

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    buffers: tuple[int, ...]
    table: FloatArray
    stages: tuple[Stage, ...]

    @property
    def work(self) -> int:
        """Operations per configuration."""
        return sum(stage.turns * len(stage.nodes) for stage in self.stages)


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
    for stage in program.stages:
        for turn in range(stage.turns):
            _turn(stage, turn, memory)
    return tuple(o.reshape(*batch, *slot.shape) for o, slot in zip(memory["output"], program.outputs, strict=True))


def _turn(stage: Stage, turn: int, memory: dict[str, list[Any]]) -> None:
    def entry(a: Address) -> tuple[Any, int]:
        return memory[a.kind][a.number], int(stage.columns[a.column][turn]) * a.stride + a.offset

    found: dict[int, Any] = {}
    for node, address in stage.reads:
        array, k = entry(address)
        found[node.index] = array[..., k].copy()
    evaluate(stage.nodes, found)
    for write in stage.writes:
        array, k = entry(write.address)
        value = found[write.scalar.index] if isinstance(write.scalar, Expr) else write.scalar
        array[..., k] = array[..., k] + value if write.add else value
