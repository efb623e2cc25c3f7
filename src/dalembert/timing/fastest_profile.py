"""The fastest profile along grids of paths: solved, given slopes, looked at in between, solved again where it exceeds limits.

The solver (speed_program.py) takes s̈ constant from grid point to grid point. A first solution tells how s̈ changes; in those after
it s̈ falls or rises linearly by 2w over an interval, which moves the limits at its ends by ∓ m w and makes the time of the result
right to second order. Places within the intervals then tell how far limits are exceeded there, by the curvature of the path or by
friction that is no line in the speed. By as much, and a little more, limits are tightened, and it is solved again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import inverse_dynamics
from .excess_program import excess_kernel
from .limit_rows import RowMaker
from .path_grid import Grid
from .path_torques import PathTorques
from .speed_program import RowKinds, speed_kernel

TOLERANCE = 5e-7  # relative excess that is left alone
_PASSES = 10
_SLOWER = 12  # times a profile is slowed as a whole that exceeds a limit after all passes
_MORE = 1.3  # by which limits are tightened beyond the excess found
_SMOOTH = 1e-9  # relative: friction that differs by less is a line in the speed


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
        self.left_parts, self.right_parts = (PathTorques(*parts) for parts in grid.at_ends(maker.torques))
        self.left, self.right = maker(grid.left, self.left_parts), maker(grid.right, self.right_parts)
        self.parts = maker.torques(grid.inside)
        self.inside = maker(grid.inside, self.parts)
        self.P, self.N, self.R = self.left.m.shape
        self.kinds = RowKinds(self.R - maker.names.falling, maker.names.falling, bool(self._any_viscous()))
        self.kernel = speed_kernel(self.kinds, self.P == 1)
        self.table = self._table()
        self.excess_of = excess_kernel(self.kinds, grid.within)
        self.slowness = maker.slowness(grid.inside).reshape(self.P, self.N, grid.within)
        self.caps = self._caps()
        self.room = np.empty((self.P, self.N, self.kinds.room))
        self._limit()
        self.ends = np.concatenate([ends**2, self._first_guess()[:, None]], axis=1)

    def _any_viscous(self) -> bool:
        return bool(np.any(self.left.v) or np.any(self.right.v))

    def _table(self) -> FloatArray:
        """What the kernel reads of intervals: columns of rows at both ends. Limits are filled in by `_limit`."""
        table = np.empty((self.P, self.N, self.kinds.width))
        R, F = self.R, self.kinds.falling
        for k, end in enumerate((self.left, self.right)):
            for j, column in enumerate((end.m, end.c, end.v)):
                table[..., (5 * k + j) * R : (5 * k + j + 1) * R] = column
            if F:
                table[..., 10 * R + k * F : 10 * R + (k + 1) * F] = end.p
        return table

    def _caps(self) -> FloatArray:
        (at_left,), (at_right,) = self.grid.at_ends(lambda path: [self.maker.slowness(path)])
        slow = np.concatenate([at_left, at_right[:, -1:]], axis=1)
        slow[:, 1:] = np.maximum(slow[:, 1:], at_right)
        caps = 1.0 / slow**2
        caps[self.grid.corners] = 0.0
        return caps

    def _limit(self) -> None:
        """Room of each row at the ends of intervals, for gravity and dry friction of whichever direction is met there."""
        shape = (self.P, self.N, self.grid.within, self.R)
        m, c, v, g, d = (part.reshape(shape) for part in self.inside[:5])
        lower, upper = (_reshaped(part, shape) for part in self.inside[5:7])
        most, least = _over_places(np.maximum, d), _over_places(np.minimum, d)
        hi, lo = _over_places(np.minimum, upper), _over_places(np.maximum, lower)
        p = [] if self.inside.p is None else [self.inside.p.reshape(*shape[:-1], -1)]
        self.places = (m, c, v, g, d, *p)
        self.still = np.concatenate([self.left.g + d[:, :, 0], self.right.g + d[:, :, -1]], axis=-1)
        self.limits = np.concatenate([lo, hi], axis=-1)
        R = self.R
        self.lo_left, self.hi_left, self.lo_right, self.hi_right = (self.table[..., k * R : (k + 1) * R] for k in (3, 4, 8, 9))
        for end, highest, lowest, before in (
            (self.left, self.hi_left, self.lo_left, True),
            (self.right, self.hi_right, self.lo_right, False),
        ):
            np.subtract(hi - end.g, _beside(np.maximum, most, before), out=highest)
            np.subtract(lo - end.g, _beside(np.minimum, least, before), out=lowest)
        self.scale = np.maximum(np.minimum(np.abs(hi), np.abs(lo)), 1e-12)

    def _first_guess(self) -> FloatArray:
        """ṡ² after the first interval, about: where tangents begin."""
        h = self.grid.lengths
        found = np.full(self.P, 1e300)
        for k in (0, -1):
            room = np.maximum(np.abs(self.hi_left[:, k]), np.abs(self.lo_left[:, k]))[:, : self.kinds.plain]
            m = np.abs(self.left.m[:, k])[:, : self.kinds.plain]
            u = (room / np.maximum(m, 1e-12 * m.max(axis=-1, initial=1e-300, keepdims=True))).min(axis=-1, initial=1e300)
            found = np.minimum(found, 2 * h.mean(axis=1) * u)
        return np.clip(found, 1e-18, 1e18)

    def too_weak(self) -> dict[int, Still]:
        """Paths along which gravity and dry friction alone exceed a limit, and where they do so most."""
        plain = self.kinds.plain
        found: dict[int, Still] = {}
        room = (self.hi_left, self.hi_right, -self.lo_left, -self.lo_right)
        if all(part[..., :plain].min(initial=1.0) > 0 for part in room):
            return found
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
        N, R = self.N, self.R
        w = np.zeros((self.P, N))
        up, down = np.zeros((self.P, N, R)), np.zeros((self.P, N, R))
        slower = np.ones((self.P, N + 1))
        best: tuple[Profile, FloatArray] | None = None
        self.row_use = up
        for turn in range(_PASSES):
            profile = self._run(w, up, down, slower)
            if turn == 0:
                w = self._slopes(profile)
                continue
            if (stops := _stops_within(profile, self.grid.lengths)).any():
                w = np.where(stops, 0.0, w)
                if turn < _PASSES - 2:
                    continue
            over, under, fast, use = self._excess(profile)
            excess = self._worst(over, under, fast, profile)
            best, self.row_use = self._better(best, (profile, excess), use)
            if (excess <= TOLERANCE).all():
                break
            more = _MORE + 0.2 * turn
            np.minimum(up + more * _spread(over), self._room(self.hi_left, self.hi_right), out=up)
            np.minimum(down + more * _spread(under), self._room(-self.lo_left, -self.lo_right), out=down)
            slower *= _of_neighbours(1.0 / (1.0 + more * fast))
        assert best is not None
        held = self.ends[:, :2].any() or self.kinds.falling  # speeds at the ends, or limits that rise as the speed falls
        return best if held else self._slowed(*best)

    def _room(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """By how much limits may be tightened: half of what gravity and dry friction leave, so that a slow motion stays possible.

        Limits that fall with the speed are wide at low speeds, however much they are tightened.
        """
        found: FloatArray = np.maximum(0.5 * np.minimum(left, right), 0.0)
        found[..., self.kinds.plain :] = np.inf
        return found

    def _slowed(self, profile: Profile, excess: FloatArray) -> tuple[Profile, FloatArray]:
        """Profiles that still exceed a limit, slower as a whole: all that moves goes down, and the rest is within limits."""
        for turn in range(_SLOWER):
            bad = excess > TOLERANCE
            if not bad.any():
                break
            factor = np.where(bad, 1.0 - np.minimum(0.5, 2.0 ** (turn + 1) * excess), 1.0)[:, None]
            profile = Profile(profile.x * factor, profile.tops, profile.u * factor, profile.w * factor)
            over, under, fast, self.row_use = self._excess(profile)
            excess = self._worst(over, under, fast, profile)
        return profile, excess

    def _better(
        self, best: tuple[Profile, FloatArray] | None, found: tuple[Profile, FloatArray], use: FloatArray
    ) -> tuple[tuple[Profile, FloatArray], FloatArray]:
        """Of each path the profile that exceeds its limits least, and its shares of limits."""
        if best is None:
            return found, use
        new = found[1] < best[1]
        rows = Profile(*(np.where(new[:, None], b, a) for a, b in zip(best[0], found[0], strict=True)))
        return (rows, np.where(new, found[1], best[1])), np.where(new[:, None, None], use, self.row_use)

    def _run(self, w: FloatArray, up: FloatArray, down: FloatArray, slower: FloatArray) -> Profile:
        h, R = self.grid.lengths, self.R
        room = self.room
        room[..., 0], room[..., 1], room[..., 2 : 2 + R], room[..., 2 + R :] = h, w, up, down
        tops, x = self._speeds(self.table, room, self.caps * slower**2)
        return Profile(x, tops, np.diff(x, axis=1) / (2 * h), w)

    def _speeds(self, table: FloatArray, room: FloatArray, caps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ṡ² at grid points: the largest from which the end can be reached, and the fastest from the start."""
        N = table.shape[1]
        tops, x = np.empty((self.P, N + 1, 1)), np.empty((self.P, N + 1, 1))
        self.kernel([np.array([[float(N)]]), table, room, caps, self.ends], [tops, x], turns=3 * N, threads=self.threads)
        return tops[..., 0], x[..., 0]

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

    def _excess(self, profile: Profile) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Per interval how far rows go beyond their limits, above and below, and speeds; and the share of limits in use."""
        numbers = np.stack([profile.x[:, :-1], profile.u, profile.w, self.grid.lengths], axis=-1)
        arrays = (numbers, self.grid.shares, self.slowness, self.table, self.still, self.limits, *self.places)
        over, under, fast, use = self.excess_of(*arrays, threads=self.threads)
        return over, under, fast[..., 0], use

    def _worst(self, over: FloatArray, under: FloatArray, fast: FloatArray, profile: Profile) -> FloatArray:
        """The largest excess relative to its limit, of each path."""
        scale = self.scale
        if self.inside.p is not None:
            scale = scale.copy()
            p = self.inside.p.reshape(self.P, self.N, self.grid.within, -1).min(axis=2)
            z = np.sqrt(np.maximum(profile.x[:, 1:], profile.x[:, :-1]))
            scale[..., self.kinds.plain :] += p / np.maximum(z, 1e-12)[..., None]
        rows = (np.maximum(over, under) / scale).max(axis=(1, 2), initial=0.0)
        found: FloatArray = np.maximum(rows, fast.max(axis=1))
        return found

    def bend_friction(self, profile: Profile) -> bool:
        """Take friction at the speeds of a profile for dry; whether that differs from what was taken before."""
        sd, sdd = profile.inside(self.grid)
        q, q1, q2, _ = self.grid.inside
        z, u = sd[..., None], sdd[..., None]
        tau = inverse_dynamics(self.maker.system, q, q1 * z, q2 * z * z + q1 * u, threads=self.threads)
        change = tau - self.parts.at(z, u)
        size = np.abs(tau).max(axis=(1, 2), keepdims=True)
        if (np.abs(change) <= _SMOOTH * size).all():
            return False
        self.parts = PathTorques(*self.parts[:4], self.parts.dry + change)
        self.inside = self.maker(self.grid.inside, self.parts)
        self._limit()
        return True

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


def _stops_within(profile: Profile, h: FloatArray) -> Any:
    """Intervals within which ṡ², a parabola, comes near to zero, or below, though it does not at their ends."""
    a, b = profile.u + profile.w, -2 * profile.w / h
    bent = b > 0
    at = np.where(bent, -a / np.where(bent, b, 1.0), -1.0)
    lowest = profile.x[:, :-1] + a * at
    ends = np.minimum(profile.x[:, :-1], profile.x[:, 1:])
    return (at > 0) & (at < h) & (lowest < 0.25 * ends)


def _reshaped(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values (P, K, R) in another shape, without copying those that are the same everywhere."""
    return np.broadcast_to(values[0, 0], shape) if values.strides[:2] == (0, 0) else values.reshape(shape)


