"""Many configurations at once: one core against Pinocchio's C++ in a loop, and two threads against one."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import dalembert as dal
from dalembert.model import Robot

from . import agreement, peers
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, result_arrays, states
from .tables import Column, Table
from .timing import Timer, Timings, side_by_side, timer_of, together, warm

ROBOTS = ("panda", "puma560")
ROUNDS = 3  # through all quantities: what disturbs the memory of a shared machine for a while meets one of them, not all
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
    with ExitStack() as stack:
        found = peers.pinocchio(robot, given, compiled=effort.compiled)
        peer = None if found is None else stack.enter_context(found)
        rounds = [[_contest(robot, given, quantity, peer, effort) for quantity in FUNCTIONS] for _ in range(ROUNDS)]
    return [_record(robot, quantity, peer, [row[k] for row in rounds]) for k, quantity in enumerate(FUNCTIONS)]


def _contest(
    robot: Robot, given: States, quantity: str, peer: peers.Peer | None, effort: Effort
) -> tuple[Timings, Timings | None]:
    """Two threads against one, and one against a peer."""
    one, two = (our_timer(robot, given, quantity, threads) for threads in (1, 2))
    threads = side_by_side([warm(two), warm(one)], effort.seconds / 2 / ROUNDS)
    if peer is None:
        return threads, None
    agreement.check(robot, given, peer, quantity)
    return threads, side_by_side([warm(one), warm(partial(peer.seconds, quantity))], effort.seconds / ROUNDS)


def _record(
    robot: Robot, quantity: str, peer: peers.Peer | None, contests: list[tuple[Timings, Timings | None]]
) -> dict[str, Any]:
    threads = together([threads for threads, _ in contests])
    record: dict[str, Any] = {"robot": robot.name, "quantity": quantity}
    record |= {"ns": 1e9 * threads.best(1), "threads_ratio": threads.best_ratio()}
    if peer is None:
        return record
    timings = together([timings for _, timings in contests if timings is not None])
    return record | {
        "ns": 1e9 * timings.best(),
        "peer_ns": 1e9 * timings.best(1),
        "ratio": timings.best_ratio(),
        "median_ratio": timings.median_ratio(),
        "peer": peer.label,
    }


def our_timer(robot: Robot, given: States, quantity: str, threads: int) -> Timer:
    """Our time per configuration."""
    out = result_arrays(quantity, robot.n, len(given.q))
    function, inputs = FUNCTIONS[quantity], arguments(quantity, given)
    run = timer_of(partial(function, robot, *inputs, out=out, threads=threads))
    return lambda: run() / len(given.q)
