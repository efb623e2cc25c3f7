"""Many configurations at once: one core against Pinocchio's C++ in a loop, and two threads against one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from . import agreement, peers
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, result_arrays, states
from .tables import Column, Table
from .timing import Timer, Timings, timer_of, together, turns, warm

ROBOTS = ("panda", "puma560")
THREAD_TURNS = 12  # of one thread and two for each of a peer: they are short, and depend more on the state of the machine
WRITTEN = 64  # numbers per row of a kernel that does nothing but write
COLUMNS = (
    Column("robot", "robot"),
    Column("quantity", "quantity"),
    Column("ns", "dalembert [ns]", ".0f"),
    Column("peer_ns", "peer [ns]", ".0f"),
    Column("ratio", "ratio", ".1f"),
    Column("median_ratio", "median ratio", ".1f"),
    Column("threads_ratio", "2 threads / 1", ".2f"),
    Column("written", "written [GB/s]", ".1f"),
    Column("peer", "peer"),
)


def measure(effort: Effort) -> Table:
    """The table of all robots and quantities."""
    title = f"Batch of {effort.batch} configurations, one core"
    note = (
        "Time per configuration; arrays of shape (N, n), results written to out=. Best of all repetitions, and the median ratio. "
        "Two threads gain only where the second core is free and the memory takes what both write: the last line is a kernel "
        "that writes and computes nothing."
    )
    table = Table("batch", title, note, COLUMNS)
    with ExitStack() as stack:
        contests = [contest for name in ROBOTS for contest in _contests(plain(dal.load(name)), effort, stack)]
        contests.append(_writing(effort))
        # On a shared machine neighbours slow down one core or the other for a second or a minute, and two virtual cores share
        # one link to the memory or have one each. So all quantities take many short turns over the whole time, in another
        # order each time: in a fixed order, a quantity may meet the same state of the machine in every round.
        shuffle = np.random.default_rng(0).permutation
        for _ in range(effort.batch_rounds):
            for k in shuffle(len(contests)):
                contests[k].against_peer()
            for k in np.concatenate([shuffle(len(contests)) for _ in range(THREAD_TURNS)]):
                contests[k].by_threads()
    table.records.extend(contest.record() for contest in contests)
    return table


@dataclass
class Contest:
    """One quantity of one robot: two threads against one, and one against a peer, as often as asked."""

    robot: str
    quantity: str
    row_bytes: int
    one: Timer
    two: Timer
    peer: peers.Peer | None = None
    threads: list[Timings] = field(default_factory=list)
    peers: list[Timings] = field(default_factory=list)

    def by_threads(self) -> None:
        """Measure two threads and one once more."""
        self.threads.append(turns([warm(self.two), warm(self.one)]))

    def against_peer(self) -> None:
        """Measure one thread and the peer once more, if there is one. Its pass is so long that it needs no other to warm up."""
        if self.peer is not None:
            self.peers.append(turns([warm(self.one), partial(self.peer.seconds, self.quantity)]))

    def record(self) -> dict[str, Any]:
        """What was found."""
        threads = together(self.threads)
        record: dict[str, Any] = {"robot": self.robot, "quantity": self.quantity, "ns": 1e9 * threads.best(1)}
        record["threads_ratio"] = threads.best_ratio()
        if self.peer is not None:
            found = together(self.peers)
            record |= {"ns": 1e9 * found.best(), "peer_ns": 1e9 * found.best(1), "peer": self.peer.label}
            record |= {"ratio": found.best_ratio(), "median_ratio": found.median_ratio()}
        return record | {"written": self.row_bytes / record["ns"]}


def _contests(robot: Robot, effort: Effort, stack: ExitStack) -> list[Contest]:
    given = states(robot, effort.batch)
    found = peers.pinocchio(robot, given, compiled=effort.compiled)
    peer = None if found is None else stack.enter_context(found)
    contests = []
    for quantity in FUNCTIONS:
        if peer is not None:
            agreement.check(robot, given, peer, quantity)
        out = result_arrays(quantity, robot.n, effort.batch)
        one, two = (our_timer(robot, given, quantity, threads, out) for threads in (1, 2))
        row_bytes = sum(array[0].nbytes for array in (out if isinstance(out, tuple) else (out,)))
        contests.append(Contest(robot.name, quantity, row_bytes, one, two, peer))
    return contests


def our_timer(robot: Robot, given: States, quantity: str, threads: int, out: Any = None) -> Timer:
    """Our time per configuration."""
    out = result_arrays(quantity, robot.n, len(given.q)) if out is None else out
    function, inputs = FUNCTIONS[quantity], arguments(quantity, given)
    run = timer_of(partial(function, robot, *inputs, out=out, threads=threads))
    return lambda: run() / len(given.q)


def _writing(effort: Effort) -> Contest:
    """The memory alone: rows of one number many times over."""
    run = dal.kernel(lambda x: [x] * WRITTEN, {"x": ()})
    x, out = np.linspace(0.0, 1.0, effort.batch), np.empty((effort.batch, WRITTEN))

    def timer(threads: int) -> Timer:
        write = timer_of(partial(run, x, out=out, threads=threads))
        return lambda: write() / effort.batch

    return Contest("–", "writing alone", out[0].nbytes, timer(1), timer(2))
