"""Adams methods of variable order and step as a loop program, as Freeman advises for (2-146) [theory: simulation, Eq. 25 to 27].

Predictor of order k, evaluation, corrector of order k + 1, evaluation (PECE), k from 1 to 12, with modified divided differences
Φ_j of the slopes [HairerNorsettWanner1993, §III.5], and the choice of order and step of Shampine and Gordon [ShampineGordon1975].
Each lane has its own order: sums go over all twelve differences, with weights that are 0 beyond the order. Before the first step
the slopes are taken as constant, so that all differences are numbers from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..dynamics.system import AnySystem
from ..expr import ops
from ..expr.assembly import Cells
from ..expr.loops import Repeat, Step
from . import steering
from .integrator import Integrator
from .laws import TorqueLaw
from .steering import Control, Fields, Settings, weighted

ORDERS = 12
DIFFERENCES = ORDERS + 1  # Φ_0 to Φ_12
RESTART = 0.01  # of the last step, after a jump of the torque: order 1 needs a short one
SHORTER = (0.9, 0.8, 0.7, 0.6, 0.5)  # what a step may be made by
MUCH_SHORTER = (0.8, 0.5, 0.25, 0.1)  # the same after a step that was refused


class StepWeights(NamedTuple):
    """Vectors over the differences, the same for all components of a motion; `near` are distances x' − x_{n−j} of the times."""

    beta: Cells
    predict: Cells
    below: Cells  # 1 where j < k
    last: Cells  # 1 where j = k − 1
    before: Cells  # 1 where j = k − 2
    above: Cells  # 1 where j = k + 1
    near: Cells


class OrderEstimates(NamedTuple):
    """h g_k, and what the norms of Φ_k, Φ_{k−1}, Φ_{k−2} and Φ_{k+1} are multiplied by to give the errors of these orders."""

    correct: Any
    own: Any
    lower: Any
    lowest: Any
    higher: Any


class OrderCourse(NamedTuple):
    """The order, whether it is still rising from the start, and how many steps had the same length."""

    order: Any
    rising: Any
    same: Any
    length: Any


class AdamsPart(NamedTuple):
    """A part of the state: its value, the new one, the point looked at, the slope there and the one at the end of the step, the
    differences, three sums of them.
    """

    size: int
    old: Cells
    new: Cells
    at: Cells
    slope: Cells
    end: Cells
    differences: list[Cells]
    sums: list[Cells]
    powers: list[Cells]


