"""Splines through points at given times: cubic with continuous accelerations, quintic with continuous fourth derivatives.

A spline of degree 2m + 1 is, between two points, the polynomial with given derivatives of orders 0 to m at both. Those of order
0 are the points; the others, m at each of k points, follow from m conditions each: inside, that derivatives m + 1 to 2m do not
jump; at an end, that derivatives 1 to m are as given ("rest" or `velocities`), or that derivatives m + 1 to 2m vanish
("natural"), or that motion and all these derivatives are the same at both ends ("periodic") [Boor2001, Ch. IV].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .motion import Motion
from .piecewise import factorial_power, hermite, hermite_matrix

DEGREES = {"cubic": 1, "quintic": 2, "septic": 3}
ENDS = {"rest": "rest", "natural": "natural", "periodic": "periodic"}


def spline(
    points: ArrayLike,
    times: ArrayLike,
    *,
    kind: str = "cubic",
    ends: str = "rest",
    velocities: tuple[ArrayLike, ArrayLike] | None = None,
) -> Motion:
    """The spline through points at given times.

    Parameters
    ----------
    points : array_like, shape (..., k, n)
        Positions, two or more.
    times : array_like, shape (k,)
        When each is passed [s], increasing; the motion itself begins at zero.
    kind : str
        "cubic" (q̈ continuous), "quintic" (to the fourth derivative) or "septic" (to the sixth).
    ends : str
        "rest": all derivatives that can be chosen are zero at both ends. "natural": the highest ones vanish, so that the spline
        bends least. "periodic": it closes smoothly, the last point being the first.
    velocities : pair of array_like, shapes () or (n,) or (..., n), optional
        q̇ at the start and at the end, where the motion does not rest there; for `ends="rest"`.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.spline([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0])
    >>> motion([0.0, 0.5, 1.0]).q[:, 0]
    array([0. , 0.5, 1. ])
    """
    m = checks.choice("kind", kind, DEGREES)
    checks.choice("ends", ends, ENDS)
    found = arguments.rows("points", points)
    breaks = arguments.increasing("times", times, found.shape[-2])
    given = np.zeros((m, *found.shape[:-2], 2, found.shape[-1]))
    if velocities is not None:
        if ends != "rest":
            raise ShapeError(f'velocities: given with ends={ends!r}; they go with ends="rest", which they replace.')
        given[0] = arguments.pair("velocities", velocities, found.shape[:-2] + found.shape[-1:])
    if ends == "periodic":
        _check_closed(found)
    columns = np.moveaxis(found, -2, 0).reshape(len(breaks), -1)
    at_ends = np.moveaxis(given, -2, 1).reshape(m, 2, -1)
    rates = solve_rates(breaks, columns, at_ends, ends)
    shape = (m, len(breaks), *found.shape[:-2], found.shape[-1])
    return hermite(breaks, np.concatenate([found[None], np.moveaxis(rates.reshape(shape), 1, -2)]))


def solve_rates(breaks: FloatArray, points: FloatArray, given: FloatArray, ends: str) -> FloatArray:
    """Derivatives 1 to m at each break, shape (m, k, c), for points of shape (k, c) and ends (m, 2, c)."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    m, k = len(given), len(points)
    unit = np.diff(breaks).mean()  # in which unknowns are of one size
    entries, right = _smoothness((breaks - breaks[0]) / unit, points, m, ends)
    fixed = given * (unit ** np.arange(1.0, m + 1))[:, None, None]
    entries += _at_the_ends(m, k, ends)
    if ends == "rest":
        for order in range(m):
            right[order], right[(k - 1) * m + order] = fixed[order]
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    largest = np.zeros(m * k)  # of each row, which is scaled by it: points close together would drown the others
    np.maximum.at(largest, rows, np.abs(values))
    matrix = coo_array((values / largest[rows], (rows, columns)), shape=(m * k, m * k)).tocsc()
    found = splu(matrix).solve(right / largest[:, None]).reshape(k, m, -1)
    return np.moveaxis(found, 1, 0) / (unit ** np.arange(1.0, m + 1))[:, None, None]


Entries = list[tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]]


def _smoothness(t: FloatArray, points: FloatArray, m: int, ends: str) -> tuple[Entries, FloatArray]:
    """Rows of the conditions that derivatives m + 1 to 2m leave a piece as they enter the next, and their right-hand sides.

    Condition `order` at point i is row m i + order; the unknown derivative d of point i is column m i + d − 1.
    """
    k, h = len(t), np.diff(t)
    right = np.zeros((m * k, points.shape[1]))
    entries: Entries = []
    for order, end in np.ndindex(m, 2):  # a piece adds at its end, and with the other sign at its start
        row = _row_of(np.arange(k - 1) + end, k, m, order, ends)
        kept = row >= 0
        for column, weight in enumerate(_weights(m, m + 1 + order, end)):
            side, d = divmod(column, m + 1)
            value = (1 if end else -1) * weight * h ** (d - (m + 1.0 + order))
            at = np.arange(k - 1) + side
            if d:
                entries.append((row[kept], m * at[kept] + d - 1, value[kept]))
            else:
                np.add.at(right, row[kept], -(value[:, None] * points[at])[kept])
    return entries, right


def _weights(m: int, derivative: int, end: int) -> FloatArray:
    """A higher derivative at u = 0 or 1 in terms of the derivatives 0 to m at both."""
    powers = range(2 * m + 2)
    at = np.array([factorial_power(j, derivative) * (end or j == derivative) for j in powers])
    return np.asarray(at @ hermite_matrix(m + 1))


def _row_of(point: NDArray[np.intp], k: int, m: int, order: int, ends: str) -> NDArray[np.intp]:
    """The row to which a piece adds at a point: none at an end that rests; both ends in one where the motion is periodic."""
    if ends == "natural":
        return m * point + order
    inside = (point > 0) & (point < k - 1)
    return np.where(inside, m * point + order, order if ends == "periodic" else -1)


def _at_the_ends(m: int, k: int, ends: str) -> Entries:
    """Rows that fix derivatives at both ends, or say that they are the same there."""
    order = np.arange(m)
    last = m * (k - 1) + order
    if ends == "rest":
        return [(order, order, np.ones(m)), (last, last, np.ones(m))]
    return [(last, order, np.ones(m)), (last, last, -np.ones(m))] if ends == "periodic" else []


def _check_closed(points: FloatArray) -> None:
    gap = np.abs(points[..., 0, :] - points[..., -1, :]).max()
    if gap > 1e-9 * max(1.0, np.abs(points).max()):
        raise ShapeError(
            f'points: the last is {gap:.3g} away from the first, but ends="periodic" needs a closed motion. '
            "Repeat the first point."
        )
