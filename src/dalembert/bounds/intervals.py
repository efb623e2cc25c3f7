"""Intervals as pairs of arrays, rounded outwards: for each primitive, a pair that contains every value it can take.

Sums, products, quotients and roots of floating-point numbers are rounded to the nearest one, so the neighbour on the other side
is beyond the true value: `np.nextafter` after each operation is enough. Sines and cosines of NumPy are taken to be wrong by no
more than `_SINE_ERROR`, sixteen times what its documentation promises. What is not known (a quotient by an interval around zero,
a root of negative numbers) is the whole line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_SINE_ERROR = 2.0**-47  # absolute: 64 units in the last place of 1
_SLACK = 1e-14  # of turns, and of the angle, within which an extremum counts as inside
_FAR = 1e6  # [rad]: beyond, a sine can be anything


class Interval(NamedTuple):
    """Lower and upper ends, of any shapes that broadcast."""

    lo: Any
    hi: Any

    @property
    def width(self) -> Any:
        """How far the ends are apart."""
        return self.hi - self.lo

    @property
    def middle(self) -> Any:
        """A number inside."""
        return 0.5 * self.lo + 0.5 * self.hi

    @property
    def size(self) -> Any:
        """The largest magnitude of a number inside."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))


def exactly(value: Any) -> Interval:
    """A number."""
    return Interval(value, value)


def outward(lo: Any, hi: Any) -> Interval:
    """The neighbours of rounded ends; what is not a number is the whole line."""
    lower = np.nextafter(np.where(np.isnan(lo), -np.inf, lo), -np.inf)
    upper = np.nextafter(np.where(np.isnan(hi), np.inf, hi), np.inf)
    return Interval(lower, upper)


def add(a: Interval, b: Interval) -> Interval:
    """a + b."""
    return outward(a.lo + b.lo, a.hi + b.hi)


def sub(a: Interval, b: Interval) -> Interval:
    """a - b."""
    return outward(a.lo - b.hi, a.hi - b.lo)


def neg(a: Interval) -> Interval:
    """-a, exact."""
    return Interval(-a.hi, -a.lo)


def mul(a: Interval, b: Interval) -> Interval:
    """a b: the extreme ones of four products; nothing times an infinite end is nothing."""
    products = [_product(x, y) for x in a for y in b]
    return outward(_extreme(np.minimum, products), _extreme(np.maximum, products))


def _product(x: Any, y: Any) -> Any:
    product = np.multiply(x, y)
    return np.where((np.equal(x, 0.0) | np.equal(y, 0.0)), 0.0, product)


def _extreme(which: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    return which(which(values[0], values[1]), which(values[2], values[3]))


def square(a: Interval) -> Interval:
    """a a, which is never negative."""
    least = np.where((a.lo <= 0.0) & (a.hi >= 0.0), 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi)))
    found = outward(least * least, a.size * a.size)
    return Interval(np.maximum(found.lo, 0.0), found.hi)


def div(a: Interval, b: Interval) -> Interval:
    """a / b; the whole line where b may be zero."""
    around = (b.lo <= 0.0) & (b.hi >= 0.0)
    divisor = Interval(np.where(around, 1.0, b.lo), np.where(around, 1.0, b.hi))
    quotients = [np.divide(x, y) for x in a for y in divisor]
    found = outward(_extreme(np.minimum, quotients), _extreme(np.maximum, quotients))
    return Interval(np.where(around, -np.inf, found.lo), np.where(around, np.inf, found.hi))


def sqrt(a: Interval) -> Interval:
    """The roots of what is not negative; the whole line where nothing is."""
    found = outward(np.sqrt(np.maximum(a.lo, 0.0)), np.sqrt(np.maximum(a.hi, 0.0)))
    empty = ~(np.asarray(a.hi) >= 0.0)
    return Interval(np.where(empty, -np.inf, np.maximum(found.lo, 0.0)), np.where(empty, np.inf, found.hi))


def cos(a: Interval) -> Interval:
    """Cosine: 1 where a multiple of 2π may be inside, -1 where an odd one of π may be, else the values at the ends."""
    ends = np.cos(a.lo), np.cos(a.hi)
    lower = np.where(_meets(a, math.pi), -1.0, np.minimum(*ends) - _SINE_ERROR)
    upper = np.where(_meets(a, 0.0), 1.0, np.maximum(*ends) + _SINE_ERROR)
    return _within_one(a, lower, upper)


