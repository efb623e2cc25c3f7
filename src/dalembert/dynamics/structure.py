"""The structure of the equations of motion: Coriolis terms, regressor, derivatives, as users call them."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.regressor import Options
from ..brief import brief
from ..checks import FloatArray, flag
from ..errors import ShapeError
from .engine import ask, request_of, system_of, tree_system
from .system import AnySystem


class InverseDerivatives(NamedTuple):
    """Derivatives of inverse dynamics, each of shape (..., n, n): row i is torque i; ∂τ/∂q̈ is the mass matrix."""

    dtau_dq: FloatArray
    dtau_dqd: FloatArray
    dtau_dqdd: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class ForwardDerivatives(NamedTuple):
    """Derivatives of forward dynamics, each of shape (..., n, n): row i is acceleration i; ∂q̈/∂τ is M⁻¹."""

    dqdd_dq: FloatArray
    dqdd_dqd: FloatArray
    dqdd_dtau: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class SecondDerivatives(NamedTuple):
    """Second derivatives of inverse dynamics, each of shape (..., n, n, n); the first index is that of the torque."""

    d2tau_dqdq: FloatArray
    d2tau_dqdqd: FloatArray
    d2tau_dqddqd: FloatArray
    dM_dq: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class EnergyGradient(NamedTuple):
    """Derivatives of the energies, each of shape (..., n); ∂T/∂q̇ is the momentum, ∂U/∂q the gravity torque."""

    dkinetic_dq: FloatArray
    dkinetic_dqd: FloatArray
    dpotential_dq: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class CentroidalMomentum(NamedTuple):
    """Momentum about the centre of mass, shape (..., 6), its matrix, (..., 6, n), and the centre of mass, (..., 3)."""

    momentum: FloatArray
    momentum_matrix: FloatArray
    centre_of_mass: FloatArray

    def __repr__(self) -> str:
        return brief(self)


_COLUMNS = {flags: (Options(*flags),) for flags in itertools.product((True, False), repeat=3)}


def _columns(rotor: Any, friction: Any, offset: Any) -> tuple[Options]:
    """The options of a regressor."""
    if rotor.__class__ is friction.__class__ is offset.__class__ is bool:  # 0 and 1 would be found in the table too
        return _COLUMNS[rotor, friction, offset]
    names = ("rotor", "friction", "offset")
    return (Options(*(flag(name, value) for name, value in zip(names, (rotor, friction, offset), strict=True))),)


def coriolis_matrix(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """The Coriolis matrix C(q, q̇) built from Christoffel symbols, so that Ṁ − 2C is skew-symmetric.

    Many matrices satisfy C q̇ = centrifugal and Coriolis torque; this is the one of [Siciliano, Eq. 7.44].

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    formulation, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    C : ndarray, shape (..., n, n), [kg m²/s | ...]

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> dal.coriolis_matrix(dal.robots.two_link_planar(), [0.0, np.pi / 2], [1.0, 1.0]).round(6)
    array([[-25., -50.],
           [ 25.,   0.]])
    """
    return ask(system, "coriolis_matrix", (formulation,), (q, qd), out, threads)


def christoffel(
    system: AnySystem,
    q: ArrayLike,
    *,
    formulation: str = "newton_euler",
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Christoffel symbols of the first kind: C_ij = Σ_k c_ijk q̇_k, symmetric in j and k [Siciliano, Eq. 7.45].

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    formulation, out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    c : ndarray, shape (..., n, n, n)

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> dal.christoffel(dal.robots.two_link_planar(), [0.0, np.pi / 2])[0].round(6)
    array([[  0., -25.],
           [-25., -25.]])
    """
    return ask(system, "christoffel", (formulation,), (q,), out, threads)


