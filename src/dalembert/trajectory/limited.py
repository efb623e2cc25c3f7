"""Point-to-point motions as fast as limits of velocity, acceleration and jerk allow, of joints that arrive together.

From rest to rest over a distance d > 0, the jerk is J, 0, −J, then 0, then −J, 0, J [Biagiotti2008, §3.4]. With t_j the time of
one jerk, t_a that of the whole acceleration and t_v that at constant velocity,

    t_j = a/j,  t_a = t_j + v/a         where the limit a is reached before v, v j ≥ a²           (1)
    t_j = √(v/j),  t_a = 2 t_j          where it is not                                           (2)
    t_v = d/v − t_a                                                                               (3)

and where (3) is negative, v is not reached: t_v = 0 and

    t_j = a/j,  t_a = t_j/2 + √(t_j²/4 + d/a)    where d ≥ 2 a³/j²                                (4)
    t_j = ∛(d/2j),  t_a = 2 t_j                  where it is less                                 (5)

Without a limit of the jerk, t_j = 0, and (1), (3), (4) are the trapezoid and the triangle.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .combined import Stacked
from .motion import Motion, merged
from .piecewise import Piecewise


def double_s(start: ArrayLike, end: ArrayLike, *, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike) -> Motion:
    """From rest to rest as fast as limits of velocity, acceleration and jerk allow, each coordinate for itself.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Where the motion begins and ends; of a batch, each row takes its own time and then rests.
    velocity, acceleration, jerk : array_like, shape () or (n,)
        Largest magnitudes of q̇, q̈, q⃛, of all coordinates or of each.

    Returns
    -------
    Motion
        It ends with the slowest coordinate; see `synchronised` for coordinates that arrive together.

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.double_s([0.0], [1.0], velocity=1.0, acceleration=2.0, jerk=10.0)
    >>> float(round(motion.duration, 12))
    1.7
    """
    ends = arguments.ends(start, end)
    limits = _limits(ends[0].shape[-1], velocity, acceleration, jerk)
    return _each(*ends, lambda begin, way: _profiles(begin, way, _phases(np.abs(way), *limits)))


def synchronised(
    start: ArrayLike,
    end: ArrayLike,
    *,
    velocity: ArrayLike,
    acceleration: ArrayLike,
    jerk: ArrayLike = np.inf,
    straight: bool = False,
) -> Motion:
    """From rest to rest within limits, all coordinates in the time of the slowest.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Where the motion begins and ends; of a batch, each row takes its own time and then rests.
    velocity, acceleration, jerk : array_like, shape () or (n,)
        Largest magnitudes of q̇, q̈, q⃛, of all coordinates or of each; the jerk is not limited where it is left out.
    straight : bool
        Coordinates stay in proportion, so that the path is a straight line; else each has its own fastest profile, stretched to
        the time of the slowest. Without a limit of the jerk the straight line may take longer, never less.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.synchronised([0.0, 0.0], [1.0, 0.2], velocity=1.0, acceleration=2.0)
    >>> motion
    Motion(n=2, duration=1.5, pieces=4)
    >>> motion([1.5]).q
    array([[1. , 0.2]])
    """
    ends = arguments.ends(start, end)
    limits = _limits(ends[0].shape[-1], velocity, acceleration, jerk)
    line = checks.flag("straight", straight)
    return _each(*ends, lambda begin, way: (_straight if line else _own_ways)(begin, way, limits))


def _own_ways(begin: FloatArray, way: FloatArray, limits: list[FloatArray]) -> Piecewise:
    """Each coordinate with its fastest profile, stretched to the time of the slowest."""
    phases = _phases(np.abs(way), *limits)
    own = phases.sum(axis=0)
    return _profiles(begin, way, phases * np.where(own > 0, own.max() / np.where(own > 0, own, 1.0), 0.0))


def _straight(begin: FloatArray, way: FloatArray, limits: list[FloatArray]) -> Piecewise:
    """All coordinates in proportion, as fast as the first of them to reach a limit allows."""
    moving = way != 0
    least = [np.min(limit[moving] / np.abs(way[moving]), keepdims=True) for limit in limits]
    line = _profiles(np.zeros(1), np.ones(1), _phases(np.ones(1), *least))
    coefficients = line.coefficients * way
    coefficients[:, 0, :] += begin
    return Piecewise(line.breaks, coefficients)


def _each(begin: FloatArray, finish: FloatArray, make: Callable[[FloatArray, FloatArray], Piecewise]) -> Motion:
    """The move, or one for each of a batch, in its own time; those that have arrived rest."""
    if np.any(still := (begin == finish).all(axis=-1)):
        row = f" in row {', '.join(map(str, np.argwhere(still)[0]))}" * (begin.ndim > 1)
        raise ShapeError(f"start, end: both are the same position{row}, so nothing moves and there is no duration.")
    if begin.ndim == 1:
        return make(begin, finish - begin)
    rows = [make(begin[row], finish[row] - begin[row]) for row in np.ndindex(begin.shape[:-1])]
    return Stacked(rows, begin.shape[:-1])


def _limits(n: int, velocity: ArrayLike, acceleration: ArrayLike, jerk: ArrayLike) -> list[FloatArray]:
    """Limits of each coordinate."""
    given = (("velocity", velocity), ("acceleration", acceleration), ("jerk", jerk))
    limits = [arguments.of_each(name, value, n, infinite=True) for name, value in given]
    for (name, _), limit in zip(given, limits, strict=True):
        if not np.all(limit > 0) or (name != "jerk" and not np.all(limit < np.inf)):
            raise ShapeError(f"{name}: {arguments.each_listed(limit)} found; limits need to be positive and finite.")
    return limits


def _phases(d: FloatArray, v: FloatArray, a: FloatArray, j: FloatArray) -> FloatArray:
    """Durations of the seven phases of each coordinate, shape (7, n)."""
    reached = v * j >= a**2
    tj = np.where(reached, a / j, np.sqrt(v / j))  # (1), (2)
    ta = np.where(reached, tj + v / a, 2 * tj)
    tv = d / v - ta  # (3)
    long = d >= 2 * a * (a / j) ** 2
    short_tj = np.where(long, a / j, np.cbrt(d / 2 / j))  # (4), (5)
    short_ta = np.where(long, short_tj / 2 + np.sqrt(short_tj**2 / 4 + d / a), 2 * short_tj)
    tj, ta = (np.where(tv < 0, short, full) for short, full in ((short_tj, tj), (short_ta, ta)))
    still = d == 0
    tj, ta, tv = (np.where(still, 0.0, x) for x in (tj, ta, np.maximum(tv, 0.0)))
    flat = np.maximum(ta - 2 * tj, 0.0)
    return np.stack([tj, flat, tj, tv, tj, flat, tj])


def _profiles(begin: FloatArray, way: FloatArray, phases: FloatArray) -> Piecewise:
    """The motion with these phases: cubic in pieces, each coordinate with its own corners."""
    tj, ta = phases[0], phases[0] + phases[1] + phases[2]
    still = ta == 0
    top = way / np.where(still, 1.0, ta + phases[3])  # the velocity in the middle
    A = top / np.where(still, 1.0, ta - tj)  # the largest acceleration
    J = np.where(tj > 0, A / np.where(tj > 0, tj, 1.0), 0.0)
    corners = np.concatenate([np.zeros((1, len(way))), np.cumsum(phases, axis=0)])
    a0 = np.stack([0 * A, A, A, 0 * A, 0 * A, -A, -A])
    jerk = np.stack([J, 0 * J, -J, 0 * J, -J, 0 * J, J])
    x, v = [begin], [0.0 * way]
    for k in range(6):
        h = phases[k]
        x.append(x[k] + v[k] * h + a0[k] * h**2 / 2 + jerk[k] * h**3 / 6)
        v.append(v[k] + a0[k] * h + jerk[k] * h**2 / 2)
    states = np.stack([np.stack(x), np.stack(v), a0, jerk], axis=1)
    return _on_one_clock(corners, states, begin + way)


def _on_one_clock(corners: FloatArray, states: FloatArray, end: FloatArray) -> Piecewise:
    """Phases of each coordinate, with q, q̇, q̈, q⃛ at their starts, cut at the corners of all."""
    breaks = merged([corners.ravel()])
    h, middle = np.diff(breaks), (breaks[1:] + breaks[:-1]) / 2
    coefficients = np.zeros((len(h), 4, len(end)))
    for i in range(len(end)):
        phase = np.searchsorted(corners[1:, i], middle)
        over = phase > 6
        x, v, a, j = states[np.minimum(phase, 6), :, i].T
        s = breaks[:-1] - corners[np.minimum(phase, 6), i]
        local = [x + s * (v + s * (a / 2 + s * j / 6)), v + s * (a + s * j / 2), (a + s * j) / 2, j / 6]
        for k, c in enumerate(local):
            coefficients[:, k, i] = np.where(over, end[i] * (k == 0), c * h**k)
    return Piecewise(breaks, coefficients)
