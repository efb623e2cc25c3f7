"""Fixed-step integrators as loop programs: the whole time loop of a rollout runs inside one kernel [theory: simulation]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dynamics import engine
from ..dynamics.system import LEAST_PIVOT, AnySystem
from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import LoopProgram, Repeat, Step
from .laws import TorqueLaw
from .plant import StateCells
from .stopping_steps import Stops, plant_of
from .variational import iteration, velocity

_RK4_NODES = (0.0, 0.5, 0.5, 1.0)
_RK4_WEIGHTS = (1.0, 2.0, 2.0, 1.0)


class TimeLoop:
    """What all fixed-step methods share: inputs, the state, the torque at a step, rows of results, counting.

    Inputs are the settings (h, t₀, every, and what axes keep of their speed at stops), the counters (step, row, phase, steps
    left), the state (q, q̇, p), the torques, the positions where they are solved for, and further states z where a law has
    them; outputs are rows of q, q̇ and z and the state at the end, from which a further call goes on. Where positions are solved
    for and the loop is `watched`, a motion waits where its coordinates are about to stop telling them, and the counters come
    last; in a `placed` one, rows of the positions and of their rates stand behind those of z.
    """

    def __init__(
        self, system: AnySystem, torque: str | TorqueLaw, stops: Stops | None, *, placed: bool = False, watched: bool = True
    ) -> None:
        self.system, self.n = system, engine.size(system)
        n = self.n
        make = self.make = Assembly("rollout")
        numbers = 3 if stops is None else 3 + len(stops.names)
        given = [make.input(name, size) for name, size in (("settings", numbers), ("counters", 4), ("q", n), ("qd", n), ("p", n))]
        law = self.law = torque if isinstance(torque, TorqueLaw) else None
        width = n if law is None else max(law.signal_width, 1)
        held = make.input("tau", width)
        inputs = [make.input("inputs", law.input_width)] if law and law.inputs else []
        marks = [make.input("marks", 3)] if law and law.held else []
        settings, counters, self.q, self.qd, self.p = state = [make.buffer(cells.size) for cells in given]
        plant = self.plant = plant_of(make, system, torque, stops, settings[3:numbers])
        plant.surround(law, inputs)
        solved = [make.input("x", plant.size)] if plant.solved else []
        self.k = k = law.state_width if law else 0
        further = [make.input("z", k)] if k else []
        self.rows = [make.output(name, n) for name in ("q", "qd")]
        self.further_rows = [make.output("z", k)] if k else []
        self.placed_rows = [make.output(name, plant.size) for name in ("x", "xd")] if placed else []
        ends = [make.output(name, n) for name in ("q_end", "qd_end", "p_end")]
        solved_ends = [make.output("x_end", plant.size)] if plant.solved else []
        further_ends = [make.output("z_end", k)] if k else []
        self.h, self.t0, self.every = settings[:3].singly()
        self.step, self.row, self.phase, self.left = counters.singly()
        self.t = make.buffer()
        rows = held.row(self.step, width)
        self.tau = make.buffer(n) if law else rows if torque == "rows" else held
        self.given = [*inputs, *([rows] if law and law.signals else [])]
        positions = [plant.x] if plant.solved else []
        self.x = make.buffer(plant.size) if plant.solved else self.t
        self.z, self.zd = (make.buffer(k), make.buffer(k)) if k else (self.t, self.t)
        own = [self.z] if k else []
        self.samples = self._sample(marks[0].row(self.step, 3)) if marks else []
        self.begin = make.once(lambda *lists: lists, [*given, *solved, *further], [*state, *positions, *own])
        last = [self.q, self.qd, self.p, *positions, *own]
        self.waits, self.watched = make.buffer(), plant.solved and watched
        self.begun = [(cells, make.buffer(cells.size)) for cells in (self.q, self.qd, *positions, *own)] if self.watched else []
        counted = [(counters, make.output("counters_end", 4))] if self.watched else []
        last, ends = [*last, *(cells for cells, _ in counted)], [*ends, *solved_ends, *further_ends, *(out for _, out in counted)]
        self.end = make.once(lambda *lists: lists, last, ends)

    def _sample(self, marks: Cells) -> list[Step]:
        """A law that is sampled looks at the state at the start of a step, where its marks say so."""
        assert self.law is not None
        due = self.make.buffer()
        look = self.make.once(lambda m: [[ops.maximum(ops.maximum(m[0], m[1]), m[2])]], [marks], [due])
        take = self.plant.sampled(self.law, StateCells(self.t, self.q, self.qd), self.given, due, marks, self.z)
        return [*look, Repeat(due.place, (*self._clock(0.0), *self.plant.solve(self.q), *take))]

    def _clock(self, node: float) -> list[Step]:
        return self.make.once(lambda t0, k, h: [[t0[0] + (k[0] + node) * h[0]]], [self.t0, self.step, self.h], [self.t])

    def torque_at(self, q: Cells, qd: Cells, node: float, z: Cells | None = None) -> list[Step]:
        """The torque at (t + node h, q, q̇) to `tau`, and the rates of further states to `zd`, if they need computing."""
        if self.law is None:
            return []
        clock = self._clock(node)
        given = [*self.given, *([self.z if z is None else z] if self.k else [])]
        return [*clock, *self.plant.control(self.law, StateCells(self.t, q, qd), given, self.tau, self.zd if self.k else None)]

    def further(self, function: Callable[..., list[Any]], sources: Sequence[Cells], targets: Sequence[Cells]) -> list[Step]:
        """The same for every number of the further states, if there are any."""
        return self.make.each(self.k, function, sources, targets, quick=True) if self.k else []

    def further_results(self) -> list[Cells]:
        """The row of z where this step's results go."""
        return [cells.row(self.row, self.k) for cells in self.further_rows]

    def predict(self, node: float) -> list[Step]:
        """Positions after a part of the step, to be found from there; the rates are those of the last acceleration."""
        if not self.plant.solved:
            return []

        def along(h: Any, x: Any, xd: Any) -> list[Any]:
            return [x + h * node * xd]

        return self.make.each(self.plant.size, along, [self.h, self.x, self.plant.xd], [self.plant.x], quick=True)

    def keep_positions(self) -> list[Step]:
        """Remember those at the start of the step."""
        return self.make.once(lambda x: [x], [self.plant.x], [self.x]) if self.plant.solved else []

    def results(self) -> list[Cells]:
        """The rows of q and q̇ where this step's results go."""
        return [cells.row(self.row, self.n) for cells in self.rows]

    def positions(self, q: Cells) -> list[Step]:
        """Those at the start of a step, which are known where it is watched."""
        return [] if self.watched else self.plant.solve(q)

    def finish(self, steps: Sequence[Step]) -> LoopProgram:
        """The program that repeats these steps."""
        counters = [self.step, self.row, self.phase, self.left]
        count = self.make.once(_counted, [*counters, self.every], counters)
        whole = [*self.samples, *steps, *self._place(), *count]
        if self.watched:
            whole = [*self._watch(), *self.samples, *steps, *self._place(), *self._back(counters)]
        return self.make.finish([*self.begin, Repeat(self.left.place, tuple(whole)), *self.end])

    def _watch(self) -> list[Step]:
        """Whether a motion waits, and its state at the start of the step."""

        def look(pivot: Any, left: Any, *state: Any) -> list[Any]:
            return [[ops.maximum(ops.less(pivot[0], LEAST_PIVOT), ops.equal(left[0], 0.0))], *state]

        now, begun = zip(*self.begun, strict=True)
        return [*self.plant.solve(self.q), *self.make.once(look, [self.plant.pivot, self.left, *now], [self.waits, *begun])]

    def _back(self, counters: Sequence[Cells]) -> list[Step]:
        """One step later; motions that wait are where they were, and have no steps left in this call."""

        def back(waits: Any, step: Any, row: Any, phase: Any, left: Any, every: Any, *states: Any) -> list[Any]:
            counted = _counted(step, row, phase, left, every)
            kept = [step, row, phase, [0.0], *states[len(states) // 2 :]]
            pairs = zip(kept, [*counted, *states[: len(states) // 2]], strict=True)
            return [[ops.where(waits[0], a, b) for a, b in zip(*pair, strict=True)] for pair in pairs]

        now, begun = zip(*self.begun, strict=True)
        return self.make.once(back, [self.waits, *counters, self.every, *now, *begun], [*counters, *now])

    def _place(self) -> list[Step]:
        """Rows of the coordinates as users see them, of positions and their rates."""
        if not self.placed_rows:
            return []
        rows = [*self.results(), *(cells.row(self.row, self.plant.size) for cells in self.placed_rows)]
        return [*self.plant.solve(self.q), *self.plant.visible(self.q, self.qd, rows)]


def _counted(step: list[Any], row: list[Any], phase: list[Any], left: list[Any], every: list[Any]) -> list[list[Any]]:
    """One step later; the row moves on when `every` steps are done."""
    full = 1.0 - (phase[0] + 1.0 < every[0])
    return [[step[0] + 1.0], [row[0] + full], [(phase[0] + 1.0) * (1.0 - full)], [left[0] - 1.0]]


def semi_implicit_euler(
    system: AnySystem, torque: str | TorqueLaw, stops: Stops | None = None, *, placed: bool = False
) -> LoopProgram:
    """q̇ ← q̇ + h q̈(q, q̇), then q ← q + h q̇: first order, one evaluation."""
    loop = TimeLoop(system, torque, stops, placed=placed)
    make, n = loop.make, loop.n
    qdd = make.buffer(n)

    def update(h: Any, q: Any, qd: Any, qdd: Any) -> list[Any]:
        later = qd + h * qdd
        position = q + h * later
        return [position, later, position, later]

    slope = loop.plant.acceleration(StateCells(loop.t, loop.q, loop.qd), loop.tau, qdd)
    targets = [loop.q, loop.qd, *loop.results()]
    advance = make.each(n, update, [loop.h, loop.q, loop.qd, qdd], targets, quick=True)
    positions, torque_here = loop.positions(loop.q), loop.torque_at(loop.q, loop.qd, 0.0)
    targets = [loop.z, *loop.further_results()]
    advance += loop.further(lambda h, z, zd: [z + h * zd] * 2, [loop.h, loop.z, loop.zd], targets)
    slope = loop.plant.settled(loop.h, StateCells(loop.t, loop.q, loop.qd), slope, qdd, 1.0)
    ahead = [*loop.keep_positions(), *loop.predict(1.0)]
    return loop.finish([*positions, *torque_here, *slope, *advance, *ahead, *loop.plant.rest(loop.q, loop.qd, loop.results())])


def rk4(system: AnySystem, torque: str | TorqueLaw, stops: Stops | None = None, *, placed: bool = False) -> LoopProgram:
    """The classical method of Runge and Kutta: fourth order, four evaluations [HairerNorsettWanner1993, §II.1]."""
    loop = TimeLoop(system, torque, stops, placed=placed)
    make, n = loop.make, loop.n
    x, v, qdd, sum_v, sum_a = (make.buffer(n) for _ in range(5))
    z, sum_z = (make.buffer(loop.k), make.buffer(loop.k)) if loop.k else (loop.z, loop.z)
    slope = loop.plant.acceleration(StateCells(loop.t, x, v), loop.tau, qdd)
    positions = loop.plant.solve(x)
    clear = make.each(n, lambda q, qd: [q, qd, 0.0, 0.0], [loop.q, loop.qd], [x, v, sum_v, sum_a], quick=True)
    steps: list[Step] = [*clear, *loop.further(lambda z: [z, 0.0], [loop.z], [z, sum_z])]
    for node, following, weight in zip(_RK4_NODES, (*_RK4_NODES[1:], None), _RK4_WEIGHTS, strict=True):
        begins = loop.plant.settled(loop.h, StateCells(loop.t, x, v), slope, qdd, 0.5) if node == 0.0 else slope
        steps += [*(loop.positions(x) if node == 0.0 else positions), *loop.torque_at(x, v, node, z), *begins]
        if following is None:
            steps += loop.predict(1.0)
        else:
            steps += loop.keep_positions() if node == 0.0 else []
            steps += loop.predict(following)
            sources = [loop.h, loop.q, loop.qd, v, qdd, sum_v, sum_a]
            steps += make.each(n, _substage(following, weight), sources, [x, v, sum_v, sum_a], quick=True)
            steps += loop.further(_further_substage(following, weight), [loop.h, loop.z, loop.zd, sum_z], [z, sum_z])
    sources = [loop.h, loop.q, loop.qd, v, qdd, sum_v, sum_a]
    steps += make.each(n, _rk4_end, sources, [loop.q, loop.qd, *loop.results()], quick=True)
    steps += loop.further(_further_rk4_end, [loop.h, loop.z, loop.zd, sum_z], [loop.z, *loop.further_results()])
    steps += loop.plant.rest(loop.q, loop.qd, loop.results())
    return loop.finish(steps)


def _substage(following: float, weight: float) -> Callable[..., list[Any]]:
    def update(h: Any, q: Any, qd: Any, v: Any, a: Any, sum_v: Any, sum_a: Any) -> list[Any]:
        reach = h * following
        return [q + reach * v, qd + reach * a, sum_v + weight * v, sum_a + weight * a]

    return update


def _further_substage(following: float, weight: float) -> Callable[..., list[Any]]:
    return lambda h, z, zd, total: [z + h * following * zd, total + weight * zd]


def _further_rk4_end(h: Any, z: Any, zd: Any, total: Any) -> list[Any]:
    return [z + h * (total + zd) / 6.0] * 2


def _rk4_end(h: Any, q: Any, qd: Any, v: Any, a: Any, sum_v: Any, sum_a: Any) -> list[Any]:
    q, qd = q + h * (sum_v + v) / 6.0, qd + h * (sum_a + a) / 6.0
    return [q, qd, q, qd]


def symplectic(system: AnySystem, torque: str | TorqueLaw, stops: Stops | None = None) -> LoopProgram:
    """The variational midpoint rule (variational.py): second order, symplectic, implicit."""
    loop = TimeLoop(system, torque, stops, watched=False)
    make, n = loop.make, loop.n
    force, middle, pending, last, turn = make.buffer(n), make.buffer(n), make.buffer(), make.buffer(), make.buffer()
    start = make.once(lambda: [[1.0], [1e300], [0.0]], [], [pending, last, turn])
    v = loop.qd  # the last velocity is the first guess, and becomes that of the whole step
    half = make.each(n, lambda h, q, v: [q + 0.5 * h * v], [loop.h, loop.q, v], [middle], quick=True)
    torque_there = [*loop.torque_at(middle, v, 0.5), *loop.plant.add_wrenches(middle, loop.tau)]
    sources = [loop.h, middle, v, loop.p, loop.tau, force, pending, last, turn]
    improve = loop.plant.once(iteration(system), sources, [v, force, pending, last, turn])
    sources = [loop.h, loop.q, v, loop.p, force]
    advance = make.each(n, _variational_end, sources, [loop.q, loop.p, loop.results()[0]], quick=True)
    turn_velocity = [*loop.plant.solve(loop.q), *loop.plant.once(velocity(system), [loop.q, loop.p], [loop.qd])]
    show = make.each(n, lambda qd: [qd], [loop.qd], [loop.results()[1]], quick=True)
    show += loop.further(lambda z: [z], [loop.z], loop.further_results())  # what a sampled law holds
    solve = Repeat(pending.place, (*half, *loop.plant.solve(middle), *torque_there, *improve))
    return loop.finish([*start, solve, *advance, *turn_velocity, *show])


def _variational_end(h: Any, q: Any, v: Any, p: Any, force: Any) -> list[Any]:
    later = q + h * v
    return [later, p + h * force, later]


METHODS: dict[str, Callable[..., LoopProgram]] = {
    "semi_implicit_euler": semi_implicit_euler,
    "rk4": rk4,
    "symplectic": symplectic,
}
