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
from .path_grid import BoolArray, Grid, rates_of
from .rate_rows import RateMaker
from .shared_drives import SharedDrives
from .smooth_shape import SmoothProfile


class Pressing(NamedTuple):
    """How rows at places of intervals follow from ζ of their first ends [0] and last ends [1], (2, N, K, rows, r).

    `limits` are rows of limits out of P Z; `rates` and `turns` rows of rates over ṡ out of P Z, for how ζ changes, and of P′ Z.
    `direct` are rows of rates out of P Z that do not go with ṡ: R i of motors with inductance, whose voltages are such rows.
    `own_limits`, `own_rates` and `own_direct` (N, K, rows) are what dry friction of the driven joints adds to rows of limits, to
    those of rates over ṡ, and to those of rates. `torques` and `own_torques` are the torques themselves, of all drives.
    """

    limits: FloatArray
    rates: FloatArray
    turns: FloatArray
    direct: FloatArray
    torques: FloatArray
    own_limits: FloatArray
    own_rates: FloatArray
    own_direct: FloatArray
    own_torques: FloatArray

    @staticmethod
    def along(maker: RateMaker, path: Rates, nodes: PressedNodes, counts: tuple[int, int]) -> Pressing | None:
        """At places (N, K, n) of a path, among so many rows of limits and of rates."""
        sharing = maker.sharing
        if sharing is None or not nodes.bases.shape[-1]:
            return None
        rows = _Rows.along(maker, sharing, path, counts)
        ends, own = np.stack([nodes.bases[:-1], nodes.bases[1:]])[:, :, None], nodes.own[None, :, None, :, None]
        P, P1 = sharing.split(path[0]).P, sharing.split_rates(path).P
        pressed, alone = P @ ends, P @ own
        still = rows.limits(alone), rows.rates(P1 @ own), rows.direct(alone), rows.sizes * alone
        return Pressing(
            rows.limits(pressed),
            rows.rates(pressed),
            rows.rates(P1 @ ends),
            rows.direct(pressed),
            rows.sizes * pressed,
            *(part[0, ..., 0] for part in still),
        )

    def of_limits(self, last: FloatArray, k: int) -> FloatArray:
        """What ζ of first and last ends do to rows of limits at place k of intervals, with its v (N,): (2, N, rows, r)."""
        return _shares(last) * self.limits[:, :, k]

    def of_rates(self, last: FloatArray, growth: FloatArray, k: int) -> FloatArray:
        """The same of rows of rates over ṡ, with dv/ds."""
        slope = growth[:, None, None]
        return _shares(last) * self.turns[:, :, k] + np.stack([-slope, slope]) * self.rates[:, :, k]

    def directly(self, last: FloatArray, k: int) -> FloatArray:
        """The same of rows of rates, beside what goes with ṡ."""
        return _shares(last) * self.direct[:, :, k]

    def at(self, profile: SmoothProfile, shares: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What is pressed in rows of limits, in those of rates over ṡ, and in these beside it, (N, K, rows), at shares of the
        intervals (N, K).
        """
        last, growth = (part[..., None] for part in profile.last_share(shares))
        ends = np.stack([profile.y[:-1], profile.y[1:]])[:, :, None, :, None]
        limits, rates, turns, direct = ((part @ ends)[..., 0] for part in self[:4])
        in_limits, in_rates, beside = ((1 - last) * part[0] + last * part[1] for part in (limits, turns, direct))
        hurried = in_rates + growth * (rates[1] - rates[0]) + self.own_rates
        return in_limits + self.own_limits, hurried, beside + self.own_direct

    def torques_at(self, profile: SmoothProfile, shares: FloatArray) -> FloatArray:
        """What drives press with (N, K, m) at shares of the intervals (N, K)."""
        last = profile.last_share(shares)[0][..., None]
        first, second = (self.torques @ np.stack([profile.y[:-1], profile.y[1:]])[:, :, None, :, None])[..., 0]
        found: FloatArray = (1 - last) * first + last * second + self.own_torques
        return found


class _Rows(NamedTuple):
    """How torques in parts of sizes (..., m, k) come into rows of limits and of rates.

    `own` and `powers` are their coefficients in rows of limits, the first and the last ones, `coils` those of rates of torques
    and of torques in voltages, which are the last rows of rates.
    """

    own: FloatArray
    powers: FloatArray | None
    coils: tuple[FloatArray, FloatArray] | None
    sizes: FloatArray
    keep: BoolArray
    first: int
    counts: tuple[int, int]

    @staticmethod
    def along(maker: RateMaker, sharing: SharedDrives, path: Rates, counts: tuple[int, int]) -> _Rows:
        """At places (N, K, n) of a path."""
        voltage, limits = maker.limits.voltage, maker.limits
        coils = None if voltage is None else voltage.by_torques(maker.driven(path))
        keep, first = np.isfinite(limits.torques.size), int(np.isfinite(limits.jerk.size).sum())
        own, powers = sharing.rows_of(path), sharing.powers_of(path)
        return _Rows(own, powers, coils, sharing.sizes[:, None], keep, first, counts)

    def limits(self, part: FloatArray) -> FloatArray:
        """In rows of limits, out of torques."""
        found = _among(self.own @ part, 0, self.counts[0])
        if self.powers is not None:
            found[..., self.counts[0] - self.powers.shape[-2] :, :] = self.powers @ part
        return found

    def rates(self, part: FloatArray) -> FloatArray:
        """In rows of rates, out of rates of torques."""
        found = _among((self.sizes * part)[..., self.keep, :], self.first, self.counts[1])
        if self.coils is not None:
            found[..., self.counts[1] - self.coils[0].shape[-2] :, :] = self.coils[0] @ (self.sizes * part)
        return found

    def direct(self, part: FloatArray) -> FloatArray:
        """In rows of rates, out of torques."""
        if self.coils is None:
            return np.zeros((*part.shape[:-2], self.counts[1], part.shape[-1]))
        return _among(self.coils[1] @ (self.sizes * part), self.counts[1] - self.coils[1].shape[-2], self.counts[1])


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
        middles = rates_of(tuple(part[0, grid.within // 2 :: grid.within] for part in grid.inside))
        return PressedNodes(sharing.bases(grid.points[0][0]), sharing.own_friction(middles))

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
