"""Where a path rests and where it nearly stops, out of a table of its speeds |q′|; and where its arc length will do."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..trajectory import Motion
from .path_grid import BoolArray

STALLED = 1e-3  # share of the largest |q′| below which it may rest nearby, and does at an end
_RESTED = 1e-13  # and below which it does elsewhere
_DIP = 0.3  # share of the speeds on both sides below which a path nearly stops
STRAIGHT = 1e-6  # by which its direction turns from place to place at least where that matters [rad]
_PIECES, _OF_PIECE = 400, 4  # places of the table, of the path and of each of its pieces at least
_BEFORE = 1e-13  # of the path: how far before a break what leads to it is read
HALVES = 60  # of an interval, to its rest
_BENT = 1e-3  # of |q′| in the length of the path: q″ with which a path that turns back goes on by itself
_JUMP = 1e-6  # relative: a jump of q″
RESTS = 3e-6  # share of the speed between two rests at which the direction beside them is read


class Rest(NamedTuple):
    """Where a path rests: from `start` to `end`, mostly the same, and where it just moves before and after, if it does.

    Of several rests, an array each.
    """

    start: Any
    end: Any
    before: Any = None
    after: Any = None


class Zone(NamedTuple):
    """Where σ is the arc length by v: φ rises from `begin` to `rise`, and falls from `fall` to `end`; of several, arrays."""

    begin: Any
    rise: Any
    fall: Any
    end: Any
    v: Any


class SpeedTable:
    """A path at even places, at its breaks and where its speed is least: q′ beside each place, on both sides."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion
        fine = [np.linspace(a, b, _OF_PIECE + 1)[:-1] for a, b in pairwise(motion.breaks)]
        places = np.unique(np.concatenate([np.linspace(0.0, motion.duration, _PIECES + 1), *fine]))
        self.least = self._least(places)
        self.places = np.unique(np.concatenate([places, self.least]))
        self.after, self.before = self._beside(self.places, 1)
        self.speed = np.maximum(np.linalg.norm(self.after, axis=-1), np.linalg.norm(self.before, axis=-1))
        self.low = np.minimum(np.linalg.norm(self.after, axis=-1), np.linalg.norm(self.before, axis=-1))
        self.most = float(self.speed.max())

    def _beside(self, s: FloatArray, order: int) -> tuple[FloatArray, FloatArray]:
        """A derivative just after places and just before them."""
        after = self.motion.at(s)[order]
        return after, np.concatenate([after[:1], self.motion.at(s[1:] - _BEFORE * self.motion.duration)[order]])

    def _least(self, s: FloatArray) -> FloatArray:
        """Where |q′| is least between two places: q′ · q″ passes zero, falling before and rising after."""

        def rising(at: FloatArray) -> FloatArray:
            _, q1, q2, _ = self.motion.at(at)
            found: FloatArray = (q1 * q2).sum(axis=-1)
            return found

        k = np.flatnonzero((rising(s[:-1]) < 0) & (rising(s[1:] - _BEFORE * self.motion.duration) > 0))
        low, high = s[k], s[k + 1]
        for _ in range(HALVES if k.size else 0):
            middle = (low + high) / 2
            falls = rising(middle) < 0
            low, high = np.where(falls, middle, low), np.where(falls, high, middle)
        return high

    def rests(self, turning: bool) -> list[Rest]:
        """Where the path rests. Where it only turns back, with q″ as before, it counts if it may stop there (`turning`)."""
        share = np.full(len(self.places), _RESTED)
        share[[0, -1]] = STALLED
        at = np.flatnonzero(self.low <= share * self.most)
        found = [at[:0].tolist()]
        for k in at.tolist():
            if found[-1] and k == found[-1][-1] + 1 and self._rests_between(k):
                found[-1].append(k)
            elif turning or not self._goes_on(k):
                found.append([k])
        return [Rest(float(self.places[k[0]]), float(self.places[k[-1]])) for k in found if k]

    def _rests_between(self, k: int) -> bool:
        """Whether the path rests from the place before to this one."""
        middle = self.places[k - 1 : k + 1].mean(keepdims=True)
        return bool(np.linalg.norm(self.motion.at(middle)[1]) <= RESTS * self.most)

    def _goes_on(self, k: int) -> bool:
        """Whether the path only turns back at an inner place, with the same q″ before and after."""
        if k in (0, len(self.places) - 1):
            return False
        s = self.places[k - 1 : k + 1]
        after, before = (part[-1] for part in self._beside(s, 2))
        size = np.linalg.norm(after)
        bent = size * self.motion.duration > _BENT * self.most
        return bool(bent and np.linalg.norm(after - before) <= _JUMP * size)

    def zones(self, rests: list[Rest]) -> list[Zone]:
        """Where σ is the arc length: from rest to rest, or to where the path is fastest before it nearly stops."""
        places, T = self.places, self.motion.duration
        cuts = [0, *(int(k) for rest in rests for k in np.searchsorted(places, rest[:2])), len(places) - 1]
        free = [self._borders(first, last) for first, last in zip(cuts[::2], cuts[1::2], strict=True)]
        borders = [k for pair in free if pair is not None for k in pair]
        ends = [-1, *borders, -1]
        found = []
        for first, last in zip(ends[::2], ends[1::2], strict=True):
            begin, end = (-T if first < 0 else places[first]), (2 * T if last < 0 else places[last])
            own = [rest for rest in rests if begin < rest.start and rest.end < end]
            if own:
                v = np.mean([self.speed[k] for k in (first, last) if k >= 0]) if max(first, last) >= 0 else 1.0
                found.append(Zone(begin, (begin + own[0].start) / 2, (end + own[-1].end) / 2, end, float(v)))
        return found

    def _borders(self, first: int, last: int) -> tuple[int, int] | None:
        """Of a stretch without rests, where it is fastest before the first and after the last place at which it nearly stops."""
        speed = self.speed[first : last + 1]
        rising, falling = np.maximum.accumulate(speed), np.maximum.accumulate(speed[::-1])[::-1]
        beside = np.minimum(rising[:-2], falling[2:])
        dips = 1 + np.flatnonzero((self.low[first + 1 : last] < _DIP * beside) & self._turns(first, last))
        if not dips.size:
            return None
        return first + int(np.argmax(speed[: dips[0]])), first + int(dips[-1] + np.argmax(speed[dips[-1] :]))

    def _turns(self, first: int, last: int) -> BoolArray:
        """Whether the path turns at all beside the inner places of a stretch: a straight one has no curvature to see."""
        unit = self.after[first : last + 1] / np.maximum(np.linalg.norm(self.after[first : last + 1], axis=-1), 1e-300)[:, None]
        found: BoolArray = np.linalg.norm(unit[2:] - unit[:-2], axis=-1) > STRAIGHT
        return found


__all__ = ["HALVES", "RESTS", "STALLED", "STRAIGHT", "Rest", "SpeedTable", "Zone"]
