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
from ..expr.assembly import Assembly, Cells
from ..expr.loops import LoopProgram, Repeat, Step
from . import steering, tableau
from .further_states import FurtherStates, norm_size
from .laws import TorqueLaw, held_width
from .plant import Plant, StateCells
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
    slopes: Cells
    points: Cells
    need: Cells
    inside: Cells
    next: Cells
    stop: Cells


class Integrator:
    """The buffers of one integration and the stages between them.

    `q, v` is the state at t; `new_q, new_v` that of the trial step; `at` the point where slopes are evaluated; `Kq, Kv` the
    slopes of q and q̇ (those of q are the velocities themselves). Other methods override how a trial step is made and judged.
    """

    control = steering.EIGHTH
    powers = POWERS  # coefficients of the interpolant, an odd number
    jumps = False  # whether a step may begin at another velocity than the one before ended with

    def __init__(self, system: AnySystem, torque: str | TorqueLaw, output: str) -> None:
        self.n = n = engine.size(system)
        self.output = output
        make = self.make = Assembly("simulate")
        plant = self.plant = self._plant(system)
        self.given_settings, self.given = make.input("settings", len(Settings._fields)), make.input("state", len(Fields._fields))
        law = torque if isinstance(torque, TorqueLaw) else None
        further = self.further = FurtherStates(make, law.state_width if law else 0, self.powers)
        held = held_width(law) if law else 0  # numbers without an error
        self.norm = norm_size(n, further.size - held)
        vectors = [
            *((name, n) for name in ("q", "qd", "Kq", "Kv")),
            *([("x", plant.size), ("Kx", plant.size)] if plant.solved else []),
            *([("z", further.size), ("Kz", further.size)] if further.size else []),
            *self._own_vectors(),
        ]
        self.given_vectors = [make.input(*vector) for vector in vectors]
        width = n if law is None else max(law.signal_width, 1)
        self.points, grid, values = make.input("points", 1), make.input("grid", 1), make.input("tau", width)
        self.inputs = [make.input("inputs", law.input_width)] if law and law.inputs else []
        self.marks = [make.input("marks", 3)] if law and law.held else []
        plant.surround(law, self.inputs)
        self._own_inputs()
        self.kept = make.output("state", len(Fields._fields))
        self.kept_vectors = [make.output(*vector) for vector in vectors]
        self.settings, self.state = make.buffer(len(Settings._fields)), make.buffer(len(Fields._fields))
        self.options = Settings(*self.settings.singly())
        self.own = Fields(*self.state.singly())
        self.work = Scratch(*(make.buffer() for _ in Scratch._fields))
        self.q, self.v, self.new_q, self.new_v = (make.buffer(n) for _ in range(4))
        self.Kq, self.Kv = ([make.buffer(n) for _ in range(EXTENDED)] for _ in range(2))
        self.at = StateCells(make.buffer(), make.buffer(n), make.buffer(n))
        self.qdd = make.buffer(n)
        self.Fq, self.Fv = ([make.buffer(n) for _ in range(self.powers)] for _ in range(2))
        if plant.solved:
            self.x, self.new_x, self.new_pivot = make.buffer(plant.size), make.buffer(plant.size), make.buffer()
            self.Kx = [make.buffer(plant.size) for _ in range(EXTENDED)]
        kind = torque if law is None else law.between if law.signals else ""
        self.sampled = kind if kind in ("hold", "linear") else "hold" if self.marks else ""
        self.due = make.buffer()
        self.timed = self.sampled == "linear" or not isinstance(torque, str)
        self.grid = grid
        self.slope = self._slope(torque, values)
        shown = (("t", 1), ("q", n), ("qd", n), *([("x", plant.size)] if plant.solved else []))
        self.out = [make.output(name, size) for name, size in shown]
        self.further_out = [make.output("z", further.size)] if further.size else []
        if output == "dense":
            self.out += [make.output(name, self.powers * n) for name in ("Fq", "Fv")]
            self.begins = [make.output(name, n) for name in ("q_begin", "qd_begin")] if plant.solved or self.jumps else []
            self.further_powers = [make.output("Fz", self.powers * further.size)] if further.size else []

    # -- what an integrator with events adds ----------------------------------------------------------------------------------

    def _plant(self, system: AnySystem) -> Plant:
        return Plant(self.make, system)

    @staticmethod
    def history_size(n: int, further: int) -> int:
        """Numbers that the method keeps of earlier steps."""
        return 0

    def _own_vectors(self) -> list[tuple[str, int]]:
        """Names and sizes of further vectors that are handed on from call to call."""
        return []

    def _own_inputs(self) -> None:
        """Make further inputs."""

    def _own_cells(self) -> list[Cells]:
        """Where the further vectors are kept."""
        return []

    # -- the dynamics -------------------------------------------------------------------------------------------------------

    def _slope(self, torque: str | TorqueLaw, values: Cells) -> list[Step]:
        """q̈ at the point `at`, with the torque there."""
        plant, positions = self.plant, self.plant.solve(self.at.q)
        samples, between = self._samples(values)
        tau, torques = samples, between
        self.samples = self.tau = samples
        if isinstance(torque, TorqueLaw):
            tau = self.tau = self.make.buffer(self.n)
            given = [*self.inputs, *([samples] if torque.signals else [])]
            rate = self.further.rate if self.further.size else None
            self.take = [*between, *self._take(torque, given)] if self.marks else []
            torques = [*between, *plant.control(torque, self.at, [*given, *self.further.point], tau, rate)]
        return [*positions, *torques, *plant.acceleration(self.at, tau, self.qdd)]

    def _take(self, law: TorqueLaw, given: list[Cells]) -> list[Step]:
        marks = self.marks[0].row(self.own.sample, 3)
        return self.plant.sampled(law, self.at, given, self.due, marks, self.further.z)

    def _sample(self, *, at_start: bool = False) -> list[Step]:
        """A law that is sampled looks at the state, where its next sample is due; a motion begins with one."""
        if not self.marks:
            return []
        sources = [self.own.moved, self.own.accepted]
        due = self.make.once(lambda m, a: [[m[0] * ops.equal(a[0], 0.0) if at_start else m[0]]], sources, [self.due])
        here = self.make.each(self.n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        steps = [*here, *self._from_here(), *self.plant.solve(self.at.q), *self._origin(), *self.take]
        return [*due, Repeat(self.due.place, tuple(steps))]

    def _origin(self) -> list[Step]:
        """The time at the start of the step, where the torque depends on it."""
        return self.make.once(lambda t: [t], [self.own.t], [self.at.t]) if self.timed else []

    def _samples(self, values: Cells) -> tuple[Cells, list[Step]]:
        """The samples in force, or those on the line to the next ones, and the stages that compute them."""
        if not self.sampled:
            return values, []
        width = values.size
        here = values.row(self.own.sample, width)
        if self.sampled == "hold":
            return here, []
        there = Cells(here.kind, here.number, here.start + width, width, here.index, here.pitch)
        self.ends = [here, there]
        found = self.make.buffer(width)
        sources = [self.at.t, *self._interval(), here, there]
        return found, self.make.each(width, steering.between, sources, [found])

    def _interval(self) -> list[Cells]:
        """The times of the sample in force and of the one after it."""
        here = self.grid.row(self.own.sample, 1)
        return [here, Cells(here.kind, here.number, here.start + 1, 1, here.index, here.pitch)]

    # -- the program --------------------------------------------------------------------------------------------------------

    def program(self) -> LoopProgram:
        """The whole integration: what is handed on is read, a first step chosen where wanted, and trial steps are made."""
        make = self.make
        given, vectors = (
            [self.given_settings, self.given],
            [self.q, self.v, self.Kq[0], self.Kv[0], *self._positions(), *self.further.vectors, *self._own_cells()],
        )
        load = make.once(lambda *lists: lists, [*given, *self.given_vectors], [self.settings, self.state, *vectors])
        store = make.once(lambda *lists: lists, [self.state, *vectors], [self.kept, *self.kept_vectors])
        ready = make.once(lambda: [[0.0], [0.0]], [], [self.work.turn, self.work.need])
        steps = [*self._begin(), *self._stages(), *self._error(), *self._decide(), *self._record(), *self._commit()]
        active = make.once(steering.active, [self.own.status, self.work.turn, self.options.budget], [self.work.active])
        loop = Repeat(self.work.active.place, (*steps, *active))
        return make.finish([*load, *ready, Repeat(self.options.fresh.place, tuple(self._first_step())), *active, loop, *store])

    def _positions(self) -> list[Cells]:
        """Those at t and their rates, where they are solved for."""
        return [self.x, self.Kx[0]] if self.plant.solved else []

    def _from_here(self) -> list[Step]:
        """Find positions from those at t: what a trial step left behind may be far off, or NaN."""
        return self.make.once(lambda x: [x], [self.x], [self.plant.x]) if self.plant.solved else []

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
        guess = make.once(lambda *c: steering.guess(self.norm, *(x[0] for x in c)), sources, [h0, d1, self.at.t, self.work.sum5])
        sources = [h0, self.q, self.v, self.Kq[0], self.Kv[0]]
        reach = make.each(n, lambda h, q, v, a, b: [q + h * a, v + h * b], sources, [self.at.q, self.at.qd])
        sources = [self.at.qd, self.qdd, self.Kq[0], self.Kv[0], self.q, self.v, self.options.rtol, self.options.atol]
        change = make.each(n, steering.change, sources, [], sums=[self.work.sum5])
        o = self.options
        sources = [self.work.sum5, h0, d1, self.own.t, o.t_end, o.max_step, o.first_step, self.own.evaluations]
        targets = [self.own.h, self.own.evaluations, self.options.fresh, self.own.broken]
        choose = make.once(lambda *c: steering.first(self.norm, self.control.root, *(x[0] for x in c)), sources, targets)
        rates = make.once(lambda xd: [xd], [self.plant.xd], [self.Kx[0]]) if self.plant.solved else []
        return [
            *self._from_here(),
            *clear,
            *self._sample(at_start=True),
            *self._settle(),
            *origin,
            *here,
            *self.further.begin(),
            *self.slope,
            *rates,
            *sizes,
            *self.further.sizes(o.rtol, o.atol, [self.work.sum5, self.work.sum3]),
            *guess,
            *reach,
            *self.further.reach(h0),
            *self.slope,
            *change,
            *self.further.change(o.rtol, o.atol, self.work.sum5),
            *choose,
        ]

    def _settle(self) -> list[Step]:
        """What has to be decided before a slope can be evaluated at the start."""
        return []

    def _ends(self) -> list[Step]:
        """Where the trial step has to end."""
        if not self.sampled:
            return self.make.once(lambda t_end: [t_end], [self.options.t_end], [self.work.stop])
        sources = [self.options.t_end, self._interval()[1]]
        return self.make.once(lambda t_end, following: [[ops.minimum(t_end[0], following[0])]], sources, [self.work.stop])

    def _begin(self) -> list[Step]:
        """The trial step: its length within bounds, cut where the interval or the sample ends."""
        make, ends, w = self.make, self._ends(), self.work

        def begin(options: list[Any], own: list[Any], stop: list[Any]) -> list[Any]:
            after, trial = steering.begun(Settings(*options), Fields(*own), stop[0])
            return [after, *trial, 0.0, 0.0, 0.0, 0.0]

        targets = [self.state, w.step, w.t_new, w.trial, w.sum5, w.sum3, w.slopes, w.points]
        return [
            *self._from_here(),
            *ends,
            *self._sample(),
            *self._refresh(),
            *make.once(begin, [self.settings, self.state, w.stop], targets),
        ]

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

    def _clock(self, node: float) -> list[Step]:
        """The time of a stage, if the torque depends on it."""
        if not self.timed:
            return []
        return self.make.once(lambda t, h: [[t[0] + node * h[0]]], [self.own.t, self.work.step], [self.at.t])

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

    def _decide(self) -> list[Step]:
        """Accept the step or not, and the length of the next one."""
        w = self.work

        def decide(options: list[Any], own: list[Any], *scalars: list[Any]) -> list[Any]:
            *sums, step, t_new, trial, turn = (x[0] for x in scalars)
            after, accept = self._judged(Settings(*options), Fields(*own), sums, step, t_new, trial)
            return [after, accept, turn + 1.0]

        sources = [self.settings, self.state, w.sum5, w.sum3, w.slopes, w.points, w.step, w.t_new, w.trial, w.turn]
        decided = self.make.once(decide, sources, [self.state, w.accept, w.turn])
        if not self.plant.solved:
            return decided
        sources = [self.own.status, w.accept, self.new_pivot]
        return [*decided, *self.make.once(lambda *c: [[steering.leaving(*(x[0] for x in c))]], sources, [self.own.status])]

    def _judged(self, options: Settings, own: Fields, sums: list[Any], step: Any, t_new: Any, trial: Any) -> Any:
        return steering.decided(self.norm, options, own, sums, step, t_new, trial)

    # -- results ------------------------------------------------------------------------------------------------------------

    def _record(self) -> list[Step]:
        return self._record_points() if self.output == "points" else self._record_steps()

    def _look_for_points(self) -> list[Step]:
        """Whether the step has passed the next of the wanted times."""
        return self.make.once(
            lambda te, accept, t_new: [[accept[0] * ops.less_equal(te[0], t_new[0])], te],
            [self.points.row(self.own.cursor, 1), self.work.accept, self.work.t_new],
            [self.work.inside, self.work.next],
        )

    def _record_points(self) -> list[Step]:
        """The interpolant at those of the wanted times that the step has passed."""
        look = self._look_for_points()
        ask = self.make.once(lambda inside: [inside], [self.work.inside], [self.work.need])
        points = self._write_points(look)
        return [*look, *ask, Repeat(self.work.need.place, tuple(self._interpolant())), points]

    def _write_points(self, look: list[Step]) -> Step:
        """Point after point."""
        make = self.make
        x = make.buffer()
        place = make.once(lambda te, t, h: [[(te[0] - t[0]) / h[0]]], [self.work.next, self.own.t, self.work.step], [x])
        rows = [cells.row(self.own.cursor, cells.size) for cells in self.out[1:]]
        steps = [*place]
        targets = [self.at.q, self.at.qd] if self.plant.solved else rows
        for start, powers, target in zip((self.q, self.v), (self.Fq, self.Fv), targets, strict=False):
            steps += make.each(self.n, steering.interpolated, [x, start, *powers], [target])
        if self.plant.solved:
            steps += [*self._from_here(), *self.plant.solve(self.at.q), *self.plant.visible(self.at.q, self.at.qd, rows)]
        steps += self.further.interpolated(x, self._further_rows())
        move = make.once(lambda c, inside: [[c[0] + inside[0]]], [self.own.cursor, self.work.inside], [self.own.cursor])
        return Repeat(self.work.inside.place, (*steps, *move, *look))

    def _record_steps(self) -> list[Step]:
        """Time and state at the end of each accepted step, and the interpolant if wanted."""
        time, state, move, write = self._step_writes()
        if self.output == "steps":
            return [*time, *state, *move]
        ask = self.make.once(lambda accept: [accept], [self.work.accept], [self.work.need])
        return [*ask, Repeat(self.work.need.place, (*self._interpolant(), *write)), *time, *state, *move]

    def _step_writes(self) -> tuple[list[Step], list[Step], list[Step], list[Step]]:
        """What writes the time, the state and the interpolant of a step, and what moves on to the next row."""
        make, n = self.make, self.n
        time = make.once(lambda t: [t], [self.work.t_new], [self.out[0].row(self.own.cursor, 1)])
        shown = self.out[1 : 4 if self.plant.solved else 3]
        rows = [cells.row(self.own.cursor, cells.size) for cells in shown]
        if self.plant.solved:
            back = make.once(lambda x: [x], [self.new_x], [self.plant.x])
            state = [*back, *self.plant.visible(self.new_q, self.new_v, rows)]
        else:
            state = make.each(n, lambda q, v: [q, v], [self.new_q, self.new_v], rows)
        state += self.further.recorded(self._further_rows())
        move = make.once(lambda c, accept: [[c[0] + accept[0]]], [self.own.cursor, self.work.accept], [self.own.cursor])
        if self.output == "steps":
            return time, state, move, []
        places = [cells.row(self.own.cursor, self.powers * n) for cells in self.out[1 + len(shown) :]]
        write: list[Step] = []
        for powers, place in zip((self.Fq, self.Fv), places, strict=True):
            targets = [place[k * n : (k + 1) * n] for k in range(self.powers)]
            write += make.each(n, lambda *F: list(F), powers, targets)
        if self.begins:
            begins = [cells.row(self.own.cursor, n) for cells in self.begins]
            write += make.each(n, lambda q, v: [q, v], [self.q, self.v], begins)
        write += self.further.powers([cells.row(self.own.cursor, cells.size) for cells in self.further_powers])
        return time, state, move, write

    def _further_rows(self) -> list[Cells]:
        return [cells.row(self.own.cursor, cells.size) for cells in self.further_out]

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

    def _commit(self) -> list[Step]:
        """State, time and sample go on where the step was accepted."""
        make, steps = self.make, self._commit_state()
        later = make.once(
            lambda a, new, t: [[ops.where(a[0], new[0], t[0])]], [self.work.accept, self.work.t_new, self.own.t], [self.own.t]
        )
        if not self.sampled:
            return [*steps, *later]
        sources = [self.work.accept, self.work.t_new, self.options.t_end, self._interval()[1], self.own.sample]
        follow = make.once(lambda *c: steering.next_sample(*(x[0] for x in c)), sources, [self.own.sample, self.own.moved])
        return [*steps, *later, *follow]

    def _commit_state(self) -> list[Step]:
        """The new state becomes the state where the step was accepted."""
        make = self.make

        def chosen(accept: Any, *pairs: Any) -> list[Any]:
            return [ops.where(accept, new, old) for new, old in zip(pairs[::2], pairs[1::2], strict=True)]

        pairs = [self.new_q, self.q, self.new_v, self.v, self.Kq[STAGES], self.Kq[0], self.Kv[STAGES], self.Kv[0]]
        steps = make.each(self.n, chosen, [self.work.accept, *pairs], pairs[1::2])
        if self.plant.solved:
            pairs = [self.new_x, self.x, self.Kx[STAGES], self.Kx[0]]
            steps += make.each(self.plant.size, chosen, [self.work.accept, *pairs], pairs[1::2])
        return [*steps, *self.further.commit(self.work.accept)]
