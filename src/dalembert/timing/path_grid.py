"""Where a path is looked at: grid points, among them those at which a coordinate turns round, and places in between."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import FloatArray, frozen
from ..codegen import Kernel, build
from ..expr import ops, trace
from ..trajectory.motion import Rates
from .loop_joints import JointRates
from .path_shapes import Paths

BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]
WITHIN = 4  # places looked at inside of each interval; parabolas tell what is between them
_LEAST = 20  # intervals of a piece: on fewer, limits kept between grid points can cost several times the time
_CLOSER, _FEW, _COARSE = 24, 40, 500  # places where a piece of the path, or all of it, has fewer intervals: it bends within them
_BEFORE = 1e-12  # share of the path by which a place just before a jump is before it
_GRADED = 0.1  # of the grid points at either end lie closer to each other
_FINER = 4  # times as many places tell where a path turns
_TURNING, _MUCH = 0.5, 10.0  # the share of grid points that go there at most; half of it at so many rad
_SAME = 1e-4  # of an interval: joints that turn round together do so at places that differ by rounding
_STEPS = 8  # of Newton to a place where a coordinate turns round
_NEWTON = 3  # steps to it along a path that is no cubic there
_NEAR = 1e-3  # of the distance between grid points, from a rest to the next one
_BETWEEN = 8  # intervals from one corner to the next at least
_CORNER = 1e-6  # relative change of q′ that is a corner


class Grid(NamedTuple):
    """A path at N + 1 grid points.

    `left` and `right` are samples (P, N, n) at both ends of every interval, which differ beside jumps; `inside` those within,
    (P, N·within, n), in order. `corners` (P, N + 1) tells where q′ jumps, `shares`
    (P, N, within) how far into its interval each place within is. `nodes` are the samples at grid points, None where some jump.
    `lengths` are those of the intervals (P, N).
    """

    s: FloatArray
    lengths: FloatArray
    left: Rates
    right: Rates
    inside: Rates
    corners: BoolArray
    shares: FloatArray
    nodes: Rates | None = None

    @property
    def within(self) -> int:
        """How many places are looked at inside of each interval."""
        return self.shares.shape[-1]

    @property
    def points(self) -> Rates:
        """Samples at all grid points: where intervals begin, and at the end."""
        if self.nodes is not None:
            return self.nodes
        ends = zip(self.left, self.right, strict=True)
        return rates_of(tuple(np.concatenate([first, last[:, -1:]], axis=1) for first, last in ends))

    def at_ends(self, of: Callable[[Rates], Sequence[Any]]) -> tuple[list[Any], list[Any]]:
        """What a function of samples gives at the left and right ends of intervals; grid points are asked once, but for jumps."""
        if self.nodes is None:
            return list(of(self.left)), list(of(self.right))
        found = of(self.nodes)
        left, right = ([part if part is None else part[:, cut] for part in found] for cut in (slice(-1), slice(1, None)))
        return left, right


def grid_of(paths: Paths, intervals: int, *, closer: bool = False) -> Grid:
    """A grid of so many intervals, or more where the path has many pieces; `closer` has more places within each."""
    pieces = paths.breaks.shape[1] + 1
    N = max(intervals, _LEAST * pieces)
    s = paths.ends[:, None] * _denser_at_ends(N) if paths.smooth or paths.shared else _denser_at_turns(paths, N)
    taken = np.zeros(s.shape, dtype=bool)
    for row, places in enumerate(paths.breaks):
        move_to(s[row], taken[row], places[np.isfinite(places)])
    at_break = taken & (not paths.smooth)
    corners = _corners(paths, s, at_break)
    rests = corners.copy()
    rests[:, [0, -1]] = True
    _close_to_rests(s, taken, rests)
    taken |= rests
    nodes = paths.at(s)
    if not paths.shared and move_to_turns(paths, nodes, s, taken):
        nodes = paths.at(s)
    jumps, left, right = bool(at_break.any()), _only(nodes, slice(None, -1)), _only(nodes, slice(1, None))
    if jumps:
        right = before_jumps(paths, s, at_break, right)
    closer |= paths.bent or max(_FEW * pieces, _COARSE) > N
    shares = _shares(rests, _CLOSER if closer else WITHIN)
    lengths = np.diff(s, axis=1)
    between = (s[:, :-1, None] + lengths[..., None] * shares).reshape(len(s), -1)
    return Grid(s, lengths, left, right, paths.at(between), corners, shares, None if jumps else nodes)


@lru_cache(maxsize=64)
def _denser_at_ends(N: int) -> FloatArray:
    """Places from 0 to 1: even, but near both ends as the squares of even ones, as a motion from rest and to rest goes."""
    x = np.linspace(0.0, 1.0, N + 1)
    mirrored = np.minimum(x, 1 - x)
    rising = np.where(mirrored < _GRADED, mirrored**2 / (2 * _GRADED), mirrored - _GRADED / 2) / (1 - _GRADED)
    return frozen(np.where(x <= 0.5, rising, 1 - rising))


def _denser_at_turns(paths: Paths, N: int) -> FloatArray:
    """The same, with some of the points where a path turns sharply, as within a blend: an interval would not see it all."""
    fine = _FINER * N
    even = _denser_at_ends(fine)
    s = paths.ends[:, None] * even
    turned = turning(paths.at(s)[1])
    for row, places in enumerate(paths.breaks):
        at = np.searchsorted(s[row], places[np.isfinite(places)])
        turned[row, np.clip(at, 1, fine) - 1] = 0.0  # what turns there is a corner, and is passed at rest
    whole = np.concatenate([np.zeros((len(s), 1)), np.cumsum(turned, axis=1)], axis=1)
    share = _TURNING * whole[:, -1:] / (whole[:, -1:] + _MUCH)
    turned_share = share * whole / np.maximum(whole[:, -1:], 1e-300)
    corners = _corners(paths, np.nan_to_num(paths.breaks), np.isfinite(paths.breaks))
    found = np.empty((len(s), N + 1))
    for row, places in enumerate(s):
        stops = np.concatenate([[0.0], paths.breaks[row, corners[row]], places[-1:]])
        if len(stops) > 2:
            found[row] = _from_corner_to_corner(places, (1 - share[row]) * places / places[-1] + turned_share[row], stops, N)
        else:
            measure = (1 - share[row]) * np.linspace(0.0, 1.0, fine + 1) + turned_share[row]
            found[row] = np.interp(np.linspace(0.0, 1.0, N + 1), measure / measure[-1], places)
    found[:, -1] = paths.ends
    return found


def _from_corner_to_corner(s: FloatArray, measure: FloatArray, stops: FloatArray, N: int) -> FloatArray:
    """N intervals among pieces between corners, as a measure of s shares them out; each piece is denser at both its ends."""
    at = np.interp(stops, s, measure)
    widths = np.diff(at)
    least = min(_BETWEEN, N // len(widths))
    counts = least + ((N - least * len(widths)) * widths / widths.sum()).astype(int)
    counts[np.argmax(counts)] += N - counts.sum()
    s, measure = np.append(s, stops[1:-1]), np.append(measure, at[1:-1])
    order = np.argsort(s, kind="stable")
    wanted = [first + width * _denser_at_ends(int(n))[:-1] for first, width, n in zip(at, widths, counts, strict=False)]
    found: FloatArray = np.interp(np.concatenate([*wanted, at[-1:]]), measure[order], s[order])
    found[np.concatenate([[0], np.cumsum(counts)])] = stops
    return found


def turning(q1: FloatArray) -> FloatArray:
    """By which angle in joint space q′ (..., K, n) turns from each place to the next [rad], (..., K − 1); zero turns nowhere."""
    size = np.linalg.norm(q1, axis=-1, keepdims=True)
    unit = q1 / np.where(size > 0, size, 1.0)
    found: FloatArray = 2 * np.arcsin(np.clip(np.linalg.norm(np.diff(unit, axis=-2), axis=-1) / 2, 0.0, 1.0))
    return found * ((size[..., :-1, 0] > 0) & (size[..., 1:, 0] > 0))


def _close_to_rests(s: FloatArray, taken: BoolArray, rests: BoolArray) -> None:
    """Put the grid points beside a rest very near to it: at rest itself dry friction may act either way, which costs time."""
    for row, k in zip(*np.nonzero(rests), strict=True):
        for j in (k - 1, k + 1):
            if 0 < j < s.shape[1] - 1 and not taken[row, j] and not rests[row, j]:
                s[row, j], taken[row, j] = s[row, k] + _NEAR * (s[row, j] - s[row, k]), True


def _shares(rests: BoolArray, within: int) -> FloatArray:
    """Which parts of an interval lie before its places: even ones; beside rest, where speeds go with the root, their squares.

    Many places are closer to each other at both ends: a profile that nearly stops there leaves again within little of it.
    """
    even = np.arange(1, within + 1) / (within + 1)
    inner = even if within == WITHIN else (1 - np.cos(np.pi * even)) / 2
    after, before = rests.copy(), rests.copy()
    after[:, 1:] |= rests[:, :-1]  # and one interval further, the first one being so short
    before[:, :-1] |= rests[:, 1:]
    found: FloatArray = np.empty((*rests[:, 1:].shape, within))
    found[:], found[before[:, 1:]] = inner, 1 - (1 - even) ** 2
    found[after[:, :-1]] = even**2
    return found


def rates_of(parts: tuple[FloatArray, ...]) -> Rates:
    """The same four arrays, as their type has it."""
    q, q1, q2, q3 = parts
    return q, q1, q2, q3


def _only(rates: Rates, part: slice) -> Rates:
    q, q1, q2, q3 = (one[:, part] for one in rates)
    return q, q1, q2, q3


def move_to(s: FloatArray, taken: BoolArray, places: FloatArray) -> None:
    """Put grid points on places, each on the nearest that is free; a place where one is already, but for rounding, has it."""
    points = s.tolist()  # few places of many: faster one by one in a list
    last = len(points) - 1
    close = _SAME * (points[-1] - points[0]) / last
    for place in places.tolist():
        k = bisect_left(points, place)
        beside = [j for j in (k - 1, k) if 0 <= j <= last]
        if any(taken[j] and abs(points[j] - place) < close for j in beside):
            continue
        near = [j for j in beside if 0 < j < last and not taken[j] and points[j - 1] < place < points[j + 1]]
        if near:
            j = min(near, key=lambda j: abs(points[j] - place))
            s[j], taken[j], points[j] = place, True, place


def move_to_turns(paths: Paths, nodes: Rates, s: FloatArray, taken: BoolArray) -> bool:
    """Put grid points where a coordinate turns round, q′_i = 0: there its dry friction jumps. Whether there are any."""
    rows, places = exact_turns(paths, s, nodes[1], nodes[2], None if paths.smooth else _coordinate_rates)
    for row in sorted(set(rows.tolist())):
        move_to(s[row], taken[row], places[rows == row])
    return bool(rows.size)


def _coordinate_rates(at: Rates) -> tuple[FloatArray, FloatArray]:
    return at[1], at[2]


def exact_turns(
    paths: Paths, s: FloatArray, x1: FloatArray, x2: FloatArray, rates: JointRates | None
) -> tuple[IndexArray, FloatArray]:
    """Paths and places where x′ is zero between grid points, by their cubic, then by Newton steps where it is another curve.

    Friction that turns round a thousandth of an interval beside a grid point is as much of an excess as anywhere else.
    """
    rows, intervals, joints, places = turns(x1, x2, s)
    if rates is None or not rows.size:
        return rows, places
    column = np.arange(len(rows)) - np.searchsorted(rows, rows)  # paths are in order
    for _ in range(_NEWTON):
        order = np.lexsort((places, rows))
        intervals, joints, places = intervals[order], joints[order], places[order]
        at = np.repeat(paths.ends[:, None], int(column.max()) + 1, axis=1)
        at[rows, column] = places
        x1, x2 = (part[rows, column, joints] for part in rates(paths.at(at)))
        places = np.clip(places - x1 / np.where(x2 == 0, np.inf, x2), s[rows, intervals], s[rows, intervals + 1])
    return rows, places


def turns(q1: FloatArray, q2: FloatArray, s: FloatArray) -> tuple[IndexArray, IndexArray, IndexArray, FloatArray]:
    """Where q′ (P, N + 1, n) is zero between grid points, by a cubic through it and q″: paths, intervals, joints and places."""
    h = np.diff(s, axis=1)[..., None]
    a, b = q1[:, :-1], q1[:, 1:]
    rows, intervals, joints = at = np.unravel_index(np.flatnonzero(a * b < 0), a.shape)
    width = np.broadcast_to(h, a.shape)[at]
    share = _zero_of_cubic()(a[at], b[at], q2[:, :-1][at] * width, q2[:, 1:][at] * width)
    return rows, intervals, joints, s[rows, intervals] + share * width


@lru_cache(maxsize=1)
def _zero_of_cubic() -> Kernel:
    """The zero between 0 and 1 of the cubic with these values and slopes at both ends, by safe Newton steps."""

    def zero(a: Any, b: Any, da: Any, db: Any) -> Any:
        low, high, x = 0.0, 1.0, ops.divide(a, a - b)
        c2, c3 = 3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db
        for _ in range(_STEPS):
            value = ((c3 * x + c2) * x + da) * x + a
            below = ops.less(0.0, value * a)
            low, high = ops.where(below, x, low), ops.where(below, high, x)
            slope = (3.0 * c3 * x + 2.0 * c2) * x + da
            step = x - ops.divide(value, ops.where(slope, slope, 1e-300))
            x = ops.where(ops.less_equal(low, step) * ops.less_equal(step, high), step, 0.5 * (low + high))
        return x

    return build(trace(zero, dict.fromkeys(("a", "b", "da", "db"), ()), ["zero"], name="zero_of_cubic"))


def _corners(paths: Paths, s: FloatArray, at_break: BoolArray) -> BoolArray:
    """The grid points among breaks at which q′ jumps."""
    if not at_break.any():
        return np.zeros(s.shape, dtype=bool)
    before, after = paths.at(just_before(paths, s, at_break))[1], paths.at(s)[1]
    sizes = np.abs(before).max(axis=-1) + np.abs(after).max(axis=-1)
    found: BoolArray = at_break & (np.abs(after - before).max(axis=-1) > _CORNER * sizes)
    return found


def just_before(paths: Paths, s: FloatArray, at_break: BoolArray) -> FloatArray:
    """The places, those at breaks moved a little towards the start."""
    return np.where(at_break, s - _BEFORE * paths.ends[:, None], s)


def before_jumps(paths: Paths, s: FloatArray, at_break: BoolArray, right: Rates) -> Rates:
    """Samples where intervals end, those at jumps taken just before them."""
    before = paths.at(just_before(paths, s, at_break))
    at = at_break[:, 1:, None]
    q, q1, q2, q3 = (np.where(at, part[:, 1:], ends) for ends, part in zip(right, before, strict=True))
    return q, q1, q2, q3


__all__ = [
    "WITHIN",
    "BoolArray",
    "Grid",
    "IndexArray",
    "before_jumps",
    "exact_turns",
    "grid_of",
    "just_before",
    "move_to",
    "move_to_turns",
    "rates_of",
    "turning",
    "turns",
]
