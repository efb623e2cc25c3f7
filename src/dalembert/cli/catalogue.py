"""`dalembert list`: the catalogue."""

from __future__ import annotations

import inspect

from .. import robots
from ..model import Robot
from . import terminal


def run(*, json: bool) -> None:
    """Print the catalogue."""
    entries = [_entry(name) for name in robots.CATALOGUE]
    if json:
        terminal.print_json(entries)
        return
    rows = [(entry["name"], entry["joints"], entry["n"], entry["about"]) for entry in entries]
    terminal.print_sheets(terminal.sheet("Catalogue", ["name", "joints", "n", "about"], rows, left=4))


def joint_letters(robot: Robot) -> str:
    """R for a turning joint, P for a sliding one, in order."""
    return "".join("R" if joint.turns else "P" for joint in robot.structure.coordinates)


def _entry(name: str) -> dict[str, object]:
    build = robots.CATALOGUE[name]
    robot = build()
    about = (inspect.getdoc(build) or "").partition("\n")[0].rstrip(".")
    return {"name": name, "joints": joint_letters(robot), "n": robot.n, "about": _without_citation(about)}


def _without_citation(line: str) -> str:
    """The line without the citation in brackets, which leads nowhere on a terminal."""
    return line.partition(" [")[0]
