"""A motion q(t) with three derivatives, of one robot or of a batch, and what can be made of any motion.

What a motion is made of stays with its class, which evaluates it in `at`: polynomials in pieces, Fourier series, a tool path.
Everything here needs that and the times at which a derivative may jump:

    stretched by c:     q(t/c)      with  q̇/c, q̈/c², q⃛/c³                                       (1)
    reversed:           q(T − t)    with  −q̇, q̈, −q⃛                                             (2)
    a path in time:     q(s(t))     with  q′ṡ,  q″ṡ² + q′s̈,  q‴ṡ³ + 3 q″ṡs̈ + q′s⃛               (3)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from .. import checks, options
from ..brief import brief
from ..checks import FloatArray
from ..errors import ShapeError
from . import batch_check, limit_check
from . import motion_arguments as arguments
from .limit_check import LimitCheck

IntArray: TypeAlias = npt.NDArray[np.intp]
Rates: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""q, q̇, q̈, q⃛, each of shape (..., k, n)."""

_SAME = 1e-12  # share of the duration by which times may differ and count as one: rounding of sums of many steps


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Samples of a motion: times t, shape (k,), and q, q̇, q̈, q⃛ at them, each of shape (..., k, n).

    At one instant t has shape (), and there is no axis k.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    qddd: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class Motion:
    """A motion q(t) for 0 ≤ t ≤ T, or a batch of them on one clock, with exact derivatives to third order.

    The functions of `dal.trajectory` make motions; a geometric path q(s) is one too, with s in place of t. Before and after a
    motion the robot rests where it begins and ends. Where a derivative jumps, its value is the one after the jump, at the end
    of the motion the one before.

    Attributes
    ----------
    breaks : ndarray, shape (p + 1,)
        Times at which a derivative may jump [s], from 0 to the duration.
    shape : tuple
        (..., n): the batch, and the number of coordinates.
    about : str
        How the motion was made, where that matters, such as the filter of sampled data.

    Examples
    --------
    >>> import dalembert as dal
    >>> there = dal.trajectory.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0)
    >>> there
    Motion(n=2, duration=2, pieces=1)
    >>> there([0.0, 1.0, 2.0]).q[:, 0]
    array([0. , 0.5, 1. ])
    >>> there.then(there.reversed()).stretched(1.5).duration
    6.0
    """

    breaks: FloatArray
    shape: tuple[int, ...]
    about: str = ""

    def at(self, t: FloatArray) -> Rates:
        """q, q̇, q̈, q⃛ at times of the motion, 0 ≤ t ≤ T; users call the motion itself, which checks them."""
        raise NotImplementedError

    @property
    def duration(self) -> float:
        """T [s]."""
        return float(self.breaks[-1])

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return self.shape[-1]

    def __repr__(self) -> str:
        facts = [f"n={self.n}", f"duration={self.duration:.6g}", f"pieces={len(self.breaks) - 1}"]
        facts += [f"batch={self.shape[:-1]}"] * (len(self.shape) > 1) + [f"about={self.about!r}"] * bool(self.about)
        return f"Motion({', '.join(facts)})"

    def __getitem__(self, which: Any) -> Motion:
        """One motion of a batch, or several, as NumPy takes rows."""
        batch = self.shape[:-1]
        try:
            rows = np.arange(math.prod(batch)).reshape(batch)[which]
        except (IndexError, TypeError, ValueError):
            raise ShapeError(f"motion[{checks.shown(which)}]: the batch has shape {batch}.") from None
        return self.rows(np.asarray(rows))

    def rows(self, numbers: IntArray) -> Motion:
        """The motions of a batch that have these numbers, counted row by row; a kind that can evaluates no others."""
        return Picked(self, numbers)

    def __iter__(self) -> Iterator[Motion]:
        """The motions of a batch, one after another."""
        if len(self.shape) == 1:
            raise TypeError("a single motion is not a batch, so there is nothing to go through.")
        return (self[row] for row in range(self.shape[0]))

    def __call__(self, t: ArrayLike) -> Trajectory:
        """The motion at times t [s], shape (k,), or at one."""
        times, T = arguments.times(t), self.duration
        rates = self.at(np.clip(np.atleast_1d(times), 0.0, T))
        resting = ((times < 0.0) | (times > T * (1 + _SAME)))[..., None]
        q, *others = rates if times.ndim else (rate[..., 0, :] for rate in rates)
        if resting.any():
            others = [np.where(resting, 0.0, rate) for rate in others]
        return Trajectory(times, q, *others)

    def sample(self, *, dt: float | None = None, count: int | None = None) -> Trajectory:
        """The motion at every multiple of dt [s] and at its end, or at `count` times evenly from start to end."""
        if (dt is None) == (count is None):
            raise ShapeError("sample: one of dt and count is expected, the step in seconds or the number of samples.")
        if count is not None:
            return self(np.linspace(0.0, self.duration, options.samples("count", count, least=2)))
        step = arguments.positive("dt", dt)
        count = options.samples("dt: number of samples", float(np.floor(self.duration / step * (1 + _SAME))) + 1)
        t = np.arange(count) * step
        return self(t if abs(t[-1] - self.duration) <= _SAME * self.duration else np.append(t, self.duration))

    def then(self, *others: Motion) -> Motion:
        """A motion of this one and others after it, without a pause; each begins where the one before ends.

        Velocities jump there if they differ; `faded` lets one motion pass into the other smoothly.
        """
        return join((self, *others))

    def stretched(self, factor: float) -> Motion:
        """The same path in `factor` times the time."""
        return Timed(self, 1.0 / arguments.positive("factor", factor, ""))

    def reversed(self) -> Motion:
        """The same path backwards."""
        return Timed(self, -1.0)

    def check(self, robot: Any, *, samples: int = 1001, torques: bool = True) -> LimitCheck:
        """Whether positions, velocities and torques stay within a robot's limits, at so many instants and at all breaks.

        Around each joint's largest values the motion is looked at again, more closely.
        Torques are those of the inverse dynamics. Of a mechanism, joints within its loops are looked at too, and torques are
        those of its drives, shared so that the largest share of a limit is the least. The result is true where all limits are
        kept; printed, it names joint, quantity, instant, value and limit of those that are not, and a remedy.
        """
        even = np.linspace(0.0, self.duration, options.samples("samples", samples, least=2))
        t = np.unique(np.concatenate([even, self.breaks, np.nextafter(self.breaks[1:], 0.0)]))
        flag = checks.flag("torques", torques)

        def check_of(motion: Motion, at: FloatArray) -> LimitCheck:
            return limit_check.check(robot, at, *motion.at(at)[:3], torques=flag)

        return batch_check.check(self, t, check_of)

    def timed(self, timing: Motion) -> Motion:
        """The path q(s) run through as s(t) says, a motion of one coordinate that stays between 0 and this one's duration."""
        return Along(self, timing)


