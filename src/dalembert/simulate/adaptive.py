"""Motions with error control: an adaptive method compiled around the robot's dynamics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import thread_count
from ..codegen.arguments import real
from ..codegen.time_loop import TimeLoopKernel
from ..dynamics import engine
from ..dynamics.system import AnySystem, Request
from ..errors import ShapeError
from ..options import function
from . import dop853
from .plant import TorqueFunction
from .solution import Simulation, Solution
from .states import finite_number, initial, positive, rising_times, together
from .steering import DONE, RUNNING, Fields
from .tableau import POWERS
from .warn import warn_of_simulation

_AT = Fields(*range(len(Fields._fields)))  # where each is in a row of the state
_BUDGET = 2000  # trial steps in one call, after which progress can be told and a run interrupted
_SMALLEST_RTOL = 100 * np.finfo(float).eps


class Torque(NamedTuple):
    """How torques enter: a kind of kernel or a function, the times of samples, and rows of values."""

    kind: str | TorqueFunction
    grid: FloatArray
    values: FloatArray
    batch: tuple[int, ...] = ()


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

    DOP853 compiled around the robot's forward dynamics; it takes the steps that scipy's does. For many motions by one fixed
    step, as in sampling-based control, `rollout` has more throughput.

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
        such as a controller, is compiled into the loop.
    tau_times : array_like, shape (G,), optional
        Times of the rows of `tau` [s], rising; outside of them the first and the last row hold. No step crosses a sample.
    tau_between : {'hold', 'linear'}
        The torque between two samples: that of the earlier one, or on a line.
    t_start : float
        Start of the interval [s].
    method : {'dop853'}
        Explicit Runge-Kutta method of order 8.
    rtol, atol : float
        Relative and absolute tolerance: the error estimate of a step stays below atol + rtol |y|.
    max_step, first_step : float, optional
        Bound on the step [s], and the first one to try, in place of the method's own choice.
    max_steps : int
        Trial steps after which a motion is given up.
    dense : bool
        Keep interpolants, so that `solution(t)` gives the motion at any time; for a single motion.
    threads : int, optional
        How many threads to use for a batch; by default `DALEMBERT_NUM_THREADS`, else all cores.
    progress : function, optional
        Called now and then with the fraction done.

    Returns
    -------
    Simulation
        With t, q, qd, and `status` and `message` that tell how it went.

    Warns
    -----
    DalembertWarning
        With code 'motion-failed', if a motion did not reach its end: how many, why, and what to try.

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.simulate(dal.robots.pendulum(), [0.5], [0.0], t_eval=[0.0, 0.5, 1.0])
    >>> motion.q.shape
    (3, 1)
    """
    checks.choice("method", method, {"dop853": dop853.program})
    dense, progress = checks.flag("dense", dense), function("progress", progress)
    threads = None if threads is None else thread_count(threads)
    batch, q, qd = initial(system, q0, qd0)
    interval = _interval(t_start, t_end, t_eval)
    torque = _torque(engine.size(system), tau, tau_times, tau_between, interval[0])
    batch = together(batch, torque.batch)
    settings = _settings(interval, rtol, atol, max_step, first_step, max_steps)
    run = _Run(system, torque, settings, batch, threads, progress)
    q, qd = (np.broadcast_to(x, (*batch, run.n)).reshape(-1, run.n) for x in (q, qd))
    single = not batch
    if dense and not single:
        raise ShapeError(f"dense: a batch {batch} found; interpolants are kept for a single motion. Give t_eval instead.")
    if dense or (single and t_eval is None):
        found = run.steps(q, qd, interval, t_eval, dense)
    else:
        found = run.points(q, qd, interval, [interval[0], interval[1]] if t_eval is None else t_eval)
    warn_of_simulation(found, system)
    return found


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


def _torque(n: int, tau: Any, times: Any, between: str, t_start: float) -> Torque:
    none = np.zeros((1, 1))
    kind = checks.choice("tau_between", between, _KINDS)
    if tau is None or callable(tau):
        if times is not None:
            raise ShapeError("tau_times: found without an array of samples in tau. Leave it out, or sample the torque.")
        return Torque("held" if tau is None else tau, none, np.zeros((1, n)))
    values = real("tau", tau, f"(..., {n}), (..., G, {n}) or a function of (t, q, qd)")
    if times is None:
        if values.ndim == 0 or values.shape[-1] != n:
            raise ShapeError(f"tau: shape {values.shape} found, (..., {n}) expected for a constant torque.")
        return Torque("held", none, values, values.shape[:-1])
    return _samples(n, values, rising_times("tau_times", times, apart=True), kind, t_start)


_KINDS = {"hold": "hold", "linear": "linear"}


def _samples(n: int, values: FloatArray, grid: FloatArray, kind: str, t_start: float) -> Torque:
    """Samples that begin no later than the motion, their last row repeated at the end of time."""
    if values.ndim < 2 or values.shape[-2:] != (len(grid), n):
        raise ShapeError(f"tau: shape {values.shape} found, (..., {len(grid)}, {n}) expected: a row for each of tau_times.")
    if grid[0] > t_start:
        grid, values = np.append(t_start, grid), np.concatenate([values[..., :1, :], values], axis=-2)
    values = np.concatenate([values, values[..., -1:, :]], axis=-2)
    return Torque(kind, np.append(grid, np.inf)[None], values, values.shape[:-2])


