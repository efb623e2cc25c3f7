"""Dry friction in methods of a fixed step: which joints stick is decided once per step [theory: simulation, Eq. 17].

A joint sticks in a step if some force between its levels brings it to rest by the end, and stays so. Otherwise it slides, and its
friction is that of the direction in which it ends. So joints stop, and stay, without trembling between two directions.
"""

from __future__ import annotations

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
from .plant import Plant, StateCells

CODE = "friction-jumps"
_MOST_TURNS = 60.0
_ROUNDS = 2.0  # of Newton's method


class Sticking(NamedTuple):
    """The dry friction that is decided per step, and the axes that it acts at."""

    axes: Axes
    friction: DryFriction


def plant_of(make: Assembly, system: AnySystem, torque: str | TorqueLaw) -> Plant:
    """The dynamics of a system within a fixed step: with joints that stick, where there is dry friction that can be decided."""
    found = sticking(system, torque)
    return Plant(make, system) if found is None else StickingPlant(make, system, found)


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

    def __init__(self, make: Assembly, system: AnySystem, found: Sticking) -> None:
        super().__init__(make, system, found.axes, found.friction, found.friction.acts)
        self.mode, self.wanted = make.buffer(self.count), make.buffer(self.count)
        self.turn, self.going = make.buffer(), make.buffer()
        self.start = [make.buffer(self.count) for _ in range(2)] if self.axes.beside else []  # positions, and which rested there

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ with the modes as they are, and the forces that hold."""
        return self.evaluated(at, tau, qdd, self.wanted)

    def settled(self, h: Cells, at: StateCells, slope: list[Step], qdd: Cells) -> list[Step]:
        """The slope at the start of a step, with the modes of the whole step."""
        motion = self.motion(at, qdd)

        def guess(h: list[Any], *motion: list[Any]) -> list[Any]:
            axes = AxisMotion(*motion)
            ways = [axes.way(i) for i in range(self.count)]
            rests = [1.0 - way * way for way in ways]
            return [ways, [-v / h[0] for v in axes.w], [1.0], *([axes.y, rests] if self.start else [])]

        first = self.make.once(guess, [h, *motion], [self.mode, self.wanted, self.turn, *self.start])
        flip = self.make.once(self._next, [self.turn, h, self.mode, *self.holding, *motion], [self.mode, self.turn])
        return [*self.look(at), *first, Repeat(self.turn.place, (*slope, *flip))]

    def _next(self, turn: Any, h: Any, mode: Any, *rest: Any) -> list[Any]:
        """Modes that fit the forces better: all at once for some turns, then one by one."""
        (hold, load, low, high), axes = rest[:4], AxisMotion(*rest[4:])
        single, deciding = ops.less(BLOCK_TURNS, turn[0]), ops.less(0.0, turn[0])
        pending: Any = 0.0
        after = []
        for i, acts in enumerate(self.friction.acts):
            if not acts:
                after.append(mode[i])
                continue
            breaks = ops.less(0.0, excess(hold[i], load[i], low[i], high[i]))
            way = ops.where(ops.less(low[i] - hold[i], hold[i] - high[i]), 1.0, -1.0)
            slack = 0.0 if axes.slow is None else -(axes.slow[i] + h[0] * axes.blur[i])
            returns = ops.less(mode[i] * (axes.w[i] + h[0] * axes.a[i]), slack)
            wanted = ops.where(mode[i], ops.where(returns, 0.0, mode[i]), ops.where(breaks, way, 0.0))
            differs = (1.0 - ops.equal(wanted, mode[i])) * deciding
            after.append(ops.where(differs * (1.0 - single * pending), wanted, mode[i]))
            pending = ops.maximum(pending, differs)
        return [after, [ops.where(pending * ops.less(turn[0], _MOST_TURNS), turn[0] + 1.0, 0.0)]]

    def rest(self, q: Cells, qd: Cells, rows: Sequence[Cells]) -> list[Step]:
        """The state at the end of a step: no velocity where an axis came to rest, or passed it."""
        acts = self.friction.acts[: self.axes.own]

        def still(mode: list[Any], qd: list[Any]) -> list[Any]:
            for i, dry in enumerate(acts):
                qd[i] = ops.where(mode[i], ops.where(ops.less(mode[i] * qd[i], 0.0), 0.0, qd[i]), 0.0) if dry else qd[i]
            return [qd, qd]

        steps = self.make.once(still, [self.mode, qd], [qd, rows[1]])
        if not self.axes.beside:
            return steps
        begin = self.make.once(lambda: [[_ROUNDS]], [], [self.going])
        back = self.make.once(lambda going: [[ops.maximum(going[0] - 1.0, 0.0)]], [self.going], [self.going])
        stand = self.put_back([q, qd], self.mode, self.start, self.going, passed=True)
        show = self.make.once(lambda *lists: lists, [q, qd], rows)
        return [*steps, *begin, Repeat(self.going.place, (*stand, *back)), *show]


__all__ = ["plant_of", "sticking", "warn_of_jumps"]
