"""Paths that rest somewhere, in another parameter: by arc length beside their rests, and as they are given elsewhere.

Where a motion rests, q′ = 0, no speed ṡ moves the robot. Such a path q(s) is timed by σ, dσ = ρ ds, with

    ρ = 1 + φ (|q′|/v − 1)                                                                                (1)

    dq/dσ = q′/ρ,   d²q/dσ² = (q″ − ρ′ dq/dσ)/ρ²,   d³q/dσ³ = (q‴ − 3ρρ′ d²q/dσ² − ρ″ dq/dσ)/ρ³           (2)

φ is 1 beside rests, where σ is the arc length in joint space, divided by v, and falls to 0 before a place at which the path
nearly stops. In its own parameter that is smooth; by arc length it is a spike of curvature, ~ 1/|q′|², that no grid sees. A path
without such places has φ = 1 and v = 1 all along: σ is its arc length.
"""

from __future__ import annotations

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..trajectory import Motion
from ..trajectory.motion import Rates
from .path_grid import BoolArray
from .path_shapes import MotionPaths, Paths, SplinePaths
from .rest_zones import HALVES, RESTS, STALLED, STRAIGHT, Rest, SpeedTable, Zone

_LOOKS = checks.frozen(np.linspace(0.0, 1.0, 97))  # places of a path at which its speed is looked at first
_LINE = 1e-11  # of the speed: q′ beside a straight line, which is rounding
_PASSED = (1e-3, 1e-2)  # shares of the speed in place of RESTS where a path goes straight on
_CLOSE = 1e-6  # of the path: a break so near to a rest is the rest
_ROUNDS = 60  # of Newton's method from the table, at most


