"""Drives that share a load through contacts, or with forces that are held: what is asked of forces beside limits of torques.

Forces at closures are linear in the torques u of the drives. What is held, H u = h, and what contacts ask, E u + e ≥ 0, are
further equations, those of contacts with what is left, 0 ≤ v ≤ V, as drives of their own:

    [Aᵀ, 0; H, 0; E, −1] [u; v] = [τ; h; −e]                                                                  (1)

so that all of it is a set with facets, as for limits alone. h and e are those of a motion without drives, and have the parts that
torques have: with s̈, ṡ², ṡ, gravity and dry friction. V is more than the drives can press.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import ModelError, ShapeError
from ..loads.asked_forces import AskedForces, asked_forces
from ..loads.closure_forces import Terms
from ..loads.load_conditions import Contact, HeldForce, Squeeze
from ..loads.load_distribution import distribute_load
from ..loads.load_options import contacts_of, drives_of, held_of
from ..mechanism.mechanism import Mechanism, PlacedMechanism
from ..trajectory.motion import Rates
from ..wording import listed
from .limit_rows import DriveLimits, Limit, LimitRows, TimingLimits
from .path_torque_rates import PathTorqueRates
from .path_torques import PathTorques
from .shared_drives import SharedDrives, beside

_SIDES = 32  # of a pyramid within a cone of friction: half a percent less of it
_PRESS = 4.0  # times what drives at their limits press with is V
_KEPT = 2e-6  # of V/2 is not used: with what timings may exceed, contacts hold still
_SLIPS = 1e-4  # of V/2, from which on a contact is about to slip


Grip = tuple[dict[str, Contact], tuple[HeldForce | Squeeze, ...]]
"""Contacts by the names of closures, and forces that are held."""


class GrippedDrives(SharedDrives):
    """The drives of a mechanism with contacts and held forces; equations and drives of what is asked come after the others."""

    dear = True

    def __init__(
        self,
        system: Any,
        limit: Limit,
        threads: int | None,
        contacts: Mapping[str, Contact],
        internal: Sequence[HeldForce | Squeeze],
        rates: Limit | None = None,
        further: DriveLimits | None = None,
    ) -> None:
        super().__init__(system, limit, threads, rates, further)
        self.contacts, self.internal = contacts, internal
        free = [name for name, size in zip(limit.names, limit.size, strict=True) if not np.isfinite(size)]
        if free:
            raise ModelError(
                f"contacts, internal: found, but {listed(free)} without a limit of torque, so that nothing bounds how hard they "
                "press. Give torque=..., or Limits(effort=...) to the joints."
            )
        q0 = np.array(self.mechanism.q0)[None]
        self.owners = self._asked(q0, 0 * q0, 0 * q0).owners
        self.slack = len(self.owners)

    @property
    def equations(self) -> int:
        """How many equations the torques of the drives have to meet: those of what is held, too."""
        return super().equations + len(self.internal)

    @property
    def width(self) -> int:
        """The same, with those of what is left of conditions."""
        return self.equations + self.slack

    @property
    def results(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of everything whose use is told."""
        return (*(("torque", name) for name in self.limited), *(("contact", name) for name in self.contacts), *self.motor_names)

    def names_of(self, facet: Sequence[int]) -> tuple[str, ...]:
        """The drives that are at their limits on a facet, and the contacts about to slip."""
        m, names = len(self.limit.names), list(self.contacts)
        touching = dict.fromkeys(names[owner] for k, owner in enumerate(self.owners) if m + k not in facet)
        return (*super().names_of(facet), *touching)

    def scaled(self, q: FloatArray) -> FloatArray:
        """The columns of (1) as rows, in parts of limits, and conditions in parts of V/2: (..., m + k, n + p + k)."""
        rows = q.reshape(-1, q.shape[-1])
        asked, own = self._asked(rows, 0 * rows, 0 * rows), super().scaled(rows)
        L, m, k = self.limit.size, len(self.limit.names), self.slack
        found = np.zeros((len(rows), m + k, self.width))
        further = (L[:, None] * np.swapaxes(part, 1, 2) for part in (asked.H, asked.E / self._half(asked)[..., None]))
        found[:, :m] = np.concatenate([own, *further], axis=2)
        found[:, m:, self.width - k :] = -np.eye(k)
        return found.reshape(*q.shape[:-1], m + k, self.width)

    def parts(self, path: Rates, parts: PathTorques) -> PathTorques:
        """The right side of (1) in its parts; those with ṡ², ṡ and dry friction from motions once, twice and thrice as fast."""
        q, q1, q2, _ = (part.reshape(-1, part.shape[-1]) for part in path)
        rest = np.zeros_like(q)
        g, once, twice, thrice = (self._right(q, k * q1, k * k * q2) for k in (0.0, 1.0, 2.0, 3.0))
        m = self._right(q, rest, q1) - g
        c = (thrice - 2 * twice + once) / 2
        v = twice - once - 3 * c
        asked = m, c, g, v, once - g - c - v
        shape = *path[0].shape[:-1], -1
        return PathTorques(*(np.concatenate([a, b.reshape(shape)], axis=-1) for a, b in zip(parts, asked, strict=True)))

    def wanted(self, motion: Rates, tau: FloatArray) -> FloatArray:
        """τ and the rest of the right side of (1) along a motion (..., n)."""
        q, qd, qdd = (part.reshape(-1, part.shape[-1]) for part in motion[:3])
        return np.concatenate([tau, self._right(q, qd, qdd).reshape(*tau.shape[:-1], -1)], axis=-1)

    def told_of(self, use: FloatArray) -> FloatArray:
        """Shares of limits of the drives, and those of contacts that are about to slip; others count as nothing."""
        m, owners = len(self.limit.names), np.array(self.owners)
        touching = [use[..., m:][..., owners == k].max(axis=-1, keepdims=True) for k in range(len(self.contacts))]
        return np.concatenate([use[..., :m], *(np.where(share > 1 - _SLIPS, share, 0.0) for share in touching)], axis=-1)

    @property
    def asked(self) -> dict[str, Any]:
        """What `distribute_load` is asked for beside limits."""
        return {"contacts": self.contacts, "internal": self.internal}

    def columns(self, q: FloatArray) -> FloatArray:
        """A of all equations, in parts of sizes, (..., m, equations)."""
        return self.scaled(q)[..., : len(self.limit.names), : self.equations]

    def right(self, path: Rates, parts: PathTorques) -> PathTorques:
        """The right sides of all equations along a path, (..., equations)."""
        if not self.internal:
            return parts
        return PathTorques(*(part[..., : self.equations] for part in self.parts(path, parts)))

    def right_rates(self, path: Rates, rates: PathTorqueRates) -> PathTorqueRates:
        """How they change along it; those of what is held by differences."""
        if not self.internal:
            return rates
        back, ahead, step = beside(path)
        nothing = PathTorques(*(np.zeros((*path[0].shape[:-1], 0)) for _ in PathTorques._fields))
        before, after = (self.parts(place, nothing) for place in (back, ahead))
        held = slice(0, len(self.internal))
        changes = ((b - a)[..., held] / (2 * step) for a, b in zip(before, after, strict=True))
        return PathTorqueRates(*(np.concatenate(both, axis=-1) for both in zip(rates, changes, strict=True)))

    def held(self, motion: Rates) -> FloatArray:
        """The right sides of what is held along a motion, (..., equations − n)."""
        if not self.internal:
            return super().held(motion)
        q, qd, qdd = (part.reshape(-1, part.shape[-1]) for part in motion[:3])
        return self._asked(q, qd, qdd).h.reshape(*motion[0].shape[:-1], -1)

    def _own_rows(self, path: Rates) -> FloatArray:
        """Rows of drives, then of conditions in parts of V/2, (..., rows, m)."""
        m = len(self.limit.names)
        pressed = np.swapaxes(self.scaled(path[0])[..., :m, self.equations :], -1, -2)
        return np.concatenate([super()._own_rows(path), pressed], axis=-2)

    def _row_names(self) -> tuple[str, ...]:
        """The drives, and the contact of each condition."""
        touching = list(self.contacts)
        return (*self.limit.names, *(touching[k] for k in self.owners))

    def _fixed_own(self, path: Rates, parts: PathTorques) -> LimitRows:
        """A row for each drive, and one for each condition, about V/2 and in parts of it."""
        size = np.concatenate([self.limit.size, np.full(self.slack, 1.0 - _KEPT)])
        m, T = len(self.limit.names), self._own_rows(path) @ self.split(path[0]).S
        found = []
        for part in self.parts(path, parts):
            value = (T @ part[..., : self.equations, None])[..., 0]
            value[..., m:] -= part[..., self.equations :]
            found.append(value)
        i, c, g, v, d = found
        return LimitRows(i, c, v, g, d, np.broadcast_to(-size, i.shape), np.broadcast_to(size, i.shape))

    def told(self, use: FloatArray) -> FloatArray:
        """Shares of limits in use of the drives, 1 for contacts about to slip, and shares of motors."""
        m, last = len(self.limit.names), len(self.limit.names) + self.slack
        touching, owners = use[..., m:last], np.array(self.owners)
        slipping = [(touching[..., owners == k].max(axis=-1, keepdims=True) > 1 - _SLIPS) for k in range(len(self.contacts))]
        return np.concatenate([use[..., :m], *slipping, use[..., last:]], axis=-1)

    def use(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """|u| / limit of torques whose largest one is the least, and 1 for contacts about to slip, (K, drives + contacts)."""
        given: dict[str, Any] = {"limits": self.limit.size, **self.asked}
        shared = distribute_load(self.system, q, qd, qdd, objective="ratio", threads=self.threads, **given)
        return np.concatenate([shared.ratios, shared.at_contact.astype(float)], axis=-1)

    def _right(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """h and −e, with v about V/2 and in parts of it, (R, p + k)."""
        asked = self._asked(q, qd, qdd)
        return np.concatenate([asked.h, 1.0 - asked.e / self._half(asked)], axis=1)

    def _half(self, asked: AskedForces) -> FloatArray:
        """V/2 of each condition, (R, k)."""
        found: FloatArray = np.maximum(_PRESS / 2 * (np.abs(asked.E) @ self.limit.size), 1e-12)
        return found

    def _asked(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> AskedForces:
        """What is asked along a motion (R, n)."""
        terms = Terms.of(self.terms(q, qd, qdd), (len(q),))
        return asked_forces(self.mechanism, terms, self.contacts, self.internal, _SIDES)


def sharing_of(
    system: Any, limits: TimingLimits, grip: Grip, threads: int | None, rates: Limit | None = None
) -> SharedDrives | None:
    """The drives of a mechanism, if they are others than its coordinates, or hold something."""
    if limits.drives is None:
        return None
    if any(grip):
        return GrippedDrives(system, limits.drives, threads, *grip, rates, limits.of_drives)
    return SharedDrives(system, limits.drives, threads, rates, limits.of_drives)


def grip_of(system: Any, contacts: Any, internal: Any) -> Grip:
    """Contacts and held forces as they are given, checked; values are the same all along a path."""
    grip = contacts_of(contacts), held_of(internal)
    placed = system.mechanism if isinstance(system, PlacedMechanism) else system
    if any(grip) and not (isinstance(placed, Mechanism) and placed.closures):
        found = "contacts" if grip[0] else "internal"
        raise ModelError(f"{found}: found, but this system has no closures whose forces could be asked for. Leave it out.")
    if any(grip):
        drives_of(placed)
    for entry in grip[1]:
        if np.ndim(entry.value):
            raise ShapeError(f"internal: value of shape {np.shape(entry.value)} found; along a path one number is expected.")
    return grip


__all__ = ["Grip", "GrippedDrives", "grip_of", "sharing_of"]
