"""Loop programs over arrays whose lengths are known only at run time: a time loop with as many rows as there are steps.

A generalized ufunc fixes the extents of its arrays when it is compiled. Here the module has one entry point, `@time_loop`,
which gets the addresses of the arrays and the distances between the rows of two configurations; the program and its caller
agree on the number of entries in a row. Outputs are written in place.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..checks import FloatArray
from ..expr import loops
from ..expr.loops import LoopProgram
from . import float_mode_ir, machine_code, target, workers
from .loop_ir import emit_body
from .node_ir import declarations
from .single_call import data_of, fail_function
from .workers import thread_count

_LONGEST = 5e7  # ns that a block of lanes should take at most: nobody can interrupt it
_PIECE = 1e6  # ns that several blocks together should take at most
_PIECES = 8  # per thread, so that one with quick configurations takes over from one with slow ones
_LOOK = 2e7  # ns between two looks for a Ctrl-C


class TimeLoopKernel:
    """A loop program ready to run on rows of any length; no more than `turns` of its time loop should go in one call."""

    def __init__(self, program: LoopProgram) -> None:
        self.program = program
        self.lanes = target.host().lanes if target.available() else 1
        self._turn_ns = 0.06 * program.work * self.lanes
        self.turns = max(1, int(_LONGEST / self._turn_ns))
        self._code = (
            machine_code.code_of(emit(program, self.lanes, x86=target.host().x86), "time_loop") if target.available() else None
        )

    def __call__(
        self, inputs: Sequence[FloatArray], outputs: Sequence[FloatArray], *, turns: int, threads: int | None = None
    ) -> None:
        """Fill the outputs, each of shape (N, ...); an input has the shape (N, ...), or (1, ...) if all N share it.

        The entries of a configuration's row are adjacent in memory, which is the caller's to see to. `turns` of the time loop are
        asked for at most: they tell how long it takes, and so how often to look for a Ctrl-C.
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
        steps = [a.strides[0] if a.shape[0] > 1 else 0 for a in arrays]
        batch = workers.Batch(self._code["time_loop"], [data_of(a) for a in arrays], steps, count)
        blocks = max(1, min(int(_PIECE / (self._turn_ns * turns)), -(-count // self.lanes) // (_PIECES * wanted)))
        workers.run(batch, blocks * self.lanes, max(1, int(_LOOK / (self._turn_ns * turns * blocks))), wanted)


def _has_adjacent_rows(array: FloatArray) -> bool:
    return array.dtype == float and array[:1].flags.c_contiguous


def _flat(array: FloatArray) -> FloatArray:
    return array.reshape(array.shape[0], -1)


def emit(program: LoopProgram, lanes: int, *, x86: bool = True) -> str:
    """The whole module of a loop program."""
    arrays = len(program.inputs) + len(program.outputs)
    entry = _entry_point(arrays, lanes, sum(program.buffers) * lanes * 8, x86)
    marks = ['!0 = !{!"branch_weights", i32 1, i32 1000000}', "!1 = !{}"]
    rest = [*float_mode_ir.declarations(x86), *fail_function(alone=False), *marks]
    return "\n".join([*declarations(lanes), *emit_body(program, lanes), *entry, *rest])


def _entry_point(arrays: int, lanes: int, scratch: int, x86: bool) -> list[str]:
    """`@time_loop`, called like NumPy's inner loops: rows in blocks; spare lanes repeat the last row."""
    lines = [
        "define void @time_loop(ptr %bases, ptr %dims, ptr %strides, ptr %data) {",
        "entry:",
        f"  %lanes = alloca [{arrays * lanes} x ptr], align 32",
        *float_mode_ir.room(x86),
        "  %last = load i64, ptr %dims, align 8",
        f"  %raw = call ptr @malloc(i64 {scratch + 64})",
        "  %null = icmp eq ptr %raw, null",
        "  br i1 %null, label %nowhere, label %start",
        "nowhere:",
        "  call void @fail(ptr %data)",
        "  ret void",
        "start:",
        *float_mode_ir.enter(x86),
        "  %raw.i = ptrtoint ptr %raw to i64",
        "  %raw.u = add i64 %raw.i, 63",
        "  %raw.a = and i64 %raw.u, -64",
        "  %scratch = inttoptr i64 %raw.a to ptr",
        "  %end = sub i64 %last, 1",
        "  br label %block",
        "block:",
        "  %i = phi i64 [ 0, %start ], [ %next, %block ]",
    ]
    for lane in range(lanes):
        lines += [
            f"  %n{lane} = add i64 %i, {lane}",
            f"  %w{lane} = icmp slt i64 %n{lane}, %end",
            f"  %r{lane} = select i1 %w{lane}, i64 %n{lane}, i64 %end",
        ]
    for k in range(arrays):
        lines += _aim(k, lanes)
    return [
        *lines,
        "  call void @body(ptr %lanes, ptr %scratch)",
        f"  %next = add i64 %i, {lanes}",
        "  %more = icmp slt i64 %next, %last",
        "  br i1 %more, label %block, label %exit",
        "exit:",
        "  call void @free(ptr %raw)",
        *float_mode_ir.leave(x86),
        "  ret void",
        "}",
    ]


def _aim(k: int, lanes: int) -> list[str]:
    """Point every lane at its row of array k."""
    lines = []
    for name, source, kind in (("base", "%bases", "ptr"), ("stride", "%strides", "i64")):
        lines += [
            f"  %{name}{k}.at = getelementptr i8, ptr {source}, i64 {k * 8}",
            f"  %{name}{k} = load {kind}, ptr %{name}{k}.at, align 8",
        ]
    for lane in range(lanes):
        lines += [
            f"  %d{k}.{lane} = mul i64 %r{lane}, %stride{k}",
            f"  %p{k}.{lane} = getelementptr i8, ptr %base{k}, i64 %d{k}.{lane}",
            f"  %l{k}.{lane} = getelementptr i8, ptr %lanes, i64 {(k * lanes + lane) * 8}",
            f"  store ptr %p{k}.{lane}, ptr %l{k}.{lane}, align 8",
        ]
    return lines
