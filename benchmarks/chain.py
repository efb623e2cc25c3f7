"""Cost against length: chains of up to three hundred joints, their run time beside two peers, and their compile time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from . import agreement, peers
from .batch import our_timer
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, states
from .tables import Column, Table
from .timing import Timer, side_by_side, warm

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
    for n in effort.lengths:
        table.records.extend(_records(n, effort))
    table.records.sort(key=lambda record: QUANTITIES.index(record["quantity"]))  # lengths stay in order
    return table


def _records(n: int, effort: Effort) -> list[dict[str, Any]]:
    robot = plain(dal.robots.chain(n))
    given = states(robot, max(effort.entries // n, 4))
    with ExitStack() as stack:
        found = {name: getattr(peers, name)(robot, given, compiled=effort.compiled) for name in PEERS}
        running = {name: stack.enter_context(peer) for name, peer in found.items() if peer is not None}
        chosen = [quantity for quantity in QUANTITIES if quantity != "mass_matrix" or n <= LONGEST_MATRIX]
        return [_record(robot, given, quantity, running, effort) for quantity in chosen]


def _record(robot: Robot, given: States, quantity: str, running: dict[str, peers.Peer], effort: Effort) -> dict[str, Any]:
    offered = {name: peer for name, peer in running.items() if quantity in PEERS[name]}
    for peer in offered.values():
        agreement.check(robot, given, peer, quantity)
    timers: list[Timer] = [
        our_timer(robot, given, quantity, threads=1),
        *(partial(peer.seconds, quantity) for peer in offered.values()),
    ]
    timings = side_by_side([warm(timer) for timer in timers], effort.seconds)
    record: dict[str, Any] = {"quantity": quantity, "n": robot.n, "compile": compile_seconds(quantity, robot.n)}
    record |= {"ns": 1e9 * timings.best(), "ns_per_joint": 1e9 * timings.best() / robot.n}
    for number, name in enumerate(offered, start=1):
        record |= {f"{name}_ns": 1e9 * timings.best(number), f"{name}_ratio": timings.best_ratio(number)}
        record[f"{name}_median_ratio"] = timings.median_ratio(number)
    slow = [peer.label for peer in offered.values() if isinstance(peer, peers.Binding)]
    return record | ({"remark": ", ".join(slow)} if slow else {})


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
    """An empty directory for compiled kernels, for a while."""
    before = os.environ.get("DALEMBERT_CACHE")
    with tempfile.TemporaryDirectory(prefix="dalembert-bench-") as folder:
        os.environ["DALEMBERT_CACHE"] = folder
        try:
            yield folder
        finally:
            del os.environ["DALEMBERT_CACHE"]
            if before is not None:
                os.environ["DALEMBERT_CACHE"] = before
