"""The directional derivative of a loop program: every loop carries tangents beside its values.

Each buffer gets a twin for tangents, each body is differentiated by forward mode, and the result is a loop program again:
O(n) operations for n joints, for one direction. A Jacobian follows by running a batch of unit directions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .differentiate import jvp
from .graph import Expr, reachable
from .loops import Address, LoopProgram, Repeat, Stage, Write, stages_of
from .program import Slot


def tangent(program: LoopProgram) -> LoopProgram:
    """Outputs d<out>, the change of each output when the inputs move along further inputs d<in>.

    For programs that are stages only: a loop whose length depends on values has no tangent here.
    """
    assert not any(isinstance(step, Repeat) for step in program.stages)
    inputs = program.inputs + tuple(Slot(f"d{slot.name}", slot.shape) for slot in program.inputs)
    outputs = tuple(Slot(f"d{slot.name}", slot.shape) for slot in program.outputs)
    return replace(
        program,
        name=f"{program.name}_tangent",
        inputs=inputs,
        outputs=outputs,
        buffers=program.buffers * 2,
        stages=tuple(_tangent_stage(stage, program) for stage in stages_of(program.stages)),
    )


def _tangent_stage(stage: Stage, program: LoopProgram) -> Stage:
    reads: list[tuple[Expr, Address]] = []
    variables, directions = [], []
    for node, address in stage.reads:
        twin = _twin(address, program)
        if twin is not None:
            direction = node.graph.input(f"tangent at {twin}")  # by its own place, so that a tangent has a tangent too
            reads.append((direction, twin))
            variables.append(node)
            directions.append(direction)
    scalars = [write.scalar for write in stage.writes]
    moved = jvp(scalars, variables, directions) if variables else [0.0] * len(scalars)
    writes = _writes(stage, moved, program)
    nodes = reachable(write.scalar for write in writes)
    used = {node.index for node in nodes}
    kept = [(node, address) for node, address in (*stage.reads, *reads) if node.index in used]
    return replace(stage, reads=tuple(kept), nodes=tuple(n for n in nodes if n.op != "input"), writes=writes)


def _writes(stage: Stage, moved: list[Any], program: LoopProgram) -> tuple[Write, ...]:
    """Values stay in their buffers, tangents go to the twins; of the outputs only the tangents are wanted."""
    values = [write for write in stage.writes if write.address.kind == "buffer"]
    tangents = [
        replace(write, scalar=scalar, address=_twin(write.address, program) or write.address)
        for write, scalar in zip(stage.writes, moved, strict=True)
    ]
    return (*values, *tangents)


def _twin(address: Address, program: LoopProgram) -> Address | None:
    """Where the tangent of what is at an address is kept; constants have none."""
    if address.kind == "input":
        return replace(address, number=address.number + len(program.inputs))
    if address.kind == "buffer":
        return replace(address, number=address.number + len(program.buffers))
    return address if address.kind == "output" else None
