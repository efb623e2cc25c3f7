"""Many motions at once by a fixed time step: torque sequences in, trajectories out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..codegen import arguments, thread_count
from ..codegen.time_loop import TimeLoopKernel
from ..dynamics import engine, mass_matrix
from ..dynamics.system import AnySystem
from ..errors import ShapeError
from ..expr import Slot
from ..options import function
from .actions import Actions, acting_steps, actions_of
from .events import check_start
from .fixed import METHODS
from .kept_loops import loop_kernel
from .law_faults import ActingRows, LastState, fault_of
from .laws import InputRows, TorqueFunction, TorqueLaw, by_name, held_width, inputs_of, signals_of, states_of
from .results import MotionResult
from .rollout_run import HeldSamples, RolloutRun
from .states import finite_number, initial, positions_at, positive, together
from .sticking_steps import warn_of_jumps
from .stopping_steps import Stops, stops_of
from .torques import Torque
from .warn import warn_of_rollout


@dataclass(frozen=True, eq=False)
class Rollout(MotionResult):
    """Motions by a fixed step: row k of q and qd is the state at time t[k].

    Attributes
    ----------
    t : ndarray, shape (K,)
        Times of the rows [s].
    q, qd : ndarray, shape (..., K, n)
        Positions and velocities; row 0 is the initial state.
    finite : ndarray of bool, shape (...)
        Whether each motion ended in finite numbers.
    states : dict of str to ndarray, shape (..., K) or (..., K, k)
        Further states by name.
    x, xd : ndarray, shape (..., K, N), or None
        Positions of the joints of a mechanism's tree, and their rates, where motions went on in other coordinates than its own.
    tau, qdd, energies, power, balance, trajectory
        As those of `Simulation`, computed when first asked for, from the torques as they are then.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    finite: Any
    states: dict[str, FloatArray] = field(default_factory=dict)
    system: Any = None
    torque: Torque | Callable[[], Torque] | None = None
    x: FloatArray | None = None
    xd: FloatArray | None = None

    def __repr__(self) -> str:
        return brief(self, "finite", "states", "system", "torque", "x", "xd", all_finite=bool(np.all(self.finite)))

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
    stops: float | Mapping[str, float] | None = None,
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
        step, and in each stage of 'rk4' or turn of 'symplectic'. It may ask the model for its quantities (`inside`). With inputs
        or signals it is a function of (t, q, qd, p), and finds them as p.name.
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
    inputs : mapping of name to array_like, shape () or (..., k), optional
        Numbers that the function uses, such as gains: changing them compiles nothing, and each motion may have its own.
    signals : mapping of name to array_like, shape (..., T, k), optional
        Numbers that change with time, such as a reference: a row for each step.
    states : mapping of name to array_like, shape () or (..., k), optional
        Further states at the start, such as the integral of an error or the currents of motors; `tau` finds them as p.name.
    rates : function, optional
        The slopes of the states: a function of (t, q, qd, p) that returns {name: slope}, or the slope of a single state.
        'semi_implicit_euler' takes z + h ż; 'symplectic' takes no states.
    wrenches : mapping of link name (or 'tool') to array_like, shape (..., 6) or (..., G, 6), or function, optional
        Force and moment [f; m] on the robot at that frame's origin, in world axes, as in `simulate`: constant, samples at
        `wrench_times`, or a function as `tau` may be one.
    wrench_times : array_like, shape (G,), optional
        Times of the rows of `wrenches` [s], rising; a step takes the row in force at its start.
    parameters : array_like, shape (..., p), optional
        Dynamic parameters in the place of the robot's own, as in `simulate`; 'symplectic' takes none.
    saturate : bool or array_like, shape (..., n)
        Keep torques within limits: those of the model's joints (`Limits.effort`), or these magnitudes [N m | N].
    sample, delay : float, optional
        Time between two evaluations of the function in `tau`, and from one to when its torques come into force [s], as in
        `simulate`; both are whole numbers of steps. `states["held"]` are the torques in force.
    python : bool
        Call the function in `tau` as Python code, once every `sample`, as in `simulate`: slow, for what cannot be compiled.
    stops : float, or mapping of name to float, optional
        The limits of the joints, or of those that are named, are stops, as in `simulate`: the part of its speed that a joint
        keeps when it hits one. Decided once per step, not by 'symplectic'.
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
    checks.choice("method", method, METHODS)
    progress, threads = function("progress", progress), None if threads is None else thread_count(threads)
    batch, q, qd = initial(system, q0, qd0)
    actions = actions_of(system, wrenches, wrench_times, parameters, saturate, sample, delay, python, tau)
    user = tau if actions is None else actions.user(tau)
    numbers, sampled = inputs_of(inputs, user), signals_of(signals, user, None)
    further = _further(states, rates, user, method, numbers, sampled)
    kind, torques, lead, steps = _sequence(tau, engine.size(system), steps, numbers, sampled, further, rates)
    count, every = _count(steps, every)
    marks, callback = None, None
    if actions is not None:
        _refuse_parameters(actions, method)
        clock = count, finite_number("t_start", t_start), positive("dt", dt)
        acting = acting_steps(q.shape[-1], actions, kind, torques, clock, (numbers, sampled, further, rates))
        kind, (_, torques, lead), numbers, further, marks, callback = acting
    batch = together(together(together(batch, lead), numbers.batch), further.batch)
    q, qd = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, qd))
    rows, gains = _flat_rows(torques, batch), _flat_rows(numbers.values[..., None, :], batch)
    targets = _targets(out, batch, (count // every + 1, q.shape[-1]))
    results = [_adjacent(target, (q, qd, rows)) for target in targets]
    ends, kept = (None, np.zeros(0)) if stops is None else _ends(system, stops, kind, method, q, batch)
    settings = np.array([[positive("dt", dt), finite_number("t_start", t_start), every, *kept]])
    warn_of_jumps(system, kind, method)
    p = (mass_matrix(system, q) @ qd[..., None])[..., 0] if method == "symplectic" else np.zeros((1, q.shape[-1]))
    flat = [r.reshape(len(q), *r.shape[-2:]) for r in results]
    given = [rows, *([gains] if numbers.fields else []), *([] if marks is None else [marks])]
    z = [np.broadcast_to(further.values, (*batch, further.values.shape[-1])).reshape(len(q), -1)] if further.fields else []
    shown = [np.empty((len(q), count // every + 1, x.shape[-1])) for x in z]
    start = (q, qd, p, given, positions_at(system, q, batch), *z)
    samples = None if marks is None else HeldSamples(held_width(kind), callback, batch)
    run = RolloutRun(system, partial(_kernel, method, kind, ends), settings, start, [*flat, *shown], threads)
    run.steps(count, progress, samples)
    finite = np.isfinite(flat[0][:, -1]).all(-1) & np.isfinite(flat[1][:, -1]).all(-1)
    given_rows = torques, numbers, batch
    warn_of_rollout(
        finite, settings[0, 0], system, method, lambda: _fault(system, kind, given_rows, [*flat, *shown], settings[0])
    )
    if callback is not None:
        callback.tell("rollout")
    times = settings[0, 1] + settings[0, 0] * every * np.arange(count // every + 1.0)
    q, qd = map(_put, targets, results)
    values = [x.reshape(*batch, *x.shape[1:]) for x in shown]
    applied = partial(_applied, kind, torques, lead, numbers, further, times, every)
    named = by_name(further.fields, values[0]) if values else {}
    tree = [array.reshape(*batch, *array.shape[1:]) for array in run.tree or ()]
    return Rollout(times, q, qd, finite.reshape(batch), named, system, applied, *tree)


def _ends(
    system: AnySystem, stops: Any, kind: str | TorqueLaw, method: str, q: FloatArray, batch: tuple[int, ...]
) -> tuple[Stops, FloatArray]:
    """Where axes end, and the parts of their speeds that they keep there; a motion that begins beyond is refused."""
    occasions, found = stops_of(system, stops, kind, method)
    check_start(occasions, system, q, batch)
    return found, np.nan_to_num(occasions.restitution)


def _applied(
    kind: str | TorqueLaw, torques: FloatArray, lead: tuple[int, ...], numbers: InputRows, further: InputRows, t: Any, every: int
) -> Torque:
    """The torques of the steps, as those of `simulate`: rows are held from the time of their step on."""
    if torques.shape[-2] == 1 and kind != "rows":
        return Torque(kind, np.zeros((1, 1)), torques[..., 0, :], lead, numbers, further)
    steps = np.linspace(t[0], t[-1], torques.shape[-2] + 1)
    steps[::every] = t  # to the last bit, so that the row of a time is found
    values = np.concatenate([torques, torques[..., -1:, :]], axis=-2)
    return Torque("hold" if kind == "rows" else kind, steps[None], values, lead, numbers, further)


def _further(states: Any, rates: Any, tau: Any, method: str, *others: InputRows) -> InputRows:
    """Further states, for the methods that take them."""
    found = states_of(states, rates, tau, *others)
    if found.fields and method == "symplectic":
        raise ShapeError("method: 'symplectic' found together with states, which it does not take. Take 'rk4'.")
    return found


def _refuse_parameters(actions: Actions, method: str) -> None:
    if actions.parameters is not None and method == "symplectic":
        raise ShapeError("method: 'symplectic' found together with parameters, which it does not take. Take 'rk4'.")


def _sequence(
    tau: Any, n: int, steps: int | None, numbers: InputRows, sampled: InputRows, further: InputRows, rates: Any
) -> tuple[str | TorqueLaw, FloatArray, tuple[int, ...], int | None]:
    """How torques are read, as an array, their batch axes, and the number of steps."""
    if sampled.fields:
        steps = _rows_of("signals", sampled.values.shape[-2], steps)
    if tau is None:
        return "held", np.zeros((1, n)), (), steps
    if callable(tau):
        law = TorqueLaw(tau, numbers.fields, sampled.fields, states=further.fields, rates=rates)
        if not sampled.fields:
            return law, np.zeros((1, 1)), (), steps
        return law, sampled.values, sampled.batch, steps
    torques = arguments.real("tau", tau, f"(..., T, {n}), ({n},) or a function of (t, q, qd)")
    if torques.ndim == 0 or torques.shape[-1] != n:
        raise ShapeError(f"tau: shape {torques.shape} found, (..., T, {n}) or ({n},) expected.")
    if torques.ndim == 1:
        return "held", torques[None], (), steps
    return "rows", torques, torques.shape[:-2], _rows_of("tau", torques.shape[-2], steps)


def _rows_of(subject: str, rows: int, steps: Any) -> int:
    if steps is not None and checks.whole_number("steps", steps, 0) != rows:
        raise ShapeError(f"steps: {steps} found, but {subject} has {rows} rows, one for each step. Leave steps out.")
    return rows


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


def _kernel(
    method: str, kind: str | TorqueLaw, stops: Stops | None, system: AnySystem, *, single: bool, placed: bool
) -> TimeLoopKernel:
    """The compiled loop of a system, or of a chart of it."""
    options: dict[str, Any] = {"placed": True} if placed else {}

    def make() -> TimeLoopKernel:
        return TimeLoopKernel(METHODS[method](system, kind, stops, **options), single=single)

    return loop_kernel(system, "rollout", kind, (method, single, stops, placed), make)


def _fault(
    system: AnySystem,
    kind: str | TorqueLaw,
    given: tuple[FloatArray, InputRows, tuple[int, ...]],
    rows: list[FloatArray],
    settings: FloatArray,
) -> str | None:
    """What was not finite where the first motion left the finite numbers, in a sentence, if it can be told."""
    finite: Any = np.isfinite(rows[0]).all(-1) & np.isfinite(rows[1]).all(-1)
    motion = int(np.argmax(~finite[:, -1]))
    row = int(np.argmin(finite[motion])) - 1
    if row < 0:
        return None
    z = rows[2][motion, row] if len(rows) > 2 else np.empty(0)
    (dt, t_start, every), (torques, numbers, batch) = settings[:3], given
    known = ActingRows(t_start + dt * np.arange(torques.shape[-2], dtype=np.float64), torques, "hold", numbers, batch)
    return fault_of(
        system, kind, known, LastState(motion, t_start + dt * every * row, rows[0][motion, row], rows[1][motion, row], z)
    )
