"""What depends on the motion to its third order: the rate at which torques change."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..checks import FloatArray
from .engine import ask
from .system import AnySystem


def torque_rate(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
    *,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """dτ/dt along a motion: M q⃛ + (∂τ/∂q̇) q̈ + (∂τ/∂q) q̇, of the torques of `inverse_dynamics` [Freeman, Eq. 2-239].

    It is one derivative along the motion, not the three matrices. Where dry friction jumps, at rest, its rate counts as zero;
    with `Friction(width=...)` it is smooth.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd, qdd, qddd : array_like, shape (..., n)
        Positions, velocities, accelerations and jerks; leading axes broadcast.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    tau_rate : ndarray, shape (..., n)
        [N m/s | N/s].

    Examples
    --------
    >>> import dalembert as dal
    >>> # a pendulum that passes its lowest point at 2 rad/s: gravity grows by m g l q̇
    >>> dal.torque_rate(dal.robots.pendulum(), [0.0], [2.0], [0.0], [0.0]).round(3)
    array([9.81])
    """
    return ask(system, "torque_rate", (), (q, qd, qdd, qddd), out, threads)


__all__ = ["torque_rate"]
