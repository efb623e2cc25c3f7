"""The torques of a motion with error control: constant, sampled in time, or by a law."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..codegen.arguments import real
from ..errors import ShapeError
from .commands import Actuators
from .laws import InputRows, TorqueLaw, inputs_of, signals_of, states_of
from .states import rising_times, together


class Torque(NamedTuple):
    """How torques enter: a kind of kernel or a law, the times of samples, rows of values, inputs, further states and marks.

    The marks say what a sampled law does at each of the times, see `sampling`; `python` is one that is not compiled.
    """

    kind: str | TorqueLaw
    grid: FloatArray
    values: FloatArray
    batch: tuple[int, ...] = ()
    inputs: InputRows | None = None
    states: InputRows | None = None
    marks: FloatArray | None = None
    python: Any = None


def torque_of(
    n: int,
    tau: Any,
    times: Any,
    between: str,
    t_start: float,
    inputs: Any,
    signals: Any,
    states: Any = None,
    rates: Any = None,
    actuators: Actuators | None = None,
) -> Torque:
    """What users give for the torques of n coordinates, checked once."""
    none = np.zeros((1, 1))
    kind = checks.choice("tau_between", between, BETWEEN)
    grid = None if times is None else rising_times("tau_times", times, apart=True)
    numbers, sampled = inputs_of(inputs, tau), signals_of(signals, tau, None if grid is None else len(grid))
    further = states_of(states, rates, tau, numbers, sampled)
    if sampled.fields and grid is None:
        raise ShapeError("signals: found without tau_times, the times of their rows. Give tau_times=...")
    if tau is None or callable(tau):
        if grid is not None and not sampled.fields:
            raise ShapeError(
                "tau_times: found without an array of samples in tau, or signals. Leave it out, or sample the torque."
            )
        if tau is None:
            return Torque("held", none, np.zeros((1, n)))
        law = TorqueLaw(tau, numbers.fields, sampled.fields, kind, further.fields, rates, actuators)
        batch = together(numbers.batch, further.batch)
        if grid is None:
            return Torque(law, none, np.zeros((1, 1)), batch, numbers, further)
        rows = _extended(sampled.values, grid, law, t_start)
        batch = together(sampled.batch, batch)
        return rows._replace(batch=batch, values=_broadcast(rows.values, batch, 2), inputs=numbers, states=further)
    if grid is None:
        values = constant_torque(n, tau)
        return Torque("held", none, values, values.shape[:-1])
    return _extended(sampled_torque(n, tau, len(grid)), grid, kind, t_start)


def constant_torque(n: int, tau: Any) -> FloatArray:
    """Torques that stay the same, (..., n)."""
    values = _real(n, tau)
    if values.ndim == 0 or values.shape[-1] != n:
        raise ShapeError(f"tau: shape {values.shape} found, (..., {n}) expected for a constant torque.")
    return values


def sampled_torque(n: int, tau: Any, rows: int) -> FloatArray:
    """Torques with a row for each time, (..., rows, n)."""
    values = _real(n, tau)
    if values.ndim < 2 or values.shape[-2:] != (rows, n):
        raise ShapeError(f"tau: shape {values.shape} found, (..., {rows}, {n}) expected: a row for each of tau_times.")
    return values


def _real(n: int, tau: Any) -> FloatArray:
    return real("tau", tau, f"(..., {n}), (..., G, {n}) or a function of (t, q, qd)")


BETWEEN = {"hold": "hold", "linear": "linear"}


def _extended(values: FloatArray, grid: FloatArray, kind: str | TorqueLaw, t_start: float) -> Torque:
    """Samples that begin no later than the motion, their last row repeated at the end of time."""
    if grid[0] > t_start:
        grid, values = np.append(t_start, grid), np.concatenate([values[..., :1, :], values], axis=-2)
    values = np.concatenate([values, values[..., -1:, :]], axis=-2)
    return Torque(kind, np.append(grid, np.inf)[None], values, values.shape[:-2])


def _broadcast(values: FloatArray, batch: tuple[int, ...], core: int) -> FloatArray:
    """Values for each motion, if any batch axes are there at all."""
    return values if values.ndim == core else np.broadcast_to(values, (*batch, *values.shape[-core:]))


__all__ = ["BETWEEN", "Torque", "constant_torque", "sampled_torque", "torque_of"]
