"""The dynamics of a system some of whose axes may be held, as stages of a time loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dynamics.system import AS_IT_IS, AnySystem, solves
from ..expr import Expr
from ..expr.assembly import Cells
from ..expr.differentiate import jacobian, jvp
from ..expr.loops import Step
from ..spatial.nested import dot
from .axes_plant import AxesPlant
from .dry_friction import WITHOUT_DRY, WITHOUT_GIVEN, force, without_levels
from .happenings import Happenings
from .laws import TorqueLaw
from .plant import StateCells


class HeldPlant(AxesPlant):
    """The dynamics of a system some of whose axes may be held, with the modes that a motion carries."""

    def __init__(self, make: Any, system: AnySystem, happenings: Happenings) -> None:
        super().__init__(make, system, happenings.axes, happenings.friction, happenings.held)
        self.happenings, self.layout = happenings, happenings.layout
        self.reading = WITHOUT_DRY if any(happenings.friction.acts) else AS_IT_IS
        self.events = make.buffer(self.layout.size)
        self.mode = self.events[self.layout.mode]

    def surround(self, law: TorqueLaw | None, inputs: Sequence[Cells]) -> None:
        """As every plant; with parameters given, levels of dry friction are among them."""
        super().surround(law, inputs)
        if self.forces.parameters and self.reading is WITHOUT_DRY:
            self.reading = WITHOUT_GIVEN

    def taken(self, phi: Sequence[Any]) -> Sequence[Any]:
        """Without levels where dry friction is taken by itself."""
        return without_levels(self.view, phi) if self.reading is WITHOUT_GIVEN else phi

    def acceleration(self, at: StateCells, tau: Cells, qdd: Cells) -> list[Step]:
        """q̈ at a point whose positions are solved for, and what holds the axes that are held."""
        return self.evaluated(at, tau, qdd)

    def linearised(self, at: StateCells, qdd: Cells, targets: Sequence[Cells]) -> list[Step]:
        """Derivatives as every plant's, with dry friction as the modes say in the place of the model's own."""
        steps = super().linearised(at, qdd, targets)
        friction = self.happenings.friction
        stribeck = any(share.law.stribeck for own in friction.shares for share in own)
        if not stribeck and not self.axes.beside:  # a level that is the same everywhere
            return steps
        by_q, by_qd, _ = targets
        sources = [at.q, at.qd, self.mode, self.holding[0], by_q, by_qd, *self.given]
        return [*steps, *self.once(self._with_dry_slopes, sources, [by_q, by_qd])]

    def _with_dry_slopes(self, q: Any, qd: Any, mode: Any, hold: Any, by_q: Any, by_qd: Any, phi: Any = None) -> list[list[Any]]:
        """∂f/∂q and ∂f/∂q̇, row by row, with the derivatives of dry friction, and of what rows of held axes exert, added."""
        n, shares = self.n, self.happenings.friction.at(phi)
        moving = self.axes.moving(self.view, q, qd)
        dry = [force(*each) for each in zip(shares, mode, (one.rate for one in moving), strict=True)]
        exerted = [dry[c] if c < self.axes.own else 0.0 for c in range(n)]
        for k in self.axes.beside:
            held = hold[k] * (1.0 - mode[k] * mode[k])
            exerted = [x + r * (dry[k] + held) for x, r in zip(exerted, moving[k].row, strict=True)]
        rows = jacobian(exerted, [*q, *qd])
        added = [row[k] for row in rows for k in range(n)], [row[n + k] for row in rows for k in range(n)]
        return [[a + b for a, b in zip(*pair, strict=True)] for pair in zip((by_q, by_qd), added, strict=True)]

    def through_rows(self, at: StateCells, qdd: Cells, matrices: Sequence[Cells], slopes: Cells, width: int) -> list[Step]:
        """K, D and the derivatives of forces, n rows of `width`, as held axes that are no coordinates pass them on.

        Held, R q̈ + c = 0: its derivatives stand in the place of what the rows take.
        """
        if not self.axes.beside:
            return []
        n = self.n

        def traced(q: Any, qd: Any, qdd: Any, mode: Any, K: Any, D: Any, flat: Any, *phi: Any) -> list[list[Any]]:
            rows = self.model.rows_at(q, qd, mode, *phi)
            bends = jacobian([dot(one.row, qdd) + one.bias for one in rows.moving], [*q, *qd])
            none = [0.0] * len(bends)
            found = []
            for x, wide, start in ((K, n, 0), (D, n, n), (flat, width, None)):
                goals = [none if start is None else [row[start + j] for row in bends] for j in range(wide)]
                columns = [rows.passed_on([x[wide * i + j] for i in range(n)], goal) for j, goal in enumerate(goals)]
                found.append([columns[j][i] for i in range(n) for j in range(wide)])
            return found

        forces = slopes[: n * width]
        sources = [at.q, at.qd, qdd, self.mode, *matrices, forces, *self.given]
        return self.once(traced, sources, [*matrices, forces])

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
