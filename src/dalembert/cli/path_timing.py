"""`dalembert timing`: the least time along a path within the limits of a robot."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from .. import plots
from ..checks import FloatArray
from ..dynamics import inverse_dynamics
from ..errors import ShapeError
from ..loading import load
from ..timing import FastestTiming, fastest_timing
from . import outputs, terminal
from .motion_files import MotionTable, motion_columns, read_states, write_table
from .motion_options import end_of, start_of
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import target_of
from .systems import Loaded, coordinates_of, tree_of
from .trajectory import torque_columns

KINDS = ("torque", "velocity", "acceleration", "power", "jerk", "torque_rate")


def run(given: Namespace) -> None:
    """Print duration and binding limits, and write or draw the motion."""
    picture = outputs.picture("timing", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    limits = {kind: sizes(getattr(given, kind)) for kind in KINDS}
    found = fastest_timing(robot, _way(robot, given), **limits, motors=given.motors, intervals=given.intervals)
    if given.json:
        terminal.print_json({"robot": robot.name, **found.to_dict()})
    else:
        print_title(f"{robot!r}, fastest timing: {float(found.duration):.6g} s, {len(found.s) - 1} intervals")
        print_sheets(binding(found), *jumps(found))
    if target is not None:
        at = found.motion.sample(count=given.samples)
        tau = inverse_dynamics(robot, at.q, at.qd, at.qdd)
        columns = motion_columns(robot, MotionTable(at.t, at.q, at.qd, at.qdd, at.qddd)) | torque_columns(robot, tau)
        write_table(target, columns | drive_columns(robot, found.drives, found.drive_torques(at.t)))
    if picture is not None:
        outputs.save_figure(draw(found), picture)


def drive_units(robot: Loaded, drives: tuple[str, ...]) -> list[str]:
    """The units of torques of driven joints that are not the coordinates; empty where they are."""
    if drives == tuple(axis.name for axis in coordinates_of(robot)):
        return []
    turns = {joint.name: joint.turns for joint in tree_of(robot).structure.coordinates}
    return ["N m" if turns[name] else "N" for name in drives]


def drive_columns(robot: Loaded, drives: tuple[str, ...], u: FloatArray) -> dict[str, FloatArray]:
    """Torques (K, drives) of driven joints with names and units, where these are not the coordinates."""
    named = enumerate(zip(drives, drive_units(robot, drives), strict=False))
    return {f"drive_{name} [{unit}]": u[:, k] for k, (name, unit) in named}


def sizes(given: Any) -> Any:
    """One limit for all, or one of each; None where nothing is given."""
    if not given:
        return None
    return given[0] if len(given) == 1 else given


def _way(robot: Loaded, given: Namespace) -> FloatArray:
    """Points of a table, or two."""
    if given.points is not None:
        if given.start or given.end:
            raise ShapeError("--points: found together with --from or --to, which make another path. Leave these out.")
        return read_states(given.points, robot, ["q"])["q"]
    if not given.end:
        raise ShapeError("--points, --to: no path found. Give --points FILE, or --to, and --from if it is not zero.")
    return np.stack([start_of(robot, given), end_of(robot, given)])


def binding(found: FastestTiming) -> Sheet:
    """For how long each limit is the one that is used most."""
    steps, which = np.diff(found.t), found.binding
    total = np.bincount(which, weights=steps, minlength=len(found.limits))
    order = [k for k in np.argsort(-total) if total[k] > 0]
    most = 100 * found.use.max(axis=0)
    rows = [(found.limits[k], f"{total[k]:.4g}", f"{100 * total[k] / total.sum():.1f}", f"{most[k]:.4f}") for k in order]
    return sheet("Limits that bind", ["limit", "time [s]", "share [%]", "used at most [%]"], rows)


def jumps(found: FastestTiming) -> list[Sheet]:
    """Where dry friction makes torques jump, if rates are limited and there are any."""
    rows = [(f"{one.s:.5g}", f"{one.t:.5g}", one.joint, f"{one.size:+.4g}") for row in found.jumps for one in row]
    return (
        [sheet("Torques that jump as dry friction turns round", ["s", "time [s]", "joint", "by [N m, N]"], rows)] if rows else []
    )


def draw(found: FastestTiming) -> Any:
    """The phase plane and the torques."""
    figure = outputs.new_figure((9.6, 3.8), layout="constrained")
    plots.timing(found, axes=figure.subplots(1, 2))
    return figure
