"""Any adaptive method with events: dry friction that sticks and slips, stops, locked joints, and functions of a user's own.

Between events the motion is smooth, and steps are those of the method. After an accepted step it is looked whether a joint that
slides has turned round, one that is held would break free, a stop was passed or a function changed its sign; what comes first is
located on the method's interpolant, the step is cut there, and which joints stick and which slide is decided anew. A motion waits
(`PAUSED`) for the program around the loop where something happened that it has to note, or to act upon.
"""

from __future__ import annotations

from typing import Any

from ..dynamics.system import AnySystem
from ..expr import ops
from ..expr.assembly import Cells
from ..expr.loops import Repeat, Step
from . import locating
from .happenings import Happenings
from .held_model import AxisMotion
from .held_plant import HeldPlant
from .holding import NEVER, Holding
from .integrator import Integrator
from .laws import TorqueLaw
from .locating import RootSearch
from .plant import Plant
from .steering import DONE, PAUSED, RUNNING, TOO_MANY, interpolated

_SWAY = 0.5  # of what is left to its level, how much a force that holds may change in a step
_STILL = 1e-30
_ROUNDS = 3.0  # of Newton's method: what a step with a loose tolerance leaves is then rounding, in speeds too


class HeldIntegrator(Integrator):
    """The frame with modes, a search for what happens first, and a decision which joints stick; see `held_methods`.

    A method beside it in a class supplies the steps. 'dense' records where steps begin and their lengths too.
    """

    jumps = True

    def __init__(self, system: AnySystem, torque: str | TorqueLaw, output: str, happenings: Happenings) -> None:
        self.happenings = happenings
        self.rules = Holding(happenings)
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
        self.mode, self.forces = plant.mode, plant.holding
        self.beside = list(self.happenings.axes.beside)
        return plant

    def _own_vectors(self) -> list[tuple[str, int]]:
        return [*super()._own_vectors(), ("events", self.events.size)]

    def _own_inputs(self) -> None:
        super()._own_inputs()
        make, at = self.make, self.held.layout
        self.limits = make.input("limits", 2 * at.n)
        self.turned, self.near = make.buffer(at.n), make.buffer(at.n)
        self.begun_rates = [self.events[at.speed], self.events[at.pull]]
        self.end_rates = [make.buffer(at.n) for _ in range(2)] if self.beside else []
        self.going, self.sway, self.swayed, self.end_hold = make.buffer(), make.buffer(), make.buffer(), make.buffer(at.n)
        self.begun_hold = self.events[at.hold]
        self.over, self.worst, self.top, self.turn, self.solving, self.again = (make.buffer() for _ in range(6))
        self.search = RootSearch(*(make.buffer() for _ in RootSearch._fields))
        self.values, self.oriented, self.begun = (make.buffer(max(at.m, 1)) for _ in range(3))
        self.rates = [make.buffer(max(at.m, 1)) for _ in range(2)]  # of the functions, at both ends of the step

    def _own_cells(self) -> list[Cells]:
        return [*super()._own_cells(), self.events]

    # -- the dynamics -------------------------------------------------------------------------------------------------------

    def _slope(self, torque: str | TorqueLaw, values: Cells) -> list[Step]:
        """q̈ with the modes as they are, and by how much a held axis is over its level, at most."""
        self.axes = self.held.motion(self.at, self.qdd)
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
        sources = [self.worst, self.sway, self.mode, self.limits, self.locked, self.begun_hold, self.axes[0], *self.forces]
        return [*found, *self.make.once(self.rules.most_over, sources, [self.over, self.worst, self.sway])]

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
            return [[ops.where(ops.less(0.0, solving[0]) * differ * running, float(PAUSED), status[0])], [NEVER], [0.0]]

        sources = [self.solving, self.own.status, self.mode, self.before]
        wait = make.once(waits, sources, [self.own.status, self.worst, self.sway])
        return [*begin, *self._decided_modes(), *self._forget(self.solving), *wait, *self._orientation()]

    def _decided_modes(self) -> list[Step]:
        """Modes that fit the forces: all joints at rest stick, then those whose force is too large slip, and so on.

        It is the search for the solution of a linear complementarity problem by principal pivoting [theory: simulation, Eq. 12],
        [Murty1974].
        """
        make, n = self.make, self.n
        here = make.each(n, lambda q, v: [q, v], [self.q, self.v], [self.at.q, self.at.qd])
        clock = make.once(lambda t: [t], [self.own.t], [self.at.t])
        sources = [self.turn, self.mode, self.before, self.limits, self.locked, *self.axes]
        guess = make.once(self.rules.first_modes, sources, [self.mode, self.before])
        pairs = [self.v, self.Kq[0], self.qdd, self.Kv[0]]
        keep = make.each(n, _each_chosen, [self.turn, *pairs], pairs[1::2])
        count = [self.turn, self.own.evaluations]
        keep += make.once(lambda turn, e: [[e[0] + ops.less(0.0, turn[0])]], count, count[1:])
        keep += self.further.refreshed(self.turn)
        if self.plant.solved:
            pairs = [self.turn, self.plant.xd, self.Kx[0]]
            keep += make.each(self.plant.size, _chosen, pairs, [self.Kx[0]])
        pairs = [self.forces[0], self.begun_hold]
        if self.beside:
            pairs += [x for pair in zip(self.axes, self._kept_of_axes, strict=False) for x in pair]
        keep += make.each(self.held.count, _each_chosen, [self.turn, *pairs], pairs[1::2])
        sources = [self.turn, self.mode, self.limits, self.locked, *self.axes, *self.forces]
        flip = make.once(self.rules.next_modes, sources, [self.turn, self.mode])
        begin = [*here, *clock, *self.further.begin(), *self._from_here(), *self.held.look(self.at)]
        return [Repeat(self.turn.place, (*begin, *guess, *self.slope, *keep, *flip))]

    @property
    def _at_start(self) -> list[Cells]:
        """What is kept of the start of a step, each beside what there is at its end."""
        return [self.begun_hold, *(self.begun_rates if self.beside else [])]

    @property
    def _kept_of_axes(self) -> list[Cells]:
        """Where positions, speeds and accelerations of axes are kept for the steps to come."""
        return [self.events[self.held.layout.rest], *self.begun_rates]

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
        nobody = self.make.once(lambda: [[0.0] * self.held.count], [], [self.near])
        return [*nobody, *super()._stages(), *self._reach(), *self.functions, *self.rates_at_end, *self._look()]

    def _look(self) -> list[Step]:
        """How far the first of all events is behind the point in question, and which joints turned round or passed a stop."""
        sources = [self.over, self.mode, self.limits, self.near, *self.axes]
        sources += [self.values, self.oriented] if self.signs else []
        return self.make.once(self._largest, sources, [self.top, self.turned, *self.passed])

    def _largest(self, over: Any, mode: Any, limits: Any, near: Any, *rest: Any) -> list[Any]:
        count = len(self.axes)
        at, (values, oriented) = AxisMotion(*rest[:count]), rest[count:] or ((), ())
        top: Any = over[0]
        turned: list[Any] = [0.0] * len(mode)
        stopped: list[Any] = [0.0] * len(mode)
        for i, (dry, stop) in enumerate(zip(self.happenings.friction.acts, self.happenings.stops, strict=True)):
            if dry:
                back = at.backward(i, mode[i])
                top, turned[i] = ops.maximum(top, ops.where(mode[i], back, NEVER)), ops.less(0.0, back)
            if stop:
                beyond = ops.where(mode[i], self.rules.beyond(i, at.y[i], limits), NEVER)
                top, stopped[i] = ops.maximum(top, beyond), ops.less(0.0, beyond)
                top = ops.maximum(top, ops.where(near[i], -near[i] * at.w[i], NEVER))
        signs = []
        for x, way in zip(values, oriented, strict=True):
            past = ops.where(way, ops.where(ops.equal(x, 0.0), 1e-300, way * x), NEVER)
            top = ops.maximum(top, past)
            signs.append(ops.less(0.0, past))
        return [[top], turned, stopped, *([signs] if self.signs else [])]

    def _suspicion(self) -> list[Step]:
        """Whether something happened in the accepted step, by its end, or may have happened inside."""
        sources = [self.work.accept, self.top, self.worst, self.work.step, self.mode]
        sources += self._rates_at_ends()
        sources += [self.oriented, self.begun, self.values, *self.rates] if self.signs else []

        def suspect(accept: Any, top: Any, worst: Any, h: Any, mode: Any, *rest: Any) -> list[Any]:
            ends, functions = rest[:4], rest[4:]
            found: Any = ops.maximum(ops.less(0.0, top[0]), ops.less(0.0, worst[0]))
            for way, *values in zip(*functions, strict=True):
                found = ops.maximum(found, _may_turn(h[0], *(-way * x for x in values)))
            for i, dry in enumerate(self.happenings.friction.acts):
                if dry:
                    found = ops.maximum(found, _may_turn(h[0], *(mode[i] * x[i] for x in ends)))
            return [[x] for x in locating.begun(accept[0] * found)]

        found = [self.forces[0], self.sway, *(self.axes[1:3] if self.beside else [])]
        keep = self.make.once(lambda *lists: lists, found, [self.end_hold, self.swayed, *self.end_rates])
        return [*keep, *self.make.once(suspect, sources, [*self.search]), *self._approach()]

    def _approach(self) -> list[Step]:
        """Which way an axis came near a stop and turned round in the step: it may have passed it, and be back.

        The search then ends where it turned, at the latest, so that the shortest way beyond is seen: up to there, what is beyond
        stays beyond.
        """
        if not any(self.happenings.stops):
            return []
        sources = [self.work.accept, self.search.hunting, self.work.step, self.mode, self.limits, self.axes[0]]

        def approach(accept: Any, hunting: Any, h: Any, mode: Any, limits: Any, y: Any, w: Any, new: Any) -> list[Any]:
            found: list[Any] = [0.0] * len(mode)
            for i, stop in enumerate(self.happenings.stops):
                if stop:  # whence it comes at its last speed, for the whole step: it was no farther out
                    back, turns = ops.sign(w[i]), ops.less(w[i] * new[i], 0.0) * mode[i] * mode[i]
                    passes = ops.less(0.0, self.rules.beyond(i, y[i] - h[0] * new[i], limits))
                    found[i] = back * turns * passes * accept[0]
            some: Any = hunting[0]
            for x in found:
                some = ops.maximum(some, abs(x))
            return [found, *([x] for x in locating.begun(some))]

        return self.make.once(approach, [*sources, *self._rates_at_ends()[:2]], [self.near, *self.search])

    def _rates_at_ends(self) -> list[Cells]:
        """Speeds of axes at both ends of the step, then accelerations."""
        if not self.beside:
            return [self.v, self.new_v, self.Kv[0], self.Kv[self.last]]
        (w, a), (new_w, new_a) = self.begun_rates, self.end_rates
        return [w, new_w, a, new_a]

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

        at_ends = [self.at.q, self.at.qd, self.new_q, self.new_v]
        if self.happenings.axes.own:
            count, both = self.n, len(self.happenings.axes.names)
            ranges = [self.limits[:count], self.limits[both : both + count]]
            steps = make.each(count, ends, [found, self.turned[:count], *at_ends, *ranges], [self.new_q, self.new_v])
        else:  # a chart, of whose coordinates none has stops or friction
            pairs = [self.at.q, self.new_q, self.at.qd, self.new_v]
            steps = make.each(self.n, _each_chosen, [found, *pairs], pairs[1::2])
        if self.beside:
            pairs = [x for pair in zip(self.axes[1:3], self.end_rates, strict=True) for x in pair]
            steps += make.each(self.held.count, _each_chosen, [found, *pairs], pairs[1::2])
        if self.plant.solved:
            steps += make.each(self.plant.size, _chosen, [found, self.plant.x, self.new_x], [self.new_x])
        if self.further.size:
            steps += make.each(self.further.size, _chosen, [found, self.further.at, self.further.new], [self.further.new])
        # What waits is told how it was accelerated, and what held, where it waits.
        steps += make.each(self.n, _chosen, [found, self.qdd, self.Kv[self.last]], [self.Kv[self.last]])
        steps += make.each(self.held.count, _chosen, [found, self.forces[0], self.end_hold], [self.end_hold])
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
        steps += self._put_back()
        if self.output == "points":
            return [*steps, *look, self._write_points(look)]
        time, state, move, write = self._step_writes()
        if self.output == "dense":
            sources = [w.step, *([self.further.z] if self.further.size else [])]
            rows = [cells.row(self.own.cursor, cells.size) for cells in self.reach]
            write = [*write, *make.once(lambda *lists: lists, sources, rows)]
        return [*steps, *write, *time, *state, *move]

    def _put_back(self) -> list[Step]:
        """Held axes that are no coordinates stand where they rested, to rounding: a step leaves them there to its tolerance.

        Those that turned round in it stand too, and with them all that these hold.
        """
        if not self.beside:
            return []
        make = self.make
        stands, keeps = make.buffer(self.held.count), make.buffer(self.held.count)

        def ask(accept: Any, found: Any, turned: Any, mode: Any) -> list[Any]:
            now = [ops.where(found[0] * t, 0.0, m) for t, m in zip(turned, mode, strict=True)]
            holds: Any = 0.0
            for k in self.beside:
                holds = ops.maximum(holds, ops.equal(now[k], 0.0))
            return [[accept[0] * holds * _ROUNDS], now, [ops.equal(m, 0.0) for m in mode]]

        sources = [self.work.accept, self.search.found, self.turned, self.mode]
        begin = make.once(ask, sources, [self.going, stands, keeps])
        back = make.once(lambda going: [[ops.maximum(going[0] - 1.0, 0.0)]], [self.going], [self.going])
        near, found = [], []
        if self.plant.solved:
            near = make.once(lambda x: [x], [self.new_x], [self.plant.x])
            pairs = [self.going, self.plant.x, self.new_x]
            found = [*self.plant.solve(self.new_q), *make.each(self.plant.size, _chosen, pairs, [self.new_x])]
        slope = make.each(self.n, _chosen, [self.going, self.new_v, self.Kq[self.last]], [self.Kq[self.last]])
        place = [self.events[self.held.layout.rest], keeps]
        turn = self.held.put_back([self.new_q, self.new_v], stands, place, self.going, passed=False)
        return [*begin, Repeat(self.going.place, (*near, *turn, *found, *slope, *back))]

    def _commit(self) -> list[Step]:
        again = self.make.once(lambda a, b: [[ops.maximum(a[0], b[0])]], [self.again, self.settle], [self.settle])
        pairs = [x for pair in zip([self.end_hold, *self.end_rates], self._at_start, strict=True) for x in pair]
        again += self.make.each(self.held.count, _each_chosen, [self.work.accept, *pairs], pairs[1::2])
        sources = [self.work.accept, self.swayed, self.work.step, self.own.h]
        again += self.make.once(_resolving, sources, [self.own.h])
        return [*super()._commit(), *again]


