"""What a task costs by the operation: `operational_space` as users call it, over all random states, beside inverse dynamics."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.dynamics.recipes_operational import OPERATIONAL
from dalembert.dynamics.task_directions import TaskDirections
from dalembert.model import Robot

from .effort import Effort
from .tables import Column, Table
from .timing import side_by_side, timer_of, warm

ROBOTS = ("puma560", "ur10", "panda")
ROWS = (1_000, 10_000)
COLUMNS = (
    Column("robot", "robot"),
    Column("rows", "states", "d"),
    Column("near", "nearly singular", "d"),
    Column("ns", "operational space [ns]", ".0f"),
    Column("inverse_ns", "inverse dynamics [ns]", ".1f"),
    Column("operations", "operations", "d"),
    Column("inverse_operations", "of inverse dynamics", "d"),
    Column("ratio", "per operation, ratio", ".2f"),
)


def measure(effort: Effort) -> Table:
    """The table of three arms and two sizes of a batch."""
    note = (
        "A task of six directions in motion, over an earlier result, with everything that the call does: states that are nearly "
        "singular are found, and the worst is named in a warning. States are uniform within joint limits, all of them; one "
        "core. The ratio is that of the times for one operation (a node of the graph)."
    )
    table = Table("tasks", "Operational space over all random states", note, COLUMNS)
    for name in ROBOTS:
        for rows in ROWS:
            table.records.append(_record(dal.load(name), min(rows, effort.batch), effort))
    return table


def within_limits(robot: Robot, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions uniform within the limits, or a turn where there are none; velocities and accelerations of the order of one."""
    rng = np.random.default_rng(seed)
    limits = [joint.limits for joint in robot.structure.coordinates]
    lower = [limit.lower if math.isfinite(limit.lower) else -math.pi for limit in limits]
    upper = [limit.upper if math.isfinite(limit.upper) else math.pi for limit in limits]
    qd, qdd = rng.normal(size=(2, count, robot.n))
    return rng.uniform(lower, upper, (count, robot.n)), qd, qdd


def _record(robot: Robot, rows: int, effort: Effort) -> dict[str, Any]:
    q, qd, qdd = within_limits(robot, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)  # they are made all the same, and not shown
        found, tau = dal.operational_space(robot, q, qd), dal.inverse_dynamics(robot, q, qd, qdd)
        task = timer_of(partial(dal.operational_space, robot, q, qd, out=found, threads=1))
        inverse = timer_of(partial(dal.inverse_dynamics, robot, q, qd, qdd, out=tau, threads=1))
        timings = side_by_side([warm(task), warm(inverse)], effort.seconds)
    work = engine.program(robot, OPERATIONAL, (TaskDirections(),), True).work, engine.program(robot, "inverse_dynamics").work
    return {
        "robot": robot.name,
        "rows": rows,
        "near": int(np.sum(found.doubt[:, 0] > 1e6)),
        "ns": 1e9 * timings.best() / rows,
        "inverse_ns": 1e9 * timings.best(1) / rows,
        "operations": work[0],
        "inverse_operations": work[1],
        "ratio": timings.best() / work[0] / (timings.best(1) / work[1]),
    }
