"""Motion of a system under the voltages of its motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics.system import AnySystem
from ..errors import ShapeError
from ..model import DriveTrain
from ..options import mapping
from ..simulate import Event, Simulation, simulate
from ..simulate.commands import Actuators, Commanded, CommandWords
from ..simulate.sampling import nothing_to_sample
from .driven import driven
from .electrical_laws import motor_laws

VOLTAGE = CommandWords(option="voltage", noun="voltage", owners="motors", held="v")
"""What a controller of motors commands; laws of motors read it as p.v."""


def simulate_motors(
    system: AnySystem,
    q0: ArrayLike,
    qd0: ArrayLike,
    *,
    voltage: ArrayLike | Callable[..., Any],
    voltage_times: ArrayLike | None = None,
    voltage_between: str = "linear",
    current: ArrayLike | None = None,
    drive: DriveTrain | None = None,
    t_end: float | None = None,
    t_eval: ArrayLike | None = None,
    t_start: float = 0.0,
    inputs: Mapping[str, ArrayLike] | None = None,
    wrenches: Mapping[str, ArrayLike | Callable[..., Any]] | None = None,
    wrench_times: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    sample: float | None = None,
    delay: float = 0.0,
    python: bool = False,
    events: Sequence[Event] | None = None,
    stops: float | Mapping[str, float] | None = None,
    method: str = "dop853",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float = np.inf,
    max_steps: int = 100_000,
    dense: bool = False,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Motion under the voltages of the motors: L di/dt = v − R i − k_e T q̇, τ = Tᵀ k_t i, with error control.

    Voltages are kept within the limits of the motors, and currents grow no further at theirs. Currents are further states of the
    integration, those of motors without inductance follow from voltage and speed. As in `simulate`, the whole loop is compiled,
    and a controller may be a digital one, which is sampled (`sample`, `delay`).

    Parameters
    ----------
    system : Robot or System
        With n coordinates, driven by m motors.
    q0, qd0 : array_like, shape (..., n)
        Initial positions [rad | m] and velocities; leading axes are the batch and broadcast.
    voltage : array_like, shape (..., m) or (..., G, m), or function
        [V]: constant, or samples at `voltage_times`, or a function of (t, q, qd, p) over scalars, such as a controller; it finds
        the currents as p.i and inputs as p.name.
    voltage_times : array_like, shape (G,), optional
        Times [s] of the samples, rising; outside of them the first and the last row hold.
    voltage_between : {'linear', 'hold'}
        Voltages between two samples.
    current : array_like, shape (..., k), optional
        Initial currents [A] of the k motors with inductance; 0 if left out.
    drive : DriveTrain, optional
        The motors; those of the joints if left out.
    sample : float, optional
        Evaluate the function in `voltage` every so many seconds from the start on, and hold what it returns, as a digital
        controller does; `states["v"]` are the voltages that are held. Currents go on all the time.
    delay : float
        Time from a sample to when its voltages come into force [s], for computing and transport; it may be parts or multiples of
        `sample`. Before the first ones arrive, those of the start are in force.
    python : bool
        Call the function in `voltage` as Python code, once every `sample`, with arrays q and qd of shape (..., n) and p.i of
        shape (..., k) of all motions: for functions that cannot be compiled. It is slow, and says so.
    method : {'dop853', 'adams', 'rosenbrock'}
        As in `simulate`; 'rosenbrock' where currents settle much faster than the motion, L / R against its times.
    t_end, t_eval, t_start, inputs, wrenches, wrench_times, parameters, rtol, atol, max_step, max_steps, dense, threads, progress
        As in `simulate`.
    events, stops
        As in `simulate`; a system that takes the place of another has the same motors.

    Returns
    -------
    Simulation
        With the currents of motors with inductance in `states["i"]`, shape (..., K, k), and of a sampled controller the voltages
        that are held, before limits, in `states["v"]`, shape (..., K, m).

    Examples
    --------
    >>> import dalembert as dal

    A motor that turns a rod in the horizontal plane runs up to the speed at which its back-EMF is the voltage:

    >>> rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    >>> motor = dal.Motor(resistance=2.0, torque_constant=0.1, inductance=1e-3, ratio=50.0)
    >>> motion = dal.simulate_motors(rod.with_motors({"pivot": motor}), [0.0], [0.0], voltage=[10.0], t_end=1.0)
    >>> round(float(motion.qd[-1, 0]), 4)  # 10 V / (50 · 0.1 V s)
    2.0
    """
    use = driven(system, drive)
    given = _given_voltage(voltage, voltage_times, voltage_between, len(use.train.motors))
    if not callable(voltage) and (sample is not None or python is not False):
        raise nothing_to_sample("python" if sample is None else "sample", VOLTAGE.option)
    law, rates = motor_laws(use.train)
    if rates is None and current is not None:
        raise ShapeError("current: found, but no motor has an inductance, so that the current follows from the voltage at once.")
    given["inputs"] = _inputs(given.get("inputs", {}), inputs)
    if rates is not None:
        given |= {"rates": rates, "states": _currents(use.train, current)}
    given["tau"] = Commanded(voltage, Actuators(VOLTAGE, tuple(use.train.motors), law)) if callable(voltage) else law
    given |= {"sample": sample, "delay": delay, "python": python}
    steps: dict[str, Any] = {"method": method, "rtol": rtol, "atol": atol, "max_step": max_step, "max_steps": max_steps}
    times: dict[str, Any] = {"t_end": t_end, "t_eval": t_eval, "t_start": t_start, "dense": dense}
    pushes: dict[str, Any] = {"wrenches": wrenches, "wrench_times": wrench_times, "parameters": parameters}
    meets: dict[str, Any] = {"events": _with_motors(events, drive), "stops": stops}
    return simulate(use.plant, q0, qd0, threads=threads, progress=progress, **given, **pushes, **meets, **steps, **times)


