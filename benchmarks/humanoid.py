"""A tree the size of a humanoid: run time beside Pinocchio's C++, and the time to compile every kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import dalembert as dal
from dalembert.model import Robot

from . import agreement, peers
from .batch import our_timer
from .chain import empty_cache
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, states
from .tables import Column, Table
from .timing import Timer, side_by_side, timer_of, warm

LIMBS = {"left_arm": 7, "right_arm": 7, "left_leg": 6, "right_leg": 6, "head": 2}
TRUNK = 2
# No peer has these, or not in its loop.
OTHERS: dict[str, tuple[Callable[..., Any], Sequence[str]]] = {
    "christoffel": (dal.christoffel, ("q",)),
    "parameter_derivatives": (dal.parameter_derivatives, ("q", "qd", "qdd")),
    "link_wrenches": (dal.link_wrenches, ("q", "qd", "qdd")),
    "energy_gradient": (dal.energy_gradient, ("q", "qd")),
    "jacobian_dot": (dal.jacobian_dot, ("q", "qd")),
}
COLUMNS = (
    Column("quantity", "quantity"),
    Column("compile", "compile [s]", ".2f"),
    Column("us", "dalembert [µs]", ".2f"),
    Column("peer_us", "peer [µs]", ".2f"),
    Column("ratio", "ratio", ".1f"),
    Column("median_ratio", "median ratio", ".1f"),
    Column("peer", "peer"),
)


def measure(effort: Effort) -> Table:
    """The table of all quantities."""
    robot = plain(humanoid())
    note = (
        f"A trunk of {TRUNK} joints, two arms of 7, two legs of 6 and a head of 2, made of the links of the chains above. "
        "Time per configuration in a batch on one core. Compile time is that of the first call with an empty cache, tracing "
        "included."
    )
    table = Table("humanoid", f"A tree of {robot.n} joints", note, COLUMNS)
    given = states(robot, max(effort.entries // robot.n, 4))
    with ExitStack() as stack:
        found = peers.pinocchio(robot, given, compiled=effort.compiled)
        peer = None if found is None else stack.enter_context(found)
        table.records.extend(_record(robot, given, quantity, peer, effort) for quantity in FUNCTIONS)
    table.records.extend(_alone(robot, given, quantity, effort) for quantity in OTHERS)
    return table


def humanoid() -> Robot:
    """The tree, its tool at the end of the trunk."""
    robot = dal.robots.chain(TRUNK).replace(name="humanoid")
    root, top = robot.link_names[0], robot.link_names[-1]
    for name, joints in LIMBS.items():
        robot = dal.attach(robot, dal.robots.chain(joints).replace(name=name), parent=root if "leg" in name else top)
    return robot


def _record(robot: Robot, given: States, quantity: str, peer: peers.Peer | None, effort: Effort) -> dict[str, Any]:
    timers: list[Timer] = [our_timer(robot, given, quantity, threads=1)]
    if peer is not None:
        agreement.check(robot, given, peer, quantity)
        timers.append(partial(peer.seconds, quantity))
    timings = side_by_side([warm(timer) for timer in timers], effort.seconds / 2)
    first = partial(FUNCTIONS[quantity], plain(humanoid()), *(array[0] for array in arguments(quantity, given)))
    record: dict[str, Any] = {"quantity": quantity, "compile": first_call(first), "us": 1e6 * timings.best()}
    if peer is not None:
        record |= {"peer_us": 1e6 * timings.best(1), "ratio": timings.best_ratio(), "peer": peer.label}
        record["median_ratio"] = timings.median_ratio()
    return record


def _alone(robot: Robot, given: States, quantity: str, effort: Effort) -> dict[str, Any]:
    function, names = OTHERS[quantity]
    arrays = [getattr(given, name)[: max(effort.entries // 1000, 1)] for name in names]
    seconds = first_call(partial(function, plain(humanoid()), *(array[0] for array in arrays)))
    again = side_by_side([timer_of(partial(function, robot, *arrays, threads=1))], effort.seconds / 6)
    return {"quantity": quantity, "compile": seconds, "us": 1e6 * again.best() / len(arrays[0])}


def first_call(call: Callable[[], Any]) -> float:
    """Seconds of a call with nothing in the cache."""
    with empty_cache():
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
