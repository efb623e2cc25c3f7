"""Processes killed while they compile, write the cache or save a robot or mechanism: what is left is whole."""

from __future__ import annotations

import contextlib
import itertools
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal

from .campaign import WRONG, Fault, answer, cut, pick, refused, require_equal
from .children import Tell, child
from .functions import cold_cache

QUICK = 24
FULL = 500
LIMIT = 60.0
_ROBOTS = 4  # that a process compiles in turn


class Case(NamedTuple):
    """So many processes at the same work, each killed after a while."""

    work: str
    delays: tuple[float, ...]
    seed: int

    def __str__(self) -> str:
        return f"{self.work}, killed after {', '.join(f'{1e3 * delay:.1f}' for delay in self.delays)} ms"


def draw(rng: np.random.Generator, number: int) -> Case:
    """One process, or two that use the same files."""
    work = pick(rng, ("compile", "save .toml", "save .urdf", "save mechanisms .toml", "save mechanisms .urdf"))
    delays = rng.uniform(0.0, 0.15 if work == "compile" else 0.03, int(rng.integers(1, 3)))
    return Case(work, tuple(map(float, delays)), number)


def judge(case: Case) -> None:
    """Let them begin, kill them, and look at what they left."""
    (_judge_cache if case.work == "compile" else _judge_saving)(case)


def _judge_cache(case: Case) -> None:
    with cold_cache() as place:
        _kill(case, lambda tell: _compile(case.seed, tell))
        _compile(case.seed, lambda line: None)
        _require_few_left(place, ".writing", len(case.delays))


def _judge_saving(case: Case) -> None:
    with tempfile.TemporaryDirectory() as base:
        path = Path(base, "robot" + case.work.split()[-1])
        choices = _choices("mechanisms" in case.work)
        _kill(case, lambda tell: _save(path, choices, tell))
        _judge_file(path, choices)
        _require_few_left(path.parent, ".robot", len(case.delays))


def _kill(case: Case, work: Callable[[Tell], None]) -> None:
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(child(work)) for _ in case.delays]
        for process in running:
            process.line(30.0)
        began = time.monotonic()
        for delay, process in sorted(zip(case.delays, running), key=lambda pair: pair[0]):
            time.sleep(max(0.0, began + delay - time.monotonic()))
            process.send(signal.SIGKILL)


def _compile(seed: int, tell: Tell) -> None:
    """The same robots every time, so that one process meets what another left."""
    tell("compiling")
    for length in np.random.default_rng(seed).uniform(0.1, 2.0, _ROBOTS):
        arm = dal.from_dh([{"a": length, "mass": 1.0}], convention="standard", gravity=(0.0, -9.81, 0.0))
        require_equal(dal.gravity_torque(arm, [0.3]), np.array([9.81 * length * np.cos(0.3)]), 1e-12)


def _choices(mechanisms: bool) -> list[Any]:
    if mechanisms:
        return [dal.mechanisms.four_bar(), dal.mechanisms.five_bar()]
    return [dal.robots.pendulum(), dal.robots.two_link_cartesian()]  # both without anything URDF cannot express


def _save(path: Path, choices: list[Any], tell: Tell) -> None:
    for number, arm in enumerate(itertools.cycle(choices)):
        dal.save(arm, path)
        if number == 0:
            tell("saving")


def _judge_file(path: Path, choices: list[Any]) -> None:
    found = answer(lambda: dal.load(path))
    if refused(found):
        raise Fault(WRONG, f"the file left cannot be loaded: {cut(str(found))}")
    if (type(found), found.joint_names) not in [(type(arm), arm.joint_names) for arm in choices]:
        raise Fault(WRONG, f"the file left is neither of the two: {found}")


def _require_few_left(place: Path, prefix: str, most: int) -> None:
    """A killed process may leave the one file it was writing."""
    left = [entry.name for entry in place.iterdir() if entry.name.startswith(prefix)]
    if len(left) > most:
        raise Fault(WRONG, f"{len(left)} left-over files: {', '.join(left[:5])}")
