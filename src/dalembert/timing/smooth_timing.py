"""A path timed within limits of jerk and torque rate: on a coarse grid first, which tells about where the profile lies, then on
the one asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from .fastest_profile import Profile, ProfileSolver
from .friction_kinds import bends, jumps
from .limit_rows import RowMaker
from .path_grid import WITHIN, Grid
from .path_shapes import Paths
from .rate_rows import RateMaker
from .smooth_grid import smooth_grid
from .smooth_law import SmoothLaw
from .smooth_profile import SmoothFound, SmoothSolver
from .smooth_start import first_speeds, without_dips
from .timing_result import TorqueJump

_COARSE = 6  # the coarse grid has so many times fewer intervals,
_LEAST = 40  # but not less than this
_BENDS = 6  # passes for friction that is no line in the speed


class SmoothTiming(NamedTuple):
    """One path on its grid; without a profile, no timing was found."""

    base: ProfileSolver
    tops: FloatArray
    rate_count: int
    found: SmoothFound | None

    @property
    def grid(self) -> Grid:
        """Where it was looked at."""
        return self.base.grid

    @property
    def profile(self) -> Profile:
        """ṡ² at grid points, and the mean of s̈ and half of its fall over each interval, as of profiles with jumps."""
        if self.found is None:
            nothing = np.full((1, self.base.N), np.nan)
            return Profile(np.full_like(self.tops, np.nan)[None], self.tops[None], nothing, nothing)
        x, u, *_ = self.found.profile
        return Profile(x[None], self.tops[None], (u[None, :-1] + u[None, 1:]) / 2, (u[None, :-1] - u[None, 1:]) / 2)

    @property
    def use(self) -> FloatArray:
        """The share of each limit in each interval: rows, speeds, rates, shape (1, N, R)."""
        maker, grid = self.base.maker, self.grid
        if self.found is None:
            rows = self.base.R + len(maker.speed_names) + self.rate_count
            return np.full((1, self.base.N, rows), np.nan)
        z = np.sqrt(self.found.profile.x)[None, :, None]
        fast = np.maximum(maker.speed_use(grid.left) * z[:, :-1], maker.speed_use(grid.right) * z[:, 1:])
        rates = self.found.judged.rate_used[None, :, : self.rate_count]
        return np.concatenate([self.found.judged.used[None], fast, rates], axis=-1)

    def law(self) -> SmoothLaw:
        """s(t)."""
        assert self.found is not None
        return SmoothLaw(self.grid.s[0], self.found.profile)

    def jumps(self, law: SmoothLaw) -> tuple[TorqueJump, ...]:
        """Where dry friction turns round, and the torque of its joint with it."""
        which = jumps(self.base.maker.system)
        d = self.dry[0].reshape(self.base.N, WITHIN, -1)
        steps = np.where(which, d[1:, 0] - d[:-1, -1], 0.0)
        names = self.base.maker.limits.torque.names
        places = zip(*np.nonzero(np.abs(steps) > 1e-9 * max(np.abs(d).max(), 1e-300)), strict=True)
        s, t = self.grid.s[0], law.breaks
        return tuple(TorqueJump(float(s[k + 1]), float(t[k + 1]), names[i], float(steps[k, i])) for k, i in places)

    @property
    def dry(self) -> FloatArray:
        """Dry friction within the intervals, as the path has it."""
        return self.base.maker.torques(self.grid.inside).dry


def timed_smoothly(maker: RowMaker, rates: RateMaker, path: Paths, N: int, ends: FloatArray) -> SmoothTiming:
    """The timing of one path. Limits beyond all measure leave the range of numbers, which the programmes notice."""
    with np.errstate(all="ignore"):
        return _timed(maker, rates, path, N, ends)


def _timed(maker: RowMaker, rates: RateMaker, path: Paths, N: int, ends: FloatArray) -> SmoothTiming:
    fine, without = _solver(maker, rates, path, N, ends)
    tops = without.tops[0]
    count = len(rates.limits.names)
    if fine.base.too_weak() or _too_fast(fine.base, tops, ends):
        return SmoothTiming(fine.base, tops, count, None)
    coarse, without = _solver(maker, rates, path, max(N // _COARSE, _LEAST), ends)
    most = without.tops[0] if rates.limits.voltage is None else without_dips(without.x[0])
    rough = coarse.rough(first_speeds(coarse.s, coarse.resting, coarse.look.rates, most, ends))
    if rough is None:
        return SmoothTiming(fine.base, tops, count, None)
    found = fine.refined(*rough.on(coarse.s, fine.s))
    bent = bends(maker.system)
    for _ in range(_BENDS if bent else 0):
        if found is None or not fine.bend_friction(found.profile):
            break
        found = fine.refined(found.profile.x, found.profile.u)
    if found is not None:
        found = fine.kept(found, path, bent)
    return SmoothTiming(fine.base, tops, count, found if found is not None and found.time < checks.LARGEST else None)


def _solver(maker: RowMaker, rates: RateMaker, path: Paths, N: int, ends: FloatArray) -> tuple[SmoothSolver, Profile]:
    """The solver of a grid, and the fastest profile of limits without rates; voltages are without inductance there."""
    base = ProfileSolver(maker, smooth_grid(path, N, (ends[0] == 0.0, ends[1] == 0.0)), ends[None])
    nothing = np.zeros((1, base.N))
    without = base.solve()[0] if base.R else Profile(base.caps, base.caps, nothing, nothing)
    return SmoothSolver(base, rates, ends), without


def _too_fast(base: ProfileSolver, tops: FloatArray, ends: FloatArray) -> bool:
    """Whether a speed at an end is too much for limits without rates."""
    return bool(ends[0] ** 2 > tops[0] * (1 + 1e-9) or ends[1] ** 2 > base.caps[0, -1] * (1 + 1e-9))


__all__ = ["SmoothTiming", "timed_smoothly"]