class Picked(Motion):
    """Some of a batch, of a kind that is evaluated as a whole."""

    def __init__(self, motion: Motion, numbers: IntArray) -> None:
        self.shape = (*numbers.shape, motion.n)
        self.motion, self.numbers, self.breaks, self.about = motion, numbers, motion.breaks, motion.about

    def at(self, t: FloatArray) -> Rates:
        """All of the batch, of which some are taken."""
        q, qd, qdd, qddd = (rate.reshape(-1, *rate.shape[-2:])[self.numbers] for rate in self.motion.at(t))
        return q, qd, qdd, qddd


class Timed(Motion):
    """A motion run through at another constant rate; backwards where the rate is negative. Equations (1), (2)."""

    def __init__(self, motion: Motion, rate: float) -> None:
        self.motion, self.rate, self.shape, self.about = motion, rate, motion.shape, motion.about
        breaks = motion.breaks if rate > 0 else motion.duration - motion.breaks[::-1]
        self.breaks = checks.frozen(breaks / abs(rate))

    def rows(self, numbers: IntArray) -> Motion:
        """As said above."""
        return Timed(self.motion.rows(numbers), self.rate)

    def at(self, t: FloatArray) -> Rates:
        """The motion at its own time, with the powers of the rate."""
        inner, T = np.abs(self.rate) * t, self.motion.duration
        q, qd, qdd, qddd = self.motion.at(np.clip(inner if self.rate > 0 else T - inner, 0.0, T))
        return q, self.rate * qd, self.rate**2 * qdd, self.rate**3 * qddd


class Joined(Motion):
    """Motions one after another."""

    def __init__(self, motions: Sequence[Motion]) -> None:
        self.motions = tuple(motions)
        self.shape = np.broadcast_shapes(*(motion.shape for motion in motions))
        self.about = "; ".join(dict.fromkeys(motion.about for motion in motions if motion.about))
        self.starts = np.cumsum([0.0, *(motion.duration for motion in motions)])
        inner = [start + motion.breaks[1:] for start, motion in zip(self.starts, motions, strict=False)]
        self.breaks = checks.frozen(np.concatenate([[0.0], *inner]))

    def rows(self, numbers: IntArray) -> Motion:
        """As said above, where all parts have the whole batch."""
        alike = all(motion.shape == self.shape for motion in self.motions)
        return Joined([motion.rows(numbers) for motion in self.motions]) if alike else Picked(self, numbers)

    def at(self, t: FloatArray) -> Rates:
        """Each time in the motion it belongs to."""
        found = np.empty((4, *self.shape[:-1], len(t), self.n))
        which = np.clip(np.searchsorted(self.starts, t, side="right") - 1, 0, len(self.motions) - 1)
        for number in np.unique(which):
            rows, motion = which == number, self.motions[number]
            rates = motion.at(np.clip(t[rows] - self.starts[number], 0.0, motion.duration))
            for whole, part in zip(found, rates, strict=True):  # each by itself, so that one motion spreads over a batch
                whole[..., rows, :] = part
        return found[0], found[1], found[2], found[3]


