"""Timing side by side: contestants take turns, so that other work on the machine slows all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

Timer = Callable[[], float]  # runs once, returns seconds


class Timings(NamedTuple):
    """Seconds of each repetition, shape (repetitions, contestants); the first contestant is ours."""

    seconds: np.ndarray

    def best(self, contestant: int = 0) -> float:
        """The shortest time of a contestant."""
        return float(self.seconds[:, contestant].min())

    def best_ratio(self, contestant: int = 1) -> float:
        """How many times longer a contestant takes than the first one, best against best."""
        return self.best(contestant) / self.best()

    def median_ratio(self, contestant: int = 1) -> float:
        """The same, as the median over repetitions: each compares what ran right after one another."""
        return float(np.median(self.seconds[:, contestant] / self.seconds[:, 0]))


def side_by_side(timers: Sequence[Timer], seconds: float, least: int | None = None) -> Timings:
    """Alternate between contestants for about this long, after one round that is not counted.

    At least three rounds, unless told; one where no time is to be spent, as in tests, which only want to see it run.
    """
    for timer in timers:
        timer()
    return turns(timers, seconds, least if least is not None else 3 if seconds else 1)


def turns(timers: Sequence[Timer], seconds: float = 0.0, least: int = 1) -> Timings:
    """Alternate between contestants for about this long, each as often as the others."""
    rounds: list[list[float]] = []
    end = time.perf_counter() + seconds
    while len(rounds) < least or time.perf_counter() < end:
        rounds.append([timer() for timer in timers])
    return Timings(np.array(rounds))


def together(parts: Sequence[Timings]) -> Timings:
    """What was measured at several times, as one."""
    return Timings(np.concatenate([part.seconds for part in parts]))


def warm(timer: Timer, least: float = 0.005) -> Timer:
    """A turn: one pass that is not counted, since another contestant has just used the caches, then passes for this long."""

    def turn() -> float:
        timer()
        seconds: list[float] = []
        start = time.perf_counter()
        while not seconds or time.perf_counter() - start < least:
            seconds.append(timer())
        return sum(seconds) / len(seconds)

    return turn


def timer_of(function: Callable[[], object], times: int = 1) -> Timer:
    """A timer of a function without arguments: seconds per call, over some calls in a row."""

    def run() -> float:
        start = time.perf_counter()
        for _ in range(times):
            function()
        return (time.perf_counter() - start) / times

    return run
