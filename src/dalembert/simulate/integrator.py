"""The frame of every adaptive method, as a loop program: motions handed on, trial steps begun and judged, samples, results.

A method supplies its trial step with an estimate of the error, and an interpolant on the step; see `Integrator`. Each lane has
its own time and step; one that is done waits, unchanged, for the others of its block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import LoopProgram, Repeat, Step
from . import steering
from .further_states import FurtherStates, norm_size
from .laws import TorqueLaw, held_width
from .plant import Plant, StateCells
from .steering import Control, Fields, Settings


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
    slopes of q and q̇ (those of q are the velocities themselves), `[0]` at the start and `[last]` at the end of the step. A method
    says

    1. `_stages`: the trial step, to `new_q`, `new_v` and, where there are any, `new_x`, `new_pivot` and `further.new`;
    2. `_error` and `_judged`: its error in units of the tolerance, and what follows from it;
    3. `_interpolant`: its `powers` coefficients of each component, to `Fq`, `Fv` and `further.F`, while `work.need` is set;
    4. `_refresh`: what has to be done anew where the torque jumped at the start of the step;
    5. `_commit_state`: what becomes of the state and of what it keeps, where the step was accepted;
    6. `_reach` and `_forget`, where events are looked for: the slope at the end of the step, and a past that is over.
    """

    control: Control
    powers: int  # coefficients of the interpolant, an odd number
    kept_slopes = 2  # how many slopes it keeps within a step
    last = 1  # which of them is at the end of the step
    jumps = False  # whether a step may begin at another velocity than the one before ended with

    def __init__(self, system: AnySystem, torque: str | TorqueLaw, output: str) -> None:
        self.n = n = engine.size(system)
        self.output = output
        make = self.make = Assembly("simulate")
        plant = self.plant = self._plant(system)
        self.given_settings, self.given = make.input("settings", len(Settings._fields)), make.input("state", len(Fields._fields))
        law = torque if isinstance(torque, TorqueLaw) else None
        further = self.further = FurtherStates(make, law.state_width if law else 0, self.powers, self.kept_slopes, self.last)
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
        self.Kq, self.Kv = ([make.buffer(n) for _ in range(self.kept_slopes)] for _ in range(2))
        self.at = StateCells(make.buffer(), make.buffer(n), make.buffer(n))
        self.qdd = make.buffer(n)
        self.Fq, self.Fv = ([make.buffer(n) for _ in range(self.powers)] for _ in range(2))
        if plant.solved:
            self.x, self.new_x, self.new_pivot = make.buffer(plant.size), make.buffer(plant.size), make.buffer()
            self.Kx = [make.buffer(plant.size) for _ in range(self.kept_slopes)]
        kind = torque if law is None else law.between if law.signals else ""
        self.sampled = kind if kind in ("hold", "linear") else "hold" if self.marks else ""
        self.due = make.buffer()
        self.timed = self.sampled == "linear" or not isinstance(torque, str)
        self.grid = grid
        self.slope = self._slope(torque, values)
        shown = (("t", 1), ("q", n), ("qd", n), *([("x", plant.size), ("xd", plant.size)] if plant.solved else []))
        self.out = [make.output(name, size) for name, size in shown]
        self.further_out = [make.output("z", further.size)] if further.size else []
        if output == "dense":
            self.out += [make.output(name, self.powers * n) for name in ("Fq", "Fv")]
            self.begins = [make.output(name, n) for name in ("q_begin", "qd_begin")] if plant.solved or self.jumps else []
            self.further_powers = [make.output("Fz", self.powers * further.size)] if further.size else []

    # -- what a method supplies ---------------------------------------------------------------------------------------------

    def _refresh(self) -> list[Step]:
        """What has to be done anew at the start of the step."""
        raise NotImplementedError

    def _stages(self) -> list[Step]:
        """The trial step."""
        raise NotImplementedError

    def _error(self) -> list[Step]:
        """Sums of squares of the estimated error."""
        raise NotImplementedError

    def _judged(self, options: Settings, own: Fields, sums: list[Any], step: Any, t_new: Any, trial: Any) -> Any:
        """The fields after the trial step, and whether it is accepted."""
        raise NotImplementedError

    def _interpolant(self) -> list[Step]:
        """The coefficients of each component, for the lanes that ask and beside the others."""
        raise NotImplementedError

    def _reach(self) -> list[Step]:
        """The slope at the end of the trial step, to `[last]`, where no stage has looked at it; asked for by events only."""
        return []

    def _forget(self, anew: Cells) -> list[Step]:
        """What the method keeps of earlier steps is lost where the motion begins anew; the slope there is in its place."""
        return []

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

    def _clock(self, node: float) -> list[Step]:
        """The time of a stage, if the torque depends on it."""
        if not self.timed:
            return []
        return self.make.once(lambda t, h: [[t[0] + node * h[0]]], [self.own.t, self.work.step], [self.at.t])

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
        shown = self.out[1 : 5 if self.plant.solved else 3]
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

        pairs = [self.new_q, self.q, self.new_v, self.v, self.Kq[self.last], self.Kq[0], self.Kv[self.last], self.Kv[0]]
        steps = make.each(self.n, chosen, [self.work.accept, *pairs], pairs[1::2])
        if self.plant.solved:
            pairs = [self.new_x, self.x, self.Kx[self.last], self.Kx[0]]
            steps += make.each(self.plant.size, chosen, [self.work.accept, *pairs], pairs[1::2])
        return [*steps, *self.further.commit(self.work.accept)]


__all__ = ["Integrator", "Scratch"]
