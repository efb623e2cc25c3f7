"""What users call: each function takes a system and arrays with leading batch axes, and runs one kernel.

The way of a warm call is short: look up the kernel, call it. Shapes are checked by NumPy; only when it refuses is the
reason worked out (`Kernel._explain`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..errors import ShapeError
from ..model import Robot
from .engine import Forces, kernel

_FREE = Forces()
_NEWTON_EULER = ("inverse_dynamics", "newton_euler", _FREE)


class Energy(NamedTuple):
    """Energies of a robot [J], each of shape (...)."""

    kinetic: FloatArray
    potential: FloatArray

    @property
    def total(self) -> FloatArray:
        """Their sum, constant along a motion without friction and forces."""
        return self.kinetic + self.potential


def inverse_dynamics(
    system: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Joint torques that produce a motion: τ = M(q) q̈ + C(q, q̇) q̇ + g(q) + friction − Jᵀ wrenches.

    Parameters
    ----------
    system : Robot
        With n coordinates.
    q, qd, qdd : array_like, shape (..., n)
        Positions [rad | m] and their time derivatives; leading axes broadcast.
    wrenches : mapping of link name (or 'tool') to array_like, shape (..., 6)
        Force and moment [f; m] that the surroundings exert on the robot at that frame's origin, in world axes.
    base_velocity, base_acceleration : array_like, shape (..., 6)
        Motion [v; ω] and [a; α] of the base origin, in the base's axes; at rest if left out.
    formulation : str
        A name from `dal.FORMULATIONS`; they agree to rounding.
    out : ndarray, shape (..., n), optional
        Where to put the result.
    threads : int, optional
        How many threads to use for a large batch; by default `DALEMBERT_NUM_THREADS`, else all cores.

    Returns
    -------
    tau : ndarray, shape (..., n), [N m | N]

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.inverse_dynamics(dal.robots.pendulum(), [0.5], [0.0], [0.0]).shape
    (1,)
    """
    if wrenches is None and base_velocity is None and base_acceleration is None and formulation == "newton_euler":
        try:
            run = system.kernels[_NEWTON_EULER]
        except (KeyError, AttributeError):
            run = kernel(system, *_NEWTON_EULER)
        return run(q, qd, qdd, out=out, threads=threads)  # type: ignore[no-any-return]
    forces, extra = _forces(wrenches, base_velocity, base_acceleration)
    return kernel(system, "inverse_dynamics", formulation, forces)(q, qd, qdd, *extra, out=out, threads=threads)  # type: ignore[no-any-return]


def forward_dynamics(
    system: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Accelerations that joint torques produce: q̈ = M⁻¹ (τ − C q̇ − g − friction + Jᵀ wrenches).

    The inverse of `inverse_dynamics`, with the same arguments. By mass matrix and LᵀDL for few joints and wherever full
    rotors or couplings act, by articulated bodies for longer plain chains.

    Returns
    -------
    qdd : ndarray, shape (..., n)
    """
    forces, extra = _forces(wrenches, base_velocity, base_acceleration)
    return kernel(system, "forward_dynamics", forces)(q, qd, tau, *extra, out=out, threads=threads)  # type: ignore[no-any-return]


def mass_matrix(
    system: Robot, q: ArrayLike, *, out: FloatArray | None = None, threads: int | None = None
) -> FloatArray:
    """The mass matrix M(q), symmetric and positive definite, shape (..., n, n), rotors included."""
    return kernel(system, "mass_matrix")(q, out=out, threads=threads)  # type: ignore[no-any-return]


def gravity_torque(
    system: Robot,
    q: ArrayLike,
    *,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Joint torques g(q) that hold the robot still, shape (..., n)."""
    return kernel(system, "gravity_torque", formulation)(q, out=out, threads=threads)  # type: ignore[no-any-return]


def bias(
    system: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """h(q, q̇) = C(q, q̇) q̇ + g(q), shape (..., n): what is left of inverse dynamics without acceleration and friction."""
    forces, extra = _forces(wrenches, base_velocity, base_acceleration)
    return kernel(system, "bias", formulation, forces)(q, qd, *extra, out=out, threads=threads)  # type: ignore[no-any-return]


def energy(system: Robot, q: ArrayLike, qd: ArrayLike, *, threads: int | None = None) -> Energy:
    """Kinetic and potential energy, and their sum as `.total`; masses at the height of the base origin have potential 0."""
    return Energy(*kernel(system, "energy")(q, qd, threads=threads))


def forward_kinematics(
    system: Robot,
    q: ArrayLike,
    link: str | Sequence[str] | None = None,
    *,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """World pose of the tool (or of `link`), shape (..., 4, 4); for a list of k links, shape (..., k, 4, 4)."""
    which = link if link is None or isinstance(link, str) else tuple(link)
    return kernel(system, "forward_kinematics", which)(q, out=out, threads=threads)  # type: ignore[no-any-return]


def jacobian(
    system: Robot,
    q: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Geometric Jacobian of the tool (or of `link`), shape (..., 6, n): [v; ω] = J q̇ of its origin.

    In world axes, or in the frame's own with frame='body'.
    """
    return kernel(system, "jacobian", link, frame)(q, out=out, threads=threads)  # type: ignore[no-any-return]


def _forces(
    wrenches: Mapping[str, ArrayLike] | None, base_velocity: ArrayLike | None, base_acceleration: ArrayLike | None
) -> tuple[Forces, list[Any]]:
    """The options of a kernel and the arrays that go with them."""
    if wrenches is None and base_velocity is None and base_acceleration is None:
        return _FREE, []
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ShapeError(f"wrenches: {type(wrenches).__name__} found, a mapping such as {{'tool': [fx, fy, fz, mx, my, mz]}} expected.")
    names = tuple(wrenches or ())
    arrays = [np.asarray(wrenches[name], dtype=float) for name in names] if wrenches else []
    moving = base_velocity is not None or base_acceleration is not None
    if moving:
        still = np.zeros(6)
        arrays += [np.asarray(still if x is None else x, dtype=float) for x in (base_velocity, base_acceleration)]
    return Forces(names, moving), arrays
