"""`dalembert mobility`: the freedoms of a mechanism, and what its closures hold twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..mechanism import Mechanism, Mobility, mobility
from ..model import Robot
from . import check, terminal
from .sheets import print_marked


def run(source: str, *, q: Sequence[float] = (), degrees: bool = False, json: bool = False) -> None:
    """Print the analysis, at the coordinates given or where the mechanism is assembled."""
    system: Any = check.load_quietly(source)
    found = mobility(system, q=_in_si(system, q, degrees=degrees) if q else None)
    if json:
        terminal.print_json(record(found))
        return
    terminal.say((found.headline, "bold"))
    print_marked([(f"{head:<19}", "cyan", text) for head, text in found.lines()])


def _in_si(system: Mechanism | Robot, q: Sequence[float], *, degrees: bool) -> list[float]:
    """Coordinates in rad and m."""
    known = system.coordinates if isinstance(system, Mechanism) else system.structure.coordinates
    turns = [coordinate.turns for coordinate in known] if degrees and len(known) == len(q) else [False] * len(q)
    return [float(np.radians(value)) if turn else value for value, turn in zip(q, turns, strict=True)]


def record(found: Mobility) -> dict[str, Any]:
    """Everything as plain data, in SI units; `motions` and `branches` have one list per motion."""
    return {
        "name": found.name,
        "freedoms": found.freedoms,
        "first_order": found.first_order,
        "kind": found.kind,
        "joints": found.joint_names,
        "x": found.x,
        "singular_values": found.singular_values,
        "motions": found.motions.T,
        "branches": [branch.T for branch in found.branches],
        "conditions": found.conditions,
        "redundant": found.redundant,
        "idle": [{"links": idle.links, "joints": idle.joints, "motion": idle.motion} for idle in found.idle],
        "internal_forces": found.internal_forces,
        "internal_torques": found.internal_torques,
        "actuated": found.actuated,
        "gruebler": {"in_its_space": found.count._asdict(), "in_space": found.count_in_space._asdict(), "why": found.why},
        "proposal": found.proposal._asdict(),
        "coordinates": None if found.chosen is None else found.chosen._asdict(),
    }
