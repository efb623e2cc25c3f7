"""Where a task is singular, or nearly so: which direction is lost, by how much, and whether arm or angles are the reason."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics.task_directions import TaskDirections
from ..errors import DalembertWarning, SingularError
from ..wording import listed

LOOKED_AT = 1e5  # the dependence (task_dynamics.py) from which on the condition, about its root or more, is found
NEAR = 1e3  # a condition above is told of: digits are lost, and forces are some thousand times those elsewhere
SINGULAR = 1e7  # its square is that of the mobility, of which no digit would be right
ANGLES_NEAR = 1e-2  # |cos(pitch)|, |sin(ϑ)|: about half a degree
ANGLES_LOST = 1e-8


class Doubt(NamedTuple):
    """One row of a batch that is doubtful."""

    row: tuple[int, ...]
    condition: float
    direction: str

    def placed(self, places: Any, shape: tuple[int, ...]) -> Doubt:
        """The same, found among some rows of a batch, by its place in the whole."""
        return self._replace(row=tuple(int(k) for k in np.unravel_index(int(places[self.row[0]]), shape)))


def judge(name: str, task: TaskDirections, doubt: FloatArray, mobility: Any, *, before: str = "", damped: bool = False) -> Any:
    """Raise for one singular configuration, tell of near ones; True for rows of a batch in which the task is singular.

    `doubt` is that of `OperationalSpace`; `before` names tasks that are served first. A damped task is refused only where no
    direction of a kind moves at all, and where its angles fail.
    """
    lost = np.zeros(doubt.shape[:-1], dtype=bool)
    if _is_sound(doubt):
        return lost
    figures, matrices = doubt.reshape(-1, doubt.shape[-1]), np.reshape(mobility, (-1, *np.shape(mobility)[-2:]))
    places = np.flatnonzero(~_sound_rows(figures))
    figures, matrices = figures[places], matrices[places]  # the others are looked at no further
    margin = figures[:, 1]
    conditions = _conditions(task, matrices, figures, damped)
    lost.flat[places] = conditions > SINGULAR
    if lost.any():
        _refuse(name, task, _worst(task, conditions, matrices, figures).placed(places, lost.shape), lost, doubt, before)
    near = (conditions <= SINGULAR) & ((conditions > NEAR) | (margin < ANGLES_NEAR))
    if near.any():
        weight = np.where(near, np.maximum(conditions, 1.0 / np.maximum(margin, ANGLES_LOST)), 0.0)
        worst = _worst(task, weight, matrices, figures).placed(places, lost.shape)
        _warn_near(name, task, worst, lost.ndim > 0, float(doubt[worst.row][1]), before)
    return lost


def _is_sound(doubt: FloatArray) -> bool:
    """Whether no row is doubtful: the quickest way to say so of a large batch."""
    dependence, margin = doubt[..., 0], doubt[..., 1]
    return not doubt.size or bool(dependence.min() > 0.0 and dependence.max() < LOOKED_AT and margin.min() >= ANGLES_NEAR)


def _sound_rows(doubt: FloatArray) -> Any:
    dependence, margin = doubt[:, 0], doubt[:, 1]
    return (dependence > 0.0) & (dependence < LOOKED_AT) & (margin >= ANGLES_NEAR)


def _scaled(task: TaskDirections, mobility: Any, doubt: Any) -> Any:
    """The mobility without units: 1 where a direction is easy."""
    kinds = doubt[..., [2 + (row > 2) for row in task.rows]]
    scale = 1.0 / np.sqrt(np.where(kinds > 0.0, kinds, 1.0))
    return mobility * scale[..., :, None] * scale[..., None, :]


def _condition(values: Any) -> Any:
    """How much harder the hardest direction is than an easy one, from the eigenvalues of the scaled mobility."""
    return np.sqrt(values[..., -1].clip(1.0) / values[..., 0].clip(1e-30))


def _conditions(task: TaskDirections, mobility: Any, doubt: Any, damped: bool) -> Any:
    """The condition of rows where it is doubtful, 1 of others, infinite where numbers or angles fail."""
    lost_angles = doubt[:, 1] < ANGLES_LOST
    known = ~np.isnan(doubt[:, 1:]).any(axis=-1)  # a state that is not a number passes, as it does everywhere
    close = ~((doubt[:, 0] > 0.0) & (doubt[:, 0] < LOOKED_AT)) & (known | lost_angles)
    if damped:
        close &= (doubt[:, sorted({2 + (row > 2) for row in task.rows})] == 0.0).any(axis=-1)
    found = np.where(lost_angles, np.inf, 1.0)
    close &= ~lost_angles
    chosen = mobility[close]
    finite = np.isfinite(chosen).all(axis=(-1, -2))
    values = np.linalg.eigvalsh(_scaled(task, np.where(finite[:, None, None], chosen, 0.0), doubt[close]))
    found[close] = np.where(finite, _condition(values), np.inf)
    return found


def _worst(task: TaskDirections, weight: Any, mobility: Any, doubt: Any) -> Doubt:
    """The row with the largest weight, and the direction that is lost there."""
    row = tuple(int(k) for k in np.unravel_index(int(np.argmax(weight)), np.shape(weight)))
    matrix = np.asarray(mobility)[row]
    if doubt[row][1] < ANGLES_LOST or not np.isfinite(matrix).all():
        return Doubt(row, float("inf"), "")
    values, vectors = np.linalg.eigh(_scaled(task, matrix, doubt[row]))
    return Doubt(row, float(_condition(values)), _in_words(vectors[:, 0], task.names))


def _in_words(direction: Any, names: Sequence[str]) -> str:
    """A direction by the names that take part in it, the largest first."""
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    order = [int(k) for k in np.argsort(-np.round(np.abs(direction), 6), kind="stable") if abs(direction[k]) > 0.1][:3]
    return " ".join(names[k] if direction[k] > 0.995 else f"{direction[k]:+.2f} {names[k]}" for k in order)


def _angles_in_words(task: TaskDirections, margin: float) -> str:
    which = "pitch is within {} rad of ±π/2" if task.angles == "rpy" else "theta is within {} rad of 0 or π"
    pair = "roll and yaw" if task.angles == "rpy" else "phi and psi"
    return f"{which.format(f'{margin:.1g}')}, where {pair} turn about one axis"


def _refuse(name: str, task: TaskDirections, doubt: Doubt, lost: Any, figures: Any, before: str) -> None:
    margin = figures[..., 1]
    angles = margin[doubt.row] < ANGLES_LOST
    still = [what for what, row in zip(task.names, task.rows, strict=True) if figures[doubt.row][2 + (row > 2)] == 0.0]
    if angles:
        why = f"the angles {task.angles!r} do not tell the orientation here: {_angles_in_words(task, float(margin[doubt.row]))}"
        advice = "Use angles=None, or other angles."
    elif still:
        why = f"nothing moves {'the tool' if task.link is None else repr(task.link)} along {listed(still)}"
        advice = "Name another link or point."
    else:
        why = f"the task is singular: no joint moves it along {doubt.direction or 'some direction'}{before}"
        advice = "Leave that direction out, or give damping=, which names its result as damped."
    if not np.ndim(lost):
        raise SingularError(f"operational_space: {name!r}: {why}. {advice}")
    count = int(np.sum(lost))
    rows = f"{count} of {lost.size} rows {'is' if count == 1 else 'are'} NaN; row {', '.join(map(str, doubt.row))}"
    warnings.warn(DalembertWarning(f"operational_space: {name!r}: {rows}: {why}. {advice}", "singular-task"), stacklevel=4)


def _warn_near(name: str, task: TaskDirections, doubt: Doubt, many: bool, margin: float, before: str) -> None:
    where = f" (row {', '.join(map(str, doubt.row))} is the worst)" if many else ""
    if margin < ANGLES_NEAR:
        why = f"near a singularity of the angles {task.angles!r}{where}: {_angles_in_words(task, margin)}"
        advice = "Use angles=None, or other angles there."
    else:
        why = f"near a singular task{where}: condition {doubt.condition:.1e}, hardly moved along {doubt.direction}{before}"
        advice = "Forces grow as the square of it; leave that direction out, or give damping=."
    warnings.warn(DalembertWarning(f"operational_space: {name!r}: {why}. {advice}", "near-singular-task"), stacklevel=4)


__all__ = ["judge"]
