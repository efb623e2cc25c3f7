"""Many motions at once by a fixed time step: torque sequences in, trajectories out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..codegen import arguments, thread_count
from ..codegen.time_loop import TimeLoopKernel
from ..dynamics import engine, mass_matrix
from ..dynamics.system import AnySystem, Request
from ..errors import ShapeError
from ..expr import Slot
from ..options import function
from .fixed import METHODS
from .plant import TorqueFunction
from .states import finite_number, initial, positive, together
from .warn import warn_of_rollout

_CALLS = 50  # time is cut into about as many pieces when progress is to be told


@dataclass(frozen=True, eq=False)
class Rollout:
    """Motions by a fixed step: row k of q and qd is the state at time t[k].

    Attributes
    ----------
    t : ndarray, shape (K,)
        Times of the rows [s].
    q, qd : ndarray, shape (..., K, n)
        Positions and velocities; row 0 is the initial state.
    finite : ndarray of bool, shape (...)
        Whether each motion ended in finite numbers.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    finite: Any

    def __repr__(self) -> str:
        return brief(self, "finite", all_finite=bool(np.all(self.finite)))

    @property
    def message(self) -> str:
        """How it went, in a sentence."""
        lost = int(np.size(self.finite) - np.count_nonzero(self.finite))
        if lost == 0:
            return "Every motion stayed finite."
        return (
            f"{lost} of {np.size(self.finite)} motions left the finite numbers (see `finite`). Take a smaller dt, or look at the "
            "torques and the initial states of these."
        )


