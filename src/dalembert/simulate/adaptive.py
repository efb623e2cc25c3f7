"""Motions with error control: an adaptive method compiled around the robot's dynamics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import thread_count
from ..codegen.time_loop import TimeLoopKernel
from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import ShapeError, UnknownNameError
from ..options import function
from . import adams, dop853, held_loop, rosenbrock
from .actions import acting_torque, actions_of
from .dry_events import friction_first, smoothed_to_pass
from .dry_friction import jumping_joints
from .events import Event, Occasions, check_start, occasions_of
from .kept_loops import loop_kernel
from .law_faults import ActingRows, LastState, fault_of
from .laws import NO_STATES, TorqueFunction, TorqueLaw, by_name, held_width
from .motions import Motions
from .pauses import Pauses
from .python_law import Segments
from .solution import Pieces, Simulation, Solution, starts_among
from .states import finite_number, initial, positions_at, positive, rising_times, together
from .steering import DONE, ENDED, LEAVING, NOT_FINITE, PAUSED, RUNNING, Fields
from .step_rows import StepRows
from .torques import Torque, torque_of
from .warn import warn_of_simulation

_AT = Fields(*range(len(Fields._fields)))  # where each is in a row of the state
_BUDGET = 2000  # trial steps in one call, after which progress can be told and a run interrupted
_NEVER = np.full((1, 1), np.inf)  # no time is waited for
_FEW = 100  # steps, of which nothing is said
_T_END = 2  # its place among the settings
_SMALLEST_RTOL = 100 * np.finfo(float).eps

METHODS: dict[str, type[dop853.Integrator]] = {
    "dop853": dop853.Integrator,
    "adams": adams.Adams,
    "rosenbrock": rosenbrock.Rosenbrock,
}


def simulate(
    system: AnySystem,
    q0: ArrayLike,
    qd0: ArrayLike,
    *,
    t_end: float | None = None,
    t_eval: ArrayLike | None = None,
    tau: ArrayLike | TorqueFunction | None = None,
    tau_times: ArrayLike | None = None,
    tau_between: str = "hold",
    inputs: Mapping[str, ArrayLike] | None = None,
    signals: Mapping[str, ArrayLike] | None = None,
    states: Mapping[str, ArrayLike] | None = None,
    rates: TorqueFunction | None = None,
    wrenches: Mapping[str, ArrayLike | TorqueFunction] | None = None,
    wrench_times: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    saturate: bool | ArrayLike = False,
    sample: float | None = None,
    delay: float = 0.0,
    python: bool = False,
    events: Sequence[Event] | None = None,
    stops: float | Mapping[str, float] | None = None,
    t_start: float = 0.0,
    method: str = "dop853",
    rtol: float = 1e-6,
    atol: float = 1e-9,
    max_step: float = np.inf,
    first_step: float | None = None,
    max_steps: int = 100_000,
    dense: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Motion under joint torques, with the error of each step controlled: q̈ = M⁻¹ (τ − C q̇ − g − friction).

    By default DOP853 compiled around the robot's forward dynamics; it takes the steps that scipy's does. Where gains, springs
    or electric circuits are much faster than the motion, take `method='rosenbrock'`. For many motions by one fixed step, as in
    sampling-based control, `rollout` has more throughput. Dry friction is taken as it is: joints stick and slip, at times that
    are located, see docs/howto/friction_and_stops.md.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q0, qd0 : array_like, shape (..., n)
        Initial positions [rad | m] and velocities; leading axes are the batch and broadcast.
    t_end : float, optional
        End of the interval [s]; the last of `t_eval` if left out.
    t_eval : array_like, shape (K,), optional
        Times of the results, in rising order. If left out: the steps taken, or, for a batch, both ends of the interval.
    tau : array_like, shape (..., n) or (..., G, n), or function, optional
        Joint torques [N m | N]: constant, or samples at `tau_times`; zero if left out. A function of (t, q, qd) over scalars,
        such as a controller, is compiled into the loop; it may ask the model for its quantities (`inside`). With inputs or
        signals it is a function of (t, q, qd, p), and finds them as p.name.
    tau_times : array_like, shape (G,), optional
        Times of the rows of `tau`, or of signals [s], rising; outside of them the first and the last row hold. No step crosses a
        sample.
    tau_between : {'hold', 'linear'}
        Torques or signals between two samples: those of the earlier one, or on a line.
    inputs : mapping of name to array_like, shape () or (..., k), optional
        Numbers that the function uses, such as gains: changing them compiles nothing, and each motion may have its own.
    signals : mapping of name to array_like, shape (..., G, k), optional
        Numbers that change with time, such as a reference or gains along a path: a row for each of `tau_times`.
    states : mapping of name to array_like, shape () or (..., k), optional
        Further states at the start, such as the integral of an error or the currents of motors; `tau` finds them as p.name.
    rates : function, optional
        The slopes of the states: a function of (t, q, qd, p) that returns {name: slope}, or the slope of a single state.
    wrenches : mapping of link name (or 'tool') to array_like, shape (..., 6) or (..., G, 6), or function, optional
        Force and moment [f; m] that the surroundings exert on the robot at that frame's origin, in world axes: constant, samples
        at `wrench_times`, or a function of (t, q, qd) or (t, q, qd, p) as `tau` may be one, such as a contact or a drag.
    wrench_times : array_like, shape (G,), optional
        Times of the rows of `wrenches` [s], rising; between them as `tau_between` says.
    parameters : array_like, shape (..., p), optional
        Dynamic parameters in the place of the robot's own, in the order of `parameter_names(system)`: each motion may have its
        own, and nothing is compiled for new ones.
    saturate : bool or array_like, shape (..., n)
        Keep torques within limits: those of the model's joints (`Limits.effort`), or these magnitudes [N m | N].
    sample : float, optional
        Evaluate the function in `tau` every so many seconds from the start on, and hold what it returns, as a digital controller
        does; `states["held"]` are the torques in force. Wrenches and `rates` go on all the time.
    delay : float
        Time from a sample to when its torques come into force [s], for computing and transport; it may be parts or multiples of
        `sample`. Before the first ones arrive, those of the start are in force.
    python : bool
        Call the function in `tau` as Python code, once every `sample`, with arrays q and qd of shape (..., n) of all motions: for
        functions that cannot be compiled, with branches on values, tables or a trained network. It is slow, and says so.
    events : sequence of Event, optional
        What to look for: functions of (t, q, qd) that pass zero, and times. Each is noted, ends the motion or changes the system.
    stops : float, or mapping of name to float, optional
        The limits of the joints, or of those that are named, are stops: the part of its speed that a joint keeps when it hits
        one, from 0 (it stays there until something pulls it away) to 1.
    t_start : float
        Start of the interval [s].
    method : {'dop853', 'adams', 'rosenbrock'}
        Explicit Runge-Kutta method of order 8; Adams method of orders 1 to 12, which takes fewer evaluations; or Rodas5P,
        linearly implicit of order 5, for stiff motions. Only 'dop853' knows events.
    rtol, atol : float
        Relative and absolute tolerance: the error estimate of a step stays below atol + rtol |y|.
    max_step, first_step : float, optional
        Bound on the step [s], and the first one to try, in place of the method's own choice.
    max_steps : int
        Trial steps after which a motion is given up.
    dense : bool
        Keep interpolants, so that `solution(t)` gives the motion at any time, and `balance` is accurate.
    threads : int, optional
        How many threads to use for a batch; by default `DALEMBERT_NUM_THREADS`, else all cores.
    progress : function, optional
        Called now and then with the fraction done.

    Returns
    -------
    Simulation
        With t, q, qd, `status` and `message` that tell how it went, and `events`.

    Warns
    -----
    DalembertWarning
        With code 'motion-failed', if a motion did not reach its end: how many, why, and what to try. With code
        'friction-smoothed', if dry friction acts elsewhere than at the coordinates and was smoothed.

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.simulate(dal.robots.pendulum(), [0.5], [0.0], t_eval=[0.0, 0.5, 1.0])
    >>> motion.q.shape
    (3, 1)
    """
    integrator = _integrator(method)
    dense, progress = checks.flag("dense", dense), function("progress", progress)
    threads = None if threads is None else thread_count(threads)
    batch, q, qd = initial(system, q0, qd0)
    interval = _interval(t_start, t_end, t_eval)
    actions = actions_of(system, wrenches, wrench_times, parameters, saturate, sample, delay, python, tau)
    occasions = None
    if events is not None or stops is not None or jumping_joints(system):
        way = method if parameters is None else "parameters"
        system, occasions = friction_first(system, occasions_of(system, events, stops, interval), way)
    if actions is None:
        torque = torque_of(engine.size(system), tau, tau_times, tau_between, interval[0], inputs, signals, states, rates)
    else:
        given = inputs, signals, states, rates
        torque = acting_torque(engine.size(system), actions, tau, tau_times, tau_between, interval, given)
    batch = together(batch, torque.batch)
    settings = _settings(interval, rtol, atol, max_step, first_step, max_steps)
    n, single = engine.size(system), not batch
    q, qd = ((x if x.shape == (*batch, n) else np.broadcast_to(x, (*batch, n))).reshape(-1, n) for x in (q, qd))

    def moved(system: AnySystem, occasions: Occasions | None) -> tuple[Simulation, _Run]:
        run = _Run(system, torque, settings, batch, threads, progress, integrator, occasions)
        if dense and not single:
            return run.dense_batch(q, qd, interval, t_eval), run
        if dense or (single and t_eval is None):
            return run.steps(q, qd, interval, t_eval, dense), run
        return run.points(q, qd, interval, [interval[0], interval[1]] if t_eval is None else t_eval), run

    if occasions is not None:
        check_start(occasions, q)
    found, run = moved(system, occasions)
    if occasions is not None and not occasions.asked and np.any(found.status == LEAVING):
        system = smoothed_to_pass(system)
        found, run = moved(system, None)
    warn_of_simulation(found, system, run.fault)
    if torque.python is not None:
        torque.python.tell("simulate")
    return found


