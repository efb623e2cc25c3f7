"""The fastest profile along grids of paths: solved, given slopes, looked at in between, solved again where it exceeds limits.

The solver (speed_program.py) takes s̈ constant from grid point to grid point. A first solution tells how s̈ changes; in those after
it s̈ falls or rises linearly by 2w over an interval, which moves the limits at its ends by ∓ m w and makes the time of the result
right to second order. Places within the intervals then tell how far limits are exceeded there, by the curvature of the path or by
friction that is no line in the speed. By as much, and a little more, limits are tightened, and it is solved again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import inverse_dynamics
from ..trajectory.motion import Rates
from .excess_program import Intervals, excess_kernel, excess_row_by_row
from .limit_rows import LimitRows, RowMaker, everywhere
from .path_grid import WITHIN, BoolArray, Grid
from .path_torques import PathTorques
from .speed_program import RowKinds, speed_kernel
from .table_program import friction_ranges, padded_zeros, table_of, tightened

TOLERANCE = 5e-7  # relative excess that is left alone
MOST_EXCESS = 1e-6  # of a limit, which no timing exceeds by more
_PASSES = 12
_LOCAL = 4  # passes after which intervals that still exceed a limit are slowed, too
_SLOWER = 12  # times a profile is slowed as a whole that exceeds a limit after all passes
_MORE = 1.3  # by which limits are tightened beyond the excess found
_BENDS = 10  # passes for friction that is no line in the speed; three are usual
_KNOWN = 1e-4  # of the largest torque: friction whose tangents tell it so well needs no others
_ASIDE = 1e-3  # of a speed: where slopes of friction are measured, on either side
_SLOW_SPEEDS = tuple(0.1**k for k in range(9))  # at which friction that is smooth at rest is looked at there
_CREEP = 1e-6  # of the largest speed: at rest, friction is as it is here
_INTO = 1e-6  # of an interval: where friction at its ends is asked for
_TURNED = 1e-12  # of the largest q′: where a joint turns round at a grid point, q′ is less there
_SLOWEST = 1e-12  # at which friction is asked for


class Profile(NamedTuple):
    """ṡ² at grid points (P, N + 1), and of each interval the mean of s̈ and half of its fall, (P, N)."""

    x: FloatArray
    tops: FloatArray
    u: FloatArray
    w: FloatArray

    def inside(self, grid: Grid) -> tuple[FloatArray, FloatArray]:
        """ṡ and s̈ at the places within, shape (P, N·within)."""
        share = grid.shares
        h, u, w = grid.lengths[..., None], self.u[..., None], self.w[..., None]
        x = self.x[:, :-1, None] + 2 * h * share * (u + w * (1 - share))
        shape = (len(self.x), -1)
        return np.sqrt(np.maximum(x, 0.0)).reshape(shape), (u + w * (1 - 2 * share)).reshape(shape)


class _Looked(NamedTuple):
    """What a look within intervals found.

    How far rows are above and then below their limits (P, N + 2, 2R), the largest share by which each interval exceeds a limit
    (P, N), that of speeds (P, N), shares of limits in use (P, N, R), and where ṡ² comes near to zero (P, N).
    """

    beyond: FloatArray
    each: FloatArray
    fast: FloatArray
    use: FloatArray
    stops: BoolArray

    @property
    def worst(self) -> FloatArray:
        """The largest share by which a limit of a path is exceeded, (P,)."""
        found: FloatArray = self.each.max(axis=1)
        return found


class Still(NamedTuple):
    """Where a motion as slow as can be exceeds a limit: interval, row, and what it takes of how much."""

    interval: int
    row: int
    needed: float
    allowed: float


class ProfileSolver:
    """The passes for P paths on their grids."""

    def __init__(self, maker: RowMaker, grid: Grid, ends: FloatArray) -> None:
        self.maker, self.grid, self.threads = maker, grid, maker.threads
        self._find_ends()
        self.parts = maker.torques(grid.inside)
        self.inside = maker(grid.inside, self.parts)
        self.P, self.N, self.R = self.left.m.shape
        falling, facets = maker.names.falling, maker.names.facets
        self.kinds = RowKinds(self.R - falling, falling, bool(self._any_viscous()), facets)
        self.caps = self._caps()
        self._limit()
        self.ends = np.concatenate([ends**2, self._first_guess()[:, None]], axis=1)

    def _find_ends(self) -> None:
        """Torques and rows at both ends of every interval."""

        def both(path: Rates) -> Sequence[FloatArray | None]:
            parts = self.maker.torques(path)
            return *parts, *self.maker(path, parts)

        left, right = self.grid.at_ends(both)
        self.left_parts, self.right_parts = PathTorques._make(left[:5]), PathTorques._make(right[:5])
        self.left, self.right = LimitRows._make(left[5:]), LimitRows._make(right[5:])

    def _any_viscous(self) -> bool:
        return bool(np.any(self.left.v) or np.any(self.right.v))

    def _caps(self) -> FloatArray:
        """The largest ṡ² at grid points that limits of speed allow; slowness at all places is kept for looks."""
        (at_left,), (at_right,) = self.grid.at_ends(lambda path: [self.maker.slowness(path)])
        self.slowness = np.empty((self.P, self.N, self.grid.within + 2))
        self.slowness[..., 0], self.slowness[..., -1] = at_left, at_right
        self.slowness[..., 1:-1] = self.maker.slowness(self.grid.inside).reshape(self.P, self.N, -1)
        slow = np.concatenate([at_left, at_right[:, -1:]], axis=1)
        slow[:, 1:] = np.maximum(slow[:, 1:], at_right)
        caps = 1.0 / slow**2
        caps[self.grid.corners] = 0.0
        return caps

    def _limit(self) -> None:
        """Room of each row at the ends of intervals, for gravity and dry friction of whichever direction is met there."""
        P, N, R, within = self.P, self.N, self.R, self.grid.within
        shape = (P, N, within, R)
        m, c, v, g, d = (part.reshape(shape) for part in self.inside[:5])
        p = [] if self.inside.p is None else [self.inside.p.reshape(*shape[:-1], -1)]
        self.places = (m, c, v, g, d, *p)
        lower, upper = (_reshaped(part, shape) for part in self.inside[5:7])
        self.lo, self.hi = _over_places(np.maximum, lower), _over_places(np.minimum, upper)
        friction = padded_zeros(P, N, 2 * R)
        friction[:, 1:-1] = friction_ranges(self.kinds, d, self.threads)
        self._with_hidden_turns(friction[:, 1:-1])
        self.table, self.least_room = table_of(self.kinds, (self.left, self.right), (self.lo, self.hi), friction, self.threads)
        self.still = self.left.g, self.right.g
        self.lo_left, self.hi_left, self.lo_right, self.hi_right = (self.table[..., k * R : (k + 1) * R] for k in (3, 4, 8, 9))

    def _with_hidden_turns(self, friction: FloatArray) -> None:
        """Ranges of friction (P, N, 2R), largest and then least, with that of both ends where a joint turns round in between.

        Most turns are grid points. Of several joints that turn within two intervals some are not.
        """
        q1 = self.grid.left[1], self.grid.right[1]
        least = _TURNED * np.abs(q1[0]).max(axis=(1, 2), initial=1e-300)[:, None]
        hidden = ((q1[0] * q1[1] < 0) & (np.minimum(np.abs(q1[0]), np.abs(q1[1])) > least[..., None])).any(axis=-1)
        if hidden.any():
            ends, at = np.stack([self.left.d, self.right.d])[:, hidden], friction[hidden]
            at[:, : self.R] = np.maximum(at[:, : self.R], ends.max(axis=0))
            at[:, self.R :] = np.minimum(at[:, self.R :], ends.min(axis=0))
            friction[hidden] = at

    @property
    def scale(self) -> FloatArray:
        """What an excess of a row is measured by, shape (P, N, R): the smaller of its limits."""
        found: FloatArray = np.maximum(np.minimum(np.abs(self.hi), np.abs(self.lo)), 1e-12)
        return found

    def _first_guess(self) -> FloatArray:
        """How fast ṡ² rises from rest, about: where tangents begin."""
        plain, ends = self.kinds.plain, [0, -1]
        room = np.maximum(np.abs(self.hi_left[:, ends, :plain]), np.abs(self.lo_left[:, ends, :plain]))
        m = np.abs(self.left.m[:, ends, :plain])
        u = (room / np.maximum(m, 1e-12 * m.max(axis=-1, initial=1e-300, keepdims=True))).min(axis=(1, 2), initial=1e300)
        rise = 2 * u
        if self.left.p is not None:  # x after a first interval of full power: m x / 2h = p / √x
            p, m = self.left.p[:, ends], np.abs(self.left.m[:, ends, plain:])
            powered = np.cbrt((2 * p / np.maximum(m, 1e-100)) ** 2 / self.grid.lengths[:, ends, None])
            rise = np.minimum(rise, powered.min(axis=(1, 2)))
        return np.clip(rise, 1e-18, 1e18)

    def too_weak(self) -> dict[int, Still]:
        """Paths along which gravity and dry friction alone exceed a limit, and where they do so most."""
        found: dict[int, Still] = {}
        if (self.least_room > 0).all():
            return found
        plain = self.kinds.plain
        over = np.stack([-self.hi_left, self.lo_left, -self.hi_right, self.lo_right])[..., :plain] / self.scale[..., :plain]
        for row in np.flatnonzero((over >= 0).any(axis=(0, 2, 3))):
            side, k, i = np.unravel_index(np.argmax(over[:, row]), (4, self.N, plain))
            end = self.left if side < 2 else self.right
            sign = 1.0 if side in (0, 2) else -1.0
            left = (self.hi_left, self.lo_left, self.hi_right, self.lo_right)[side][row, k, i]
            limit = end.hi[row, k, i] if sign > 0 else end.lo[row, k, i]
            found[int(row)] = Still(int(k + (side > 1)), int(i), float(limit - left), float(limit))
        return found

    def solve(self) -> tuple[Profile, FloatArray]:
        """The profile, and by how much it exceeds limits, relative to them, shape (P,)."""
        room = np.zeros((self.P, self.N, self.kinds.room))
        room[..., 0] = self.grid.lengths
        caps, best = self.caps, None
        self.row_use = room[..., 2 : 2 + self.R]
        for turn in range(_PASSES):
            profile = self._run(room, caps)
            if turn == 0:
                room[..., 1] = self._slopes(profile)
                continue
            looked = self._excess(profile)
            if looked.stops.any():
                flat = looked.stops.any(axis=1, keepdims=True) if turn >= _PASSES - 3 else looked.stops
                room[..., 1] = np.where(flat, 0.0, profile.w)  # no profile with such a stop is a result
                if turn < _PASSES - 1:
                    continue
            best, self.row_use = self._better(best, profile, looked)
            if (looked.worst <= TOLERANCE).all():
                break
            more = _MORE + 0.2 * turn
            room = tightened(self.kinds, room, self.table, more, looked.beyond, self.threads)
            caps = caps * _of_neighbours(1.0 / (1.0 + more * looked.fast)) ** 2
            if turn >= _LOCAL:
                exceeded = looked.each > TOLERANCE
                caps = _slowed_there(caps, profile.x, more * looked.each * exceeded)
                room[..., 1] = np.where(exceeded, 0.0, room[..., 1])
        assert best is not None
        return best if self.ends[:, :2].any() else self._slowed(*best)  # speeds at the ends cannot be slowed

    def _slowed(self, profile: Profile, excess: FloatArray, *, bent: bool = False) -> tuple[Profile, FloatArray]:
        """Profiles that still exceed a limit, slower as a whole: all that moves goes down, and the rest is within limits.

        Friction that is no line in the speed (`bent`) is taken as it is at each of them.
        """
        best = profile, excess
        for turn in range(_SLOWER):
            bad = (best[1] > TOLERANCE) & np.isfinite(best[1])
            if not bad.any():
                break
            factor = np.where(bad, 1.0 / (1.0 + 1.05 * 1.5**turn * excess), 1.0)[:, None]
            slower = Profile(profile.x * factor, profile.tops, profile.u * factor, profile.w * factor)
            if bent:
                self._lay_tangents(slower)
            best, self.row_use = self._better(best, slower, self._excess(slower))
        return best

    def _better(
        self, best: tuple[Profile, FloatArray] | None, profile: Profile, looked: _Looked
    ) -> tuple[tuple[Profile, FloatArray], FloatArray]:
        """Of each path the profile that exceeds its limits least, and its shares of limits."""
        if best is None:
            return (profile, looked.worst), looked.use
        new = looked.worst < best[1]
        if new.all():
            return (profile, looked.worst), looked.use
        rows = Profile(*(np.where(new[:, None], b, a) for a, b in zip(best[0], profile, strict=True)))
        return (rows, np.where(new, looked.worst, best[1])), np.where(new[:, None, None], looked.use, self.row_use)

    def _run(self, room: FloatArray, caps: FloatArray) -> Profile:
        """ṡ² at grid points: the largest from which the end can be reached, and the fastest from the start."""
        N, h = self.N, self.grid.lengths
        tops, x = np.empty((self.P, N + 1, 1)), np.empty((self.P, N + 1, 1))
        kernel = speed_kernel(self.kinds, self.P == 1)
        kernel([np.array([[float(N)]]), self.table, room, caps, self.ends], [tops, x], turns=3 * N, threads=self.threads)
        tops, x = tops[..., 0], x[..., 0]
        return Profile(x, tops, (x[:, 1:] - x[:, :-1]) / (2 * h), room[..., 1].copy())

    def _slopes(self, profile: Profile) -> FloatArray:
        """Half of the fall of s̈ over each interval: the smaller of the changes to both sides, none where they disagree."""
        u, h = profile.u, self.grid.lengths
        change = 2 * np.diff(u, axis=1) / (h[:, 1:] + h[:, :-1])
        before = np.concatenate([change[:, :1], change], axis=1)
        after = np.concatenate([change, change[:, -1:]], axis=1)
        slope = np.where(before * after > 0, np.sign(before) * np.minimum(np.abs(before), np.abs(after)), 0.0)
        least = np.minimum(profile.x[:, 1:], profile.x[:, :-1])
        most = 0.5 * np.abs(u) + 0.25 * least / h  # so that ṡ² stays positive within
        return np.clip(-slope * h / 2, -most, most)

    def _excess(self, profile: Profile) -> _Looked:
        """Each interval within, looked at."""
        numbers = np.empty((self.P, self.N, 4))
        for k, part in enumerate((profile.x[:, :-1], profile.u, profile.w, self.grid.lengths)):
            numbers[..., k] = part
        ends = self.table, *self.still, self.lo, self.hi
        given = Intervals(numbers, self.grid.shares, self.slowness, *ends, self.places)
        if self.grid.within == WITHIN and not self.kinds.many:
            found = excess_kernel(self.kinds, WITHIN)(*given[:-1], *given.places, threads=self.threads)
        else:
            found = excess_row_by_row(self.kinds, given, self.threads)
        beyond, (within, worst, fast, use, stops) = padded_zeros(self.P, self.N, 2 * self.R), found
        beyond[:, 1:-1] = within
        return _Looked(beyond, worst[..., 0], fast[..., 0], use, stops[..., 0] > 0)

    def solve_bent(self) -> tuple[Profile, FloatArray]:
        """The same where friction is no line in the speed: with its tangents at the profile before, until these tell it."""
        profile, best = self.solve()[0], None
        for turn in range(_BENDS):
            moved = self._lay_tangents(profile)
            looked = _stuck_left_out(self._excess(profile), profile)
            if turn == 0:
                first = profile, looked
            if turn > 1 or not moved:  # those before are found with lines from far away, and may be slow
                best, self.row_use = self._better(best, profile, looked)
            if not moved and (looked.worst <= TOLERANCE).all():
                break
            profile = self.solve()[0]
        assert best is not None
        if not np.isfinite(best[1]).all():  # tangents led to a stop
            best, self.row_use = self._better(best, *first)
        return best if self.ends[:, :2].any() else self._slowed(*best, bent=True)

    def weak_for_bent(self) -> dict[int, Still]:
        """As `too_weak`, where friction is no line: lines from far away may be too much at rest where it is not itself.

        Then its tangents at speeds that are slow enough are taken, if there are any.
        """
        found = self.too_weak()
        speed = 1.0 / np.abs(self.grid.left[1]).max(axis=(1, 2), initial=1e-300)  # that of the fastest joint is 1 rad/s or m/s
        for slow in _SLOW_SPEEDS:
            if not found:
                break
            rows = np.isin(np.arange(self.P), list(found))
            x = np.repeat((slow * speed[:, None]) ** 2, self.N + 1, axis=1)
            self._lay_tangents(Profile(x, x, 0.0 * x[:, 1:], 0.0 * x[:, 1:]), rows)
            found = self.too_weak()
        return found

    def _lay_tangents(self, profile: Profile, rows: BoolArray | None = None) -> bool:
        """Take the tangents of friction at the speeds of a profile, for all paths or for some; whether torques differ from what
        was taken before.
        """
        sd, sdd = profile.inside(self.grid)
        z, u, ends = sd[..., None], sdd[..., None], np.sqrt(profile.x)[..., None]
        least = np.maximum(_CREEP * z.max(axis=1, keepdims=True), _SLOWEST)
        before = self.parts.at(z, u)

        def laid(path: Rates, parts: PathTorques, z: FloatArray) -> PathTorques:
            found = self._tangents(path, parts, z, least)
            if rows is None:
                return found
            return PathTorques(*(np.where(rows[:, None, None], a, b) for a, b in zip(found, parts, strict=True)))

        self.parts = laid(self.grid.inside, self.parts, z)
        self.left_parts = laid(self.grid.left, self.left_parts, ends[:, :-1])
        self.right_parts = laid(self.grid.right, self.right_parts, ends[:, 1:])
        self.left, self.right = self.maker(self.grid.left, self.left_parts), self.maker(self.grid.right, self.right_parts)
        self.inside = self.maker(self.grid.inside, self.parts)
        self._limit()
        self.still = self._still_at_ends(ends)
        tau = self.parts.at(z, u)
        return bool((np.abs(tau - before).max(axis=(1, 2)) > _KNOWN * np.abs(tau).max(axis=(1, 2))).any())

    def _tangents(self, path: Rates, parts: PathTorques, z: FloatArray, least: FloatArray) -> PathTorques:
        """The parts with friction as its tangent at ṡ = z, or at the least speed where that is more."""
        z = np.maximum(z, least)
        faster, slower = (self._friction(path, parts, z * (1 + aside)) for aside in (_ASIDE, -_ASIDE))
        slope = (faster - slower) / (2 * _ASIDE * z)
        return parts._replace(viscous=slope, dry=self._friction(path, parts, z) - slope * z)

    def _friction(self, path: Rates, parts: PathTorques, z: FloatArray) -> FloatArray:
        """Friction at ṡ = z."""
        q, q1, q2, _ = path
        tau = inverse_dynamics(self.maker.system, q, q1 * z, q2 * z**2, threads=self.threads)
        found: FloatArray = tau - parts.motion * z**2 - parts.gravity
        return found

    def _still_at_ends(self, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gravity at both ends of intervals, with what friction there differs by from a line through that at two places within.

        Ends are looked at with such lines, which is right for friction that jumps there, and wrong where it bends.
        """
        d, shares = self.places[4], self.grid.shares
        slowest = np.maximum(ends, np.maximum(_CREEP * ends.max(axis=1, keepdims=True), _SLOWEST))
        found = []
        for side, path, parts in ((1, self.grid.left, self.left_parts), (-1, self.grid.right, self.right_parts)):
            here, further, z = (0, 1, slowest[:, :-1]) if side > 0 else (-1, -2, slowest[:, 1:])
            dry = self._friction(self._just_within(path, side, here), parts, z) - parts.viscous * z
            ratio = (shares[..., here] - (side < 0)) / (shares[..., further] - shares[..., here])
            line = d[:, :, here] - ratio[..., None] * (d[:, :, further] - d[:, :, here])
            rows = self.maker(path, parts._replace(dry=dry))
            found.append(rows.g + rows.d - line)
        return found[0], found[1]

    def _just_within(self, at_end: Rates, side: int, here: int) -> Rates:
        """Samples beside the ends of intervals, where all joints move as they do at the place within that is nearest."""
        q, q1, q2, q3 = at_end
        step = side * _INTO * self.grid.lengths[..., None]
        within = self.grid.inside[1].reshape(self.P, self.N, self.grid.within, -1)[:, :, here]
        way = np.sign(within)
        return q + step * q1, way * np.maximum(way * (q1 + step * q2), _INTO**2 * np.abs(within)), q2, q3

    def use(self, profile: Profile) -> FloatArray:
        """How much of each limit is used in each interval at most, rows first and then speeds, shape (P, N, R + speeds)."""
        z = np.sqrt(profile.x)[..., None]
        (before,), (after,) = self.grid.at_ends(lambda path: [self.maker.speed_use(path)])
        speeds = np.maximum(before * z[:, :-1], after * z[:, 1:])
        return np.concatenate([self.row_use, speeds], axis=-1)

    def torques(self, profile: Profile) -> FloatArray:
        """At the grid points, those after each; at the end those before."""
        z, u, w = np.sqrt(profile.x)[..., None], profile.u[..., None], profile.w[..., None]
        at_end = PathTorques(*(part[:, -1:] for part in self.right_parts)).at(z[:, -1:], (u - w)[:, -1:])
        return np.concatenate([self.left_parts.at(z[:, :-1], u + w), at_end], axis=1)


