"""`dalembert check`: what is doubtful about a robot that can be computed."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from ..errors import DalembertWarning
from ..loading import load
from ..model import Robot
from ..model.physical import Finding, FoundNote, SourceNote, findings
from . import terminal
from .closing import closing
from .sheets import print_marked, print_title
from .systems import Loaded, tree_of

CHECKS = {
    "negative-mass": "no mass is negative",
    "indefinite-inertia": "no principal moment is negative",
    "triangle-inequality": "moments of inertia satisfy the triangle inequality",
    "massless-link": "every moving link has mass or inertia",
    "no-dynamics": "something that moves has mass",
    "idle-joint": "every joint moves some inertia",
    "negative-friction": "friction is not negative",
    "negative-rotor": "no rotor has negative mass or inertia",
    "unequal-constants": "torque and back-EMF constants of motors agree",
    "long-link": "no link is longer than 10 m",
    "large-angle": "angles lie within two turns",
    "far-centre": "no centre of mass is farther than 10 m",
    "large-inertia": "no radius of gyration is beyond 10 m",
    "low-breakaway": "friction at rest is not below that in motion",
    "gravity-up": "gravity does not point up",
}

CLOSING_CHECKS = {
    "redundant-closures": "no closure holds what others hold",
    "open-closure": "every closure is met",
    "near-singular": "the coordinates tell the positions well",
}


def run(source: str, *, strict: bool, json: bool) -> bool:
    """Print the findings; whether the robot or mechanism passes."""
    loaded = load_quietly(source)
    closed = None if isinstance(loaded, Robot) else closing(loaded)
    found = findings(tree_of(loaded))
    passed = not (strict and (found or (closed is not None and closed.doubts)))
    if json:
        terminal.print_json({"robot": loaded.name, "passed": passed, **record(loaded)})
        return passed
    print_title(repr(loaded), gap=False)
    print_marked(report(loaded))
    return passed


def load_quietly(source: str) -> Loaded:
    """The robot or mechanism, without warnings on stderr: the command prints the findings themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)
        return load(source)


def record(loaded: Loaded) -> dict[str, object]:
    """Findings, checks passed and notes, for JSON; of a mechanism also how it closes."""
    robot = tree_of(loaded)
    found = findings(robot)
    if isinstance(loaded, Robot):
        return {"findings": [finding._asdict() for finding in found], "checks_passed": _passed(found), "notes": _notes(robot)}
    closed = closing(loaded)
    found += [Finding(code, sentence) for code, sentence in closed.doubts.items()]
    return {
        "findings": [finding._asdict() for finding in found],
        "checks_passed": _passed(found, CHECKS | CLOSING_CHECKS),
        "notes": _notes(robot),
        "closing": {"freedoms": closed.freedoms, **closed._asdict()},
    }


def report(loaded: Loaded) -> list[tuple[str, str, str]]:
    """The same for printing: a mark, its style and a sentence each."""
    robot = tree_of(loaded)
    found = findings(robot)
    lines = [("✓", "green", CHECKS[code]) for code in _passed(found)]
    if not isinstance(loaded, Robot):
        closed = closing(loaded)
        found += [Finding(code, sentence) for code, sentence in closed.doubts.items()]
        lines += [("·", "cyan", words) for words in closed.words]
        lines += [("✓", "green", words) for code, words in CLOSING_CHECKS.items() if code not in closed.doubts]
    lines += [("!", "bold yellow", f"{finding.code}: {finding.message}") for finding in found]
    return lines + [("·", "dim", f"note: {note}") for note in _notes(robot)]


def _passed(found: list[Finding], checks: Mapping[str, str] = CHECKS) -> list[str]:
    failed = {finding.code for finding in found}
    return [code for code in checks if code not in failed]


def _notes(robot: Robot) -> list[str]:
    """What was noticed while reading the source; notes that repeat a finding are left out."""
    return [str(note) for note in robot.notes if not isinstance(note, FoundNote | SourceNote)]
