"""The fastest timing along a path: the Panda with friction, beside toppra where it is installed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from .bindings import has
from .effort import Effort
from .tables import Column, Table
from .timing import side_by_side, timer_of

DRY, VISCOUS = np.array([9.0] * 4 + [1.2] * 3), np.array([5.0] * 4 + [1.0] * 3)
INTERVALS, PATHS = 1000, 1000
COLUMNS = (
    Column("limits", "limits"),
    Column("intervals", "intervals", "d"),
    Column("ms", "dalembert [ms]", ".2f"),
    Column("excess", "beyond its limit", ".1e"),
    Column("peer_ms", "toppra [ms]", ".1f"),
    Column("peer_excess", "toppra beyond it", ".1e"),
    Column("ratio", "ratio", ".1f"),
    Column("batch_ms", "in a batch [ms]", ".3f"),
)


def panda() -> Robot:
    """With dry and viscous friction."""
    robot = dal.robots.panda()
    pairs = zip(robot.joint_names, DRY, VISCOUS, strict=True)
    laws = {name: dal.Friction(viscous=float(v), coulomb=float(c)) for name, c, v in pairs}
    return robot.replace(parameters=robot.parameters.replace(friction=laws))


def points(robot: Robot, *batch: int, margin: float = 0.25) -> np.ndarray:
    """Six points for each path, within the ranges of the joints less a margin on either side: splines swing out."""
    lower, upper = np.array([(j.limits.lower, j.limits.upper) for j in robot.structure.coordinates]).T
    return lower + (upper - lower) * np.random.default_rng(3).uniform(margin, 1 - margin, size=(*batch, 6, robot.n))


def measure(effort: Effort) -> Table:
    """The table of limits."""
    note = (
        "Panda with Coulomb friction 9 and 1.2 N m and viscous friction 5 and 1 N m s; largest torque relative to its limit on a "
        "grid ten times denser. toppra: interpolation scheme, with dry friction, which it knows; viscous friction it does not. "
        "In a batch: per path, of many on all cores."
    )
    table = Table("path_timing", "The fastest timing along a path", note, COLUMNS)
    tiny = effort.seconds == 0.0
    for kind in ("torque", "torque and speed"):
        table.records.append(_record(kind, 30 if tiny else INTERVALS, 4 if tiny else PATHS, effort.seconds))
    return table


def _record(kind: str, intervals: int, paths: int, seconds: float) -> dict[str, Any]:
    robot = panda()
    way = points(robot)
    speed = None if "speed" in kind else np.inf
    ours = partial(dal.fastest_timing, robot, way, velocity=speed, intervals=intervals, threads=1)
    found = ours()
    s = found.s
    timers = [timer_of(ours)]
    peer = _toppra(robot, way, s, with_speed=speed is None) if has("toppra") else None
    if peer is not None:
        timers.append(timer_of(peer))
    timed = side_by_side(timers, seconds)
    record = {
        "limits": kind,
        "intervals": intervals,
        "ms": 1e3 * timed.best(),
        "excess": _excess(robot, found.motion, found.torque_limits),
    }
    many = partial(dal.fastest_timing, robot, points(robot, paths, margin=0.4), velocity=speed, intervals=intervals)
    batch = side_by_side([timer_of(many)], 0.0, least=1)
    record["batch_ms"] = 1e3 * batch.best() / paths
    if peer is not None:
        sd = peer()
        path = found.paths.motion(0)
        record |= {"peer_ms": 1e3 * timed.best(1), "ratio": timed.best_ratio(1)}
        record["peer_excess"] = _excess_between(robot, path, s, sd, found.torque_limits)
    return record


def _excess(robot: Robot, motion: Any, limits: np.ndarray) -> float:
    breaks = motion.breaks
    at = motion((breaks[:-1, None] + np.diff(breaks)[:, None] * np.linspace(0.05, 0.95, 10)).ravel())
    return float((np.abs(dal.inverse_dynamics(robot, at.q, at.qd, at.qdd)) / limits).max() - 1.0)


def _excess_between(robot: Robot, path: Any, s: np.ndarray, sd: np.ndarray, limits: np.ndarray) -> float:
    """Of a profile whose s̈ is constant between grid points."""
    share = np.linspace(0.05, 0.95, 10)
    x, h = sd**2, np.diff(s)
    places = (s[:-1, None] + h[:, None] * share).ravel()
    z = np.sqrt((x[:-1, None] + np.diff(x)[:, None] * share).ravel())[:, None]
    u = np.repeat(np.diff(x) / (2 * h), len(share))[:, None]
    at = path(places)
    tau = dal.inverse_dynamics(robot, at.q, at.qd * z, at.qdd * z**2 + at.qd * u)
    return float((np.abs(tau) / limits).max() - 1.0)


def _toppra(robot: Robot, way: np.ndarray, s: np.ndarray, *, with_speed: bool) -> Callable[[], np.ndarray]:
    """toppra along the same spline, on the same grid; a function that gives ṡ."""
    import toppra
    from toppra import algorithm, constraint

    logging.getLogger("toppra").setLevel(logging.CRITICAL)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    path = toppra.SplineInterpolator(lengths / lengths[-1], way)
    limits = [joint.limits for joint in robot.structure.coordinates]
    effort, speed = (np.array([getattr(limit, name) for limit in limits]) for name in ("effort", "velocity"))
    bare = robot.replace(parameters=robot.parameters.replace(friction={}))

    def solve() -> np.ndarray:
        scheme = constraint.DiscretizationType.Interpolation
        torque = constraint.JointTorqueConstraint(
            partial(dal.inverse_dynamics, bare), np.c_[-effort, effort], fs_coef=DRY, discretization_scheme=scheme
        )
        rows = [torque, *([constraint.JointVelocityConstraint(np.c_[-speed, speed])] if with_speed else [])]
        found = algorithm.TOPPRA(rows, path, gridpoints=s, parametrizer="ParametrizeConstAccel").compute_parameterization(0, 0)
        return np.asarray(found[1])

    return solve
