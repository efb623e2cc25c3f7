"""Decisions of an adaptive method, over scalars: the first step, accepting, the next step, samples and interpolation.

They follow scipy's, so that both integrators take the same steps [HairerNorsettWanner1993, §II.4 to §II.6].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.system import LEAST_PIVOT
from ..expr import ops
from .tableau import STAGES

SAFETY, SLOWEST = 0.9, 0.2
RUNNING, DONE, TOO_SMALL, NOT_FINITE, TOO_MANY, LEAVING, PAUSED, ENDED = range(8)
STABLE = 5.0  # h |λ| of steps that stability bounds: DOP853 leaves its region at 6.1 [HairerWanner1996, §IV.2]


class Settings(NamedTuple):
    """What the user chose, the same for all trajectories; `fresh` where the first step is still to be chosen."""

    rtol: Any
    atol: Any
    t_end: Any
    max_step: Any
    first_step: Any  # 0 to have it chosen
    max_steps: Any
    budget: Any  # trial steps of this call
    fresh: Any


class Fields(NamedTuple):
    """What a trajectory carries from call to call, beside its state and slope."""

    t: Any
    h: Any
    rejected: Any  # whether the last trial of this step was
    status: Any
    accepted: Any
    rejections: Any
    evaluations: Any
    cursor: Any  # the next row of the results
    sample: Any  # the sample in force
    broken: Any  # whether numbers were not finite
    moved: Any  # whether the torque has jumped since the slope was evaluated
    bound: Any  # accepted steps that stability bounded, and not accuracy


class Control(NamedTuple):
    """How a method chooses its next step: the root of the error that its order asks for, and the fastest growth."""

    root: Callable[[Any], Any]
    fastest: float


def eighth_root(x: Any) -> Any:
    """x^(1/8)."""
    return ops.sqrt(ops.sqrt(ops.sqrt(x)))


def fifth_root(x: Any) -> Any:
    """x^(1/5), nearly: 1/5 = 1/4 − 1/16 + 1/64 − 1/256 + ..., and the choice of a step needs no more."""
    fourth = ops.sqrt(ops.sqrt(x))
    sixteenth = ops.sqrt(ops.sqrt(fourth))
    small = ops.sqrt(ops.sqrt(sixteenth))
    return fourth * small / (sixteenth * ops.sqrt(ops.sqrt(small)))


EIGHTH, FIFTH = Control(eighth_root, 10.0), Control(fifth_root, 6.0)


def between(t: Any, here: Any, following: Any, a: Any, b: Any) -> list[Any]:
    """The torque on the line between two samples."""
    return [a + (b - a) * ((t - here) / (following - here))]


def weighted(weights: Sequence[float], scalars: Sequence[Any]) -> Any:
    """Σ weight · scalar."""
    total: Any = 0.0
    for weight, scalar in zip(weights, scalars, strict=True):
        total = total + float(weight) * scalar
    return total


def active(status: Any, turn: Any, budget: Any) -> list[Any]:
    """Whether a trajectory goes on in this call."""
    return [[ops.equal(status[0], float(RUNNING)) * ops.less(turn[0], budget[0])]]


def sizes(q: Any, v: Any, qdd: Any, rtol: Any, atol: Any) -> list[Any]:
    """Slopes at the start; squares of the state and of the slopes in units of the tolerance."""
    a, b = 1.0 / (atol + abs(q) * rtol), 1.0 / (atol + abs(v) * rtol)
    states = q * a * (q * a) + v * b * (v * b)
    return [v, qdd, states, v * a * (v * a) + qdd * b * (qdd * b)]


def guess(n: float, states: Any, slopes: Any, t: Any, t_end: Any) -> list[Any]:
    """A length over which the state changes little, and what the next question needs."""
    d0, d1 = ops.sqrt(states / (2.0 * n)), ops.sqrt(slopes / (2.0 * n))
    tiny = ops.maximum(ops.less(d0, 1e-5), ops.less(d1, 1e-5))
    h0 = ops.minimum(ops.where(tiny, 1e-6, 0.01 * d0 / d1), t_end - t)
    return [h0, d1, t + h0, 0.0]


def change(v: Any, a: Any, v0: Any, a0: Any, q: Any, qd: Any, rtol: Any, atol: Any) -> list[Any]:
    """The square of the change of slope over that length, in units of the tolerance."""
    x, y = (v - v0) / (atol + abs(q) * rtol), (a - a0) / (atol + abs(qd) * rtol)
    return [x * x + y * y]


def first(
    n: float,
    root: Callable[[Any], Any],
    changes: Any,
    h0: Any,
    d1: Any,
    t: Any,
    t_end: Any,
    max_step: Any,
    given: Any,
    evaluations: Any,
) -> list[Any]:
    """The first step, the evaluations it took, and whether its number is not one."""
    d2 = ops.sqrt(changes / (2.0 * n)) / h0
    flat = ops.less_equal(d1, 1e-15) * ops.less_equal(d2, 1e-15)
    h1 = ops.where(flat, ops.maximum(1e-6, h0 * 1e-3), root(0.01 / ops.maximum(d1, d2)))
    h = ops.minimum(ops.minimum(100.0 * h0, h1), ops.minimum(t_end - t, max_step))
    chosen = ops.where(ops.less(0.0, given), given, h)
    return [chosen, evaluations + 2.0 - ops.less(0.0, given), 0.0, 1.0 - ops.equal(chosen, chosen)]


def begun(options: Settings, own: Fields, stop: Any) -> tuple[Fields, list[Any]]:
    """The trial step: its length, its end, and whether there is one; a step too small to make ends the motion."""
    smallest = ops.maximum(10.0 * np.finfo(float).eps * abs(own.t), 1e-300)
    bounded = ops.where(ops.less(own.h, smallest), smallest, own.h)
    bounded = ops.where(ops.less(options.max_step, own.h), options.max_step, bounded)
    length = ops.where(own.rejected, own.h, bounded)
    running = ops.equal(own.status, float(RUNNING))
    trial = running * ops.less_equal(smallest, length)  # not for NaN
    end = own.t + length
    end = ops.where(trial, ops.where(ops.less(stop, end), stop, end), own.t)
    failure = ops.where(own.broken, float(NOT_FINITE), float(TOO_SMALL))
    status = ops.where(running, ops.where(trial, float(RUNNING), failure), own.status)
    return own._replace(status=status), [end - own.t, end, trial]


def decided(n: float, options: Settings, own: Fields, sums: list[Any], step: Any, t_new: Any, trial: Any) -> tuple[Fields, Any]:
    """Whether the trial step is accepted, the length of the next one, and the counts."""
    five, three, slopes, points = sums
    after, accept = judged(options, own, _error(n, step, five, three), EIGHTH, STAGES, step, t_new, trial)
    bound = ops.less(STABLE * STABLE * points, slopes)
    return after._replace(bound=own.bound + accept * bound), accept


def judged(
    options: Settings, own: Fields, error: Any, control: Control, stages: int, step: Any, t_new: Any, trial: Any
) -> tuple[Fields, Any]:
    """The same by the error in units of the tolerance; the trial took so many evaluations."""
    accept = trial * ops.less(error, 1.0)
    accepted, rejections = own.accepted + accept, own.rejections + (trial - accept)
    over = ops.where(accept * ops.less_equal(options.t_end, t_new), float(DONE), float(RUNNING))
    left = ops.less(accepted + rejections, options.max_steps)
    status = ops.where(left, over, ops.where(over, over, float(TOO_MANY)))
    later = own._replace(
        h=ops.where(trial, _next_step(error, accept, own.rejected, step, control), own.h),
        rejected=ops.where(trial, trial - accept, own.rejected),
        status=ops.where(trial, status, own.status),
        accepted=accepted,
        rejections=rejections,
        evaluations=own.evaluations + float(stages) * trial,
        broken=ops.where(trial, 1.0 - ops.equal(error, error), own.broken),
    )
    return later, accept


def leaving(status: Any, accept: Any, pivot: Any) -> Any:
    """The status, with a motion stopped where its coordinates are about to stop telling the positions."""
    ends = ops.equal(status, float(RUNNING)) * accept * ops.less(pivot, LEAST_PIVOT)
    return ops.where(ends, float(LEAVING), status)


def _error(n: float, step: Any, sum5: Any, sum3: Any) -> Any:
    none = ops.equal(sum5, 0.0) * ops.equal(sum3, 0.0)
    return ops.where(none, 0.0, step * sum5 / ops.sqrt((sum5 + 0.01 * sum3) * (2.0 * n)))


def _next_step(error: Any, accept: Any, rejected: Any, step: Any, control: Control) -> Any:
    factor = SAFETY / control.root(error)
    faster = ops.where(ops.equal(error, 0.0), control.fastest, ops.minimum(control.fastest, factor))
    faster = ops.where(rejected, ops.minimum(1.0, faster), faster)
    slower = ops.where(ops.less(SLOWEST, factor), factor, SLOWEST)  # NaN too
    return step * ops.where(accept, faster, slower)


def interpolated(x: Any, start: Any, *powers: Any) -> list[Any]:
    """y(t) at x = (t − t_old) / h [HairerNorsettWanner1993, §II.6]."""
    value: Any = 0.0
    for k, power in enumerate(reversed(powers)):
        value = (value + power) * (x if k % 2 == 0 else 1.0 - x)
    return [start + value]


def next_sample(accept: Any, t_new: Any, t_end: Any, following: Any, sample: Any) -> list[Any]:
    """The sample in force after the step, and whether it is another."""
    moved = accept * ops.less_equal(following, t_new) * ops.less(t_new, t_end)
    return [sample + moved, moved]
