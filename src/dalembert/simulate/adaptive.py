"""Motions with error control: an adaptive method compiled around the robot's dynamics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import thread_count
from ..dynamics import engine
from ..dynamics.system import AnySystem
from ..errors import ShapeError, UnknownNameError
from ..options import function
from . import adams, dop853, rosenbrock
from .actions import acting_torque, actions_of
from .adaptive_run import Run
from .commands import split
from .dry_events import friction_first
from .dry_friction import jumping_joints
from .events import Event, Occasions, check_start, occasions_of
from .integrator import Integrator
from .laws import TorqueFunction
from .solution import Simulation
from .states import finite_number, initial, positive, rising_times, together
from .torques import torque_of
from .warn import warn_of_simulation

_SMALLEST_RTOL = 100 * np.finfo(float).eps

METHODS: dict[str, type[Integrator]] = {
    "dop853": dop853.Dop853,
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
        The limits of the joints, those within loops too, or of those that are named, are stops: the part of its speed that a
        joint keeps when it hits one, from 0 (it stays there until something pulls it away) to 1.
    t_start : float
        Start of the interval [s].
    method : {'dop853', 'adams', 'rosenbrock'}
        Explicit Runge-Kutta method of order 8; Adams method of orders 1 to 12, which takes fewer evaluations; or Rodas5P,
        linearly implicit of order 5, for stiff motions. All of them know dry friction, stops and events.
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
        'friction-smoothed', if dry friction acts at too many joints to hold single ones, and was smoothed.

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
    tau, actuators = split(tau)
    interval = _interval(t_start, t_end, t_eval)
    actions = actions_of(system, wrenches, wrench_times, parameters, saturate, sample, delay, python, tau, actuators)
    occasions = None
    given = None if actions is None else actions.dry
    if events is not None or stops is not None or jumping_joints(system, given):
        system, occasions = friction_first(system, occasions_of(system, events, stops, interval, given), given)
    numbers = inputs, signals, states, rates
    if actions is None:
        torque = torque_of(engine.size(system), tau, tau_times, tau_between, interval[0], *numbers, actuators)
    else:
        torque = acting_torque(engine.size(system), actions, tau, tau_times, tau_between, interval, numbers)
    batch = together(batch, torque.batch)
    settings = _settings(interval, rtol, atol, max_step, first_step, max_steps)
    n, single = engine.size(system), not batch
    q, qd = ((x if x.shape == (*batch, n) else np.broadcast_to(x, (*batch, n))).reshape(-1, n) for x in (q, qd))

    def moved(system: AnySystem, occasions: Occasions | None) -> tuple[Simulation, Run]:
        run = Run(system, torque, settings, batch, threads, progress, integrator, occasions)
        if dense and not single:
            return run.dense_batch(q, qd, interval, t_eval), run
        if dense or (single and t_eval is None):
            return run.steps(q, qd, interval, t_eval, dense), run
        return run.points(q, qd, interval, [interval[0], interval[1]] if t_eval is None else t_eval), run

    if occasions is not None:
        check_start(occasions, system, q, batch)
    found, run = moved(system, occasions)
    warn_of_simulation(found, system, run.fault)
    if torque.python is not None:
        torque.python.tell("simulate")
    return found


def _integrator(method: str) -> type[Integrator]:
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
                0.0,  # the budget of a call, which says it
                1.0,
            ]
        ]
    )
