"""The fastest speeds along a grid of a path, as one loop program: backwards once, forwards once [theory: timing].

Limits bound the path speed as in [BobrowDubowskyGibson1985]; two passes over sets that can be reached, as in [PhamPham2018].

With x = ṡ² and s̈ = u constant from grid point to grid point, x is linear there: y = x + 2 Δ u for the next point. (A slope of s̈,
u + w at the start and u − w at the end, is given, and moves limits by ∓ m w.) Each row of limits holds at both ends of an
interval, with the coefficients of that end:

    lo ≤ m u + c x + v √x ≤ hi                                                                             (1)

Put in u = (y − x) / 2Δ and the tangent of the root, √x ≈ z/2 + x / 2z at x = z²: for a given y, (1) bounds x from above and below
by closed forms, and the other way round. The tangent is moved to the result and taken again.

Backwards: the largest x from which some y ≤ Y can be reached, Y being that of the next point. Nearly always y = Y gives it. Else,
beside points where m vanishes, the largest x is where two bounds meet, and its y is found by cutting planes: F(y), the least
upper bound, less a penalty where it is below the largest lower one, is concave up to the root, and its maximum lies where the
tangents of two trials meet. (A row that hardly feels s̈, such as a voltage that speed alone makes, would give all of y for next to
nothing of x; so a little of y counts too, and the last hundredth of it much: from y = 0 beside a rest there is no way on.)
Forwards: the largest y from the x that is there, up to that Y.

Rows of the second kind have limits that fall with the speed, p / √x, as those of power do; their tangent is 3/2z − x / 2z³.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..codegen.time_loop import TimeLoopKernel
from ..expr import ops
from ..expr.assembly import Assembly, Cells
from ..expr.loops import LoopProgram, Repeat, Step

COLUMNS = ("m", "c", "v", "lo", "hi")
_PENALTY = 1e4  # of a lower bound above an upper one; more than the ratio of their slopes
_ONWARDS = 1e-3  # of y that counts as much as x: no y is given up for an x that is larger by less
_CRAWL, _DEAR = 1e-2, 1e2  # share of x or Y below which y is not given up for x, unless that is a hundred times as much
_FIRST = 0.25  # of Y: where a search begins
_CUTS = 40  # trials at most; two or three are usual
_DROP = 0.7  # of the next ṡ²: below it, with viscous friction, other next ones are looked at
_SCAN, _SCANS = 8, 5  # places of a scan, and scans, each closer about the best place of the one before
_CLOSE = 1e-11  # relative: a maximum that is known so well is found
_TURNS = 4  # of the tangents of falling limits
_LEAST = 1e-100  # in place of a coefficient that is zero
_FAR = 1e300  # a bound that bounds nothing
_FLAT = 1e-9  # of c: where a coordinate turns round, m is rounding, and so is what a row at its limit leaves for s̈
_MANY = 24  # rows, in functions of an interval
_SLOW = 1e-9  # the least speed at which a tangent is laid


class RowKinds(NamedTuple):
    """How many rows of limits there are: plain ones, and after them those whose limits fall with the speed."""

    plain: int
    falling: int = 0
    viscous: bool = True  # whether any row has a v; without it the tangents need no second turn
    facets: int = 0  # of the plain ones the first, which may bend sharply

    @property
    def rows(self) -> int:
        """All of them."""
        return self.plain + self.falling

    @property
    def bent(self) -> bool:
        """Whether any row has a root of ṡ² in it."""
        return self.viscous or self.falling > 0

    @property
    def many(self) -> bool:
        """Whether functions of all rows of an interval would take seconds to compile."""
        return self.rows > _MANY and not self.falling

    @property
    def width(self) -> int:
        """Numbers of an interval: the columns of both ends, then p of both ends for the falling rows."""
        return 10 * self.rows + 2 * self.falling

    @property
    def room(self) -> int:
        """Numbers of an interval that change from pass to pass: its length, w, and by how much limits are tightened."""
        return 2 + 2 * self.rows


class _End(NamedTuple):
    """The rows of one end of an interval."""

    m: Sequence[Any]
    c: Sequence[Any]
    v: Sequence[Any]
    lo: Sequence[Any]
    hi: Sequence[Any]
    p: Sequence[Any]  # of the last rows only


class _Line(NamedTuple):
    """A bound with its slope, rise / run: only the slope of the bound that is taken has to be divided."""

    value: Any
    rise: Any
    run: Any = 1.0

    @property
    def slope(self) -> Any:
        """By how much the bound rises with the speed at the other end."""
        return ops.divide(self.rise, self.run)


def _ends(kinds: RowKinds, row: Sequence[Any], room: Sequence[Any]) -> tuple[_End, _End]:
    """Both ends, with limits tightened and moved by the slope of s̈, by which it is u ± w there."""
    R, w = kinds.rows, room[1]
    columns = [row[k * R : (k + 1) * R] for k in range(10)]
    p, up, down = row[10 * R :], room[2 : 2 + R], room[2 + R :]
    for k, more in ((0, w), (5, -w)):
        m, lo, hi = columns[k], columns[k + 3], columns[k + 4]
        columns[k + 3] = [a - more * b + c for a, b, c in zip(lo, m, down, strict=True)]
        columns[k + 4] = [a - more * b - c for a, b, c in zip(hi, m, up, strict=True)]
    return _End._make([*columns[:5], p[: kinds.falling]]), _End._make([*columns[5:], p[kinds.falling :]])


def _not_zero(x: Any) -> Any:
    """x, or a tiny number where it is zero: no other x is changed by adding it."""
    return x + _LEAST


class _Bounds:
    """Bounds from above and from below; the least of the one kind and the largest of the other count."""

    def __init__(self, upper: _Line, lower: _Line) -> None:
        self.uppers, self.lowers = [upper], [lower]

    def at_most(self, bound: _Line) -> None:
        self.uppers.append(bound)

    def at_least(self, bound: _Line) -> None:
        self.lowers.append(bound)

    @property
    def upper(self) -> _Line:
        """The least upper bound."""
        return _in_pairs(lambda a, b: _chosen(ops.less(b.value, a.value), b, a), self.uppers)

    @property
    def lower(self) -> _Line:
        """The largest lower bound."""
        return _in_pairs(lambda a, b: _chosen(ops.less(a.value, b.value), b, a), self.lowers)

    def between(self, A: Any, offset: _Line, lo: Any, hi: Any) -> None:
        """lo ≤ A x + offset ≤ hi."""
        inverse = ops.divide(1.0, _not_zero(A))
        first, second = (lo - offset.value) * inverse, (hi - offset.value) * inverse
        rise = -offset.rise * inverse
        self.at_most(_Line(ops.maximum(first, second), rise))
        self.at_least(_Line(ops.minimum(first, second), rise))

    def between_falling(self, A: Any, offset: _Line, lo: _Line, hi: _Line) -> None:
        """lo ≤ A x + offset ≤ hi, with limits that change with the speed at the other end."""
        inverse, rising = ops.divide(1.0, _not_zero(A)), ops.less_equal(0.0, A)
        first, second = (_Line((one.value - offset.value) * inverse, (one.rise - offset.rise) * inverse) for one in (lo, hi))
        self.at_most(_chosen(rising, second, first))
        self.at_least(_chosen(rising, first, second))

    def beside(self, A: Any, v: Any, offset: _Line, lo: Any, hi: Any, z: Any) -> None:
        """lo ≤ A x + v √x + offset ≤ hi, on the side of the vertex on which z is, turned round where that falls there."""
        rising = ops.less_equal(0.0, 2.0 * A * z + v)
        side = ops.where(rising, 1.0, -1.0)
        A, v, rise = side * A, side * v, -side * offset.rise
        self.at_most(_root(A, v, side * (ops.where(rising, hi, lo) - offset.value), rise).above)
        self.at_least(_root(A, v, side * (ops.where(rising, lo, hi) - offset.value), rise).below)

    def below(self, A: Any, v: Any, offset: _Line, hi: Any, z: Any) -> None:
        """A x + v √x + offset ≤ hi, on the side of the vertex on which z is: from above if that rises there, else from below."""
        rising = ops.less_equal(0.0, 2.0 * A * z + v)
        side = ops.where(rising, 1.0, -1.0)
        root = _root(side * A, side * v, side * (hi - offset.value), -side * offset.rise)
        self.at_most(root.above._replace(value=ops.where(rising, root.above.value, _FAR)))
        self.at_least(root.below._replace(value=ops.where(rising, -_FAR, root.below.value)))


class _Root(NamedTuple):
    """The x of a crossing as a bound from above and from below.

    Where a row is not crossed it bounds nothing, or nothing meets it: then what is missing stands for it, below zero, or beyond
    its vertex.
    """

    above: _Line
    below: _Line


def _root(A: Any, v: Any, h: Any, h_slope: Any) -> _Root:
    """A x + v √x = h where the left side rises with x.

    With D = v² + 4 A h, √x = 2 h / (v + √D), or (√D − v) / 2A where v < 0; the slope of the left side there is √D / 2√x. Where
    D < 0 only 1 / 2A is asked for, so that one division serves all.
    """
    D = v * v + 4.0 * A * h
    width, twice = ops.sqrt(ops.maximum(D, 0.0)), 2.0 * A
    negative, none, bent = ops.less(v, 0.0), ops.less(D, 0.0), ops.less(0.0, A)
    inverse = ops.divide(1.0, _not_zero(ops.where(negative, twice, ops.where(none, twice, v + width))))
    z = ops.where(negative, width - v, 2.0 * h) * inverse
    size = ops.absolute(z)
    x, deficit, beyond = z * size, D * inverse * inverse, v * inverse
    run, double = ops.where(none, 1.0, ops.maximum(width, _LEAST)), 2.0 * h_slope
    above = ops.where(none, ops.where(bent, deficit, _FAR), x)
    below = ops.where(none, ops.where(bent, -_FAR, beyond * beyond - deficit), x)
    return _Root(
        _Line(above, double * ops.where(none, inverse, size), run), _Line(below, double * ops.where(none, -inverse, size), run)
    )


def _in_pairs(better: Callable[[_Line, _Line], _Line], bounds: Sequence[_Line]) -> _Line:
    """The best of many, by a knock-out in pairs: the loop waits for each of its choices, and so for few rounds of them."""
    while len(bounds) > 1:
        odd = bounds[len(bounds) // 2 * 2 :]
        bounds = [*(better(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False)), *odd]
    return bounds[0]


def _chosen(condition: Any, a: _Line, b: _Line) -> _Line:
    return _Line(*(ops.where(condition, one, other) for one, other in zip(a, b, strict=True)))


def _moving_end(bounds: _Bounds, kinds: RowKinds, end: _End, own: Any, other: Any, z: Any) -> None:
    """Rows of the end whose x is looked for: (own m/2Δ + c) x + v √x + other m/2Δ y, on the side of z."""
    for i in range(len(end.m)):
        a = end.m[i] * other[0]
        A, offset = end.m[i] * own + end.c[i], _Line(a * other[1], a)
        lo, hi = end.lo[i], end.hi[i]
        if i < kinds.plain and not kinds.viscous:
            bounds.between(A, offset, lo, hi)
        elif i < kinds.plain:
            bounds.beside(A, end.v[i], offset, lo, hi, z)
        else:
            p = end.p[i - kinds.plain]
            level, tilt = 1.5 * ops.divide(p, z), ops.divide(0.5 * p, z * z * z)
            bounds.below(A + tilt, end.v[i], offset, hi + level, z)
            bounds.below(tilt - A, -end.v[i], _Line(-offset.value, -offset.rise), level - lo, z)


def _standing_end(bounds: _Bounds, kinds: RowKinds, end: _End, own: Any, other: Any) -> None:
    """Rows of the end whose y is given: own m/2Δ x + (other m/2Δ + c) y + v √y, exactly."""
    y = other[1]
    z = ops.maximum(ops.sqrt(y), _SLOW)
    half = ops.divide(0.5, z)
    for i in range(len(end.m)):
        a = end.m[i] * other[0] + end.c[i]
        offset = _Line(a * y + end.v[i] * z, a + half * end.v[i])
        A = end.m[i] * own
        flat = ops.less(ops.absolute(A), _FLAT * ops.absolute(end.c[i]))
        lo, hi = end.lo[i], end.hi[i]
        if i < kinds.plain:
            bounds.between(A, offset, ops.where(flat, -_FAR, lo), ops.where(flat, _FAR, hi))
            continue
        room = ops.divide(end.p[i - kinds.plain], z)
        bend = half * ops.divide(room, z)
        lowest, highest = ops.where(flat, -_FAR, lo - room), ops.where(flat, _FAR, hi + room)
        bounds.between_falling(A, offset, _Line(lowest, bend), _Line(highest, -bend))


class _Trial(NamedTuple):
    """What one y brings: F of the module's text with its slope, and x."""

    value: Any
    slope: Any
    x: Any


