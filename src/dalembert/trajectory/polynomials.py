"""Point-to-point motions by one polynomial: cubic, quintic, septic, with given derivatives at both ends [Siciliano, §4.2.1]."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from . import motion_arguments as arguments
from .motion import Motion
from .piecewise import hermite

Pair = tuple[ArrayLike, ArrayLike]
REST: Pair = (0.0, 0.0)


def cubic(start: ArrayLike, end: ArrayLike, *, duration: float, velocities: Pair = REST) -> Motion:
    """The cubic polynomial from one position to another; the acceleration jumps at both ends.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Where the motion begins and ends.
    duration : float
        T [s].
    velocities : pair of array_like, shapes () or (n,) or (..., n)
        q̇ at the start and at the end; rest where they are left out.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectory.cubic([0.0], [1.0], duration=2.0)([0, 1, 2]).qd[:, 0]
    array([0.  , 0.75, 0.  ])
    """
    return _polynomial(start, end, duration, velocities=velocities)


def quintic(start: ArrayLike, end: ArrayLike, *, duration: float, velocities: Pair = REST, accelerations: Pair = REST) -> Motion:
    """The quintic polynomial from one position to another, with given velocities and accelerations at both ends.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Where the motion begins and ends.
    duration : float
        T [s].
    velocities, accelerations : pair of array_like, shapes () or (n,) or (..., n)
        q̇ and q̈ at the start and at the end; zero where they are left out.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectory.quintic([0.0], [1.0], duration=2.0)([0, 1, 2]).qd[:, 0]
    array([0.    , 0.9375, 0.    ])
    """
    return _polynomial(start, end, duration, velocities=velocities, accelerations=accelerations)


def septic(
    start: ArrayLike,
    end: ArrayLike,
    *,
    duration: float,
    velocities: Pair = REST,
    accelerations: Pair = REST,
    jerks: Pair = REST,
) -> Motion:
    """The polynomial of degree seven from one position to another, so that torques and their rates begin and end smoothly.

    Parameters
    ----------
    start, end : array_like, shape (..., n)
        Where the motion begins and ends.
    duration : float
        T [s].
    velocities, accelerations, jerks : pair of array_like, shapes () or (n,) or (..., n)
        q̇, q̈ and q⃛ at the start and at the end; zero where they are left out.

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.trajectory.septic([0.0], [1.0], duration=2.0)([0, 1, 2]).qd[:, 0]
    array([0.     , 1.09375, 0.     ])
    """
    return _polynomial(start, end, duration, velocities=velocities, accelerations=accelerations, jerks=jerks)


def _polynomial(start: ArrayLike, end: ArrayLike, duration: float, **rates: Pair) -> Motion:
    begin, finish = arguments.ends(start, end)
    breaks = np.array([0.0, arguments.positive("duration", duration)])
    given = [arguments.pair(name, pair, begin.shape) for name, pair in rates.items()]
    return hermite(breaks, np.stack([np.stack([begin, finish], axis=-2), *given]))
