"""What is said when motions did not reach their end: how many, why, and what to try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dynamics import engine
from ..dynamics.system import AnySystem, solves
from ..errors import DalembertWarning, tell
from .dry_friction import decidable, jumping_joints
from .solution import STIFF, Simulation
from .steering import NOT_FINITE, TOO_MANY, TOO_SMALL

CODE = "motion-failed"
_LOOK = "Look at what it is computed from there: a root of a negative number, or a quotient by zero?"
_DEAD_POINT = (
    "Coordinates of a mechanism may come to a dead point, where they do not tell its positions: take others, or another method, "
    "which goes on in others by itself."
)
_REASONS = {
    TOO_MANY: "needed more than max_steps steps",
    TOO_SMALL: "needed steps as small as the spacing of numbers",
    NOT_FINITE: "left the finite numbers",
}


def warn_of_simulation(found: Simulation, system: AnySystem, fault: Callable[[], str | None] | None = None) -> None:
    """Warn, once, if motions with error control did not reach the end; `fault` tells what was not finite, if it can."""
    if found.success:
        return
    counts = {status: int(np.sum(found.status == status)) for status in _REASONS}
    total, failed = np.size(found.status), sum(counts.values())
    why = {status: count for status, count in counts.items() if count}
    if total == 1:
        happened = f"the motion ended early, since it {_REASONS[next(iter(why))]}"
    else:
        reasons = ", ".join(f"{count} {_REASONS[status]}" for status, count in why.items())
        happened = f"{failed} of {total} motions ended early, and are NaN from there: {reasons}"
    remedies = [_remedy(status, system, bool(np.any(found.stiff))) for status in why]
    told = fault() if fault is not None and NOT_FINITE in why else None
    if told is not None:
        remedies = [told, *(remedy for status, remedy in zip(why, remedies, strict=True) if status != NOT_FINITE), _LOOK]
    tell(DalembertWarning(f"simulate: {happened}. {' '.join(dict.fromkeys(remedies))}", CODE))


def _remedy(status: int, system: AnySystem, stiff: bool) -> str:
    """One thing to try; dry friction that jumps elsewhere than at the coordinates is a frequent cause of short steps."""
    if status == NOT_FINITE:
        return "Look at the torques and initial states of these."
    if stiff:
        return STIFF
    jumping = jumping_joints(system)
    if jumping and not decidable(system):
        names = ", ".join(map(repr, jumping))
        return f"The dry friction of {names} jumps when the motion turns round: smooth the robot, smoothed(width)."
    return (
        "Allow more max_steps, or a looser rtol." if status == TOO_MANY else "Give a looser rtol, or look where the motion ends."
    )


def warn_of_rollout(finite: Any, dt: float, system: AnySystem, method: str, fault: Callable[[], str | None]) -> None:
    """Warn, once, if motions by a fixed step left the finite numbers; `fault` tells what was not finite, if it can."""
    lost = int(np.size(finite) - np.count_nonzero(finite))
    if lost == 0:
        return
    told = fault()
    remedy = f"Take a smaller dt than {dt:g} s, or look at the torques and initial states." if told is None else f"{told} {_LOOK}"
    if told is None and method == "symplectic" and solves(engine.system_of(system)):
        remedy += f" {_DEAD_POINT}"
    who = "the motion" if np.size(finite) == 1 else f"{lost} of {np.size(finite)} motions"
    tell(DalembertWarning(f"rollout: {who} left the finite numbers (see `finite`). {remedy}", CODE))
