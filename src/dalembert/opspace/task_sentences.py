"""What is said of a task that is singular, or nearly so: the row, the direction that is lost, the reason, and what to try."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.task_directions import TaskDirections
from ..errors import DalembertWarning, SingularError
from ..wording import listed

_TAKES_PART = 0.1  # of a unit vector: smaller entries are not named


class Doubt(NamedTuple):
    """The worst of the rows that are doubtful."""

    row: tuple[int, ...]
    condition: float
    direction: str
    margin: float  # of the angles
    sizes: tuple[float, float]  # mobility of linear and angular directions where they are easy


def direction_in_words(direction: Sequence[float], names: Sequence[str]) -> str:
    """A direction by the names that take part in it, the largest first, three at most."""
    sign = math.copysign(1.0, max(direction, key=abs))
    parts = [(round(-1e6 * abs(value)), k) for k, value in enumerate(direction) if abs(value) > _TAKES_PART]
    parts.sort()  # equal ones, to six digits, keep their order
    return " ".join([_part_in_words(sign * direction[k], names[k]) for _, k in parts[:3]])


def _part_in_words(value: float, name: str) -> str:
    return name if value > 0.995 else f"{value:+.2f} {name}"


def refuse(name: str, task: TaskDirections, doubt: Doubt, lost: Any, before: str, *, angles: bool) -> None:
    """Raise for one configuration; warn of rows of a batch. `angles` tells that it is these that fail."""
    why, advice = _lost_in_words(task, doubt, before, angles)
    if not np.ndim(lost):
        raise SingularError(f"operational_space: {name!r}: {why}. {advice}")
    count = int(np.sum(lost))
    rows = f"{count} of {lost.size} rows {'is' if count == 1 else 'are'} NaN; row {', '.join(map(str, doubt.row))}"
    warnings.warn(DalembertWarning(f"operational_space: {name!r}: {rows}: {why}. {advice}", "singular-task"), stacklevel=4)


def warn_near(name: str, task: TaskDirections, doubt: Doubt, before: str, *, angles: bool) -> None:
    """Warn of a task, or of angles, that are nearly singular."""
    where = f" (row {', '.join(map(str, doubt.row))} is the worst)" if doubt.row else ""
    if angles:
        why = f"near a singularity of the angles {task.angles!r}{where}: {_angles_in_words(task, doubt.margin)}"
        advice = "Use angles=None, or other angles there."
    else:
        why = f"near a singular task{where}: condition {doubt.condition:.1e}, hardly moved along {doubt.direction}{before}"
        advice = "Forces grow as the square of it; leave that direction out, or give damping=."
    warnings.warn(DalembertWarning(f"operational_space: {name!r}: {why}. {advice}", "near-singular-task"), stacklevel=4)


def _lost_in_words(task: TaskDirections, doubt: Doubt, before: str, angles: bool) -> tuple[str, str]:
    """Why a row is lost, and what to try."""
    if angles:
        why = f"the angles {task.angles!r} do not tell the orientation here: {_angles_in_words(task, doubt.margin)}"
        return why, "Use angles=None, or other angles."
    still = [what for what, row in zip(task.names, task.rows, strict=True) if doubt.sizes[row > 2] == 0.0]
    if still:
        why = f"nothing moves {'the tool' if task.link is None else repr(task.link)} along {listed(still)}"
        return why, "Name another link or point."
    why = f"the task is singular: no joint moves it along {doubt.direction or 'some direction'}{before}"
    return why, "Leave that direction out, or give damping=, which names its result as damped."


def _angles_in_words(task: TaskDirections, margin: float) -> str:
    which = "pitch is within {} rad of ±π/2" if task.angles == "rpy" else "theta is within {} rad of 0 or π"
    pair = "roll and yaw" if task.angles == "rpy" else "phi and psi"
    return f"{which.format(f'{margin:.1g}')}, where {pair} turn about one axis"


__all__ = ["Doubt", "direction_in_words", "refuse", "warn_near"]
