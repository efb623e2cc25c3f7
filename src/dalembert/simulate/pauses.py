"""What is done while a motion waits: noting what happened, velocities that jump, another system, locked joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics import energy, mass_matrix
from ..dynamics.system import AnySystem
from . import impacts
from .axes import DEPTH, Axes, AxesAt, axes_kernel
from .dry_friction import DryFriction
from .events import Event, EventRecord, Occasions
from .held_model import BOUND
from .motions import Motions
from .standing import StandingTimes
from .steering import DONE, ENDED, PAUSED, RUNNING, Fields, Settings

_AT = Fields(*range(len(Fields._fields)))
_UNSEEN = 16.0  # spacings of a position: a flight from its stop and back as short as that is made of rounding
_UNSEEN_DEPTH = 16.0  # the same of a joint within a loop, in what rounding may take it from its stop
_STEPS, _MANY = 100.0, 50  # of the last so many steps, as many hits: then joints bounce as high as the tolerance tells, or stay
_DEPENDENT = 1e-5  # of its row: an axis that stands because others do
_STEADY = 1e-3  # of what its acceleration is a sum of: the same
_SLIGHT = 1e-12  # rad/s² or m/s²: where nothing moves, accelerations are rounding
_TINY = 1e-300


class Pauses:
    """The events of a run: what the motions carry for them, and the records of each."""

    def __init__(
        self, occasions: Occasions, charts: list[Any], count: int, settings: Settings, parameters: FloatArray | None = None
    ) -> None:
        self.occasions, self.charts, self.parameters = occasions, charts, parameters  # a row for each motion, if they are given
        self.layout, self.settings = occasions.layout, settings
        self.records: list[list[EventRecord]] = [[] for _ in range(count)]
        self._next = np.zeros(count, int)  # which of the events by time comes next
        self._axes: dict[int, tuple[Axes, DryFriction]] = {}
        self.shown: list[FloatArray | None] = [None] * count  # modes as they were noted, where axes may stand by others
        self.stood: list[list[tuple[float, Any]]] = [[] for _ in range(count)]  # from when on which axes stand
        self.burst: list[list[float]] = [[] for _ in range(count)]  # the numbers of steps that ended at a stop of late
        self.hits: list[dict[int, float]] = [{} for _ in range(count)]  # when each joint last hit a stop

    def vector(self, count: int) -> FloatArray:
        """What motions carry to begin with."""
        found = np.zeros((count, self.layout.size))
        found[:, self.layout.clock] = self._time(0)
        return found

    def _time(self, k: int) -> float:
        timed = self.occasions.timed
        return float(timed[k].time or 0.0) if k < len(timed) else BOUND

    def attend(self, motions: Motions, t_end: float) -> None:
        """See to all motions that wait; those that waited at the end are there."""
        for k in np.flatnonzero(motions.state[:, _AT.status] == PAUSED):
            _Pause(self, motions, int(k)).attend()
        state = motions.state
        state[(state[:, _AT.status] == RUNNING) & (state[:, _AT.t] >= t_end), _AT.status] = DONE

    def shaped(self, batch: tuple[int, ...]) -> Any:
        """The records: a list for a single motion, an array of lists for a batch."""
        if not batch:
            return self.records[0]
        found = np.empty(len(self.records), dtype=object)
        found[:] = self.records
        return found.reshape(batch)

    def axes(self, chart: int) -> tuple[Axes, DryFriction]:
        """The axes of a chart, and the dry friction at them."""
        if chart not in self._axes:
            happenings = self.occasions.happenings(self.charts[chart])
            self._axes[chart] = happenings.axes, happenings.friction
        return self._axes[chart]

    def dry(self, chart: int, k: int) -> list[bool]:
        """Which axes have dry friction in a chart; of given parameters, those of motion k."""
        friction = self.axes(chart)[1]
        return friction.acts if self.parameters is None else friction.acts_with(self.parameters[k])

    def standing(self, motions: Motions) -> StandingTimes:
        """When which axes stood."""
        for k, found in enumerate(self.stood):
            if not found:  # nothing happened
                found.append((-math.inf, motions.events[k, self.layout.mode] == 0))
        return StandingTimes(self.occasions.names, self.occasions.n, self.stood)

    def enter(self, motions: Motions, k: int) -> None:
        """Coordinates of another chart that are axes which were held stand exactly still."""
        held = motions.events[k, self.layout.mode] == 0
        motions.vectors[1][k][held[: self.axes(int(motions.chart[k]))[0].own].nonzero()] = 0.0

    def due(self, k: int, t: float) -> list[Event]:
        """The events by time that motion k has come to."""
        first = last = int(self._next[k])
        while self._time(last) <= t:
            last += 1
        self._next[k] = last
        return list(self.occasions.timed[first:last])

    def clock(self, k: int) -> float:
        """When motion k has to wait next."""
        return self._time(int(self._next[k]))

    def number(self, system: AnySystem) -> int:
        """The number of a chart, made if it is new."""
        for k, known in enumerate(self.charts):
            if known is system:
                return k
        self.charts.append(system)
        return len(self.charts) - 1


class _Pause:
    """One motion that waits."""

    def __init__(self, owner: Pauses, motions: Motions, k: int) -> None:
        self.owner, self.motions, self.k = owner, motions, k
        self.state, self.own = motions.state[k], motions.events[k]
        self.q, self.qd = motions.vectors[0][k], motions.vectors[1][k]
        self.at, self.t = owner.layout, float(self.state[_AT.t])

    def attend(self) -> None:
        """Note what happened, act, and let it go on."""
        self.state[_AT.status] = RUNNING
        stood = self.owner.stood[self.k]
        if not stood:
            stood.append((-math.inf, self._stand(self.own[self.at.before])))
        self._note_modes()
        self._hit()
        signs = self.own[self.at.signs] != 0
        events = [e for e, sign in zip(self.owner.occasions.functions, signs, strict=True) if sign]
        events += self.owner.due(self.k, self.t)
        for event in events:
            self._act(event)
        stood.append((self.t, self._stand(self.own[self.at.mode])))
        self.own[self.at.clock] = self.owner.clock(self.k)
        self.own[self.at.stopped] = 0.0
        self.own[self.at.signs] = 0.0

    def _note(self, kind: str, name: str, joint: str | None, qd: FloatArray | None = None) -> None:
        (q, before), (_, after) = self._seen(self.qd if qd is None else qd), self._seen(self.qd)
        gained = 0.0 if qd is None else self._gained(qd)
        self.owner.records[self.k].append(EventRecord(self.t, kind, name, joint, q, before, after, None, gained))

    def _gained(self, before: FloatArray) -> float:
        """Kinetic energy that velocities gained where they jumped."""
        if np.array_equal(before, self.qd):
            return 0.0
        M = self._at.M
        return float(self.qd @ M @ self.qd - before @ M @ before) / 2

    def _seen(self, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state in the coordinates of the user."""
        if not self._charted:
            return self.q.copy(), qd.copy()
        y, yd, _, _ = self._system.moved_at(self.q[None], qd[None], self._x[None])
        return y[0], yd[0]

    def _note_modes(self) -> None:
        mode, before = self._modes()
        dry, axes = self.owner.dry(int(self.motions.chart[self.k]), self.k), self._at
        o, n = self.owner.occasions, len(mode)
        for i in np.flatnonzero((mode != before) & (self.own[self.at.locked] == 0)):
            if dry[i]:
                kind = "stick" if mode[i] == 0 else "slip" if before[i] == 0 else "turn"
            elif o.limits[i] + DEPTH < axes.y[i] < o.limits[n + i] - DEPTH:  # it was released
                continue
            else:
                kind = "rest" if mode[i] == 0 else "leave"
            self._note(kind, o.names[i], o.names[i])
        self.own[self.at.before] = self.own[self.at.mode]

    def _modes(self) -> tuple[FloatArray, FloatArray]:
        """The modes now and as they were noted last; 0 of an axis too that stands because others do."""
        mode, before = self.own[self.at.mode].copy(), self.own[self.at.before]
        if not self.axes.beside:
            return mode, before
        mode[self._stand(mode)] = 0.0
        known = self.owner.shown[self.k]
        self.owner.shown[self.k] = mode
        return mode, before if known is None else known

    def _stand(self, mode: FloatArray) -> Any:
        """Which axes stand: those that are held or locked, and those that no motion of the others moves."""
        found = (mode == 0) | (self.own[self.at.locked] != 0)
        if not self.axes.beside or not found.any():
            return found
        at = self._at
        sizes = np.linalg.norm(at.rows, axis=1) + _TINY
        rows, bias = at.rows / sizes[:, None], at.bias / sizes
        shares = rows @ np.linalg.pinv(rows[found], rcond=_DEPENDENT)
        left, drift = rows - shares @ rows[found], bias - shares @ bias[found]
        # Rows may be parallel for an instant only, in which the axis turns round: then it is accelerated.
        steady = np.abs(drift) <= _STEADY * (np.abs(bias) + np.abs(shares) @ np.abs(bias[found])) + _SLIGHT
        return found | ((np.linalg.norm(left, axis=1) < _DEPENDENT) & steady)

    def _hit(self) -> None:
        """Axes that passed a stop in this step: back to it, and the velocities after."""
        stopped = self.own[self.at.stopped] != 0
        if not stopped.any():
            return
        o, n, own = self.owner.occasions, len(stopped), self.axes.own
        low, high = o.limits[:n], o.limits[n:]
        axes = self._at
        over = axes.y > 0.5 * (low + high)
        y = np.where(stopped, np.where(over, high, low), axes.y)
        self.q[:] += impacts.moved(self._free(axes), axes.rows[own:], (y - axes.y)[own:])
        self.q[stopped[:own].nonzero()] = y[:own][stopped[:own]]
        here, slack = ~np.isnan(o.restitution), np.where(np.arange(n) < own, 0.0, DEPTH)
        lower, upper = here & (y <= low + slack), here & (y >= high - slack)
        before, unseen = self.qd.copy(), self._unseen(stopped, axes)
        kept = np.where(unseen, 0.0, o.restitution)
        pressed = bool(unseen[stopped].all())
        A, flight = self._free(axes), self._flight(axes, lower | upper) if self._bounces() else None
        self.qd[:] = impacts.from_stops(A, before, axes.rows, lower, upper, kept, pressed=pressed, flight=flight)
        self._stop_locked()
        for i in np.flatnonzero(stopped):
            self._note("stop", o.names[i], o.names[i], before)

    def _bounces(self) -> bool:
        """Whether the motion has done little but bounce of late."""
        now = float(self.state[_AT.accepted])
        recent = self.owner.burst[self.k] = [k for k in self.owner.burst[self.k] if now - k < _STEPS] + [now]
        return len(recent) > _MANY

    def _flight(self, axes: AxesAt, at_stop: Any) -> impacts.Flight:
        """How axes are accelerated where no stop holds them, and how far they have to fly for positions to tell.

        The slope that the motion carries is that at the hit, where its step was cut.
        """
        held = at_stop & (self.own[self.at.mode] == 0)
        released = self._free(axes) @ (axes.rows[held].T @ self.own[self.at.hold][held])
        pull = axes.rows @ (self.motions.vectors[3][self.k] + released) + axes.bias
        return impacts.Flight(pull, self.owner.settings.atol + self.owner.settings.rtol * np.abs(axes.y))

    def _unseen(self, stopped: Any, axes: AxesAt) -> Any:
        """Which axes were pressed back before their positions told that they left."""
        hits, found = self.owner.hits[self.k], np.zeros(len(stopped), dtype=bool)
        for i in np.flatnonzero(stopped).tolist():
            spacing = _UNSEEN * math.ulp(axes.y[i]) if i < self.axes.own else _UNSEEN_DEPTH * DEPTH
            found[i] = abs(axes.w[i]) * (self.t - hits.get(i, -math.inf)) < spacing
            hits[i] = self.t
        return found

    def _free(self, axes: AxesAt) -> FloatArray:
        """M⁻¹ of what is not locked."""
        return impacts.free_inverse(axes.M, axes.rows[self.own[self.at.locked] != 0])

    @property
    def axes(self) -> Axes:
        """The axes in the coordinates that the motion is in."""
        return self.owner.axes(int(self.motions.chart[self.k]))[0]

    @property
    def _at(self) -> AxesAt:
        """Where the axes are, and how they move."""
        return self._axes_of(self._system, self.axes)

    def _axes_of(self, system: AnySystem, axes: Axes) -> AxesAt:
        phi = [] if self.owner.parameters is None else [self.owner.parameters[self.k]]
        x = [self._x] if self.motions.solved else []
        if axes.beside or x:
            return AxesAt(*axes_kernel(system, axes, bool(phi))(self.q, self.qd, *phi, *x))
        M = np.asarray(mass_matrix(system, self.q, parameters=phi[0] if phi else None))
        return AxesAt(self.q, self.qd, np.eye(len(self.q)), np.zeros(len(self.q)), M)

    @property
    def _system(self) -> Any:
        return self.owner.charts[int(self.motions.chart[self.k])]

    @property
    def _x(self) -> FloatArray:
        """Positions of a mechanism's tree."""
        return self.motions.positions[0][self.k]

    @property
    def _charted(self) -> bool:
        """Whether the motion is in other coordinates than the user's."""
        return self.motions.solved and hasattr(self._system, "original")

    @property
    def _energy(self) -> float:
        """Kinetic and potential energy."""
        system = self._system
        if not self.motions.solved:
            return float(energy(system, self.q, self.qd).total)
        x, xd = system.moved_at(self.q[None], self.qd[None], self._x[None])[2:]
        return float(energy(getattr(system, "original", system).opened, x[0], xd[0]).total)

    def _act(self, event: Event) -> None:
        """What an event asks for."""
        before = self.qd.copy()
        self._locked(event.release, 0.0)
        if event.system is not None:
            self._replace(event)
        else:
            self._lock(event)
            self._note("change" if event.changes else "event", event.name, None, before)
        if event.terminal:
            self.state[_AT.status] = ENDED

    def _replace(self, event: Event) -> None:
        """Another system takes the place of this one, in the coordinates that the motion is in."""
        (q, before), energy_before, old = self._seen(self.qd), self._energy, self._at
        system = self._system.of_another(event.system, self._x) if self._charted else event.system
        self.motions.chart[self.k] = self.owner.number(system)
        self.motions.charts_differ = True
        if event.caught:
            self.qd[:] = impacts.with_momenta(self._free(self._at), old.M, self.qd)
        self._lock(event)
        after, gained = self._seen(self.qd)[1], self._energy - energy_before
        record = EventRecord(self.t, "change", event.name, None, q, before, after, event.system, gained)
        self.owner.records[self.k].append(record)

    def _lock(self, event: Event) -> None:
        self._locked(event.lock, 1.0)
        if event.lock:
            self.qd[:] = impacts.with_momenta(self._free(now := self._at), now.M, self.qd)
        self._stop_locked()

    def _locked(self, names: Sequence[str], value: float) -> None:
        """Axes of these names are locked (1), or are not (0)."""
        for name in names:
            self.own[self.at.locked][self.owner.occasions.names.index(name)] = value

    def _stop_locked(self) -> None:
        """What is locked stands exactly still, without the rounding of a sum."""
        locked = self.own[self.at.locked]
        self.qd[locked[: self.axes.own].nonzero()] = 0.0


__all__ = ["Pauses"]
