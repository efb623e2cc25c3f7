"""s(t) of a profile, in closed form.

Within an interval s̈ is linear in s, s̈ = a + b σ with σ = s − s_k: an oscillator, or its hyperbolic sister. With the speeds z, z₁
at its ends and its length h it takes the time

    t = 2/√b · artanh(√b h / (z + z₁)),   2h / (z + z₁) as b → 0,   arctan for b < 0                         (1)

and σ(t) = z S(t) + a C(t) with S = sinh(√b t)/√b, C = (cosh(√b t) − 1)/b, and sines for b < 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..trajectory import Motion
from ..trajectory.motion import Rates

_SERIES, _ARC_SERIES = 1e-3, 1e-4  # squares of the argument up to which four terms of sines, and of their inverses, are exact


_BEFORE = 1e-12  # of a path, by which a place is before the next grid point while its time is


def before_next(grid: FloatArray, k: Any, s: FloatArray) -> FloatArray:
    """Places s of intervals k, rounded to within them: at a corner, the direction after it does not go with s̈ before it."""
    last = len(grid) - 2
    ends = np.where(k < last, np.maximum(grid[k + 1] - _BEFORE * grid[-1], grid[k]), grid[k + 1])
    return np.minimum(s, ends)


def passage_times(lengths: FloatArray, x: FloatArray, w: FloatArray) -> FloatArray:
    """How long each interval takes, shape (..., N): (1)."""
    z = np.sqrt(x)
    total = z[..., :-1] + z[..., 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = lengths / total
        y2 = -2 * w / lengths * ratio**2  # b of s̈ = a + b σ is −2w/h
        longer: FloatArray = 1 + y2 * (1 / 3 + y2 * (1 / 5 + y2 / 7))
        bent = np.abs(y2) > _ARC_SERIES
        far = y2[bent]
        y = np.sqrt(np.abs(far))
        longer[bent] = np.where(far > 0, np.arctanh(np.minimum(y, 1 - 1e-16)), np.arctan(y)) / y
    return 2 * ratio * longer


class TimeLaw(Motion):
    """s(t) as a motion of one coordinate."""

    def __init__(self, s: FloatArray, x: FloatArray, u: FloatArray, w: FloatArray) -> None:
        h = np.diff(s)
        t = np.concatenate([[0.0], np.cumsum(passage_times(h, x, w))])
        self.breaks, self.shape = checks.frozen(t), (1,)
        self.s, self.z, self.a, self.b = s, np.sqrt(x), u + w, -2 * w / h

    def at(self, t: FloatArray) -> Rates:
        """s and its rates, of shape (k, 1)."""
        k = np.clip(np.searchsorted(self.breaks, t, side="right") - 1, 0, len(self.a) - 1)
        r = t - self.breaks[k]
        z, a, b = self.z[k], self.a[k], self.b[k]
        S, C = _sine(b, r), _versine(b, r)
        sigma = z * S + a * C
        sd = z * (1 + b * C) + a * S
        s = before_next(self.s, k, self.s[k] + sigma)
        found = s, np.maximum(sd, 0.0), a + b * sigma, b * sd
        q, q1, q2, q3 = (part[:, None] for part in found)
        return q, q1, q2, q3


def _sine(b: FloatArray, t: FloatArray) -> FloatArray:
    """sinh(√b t)/√b, or sin(√−b t)/√−b."""
    y2 = b * t * t
    y = np.sqrt(np.abs(y2))
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = np.where(y2 > 0, np.sinh(y), np.sin(y)) / y
    found: FloatArray = t * np.where(np.abs(y2) < _SERIES, 1 + y2 / 6 * (1 + y2 / 20 * (1 + y2 / 42)), bent)
    return found


def _versine(b: FloatArray, t: FloatArray) -> FloatArray:
    """(cosh(√b t) − 1)/b, or (1 − cos(√−b t))/−b: twice the square of the half sine."""
    half = _sine(b, t / 2)
    found: FloatArray = 2 * half * half
    return found


class TimedPath(Motion):
    """A path q(s) run through by a time law; its breaks are those of the law, which has the path's among them."""

    def __init__(self, path: Motion, law: Motion) -> None:
        self.path, self.law, self.shape = path, law, path.shape
        self.breaks, self.about = law.breaks, path.about

    def at(self, t: FloatArray) -> Rates:
        """The chain rule to third order."""
        s, sd, sdd, sddd = self.law.at(t)
        q, q1, q2, q3 = self.path.at(np.clip(s[:, 0], 0.0, self.path.duration))
        return q, q1 * sd, q2 * sd**2 + q1 * sdd, q3 * sd**3 + 3 * q2 * sd * sdd + q1 * sddd


__all__ = ["TimeLaw", "TimedPath", "before_next", "passage_times"]
