"""Point-to-point motions whose velocity is a triangle or a trapezoid over time [Siciliano, Example 7.2].

With the distance d, the duration T and the time t_a of acceleration (and of braking), the velocity in between is
v = d / (T − t_a), the acceleration is a = v / t_a, and for 0 ≤ t ≤ T

    x = a t²/2,            ẋ = a t,         ẍ = a     for t < t_a             (1)
    x = v (t − t_a/2),     ẋ = v,           ẍ = 0     for t_a ≤ t < T − t_a   (2)
    x = d − a (T − t)²/2,  ẋ = a (T − t),   ẍ = −a    for T − t_a ≤ t ≤ T     (3)

A triangle is the case t_a = T/2. Before and after the motion, the robot rests.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .motion import Motion, merged
from .piecewise import Piecewise


def trapezoidal(start: ArrayLike, end: ArrayLike, *, duration: ArrayLike, acceleration_time: ArrayLike) -> Motion:
    """From rest to rest with a trapezoidal velocity.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Joint positions, or coordinates of a point on a line.
    duration, acceleration_time : array_like, shape () or (n,)
        T and t_a [s] of all coordinates or of each; 0 < t_a ≤ T/2. The motion ends with the slowest coordinate.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.trapezoidal([0.0], [3.0], duration=4, acceleration_time=1)
    >>> at = motion([0, 1, 2, 3, 4])
    >>> at.q[:, 0]
    array([0. , 0.5, 1.5, 2.5, 3. ])
    >>> at.qd[:, 0]
    array([0., 1., 1., 1., 0.])
    """
    begin, finish = arguments.ends(start, end)
    T = arguments.of_each("duration", duration, begin.shape[-1])
    ta = arguments.of_each("acceleration_time", acceleration_time, begin.shape[-1])
    _check(T, ta)
    breaks = merged([np.zeros(1), ta, T - ta, T])
    h, middle = np.diff(breaks)[:, None], ((breaks[1:] + breaks[:-1]) / 2)[:, None]
    t, left = breaks[:-1, None], T - breaks[:-1, None]
    phase = [middle < ta, middle < T - ta, middle < T]
    a = 1 / (ta * (T - ta))  # of a way of length 1
    x = np.select(phase, [a * t**2 / 2, a * ta * (t - ta / 2), 1 - a * left**2 / 2], 1.0)
    xd = np.select(phase, [a * t, a * ta + 0 * t, a * left], 0.0)
    xdd = np.select(phase, [a + 0 * t, 0 * t, -a + 0 * t], 0.0)
    way = (finish - begin)[..., None, None, :] * np.stack([x, xd * h, xdd * h**2 / 2], axis=1)
    way[..., 0, :] += begin[..., None, :]
    return Piecewise(breaks, way)


def triangular(start: ArrayLike, end: ArrayLike, *, duration: ArrayLike) -> Motion:
    """From rest to rest with a triangular velocity: accelerating for half the time, braking for the other half.

    Parameters
    ----------
    start, end, duration
        As in `trapezoidal`, of shape (..., n), (..., n) and () or (n,).

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectory.triangular([0.0], [1.0], duration=2)([0, 1, 2]).qd[:, 0]
    array([0., 1., 0.])
    """
    return trapezoidal(start, end, duration=duration, acceleration_time=arguments.finite("duration", duration) / 2)


def duration_at(start: ArrayLike, end: ArrayLike, *, velocity: ArrayLike, acceleration_time: ArrayLike) -> FloatArray:
    """How long each coordinate takes at this velocity: |d|/v + t_a, or 2 t_a where the distance is too short to reach it.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Where the motion begins and ends.
    velocity, acceleration_time : array_like, shape () or (n,)
        Largest velocity, and the time to reach it [s]; both positive.

    Returns
    -------
    duration : ndarray, shape (..., n), [s]

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectory.duration_at([0.0, 0.0], [3.0, 0.1], velocity=1.0, acceleration_time=0.5)
    array([3.5, 1. ])
    """
    begin, finish = arguments.ends(start, end)
    v = arguments.of_each("velocity", velocity, begin.shape[-1])
    ta = arguments.of_each("acceleration_time", acceleration_time, begin.shape[-1])
    if not (np.all(v > 0) and np.all(ta > 0)):
        found = f"{arguments.each_listed(v)}, {arguments.each_listed(ta)}"
        raise ShapeError(f"velocity, acceleration_time: {found} found; both need to be positive.")
    return np.maximum(np.abs(finish - begin) / v, ta) + ta


def _check(duration: FloatArray, acceleration_time: FloatArray) -> None:
    if not np.all((acceleration_time > 0) & (acceleration_time <= duration / 2)):
        raise ShapeError(
            f"acceleration_time: {arguments.each_listed(acceleration_time)} s found for a duration of "
            f"{arguments.each_listed(duration)} s; it needs to be positive and at most half of it. Give a longer duration."
        )
