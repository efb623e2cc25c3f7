"""Linear models along a motion: A and B of many points beside a loop over Pinocchio's derivatives, in C++ and in Python."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.linear.acting_loads import NOTHING
from dalembert.linear.state_recipe import STATE_MATRICES
from dalembert.model import Robot

from . import agreement, bindings, peers
from .effort import Effort
from .subjects import States, plain, states
from .tables import Column, Table
from .timing import side_by_side, timer_of, warm

QUANTITY = "state_matrices"
POINTS = 10_000  # more than that of a motion are rare, and would measure the memory
COLUMNS = (
    Column("robot", "robot"),
    Column("n", "joints", "d"),
    Column("ns", "dalembert [ns]", ".0f"),
    Column("fresh_ns", "with new arrays [ns]", ".0f"),
    Column("peer_ns", "Pinocchio C++ [ns]", ".0f"),
    Column("ratio", "ratio", ".1f"),
    Column("python_ns", "Pinocchio from Python [ns]", ".0f"),
    Column("python_ratio", "ratio, Python", ".1f"),
)


def measure(effort: Effort) -> Table:
    """The table of arms."""
    note = (
        "A (2n, 2n) and B (2n, n) of x = (q, q̇) for given torques. Time per point in a batch on one core; Pinocchio: "
        "computeABADerivatives and the copying of its blocks to A and B, in a loop."
    )
    table = Table("linear", f"Linear models at {min(effort.batch, POINTS)} points", note, COLUMNS)
    for name in ("panda", "puma560"):
        table.records.append(_record(plain(dal.load(name)), effort))
    return table


def _record(robot: Robot, effort: Effort) -> dict[str, Any]:
    count = min(effort.batch, POINTS)
    given, n = states(robot, count), robot.n
    run = engine.kernel(robot, STATE_MATRICES, False, NOTHING)
    out = tuple(np.empty((count, *slot.shape)) for slot in run.outputs)
    ours = timer_of(partial(run, given.q, given.qd, given.tau, out=out, threads=1))
    fresh = timer_of(partial(dal.linearize, robot, given.q, given.qd, tau=given.tau, threads=1))
    timers = [warm(ours), warm(fresh)]
    if bindings.has("pinocchio"):
        timers.append(timer_of(partial(_python_loop, robot, given, min(count, 1000))))
    found = peers.pinocchio(robot, given, peers.LINEAR, compiled=effort.compiled)
    loop = found if isinstance(found, peers.Loop) else None
    if loop is not None:
        _check(run, given, loop, robot)
        timers.append(warm(partial(loop.seconds, QUANTITY)))
    with found if found is not None else _Nothing():
        timings = side_by_side(timers, effort.seconds)
    record: dict[str, Any] = {"robot": robot.name, "n": n, "ns": 1e9 * timings.best() / count}
    record["fresh_ns"] = 1e9 * timings.best(1) / count
    if len(timers) > 2:
        record["python_ns"] = 1e9 * timings.best(2) / min(count, 1000)
        record["python_ratio"] = record["python_ns"] / record["ns"]
    if loop is not None:
        record["peer_ns"] = 1e9 * timings.best(3)
        record["ratio"] = record["peer_ns"] / record["ns"]
    return record


class _Nothing:
    """In the place of a library that is not there."""

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def _python_loop(robot: Robot, given: States, count: int) -> Any:
    """What its users write."""
    import pinocchio as pin

    model = _MODELS.setdefault(robot.name, bindings.pinocchio_model(robot))
    data, n = model.createData(), robot.n
    A, B = np.zeros((count, 2 * n, 2 * n)), np.zeros((count, 2 * n, n))
    A[:, :n, n:] = np.eye(n)
    for k in range(count):
        A[k, n:, :n], A[k, n:, n:], B[k, n:] = pin.computeABADerivatives(model, data, given.q[k], given.qd[k], given.tau[k])
    return A, B


_MODELS: dict[str, Any] = {}


def _check(run: Any, given: States, loop: peers.Loop, robot: Robot) -> None:
    n = robot.n
    theirs = loop.rows(QUANTITY)
    A, B, _ = run(given.q, given.qd, given.tau)
    agreement.demand(A, theirs[:, : 4 * n * n].reshape(-1, 2 * n, 2 * n), f"A of {robot.name!r}", loop.label)
    agreement.demand(B, theirs[:, 4 * n * n :].reshape(-1, 2 * n, n), f"B of {robot.name!r}", loop.label)
