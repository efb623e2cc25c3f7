"""Straight lines between points with blends around them, so that no point needs a stop [Siciliano, §4.2.2].

The line to point k is left half a blend time before t_k, and the line from it joined half a blend time after. A parabola meets
both with their velocities, since t_k is in the middle; a quintic without acceleration at its ends meets them without a jump of
the acceleration. The robot passes near each point, not through it. It rests before the blend of the first point and after that
of the last, so that the motion takes longer than the times of the points by half the blend times there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import ShapeError
from . import motion_arguments as arguments
from .combined import Faded
from .motion import Motion
from .piecewise import hermite


def faded(one: Motion, other: Motion, *, overlap: float) -> Motion:
    """One motion that fades into another while both run, so that a corner between them is rounded.

    Parameters
    ----------
    one, other : Motion
        Of one robot; usually the second begins where the first ends.
    overlap : float
        How long both run [s]; the whole is shorter by it.

    Returns
    -------
    Motion
        As smooth as both are, to the third derivative.

    Examples
    --------
    >>> import dalembert as dal
    >>> up, down = (dal.trajectory.quintic([a], [b], duration=1.0) for a, b in ((0.0, 1.0), (1.0, 0.0)))
    >>> motion = dal.trajectory.faded(up, down, overlap=0.4)
    >>> float(motion.duration), bool(motion.sample(count=101).q.max() < 1.0)
    (1.6, True)
    """
    for name, motion in (("one", one), ("other", other)):
        checks.instance(name, motion, Motion, "dal.trajectory.quintic(start, end, duration=1.0)")
    return Faded(one, other, overlap)


BLENDS = {"parabolic": 2, "quintic": 3}


def blended(points: ArrayLike, times: ArrayLike, *, blend_time: ArrayLike, kind: str = "parabolic") -> Motion:
    """Straight lines between points, with blends around each.

    Parameters
    ----------
    points : array_like, shape (..., k, n)
        Positions, two or more.
    times : array_like, shape (k,)
        When the corners would be passed [s], increasing; the motion begins half a blend time before the first.
    blend_time : array_like, shape () or (k,)
        Duration of the blends, of all or of each [s]; two neighbours share at most the time between their points.
    kind : str
        "parabolic" (constant acceleration) or "quintic" (acceleration without a jump).

    Returns
    -------
    Motion

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.trajectory.blended([[0.0], [1.0], [0.5]], [0.0, 1.0, 2.0], blend_time=0.2)
    >>> motion([0.0, 0.6, 1.1, 2.2]).qd[:, 0]
    array([0.  , 1.  , 0.25, 0.  ])
    """
    orders = checks.choice("kind", kind, BLENDS)
    found = arguments.rows("points", points)
    t = arguments.increasing("times", times, found.shape[-2])
    half = arguments.of_each("blend_time", blend_time, len(t)) / 2
    _check(t, half)
    slopes = np.diff(found, axis=-2) / np.diff(t)[:, None]
    still = np.zeros_like(slopes[..., :1, :])
    slopes = np.concatenate([still, slopes, still], axis=-2)
    before, after = (found + sign * slopes[..., rows, :] * half[:, None] for sign, rows in ((-1, _TO), (1, _FROM)))
    shape = (*found.shape[:-2], 2 * len(t), found.shape[-1])
    q = np.stack([before, after], axis=-2).reshape(shape)
    qd = np.stack([slopes[..., :-1, :], slopes[..., 1:, :]], axis=-2).reshape(shape)
    breaks = np.stack([t - half, t + half], axis=-1).ravel()
    kept = np.append(np.diff(breaks) > 1e-12 * t[-1], True)  # blends that touch leave no line between them
    return hermite(breaks[kept] - breaks[0], np.stack([q, qd, 0 * q])[:orders, ..., kept, :])


_TO, _FROM = slice(None, -1), slice(1, None)


def _check(t: np.ndarray, half: np.ndarray) -> None:
    room = np.diff(t) - half[1:] - half[:-1]
    if np.any(half <= 0):
        raise ShapeError(f"blend_time: {arguments.each_listed(2 * half)} s found; blends need a positive time.")
    if np.any(room < -1e-12 * t[-1]):
        k = int(np.argmin(room))
        raise ShapeError(
            f"blend_time: the blends of points {k + 1} and {k + 2} overlap by {-room[k]:.3g} s; half of both needs to fit into "
            f"the {t[k + 1] - t[k]:g} s between them. Give a shorter blend_time or more time."
        )