def _integrator(method: str) -> type[dop853.Integrator]:
    """The method by its name; one that needs a fixed step has its place elsewhere."""
    if isinstance(method, str) and method in ("variational", "symplectic"):
        raise UnknownNameError(
            f"method: {method!r} found, which keeps what it is made for with a fixed step only, but the steps of simulate "
            "vary. Take rollout(..., method='symplectic', dt=...)."
        )
    return checks.choice("method", method, METHODS)


def _interval(t_start: Any, t_end: Any, t_eval: Any) -> tuple[float, float]:
    start = finite_number("t_start", t_start)
    if t_end is None and t_eval is None:
        raise ShapeError("t_end: neither t_end nor t_eval found, so the end of the motion is not known. Give one of them.")
    times = np.empty(0) if t_eval is None else rising_times("t_eval", t_eval)
    end = finite_number("t_end", times[-1] if t_end is None else t_end)
    if end <= start:
        raise ShapeError(f"t_end: {end} s found, a time after t_start = {start} s is expected.")
    if times.size and (times[0] < start or times[-1] > end):
        raise ShapeError(f"t_eval: times from {times[0]} to {times[-1]} s found, but the motion goes from {start} to {end} s.")
    return start, end


def _settings(interval: tuple[float, float], rtol: Any, atol: Any, max_step: Any, first_step: Any, max_steps: Any) -> FloatArray:
    """One row of numbers, as the kernel takes them."""
    relative = max(positive("rtol", rtol), _SMALLEST_RTOL)  # as scipy does
    bound = np.inf if isinstance(max_step, float) and max_step == np.inf else positive("max_step", max_step)
    first = 0.0 if first_step is None else positive("first_step", first_step)
    if first > interval[1] - interval[0]:
        raise ShapeError(f"first_step: {first} s found, longer than the whole motion of {interval[1] - interval[0]} s.")
    return np.array(
        [
            [
                relative,
                positive("atol", atol),
                interval[1],
                bound,
                first,
                checks.whole_number("max_steps", max_steps, 1),
                _BUDGET,
                1.0,
            ]
        ]
    )


