"""How a profile keeps its limits at places of every interval: at both ends and within, and by parabolas in between."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray, frozen
from ..trajectory.motion import Rates
from .excess_program import SHARP
from .fastest_profile import ProfileSolver
from .friction_kinds import bends
from .path_friction import PathFriction, path_friction, with_tangents
from .path_grid import BoolArray, Grid, IndexArray, rates_of, turns
from .path_shapes import Paths
from .path_torque_rates import PathTorqueRates
from .path_torques import PathTorques
from .pressing import PressedNodes, Pressing
from .rate_rows import RateMaker
from .smooth_shape import Shape, SmoothProfile, place_of

_CLOSE = frozen(np.array([0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4]))  # of an interval: beside turns of joints
_GAPS, _FINER = 10, frozen(np.arange(1, 9) / 9)  # between places of an interval, that are looked into once more, and where
_STILL = 1e-60  # ṡ² of what rests, where tangents are laid
_KNEE, _FELT, _BLUNTEST = 1e-9, 0.01, 1e-6  # of the largest speed: within any knee; of the largest friction; sharpness at least
_APART = 1e-6  # of an interval: places closer than this are one, of which rounding makes slopes
_INTO, _ASIDE = 1e-9, 1e-6  # of the way to the middle: on this side of where a joint turns round, and surely so


class Judged(NamedTuple):
    """What a look tells of each interval.

    `over`, `under` (N, R) and `quick` (N, rates) are the shares by which rows of limits and of rates are exceeded between places
    too, `fast` (N,) that of speeds; `used` and `rate_used` the largest shares in use; `excess` is the worst of all, `at_ends` the
    worst at grid points.
    """

    over: FloatArray
    under: FloatArray
    fast: FloatArray
    quick: FloatArray
    used: FloatArray
    rate_used: FloatArray
    at_ends: float

    @property
    def excess(self) -> float:
        """The worst of all."""
        return max(float(part.max(initial=0.0)) for part in (self.over, self.under, self.fast, self.quick))


class Look:
    """Rows of limits and of rates at places (N, K) of the intervals of one path."""

    def __init__(
        self, base: ProfileSolver, maker: RateMaker, nodes: PressedNodes, shares: FloatArray, path: Rates, parts: PathTorques
    ) -> None:
        self.base, self.maker, self.nodes, self.shares = base, maker, nodes, shares
        self.path, self._just_within, self.bends = path, _just_within(path, _INTO), bends(maker.system)
        self.line, self.changes = self._one_way(parts, maker.rates(path))  # with friction as a line and a jump
        self.parts, self.rates = self.line, maker(path, self.line, self.changes)
        self.slowness: FloatArray = base.maker.slowness(path)
        self.voltages: BoolArray = np.arange(len(self.rates.size)) >= len(maker.limits.names)  # which of the rates are
        self.without, self.instead = _replaced(base, maker)
        if not self.bends:
            self._find_rows()  # others have none before they are bent
        self.pressing = Pressing.along(maker, path, nodes, (base.R, len(self.rates.size)))

    @classmethod
    def at_grid(cls, base: ProfileSolver, maker: RateMaker, nodes: PressedNodes) -> Look:
        """At the places that the grid has, where all is known already."""
        grid, N = base.grid, base.N
        path = rates_of(tuple(_joined(*parts, N) for parts in zip(grid.left, grid.inside, grid.right, strict=True)))
        parts = zip(base.left_parts, base.parts, base.right_parts, strict=True)
        torques = PathTorques(*(_joined(*part, N) for part in parts))
        return cls(base, maker, nodes, _with_ends(grid.shares[0]), path, torques)

    @staticmethod
    def closer(solved: Look, shape: Shape, paths: Paths, within: int) -> Look:
        """At more places within every interval than another look has, even in the time of a profile of this shape.

        Where friction bends, others lie beside its ends and where a joint turns round: its rates have narrow peaks there.
        """
        v = np.arange(1, within + 1) / (within + 1)
        if solved.bends:
            v = _with_turns(v, shape, solved.base.grid)
        return solved._at(v, shape, paths)

    def finer(self, profile: SmoothProfile, paths: Paths) -> Look:
        """At further places about the peaks of a profile, where what is between places could be beyond a limit."""
        v = profile.last_share(self.shares)[0]
        about = _about_peaks(np.concatenate(self._beyond_all(profile), axis=-1), v)
        return self._at(np.sort(np.hstack([v[:, 1:-1], about]), axis=1), profile.shape, paths)

    def _at(self, v: FloatArray, shape: Shape, paths: Paths) -> Look:
        """At other places within intervals, by the time of profiles of this shape: (K,), or (N, K)."""
        base, grid = self.base, self.base.grid
        shares = Shape(*(part[:, None] for part in shape)).share(v)
        inside = paths.at((grid.s[0][:-1, None] + grid.lengths[0][:, None] * shares).reshape(1, -1))
        path = rates_of(tuple(_joined(*parts, base.N) for parts in zip(grid.left, inside, grid.right, strict=True)))
        return Look(base, self.maker, self.nodes, _with_ends(shares), path, base.maker.torques(path))

    def _one_way(self, parts: PathTorques, changes: PathTorqueRates | None) -> tuple[PathTorques, PathTorqueRates | None]:
        """With dry friction at the ends of intervals, and its rate, as within them: there a joint may be about to turn round."""
        if not parts.dry.any():
            return parts, changes
        ends = rates_of(tuple(part[:, [0, -1]] for part in _just_within(self.path, _ASIDE)))
        parts = parts._replace(dry=_with_ends_of(parts.dry, self.base.maker.torques(ends).dry))
        own = self.maker.rates(ends)
        if changes is not None and own is not None:
            changes = changes._replace(dry=_with_ends_of(changes.dry, own.dry))
        return parts, changes

    def _find_rows(self) -> None:
        self.rows = self.base.maker(self.path, self.parts)

    @property
    def spare(self) -> FloatArray:
        """The share of each rate's limit (N, R) that may be taken off: half of it, or of what gravity leaves of a voltage."""
        still = np.abs(self.rates.K).max(axis=1) / self.rates.size * self.voltages
        return np.maximum(1.0 - still, 0.0) / 2

    def judged(self, profile: SmoothProfile) -> Judged:
        """How far limits are exceeded, by friction as it is."""
        above, below, speeds, rates = self._beyond_all(profile)
        v, facets = profile.last_share(self.shares)[0], self.base.kinds.facets
        over, under = (np.fmax(_peak(part, v, facets), 0.0) for part in (above, below))
        fast, quick = (np.fmax(_peak(part, v), 0.0) for part in (speeds, rates))
        rates = rates + 1
        used = np.maximum(above, below) + 1
        used[..., self.without] = np.nan_to_num(rates[..., self.instead])
        at_ends = max(float(np.fmax.reduce(part[:, [0, -1]], axis=None, initial=0.0)) - 1 for part in (rates, used))
        return Judged(over, under, fast[:, 0], quick, used.max(axis=1), np.fmax.reduce(rates, axis=1, initial=0.0), at_ends)

    def _beyond_all(self, profile: SmoothProfile) -> tuple[FloatArray, ...]:
        """By what share of their limits rows are above and below them, speeds and rates beyond them, all (N, K, ...)."""
        x, u, slope = profile.at(self.shares, beside=True)
        self.bend(x, u)
        pressed, hurried, direct = (0.0, 0.0, 0.0) if self.pressing is None else self.pressing.at(profile, self.shares)
        speeds = (np.sqrt(x) * self.slowness)[..., None]
        rates = np.abs(self.rates.value(x, u, slope) + np.sqrt(x)[..., None] * hurried + direct) / self.rates.size
        rates[~self.acting(profile)] = np.nan  # no peak is looked for between rows that act and those that do not
        return *self._beyond(x, u, pressed), speeds - 1, rates - 1

    def _beyond(self, x: FloatArray, u: FloatArray, pressed: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        """By what share of their limits rows, with what is pressed, are above and below them, (N, K, R); negative where they
        keep them.
        """
        base, z = self.base, np.sqrt(x)
        value = self.rows.value(z, u) + pressed
        room = np.zeros_like(value)
        if self.rows.p is not None:
            room[..., base.kinds.plain :] = self.rows.p / np.maximum(z, 1e-12)[..., None]
        lo, hi, size = base.lo[0][:, None], base.hi[0][:, None], base.scale[0][:, None] + room
        above, below = (value - hi - room) / size, (lo - room - value) / size
        above[..., self.without] = below[..., self.without] = -1.0
        return above, below

    def acting(self, profile: SmoothProfile) -> BoolArray:
        """Which rows of rates act (N, K, R) at these places of a profile."""
        x, u, _ = profile.at(self.shares, beside=True)
        pressed = 0.0 if self.pressing is None else self.pressing.torques_at(profile, self.shares)
        return self.maker.acting(self.path, self.parts, x, u, pressed)

    def bend(self, x: FloatArray, u: FloatArray, sharpness: float = 1.0) -> None:
        """Take friction that is no line in the speed by its tangents at ṡ² and s̈ (N, K).

        Of less `sharpness` κ than 1 it is that of κ times the speed, with knees wider by 1/κ, and the viscous rest of a line.
        """
        if not self.bends:
            return
        z = _speed(x)
        self.parts, changes = with_tangents(self.line, self.changes, self.friction(x, sharpness), z, u[..., None])
        self.rates = self.maker(self.path, self.parts, changes)
        self._find_rows()

    def friction(self, x: FloatArray, sharpness: float) -> PathFriction:
        """Friction at ṡ² (N, K), of some sharpness."""
        z = _speed(x)
        friction = path_friction(self.maker.system, self._just_within, sharpness * z, threads=self.base.threads)
        return friction.widened(sharpness, self.line, 0.0 if self.changes is None else self.changes.viscous, z)

    def bluntest(self, fastest: float) -> float:
        """The sharpness at which the narrowest knee of friction is about as wide as the largest speed, 1 at most."""
        if not self.bends:
            return 1.0
        slow = np.full(self.shares.shape, (_KNEE * fastest) ** 2)
        slope, dry = np.abs(self.friction(slow, 1.0).by_z), np.abs(self.line.dry)
        knees = dry > _FELT * dry.max(initial=1e-300)
        widths = dry[knees] / np.maximum(slope[knees], 1e-300)  # of speeds, over which friction grows to what it is
        return float(np.clip(widths.min(initial=np.inf) / fastest, _BLUNTEST, 1.0))


def _speed(x: FloatArray) -> FloatArray:
    """ṡ for all joints, (N, K, 1); what rests has tangents as well."""
    found: FloatArray = np.sqrt(np.maximum(x, _STILL))[..., None]
    return found


def _replaced(base: ProfileSolver, maker: RateMaker) -> tuple[IndexArray, IndexArray]:
    """Rows of voltages without inductance, which do not act here, and the rows of rates that act in their place."""
    nothing = np.zeros(0, dtype=np.intp)
    voltage, count = maker.limits.voltage, len(maker.limits.names)
    if voltage is None:
        return nothing, nothing
    without, instead = voltage.places_among(base.maker.names)
    return without, instead + count


def _joined(first: Any, within: Any, last: Any, N: int) -> FloatArray:
    """Samples of one path at first ends, within and at last ends of its intervals, shape (N, K, n)."""
    return np.concatenate([first[0][:, None], within[0].reshape(N, -1, within.shape[-1]), last[0][:, None]], axis=1)


def _with_ends(shares: FloatArray) -> FloatArray:
    zero = np.zeros((len(shares), 1))
    return np.hstack([zero, shares, zero + 1.0])


def _with_ends_of(values: FloatArray, ends: FloatArray) -> FloatArray:
    """Values (N, K, n) with others at the first and the last place, (N, 2, n)."""
    found = values.copy()
    found[:, [0, -1]] = ends
    return found


def _with_turns(v: FloatArray, shape: Shape, grid: Grid) -> FloatArray:
    """Places v of every interval (N, K), with more and more of them towards both its ends and a turn of a joint within it."""
    turn = np.full(len(shape.a), 0.5)
    _, q1, q2, _ = grid.points
    _, intervals, _, places = turns(q1, q2, grid.s)
    share = (places - grid.s[0][intervals]) / grid.lengths[0][intervals]
    turn[intervals] = place_of(Shape(shape.a[intervals], shape.b[intervals]), share)
    beside = [turn[:, None], turn[:, None] - _CLOSE, turn[:, None] + _CLOSE]
    at_ends = np.tile(np.concatenate([v, _CLOSE, 1 - _CLOSE]), (len(turn), 1))
    found: FloatArray = np.sort(np.clip(np.hstack([at_ends, *beside]), _CLOSE[-1], 1 - _CLOSE[-1]), axis=1)
    return found


def _about_peaks(values: FloatArray, v: FloatArray) -> FloatArray:
    """Places within the gaps beside peaks that promise most in every interval, from shares (N, K, R) at places v (N, K)."""
    here = np.pad(np.nan_to_num(values, nan=-1.0), ((0, 0), (1, 1), (0, 0)), mode="edge")
    before, here, after = here[:, :-2], here[:, 1:-1], here[:, 2:]
    peaks = (here >= before) & (here >= after)
    promise = np.where(peaks, here + (here - np.minimum(before, after)) / 2, -np.inf).max(axis=-1)
    gaps = np.argsort(-np.maximum(promise[:, :-1], promise[:, 1:]), axis=1)[:, :_GAPS]
    first, last = (np.take_along_axis(v, gaps + k, axis=1)[..., None] for k in (0, 1))
    found: FloatArray = first + (last - first) * _FINER
    return found.reshape(len(v), -1)


def _just_within(path: Rates, into: float) -> Rates:
    """Places at the ends of intervals moved into them, by a share of the way to their middles: friction that jumps where a joint
    turns round is then that of the interval.
    """
    found = tuple(part.copy() for part in path)
    for part, own in zip(found, path, strict=True):
        middle = own[:, own.shape[1] // 2]  # and not the next place, which may be next to nothing itself
        part[:, 0] += into * (middle - own[:, 0])
        part[:, -1] += into * (middle - own[:, -1])
    return rates_of(found)


def _peak(values: FloatArray, v: FloatArray, facets: int = 0) -> FloatArray:
    """The largest along axis 1, at places v (N, K), and of parabolas through every three in a row, but for those that are NaN; of
    the first rows, facets, if they bend little.
    """
    top: FloatArray = np.fmax.reduce(values, axis=1)
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    steps = np.maximum(np.diff(v, axis=1), _APART)[..., None]
    left, right, both = steps[:, :-1], steps[:, 1:], steps[:, :-1] + steps[:, 1:]
    to, on = (here - before) / left, (after - here) / right
    slope, bend = (to * right + on * left) / both, (to - on) / both  # the parabola falls by `bend` times squares
    inside = (slope < 2 * bend * right) & (-slope < 2 * bend * left)
    inside[..., :facets] &= (2 * here - before - after)[..., :facets] < SHARP
    more = np.where(inside, slope**2 / (4 * np.where(inside, bend, 1.0)), 0.0)
    return np.fmax(top, np.fmax.reduce(here + more, axis=1))


__all__ = ["Judged", "Look"]
