"""Where in a step something happens first, over scalars: a search for the root of a function of x in (0, 1].

The function is the largest of several, each above zero from where its event happens; it is zero or below at x = 0. The step is
scanned from its start, and the first interval at whose end the function is above zero is narrowed by the Illinois rule, with a
bisection now and then, until its ends are neighbours [theory: simulation, Eq. 13]. What is kept is the upper end: there the event
has happened.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..expr import ops

SCANNED = 8  # points of a step at which it is looked for what comes first
MOST_TURNS = 200.0
_SCAN, _NARROW, _LAST = 0.0, 1.0, 2.0


class RootSearch(NamedTuple):
    """The interval (low, high], the function at its ends, the point to look at, and how far the search is."""

    low: Any
    high: Any
    at_low: Any  # 0 where it is not known to be below
    at_high: Any
    x: Any
    phase: Any
    side: Any  # which end moved last: -1 the lower, 1 the upper
    turn: Any
    beat: Any  # counts 0, 1, 2: every third point is in the middle
    hunting: Any
    found: Any


def begun(hunting: Any) -> RootSearch:
    """The search, if there is one, at the first point."""
    return RootSearch(0.0, 1.0, 0.0, 0.0, 1.0 / SCANNED, _SCAN, 0.0, 0.0, 1.0, hunting, 0.0)


def narrowed(own: RootSearch, value: Any, t: Any, h: Any) -> RootSearch:
    """One turn later, given the function at x."""
    hit = ops.less(0.0, value)
    scanning, narrowing = ops.equal(own.phase, _SCAN), ops.equal(own.phase, _NARROW)
    at_low, at_high = _illinois(own, hit, narrowing)
    later = own._replace(
        low=ops.where(hit, own.low, own.x),
        high=ops.where(hit, own.x, own.high),
        at_low=ops.where(hit, at_low, value),
        at_high=ops.where(hit, value, at_high),
        side=ops.where(hit, 1.0, -1.0),
        turn=own.turn + 1.0,
        beat=ops.where(ops.equal(own.beat, 2.0), 0.0, own.beat + 1.0),
    )
    finest = ops.maximum(np.finfo(float).eps * ops.maximum(abs(t), h) / h, 1e-16)
    close = ops.less_equal(later.high - later.low, 2.0 * finest) + ops.less(MOST_TURNS, later.turn)
    over = scanning * (1.0 - hit) * ops.less_equal(1.0, own.x)  # the whole step, and nothing happened
    last = narrowing * ops.where(close, 1.0, 0.0)
    ends = ops.maximum(over, ops.maximum(ops.equal(own.phase, _LAST), last * hit))
    ahead = ops.minimum(own.x + 1.0 / SCANNED, 1.0)
    inside = _inside(later, finest)
    x = ops.where(scanning, ops.where(hit, inside, ahead), ops.where(last, later.high, inside))
    phase = ops.where(scanning, ops.where(hit, _NARROW, _SCAN), ops.where(last, _LAST, own.phase))
    after = later._replace(x=x, phase=phase, hunting=1.0 - ends, found=ends * (1.0 - over))
    final = own._replace(hunting=0.0, found=1.0)  # the point looked at last is the upper end
    after = _chosen(ops.equal(own.phase, _LAST), final, after)
    stays = own._replace(hunting=0.0)
    return _chosen(own.hunting, after._replace(x=ops.where(ends, own.x, after.x)), stays)


def _illinois(own: RootSearch, hit: Any, narrowing: Any) -> tuple[Any, Any]:
    """The values at the ends; that of one which stays for the second time counts half."""
    again_high, again_low = narrowing * ops.equal(own.side, 1.0), narrowing * ops.equal(own.side, -1.0)
    return own.at_low * ops.where(again_high, 0.5, 1.0), own.at_high * ops.where(again_low, 0.5, 1.0)


def _inside(own: RootSearch, finest: Any) -> Any:
    """The next point: on the line between the ends, or in the middle."""
    width = own.high - own.low
    middle = own.low + 0.5 * width
    straight = own.high - own.at_high * width / (own.at_high - own.at_low)
    usable = ops.less(own.at_low, 0.0) * ops.less(0.0, own.beat) * ops.equal(straight, straight)
    kept = ops.minimum(ops.maximum(straight, own.low + finest), own.high - finest)
    return ops.where(usable * ops.less(2.0 * finest, width), kept, middle)


def _chosen(condition: Any, a: RootSearch, b: RootSearch) -> RootSearch:
    return RootSearch(*(ops.where(condition, x, y) for x, y in zip(a, b, strict=True)))


__all__ = ["RootSearch", "begun", "narrowed"]
