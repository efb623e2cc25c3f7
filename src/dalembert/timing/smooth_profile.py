"""The fastest profile within limits of jerk and torque rate: convex programmes, each about the profile of the one before.

Limits that are exceeded within an interval are held there too, and tightened where they are exceeded still. What is left at the
end is met by slowing the motion as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from .banded_programme import BandedProgramme
from .fastest_profile import TOLERANCE, ProfileSolver
from .path_grid import BoolArray
from .path_shapes import Paths
from .pressing import PressedNodes
from .rate_rows import RateMaker
from .smooth_conditions import ConditionMaker, Reference, Tightened, chain_of
from .smooth_grid import Crowding
from .smooth_law import SmoothLaw
from .smooth_look import Judged, Look
from .smooth_shape import SmoothProfile

_TURNS = 30  # programmes at most
_NEAR, _STAND = 1e-2, 1e-5  # relative changes of the time at which profiles are about right, and stand
_LEFT = 20 * TOLERANCE  # excess that is left to slowing down as a whole
_MORE = 1.2  # by which limits are tightened beyond the excess found
_MOST_TIGHT = 0.5  # share of a limit that is taken off at most
_ROUGH, _MIDDLE, _FINE = 1e-4, 1e-6, 1e-8  # how well programmes are solved while profiles still move, at first, and then
_SLOWER, _SLOWEST = 0.3, 1e-4  # of ṡ²: by how much, and how far at most, tangents are moved where there is no solution
_MISSED = 1e-2  # excess at grid points that tells of rows left out, which the next programme has: nothing is tightened for it
_FREE = 5  # programmes after which motors with gears that lose stay on the side that they are on: driving, or driven
_IDLE = 4  # programmes without a better profile, where profiles take turns and do not come to stand
_DEAR = 20.0  # times the excess is what slowing down for it may cost, as a share of the time
_SLOWINGS = 12
_FOR_FRICTION, _FOR_ITS_RATE = 60.0, 2.0  # grid points for as much as it changes at all, and for the limit of its rate
_SOFT, _SOFT_TURNS = 0.1, 8  # excess at grid points beyond which tangents of friction there may leave nothing; at first alone
_WITHIN, _PLACES = 14, 5000  # places of the last look within every interval at least, and in all
_COARSE = 1e-4  # excess seen there that is worth another solution


class SmoothFound(NamedTuple):
    """A profile, its time, and how it keeps its limits."""

    profile: SmoothProfile
    time: float
    judged: Judged

    @property
    def cost(self) -> float:
        """The time, with what slowing down by the excess could add, where gravity takes most of a limit."""
        return self.time * (1 + _DEAR * self.judged.excess)


class SmoothSolver:
    """The programmes for one path; `base` has its rows without rates."""

    def __init__(self, base: ProfileSolver, maker: RateMaker, ends: FloatArray) -> None:
        self.base, self.maker, self.ends = base, maker, ends
        self.s, self.h, self.N = base.grid.s[0], base.grid.lengths[0], base.N
        self.resting: BoolArray = base.grid.corners[0].copy()
        self.resting[[0, -1]] |= ends == 0.0
        self.nodes = PressedNodes.of(maker.sharing, base.grid)
        self._take(Look.at_grid(base, maker, self.nodes))

    def _take(self, look: Look) -> None:
        self.look, self.conditions = look, ConditionMaker(self.base, look, self.resting)
        self.sharpness = 1.0  # of friction that bends: the share of a speed that it is taken at

    def crowding(self, profile: SmoothProfile, sharpness: float) -> Crowding:
        """Where friction and its rate change along a profile, so that there are grid points within its knees."""
        x, u, _ = profile.at(self.look.shares, beside=True)
        friction = self.look.friction(x, sharpness)
        change = _FOR_FRICTION * _changes(friction.value, np.ptp(friction.value, axis=(0, 1)))
        if self.maker.limits.torques.acts and self.maker.sharing is None:
            rate = friction.by_s * np.sqrt(x)[..., None] + friction.by_z * u[..., None]
            change += _FOR_ITS_RATE * _changes(rate, self.maker.limits.torques.size)
        places = self.s[:-1, None] + self.h[:, None] * self.look.shares[:, :-1]
        return Crowding(np.append(places, self.s[-1]), np.append(0.0, np.cumsum(change)))

    def rough(self, x: FloatArray, u: FloatArray | None = None, y: FloatArray | None = None) -> SmoothProfile | None:
        """A profile to begin with, about right, from x and, if known, u and y at the grid points; None where no programme has a
        solution.
        """
        y = np.zeros((self.N + 1, self.nodes.bases.shape[-1])) if y is None else y
        last, profile, reference = np.inf, None, self._reference(x, u, y)
        for _ in range(_TURNS):
            found = self._programme(reference, self._untightened(), _ROUGH, soft=self.look.bends)
            if found is None:
                return profile
            profile, time = found, self.time(found)
            if abs(last - time) < _NEAR * time:
                break
            last, reference = time, self._reference(found.x, found.u, found.y)
        return profile

    def start(self, coarse: SmoothSolver, profile: SmoothProfile) -> tuple[FloatArray, FloatArray, FloatArray]:
        """x, u and y at the grid points here, of a profile on a coarser grid."""
        x, u = profile.on(coarse.s, self.s)
        y = np.zeros((self.N + 1, profile.y.shape[1]))
        if y.size:
            pressed = coarse.nodes.pressed(profile.y)
            here = np.stack([np.interp(self.s, coarse.s, column) for column in pressed.T], axis=-1)
            y = (np.swapaxes(self.nodes.bases, 1, 2) @ here[..., None])[..., 0]
        return x, u, y

    def refined(self, x: FloatArray, u: FloatArray, y: FloatArray, margin: float = 0.0) -> SmoothFound | None:
        """The profile within limits less a share of them, from one nearby: x, u and y at the grid points."""
        best, last, tight, idle, far = None, np.inf, self._untightened(margin), 0, np.inf
        left = TOLERANCE if self.look.bends else _LEFT
        self.conditions.all = False
        voltage = self.maker.limits.voltage
        for turn in range(_TURNS):
            settled = voltage is None or not voltage.lossy or turn >= _FREE
            self.conditions.one_sided = settled
            soft = self.look.bends and far > _SOFT and turn < _SOFT_TURNS
            profile = self._programme(self._reference(x, u, y), tight, _MIDDLE if best is None else _FINE, soft=soft)
            if profile is None:
                break
            found = SmoothFound(profile, self.time(profile), self.look.judged(profile))
            better = best is None or found.cost < best.cost * (1 - _STAND)
            idle = 0 if better else idle + 1
            best = found if best is None or found.cost < best.cost else best
            stands, last = abs(last - found.time) < _STAND * found.time, found.time
            if (stands and found.judged.excess < left) or (idle >= _IDLE and best.judged.excess < left):
                break
            x, u, y, far = profile.x, profile.u, profile.y, found.judged.at_ends
            if found.judged.at_ends < _MISSED or turn >= _FREE:
                tighter = self._tighter(tight, found.judged)
                tight = tighter if settled else tight
        return best

    def again(self, profile: SmoothProfile, margin: float = 0.0) -> SmoothFound | None:
        """The same from a profile on this grid."""
        return self.refined(profile.x, profile.u, profile.y, margin)

    def kept(self, found: SmoothFound, paths: Paths) -> SmoothFound:
        """Looked at more closely: on a grid too coarse for its path, once more with what is seen; then what little is left."""
        look = Look.closer(self.look, found.profile.shape, paths, max(_WITHIN, min(_PLACES // self.N, 4 * _WITHIN)))
        slow = self._can_slow(found.profile) and not look.bends
        if look.judged(found.profile).excess > (_COARSE if slow else TOLERANCE):
            self._take(look)
            found = self.again(found.profile) or found
        return self._slowed(found.profile, look, paths)

    def _can_slow(self, profile: SmoothProfile) -> bool:
        """Whether a motion as a whole may go a little slower: no speeds are given at its ends, and drives press nothing."""
        return not (self.ends.any() or profile.y.size)

    def _slowed(self, profile: SmoothProfile, look: Look, paths: Paths) -> SmoothFound:
        """Slower as a whole, by as little as it takes.

        With speeds at the ends, which stay, with what drives press, which is right for one speed only, or where rates of gravity
        and of motion oppose each other, so that slowing down does not help, the programmes are solved again within a little less
        of all limits.
        """
        margin, last = 0.0, np.inf
        for turn in range(_SLOWINGS):
            judged = look.judged(profile)
            if look.bends and judged.excess <= TOLERANCE:
                judged = look.finer(profile, paths).judged(profile)
            found = SmoothFound(profile, self.time(profile), judged)
            excess = found.judged.excess
            if excess <= TOLERANCE:
                break
            margin += 1.5 * min(excess, last)
            again = None if self._can_slow(profile) and excess <= last else self.again(profile, margin)
            profile = profile.slowed(1 - min(0.5, 2.0 * 1.4**turn * excess)) if again is None else again.profile
            last = excess if again is None else np.inf
        return found

    def time(self, profile: SmoothProfile) -> float:
        """How long a profile takes."""
        return float(SmoothLaw(self.s, profile).breaks[-1])

    def _untightened(self, margin: float = 0.0) -> Tightened:
        rows = np.full((self.N, self.base.R), margin)
        rates = np.minimum(margin, self.look.spare)
        return Tightened(rows, rows, rates, np.full(self.N + 1, 1.0 - margin))

    def _reference(self, x: FloatArray, u: FloatArray | None, y: FloatArray) -> Reference:
        """Speeds, with s̈ by their differences if it is not given, and its scale by the way from the nearest rest."""
        x = np.where(self.resting, 0.0, x)
        x[[0, -1]] = self.ends**2
        u = np.gradient(x, self.s) / 2 if u is None else u.copy()
        u[self.resting] = 0.0
        rests = np.append(self.s[self.resting], [-self.s[-1], 2 * self.s[-1]])
        away = np.abs(self.s[:, None] - rests).min(axis=1)
        return Reference(x, u, np.where(self.resting, 1.0, x / np.where(self.resting, 1.0, away)), y)

    def _programme(self, reference: Reference, tight: Tightened, tolerance: float, *, soft: bool = False) -> SmoothProfile | None:
        """The next profile. Without a solution, all rows are taken; then tangents at lower and more even speeds.

        Those of friction may leave nothing at any speeds: then, or at once if `soft`, limits may be passed, at a price.
        """
        found, slow = None if soft else self._solved(reference, tight, tolerance), 1.0
        if found is None and not self.conditions.all:
            self.conditions.all = True
            found = self._solved(reference, tight, tolerance, soft=soft)
        if found is None and self.look.bends:
            found = self._solved(reference, tight, _ROUGH, soft=True)
        while found is None and slow > _SLOWEST:
            slow *= _SLOWER
            lower = reference.x if self.ends.any() else _levelled(reference.x)  # given speeds stand out, and need a slope
            reference = self._reference(_SLOWER * lower, None, reference.y)
            found = self._solved(reference, tight, tolerance)
        return found

    def _solved(self, reference: Reference, tight: Tightened, tolerance: float, *, soft: bool = False) -> SmoothProfile | None:
        held = self.conditions.held
        self.look.bend(*reference.at(self.look.shares), self.sharpness)
        chain = chain_of(reference, self.h, self.resting, held)
        programme = BandedProgramme(chain, self.conditions(reference, tight, soft=soft), tolerance)
        start = np.column_stack([np.where(held, 1.0, 0.8), 0.8 * reference.u / reference.scale, reference.y])
        z, solved = programme.solve(start)
        if not solved:
            return None
        return SmoothProfile(reference.x * z[:, 0], reference.scale * z[:, 1], reference.shape, self.h, z[:, 2:])

    def _tighter(self, tight: Tightened, judged: Judged) -> Tightened:
        """Limits less what was exceeded; they are held within their intervals first, and only then tightened."""
        makes = self.conditions
        quick = np.where(makes.within, judged.quick, 0.0)
        over, under = (np.where(makes.rows_within, part, 0.0) for part in (judged.over, judged.under))
        makes.within = makes.within | (judged.quick > TOLERANCE)
        makes.rows_within = makes.rows_within | (np.maximum(judged.over, judged.under) > TOLERANCE)
        slower, end = 1.0 / (1.0 + _MORE * judged.fast), np.ones(1)
        return Tightened(
            np.minimum(tight.up + _MORE * _spread(over), _MOST_TIGHT),
            np.minimum(tight.down + _MORE * _spread(under), _MOST_TIGHT),
            np.minimum(tight.rates + _MORE * _spread(quick), self.look.spare),
            tight.slower * np.minimum(np.concatenate([end, slower]), np.concatenate([slower, end])),
        )


def _changes(values: FloatArray, size: FloatArray) -> FloatArray:
    """How much values (N, K, n) change from place to place, in parts of their sizes, shape (N, K − 1)."""
    found: FloatArray = (np.abs(np.diff(values, axis=1)) / np.where(size > 0, size, np.inf)).sum(axis=-1)
    return found


def _levelled(x: FloatArray) -> FloatArray:
    """The least of each grid point and its neighbours, but for those at rest."""
    moving = np.where(x > 0, x, np.inf)
    least = np.minimum(moving, np.minimum(np.append(moving[1:], np.inf), np.insert(moving[:-1], 0, np.inf)))
    return np.where(x > 0, least, 0.0)


def _spread(excess: FloatArray) -> FloatArray:
    """The largest of each interval and its neighbours."""
    found = excess.copy()
    np.maximum(found[1:], excess[:-1], out=found[1:])
    np.maximum(found[:-1], excess[1:], out=found[:-1])
    return found


__all__ = ["SmoothFound", "SmoothSolver"]