class _Run:
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
        integrator: type[dop853.Integrator],
        occasions: Occasions | None = None,
    ) -> None:
        self.integrator = integrator
        self.system, self.torque, self.batch, self.threads = system, torque, batch, threads
        self.n = engine.size(system)
        self.settings, self.progress = settings, progress
        self.charts: list[Any] = [system]
        self.further = torque.states if torque.states is not None else NO_STATES
        self.segments = None if torque.python is None else Segments(torque.python, float(settings[0, 2]))
        self.occasions = occasions
        self.pauses = None if occasions is None else Pauses(occasions, self.charts, math.prod(batch))
        self._kernels: dict[Any, TimeLoopKernel] = {}

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
        first = [q, qd, *motions.positions, *motions.further]
        sizes = [1, *self._shown(motions), *(self._interpolants(motions) if dense else [])]
        pieces: list[list[FloatArray]] = []
        charts: list[int] = []
        for group in self._groups("dense" if dense else "steps", motions, _NEVER, interval):
            out = [np.empty((1, _BUDGET + 1, size)) for size in sizes]
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
        first = [q, qd, *motions.positions, *motions.further]
        sizes = [1, *self._shown(motions), *self._interpolants(motions)]
        collected = StepRows(len(q), sizes, self.integrator.powers)
        for group in self._groups("dense", motions, _NEVER, interval, collected.budget(_BUDGET)):
            collected.run(group)
            motions.state[collected.last, _AT.cursor] = 0.0
        solution = collected.solution(
            self.batch, interval, first, self.n, motions.solved, tuple(self.charts), self.pauses is not None
        )
        times = np.array(interval) if t_eval is None else np.asarray(t_eval, dtype=float)
        q, qd, z = solution.states(np.broadcast_to(times, (*self.batch, len(times))))
        found = self._result(times, [q, qd, *([] if z is None else [z])], motions.state, self.batch)
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
        own = (
            Pieces(np.array(charts), tuple(self.charts), more[2], more[3], shown[2][:-1])
            if motions.solved and any(charts)
            else None
        )
        return Solution(times, shown[0], shown[1], F, own, z, shown[2] if motions.solved else None, starts)

    def _shown(self, motions: Motions) -> list[int]:
        """Sizes of q, q̇ and, where there are any, of positions that are solved for and of further states."""
        return [self.n, self.n, *(x.shape[-1] for x in (*motions.positions, *motions.further))]

    def _result(self, t: FloatArray, shown: list[FloatArray], state: FloatArray, batch: tuple[int, ...]) -> Simulation:
        q, qd, *others = shown
        states = by_name(self.further.fields, others.pop()) if self.further.fields else {}
        x = others[0] if others else None
        events = [] if self.pauses is None else self.pauses.shaped(batch)
        counts = _counts(state, batch)
        stiff = (state[:, _AT.bound] > 0.5 * np.maximum(state[:, _AT.accepted], _FEW)).reshape(batch)
        return Simulation(t, q, qd, *counts, None, x, self.system, states, stiff, self.torque, events)

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
            q[rows], qd[rows] = self.charts[k].seen_at(q[rows], qd[rows], motions.positions[0][rows])
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
        budget = _BUDGET if budget is None else budget
        while True:
            if motions.charts_differ:
                yield from self._apart(output, motions, wanted, budget)
            else:
                yield Group(self, output, motions, wanted, budget)
            if self.pauses is not None and PAUSED in motions.state[:, _AT.status].tolist():
                self.pauses.attend(motions, float(self.settings[0, _T_END]))
            charted = self.occasions is None or self.occasions.in_any_coordinates
            if motions.solved and charted and LEAVING in motions.state[:, _AT.status].tolist():
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
            yield Group(self, output, motions, wanted, budget, np.flatnonzero(running & (keys == key)))

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

    def kernel(self, output: str, chart: int) -> TimeLoopKernel:
        """The compiled integrator; one with a user's function is traced anew, as what it refers to may have changed."""
        if (output, chart) not in self._kernels:
            self._kernels[output, chart] = self._kernel(output, self.charts[chart], math.prod(self.batch) == 1)
        return self._kernels[output, chart]

    def _kernel(self, output: str, system: AnySystem, single: bool) -> TimeLoopKernel:
        kind, occasions = self.torque.kind, self.occasions
        if occasions is None:
            return loop_kernel(
                system,
                "simulate",
                kind,
                (output, single, self.integrator.__name__),
                lambda: TimeLoopKernel(self.integrator(system, kind, output).program(), single=single),
            )

        def make() -> TimeLoopKernel:
            return TimeLoopKernel(held_loop.program(system, kind, output, occasions.happenings(system)), single=single)

        key = occasions.key
        return make() if key is None else loop_kernel(system, "simulate", kind, (output, single, key), make)

    def rows_for_all(self, count: int) -> list[FloatArray]:
        """Torque rows and inputs, (N, entries) each, or (1, entries) where all share them."""
        torque = self.torque
        found = [self._for_all(torque.values, torque.values.ndim - self._core(), count)]
        if torque.inputs is not None and torque.inputs.fields:
            found.append(self._for_all(torque.inputs.values, len(torque.inputs.batch), count))
        if torque.marks is not None:
            found.append(torque.marks)
        return found if self.occasions is None else [*found, self.occasions.limits[None]]

    def _core(self) -> int:
        """Axes of the torque's values that are not of the batch."""
        return self.torque.values.ndim - len(self.torque.batch) if isinstance(self.torque.kind, str) else 2

    def _for_all(self, values: FloatArray, lead: int, count: int) -> FloatArray:
        if not lead:
            return np.ascontiguousarray(values).reshape(1, -1)
        core = values.shape[lead:]
        return np.ascontiguousarray(np.broadcast_to(values, (*self.batch, *core))).reshape(count, math.prod(core))


