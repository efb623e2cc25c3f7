"""`dalembert motors`: what a motion asks of the drives, and which motors of a list would do."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from ..drives import MotorTable, motor_table
from ..errors import FormatError, Place
from ..formats.motor_lists import read_motors
from ..loading import load
from ..model import Motor
from ..plots import canvas
from . import outputs, terminal
from .motion_files import write_table
from .sheets import print_sheets, print_title, sheet
from .state_files import target_of
from .voltage import motion_of


def run(given: Namespace) -> bool:
    """Print the tables; whether some motor does for every joint, where there is one to judge."""
    picture = outputs.picture("motors", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    candidates = None if given.motors is None else _motors(given.motors)
    motion = motion_of(robot, given)
    found = motor_table(robot, motion.q, motion.qd, motion.qdd, motion.t, qddd=motion.qddd, motors=candidates)
    if given.json:
        terminal.print_json({"robot": robot.name, "fits": fits(found), **found.to_dict()})
    else:
        print_title(f"{robot!r}, motors along {motion.t[-1] - motion.t[0]:g} s, {len(motion.t)} samples")
        print_sheets(*(sheet(title, heads, rows) for title, heads, rows in found.tables()))
        for joint in found.choices:
            chosen = found.chosen(joint)
            mark = ("✓ ", "green") if chosen else ("! ", "bold yellow")
            terminal.say(mark, f"{joint}: {chosen.motor if chosen else 'no motor of the list does'}")
    if target is not None:
        write_table(target, _columns(found))
    if picture is not None:
        outputs.save_figure(draw(found), picture)
    return fits(found)


def _motors(path: str) -> dict[str, Motor]:
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"it cannot be read ({error.strerror}). Name a .toml file of motors.", place=Place(path)) from None
    return read_motors(text, source=path)


def fits(found: MotorTable) -> bool:
    """Whether no joint is without a motor that does."""
    if found.choices:
        return all(found.chosen(joint) is not None for joint in found.choices)
    return all(demand.fits is not False for demand in found.motors)


_UNITS = {
    "ratio": "1",
    "torque_peak": "N m",
    "torque_rms": "N m",
    "speed_peak": "rad/s",
    "power_peak": "W",
    "current_peak": "A",
    "current_rms": "A",
    "voltage_peak": "V",
    "temperature_rise": "K",
    "margin": "1",
}


def _columns(found: MotorTable) -> dict[str, Any]:
    """Every demand on a motor as a row: those that are there, then those of the list, joint by joint."""
    rows = [("", d) for d in found.motors] + [(joint, d) for joint, choices in found.choices.items() for d in choices]
    numbers = {f"{key} [{unit}]": [getattr(d, key) for _, d in rows] for key, unit in _UNITS.items()}
    words = {"joint": [joint for joint, _ in rows], "motor": [d.motor for _, d in rows]}
    return {**words, **numbers, "limiting": [d.limiting or "" for _, d in rows]}


def draw(found: MotorTable) -> Any:
    """Margins as bars, motor by motor; those below zero will not do."""
    demands = [(d.motor, d) for d in found.motors]
    demands += [(f"{joint}: {d.motor}", d) for joint, choices in found.choices.items() for d in choices]
    known = [(name, d) for name, d in demands if d.margin is not None]
    figure = outputs.new_figure((7.2, 1.2 + 0.32 * max(len(known), 1)), layout="constrained")
    ax = figure.subplots()
    colours = [canvas.line_style(0 if d.fits else 1)["color"] for _, d in known]
    ax.barh([f"{name} ({d.limiting})" for name, d in known], [100 * (d.margin or 0.0) for _, d in known], color=colours)
    canvas.dress(ax, "margin to the nearest limit [%]", "")
    ax.lines[-1].remove()  # the zero of names means nothing
    ax.axvline(0.0, color=canvas.INK, linewidth=0.8)
    ax.invert_yaxis()
    return figure
