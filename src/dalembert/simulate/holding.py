"""Which coordinates stick and which slide, over scalars: levels, what is over them, and the next guess of all modes.

Modes that fit the forces are the solution of a linear complementarity problem, which is found by principal pivoting
[theory: simulation, Eq. 12], [Murty1974].
"""

from __future__ import annotations

from typing import Any

from ..expr import ops
from .dry_friction import BOUND, excess
from .happenings import Happenings

NEVER = -BOUND
_BLOCK_TURNS = 8.0  # in which all joints that contradict their mode change it at once; then one by one, which cannot cycle
_MOST_TURNS = 60.0


class Holding:
    """The rules for the coordinates of a system; a mode is 1 or −1 where one slides, 0 where it is held."""

    def __init__(self, happenings: Happenings, n: int) -> None:
        self.happenings, self.n = happenings, n

    def most_over(self, worst: Any, mode: Any, q: Any, limits: Any, locked: Any, *forces: Any) -> list[Any]:
        """By how much a held coordinate is over its level, at most, here and anywhere in the step so far."""
        over: Any = NEVER
        for i, held in enumerate(self.happenings.held):
            if held:
                hold, load, low, high = (row[i] for row in forces)
                own = excess(hold, load, *self._levels(i, q[i], limits, locked[i], low, high))
                over = ops.maximum(over, ops.where(mode[i], NEVER, own))
        return [[over], [ops.maximum(worst[0], over)]]

    def _levels(self, i: int, q: Any, limits: Any, locked: Any, low: Any, high: Any) -> tuple[Any, Any]:
        """The least and the largest force that holds coordinate i where it is, given those of friction."""
        happenings = self.happenings
        if not happenings.stops[i] and not happenings.locks:
            return low, high
        lower, upper = self._at_stop(i, q, limits)
        if happenings.locks:
            lower, upper = (locked if stop is None else ops.maximum(stop, locked) for stop in (lower, upper))
        return ops.where(lower, -BOUND, low), ops.where(upper, BOUND, high)

    def _at_stop(self, i: int, q: Any, limits: Any) -> tuple[Any, Any]:
        """Whether the coordinate is at its lower, and at its upper stop."""
        if not self.happenings.stops[i]:
            return None, None
        return ops.less_equal(q, limits[i]), ops.less_equal(limits[self.n + i], q)

    def first_modes(
        self, moved: Any, mode: list[Any], before: list[Any], v: list[Any], q: list[Any], limits: Any, locked: list[Any]
    ) -> list[Any]:
        """A moving joint slides; one at rest that can be held is, to begin with."""
        start, found = ops.equal(moved[0], 1.0), []
        for i, dry in enumerate(self.happenings.friction.acts):
            guess: Any = 1.0
            if dry:
                guess = ops.sign(v[i])
            elif self.happenings.stops[i]:
                guess = 1.0 - ops.equal(v[i], 0.0) * ops.maximum(*self._at_stop(i, q[i], limits))
            if self.happenings.locks:
                guess = ops.where(locked[i], 0.0, guess)
            found.append(ops.where(start, guess, mode[i]))
        return [found, [ops.where(start, m, b) for m, b in zip(mode, before, strict=True)]]

    def next_modes(self, moved: Any, mode: Any, v: Any, qdd: Any, q: Any, limits: Any, locked: Any, *rest: Any) -> list[Any]:
        """The modes after a look at the forces, whether to look again, and the slope."""
        Kq, Kv, evaluations, *forces = rest
        deciding, single = ops.less(0.0, moved[0]), ops.less(_BLOCK_TURNS, moved[0])
        pending: Any = 0.0
        after = []
        for i, held in enumerate(self.happenings.held):
            if not held:
                after.append(mode[i])
                continue
            wanted = self._wanted(i, mode[i], qdd[i], q[i], limits, locked[i], *(row[i] for row in forces))
            differs = (1.0 - ops.equal(wanted, mode[i])) * ops.equal(v[i], 0.0) * deciding
            allowed = differs * (1.0 - single * pending)
            after.append(ops.where(allowed, wanted, mode[i]))
            pending = ops.maximum(pending, differs)
        again = pending * ops.less(moved[0], _MOST_TURNS)
        slopes = [[ops.where(deciding, a, b) for a, b in zip(new, old, strict=True)] for new, old in ((v, Kq), (qdd, Kv))]
        return [[ops.where(again, moved[0] + 1.0, 0.0)], after, *slopes, [evaluations[0] + deciding]]

    def _wanted(self, i: int, mode: Any, qdd: Any, q: Any, limits: Any, locked: Any, *forces: Any) -> Any:
        """The mode that the forces at joint i, which is at rest, ask for."""
        hold, load, *levels = forces
        low, high = self._levels(i, q, limits, locked, *levels)
        breaks = ops.less(0.0, excess(hold, load, low, high))
        if self.happenings.friction.acts[i]:
            way = ops.where(ops.less(low - hold, hold - high), 1.0, -1.0)
            returns = ops.less(mode * qdd, 0.0)
        else:
            lower, upper = self._at_stop(i, q, limits)
            way, returns = 1.0, 0.0
            if lower is not None:
                returns = ops.maximum(upper * ops.less(0.0, qdd), lower * ops.less(qdd, 0.0))
        return ops.where(mode, ops.where(returns, 0.0, mode), ops.where(breaks, way, 0.0))


__all__ = ["NEVER", "Holding"]
