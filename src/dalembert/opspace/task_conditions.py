"""Where a task is singular, or nearly so: which rows of a batch, how much, and whether arm or angles are the reason.

The kernel gives a bound of each row's condition [theory: operational_space, Eq. 10], so eigenvalues are found of those rows alone
on which something depends: whether they are lost, and which one is the worst. Of thousands of rows that is a handful.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics.task_directions import TaskDirections
from .task_sentences import Doubt, direction_in_words, refuse, warn_near

NEAR = 1e3  # a condition above is told of: digits are lost, and forces are some thousand times those elsewhere
SINGULAR = 1e7  # its square is that of the mobility, of which no digit would be right
PERHAPS_LOST = 3e6  # from this bound on eigenvalues decide: here rounding takes a hundredth of it, at 1e7 a tenth
LOOKED_AT = 0.99 * NEAR**2  # the bound of the squared condition below which a row is sound; rounding is far below 0.01 there
ANGLES_NEAR = 1e-2  # |cos(pitch)|, |sin(ϑ)|: about half a degree
ANGLES_LOST = 1e-8
SMALLEST = 1e-30  # an eigenvalue that rounding made negative is next to nothing


def judge(name: str, task: TaskDirections, doubt: FloatArray, mobility: Any, *, before: str = "", damped: bool = False) -> Any:
    """Raise for one singular configuration, tell of near ones; True for rows of a batch in which the task is singular.

    `doubt` is that of `OperationalSpace`; `before` names tasks that are served first. A damped task is refused only where no
    direction of a kind moves at all, and where its angles fail. None where no row is singular.
    """
    lost = None
    settled, near = _settled_by_one(task, doubt, mobility) if not (damped or task.turns) else (False, None)
    places = () if settled else _doubtful(task, doubt)
    if len(places):
        rows = _DoubtfulRows(task, doubt, mobility, places, damped)
        gone = rows.lost()
        if gone is not None:
            lost = np.zeros(doubt.shape[:-1], dtype=bool)
            lost.flat[rows.places] = gone
            worst = rows.described(int(rows.conditions.argmax()))
            refuse(name, task, worst, lost, before, angles=worst.margin < ANGLES_LOST)
        near = rows.worst_near()
    if near is not None:
        warn_near(name, task, near, before, angles=near.margin < ANGLES_NEAR)
    return lost


def _settled_by_one(task: TaskDirections, doubt: FloatArray, mobility: Any) -> tuple[bool, Doubt | None]:
    """Whether the row with the largest bound settles what is said of all, as in most batches; and that row if it is a near one.

    Either that bound is sound, or it excludes that any row is lost, and the condition there is above all other bounds, which are
    nearly equalities. The kernel has just filled the caches with results, so what is done here is little: each line of code and
    each array that is not touched is not fetched again.
    """
    bounds = doubt[..., 0].flatten()  # a copy: argmax would make one each time
    if not bounds.size:
        return True, None
    place = int(bounds.argmax())  # a NaN counts as the largest
    row = _row(place, doubt.shape[:-1])
    figures = doubt[row].tolist()
    if figures[0] < LOOKED_AT:
        return True, None
    if not figures[0] <= PERHAPS_LOST**2:
        return False, None
    found = _described(task, row, figures, mobility[row])
    bounds[place] = 0.0
    settled = found.condition > NEAR and found.condition**2 >= bounds[bounds.argmax()]
    return settled, found if settled else None


def _doubtful(task: TaskDirections, doubt: FloatArray) -> Any:
    """The numbers of the rows that are not sound."""
    sound = doubt[..., 0] < LOOKED_AT  # not where it is NaN
    if task.turns:
        sound &= doubt[..., 1] >= ANGLES_NEAR
    return np.logical_not(sound).ravel().nonzero()[0]


def _row(place: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    """A row of a batch by its number."""
    return (place,) if len(batch) == 1 else tuple(map(int, np.unravel_index(place, batch)))


def _described(task: TaskDirections, row: tuple[int, ...], figures: Sequence[float], matrix: Any) -> Doubt:
    """A row with its condition and the direction that is lost, from its figures and its mobility."""
    bound, margin, *sizes = figures
    condition, direction = math.inf, ""
    if margin >= ANGLES_LOST and (bound < math.inf or np.isfinite(matrix).all()):
        scales = np.array([1.0 / math.sqrt(sizes[k > 2] or 1.0) for k in task.rows])
        values, vectors = eigenvectors(matrix * (scales[:, None] * scales))
        condition = math.sqrt(max(float(values[-1]), 1.0) / max(float(values[0]), SMALLEST))
        direction = direction_in_words(vectors[:, 0].tolist(), task.names)
    return Doubt(row, condition, direction, margin, (sizes[0], sizes[1]))


def eigenvectors(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of a small symmetric matrix, by LAPACK itself: once results have filled the caches, checks take longer than the numbers."""
    from scipy.linalg import lapack  # here, since most programs never have a doubtful row

    values, vectors, _ = lapack.dsyev(matrix)
    return values, vectors


