"""What contacts and held forces ask of the torques of drives, as equations and inequalities: H u = h, E u + e ≥ 0.

A cone of friction in space becomes the pyramid within it that has so many sides, smaller than the cone by 1 − cos(π / sides).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..mechanism.assembled import Assembled
from .closure_forces import Terms, contact_cones, held_rows
from .load_conditions import Contact, HeldForce, Squeeze


class AskedForces(NamedTuple):
    """H (R, p, m) and h (R, p), E (R, k, m) and e (R, k); and the number of the contact that each inequality belongs to."""

    H: FloatArray
    h: FloatArray
    E: FloatArray
    e: FloatArray
    owners: tuple[int, ...]


def asked_forces(
    mechanism: Assembled,
    terms: Terms,
    contacts: Mapping[str, Contact],
    internal: Sequence[HeldForce | Squeeze],
    sides: int,
) -> AskedForces:
    """Those of some configurations."""
    R, m = terms.A.shape[:2]
    H, h = held_rows(mechanism, terms, internal, (R,)) if internal else (np.zeros((R, 0, m)), np.zeros((R, 0)))
    cones = contact_cones(mechanism, terms, contacts)
    angles = 2 * np.pi * np.arange(sides) / sides
    across = np.stack([-np.cos(angles), -np.sin(angles), np.full(sides, np.cos(np.pi / sides))], axis=1)  # (sides, 3)
    E = np.concatenate([cones.linear, np.einsum("sc,rjcm->rjsm", across, cones.cone).reshape(R, -1, m)], axis=1)
    e = np.concatenate([cones.linear0, np.einsum("sc,rjc->rjs", across, cones.cone0).reshape(R, -1)], axis=1)
    return AskedForces(H, h, E, e, (*cones.linear_of, *np.repeat(cones.cone_of, sides).astype(int).tolist()))


__all__ = ["AskedForces", "asked_forces"]
