"""What is done while a motion waits: noting what happened, velocities that jump, another system, locked joints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine, mass_matrix
from ..dynamics.system import AnySystem, solves
from . import impacts
from .dry_friction import BOUND, DryFriction
from .events import Event, EventRecord, Occasions
from .happenings import EventFields
from .motions import Motions
from .steering import DONE, ENDED, PAUSED, RUNNING, Fields

_AT = Fields(*range(len(Fields._fields)))
_UNSEEN = 16.0  # spacings of a position: a flight from its stop and back as short as that is made of rounding


class Pauses:
    """The events of a run: what the motions carry for them, and the records of each."""

    def __init__(self, occasions: Occasions, charts: list[Any], count: int, parameters: FloatArray | None = None) -> None:
        self.occasions, self.charts, self.parameters = occasions, charts, parameters  # a row for each motion, if they are given
        self.layout = EventFields(len(occasions.names), len(occasions.functions))
        self.records: list[list[EventRecord]] = [[] for _ in range(count)]
        self._next = np.zeros(count, int)  # which of the events by time comes next
        self._dry: dict[int, DryFriction] = {}
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

    def dry(self, chart: int, k: int) -> list[bool]:
        """Which coordinates have dry friction in a chart; of given parameters, those of motion k."""
        if chart not in self._dry:
            self._dry[chart] = self.occasions.happenings(self.charts[chart]).friction
        friction = self._dry[chart]
        return friction.acts if self.parameters is None else friction.acts_with(self.parameters[k])

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
        self._note_modes()
        self._hit()
        signs = self.own[self.at.signs] != 0
        events = [e for e, sign in zip(self.owner.occasions.functions, signs, strict=True) if sign]
        events += self.owner.due(self.k, self.t)
        for event in events:
            self._act(event)
        self.own[self.at.clock] = self.owner.clock(self.k)
        self.own[self.at.stopped] = 0.0
        self.own[self.at.signs] = 0.0

    def _note(self, kind: str, name: str, joint: str | None, qd: FloatArray | None = None, system: Any = None) -> None:
        (q, before), (_, after) = self._seen(self.qd if qd is None else qd), self._seen(self.qd)
        found = EventRecord(self.t, kind, name, joint, q, before, after, system)
        self.owner.records[self.k].append(found)

    def _seen(self, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state in the coordinates of the user."""
        if not (self.motions.solved and hasattr(self._system, "original")):
            return self.q.copy(), qd.copy()
        y, yd = self._system.seen_at(self.q[None], qd[None], self.motions.positions[0][self.k][None])
        return y[0], yd[0]

    def _note_modes(self) -> None:
        mode, before = self.own[self.at.mode], self.own[self.at.before]
        dry = self.owner.dry(int(self.motions.chart[self.k]), self.k)
        o, n = self.owner.occasions, len(self.q)
        for i in np.flatnonzero((mode != before) & (self.own[self.at.locked] == 0)):
            if dry[i]:
                kind = "stick" if mode[i] == 0 else "slip" if before[i] == 0 else "turn"
            elif o.limits[i] < self.q[i] < o.limits[n + i]:  # it was released
                continue
            else:
                kind = "rest" if mode[i] == 0 else "leave"
            self._note(kind, o.names[i], o.names[i])
        self.own[self.at.before] = mode

    def _hit(self) -> None:
        """Joints that passed a stop in this step: back to it, and the velocities after."""
        stopped = self.own[self.at.stopped] != 0
        if not stopped.any():
            return
        o, n = self.owner.occasions, len(self.q)
        low, high = o.limits[:n], o.limits[n:]
        over = self.q > 0.5 * (low + high)
        self.q[stopped] = np.where(over, high, low)[stopped]
        here = ~np.isnan(o.restitution)
        lower, upper = here & (self.q <= low), here & (self.q >= high)
        before = self.qd.copy()
        A = impacts.free_inverse(self._mass(self._system), self.own[self.at.locked])
        unseen = self._unseen(stopped)
        kept = np.where(unseen, 0.0, o.restitution)
        self.qd[:] = impacts.from_stops(A, before, lower, upper, kept, pressed=bool(unseen[stopped].all()))
        for i in np.flatnonzero(stopped):
            self._note("stop", o.names[i], o.names[i], before)

    def _unseen(self, stopped: Any) -> Any:
        """Which joints were pressed back before their positions told that they left."""
        hits, found = self.owner.hits[self.k], np.zeros(len(self.q), dtype=bool)
        for i in np.flatnonzero(stopped).tolist():
            found[i] = abs(self.qd[i]) * (self.t - hits.get(i, -math.inf)) < _UNSEEN * math.ulp(self.q[i])
            hits[i] = self.t
        return found

    @property
    def _system(self) -> Any:
        return self.owner.charts[int(self.motions.chart[self.k])]

    def _mass(self, system: AnySystem) -> FloatArray:
        phi = None if self.owner.parameters is None else self.owner.parameters[self.k]
        if solves(engine.system_of(system)):
            system = system.at(x=self.motions.positions[0][self.k])  # type: ignore[union-attr]
        return np.asarray(mass_matrix(system, self.q, parameters=phi))

    def _act(self, event: Event) -> None:
        """What an event asks for."""
        before = self.qd.copy()
        if event.changes:
            self._change(event)
        self._note("change" if event.changes else "event", event.name, None, before, event.system)
        if event.terminal:
            self.state[_AT.status] = ENDED

    def _change(self, event: Event) -> None:
        names, locked = self.owner.occasions.names, self.own[self.at.locked]
        old = self._system
        for name in event.release:
            locked[names.index(name)] = 0.0
        if event.system is not None:
            self.motions.chart[self.k] = self.owner.number(event.system)
            self.motions.charts_differ = True
            if event.caught:
                self.qd[:] = impacts.when_caught(self._mass(old), self._mass(self._system), self.qd, locked)
        for name in event.lock:
            locked[names.index(name)] = 1.0
        if event.lock:
            self.qd[:] = impacts.when_locked(self._mass(self._system), self.qd, locked)


__all__ = ["Pauses"]
