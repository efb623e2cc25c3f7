"""Fixed-step integrators as loop programs: the whole time loop of a rollout runs inside one kernel [theory: simulation]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..expr.loops import LoopProgram, Repeat, Step
from .assembly import Assembly, Cells
from .plant import StateCells, TorqueFunction, acceleration, control
from .variational import iteration, velocity

_RK4_NODES = (0.0, 0.5, 0.5, 1.0)
_RK4_WEIGHTS = (1.0, 2.0, 2.0, 1.0)


class TimeLoop:
    """What all fixed-step methods share: inputs, the state, the torque at a step, rows of results, counting.

    Inputs are the settings (h, t₀, every), the counters (step, row, phase, steps left), the state (q, q̇, p) and the torques;
    outputs are rows of q and q̇ and the state at the end, from which a further call goes on.
    """

    def __init__(self, system: AnySystem, torque: str | TorqueFunction) -> None:
        self.system, self.n = system, engine.size(system)
        n = self.n
        make = self.make = Assembly("rollout")
        given = [make.input(name, size) for name, size in (("settings", 3), ("counters", 4), ("q", n), ("qd", n), ("p", n))]
        held = make.input("tau", n)
        self.rows = [make.output(name, n) for name in ("q", "qd")]
        ends = [make.output(name, n) for name in ("q_end", "qd_end", "p_end")]
        settings, counters, self.q, self.qd, self.p = state = [make.buffer(cells.size) for cells in given]
        self.h, self.t0, self.every = settings.singly()
        self.step, self.row, self.phase, self.left = counters.singly()
        self.t = make.buffer()
        self.function = None if isinstance(torque, str) else torque
        self.tau = make.buffer(n) if self.function else held.row(self.step, n) if torque == "rows" else held
        self.begin = make.once(lambda *lists: lists, given, state)
        self.end = make.once(lambda *lists: lists, [self.q, self.qd, self.p], ends)

    def torque_at(self, q: Cells, qd: Cells, node: float) -> list[Step]:
        """The torque at (t + node h, q, q̇) to `tau`, if it needs computing."""
        if self.function is None:
            return []
        clock = self.make.once(lambda t0, k, h: [[t0[0] + (k[0] + node) * h[0]]], [self.t0, self.step, self.h], [self.t])
        return [*clock, *self._control(q, qd)]

    def _control(self, q: Cells, qd: Cells) -> list[Step]:
        assert self.function is not None
        return control(self.make, self.system, self.function, StateCells(self.t, q, qd), self.tau)

    def results(self) -> list[Cells]:
        """The rows of q and q̇ where this step's results go."""
        return [cells.row(self.row, self.n) for cells in self.rows]

    def finish(self, steps: Sequence[Step]) -> LoopProgram:
        """The program that repeats these steps."""
        counters = [self.step, self.row, self.phase, self.left]
        count = self.make.once(_counted, [*counters, self.every], counters)
        return self.make.finish([*self.begin, Repeat(self.left.place, (*steps, *count)), *self.end])


def _counted(step: list[Any], row: list[Any], phase: list[Any], left: list[Any], every: list[Any]) -> list[list[Any]]:
    """One step later; the row moves on when `every` steps are done."""
    full = 1.0 - (phase[0] + 1.0 < every[0])
    return [[step[0] + 1.0], [row[0] + full], [(phase[0] + 1.0) * (1.0 - full)], [left[0] - 1.0]]


def semi_implicit_euler(system: AnySystem, torque: str | TorqueFunction) -> LoopProgram:
    """q̇ ← q̇ + h q̈(q, q̇), then q ← q + h q̇: first order, one evaluation."""
    loop = TimeLoop(system, torque)
    make, n = loop.make, loop.n
    qdd = make.buffer(n)

    def update(h: Any, q: Any, qd: Any, qdd: Any) -> list[Any]:
        later = qd + h * qdd
        position = q + h * later
        return [position, later, position, later]

    slope = acceleration(make, system, StateCells(loop.t, loop.q, loop.qd), loop.tau, qdd)
    targets = [loop.q, loop.qd, *loop.results()]
    advance = make.each(n, update, [loop.h, loop.q, loop.qd, qdd], targets, quick=True)
    return loop.finish([*loop.torque_at(loop.q, loop.qd, 0.0), *slope, *advance])


