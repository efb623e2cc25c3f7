"""The dynamics of a system some of whose axes may be held, as stages of a time loop; modes are decided by who makes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem, Recipe, solves
from ..expr import Expr, ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import Step
from .axes import Axes
from .dry_friction import DryFriction
from .held_model import AxisMotion, HeldModel, slow_speeds
from .plant import Plant, StateCells


class AxesPlant(Plant):
    """The dynamics with modes: 1 and −1 where an axis slides, 0 where it is held.

    `holding` are what holds each axis, the size of what that is a difference of, and the least and largest that friction
    can hold.
    """

    mode: Cells

    def __init__(self, make: Assembly, system: AnySystem, axes: Axes, friction: DryFriction, held: list[bool]) -> None:
        super().__init__(make, system)
        self.axes, self.friction, self.held = axes, friction, held
        self.count = len(axes.names)
        self.holding = [make.buffer(self.count) for _ in range(4)]
        self._beside = [make.buffer(self.count) for _ in AxisMotion._fields] if axes.beside else []

    def motion(self, at: StateCells, qdd: Cells) -> list[Cells]:
        """The fields of `AxisMotion` after the dynamics was evaluated at a point."""
        return self._beside or [at.q, at.qd, qdd]

    @property
    def given(self) -> list[Cells]:
        """Parameters in the place of the model's own, if there are any."""
        return self.around[-1:] if self.forces.parameters else []

    @property
    def model(self) -> HeldModel:
        """The equations."""
        return HeldModel(self.view, self.friction, self.axes, self.held, self.forces)

    def evaluated(self, at: StateCells, tau: Cells, qdd: Cells, wanted: Cells | None = None) -> list[Step]:
        """q̈ at a point whose positions are solved for, with accelerations that are `wanted` of held axes, if they are not 0."""
        model, n, k = self.model, (self.n,), (self.count,)
        further = [] if wanted is None else [wanted]
        inputs = {"q": n, "qd": n, "tau": n, "mode": k} | ({"wanted": k} if further else {})
        inputs |= {f"around {i}": (cells.size,) for i, cells in enumerate(self.around)}

        def function(q: Any, qd: Any, tau: Any, mode: Any, *rest: Any) -> Any:
            goal, around = (rest[0], rest[1:]) if further else (None, rest)
            found = model(q, qd, tau, mode, *around, wanted=goal)
            return (*found[: len(model.outputs)], *([self.view.rates(q, qd)] if solves(self.view) else []))

        recipe = Recipe(function, inputs, model.outputs)
        sources = [at.q, at.qd, tau, self.mode, *further, *self.around]
        targets = [qdd, *self.holding, *self._beside]
        if solves(self.view):
            recipe = engine.with_solved(self.view, recipe._replace(outputs=[*recipe.outputs, "xd"]))
            sources, targets = [*sources, self.x], [*targets, self.xd]
        return self.make.embed(engine.program_of(recipe, "held_dynamics"), sources, targets)

    def look(self, at: StateCells) -> list[Step]:
        """Where axes are that are no coordinates, and how fast they move, before modes are known."""
        if not self._beside:
            return []

        def traced(q: list[Expr], qd: list[Expr]) -> list[list[Any]]:
            moving = self.axes.moving(self.view, q, qd)
            return [[one.value for one in moving], [one.rate for one in moving], slow_speeds(moving, qd)]

        y, w, _, slow, _ = self._beside
        return [*self.solve(at.q), *self.once(traced, [at.q, at.qd], [y, w, slow])]

    def put_back(self, state: Sequence[Cells], mode: Cells, place: Sequence[Cells], going: Cells, *, passed: bool) -> list[Step]:
        """While it is `going` on, held axes that are no coordinates stand: one round of Newton's method on q and q̇.

        `place` is as `HeldModel.onto` takes it. With `passed`, axes that rub and move against their mode stand where they are.
        """
        count = len(place)

        def traced(going: Any, mode: Any, q: list[Expr], qd: list[Expr], *rest: Any) -> list[list[Any]]:
            if passed:
                rates = [one.rate for one in self.axes.moving(self.view, q, qd)]
                each = zip(mode, rates, self.friction.acts, strict=True)
                mode = [ops.where(ops.less(m * w, 0.0), 0.0, m) if dry else m for m, w, dry in each]
            found = self.model.onto(q, qd, mode, rest[:count], *rest[count:])
            return [[ops.where(going[0], a, b) for a, b in zip(*pair, strict=True)] for pair in zip(found, (q, qd), strict=True)]

        return [*self.solve(state[0]), *self.once(traced, [going, mode, *state, *place, *self.given], state)]


__all__ = ["AxesPlant"]