class _Run:
    """One integration: the kernels of a system, and the arrays that all calls share."""

    def __init__(
        self,
        system: AnySystem,
        torque: Torque,
        settings: FloatArray,
        batch: tuple[int, ...],
        threads: int | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.system, self.torque, self.batch, self.threads = system, torque, batch, threads
        self.n = engine.size(system)
        self.settings, self.progress = settings, progress

    def points(self, q: FloatArray, qd: FloatArray, interval: tuple[float, float], t_eval: ArrayLike) -> Simulation:
        """States at given times."""
        times = np.asarray(t_eval, dtype=float)
        count = len(q)
        rows = [np.empty((count, len(times) + 1, self.n)) for _ in range(2)]  # one more for lanes with nothing to say
        wanted = np.append(times, np.inf)[None]
        state, vectors = self._start(q, qd, interval[0])
        calls = self._calls("points", state, vectors, wanted, lambda: [np.empty((1, 1)), *rows], interval)
        *_, (state, _) = calls
        for k in np.flatnonzero(state[:, _AT.status] != DONE):
            for array in rows:
                array[k, int(state[k, _AT.cursor]) :] = np.nan
        shaped_q, shaped_qd = (array[:, :-1].reshape(*self.batch, len(times), self.n) for array in rows)
        return Simulation(times, shaped_q, shaped_qd, *_counts(state, self.batch))

    def steps(
        self, q: FloatArray, qd: FloatArray, interval: tuple[float, float], t_eval: ArrayLike | None, dense: bool
    ) -> Simulation:
        """The steps taken by a single motion, and the interpolants between them."""
        sizes = (1, self.n, self.n, *((POWERS * self.n,) * 2 if dense else ()))
        pieces: list[list[FloatArray]] = []
        state, vectors = self._start(q, qd, interval[0])
        calls = self._calls(
            "dense" if dense else "steps",
            *(state, vectors, np.full((1, 1), np.inf)),
            lambda: [np.empty((1, _BUDGET + 1, size)) for size in sizes],
            interval,
        )
        for state, out in calls:
            pieces.append([array[0, : int(state[0, _AT.cursor])].copy() for array in out])
            state[:, _AT.cursor] = 0.0
        t, *rows = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        times = np.append(interval[0], t[:, 0])
        states = np.concatenate([q, rows[0]]), np.concatenate([qd, rows[1]])
        counts = _counts(state, ())
        if not dense:
            return Simulation(times, *states, *counts)
        Fq, Fv = (row.reshape(-1, POWERS, self.n) for row in rows[2:])
        solution = Solution(times, *states, (Fq, Fv))
        return Simulation(times, *states, *counts, solution) if t_eval is None else _at(solution, t_eval, counts)

    def _start(self, q: FloatArray, qd: FloatArray, t: float) -> tuple[FloatArray, list[FloatArray]]:
        state = np.zeros((len(q), len(Fields._fields)))
        state[:, _AT.t] = t
        state[:, _AT.broken] = ~(np.isfinite(q).all(-1) & np.isfinite(qd).all(-1))
        state[:, _AT.sample] = max(int(np.searchsorted(self.torque.grid[0], t, side="right")) - 1, 0)
        return state, [np.ascontiguousarray(x) for x in (q, qd, np.zeros_like(q), np.zeros_like(q))]

    def _calls(
        self,
        output: str,
        state: FloatArray,
        vectors: list[FloatArray],
        wanted: FloatArray,
        outputs: Callable[[], list[FloatArray]],
        interval: tuple[float, float],
    ) -> Any:
        """Call the kernel until no motion is running; the state and the outputs of each call."""
        kernel, values = self._kernel(output), self._values(len(state))
        settings = self.settings.copy()
        settings[0, -2] = min(_BUDGET, kernel.turns)
        while True:
            out = outputs()
            kept = [np.empty(x.shape) for x in (state, *vectors)]
            fixed = [settings, state, *vectors, wanted, self.torque.grid, values]
            kernel(fixed, [*kept, *out], turns=int(settings[0, -2]), threads=self.threads)
            state, *vectors = kept
            settings[0, -1] = 0.0  # the first step is chosen
            running = state[:, _AT.status] == RUNNING
            if self.progress:
                share = (state[:, _AT.t] - interval[0]) / (interval[1] - interval[0])
                self.progress(float(np.where(running, share, 1.0).mean()) if len(state) else 1.0)
            yield state, out
            if not running.any():
                return

    def _kernel(self, output: str) -> TimeLoopKernel:
        """The compiled integrator; one with a user's function is traced anew, as what it refers to may have changed."""
        kind = self.torque.kind
        if not isinstance(kind, str):
            return TimeLoopKernel(dop853.program(self.system, kind, output))
        request = Request("simulate", (kind, output))
        return engine.kept(self.system, request, lambda: TimeLoopKernel(dop853.program(self.system, kind, output)))

    def _values(self, count: int) -> FloatArray:
        """Torque rows, (N, entries), or (1, entries) where all share them."""
        values, lead = self.torque.values, self.torque.batch
        if not lead:
            return np.ascontiguousarray(values).reshape(1, -1)
        core = values.shape[len(lead) :]
        return np.ascontiguousarray(np.broadcast_to(values, (*self.batch, *core))).reshape(count, math.prod(core))


def _counts(state: FloatArray, batch: tuple[int, ...]) -> tuple[Any, Any, Any, Any]:
    columns = (_AT.status, _AT.accepted, _AT.rejections, _AT.evaluations)
    status, accepted, rejected, evaluations = (state[:, k].astype(int).reshape(batch) for k in columns)
    return status, accepted, rejected, evaluations


def _at(solution: Solution, t_eval: ArrayLike, counts: tuple[Any, Any, Any, Any]) -> Simulation:
    times = np.asarray(t_eval, dtype=float)
    reached = times <= solution.t[-1]
    q, qd = (np.full((len(times), solution.q.shape[-1]), np.nan) for _ in range(2))
    q[reached], qd[reached] = solution(times[reached])
    return Simulation(times, q, qd, *counts, solution)
