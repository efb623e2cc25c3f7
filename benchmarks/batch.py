"""Many configurations at once: one core against Pinocchio's C++ in a loop, and two threads against one."""

from __future__ import annotations

from functools import partial
from typing import Any

import dalembert as dal
from dalembert.model import Robot

from . import agreement, peers
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, result_arrays, states
from .tables import Column, Table
from .timing import Timer, side_by_side, timer_of, warm

ROBOTS = ("panda", "puma560")
COLUMNS = (
    Column("robot", "robot"),
    Column("quantity", "quantity"),
    Column("ns", "dalembert [ns]", ".0f"),
    Column("peer_ns", "peer [ns]", ".0f"),
    Column("ratio", "ratio", ".1f"),
    Column("median_ratio", "median ratio", ".1f"),
    Column("threads_ratio", "2 threads / 1", ".2f"),
    Column("peer", "peer"),
)


def measure(effort: Effort) -> Table:
    """The table of all robots and quantities."""
    title = f"Batch of {effort.batch} configurations, one core"
    note = (
        "Time per configuration; arrays of shape (N, n), results written to out=. Best of all repetitions, and the median ratio. "
        "Two threads gain only where the second core is free."
    )
    table = Table("batch", title, note, COLUMNS)
    for name in ROBOTS:
        robot = plain(dal.load(name))
        given = states(robot, effort.batch)
        table.records.extend(_records(robot, given, effort))
    return table


def _records(robot: Robot, given: States, effort: Effort) -> list[dict[str, Any]]:
    peer = peers.pinocchio(robot, given, compiled=effort.compiled)
    if peer is None:
        return [_record(robot, given, quantity, None, effort) for quantity in FUNCTIONS]
    with peer:
        return [_record(robot, given, quantity, peer, effort) for quantity in FUNCTIONS]


def _record(robot: Robot, given: States, quantity: str, peer: peers.Peer | None, effort: Effort) -> dict[str, Any]:
    one, two = (our_timer(robot, given, quantity, threads) for threads in (1, 2))
    record: dict[str, Any] = {"robot": robot.name, "quantity": quantity}
    threads = side_by_side([warm(two), warm(one)], effort.seconds / 2)
    record |= {"ns": 1e9 * threads.best(1), "threads_ratio": threads.best_ratio()}
    return record if peer is None else record | against(robot, given, quantity, peer, one, effort.seconds)


def our_timer(robot: Robot, given: States, quantity: str, threads: int) -> Timer:
    """Our time per configuration."""
    out = result_arrays(quantity, robot.n, len(given.q))
    function, inputs = FUNCTIONS[quantity], arguments(quantity, given)
    run = timer_of(partial(function, robot, *inputs, out=out, threads=threads))
    return lambda: run() / len(given.q)


def against(robot: Robot, given: States, quantity: str, peer: peers.Peer, ours: Timer, seconds: float) -> dict[str, Any]:
    """A comparison with one peer, after both have given the same answers."""
    agreement.check(robot, given, peer, quantity)
    timings = side_by_side([warm(ours), warm(partial(peer.seconds, quantity))], seconds)
    return {
        "ns": 1e9 * timings.best(),
        "peer_ns": 1e9 * timings.best(1),
        "ratio": timings.best_ratio(),
        "median_ratio": timings.median_ratio(),
        "peer": peer.label,
    }
