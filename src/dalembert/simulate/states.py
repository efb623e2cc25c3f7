"""What users give for a motion to begin with, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..dynamics import engine
from ..errors import DalembertError, ShapeError
from ..model import Robot


def initial(system: Robot, q0: ArrayLike, qd0: ArrayLike) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """The batch axes and the initial state."""
    if not isinstance(system, Robot):
        raise DalembertError(
            f"system: {type(system).__name__} found, a Robot is expected. Try dal.load(name_or_path) or dal.robots."
        )
    n = engine.tree(system).n
    q, qd = (_coordinates(name, x, n) for name, x in (("q0", q0), ("qd0", qd0)))
    try:
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
    except ValueError:
        raise ShapeError(f"batch: leading axes do not broadcast together: q0 {q.shape[:-1]}, qd0 {qd.shape[:-1]}.") from None
    return batch, q, qd


def together(states: tuple[int, ...], torques: tuple[int, ...]) -> tuple[int, ...]:
    """The batch axes of initial states and torques, broadcast."""
    try:
        return np.broadcast_shapes(states, torques)
    except ValueError:
        raise ShapeError(f"batch: leading axes do not broadcast together: initial states {states}, tau {torques}.") from None


def _coordinates(name: str, value: ArrayLike, n: int) -> FloatArray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"{name}: no array of numbers found; shape (..., {n}) is expected.") from None
    if array.ndim == 0 or array.shape[-1] != n:
        raise ShapeError(f"{name}: shape {array.shape} found, (..., {n}) expected.")
    return array


def finite_number(name: str, value: Any) -> float:
    """A number that is neither NaN nor infinite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ShapeError(f"{name}: {value!r} found, a number is expected.") from None
    if not np.isfinite(number):
        raise ShapeError(f"{name}: {number} found, a finite number is expected.")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = finite_number(name, value)
    if number <= 0.0:
        raise ShapeError(f"{name}: {number} found, a number above 0 is expected.")
    return number
