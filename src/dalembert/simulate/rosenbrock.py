"""Rodas5P as a loop program: a linearly implicit method of order 5 for stiff motions [theory: simulation, Eq. 21 to 24].

With J the exact Jacobian of the closed loop, every stage solves (1/(γh) − J) U = r with the same matrix, so there is no Newton
iteration, and lanes that stand side by side do the same work. In the velocities, and multiplied by the mass matrix, it is

    (M/(γh) + D + γh K) U_v = M r_v − γh K r_q,    U_q = γh (r_q + U_v)

with K and D the derivatives of inverse dynamics less those of the torque: n rows instead of 2n, without M⁻¹, and near to a
positive definite matrix, so that pivots need not be exchanged. Further states are eliminated first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..dynamics.system import AnySystem, solves
from ..expr import Expr, ops
from ..expr.assembly import Cells
from ..expr.differentiate import jacobian, jvp
from ..expr.loops import Step
from ..expr.ops import is_zero
from ..spatial.nested import Matrix, dot
from . import rodas5p, steering
from .integrator import Integrator
from .laws import TorqueLaw
from .rodas5p import GAMMA, STAGES
from .steering import Fields, Settings, weighted


class StatePart(NamedTuple):
    """One part of the state, q, q̇ or z: where it is, its results U of the stages, and Σ C U / h of the present one."""

    size: int
    old: Cells
    new: Cells
    at: Cells
    U: list[Cells]
    pull: Cells
    found: Cells
    powers: list[Cells]


class LoopSlopes(NamedTuple):
    """Derivatives of the forces and of the rates of further states, nested; entries that vanish by structure are 0.0."""

    force_q: Matrix
    force_qd: Matrix
    force_z: Matrix
    rate_q: Matrix
    rate_qd: Matrix
    rate_z: Matrix
    force_t: list[Any]
    rate_t: list[Any]


class Rosenbrock(Integrator):
    """The stages of Rodas5P in the frame of an adaptive method."""

    control = steering.FIFTH
    powers = 5
    looks = STAGES  # evaluations of a trial step

    def __init__(self, system: AnySystem, torque: str | TorqueLaw, output: str) -> None:
        super().__init__(system, torque, output)
        make, n, k = self.make, self.n, self.further.size
        self.torque = torque
        self.width = n + k
        self.M, self.K, self.D = (make.buffer(n * n) for _ in range(3))
        self.lu, self.slopes = make.buffer(self.width**2), make.buffer(self.width * (2 * n + k + 1))
        self.line = [make.buffer(self.samples.size)] if self.sampled == "linear" else []
        self.pattern: list[bool] = []
        self.weight, self.inverse = make.buffer(), make.buffer()
        self.parts = [
            self._part(n, self.q, self.new_q, self.at.q, self.Fq),
            self._part(n, self.v, self.new_v, self.at.qd, self.Fv),
        ]
        if k:
            further = self.further
            self.parts.append(self._part(k, further.z, further.new, further.at, further.F))

    def _part(self, size: int, old: Cells, new: Cells, at: Cells, powers: list[Cells]) -> StatePart:
        buffer = self.make.buffer
        return StatePart(size, old, new, at, [buffer(size) for _ in range(STAGES)], buffer(size), buffer(size), powers)

    # -- a trial step -------------------------------------------------------------------------------------------------------

    def _refresh(self) -> list[Step]:
        """Nothing: the first stage looks at the start of the step anyway."""
        return []

    def _stages(self) -> list[Step]:
        """The stages, and the new state."""
        make = self.make
        steps = make.once(lambda h: [[1.0 / h[0]]], [self.work.step], [self.inverse])
        matrix = [*self._linearise(), *self._factor()]
        solve = self._solve()
        for s in range(STAGES):
            steps += [*self._stage_point(s), *self.slope]
            steps += [*matrix, *solve] if s == 0 else solve
        for part in self.parts:
            steps += make.each(part.size, _ended, [part.old, part.found, *part.U[: STAGES - 1]], [part.new, part.U[STAGES - 1]])
        return [*steps, *self._found_positions()]

    def _stage_point(self, s: int) -> list[Step]:
        """The point of stage s, y + Σ a U, and Σ c U / h; what was just found becomes the U of the stage before."""

        def combine(inverse: Any, old: Any, *found: Any) -> list[Any]:
            pull = weighted(rodas5p.C[s], found) * inverse if s else 0.0
            return [old + weighted(rodas5p.A[s], found), pull, *([found[-1]] if s else [])]

        steps = self._clock(rodas5p.NODES[s])
        steps += self.make.once(lambda h: [[rodas5p.SLOPES[s] * h[0]]], [self.work.step], [self.weight])
        for part in self.parts:
            used = [*part.U[: s - 1], part.found] if s else []
            targets = [part.at, part.pull, *([part.U[s - 1]] if s else [])]
            steps += self.make.each(part.size, combine, [self.inverse, part.old, *used], targets)
        return [*steps, *self._near(rodas5p.NODES[s])]

    def _near(self, node: float) -> list[Step]:
        """Positions of a mechanism near the stage, to find them from: those at the start, moved along."""
        if not self.plant.solved:
            return []

        def along(h: Any, x: Any, xd: Any) -> list[Any]:
            return [x + node * h * xd]

        sources = [self.work.step, self.x, self.Kx[0]]
        return self.make.each(self.plant.size, along, sources, [self.plant.x])

    def _found_positions(self) -> list[Step]:
        """Positions at the end of the step."""
        if not self.plant.solved:
            return []
        sources = [self.plant.x, self.plant.pivot]
        keep = self.make.once(lambda *lists: lists, sources, [self.new_x, self.new_pivot])
        return [*self._near(1.0), *self.plant.solve(self.new_q), *keep]

    # -- the matrix ---------------------------------------------------------------------------------------------------------

    def _linearise(self) -> list[Step]:
        """K, D and M of the dynamics; derivatives of the torque and of the rates of further states to `slopes`."""
        steps = self.plant.linearised(self.at, self.qdd, [self.K, self.D, self.M])
        if self.plant.solved:  # where positions are found from in later stages
            steps += self.make.once(lambda xd: [xd], [self.plant.xd], [self.Kx[0]])
        if self.line:
            steps += self.make.each(self.samples.size, _incline, [*self._interval(), *self.ends], self.line)
        sources = [self.at.t, self.at.q, self.at.qd, self.tau, *self.line, *self._given()]
        return [*steps, *self.plant.once(self._law_slopes, sources, [self.slopes])]

    def _given(self) -> list[Cells]:
        if not isinstance(self.torque, TorqueLaw):
            return []
        return [*self.inputs, *([self.samples] if self.torque.signals else []), *self.further.point]

    def _law_slopes(self, t: list[Expr], q: list[Expr], qd: list[Expr], tau: list[Expr], *others: list[Expr]) -> list[list[Any]]:
        """All derivatives of the force and of the rates of further states, one after the other."""
        line, given = (others[0], others[1:]) if self.line else ([], others)
        law, k = self.torque, self.further.size
        z = given[-1] if k else []
        force: Any = tau
        rates: list[Any] = []
        moving: list[Any] = list(zip(tau, line, strict=True)) if self.line else []
        if isinstance(law, TorqueLaw):
            y, yd = self.plant.view.visible(q, qd) if solves(self.plant.view) else (q, qd)
            p = law.named(given)
            force = self.plant.all_forces(law, t[0], q, qd, p)
            rates = law.rates_at(t[0], y, yd, p) if k else []
            signals = given[bool(law.inputs)] if law.signals else []
            moving = [(t[0], 1.0), *(zip(signals, line, strict=True) if self.line else [])]
        else:
            force = self.plant.force(q, force)
        rows = jacobian([*force, *rates], [*q, *qd, *z])
        by_time = jvp([*force, *rates], *map(list, zip(*moving, strict=True))) if moving else [0.0] * len(rows)
        flat = [entry for row, last in zip(rows, by_time, strict=True) for entry in (*row, last)]
        self.pattern = [not is_zero(entry) for entry in flat]
        return [flat]

    def _nested(self, flat: Sequence[Any]) -> LoopSlopes:
        """The derivatives as matrices, zeros where they vanish by structure."""
        n, width = self.n, 2 * self.n + self.further.size + 1
        present = [entry if there else 0.0 for entry, there in zip(flat, self.pattern, strict=True)]
        rows = [present[i : i + width] for i in range(0, len(present), width)]
        blocks = [[row[cut] for row in part] for part in (rows[:n], rows[n:]) for cut in _cuts(n, width)]
        last = [[row[-1] for row in part] for part in (rows[:n], rows[n:])]
        return LoopSlopes(*blocks, *last)

    def _factor(self) -> list[Step]:
        """The matrix of all stages as triangular factors, and K less its part from the torque."""
        n = self.n

        def factors(h: list[Any], M: list[Any], K: list[Any], D: list[Any], flat: list[Any]) -> list[Any]:
            by, gh = self._nested(flat), GAMMA * h[0]
            M, K, D = (_square(x, n) for x in (M, K, D))
            K = _less(K, by.force_q)
            S = [
                [m / gh + (d - b) + gh * k for m, d, b, k in zip(*rows, strict=True)]
                for rows in zip(M, D, by.force_qd, K, strict=True)
            ]
            corner = [[(1.0 / gh if i == j else 0.0) - x for j, x in enumerate(row)] for i, row in enumerate(by.rate_z)]
            side = [[-(gh * a + b) for a, b in zip(*rows, strict=True)] for rows in zip(by.rate_q, by.rate_qd, strict=True)]
            above = [[*a, *b] for a, b in zip(corner, side, strict=True)]
            below = [[*(-x for x in a), *b] for a, b in zip(by.force_z, S, strict=True)]
            return [_flat(_lu([*above, *below])), _flat(K)]

        sources = [self.work.step, self.M, self.K, self.D, self.slopes]
        return self.make.once(factors, sources, [self.lu, self.K])

    def _solve(self) -> list[Step]:
        """U of the stage at hand, from the slopes at its point."""
        n, k = self.n, self.further.size

        def solve(h: list[Any], weight: list[Any], *lists: list[Any]) -> list[Any]:
            M, K, lu, flat, v, cq, qdd, cv, *own = lists
            by, gh = self._nested(flat), GAMMA * h[0]
            rq = [a + b for a, b in zip(v, cq, strict=True)]
            rv = [a + b for a, b in zip(qdd, cv, strict=True)]
            right = [
                dot(m, rv) - gh * dot(row, rq) + weight[0] * slope
                for m, row, slope in zip(_square(M, n), _square(K, n), by.force_t, strict=True)
            ]
            if k:
                rate, cz = own
                rows = zip(rate, cz, by.rate_q, by.rate_t, strict=True)
                right = [*(a + b + gh * dot(row, rq) + weight[0] * slope for a, b, row, slope in rows), *right]
            found = _solved(_square(lu, self.width), right)
            uv = found[k:]
            return [[gh * (a + b) for a, b in zip(rq, uv, strict=True)], uv, *([found[:k]] if k else [])]

        q, v, *z = self.parts
        further = [self.further.rate, z[0].pull] if z else []
        sources = [self.M, self.K, self.lu, self.slopes, self.at.qd, q.pull, self.qdd, v.pull, *further]
        return self.make.once(solve, [self.work.step, self.weight, *sources], [part.found for part in self.parts])

    # -- its end ------------------------------------------------------------------------------------------------------------

    def _error(self) -> list[Step]:
        """Σ (err / scale)², with the last U as the error."""

        def square(old: Any, new: Any, error: Any, rtol: Any, atol: Any) -> list[Any]:
            x = error / (atol + ops.maximum(abs(old), abs(new)) * rtol)
            return [x * x]

        o, steps = self.options, []
        for part in self.parts:
            sources = [part.old, part.new, part.U[STAGES - 1], o.rtol, o.atol]
            steps += self.make.each(part.size, square, sources, [], sums=[self.work.sum5])
        return steps

    def _judged(self, options: Settings, own: Fields, sums: list[Any], step: Any, t_new: Any, trial: Any) -> Any:
        error = ops.sqrt(sums[0] / (2.0 * self.norm))
        return steering.judged(options, own, error, self.control, self.looks, step, t_new, trial)

    def _interpolant(self) -> list[Step]:
        """y + x (Δ + (1 − x) (k₁ + x (k₂ + x k₃))), written as the interpolant of DOP853, whose last coefficient vanishes."""

        def coefficients(old: Any, new: Any, *U: Any) -> list[Any]:
            k1, k2, k3 = (weighted(row, U) for row in rodas5p.D)
            return [new - old, k1, k2 + k3, -k3, 0.0]

        steps: list[Step] = []
        for part in self.parts:
            steps += self.make.each(part.size, coefficients, [part.old, part.new, *part.U], part.powers)
        return [*steps, *self.make.once(lambda: [[0.0]], [], [self.work.need])]


def _incline(here: Any, following: Any, a: Any, b: Any) -> list[Any]:
    """How fast the line between two samples rises."""
    return [(b - a) / (following - here)]


def _ended(old: Any, last: Any, *U: Any) -> list[Any]:
    return [old + weighted(rodas5p.B, [*U, last]), last]


def _cuts(n: int, width: int) -> list[slice]:
    """Columns of q, q̇ and z."""
    return [slice(0, n), slice(n, 2 * n), slice(2 * n, width - 1)]


def _square(flat: Sequence[Any], n: int) -> Matrix:
    return [list(flat[i * n : (i + 1) * n]) for i in range(n)]


def _flat(A: Matrix) -> list[Any]:
    return [entry for row in A for entry in row]


def _less(A: Matrix, B: Matrix) -> Matrix:
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


def _lu(A: Matrix) -> Matrix:
    """L below the diagonal and U above it, with 1 / U_kk on it; no rows are exchanged."""
    A = [list(row) for row in A]
    for k in range(len(A)):
        A[k][k] = ops.divide(1.0, A[k][k])
        for i in range(k + 1, len(A)):
            A[i][k] = A[i][k] * A[k][k]
            for j in range(k + 1, len(A)):
                A[i][j] = A[i][j] - A[i][k] * A[k][j]
    return A


def _solved(lu: Matrix, b: Sequence[Any]) -> list[Any]:
    x = list(b)
    for i in range(len(x)):
        x[i] = x[i] - dot(lu[i][:i], x[:i])
    for i in reversed(range(len(x))):
        x[i] = (x[i] - dot(lu[i][i + 1 :], x[i + 1 :])) * lu[i][i]
    return x


__all__ = ["Rosenbrock"]
