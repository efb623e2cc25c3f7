"""What users call: each function takes a system and arrays with leading batch axes, and runs one kernel.

The way of a warm call is short: a single configuration goes straight to the kernel's own door for one (codegen/single_call.py),
which answers `NotImplemented` to anything else. Batches, lists, options and mistakes go the long way, through NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..codegen import thread_count
from ..codegen.arguments import batch_of, real
from ..errors import ShapeError
from ..expr import Slot
from ..options import mapping
from .engine import NO_KERNEL, ask, kernel
from .surroundings import FREE, Forces
from .system import AnySystem

WRENCHES = "{'tool': [fx, fy, fz, mx, my, mz]}"


class Energy(NamedTuple):
    """Energies of a robot [J], each of shape (...)."""

    kinetic: FloatArray
    potential: FloatArray

    @property
    def total(self) -> FloatArray:
        """Their sum, constant along a motion without friction and forces."""
        return self.kinetic + self.potential

    def __repr__(self) -> str:
        return brief(self)


def inverse_dynamics(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Joint torques that produce a motion: τ = M(q) q̈ + C(q, q̇) q̇ + g(q) + friction − Jᵀ wrenches.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd, qdd : array_like, shape (..., n)
        Positions [rad | m] and their time derivatives; leading axes broadcast.
    wrenches : mapping of link name (or 'tool') to array_like, shape (..., 6)
        Force and moment [f; m] that the surroundings exert on the robot at that frame's origin, in world axes.
    base_velocity, base_acceleration : array_like, shape (..., 6)
        Motion [v; ω] and [a; α] of the base origin, in the base's axes; at rest if left out.
    parameters : array_like, shape (..., p)
        Dynamic parameters to use instead of the robot's own, in the order of `parameter_names(system)`: masses, moments,
        rotor inertias and friction as an input, for identification and Monte Carlo studies.
    formulation : str
        A name from `dal.FORMULATIONS`; they agree to rounding.
    out : ndarray, shape (..., n), optional
        Where to put the result: a float64 array of just its shape. It may share memory with an input.
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
    if wrenches is None and out is None and base_velocity is None and base_acceleration is None and parameters is None:
        try:
            tau = system.kernels[formulation](q, qd, qdd)
            if tau is not NotImplemented and (threads is None or thread_count(threads)):
                return tau
        except NO_KERNEL:
            pass
    forces, extra = forces_of(wrenches, base_velocity, base_acceleration, parameters)
    run = kernel(system, "inverse_dynamics", formulation, forces)
    if forces is FREE:
        system.kernels[formulation] = run.single
    return run(q, qd, qdd, *extra, out=out, threads=threads)


def forward_dynamics(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Accelerations that joint torques produce: q̈ = M⁻¹ (τ − C q̇ − g − friction + Jᵀ wrenches).

    The inverse of `inverse_dynamics`. By mass matrix and LᵀDL for few joints and wherever full rotors or couplings act, by
    articulated bodies for longer plain chains; by another formulation's own mass matrix and bias, if one is named.

    Where M is singular in one configuration of a batch (a point mass on a rod that stands upright on its axis), what the torques
    do not decide is NaN or infinite in that row; the other rows are right.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd, tau : array_like, shape (..., n)
        Positions, velocities and joint torques; leading axes broadcast.
    wrenches, base_velocity, base_acceleration, parameters, formulation, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    qdd : ndarray, shape (..., n), [rad/s² | m/s²]

    Raises
    ------
    ModelError
        If a joint moves no inertia, so that M is singular in every configuration; it is named. `dalembert check` finds it too.

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, q, qd = dal.robots.two_link_planar(), [0.3, -0.2], [0.5, 1.0]
    >>> tau = dal.inverse_dynamics(robot, q, qd, [1.0, 2.0])
    >>> dal.forward_dynamics(robot, q, qd, tau).round(9)
    array([1., 2.])
    """
    if wrenches is None and out is None and base_velocity is None and base_acceleration is None and parameters is None:
        try:
            qdd = system.kernels["forward", formulation](q, qd, tau)
            if qdd is not NotImplemented and (threads is None or thread_count(threads)):
                return qdd
        except NO_KERNEL:
            pass
    forces, extra = forces_of(wrenches, base_velocity, base_acceleration, parameters)
    run = kernel(system, "forward_dynamics", forces, formulation)
    if forces is FREE:
        system.kernels["forward", formulation] = run.single
    return run(q, qd, tau, *extra, out=out, threads=threads)


