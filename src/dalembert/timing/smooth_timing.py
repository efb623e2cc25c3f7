"""A path timed within limits of jerk and torque rate: on a coarse grid first, which tells about where the profile lies, then on
the one asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from .fastest_profile import MOST_EXCESS, Profile, ProfileSolver
from .friction_kinds import bends, jumps
from .limit_rows import RowMaker
from .loop_joints import rubbing_rates
from .path_grid import Grid
from .path_shapes import Paths
from .path_torques import PathTorques
from .rate_rows import RateMaker
from .smooth_grid import Crowding, smooth_grid
from .smooth_law import SmoothLaw
from .smooth_profile import SmoothFound, SmoothSolver
from .smooth_shape import SmoothProfile
from .smooth_start import first_speeds, without_dips
from .timing_result import Carried, TorqueJump

_COARSE = 6  # the coarse grid has so many times fewer intervals,
_LEAST, _LEAST_BENT = 40, 160  # but not less than this, where friction bends for the sake of its knees
_OF_KNEES, _MOST_FOR_KNEES = 0.7, 2000  # where it bends: intervals at least, of what knees ask for, which counts up to so many
_FINER, _TOO_SLOW = 2, 1.3  # times as many intervals, where a timing takes so many times as long as a coarse one tells
_SHARPER = 3.0  # by which friction that bends is sharper from one coarse profile to the next
_BESIDE, _JUMP = 1e-4, 1e-4  # of an interval, beside a grid point; of the largest dry friction, which is a jump there


class SmoothTiming(NamedTuple):
    """One path on its grid; without a profile, no timing was found. `base` has the limits that refuse and tell of top speeds, and
    `expected` is about the time that a coarse grid tells: 0 where it tells none, ∞ where limits refuse at once.
    """

    path: Paths
    base: ProfileSolver
    solver: SmoothSolver
    tops: FloatArray
    found: SmoothFound | None
    expected: float

    @property
    def time(self) -> float:
        """T, ∞ where no timing within limits was found."""
        found = self.found
        return np.inf if found is None or not found.judged.excess <= MOST_EXCESS else found.time

    @property
    def is_lost(self) -> bool:
        """Whether no timing was found though there should be one, or a far slower one."""
        return self.time > _TOO_SLOW * self.expected

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
        maker, grid, rates = self.solver.base.maker, self.grid, self.solver.maker
        N, count = self.base.N, len(rates.limits.told)
        used, quick, x = np.full((N, self.solver.base.R), np.nan), np.full((N, count), np.nan), np.full(N + 1, np.nan)
        if self.found is not None:
            used, quick, x = self.found.judged.used, self.found.judged.rate_used[:, :count], self.found.profile.x
        if rates.sharing is not None and maker.drives is not None:
            own = len(maker.drives.names)
            used = np.concatenate([rates.sharing.told(used[:, :own]), used[:, own:]], axis=-1)
        z = np.sqrt(x)[None, :, None]
        fast = np.maximum(maker.speed_use(grid.left) * z[:, :-1], maker.speed_use(grid.right) * z[:, 1:])
        return np.concatenate([used[None], fast, quick[None]], axis=-1)

    @property
    def torques(self) -> FloatArray:
        """At the grid points, those after each; at the end those before, (1, N + 1, n)."""
        if self.found is None:
            return np.full((1, self.base.N + 1, self.path.n), np.nan)
        x, u, *_ = self.found.profile
        parts = (np.concatenate([part[:, 0], part[-1:, -1]]) for part in self.solver.look.parts)
        return PathTorques(*parts).at(np.sqrt(x)[:, None], u[:, None])[None]

    def law(self) -> SmoothLaw:
        """s(t)."""
        assert self.found is not None
        return SmoothLaw(self.grid.s[0], self.found.profile)

    def carried(self, law: SmoothLaw) -> Carried | None:
        """The torques of drives whose rates are limited; None of any others."""
        sharing = self.solver.maker.sharing
        if sharing is None or self.found is None:
            return None
        if not sharing.free:
            return lambda _, q, qd, qdd: sharing.torques(q, qd, qdd, np.zeros((len(q), len(sharing.limit.names))))
        nodes, own = self.solver.nodes.pressed(self.found.profile.y), self.solver.nodes.own
        return lambda t, q, qd, qdd: sharing.torques(q, qd, qdd, law.between(t, nodes) + own[law.places(t)[0]])

    def jumps(self, law: SmoothLaw) -> tuple[TorqueJump, ...]:
        """Where dry friction turns round, and the torque of a coordinate, or of a drive whose rate is limited, with it."""
        names, steps = self._jumps()
        s, t, least = self.grid.s[0], law.breaks, _JUMP * np.abs(steps).max(initial=1e-300)
        return tuple(
            TorqueJump(float(s[k + 1]), float(t[k + 1]), names[i], float(steps[k, i]))
            for k, i in zip(*np.nonzero(np.abs(steps) > least), strict=True)
        )

    def _jumps(self) -> tuple[tuple[str, ...], FloatArray]:
        """By how much torques change at the grid points inside, (N − 1, joints): dry friction just before them and after."""
        maker, sharing = self.base.maker, self.solver.maker.sharing
        s, h = self.grid.s[0], self.grid.lengths[0]
        beside = [self.path.at(places[None]) for places in (s[1:-1] - _BESIDE * h[:-1], s[1:-1] + _BESIDE * h[1:])]
        dry = [maker.torques(path) for path in beside]
        if sharing is not None:
            dry = [sharing.right(path, parts) for path, parts in zip(beside, dry, strict=True)]
        steps = dry[1].dry[0] - dry[0].dry[0]
        steps[np.abs(steps) < _JUMP * max(float(np.abs(part.dry).max(initial=0.0)) for part in dry)] = 0.0
        if sharing is None:
            return maker.limits.torque.names, np.where(jumps(maker.system), steps, 0.0)
        S, P = sharing.split(self.grid.left[0][0, 1:])
        pressed = np.diff(self.solver.nodes.own, axis=0) if sharing.free else np.zeros(S.shape[:2])
        return sharing.limit.names, sharing.sizes * (S @ steps[..., None] + P @ pressed[..., None])[..., 0]


def timed_smoothly(
    maker: RowMaker, rates: RateMaker, path: Paths, N: int, ends: FloatArray, without_rates: RowMaker | None = None
) -> SmoothTiming:
    """The timing of one path. Limits beyond all measure leave the range of numbers, which the programmes notice.

    `without_rates` has the rows that tell what can be done at all, where they are others than those of `maker`.
    """
    with np.errstate(all="ignore"):
        return _Makers(maker, rates, maker if without_rates is None else without_rates).timed(path, N, ends)


class _Makers(NamedTuple):
    """What makes the rows of limits, of rates, and of limits without rates."""

    maker: RowMaker
    rates: RateMaker
    without: RowMaker

    def timed(self, path: Paths, N: int, ends: FloatArray) -> SmoothTiming:
        """Tangents of friction that bends may lead nowhere on a coarse grid; then once more on a finer one."""
        found = self._timed(path, N, ends)
        if not (found.is_lost and bends(self.maker.system)):
            return found
        return min(found, self._timed(path, _FINER * found.base.N, ends), key=lambda one: one.time)

    def _timed(self, path: Paths, N: int, ends: FloatArray) -> SmoothTiming:
        """Coarsely first, which tells where to begin."""
        base, fastest, fine = self._solver(path, N, ends)
        tops = fastest.tops[0]
        if base.too_weak() or _too_fast(base, tops, ends):
            return SmoothTiming(path, base, fine, tops, None, np.inf)
        coarse, rough = self._roughly(path, max(N // _COARSE, _LEAST_BENT if fine.look.bends else _LEAST), ends)
        if rough is None:
            return SmoothTiming(path, base, fine, tops, None, 0.0)
        if fine.look.bends:
            coarse, rough = self._sharpened(path, ends, coarse, rough)
            crowding = coarse.crowding(rough, 1.0)
            evenly, N = fine.s, max(N, int(_OF_KNEES * min(crowding.whole, _MOST_FOR_KNEES)))
            base, _, fine = self._solver(path, N, ends, crowding)
            tops = np.interp(fine.s, evenly, tops)
        found = fine.refined(*fine.start(coarse, rough))
        if found is not None:
            found = fine.kept(found, path)
        found = found if found is not None and found.time < checks.LARGEST else None
        return SmoothTiming(path, base, fine, tops, found, coarse.time(rough))

    def _roughly(self, path: Paths, N: int, ends: FloatArray) -> tuple[SmoothSolver, SmoothProfile | None]:
        """On a coarse grid, with blunt friction where it bends."""
        _, fastest, coarse = self._solver(path, N, ends)
        most = fastest.tops[0] if self.rates.limits.voltage is None else without_dips(fastest.x[0])
        first = first_speeds(coarse.s, coarse.resting, coarse.look.rates, most, ends)
        coarse.sharpness = coarse.look.bluntest(float(np.sqrt(first.max())))
        return coarse, coarse.rough(first)

    def _sharpened(
        self, path: Paths, ends: FloatArray, coarse: SmoothSolver, rough: SmoothProfile
    ) -> tuple[SmoothSolver, SmoothProfile]:
        """From a profile with blunt friction to one with friction as it is, or nearly so, each on a grid for the one before."""
        steps = int(np.ceil(np.log(1 / coarse.sharpness) / np.log(_SHARPER)))
        sharper = [coarse.sharpness * _SHARPER**k for k in range(1, steps)]
        for sharpness in (*sharper, 1.0, 1.0):  # and on a grid for friction as it is
            _, _, again = self._solver(path, coarse.N, ends, coarse.crowding(rough, sharpness))
            again.sharpness = sharpness
            found = again.rough(*again.start(coarse, rough))
            if found is None:
                break
            coarse, rough = again, found
        return coarse, rough

    def _solver(
        self, path: Paths, N: int, ends: FloatArray, crowding: Crowding | None = None
    ) -> tuple[ProfileSolver, Profile, SmoothSolver]:
        """Of a grid, the fastest profile of limits without rates, voltages being without inductance there, and the solver.

        Where something crowds, a profile is known already, and this one is that of the largest speeds.
        """
        hidden = rubbing_rates(self.maker.system, self.maker.threads)
        grid = smooth_grid(path, N, (ends[0] == 0.0, ends[1] == 0.0), hidden, crowding)
        base = ProfileSolver(self.without, grid, ends[None])
        nothing = np.zeros((1, base.N))
        fastest = base.solve()[0] if base.R and crowding is None else Profile(base.caps, base.caps, nothing, nothing)
        own = base if self.maker is self.without else ProfileSolver(self.maker, grid, ends[None])
        return base, fastest, SmoothSolver(own, self.rates, ends)


def _too_fast(base: ProfileSolver, tops: FloatArray, ends: FloatArray) -> bool:
    """Whether a speed at an end is too much for limits without rates."""
    return bool(ends[0] ** 2 > tops[0] * (1 + 1e-9) or ends[1] ** 2 > base.caps[0, -1] * (1 + 1e-9))


__all__ = ["SmoothTiming", "timed_smoothly"]
