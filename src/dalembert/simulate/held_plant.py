"""The dynamics of a system some of whose coordinates may be held, as stages of a time loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics import engine
from ..dynamics.system import AS_IT_IS, AnySystem, Recipe, solves
from ..expr import Expr
from ..expr.assembly import Cells
from ..expr.differentiate import jacobian, jvp
from ..expr.loops import Step
from .dry_friction import WITHOUT_DRY, WITHOUT_GIVEN, HeldModel, force, without_levels
from .happenings import EventFields, Happenings
from .laws import TorqueLaw
from .plant import Plant, StateCells


class HeldPlant(Plant):
    """The dynamics of a system some of whose coordinates may be held."""

    def __init__(self, make: Any, system: AnySystem, happenings: Happenings) -> None:
        super().__init__(make, system)
        self.happenings = happenings
        self.reading = WITHOUT_DRY if any(happenings.friction.acts) else AS_IT_IS
        self.layout = EventFields(self.n, len(happenings.functions))
        self.events = make.buffer(self.layout.size)
        self.mode = self.events[self.layout.mode]
        self.hold, self.load, self.low, self.high = (make.buffer(self.n) for _ in range(4))

    def surround(self, law: TorqueLaw | None, inputs: Sequence[Cells]) -> None:
        """As every plant; with parameters given, levels of dry friction are among them."""
        super().surround(law, inputs)
        if self.forces.parameters and self.reading is WITHOUT_DRY:
            self.reading = WITHOUT_GIVEN

    def taken(self, phi: Sequence[Any]) -> Sequence[Any]:
        """Without levels where dry friction is taken by itself."""
        return without_levels(self.view, phi) if self.reading is WITHOUT_GIVEN else phi

    @property
    def _given(self) -> list[Cells]:
        """Parameters in the place of the model's own, if there are any."""
        return self.around[-1:] if self.forces.parameters else []

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ at a point whose positions are solved for, and what holds the coordinates that are held."""
        model = HeldModel(self.view, self.happenings.friction, self.happenings.held, self.forces)
        n = (self.n,)
        inputs = {"q": n, "qd": n, "tau": n, "mode": n} | {f"around {k}": (cells.size,) for k, cells in enumerate(self.around)}
        recipe = Recipe(lambda *given: model(*given), inputs, ["qdd", "hold", "load", "low", "high"])
        sources, targets = [at.q, at.qd, tau, self.mode, *self.around], [qdd, self.hold, self.load, self.low, self.high]
        if solves(view := self.view):
            function = lambda q, qd, *given: (*model(q, qd, *given), view.rates(q, qd))  # noqa: E731
            recipe = engine.with_solved(view, recipe._replace(function=function, outputs=[*recipe.outputs, "xd"]))
            sources, targets = [*sources, self.x], [*targets, self.xd]
        return self.make.embed(engine.program_of(recipe, "held_dynamics"), sources, targets)

    def linearised(self, at: StateCells, qdd: Cells, targets: Sequence[Cells]) -> list[Step]:
        """Derivatives as every plant's, with dry friction as the modes say in the place of the model's own."""
        steps = super().linearised(at, qdd, targets)
        stribeck = any(share.law.stribeck for own in self.happenings.friction.shares for share in own)
        if not stribeck and not self.happenings.friction.passive:  # a level that is the same everywhere
            return steps
        by_q, by_qd, _ = targets
        sources = [at.q, at.qd, self.mode, by_q, by_qd, *self._given]
        return [*steps, *self.once(self._with_dry_slopes, sources, [by_q, by_qd])]

    def _with_dry_slopes(self, q: Any, qd: Any, mode: Any, by_q: Any, by_qd: Any, phi: Any = None) -> list[list[Any]]:
        """∂f/∂q and ∂f/∂q̇, row by row, with the derivatives of dry friction added."""
        n, shares = self.n, self.happenings.friction.at(self.view, q, phi)
        rows = jacobian([force(*each) for each in zip(shares, mode, qd, strict=True)], [*q, *qd])
        added = [row[k] for row in rows for k in range(n)], [row[n + k] for row in rows for k in range(n)]
        return [[a + b for a, b in zip(*pair, strict=True)] for pair in zip((by_q, by_qd), added, strict=True)]

    def values(self, law: TorqueLaw | None, at: StateCells, given: Sequence[Cells], target: Cells) -> list[Step]:
        """The functions of the user at a point."""
        return self.once(lambda *point: [self._values(law, *point)], [at.t, at.q, at.qd, *given], [target])

    def rates(
        self, law: TorqueLaw | None, at: StateCells, given: Sequence[Cells], slopes: Sequence[Cells], target: Cells
    ) -> list[Step]:
        """How fast they change there, with the slopes of q̇ and of further states: a look ahead, signals are taken as they are."""

        def traced(t: list[Expr], q: list[Expr], qd: list[Expr], *others: list[Expr]) -> list[list[Any]]:
            further, (qdd, *rate) = others[: len(given)], others[len(given) :]
            moving: list[Any] = [*t, *q, *qd, *(further[-1] if rate else [])]
            along: list[Any] = [1.0, *qd, *qdd, *(rate[0] if rate else [])]
            return [jvp(self._values(law, t, q, qd, *further), moving, along)]

        return self.once(traced, [at.t, at.q, at.qd, *given, *slopes], [target])

    def _values(self, law: TorqueLaw | None, t: Any, q: Any, qd: Any, *further: Any) -> list[Any]:
        y, yd = self.view.visible(q, qd) if solves(self.view) else (q, qd)
        p = law.named(further) if law is not None and getattr(law, "has_arguments", True) else ()
        return [function(t[0], y, yd, p) for function in self.happenings.functions]


__all__ = ["HeldPlant"]
