"""A mechanism in other coordinates at positions that its own do not tell: joints, by how it can move there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics.system import LEAST_PIVOT
from .assembled import Assembled
from .numeric import telling_joints

_AS_GOOD = 0.3  # of the smallest singular value at the place that joints were chosen for


class Told(NamedTuple):
    """Positions by their numbers, the mechanism in coordinates that tell them, and which joints these are, if not its own."""

    rows: Any
    system: Any
    joints: list[int] | None


def told(
    mechanism: Assembled, x: FloatArray, pivots: FloatArray, other: Callable[[list[int], FloatArray], Any]
) -> Iterator[Told]:
    """Positions (P, N) in groups: those that the coordinates tell, or that are NaN, and others by joints that tell them.

    `pivots` are the least ones of the mechanism there; `other` makes it in some joints for its coordinates.
    """
    poor = pivots < LEAST_PIVOT
    if not poor.all():
        yield Told(np.flatnonzero(~poor), mechanism, None)
    left = np.flatnonzero(poor)
    motions = _motions(mechanism, x[left])
    while len(left):
        joints = sorted(telling_joints(motions[0]))
        tells = np.linalg.svd(motions[..., joints], compute_uv=False)[..., -1]
        good = tells >= _AS_GOOD * tells[0]
        yield Told(left[good], other(joints, x[left[0]]), joints)
        left, motions = left[~good], motions[~good]


def _motions(mechanism: Assembled, x: FloatArray) -> FloatArray:
    """How the joints can move at positions (P, N), a row for each freedom."""
    J = mechanism.equations(x)[1][:, : len(mechanism.rows)]
    return np.linalg.svd(J)[2][:, -mechanism.n :]


__all__ = ["Told", "told"]
