"""Loop programs over arrays whose lengths are known only at run time: a time loop with as many rows as there are steps.

A generalized ufunc fixes the extents of its arrays when it is compiled. Here the module has one door, `@march`, that takes
the arrays' addresses and the distance between the rows of two configurations; how many entries a row has is between the
program and its caller. Outputs are written in place.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..expr import loops
from ..expr.loops import LoopProgram
from . import cache as disk
from . import target
from .block import declarations
from .kernel import _pool, thread_count
from .loop import _quiet_function
from .rolled import emit_body

_PIECES = 8  # per thread, so that one with quick configurations takes over from one with slow ones
_keep: dict[str, Any] = {}  # loaded functions by the key of their code: the same program is loaded once


class March:
    """A loop program ready to run on rows of any length."""

    def __init__(self, program: LoopProgram) -> None:
        self.program = program
        self.lanes = target.host().lanes if target.available() else 1
        self._function = _loaded(program, self.lanes) if target.available() else None

    def __call__(self, inputs: Sequence[FloatArray], outputs: Sequence[FloatArray], *, threads: int | None = None) -> None:
        """Fill the outputs, each of shape (N, ...); an input has the shape (N, ...), or (1, ...) if all N share it.

        The entries of a configuration's row are adjacent in memory, which is the caller's to see to.
        """
        assert all(_has_adjacent_rows(a) for a in (*inputs, *outputs))
        count = outputs[0].shape[0]
        if count == 0:
            return
        if self._function is None:
            loops.march(self.program, [_flat(a) for a in inputs], [_flat(a) for a in outputs])
            return
        arrays = [*inputs, *outputs]
        bases = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
        strides = (ctypes.c_int64 * len(arrays))(*(a.strides[0] if a.shape[0] > 1 else 0 for a in arrays))
        pieces = _pieces(count, self.lanes, thread_count(threads))
        futures = [_pool(thread_count(threads)).submit(self._function, bases, strides, *piece) for piece in pieces[1:]]
        self._function(bases, strides, *pieces[0])
        for future in futures:
            future.result()


def _has_adjacent_rows(array: FloatArray) -> bool:
    return array.dtype == np.float64 and array[:1].flags.c_contiguous


def _flat(array: FloatArray) -> FloatArray:
    return array.reshape(array.shape[0], -1)


def _pieces(count: int, lanes: int, threads: int) -> list[tuple[int, int]]:
    """Runs of whole blocks of lanes, some for each thread."""
    blocks = -(-count // lanes)
    if threads == 1 or blocks == 1:
        return [(0, count)]
    edges = np.unique(np.linspace(0, blocks, min(blocks, _PIECES * threads) + 1).astype(int)) * lanes
    return [(int(a), min(int(b), count)) for a, b in itertools.pairwise(edges)]


def _loaded(program: LoopProgram, lanes: int) -> Callable[..., Any]:
    host = target.host()
    ir = emit(program, lanes, x86=host.x86)
    key = disk.key_of(ir, host.triple, host.cpu, host.features, host.compiler)
    if key not in _keep:
        code = disk.read(key)
        if code is None:
            code = target.compile_object(ir)
            disk.write(key, code)
        (address,) = target.load_object(code, "march")
        _keep[key] = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(address)
    function: Callable[..., Any] = _keep[key]
    return function


def emit(program: LoopProgram, lanes: int, *, x86: bool = True) -> str:
    """The whole module of a loop program."""
    arrays = len(program.inputs) + len(program.outputs)
    door = _door(arrays, lanes, sum(program.buffers) * lanes * 8)
    marks = ['!0 = !{!"branch_weights", i32 1, i32 1000000}', "!1 = !{}"]
    return "\n".join([*declarations(lanes), *emit_body(program, lanes), *door, *_quiet_function(x86), *marks])


def _door(arrays: int, lanes: int, scratch: int) -> list[str]:
    """`@march(bases, strides, first, last)`: the rows from first to last, in blocks; spare lanes repeat the last row."""
    lines = [
        "define void @march(ptr %bases, ptr %strides, i64 %first, i64 %last) {",
        "entry:",
        f"  %lanes = alloca [{arrays * lanes} x ptr], align 32",
        f"  %raw = call ptr @malloc(i64 {scratch + 64})",
        "  %raw.i = ptrtoint ptr %raw to i64",
        "  %raw.u = add i64 %raw.i, 63",
        "  %raw.a = and i64 %raw.u, -64",
        "  %scratch = inttoptr i64 %raw.a to ptr",
        "  %end = sub i64 %last, 1",
        "  br label %block",
        "block:",
        "  %i = phi i64 [ %first, %entry ], [ %next, %block ]",
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
        "  call void @quiet()",
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