def mass_matrix(
    system: AnySystem,
    q: ArrayLike,
    *,
    parameters: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """The mass matrix M(q), rotors included; symmetric, and positive definite where every joint moves some inertia.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    parameters, formulation, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    M : ndarray, shape (..., n, n), [kg m² | kg m | kg]

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.mass_matrix(dal.robots.two_link_planar(), [0.0, 0.0]).round(2)
    array([[250.01,  48.5 ],
           [ 48.5 , 122.5 ]])
    """
    if out is None and parameters is None:
        try:
            M = system.kernels["mass", formulation](q)
            if M is not NotImplemented and (threads is None or thread_count(threads)):
                return M
        except NO_KERNEL:
            pass
    forces, extra = forces_of(None, None, None, parameters)
    run = kernel(system, "mass_matrix", forces, formulation)
    if forces is FREE:
        system.kernels["mass", formulation] = run.single
    return run(q, *extra, out=out, threads=threads)


def gravity_torque(
    system: AnySystem,
    q: ArrayLike,
    *,
    parameters: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Joint torques g(q) that hold the robot still.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    parameters, formulation, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    g : ndarray, shape (..., n), [N m | N]

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.gravity_torque(dal.robots.two_link_planar(), [0.0, 0.0]).round(2)
    array([1030.05,  245.25])
    """
    if out is None and parameters is None:
        try:
            g = system.kernels["gravity_torque", formulation].single(q)
            if g is not NotImplemented and (threads is None or thread_count(threads)):
                return g
        except NO_KERNEL:
            pass
    forces, extra = forces_of(None, None, None, parameters)
    run = kernel(system, "gravity_torque", formulation, forces)
    if forces is FREE:
        system.kernels["gravity_torque", formulation] = run
    return run(q, *extra, out=out, threads=threads)


def bias(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """h(q, q̇) = C(q, q̇) q̇ + g(q): what is left of inverse dynamics without acceleration and friction.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    wrenches, base_velocity, base_acceleration, parameters, formulation, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    h : ndarray, shape (..., n), [N m | N]

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, q, qd = dal.robots.two_link_planar(), [0.3, -0.2], [0.5, 1.0]
    >>> h = dal.coriolis_matrix(robot, q, qd) @ qd + dal.gravity_torque(robot, q)
    >>> bool(abs(dal.bias(robot, q, qd) - h).max() < 1e-9)
    True
    """
    forces, extra = forces_of(wrenches, base_velocity, base_acceleration, parameters)
    return ask(system, "bias", (formulation, forces), (q, qd, *extra), out, threads)


def energy(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    out: tuple[FloatArray, FloatArray] | None = None,
    threads: int | None = None,
) -> Energy:
    """Kinetic and potential energy, and their sum as `.total`.

    The potential is that of gravity and is zero for a mass at the height of the base origin; the fixed base does not count.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    out : tuple of two ndarrays, shape (...), optional
        Where to put the kinetic and the potential energy; an earlier result will do.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    Energy
        With fields of shape (...), [J].

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.energy(dal.robots.pendulum(), [0.0], [2.0])
    Energy(kinetic=0.666717, potential=-4.905)
    """
    return Energy(*ask(system, "energy", (), (q, qd), out, threads))


def friction_torque(
    system: AnySystem,
    qd: ArrayLike,
    *,
    q: ArrayLike | None = None,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Joint torques that friction takes up, viscous and dry.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    qd : array_like, shape (..., n)
        Velocities [rad/s | m/s].
    q : array_like, shape (..., n), optional
        Positions [rad | m]; needed where coordinates are not those of the joints, so that friction depends on them.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    friction : ndarray, shape (..., n), [N m | N]

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.friction_torque(dal.robots.puma560(), [1.0] * 6).round(2)
    array([30.53, 23.08, 11.07,  1.26,  1.09,  0.52])
    """
    if q is None:
        return _friction_at_rates(system, qd, out, threads)
    run = kernel(system, "friction_torque")
    if len(run.inputs) > 1:
        return run(q, qd, out=out, threads=threads)
    rates = real("qd", qd, "(..., n)")
    batch = batch_of([Slot("q", run.inputs[0].shape), *run.inputs], [real("q", q, "(..., n)"), rates])
    return run(np.broadcast_to(rates, (*batch, rates.shape[-1])), out=out, threads=threads)


def _friction_at_rates(system: AnySystem, qd: ArrayLike, out: FloatArray | None, threads: int | None) -> FloatArray:
    """Where it does not depend on the positions."""
    if len(kernel(system, "friction_torque").inputs) > 1:
        raise ShapeError(
            "q: nothing found, but friction depends on it where coordinates are not those of the joints. Try "
            "friction_torque(system, qd, q=q)."
        )
    found: FloatArray = ask(system, "friction_torque", (), (qd,), out, threads)
    return found


def link_wrenches(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    frame: str = "world",
    wrenches: Mapping[str, ArrayLike] | None = None,
    base_velocity: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Force and moment each joint transmits from its parent link to its child link: what bearings and bolts must hold.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd, qdd : array_like, shape (..., n)
        Positions and their time derivatives; leading axes broadcast.
    frame : {'world', 'link'}
        Whose axes the components are in: the world's, or the child link's.
    wrenches, base_velocity, base_acceleration, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    wrenches : ndarray, shape (..., m, 6)
        For each of the m moving joints [f; μ], at the origin of the joint's frame in the parent link.

    Examples
    --------
    >>> import dalembert as dal
    >>> wrench = dal.link_wrenches(dal.robots.pendulum(), [0.0], [0.0], [0.0])
    >>> round(float(wrench[0, 2]), 2)  # hanging: the axis carries its weight
    9.81
    """
    forces, extra = forces_of(wrenches, base_velocity, base_acceleration, None)
    return ask(system, "link_wrenches", (frame, forces), (q, qd, qdd, *extra), out, threads)


def forces_of(
    wrenches: Mapping[str, ArrayLike] | None,
    base_velocity: ArrayLike | None,
    base_acceleration: ArrayLike | None,
    parameters: ArrayLike | None,
) -> tuple[Forces, list[Any]]:
    """The options of a kernel and the arrays that go with them."""
    if wrenches is None and base_velocity is None and base_acceleration is None and parameters is None:
        return FREE, []
    acting = {} if wrenches is None else mapping("wrenches", wrenches, WRENCHES)
    names = tuple(acting)
    arrays: list[Any] = [acting[name] for name in names]
    moving = base_velocity is not None or base_acceleration is not None
    if moving:
        arrays += [np.zeros(6) if x is None else x for x in (base_velocity, base_acceleration)]
    if parameters is not None:
        arrays.append(parameters)
    return Forces(names, moving, parameters is not None), arrays


__all__ = [
    "Energy",
    "bias",
    "energy",
    "forward_dynamics",
    "friction_torque",
    "gravity_torque",
    "inverse_dynamics",
    "link_wrenches",
    "mass_matrix",
]
