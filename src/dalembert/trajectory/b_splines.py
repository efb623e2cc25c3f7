"""B-splines: motions within the hull of their control points [Boor2001, Ch. IX]."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from . import motion_arguments as arguments
from .motion import Motion
from .piecewise import Piecewise

HIGHEST = 9  # degrees beyond lose digits and serve nobody


def b_spline(control_points: ArrayLike, *, duration: float, degree: int = 5, knots: ArrayLike | None = None) -> Motion:
    """The B-spline of given control points, clamped: it begins at the first and ends at the last.

    It stays within the hull of its control points, and its derivatives to order `degree` − 1 are continuous. With the first
    three control points equal, and the last three, it begins and ends at rest without acceleration.

    Parameters
    ----------
    control_points : array_like, shape (..., k, n)
        At least degree + 1 of them.
    duration : float
        T [s].
    degree : int
        From 1 to 9.
    knots : array_like, shape (k − degree − 1,), optional
        Inner knots [s], not decreasing, between 0 and T; evenly where they are left out.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.b_spline([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], duration=2.0)
    >>> motion([0, 1, 2]).qd[:, 0]
    array([0.    , 0.9375, 0.    ])
    """
    points = arguments.rows("control_points", control_points)
    T, p = arguments.positive("duration", duration), checks.whole_number("degree", degree, 1, HIGHEST)
    inner = points.shape[-2] - p - 1
    if inner < 0:
        raise ShapeError(f"control_points: {points.shape[-2]} found, a B-spline of degree {p} needs {p + 1} or more.")
    full = np.concatenate([np.zeros(p + 1), _inner_knots(knots, inner, T), np.full(p + 1, T)])
    return _pieces(full, points, p)


def _inner_knots(knots: ArrayLike | None, count: int, T: float) -> FloatArray:
    if knots is None:
        return np.linspace(0.0, T, count + 2)[1:-1]
    found = arguments.finite("knots", knots)
    if found.shape != (count,):
        raise ShapeError(f"knots: shape {found.shape} found, ({count},) expected: control points less degree less one.")
    if np.any(np.diff(found) < 0) or np.any((found <= 0) | (found >= T)):
        raise ShapeError(f"knots: {checks.describe(found)} found; they may not decrease, and lie between 0 and {T:g} s.")
    return found


def _pieces(knots: FloatArray, points: FloatArray, degree: int) -> Motion:
    """Taylor polynomials from the derivatives at the start of each span."""
    from scipy.interpolate import BSpline

    curve = BSpline(knots, np.moveaxis(points, -2, 0), degree)
    breaks = np.unique(knots)
    taylor = [curve(breaks[:-1], k) / math.factorial(k) for k in range(degree + 1)]
    scaled = np.stack([np.moveaxis(c, 0, -2) * np.diff(breaks)[:, None] ** k for k, c in enumerate(taylor)], axis=-2)
    return Piecewise(breaks, scaled)
