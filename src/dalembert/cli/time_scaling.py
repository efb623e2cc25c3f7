"""`dalembert scale`: a motion slower or faster, its torques from parts, and the largest factor within limits."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..loading import load
from ..plots import canvas
from ..timing import ScaledTrajectory, scale_trajectory
from ..trajectory import Motion, Trajectory, septic
from . import outputs, terminal
from .digits import aligned
from .dynamics import torque_units
from .motion_files import MotionTable, motion_columns, read_motion, write_table
from .motion_options import end_of, start_of
from .path_timing import drive_columns, drive_units, sizes
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import target_of
from .systems import Loaded, coordinates_of
from .trajectory import torque_columns


def run(given: Namespace) -> None:
    """Print the factor, the joint and the instant that bind, and write or draw the scaled motion."""
    picture = outputs.picture("scale", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    motion = _motion(robot, given)
    limits = {"torque": sizes(given.torque), "velocity": sizes(given.velocity)}
    found = scale_trajectory(robot, motion, **limits, factor=given.factor, samples=given.samples)
    if given.json:
        terminal.print_json({"robot": robot.name, **found.to_dict()})
    else:
        print_title(f"{robot!r}, {float(found.factor):.6g} times as fast: {float(found.duration):.6g} s")
        print_sheets(peaks(robot, found), *drive_peaks(robot, found))
        terminal.say(_words(found))
    if target is not None:
        jerk = np.gradient(found.qdd, found.t, axis=0)
        course = MotionTable(found.t, found.q, found.qd, found.qdd, jerk)
        columns = motion_columns(robot, course) | torque_columns(robot, found.tau)
        write_table(target, columns | drive_columns(robot, found.drives, found.drive_torques))
    if picture is not None:
        outputs.save_figure(draw(robot, found), picture)


def _motion(robot: Loaded, given: Namespace) -> Motion | Trajectory:
    if given.motion is not None:
        if given.start or given.end or given.time is not None:
            raise ShapeError("--motion: found together with --from, --to or --time, which make another one. Leave these out.")
        return Trajectory(*read_motion(given.motion, robot))
    if given.time is None or not given.end:
        raise ShapeError("--motion, --to: no motion found. Give --motion FILE, or --to and --time, and --from if it is not zero.")
    return septic(start_of(robot, given), end_of(robot, given), duration=given.time)


def _words(found: ScaledTrajectory) -> str:
    use = 100 * float(found.use)
    return f"most used: the {found.limit} of {str(found.joint)!r}, {use:.4g} % of its limit at {float(found.binding_time):.4g} s"


def peaks(robot: Loaded, found: ScaledTrajectory) -> Sheet:
    """The largest magnitudes of the scaled motion."""
    values = [np.abs(x).max(axis=0) for x in (found.qd, found.qdd, found.tau)]
    cells = np.column_stack([aligned(x) for x in values])
    axes = zip(coordinates_of(robot), torque_units(robot), cells, strict=True)
    rows = [(axis.name, "rad" if axis.turns else "m", *row, unit) for axis, unit, row in axes]
    return sheet(
        "Largest magnitudes", ["joint", "unit", "velocity /s", "acceleration /s²", "torque or force", "in"], rows, left=2
    )


def drive_peaks(robot: Loaded, found: ScaledTrajectory) -> list[Sheet]:
    """The largest torques of drives that are not the coordinates, if there are any."""
    units = drive_units(robot, found.drives)
    cells = aligned(np.abs(found.drive_torques).max(axis=0))
    rows = list(zip(found.drives, cells, units, strict=False))
    return [sheet("Drives", ["joint", "torque or force", "in"], rows, left=1)] if rows else []


def draw(robot: Loaded, found: ScaledTrajectory) -> Any:
    """Torques of the drives along the scaled motion."""
    figure = outputs.new_figure((7.6, 3.8), layout="constrained")
    ax = figure.subplots()
    for k, name in enumerate(found.drives):
        ax.plot(found.t, found.drive_torques[:, k], label=name, **canvas.line_style(k))
    binds = f"{found.limit} of {found.joint},\n{100 * float(found.use):.4g} % of its limit"
    ax.axvline(float(found.binding_time), color=canvas.INK, linewidth=0.8, linestyle=(0, (4, 2)), label=binds)
    units = drive_units(robot, found.drives) or torque_units(robot)
    canvas.dress(ax, "time [s]", f"torque [{', '.join(dict.fromkeys(units))}]")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)
    return figure
