"""Maps of the dynamic manipulability ellipsoid beside Pinocchio in a loop with NumPy, and what tasks cost by the operation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.dynamics.recipes_operational import OPERATIONAL
from dalembert.dynamics.task_directions import TaskDirections
from dalembert.model import Robot

from . import agreement, bindings
from .effort import Effort
from .subjects import plain, states
from .tables import Column, Table
from .timing import side_by_side, timer_of, warm

COLUMNS = (
    Column("robot", "robot"),
    Column("n", "joints", "d"),
    Column("ns", "ns per pose", ".0f"),
    Column("map_ms", "100,000 poses [ms]", ".1f"),
    Column("peer_us", "Pinocchio and NumPy [µs per pose]", ".1f"),
    Column("ratio", "ratio", ".0f"),
    Column("task_ns", "operational space [ns per state]", ".0f"),
    Column("per_operation", "per operation, by that of inverse dynamics", ".2f"),
)
_LOOPED = 2000  # poses of a loop in Python


def measure(effort: Effort) -> Table:
    """The table of two arms with six joints and one with seven."""
    note = (
        "Matrix, shift by gravity, axes and measures of the ellipsoid of tool accelerations, in a batch on one core, written "
        "over an earlier result. Beside it, "
        "Pinocchio's mass matrix, gravity and Jacobian from Python with NumPy's solve and eigh, pose by pose. Last, a task of "
        "six directions in motion: inertia, loads, Jacobian, its consistent inverse and projector, over an earlier result; "
        "and the time for one of its operations by that of inverse dynamics."
    )
    table = Table("manipulability", "Tasks and manipulability", note, COLUMNS)
    for robot in (dal.robots.ur10(), dal.robots.puma560(), dal.robots.panda()):
        table.records.append(_record(plain(robot), effort))
    return table


def _record(robot: Robot, effort: Effort) -> dict[str, Any]:
    given = states(robot, effort.batch)
    q, count = given.q, len(given.q)
    ours = warm(timer_of(partial(dal.manipulability, robot, q, out=dal.manipulability(robot, q), threads=1)))
    record: dict[str, Any] = {"robot": robot.name, "n": robot.n}
    if bindings.has("pinocchio"):
        loop = partial(_by_pinocchio(robot), q[:_LOOPED])
        _check(robot, q[: min(count, 50)], loop.func)
        timings = side_by_side([ours, timer_of(loop)], effort.seconds)
        peer = timings.best(1) / min(count, _LOOPED)
        record |= {"peer_us": 1e6 * peer, "ratio": peer * count / timings.best()}
    else:
        timings = side_by_side([ours], effort.seconds)
    record |= {"ns": 1e9 * timings.best() / count, "map_ms": 1e8 * timings.best() / count}
    return record | _task(robot, given, effort)


def _task(robot: Robot, given: Any, effort: Effort) -> dict[str, Any]:
    """The cost of a task, and that of one of its operations by one of inverse dynamics."""
    rows = min(len(given.q), 20_000)
    q, qd, qdd = (part[:rows] for part in (given.q, given.qd, given.qdd))
    run = engine.kernel(robot, OPERATIONAL, (TaskDirections(),), True)
    out, tau = run(q, qd, threads=1), dal.inverse_dynamics(robot, q, qd, qdd)
    task = timer_of(partial(run, q, qd, out=tuple(out), threads=1))
    inverse = timer_of(partial(dal.inverse_dynamics, robot, q, qd, qdd, out=tau, threads=1))
    timings = side_by_side([warm(task), warm(inverse)], effort.seconds / 2)
    work = engine.program(robot, OPERATIONAL, (TaskDirections(),), True).work, engine.program(robot, "inverse_dynamics").work
    share = timings.best() / work[0] / (timings.best(1) / work[1])
    return {"task_ns": 1e9 * timings.best() / rows, "per_operation": share}


def _by_pinocchio(robot: Robot) -> Callable[[np.ndarray], list[Any]]:
    """Ellipsoids pose by pose: as one would write it with Pinocchio and NumPy."""
    functions = bindings.pinocchio(robot)

    def ellipsoid(q: np.ndarray) -> tuple[Any, ...]:
        M = functions["mass_matrix"](q)
        M = np.triu(M) + np.triu(M, 1).T
        G = np.linalg.solve(M, functions["jacobian"](q)[:3].T).T
        E = G @ G.T
        values, axes = np.linalg.eigh(E)
        return E, -G @ functions["gravity_torque"](q), np.sqrt(values[::-1]), axes[:, ::-1], np.sqrt(np.prod(values))

    return lambda batch: [ellipsoid(q) for q in batch]


def _check(robot: Robot, q: np.ndarray, loop: Callable[[np.ndarray], list[Any]]) -> None:
    """Refuse to time ellipsoids that differ."""
    ours = dal.manipulability(robot, q)
    for k, mine in ((0, ours.matrix), (1, ours.centre), (2, ours.lengths), (4, ours.measure)):
        theirs = np.array([found[k] for found in loop(q)])
        agreement.demand(mine, theirs, f"manipulability of {robot.name!r}", "Pinocchio and NumPy")
