"""Geometric paths q(s), 0 ≤ s ≤ S: what can be timed, and how it is read.

A path is a `Motion` whose time is taken for s, several of them, a batch on one clock, or points, through which a cubic spline is
laid (chord length from 0 to 1).
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


class Paths(Protocol):
    """P paths of n coordinates; `shared` tells that all are asked at the same s."""

    count: int
    n: int
    shared: bool
    smooth: bool  # whether q″ is continuous
    bent: bool  # whether q″ changes within few intervals of a grid
    ends: FloatArray  # S of each, shape (P,)
    breaks: FloatArray  # inner places where a derivative may jump, shape (P, b)

    def at(self, s: FloatArray) -> Rates:
        """q and its first three derivatives at s of shape (P, K), each of shape (P, K, n)."""

    def motion(self, row: int) -> Motion:
        """One of them."""


class MotionPaths:
    """Motions, each at its own s."""

    shared, smooth = False, False

    def __init__(self, motions: Sequence[Motion], *, bent: bool = False) -> None:
        self.motions, self.count, self.n, self.bent = tuple(motions), len(motions), motions[0].n, bent
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

    shared, smooth, bent = True, False, False

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

    shared, smooth, bent = False, True, False

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


def part_of(paths: Paths, first: int, last: int) -> Paths:
    """Some of the paths."""
    if first == 0 and last == paths.count:
        return paths
    if isinstance(paths, SplinePaths):
        return paths.rows(slice(first, last))
    if isinstance(paths, BatchPaths):
        return _Shared(paths, slice(first, last))
    return MotionPaths([paths.motion(row) for row in range(first, last)], bent=paths.bent)


def one_path(paths: Paths, row: int) -> Paths:
    """One of the paths, on a clock of its own."""
    return (
        paths.rows(slice(row, row + 1)) if isinstance(paths, SplinePaths) else MotionPaths([paths.motion(row)], bent=paths.bent)
    )


class _Shared:
    """Some of a batch of motions on one clock."""

    shared, smooth, bent = True, False, False

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


__all__ = ["MotionPaths", "Paths", "SplinePaths", "one_path", "part_of", "read_paths"]