def _reshaped(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values (P, K, R) in another shape, without copying those that are the same everywhere."""
    return everywhere(values[0, 0], shape) if values.strides[:2] == (0, 0) else values.reshape(shape)


def _over_places(combine: np.ufunc, values: FloatArray) -> FloatArray:
    """The largest or least value within each interval."""
    if values.strides[2] == 0:  # the same everywhere
        return values[:, :, 0]
    found: FloatArray = values[:, :, 0].copy()
    for k in range(1, values.shape[2]):
        combine(found, values[:, :, k], out=found)
    return found


def _stuck_left_out(looked: _Looked, profile: Profile) -> _Looked:
    """What a look found, and no end of excess where a profile does not move on."""
    stuck = (profile.x[:, 1:] + profile.x[:, :-1] <= 0).any(axis=1, keepdims=True)
    return looked._replace(each=np.where(stuck, np.inf, looked.each))


def _slowed_there(caps: FloatArray, x: FloatArray, excess: FloatArray) -> FloatArray:
    """Speeds below those found at both ends of intervals that exceed a limit: what is braked harder may exceed it still."""
    slower = _of_neighbours(1.0 / (1.0 + excess))
    found: FloatArray = np.where(slower < 1.0, np.minimum(caps, x * slower**2), caps)
    return found


def _of_neighbours(factor: FloatArray) -> FloatArray:
    """For each grid point the smaller factor of the intervals beside it."""
    ends = np.ones_like(factor[:, :1])
    found: FloatArray = np.minimum(np.concatenate([ends, factor], axis=1), np.concatenate([factor, ends], axis=1))
    return found


__all__ = ["MOST_EXCESS", "TOLERANCE", "Profile", "ProfileSolver", "Still"]
