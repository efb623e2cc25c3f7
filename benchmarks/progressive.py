"""A link attached to a finished model: compiling its own term beside compiling the whole robot anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import dalembert as dal
from dalembert.codegen import build
from dalembert.dynamics import engine
from dalembert.dynamics.progressive import carrier_program
from dalembert.expr import Program
from dalembert.expr.operation_counts import counts
from dalembert.model import Link

from .chain import empty_cache
from .effort import Effort
from .tables import Column, Table

LENGTHS = (6, 30)
SHORT = 12  # joints up to which compiling is quick enough to be repeated
COLUMNS = (
    Column("quantity", "quantity"),
    Column("n", "joints before", "d"),
    Column("whole", "whole robot [s]", ".2f"),
    Column("term", "new term [s]", ".2f"),
    Column("ratio", "ratio", ".1f"),
    Column("whole_flops", "whole robot [operations]", "d"),
    Column("term_flops", "new term [operations]", "d"),
    Column("flops_ratio", "ratio", ".1f"),
)
QUANTITIES: dict[str, tuple[str, tuple[Any, ...]]] = {  # as parts call them, and the options of the whole robot's kernel
    "mass_matrix": ("mass_matrix", (engine.Forces(), "screw")),
    "inverse_dynamics": ("torques", ("screw",)),
}


def measure(effort: Effort) -> Table:
    """The table of all lengths and quantities."""
    note = (
        "Tracing and compiling by the screw formulation with an empty cache: the chain of n + 1 joints, and what its last link "
        "adds to a chain of n whose kernels are there. All terms of the link share the screws of the link that carries it, which "
        "are compiled once."
    )
    table = Table("progressive", "A link attached to a finished model", note, COLUMNS)
    for n in [n for n in LENGTHS if n in effort.lengths] or effort.lengths[:1]:
        table.records.extend(_records(n, effort.starts if n <= SHORT else 1))
    return table


def _records(n: int, repetitions: int) -> list[dict[str, Any]]:
    arm = dal.progressive(dal.robots.chain(n))
    grown = arm.attach(last_link(), joint="revolute")
    (part,) = grown.parts
    records = []
    for quantity, (term, options) in QUANTITIES.items():
        whole, whole_flops = cost(lambda q=quantity, o=options: engine.program(grown.robot, q, *o), repetitions)
        own, own_flops = cost(lambda t=term: part.term_program(t), repetitions)
        record = {"quantity": quantity, "n": n, "whole": whole, "term": own, "ratio": whole / own}
        records.append(record | {"whole_flops": whole_flops, "term_flops": own_flops, "flops_ratio": whole_flops / own_flops})
    shared, flops = cost(lambda: carrier_program(arm.robot, part.carrier), repetitions)
    return [*records, {"quantity": "screws of the carrier", "n": n, "term": shared, "term_flops": flops}]


def cost(traced: Callable[[], Any], repetitions: int) -> tuple[float, int]:
    """The shortest time to trace and compile a program, and its operations."""
    seconds = []
    for _ in range(repetitions):
        with empty_cache():
            start = time.perf_counter()
            program: Program = traced()
            build(program)
            seconds.append(time.perf_counter() - start)
    return min(seconds), counts(program).flops


def last_link() -> Link:
    """A link like those of the chain."""
    return dal.robots.chain(1).parameters.links[-1].replace(name="attached")
