"""Forces at closures as functions of the drives' torques, f = f₀ + F u, and what contacts and held forces make of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError, ShapeError
from ..mechanism.assembled import Assembled
from ..wording import listed
from .load_conditions import Contact, HeldForce, Squeeze
from .sharing_recipe import loose_rows

SAME = 1e-11  # of the largest force: what is smaller is rounding


class Terms(NamedTuple):
    """What the kernel gives, one row for each configuration: τ = Aᵀ u, wrenches = wrenches₀ + Σ shares u, places and axes of
    the closures, and wrenches that no drive sets.
    """

    tau: FloatArray
    A: FloatArray
    wrenches: FloatArray
    shares: FloatArray
    places: FloatArray
    axes: FloatArray
    loose: FloatArray

    @staticmethod
    def of(found: Sequence[FloatArray], batch: tuple[int, ...]) -> Terms:
        """What the kernel gives, with the batch as one axis."""
        K = found[2].shape[-2]
        rows = [array.reshape((math.prod(batch), *array.shape[len(batch) :])) for array in found]
        rows += [np.zeros((len(rows[0]), 0, K, 6))] * (len(Terms._fields) - len(rows))  # closures without redundant conditions
        return Terms._make(rows)

    def at(self, u: FloatArray) -> FloatArray:
        """Wrenches of the closures at torques u."""
        found: FloatArray = self.wrenches + np.einsum("rm,rmkc->rkc", u, self.shares)
        return found

    def component(self, closure: int, moment: bool, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A component of a closure's force or moment, the direction given in the world (R, 3): c₀ (R,) and C (R, m)."""
        part = slice(3, 6) if moment else slice(0, 3)
        c0 = np.einsum("rc,rc->r", self.wrenches[:, closure, part], direction)
        return c0, np.einsum("rmc,rc->rm", self.shares[:, :, closure, part], direction)

    def in_world(self, closure: int, direction: FloatArray, axes: str) -> FloatArray:
        """A direction given in the axes of a closure's place, or in the world's, as (R, 3) in the world."""
        if axes == "world":
            return np.broadcast_to(direction, (len(self.tau), 3))
        found: FloatArray = self.axes[:, closure] @ direction
        return found


class Cones(NamedTuple):
    """Conditions on forces c₀ + C u: linear ones, (R, k) ≥ 0, and cones, (R, j, 3): |first two| ≤ third; and whose they are."""

    linear0: FloatArray
    linear: FloatArray
    linear_of: list[int]
    cone0: FloatArray
    cone: FloatArray
    cone_of: list[int]


def closure_index(mechanism: Assembled, subject: str, name: Any) -> int:
    """The number of a closure that has forces, by its name."""
    index = checks.choice(subject, name, {closure.name: k for k, closure in enumerate(mechanism.closures)})
    if not mechanism.closures[index].links:
        raise ModelError(f"{subject}: {name!r} acts between joints and has no force on a link. Name one between links.")
    return index


def contact_cones(mechanism: Assembled, terms: Terms, contacts: Mapping[str, Contact]) -> Cones:
    """What the contacts ask of the torques."""
    R, m = terms.A.shape[:2]
    linear: list[Any] = []
    cones: list[Any] = []
    for number, (name, contact) in enumerate(contacts.items()):
        k = closure_index(mechanism, "contacts: closure", name)
        normal = terms.in_world(k, contact.normal, contact.axes)
        n0, n = terms.component(k, False, normal)
        linear.append((n0 - contact.least_normal, n, number))
        _check_settable(mechanism, terms, k, "contacts", normal if contact.friction is None else None)
        if contact.friction is None:
            continue
        sideways = _sideways(terms, k, normal)
        limit = contact.friction * n0, contact.friction * n
        if len(sideways) == 1:  # in a plane a cone has two sides
            ((t0, t),) = sideways
            linear += [(limit[0] - sign * t0, limit[1] - sign * t, number) for sign in (1.0, -1.0)]
        elif sideways:
            stacked = [*sideways, limit]
            cones.append((np.stack([c0 for c0, _ in stacked], axis=1), np.stack([c for _, c in stacked], axis=1), number))
    return Cones(
        np.stack([entry[0] for entry in linear], axis=1) if linear else np.zeros((R, 0)),
        np.stack([entry[1] for entry in linear], axis=1) if linear else np.zeros((R, 0, m)),
        [entry[2] for entry in linear],
        np.stack([entry[0] for entry in cones], axis=1) if cones else np.zeros((R, 0, 3)),
        np.stack([entry[1] for entry in cones], axis=1) if cones else np.zeros((R, 0, 3, m)),
        [entry[2] for entry in cones],
    )


