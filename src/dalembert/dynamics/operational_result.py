"""The dynamics in the directions of a task, as a result: arrays, or scalars inside of a function that is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..brief import brief


def applied(A: Any, x: Any) -> Any:
    """A x, over leading axes and over scalars of any kind."""
    x = np.asarray(x)
    return (A @ x[..., None])[..., 0]


def turned(A: Any) -> Any:
    """Aᵀ over leading axes."""
    return np.swapaxes(A, -1, -2)


ARRAYS = ("Lambda", "mu", "p", "J", "J_bar", "Jdot_qd", "mobility", "doubt", "N", "C")
"""The fields that are arrays, in the order of the kernel."""


@dataclass(frozen=True, eq=False, repr=False)
class OperationalSpace:
    """Λ ẍ + μ + p = γ − contact, with τ = Jᵀ γ + Nᵀ τ₀ [Siciliano, Eq. 7.133, 7.141]; m directions, n coordinates.

    Rows of a batch in which the task is singular are NaN. With damping, results are those of a task that gives way where it is
    nearly singular: τ₀ then moves the task a little, and no identity of the exact model holds.

    Attributes
    ----------
    Lambda : ndarray, shape (..., m, m)
        The inertia that the task feels: (J M⁻¹ Jᵀ)⁻¹, B_A in the book.
    mu : ndarray, shape (..., m)
        What velocities ask for, C_A ẋ in the book.
    p : ndarray, shape (..., m)
        What gravity asks for, and springs inside a mechanism; g_A in the book.
    J : ndarray, shape (..., m, n)
        The Jacobian of the task.
    J_bar : ndarray, shape (..., n, m)
        Its dynamically consistent inverse, M⁻¹ Jᵀ Λ.
    N : ndarray, shape (..., n, n)
        I − J̄ J: what the task leaves free of joint velocities; of torques, Nᵀ.
    Jdot_qd : ndarray, shape (..., m)
        The acceleration of the task without joint accelerations.
    mobility : ndarray, shape (..., m, m)
        Λ⁻¹.
    C : ndarray, shape (..., m, m), or None
        The matrix C_A with the derivative of Λ less 2 C_A skew-symmetric, if it was asked for. C_A ẋ is `mu` where the joints
        do not move inside of the task's null space.
    directions : tuple of str
        What the rows are.
    damping : float or None
        That of a damped task.
    doubt : ndarray, shape (..., 4)
        How near a singular task (the squared condition, m times it at most; infinite or NaN at one), how far from a singularity
        of the angles (zero at one), and the mobility of linear and angular directions where they are easy.
    """

    Lambda: Any
    mu: Any
    p: Any
    J: Any
    J_bar: Any
    N: Any
    Jdot_qd: Any
    mobility: Any
    C: Any
    directions: tuple[str, ...]
    damping: Any = None
    doubt: Any = None

    def __repr__(self) -> str:
        hidden = [name for name in ("C", "damping") if getattr(self, name) is None]
        return brief(self, "mobility", "Jdot_qd", "doubt", *hidden)

    @property
    def damped(self) -> bool:
        """Whether this is the damped variant, an approximation."""
        return self.damping is not None

    @classmethod
    def of(cls, arrays: Sequence[Any], directions: tuple[str, ...], damping: Any = None) -> OperationalSpace:
        """From the outputs of its kernel."""
        fields = dict(zip(ARRAYS, arrays, strict=False))
        return cls(**{"C": None, **fields}, directions=directions, damping=damping)

    def is_like(self, directions: tuple[str, ...], damping: Any, coriolis: bool) -> bool:
        """Whether it is a result of such a task, so that new numbers in its arrays make it the result of another state."""
        return self.directions == directions and self.damping == damping and (self.C is not None) == coriolis

    def forces(self, xdd: Any, *, contact: Any = None) -> Any:
        """γ = Λ ẍ + μ + p + contact: inverse dynamics in the directions of the task [Siciliano, Eq. 7.133].

        Parameters
        ----------
        xdd : array_like, shape (..., m)
            The acceleration of the task.
        contact : array_like, shape (..., m), optional
            What the tool exerts on its surroundings, along the directions of the task.

        Returns
        -------
        ndarray, shape (..., m)
        """
        gamma = applied(self.Lambda, xdd) + self.mu + self.p
        return gamma if contact is None else gamma + np.asarray(contact)

    def torque(self, xdd: Any, *, tau0: Any = None, contact: Any = None) -> Any:
        """τ = Jᵀ γ + Nᵀ τ₀ for an acceleration of the task [Siciliano, Eq. 7.141]; friction is not in it.

        Parameters
        ----------
        xdd, contact
            As in `forces`.
        tau0 : array_like, shape (..., n), optional
            Torques that move the arm inside, without the task.

        Returns
        -------
        ndarray, shape (..., n)
        """
        tau = applied(turned(self.J), self.forces(xdd, contact=contact))
        return tau if tau0 is None else tau + self.null_torque(tau0)

    def null_torque(self, tau0: Any) -> Any:
        """Nᵀ τ₀: the part of torques that gives the task no acceleration."""
        return applied(turned(self.N), tau0)

    def acceleration(self, tau: Any, *, contact: Any = None) -> Any:
        """ẍ that torques cause: forward dynamics in the directions of the task [Siciliano, Eq. 7.129]; without friction.

        Parameters
        ----------
        tau : array_like, shape (..., n)
            Torques at the coordinates.
        contact
            As in `forces`.

        Returns
        -------
        ndarray, shape (..., m)
        """
        given = np.asarray(tau)
        if contact is not None:
            given = given - applied(turned(self.J), contact)
        return applied(self.mobility, applied(turned(self.J_bar), given) - self.mu - self.p)


__all__ = ["ARRAYS", "OperationalSpace", "applied", "turned"]