def _with_motors(events: Any, drive: DriveTrain | None) -> Any:
    """Events whose other systems are driven by the same train."""
    if drive is None or not isinstance(events, (list, tuple)):
        return events
    changes = [isinstance(event, Event) and event.system is not None for event in events]
    pairs = zip(events, changes, strict=True)
    return [replace(event, system=driven(event.system, drive).plant) if change else event for event, change in pairs]


def _inputs(own: dict[str, Any], inputs: Any) -> dict[str, Any]:
    """The user's inputs, and voltages among them that are constant."""
    given = {} if inputs is None else mapping("inputs", inputs, "{'kp': 100.0}")
    if own.keys() & given.keys():
        raise ShapeError(f"inputs: {VOLTAGE.held!r} found, which is the name of the voltage here. Rename it.")
    return {**own, **given}


def _given_voltage(voltage: Any, times: Any, between: str, m: int) -> dict[str, Any]:
    """Voltages as an input, as signals, or nothing, where they are a function."""
    if callable(voltage):
        if times is not None:
            raise ShapeError("voltage_times: found with a function in voltage. Leave it out, or sample the voltage.")
        return {}
    values: FloatArray = real("voltage", voltage, f"(..., {m}), (..., G, {m}) or a function of (t, q, qd, p)")
    if values.ndim == 0 or values.shape[-1] != m:
        raise ShapeError(f"voltage: shape {values.shape} found, (..., {m}) expected, one for each motor.")
    if times is None:
        return {"inputs": {VOLTAGE.held: values}}
    if values.ndim < 2:
        raise ShapeError(f"voltage: shape {values.shape} found, (..., G, {m}) expected: a row for each of voltage_times.")
    return {"signals": {VOLTAGE.held: values}, "tau_times": times, "tau_between": between}


def _currents(train: DriveTrain, current: Any) -> dict[str, Any]:
    k = int((train.column("inductance") > 0).sum())
    values = np.zeros(k) if current is None else real("current", current, f"(..., {k})")
    if values.ndim == 0 or values.shape[-1] != k:
        raise ShapeError(f"current: shape {values.shape} found, (..., {k}) expected, one for each motor with inductance.")
    return {"i": values}


__all__ = ["simulate_motors"]