class Group(NamedTuple):
    """Motions that one call of a kernel takes on: all of them, or some rows."""

    owner: _Run
    output: str
    motions: Motions
    wanted: FloatArray
    budget: int
    rows: Any = None

    @property
    def chart(self) -> int:
        """The number of the chart that they are in."""
        return 0 if self.rows is None else int(self.motions.chart[self.rows[0]])

    def run(self, out: list[FloatArray]) -> None:
        """Call the kernel, and keep where the motions are after it."""
        motions, rows = self.motions, self.rows
        given = [motions.state, *motions.vectors]
        if rows is None:
            motions.state, *motions.vectors = self._call(given, out, bool(motions.fresh[:1].any()))
            motions.fresh[:] = 0
            return
        kept = self._call([array[rows] for array in given], out, bool(motions.fresh[rows[0]]))
        for array, new in zip(given, kept, strict=True):
            array[rows] = new
        motions.fresh[rows] = 0

    def _call(self, given: list[FloatArray], out: list[FloatArray], fresh: bool) -> list[FloatArray]:
        run = self.owner
        kernel, given_rows = run.kernel(self.output, self.chart), run.rows_for_all(len(self.motions.state))
        settings = run.settings.copy()
        settings[0, -2:] = min(self.budget, kernel.turns), fresh
        kept = [np.empty(array.shape) for array in given]
        if self.rows is not None:
            given_rows = [rows if len(rows) == 1 else np.ascontiguousarray(rows[self.rows]) for rows in given_rows]
        inputs = [settings, *given, self.wanted, run.torque.grid, *given_rows]
        kernel(inputs, [*kept, *out], turns=int(settings[0, -2]), threads=run.threads)
        return kept


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
    return replace(found, t=times, q=placed(q), qd=placed(qd), x=None, solution=solution, states=further)
