"""Values that a function does take in a box: searched from many starts, all entries at once, one input after the other.

Torques are largest at ends of accelerations and often of velocities, so ends are tried beside steps that become shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray

Evaluate = Callable[[FloatArray], FloatArray]
"""From inputs in rows, (rows, d), to all entries, (rows, m)."""

_SAMPLES = 3000
_STARTS = 10
_SWEEPS = 26
_SHRINK = 0.65
_STEPS = np.array([-1.0, -0.4, 0.4, 1.0])


class Aim(NamedTuple):
    """An entry, and +1 for its largest or -1 for its least value."""

    column: int
    sign: float


class Found(NamedTuple):
    """The best value of each aim, with its sign, (aims,), and where, (aims, d)."""

    value: FloatArray
    place: FloatArray


def search(evaluate: Evaluate, lo: FloatArray, hi: FloatArray, aims: Sequence[Aim], rng: np.random.Generator) -> Found:
    """From random places inside and at corners."""
    draws = rng.uniform(lo, hi, (_SAMPLES, len(lo)))
    corners = np.where(rng.uniform(size=draws.shape) < 0.5, lo, hi)
    mixed = np.where(rng.uniform(size=draws.shape) < 0.5, draws, corners)
    x = np.concatenate([draws, mixed, corners, lo[None], hi[None], 0.5 * (lo + hi)[None]])
    values = evaluate(x)
    rows = np.concatenate([np.argsort(-_aimed(values[:, aim.column], aim.sign), kind="stable")[:_STARTS] for aim in aims])
    return climb(evaluate, lo, hi, aims, x[rows], 0.5, _SWEEPS, rng)


def climb(
    evaluate: Evaluate,
    lo: FloatArray,
    hi: FloatArray,
    aims: Sequence[Aim],
    x: FloatArray,
    step: float,
    sweeps: int,
    rng: np.random.Generator,
) -> Found:
    """From given places, as many for each aim, one aim after the other; the first step is a share of the ranges."""
    each = len(x) // len(aims)
    columns = np.repeat([aim.column for aim in aims], each)
    signs = np.repeat([aim.sign for aim in aims], each)

    def own(moved: FloatArray) -> FloatArray:
        values = evaluate(moved.reshape(-1, len(lo))).reshape(*moved.shape[:2], -1)
        return _aimed(np.take_along_axis(values, columns[:, None, None], axis=2)[:, :, 0], signs[:, None])

    best = own(x[:, None])[:, 0]
    for _ in range(sweeps):
        for j in np.flatnonzero(hi > lo)[rng.permutation(int((hi > lo).sum()))]:
            tried = np.concatenate(
                [x[:, None, j] + step * (hi[j] - lo[j]) * _STEPS, np.tile([lo[j], hi[j]], (len(x), 1))], axis=1
            )
            moved = np.repeat(x[:, None], tried.shape[1], axis=1)
            moved[:, :, j] = np.clip(tried, lo[j], hi[j])
            values = own(moved)
            k = np.argmax(values, axis=1)
            rows = np.arange(len(x))
            better = values[rows, k] > best
            x = np.where(better[:, None], moved[rows, k], x)
            best = np.where(better, values[rows, k], best)
        step *= _SHRINK
    top = np.argmax(best.reshape(len(aims), each), axis=1) + each * np.arange(len(aims))
    return Found(best[top], x[top])


def _aimed(values: FloatArray, signs: FloatArray | float) -> FloatArray:
    """Values by which places are compared; what is not finite is the worst."""
    return np.where(np.isfinite(values), signs * values, -np.inf)
