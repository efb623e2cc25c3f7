"""How far a profile goes beyond its limits within each interval, as one compiled function of the interval.

At the places within an interval and at its ends every row of limits has a value; parabolas through three places in a row give
the largest one in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen import Kernel, build
from ..expr import ops, trace
from .speed_program import RowKinds
from .table_program import rows_of

SHARP = 1e-2  # of a limit: a facet that bends by more between three places turns about, and no parabola runs through them
_SLOW = 1e-12  # the least speed that limits of power are divided by, and the least limit that an excess is measured by


def _rates(profile: Sequence[Any], share: Any) -> tuple[Any, Any]:
    """ṡ and s̈ at a share of the interval; `profile` is (x, u, w, h)."""
    x, u, w, h = profile
    sdd = u + w * (1.0 - 2.0 * share)
    return ops.sqrt(ops.maximum(x + 2.0 * h * share * (u + w * (1.0 - share)), 0.0)), sdd


def _extremes(values: Sequence[Any], sharp: float | None = None) -> tuple[Any, Any]:
    """The largest and the least of some values in a row, and of the parabolas through every three that bend less than `sharp`."""
    top, bottom = ops.maximum(values[0], values[-1]), ops.minimum(values[0], values[-1])
    for before, here, after in zip(values, values[1:], values[2:], strict=False):
        bend, rise = 2.0 * here - before - after, after - before
        size = ops.absolute(bend)
        inside = ops.less(ops.absolute(rise), 2.0 * size)
        if sharp is not None:
            inside = inside * ops.less(size, sharp)
        vertex = here + ops.where(inside, ops.divide(rise * rise, 8.0 * ops.where(inside, bend, 1.0)), 0.0)
        top, bottom = ops.maximum(top, vertex), ops.minimum(bottom, vertex)  # where `here` is the largest or least, it counts
    return top, bottom


def _function(kinds: RowKinds) -> Any:
    R = kinds.rows

    def function(profile: Any, shares: Any, slowness: Any, ends: Any, g0: Any, g1: Any, lo: Any, hi: Any, *places: Any) -> Any:
        """`ends` is a row of the solver's table, `g0` and `g1` gravity at both ends, `places` m, c, v, g, d and p within."""
        rates = [_rates(profile, share) for share in (0.0, *shares, 1.0)]
        over, under, use, worst = [], [], [], []
        d = places[4]  # at its ends an interval has the friction that leads there from within: beyond, it may have turned round
        first = ops.divide(shares[0], shares[1] - shares[0])
        last = ops.divide(1.0 - shares[-1], shares[-1] - shares[-2])
        for i in range(R):
            still = g0[i] + _ahead(d[1][i], d[0][i], first), g1[i] + _ahead(d[-2][i], d[-1][i], last)
            at_ends = [[ends[(5 * k + j) * R + i] for j in range(3)] + [still[k]] for k in range(2)]
            within = [[m[i], c[i], v[i], g[i] + d[i]] for m, c, v, g, d in zip(*places[:5], strict=True)]
            samples = [at_ends[0], *within, at_ends[1]]
            if p := _falling(kinds, i, ends, places):
                more, less, share, size = _falling_row(samples, p, rates, lo[i], hi[i])
                over.append(more * size)
                under.append(less * size)
                worst.append(ops.maximum(more, less))
            else:
                more, less, share = _row(samples, rates, lo[i], hi[i], SHARP if i < kinds.facets else None)
                over.append(more)
                under.append(less)
                worst.append(ops.divide(ops.maximum(more, less), _size(lo[i], hi[i])))
            use.append(share)
        fast = ops.maximum(_extremes([z * top - 1.0 for (z, _), top in zip(rates, slowness, strict=True)])[0], 0.0)
        return [*over, *under], [reduce(ops.maximum, worst, fast)], [fast], use, [_stops(profile)]

    return function


def _ahead(before: Any, here: Any, share: Any) -> Any:
    """Where a line through two values leads, a share of their distance further on."""
    return here + share * (here - before)


def _falling(kinds: RowKinds, i: int, ends: Any, places: Sequence[Any]) -> list[Any]:
    """p at the ends and the places within of a row whose limits fall with the speed; nothing for others."""
    j = i - kinds.plain
    if j < 0:
        return []
    first, last = (ends[10 * kinds.rows + side * kinds.falling + j] for side in range(2))
    return [first, *(place[j] for place in places[5]), last]


def _size(lo: Any, hi: Any) -> Any:
    """What an excess is measured by: the smaller of both limits."""
    return ops.maximum(ops.minimum(ops.absolute(lo), ops.absolute(hi)), _SLOW)


def _stops(profile: Any) -> Any:
    """Whether ṡ², a parabola, comes near to zero, or below, within the interval, though it does not at its ends."""
    x, u, w, h = profile
    a, bent = u + w, ops.less(w, 0.0)
    at = ops.divide(a * h, 2.0 * ops.where(bent, w, 1.0))
    low = ops.less(x + a * at, 0.25 * ops.minimum(x, x + 2.0 * h * u))
    return bent * ops.less(0.0, at) * ops.less(at, h) * low


def _values(samples: list[Any], rates: list[Any]) -> list[Any]:
    """One row at each place."""
    return [m * u + (c * z + v) * z + g for (m, c, v, g), (z, u) in zip(samples, rates, strict=True)]


