"""Speeds to begin with: those of full jerk from rest to rest, below every speed that a limit forbids by itself."""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray
from .path_grid import BoolArray
from .rate_rows import RateRows

_TABLE = 2001
_DIP, _FILLED = 3, 0.5  # as many grid points wide at most, and filled up to this share


def first_speeds(s: FloatArray, resting: BoolArray, rows: RateRows, most: FloatArray, ends: FloatArray) -> FloatArray:
    """ṡ² at grid points (N + 1,), for rows of rates (N, places, R), the largest ṡ² of other limits, and ṡ at both ends."""
    with np.errstate(divide="ignore"):
        jerk = float(np.median((rows.size / np.abs(rows.A)).min(axis=(1, 2))))
        by_slope = (rows.size / np.abs(rows.G)).min(axis=(1, 2)) ** 2  # √x G ≤ r
        by_curve = np.cbrt((rows.size / np.abs(rows.C)).min(axis=(1, 2)) ** 2)  # x√x C ≤ r
    x = _full_jerk(s, resting, jerk)
    for away, speed in ((s, ends[0]), (s[-1] - s, ends[1])):
        if speed > 0:
            x = np.minimum(x, _from_speed(away, speed, jerk))
    least = np.minimum(by_slope, by_curve)
    x[:-1], x[1:] = np.minimum(x[:-1], least), np.minimum(x[1:], least)
    allowed = np.isfinite(most) & (most > 0)
    return np.where(allowed, np.minimum(x, np.where(allowed, most, 1.0)), x)


def without_dips(x: FloatArray) -> FloatArray:
    """ṡ² (N + 1,), nowhere far below the larger ones of both sides: a profile that jumps may all but stop at one grid point."""
    before, after = np.zeros_like(x), np.zeros_like(x)
    for k in range(1, _DIP + 1):
        before[k:], after[:-k] = np.maximum(before[k:], x[:-k]), np.maximum(after[:-k], x[k:])
    return np.maximum(x, _FILLED * np.minimum(before, after))


def _full_jerk(s: FloatArray, resting: BoolArray, jerk: float) -> FloatArray:
    """j t²/2 with s = j t³/6 since the nearest rest, up to the largest speed of a way as long as the path."""
    rests = s[resting] if resting.any() else np.array([-s[-1], 2 * s[-1]])
    away = np.abs(s[:, None] - rests).min(axis=1)
    z = np.minimum(0.5 * jerk * np.cbrt(6 * away / jerk) ** 2, jerk * np.cbrt(s[-1] / (2 * jerk)) ** 2)
    return z * z


def _from_speed(away: FloatArray, speed: float, jerk: float) -> FloatArray:
    """(z + j t²/2)² with s = z t + j t³/6 since an end that is passed with the speed z."""
    t = np.linspace(0.0, 1.0, _TABLE) * np.cbrt(6 * away.max() / jerk)
    return np.interp(away, speed * t + jerk * t**3 / 6, speed + jerk * t * t / 2) ** 2


__all__ = ["first_speeds", "without_dips"]
