"""What joint torques are made of: inertia, velocity products, gravity and friction; masses, inertias and rotors; link by link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from .engine import kernel, system_of, tree
from .functions import forces_of
from .system import AnySystem


@dataclass(frozen=True, eq=False)
class Contributions:
    """The torque of a motion in parts [N m | N]; three ways to add them up give `tau`, shape (..., n).

    By cause: `inertia_own` + `inertia_coupling` + `centrifugal` + `coriolis` + `gravity` + `friction` + `external`.
    By nature: `translational` + `rotational` + `rotor` in place of the first four.
    By link: the sum of `links` over the m moving joints, + `rotor` + `friction` + `external`.
    `by_cause`, `by_nature`, `by_link` are these parts by name; `by_joint` shows whose acceleration or velocity each is due to.

    Attributes
    ----------
    joints, coordinates, units : tuple of str
        Names of the m moving joints; names of the n coordinates and the units of their torques.
    inertia : ndarray, shape (..., n, n)
        M_ij q̈_j: torque i for the acceleration of coordinate j.
    centrifugal_by : ndarray, shape (..., n, n)
        c_ijj q̇_j²: torque i for the velocity of coordinate j.
    coriolis : ndarray, shape (..., n)
        2 c_ijk q̇_j q̇_k, summed over all pairs j < k.
    friction, external : ndarray, shape (..., n)
        Friction, and what holds against the wrenches given.
    link_translational, link_rotational, link_gravity, link_rotor : ndarray, shape (..., m, n)
        Of the link that each moving joint carries: its mass concentrated at the centre of mass, its inertia about that point, its
        weight; and of the joint's rotor its spin (its mass and inertia at rest are part of the link it is mounted on).
    """

    joints: tuple[str, ...]
    coordinates: tuple[str, ...]
    units: tuple[str, ...]
    inertia: FloatArray
    centrifugal_by: FloatArray
    coriolis: FloatArray
    friction: FloatArray
    external: FloatArray
    link_translational: FloatArray
    link_rotational: FloatArray
    link_gravity: FloatArray
    link_rotor: FloatArray

    def __repr__(self) -> str:
        shown = ("inertia", "coriolis", "link_gravity")
        hidden = [field.name for field in fields(self) if field.name not in shown]
        return brief(self, *hidden, n=len(self.coordinates), joints=len(self.joints))

    @property
    def inertia_own(self) -> FloatArray:
        """M_ii q̈_i, shape (..., n): torque for a joint's own acceleration."""
        return np.diagonal(self.inertia, axis1=-2, axis2=-1).copy()

    @property
    def inertia_coupling(self) -> FloatArray:
        """Σ M_ij q̈_j over j ≠ i, shape (..., n): torque for the accelerations of the other joints."""
        others = self.inertia * (1.0 - np.eye(self.inertia.shape[-1]))
        return others.sum(-1)

    @property
    def centrifugal(self) -> FloatArray:
        """Σ c_ijj q̇_j², shape (..., n)."""
        return self.centrifugal_by.sum(-1)

    @property
    def gravity(self) -> FloatArray:
        """g, shape (..., n)."""
        return self.link_gravity.sum(-2)

    @property
    def translational(self) -> FloatArray:
        """What moves the masses, concentrated at the centres of mass, shape (..., n)."""
        return self.link_translational.sum(-2)

    @property
    def rotational(self) -> FloatArray:
        """What turns the links about their centres of mass, shape (..., n)."""
        return self.link_rotational.sum(-2)

    @property
    def rotor(self) -> FloatArray:
        """What the spin of the rotors needs, shape (..., n)."""
        return self.link_rotor.sum(-2)

    @property
    def links(self) -> FloatArray:
        """What each link asks of the joints, by its motion and its weight, shape (..., m, n)."""
        return self.link_translational + self.link_rotational + self.link_gravity

    @property
    def tau(self) -> FloatArray:
        """Their sum, the torque of inverse dynamics, shape (..., n)."""
        return sum(self.by_cause.values(), np.zeros_like(self.coriolis))

    @property
    def by_cause(self) -> dict[str, FloatArray]:
        """The parts by cause, by name; each of shape (..., n)."""
        motion = {
            "own inertia": self.inertia_own,
            "coupling inertia": self.inertia_coupling,
            "centrifugal": self.centrifugal,
            "Coriolis": self.coriolis,
        }
        return motion | {"gravity": self.gravity} | self._others

    @property
    def by_joint(self) -> dict[str, FloatArray]:
        """As `by_cause`, with inertia and centrifugal torques apart for each coordinate that moves; each of shape (..., n)."""
        inertia = {f"inertia, {name}": self.inertia[..., j] for j, name in enumerate(self.coordinates)}
        centrifugal = {f"centrifugal, {name}": self.centrifugal_by[..., j] for j, name in enumerate(self.coordinates)}
        return inertia | centrifugal | {"Coriolis": self.coriolis, "gravity": self.gravity} | self._others

    @property
    def by_nature(self) -> dict[str, FloatArray]:
        """The parts by nature, by name; each of shape (..., n)."""
        motion = {"translational": self.translational, "rotational": self.rotational, "rotors": self.rotor}
        return motion | {"gravity": self.gravity} | self._others

    @property
    def by_link(self) -> dict[str, FloatArray]:
        """What the link beyond each moving joint asks for, by the joint's name, and the rest; each of shape (..., n)."""
        links = self.links
        return {f"link of {name}": links[..., j, :] for j, name in enumerate(self.joints)} | {"rotors": self.rotor} | self._others

    @property
    def _others(self) -> dict[str, FloatArray]:
        return {"friction": self.friction, "external": self.external}


SPLITS: dict[str, Callable[[Contributions], dict[str, FloatArray]]] = {
    "cause": lambda parts: parts.by_cause,
    "joint": lambda parts: parts.by_joint,
    "nature": lambda parts: parts.by_nature,
    "link": lambda parts: parts.by_link,
}
"""The splits by name."""


def contributions(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    threads: int | None = None,
) -> Contributions:
    """Split the torque of a motion by cause, by nature and by link.

    Parameters
    ----------
    system : Robot or System
        With n coordinates and m moving joints.
    q, qd, qdd : array_like, shape (..., n)
        Positions and their time derivatives; leading axes, such as time, broadcast.
    wrenches, threads
        As in `inverse_dynamics`.

    Returns
    -------
    Contributions
        Arrays of shape (..., n), (..., n, n) and (..., m, n).

    Examples
    --------
    >>> import dalembert as dal
    >>> parts = dal.contributions(dal.robots.two_link_planar(), [0.0, 0.5], [1.0, 1.0], [0.0, 0.0])
    >>> [round(float(x), 6) + 0.0 for x in parts.coriolis]  # joint 2 feels none [Siciliano, Example 7.2]
    [-23.971277, 0.0]
    """
    forces, arrays = forces_of(wrenches, None, None, None)
    run = kernel(system, "contributions", forces.wrenches)
    coordinates = system_of(system).coordinates
    names, units = zip(*((coordinate.name, coordinate.force_unit) for coordinate in coordinates), strict=True)
    joints = tuple(s.name for s in tree(system).segments)
    return Contributions(joints, names, units, *run(q, qd, qdd, *arrays, threads=threads))


__all__ = ["Contributions", "contributions"]
