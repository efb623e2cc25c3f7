"""How far a profile goes beyond its limits within each interval, as one compiled function of the interval.

At the places within an interval and at its ends every row of limits has a value; parabolas through three places in a row give
the largest one in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..codegen import Kernel, build
from ..expr import ops, trace
from .speed_program import RowKinds

_SLOW = 1e-12  # the least speed that limits of power are divided by


def _rates(profile: Sequence[Any], share: Any) -> tuple[Any, Any]:
    """ṡ and s̈ at a share of the interval; `profile` is (x, u, w, h)."""
    x, u, w, h = profile
    sdd = u + w * (1.0 - 2.0 * share)
    return ops.sqrt(ops.maximum(x + 2.0 * h * share * (u + w * (1.0 - share)), 0.0)), sdd


def _peak(values: Sequence[Any]) -> Any:
    """The largest of some values in a row, and of the parabolas through every three of them."""
    top = ops.maximum(values[0], values[-1])
    for before, here, after in zip(values, values[1:], values[2:], strict=False):
        bend, rise = 2.0 * here - before - after, after - before
        inside = ops.less(ops.absolute(rise), 2.0 * bend)
        more = ops.where(inside, ops.divide(rise * rise, 8.0 * ops.where(inside, bend, 1.0)), 0.0)
        top = ops.maximum(top, here + more)
    return top


def _function(kinds: RowKinds) -> Any:
    R = kinds.plain + kinds.falling

    def function(profile: Any, shares: Any, slowness: Any, ends: Any, still: Any, limits: Any, *places: Any) -> Any:
        """`ends` is a row of the solver's table, `still` g + d at both ends, `places` m, c, v, g, d and p within."""
        shares = [0.0, *shares, 1.0]
        rates = [_rates(profile, share) for share in shares]
        over, under, use = [], [], []
        for i in range(R):
            at_ends = [[ends[(5 * k + j) * R + i] for j in range(3)] + [still[k * R + i]] for k in range(2)]
            within = [[m[i], c[i], v[i], g[i] + d[i]] for m, c, v, g, d in zip(*places[:5], strict=True)]
            falls = i >= kinds.plain
            p = [place[i - kinds.plain] for place in places[5]] if falls else []
            above, below, share = _row([at_ends[0], *within, at_ends[1]], [p[0], *p, p[-1]] if falls else [], rates, limits, i, R)
            over.append(ops.maximum(_peak(above), 0.0))
            under.append(ops.maximum(_peak(below), 0.0))
            use.append(share)
        fast: Any = 0.0
        for (z, _), top in zip(rates[1:-1], slowness, strict=True):
            fast = ops.maximum(fast, z * top - 1.0)
        return over, under, [fast], use

    return function


def _row(samples: list[Any], p: list[Any], rates: list[Any], limits: Any, i: int, R: int) -> tuple[list[Any], list[Any], Any]:
    """How far one row is above and below its limits at each place, and the share of them that it uses at most."""
    above, below, use = [], [], 0.0
    for k, ((m, c, v, g), (z, u)) in enumerate(zip(samples, rates, strict=True)):
        value = m * u + (c * z + v) * z + g
        room = ops.divide(p[k], ops.maximum(z, _SLOW)) if p else 0.0
        lo, hi = limits[i] - room, limits[R + i] + room
        above.append(value - hi)
        below.append(lo - value)
        if 0 < k < len(samples) - 1:
            use = ops.maximum(use, ops.divide(ops.absolute(value - 0.5 * (lo + hi)), 0.5 * (hi - lo)))
    return above, below, use


@lru_cache(maxsize=64)
def excess_kernel(kinds: RowKinds, within: int) -> Kernel:
    """(profile, shares, slowness, ends, still, limits, m, c, v, g, d, p) of intervals -> over, under, fast, use."""
    R = kinds.plain + kinds.falling
    inputs = {
        "profile": (4,),
        "shares": (within,),
        "slowness": (within,),
        "ends": (kinds.width,),
        "still": (2 * R,),
        "limits": (2 * R,),
    } | dict.fromkeys("mcvgd", (within, R))
    if kinds.falling:
        inputs["p"] = (within, kinds.falling)
    return build(trace(_function(kinds), inputs, ["over", "under", "fast", "use"], name="limit_excess"))


__all__ = ["excess_kernel"]
