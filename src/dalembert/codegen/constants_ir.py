"""Entries of results that are the same for every configuration, as LLVM IR text.

Half of A and B of a linear model, and of a regressor, are zeros and ones. Where there are many, one small function writes them
to all rows of a block; the code of the graph leaves them out. Rows in a buffer that is used again (stream_ir.py) keep them, so
there they are written once. Zeros are cleared in a loop over their places: one store each would be most of the code of a large
tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import copysign

from ..expr import Expr, Program
from .ir import FunctionBuilder, function, hexadecimal, table
from .precision import Real
from .rows_ir import STORE_RUN, lane_offset, runs

FROM = 16  # runs of constants of a program from which they are written by a function of their own

Constants = Mapping[int, Sequence[range]]  # by output, the runs of which all entries are constants


def constants_of(program: Program) -> Constants:
    """What a function of its own writes, by whole runs, so that none is left in pieces; nothing if there are few."""
    found = {
        i: [run for run in runs(slot.size, STORE_RUN) if not any(isinstance(result[j], Expr) for j in run)]
        for i, (slot, result) in enumerate(zip(program.outputs, program.results, strict=True))
    }
    return {i: fixed for i, fixed in found.items() if fixed} if sum(map(len, found.values())) >= FROM else {}


def emit_constants(program: Program, constants: Constants, lanes: int, real: Real) -> list[str]:
    """`@constants`: each of them to its place, row by row."""
    code, tables = FunctionBuilder(), []
    code.label("start")
    code.go("row")
    with code.loop("lane", str(lanes), "row", "done") as lane:
        pointers = code.at("%lanes", code.let(f"mul i64 {lane}, 8"))
        for i, fixed in constants.items():
            values, row = program.results[i], code.load_at("ptr", pointers, lane_offset(len(program.inputs) + i, 0, lanes))
            zeros = {run: None for run in fixed if len(run) == STORE_RUN and all(_is_zero(values[j]) for j in run)}
            if zeros:
                tables.append(table(f"@zeros{i}", "i64", [str(run[0] * real.bytes) for run in zeros]))
                _clear(code, i, row, len(zeros), real)
            for run in (run for run in fixed if run not in zeros):
                numbers = ", ".join(f"{real.name} {hexadecimal(float(values[j]), real.name)}" for j in run)
                code.store(real.vector(len(run)), f"<{numbers}>", code.at(row, run[0] * real.bytes), real.bytes)
    code.line("ret void")
    return [*tables, *function("internal void @constants(ptr noalias %lanes, ptr noalias %scratch) noinline", code.lines)]


def _is_zero(value: float) -> bool:
    return value == 0.0 and copysign(1.0, value) > 0


def _clear(code: FunctionBuilder, i: int, row: str, count: int, real: Real) -> None:
    """A loop over the places of zeros in a row."""
    code.go(f"clear{i}")
    with code.loop(f"zero{i}", str(count), f"clear{i}", f"cleared{i}") as place:
        offset = code.load("i64", code.let(f"getelementptr i64, ptr @zeros{i}, i64 {place}"))
        code.store(real.vector(STORE_RUN), "zeroinitializer", code.at(row, offset), real.bytes)
