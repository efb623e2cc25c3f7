"""Cost against length: chains of up to three hundred joints, their run time beside two peers, and their compile time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch
from weakref import WeakValueDictionary

import numpy as np

import dalembert as dal
from dalembert.codegen import machine_code

from . import agreement, peers
from .batch import our_timer
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, states
from .tables import Column, Table
from .timing import Timer, Timings, side_by_side, together, warm

QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
LONGEST_MATRIX = 60
PEERS = {"pinocchio": ("inverse_dynamics", "forward_dynamics", "mass_matrix"), "mujoco": ("inverse_dynamics", "forward_dynamics")}
COLUMNS = (
    Column("quantity", "quantity"),
    Column("n", "joints", "d"),
    Column("compile", "compile [s]", ".2f"),
    Column("ns", "dalembert [ns]", ".0f"),
    Column("ns_per_joint", "per joint [ns]", ".1f"),
    Column("pinocchio_ns", "Pinocchio [ns]", ".0f"),
    Column("pinocchio_ratio", "ratio", ".1f"),
    Column("pinocchio_median_ratio", "median ratio", ".1f"),
    Column("mujoco_ns", "MuJoCo [ns]", ".0f"),
    Column("mujoco_ratio", "ratio", ".1f"),
    Column("mujoco_median_ratio", "median ratio", ".1f"),
    Column("remark", "remark"),
)


def measure(effort: Effort) -> Table:
    """The table of all lengths and quantities."""
    note = (
        "Time per configuration in a batch on one core. MuJoCo: mj_inverse and mj_forward, with contacts, limits and all other "
        "constraints disabled. These batches stay in the caches, unlike the large ones above. Compile time is that of the first "
        "call with an empty cache, tracing included."
    )
    table = Table("chain", "Chains of n revolute joints", note, COLUMNS)
    with ExitStack() as stack:
        contests = [contest for n in effort.lengths for contest in _contests(n, effort, stack)]
        for _ in range(effort.rounds):  # so that no length is measured only while others keep the machine busy
            for contest in contests:
                contest.run(effort)
    contests.sort(key=lambda contest: QUANTITIES.index(contest.quantity))  # lengths stay in order
    table.records.extend(contest.record() for contest in contests)
    return table


@dataclass
class Contest:
    """One quantity of one chain against all peers that offer it, as often as asked."""

    n: int
    quantity: str
    timers: list[Timer]
    peers: dict[str, peers.Peer]
    timings: list[Timings] = field(default_factory=list)

    def run(self, effort: Effort) -> None:
        """Measure once more."""
        self.timings.append(side_by_side([warm(timer) for timer in self.timers], effort.seconds / effort.rounds))

    def record(self) -> dict[str, Any]:
        """What was found, and the time to compile."""
        found = together(self.timings)
        record: dict[str, Any] = {"quantity": self.quantity, "n": self.n, "compile": compile_seconds(self.quantity, self.n)}
        record |= {"ns": 1e9 * found.best(), "ns_per_joint": 1e9 * found.best() / self.n}
        for number, name in enumerate(self.peers, start=1):
            record |= {f"{name}_ns": 1e9 * found.best(number), f"{name}_ratio": found.best_ratio(number)}
            record[f"{name}_median_ratio"] = found.median_ratio(number)
        slow = [peer.label for peer in self.peers.values() if isinstance(peer, peers.Binding)]
        return record | ({"remark": ", ".join(slow)} if slow else {})


def _contests(n: int, effort: Effort, stack: ExitStack) -> Iterator[Contest]:
    robot = plain(dal.robots.chain(n))
    given = states(robot, max(effort.entries // n, 4))
    found = {name: getattr(peers, name)(robot, given, compiled=effort.compiled) for name in PEERS}
    running = {name: stack.enter_context(peer) for name, peer in found.items() if peer is not None}
    for quantity in QUANTITIES:
        if quantity == "mass_matrix" and n > LONGEST_MATRIX:
            continue
        offered = {name: peer for name, peer in running.items() if quantity in PEERS[name]}
        for peer in offered.values():
            agreement.check(robot, given, peer, quantity)
        ours = our_timer(robot, given, quantity, threads=1)
        yield Contest(n, quantity, [ours, *(partial(peer.seconds, quantity) for peer in offered.values())], offered)


def compile_seconds(quantity: str, n: int) -> float:
    """The first call of a new robot in one state, with nothing in the cache."""
    robot = plain(dal.robots.chain(n))
    inputs = arguments(quantity, States(*np.zeros((4, n))))
    with empty_cache():
        start = time.perf_counter()
        FUNCTIONS[quantity](robot, *inputs)
        return time.perf_counter() - start


@contextmanager
def empty_cache() -> Iterator[str]:
    """An empty directory for compiled kernels, for a while, in which code that is loaded already is not found either."""
    before = os.environ.get("DALEMBERT_CACHE")
    nothing = patch.object(machine_code, "_loaded", WeakValueDictionary())
    with nothing, tempfile.TemporaryDirectory(prefix="dalembert-bench-") as folder:
        os.environ["DALEMBERT_CACHE"] = folder
        try:
            yield folder
        finally:
            del os.environ["DALEMBERT_CACHE"]
            if before is not None:
                os.environ["DALEMBERT_CACHE"] = before
