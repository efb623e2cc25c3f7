"""s(t) of a profile with continuous s̈: t = ∫ ds / ṡ over each interval, by quadrature in the v of smooth_shape.

dt/dv is nearly constant, v being nearly time, also beside rest; eight nodes of Gauss give t to rounding, and a few Newton steps
the v of a given time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..trajectory import Motion
from ..trajectory.motion import Rates
from .smooth_shape import AT_REST, Shape, SmoothProfile, rates_at
from .time_law import before_next

_NODES, _WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(8))
_NODES = _NODES + 0.5
_NEWTON = 8  # steps at most to the place of a time


class SmoothLaw(Motion):
    """s(t) as a motion of one coordinate, with three derivatives of which the second is continuous."""

    def __init__(self, s: FloatArray, profile: SmoothProfile) -> None:
        self.s, self.h = s, np.diff(s)
        self.slow = profile.from_slow_ends()
        self.times = self._time(np.arange(len(self.h)), np.ones(len(self.h)))
        self.breaks, self.shape = checks.frozen(np.concatenate([[0.0], np.cumsum(self.times)])), (1,)

    def _rates(self, k: Any, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        return rates_at(self.slow.only(k), v)

    def _time(self, k: Any, v: FloatArray) -> FloatArray:
        """From the slower end of intervals k to v."""
        x, _, _, stretch = self._rates(k, v[:, None] * _NODES)
        found: FloatArray = v * ((stretch / np.sqrt(np.maximum(x, 1e-300))) @ _WEIGHTS)
        return found

    def _place(self, k: Any, r: FloatArray) -> FloatArray:
        """v at times r since the slower ends."""
        v = np.clip(r / self.times[k], 0.0, 1.0)
        for _ in range(_NEWTON):
            x, _, _, stretch = self._rates(k, np.maximum(v, AT_REST)[:, None])
            step = (self._time(k, v) - r) * np.sqrt(x[:, 0]) / stretch[:, 0]
            v = np.clip(v - step, 0.0, 1.0)
            if (np.abs(step) < 1e-15).all():
                break
        return v

    def places(self, t: FloatArray) -> tuple[Any, FloatArray]:
        """The intervals of times t (k,), and v there from their slower ends."""
        k = np.clip(np.searchsorted(self.breaks, t, side="right") - 1, 0, len(self.h) - 1)
        r = np.where(self.slow.flipped[k], self.breaks[k + 1] - t, t - self.breaks[k])
        return k, self._place(k, np.clip(r, 0.0, self.times[k]))

    def between(self, t: FloatArray, nodes: FloatArray) -> FloatArray:
        """What runs linearly in v from grid point to grid point (N + 1, m), at times t (k,)."""
        k, v = self.places(t)
        share = np.where(self.slow.flipped[k], 1 - v, v)[:, None]
        found: FloatArray = (1 - share) * nodes[k] + share * nodes[k + 1]
        return found

    def at(self, t: FloatArray) -> Rates:
        """s and its rates, of shape (k, 1)."""
        k, v = self.places(t)
        flipped = self.slow.flipped[k]
        x, u, _, _ = (part[:, 0] for part in self._rates(k, v[:, None]))
        beside, _, slope, _ = (part[:, 0] for part in self._rates(k, np.maximum(v, AT_REST)[:, None]))
        theta = Shape(*(part[k] for part in self.slow.shape)).share(v)
        s = np.where(flipped, self.s[k + 1] - self.h[k] * theta, self.s[k] + self.h[k] * theta)
        found = before_next(self.s, k, s), np.sqrt(x), np.where(flipped, -u, u), np.sqrt(beside) * slope
        q, q1, q2, q3 = (part[:, None] for part in found)
        return q, q1, q2, q3


__all__ = ["SmoothLaw"]
