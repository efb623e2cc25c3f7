"""One integration with error control: call after call of its kernels, and the results they leave."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.system import AnySystem
from .applied import parameters_of
from .events import Occasions
from .integrator import Integrator
from .law_faults import ActingRows, LastState, fault_of
from .laws import NO_STATES, TorqueLaw, by_name, held_width
from .motion_groups import CallSettings, Group
from .motions import Motions
from .pauses import Pauses
from .python_law import Segments
from .run_kernels import RunKernels
from .solution import Pieces, Simulation, Solution, starts_among
from .states import positions_at
from .steering import DONE, ENDED, LEAVING, NOT_FINITE, PAUSED, RUNNING, Fields, Settings
from .step_rows import StepRows
from .torques import Torque

BUDGET = 2000  # trial steps in one call, after which progress can be told and a run interrupted
_AT = Fields(*range(len(Fields._fields)))  # where each is in a row of the state
_NEVER = np.full((1, 1), np.inf)  # no time is waited for
_FEW = 100  # steps, of which nothing is said
_T_END = 2  # its place among the settings


class Run:
    """One integration: the kernels of a system, and the arrays that all calls share.

    A motion of a system whose positions are solved for may go on in other coordinates (`charts`); what it shows stays in those of
    the system.
    """

    def __init__(
        self,
        system: AnySystem,
        torque: Torque,
        settings: FloatArray,
        batch: tuple[int, ...],
        threads: int | None,
        progress: Callable[[float], None] | None,
        integrator: type[Integrator],
        occasions: Occasions | None = None,
    ) -> None:
        self.integrator = integrator
        self.system, self.torque, self.batch = system, torque, batch
        self.n = engine.size(system)
        self.settings, self.progress = settings, progress
        self.charts: list[Any] = [system]
        self.further = torque.states if torque.states is not None else NO_STATES
        self.segments = None if torque.python is None else Segments(torque.python, float(settings[0, 2]))
        self.occasions = occasions
        chosen = Settings(*settings[0].tolist())
        self.pauses = None if occasions is None else Pauses(occasions, self.charts, math.prod(batch), chosen, self._parameters())
        self._common = CallSettings(RunKernels(integrator, torque, occasions, self.charts, batch), settings, threads)

    def _parameters(self) -> FloatArray | None:
        """Parameters in the place of the model's own, a row for each motion."""
        own = parameters_of(self.torque)
        if own is None:
            return None
        width = own.shape[-1]
        return np.broadcast_to(own[..., 0, :], (*self.batch, width)).reshape(math.prod(self.batch), width)

    def points(self, q: FloatArray, qd: FloatArray, interval: tuple[float, float], t_eval: ArrayLike) -> Simulation:
        """States at given times."""
        times = np.asarray(t_eval, dtype=float)
        count = len(q)
        motions = self._start(q, qd, interval[0])
        rows = [np.empty((count, len(times) + 1, size)) for size in self._shown(motions)]  # one more, for what nobody reads
        wanted = np.append(times, np.inf)[None]
        for group in self._groups("points", motions, wanted, interval):
            out = rows if group.rows is None else [array[group.rows] for array in rows]
            group.run([np.empty((1, 1)), *out])
            if group.rows is not None:
                for array, part in zip(rows, out, strict=True):
                    array[group.rows] = part
        state = motions.state
        for k in np.flatnonzero(state[:, _AT.status] != DONE):
            for array in rows:
                array[k, int(state[k, _AT.cursor]) :] = np.nan
        if not self.batch and state[0, _AT.status] == ENDED:  # what comes after a terminal event is no part of the motion
            times = times[: int(state[0, _AT.cursor])]
            rows = [array[:, : len(times) + 1] for array in rows]
        shaped = [array[:, :-1].reshape(*self.batch, len(times), array.shape[-1]) for array in rows]
        return self._result(times, shaped, state, self.batch)

    def steps(
        self, q: FloatArray, qd: FloatArray, interval: tuple[float, float], t_eval: ArrayLike | None, dense: bool
    ) -> Simulation:
        """The steps taken by a single motion, and the interpolants between them."""
        motions = self._start(q, qd, interval[0])
        first = self._first(motions)
        sizes = [1, *self._shown(motions), *(self._interpolants(motions) if dense else [])]
        pieces: list[list[FloatArray]] = []
        charts: list[int] = []
        for group in self._groups("dense" if dense else "steps", motions, _NEVER, interval):
            out = [np.empty((1, BUDGET + 1, size)) for size in sizes]
            group.run(out)
            done = int(motions.state[0, _AT.cursor])
            pieces.append([array[0, :done] for array in out])
            charts += [group.chart] * done
            motions.state[:, _AT.cursor] = 0.0
        rows = list(zip(*pieces, strict=True))  # of each result, its pieces
        begun = [np.array([[interval[0]]]), *first]
        t, *shown = (np.concatenate([start, *parts]) for start, parts in zip(begun, rows, strict=False))
        times = t[:, 0]
        if self.torque.marks is not None and len(t) > 1:
            held = held_width(self.torque.kind)
            shown[-1][0, -held:] = shown[-1][1, -held:]  # from the start on, as it was found in the first step
        found = self._result(times, shown, motions.state, ())
        if not dense:
            return found
        solution = self._solution(times, [np.concatenate(parts) for parts in rows[len(begun) :]], charts, shown, motions)
        return replace(found, solution=solution) if t_eval is None else _at(solution, t_eval, found, self.further.fields)

    def dense_batch(self, q: FloatArray, qd: FloatArray, interval: tuple[float, float], t_eval: ArrayLike | None) -> Simulation:
        """The steps of many motions with their interpolants, each motion with its own."""
        motions = self._start(q, qd, interval[0])
        first = self._first(motions)
        sizes = [1, *self._shown(motions), *self._interpolants(motions)]
        collected = StepRows(len(q), sizes, self.integrator.powers)
        for group in self._groups("dense", motions, _NEVER, interval, collected.budget(BUDGET)):
            collected.run(group)
            motions.state[collected.last, _AT.cursor] = 0.0
        solution = collected.solution(
            self.batch, interval, first, self.n, motions.solved, tuple(self.charts), self.pauses is not None
        )
        times = np.array(interval) if t_eval is None else np.asarray(t_eval, dtype=float)
        q, qd, z = solution.states(np.broadcast_to(times, (*self.batch, len(times))))
        tree = solution.tree(times) if motions.solved else ()
        found = self._result(times, [q, qd, *tree, *([] if z is None else [z])], motions.state, self.batch)
        return replace(found, solution=solution)

    def _interpolants(self, motions: Motions) -> list[int]:
        """Sizes of what dense output has beside the states at the ends of steps, as the kernel writes it."""
        begins = [self.n] * 2 if motions.solved or self.pauses else []
        powers = self.integrator.powers
        found = [powers * self.n] * 2 + begins + [powers * x.shape[-1] for x in motions.further]
        return found if self.pauses is None else [*found, 1, *(x.shape[-1] for x in motions.further)]

    def _solution(
        self, times: FloatArray, more: list[FloatArray], charts: list[int], shown: list[FloatArray], motions: Motions
    ) -> Solution:
        starts = None
        if self.pauses is not None:
            more, starts = starts_among(more, bool(motions.further))
        z = shown[-1] if motions.further else None
        powers = [more[0], more[1], *([] if z is None else [more[-1]])]
        count = self.integrator.powers
        F = tuple(row.reshape(len(row), count, row.shape[-1] // count) for row in powers)
        if z is not None:  # where steps begin: what a sampled law holds jumps there
            z = z[1:] - F[2][:, 0] if starts is None else starts.z
        # Where positions are solved for, the start of each step is kept in its own coordinates.
        own = Pieces(np.array(charts), tuple(self.charts), more[2], more[3], shown[2][:-1]) if motions.solved else None
        return Solution(times, shown[0], shown[1], F, own, z, starts)

    def _shown(self, motions: Motions) -> list[int]:
        """Sizes of q, q̇ and, where there are any, of positions that are solved for, their rates, and further states."""
        return [self.n, self.n, *(x.shape[-1] for x in (*motions.positions, *motions.positions, *motions.further))]

    def _first(self, motions: Motions) -> list[FloatArray]:
        """The same at the start."""
        q, qd = motions.vectors[:2]
        tree: Any = self.charts[0].moved_at(q, qd, motions.positions[0])[2:] if motions.solved else ()
        return [q, qd, *tree, *motions.further]

    def _result(self, t: FloatArray, shown: list[FloatArray], state: FloatArray, batch: tuple[int, ...]) -> Simulation:
        q, qd, *others = shown
        states = by_name(self.further.fields, others.pop()) if self.further.fields else {}
        x, xd = others or (None, None)
        events = [] if self.pauses is None else self.pauses.shaped(batch)
        counts = _counts(state, batch)
        stiff = (state[:, _AT.bound] > 0.5 * np.maximum(state[:, _AT.accepted], _FEW)).reshape(batch)
        standing = None if self.pauses is None else self.pauses.standing(self.motions)
        return Simulation(t, q, qd, *counts, None, x, xd, self.system, states, stiff, self.torque, events, standing)

    def _start(self, q: FloatArray, qd: FloatArray, t: float) -> Motions:
        state = np.zeros((len(q), len(Fields._fields)))
        state[:, _AT.t] = t
        if not math.isfinite(q.sum() + qd.sum()):
            state[:, _AT.broken] = ~(np.isfinite(q).all(-1) & np.isfinite(qd).all(-1))
        state[:, _AT.sample] = max(int(self.torque.grid[0].searchsorted(t, side="right")) - 1, 0)
        state[:, _AT.moved] = self.torque.marks is not None  # a sampled law begins with a sample
        positions = positions_at(self.system, q, self.batch)
        vectors = [q, qd, np.zeros(q.shape), np.zeros(q.shape)]
        vectors += [] if positions is None else [positions, np.zeros(positions.shape)]
        vectors += [*self._further(state), *self._history(len(q))]
        vectors += [] if self.pauses is None else [self.pauses.vector(len(q))]
        arrays = [np.ascontiguousarray(x) for x in vectors]
        waits = self.pauses is not None
        kinds = positions is not None, bool(self.further.fields)
        motions = Motions(state, arrays, np.zeros(len(q), int), np.ones(len(q), int), *kinds, waits=waits)
        if self.segments:
            self.segments.begin(self, motions)
        self.motions = motions
        return motions

    def fault(self) -> str | None:
        """What was not finite where the first motion left the finite numbers, in a sentence, if it can be told."""
        motions, torque = self.motions, self.torque
        k = int(np.argmax(motions.state[:, _AT.status] == NOT_FINITE))
        if motions.chart[k] or not np.isfinite(motions.vectors[0][k]).all():
            return None
        z = motions.further[0][k] if motions.further else np.empty(0)
        last = LastState(k, float(motions.state[k, _AT.t]), motions.vectors[0][k], motions.vectors[1][k], z)
        kind, values = torque.kind, torque.values if torque.values.ndim > 1 else torque.values[None]
        if kind == "held":
            values = torque.values[..., None, :]
        times = torque.grid[0][: values.shape[-2]]
        between = "linear" if kind == "linear" or (isinstance(kind, TorqueLaw) and kind.between == "linear") else "hold"
        return fault_of(
            self.system, kind, ActingRows(times, values[..., : len(times), :], between, torque.inputs, self.batch), last
        )

    def visible(self, motions: Motions) -> tuple[FloatArray, FloatArray]:
        """q and q̇ of all motions, in the coordinates of the system."""
        q, qd = motions.vectors[:2]
        for k in np.unique(motions.chart[motions.chart > 0]) if motions.solved else ():
            rows = motions.chart == k
            q, qd = q.copy(), qd.copy()
            q[rows], qd[rows] = self.charts[k].moved_at(q[rows], qd[rows], motions.positions[0][rows])[:2]
        return q, qd

    def _history(self, count: int) -> list[FloatArray]:
        """Room for what a method keeps of earlier steps."""
        past = self.integrator.history_size(self.n, self.further.values.shape[-1] if self.further.fields else 0)
        return [np.zeros((count, past))] if past else []

    def _further(self, state: FloatArray) -> list[FloatArray]:
        """Further states at the start, one row for each motion, and room for their slopes."""
        if not self.further.fields:
            return []
        z = np.array(np.broadcast_to(self.further.values, (*self.batch, self.further.values.shape[-1]))).reshape(len(state), -1)
        state[:, _AT.broken] = np.maximum(state[:, _AT.broken], ~np.isfinite(z).all(-1))
        return [z, np.zeros_like(z)]

    def _groups(
        self, output: str, motions: Motions, wanted: FloatArray, interval: tuple[float, float], budget: int | None = None
    ) -> Iterator[Group]:
        """Call after call until no motion is running."""
        budget = BUDGET if budget is None else budget
        while True:
            if motions.charts_differ:
                yield from self._apart(output, motions, wanted, budget)
            else:
                yield Group(self._common, output, motions, wanted, budget)
            if self.pauses is not None and PAUSED in motions.state[:, _AT.status].tolist():
                self.pauses.attend(motions, float(self.settings[0, _T_END]))
            if motions.solved and LEAVING in motions.state[:, _AT.status].tolist():
                self._change_charts(motions)
            status = motions.state[:, _AT.status]
            if self.progress:
                share = (motions.state[:, _AT.t] - interval[0]) / (interval[1] - interval[0])
                self.progress(float(np.where(status == RUNNING, share, 1.0).mean()) if len(status) else 1.0)
            if RUNNING not in status.tolist() and not (self.segments and self.segments.resume(self, motions)):
                return

    def _apart(self, output: str, motions: Motions, wanted: FloatArray, budget: int) -> Iterator[Group]:
        """Running motions, those together that are in the same coordinates and begin, or go on, in them."""
        running = motions.state[:, _AT.status] == RUNNING
        keys = 2 * motions.chart + motions.fresh
        for key in np.unique(keys[running]):
            yield Group(self._common, output, motions, wanted, budget, np.flatnonzero(running & (keys == key)))

    def _change_charts(self, motions: Motions) -> None:
        """Motions whose coordinates are about to stop telling their positions go on in others."""
        motions.charts_differ = True
        for k in np.flatnonzero(motions.state[:, _AT.status] == LEAVING):
            q, qd, _, _, x = (vector[k] for vector in motions.vectors[:5])
            chart, q[:], qd[:] = self.charts[motions.chart[k]].chart_at(x, qd)
            if all(chart is not known for known in self.charts):
                self.charts.append(chart)
            motions.chart[k] = next(i for i, known in enumerate(self.charts) if known is chart)
            motions.state[k, _AT.status], motions.fresh[k] = RUNNING, 1
            if self.pauses is not None:
                self.pauses.enter(motions, int(k))


def _counts(state: FloatArray, batch: tuple[int, ...]) -> tuple[Any, Any, Any, Any]:
    columns = (_AT.status, _AT.accepted, _AT.rejections, _AT.evaluations)
    status, accepted, rejected, evaluations = (state[:, k].astype(int).reshape(batch) for k in columns)
    return status, accepted, rejected, evaluations


def _at(solution: Solution, t_eval: ArrayLike, found: Simulation, fields: Any) -> Simulation:
    times = np.asarray(t_eval, dtype=float)
    reached = times <= solution.t[-1]

    def placed(rows: FloatArray) -> FloatArray:
        shown = np.full((len(times), rows.shape[-1]), np.nan)
        shown[reached] = rows
        return shown

    q, qd, z = solution.states(times[reached])
    further = {} if z is None else by_name(fields, placed(z))
    x, xd = (None, None) if found.x is None else map(placed, solution.tree(times[reached]))
    return replace(found, t=times, q=placed(q), qd=placed(qd), x=x, xd=xd, solution=solution, states=further)


__all__ = ["BUDGET", "Run"]
