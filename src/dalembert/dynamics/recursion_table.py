"""The Newton-Euler recursion step by step: what it finds for each link on the way out and for each joint on the way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray, choice
from ..formulations.newton_euler_base import MEANINGS
from .engine import tree
from .system import AnySystem
from .terms import terms

FRAMES = {"link": "newton_euler", "base": "newton_euler_base"}
_FORWARD = {"omega": "rad/s", "domega": "rad/s²", "pdd": "m/s²", "pdd_C": "m/s²", "domega_m": "rad/s²"}
_BACKWARD = {"f": "N", "mu": "N m"}


@dataclass(frozen=True, eq=False)
class Recursion:
    """The steps of the recursion: arrays of shape (..., m, 3) for the m moving joints and the links they move; tau is (..., m).

    `omega`, `domega`, `pdd`, `pdd_C`: angular velocity and acceleration, acceleration of the link's origin and of its centre of
    mass, gravity counted as upward acceleration; `domega_m`: the rotor's angular acceleration, zero where none spins as a body of
    its own; `f`, `mu`: what the parent exerts on the link, about the joint's origin in the parent; `tau`: the joint's force.
    `str()` sets the steps of one configuration in a table.
    """

    name: str
    joints: tuple[str, ...]
    units: tuple[str, ...]
    frame: str
    omega: FloatArray
    domega: FloatArray
    pdd: FloatArray
    pdd_C: FloatArray
    domega_m: FloatArray
    f: FloatArray
    mu: FloatArray
    tau: FloatArray

    def __repr__(self) -> str:
        return brief(self, "joints", "units")

    def __getitem__(self, index: Any) -> Recursion:
        """The steps of some of the configurations: an index of the batch axes."""
        rows = {key: getattr(self, key)[index] for key in MEANINGS}
        return Recursion(self.name, self.joints, self.units, self.frame, **rows)

    def __str__(self) -> str:
        if self.tau.ndim > 1:
            batch = " x ".join(map(str, self.tau.shape[:-1]))
            return f"Newton-Euler recursion of {self.name!r} for {batch} configurations; print one of them by its index."
        axes = "each link's own axes, rotors in those of the link that carries them" if self.frame == "link" else "base axes"
        return "\n".join([f"Newton-Euler recursion of {self.name!r}, in {axes}", *self._forward(), *self._backward()])

    def _forward(self) -> Iterator[str]:
        for i, joint in enumerate(self.joints):
            yield f"forward, {joint}"
            yield from (_row(name, unit, getattr(self, name)[i]) for name, unit in _FORWARD.items())

    def _backward(self) -> Iterator[str]:
        for i in reversed(range(len(self.joints))):
            yield f"backward, {self.joints[i]}"
            yield from (_row(name, unit, getattr(self, name)[i]) for name, unit in _BACKWARD.items())
            yield _row("tau", self.units[i], self.tau[i : i + 1])


def _row(name: str, unit: str, values: FloatArray) -> str:
    cells = "".join(f"{value + 0.0:14.6g}" for value in values)  # + 0.0 makes -0 a plain 0
    return f"  {name:<9}{f'[{unit}]':<9}{cells}"


def recursion(
    system: AnySystem,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    frame: str = "link",
    threads: int | None = None,
) -> Recursion:
    """The Newton-Euler recursion step by step, with the base at rest and nothing touching the robot.

    In link axes these are the quantities of [Siciliano, Eq. 7.107-7.114], in base axes those of Eq. 7.93-7.106. With standard
    Denavit-Hartenberg frames, the point about which μ_i is taken is the origin of frame i − 1. For the forces in the joints under
    external wrenches see `link_wrenches`.

    Parameters
    ----------
    system : Robot or System
        With n coordinates and m moving joints (more than n where joints are coupled).
    q, qd, qdd : array_like, shape (..., n)
        Positions and their time derivatives; those left out are zero. Leading axes broadcast.
    frame : {'link', 'base'}
        Whose axes the components are in.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    Recursion
        Arrays of shape (..., m, 3); `print` it for a table.

    Examples
    --------
    >>> import dalembert as dal
    >>> print(dal.recursion(dal.robots.pendulum(), [0.0], [2.0]).tau.round(12) + 0.0)
    [0.]
    """
    formulation = choice("frame", frame, FRAMES)
    found = terms(system, q, qd, qdd, formulation=formulation, names=tuple(MEANINGS), threads=threads)
    segments = tree(system).segments
    names, units = tuple(s.name for s in segments), tuple("N m" if s.turn else "N" for s in segments)
    return Recursion(system.name, names, units, frame, **found)


__all__ = ["Recursion", "recursion"]
