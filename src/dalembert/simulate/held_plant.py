"""The dynamics of a system some of whose coordinates may be held, as stages of a time loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem, Recipe, solves
from ..expr import Expr
from ..expr.assembly import Cells
from ..expr.loops import Step
from .dry_friction import HeldModel
from .happenings import EventFields, Happenings
from .laws import TorqueLaw
from .plant import Plant, StateCells


class HeldPlant(Plant):
    """The dynamics of a system some of whose coordinates may be held."""

    def __init__(self, make: Any, system: AnySystem, happenings: Happenings) -> None:
        super().__init__(make, system)
        self.happenings = happenings
        self.layout = EventFields(self.n, len(happenings.functions))
        self.events = make.buffer(self.layout.size)
        self.mode = self.events[self.layout.mode]
        self.hold, self.load, self.low, self.high = (make.buffer(self.n) for _ in range(4))

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ at a point whose positions are solved for, and what holds the coordinates that are held."""
        model = HeldModel(self.view, self.happenings.friction, self.happenings.held, self.forces)
        n = (self.n,)
        inputs = {"q": n, "qd": n, "tau": n, "mode": n, **{f"wrench {name}": (6,) for name in self.forces.wrenches}}
        recipe = Recipe(lambda *given: model(*given), inputs, ["qdd", "hold", "load", "low", "high"])
        sources, targets = [at.q, at.qd, tau, self.mode, *self.around], [qdd, self.hold, self.load, self.low, self.high]
        if solves(view := self.view):
            function = lambda q, qd, *given: (*model(q, qd, *given), view.rates(q, qd))  # noqa: E731
            recipe = engine.with_solved(view, recipe._replace(function=function, outputs=[*recipe.outputs, "xd"]))
            sources, targets = [*sources, self.x], [*targets, self.xd]
        return self.make.embed(engine.program_of(recipe, "held_dynamics"), sources, targets)

    def values(self, law: TorqueLaw | None, at: StateCells, given: Sequence[Cells], target: Cells) -> list[Step]:
        """The functions of the user at a point."""
        functions = self.happenings.functions

        def traced(t: list[Expr], q: list[Expr], qd: list[Expr], *further: list[Expr]) -> list[list[Any]]:
            y, yd = self.view.visible(q, qd) if solves(self.view) else (q, qd)
            p = law.named(further) if law is not None and getattr(law, "has_arguments", True) else ()
            return [[function(t[0], y, yd, p) for function in functions]]

        return self.once(traced, [at.t, at.q, at.qd, *given], [target])


__all__ = ["HeldPlant"]