def rollout(
    system: AnySystem,
    q0: ArrayLike,
    qd0: ArrayLike,
    tau: ArrayLike | TorqueFunction | None,
    *,
    dt: float,
    steps: int | None = None,
    method: str = "semi_implicit_euler",
    every: int = 1,
    t_start: float = 0.0,
    out: tuple[FloatArray, FloatArray] | Rollout | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Rollout:
    """Motions from many initial states under torque sequences, by a fixed time step.

    The whole time loop is one kernel, a SIMD lane per motion; a new number of steps needs no new kernel. Where accuracy matters
    more than throughput, `simulate` chooses its own steps.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q0, qd0 : array_like, shape (..., n)
        Initial positions [rad | m] and velocities; leading axes are the batch and broadcast.
    tau : array_like, shape (..., T, n) or (n,), or function, or None
        Joint torques [N m | N], one row for each step and held during it; a single row (n,) is held for all steps; None is no
        torque. A function of (t, q, qd) over scalars, such as a controller, is compiled into the loop; it is evaluated once a
        step, and in each stage of 'rk4' or turn of 'symplectic'.
    dt : float
        The time step [s].
    steps : int, optional
        The number of steps, where `tau` does not say it.
    method : {'semi_implicit_euler', 'rk4', 'symplectic'}
        First order with one evaluation a step; fourth with four; second, implicit, with bounded energy error over long times.
    every : int
        Keep one state in so many, to save memory; it divides the number of steps. `every=steps` keeps the last one.
    t_start : float
        Time at the first row [s].
    out : tuple of two ndarrays, shape (..., T // every + 1, n), or Rollout, optional
        Where to put q and qd; an earlier result will do.
    threads : int, optional
        How many threads to use; by default `DALEMBERT_NUM_THREADS`, else all cores.
    progress : function, optional
        Called now and then with the fraction done.

    Returns
    -------
    Rollout
        With t, q, qd, and `finite`, which tells the motions that broke down from the others.

    Warns
    -----
    DalembertWarning
        With code 'motion-failed', if any did.

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.rollout(dal.robots.pendulum(), [0.5], [0.0], None, dt=1e-3, steps=100)
    >>> motion.q.shape
    (101, 1)
    """
    integrator = checks.choice("method", method, METHODS)
    progress, threads = function("progress", progress), None if threads is None else thread_count(threads)
    batch, q, qd = initial(system, q0, qd0)
    kind, torques, lead, steps = _sequence(tau, engine.size(system), steps)
    count, every = _count(steps, every)
    batch = together(batch, lead)
    q, qd = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, qd))
    rows = _flat_rows(torques, batch)
    targets = _targets(out, batch, (count // every + 1, q.shape[-1]))
    results = [_adjacent(target, (q, qd, rows)) for target in targets]
    settings = np.array([[positive("dt", dt), finite_number("t_start", t_start), every]])
    loop = _kernel(system, method, integrator, kind)
    p = (mass_matrix(system, q) @ qd[..., None])[..., 0] if method == "symplectic" else np.zeros((1, q.shape[-1]))
    flat = [r.reshape(len(q), *r.shape[-2:]) for r in results]
    _run(loop, settings, count, (q, qd, p, rows), flat, threads, progress)
    finite = np.isfinite(flat[0][:, -1]).all(-1) & np.isfinite(flat[1][:, -1]).all(-1)
    warn_of_rollout(finite, settings[0, 0])
    times = settings[0, 1] + settings[0, 0] * every * np.arange(count // every + 1.0)
    q, qd = map(_put, targets, results)
    return Rollout(times, q, qd, finite.reshape(batch))


def _sequence(tau: Any, n: int, steps: int | None) -> tuple[str | TorqueFunction, FloatArray, tuple[int, ...], int | None]:
    """How torques are read, as an array, their batch axes, and the number of steps."""
    if tau is None or callable(tau):
        return "held" if tau is None else tau, np.zeros((1, n)), (), steps
    torques = arguments.real("tau", tau, f"(..., T, {n}), ({n},) or a function of (t, q, qd)")
    if torques.ndim == 0 or torques.shape[-1] != n:
        raise ShapeError(f"tau: shape {torques.shape} found, (..., T, {n}) or ({n},) expected.")
    if torques.ndim == 1:
        return "held", torques[None], (), steps
    if steps is not None and checks.whole_number("steps", steps, 0) != torques.shape[-2]:
        raise ShapeError(f"steps: {steps} found, but tau has {torques.shape[-2]} rows, one for each step. Leave steps out.")
    return "rows", torques, torques.shape[:-2], torques.shape[-2]


def _count(steps: Any, every: Any) -> tuple[int, int]:
    if steps is None:
        raise ShapeError("steps: without torque rows the number of steps is not known. Give steps=...")
    count, kept = checks.whole_number("steps", steps, 0), checks.whole_number("every", every, 1)
    if count % kept:
        raise ShapeError(f"every: {kept} found, which does not divide the {count} steps. Take a divisor, or other steps.")
    return count, kept


def _flat_rows(torques: FloatArray, whole: tuple[int, ...]) -> FloatArray:
    """One row of torques per motion, (N, T n), or a single one that all share."""
    *lead, count, n = (1, *torques.shape)[-max(torques.ndim, 2) :]
    if set(lead) <= {1}:
        return np.ascontiguousarray(torques).reshape(1, -1)
    return np.ascontiguousarray(np.broadcast_to(torques, (*whole, count, n))).reshape(-1, count * n)


def _targets(out: Any, batch: tuple[int, ...], core: tuple[int, ...]) -> tuple[FloatArray, ...]:
    """Where q and qd are wanted."""
    if out is None:
        return tuple(np.empty(batch + core) for _ in range(2))
    return arguments.targets((Slot("q", core), Slot("qd", core)), (out.q, out.qd) if isinstance(out, Rollout) else out, batch)


def _adjacent(target: FloatArray, inputs: Sequence[FloatArray]) -> FloatArray:
    """The target itself, if the loop can write there as it goes; else an array to copy from."""
    free = target.flags.carray and not any(np.may_share_memory(target, x) for x in inputs)
    return target if free else np.empty(target.shape)


def _put(target: FloatArray, result: FloatArray) -> FloatArray:
    if target is not result:
        target[...] = result
    return target


def _kernel(system: AnySystem, method: str, integrator: Any, kind: str | TorqueFunction) -> TimeLoopKernel:
    """The compiled loop; one with a user's function is traced anew, as what the function refers to may have changed."""
    if not isinstance(kind, str):
        return TimeLoopKernel(integrator(system, kind))
    return engine.kept(system, Request("rollout", (method, kind)), lambda: TimeLoopKernel(integrator(system, kind)))


def _run(
    loop: TimeLoopKernel,
    settings: FloatArray,
    count: int,
    start: tuple[FloatArray, ...],
    results: list[FloatArray],
    threads: int | None,
    progress: Callable[[float], None] | None,
) -> None:
    """Row 0, then all steps; in several calls that hand on the state, where somebody wants to know how far they are, and where
    a motion takes so long that a Ctrl-C would have to wait.
    """
    q, qd, p, rows = start
    results[0][:, 0], results[1][:, 0] = q, qd
    every = int(settings[0, 2])
    chunk = min(max(1, -(-count // every // _CALLS)) * every if progress else max(count, 1), loop.turns)
    state = [np.ascontiguousarray(x) for x in (q, qd, p)]
    ends = [np.empty(q.shape) for _ in range(3)]
    for first in range(0, count, chunk):
        done = min(chunk, count - first)
        counters = np.array([[float(first), 1.0 + first // every, float(first % every), float(done)]])
        loop([settings, counters, *state, rows], [*results, *ends], turns=done, threads=threads)
        state, ends = ends, [np.empty(q.shape) for _ in range(3)]
        if progress:
            progress((first + done) / count)
