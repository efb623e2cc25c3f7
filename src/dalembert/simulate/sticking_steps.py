"""Dry friction in methods of a fixed step: which joints stick is decided once per step [theory: simulation, Eq. 17].

A joint sticks in a step if some force between its levels brings it to rest by the end, and stays so. Otherwise it slides, and its
friction is that of the direction in which it ends. So joints stop, and stay, without trembling between two directions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics.system import AnySystem
from ..errors import DalembertWarning, tell
from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import Repeat, Step
from ..wording import listed
from .acting_law import ActingLaw
from .axes import Axes
from .axes_plant import AxesPlant
from .dry_friction import DryFriction, Given, can_be_held, dry_friction, friction_axes, jumping_joints
from .held_model import AxisMotion, excess
from .holding import BLOCK_TURNS
from .laws import TorqueLaw
from .plant import StateCells

CODE = "friction-jumps"
_MOST_TURNS = 60.0
_ROUNDS = 2.0  # of Newton's method


class Sticking(NamedTuple):
    """The dry friction that is decided per step, and the axes that it acts at."""

    axes: Axes
    friction: DryFriction


def sticking(system: AnySystem, torque: str | TorqueLaw) -> Sticking | None:
    """The dry friction that is decided per step; None where there is none, or where it cannot be."""
    given = given_by(torque)
    if not jumping_joints(system, given):
        return None
    axes = friction_axes(system, given)
    friction = dry_friction(system, axes, given) if can_be_held(system, axes) else None
    return None if friction is None else Sticking(axes, friction)


def given_by(torque: str | TorqueLaw) -> Given:
    """The joints that have dry friction by parameters that come with a law."""
    return torque.dry if isinstance(torque, ActingLaw) else None


def warn_of_jumps(system: AnySystem, torque: str | TorqueLaw, method: str) -> None:
    """Say that friction is evaluated as it stands where it cannot be decided which joints stick."""
    jumping = jumping_joints(system, given_by(torque))
    if not jumping or (method != "symplectic" and sticking(system, torque) is not None):
        return
    other = " Take another method, or smooth it" if method == "symplectic" else " Smooth it"
    message = (
        f"rollout: the dry friction of {listed(jumping)} jumps with the direction of motion in each evaluation, so that a "
        f"joint at rest trembles.{other}: system.smoothed(width)."
    )
    tell(DalembertWarning(message, CODE))


class StickingPlant(AxesPlant):
    """The dynamics with modes: 1 and −1 where an axis slides, 0 where it comes to rest, by the acceleration `wanted`."""

    def __init__(self, make: Assembly, system: AnySystem, found: Sticking, held: list[bool] | None = None) -> None:
        super().__init__(make, system, found.axes, found.friction, found.friction.acts if held is None else held)
        self.mode, self.wanted = make.buffer(self.count), make.buffer(self.count)
        self.turn, self.going = make.buffer(), make.buffer()
        self.place = [make.buffer(self.count) for _ in range(2)] if self.axes.beside else []  # positions, and which rested there

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ with the modes as they are, and the forces that hold."""
        return self.evaluated(at, tau, qdd, self.wanted)

    def settled(self, h: Cells, at: StateCells, slope: list[Step], qdd: Cells, reach: float) -> list[Step]:
        """The slope at the start of a step, with the modes of the whole step."""
        motion = self.motion(at, qdd)

        def guess(h: list[Any], *motion: list[Any]) -> list[Any]:
            axes = AxisMotion(*motion)
            ways = [axes.way(i) for i in range(self.count)]
            rests = [1.0 - way * way for way in ways]
            return [[1.0], ways, [-v / h[0] for v in axes.w], *([axes.y, rests] if self.place else [])]

        def turned(turn: Any, h: Any, mode: Any, *rest: Any) -> list[Any]:
            holding, axes = list(zip(*rest[:4], strict=True)), AxisMotion(*rest[4:])
            then = [
                [self.slides(i, h[0], mode[i], holding[i], axes)] if acts else None for i, acts in enumerate(self.friction.acts)
            ]
            return chosen(turn[0], [[m] for m in mode], then, told=1)

        first = self.make.once(guess, [h, *motion], [self.turn, self.mode, self.wanted, *self.place])
        flip = self.make.once(turned, [self.turn, h, self.mode, *self.holding, *motion], [self.turn, self.mode])
        return [*self.look(at), *first, Repeat(self.turn.place, (*slope, *flip))]

    def slides(self, i: int, h: Any, mode: Any, holding: Sequence[Any], axes: AxisMotion) -> Any:
        """The mode that fits what holds an axis that rubs, and how it moves."""
        hold, load, low, high = holding
        breaks = ops.less(0.0, excess(hold, load, low, high))
        way = ops.where(ops.less(low - hold, hold - high), 1.0, -1.0)
        slack = 0.0 if axes.slow is None else -(axes.slow[i] + h * axes.blur[i])
        returns = ops.less(mode * (axes.w[i] + h * axes.a[i]), slack)
        return ops.where(mode, ops.where(returns, 0.0, mode), ops.where(breaks, way, 0.0))

    def rest(self, q: Cells, qd: Cells, rows: Sequence[Cells]) -> list[Step]:
        """The state at the end of a step: no velocity where an axis came to rest, or passed it."""

        def still(mode: list[Any], qd: list[Any]) -> list[Any]:
            qd = self.stilled(mode, qd)
            return [qd, qd]

        steps = self.make.once(still, [self.mode, qd], [qd, rows[1]])
        return steps if not self.axes.beside else [*steps, *self.stand_beside(q, qd, rows)]

    def stilled(self, mode: list[Any], qd: list[Any]) -> list[Any]:
        """Velocities of coordinates, none of those that came to rest, or passed it."""
        acts = self.friction.acts[: self.axes.own] + [False] * (self.n - self.axes.own)
        passed = [ops.where(m, ops.where(ops.less(m * v, 0.0), 0.0, v), 0.0) for m, v in zip(mode, qd, strict=False)]
        return [passed[i] if dry else v for i, (dry, v) in enumerate(zip(acts, qd, strict=True))]

    def stand_beside(self, q: Cells, qd: Cells, rows: Sequence[Cells]) -> list[Step]:
        """Axes that are no coordinates are where they are held."""
        begin = self.make.once(lambda: [[_ROUNDS]], [], [self.going])
        back = self.make.once(lambda going: [[ops.maximum(going[0] - 1.0, 0.0)]], [self.going], [self.going])
        stand = self.put_back([q, qd], self.mode, self.place, self.going, passed=True)
        show = self.make.once(lambda *lists: lists, [q, qd], rows)
        return [*begin, Repeat(self.going.place, (*stand, *back)), *show]


def chosen(turn: Any, now: Sequence[Sequence[Any]], then: Sequence[Sequence[Any] | None], *, told: int) -> list[Any]:
    """What axes do next: all of those that fit better at once for some turns, then one by one; and the next turn, 0 at the end.

    `then` differs from `now` in what its first fields tell.
    """
    single, deciding = ops.less(BLOCK_TURNS, turn), ops.less(0.0, turn)
    pending: Any = 0.0
    after: list[Sequence[Any]] = []
    for own, other in zip(now, then, strict=True):
        if other is None:
            after.append(own)
            continue
        same = math.prod(ops.equal(b, a) for a, b in zip(own[:told], other[:told], strict=True))
        differs = (1.0 - same) * deciding
        takes = differs * (1.0 - single * pending)
        after.append([ops.where(takes, b, a) for a, b in zip(own, other, strict=True)])
        pending = ops.maximum(pending, differs)
    ends = ops.where(pending * ops.less(turn, _MOST_TURNS), turn + 1.0, 0.0)
    return [[ends], *(list(part) for part in zip(*after, strict=True))]


__all__ = ["Sticking", "StickingPlant", "chosen", "given_by", "sticking", "warn_of_jumps"]