def _row(samples: list[Any], rates: list[Any], lo: Any, hi: Any, sharp: float | None) -> tuple[Any, Any, Any]:
    """How far one row is above and below its limits, and the share of them that it uses at most."""
    values = _values(samples, rates)
    top, bottom = _extremes(values, sharp)
    middle = 0.5 * (lo + hi)
    farthest = reduce(ops.maximum, [ops.absolute(value - middle) for value in values[1:-1]])
    return ops.maximum(top - hi, 0.0), ops.maximum(lo - bottom, 0.0), ops.divide(farthest, 0.5 * (hi - lo))


def _falling_row(samples: list[Any], p: list[Any], rates: list[Any], lo: Any, hi: Any) -> tuple[Any, Any, Any, Any]:
    """The same for limits that fall with the speed, as shares of what they are at the larger speed, which comes last.

    They grow beyond all measure near rest, and where a coordinate turns round: as a share of them a row is smooth.
    """
    above, below, use = [], [], 0.0
    for k, (value, (z, _)) in enumerate(zip(_values(samples, rates), rates, strict=True)):
        above.append(ops.divide((value - hi) * z, p[k]) - 1.0)
        below.append(ops.divide((lo - value) * z, p[k]) - 1.0)
        if 0 < k < len(samples) - 1:
            room = ops.divide(p[k], ops.maximum(z, _SLOW))
            use = ops.maximum(use, ops.divide(ops.absolute(value - 0.5 * (lo + hi)), 0.5 * (hi - lo) + room))
    more, less = (ops.maximum(_extremes(side)[0], 0.0) for side in (above, below))
    return more, less, use, ops.divide(reduce(ops.minimum, p), ops.maximum(ops.maximum(rates[0][0], rates[-1][0]), _SLOW))


@lru_cache(maxsize=64)
def excess_kernel(kinds: RowKinds, within: int) -> Kernel:
    """(profile, shares, slowness, ends, g0, g1, lo, hi, m, c, v, g, d, p) of intervals -> beyond, worst, fast, use, stops.

    `beyond` has rows above their limits and then those below; `worst` is relative to limits, of rows and speeds.
    """
    inputs: dict[str, tuple[int, ...]] = {"profile": (4,), "shares": (within,), "slowness": (within + 2,), "ends": (kinds.width,)}
    inputs |= dict.fromkeys(("g0", "g1", "lo", "hi"), (kinds.rows,)) | dict.fromkeys("mcvgd", (within, kinds.rows))
    if kinds.falling:
        inputs["p"] = (within, kinds.falling)
    return build(trace(_function(kinds), inputs, ["beyond", "worst", "fast", "use", "stops"], name="limit_excess"))


class Intervals(NamedTuple):
    """What is looked at: of every interval numbers of its profile, shares of its places, slowness there and at its ends, its
    row of the solver's table, gravity at its ends, limits, and m, c, v, g, d and p at the places within, each of shape
    (P, N, ...).
    """

    profile: FloatArray
    shares: FloatArray
    slowness: FloatArray
    ends: FloatArray
    g0: FloatArray
    g1: FloatArray
    lo: FloatArray
    hi: FloatArray
    places: tuple[FloatArray, ...]


def excess_row_by_row(kinds: RowKinds, given: Intervals, threads: int | None) -> list[FloatArray]:
    """The same results by a kernel for one row at a time: of many places a kernel for all rows takes seconds to compile."""
    facets, plain, falling = slice(kinds.facets), slice(kinds.facets, kinds.plain), slice(kinds.plain, kinds.rows)
    found = [_rows(RowKinds(1, facets=1), facets, kinds, given, threads)] if kinds.facets else []
    found += [_rows(RowKinds(1), plain, kinds, given, threads)] if kinds.plain > kinds.facets else []
    found += [_rows(RowKinds(0, 1), falling, kinds, given, threads)] if kinds.falling else []
    beyond, worst, fast, use, stops = (np.concatenate(parts, axis=2) for parts in zip(*found, strict=True))
    largest, faster, standing = (part.max(axis=2) for part in (worst, fast, stops))
    return [np.concatenate([beyond[..., 0], beyond[..., 1]], axis=-1), largest, faster, use[..., 0], standing]


def _rows(kind: RowKinds, rows: slice, kinds: RowKinds, given: Intervals, threads: int | None) -> tuple[FloatArray, ...]:
    """Results of some rows, each of shape (P, N, rows, ...)."""
    R, batch = kinds.rows, given.ends.shape[:2]
    columns = rows_of(given.ends, R)[:, :, rows]
    places = [part[..., rows] for part in given.places[:5]]
    if kind.falling:
        p = np.moveaxis(given.ends[..., 10 * R :].reshape(*batch, 2, -1), 2, 3)
        columns, places = np.concatenate([columns, p], axis=-1), [*places, given.places[5]]
    shared = [part[:, :, None] for part in (given.profile, given.shares, given.slowness)]
    single = [part[..., rows, None] for part in (given.g0, given.g1, given.lo, given.hi)]
    within = [np.moveaxis(part, 2, 3)[..., None] for part in places]
    found: tuple[FloatArray, ...] = excess_kernel(kind, given.shares.shape[-1])(
        *shared, columns, *single, *within, threads=threads
    )
    return found


__all__ = ["SHARP", "Intervals", "excess_kernel", "excess_row_by_row"]
