"""Dry friction in methods of a fixed step: which joints stick is decided once per step [theory: simulation, Eq. 17].

A joint sticks in a step if some force between its levels brings it to rest by the end, and stays so. Otherwise it slides, and its
friction is that of the direction in which it ends. So joints stop, and stay, without trembling between two directions.
"""

from __future__ import annotations

from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem, Recipe, solves
from ..errors import DalembertWarning, tell
from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import Repeat, Step
from ..wording import listed
from .acting_law import ActingLaw
from .dry_friction import DryFriction, Given, HeldModel, can_be_held, dry_friction, excess, jumping_joints
from .laws import TorqueLaw
from .plant import Plant, StateCells

CODE = "friction-jumps"
_BLOCK_TURNS, _MOST_TURNS = 8.0, 60.0


def plant_of(make: Assembly, system: AnySystem, torque: str | TorqueLaw) -> Plant:
    """The dynamics of a system within a fixed step: with joints that stick, where there is dry friction that can be decided."""
    friction = sticking(system, torque)
    return Plant(make, system) if friction is None else StickingPlant(make, system, friction)


def sticking(system: AnySystem, torque: str | TorqueLaw) -> DryFriction | None:
    """The dry friction that is decided per step; None where there is none, or where it cannot be."""
    given = given_by(torque)
    return dry_friction(system, given) if jumping_joints(system, given) and can_be_held(system) else None


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


class StickingPlant(Plant):
    """The dynamics with modes: 1 and −1 where a coordinate slides, 0 where it comes to rest, by the acceleration `wanted`."""

    def __init__(self, make: Assembly, system: AnySystem, friction: DryFriction) -> None:
        super().__init__(make, system)
        self.friction = friction
        self.mode, self.wanted = make.buffer(self.n), make.buffer(self.n)
        self.found = [make.buffer(self.n) for _ in range(4)]
        self.turn = make.buffer()

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ with the modes as they are, and the forces that hold."""
        model, n = HeldModel(self.view, self.friction, self.friction.acts, self.forces), (self.n,)
        inputs = dict.fromkeys(("q", "qd", "tau", "mode", "wanted"), n)
        inputs |= {f"around {k}": (cells.size,) for k, cells in enumerate(self.around)}

        def function(q: Any, qd: Any, tau: Any, mode: Any, wanted: Any, *around: Any) -> Any:
            held = model(q, qd, tau, mode, *around, wanted=wanted)
            return (*held, *([self.view.rates(q, qd)] if solves(self.view) else []))

        recipe = Recipe(function, inputs, ["qdd", "hold", "load", "low", "high"])
        sources, targets = [at.q, at.qd, tau, self.mode, self.wanted, *self.around], [qdd, *self.found]
        if solves(self.view):
            recipe = engine.with_solved(self.view, recipe._replace(outputs=[*recipe.outputs, "xd"]))
            sources, targets = [*sources, self.x], [*targets, self.xd]
        return self.make.embed(engine.program_of(recipe, "sticking_dynamics"), sources, targets)

    def settled(self, h: Cells, qd: Cells, slope: list[Step], qdd: Cells) -> list[Step]:
        """The slope at the start of a step, with the modes of the whole step."""

        def guess(h: list[Any], qd: list[Any]) -> list[Any]:
            return [[ops.sign(v) for v in qd], [-v / h[0] for v in qd], [1.0]]

        first = self.make.once(guess, [h, qd], [self.mode, self.wanted, self.turn])
        flip = self.make.once(self._next, [self.turn, h, qd, qdd, self.mode, *self.found], [self.mode, self.turn])
        return [*first, Repeat(self.turn.place, (*slope, *flip))]

    def _next(self, turn: Any, h: Any, qd: Any, qdd: Any, mode: Any, *found: Any) -> list[Any]:
        """Modes that fit the forces better: all at once for some turns, then one by one."""
        single, deciding = ops.less(_BLOCK_TURNS, turn[0]), ops.less(0.0, turn[0])
        pending: Any = 0.0
        after = []
        for i, acts in enumerate(self.friction.acts):
            if not acts:
                after.append(mode[i])
                continue
            hold, load, low, high = (row[i] for row in found)
            breaks = ops.less(0.0, excess(hold, load, low, high))
            way = ops.where(ops.less(low - hold, hold - high), 1.0, -1.0)
            returns = ops.less(mode[i] * (qd[i] + h[0] * qdd[i]), 0.0)
            wanted = ops.where(mode[i], ops.where(returns, 0.0, mode[i]), ops.where(breaks, way, 0.0))
            differs = (1.0 - ops.equal(wanted, mode[i])) * deciding
            after.append(ops.where(differs * (1.0 - single * pending), wanted, mode[i]))
            pending = ops.maximum(pending, differs)
        return [after, [ops.where(pending * ops.less(turn[0], _MOST_TURNS), turn[0] + 1.0, 0.0)]]

    def rest(self, qd: Cells, row: Cells) -> list[Step]:
        """The velocity at the end of a step: nothing where a joint came to rest, or passed it."""
        acts = self.friction.acts

        def still(mode: list[Any], qd: list[Any]) -> list[Any]:
            found = [
                ops.where(mode[i], ops.where(ops.less(mode[i] * v, 0.0), 0.0, v), 0.0) if acts[i] else v for i, v in enumerate(qd)
            ]
            return [found, found]

        return self.make.once(still, [self.mode, qd], [qd, row])


__all__ = ["plant_of", "sticking", "warn_of_jumps"]
