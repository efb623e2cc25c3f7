"""The meaning of a graph: NumPy evaluation, node by node. Every other reading is tested against this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ShapeError
from .graph import Expr
from .primitives import PRIMITIVES
from .program import Program, Slot


def run(program: Program, *arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """Evaluate a program on arrays of shape (..., *slot.shape); leading axes broadcast."""
    values = [np.asarray(a, dtype=float) for a in arrays]
    batch = np.broadcast_shapes(*(batch_shape(s, v.shape) for s, v in zip(program.inputs, values, strict=True)))
    columns = {
        node.index: column
        for entry, slot, value in zip(program.entries, program.inputs, values, strict=True)
        for node, column in zip(entry, _columns(slot, value), strict=True)
    }
    return _assemble(program, evaluate(program.nodes, columns), batch)


def batch_shape(slot: Slot, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The leading axes of an array given for a slot."""
    cut = len(shape) - len(slot.shape)
    if cut < 0 or shape[cut:] != slot.shape:
        expected = ", ".join(("...", *map(str, slot.shape)))
        raise ShapeError(f"{slot.name}: shape {shape} found, ({expected}) expected. Leading axes are the batch.")
    return shape[:cut]


def _columns(slot: Slot, value: FloatArray) -> list[FloatArray]:
    flat = value.reshape(*batch_shape(slot, value.shape), slot.size)
    return [flat[..., k] for k in range(slot.size)]


def evaluate(nodes: Sequence[Expr], values: dict[int, Any]) -> dict[int, Any]:
    """Fill in the value of every node, given those of the inputs."""
    with np.errstate(all="ignore"):  # NaN and infinity are values like any other here
        for node in nodes:
            op, args = node.op, node.args
            if len(args) == 2:  # for the most part; going through arguments one by one takes as long as the operation
                values[node.index] = PRIMITIVES[op].numpy(values[args[0].index], values[args[1].index])
            elif op == "const":
                values[node.index] = np.float64(node.value)
            elif op != "input":
                values[node.index] = PRIMITIVES[op].numpy(*(values[a.index] for a in args))
    return values


def _assemble(program: Program, values: dict[int, Any], batch: tuple[int, ...]) -> tuple[FloatArray, ...]:
    outputs = []
    for slot, result in zip(program.outputs, program.results, strict=True):
        flat = np.empty((*batch, slot.size))
        for k, scalar in enumerate(result):
            flat[..., k] = values[scalar.index] if isinstance(scalar, Expr) else scalar
        outputs.append(flat.reshape((*batch, *slot.shape)))
    return tuple(outputs)