def _merit(bounds: _Bounds, y: Any, top: Any) -> _Trial:
    """F of the module's text: what is to be as large as can be."""
    upper, lower = bounds.upper, bounds.lower
    gap, slope = upper.value - lower.value, upper.slope
    crossed = ops.less(gap, 0.0) * _PENALTY
    x, rise = upper.value + crossed * gap, slope + crossed * (slope - lower.slope)
    slowest = _CRAWL * ops.maximum(ops.minimum(x, top), 0.0)
    low = ops.less(y, slowest) * _DEAR
    own = low * _CRAWL * ops.less(x, top)  # of the slope of x, where x is the smaller one
    return _Trial(x + _ONWARDS * y + low * (y - slowest), rise + _ONWARDS + low - own * rise, x)


def _found(best: Any, last: Any, k: Any, room: Any) -> list[Any]:
    """After one interval: x, once more to be kept, its rate, and where to go on."""
    x = ops.maximum(best[2], 0.0)
    return [[x], [x], [ops.divide(x - last[0], room[0])], [k[0] - 1.0], [k[0] - 0.0]]


def _first_tangent(x: Any, rate: Any, room: Any, ends: Any, most: Any) -> Any:
    """Where the tangent of the next x ≤ `most` is laid first: intervals beside rests are a thousand times shorter than others."""
    h = room[0]
    likely = ops.maximum(x + rate * h, ops.maximum(0.25 * x, ends[2] * h))
    return ops.maximum(ops.sqrt(ops.minimum(likely, most)), _SLOW)


