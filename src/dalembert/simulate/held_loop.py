"""Any adaptive method with events: dry friction that sticks and slips, stops, locked joints, and functions of a user's own.

Between events the motion is smooth, and steps are those of the method. After an accepted step it is looked whether a joint that
slides has turned round, one that is held would break free, a stop was passed or a function changed its sign; what comes first is
located on the method's interpolant, the step is cut there, and which joints stick and which slide is decided anew. A motion waits
(`PAUSED`) for the program around the loop where something happened that it has to note, or to act upon.
"""

from __future__ import annotations

from typing import Any

from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..expr import ops
from ..expr.assembly import Cells
from ..expr.loops import Repeat, Step
from . import locating
from .happenings import Happenings
from .held_plant import HeldPlant
from .holding import NEVER, Holding
from .integrator import Integrator
from .laws import TorqueLaw
from .locating import RootSearch
from .plant import Plant
from .steering import DONE, PAUSED, RUNNING, TOO_MANY, interpolated


class HeldIntegrator(Integrator):
    """The frame with modes, a search for what happens first, and a decision which joints stick; see `held_methods`.

    A method beside it in a class supplies the steps. 'dense' records where steps begin and their lengths too.
    """

    jumps = True

    def __init__(self, system: AnySystem, torque: str | TorqueLaw, output: str, happenings: Happenings) -> None:
        self.happenings = happenings
        self.rules = Holding(happenings, engine.size(system))
        super().__init__(system, torque, output)
        self.timed = True
        if output == "dense":
            self.reach = [self.make.output("reach", 1)]
            self.reach += [self.make.output("z_begin", self.further.size)] if self.further.size else []

    def _plant(self, system: AnySystem) -> Plant:
        plant = self.held = HeldPlant(self.make, system, self.happenings)
        at, self.events = plant.layout, plant.events
        self.before, self.locked, self.stopped = (self.events[part] for part in (at.before, at.locked, at.stopped))
        self.signs = [self.events[at.signs]] if at.m else []
        # What a look finds at a point; what is kept of it waits with its motion, while others go on, until it is attended to.
        self.passed = [self.make.buffer(at.n), *([self.make.buffer(at.m)] if at.m else [])]
        self.clock, self.settle = self.events[at.clock : at.clock + 1], self.events[at.settle : at.settle + 1]
        self.mode, self.forces = plant.mode, [plant.hold, plant.load, plant.low, plant.high]
        return plant

    def _own_vectors(self) -> list[tuple[str, int]]:
        return [*super()._own_vectors(), ("events", self.events.size)]

    def _own_inputs(self) -> None:
        super()._own_inputs()
        make, at = self.make, self.held.layout
        self.limits = make.input("limits", 2 * at.n)
        self.turned = make.buffer(at.n)
        self.over, self.worst, self.top, self.turn, self.solving, self.again = (make.buffer() for _ in range(6))
        self.search = RootSearch(*(make.buffer() for _ in RootSearch._fields))
        self.values, self.oriented, self.begun = (make.buffer(max(at.m, 1)) for _ in range(3))
        self.rates = [make.buffer(max(at.m, 1)) for _ in range(2)]  # of the functions, at both ends of the step

    def _own_cells(self) -> list[Cells]:
        return [*super()._own_cells(), self.events]

    # -- the dynamics -------------------------------------------------------------------------------------------------------

    def _slope(self, torque: str | TorqueLaw, values: Cells) -> list[Step]:
        """q̈ with the modes as they are, and by how much a held coordinate is over its level, at most."""
        found = super()._slope(torque, values)
        law = torque if isinstance(torque, TorqueLaw) else None
        samples = [self.samples] if law is not None and law.signals else []
        given = [*self.inputs, *samples, *self.further.point] if law is not None else []
        self.functions, self.rates_at_start, self.rates_at_end = [], [], []
        if self.signs:
            between, rate = self.between if samples else [], self.further
            self.functions = [*between, *self.held.values(law, self.at, given, self.values)]
            ends = [self.Kv[0], *([rate.K[0]] if rate.size else [])], [self.qdd, *([rate.rate] if rate.size else [])]
            rates = [self.held.rates(law, self.at, given, *each) for each in zip(ends, self.rates, strict=True)]
            self.rates_at_start, self.rates_at_end = rates
        sources = [self.worst, self.mode, self.at.q, self.limits, self.locked, *self.forces]
        return [*found, *self.make.once(self.rules.most_over, sources, [self.over, self.worst])]

    def _samples(self, values: Cells) -> tuple[Cells, list[Step]]:
        self.samples, self.between = super()._samples(values)
        return self.samples, self.between

    # -- which joints stick -------------------------------------------------------------------------------------------------

    def _settle(self) -> list[Step]:
        """Decide at the start, where a first step is chosen; there is no before."""
        start = self.make.once(lambda: [[1.0]], [], [self.turn])
        return [*start, *self._decided_modes(), *self.make.once(lambda mode: [mode], [self.mode], [self.before])]

    def _refresh(self) -> list[Step]:
        """Decide anew after an event or a jump of the torque; where the modes are others than before, the motion waits."""
        make = self.make
        asked = [self.own.moved, self.settle]

        def ask(status: list[Any], *flags: list[Any]) -> list[Any]:
            """One that waits decides when it goes on: what it waits for may change its velocities."""
            running = ops.equal(status[0], float(RUNNING))
            anew = running * ops.maximum(flags[0][0], flags[1][0])
            return [[anew], [anew], *([ops.where(running, 0.0, flag[0])] for flag in flags)]

        begin = make.once(ask, [self.own.status, *asked], [self.turn, self.solving, *asked])

        def waits(solving: list[Any], status: list[Any], mode: list[Any], before: list[Any]) -> list[Any]:
            differ: Any = 0.0
            for a, b in zip(mode, before, strict=True):
                differ = ops.maximum(differ, 1.0 - ops.equal(a, b))
            running = ops.equal(status[0], float(RUNNING))
            return [[ops.where(ops.less(0.0, solving[0]) * differ * running, float(PAUSED), status[0])], [NEVER]]

        wait = make.once(waits, [self.solving, self.own.status, self.mode, self.before], [self.own.status, self.worst])
        return [*begin, *self._decided_modes(), *self._forget(self.solving), *wait, *self._orientation()]

    def _decided_modes(self) -> list[Step]:
        """Modes that fit the forces: all joints at rest stick, then those whose force is too large slip, and so on.

        It is the search for the solution of a linear complementarity problem by principal pivoting [theory: simulation, Eq. 12],
        [Murty1974].
        """
        make, n = self.make, self.n
        here = make.each(n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        clock = make.once(lambda t: [t], [self.own.t], [self.at.t])
        sources = [self.turn, self.mode, self.before, self.v, self.q, self.limits, self.locked]
        guess = make.once(self.rules.first_modes, sources, [self.mode, self.before])
        sources = [self.turn, self.mode, self.v, self.qdd, self.q, self.limits, self.locked]
        sources += [self.Kq[0], self.Kv[0], self.own.evaluations, *self.forces]
        targets = [self.turn, self.mode, self.Kq[0], self.Kv[0], self.own.evaluations]
        flip = make.once(self.rules.next_modes, sources, targets)
        keep = self.further.refreshed(self.turn)
        if self.plant.solved:
            pairs = [self.turn, self.plant.xd, self.Kx[0]]
            keep += make.each(self.plant.size, _chosen, pairs, [self.Kx[0]])
        steps = [*here, *clock, *self.further.begin(), *self._from_here(), *guess, *self.slope, *keep, *flip]
        return [Repeat(self.turn.place, tuple(steps))]

    def _orientation(self) -> list[Step]:
        """Which way each function of the user has to pass zero, by its sign at the start of the step, or by its rate."""
        if not self.signs:
            return []
        make = self.make
        here = make.each(self.n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        clock = make.once(lambda t: [t], [self.own.t], [self.at.t])

        def orient(values: list[Any], rates: list[Any]) -> list[Any]:
            tells = [ops.where(ops.equal(x, 0.0), rate, x) for x, rate in zip(values, rates, strict=True)]
            ways = zip(tells, self.happenings.directions, strict=True)
            return [[way * ops.less(way * x, 0.0) if way else -ops.sign(x) for x, way in ways], values]

        found = make.once(orient, [self.values, self.rates[0]], [self.oriented, self.begun])
        look = [*self.plant.solve(self.at.q), *self.functions, *self.rates_at_start]
        return [*here, *clock, *self.further.begin(), *self._from_here(), *look, *found]

    # -- what happens first -------------------------------------------------------------------------------------------------

    def _ends(self) -> list[Step]:
        bound = super()._ends()
        return [*bound, *self.make.once(_sooner, [self.work.stop, self.clock], [self.work.stop])]

    def _stages(self) -> list[Step]:
        return [*super()._stages(), *self._reach(), *self.functions, *self.rates_at_end, *self._look()]

    def _look(self) -> list[Step]:
        """How far the first of all events is behind the point in question, and which joints turned round or passed a stop."""
        sources = [self.over, self.mode, self.at.q, self.at.qd, self.limits]
        sources += [self.values, self.oriented] if self.signs else []
        return self.make.once(self._largest, sources, [self.top, self.turned, *self.passed])

    def _largest(self, over: Any, mode: Any, q: Any, v: Any, limits: Any, values: Any = (), oriented: Any = ()) -> list[Any]:
        top: Any = over[0]
        turned: list[Any] = [0.0] * self.n
        stopped: list[Any] = [0.0] * self.n
        for i in range(self.n):
            if self.happenings.friction.acts[i]:
                back = -mode[i] * v[i]
                top, turned[i] = ops.maximum(top, ops.where(mode[i], back, NEVER)), ops.less(0.0, back)
            if self.happenings.stops[i]:
                beyond = ops.where(mode[i], ops.maximum(limits[i] - q[i], q[i] - limits[self.n + i]), NEVER)
                top, stopped[i] = ops.maximum(top, beyond), ops.less(0.0, beyond)
        signs = []
        for x, way in zip(values, oriented, strict=True):
            past = ops.where(way, ops.where(ops.equal(x, 0.0), 1e-300, way * x), NEVER)
            top = ops.maximum(top, past)
            signs.append(ops.less(0.0, past))
        return [[top], turned, stopped, *([signs] if self.signs else [])]

    def _suspicion(self) -> list[Step]:
        """Whether something happened in the accepted step, by its end, or may have happened inside."""
        sources = [self.work.accept, self.top, self.worst, self.work.step, self.mode, self.v, self.new_v]
        sources += [self.Kv[0], self.Kv[self.last]]
        sources += [self.oriented, self.begun, self.values, *self.rates] if self.signs else []

        def suspect(
            accept: Any, top: Any, worst: Any, h: Any, mode: Any, v: Any, new: Any, a: Any, b: Any, *functions: Any
        ) -> list[Any]:
            found: Any = ops.maximum(ops.less(0.0, top[0]), ops.less(0.0, worst[0]))
            for way, *ends in zip(*functions, strict=True):
                found = ops.maximum(found, _may_turn(h[0], *(-way * x for x in ends)))
            for i, dry in enumerate(self.happenings.friction.acts):
                if dry:
                    found = ops.maximum(found, _may_turn(h[0], *(mode[i] * x for x in (v[i], new[i], a[i], b[i]))))
            return [[x] for x in locating.begun(accept[0] * found)]

        return self.make.once(suspect, sources, [*self.search])

    def _hunt(self) -> list[Step]:
        """One turn of the search: the state at a point of the step, what has happened there, and where to look next."""
        make, s = self.make, self.search
        clock = make.once(lambda t, h, x: [[t[0] + x[0] * h[0]]], [self.own.t, self.work.step, s.x], [self.at.t])
        state = self._interpolated(s.x)
        sources = [*s, self.top, self.own.t, self.work.step, self.own.evaluations]

        def turn(*cells: Any) -> list[Any]:
            scalars = [x[0] for x in cells]
            own, (top, t, h, count) = RootSearch(*scalars[:-4]), scalars[-4:]
            return [*([x] for x in locating.narrowed(own, top, t, h)), [count + own.hunting]]

        following = make.once(turn, sources, [*s, self.own.evaluations])
        return [*clock, *state, *self._from_here(), *self.slope, *self.functions, *self._look(), *following]

    def _interpolated(self, x: Cells) -> list[Step]:
        """The state at a point of the step, to where slopes are evaluated."""
        steps: list[Step] = []
        for start, powers, target in ((self.q, self.Fq, self.at.q), (self.v, self.Fv, self.at.qd)):
            steps += self.make.each(self.n, interpolated, [x, start, *powers], [target])
        return [*steps, *self.further.interpolated(x, self.further.point)]

    def _cut(self) -> list[Step]:
        """The step ends where the first event is, at rest where a joint turned round."""
        make, found, w = self.make, self.search.found, self.work

        def ends(found: Any, turned: Any, q: Any, v: Any, new_q: Any, new_v: Any, low: Any, high: Any) -> list[Any]:
            within = ops.minimum(ops.maximum(q, low), high)
            return [ops.where(found, within, new_q), ops.where(found, ops.where(turned, 0.0, v), new_v)]

        sources = [
            found,
            self.turned,
            self.at.q,
            self.at.qd,
            self.new_q,
            self.new_v,
            self.limits[: self.n],
            self.limits[self.n :],
        ]
        steps = make.each(self.n, ends, sources, [self.new_q, self.new_v])
        if self.plant.solved:
            steps += make.each(self.plant.size, _chosen, [found, self.plant.x, self.new_x], [self.new_x])
        if self.further.size:
            steps += make.each(self.further.size, _chosen, [found, self.further.at, self.further.new], [self.further.new])
        counts = [self.own.accepted, self.own.rejections, self.options.max_steps]
        noted = [self.stopped, *self.signs]
        sources = [found, w.accept, self.at.t, w.t_new, self.clock, self.own.status, *counts, *self.passed, *noted]
        targets = [w.t_new, self.own.status, self.again, *noted]
        return [*steps, *make.once(self._after, sources, targets)]

    def _after(self, found: Any, accept: Any, at: Any, t_new: Any, clock: Any, status: Any, *rest: Any) -> list[Any]:
        """The end of the step, and whether the motion goes on, waits, or is over; cut short, it has not come to its end."""
        accepted, rejected, most, *rows = rest
        flags, before = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        end = ops.where(found[0], at[0], t_new[0])
        noted: Any = 0.0
        for flag in (x for row in flags for x in row):
            noted = ops.maximum(noted, flag)
        due = accept[0] * ops.less_equal(clock[0], end)
        waits = ops.maximum(found[0] * noted, due)
        going = ops.where(ops.less(accepted[0] + rejected[0], most[0]), float(RUNNING), float(TOO_MANY))
        unfinished = ops.where(ops.equal(status[0], float(DONE)), going, status[0])
        after = ops.where(ops.maximum(found[0], due), unfinished, status[0])
        goes_on = ops.equal(after, float(RUNNING))
        status_after = ops.where(waits * goes_on, float(PAUSED), after)
        kept = [
            [ops.maximum(old, found[0] * new) for old, new in zip(*pair, strict=True)] for pair in zip(before, flags, strict=True)
        ]
        return [[end], [status_after], [ops.maximum(found[0], due)], *kept]

    # -- the program --------------------------------------------------------------------------------------------------------

    def _record(self) -> list[Step]:
        make, w = self.make, self.work
        look = self._look_for_points() if self.output == "points" else []
        wanted = {"points": w.inside, "dense": w.accept}.get(self.output, self.search.hunting)
        ask = make.once(lambda a, b: [[ops.maximum(a[0], b[0])]], [wanted, self.search.hunting], [w.need])
        hunt = Repeat(self.search.hunting.place, tuple(self._hunt()))
        steps = [*self._suspicion(), *look, *ask, Repeat(w.need.place, tuple(self._interpolant())), hunt, *self._cut()]
        if self.output == "points":
            return [*steps, *look, self._write_points(look)]
        time, state, move, write = self._step_writes()
        if self.output == "dense":
            sources = [w.step, *([self.further.z] if self.further.size else [])]
            rows = [cells.row(self.own.cursor, cells.size) for cells in self.reach]
            write = [*write, *make.once(lambda *lists: lists, sources, rows)]
        return [*steps, *write, *time, *state, *move]

    def _commit(self) -> list[Step]:
        again = self.make.once(lambda a, b: [[ops.maximum(a[0], b[0])]], [self.again, self.settle], [self.settle])
        return [*super()._commit(), *again]


def _sooner(a: list[Any], b: list[Any]) -> list[list[Any]]:
    return [[ops.minimum(a[0], b[0])]]


def _chosen(condition: Any, a: Any, b: Any) -> list[Any]:
    return [ops.where(condition, a, b)]


def _may_turn(h: Any, v: Any, new: Any, a: Any, b: Any) -> Any:
    """Whether what is above zero at both ends may have been below in between: where the tangents meet below zero."""
    dips = ops.less(a, 0.0) * ops.less(0.0, b) * ops.less(0.0, new)
    meets = (new - v - b * h) / ops.where(dips, a - b, -1.0)
    return dips * ops.less(v + a * meets, 0.0)


__all__ = ["HeldIntegrator"]
