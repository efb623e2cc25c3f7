"""Geometric paths q(s), 0 ≤ s ≤ S: what can be timed, and how it is read.

A path is a `Motion` whose time is taken for s, several of them, a batch on one clock, or points, through which a cubic spline is
laid (chord length from 0 to 1). Where a motion rests, q′ = 0, no speed ṡ moves the robot: such a path is timed by its arc length
σ = ∫ |q′| ds in joint space, with

    dq/dσ = q′ / |q′|,    d²q/dσ² = (q″ − t (t · q″)) / |q′|²,   t = dq/dσ                                (1)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ShapeError
from ..trajectory import Motion
from ..trajectory.motion import Rates
from .cubic_splines import cubics_through

_STALLED = 1e-3  # share of the largest |q′| below which a path counts as resting
_LOOKS = checks.frozen(np.linspace(0.0, 1.0, 97))  # places of a path at which its speed is looked at
_RESTS = 1e-4  # and the share at which its direction is read beside such a place
_RESTED = 1e-7  # and below which it does between these places, though it is faster at them: others turn, and go on
_HALVES = 40  # of the way from there to a place that moves
_PIECES, _ROUNDS = 400, 60  # of the table of arc lengths, and most Newton steps from it


class Paths(Protocol):
    """P paths of n coordinates; `shared` tells that all are asked at the same s."""

    count: int
    n: int
    shared: bool
    smooth: bool  # whether q″ is continuous
    ends: FloatArray  # S of each, shape (P,)
    breaks: FloatArray  # inner places where a derivative may jump, shape (P, b)

    def at(self, s: FloatArray) -> Rates:
        """q and its first three derivatives at s of shape (P, K), each of shape (P, K, n)."""

    def motion(self, row: int) -> Motion:
        """One of them."""


class MotionPaths:
    """Motions, each at its own s."""

    shared, smooth = False, False

    def __init__(self, motions: Sequence[Motion]) -> None:
        self.motions, self.count, self.n = tuple(motions), len(motions), motions[0].n
        self.ends = np.array([motion.duration for motion in motions])
        inner = [motion.breaks[1:-1] for motion in motions]
        self.breaks = np.full((self.count, max(map(len, inner))), np.nan)
        for row, places in enumerate(inner):
            self.breaks[row, : len(places)] = places

    def at(self, s: FloatArray) -> Rates:
        """At s of shape (P, K)."""
        found = [motion.at(np.clip(row, 0.0, motion.duration)) for motion, row in zip(self.motions, s, strict=True)]
        q, q1, q2, q3 = (np.stack(part) for part in zip(*found, strict=True))
        return q, q1, q2, q3

    def motion(self, row: int) -> Motion:
        """One of them."""
        return self.motions[row]


class BatchPaths:
    """A batch of motions on one clock, all asked at the same s."""

    shared, smooth = True, False

    def __init__(self, motion: Motion) -> None:
        self.whole, self.n = motion, motion.n
        self.count = int(np.prod(motion.shape[:-1]))
        self.ends = np.full(self.count, motion.duration)
        self.breaks = np.tile(motion.breaks[1:-1], (self.count, 1))

    def at(self, s: FloatArray) -> Rates:
        """At s of shape (P, K)."""
        found = self.whole.at(np.clip(s[0], 0.0, self.whole.duration))
        q, q1, q2, q3 = (part.reshape(self.count, *part.shape[-2:]) for part in found)
        return q, q1, q2, q3

    def motion(self, row: int) -> Motion:
        """One of them."""
        return _OneOf(self.whole, row)


class _OneOf(Motion):
    """One motion of a batch."""

    def __init__(self, whole: Motion, row: int) -> None:
        self.whole, self.row, self.breaks, self.shape, self.about = whole, row, whole.breaks, whole.shape[-1:], whole.about

    def at(self, t: FloatArray) -> Rates:
        """By the parameter of the path."""
        q, q1, q2, q3 = (part.reshape(-1, *part.shape[-2:])[self.row] for part in self.whole.at(t))
        return q, q1, q2, q3


class SplinePaths:
    """Cubic splines through points (P, W, n), each over its own chord length from 0 to 1."""

    shared, smooth = False, True

    def __init__(self, points: FloatArray) -> None:
        self.count, _, self.n = points.shape
        self.ends = np.ones(self.count)
        lengths = np.cumsum(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=1)
        self.knots = np.concatenate([np.zeros((self.count, 1)), lengths / lengths[:, -1:]], axis=1)
        self.breaks = self.knots[:, 1:-1]
        self.coefficients = _with_derivatives(cubics_through(self.knots, points))

    def at(self, s: FloatArray) -> Rates:
        """At s of shape (P, K), in order."""
        found = np.empty((*s.shape, 4 * self.n))
        powers = np.empty((s.shape[1], 4))
        for row in range(self.count):
            places, knots = s[row], self.knots[row]
            cuts = [0, *np.searchsorted(places, knots[1:-1]).tolist(), len(places)]  # places are in order
            h = places - np.repeat(knots[:-1], np.diff(cuts))
            powers[:, 0] = 1.0
            for k in range(3):
                np.multiply(powers[:, k], h, out=powers[:, k + 1])
            for piece, (first, last) in enumerate(pairwise(cuts)):
                np.matmul(powers[first:last], self.coefficients[row, piece], out=found[row, first:last])
        q, q1, q2, q3 = (found[..., k * self.n : (k + 1) * self.n] for k in range(4))
        return q, q1, q2, q3

    def rows(self, part: slice) -> SplinePaths:
        """Some of them."""
        found = object.__new__(SplinePaths)
        found.n, found.ends, found.breaks = self.n, self.ends[part], self.breaks[part]
        found.knots, found.coefficients, found.count = self.knots[part], self.coefficients[part], len(found.ends)
        return found

    def motion(self, row: int) -> Motion:
        """One of them."""
        return _SplineMotion(self.rows(slice(row, row + 1)))


def _with_derivatives(rising: FloatArray) -> FloatArray:
    """From coefficients (P, pieces, 4, n) by rising power to (P, pieces, 4, 4n): by power, value and derivatives."""
    found = np.zeros((*rising.shape[:3], 4, rising.shape[-1]))
    found[..., 0, :] = rising
    for order in range(1, 4):
        found[..., : 4 - order, order, :] = found[..., 1 : 5 - order, order - 1, :] * np.arange(1.0, 5.0 - order)[:, None]
    return found.reshape(*rising.shape[:3], -1)


class _SplineMotion(Motion):
    """One of the splines."""

    def __init__(self, own: SplinePaths) -> None:
        self.own, self.breaks, self.shape = own, checks.frozen(own.knots[0]), (own.n,)

    def at(self, t: FloatArray) -> Rates:
        """By the parameter of the path, in any order."""
        if (t[1:] >= t[:-1]).all():
            q, q1, q2, q3 = (part[0] for part in self.own.at(t[None]))
        else:
            order = np.argsort(t, kind="stable")
            back = np.argsort(order)
            q, q1, q2, q3 = (part[0, back] for part in self.own.at(t[None, order]))
        return q, q1, q2, q3


def _turning_back(motion: Motion, share: float) -> FloatArray:
    """Where a motion goes back, between the places of a table, at less than a share of its largest |q′|."""
    s = np.unique(np.concatenate([np.linspace(0.0, motion.duration, _PIECES + 1), motion.breaks]))
    q1 = motion.at(s)[1]
    k = np.flatnonzero((q1[:-1] * q1[1:]).sum(axis=-1) < 0)
    if not k.size:
        return s[:0]
    low, high, along = s[k], s[k + 1], q1[k + 1] - q1[k]
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        before = (motion.at(middle)[1] * along).sum(axis=-1) < 0
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    speed = np.linalg.norm(motion.at(high)[1], axis=-1)
    found: FloatArray = high[speed <= share * np.linalg.norm(q1, axis=-1).max()]
    return found


class ArcLengthMotion(Motion):
    """A motion by its arc length in joint space, in place of its time: a path that rests nowhere. Equation (1)."""

    def __init__(self, motion: Motion) -> None:
        self.inner, self.shape, self.about = motion, motion.shape, motion.about
        nodes, weights = np.polynomial.legendre.leggauss(6)
        self.nodes, self.weights = (nodes + 1) / 2, weights / 2
        self.stops = np.unique(np.concatenate([motion.breaks, _turning_back(motion, _RESTS)]))  # corners by arc length
        self.places = np.unique(np.concatenate([np.linspace(0.0, motion.duration, _PIECES + 1), self.stops]))
        pieces = self._length(self.places[:-1], np.diff(self.places))
        self.lengths = np.concatenate([[0.0], np.cumsum(pieces)])
        self.breaks = checks.frozen(np.interp(self.stops, self.places, self.lengths))
        speeds = self._speed(self.places)
        self.least = _RESTS * speeds.max()

    def _speed(self, s: FloatArray) -> FloatArray:
        found: FloatArray = np.linalg.norm(self.inner.at(s.ravel())[1], axis=-1).reshape(s.shape)
        return found

    def _length(self, start: FloatArray, width: FloatArray) -> FloatArray:
        found: FloatArray = width * (self._speed(start[:, None] + width[:, None] * self.nodes) @ self.weights)
        return found

    def place(self, sigma: FloatArray) -> FloatArray:
        """s at arc lengths, by Newton steps from a table; where the path rests, by halves of the interval."""
        k = np.clip(np.searchsorted(self.lengths, sigma, side="right") - 1, 0, len(self.places) - 2)
        low, high = self.places[k], self.places[k + 1]
        wanted, whole = sigma - self.lengths[k], self.lengths[k + 1] - self.lengths[k]
        found = low + (high - low) * np.clip(wanted / np.maximum(whole, 1e-300), 0.0, 1.0)
        bottom, top, active = low.copy(), high.copy(), np.arange(len(sigma))
        for _ in range(_ROUNDS):
            s = found[active]
            error = self._length(low[active], s - low[active]) - wanted[active]
            bottom[active], top[active] = np.where(error <= 0, s, bottom[active]), np.where(error > 0, s, top[active])
            step = s - error / np.maximum(self._speed(s), 1e-300)
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
        q = self.inner.at(s)[0]
        _, q1, q2, q3 = self.inner.at(self._moving(s))
        speed = np.linalg.norm(q1, axis=-1, keepdims=True)
        unit = q1 / speed
        along = (unit * q2).sum(-1, keepdims=True)
        bend = (q2 - unit * along) / speed**2  # (1)
        third = q3 - unit * (unit * q3).sum(-1, keepdims=True)
        turn = third / speed**3 - 3 * along * bend / speed**2 - unit * (bend * bend).sum(-1, keepdims=True)
        return q, unit, bend, turn

    def _moving(self, s: FloatArray) -> FloatArray:
        """The places, moved to where the path does not rest."""
        slow = self._speed(s) < self.least
        if not slow.any():
            return s
        fine = np.linspace(0.0, self.inner.duration, 20 * _PIECES + 1)
        moving = fine[self._speed(fine) >= 2 * self.least]
        k = np.searchsorted(moving, s)
        before, after = moving[np.clip(k - 1, 0, None)], moving[np.clip(k, None, len(moving) - 1)]
        stops = self.stops[1:-1]
        stop = stops[np.clip(np.searchsorted(stops, before), 0, len(stops) - 1)] if len(stops) else np.full_like(s, -1.0)
        middle = np.where((stop > before) & (stop < after), stop, (before + after) / 2)
        beside = np.where((s < middle) & (k > 0) | (k == len(moving)), before, after)
        found = s.copy()
        found[slow] = self._edge(s[slow], beside[slow])
        return found

    def _edge(self, slow: FloatArray, moving: FloatArray) -> FloatArray:
        """Between places where the path rests and others where it moves, those where it just does."""
        for _ in range(_HALVES):
            middle = (slow + moving) / 2
            moves = self._speed(middle) >= self.least
            slow, moving = np.where(moves, slow, middle), np.where(moves, middle, moving)
        return moving


def read_paths(path: Any, n: int) -> tuple[Paths, tuple[int, ...], dict[int, str]]:
    """Paths of n coordinates out of what was given, the batch axes of the results, and what is wrong with single rows."""
    if isinstance(path, Motion):
        _check_coordinates(path.n, n, repr(path))
        batch = path.shape[:-1]
        return (BatchPaths(path) if batch else MotionPaths([path])), batch, {}
    if isinstance(path, Sequence) and len(path) and all(isinstance(one, Motion) for one in path):
        for one in path:
            _check_coordinates(one.n, n, repr(one))
            if one.shape[:-1]:
                raise ShapeError(f"path: {one!r} found in a list; single motions are expected there, or one batch by itself.")
        return MotionPaths(path), (len(path),), {}
    points = checks.numbers("path", path, "a Motion, a list of them or points (..., W, n) are expected", ShapeError)
    if points.ndim < 2 or points.shape[-1] != n or points.shape[-2] < 2:
        raise ShapeError(f"path: shape {points.shape} found, (..., W, {n}) expected: two points or more of {n} coordinates.")
    rows = np.array(points, dtype=float).reshape(-1, *points.shape[-2:])
    bad, same = _wrong(rows)
    broken = {int(row): _what_is_wrong(rows[row]) for row in np.flatnonzero(bad.any(axis=1) | same.any(axis=1))}
    for row in broken:
        rows[row] = np.linspace(0.0, 1.0, rows.shape[1])[:, None]  # any path will do in its place
    return SplinePaths(rows), points.shape[:-2], broken


def _wrong(points: FloatArray) -> tuple[Any, Any]:
    """Which points (..., W, n) are no finite ones, and which are the same as those before them: no path leads through these."""
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.linalg.norm(np.diff(points, axis=-2), axis=-1)
    return ~(np.abs(points) <= checks.LARGEST).all(axis=-1), steps < checks.SMALLEST


def _what_is_wrong(points: FloatArray) -> str:
    """Why no path leads through these points."""
    bad, same = map(np.flatnonzero, _wrong(points))
    if bad.size:
        return f"path: point {bad[0] + 1} is {checks.describe(points[bad[0]])}; finite numbers are expected."
    return f"path: points {same[0] + 1} and {same[0] + 2} are the same, so that the path does not move. Leave one of them out."


def _check_coordinates(found: int, n: int, subject: str) -> None:
    if found != n:
        raise ShapeError(f"path: {subject} found, but the system has {n} coordinates. Was this path made for another arm?")


def without_rests(paths: Paths, *, turning: bool = True) -> tuple[Paths, dict[int, str]]:
    """Paths by arc length, those among them that rest somewhere; and a sentence for each that does not move at all.

    Those that rest where they go back count where they may stop there: within limits of rates that takes time.
    """
    s = paths.ends[:, None] * _LOOKS
    q1 = paths.at(s)[1]
    speed = np.linalg.norm(q1, axis=-1)
    most = speed.max(axis=1)
    still = {int(row): f"path: {_STILL}" for row in np.flatnonzero(~(most * paths.ends > checks.SMALLEST))}
    resting = speed.min(axis=1) <= _STALLED * most
    back = ((q1[:, :-1] * q1[:, 1:]).sum(axis=-1) < 0).any(axis=1) & turning
    for row in np.flatnonzero(back):
        resting[row] |= _turning_back(paths.motion(int(row)), _RESTED).size > 0
    if not resting.any():
        return paths, still
    found = [paths.motion(row) for row in range(paths.count)]
    for row in np.flatnonzero(resting):
        found[row] = _line_like(paths.n) if row in still else ArcLengthMotion(found[row])
    return MotionPaths(found), still


_STILL = "it stays at one point, so that there is nothing to time. Give a path that moves."


def _line_like(n: int) -> Motion:
    """Any path that moves, in place of one that does not."""
    return SplinePaths(np.linspace(0.0, 1.0, 2)[None, :, None] * np.ones((1, 1, n))).motion(0)


def part_of(paths: Paths, first: int, last: int) -> Paths:
    """Some of the paths."""
    if first == 0 and last == paths.count:
        return paths
    if isinstance(paths, SplinePaths):
        return paths.rows(slice(first, last))
    if isinstance(paths, BatchPaths):
        return _Shared(paths, slice(first, last))
    return MotionPaths([paths.motion(row) for row in range(first, last)])


def one_path(paths: Paths, row: int) -> Paths:
    """One of the paths, on a clock of its own."""
    return paths.rows(slice(row, row + 1)) if isinstance(paths, SplinePaths) else MotionPaths([paths.motion(row)])


class _Shared:
    """Some of a batch of motions on one clock."""

    shared, smooth = True, False

    def __init__(self, whole: BatchPaths, rows: slice) -> None:
        self.whole, self.rows, self.n = whole, rows, whole.n
        self.ends, self.breaks = whole.ends[rows], whole.breaks[rows]
        self.count = len(self.ends)

    def at(self, s: FloatArray) -> Rates:
        """At s of shape (P, K)."""
        q, q1, q2, q3 = (part[self.rows] for part in self.whole.at(s))
        return q, q1, q2, q3

    def motion(self, row: int) -> Motion:
        """One of them."""
        return self.whole.motion(self.rows.start + row)


__all__ = ["ArcLengthMotion", "MotionPaths", "Paths", "SplinePaths", "one_path", "part_of", "read_paths", "without_rests"]