def _sideways(terms: Terms, closure: int, normal: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Components of the force at right angles to the normal: two, or fewer where the closure holds fewer directions."""
    into = np.swapaxes(terms.axes[:, closure], 1, 2)  # in axes of the place, where a direction that is not held stays the same
    f = np.concatenate([terms.wrenches[:, None, closure, :3], terms.shares[:, :, closure, :3]], axis=1)
    across = f - np.einsum("rmc,rc->rm", f, normal)[..., None] * normal[:, None]
    local = np.einsum("rcd,rmd->rmc", into, across)
    there = np.isfinite(local).all(axis=(1, 2))  # rows that have positions
    local, f = local[there], f[there]
    U, s, _ = np.linalg.svd(np.asarray(np.linalg.qr(local.reshape(-1, 3), mode="r")).T)
    count = int(np.sum(s[:2] > SAME * np.abs(f).max(initial=1e-300) * np.sqrt(local.size)))
    directions = [terms.in_world(closure, direction, "place") for direction in _settled(U[:, :count])]
    return [terms.component(closure, False, direction) for direction in directions]


def _settled(U: FloatArray) -> list[FloatArray]:
    """Orthonormal directions of the span of U (3, k) that depend on nothing else: those nearest to axes, one after another."""
    found: list[FloatArray] = []
    for _ in range(U.shape[1]):
        onto = U @ U.T - sum((np.outer(one, one) for one in found), np.zeros((3, 3)))
        axis = onto[:, int(np.argmax(np.round(np.diag(onto), 6)))]
        found.append(axis / np.linalg.norm(axis))
    return found


def held_rows(
    mechanism: Assembled, terms: Terms, internal: Sequence[HeldForce | Squeeze], batch: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """E and e with E u = e for everything that is held."""
    rows, values = [], []
    for entry in internal:
        parts = _parts(mechanism, terms, entry)
        rows.append(sum(c for _, c in parts))
        values.append(spread_value(entry, batch) - sum(c0 for c0, _ in parts))
    return np.stack(rows, axis=1), np.stack(values, axis=1)


def _parts(mechanism: Assembled, terms: Terms, entry: HeldForce | Squeeze) -> list[tuple[FloatArray, FloatArray]]:
    """The components that add up to what is held."""
    if isinstance(entry, HeldForce):
        k = closure_index(mechanism, "internal: closure", entry.closure)
        direction = terms.in_world(k, entry.direction, entry.axes)
        _check_settable(mechanism, terms, k, "internal", direction, moment=entry.moment)
        return [terms.component(k, entry.moment, direction)]
    first, second = (closure_index(mechanism, "internal: closure", name) for name in (entry.first, entry.second))
    links = [mechanism.closures[k].links[1] for k in (first, second)]
    if links[0] != links[1]:
        raise ModelError(
            f"internal: {entry.first!r} acts on {links[0]!r} and {entry.second!r} on {links[1]!r}; a squeeze needs two closures "
            "with the same second link."
        )
    line = terms.places[:, second] - terms.places[:, first]
    e = line / np.linalg.norm(line, axis=1, keepdims=True) / 2
    for k in (first, second):
        _check_settable(mechanism, terms, k, "internal", e)
    return [terms.component(first, False, e), terms.component(second, False, -e)]


def spread_value(entry: HeldForce | Squeeze, batch: tuple[int, ...]) -> FloatArray:
    """The value that is held in each row."""
    try:
        return np.broadcast_to(entry.value, batch).reshape(-1)
    except ValueError:
        raise ShapeError(f"internal: value of shape {np.shape(entry.value)} found, {batch} expected, as of q.") from None


def _check_settable(
    mechanism: Assembled, terms: Terms, closure: int, subject: str, direction: FloatArray | None, moment: bool = False
) -> None:
    """Refuse forces in which redundant closures can be tensed against each other, which no drive sets and no torque tells."""
    part = terms.loose[:, :, closure, slice(3, 6) if moment else slice(0, 3)]
    found = part if direction is None else np.einsum("rdc,rc->rd", part, direction)
    if not np.abs(found).max(initial=0.0) > 1e-9:
        return
    names = [f"{c.name} {row.what}" for c in mechanism.closures for row in c.rows]
    raise ModelError(
        f"{subject}: the force of closure {mechanism.closures[closure].name!r} is not told by the motion and set by no drive: "
        f"{listed([names[k] for k in loose_rows(mechanism)])} hold what others hold already. Use closures that hold less, "
        "such as type='directions' with directions=('x', 'y')."
    )


def undetermined(mechanism: Assembled, terms: Terms) -> tuple[str, ...]:
    """The closures whose wrenches are one choice among many."""
    size = np.abs(terms.loose).max(axis=(0, 1, 3), initial=0.0)
    return tuple(closure.name for closure, found in zip(mechanism.closures, size, strict=True) if found > 1e-9)


__all__ = ["Cones", "Terms", "closure_index", "contact_cones", "held_rows", "spread_value", "undetermined"]