def _over_places(combine: np.ufunc, values: FloatArray) -> FloatArray:
    """The largest or least value within each interval."""
    found: FloatArray = values[:, :, 0].copy()
    if values.strides[2] == 0:  # the same everywhere
        return found
    for k in range(1, values.shape[2]):
        combine(found, values[:, :, k], out=found)
    return found


def _beside(combine: np.ufunc, friction: FloatArray, before: bool) -> FloatArray:
    """Dry friction at one end of each interval, which may be that of the interval before or after too; at rest, none."""
    found = friction.copy()
    inner, other, end = (slice(1, None), slice(-1), 0) if before else (slice(-1), slice(1, None), -1)
    combine(friction[:, inner], friction[:, other], out=found[:, inner])
    combine(friction[:, end], 0.0, out=found[:, end])
    return found


def _spread(excess: FloatArray) -> FloatArray:
    """The largest of each interval and its neighbours: where a limit is tightened, the profile turns to the next one."""
    found = excess.copy()
    np.maximum(found[:, 1:], excess[:, :-1], out=found[:, 1:])
    np.maximum(found[:, :-1], excess[:, 1:], out=found[:, :-1])
    return found


def _of_neighbours(factor: FloatArray) -> FloatArray:
    """For each grid point the smaller factor of the intervals beside it."""
    ends = np.ones_like(factor[:, :1])
    found: FloatArray = np.minimum(np.concatenate([ends, factor], axis=1), np.concatenate([factor, ends], axis=1))
    return found


__all__ = ["TOLERANCE", "Profile", "ProfileSolver", "Still"]
