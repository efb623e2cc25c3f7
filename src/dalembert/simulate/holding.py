"""Which axes stick and which slide, over scalars: levels, what is over them, and the next guess of all modes.

Modes that fit the forces are the solution of a linear complementarity problem, which is found by principal pivoting
[theory: simulation, Eq. 12], [Murty1974].
"""

from __future__ import annotations

from typing import Any

from ..expr import ops
from .axes import DEPTH
from .happenings import Happenings
from .held_model import BOUND, AxisMotion, excess

NEVER = -BOUND
BLOCK_TURNS = 8.0  # in which all joints that contradict their mode change it at once; then one by one, which cannot cycle
_MOST_TURNS = 60.0
_LEFT = 1e-3  # of the range between its levels, what is left at least to a force that holds: below, it may pass its level unseen


class Holding:
    """The rules for the axes of a system; a mode is 1 or −1 where one slides, 0 where it is held."""

    def __init__(self, happenings: Happenings) -> None:
        self.happenings, self.n = happenings, len(happenings.axes.names)
        self.most_turns = max(_MOST_TURNS, 20.0 * self.n)

    def most_over(
        self, worst: Any, sway: Any, mode: Any, limits: Any, locked: Any, start: Any, y: Any, *forces: Any
    ) -> list[Any]:
        """By how much a held axis is over its level, at most, here and anywhere in the step so far.

        And how much of what is left to its level a force that holds has changed since the start of the step, at most.
        """
        over: Any = NEVER
        swayed: Any = sway[0]
        for i, held in enumerate(self.happenings.held):
            if held:
                hold, load, low, high = (row[i] for row in forces)
                low, high = self._levels(i, y[i], limits, locked[i], low, high)
                over = ops.maximum(over, ops.where(mode[i], NEVER, excess(hold, load, low, high)))
                left = ops.maximum(ops.minimum(high - hold, hold - low), _LEFT * (high - low))
                change = abs(hold - start[i])
                share = change / ops.where(ops.less(0.0, left), left, BOUND)
                swayed = ops.maximum(swayed, ops.where(mode[i], 0.0, share))
        return [[over], [ops.maximum(worst[0], over)], [swayed]]

    def _levels(self, i: int, y: Any, limits: Any, locked: Any, low: Any, high: Any) -> tuple[Any, Any]:
        """The least and the largest force that holds axis i where it is, given those of friction."""
        happenings = self.happenings
        if not happenings.stops[i] and not happenings.locks:
            return low, high
        lower, upper = self._at_stop(i, y, limits)
        if happenings.locks:
            lower, upper = (locked if stop is None else ops.maximum(stop, locked) for stop in (lower, upper))
        return ops.where(lower, -BOUND, low), ops.where(upper, BOUND, high)

    def _at_stop(self, i: int, y: Any, limits: Any) -> tuple[Any, Any]:
        """Whether the axis is at its lower, and at its upper stop."""
        if not self.happenings.stops[i]:
            return None, None
        low, high = limits[i], limits[self.n + i]
        if i in self.happenings.axes.beside:
            low, high = low + DEPTH, high - DEPTH
        return ops.less_equal(y, low), ops.less_equal(high, y)

    def beyond(self, i: int, y: Any, limits: Any) -> Any:
        """How far the axis is beyond one of its stops."""
        found = ops.maximum(limits[i] - y, y - limits[self.n + i])
        return found - DEPTH if i in self.happenings.axes.beside else found

    def first_modes(
        self, turn: Any, mode: list[Any], before: list[Any], limits: Any, locked: list[Any], *motion: Any
    ) -> list[Any]:
        """A moving axis slides; one at rest that can be held is, to begin with."""
        at = AxisMotion(*motion)
        start, found = ops.equal(turn[0], 1.0), []
        for i, dry in enumerate(self.happenings.friction.acts):
            guess: Any = 1.0
            if dry:
                guess = at.way(i)
            elif self.happenings.stops[i]:
                guess = 1.0 - at.rests(i) * ops.maximum(*self._at_stop(i, at.y[i], limits))
            if self.happenings.locks:
                guess = ops.where(locked[i], 0.0, guess)
            found.append(ops.where(start, guess, mode[i]))
        return [found, [ops.where(start, m, b) for m, b in zip(mode, before, strict=True)]]

    def next_modes(self, turn: Any, mode: Any, limits: Any, locked: Any, *rest: Any) -> list[Any]:
        """The modes after a look at the forces, and whether to look again."""
        *motion, hold, load, low, high = rest
        at = AxisMotion(*motion)
        deciding, single = ops.less(0.0, turn[0]), ops.less(BLOCK_TURNS, turn[0])
        pending: Any = 0.0
        after = []
        for i, held in enumerate(self.happenings.held):
            if not held:
                after.append(mode[i])
                continue
            wanted = self._wanted(i, mode[i], at, limits, locked[i], *(row[i] for row in (hold, load, low, high)))
            differs = (1.0 - ops.equal(wanted, mode[i])) * at.rests(i) * deciding
            allowed = differs * (1.0 - single * pending)
            after.append(ops.where(allowed, wanted, mode[i]))
            pending = ops.maximum(pending, differs)
        again = pending * ops.less(turn[0], self.most_turns)
        return [[ops.where(again, turn[0] + 1.0, 0.0)], after]

    def _wanted(self, i: int, mode: Any, at: AxisMotion, limits: Any, locked: Any, *forces: Any) -> Any:
        """The mode that the forces at axis i, which is at rest, ask for."""
        hold, load, *levels = forces
        low, high = self._levels(i, at.y[i], limits, locked, *levels)
        breaks = ops.less(0.0, excess(hold, load, low, high))
        if self.happenings.friction.acts[i]:
            way = ops.where(ops.less(low - hold, hold - high), 1.0, -1.0)
            returns = at.pulled(i, mode)
        else:
            lower, upper = self._at_stop(i, at.y[i], limits)
            way, returns = 1.0, 0.0
            if lower is not None:
                returns = ops.maximum(upper * at.pulled(i, -1.0), lower * at.pulled(i, 1.0))
        return ops.where(mode, ops.where(returns, 0.0, mode), ops.where(breaks, way, 0.0))


__all__ = ["BLOCK_TURNS", "NEVER", "Holding"]