def sin(a: Interval) -> Interval:
    """Sine, in the same way."""
    ends = np.sin(a.lo), np.sin(a.hi)
    lower = np.where(_meets(a, -math.pi / 2), -1.0, np.minimum(*ends) - _SINE_ERROR)
    upper = np.where(_meets(a, math.pi / 2), 1.0, np.maximum(*ends) + _SINE_ERROR)
    return _within_one(a, lower, upper)


def _meets(a: Interval, angle: float) -> Any:
    """Whether angle + 2πk may be in the interval for a whole number k; more often than it is, never less."""
    slack = _SLACK * (1.0 + a.size)
    first = np.ceil((a.lo - angle) / (2 * math.pi) - slack)
    return first <= (a.hi - angle) / (2 * math.pi) + slack


def _within_one(a: Interval, lower: Any, upper: Any) -> Interval:
    far = ~(a.size < _FAR)
    return Interval(np.where(far, -1.0, np.maximum(lower, -1.0)), np.where(far, 1.0, np.minimum(upper, 1.0)))


def atan2(a: Interval, b: Interval) -> Interval:
    """The angles of the corners, where neither the origin nor the jump at the negative axis is met; else all angles."""
    corners = [np.arctan2(y, x) for y in a for x in b]
    meets = (a.lo <= 0.0) & (a.hi >= 0.0) & (b.lo <= 0.0)
    lower, upper = _extreme(np.minimum, corners) - 4 * _SINE_ERROR, _extreme(np.maximum, corners) + 4 * _SINE_ERROR
    full = np.nextafter(math.pi, 4.0)
    return Interval(np.where(meets | np.isnan(lower), -full, lower), np.where(meets | np.isnan(upper), full, upper))


def absolute(a: Interval) -> Interval:
    """Magnitudes, exact."""
    inside = (a.lo <= 0.0) & (a.hi >= 0.0)
    return Interval(np.where(inside, 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi))), a.size)


def sign(a: Interval) -> Interval:
    """Signs of the ends, exact."""
    return Interval(np.sign(a.lo), np.sign(a.hi))


def least(a: Interval, b: Interval) -> Interval:
    """The smaller of two, exact."""
    return Interval(np.minimum(a.lo, b.lo), np.minimum(a.hi, b.hi))


def greatest(a: Interval, b: Interval) -> Interval:
    """The larger of two, exact."""
    return Interval(np.maximum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def _truth(certain: Any, possible: Any) -> Interval:
    return Interval(np.asarray(certain).astype(float), np.asarray(possible).astype(float))


def less(a: Interval, b: Interval) -> Interval:
    """a < b: 1, 0, or either."""
    return _truth(a.hi < b.lo, a.lo < b.hi)


def less_equal(a: Interval, b: Interval) -> Interval:
    """a <= b: 1, 0, or either."""
    return _truth(a.hi <= b.lo, a.lo <= b.hi)


def equal(a: Interval, b: Interval) -> Interval:
    """a = b: 1 only for two equal numbers, 0 where they are apart."""
    same = (np.asarray(a.lo) == a.hi) & (np.asarray(b.lo) == b.hi) & (np.asarray(a.lo) == b.lo)
    return _truth(same, (a.lo <= b.hi) & (b.lo <= a.hi))


def where(condition: Interval, a: Interval, b: Interval) -> Interval:
    """a, b, or all of both where the condition is not decided."""
    never = (np.asarray(condition.lo) == 0.0) & (np.asarray(condition.hi) == 0.0)
    always = (np.asarray(condition.lo) > 0.0) | (np.asarray(condition.hi) < 0.0)
    lower = np.where(always, a.lo, np.where(never, b.lo, np.minimum(a.lo, b.lo)))
    return Interval(lower, np.where(always, a.hi, np.where(never, b.hi, np.maximum(a.hi, b.hi))))


INTERVALS: dict[str, Callable[..., Interval]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": neg,
    "sqrt": sqrt,
    "sin": sin,
    "cos": cos,
    "atan2": atan2,
    "abs": absolute,
    "sign": sign,
    "min": least,
    "max": greatest,
    "lt": less,
    "le": less_equal,
    "eq": equal,
    "where": where,
}
"""For each primitive, its reading on intervals."""
