"""`dalembert check`: what is doubtful about a robot that can be computed."""

from __future__ import annotations

import warnings

from ..errors import DalembertWarning
from ..formats import load
from ..model import Robot
from ..model.physical import Finding, FoundNote, SourceNote, findings
from . import terminal
from .sheets import print_marked

CHECKS = {
    "negative-mass": "no mass is negative",
    "indefinite-inertia": "no principal moment is negative",
    "triangle-inequality": "moments of inertia satisfy the triangle inequality",
    "massless-link": "every moving link has mass or inertia",
    "no-dynamics": "something that moves has mass",
    "idle-joint": "every joint moves some inertia",
    "negative-friction": "friction is not negative",
    "negative-rotor": "no rotor has negative mass or inertia",
    "long-link": "no link is longer than 10 m",
    "large-angle": "angles lie within two turns",
    "far-centre": "no centre of mass is farther than 10 m",
    "large-inertia": "no radius of gyration is beyond 10 m",
    "low-breakaway": "friction at rest is not below that in motion",
    "gravity-up": "gravity does not point up",
}


def run(source: str, *, strict: bool, json: bool) -> bool:
    """Print the findings; whether the robot passes."""
    robot = load_quietly(source)
    found = findings(robot)
    passed = not (strict and found)
    if json:
        terminal.print_json({"robot": robot.name, "passed": passed, **record(robot)})
        return passed
    terminal.say((repr(robot), "bold"))
    print_marked(report(robot))
    return passed


def load_quietly(source: str) -> Robot:
    """The robot, without warnings on stderr: the command prints the findings themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        return load(source)


def record(robot: Robot) -> dict[str, object]:
    """Findings, checks passed and notes, for JSON."""
    found = findings(robot)
    return {
        "findings": [finding._asdict() for finding in found],
        "checks_passed": _passed(found),
        "notes": _notes(robot),
    }


def report(robot: Robot) -> list[tuple[str, str, str]]:
    """The same for printing: a mark, its style and a sentence each."""
    found = findings(robot)
    lines = [("✓", "green", CHECKS[code]) for code in _passed(found)]
    lines += [("!", "bold yellow", f"{finding.code}: {finding.message}") for finding in found]
    return lines + [("·", "dim", f"note: {note}") for note in _notes(robot)]


def _passed(found: list[Finding]) -> list[str]:
    failed = {finding.code for finding in found}
    return [code for code in CHECKS if code not in failed]


def _notes(robot: Robot) -> list[str]:
    """What was noticed while reading the source; notes that repeat a finding are left out."""
    return [str(note) for note in robot.notes if not isinstance(note, FoundNote | SourceNote)]
