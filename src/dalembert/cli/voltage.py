"""`dalembert voltage`: currents and voltages of the motors along a motion."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..drives import NominalVoltage, nominal_voltage
from ..errors import ShapeError
from ..loading import load
from ..plots import canvas
from . import outputs, terminal
from .digits import aligned
from .dynamics import state_of
from .motion_files import MotionTable, motion_columns, read_motion, smooth_motion, write_table
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import target_of
from .systems import Loaded

_UNITS = {"torque": "N m", "speed": "rad/s", "current": "A", "voltage": "V"}


def run(given: Namespace) -> None:
    """Print the largest magnitudes, and write or draw the whole course."""
    picture = outputs.picture("voltage", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    motion = motion_of(robot, given)
    found = nominal_voltage(robot, motion.q, motion.qd, motion.qdd, motion.qddd, strict=given.strict)
    if given.json:
        terminal.print_json({"robot": robot.name, "t": motion.t, **found.to_dict()})
    else:
        print_title(f"{robot!r}, motors along {motion.t[-1] - motion.t[0]:g} s, {len(motion.t)} samples")
        print_sheets(peaks(found))
        for name, kinds in found.exceeded.items():
            terminal.say(("! ", "bold yellow"), f"{name}: beyond its limit of {', '.join(kinds)}")
    if target is not None:
        write_table(target, motion_columns(robot, motion) | columns(found))
    if picture is not None:
        outputs.save_figure(draw(motion.t, found), picture)


def motion_of(robot: Loaded, given: Namespace) -> MotionTable:
    """The motion of a file, or a smooth one between two positions."""
    if given.motion is not None:
        if given.start or given.end or given.time is not None:
            raise ShapeError("--motion: found together with --from, --to or --time, which make another one. Leave these out.")
        return read_motion(given.motion, robot)
    if given.time is None or not given.end:
        raise ShapeError("--motion, --to: no motion found. Give --motion FILE, or --to and --time, and --from if it is not zero.")
    q0, q1 = (state_of(robot, {"q": q}, degrees=given.degrees).q for q in (given.start, given.end))
    return smooth_motion(q0, q1, given.time, given.samples)


def peaks(found: NominalVoltage) -> Sheet:
    """The largest magnitude of everything, motor by motor."""
    values = {kind: np.abs(getattr(found, kind)).max(axis=0) for kind in _UNITS}
    cells = np.column_stack([aligned(x) for x in values.values()])
    rows = [(name, *row) for name, row in zip(found.motors, cells, strict=True)]
    return sheet("Largest magnitudes", ["motor", *(f"{kind} [{unit}]" for kind, unit in _UNITS.items())], rows)


def columns(found: NominalVoltage) -> dict[str, FloatArray]:
    """The course of everything, with names and units."""
    short = {"torque": "tau", "speed": "speed", "current": "i", "voltage": "v"}
    return {
        f"{short[kind]}_{name} [{unit}]": getattr(found, kind)[:, k]
        for kind, unit in _UNITS.items()
        for k, name in enumerate(found.motors)
    }


def draw(t: FloatArray, found: NominalVoltage) -> Any:
    """Voltages above, currents below, with the limits that are known as dashed lines."""
    figure = outputs.new_figure((7.6, 5.4), layout="constrained")
    for ax, kind in zip(figure.subplots(2, 1, sharex=True), ("voltage", "current"), strict=True):
        limits = found.drive.column(f"{kind}_limit")
        for k, name in enumerate(found.motors):
            style = canvas.line_style(k)
            ax.plot(t, getattr(found, kind)[:, k], label=name, **style)
            if np.isfinite(limits[k]):
                for limit in (limits[k], -limits[k]):
                    ax.axhline(limit, color=style["color"], linewidth=0.8, linestyle=(0, (4, 4)))
        canvas.dress(ax, "time [s]" if kind == "current" else "", f"{kind} [{_UNITS[kind]}]")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=canvas.INK)
    return figure
