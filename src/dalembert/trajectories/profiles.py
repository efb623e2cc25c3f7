"""Point-to-point motions whose velocity is a triangle or a trapezoid over time [Siciliano, Example 7.2].

With the distance d, the duration T and the time t_a of acceleration (and of braking), the velocity in between is
v = d / (T − t_a), the acceleration is a = v / t_a, and for 0 ≤ t ≤ T

    x = a t²/2,            ẋ = a t,         ẍ = a     for t < t_a             (1)
    x = v (t − t_a/2),     ẋ = v,           ẍ = 0     for t_a ≤ t < T − t_a   (2)
    x = d − a (T − t)²/2,  ẋ = a (T − t),   ẍ = −a    for T − t_a ≤ t ≤ T     (3)

A triangle is the case t_a = T/2. Before and after the motion, the robot rests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..brief import brief
from ..checks import FloatArray
from ..errors import ShapeError
from ..wording import listed


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples of a motion: times t, shape (k,), and q, q̇, q̈ at them, each of shape (k, n)."""

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray

    def __repr__(self) -> str:
        return brief(self)


def trapezoidal(
    t: ArrayLike, start: ArrayLike, end: ArrayLike, *, duration: ArrayLike, acceleration_time: ArrayLike
) -> Trajectory:
    """From rest to rest with a trapezoidal velocity.

    Parameters
    ----------
    t : array_like, shape (k,)
        Times [s]; the motion begins at 0.
    start, end : array_like, shape (n,)
        Joint positions, or coordinates of a point on a line.
    duration, acceleration_time : array_like, shape () or (n,)
        T and t_a [s] of all coordinates or of each; 0 < t_a ≤ T/2.

    Returns
    -------
    Trajectory

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectories.trapezoidal([0, 1, 2, 3, 4], [0.0], [3.0], duration=4, acceleration_time=1)
    >>> motion.q[:, 0]
    array([0. , 0.5, 1.5, 2.5, 3. ])
    >>> motion.qd[:, 0]
    array([0., 1., 1., 1., 0.])
    """
    times, begin, way = _arguments(t, start, end)
    T = _of_each("duration", duration, begin)
    ta = _of_each("acceleration_time", acceleration_time, begin)
    _check(T, ta)
    v = way / (T - ta)
    a = v / ta
    t = times[:, None]
    left = T - t
    phases = [(t >= 0) & (t < ta), (t >= ta) & (left > ta), (t >= ta) & (left <= ta) & (left >= 0), left < 0]
    x = np.select(phases, [a * t**2 / 2, v * (t - ta / 2), way - a * left**2 / 2, way + 0.0 * t])
    return Trajectory(
        times,
        begin + x,
        np.select(phases, [a * t, v + 0.0 * t, a * left, 0.0 * t]),
        np.select(phases, [a + 0.0 * t, 0.0 * t, -a + 0.0 * t, 0.0 * t]),
    )


def triangular(t: ArrayLike, start: ArrayLike, end: ArrayLike, *, duration: ArrayLike) -> Trajectory:
    """From rest to rest with a triangular velocity: accelerating for half the time, braking for the other half.

    Parameters
    ----------
    t, start, end, duration
        As in `trapezoidal`, of shape (k,), (n,), (n,) and () or (n,).

    Returns
    -------
    Trajectory

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectories.triangular([0, 1, 2], [0.0], [1.0], duration=2).qd[:, 0]
    array([0., 1., 0.])
    """
    return trapezoidal(t, start, end, duration=duration, acceleration_time=_finite("duration", duration) / 2)


def duration_at(start: ArrayLike, end: ArrayLike, *, velocity: ArrayLike, acceleration_time: ArrayLike) -> FloatArray:
    """How long each coordinate takes at this velocity: |d|/v + t_a, or 2 t_a where the distance is too short to reach it.

    Parameters
    ----------
    start, end : array_like, shape (n,)
        Where the motion begins and ends.
    velocity, acceleration_time : array_like, shape () or (n,)
        Largest velocity, and the time to reach it [s]; both positive.

    Returns
    -------
    duration : ndarray, shape (n,), [s]

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectories.duration_at([0.0, 0.0], [3.0, 0.1], velocity=1.0, acceleration_time=0.5)
    array([3.5, 1. ])
    """
    _, way = _ends(start, end)
    v, ta = _of_each("velocity", velocity, way), _of_each("acceleration_time", acceleration_time, way)
    if not (np.all(v > 0) and np.all(ta > 0)):
        raise ShapeError(f"velocity, acceleration_time: {_listed(v)}, {_listed(ta)} found; both need to be positive.")
    return np.maximum(np.abs(way) / v, ta) + ta


def _arguments(t: ArrayLike, start: ArrayLike, end: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    times = _finite("t", t).copy()
    if times.ndim != 1:
        raise ShapeError(f"t: shape {times.shape} found, (k,) expected: one time per sample.")
    return times, *_ends(start, end)


def _ends(start: ArrayLike, end: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Where the motion begins, and its distance."""
    begin, finish = _finite("start", start), _finite("end", end)
    if begin.ndim != 1 or begin.shape != finish.shape:
        raise ShapeError(f"start, end: shapes {begin.shape} and {finish.shape} found, (n,) twice expected.")
    return begin, finish - begin


def _of_each(subject: str, value: ArrayLike, like: FloatArray) -> FloatArray:
    """A value of all coordinates, or one of each."""
    found = _finite(subject, value)
    if found.shape not in ((), like.shape):
        raise ShapeError(f"{subject}: shape {found.shape} found, () or {like.shape} expected: one for all, or one of each.")
    return np.broadcast_to(found, like.shape)


def _finite(subject: str, value: ArrayLike) -> FloatArray:
    found = checks.numbers(subject, value, error=ShapeError)
    if not np.isfinite(found).all():
        raise ShapeError(f"{subject}: {checks.describe(found)} contains NaN or infinity; a motion needs finite numbers.")
    return found


def _check(duration: FloatArray, acceleration_time: FloatArray) -> None:
    if not np.all((acceleration_time > 0) & (acceleration_time <= duration / 2)):
        raise ShapeError(
            f"acceleration_time: {_listed(acceleration_time)} s found for a duration of {_listed(duration)} s; it needs to be "
            "positive and at most half of it. Give a longer duration."
        )


def _listed(values: FloatArray) -> str:
    return listed(f"{value:g}" for value in np.unique(values))
