"""Second derivatives of inverse dynamics beside Pinocchio's C++."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from . import agreement, humanoid, peers
from .effort import Effort
from .subjects import States, plain, states
from .tables import Column, Table
from .timing import side_by_side, timer_of, warm

QUANTITY = "second_derivatives"
COLUMNS = (Column("robot", "robot"), Column("n", "joints", "d"), *humanoid.COLUMNS[1:])


def measure(effort: Effort) -> Table:
    """The table of arms, a tree and chains."""
    note = (
        "∂²τ/∂q∂q, ∂²τ/∂q∂q̇, ∂²τ/∂q̇∂q̇ and ∂M/∂q, n³ entries each. Time per configuration in a batch on one core; compile time as "
        "above. Pinocchio has no Python binding for them."
    )
    table = Table("second", "Second derivatives", note, COLUMNS)
    chains = (dal.robots.chain(n) for n in effort.lengths if n in (2, 12, 30))
    for robot in (dal.robots.panda(), dal.robots.puma560(), *chains, humanoid.humanoid()):
        table.records.append(_record(plain(robot), effort))
    return table


def _record(robot: Robot, effort: Effort) -> dict[str, Any]:
    n = robot.n
    given = states(robot, max(10 * effort.entries // n**3, 4))
    out = tuple(np.empty((len(given.q), n, n, n)) for _ in range(4))
    ours = timer_of(partial(dal.second_derivatives, robot, given.q, given.qd, given.qdd, out=out, threads=1))
    first = partial(dal.second_derivatives, robot.replace(), given.q[0], given.qd[0], given.qdd[0])
    record: dict[str, Any] = {"robot": robot.name, "n": n, "compile": humanoid.first_call(first)}
    found = peers.pinocchio(robot, given, peers.SECOND, compiled=effort.compiled)
    if not isinstance(found, peers.Loop):
        return record | {"us": 1e6 * side_by_side([warm(ours)], effort.seconds / 2).best() / len(given.q)}
    with found as peer:
        _check(robot, given, peer)
        timings = side_by_side([warm(lambda: ours() / len(given.q)), warm(partial(peer.seconds, QUANTITY))], effort.seconds)
    record |= {"us": 1e6 * timings.best(), "peer_us": 1e6 * timings.best(1), "peer": peer.label}
    return record | {"ratio": timings.best_ratio(), "median_ratio": timings.median_ratio()}


def _check(robot: Robot, given: States, peer: peers.Loop) -> None:
    """Pinocchio's tensors come with the first index running fastest."""
    n = robot.n
    theirs = peer.answer(QUANTITY).reshape(-1, 4, n, n, n).transpose(0, 1, 4, 3, 2)
    ours = dal.second_derivatives(robot, given.q, given.qd, given.qdd)
    for name, tensor, other in zip(ours._fields, ours, theirs.swapaxes(0, 1), strict=True):
        agreement.demand(tensor, other, f"{name} of {robot.name!r}", peer.label)
