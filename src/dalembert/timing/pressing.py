"""What drives press against each other along a path, as unknowns of a timing within limits of the rates of their torques.

The part P w of their torques (shared_drives, Eq. 1) that moves nothing runs from grid point to grid point with the v of
smooth_shape, as s̈ does,

    w = (1 − v) Z_k ζ_k + v Z_{k+1} ζ_{k+1},      w′ = (Z_{k+1} ζ_{k+1} − Z_k ζ_k) dv/ds                       (1)

Z_k being any basis of what drives can press with at grid point k, where P Z_k = Z_k. Torques are then continuous, and the rate of
P w is ṡ (P′ w + P w′): out of rest, where v is time, constant. All of it is linear in ζ.

Where a driven joint turns round, its dry friction jumps, and its own drive is to jump with it and no other. With c the dry
friction of the driven joints in an interval, w + c in place of w does that: S Aᵀ c + P c = c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..trajectory.motion import Rates
from .path_grid import Grid, rates_of
from .rate_rows import RateMaker
from .shared_drives import SharedDrives
from .smooth_shape import SmoothProfile


class Pressing(NamedTuple):
    """How rows at places of intervals follow from ζ of their first ends [0] and last ends [1], (2, N, K, rows, r).

    `limits` are rows of limits out of P Z; `rates` and `turns` rows of rates over ṡ out of P Z, for how ζ changes, and of P′ Z.
    `own_limits` and `own_rates` (N, K, rows) are what dry friction of the driven joints adds to rows of limits, and to those of
    rates over ṡ.
    """

    limits: FloatArray
    rates: FloatArray
    turns: FloatArray
    own_limits: FloatArray
    own_rates: FloatArray

    @staticmethod
    def along(maker: RateMaker, path: Rates, nodes: PressedNodes, rows: int, rates: int) -> Pressing | None:
        """At places (N, K, n) of a path, among so many rows of limits and of rates."""
        sharing = maker.sharing
        if sharing is None or not nodes.bases.shape[-1]:
            return None
        ends = np.stack([nodes.bases[:-1], nodes.bases[1:]])[:, :, None]
        own = nodes.own[None, :, None, :, None]
        P, P1, T, powers = sharing.split(path[0]).P, sharing.split_rates(path).P, sharing.rows_of(path), sharing.powers_of(path)
        keep = np.isfinite(maker.limits.torques.size)
        first = int(np.isfinite(maker.limits.jerk.size).sum())

        def in_limits(part: FloatArray) -> FloatArray:
            found = _among(T @ part, 0, rows)
            if powers is not None:
                found[..., rows - powers.shape[-2] :, :] = powers @ part
            return found

        def in_rates(part: FloatArray) -> FloatArray:
            return _among(sharing.sizes[keep, None] * part[..., keep, :], first, rates)

        still = in_limits(P @ own)[0, ..., 0], in_rates(P1 @ own)[0, ..., 0]
        return Pressing(in_limits(P @ ends), in_rates(P @ ends), in_rates(P1 @ ends), *still)

    def of_limits(self, last: FloatArray, k: int) -> FloatArray:
        """What ζ of first and last ends do to rows of limits at place k of intervals, with its v (N,): (2, N, rows, r)."""
        return _shares(last) * self.limits[:, :, k]

    def of_rates(self, last: FloatArray, growth: FloatArray, k: int) -> FloatArray:
        """The same of rows of rates over ṡ, with dv/ds."""
        slope = growth[:, None, None]
        return _shares(last) * self.turns[:, :, k] + np.stack([-slope, slope]) * self.rates[:, :, k]

    def at(self, profile: SmoothProfile, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What is pressed in rows of limits, and in those of rates over ṡ, (N, K, rows), at shares of the intervals (N, K)."""
        last, growth = (part[..., None] for part in profile.last_share(shares))
        ends = np.stack([profile.y[:-1], profile.y[1:]])[:, :, None, :, None]
        limits, rates, turns = ((part @ ends)[..., 0] for part in self[:3])
        between = [(1 - last) * part[0] + last * part[1] for part in (limits, turns)]
        return between[0] + self.own_limits, between[1] + growth * (rates[1] - rates[0]) + self.own_rates


class PressedNodes(NamedTuple):
    """Z at grid points (N + 1, m, r), and c of intervals (N, m), in parts of sizes; nothing where there is one way to share."""

    bases: FloatArray
    own: FloatArray

    @staticmethod
    def of(sharing: SharedDrives | None, grid: Grid) -> PressedNodes:
        """Of the grid of one path."""
        N = grid.lengths.shape[1]
        if sharing is None or not sharing.free:
            return PressedNodes(np.zeros((N + 1, 0, 0)), np.zeros((N, 0)))
        nodes = np.concatenate([grid.left[0][0], grid.right[0][0, -1:]])
        middles = rates_of(tuple(part[0, grid.within // 2 :: grid.within] for part in grid.inside))
        return PressedNodes(sharing.bases(nodes), sharing.own_friction(middles))

    def pressed(self, y: FloatArray) -> FloatArray:
        """Z ζ at grid points, (N + 1, m)."""
        found: FloatArray = (self.bases @ y[..., None])[..., 0]
        return found


def _shares(last: FloatArray) -> FloatArray:
    return np.stack([1 - last, last])[..., None, None]


def _among(part: FloatArray, first: int, rows: int) -> FloatArray:
    """A part (..., k, r) among zeros for other rows."""
    found = np.zeros((*part.shape[:-2], rows, part.shape[-1]))
    found[..., first : first + part.shape[-2], :] = part
    return found


__all__ = ["PressedNodes", "Pressing"]