def _sooner(a: list[Any], b: list[Any]) -> list[list[Any]]:
    return [[ops.minimum(a[0], b[0])]]


def _resolving(accept: Any, swayed: Any, step: Any, h: Any) -> list[Any]:
    """The next step, short enough to see forces that hold come to their levels: nothing else may tell of them."""
    bound = _SWAY * step[0] / ops.maximum(swayed[0], _STILL)
    return [[ops.where(accept[0], ops.minimum(h[0], bound), h[0])]]


def _chosen(condition: Any, a: Any, b: Any) -> list[Any]:
    return [ops.where(condition, a, b)]


def _each_chosen(condition: Any, *pairs: Any) -> list[Any]:
    """The first of each pair where the condition holds, else the second."""
    return [ops.where(condition, new, old) for new, old in zip(pairs[::2], pairs[1::2], strict=True)]


def _may_turn(h: Any, v: Any, new: Any, a: Any, b: Any) -> Any:
    """Whether what is above zero at both ends may have been below in between: where the tangents meet below zero."""
    dips = ops.less(a, 0.0) * ops.less(0.0, b) * ops.less(0.0, new)
    meets = (new - v - b * h) / ops.where(dips, a - b, -1.0)
    return dips * ops.less(v + a * meets, 0.0)


__all__ = ["HeldIntegrator"]
