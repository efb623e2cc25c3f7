"""Long straight code with and without jumps to the next instruction (codegen/straight_ir.py), loaded several times each.

Where code lies in memory changes its time by some per cent, so each way is loaded anew several times; the loads take turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal
from dalembert.codegen import gufunc, machine_code, straight_ir, target
from dalembert.codegen.precision import DOUBLE
from dalembert.dynamics import engine
from dalembert.expr import Program

from .batch import ROBOTS
from .effort import Effort
from .peak import in_caches
from .subjects import arguments, plain, states
from .tables import Column, Table
from .timing import Timer, side_by_side, timer_of, warm

QUANTITIES = ("forward_dynamics", "coriolis_matrix", "regressor", "inverse_derivatives", "forward_derivatives")
COLUMNS = (
    Column("robot", "robot"),
    Column("quantity", "quantity"),
    Column("jumps", "jumps", ".0f"),
    Column("ns", "with [ns]", ".1f"),
    Column("without_ns", "without [ns]", ".1f"),
    Column("ratio", "ratio", ".3f"),
)


def measure(effort: Effort) -> Table:
    """The table of kernels that are long enough for jumps; empty where there is no compiler for x86."""
    note = (
        f"Time per configuration, {in_caches(effort)} configurations in the caches, one core; the machine code of each is loaded "
        f"{effort.starts} times, these take turns, and the median of their best times is shown. Kernels have jumps on AMD's Zen "
        "processors only."
    )
    table = Table("jumps", "Straight code with and without jumps", note, COLUMNS)
    if target.available() and target.host().x86:
        for name in ROBOTS:
            robot = plain(dal.load(name))
            records = [_record(robot, quantity, effort) for quantity in QUANTITIES]
            table.records.extend(record for record in records if record["jumps"])
    return table


def _record(robot: Any, quantity: str, effort: Effort) -> dict[str, Any]:
    program = engine.program(robot, quantity)
    assert isinstance(program, Program)
    texts = [straight_ir.emit(program, target.host().lanes, zen=jumps) for jumps in (True, False)]
    record = {"robot": robot.name, "quantity": quantity, "jumps": texts[0].count(straight_ir.JUMP)}
    if not record["jumps"]:
        return record
    given = arguments(quantity, states(robot, in_caches(effort)))
    codes = [target.compile_object(text) for text in texts]
    timers = [_timer(code, program, given) for _ in range(effort.starts) for code in codes]
    best = side_by_side(timers, effort.seconds).seconds.min(axis=0)  # of each load
    ours, others = best[::2], best[1::2]
    record |= {"ns": 1e9 * float(np.median(ours)), "without_ns": 1e9 * float(np.median(others))}
    return record | {"ratio": record["without_ns"] / record["ns"]}


def _timer(content: bytes, program: Program, given: list[np.ndarray]) -> Timer:
    """Time per configuration of the code, loaded once more."""
    code = machine_code.load(content, "loop")
    ufunc = gufunc.make(code, program.inputs, program.outputs, program.name, DOUBLE)
    out = tuple(np.empty((len(given[0]), *slot.shape)) for slot in program.outputs)
    run = warm(timer_of(lambda: ufunc(*given, out=out)))
    return lambda: run() / len(given[0])
