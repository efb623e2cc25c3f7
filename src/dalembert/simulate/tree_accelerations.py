"""Accelerations along a motion of a mechanism, in coordinates that tell its positions: those of the user wherever they do.

At other rows joints u take their place: with y the user's coordinates, ẏ = R u̇ and ÿ = R ü + c, torques τ at y are Rᵀ τ at u
[Freeman, Eq. 3-35], and ÿ is as finite at a dead point as R and c are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .applied import Applied
from .axes import Axes
from .standing import StatesAlong, accelerations, axes_at


class TreeStates(NamedTuple):
    """States along a motion (..., K, ·): q, q̇, positions, their rates, and which axes are held.

    Coordinates are `held` while they rest, exactly; in other coordinates, axes are that `stand` by what happened.
    """

    q: FloatArray
    qd: FloatArray
    x: FloatArray
    xd: FloatArray
    held: Any
    stand: Any

    def rows(self) -> TreeStates:
        """All states in one row."""
        return TreeStates(*(part.reshape(-1, part.shape[-1]) for part in self))


def tree_accelerations(system: Any, axes: Axes, along: TreeStates, acting: Applied, *, second: bool) -> list[FloatArray]:
    """q̈ under what acts (..., K, n), NaN where states are, and with `second` the ẍ of all joints."""
    flat, acted = along.rows(), acting.rows(along.q.shape[:-1])
    qdd, xdd = np.full(flat.q.shape, np.nan), np.full(flat.x.shape, np.nan)
    known = np.flatnonzero(np.isfinite(flat.x).all(-1) & np.isfinite(flat.xd).all(-1))
    for chosen, told, joints in system.told_at(flat.x[known]):
        rows = known[chosen]
        own = TreeStates(*(part[rows] for part in flat))
        qdd[rows], udd, u, ud = _told(told, joints, axes, own, acted.taken(rows))
        if second:
            xdd[rows] = told.second_rates_at(u, ud, udd, own.x)
    return [qdd.reshape(along.q.shape), *([xdd.reshape(along.x.shape)] if second else [])]


def _told(
    system: Any, joints: list[int] | None, axes: Axes, own: TreeStates, acting: Applied
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """q̈, and ü at u, u̇ in coordinates that tell these positions."""
    if joints is None:
        qdd = accelerations(system, axes, StatesAlong(own.q, own.qd, own.x, own.held), acting)
        return qdd, qdd, own.q, own.qd
    u, ud, among = own.x[:, joints], own.xd[:, joints], axes._replace(own=0)
    along = StatesAlong(u, ud, own.x, own.stand)
    udd = accelerations(system, among, along, acting)
    at, n = axes_at(system, among, along, acting.parameters), u.shape[-1]
    return np.einsum("...ki,...i->...k", at.rows[:, :n], udd) + at.bias[:, :n], udd, u, ud


__all__ = ["TreeStates", "tree_accelerations"]
