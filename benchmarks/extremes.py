"""Unusual numbers: angles far from zero, and subnormal numbers, which processors handle slowly in microcode."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine

from .effort import Effort
from .subjects import states
from .tables import Column, Table
from .timing import side_by_side, timer_of, warm

COLUMNS = (
    Column("quantity", "quantity"),
    Column("numbers", "numbers"),
    Column("rows", "rows"),
    Column("ns", "usual [ns]", ".0f"),
    Column("extreme_ns", "these [ns]", ".0f"),
    Column("ratio", "ratio", ".2f"),
)
QUANTITIES = {"gravity_torque": ("newton_euler", engine.Forces()), "inverse_dynamics": ("newton_euler", engine.Forces())}
NUMBERS = {"|q| about 1e6": 1e6, "|q| about 1e30": 1e30, "about 1e-310": 1e-310, "about 1e-160": 1e-160}
ROWS = {"all": slice(None), "one in eight": slice(None, None, 8)}
_ROWS = 1000


def measure(effort: Effort) -> Table:
    """The table of the Panda."""
    note = f"The Panda, {_ROWS} configurations in the caches, one core; tiny numbers in all inputs, far angles in q."
    table = Table("extremes", "Far angles and tiny numbers", note, COLUMNS)
    for quantity in QUANTITIES:
        table.records.extend(_record(quantity, numbers, rows, effort) for numbers in NUMBERS for rows in ROWS)
    return table


def _record(quantity: str, numbers: str, rows: str, effort: Effort) -> dict[str, Any]:
    robot = dal.robots.panda()
    run = engine.kernel(robot, quantity, *QUANTITIES[quantity])
    given = states(robot, _ROWS)
    usual = [np.array(array) for array in (given.q, given.qd, given.qdd)[: len(run.inputs)]]
    extreme = [array.copy() for array in usual]
    for array in extreme if NUMBERS[numbers] < 1.0 else extreme[:1]:
        array[ROWS[rows]] *= NUMBERS[numbers]
    timers = [warm(timer_of(partial(run.ufunc, *arrays))) for arrays in (usual, extreme)]
    timings = side_by_side(timers, effort.seconds / 6)
    best = {"ns": 1e9 * timings.best() / _ROWS, "extreme_ns": 1e9 * timings.best(1) / _ROWS, "ratio": timings.best_ratio()}
    return {"quantity": quantity, "numbers": numbers, "rows": rows} | best