def rk4(system: AnySystem, torque: str | TorqueFunction) -> LoopProgram:
    """The classical method of Runge and Kutta: fourth order, four evaluations [HairerNorsettWanner1993, §II.1]."""
    loop = TimeLoop(system, torque)
    make, n = loop.make, loop.n
    x, v, qdd, sum_v, sum_a = (make.buffer(n) for _ in range(5))
    slope = acceleration(make, system, StateCells(loop.t, x, v), loop.tau, qdd)
    clear = make.each(n, lambda q, qd: [q, qd, 0.0, 0.0], [loop.q, loop.qd], [x, v, sum_v, sum_a], quick=True)
    steps: list[Step] = list(clear)
    for node, following, weight in zip(_RK4_NODES, (*_RK4_NODES[1:], None), _RK4_WEIGHTS, strict=True):
        steps += [*loop.torque_at(x, v, node), *slope]
        if following is not None:
            sources = [loop.h, loop.q, loop.qd, v, qdd, sum_v, sum_a]
            steps += make.each(n, _substage(following, weight), sources, [x, v, sum_v, sum_a], quick=True)
    sources = [loop.h, loop.q, loop.qd, v, qdd, sum_v, sum_a]
    steps += make.each(n, _rk4_end, sources, [loop.q, loop.qd, *loop.results()], quick=True)
    return loop.finish(steps)


def _substage(following: float, weight: float) -> Callable[..., list[Any]]:
    def update(h: Any, q: Any, qd: Any, v: Any, a: Any, sum_v: Any, sum_a: Any) -> list[Any]:
        reach = h * following
        return [q + reach * v, qd + reach * a, sum_v + weight * v, sum_a + weight * a]

    return update


def _rk4_end(h: Any, q: Any, qd: Any, v: Any, a: Any, sum_v: Any, sum_a: Any) -> list[Any]:
    q, qd = q + h * (sum_v + v) / 6.0, qd + h * (sum_a + a) / 6.0
    return [q, qd, q, qd]


def symplectic(system: AnySystem, torque: str | TorqueFunction) -> LoopProgram:
    """The variational midpoint rule (variational.py): second order, symplectic, implicit."""
    loop = TimeLoop(system, torque)
    make, n = loop.make, loop.n
    force, middle, pending, last, turn = make.buffer(n), make.buffer(n), make.buffer(), make.buffer(), make.buffer()
    start = make.once(lambda: [[1.0], [1e300], [0.0]], [], [pending, last, turn])
    v = loop.qd  # the last velocity is the first guess, and becomes that of the whole step
    half = make.each(n, lambda h, q, v: [q + 0.5 * h * v], [loop.h, loop.q, v], [middle], quick=True)
    torque_there = loop.torque_at(middle, v, 0.5)
    sources = [loop.h, middle, v, loop.p, loop.tau, force, pending, last, turn]
    improve = make.once(iteration(system), sources, [v, force, pending, last, turn])
    sources = [loop.h, loop.q, v, loop.p, force]
    advance = make.each(n, _variational_end, sources, [loop.q, loop.p, loop.results()[0]], quick=True)
    turn_velocity = make.once(velocity(system), [loop.q, loop.p], [loop.qd])
    show = make.each(n, lambda qd: [qd], [loop.qd], [loop.results()[1]], quick=True)
    solve = Repeat(pending.place, (*half, *torque_there, *improve))
    return loop.finish([*start, solve, *advance, *turn_velocity, *show])


def _variational_end(h: Any, q: Any, v: Any, p: Any, force: Any) -> list[Any]:
    later = q + h * v
    return [later, p + h * force, later]


METHODS: dict[str, Callable[[AnySystem, str | TorqueFunction], LoopProgram]] = {
    "semi_implicit_euler": semi_implicit_euler,
    "rk4": rk4,
    "symplectic": symplectic,
}
