"""Programs of derivatives, for tests: one output by some inputs, in either mode."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.expr import Program, Slot
from dalembert.expr.differentiate import gradient, jacobian


def derivative_program(program: Program, output: str, inputs: Sequence[str], *, mode: str = "forward") -> Program:
    """Outputs d<out>_d<in> of shape out.shape + in.shape."""
    ((slot, result),) = ((s, r) for s, r in zip(program.outputs, program.results, strict=True) if s.name == output)
    slots, results = [], []
    for of, entries in zip(program.inputs, program.entries, strict=True):
        if of.name in inputs:
            matrix = jacobian(result, entries) if mode == "forward" else [gradient(scalar, entries) for scalar in result]
            slots.append(Slot(f"d{slot.name}_d{of.name}", slot.shape + of.shape))
            results.append(tuple(entry for row in matrix for entry in row))
    return Program(f"{program.name}_d{output}", program.graph, program.inputs, program.entries, tuple(slots), tuple(results))
