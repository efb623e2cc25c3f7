"""How much of the processor a kernel uses: its operations per second beside the largest possible rate of multiply-adds."""

from __future__ import annotations

from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.expr import Program
from dalembert.expr.operation_counts import counts

from .batch import ROBOTS, our_timer
from .effort import Effort
from .subjects import plain, states
from .tables import Column, Table
from .timing import side_by_side, timer_of, warm

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_torque")
SINCOS = 42  # operations of a sine and cosine of one argument, as they are commonly counted
CHAINS, LENGTH = 12, 200  # multiply-adds that do not wait for each other, and how many follow one another
COLUMNS = (
    Column("robot", "robot"),
    Column("quantity", "quantity"),
    Column("operations", "operations", ".0f"),
    Column("ns", "[ns]", ".1f"),
    Column("gflops", "GFLOP/s", ".1f"),
    Column("share", "share of peak [%]", ".0f"),
)


def measure(effort: Effort) -> Table:
    """The table of kernels, the peak first."""
    note = (
        f"Multiplications and additions of the kernel's own graph, a sine and cosine counted as {SINCOS}; double precision, "
        f"one core, {in_caches(effort)} configurations, in the caches. The peak: {CHAINS} independent chains of multiply-adds."
    )
    table = Table("peak", "Share of the multiply-add peak", note, COLUMNS)
    peak = _peak(effort)
    table.records.append(
        {"robot": "–", "quantity": "multiply-adds alone", "gflops": peak, "share": 100.0, "ns": 2 * CHAINS * LENGTH / peak}
    )
    for name in ROBOTS:
        robot = plain(dal.load(name))
        table.records.extend(_record(robot, quantity, peak, effort) for quantity in QUANTITIES)
    return table


def in_caches(effort: Effort) -> int:
    """Configurations that stay in the caches."""
    return max(effort.batch // 20, 8)


def _peak(effort: Effort) -> float:
    """GFLOP/s of a kernel that does nothing but multiply and add in registers."""

    def function(x: Any, a: Any, b: Any) -> Any:
        chains = [x + float(k) for k in range(CHAINS)]
        for _ in range(LENGTH):
            chains = [chain * a + b for chain in chains]
        return sum(chains[1:], chains[0])

    run = dal.kernel(function, {"x": (), "a": (), "b": ()})
    count = in_caches(effort)
    x, out = np.linspace(0.0, 1.0, count), np.empty(count)
    seconds = side_by_side([warm(timer_of(lambda: run.ufunc(x, 0.999, 0.001, out=out)))], effort.seconds / 3).best()
    return 2 * CHAINS * LENGTH * count / seconds / 1e9


def _record(robot: Any, quantity: str, peak: float, effort: Effort) -> dict[str, Any]:
    program = engine.program(robot, quantity)
    assert isinstance(program, Program)
    found = counts(program)
    operations = found.flops + SINCOS * found.sincos
    given = states(robot, in_caches(effort))
    ns = 1e9 * side_by_side([warm(our_timer(robot, given, quantity, 1))], effort.seconds / 3).best()
    return {
        "robot": robot.name,
        "quantity": quantity,
        "operations": operations,
        "ns": ns,
        "gflops": operations / ns,
        "share": 100 * operations / ns / peak,
    }
