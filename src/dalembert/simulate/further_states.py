"""Further states of an adaptive integration, beside q and q̇: their stages, errors and interpolants.

Such a state z has a rate ż(t, q, q̇, z) that the user gives: the current of a motor, the integral of an error, a filter. It is
integrated by the same method and the same steps, and its error counts as that of the other components. Without further states
every list of stages here is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import Step
from . import steering, tableau
from .steering import weighted
from .tableau import STAGES


class FurtherStates:
    """The buffers of z, and the stages between them.

    `z` is the state, `new` that of the trial step, `at` the point where slopes are evaluated, `rate` the slope found there; `K`
    are the slopes of the stages and `F` the coefficients of the interpolant.
    """

    def __init__(self, make: Assembly, size: int, powers: int, slopes: int, last: int) -> None:
        self.make, self.size, self.last = make, size, last
        if size:
            self.z, self.new, self.at, self.rate = (make.buffer(size) for _ in range(4))
            self.K = [make.buffer(size) for _ in range(slopes)]
            self.F = [make.buffer(size) for _ in range(powers)]

    @property
    def vectors(self) -> list[Cells]:
        """What is handed on from call to call."""
        return [self.z, self.K[0]] if self.size else []

    @property
    def point(self) -> list[Cells]:
        """Where a law finds the state."""
        return [self.at] if self.size else []

    def _each(self, function: Any, sources: Sequence[Cells], targets: Sequence[Cells], sums: Sequence[Cells] = ()) -> list[Step]:
        return self.make.each(self.size, function, sources, targets, sums=sums)

    def begin(self) -> list[Step]:
        """Look at the state itself."""
        return self._each(lambda z: [z], [self.z], [self.at]) if self.size else []

    def sizes(self, rtol: Cells, atol: Cells, sums: Sequence[Cells]) -> list[Step]:
        """The slope at the start; squares of state and slope in units of the tolerance."""
        if not self.size:
            return []

        def squares(z: Any, rate: Any, rtol: Any, atol: Any) -> list[Any]:
            scale = 1.0 / (atol + abs(z) * rtol)
            return [rate, z * scale * (z * scale), rate * scale * (rate * scale)]

        return self._each(squares, [self.z, self.rate, rtol, atol], [self.K[0]], sums)

    def reach(self, h: Cells) -> list[Step]:
        """The state after a first guess of the step."""
        return self._each(lambda h, z, k: [z + h * k], [h, self.z, self.K[0]], [self.at]) if self.size else []

    def change(self, rtol: Cells, atol: Cells, total: Cells) -> list[Step]:
        """The square of the change of slope over that length."""
        if not self.size:
            return []

        def square(rate: Any, first: Any, z: Any, rtol: Any, atol: Any) -> list[Any]:
            x = (rate - first) / (atol + abs(z) * rtol)
            return [x * x]

        return self._each(square, [self.rate, self.K[0], self.z, rtol, atol], [], [total])

    def refreshed(self, moved: Cells) -> list[Step]:
        """The slope at the start of the step, where the torque or a signal has jumped."""
        if not self.size:
            return []
        return self._each(lambda m, a, b: [ops.where(m, a, b)], [moved, self.rate, self.K[0]], [self.K[0]])

    def stage(self, h: Cells, s: int, weights: Any, used: Sequence[int], last: float, *, fresh: bool, end: bool) -> list[Step]:
        """The state at stage s; the slope just found becomes slope s − 1. At the `end` it is also the new state."""
        if not self.size:
            return []

        def combine(h: Any, z: Any, rate: Any, *slopes: Any) -> list[Any]:
            point = z + weighted([last, *(float(weights[j]) for j in used)], [rate, *slopes]) * h
            return [point, *([point] if end else []), *([rate] if fresh else [])]

        sources = [h, self.z, self.rate if fresh else self.K[s - 1], *(self.K[j] for j in used)]
        return self._each(combine, sources, [self.at, *([self.new] if end else []), *([self.K[s - 1]] if fresh else [])])

    def error(self, rtol: Cells, atol: Cells, sums: Sequence[Cells]) -> list[Step]:
        """Σ (err / scale)² of both estimators; the new slope goes to its place."""
        if not self.size:
            return []
        E5, E3 = tableau.E5, tableau.E3
        used = [j for j in range(STAGES) if E5[j] != 0.0 or E3[j] != 0.0]

        def squares(z: Any, new: Any, rate: Any, rtol: Any, atol: Any, *slopes: Any) -> list[Any]:
            inverse = 1.0 / (atol + ops.maximum(abs(z), abs(new)) * rtol)
            five = weighted([*E5[used], E5[STAGES]], [*slopes, rate]) * inverse
            three = weighted([*E3[used], E3[STAGES]], [*slopes, rate]) * inverse
            return [rate, five * five, three * three]

        sources = [self.z, self.new, self.rate, rtol, atol, *(self.K[j] for j in used)]
        return self._each(squares, sources, [self.K[STAGES]], sums)

    def interpolant(self, h: Cells, coefficients: Any, used: Sequence[int]) -> list[Step]:
        """The coefficients of the interpolant, by the formula of the other components."""
        if not self.size:
            return []
        sources = [h, self.z, self.new, self.K[0], self.K[STAGES], self.rate, *(self.K[j] for j in used)]
        return self._each(coefficients, sources, self.F)

    def interpolated(self, x: Cells, rows: Sequence[Cells]) -> list[Step]:
        """The state at a wanted time, to a row of the results."""
        return self._each(steering.interpolated, [x, self.z, *self.F], rows) if self.size else []

    def powers(self, rows: Sequence[Cells]) -> list[Step]:
        """The coefficients of the interpolant, to a row of the results."""
        k = self.size
        targets = [row[j * k : (j + 1) * k] for row in rows for j in range(len(self.F))]
        return self._each(lambda *F: list(F), self.F, targets) if k else []

    def recorded(self, rows: Sequence[Cells]) -> list[Step]:
        """The new state, to a row of the results."""
        return self._each(lambda z: [z], [self.new], rows) if self.size else []

    def commit(self, accept: Cells) -> list[Step]:
        """The new state becomes the state where the step was accepted."""
        if not self.size:
            return []

        def chosen(accept: Any, new: Any, z: Any, last: Any, first: Any) -> list[Any]:
            return [ops.where(accept, new, z), ops.where(accept, last, first)]

        return self._each(chosen, [accept, self.new, self.z, self.K[self.last], self.K[0]], [self.z, self.K[0]])


def norm_size(n: int, further: int) -> float:
    """Half of the number of components, over which errors are averaged."""
    return n + further / 2 if further else n


__all__ = ["FurtherStates", "norm_size"]