def _moved(z: Any, x: Any) -> Any:
    """The place of the next tangent: that of the result, but not far below the last one, where the root is too steep."""
    return ops.maximum(ops.sqrt(ops.maximum(x, 0.0)), ops.maximum(0.25 * z, _SLOW))


class _Loop:
    """The program in the making."""

    def __init__(self, kinds: RowKinds) -> None:
        self.kinds = kinds
        make = self.make = Assembly("path_speeds")
        counters = make.input("count", 1)
        self.rows = make.input("rows", kinds.width)
        self.room, self.caps = make.input("room", kinds.room), make.input("caps", 1)
        self.ends = make.input("ends", 3)
        self.tops, self.speeds = make.output("tops", 1), make.output("speeds", 1)
        self.k, self.next, self.left = make.buffer(), make.buffer(), make.buffer()
        self.x, self.rate = make.buffer(), make.buffer()  # and how fast it changed along the last interval
        self.count = counters

    def row(self) -> list[Cells]:
        """What is known of the interval."""
        return [self.rows.row(self.k, self.kinds.width), self.room.row(self.k, self.kinds.room)]

    def program(self) -> LoopProgram:
        """Backwards, then forwards."""
        make = self.make
        start = make.once(_last, [self.count, self.ends], [self.k, self.next, self.left, self.x, self.rate])
        at_end = make.once(lambda x: [x], [self.x], [self.tops.row(self.next, 1)])
        turn = make.once(_first, [self.count, self.ends], [self.k, self.next, self.left, self.x, self.rate])
        first = [self.x, self.speeds.row(self.k, 1)]
        at_start = make.once(lambda x, top: [[ops.minimum(x[0], top[0])]] * 2, [self.x, self.tops.row(self.k, 1)], first)
        back = Repeat(self.left.place, tuple(self.backwards()))
        forth = Repeat(self.left.place, tuple(self.forwards()))
        return make.finish([*start, *at_end, back, *turn, *at_start, forth])

    def backwards(self) -> list[Step]:
        """The largest x of one interval: at y = Y, nearly always; by cuts where F falls there; by scans where x drops."""
        make = self.make
        y, cuts, pending, scan = make.buffer(), make.buffer(), make.buffer(), make.buffer(3)
        low, high, best = make.buffer(3), make.buffer(3), make.buffer(3)
        known = [*self.row(), self.caps.row(self.k, 1), self.rate, self.ends]
        first = make.once(self._first_trial, [*known, self.x], [y, cuts, low, high, best, pending])
        cut = make.once(self._cut, [*known, self.x, y, cuts, low, high, best, pending], [y, cuts, low, high, best, pending])
        steps = [*first, Repeat(pending.place, tuple(cut))]
        if self.kinds.bent:
            dropped = make.buffer()
            begin = make.once(_first_scan, [best, self.x, dropped], [y, scan, pending, dropped])
            look = make.once(self._scan, [*known, self.x, y, best, scan, pending], [y, best, scan, pending])
            steps += make.once(_has_dropped, [best, self.x], [dropped])
            steps.append(Repeat(dropped.place, (*begin, Repeat(pending.place, tuple(look)))))
        kept = [self.x, self.tops.row(self.k, 1), self.rate, self.k, self.left]
        return [*steps, *make.once(_found, [best, self.x, self.k, self.row()[1]], kept)]

    def _merit(self, y: Any, top: Any, row: Any, room: Any, cap: Any, rate: Any, ends: Any, *, low: bool = False) -> _Trial:
        """F of the module's text at one y: what is to be as large as can be. With `low`, tangents are laid from y on."""
        inverse = ops.divide(0.5, room[0])
        left, right = _ends(self.kinds, row, room)
        tangent, bounds = ops.maximum(ops.sqrt(y), _SLOW) if low else _first_tangent(y, rate[0], room, ends, cap[0]), None
        for _ in range(_TURNS if self.kinds.falling else 1):
            bounds = _Bounds(_Line(cap[0], 0.0), _Line(0.0, 0.0))
            _standing_end(bounds, self.kinds, right, -inverse, (inverse, y))
            _moving_end(bounds, self.kinds, left, -inverse, (inverse, y), tangent)
            tangent = _moved(tangent, bounds.upper.value)
        assert bounds is not None
        return _merit(bounds, y, top)

    def _first_trial(self, row: Any, room: Any, cap: Any, rate: Any, ends: Any, top: Any) -> list[Any]:
        """F at Y; where it falls, a smaller y is tried next."""
        Y = top[0]
        F = self._merit(Y, Y, row, room, cap, rate, ends)
        return [[_FIRST * Y], [1.0], [0.0, 0.0, 0.0], [Y, F.value, F.slope], [F.value, Y, F.x], [ops.less(F.slope, 0.0)]]

    def _cut(self, *given: Any) -> list[Any]:
        """F at one y, and the y to look at next."""
        *known, top, y, cuts, low, high, best, pending = given
        return _next_cut(self._merit(y[0], top[0], *known), y[0], top[0], cuts[0], low, high, best, pending[0])

    def _scan(self, *given: Any) -> list[Any]:
        """F at one place of a scan, on either side of what a row forbids between two speeds, and the next place."""
        *known, top, y, best, scan, pending = given
        high, low = (self._merit(y[0], top[0], *known, low=low) for low in (False, True))
        F = _Trial(*(ops.where(ops.less(high.value, low.value), b, a) for a, b in zip(high, low, strict=True)))
        return _next_of_scan(F, y[0], top[0], best, scan, pending[0])

    def forwards(self) -> list[Step]:
        """The largest y of one interval."""
        make = self.make
        sources = [*self.row(), self.tops.row(self.next, 1), self.x, self.rate, self.ends]
        move = make.once(self._move, sources, [self.x, self.rate, self.speeds.row(self.next, 1)])
        count = make.once(
            lambda k, left: [[k[0] + 1.0], [k[0] + 2.0], [left[0] - 1.0]], [self.k, self.left], [self.k, self.next, self.left]
        )
        return [*move, *count]

    def _move(self, row: Any, room: Any, top: Any, x: Any, rate: Any, ends: Any) -> list[Any]:
        inverse = ops.divide(0.5, room[0])
        left, right = _ends(self.kinds, row, room)
        tangent, bounds = _first_tangent(x[0], rate[0], room, ends, top[0]), None
        for _ in range(_TURNS if self.kinds.falling else 1):
            bounds = _Bounds(_Line(top[0], 0.0), _Line(0.0, 0.0))
            _standing_end(bounds, self.kinds, left, inverse, (-inverse, x[0]))
            _moving_end(bounds, self.kinds, right, inverse, (-inverse, x[0]), tangent)
            tangent = _moved(tangent, bounds.upper.value)
        assert bounds is not None
        y = ops.maximum(bounds.upper.value, 0.0)
        return [[y], [ops.divide(y - x[0], room[0])], [y]]