def regressor(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    rotor: bool = True,
    friction: bool = True,
    offset: bool = False,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """Y(q, q̇, q̈) with τ = Y φ: inverse dynamics as a linear function of the dynamic parameters.

    Per moving joint ten inertial columns (mass, first moments, inertia tensor entries about the link frame's origin), then,
    as asked for, the rotor's inertia, viscous and Coulomb friction, and the offset between the two directions of motion.
    `parameter_names` names the columns, `parameters` gives the robot's own values.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd, qdd : array_like, shape (..., n)
        Positions and their time derivatives; leading axes broadcast.
    rotor, friction, offset : bool
        Which columns a joint has beyond the inertial ones.
    out, threads
        As in `inverse_dynamics`.

    Returns
    -------
    Y : ndarray, shape (..., n, p)

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, q, qd, qdd = dal.robots.two_link_planar(), [0.3, -0.2], [0.5, 1.0], [1.0, 2.0]
    >>> tau = dal.regressor(robot, q, qd, qdd) @ dal.parameters(robot)
    >>> bool(abs(tau - dal.inverse_dynamics(robot, q, qd, qdd)).max() < 1e-9)
    True
    """
    return ask(system, "regressor", _columns(rotor, friction, offset), (q, qd, qdd), out, threads)


def parameter_names(system: AnySystem, *, rotor: bool = True, friction: bool = True, offset: bool = False) -> list[str]:
    """Names of the regressor's columns, such as 'joint2.Ixx'.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.parameter_names(dal.robots.pendulum())[:4]
    ['pivot.m', 'pivot.mx', 'pivot.my', 'pivot.mz']
    """
    return tree_system(system).parameter_names(*_columns(rotor, friction, offset))


def parameters(system: AnySystem, *, rotor: bool = True, friction: bool = True, offset: bool = False) -> FloatArray:
    """φ, the robot's own parameters in the order of `parameter_names`, shape (p,).

    A link's values are those of everything rigidly carried by its joint (further bodies, fixed links, payload, mounted
    rotors), about the origin and in the axes of the link frame; Ixy, Ixz, Iyz are entries of the inertia tensor.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.parameters(dal.robots.pendulum(), rotor=False, friction=False)[:4]  # mass, and mass times centre of mass
    array([ 1. ,  0. ,  0. , -0.5])
    """
    recipe = system_of(system).recipe(request_of("parameters", _columns(rotor, friction, offset)))
    return np.array(recipe.function())


def derivatives(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    out: tuple[FloatArray, FloatArray, FloatArray] | None = None,
    threads: int | None = None,
) -> InverseDerivatives | ForwardDerivatives:
    """Exact derivatives of inverse dynamics (given `qdd`) or of forward dynamics (given `tau`), friction included.

    `parameter_derivatives` has those by masses, moments, rotors and friction.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    qdd or tau : array_like, shape (..., n)
        Accelerations, for derivatives of the torque; or torques, for derivatives of the acceleration.
    out : tuple of three ndarrays, shape (..., n, n), optional
        Where to put the results; an earlier result will do.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    InverseDerivatives or ForwardDerivatives
        Matrices of shape (..., n, n).

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.derivatives(dal.robots.pendulum(), [0.0], [0.0], [0.0]).dtau_dq.round(6)  # m g l cos q
    array([[4.905]])
    """
    if (qdd is None) == (tau is None):
        raise ShapeError("derivatives: give qdd (for inverse dynamics) or tau= (for forward dynamics), one of the two.")
    if tau is None:
        return InverseDerivatives(*ask(system, "inverse_derivatives", (), (q, qd, qdd), out, threads))
    return ForwardDerivatives(*ask(system, "forward_derivatives", (), (q, qd, tau), out, threads))


def parameter_derivatives(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    rotor: bool = True,
    friction: bool = True,
    offset: bool = False,
    out: FloatArray | None = None,
    threads: int | None = None,
) -> FloatArray:
    """∂τ/∂φ (given `qdd`) or ∂q̈/∂φ (given `tau`): what the dynamic parameters φ change.

    The torque is linear in them, so ∂τ/∂φ is the regressor Y; then ∂q̈/∂φ = −M⁻¹ Y at the acceleration that τ causes.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    qdd or tau : array_like, shape (..., n)
        Accelerations, for derivatives of the torque; or torques, for derivatives of the acceleration.
    rotor, friction, offset : bool
        Which parameters a joint has beyond the inertial ones, as in `regressor`; `parameter_names` names them.
    out : ndarray, shape (..., n, p), optional
        Where to put the result.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    ndarray, shape (..., n, p)

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> robot = dal.robots.pendulum()
    >>> found = dal.parameter_derivatives(robot, [np.pi / 2], [0.0], [0.0])
    >>> round(float(found[0, dal.parameter_names(robot).index("pivot.mz")]), 6)
    -9.81
    """
    if (qdd is None) == (tau is None):
        raise ShapeError("parameter_derivatives: give qdd (for the torque) or tau= (for the acceleration), one of the two.")
    options = _columns(rotor, friction, offset)
    if tau is None:
        return ask(system, "regressor", options, (q, qd, qdd), out, threads)
    return ask(system, "forward_parameter_derivatives", options, (q, qd, tau), out, threads)


def second_derivatives(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    out: tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None = None,
    threads: int | None = None,
) -> SecondDerivatives:
    """Second derivatives of inverse dynamics, and ∂M/∂q, compiled when first asked for.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd, qdd : array_like, shape (..., n)
        Positions and their time derivatives; leading axes broadcast.
    out : tuple of four ndarrays, shape (..., n, n, n), optional
        Where to put the results; an earlier result will do.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    SecondDerivatives
        Arrays of shape (..., n, n, n).

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> found = dal.second_derivatives(dal.robots.pendulum(), [np.pi / 2], [0.0], [0.0])
    >>> found.d2tau_dqdq.round(6)  # −m g l sin q
    array([[[-4.905]]])
    """
    return SecondDerivatives(*ask(system, "second_derivatives", (), (q, qd, qdd), out, threads))


def energy_gradient(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    out: tuple[FloatArray, FloatArray, FloatArray] | None = None,
    threads: int | None = None,
) -> EnergyGradient:
    """Derivatives of kinetic and potential energy by the state.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    out : tuple of three ndarrays, shape (..., n), optional
        Where to put the results; an earlier result will do.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    EnergyGradient
        Arrays of shape (..., n).

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> dal.energy_gradient(dal.robots.pendulum(), [np.pi / 2], [0.0]).dpotential_dq.round(6)
    array([4.905])
    """
    return EnergyGradient(*ask(system, "energy_gradient", (), (q, qd), out, threads))


def centroidal_momentum(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    out: tuple[FloatArray, FloatArray, FloatArray] | None = None,
    threads: int | None = None,
) -> CentroidalMomentum:
    """Momentum of all links together, about their common centre of mass, and the matrix A(q) with which it is A q̇.

    Linear momentum changes by the forces from outside, weight included, and angular momentum by their moments about the centre of
    mass. The fixed base does not count, and rotors do where they are given by position and axis.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q, qd : array_like, shape (..., n)
        Positions and velocities; leading axes broadcast.
    out : tuple of three ndarrays, optional
        Where to put the results; an earlier result will do.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    CentroidalMomentum
        `momentum` (..., 6) with the linear part first, `momentum_matrix` (..., 6, n), `centre_of_mass` (..., 3), in world axes.

    Examples
    --------
    >>> import dalembert as dal
    >>> found = dal.centroidal_momentum(dal.robots.two_link_planar(), [0.3, 0.5], [1.0, 2.0])
    >>> found.momentum.shape, found.momentum_matrix.shape
    ((6,), (6, 2))
    """
    return CentroidalMomentum(*ask(system, "centroidal_momentum", (), (q, qd), out, threads))


__all__ = [
    "CentroidalMomentum",
    "EnergyGradient",
    "ForwardDerivatives",
    "InverseDerivatives",
    "SecondDerivatives",
    "centroidal_momentum",
    "christoffel",
    "coriolis_matrix",
    "derivatives",
    "energy_gradient",
    "parameter_derivatives",
    "parameter_names",
    "parameters",
    "regressor",
    "second_derivatives",
]
