"""Dynamic models in any coordinates: effective inertia, inertia power array, applied loads [Freeman, Eq. 3-33 to 3-36]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray, instance
from ..dynamics import Influence, applied_torque, christoffel, mass_matrix, terms
from ..dynamics.engine import tree
from ..dynamics.system import AnySystem
from ..errors import ShapeError
from ..formulations import FORMULATIONS
from ..model import Robot
from ..model.springs import Anchor, Damper, Spring
from .coefficients import inverse_of
from .given import H_of, Map, array_of, batch_of, influence_of, together
from .products import dotted, form, squeezed, times


@dataclass(frozen=True, eq=False)
class DynamicModel:
    """T = I q̈ + q̇ᵀ P q̇ − T^L at one configuration, or at each of a batch [Freeman, Eq. 2-145, 3-33].

    `I` (..., n, n) is the effective inertia, `P` (..., n, n, n) the inertia power array and `T` (..., n) the generalised force
    T^L of applied loads, gravity among them. Models of parts that move with the same coordinates add up: `leg1 + leg2`
    [Freeman, Eq. 4-47 to 4-49]. Friction is in none of them.
    """

    I: FloatArray
    P: FloatArray
    T: FloatArray

    def __post_init__(self) -> None:
        I = array_of("I", self.I, "n", "k")
        n, k = map(str, I.shape[-2:])
        for name, array in {"I": I, "P": array_of("P", self.P, n, k, k), "T": array_of("T", self.T, n)}.items():
            object.__setattr__(self, name, array)
        together(I=I.shape[:-2], P=self.P.shape[:-3], T=self.T.shape[:-1])

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of its arrays, broadcast."""
        return np.broadcast_shapes(self.I.shape[:-2], self.P.shape[:-3], self.T.shape[:-1])

    def __repr__(self) -> str:
        return brief(self)

    def __add__(self, other: DynamicModel) -> DynamicModel:
        if not isinstance(other, DynamicModel):
            return NotImplemented
        if self.I.shape[-2:] != other.I.shape[-2:]:
            raise ShapeError(f"+: models of {self.I.shape[-1]} and {other.I.shape[-1]} coordinates found; the same are expected.")
        together(first=self.batch, second=other.batch)
        return DynamicModel(self.I + other.I, self.P + other.P, self.T + other.T)

    def torque(self, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """Generalised forces of a motion, shape (..., n)."""
        k = str(self.I.shape[-1])
        qd, qdd = array_of("qd", qd, k), array_of("qdd", qdd, k)
        together(model=self.batch, qd=qd.shape[:-1], qdd=qdd.shape[:-1])
        return times(self.I, qdd) + form(self.P, qd, qd) - self.T  # (3-33)


def open_chain(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    wrenches: Mapping[str | Anchor, ArrayLike] | None = None,
    springs: Sequence[Spring] = (),
    dampers: Sequence[Damper] = (),
) -> DynamicModel:
    """The model of a robot, or of any system, in its own coordinates: what a transfer starts from.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    q : array_like, shape (..., n)
        Positions [rad | m].
    qd, wrenches, springs, dampers
        Loads beside gravity, as in `dal.applied_torque`.

    Returns
    -------
    DynamicModel
        P is Freeman's array (2-197), of which only the symmetric parts of planes act, where the formulation 'influence' serves
        the system; else these parts themselves, the Christoffel symbols.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal
    >>> robot, q, qd, qdd = dal.robots.pelican(), [0.3, 0.5], [1.0, -2.0], [0.5, 0.0]
    >>> tau = dal.transfer.open_chain(robot, q).torque(qd, qdd) + dal.friction_torque(robot, qd)
    >>> np.allclose(tau, dal.inverse_dynamics(robot, q, qd, qdd))
    True
    """
    T = applied_torque(system, q, qd, wrenches=wrenches, springs=springs, dampers=dampers, gravity=True)
    if _has_power_array(system):
        found = terms(system, q, formulation="influence", names=["I", "P"])
        return DynamicModel(found["I"], found["P"], T)
    return DynamicModel(mass_matrix(system, q), christoffel(system, q), T)


def _has_power_array(system: AnySystem) -> bool:
    largest = FORMULATIONS["influence"].largest
    return isinstance(system, Robot) and (largest is None or len(tree(system).segments) <= largest)


def platform(mass: float | ArrayLike, inertia: ArrayLike, *, gravity: ArrayLike | None = None) -> DynamicModel:
    """The model of a rigid body in the velocity of its centre of mass and its angular velocity [Freeman, Eq. 4-50 to 4-53].

    Added to the legs that carry it, transferred to the same velocities, it gives the model of a parallel mechanism.

    Parameters
    ----------
    mass : float or array_like, shape (...)
    inertia : array_like, shape (..., 3, 3)
        About the centre of mass, in world axes at this configuration: R I Rᵀ.
    gravity : array_like, shape (..., 3), optional
        Gravitational acceleration; none if left out.

    Returns
    -------
    DynamicModel
        Of six coordinates, linear first.

    Examples
    --------
    >>> from dalembert import transfer
    >>> body = transfer.platform(2.0, [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3]])
    >>> body.torque([0, 0, 0, 1.0, 1.0, 0.0], [0.0] * 6)  # ω × (I ω)
    array([0. , 0. , 0. , 0. , 0. , 0.1])
    """
    m, II = array_of("mass", mass), array_of("inertia", inertia, "3", "3")
    weight = np.zeros(3) if gravity is None else array_of("gravity", gravity, "3")
    together(mass=m.shape, inertia=II.shape[:-2], gravity=weight.shape[:-1])
    batch = np.broadcast_shapes(m.shape, II.shape[:-2], weight.shape[:-1])
    I, P, T = np.zeros((*batch, 6, 6)), np.zeros((*batch, 6, 6, 6)), np.zeros((*batch, 6))
    I[..., :3, :3], I[..., 3:, 3:] = m[..., None, None] * np.eye(3), II  # (4-50)
    P[..., 3:, 3:, 3:] = np.einsum("pjn,...mj->...pmn", _CROSS, II)  # (4-51), (4-52)
    T[..., :3] = m[..., None] * weight
    return DynamicModel(I, P, T)


_CROSS = np.array([np.cross(np.eye(3), np.eye(3)[k]) for k in range(3)])
"""_CROSS[p, j, n]: planes [0, z, −y], [−z, 0, x], [y, −x, 0] of (4-52) are Σ_j of these times column j of the inertia."""


def reduced(model: DynamicModel, back: Map) -> DynamicModel:
    """The model in coordinates u that give the old ones, q = q(u), by the coefficients of q over u.

        I_uu  = Gᵀ I G
        P_uuu = Gᵀ • (Gᵀ P G + I • H)
        T_u   = Gᵀ T

    Nothing is inverted, and there may be fewer new coordinates than old ones: a closed loop referred to its inputs
    [Freeman, Eq. 4-20 to 4-31].

    Parameters
    ----------
    model : DynamicModel
        In n old coordinates.
    back : Influence, or tuple of array_like, shape (..., n, k), (..., n, k, k)
        Of the old coordinates over the k new ones: `inverse(influence)`, or some columns of it.

    Returns
    -------
    DynamicModel
        In k coordinates.

    Examples
    --------
    >>> import dalembert as dal
    >>> robot = dal.robots.two_link_planar()
    >>> absolute = dal.transfer.linear([[1.0, 0.0], [-1.0, 1.0]])  # joint angles over absolute ones
    >>> dal.transfer.reduced(dal.transfer.open_chain(robot, [0.4, 0.7]), absolute).I.round(3)
    array([[275.51 , -79.879],
           [-79.879, 122.5  ]])
    """
    found = influence_of("back", back, 2)
    fits("reduced", model, found, found.G.shape[-2])
    return _reduced(model, found)


def _reduced(model: DynamicModel, back: Influence) -> DynamicModel:
    G = back.G
    down = G.swapaxes(-1, -2)
    P = dotted(down, squeezed(G, model.P) + dotted(model.I, H_of(back)))
    return DynamicModel(down @ model.I @ G, P, times(down, model.T))


def transferred(
    model: DynamicModel, influence: Map, *, new: Sequence[str] | None = None, old: Sequence[str] | None = None
) -> DynamicModel:
    """The model in new coordinates, by the coefficients of the new ones over the old.

        I_qq  = G⁻ᵀ I_φφ G⁻¹                                            [Freeman, Eq. 3-34]
        P_qqq = G⁻ᵀ (G⁻ᵀ • P_φφφ − I_qq • H) G⁻¹                         [Freeman, Eq. 3-35]
        T_q   = G⁻ᵀ T_φ                                                 [Freeman, Eq. 3-36]

    Where q(u) is known rather than u(q), `reduced` needs no inverse.

    Parameters
    ----------
    model : DynamicModel
        In n old coordinates, such as `open_chain` gives.
    influence : Influence, or tuple of array_like, shape (..., n, n), (..., n, n, n)
        Of the new coordinates over the old ones.
    new, old
        As in `inverse`, which see for singular maps too.

    Returns
    -------
    DynamicModel

    Examples
    --------
    >>> import dalembert as dal
    >>> robot, q = dal.robots.pelican(), [0.3, 0.5]
    >>> tip = dal.transfer.rows(dal.influence(robot, q), [0, 1])
    >>> force = dal.transfer.transferred(dal.transfer.open_chain(robot, q), tip).torque([0.0, 0.0], [0.0, 0.0])
    >>> force.shape  # what holds the arm at its tip
    (2,)
    """
    found = influence_of("influence", influence, 2)
    fits("transferred", model, found, found.G.shape[-1])
    return _reduced(model, inverse_of("transferred", Influence(found.G, found.H), new, old))


def fits(subject: str, model: DynamicModel, influence: Influence, n: int) -> None:
    """Refuse what is no model, one that is not in the n old coordinates of a map, and one that is not of its batch."""
    instance("model", model, DynamicModel, "transfer.open_chain(robot, q)")
    if model.I.shape[-2:] != (n, n):
        found = "x".join(map(str, model.I.shape[-2:]))
        raise ShapeError(f"{subject}: a model with an I of {found} found, but the coefficients are of {n} old coordinates.")
    together(model=model.batch, influence=batch_of(influence))


__all__ = ["DynamicModel", "fits", "open_chain", "platform", "reduced", "transferred"]
