"""Where a function of the state is largest in a box of states: searched from many starts, coordinate by coordinate, in batches.

What is looked for is the largest size of each entry of f(q, q̇, q̈): the torque of each joint, or the error of a model of it.
For a given q that is a linear function of q̈ and, friction aside, a quadratic one of q̇: largest over q̈ at a corner of the box,
over one q̇_j at an end of its range or at the top of a parabola. So of accelerations the ends are tried, of velocities the
ends and steps that become shorter, of positions such steps, along one coordinate and along all. What is found is attained, at
the state beside it; that nothing is larger is not proved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from .workspace import State, Workspace

Function = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
_STARTS = 24  # per entry among random states, and as many among those with rates at corners
_FINALISTS = 6  # per entry, that go on when the steps have become short
_SWEEPS = (12, 14)
_FIRST, _SHRINK = 0.5, 0.65  # the first step, of the range of a coordinate; the next sweep's beside it (the last: 1e-5)
_STEPS = np.array([-1.0, -0.5, -0.2, 0.2, 0.5, 1.0])
_DIRECTIONS = 8  # in which all positions are moved at once, per sweep
_CHUNK = 40_000  # states evaluated at once


class Worst(NamedTuple):
    """The largest size found of each entry, shape (m,), and where: that state and the runners-up, `_FINALISTS` for each entry."""

    size: FloatArray
    state: State


def at_corners(box: Workspace, state: State, rng: np.random.Generator) -> State:
    """The same positions with velocities and accelerations at random corners of the box."""
    signs = rng.choice([-1.0, 1.0], (2, *state.q.shape))
    return State(state.q, signs[0] * box.velocity, signs[1] * box.acceleration)


def largest(function: Function, box: Workspace, starts: State, rng: np.random.Generator) -> Worst:
    """The largest |f| found from the best of some states, as they are and with their rates at corners."""
    given = [np.concatenate(state, axis=-1) for state in (starts, at_corners(box, starts, rng))]
    sizes = [_sizes(function, x) for x in given]
    m = sizes[0].shape[1]
    x = np.concatenate([x[np.argsort(-size[:, i])[:_STARTS]] for i in range(m) for x, size in zip(given, sizes, strict=True)])
    climb, step = _Climb(function, box, m, x), _FIRST
    for sweeps in _SWEEPS:
        for _ in range(sweeps):
            climb.sweep(step, rng)
            step *= _SHRINK
        climb.keep(_FINALISTS)
    return Worst(climb.size.reshape(m, -1).max(axis=1), State(*np.split(climb.x, 3, axis=-1)))


def _sizes(function: Function, x: FloatArray) -> FloatArray:
    """|f| of states in rows of q, q̇, q̈; what is not finite counts as nothing."""
    pieces = [np.abs(function(*np.split(x[k : k + _CHUNK], 3, axis=-1))) for k in range(0, len(x), _CHUNK)]
    return np.nan_to_num(np.concatenate(pieces), nan=0.0, posinf=0.0)


class _Climb:
    """States in rows, each on its way to where one of m entries of f is largest; as many for each, one entry after the other."""

    def __init__(self, function: Function, box: Workspace, m: int, x: FloatArray) -> None:
        self.function, self.n, self.m, self.x = function, box.n, m, x
        self.lower = np.concatenate([box.lower, -box.velocity, -box.acceleration])
        self.upper = np.concatenate([box.upper, box.velocity, box.acceleration])
        self.size = self._own(x[:, None, :])[:, 0]

    def sweep(self, step: float, rng: np.random.Generator) -> None:
        """Once over all coordinates."""
        for j in rng.permutation(len(self.lower)):
            self._try_values(j, step)
        self._try_directions(step, rng)

    def keep(self, count: int) -> None:
        """Go on with the best of each entry only."""
        order = np.argsort(-self.size.reshape(self.m, -1), axis=1)[:, :count]
        rows = (order + np.arange(self.m)[:, None] * (len(self.x) // self.m)).ravel()
        self.x, self.size = self.x[rows], self.size[rows]

    def _own(self, moved: FloatArray) -> FloatArray:
        """Each row's entry of |f| at some states for each, (rows, states, 3n)."""
        sizes = _sizes(self.function, moved.reshape(-1, moved.shape[-1])).reshape(*moved.shape[:2], self.m)
        entry = np.repeat(np.arange(self.m), len(moved) // self.m)
        return sizes[np.arange(len(moved)), :, entry]

    def _try_values(self, j: int, step: float) -> None:
        """Other values of one coordinate."""
        ends = np.broadcast_to([self.lower[j], self.upper[j]], (len(self.x), 2))
        values = self.x[:, j, None] + step * (self.upper[j] - self.lower[j]) * _STEPS
        values = values if j < self.n else ends if j >= 2 * self.n else np.concatenate([ends, values], axis=-1)
        moved = np.repeat(self.x[:, None, :], values.shape[1], axis=1)
        moved[:, :, j] = values
        self._take_best(moved)

    def _try_directions(self, step: float, rng: np.random.Generator) -> None:
        """All positions at once, some way in random directions."""
        moved = np.repeat(self.x[:, None, :], _DIRECTIONS, axis=1)
        width = self.upper[: self.n] - self.lower[: self.n]
        moved[:, :, : self.n] += rng.normal(size=(len(self.x), _DIRECTIONS, self.n)) * (0.3 * step * width)
        self._take_best(moved)

    def _take_best(self, moved: FloatArray) -> None:
        moved = np.clip(moved, self.lower, self.upper)
        own = self._own(moved)
        best = np.argmax(own, axis=1)
        rows = np.flatnonzero(own[np.arange(len(own)), best] > self.size)
        self.x[rows], self.size[rows] = moved[rows, best[rows]], own[rows, best[rows]]