def _last(count: Any, ends: Any) -> list[Any]:
    return [[count[0] - 1.0], [count[0]], [count[0]], [ends[1]], [0.0]]


def _first(count: Any, ends: Any) -> list[Any]:
    return [[0.0], [1.0], [count[0]], [ends[0]], [0.0]]


def _next_cut(F: _Trial, y: Any, top: Any, cuts: Any, low: Any, high: Any, best: Any, pending: Any) -> list[Any]:
    """Where to look next: where the tangents of the last trials on either side meet.

    `low` and `high` are (y, F, slope) of trials with rising and falling F; `best` is (F, y, x).
    """
    falling, better, held = ops.less(F.slope, 0.0), ops.less(best[0], F.value), ops.less(0.0, pending)
    kept = [ops.where(better, a, b) for a, b in zip([F.value, y, F.x], best, strict=True)]
    trial = [y, F.value, F.slope]
    high = [ops.where(falling, a, b) for a, b in zip(trial, high, strict=True)]
    low = [ops.where(falling, b, a) for a, b in zip(trial, low, strict=True)]
    meet = ops.divide(high[1] - high[2] * high[0] - low[1] + low[2] * low[0], _not_zero(low[2] - high[2]))
    promised = low[1] + low[2] * (meet - low[0])
    known = ops.less(0.0, low[2])  # a trial on the rising side
    inside = known * ops.less(low[0], meet) * ops.less(meet, high[0])
    middle = ops.where(known, 0.5 * (low[0] + high[0]), _FIRST * high[0])
    close = known * ops.less_equal(ops.absolute(promised - kept[0]), _CLOSE * top)
    narrow = ops.less_equal(high[0] - low[0], _CLOSE * top)
    stop = ops.maximum(ops.maximum(close, narrow), ops.less_equal(_CUTS, cuts))
    going = pending * (1.0 - stop)
    return [
        [ops.where(going, ops.where(inside, meet, middle), y)],
        [cuts + 1.0],
        low,
        high,
        [ops.where(held, a, b) for a, b in zip(kept, best, strict=True)],
        [going],
    ]


