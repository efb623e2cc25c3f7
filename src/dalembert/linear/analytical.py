"""Partial derivatives of the generalised load by influence coefficients, as [Freeman, Ch. II] writes them.

Kernels use other algorithms (`dal.derivatives`, `linearize`), which are quicker; these stand beside them to be read and compared.
With G, H, D the influence coefficients of a link's centre of mass, and of its rotation, summed over links:

    T = Σ Gᵀ ṗ + Gᵀ L̇ − Gᵀ f                                                (1)  [Freeman, Eq. 2-205]
    ∂T/∂q̈ = I*,    ∂T/∂q̇ = q̇ᵀ (P* + P*ᵀ)                                     (2)  [Freeman, Eq. 2-203, 2-204]
    ∂(Gᵀ ṗ)/∂q = ṗ · H + q̈ᵀ P + m Gᵀ (q̇ᵀ D q̇)                               (3)  [Freeman, Eq. 2-216]
    ∂(Gᵀ L̇)/∂q = L̇ · H + q̈ᵀ P + Gᵀ {G × II a + (H q̇) × L
                  + ω × (II (q̇ᵀ H) + G × L) + II (q̇ᵀ D q̇ − G × a)}         (4)  [Freeman, Eq. 2-224]

with a = q̇ᵀ H q̇, ω = G q̇, L = II ω; the transpose that the document prints in II (q̇ᵀ H)ᵀ is an erratum (E004-03).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import dynamics as dyn
from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import Influence, InverseDerivatives, engine
from ..dynamics.system import AnySystem
from ..errors import ModelError
from ..model import Robot
from ..model.parts import Body


class LoadParts(NamedTuple):
    """What one body adds: I* (..., n, n), P* (..., n, n, n) and ∂T/∂q (..., n, n)."""

    I: Any
    P: Any
    by_q: Any


class Coefficients(NamedTuple):
    """Influence coefficients of three rows, (..., 3, n), (..., 3, n, n), (..., 3, n, n, n)."""

    G: FloatArray
    H: FloatArray
    D: FloatArray


def load_partials(system: AnySystem, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> InverseDerivatives:
    """∂T/∂q, ∂T/∂q̇ and ∂T/∂q̈ of the generalised load of a motion, by influence coefficients [Freeman, Eq. 2-203 to 2-225].

    They equal `dal.derivatives(system, q, qd, qdd)` of a system without friction.

    Parameters
    ----------
    system : Robot or Mechanism
        With n coordinates; without rotors that spin on their own. Friction, springs and dampers are not counted.
    q, qd, qdd : array_like, shape (..., n)
        The motion; leading axes broadcast.

    Returns
    -------
    InverseDerivatives
        With matrices of shape (..., n, n).

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> from dalembert.linear import load_partials
    >>> arm, q, qd, qdd = dal.robots.pelican(), [0.3, 0.5], [1.0, -2.0], [0.5, 0.2]
    >>> frictionless = arm.replace(parameters=arm.parameters.replace(friction={}))
    >>> by, exact = load_partials(frictionless, q, qd, qdd), dal.derivatives(frictionless, q, qd, qdd)
    >>> bool(np.abs(by.dtau_dq - exact.dtau_dq).max() < 1e-12)
    True
    """
    n = engine.size(system)
    q, qd, qdd = np.broadcast_arrays(*(real(name, x, f"(..., {n})") for name, x in (("q", q), ("qd", qd), ("qdd", qdd))))
    robot = _robot_of(system)
    shape = (*q.shape[:-1], n, n)
    I, by_q, P = np.zeros(shape), np.zeros(shape), np.zeros((*shape, n))
    I += np.diag(_armature(system, robot))
    for link, body in _bodies(robot):
        R = dyn.forward_kinematics(system, q, link)[..., :3, :3]
        found = dyn.influence(system, q, link, order=3, point=body.com)
        linear, angular = _coefficients(found, slice(0, 3)), _coefficients(found, slice(3, 6))
        parts = [linear_parts(linear, body.mass, qd, qdd), angular_parts(angular, R @ body.inertia @ R.swapaxes(-1, -2), qd, qdd)]
        for part in parts:
            I, P, by_q = I + part.I, P + part.P, by_q + part.by_q
        by_q = by_q - turned_load(linear.H, body.mass * robot.gravity)  # [Freeman, Eq. 2-208]
    by_rate = np.einsum("...m,...pmn->...pn", qd, P + P.swapaxes(-1, -2))  # [Freeman, Eq. 2-204]
    return InverseDerivatives(by_q, by_rate, I)


def _coefficients(found: Influence, rows: slice) -> Coefficients:
    G, H, D = (np.asarray(x) for x in found)
    return Coefficients(G[..., rows, :], H[..., rows, :, :], D[..., rows, :, :, :])


def turned_load(H: FloatArray, force: Any) -> FloatArray:
    """∂(Gᵀ f)/∂q of a constant force, f · H [Freeman, Eq. 2-207, 2-208]."""
    return np.einsum("...c,...cnm->...mn", force, H)


def linear_parts(at: Coefficients, mass: float, qd: FloatArray, qdd: FloatArray) -> LoadParts:
    """What the momentum of a mass adds [Freeman, Eq. 2-209 to 2-216]."""
    G, H, D = at
    P = mass * np.einsum("...cp,...cmn->...pmn", G, H)
    rate = mass * (_times(G, qdd) + np.einsum("...m,...cmn,...n->...c", qd, H, qd))
    third = mass * np.einsum("...cp,...m,...clmn,...n->...pl", G, qd, D, qd)
    return LoadParts(mass * G.swapaxes(-1, -2) @ G, P, turned_load(H, rate) + _by_acceleration(P, qdd) + third)


def angular_parts(at: Coefficients, II: FloatArray, qd: FloatArray, qdd: FloatArray) -> LoadParts:
    """What the angular momentum of a link adds, II being its inertia in world axes [Freeman, Eq. 2-217 to 2-224]."""
    G, H, D = at
    omega, turning = _times(G, qd), np.einsum("...m,...cmn,...n->...c", qd, H, qd)
    L = _times(II, omega)
    rate = _times(II, _times(G, qdd) + turning) + np.cross(omega, L)
    along, across = np.einsum("...m,...cmn->...cn", qd, H), np.einsum("...cnm,...m->...cn", H, qd)
    third = np.einsum("...m,...clmn,...n->...cl", qd, D, qd)
    inner = _cross(G, _times(II, turning)) + _cross(across, L)
    inner = inner - _cross(II @ along + _cross(G, L), omega) + II @ (third - _cross(G, turning))
    P = power_array(G, H, II)
    by_q = turned_load(H, rate) + _by_acceleration(P, qdd) + G.swapaxes(-1, -2) @ inner
    return LoadParts(G.swapaxes(-1, -2) @ II @ G, P, by_q)


def power_array(G: FloatArray, H: FloatArray, II: FloatArray) -> FloatArray:
    """P of a turning link: ([G]ᵀ II) • [H] + ([II G]) • ([G] × [G]) [Freeman, Eq. 2-194]."""
    columns = G.swapaxes(-1, -2)
    crossed = np.cross(columns[..., :, None, :], columns[..., None, :, :])
    return np.einsum("...cp,...cmn->...pmn", II @ G, H) + np.einsum("...cp,...nmc->...npm", II @ G, crossed)


def _by_acceleration(P: FloatArray, qdd: FloatArray) -> FloatArray:
    """q̈ᵀ P, with the index of q̈ in the middle [Freeman, Eq. 2-215]."""
    return np.einsum("...p,...npm->...nm", qdd, P)


def _times(A: FloatArray, x: FloatArray) -> FloatArray:
    return (A @ x[..., None])[..., 0]


def _cross(A: FloatArray, v: FloatArray) -> FloatArray:
    """Each column of A times a vector."""
    return np.cross(A, v[..., None], axis=-2)


def _robot_of(system: Any) -> Robot:
    """The robot, or the tree of a mechanism."""
    robot = system if isinstance(system, Robot) else getattr(system, "robot", None)
    if not isinstance(robot, Robot):
        raise ModelError(f"load_partials: {type(system).__name__} found; a Robot or a Mechanism is expected.")
    if any(rotor.model == "full" for rotor in robot.parameters.rotors.values()):
        raise ModelError("load_partials: 'full' rotors found, which the expressions do not have. Use dal.derivatives.")
    return robot


def _armature(system: Any, robot: Robot) -> FloatArray:
    """Inertia of reflected rotors, at the coordinates of a robot [Freeman, Eq. 2-237]."""
    total = np.zeros(engine.size(system))
    if isinstance(system, Robot):
        for s in engine.tree(system).segments:
            total[s.coordinate] += s.armature * s.multiplier**2
    elif robot.parameters.rotors:
        raise ModelError("load_partials: rotors inside of a mechanism found, which are not counted. Use dal.derivatives.")
    return total


def _bodies(robot: Robot) -> Iterator[tuple[str | None, Body]]:
    """Every body that moves with a link, and the link; None is the tool, which carries the payload."""
    for link in robot.parameters.links:
        if link.name != robot.structure.root:
            for body in (link, *link.bodies):
                if not body.is_massless:
                    yield link.name, body
    if robot.parameters.payload is not None:
        yield None, robot.parameters.payload


__all__ = ["load_partials"]
