"""DOP853 as a loop program: order 8, error control for each trajectory on its own, dense output [HairerNorsettWanner1993, §II.5].

The method, its step control and its interpolant follow scipy.integrate.DOP853 decision by decision, so that both take the same
steps. Each lane carries its own time and step; one that is done waits, unchanged, for the others of its block. The dynamics is
one function of the kernel, called from each of the sixteen stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..expr import ops
from ..expr.loops import LoopProgram, Repeat, Step
from . import steering, tableau
from .assembly import Assembly, Cells
from .plant import StateCells, TorqueFunction, acceleration, control
from .steering import Fields, Settings, weighted
from .tableau import EXTENDED, POWERS, STAGES


class Scratch(NamedTuple):
    """Scalars within one trial step."""

    step: Cells
    t_new: Cells
    trial: Cells
    accept: Cells
    active: Cells
    turn: Cells
    sum5: Cells
    sum3: Cells
    need: Cells
    inside: Cells
    next: Cells
    stop: Cells


def program(system: AnySystem, torque: str | TorqueFunction, output: str) -> LoopProgram:
    """The integrator of a system, which records 'points' (of t_eval), 'steps', or 'dense' (steps and interpolants)."""
    return _Integrator(system, torque, output).program()


class _Integrator:
    """The buffers of one integration and the stages between them.

    `q, v` is the state at t; `new_q, new_v` that of the trial step; `at` the point where slopes are evaluated; `Kq, Kv` the
    slopes of q and q̇ (those of q are the velocities themselves).
    """

    def __init__(self, system: AnySystem, torque: str | TorqueFunction, output: str) -> None:
        self.n = n = engine.size(system)
        self.output = output
        make = self.make = Assembly("simulate")
        self.given_settings, self.given = make.input("settings", len(Settings._fields)), make.input("state", len(Fields._fields))
        self.given_vectors = [make.input(name, n) for name in ("q", "qd", "Kq", "Kv")]
        self.points, grid, values = make.input("points", 1), make.input("grid", 1), make.input("tau", n)
        self.kept = make.output("state", len(Fields._fields))
        self.kept_vectors = [make.output(name, n) for name in ("q", "qd", "Kq", "Kv")]
        self.settings, self.state = make.buffer(len(Settings._fields)), make.buffer(len(Fields._fields))
        self.options = Settings(*self.settings.singly())
        self.own = Fields(*self.state.singly())
        self.work = Scratch(*(make.buffer() for _ in Scratch._fields))
        self.q, self.v, self.new_q, self.new_v = (make.buffer(n) for _ in range(4))
        self.Kq, self.Kv = ([make.buffer(n) for _ in range(EXTENDED)] for _ in range(2))
        self.at = StateCells(make.buffer(), make.buffer(n), make.buffer(n))
        self.qdd = make.buffer(n)
        self.Fq, self.Fv = ([make.buffer(n) for _ in range(POWERS)] for _ in range(2))
        self.sampled = torque if torque in ("hold", "linear") else ""
        self.timed = self.sampled == "linear" or not isinstance(torque, str)
        self.grid = grid
        self.slope = self._slope(system, torque, values)
        self.out = [make.output(name, size) for name, size in (("t", 1), ("q", n), ("qd", n))]
        if output == "dense":
            self.out += [make.output(name, POWERS * n) for name in ("Fq", "Fv")]

    # -- the dynamics -------------------------------------------------------------------------------------------------------

    def _slope(self, system: AnySystem, torque: str | TorqueFunction, values: Cells) -> list[Step]:
        """q̈ at the point `at`, with the torque there."""
        if not isinstance(torque, str):
            tau = self.make.buffer(self.n)
            return [*control(self.make, system, torque, self.at, tau), *acceleration(self.make, system, self.at, tau, self.qdd)]
        if torque == "held":
            return acceleration(self.make, system, self.at, values, self.qdd)
        here = values.row(self.own.sample, self.n)
        if torque == "hold":
            return acceleration(self.make, system, self.at, here, self.qdd)
        there = Cells(here.kind, here.number, here.start + self.n, self.n, here.index, here.pitch)
        tau = self.make.buffer(self.n)
        sources = [self.at.t, *self._interval(), here, there]
        between = self.make.each(self.n, steering.between, sources, [tau])
        return [*between, *acceleration(self.make, system, self.at, tau, self.qdd)]

    def _interval(self) -> list[Cells]:
        """The times of the sample in force and of the one after it."""
        here = self.grid.row(self.own.sample, 1)
        return [here, Cells(here.kind, here.number, here.start + 1, 1, here.index, here.pitch)]

    # -- the program --------------------------------------------------------------------------------------------------------

    def program(self) -> LoopProgram:
        make = self.make
        given, vectors = [self.given_settings, self.given], [self.q, self.v, self.Kq[0], self.Kv[0]]
        load = make.once(lambda *lists: lists, [*given, *self.given_vectors], [self.settings, self.state, *vectors])
        store = make.once(lambda *lists: lists, [self.state, *vectors], [self.kept, *self.kept_vectors])
        ready = make.once(lambda: [[0.0], [0.0]], [], [self.work.turn, self.work.need])
        steps = [*self._begin(), *self._stages(), *self._error(), *self._decide(), *self._record(), *self._commit()]
        active = make.once(steering.active, [self.own.status, self.work.turn, self.options.budget], [self.work.active])
        loop = Repeat(self.work.active.place, (*steps, *active))
        return make.finish([*load, *ready, Repeat(self.options.fresh.place, tuple(self._first_step())), *active, loop, *store])

    def _first_step(self) -> list[Step]:
        """Slope at the start, and a first guess of the step [HairerNorsettWanner1993, §II.4]."""
        make, n = self.make, self.n
        h0, d1 = make.buffer(), make.buffer()
        clear = make.once(lambda: [[0.0], [0.0]], [], [self.work.sum5, self.work.sum3])
        origin = make.once(lambda t: [t], [self.own.t], [self.at.t])
        here = make.each(n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        sources = [self.q, self.v, self.qdd, self.options.rtol, self.options.atol]
        sizes = make.each(n, steering.sizes, sources, [self.Kq[0], self.Kv[0]], sums=[self.work.sum5, self.work.sum3])
        sources = [self.work.sum5, self.work.sum3, self.own.t, self.options.t_end]
        guess = make.once(lambda *c: steering.guess(n, *(x[0] for x in c)), sources, [h0, d1, self.at.t, self.work.sum5])
        sources = [h0, self.q, self.v, self.Kq[0], self.Kv[0]]
        reach = make.each(n, lambda h, q, v, a, b: [q + h * a, v + h * b], sources, [self.at.q, self.at.qd])
        sources = [self.at.qd, self.qdd, self.Kq[0], self.Kv[0], self.q, self.v, self.options.rtol, self.options.atol]
        change = make.each(n, steering.change, sources, [], sums=[self.work.sum5])
        o = self.options
        sources = [self.work.sum5, h0, d1, self.own.t, o.t_end, o.max_step, o.first_step, self.own.evaluations]
        targets = [self.own.h, self.own.evaluations, self.options.fresh, self.own.broken]
        choose = make.once(lambda *c: steering.first(n, *(x[0] for x in c)), sources, targets)
        return [*clear, *origin, *here, *self.slope, *sizes, *guess, *reach, *self.slope, *change, *choose]

    def _begin(self) -> list[Step]:
        """The trial step: its length within bounds, cut where the interval or the sample ends."""
        make = self.make
        ends = make.once(lambda t_end: [t_end], [self.options.t_end], [self.work.stop])
        if self.sampled:
            sources = [self.options.t_end, self._interval()[1]]
            ends = make.once(lambda t_end, following: [[ops.minimum(t_end[0], following[0])]], sources, [self.work.stop])
        w = self.work

        def begin(options: list[Any], own: list[Any], stop: list[Any]) -> list[Any]:
            after, trial = steering.begun(Settings(*options), Fields(*own), stop[0])
            return [after, *trial, 0.0, 0.0]

        targets = [self.state, w.step, w.t_new, w.trial, w.sum5, w.sum3]
        return [*ends, *self._refresh(), *make.once(begin, [self.settings, self.state, w.stop], targets)]

    def _refresh(self) -> list[Step]:
        """A torque that jumped at a sample changes the slope at the start of the step."""
        if self.sampled != "hold":
            return []
        make = self.make
        here = make.each(self.n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        keep = make.each(self.n, lambda m, a, b: [ops.where(m, a, b)], [self.own.moved, self.qdd, self.Kv[0]], [self.Kv[0]])
        sources = [self.own.moved, self.own.evaluations]
        count = make.once(lambda m, e: [[0.0], [e[0] + m[0]]], sources, [self.own.moved, self.own.evaluations])
        return [Repeat(self.own.moved.place, (*here, *self.slope, *keep, *count))]

    def _stages(self) -> list[Step]:
        """The slopes of the method, the new state, and its own slope."""
        steps: list[Step] = []
        for s in range(1, STAGES):
            steps += [*self._point(s, tableau.A[s, :s], tableau.C[s]), *self.slope]
        steps += self._point(STAGES, tableau.B, 1.0, [self.new_q, self.new_v])
        return [*steps, *self.slope]

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
        return [*self._clock(node), *self.make.each(self.n, combine, sources, targets)]

    def _clock(self, node: float) -> list[Step]:
        """The time of a stage, if the torque depends on it."""
        if not self.timed:
            return []
        return self.make.once(lambda t, h: [[t[0] + node * h[0]]], [self.own.t, self.work.step], [self.at.t])

    def _error(self) -> list[Step]:
        """Σ (err / scale)² of both estimators over all components; the new slope goes to its place."""
        E5, E3 = tableau.E5, tableau.E3
        used = [j for j in range(STAGES) if E5[j] != 0.0 or E3[j] != 0.0]

        def squares(q: Any, v: Any, nq: Any, nv: Any, vq: Any, va: Any, rtol: Any, atol: Any, *slopes: Any) -> list[Any]:
            total5: Any = 0.0
            total3: Any = 0.0
            for old, new, last, own in ((q, nq, vq, slopes[: len(used)]), (v, nv, va, slopes[len(used) :])):
                inverse = 1.0 / (atol + ops.maximum(abs(old), abs(new)) * rtol)
                five = weighted([*E5[used], E5[STAGES]], [*own, last]) * inverse
                three = weighted([*E3[used], E3[STAGES]], [*own, last]) * inverse
                total5, total3 = total5 + five * five, total3 + three * three
            return [va, total5, total3]

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
        return self.make.each(self.n, squares, sources, [self.Kv[STAGES]], sums=[self.work.sum5, self.work.sum3])

    def _decide(self) -> list[Step]:
        """Accept the step or not, and the length of the next one."""
        w = self.work

        def decide(options: list[Any], own: list[Any], *scalars: list[Any]) -> list[Any]:
            five, three, step, t_new, trial, turn = (x[0] for x in scalars)
            after, accept = steering.decided(self.n, Settings(*options), Fields(*own), [five, three], step, t_new, trial)
            return [after, accept, turn + 1.0]

        sources = [self.settings, self.state, w.sum5, w.sum3, w.step, w.t_new, w.trial, w.turn]
        return self.make.once(decide, sources, [self.state, w.accept, w.turn])

    # -- results ------------------------------------------------------------------------------------------------------------

    def _record(self) -> list[Step]:
        return self._record_points() if self.output == "points" else self._record_steps()

    def _record_points(self) -> list[Step]:
        """The interpolant at those of the wanted times that the step has passed."""
        make = self.make
        look = make.once(
            lambda te, accept, t_new: [[accept[0] * ops.less_equal(te[0], t_new[0])], te],
            [self.points.row(self.own.cursor, 1), self.work.accept, self.work.t_new],
            [self.work.inside, self.work.next],
        )
        ask = make.once(lambda inside: [inside], [self.work.inside], [self.work.need])
        x = make.buffer()
        place = make.once(lambda te, t, h: [[(te[0] - t[0]) / h[0]]], [self.work.next, self.own.t, self.work.step], [x])
        rows = [cells.row(self.own.cursor, self.n) for cells in self.out[1:]]
        steps = [*place]
        for start, powers, row in ((self.q, self.Fq, rows[0]), (self.v, self.Fv, rows[1])):
            steps += make.each(self.n, steering.interpolated, [x, start, *powers], [row])
        move = make.once(lambda c, inside: [[c[0] + inside[0]]], [self.own.cursor, self.work.inside], [self.own.cursor])
        points = Repeat(self.work.inside.place, (*steps, *move, *look))
        return [*look, *ask, Repeat(self.work.need.place, tuple(self._interpolant())), points]

    def _record_steps(self) -> list[Step]:
        """Time and state at the end of each accepted step, and the interpolant if wanted."""
        make, n = self.make, self.n
        time = make.once(lambda t: [t], [self.work.t_new], [self.out[0].row(self.own.cursor, 1)])
        rows = [cells.row(self.own.cursor, n) for cells in self.out[1:3]]
        state = make.each(n, lambda q, v: [q, v], [self.new_q, self.new_v], rows)
        move = make.once(lambda c, accept: [[c[0] + accept[0]]], [self.own.cursor, self.work.accept], [self.own.cursor])
        if self.output == "steps":
            return [*time, *state, *move]
        ask = make.once(lambda accept: [accept], [self.work.accept], [self.work.need])
        places = [cells.row(self.own.cursor, POWERS * n) for cells in self.out[3:]]
        write: list[Step] = []
        for powers, place in zip((self.Fq, self.Fv), places, strict=True):
            targets = [place[k * n : (k + 1) * n] for k in range(POWERS)]
            write += make.each(n, lambda *F: list(F), powers, targets)
        return [*ask, Repeat(self.work.need.place, (*self._interpolant(), *write)), *time, *state, *move]

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
        sources = [self.work.need, self.own.evaluations]
        done = self.make.once(lambda need, e: [[0.0], [e[0] + 3.0 * need[0]]], sources, [self.work.need, self.own.evaluations])
        return [*steps, *done]

    def _commit(self) -> list[Step]:
        """The new state becomes the state where the step was accepted."""
        make = self.make

        def chosen(accept: Any, *pairs: Any) -> list[Any]:
            return [ops.where(accept, new, old) for new, old in zip(pairs[::2], pairs[1::2], strict=True)]

        pairs = [self.new_q, self.q, self.new_v, self.v, self.Kq[STAGES], self.Kq[0], self.Kv[STAGES], self.Kv[0]]
        steps = make.each(self.n, chosen, [self.work.accept, *pairs], pairs[1::2])
        later = make.once(
            lambda a, new, t: [[ops.where(a[0], new[0], t[0])]], [self.work.accept, self.work.t_new, self.own.t], [self.own.t]
        )
        if not self.sampled:
            return [*steps, *later]
        sources = [self.work.accept, self.work.t_new, self.options.t_end, self._interval()[1], self.own.sample]
        follow = make.once(lambda *c: steering.next_sample(*(x[0] for x in c)), sources, [self.own.sample, self.own.moved])
        return [*steps, *later, *follow]