class _DoubtfulRows:
    """Doubtful rows of a batch, with conditions that are bounds until eigenvalues settle them."""

    def __init__(self, task: TaskDirections, doubt: FloatArray, mobility: Any, places: Any, damped: bool) -> None:
        self.task, self.places, self.batch = task, places, doubt.shape[:-1]
        self.figures = doubt.reshape(-1, doubt.shape[-1])[places]
        self.matrices = mobility.reshape(-1, *mobility.shape[-2:])
        self.conditions = np.sqrt(self.figures[:, 0])
        self.open = self.conditions > 0.0
        self.largest = float(self.conditions.max())
        if damped or task.turns or not self.largest < math.inf:
            self._set_apart(damped)

    def _set_apart(self, damped: bool) -> None:
        """Settle rows without eigenvalues.

        Where angles fail the condition is infinite. It is 1 where it was not asked for: in states that are no numbers, which pass
        as they do everywhere, in rows whose angles alone are doubtful, and in damped ones that move.
        """
        fails = self.figures[:, 1] < ANGLES_LOST
        asked = ~(self.figures[:, 0] < LOOKED_AT) & ~np.isnan(self.figures[:, 1:]).any(axis=-1)
        if damped:
            asked &= (self.figures[:, sorted({2 + (row > 2) for row in self.task.rows})] == 0.0).any(axis=-1)
        self.open = asked & ~fails
        bounds = np.where(np.isnan(self.conditions), np.inf, self.conditions)
        self.conditions = np.where(self.open, bounds, np.where(fails, np.inf, 1.0))
        self.largest = float(self.conditions.max())

    def lost(self) -> Any:
        """Which rows are lost: by their angles, by numbers that fail, or by their condition; None if there are none."""
        if self.largest <= PERHAPS_LOST:
            return None
        self._settle(self.conditions > PERHAPS_LOST)
        gone = self.conditions > SINGULAR
        return gone if gone.any() else None

    def worst_near(self) -> Doubt | None:
        """The worst of the rows that are nearly singular; None if there are none.

        The row with the largest bound is looked at first. In most batches its condition is above all other bounds: these are
        nearly equalities. If not, the rows that could be worse are looked at together.
        """
        weights = self._weights()
        first = int(weights.argmax())
        if not weights[first]:
            return None
        found = self.described(first)
        if self.open[first]:
            self.open[first], self.conditions[first] = False, found.condition
        weights[first] = 0.0
        if NEAR < found.condition >= weights.max():
            return found
        self._settle(weights > self._weights()[first])
        weights = self._weights()
        worst = int(weights.argmax())
        return None if not weights[worst] else found if worst == first else self.described(worst)

    def _weights(self) -> Any:
        """How bad each row is, that is nearly singular by its condition or by its angles; zero for others."""
        weights = self.conditions * (self.conditions > NEAR)
        if self.task.turns:
            margin = self.figures[:, 1]
            weights = np.where(margin < ANGLES_NEAR, np.fmax(self.conditions, 1.0 / np.maximum(margin, ANGLES_LOST)), weights)
        if self.largest > SINGULAR:
            weights[self.conditions > SINGULAR] = 0.0
        return weights

    def _settle(self, which: Any) -> None:
        """Replace bounds of these rows by conditions: infinite where the mobility is no matrix of numbers."""
        rows = np.flatnonzero(which & self.open)
        if not rows.size:
            return
        self.open[rows] = False
        chosen = self.matrices[self.places[rows]]
        finite = np.isfinite(chosen).all(axis=(-1, -2))
        kinds = self.figures[rows][:, [2 + (row > 2) for row in self.task.rows]]
        scales = 1.0 / np.sqrt(np.where(kinds > 0.0, kinds, 1.0))
        scaled = np.where(finite[:, None, None], chosen, 0.0) * scales[:, :, None] * scales[:, None, :]
        values = np.linalg.eigvalsh(scaled)
        conditions = np.sqrt(values[:, -1].clip(1.0) / values[:, 0].clip(SMALLEST))
        self.conditions[rows] = np.where(finite, conditions, np.inf)

    def described(self, row: int) -> Doubt:
        """A row with its place in the batch, its condition and the direction that is lost."""
        place = int(self.places[row])
        return _described(self.task, _row(place, self.batch), self.figures[row].tolist(), self.matrices[place])


__all__ = ["judge"]
