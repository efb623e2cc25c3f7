"""What users give for a motion to begin with, checked once."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import engine
from ..dynamics.system import AnySystem, solves
from ..errors import ShapeError
from ..wording import shown


def initial(system: AnySystem, q0: ArrayLike, qd0: ArrayLike) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """The batch axes and the initial state."""
    n = engine.size(system)
    q, qd = (_coordinates(name, x, n) for name, x in (("q0", q0), ("qd0", qd0)))
    axes = {"q0": q.shape[:-1], "qd0": qd.shape[:-1]}
    if hasattr(system, "leading"):  # a mechanism at given positions
        axes["positions"] = system.leading
    if len(set(axes.values())) == 1:
        return axes["q0"], q, qd
    try:
        batch = np.broadcast_shapes(*axes.values())
    except ValueError:
        listing = ", ".join(f"{name} {shape}" for name, shape in axes.items())
        raise ShapeError(f"batch: leading axes do not broadcast together: {listing}.") from None
    return batch, q, qd


def positions_at(system: AnySystem, q: FloatArray, batch: tuple[int, ...]) -> FloatArray | None:
    """The positions at initial coordinates (N, n), one row for each, where the system solves for any."""
    view = engine.system_of(system)
    if not solves(view):
        return None
    found = np.asarray(view.positions_at(q.reshape(*batch, q.shape[-1])))  # one configuration without positions is refused there
    if found.shape[:-1] != batch:  # positions may be given for all at once
        found = np.broadcast_to(found, (*batch, found.shape[-1]))
    return np.ascontiguousarray(found).reshape(len(q), found.shape[-1])


def together(states: tuple[int, ...], torques: tuple[int, ...]) -> tuple[int, ...]:
    """The batch axes of initial states and torques, broadcast."""
    if states == torques:
        return states
    try:
        return np.broadcast_shapes(states, torques)
    except ValueError:
        raise ShapeError(f"batch: leading axes do not broadcast together: initial states {states}, tau {torques}.") from None


def _coordinates(name: str, value: ArrayLike, n: int) -> FloatArray:
    array = real(name, value, f"(..., {n})")
    if array.ndim == 0 or array.shape[-1] != n:
        raise ShapeError(f"{name}: shape {array.shape} found, (..., {n}) expected.")
    return array


def rising_times(name: str, value: Any, *, apart: bool = False) -> FloatArray:
    """A row of finite times in rising order, each after the one before if they have to be apart."""
    times = real(name, value, "(K,)")
    if times.ndim == 1 and times.size and np.isfinite(times).all():
        steps = np.diff(times)
        if not np.any(steps <= 0 if apart else steps < 0):
            return times
    how = "a row of finite times, each after the one before," if apart else "a row of finite times in rising order"
    raise ShapeError(f"{name}: {how} is expected.")


def finite_number(name: str, value: Any) -> float:
    """A number that is neither NaN nor infinite."""
    if type(value) is float and isfinite(value):
        return value
    scalar = value.item() if isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0 else value
    if isinstance(scalar, bool) or not isinstance(scalar, Real):
        raise ShapeError(f"{name}: {shown(value)} found, a number is expected.")
    try:
        number = float(scalar)
    except OverflowError:
        number = np.inf
    if not isfinite(number):
        raise ShapeError(f"{name}: {number} found, a finite number is expected.")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = finite_number(name, value)
    if number <= 0.0:
        raise ShapeError(f"{name}: {number} found, a number above 0 is expected.")
    return number
