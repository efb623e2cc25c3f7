"""Loop programs over arrays whose lengths are known only at run time: a time loop with as many rows as there are steps.

A generalized ufunc fixes the extents of its arrays when it is compiled. Here the module has one entry point, `@time_loop`,
which gets the addresses of the arrays and the distances between the rows of two configurations; the program and its caller
agree on the number of entries in a row. Outputs are written in place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import FloatArray
from ..expr import loops
from ..expr.loops import LoopProgram
from . import float_mode_ir, machine_code, target, workers
from .ir import MARKS, FunctionBuilder, function
from .loop_ir import emit_body
from .node_ir import declarations
from .rows_ir import lane_offset, row_pointer, rows_of_block
from .single_call import data_of, fail_function
from .workers import thread_count

_DOUBLES = np.dtype(np.float64)
_LONGEST = 5e7  # ns that a block of lanes should take at most: it cannot be interrupted
_PIECE = 1e6  # ns that several blocks together should take at most
_PIECES = 8  # per thread, so that a thread with quick configurations takes pieces from one with slow ones
_LOOK = 2e7  # ns between two checks for Ctrl-C


class TimeLoopKernel:
    """A loop program ready to run on rows of any length; one call should run no more than `turns` turns of its time loop.

    One for a `single` configuration uses short registers: a processor runs more instructions on those in the same time.
    """

    def __init__(self, program: LoopProgram, *, single: bool = False) -> None:
        self.program = program
        self.lanes = min(target.host().lanes, 2 if single else 8) if target.available() else 1
        self._turn_ns = 0.06 * program.work * self.lanes
        self.turns = max(1, int(_LONGEST / self._turn_ns))
        self._code = (
            machine_code.code_of(emit(program, self.lanes, x86=target.host().x86), "time_loop") if target.available() else None
        )

    def __call__(
        self, inputs: Sequence[FloatArray], outputs: Sequence[FloatArray], *, turns: int, threads: int | None = None
    ) -> None:
        """Fill the outputs, each of shape (N, ...); an input has the shape (N, ...), or (1, ...) if all N share it.

        The caller has to see that the entries of a configuration's row are adjacent in memory. `turns` is the largest number of
        turns of the time loop: it tells how long the call takes, and so how often to check for Ctrl-C.
        """
        assert all(_has_adjacent_rows(a) for a in (*inputs, *outputs))
        wanted = thread_count(threads)
        count = outputs[0].shape[0]
        if count == 0:
            return
        if self._code is None:
            loops.run_time_loop(self.program, [_flat(a) for a in inputs], [_flat(a) for a in outputs])
            return
        arrays = [*inputs, *outputs]
        steps = [a.strides[0] if a.shape[0] > 1 else 0 for a in arrays] if count > 1 else [0] * len(arrays)
        batch = workers.Batch(self._code["time_loop"], [data_of(a) for a in arrays], steps, count)
        blocks = max(1, min(int(_PIECE / (self._turn_ns * turns)), -(-count // self.lanes) // (_PIECES * wanted)))
        workers.run(batch, blocks * self.lanes, max(1, int(_LOOK / (self._turn_ns * turns * blocks))), wanted)


def _has_adjacent_rows(array: FloatArray) -> bool:
    return array.dtype == _DOUBLES and (array.flags.c_contiguous or array[:1].flags.c_contiguous)


def _flat(array: FloatArray) -> FloatArray:
    return array.reshape(array.shape[0], -1)


def emit(program: LoopProgram, lanes: int, *, x86: bool = True) -> str:
    """The whole module of a loop program."""
    arrays = len(program.inputs) + len(program.outputs)
    entry = _entry_point(arrays, lanes, sum(program.buffers) * lanes * 8, x86)
    rest = [*float_mode_ir.declarations(x86), *fail_function(alone=False), *MARKS]
    body = emit_body(program, lanes)
    return "\n".join([*declarations(body, lanes), *body, *entry, *rest])


def _entry_point(arrays: int, lanes: int, scratch: int, x86: bool) -> list[str]:
    """`@time_loop`, called like NumPy's inner loops: rows in blocks; spare lanes repeat the last row."""
    code = FunctionBuilder()
    code.label("entry")
    code.let(f"alloca [{arrays * lanes} x ptr], align 32", "lanes")
    code.lines += float_mode_ir.room(x86)
    count = code.load("i64", "%dims")
    memory = code.let(f"call ptr @malloc(i64 {scratch + 64})")
    code.go_if(code.let(f"icmp eq ptr {memory}, null"), "nowhere", "start")
    code.label("nowhere")
    code.line("call void @fail(ptr %data)")
    code.line("ret void")
    code.label("start")
    code.lines += float_mode_ir.enter(x86)
    aligned = code.rounded_up(memory)
    last = code.let(f"sub i64 {count}, 1")
    code.go("block")
    with code.loop("i", count, "block", "exit", step=lanes) as first:
        rows = rows_of_block(code, first, last, lanes)
        for k in range(arrays):
            base, stride = code.load_at("ptr", "%bases", k * 8), code.load_at("i64", "%strides", k * 8)
            for lane, row in enumerate(rows):
                pointer = row_pointer(code, base, stride, row)
                code.store("ptr", pointer, code.at("%lanes", lane_offset(k, lane, lanes)))
        code.line(f"call void @body(ptr %lanes, ptr {aligned})")
    code.line(f"call void @free(ptr {memory})")
    code.lines += float_mode_ir.leave(x86)
    code.line("ret void")
    return function("void @time_loop(ptr %bases, ptr %dims, ptr %strides, ptr %data)", code.lines)