class Along(Motion):
    """A path in time. Equation (3)."""

    def __init__(self, path: Motion, timing: Motion) -> None:
        checks.instance("timing", timing, Motion, "dal.trajectory.quintic([0.0], [path.duration], duration=2.0)")
        if timing.shape != (1,):
            raise ShapeError(f"timing: {timing!r} found, a motion of one coordinate is expected: s(t) along the path.")
        self.path, self.timing, self.shape, self.about = path, timing, path.shape, path.about
        s = timing.at(_dense(timing))[0][:, 0]
        if s.min() < -_SAME * path.duration or s.max() > (1 + _SAME) * path.duration:
            raise ShapeError(
                f"timing: s from {s.min():g} to {s.max():g} found, but the path runs from 0 to {path.duration:g}. "
                "Give a timing that ends where the path ends."
            )
        self.breaks = checks.frozen(merged([timing.breaks, *(crossings(timing, level) for level in path.breaks[1:-1])]))

    def at(self, t: FloatArray) -> Rates:
        """The chain rule to third order."""
        s, sd, sdd, sddd = self.timing.at(t)
        q, dq, ddq, dddq = self.path.at(np.clip(s[:, 0], 0.0, self.path.duration))
        return q, dq * sd, ddq * sd**2 + dq * sdd, dddq * sd**3 + 3 * ddq * sd * sdd + dq * sddd  # (3)


def join(motions: Sequence[Motion]) -> Motion:
    """Motions one after another, refused where one does not begin where the one before ends."""
    flat: list[Motion] = []
    for motion in motions:
        checks.instance("then", motion, Motion, "dal.trajectory.quintic(start, end, duration=1.0)")
        flat += motion.motions if isinstance(motion, Joined) else (motion,)
    for number, (one, other) in enumerate(pairwise(flat), 1):
        of_robot("then", one, other)
        end, start = (motion.at(np.array([t]))[0][..., 0, :] for motion, t in ((one, one.duration), (other, 0.0)))
        gaps = np.abs(end - start)
        if gaps.max(initial=0.0) > 1e-9 * max(1.0, np.abs(end).max(initial=0.0)):
            axis = int(np.unravel_index(np.argmax(gaps), gaps.shape)[-1]) + 1
            raise ShapeError(
                f"then: part {number} ends {gaps.max():.3g} away from where part {number + 1} begins, in coordinate {axis} of "
                f"{one.n}; a robot cannot jump. Give the end of the one as the start of the other."
            )
    return Joined(flat)


def of_robot(subject: str, one: Motion, other: Motion) -> None:
    """Refuse motions of different numbers of coordinates."""
    if one.n != other.n:
        raise ShapeError(f"{subject}: motions of {one.n} and {other.n} coordinates found; they need to be of one robot.")


def crossings(timing: Motion, level: float) -> FloatArray:
    """Times at which s(t) passes a level, from one instant of a dense grid to the next, by bisection to rounding."""
    grid = _dense(timing)
    low, high = grid[:-1].copy(), grid[1:].copy()
    first = timing.at(low)[0][:, 0] - level
    last = timing.at(np.nextafter(high, 0.0))[0][:, 0] - level
    inside = first * last < 0
    low, high, rising = low[inside], high[inside], first[inside] < 0
    for _ in range(60):
        middle = (low + high) / 2
        before = (timing.at(middle)[0][:, 0] < level) == rising
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return (low + high) / 2


def _dense(motion: Motion) -> FloatArray:
    """Instants at which a motion is looked at as a whole: its breaks and a thousand between."""
    return merged([motion.breaks, np.linspace(0.0, motion.duration, 1001)])


def merged(times: Sequence[FloatArray]) -> FloatArray:
    """Times in order, those that differ by rounding as one; the first and the last stay."""
    every = np.unique(np.concatenate(times))
    apart = np.diff(every) > _SAME * every[-1]
    return every[np.concatenate([[True], apart])] if apart.all() else np.append(every[:-1][apart], every[-1])
