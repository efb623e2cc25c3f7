"""Inverse kinematics beside Levenberg-Marquardt with restarts around Pinocchio's C++, and beside the Robotics Toolbox."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib import util
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.errors import DalembertWarning
from dalembert.kinematics.search_starts import range_of
from dalembert.model import Robot

from . import bindings, descriptions, loops, peers
from .effort import Effort
from .subjects import States, plain
from .tables import Column, Table
from .timing import Timer, side_by_side, timer_of, warm

ROBOTS = ("panda", "ur5")
TOLERANCE = 1e-5  # [m, rad]
COLUMNS = (
    Column("robot", "robot"),
    Column("us", "µs per pose", ".2f"),
    Column("solved", "solved [%]", ".2f"),
    Column("search_us", "Pinocchio C++ [µs]", ".1f"),
    Column("search_solved", "solved [%]", ".2f"),
    Column("search_ratio", "ratio", ".1f"),
    Column("same_rules_us", "Pinocchio C++, our rules [µs]", ".1f"),
    Column("same_rules_ratio", "ratio", ".1f"),
    Column("toolbox_us", "Robotics Toolbox [µs]", ".0f"),
    Column("toolbox_ratio", "ratio", ".0f"),
)
_TOOLBOX_POSES = 500  # of its loop in Python


def measure(effort: Effort) -> Table:
    """The table of two arms."""
    note = (
        f"Random reachable poses from random starts, to {TOLERANCE:g} m and rad, within joint limits, up to 100 attempts, "
        "one core. Pinocchio C++: Levenberg-Marquardt with restarts, steps clamped to the limits, one pose after another; then "
        "the same with the rules of our own search (joints at limits left out, hopeless attempts given up). Robotics Toolbox: "
        "`ik_LM`, in C, called from Python for each pose."
    )
    table = Table("inverse_kinematics", "Inverse kinematics", note, COLUMNS)
    for name in ROBOTS:
        table.records.append(_record(plain(dal.load(name)), effort))
    return table


def _record(robot: Robot, effort: Effort) -> dict[str, Any]:
    given = _problem(robot, min(effort.batch, 10_000))
    wanted = dal.forward_kinematics(robot, given.q)

    def ours() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DalembertWarning)
            return dal.inverse_kinematics(robot, wanted, tolerance=TOLERANCE, attempts=100, threads=1)

    count, timers = len(wanted), {"ours": warm(timer_of(ours))}
    record: dict[str, Any] = {"robot": robot.name, "solved": 100.0 * float(np.mean(ours().success))}
    loop = _pinocchio(robot, given) if effort.compiled else None
    if loop is not None:
        for which in ("search", "same_rules"):
            timers[which] = _whole(loop, which, count)
            record |= {f"{which}_solved": _solved(robot, wanted, loop.rows(which))}
    if (toolbox := _toolbox(robot, wanted[:_TOOLBOX_POSES])) is not None:
        timers["toolbox"] = toolbox
    timings = side_by_side(list(timers.values()), effort.seconds)
    record |= {"us": 1e6 * timings.best() / count}
    for k, which in enumerate(list(timers)[1:], start=1):
        poses = min(count, _TOOLBOX_POSES) if which == "toolbox" else count
        each = timings.best(k) / poses
        record |= {f"{which}_us": 1e6 * each, f"{which}_ratio": each * count / timings.best()}
    return record


def _problem(robot: Robot, count: int) -> States:
    """Positions whose poses are wanted, starts, limits in the first rows, and the length in the first entry."""
    space, rng = range_of(robot, None, limits=True), np.random.default_rng(0)
    q, starts = (rng.uniform(space.box.lower, space.box.upper, (count, space.box.n)) for _ in range(2))
    limits, length = np.zeros_like(q), np.full_like(q, space.length)
    limits[:2] = space.lower, space.upper
    return States(q, starts, limits, length)


def _pinocchio(robot: Robot, given: States) -> peers.Loop | None:
    if not bindings.has("pinocchio"):
        return None
    try:
        return peers.Loop("Pinocchio C++", loops.pinocchio(name="pinocchio_ik_loop"), descriptions.as_text(robot), given)
    except loops.NoLoopError as reason:
        peers.tell("Pinocchio", reason)
        return None


def _whole(loop: peers.Loop, which: str, count: int) -> Timer:
    return lambda: loop.seconds(which) * count


def _solved(robot: Robot, wanted: np.ndarray, rows: np.ndarray) -> float:
    """How many of its poses are reached by our own forward kinematics."""
    off = dal.forward_kinematics(robot, rows[:, :-1]) - wanted
    reached = np.abs(off).max(axis=(1, 2)) < 2.0 * TOLERANCE
    return 100.0 * float(np.mean(reached & (rows[:, -1] > 0.5)))


def _toolbox(robot: Robot, wanted: np.ndarray) -> Timer | None:
    """The Toolbox on the same arm and poses, where it is installed: random starts of its own."""
    if util.find_spec("roboticstoolbox") is None:
        return None
    from roboticstoolbox import ET, ETS
    from spatialmath import SE3

    tree, parts = engine.tree(robot), []
    for s, joint in zip(tree.segments, robot.structure.coordinates, strict=True):
        parts.append(ET.SE3(SE3(_pose(descriptions.rotation(s.R, s.offset), s.p), check=False)))
        parts.append((ET.Rz if s.turn else ET.tz)(qlim=[joint.limits.lower, joint.limits.upper]))
    assert tree.tool is not None
    chain = ETS([*parts, ET.SE3(SE3(_pose(descriptions.rotation(tree.tool.R), tree.tool.p), check=False))])
    # Its error is half the squared one, metres and radians together.
    search: Callable[[Any], Any] = partial(chain.ik_LM, tol=TOLERANCE**2 / 2, joint_limits=True)
    return timer_of(lambda: [search(pose) for pose in wanted])


def _pose(R: np.ndarray, p: Any) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


__all__ = ["measure"]