def _has_dropped(best: Any, top: Any) -> list[Any]:
    """Whether a search gave up much of the speed."""
    return [[ops.less(ops.maximum(best[2], 0.0), _DROP * top[0])]]


def _first_scan(best: Any, top: Any, dropped: Any) -> list[Any]:
    """After a search that gave up much of the speed, places spread over all y ≤ Y, then closer ones about the best of them.

    The root makes F(y) rise again towards Y, though another y is better. Scans are told as (trials that are left of this one,
    scans that are left, ratio of neighbours).
    """
    x = ops.maximum(best[2], 0.0)
    lowest = ops.maximum(0.25 * x, ops.maximum(1e-4 * top[0], _LEAST))
    whole = ops.maximum(ops.divide(top[0], lowest), 1.0)
    ratio = ops.sqrt(ops.sqrt(ops.sqrt(whole)))
    return [[ops.minimum(lowest, top[0])], [float(_SCAN), float(_SCANS), ratio], dropped, [0.0]]


def _next_of_scan(F: _Trial, y: Any, top: Any, best: Any, scan: Any, pending: Any) -> list[Any]:
    """The best place so far, and the next one: of this scan, or the first of a closer one."""
    left, scans, ratio = scan
    held = ops.less(0.0, pending)
    better = held * ops.less(best[0], F.value)
    kept = [ops.where(better, a, b) for a, b in zip([F.value, y, F.x], best, strict=True)]
    ends = ops.less(left, 1.5)
    scans = scans - ends
    closer = ends * ops.less(0.5, scans)
    start = ops.divide(kept[1], ops.maximum(ratio, 1.0))
    step = ops.where(closer, ops.sqrt(ops.sqrt(ratio)), ratio)
    return [
        [ops.minimum(ops.where(closer, start, y * step), top)],
        kept,
        [ops.where(closer, float(_SCAN), left - 1.0), scans, step],
        [held * ops.less(0.5, scans)],
    ]


@lru_cache(maxsize=64)
def speed_kernel(kinds: RowKinds, single: bool) -> TimeLoopKernel:
    """The compiled loop; it knows numbers of rows and no robot."""
    return TimeLoopKernel(_Loop(kinds).program(), single=single)


__all__ = ["RowKinds", "speed_kernel"]
