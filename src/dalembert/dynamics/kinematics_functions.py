"""Where links are and how they move: poses and Jacobians, as users call them."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..codegen import thread_count
from ..options import several_names
from .engine import NO_KERNEL, ask, kernel
from .system import AnySystem


def forward_kinematics(
    system: AnySystem,
    q: ArrayLike,
    link: str | Sequence[str] | None = None,
    *,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """World pose of the tool, of a link, or of several links, as homogeneous matrices.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    link : str or sequence of str, optional
        A link's name; the tool if left out.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    X : ndarray, shape (..., 4, 4), or (..., k, 4, 4) for a sequence of k names

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> dal.forward_kinematics(dal.robots.two_link_planar(), [0.0, np.pi / 2])[:3, 3].round(6)
    array([1., 1., 0.])
    """
    which = link if link is None or isinstance(link, str) else several_names("link", link, "a link's name or several")
    return ask(system, "forward_kinematics", (which,), (q,), out, threads)


def jacobian(
    system: AnySystem,
    q: ArrayLike,
    link: str | None = None,
    *,
    point: ArrayLike | None = None,
    frame: str = "world",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Geometric Jacobian of the tool, of a link or of a point on it: [v; ω] = J q̇, linear rows first.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    link : str, optional
        A link's name; the tool if left out.
    point : array_like, shape (..., 3), optional
        A point in the frame of `link` [m]; its origin if left out.
    frame : {'world', 'body'}
        Whose axes the rows are in: the world's, or those of the frame itself.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    J : ndarray, shape (..., 6, n)

    Examples
    --------
    >>> import dalembert as dal
    >>> J = dal.jacobian(dal.robots.two_link_planar(), [0.0, 0.0])
    >>> J[1], J[5]  # velocity of the tip along y, and rotation about z
    (array([2., 1.]), array([1., 1.]))
    """
    if point is not None:
        return ask(system, "jacobian", (link, frame, True), (q, point), out, threads)
    if out is None:
        try:
            J = system.kernels["jacobian", link, frame](q)
            if J is not NotImplemented and (threads is None or thread_count(threads)):
                return J
        except NO_KERNEL:
            pass
    run = kernel(system, "jacobian", link, frame)
    system.kernels["jacobian", link, frame] = run.single
    return run(q, out=out, threads=threads)


def jacobian_dot(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Time derivative of the geometric Jacobian along q̇, so that [v̇; ω̇] = J q̈ + J̇ q̇ in world axes.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    link, frame, out, threads
        As in `jacobian`; with frame='body' it is the derivative of that matrix, entry by entry.

    Returns
    -------
    Jdot : ndarray, shape (..., 6, n)

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.jacobian_dot(dal.robots.two_link_planar(), [0.0, 0.0], [1.0, 0.0])[0]
    array([-2., -1.])
    """
    return ask(system, "jacobian_dot", (link, frame), (q, qd), out, threads)


def analytical_jacobian(
    system: AnySystem,
    q: ArrayLike,
    link: str | None = None,
    *,
    angles: str = "rpy",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Jacobian of position and orientation angles: [ṗ; φ̇] = J_A q̇.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    link : str, optional
        A link's name; the tool if left out.
    angles : {'rpy', 'zyz', 'quaternion'}
        Roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll); Euler angles with R = Rz Ry Rz; or the unit quaternion
        (w, x, y, z) with w ≥ 0. The first two have no finite rates at their singularity (pitch ±π/2, second angle 0): entries
        are infinite or NaN there.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    J_A : ndarray, shape (..., 6, n), or (..., 7, n) for 'quaternion'

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.analytical_jacobian(dal.robots.two_link_planar(), [0.0, 0.0], angles="rpy").shape
    (6, 2)
    """
    return ask(system, "analytical_jacobian", (link, angles), (q,), out, threads)


__all__ = ["analytical_jacobian", "forward_kinematics", "jacobian", "jacobian_dot"]
