"""DOP853 as a loop program: order 8, error control for each trajectory on its own, dense output [HairerNorsettWanner1993, §II.5].

The method, its step control and its interpolant follow scipy.integrate.DOP853 decision by decision, so that both take the same
steps. The dynamics is one function of the kernel, called from each of the sixteen stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..expr import ops
from ..expr.assembly import Cells
from ..expr.loops import Repeat, Step
from . import steering, tableau
from .integrator import Integrator
from .steering import Fields, Settings, weighted
from .tableau import EXTENDED, POWERS, STAGES


class Dop853(Integrator):
    """The stages of the method in the frame of an adaptive one."""

    control = steering.EIGHTH
    powers, kept_slopes, last = POWERS, EXTENDED, STAGES

    def _refresh(self) -> list[Step]:
        """A torque that jumped at a sample changes the slope at the start of the step."""
        if self.sampled != "hold" and not self.marks:
            return []
        make = self.make
        here = make.each(self.n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        keep = make.each(self.n, lambda m, a, b: [ops.where(m, a, b)], [self.own.moved, self.qdd, self.Kv[0]], [self.Kv[0]])
        sources = [self.own.moved, self.own.evaluations]
        count = make.once(lambda m, e: [[0.0], [e[0] + m[0]]], sources, [self.own.moved, self.own.evaluations])
        keep += self.further.refreshed(self.own.moved)
        return [Repeat(self.own.moved.place, (*here, *self._origin(), *self.further.begin(), *self.slope, *keep, *count))]

    def _stages(self) -> list[Step]:
        """The slopes of the method, the new state, and its own slope."""
        steps: list[Step] = []
        for s in range(1, STAGES):
            steps += [*self._point(s, tableau.A[s, :s], tableau.C[s]), *self.slope]
        steps += self._point(STAGES, tableau.B, 1.0, [self.new_q, self.new_v])
        steps += self.slope
        if self.plant.solved:
            sources = [self.plant.x, self.plant.pivot, self.plant.xd]
            steps += self.make.once(lambda *lists: lists, sources, [self.new_x, self.new_pivot, self.Kx[STAGES]])
        return steps

    def _point(self, s: int, weights: Any, node: float, copies: Sequence[Cells] = ()) -> list[Step]:
        """The point of stage s, y + h Σ a_j K_j; the acceleration just computed becomes slope s − 1."""
        used = [j for j, a in enumerate(weights) if a != 0.0 and j != s - 1]
        last = float(weights[s - 1]) if len(weights) >= s else 0.0
        fresh = s not in (1, STAGES + 1)  # else slope s − 1 is in its place already

        def combine(h: Any, q: Any, v: Any, vq: Any, va: Any, *slopes: Any) -> list[Any]:
            numbers = [float(weights[j]) for j in used]
            dq = weighted([last, *numbers], [vq, *slopes[: len(used)]])
            dv = weighted([last, *numbers], [va, *slopes[len(used) :]])
            point = [q + dq * h, v + dv * h]
            return [*point, point[1], *point[: len(copies)], *([va] if fresh else [])]

        va = self.qdd if fresh else self.Kv[s - 1]
        sources = [self.work.step, self.q, self.v, self.Kq[s - 1], va, *(self.Kq[j] for j in used), *(self.Kv[j] for j in used)]
        targets = [self.at.q, self.at.qd, self.Kq[s], *copies, *([self.Kv[s - 1]] if fresh else [])]
        steps = [*self._clock(node), *self.make.each(self.n, combine, sources, targets)]
        steps += self.further.stage(self.work.step, s, weights, used, last, fresh=fresh, end=bool(copies))
        return [*steps, *self._prediction(s, weights, used, last, fresh)] if self.plant.solved else steps

    def _prediction(self, s: int, weights: Any, used: Sequence[int], last: float, fresh: bool) -> list[Step]:
        """Positions at the point of stage s, by the same formula: as near as the stage is to the motion."""

        def combine(h: Any, x: Any, xd: Any, *rates: Any) -> list[Any]:
            dx = weighted([last, *(float(weights[j]) for j in used)], [xd, *rates])
            return [x + dx * h, *([xd] if fresh else [])]

        xd = self.plant.xd if fresh else self.Kx[s - 1]
        sources = [self.work.step, self.x, xd, *(self.Kx[j] for j in used)]
        return self.make.each(self.plant.size, combine, sources, [self.plant.x, *([self.Kx[s - 1]] if fresh else [])])

    def _error(self) -> list[Step]:
        """Σ (err / scale)² of both estimators over all components; the new slope goes to its place.

        The last two stages look at two points of one time: how far apart these and their slopes are tells how stiff the motion is
        [HairerWanner1996, §IV.2].
        """
        E5, E3, apart = tableau.E5, tableau.E3, tableau.B - tableau.A[STAGES - 1, :STAGES]
        used = [j for j in range(STAGES) if E5[j] != 0.0 or E3[j] != 0.0 or apart[j] != 0.0]

        def squares(q: Any, v: Any, nq: Any, nv: Any, vq: Any, va: Any, rtol: Any, atol: Any, *slopes: Any) -> list[Any]:
            total5: Any = 0.0
            total3: Any = 0.0
            between: list[Any] = [0.0, 0.0]
            for old, new, last, own in ((q, nq, vq, slopes[: len(used)]), (v, nv, va, slopes[len(used) :])):
                inverse = 1.0 / (atol + ops.maximum(abs(old), abs(new)) * rtol)
                five = weighted([*E5[used], E5[STAGES]], [*own, last]) * inverse
                three = weighted([*E3[used], E3[STAGES]], [*own, last]) * inverse
                total5, total3 = total5 + five * five, total3 + three * three
                offs = (last - own[-1]) * inverse, weighted(apart[used], own) * inverse
                between = [total + x * x for total, x in zip(between, offs, strict=True)]
            return [va, total5, total3, *between]

        slopes = [*(self.Kq[j] for j in used), *(self.Kv[j] for j in used)]
        sources = [
            self.q,
            self.v,
            self.new_q,
            self.new_v,
            self.Kq[STAGES],
            self.qdd,
            self.options.rtol,
            self.options.atol,
            *slopes,
        ]
        sums = [self.work.sum5, self.work.sum3, self.work.slopes, self.work.points]
        steps = self.make.each(self.n, squares, sources, [self.Kv[STAGES]], sums=sums)
        return [*steps, *self.further.error(self.options.rtol, self.options.atol, sums[:2])]

    def _judged(self, options: Settings, own: Fields, sums: list[Any], step: Any, t_new: Any, trial: Any) -> Any:
        return steering.decided(self.norm, options, own, sums, step, t_new, trial)

    def _interpolant(self) -> list[Step]:
        """Three further stages and the seven coefficients of each component, for the lanes that ask and beside the others."""
        steps: list[Step] = []
        for s in range(STAGES + 1, EXTENDED):
            steps += [*self._point(s, tableau.A[s, :s], tableau.C[s]), *self.slope]
        D = tableau.D
        used = [j for j in range(1, EXTENDED - 1) if np.any(D[:, j] != 0.0) and j != STAGES]

        def coefficients(h: Any, old: Any, new: Any, first: Any, following: Any, last: Any, *slopes: Any) -> list[Any]:
            delta = new - old
            known = [delta, h * first - delta, 2.0 * delta - h * (following + first)]
            places = [*used, 0, STAGES, EXTENDED - 1]
            return [*known, *(h * weighted(row[places], [*slopes, first, following, last]) for row in D)]

        for old, new, K, last, powers in (
            (self.q, self.new_q, self.Kq, self.Kq[EXTENDED - 1], self.Fq),
            (self.v, self.new_v, self.Kv, self.qdd, self.Fv),
        ):
            sources = [self.work.step, old, new, K[0], K[STAGES], last, *(K[j] for j in used)]
            steps += self.make.each(self.n, coefficients, sources, powers)
        steps += self.further.interpolant(self.work.step, coefficients, used)
        sources = [self.work.need, self.own.evaluations]
        done = self.make.once(lambda need, e: [[0.0], [e[0] + 3.0 * need[0]]], sources, [self.work.need, self.own.evaluations])
        return [*steps, *done]


__all__ = ["Dop853"]
