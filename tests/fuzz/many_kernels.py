"""Thousands of robots, each used once and thrown away: memory and memory maps do not grow, and the numbers stay right."""

from __future__ import annotations

import contextlib
import gc
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dalembert as dal

from .campaign import WRONG, Fault, require_equal
from .functions import cold_cache, numpy_back_end

QUICK = 3
FULL = 1_200
LIMIT = 120.0
ROBOTS = 25  # in a case
_INTERPRETED = 6  # one case in so many is without a compiler
_BYTES = 20 * 2**20 / 2000  # a discarded robot may leave behind
_SLACK = 8 * 2**20  # bytes by which memory varies anyway
_MAPS = 32  # memory maps likewise


class Case(NamedTuple):
    """Some pendulums, no two alike."""

    lengths: np.ndarray
    angles: np.ndarray
    interpreted: bool

    def __str__(self) -> str:
        return f"{ROBOTS} robots {'interpreted' if self.interpreted else 'compiled'} and discarded"


class Use(NamedTuple):
    """What the process holds, after so many robots."""

    robots: int
    resident: int
    maps: int


_uses: list[Use] = []  # when the process was warm, and last time


def draw(rng: np.random.Generator, number: int) -> Case:
    """Numbers are part of the code, so every robot needs a kernel of its own."""
    return Case(rng.uniform(0.1, 2.0, ROBOTS), rng.uniform(-3.0, 3.0, ROBOTS), number % _INTERPRETED == _INTERPRETED - 1)


def judge(case: Case) -> None:
    """Torques at rest against the formula m g l cos q, then the memory against that of the warm process."""
    if not _uses:
        _use_and_discard(draw(np.random.default_rng(0), 0))
        _uses[:] = [_use(0)] * 2
    _use_and_discard(case)
    _uses[1] = _use(_uses[1].robots + ROBOTS)
    require_level(*_uses)


def require_level(before: Use, now: Use) -> None:
    """Memory did not grow by more than a trace per robot, nor did the number of memory maps."""
    robots = now.robots - before.robots
    grown = now.resident - before.resident
    if now.maps > before.maps + _MAPS:
        raise Fault(WRONG, f"{now.maps - before.maps} memory maps more after {robots} discarded robots ({now.maps})")
    if grown > _BYTES * robots + _SLACK:
        raise Fault(WRONG, f"{grown / 2**20:.1f} MB more after {robots} discarded robots ({now.resident / 2**20:.0f} MB)")


def _use_and_discard(case: Case) -> None:
    with cold_cache(), numpy_back_end() if case.interpreted else contextlib.nullcontext():
        for length, angle in zip(case.lengths, case.angles):
            found = dal.gravity_torque(_pendulum(float(length)), [angle])
            require_equal(found, np.array([9.81 * length * np.cos(angle)]), 1e-12)
    gc.collect()


def _pendulum(length: float) -> dal.Robot:
    row = {"a": length, "mass": 1.0, "inertia": (0.0, 0.0, 0.01)}
    return dal.from_dh([row], convention="standard", gravity=(0.0, -9.81, 0.0))


def _use(robots: int) -> Use:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Use(robots, pages * os.sysconf("SC_PAGE_SIZE"), len(Path("/proc/self/maps").read_text().splitlines()))
