"""Samples of several things at times of their own, brought to common times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray

_SAME = 1e-12  # of a time in s: two that are nearer differ by rounding


def merged(grids: Sequence[FloatArray], t_start: float) -> FloatArray | None:
    """All times in order, beginning no later than the motion; None where there are none."""
    if not grids:
        return None
    times = np.unique(np.concatenate(grids))
    times = times if times[0] <= t_start else np.append(t_start, times)
    return times[np.append(True, np.diff(times) > _tolerance(times[1:]))]


def _tolerance(times: FloatArray) -> FloatArray:
    return _SAME * np.maximum(1.0, np.abs(times))


def near(times: FloatArray, others: FloatArray) -> Any:
    """Whether each of the times is one of the others, but for rounding."""
    if not others.size:
        return np.zeros(times.shape, bool)
    place = np.clip(np.searchsorted(others, times), 1, max(len(others) - 1, 1))
    gap = np.minimum(np.abs(times - others[place - 1]), np.abs(times - others[np.minimum(place, len(others) - 1)]))
    return gap <= _tolerance(times)


def rows_at(wanted: FloatArray, times: FloatArray, rows: FloatArray, between: str) -> FloatArray:
    """Rows (..., G, k) of samples at other times, held or on lines between them; outside, the first and the last hold."""
    place = np.clip(np.searchsorted(times, wanted + _tolerance(wanted), side="right") - 1, 0, len(times) - 1)
    held = rows[..., place, :]
    if between == "hold" or len(times) == 1:
        return held
    following = np.minimum(place + 1, len(times) - 1)
    length = np.where(following > place, times[following] - times[place], 1.0)
    share = np.clip((wanted - times[place]) / length, 0.0, 1.0)[:, None]
    return np.asarray(held + (rows[..., following, :] - held) * share)


__all__ = ["merged", "near", "rows_at"]