class Adams(Integrator):
    """The steps of the method in the frame of an adaptive one."""

    control = Control(ops.sqrt, 2.0)  # the first step is one of order 1
    powers = DIFFERENCES

    @staticmethod
    def history_size(n: int, further: int) -> int:
        """Differences Φ_1 to Φ_12 of all components, distances of times, and the course."""
        return ORDERS * (2 * n + further) + ORDERS + len(OrderCourse._fields)

    def __init__(self, system: AnySystem, torque: str | TorqueLaw, output: str) -> None:
        super().__init__(system, torque, output)
        n, k, make = self.n, self.further.size, self.make
        past, start = self.history, 0
        self.components: list[AdamsPart] = []
        further = self.further
        rows = [(n, self.q, self.new_q, self.at.q, self.at.qd, self.Kq, self.Fq)]
        rows += [(n, self.v, self.new_v, self.at.qd, self.qdd, self.Kv, self.Fv)]
        rows += [(k, further.z, further.new, further.at, further.rate, further.K, further.F)] if k else []
        for size, old, new, at, slope, (first, end), powers in rows:
            differences = [first, *(past[start + j * size : start + (j + 1) * size] for j in range(ORDERS))]
            sums = [make.buffer(size) for _ in range(3)]
            self.components.append(AdamsPart(size, old, new, at, slope, end, differences, sums, powers))
            start += ORDERS * size
        self.distances, self.course = past[start : start + ORDERS], past[start + ORDERS :]
        self.weights = StepWeights(*(make.buffer(DIFFERENCES) for _ in StepWeights._fields))
        self.estimates = make.buffer(len(OrderEstimates._fields))
        self.norms = make.buffer(4)

    def _own_vectors(self) -> list[tuple[str, int]]:
        return [("history", self.history_size(self.n, self.further.size))]

    def _own_inputs(self) -> None:
        self.history = self.make.buffer(self.history_size(self.n, self.further.size))

    def _own_cells(self) -> list[Cells]:
        return [self.history]

    # -- beginning ----------------------------------------------------------------------------------------------------------

    def _first_step(self) -> list[Step]:
        """As every method, and a past of constant slopes."""
        steps = super()._first_step()
        for part in self.components:
            steps += self.make.each(part.size, lambda: [0.0] * ORDERS, [], part.differences[1:])
        return [*steps, *self.make.once(lambda h: _beginning(h[0]), [self.own.h], [self.distances, self.course])]

    def _refresh(self) -> list[Step]:
        """Begin anew where the torque has jumped: what came before tells nothing about what follows."""
        if not self.sampled:
            return []
        make, moved = self.make, self.own.moved
        here = make.each(self.n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        steps: list[Step] = [*self._origin(), *here, *self.further.begin(), *self.slope]
        for part in self.components:
            first = part.differences[0]
            steps += make.each(part.size, _taken, [moved, part.slope, first], [first])
        count = make.once(lambda m, e: [[0.0], [e[0] + m[0]]], [moved, self.own.evaluations], [moved, self.own.evaluations])
        return [Repeat(moved.place, (*steps, *self._forget(moved), *count))]

    def _forget(self, anew: Cells) -> list[Step]:
        """Order 1 and a short step, as at the start."""
        make, steps = self.make, []
        for part in self.components:
            _, *others = part.differences
            steps += make.each(part.size, lambda a, *others: [ops.where(a, 0.0, x) for x in others], [anew, *others], others)

        def restart(m: list[Any], h: list[Any], distances: list[Any], course: list[Any]) -> list[Any]:
            length = h[0] * RESTART
            fresh = _beginning(length)
            kept = [
                [ops.where(m[0], a, b) for a, b in zip(*x, strict=True)] for x in zip(fresh, (distances, course), strict=True)
            ]
            return [ops.where(m[0], length, h[0]), *kept]

        cells = [anew, self.own.h, self.distances, self.course]
        return [*steps, *make.once(restart, cells, cells[1:])]

    # -- a trial step -------------------------------------------------------------------------------------------------------

    def _stages(self) -> list[Step]:
        """Predict, evaluate, correct, evaluate."""
        make, w = self.make, self.weights
        sources = [self.work.step, self.distances, self.course]
        steps = make.once(_coefficients, sources, [*w, self.estimates])
        steps += make.once(lambda: [[0.0] * 4], [], [self.norms])
        steps += self._clock(1.0)
        for part in self.components:
            sources = [part.old, *part.differences, *(x for row in w[:5] for x in row.singly())]
            steps += make.each(part.size, _predicted, sources, [part.at, part.new, *part.sums])
        steps += [*self._near(), *self.slope]
        correct, norms = self.estimates[:1], self.norms.singly()
        for part in self.components:
            sources = [correct, part.old, part.new, part.slope, *part.sums, self.options.rtol, self.options.atol]
            steps += make.each(part.size, _corrected, sources, [part.new], sums=norms[:3])
        for part in self.components:
            steps += make.each(part.size, lambda x: [x], [part.new], [part.at])
        steps += self.slope
        for part in self.components:  # what is looked at for results comes to where the slope was found
            steps += make.each(part.size, lambda x: [x], [part.slope], [part.end])
        if self.plant.solved:
            sources = [self.plant.x, self.plant.pivot, self.plant.xd]
            steps += make.once(lambda *lists: lists, sources, [self.new_x, self.new_pivot, self.Kx[self.last]])
        return steps

    def _near(self) -> list[Step]:
        """Positions of a mechanism, moved along to where they are found from."""
        if not self.plant.solved:
            return []
        sources = [self.work.step, self.x, self.Kx[0]]
        return self.make.each(self.plant.size, lambda h, x, xd: [x + h * xd], sources, [self.plant.x])

    def _error(self) -> list[Step]:
        """The norm of the difference that the next higher order needs; those of the others are there."""

        def square(old: Any, new: Any, slope: Any, rtol: Any, atol: Any, *lists: Any) -> list[Any]:
            beta, above, differences = (lists[i * DIFFERENCES : (i + 1) * DIFFERENCES] for i in range(3))
            x = weighted_by(above, _next_differences(slope, beta, differences)) / (atol + ops.maximum(abs(old), abs(new)) * rtol)
            return [x * x]

        o, steps, shared = self.options, [], [*self.weights.beta.singly(), *self.weights.above.singly()]
        for part in self.components:
            sources = [part.old, part.new, part.end, o.rtol, o.atol, *shared, *part.differences]
            steps += self.make.each(part.size, square, sources, [], sums=[self.norms[3:]])
        return steps

    def _decide(self) -> list[Step]:
        """Accept the step or not; the order and length of the next one."""
        w = self.work

        def decide(options: list[Any], own: list[Any], *lists: list[Any]) -> list[Any]:
            (step,), (t_new,), (trial,), (turn,), norms, estimates, course, distances, near = lists
            errors = [ops.sqrt(x / (2.0 * self.norm)) * e for x, e in zip(norms, estimates[1:], strict=True)]
            before = Fields(*own)
            after, accept = steering.judged(Settings(*options), before, errors[0], self.control, 2, step, t_new, trial)
            following, length = _chosen(OrderCourse(*course), errors, step, accept)
            after = after._replace(h=ops.where(trial, length, before.h))
            later = [ops.where(accept, new, old) for new, old in zip(near[1:], distances, strict=True)]
            return [after, accept, turn + 1.0, later, [ops.where(trial, a, b) for a, b in zip(following, course, strict=True)]]

        scalars = [w.step, w.t_new, w.trial, w.turn]
        sources = [
            self.settings,
            self.state,
            *scalars,
            self.norms,
            self.estimates,
            self.course,
            self.distances,
            self.weights.near,
        ]
        decided = self.make.once(decide, sources, [self.state, w.accept, w.turn, self.distances, self.course])
        if not self.plant.solved:
            return decided
        sources = [self.own.status, w.accept, self.new_pivot]
        return [*decided, *self.make.once(lambda *c: [[steering.leaving(*(x[0] for x in c))]], sources, [self.own.status])]

    # -- its end ------------------------------------------------------------------------------------------------------------

    def _commit_state(self) -> list[Step]:
        def chosen(accept: Any, new: Any, old: Any, slope: Any, *lists: Any) -> list[Any]:
            beta, differences = lists[:DIFFERENCES], lists[DIFFERENCES:]
            later = _next_differences(slope, beta, differences)
            return [ops.where(accept, a, b) for a, b in zip([new, *later], [old, *differences], strict=True)]

        steps: list[Step] = []
        for part in self.components:
            sources = [self.work.accept, part.new, part.old, part.end, *self.weights.beta.singly(), *part.differences]
            steps += self.make.each(part.size, chosen, sources, [part.old, *part.differences])
        if self.plant.solved:
            pairs = [self.new_x, self.x, self.Kx[self.last], self.Kx[0]]

            def moved(accept: Any, a: Any, b: Any, c: Any, d: Any) -> list[Any]:
                return [ops.where(accept, a, b), ops.where(accept, c, d)]

            steps += self.make.each(self.plant.size, moved, [self.work.accept, *pairs], pairs[1::2])
        return steps

    def _interpolant(self) -> list[Step]:
        """The integral of the polynomial through the slopes, from its values at `NODES`; both ends are the ends of the step."""
        values = self.make.buffer(DIFFERENCES * DIFFERENCES)
        steps = self.make.once(_basis, [self.work.step, self.weights.near, self.weights.below], [values])

        def coefficients(h: Any, old: Any, new: Any, slope: Any, *lists: Any) -> list[Any]:
            beta, differences, rows = lists[:DIFFERENCES], lists[DIFFERENCES : 2 * DIFFERENCES], lists[2 * DIFFERENCES :]
            later = _next_differences(slope, beta, differences)
            slopes = [h * weighted_by(rows[i * DIFFERENCES : (i + 1) * DIFFERENCES], later) for i in range(DIFFERENCES)]
            return [new - old, *(weighted(row, slopes) for row in integration()[1:])]

        for part in self.components:
            sources = [self.work.step, part.old, part.new, part.end, *self.weights.beta.singly(), *part.differences]
            steps += self.make.each(part.size, coefficients, [*sources, *values.singly()], part.powers)
        return [*steps, *self.make.once(lambda: [[0.0]], [], [self.work.need])]


def _taken(condition: Any, a: Any, b: Any) -> list[Any]:
    return [ops.where(condition, a, b)]


def _beginning(h: Any) -> list[Any]:
    """Distances of times and the course where there is no past yet."""
    return [[h * float(j + 1) for j in range(ORDERS)], OrderCourse(1.0, 1.0, 0.0, 0.0)]


def weighted_by(weights: Sequence[Any], scalars: Sequence[Any]) -> Any:
    """Σ weight · scalar, with weights that are scalars too."""
    total: Any = 0.0
    for weight, scalar in zip(weights, scalars, strict=True):
        total = total + weight * scalar
    return total


def _coefficients(step: list[Any], distances: list[Any], course: list[Any]) -> list[Any]:
    """Ratios β_j and g_j of a step from the distances of the last times [HairerNorsettWanner1993, Eq. III.5.9, III.5.10]."""
    h, order = step[0], course[0]
    near = [0.0, h, *(h + x for x in distances)]  # x' − x_{n−j+1}
    beta: list[Any] = [1.0]
    for j in range(1, DIFFERENCES):
        beta.append(beta[-1] * (near[j] / distances[j - 1]))
    g = _integrals(h, near)
    count = range(DIFFERENCES)
    below = [ops.less(float(j), order) for j in count]
    picks = [[ops.equal(order, float(j + shift)) for j in count] for shift in (1, 2, -1)]
    steps = [0.0, *(abs(h * (g[j] - g[j - 1])) for j in range(1, DIFFERENCES + 1))]

    def at(shift: int, row: Sequence[Any]) -> Any:
        """The entry of index k + shift."""
        return weighted_by([ops.equal(order, float(j - shift)) for j in range(len(row))], row)

    estimates = OrderEstimates(h * at(0, g), *(at(shift, steps) for shift in (0, -1, -2, 1)))
    predict = [h * g[j] * below[j] for j in count]
    return [beta, predict, below, picks[0], picks[1], picks[2], near[:DIFFERENCES], estimates]


def _integrals(h: Any, near: Sequence[Any]) -> list[Any]:
    """g_0 to g_13, by the recursion of integrals [HairerNorsettWanner1993, Eq. III.5.10]."""
    row: list[Any] = [1.0 / (q + 1.0) for q in range(DIFFERENCES + 1)]
    found = [row[0]]
    for j in range(1, DIFFERENCES + 1):
        if j == 1:
            row = [1.0 / ((q + 1.0) * (q + 2.0)) for q in range(DIFFERENCES)]
        else:
            ratio = h / near[j]
            row = [a - b * ratio for a, b in pairwise(row)]
        found.append(row[0])
    return found


def _predicted(old: Any, *lists: Any) -> list[Any]:
    """The prediction, twice, and the sums of differences that the correction and the lower orders need."""
    differences, beta, predict, below, last, before = (lists[i * DIFFERENCES : (i + 1) * DIFFERENCES] for i in range(6))
    scaled = [b * x for b, x in zip(beta, differences, strict=True)]
    point = old + weighted_by(predict, scaled)
    return [point, point, *(weighted_by(row, scaled) for row in (below, last, before))]


def _corrected(
    correct: Any, old: Any, point: Any, slope: Any, below: Any, last: Any, before: Any, rtol: Any, atol: Any
) -> list[Any]:
    """The corrected value, and squares of Φ_k, Φ_{k−1} and Φ_{k−2} in units of the tolerance."""
    own = slope - below
    new = point + correct * own
    inverse = 1.0 / (atol + ops.maximum(abs(old), abs(point)) * rtol)
    rows = [own * inverse, (own + last) * inverse, (own + last + before) * inverse]
    return [new, *(x * x for x in rows)]


def _next_differences(slope: Any, beta: Sequence[Any], differences: Sequence[Any]) -> list[Any]:
    """Φ_j one step later: Φ_0' = f', Φ_j' = Φ_{j−1}' − β_{j−1} Φ_{j−1}."""
    later = [slope]
    for j in range(ORDERS):
        later.append(later[-1] - beta[j] * differences[j])
    return later


def _chosen(course: OrderCourse, errors: Sequence[Any], step: Any, accept: Any) -> tuple[OrderCourse, Any]:
    """Order and length of the next step, by the errors of the order itself and of k − 1, k − 2 and k + 1 [ShampineGordon1975]."""
    order, rising, same, length = course
    own, lower, lowest, higher = errors
    equal = ops.less_equal(abs(step - length), 1e-12 * step)
    same = ops.where(equal, same + 1.0, 1.0)
    second, full = ops.equal(order, 2.0), ops.less_equal(float(ORDERS), order)
    falls = ops.where(second, ops.less_equal(lower, 0.5 * own), ops.less_equal(ops.maximum(lower, lowest), own)) * ops.less(
        1.0, order
    )
    rising = rising * accept * (1.0 - falls) * (1.0 - full)
    # Whether a higher order pays is asked only after so many equal steps that its difference can be trusted.
    known = ops.less_equal(order + 1.0, same) * (1.0 - falls) * (1.0 - rising)
    one = ops.equal(order, 1.0)
    down = known * (1.0 - one) * ops.less_equal(lower, ops.minimum(own, higher))
    up = known * (1.0 - down) * (1.0 - full) * ops.less(higher, ops.where(one, 0.5 * own, own))
    drop = ops.where(accept, ops.maximum(falls, down), falls)
    climb = accept * ops.maximum(rising, up)
    error = ops.where(drop, lower, ops.where(up, higher, own))
    following = order - drop + climb
    factor = ops.where(accept, _growth(error, following, rising), _shrinkage(own, order))
    return OrderCourse(following, rising, ops.where(accept, same, 0.0), step), step * factor


def _power(base: float, order: Any) -> Any:
    """base^(order + 1), for orders 1 to 13."""
    return weighted(
        [base ** (k + 1) for k in range(1, DIFFERENCES + 1)], [ops.equal(order, float(k)) for k in range(1, DIFFERENCES + 1)]
    )


def _growth(error: Any, order: Any, rising: Any) -> Any:
    """Twice as long where that leaves half of the tolerance, as long as it was where that does, else a little shorter."""
    factor: Any = SHORTER[-1]
    for ratio in reversed(SHORTER[:-1]):
        factor = ops.where(ops.less_equal(error * _power(ratio, order), 0.5), ratio, factor)
    factor = ops.where(ops.less_equal(error, 0.5), 1.0, factor)
    twice = ops.maximum(rising, ops.less_equal(error * _power(2.0, order), 0.5))
    return ops.where(twice, 2.0, factor)


def _shrinkage(error: Any, order: Any) -> Any:
    factor: Any = MUCH_SHORTER[-1]
    for ratio in reversed(MUCH_SHORTER[:-1]):
        factor = ops.where(ops.less_equal(error * _power(ratio, order), 0.5), ratio, factor)
    return factor


# -- dense output -----------------------------------------------------------------------------------------------------------

NODES = tuple(Fraction(x, 256) for x in (1, 7, 19, 36, 58, 84, 113, 143, 172, 198, 220, 237, 252))  # near Chebyshev's


def _basis(step: list[Any], near: list[Any], below: list[Any]) -> list[Any]:
    """For each node the weights of Φ_0' to Φ_k' in the slope there: Newton's products, and 0 beyond the order."""
    values: list[Any] = []
    wanted = [1.0, *below[:-1]]  # j ≤ k
    for node in NODES:
        product: Any = 1.0
        row = [product]
        for j in range(ORDERS):
            product = product * ((near[j] - float(1 - node) * step[0]) / near[j + 1])
            row.append(product)
        values += [ops.where(there, x, 0.0) if j else x for j, (there, x) in enumerate(zip(wanted, row, strict=True))]
    return [values]


@cache
def integration() -> list[list[float]]:
    """From slopes at the nodes to the coefficients of their integral in θ, θ(1−θ), θ²(1−θ), ...; in exact numbers."""
    columns = []
    power = [Fraction(0), Fraction(1)]
    for j in range(DIFFERENCES):
        columns.append([sum(m * c * node ** (m - 1) for m, c in enumerate(power) if m) for node in NODES])
        power = _times(power, [Fraction(1), Fraction(-1)] if j % 2 == 0 else [Fraction(0), Fraction(1)])
    rows = [[columns[j][i] for j in range(DIFFERENCES)] for i in range(DIFFERENCES)]
    return [[float(x) for x in row] for row in _inverse(rows)]


def _times(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    product = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            product[i + j] += x * y
    return product


def _inverse(rows: list[list[Any]]) -> list[list[Any]]:
    """By Gauss and Jordan."""
    n = len(rows)
    work = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(rows)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if work[i][k])
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [x / work[k][k] for x in work[k]]
        for i in range(n):
            if i != k:
                work[i] = [x - work[i][k] * y for x, y in zip(work[i], work[k], strict=True)]
    return [row[n:] for row in work]


__all__ = ["Adams"]
