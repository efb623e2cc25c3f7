"""What the passes read of each interval, made by compiled functions: NumPy is slow along short axes.

Of many rows, as facets of what drives can do are, a function of one row is called for all of them: one of all rows would take
seconds to compile.

Rows of limits have room between gravity and dry friction at one end and the limit within. Which way dry friction acts at an end
is told by the intervals on both sides of it; arrays of intervals have one more of zeros at either end for this.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..codegen import Kernel, build
from ..expr import ops, trace
from .speed_program import RowKinds

ONE = RowKinds(1)


def beside(padded: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values (P, N + 2, ...) of the intervals before, here and after."""
    return padded[:, :-2], padded[:, 1:-1], padded[:, 2:]


def padded_zeros(P: int, N: int, width: int) -> FloatArray:
    """Room for values of intervals, with an interval of zeros at either end."""
    found = np.empty((P, N + 2, width))
    found[:, 0] = found[:, -1] = 0.0
    return found


@lru_cache(maxsize=64)
def table_kernel(kinds: RowKinds) -> Kernel:
    """m, c, v, g of both ends, limits, ranges of friction before, here and after -> a row of the table, and its least room."""
    R, plain, F = kinds.rows, kinds.plain, kinds.falling

    def table(*given: Any) -> Any:
        left, right, (lo, hi), (before, here, after), p = given[:4], given[4:8], given[8:10], given[10:13], given[13:]
        first, last = _room(left[3], lo, hi, before, here), _room(right[3], lo, hi, here, after)
        rooms = [one for lowest, highest in (first, last) for one in (*(-low for low in lowest[:plain]), *highest[:plain])]
        row = [*left[:3], *first, *right[:3], *last, *p]
        return [one for part in row for one in part], [reduce(ops.minimum, rooms, 1.0)]

    ends = {name + side: (R,) for side in "01" for name in "mcvg"}
    inputs = ends | {"lo": (R,), "hi": (R,)} | dict.fromkeys(("before", "here", "after"), (2 * R,))
    if F:
        inputs |= {"p0": (F,), "p1": (F,)}
    return build(trace(table, inputs, ["row", "room"], name="timing_table"))


def _room(g: Any, lo: Any, hi: Any, one: Any, other: Any) -> tuple[list[Any], list[Any]]:
    """Limits of one end less gravity and friction, which may be that of either interval beside it; at rest, none."""
    R = len(g)
    lowest = [a - b - ops.minimum(c, d) for a, b, c, d in zip(lo, g, one[R:], other[R:], strict=True)]
    highest = [a - b - ops.maximum(c, d) for a, b, c, d in zip(hi, g, one[:R], other[:R], strict=True)]
    return lowest, highest


@lru_cache(maxsize=64)
def tightening_kernel(kinds: RowKinds) -> Kernel:
    """Numbers of an interval that change from pass to pass, its row of the table, and what exceeds limits -> those numbers.

    Where a limit is tightened the profile turns to the next one: the largest excess of an interval and its neighbours counts.
    Half of the room that gravity and friction leave stays, so that a slow motion is possible; limits that fall with the speed
    are wide at low speeds, however much they are tightened.
    """
    R, plain = kinds.rows, kinds.plain

    def tightened(room: Any, row: Any, more: Any, before: Any, here: Any, after: Any) -> Any:
        lo_0, hi_0, lo_1, hi_1 = (row[k * R : (k + 1) * R] for k in (3, 4, 8, 9))
        above, below = zip(hi_0, hi_1, strict=True), zip(lo_0, lo_1, strict=True)
        left = [*(_half(a, b) for a, b in above), *(_half(-a, -b) for a, b in below)]
        found = []
        for i, three in enumerate(zip(before, here, after, strict=True)):
            wanted = room[2 + i] + more[0] * reduce(ops.maximum, three)
            found.append(ops.minimum(wanted, left[i]) if i % R < plain else wanted)
        return [room[0], room[1], *found]

    inputs = {"room": (kinds.room,), "row": (kinds.width,), "more": (1,)} | dict.fromkeys(("before", "here", "after"), (2 * R,))
    return build(trace(tightened, inputs, ["room_then"], name="tightened_limits"))


def _half(a: Any, b: Any) -> Any:
    return ops.maximum(0.5 * ops.minimum(a, b), 0.0)


@lru_cache(maxsize=64)
def _ranges_kernel(rows: int, within: int) -> Kernel:
    """Dry friction at the places within an interval -> its largest values, and then its least ones."""

    def ranges(d: Any) -> Any:
        return [reduce(bound, column) for bound in (ops.maximum, ops.minimum) for column in zip(*d, strict=True)]

    return build(trace(ranges, {"d": (within, rows)}, ["ranges"], name="friction_ranges"))


def friction_ranges(kinds: RowKinds, d: FloatArray, threads: int | None) -> Any:
    """Ranges (P, N, 2R) of dry friction at the places within intervals, (P, N, within, R)."""
    if kinds.rows == 0:
        return np.empty((*d.shape[:2], 0))
    if not kinds.many:
        return _ranges_kernel(kinds.rows, d.shape[2])(d, threads=threads)
    found = _ranges_kernel(1, d.shape[2])(np.moveaxis(d, 3, 2)[..., None], threads=threads)
    return np.moveaxis(found, 3, 2).reshape(*d.shape[:2], -1)


def table_of(kinds: RowKinds, ends: Sequence[Any], limits: Sequence[Any], friction: FloatArray, threads: int | None) -> Any:
    """The table (P, N, width) and the least room (P, N, 1); `ends` are LimitRows, `friction` padded ranges."""
    columns = [column for end in ends for column in (end.m, end.c, end.v, end.g)]
    if kinds.many:
        each = [part[..., None] for part in (*columns, *limits)]
        row, room = table_kernel(ONE)(*each, *map(_by_row, beside(friction)), threads=threads)
        return np.moveaxis(row, 3, 2).reshape(*row.shape[:2], -1), room.min(axis=2)
    falling = [end.p for end in ends] if kinds.falling else []
    return table_kernel(kinds)(*columns, *limits, *beside(friction), *falling, threads=threads)


def tightened(kinds: RowKinds, room: FloatArray, table: FloatArray, more: float, beyond: FloatArray, threads: int | None) -> Any:
    """The numbers of intervals (P, N, room) with limits tightened by what is beyond them, padded (P, N + 2, 2R)."""
    factor, excess = np.array([more]), beside(beyond)
    if not kinds.many:
        return tightening_kernel(kinds)(room, table, factor, *excess, threads=threads)
    R = kinds.rows
    same = np.broadcast_to(room[:, :, None, :2], (*room.shape[:2], R, 2))
    each = np.concatenate([same, _by_row(room[..., 2:])], axis=-1)
    found = tightening_kernel(ONE)(each, rows_of(table, R), factor, *map(_by_row, excess), threads=threads)
    return np.concatenate([room[..., :2], found[..., 2], found[..., 3]], axis=-1)


def rows_of(table: FloatArray, R: int) -> FloatArray:
    """The ten columns of the table (P, N, 10 R or more), for each of its rows: (P, N, R, 10)."""
    return np.moveaxis(table[..., : 10 * R].reshape(*table.shape[:2], 10, R), 2, 3)


def _by_row(pairs: FloatArray) -> FloatArray:
    """Values (P, N, 2R), first of one kind and then of another, as (P, N, R, 2)."""
    return np.moveaxis(pairs.reshape(*pairs.shape[:2], 2, -1), 2, 3)


__all__ = ["friction_ranges", "padded_zeros", "rows_of", "table_of", "tightened"]
