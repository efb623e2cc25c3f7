"""What is said when motions did not reach their end: how many, why, and what to try."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import DalembertWarning
from .solution import Simulation
from .steering import NOT_FINITE, TOO_MANY, TOO_SMALL

CODE = "motion-failed"
_USER = 3  # frames from `warnings.warn` to whoever called `simulate` or `rollout`
_REASONS = {
    TOO_MANY: "needed more than max_steps steps",
    TOO_SMALL: "needed steps as small as the spacing of numbers",
    NOT_FINITE: "left the finite numbers",
}


def warn_of_simulation(found: Simulation, system: AnySystem) -> None:
    """Warn, once, if motions with error control did not reach the end."""
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
    remedies = [_remedy(status, system) for status in why]
    warnings.warn(DalembertWarning(f"simulate: {happened}. {' '.join(dict.fromkeys(remedies))}", CODE), stacklevel=_USER)


def _remedy(status: int, system: AnySystem) -> str:
    """One thing to try; dry friction that is not smoothed is the most frequent cause of short steps."""
    if status == NOT_FINITE:
        return "Look at the torques and initial states of these."
    laws = ((s.name, s.friction) for s in engine.tree(system).segments)
    jumping = [name for name, law in laws if law is not None and law.dry and not law.smooth]
    if jumping:
        return f"The dry friction of {', '.join(map(repr, jumping))} jumps when the motion turns round: give Friction(width=...)."
    return (
        "Allow more max_steps, or a looser rtol." if status == TOO_MANY else "Give a looser rtol, or look where the motion ends."
    )


def warn_of_rollout(finite: Any, dt: float) -> None:
    """Warn, once, if motions by a fixed step left the finite numbers."""
    lost = int(np.size(finite) - np.count_nonzero(finite))
    if lost == 0:
        return
    who = "the motion" if np.size(finite) == 1 else f"{lost} of {np.size(finite)} motions"
    warnings.warn(
        DalembertWarning(
            f"rollout: {who} left the finite numbers (see `finite`). Take a smaller dt than {dt:g} s, or look at the torques and "
            "initial states.",
            CODE,
        ),
        stacklevel=_USER,
    )
