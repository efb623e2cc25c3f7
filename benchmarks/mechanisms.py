"""Closed loops: inverse and forward dynamics in the driven joints, with positions given and with the loops closed inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.mechanism import Mechanism

from . import mechanism_peers
from .agreement import demand
from .effort import Effort
from .mechanism_peers import LoopPeer
from .mechanism_subjects import MECHANISMS, LoopStates, loop_states, program
from .tables import Column, Table
from .timing import Timer, Timings, side_by_side, timer_of, together, warm

SOFT = 2e-2  # MuJoCo's closures are stiff springs: its accelerations are nearly those of closed loops
POSES = 10_000
# Joint positions of a batch: a pass of a peer takes some milliseconds. On a busy machine longer ones are always interrupted, and
# the best of ours beside the best of theirs would flatter us.
ENTRIES = 7200
COLUMNS = (
    Column("mechanism", "mechanism"),
    Column("quantity", "quantity"),
    Column("nodes", "nodes", "d"),
    Column("ns", "dalembert [ns]", ".0f"),
    Column("pinocchio_ns", "Pinocchio [ns]", ".0f"),
    Column("pinocchio_ratio", "ratio", ".0f"),
    Column("pinocchio_median_ratio", "median ratio", ".0f"),
    Column("open_ratio", "without Newton", ".0f"),
    Column("mujoco_ns", "MuJoCo [ns]", ".0f"),
    Column("mujoco_ratio", "ratio", ".0f"),
    Column("ms", "10,000 [ms]", ".1f"),
    Column("remark", "remark"),
)
NOTE = (
    "Time per configuration in a batch that stays in the caches, one core. Stewart: 24 joints, cut at its spherical joints; "
    "delta: 12, rods on universal joints; 3-RRR: 9. Positions given: the kernel; at(x=): the call, which looks at the positions "
    "first. Closed: started 1e-2 off in every joint that is not driven, or from the seed. Pinocchio forward: constraintDynamics "
    "with 3D closures; it has no inverse dynamics of closed loops, so a recipe is measured: Jacobian of the closures, Eigen's "
    "LU, bias, rnea, transpose; before it, where loops are closed, Newton's method by the same, and beside it the ratio to the "
    f"recipe without. MuJoCo: mj_forward; its closures are stiff springs, so that its accelerations agree to {SOFT:g} only."
)


def measure(effort: Effort) -> Table:
    """The table of all mechanisms."""
    table = Table("mechanisms", "Closed loops", NOTE, COLUMNS)
    with ExitStack() as stack:
        contests = [contest for name in MECHANISMS for contest in _contests(MECHANISMS[name](), effort, stack)]
        for _ in range(effort.rounds):  # so that no mechanism is measured only while others keep the machine busy
            for contest in contests:
                contest.run(effort)
    table.records.extend(contest.record() for contest in contests)
    return table


@dataclass
class Contest:
    """One way to ask for a quantity of one mechanism, against what peers have for it, as often as asked."""

    mechanism: str
    quantity: str
    ours: Timer
    peers: dict[str, Timer] = field(default_factory=dict)
    remarks: dict[str, Any] = field(default_factory=dict)
    timings: list[Timings] = field(default_factory=list)

    def run(self, effort: Effort) -> None:
        """Measure once more."""
        timers = [warm(timer) for timer in (self.ours, *self.peers.values())]
        self.timings.append(side_by_side(timers, effort.seconds / effort.rounds / 3))

    def record(self) -> dict[str, Any]:
        """What was found."""
        found = together(self.timings)
        record: dict[str, Any] = {"mechanism": self.mechanism, "quantity": self.quantity, "ns": 1e9 * found.best()}
        for number, name in enumerate(self.peers, start=1):
            record |= {f"{name}_ns": 1e9 * found.best(number), f"{name}_ratio": found.best_ratio(number)}
            record[f"{name}_median_ratio"] = found.median_ratio(number)
        if self.quantity == SOLVED:
            record["ms"] = 1e3 * POSES * found.best()
        return record | self.remarks


SOLVED = "closed from the seed, inverse"


def _contests(mechanism: Mechanism, effort: Effort, stack: ExitStack) -> Iterator[Contest]:
    given = loop_states(mechanism, max(min(effort.entries, ENTRIES) // mechanism.robot.n, 4))
    running = {}
    for name in ("pinocchio", "mujoco"):
        peer = getattr(mechanism_peers, name)(mechanism, given, compiled=effort.compiled)
        if peer is not None:
            running[name] = stack.enter_context(peer)
            check(mechanism, given, peer)
    slow = [peer.label for peer in running.values() if isinstance(peer, mechanism_peers.LoopBinding)]
    remarks = {"remark": ", ".join(slow)} if slow else {}

    def theirs(**asked: str) -> dict[str, Timer]:
        return {
            key: partial(running[key.replace("open", "pinocchio")].seconds, what)
            for key, what in asked.items()
            if key.replace("open", "pinocchio") in running
        }

    contest = partial(Contest, mechanism.name)
    timers = our_timers(mechanism, given, effort)
    inverse, forward = theirs(pinocchio="inverse_dynamics"), theirs(pinocchio="forward_dynamics", mujoco="forward_dynamics")
    closed = theirs(pinocchio="closed_inverse_dynamics", open="inverse_dynamics")
    yield contest("inverse, positions given", timers["inverse"], inverse, remarks | _nodes(mechanism, "inverse_dynamics"))
    yield contest("inverse, at(x=)", timers["inverse_at"], inverse, remarks)
    yield contest("forward, positions given", timers["forward"], forward, remarks | _nodes(mechanism, "forward_dynamics"))
    yield contest("forward, at(x=)", timers["forward_at"], forward, remarks)
    yield contest("closed, 1e-2 off", timers["closed"])
    yield contest("closed, 1e-2 off, inverse", timers["near"], closed, remarks)
    yield contest(SOLVED, timers["seed"], closed, remarks)


def _nodes(mechanism: Mechanism, quantity: str) -> dict[str, int]:
    return {"nodes": len(program(mechanism, quantity).nodes)}


def check(mechanism: Mechanism, given: LoopStates, peer: LoopPeer) -> None:
    """Compare all results of a peer with ours."""
    what = f"of {mechanism.name!r}"
    qdd = dal.forward_dynamics(mechanism.at(x=given.x), *(given.at_drives(name) for name in ("x", "xd", "tau")))
    theirs = mechanism_peers.at_drives(peer.rows("forward_dynamics"), given)
    if peer.label.startswith("MuJoCo"):
        demand(qdd, theirs, f"forward_dynamics {what}", peer.label, SOFT)
        return
    demand(qdd, theirs, f"forward_dynamics {what}", peer.label)
    tau = dal.inverse_dynamics(mechanism.at(x=given.x), *(given.at_drives(name) for name in ("x", "xd", "xdd")))
    for quantity in ("inverse_dynamics", "closed_inverse_dynamics"):
        demand(tau, mechanism_peers.at_drives(peer.rows(quantity), given), f"{quantity} {what}", peer.label)


def our_timers(mechanism: Mechanism, given: LoopStates, effort: Effort) -> dict[str, Timer]:
    """Our times per configuration."""
    q, qd, qdd, tau = (given.at_drives(name) for name in ("x", "xd", "xdd", "tau"))
    out, x, state = np.empty_like(q), np.empty_like(given.x), np.empty((len(q), 3))
    inverse, forward = (engine.kernel(mechanism, f"{name}_dynamics").inner for name in ("inverse", "forward"))  # type: ignore[attr-defined]
    placed, near = mechanism.at(x=given.x), mechanism.at(near=given.start)

    def timer(call: Callable[..., Any], *inputs: Any, out: Any = out) -> Timer:
        run = timer_of(partial(call, *inputs, out=out, threads=1))
        return lambda: run() / len(q)

    return {
        "inverse": timer(inverse, q, qd, qdd, given.x),
        "inverse_at": timer(dal.inverse_dynamics, placed, q, qd, qdd),
        "forward": timer(forward, q, qd, tau, given.x),
        "forward_at": timer(dal.forward_dynamics, placed, q, qd, tau),
        "closed": timer(mechanism.closure_kernel, q, given.start, out=(x, state)),
        "near": timer(dal.inverse_dynamics, near, q, qd, qdd),
        "seed": _seed_timer(mechanism, POSES if effort.compiled else len(q)),
    }


def _seed_timer(mechanism: Mechanism, count: int) -> Timer:
    """Poses closed from the seed and solved."""
    given = loop_states(mechanism, count, seed=1)
    inputs = [given.at_drives(name) for name in ("x", "xd", "xdd")]
    run = timer_of(partial(dal.inverse_dynamics, mechanism, *inputs, out=np.empty_like(inputs[0]), threads=1))
    return lambda: run() / count
