"""Cost against length: chains of up to three hundred joints, their run time beside two peers, and their compile time."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from . import peers
from .batch import against, our_timer
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, states
from .tables import Column, Table
from .timing import side_by_side

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
    Column("pinocchio_ratio", "Pinocchio / dalembert", ".1f"),
    Column("pinocchio_median_ratio", "median", ".1f"),
    Column("mujoco_ns", "MuJoCo [ns]", ".0f"),
    Column("mujoco_ratio", "MuJoCo / dalembert", ".1f"),
    Column("mujoco_median_ratio", "median", ".1f"),
)


def measure(effort: Effort) -> Table:
    """The table of all lengths and quantities."""
    note = (
        "Time per configuration in a batch on one core. MuJoCo: mj_inverse and mj_forward, with contacts, limits and all other "
        "constraints disabled. Compile time is that of the first call with an empty cache, tracing included."
    )
    table = Table("chain", "Chains of n revolute joints", note, COLUMNS)
    for quantity in QUANTITIES:
        for n in effort.lengths:
            if quantity != "mass_matrix" or n <= LONGEST_MATRIX:
                table.records.append(_record(quantity, n, effort))
    return table


def _record(quantity: str, n: int, effort: Effort) -> dict[str, Any]:
    robot = plain(dal.robots.chain(n))
    given = states(robot, max(effort.entries // n, 4))
    record: dict[str, Any] = {"quantity": quantity, "n": n, "compile": compile_seconds(quantity, n)}
    ours = our_timer(robot, given, quantity, threads=1)
    record["ns"] = 1e9 * side_by_side([ours], effort.seconds / 4).best()
    for name, offered in PEERS.items():
        if quantity in offered:
            record |= _beside(name, robot, given, quantity, effort)
    record["ns_per_joint"] = record["ns"] / n
    return record


def _beside(name: str, robot: Robot, given: States, quantity: str, effort: Effort) -> dict[str, Any]:
    peer = getattr(peers, name)(robot, given, compiled=effort.compiled)
    if peer is None:
        return {}
    ours = our_timer(robot, given, quantity, threads=1)
    with peer:
        found = against(robot, given, quantity, peer, ours, effort.seconds / 2)
    renamed = {"peer_ns": "ns", "ratio": "ratio", "median_ratio": "median_ratio", "peer": "peer"}
    return {"ns": found["ns"]} | {f"{name}_{new}": found[old] for old, new in renamed.items()}


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
