"""Kinematic influence coefficients and what follows from them, as users call them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..algorithms import influence_coefficients as algorithm
from ..brief import brief
from ..checks import FloatArray
from ..errors import ShapeError, UnknownNameError
from ..wording import shown
from .engine import kernel
from .system import AnySystem


class Influence(NamedTuple):
    """Influence coefficients of r rows over n coordinates, as far as they were asked for.

    With u̇ the velocity of a row: `G[row, n]` = ∂u̇/∂q̇_n, `H[row, m, n]` = ∂G[row, n]/∂q_m and
    `D[row, l, m, n]` = ∂H[row, m, n]/∂q_l, of shape (..., r, n), (..., r, n, n) and (..., r, n, n, n). For a point H and D are
    symmetric in m, n and l; for a rotation they are not.
    """

    G: FloatArray
    H: FloatArray | None = None
    D: FloatArray | None = None

    def __repr__(self) -> str:
        return brief(self)


class LinkMotion(NamedTuple):
    """Motion of a link in world axes, each of shape (..., 6), linear part first, as far as the joints' motion was given.

    `velocity` is [v; ω], `acceleration` its time derivative [v̇; ω̇] and `jerk` the second, [v̈; ω̈].
    """

    velocity: FloatArray
    acceleration: FloatArray | None = None
    jerk: FloatArray | None = None

    def __repr__(self) -> str:
        return brief(self)


def influence(
    system: AnySystem,
    q: ArrayLike,
    link: str | None = None,
    *,
    order: int = 2,
    point: ArrayLike | None = None,
    kind: str = "link",
    threads: int | None = None,
) -> Influence:
    """Kinematic influence coefficients of the tool, of a link or of a point on it: derivatives of its motion by the joints.

    With them u̇ = G q̇, ü = G q̈ + q̇ᵀ H q̇ and u⃛ = G q⃛ + q̈ᵀ (H + 2 Hᵀ) q̇ + (q̇ᵀ D q̇) q̇ [Freeman, Eq. 2-44]. G is the geometric
    Jacobian; for that alone `jacobian` is the shorter way, for the motion itself `link_motion`.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    link : str, optional
        A link's name; the tool if left out.
    order : {1, 2, 3}
        G alone; G and H; or G, H and D.
    point : array_like, shape (..., 3), optional
        A point in the frame of `link` [m]; its origin if left out.
    kind : {'link', 'point', 'rotation'}
        Three rows for the point and three for the rotation of the link; or one of the two alone.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    Influence
        G, H, D of shape (..., r, n), (..., r, n, n), (..., r, n, n, n) with r = 6 or 3 rows, linear rows first, in world axes.
        The index of the coordinate that moves last comes first: H[r, m, n] = ∂G[r, n]/∂q_m.

    Examples
    --------
    >>> import dalembert as dal
    >>> found = dal.influence(dal.robots.two_link_planar(), [0.3, 0.5], order=2)
    >>> found.G.shape, found.H.shape
    ((6, 2), (6, 2, 2))
    """
    if not isinstance(order, (int, np.integer)) or order not in (1, 2, 3):
        raise UnknownNameError(f"order: {shown(order)} found; 1, 2 or 3 expected, for coefficients up to G, H or D.")
    checks.choice("kind", kind, algorithm.KINDS)
    run = kernel(system, "influence", link, int(order), kind, point is not None)
    found = run(q, *_given(point), threads=threads)
    return Influence(*(found if order > 1 else (found,)))


def link_motion(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None = None,
    *,
    qddd: ArrayLike | None = None,
    link: str | None = None,
    point: ArrayLike | None = None,
    threads: int | None = None,
) -> LinkMotion:
    """Velocity, acceleration and jerk of the tool, of a link or of a point on it, in world axes.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    qdd, qddd : array_like, shape (..., n), optional
        Accelerations, for the acceleration; and their rates, for the jerk.
    link : str, optional
        A link's name; the tool if left out.
    point : array_like, shape (..., 3), optional
        A point in the frame of `link` [m]; its origin if left out.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    LinkMotion
        With fields of shape (..., 6), linear part first; those whose joint motion was not given are None.

    Examples
    --------
    >>> import dalembert as dal
    >>> motion = dal.link_motion(dal.robots.two_link_planar(), [0.3, 0.5], [1.0, 0.0], [0.0, 0.0])
    >>> motion.acceleration.shape, motion.jerk
    ((6,), None)
    """
    if qdd is None and qddd is not None:
        raise ShapeError("qdd: nothing found, but the jerk from qddd needs it; shape (..., n) expected.")
    if qd is None:
        raise ShapeError("qd: nothing found, but every motion of a link needs it; shape (..., n) expected.")
    rates = [rate for rate in (qd, qdd, qddd) if rate is not None]
    run = kernel(system, "link_motion", link, len(rates), point is not None)
    found = run(q, *rates, *_given(point), threads=threads)
    return LinkMotion(*(found if len(rates) > 1 else (found,)))


def _given(point: ArrayLike | None) -> list[ArrayLike]:
    return [] if point is None else [point]


__all__ = ["Influence", "LinkMotion", "influence", "link_motion"]