class MovingPath(Motion):
    """A path that rests somewhere in a parameter by which it rests nowhere. Equations (1) and (2)."""

    def __init__(self, motion: Motion, table: SpeedTable, rests: list[Rest]) -> None:
        self.inner, self.shape, self.about = motion, motion.shape, motion.about
        nodes, weights = np.polynomial.legendre.leggauss(6)
        self.nodes, self.weights = (nodes + 1) / 2, weights / 2
        zones = table.zones(rests)
        self.zones, self.rests = Zone(*np.array(zones).T), Rest(*np.array(self._with_edges(table, zones, rests)).T)
        self.lines = self._lines(table)
        stops = np.concatenate([self._breaks_elsewhere(), self.rests.start])
        borders = np.concatenate(self.zones[:4])
        inner = borders[(borders > 0) & (borders < motion.duration)]
        self.blended = inner.size > 0
        self.places = np.unique(np.concatenate([table.places, stops, inner]))
        self.lengths = np.concatenate([[0.0], np.cumsum(self._length(self.places[:-1], np.diff(self.places)))])
        self.breaks = checks.frozen(np.unique(self.lengths[np.searchsorted(self.places, stops)]))

    def _breaks_elsewhere(self) -> FloatArray:
        """The breaks of the motion, but for those beside a rest, which is one itself."""
        s, close = self.inner.breaks, _CLOSE * self.inner.duration
        before, after = (
            np.minimum(self.rests.before, self.rests.start - close),
            np.maximum(self.rests.after, self.rests.end + close),
        )
        beside = (s[:, None] > before) & (s[:, None] < after)
        found: FloatArray = s[~beside.any(axis=1)]
        return found

    def _lines(self, table: SpeedTable) -> FloatArray:
        """The direction of the path before the first rest, between rests and after the last one; NaN where it is no line."""
        ends = zip(np.append(-np.inf, self.rests.end), np.append(self.rests.start, np.inf), strict=True)
        found = np.full((len(self.rests.start) + 1, self.n), np.nan)
        for k, (first, last) in enumerate(ends):
            q1 = table.after[(table.places > first) & (table.places < last)]
            way = q1.sum(axis=0) / max(float(np.linalg.norm(q1.sum(axis=0))), 1e-300)
            along = q1 @ way
            aside = np.abs(q1 - along[:, None] * way)
            if (along >= 0).all() and (aside <= _LINE * along.max(initial=0.0)).all():
                found[k] = way
        return found[:-1] if self.rests.after[-1] > self.inner.duration else found  # nothing comes after a rest at the end

    def _with_edges(self, table: SpeedTable, zones: list[Zone], rests: list[Rest]) -> list[Rest]:
        """Rests with the places on both sides where the path just moves: by halves from where it does."""
        T, found = self.inner.duration, []
        befores, afters = [-T, *(rest.end for rest in rests)], [*(rest.start for rest in rests[1:]), 2 * T]
        for before, rest, after in zip(befores, rests, afters, strict=False):
            zone = next(zone for zone in zones if zone.begin < rest.start < zone.end)
            left = (table.places > max(before, zone.begin)) & (table.places < rest.start)
            right = (table.places > rest.end) & (table.places < min(after, zone.end))
            found.append(self._rest_between(rest, table, left, right))
        return found

    def _rest_between(self, rest: Rest, table: SpeedTable, left: BoolArray, right: BoolArray) -> Rest:
        """A rest with its edges: further away where the path goes straight on, as it passes and no rounding may bend it."""
        found = None
        for share in (RESTS, *_PASSED):
            before, after = self._edge(rest.start, table, left, -1, share), self._edge(rest.end, table, right, 1, share)
            if found is not None and not self._straight(before, after):
                break
            found = rest._replace(before=before, after=after)
            if not (left.any() and right.any() and self._straight(before, after)):
                break
        assert found is not None
        return found

    def _straight(self, before: float, after: float) -> bool:
        """Whether the path has the same direction at two places."""
        q1 = self.inner.at(np.array([before, after]))[1]
        unit = q1 / np.linalg.norm(q1, axis=-1, keepdims=True)
        return bool(np.linalg.norm(unit[1] - unit[0]) <= STRAIGHT)

    def _edge(self, still: float, table: SpeedTable, beside: BoolArray, side: int, share: float) -> float:
        """Where the path just moves on one side of a rest, or beyond the path where it has no such side."""
        if not beside.any():
            return side * 2 * self.inner.duration
        places, speed = table.places[beside][::side], table.speed[beside][::side]
        least = share * speed.max()
        moving = float(places[np.argmax(speed >= least)])
        for _ in range(HALVES):
            middle = (still + moving) / 2
            if self._speed(np.array([middle]))[0] >= least:
                moving = middle
            else:
                still = middle
        return moving

    def _speed(self, s: FloatArray) -> FloatArray:
        found: FloatArray = np.linalg.norm(self.inner.at(s.ravel())[1], axis=-1).reshape(s.shape)
        return found

    def _length(self, start: FloatArray, width: FloatArray) -> FloatArray:
        s = start[:, None] + width[:, None] * self.nodes
        found: FloatArray = width * (self._density(s, self._speed(s)) @ self.weights)
        return found

    def _density(self, s: FloatArray, speed: FloatArray) -> FloatArray:
        v, (share, *_) = self._shares(s)
        return (1.0 - share) + share * (speed / v)  # (1), exact where it is small

    def _shares(self, s: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
        """v and φ with two derivatives."""
        k = np.clip(np.searchsorted(self.zones.begin, s, side="right") - 1, 0, None)
        begin, rise, fall, end, v = (part[k] for part in self.zones)
        up, down = _step((s - begin) / (rise - begin)), _step((end - s) / (end - fall))
        rates = [up[i] / (rise - begin) ** i + (-1) ** i * down[i] / (end - fall) ** i for i in (1, 2)]
        return v, (up[0] * down[0], rates[0], rates[1])  # one of them is 1 wherever the other one is not

    def place(self, sigma: FloatArray) -> FloatArray:
        """s at values of σ, by Newton steps from a table; where the path rests, by halves of the interval."""
        k = np.clip(np.searchsorted(self.lengths, sigma, side="right") - 1, 0, len(self.places) - 2)
        low, high = self.places[k], self.places[k + 1]
        wanted, whole = sigma - self.lengths[k], self.lengths[k + 1] - self.lengths[k]
        found = low + (high - low) * np.clip(wanted / np.maximum(whole, 1e-300), 0.0, 1.0)
        bottom, top, active = low.copy(), high.copy(), np.arange(len(sigma))
        for _ in range(_ROUNDS):
            s = found[active]
            error = self._length(low[active], s - low[active]) - wanted[active]
            bottom[active], top[active] = np.where(error <= 0, s, bottom[active]), np.where(error > 0, s, top[active])
            step = s - error / np.maximum(self._density(s, self._speed(s)), 1e-300)
            safe = (step > bottom[active]) & (step < top[active])
            near = np.abs(error) <= 1e-15 * self.lengths[-1]
            found[active] = np.where(near, s, np.where(safe, step, (bottom[active] + top[active]) / 2))
            active = active[~near & (np.abs(found[active] - s) > 1e-15 * self.inner.duration)]
            if not active.size:
                break
        return found

    def at(self, t: FloatArray) -> Rates:
        """By the parameter of the path."""
        s = self.place(t)
        moving = self._moving(s)
        q, (_, q1, q2, q3) = self.inner.at(s)[0], self.inner.at(moving)
        rho, rho1, rho2 = (part[:, None] for part in self._densities(moving, q1, q2, q3))
        first = q1 / rho  # (2)
        second = (q2 - rho1 * first) / rho**2
        third = (q3 - 3 * rho * rho1 * second - rho2 * first) / rho**3
        line = self.lines[np.minimum(np.searchsorted(self.rests.start, s, side="right"), len(self.lines) - 1)]
        straight = np.isfinite(line)  # without the rounding of (2) beside rests, and by arc length all along
        first = np.where(straight, line * self._shares(s)[0][:, None], first)
        return q, first, np.where(straight, 0.0, second), np.where(straight, 0.0, third)

    def _densities(self, s: FloatArray, q1: FloatArray, q2: FloatArray, q3: FloatArray) -> tuple[FloatArray, ...]:
        """ρ, ρ′ and ρ″ of (1)."""
        v, (share, share1, share2) = self._shares(s)
        speed = np.linalg.norm(q1, axis=-1)
        unit = q1 / np.maximum(speed, 1e-300)[:, None]
        speed1 = (unit * q2).sum(axis=-1)
        aside = q2 - unit * speed1[:, None]
        speed2 = (unit * q3).sum(axis=-1) + (aside * aside).sum(axis=-1) / np.maximum(speed, 1e-300)
        w, w1, w2 = speed / v - 1.0, speed1 / v, np.where(share, speed2 / v, 0.0)
        return (1.0 - share) + share * (speed / v), share1 * w + share * w1, share2 * w + 2 * share1 * w1 + share * w2

    def _moving(self, s: FloatArray) -> FloatArray:
        """The places, moved to where the path does not rest: to the side on which they are."""
        k = np.clip(np.searchsorted(self.rests.before, s, side="right") - 1, 0, None)
        start, _, before, after = (part[k] for part in self.rests)
        return np.where((s > before) & (s < after), np.where((s < start) | (after > self.inner.duration), before, after), s)


def _step(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """From 0 to 1, smooth to the third derivative, with the first two."""
    x = np.clip(x, 0.0, 1.0)
    y = x * (1.0 - x)
    return x**4 * (35.0 - 84.0 * x + 70.0 * x**2 - 20.0 * x**3), 140.0 * y**3, 420.0 * y**2 * (1.0 - 2.0 * x)


def without_rests(paths: Paths, *, turning: bool = True) -> tuple[Paths, dict[int, str]]:
    """Paths that rest nowhere, in other parameters where they do; and a sentence for each that does not move at all.

    Those that rest where they go back count where they may stop there: within limits of rates that takes time.
    """
    q1 = paths.at(paths.ends[:, None] * _LOOKS)[1]
    speed = np.linalg.norm(q1, axis=-1)
    most = speed.max(axis=1)
    still = {int(row): f"path: {_STILL}" for row in np.flatnonzero(~(most * paths.ends > checks.SMALLEST))}
    slow = speed.min(axis=1) <= STALLED * most
    slow |= ((q1[:, :-1] * q1[:, 1:]).sum(axis=-1) < 0).any(axis=1)
    if not slow.any():
        return paths, still
    rows = np.flatnonzero(slow).tolist()
    found = {row: _line_like(paths.n) if row in still else _moving(paths.motion(row), turning) for row in rows}
    if all(motion is None for motion in found.values()):
        return paths, still
    motions = [found.get(row) or paths.motion(row) for row in range(paths.count)]
    return MotionPaths(motions, bent=any(isinstance(one, MovingPath) and one.blended for one in motions)), still


_STILL = "it stays at one point, so that there is nothing to time. Give a path that moves."


def _moving(motion: Motion, turning: bool) -> Motion | None:
    table = SpeedTable(motion)
    rests = table.rests(turning)
    return MovingPath(motion, table, rests) if rests else None


def _line_like(n: int) -> Motion:
    """Any path that moves, in place of one that does not."""
    return SplinePaths(np.linspace(0.0, 1.0, 2)[None, :, None] * np.ones((1, 1, n))).motion(0)


__all__ = ["MovingPath", "without_rests"]
