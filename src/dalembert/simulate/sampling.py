"""A law that is evaluated at samples and held in between, its results in force after a delay [theory: simulation].

At its samples t_k a law looks at the state, and what it wants waits in a queue until t_k + delay; from then on it is held. With
delay = (m + f) · sample, 0 ≤ f < 1, the one in force is taken from place m of the queue at t_k + f · sample. Before the first
one is due, what the law wants at the start is in force, as if the system had stood there before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..errors import ShapeError
from ..expr import ops
from .sample_times import near
from .states import finite_number, positive

MOST = 10_000_000  # samples of one motion: more fill the memory
_WHOLE = 1e-9  # of a sample: a delay that is as near to a whole number of samples is one
TAKE, PUT, FILL = range(3)  # columns of the marks: the law is evaluated, what has waited comes into force, all of it does


class Sampling(NamedTuple):
    """Time between samples [s], whole samples of delay, and the rest of it [s]; `lag` is None without any delay."""

    sample: float
    lag: int | None
    rest: float

    def times(self, t_start: float, t_end: float) -> tuple[FloatArray, FloatArray]:
        """When the law is evaluated after the start, and when what it wants comes into force, before the end."""
        count = (t_end - t_start) / self.sample
        if not count < MOST:
            raise ShapeError(
                f"sample: {self.sample} s makes {count:.3g} samples in {t_end - t_start} s; at most {MOST} are served."
            )
        taken = t_start + self.sample * np.arange(int(np.ceil(count)) + 1, dtype=np.float64)
        ends = np.array([t_start, t_end])
        inside = [x[(x > t_start) & (x < t_end) & ~near(x, ends)] for x in (taken, taken + self.rest)]
        return inside[0], inside[1]


def sampling_of(sample: Any, delay: Any, tau: Any) -> Sampling | None:
    """What users give, checked."""
    late = finite_number("delay", delay)
    if late < 0.0:
        raise ShapeError(f"delay: {late} s found, a time of 0 s or more is expected.")
    if sample is None:
        if late:
            raise ShapeError("delay: found without sample, the time between two evaluations of the law. Give sample=...")
        return None
    step = positive("sample", sample)
    if not callable(tau):
        raise nothing_to_sample("sample", "tau")
    lag = int(late / step + _WHOLE)
    rest = max(late - lag * step, 0.0)
    rest = 0.0 if rest < _WHOLE * step else rest
    if lag > 1000:
        raise ShapeError(f"delay: {late} s found, {lag} samples of {step} s; at most 1000 are served. Is its unit seconds?")
    return Sampling(step, lag if late else None, rest)


def nothing_to_sample(found: str, option: str) -> ShapeError:
    """The refusal of a sampled controller where numbers are given."""
    return ShapeError(f"{found}: found without a function in {option} that could be sampled. Leave it out, or give a function.")


def marks_at(grid: FloatArray, sampling: Sampling, t_start: float, t_end: float) -> FloatArray:
    """What happens at each of the times, (G, 3)."""
    taken, put = sampling.times(t_start, t_end)
    start = near(grid, np.array([t_start]))
    return np.stack([near(grid, taken), near(grid, put), start], axis=-1).astype(float)


def marks_of_steps(count: int, dt: float, sampling: Sampling) -> FloatArray:
    """What happens at the start of each step of a rollout, (T, 3)."""
    every, rest = (_whole(name, value, dt) for name, value in (("sample", sampling.sample), ("delay", sampling.rest)))
    k = np.arange(max(count, 1))
    return np.stack([(k % every == 0) & (k > 0), (k % every == rest) & (k > 0), k == 0], axis=-1).astype(float)


def _whole(name: str, value: float, dt: float) -> int:
    steps = round(value / dt)
    if abs(steps * dt - value) > _WHOLE * dt or (name == "sample" and steps == 0):
        also = " beyond whole samples" if name == "delay" else ""
        raise ShapeError(
            f"{name}: {value:g} s found{also}, a whole number of steps of dt = {dt:g} s is expected, as nothing is looked at "
            "within a step. Take another dt, or simulate."
        )
    return steps


def followed(due: Any, marks: Any, wanted: list[Any], held: list[Any], waiting: list[Any]) -> tuple[list[Any], list[Any]]:
    """What is held and what waits, after the marks of a time; over scalars."""
    n, take, put, fill = len(wanted), due * marks[TAKE], due * marks[PUT], due * marks[FILL]
    if not waiting:
        return _chosen(ops.maximum(take, fill), wanted, held), []
    queue = _chosen(take, [*wanted, *waiting[:-n]], waiting)
    queue = _chosen(fill, wanted * (len(waiting) // n), queue)
    return _chosen(ops.maximum(put, fill), queue[-n:], held), queue


def _chosen(condition: Any, new: list[Any], old: list[Any]) -> list[Any]:
    return [ops.where(condition, a, b) for a, b in zip(new, old, strict=True)]


__all__ = ["Sampling", "followed", "marks_at", "marks_of_steps", "nothing_to_sample", "sampling_of"]
