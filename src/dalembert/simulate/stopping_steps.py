"""Joint stops in methods of a fixed step: which joints are at theirs is decided once per step [theory: simulation, Eq. 33, 34].

A joint that would end beyond its stop has hit it: it ends with the part of its speed that it keeps, where it comes to with that
from the place of the hit. One that rests there does so as long as something presses it on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import ModelError, ShapeError
from ..expr import Expr, ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import Repeat, Step
from .axes import axes_of
from .dry_friction import can_be_held, dry_friction
from .events import Occasions, occasions_of
from .held_model import BOUND, AxisMotion, excess
from .laws import TorqueLaw
from .plant import Plant, StateCells
from .sticking_steps import Sticking, StickingPlant, chosen, given_by, sticking


class Stops(NamedTuple):
    """The axes of a time loop with stops, coordinates first, and their lower and upper stops; `BOUND` where there is none."""

    names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @property
    def there(self) -> list[bool]:
        """Which axes have any."""
        return [low > -BOUND or high < BOUND for low, high in zip(self.lower, self.upper, strict=True)]


def stops_of(system: AnySystem, stops: Any, torque: str | TorqueLaw, method: str) -> tuple[Occasions, Stops]:
    """Stops as users give them, and what a time loop is made from; refused where they cannot be."""
    if method == "symplectic":
        raise ShapeError("method: 'symplectic' found together with stops, which it does not take. Take 'rk4'.")
    occasions = occasions_of(system, None, stops, (-math.inf, math.inf), given_by(torque))
    count = len(occasions.names)
    found = Stops(occasions.names, tuple(occasions.limits[:count].tolist()), tuple(occasions.limits[count:].tolist()))
    if _decided(system, torque, found) is None:
        raise ModelError(
            f"stops: {system.name!r} has {count} joints with friction, stops or coordinates, or dry friction that no joint tells "
            "of, so that single ones cannot be held. Leave stops out, or smooth the friction: system.smoothed(width)."
        )
    return occasions, found


def plant_of(make: Assembly, system: AnySystem, torque: str | TorqueLaw, stops: Stops | None, kept: Cells) -> Plant:
    """The dynamics of a system within a fixed step: with axes that stick or have stops, where there are any that can be decided.

    `kept` are the parts of their speeds that axes keep at their stops.
    """
    if stops is None:
        found = sticking(system, torque)
        return Plant(make, system) if found is None else StickingPlant(make, system, found)
    decided = _decided(system, torque, stops)
    assert decided is not None
    return StoppingPlant(make, system, decided, stops, kept)


def _decided(system: AnySystem, torque: str | TorqueLaw, stops: Stops) -> Sticking | None:
    """The dry friction at axes with stops, if it can be decided what they do."""
    axes = axes_of(system, stops.names[engine.size(system) :])
    friction = dry_friction(system, axes, given_by(torque)) if can_be_held(system, axes) else None
    return None if friction is None else Sticking(axes, friction)


class AxisStep(NamedTuple):
    """What an axis does in a step: its mode, and whether it is at its upper (1) or lower stop (−1); the acceleration that is
    wanted while it is held, where it ends, whether it has to be there, and the rate that it ends with.
    """

    mode: Any
    at: Any
    wanted: Any
    place: Any
    keeps: Any
    rate: Any


class StoppingPlant(StickingPlant):
    """The dynamics with modes, in which an axis with mode 0 may be at a stop."""

    def __init__(self, make: Assembly, system: AnySystem, found: Sticking, stops: Stops, kept: Cells) -> None:
        held = [acts or there for acts, there in zip(found.friction.acts, stops.there, strict=True)]
        super().__init__(make, system, found, held)
        self.stops, self.kept = stops, kept
        self.place = [make.buffer(self.count) for _ in range(3)]
        self.decided = AxisStep(self.mode, make.buffer(self.count), self.wanted, *self.place)

    def settled(self, h: Cells, at: StateCells, slope: list[Step], qdd: Cells, reach: float) -> list[Step]:
        """The slope at the start of a step, after it was decided what axes do in the whole of it."""
        motion, axes = self.motion(at, qdd), range(self.count)

        def guess(h: list[Any], kept: list[Any], *motion: list[Any]) -> list[Any]:
            first = [self._first(i, h[0], kept[i], AxisMotion(*motion)) for i in axes]
            return [[1.0], *(list(part) for part in zip(*first, strict=True))]

        def turned(turn: Any, h: Any, kept: Any, *rest: Any) -> list[Any]:
            holding = list(zip(*rest[:4], strict=True))
            now = [AxisStep(*own) for own in zip(*rest[4:10], strict=True)]
            moving = AxisMotion(*rest[10:])
            then = [self._then(i, h[0], kept[i], reach, now[i], holding[i], moving) if self.held[i] else None for i in axes]
            return chosen(turn[0], now, then, told=2)

        first = self.make.once(guess, [h, self.kept, *motion], [self.turn, *self.decided])
        sources = [self.turn, h, self.kept, *self.holding, *self.decided, *motion]
        flip = self.make.once(turned, sources, [self.turn, *self.decided])
        return [*self.look(at), *first, Repeat(self.turn.place, (*slope, *flip))]

    def _first(self, i: int, h: Any, kept: Any, axes: AxisMotion) -> AxisStep:
        """A guess, by velocities alone: axes that come to a stop, or rest there, are at it."""
        ends = axes.y[i] + h * axes.w[i]
        above, below = (ops.less_equal(self.stops.upper[i], ends), ops.less_equal(ends, self.stops.lower[i]))
        at = ops.where(above * ops.less_equal(0.0, axes.w[i]), 1.0, ops.where(below * ops.less_equal(axes.w[i], 0.0), -1.0, 0.0))
        return self._at(i, h, kept, axes, axes.way(i) if self.friction.acts[i] else 1.0 + 0.0 * at, at)

    def _at(self, i: int, h: Any, kept: Any, axes: AxisMotion, mode: Any, at: Any) -> AxisStep:
        """What an axis does in a mode, or at a stop: it comes back from the place of the hit with what it keeps of its speed."""
        y, w = axes.y[i], axes.w[i]
        stop = ops.where(ops.less(at, 0.0), self.stops.lower[i], self.stops.upper[i])
        speed = ops.maximum(at * w, 0.0)
        rate = -at * kept * speed  # Eq. 33
        past = ops.maximum(h * speed - at * (stop - y), 0.0)
        rests = axes.rests(i) if self.friction.acts[i] else 0.0
        held = ops.where(at, 0.0, mode), at, (rate - w) / h
        return AxisStep(*held, ops.where(at, stop - at * kept * past, y), ops.where(at, 1.0, rests), rate)  # Eq. 34

    def _then(self, i: int, h: Any, kept: Any, reach: float, now: AxisStep, holding: Sequence[Any], axes: AxisMotion) -> AxisStep:
        """What fits the forces, and the motion that they make, better."""
        hold, load, low, high = holding
        low, high = ops.where(ops.less(now.at, 0.0), -BOUND, low), ops.where(ops.less(0.0, now.at), BOUND, high)
        breaks = ops.less(0.0, excess(hold, load, low, high))
        ends = axes.y[i] + h * (axes.w[i] + reach * h * axes.a[i])
        beyond = ops.less(self.stops.upper[i], ends) - ops.less(ends, self.stops.lower[i])
        at = ops.where(now.at, ops.where(breaks, 0.0, now.at), beyond)
        if self.friction.acts[i]:
            mode = self.slides(i, h, now.mode, (hold, load, low, high), axes)
        else:
            mode = 1.0 + 0.0 * at
        return self._at(i, h, kept, axes, mode, at)

    def rest(self, q: Cells, qd: Cells, rows: Sequence[Cells]) -> list[Step]:
        """The state at the end of a step: coordinates at their stops are exactly there, and none is beyond."""
        stops, own = self.stops, range(self.axes.own)

        def ended(q: list[Any], qd: list[Any], *decided: Any) -> list[Any]:
            found = AxisStep(*decided)
            qd = self.stilled(found.mode, qd)
            for i in own:
                if stops.there[i]:
                    within = ops.minimum(ops.maximum(q[i], stops.lower[i]), stops.upper[i])
                    q[i], qd[i] = ops.where(found.at[i], found.place[i], within), ops.where(found.at[i], found.rate[i], qd[i])
            return [q, qd, q, qd]

        steps = self.make.once(ended, [q, qd, *self.decided], [q, qd, *rows])
        return steps if not self.axes.beside else [*steps, *self._within(q, qd), *self.stand_beside(q, qd, rows)]

    def _within(self, q: Cells, qd: Cells) -> list[Step]:
        """Axes that are no coordinates and ended beyond a stop, by what the step did not foresee, are put there as they move."""
        stops = self.stops

        def traced(q: list[Expr], qd: list[Expr], *decided: Any) -> list[Any]:
            found, moving = AxisStep(*(list(part) for part in decided)), self.axes.moving(self.view, q, qd)
            for k in self.axes.beside:
                y, free = moving[k].value, ops.equal(found.at[k], 0.0)
                over, under = (free * ops.less(*pair) for pair in ((stops.upper[k], y), (y, stops.lower[k])))
                beyond = over + under
                found.mode[k] = ops.where(beyond, 0.0, found.mode[k])
                found.place[k] = ops.where(over, stops.upper[k], ops.where(under, stops.lower[k], found.place[k]))
                found.keeps[k] = ops.where(beyond, 1.0, found.keeps[k])
                found.rate[k] = ops.where(beyond, moving[k].rate, found.rate[k])
            return list(found)

        return [*self.solve(q), *self.once(traced, [q, qd, *self.decided], [*self.decided])]


__all__ = ["Stops", "plant_of", "stops_of"]
