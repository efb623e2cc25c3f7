"""Ctrl-C at random moments in work that runs in threads: it acts soon, nothing is written afterwards, the next call works."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal
from tests.robots import fresh

from .campaign import HANG, WRONG, Fault, leaves, pick, require_equal
from .children import Tell, child
from .functions import cold_cache

QUICK = 7  # without the large chains, which take seconds to compile
FULL = 100
LIMIT = 120.0
THREADS = 4
_SOON = 0.5  # s until the interrupt acts
_PATTERN = 1.2345e-67

Work = Callable[[int], Any]  # a number of threads -> results


class Case(NamedTuple):
    """What is running, and when it is interrupted."""

    work: str
    delay: float

    def __str__(self) -> str:
        return f"{self.work}, interrupted after {1e3 * self.delay:.1f} ms"


def draw(rng: np.random.Generator, number: int) -> Case:
    """All kinds of work in turn."""
    return Case(list(WORKS)[number % len(WORKS)], float(pick(rng, (0.02, 0.2, 1.0)) * rng.random()))


def judge(case: Case) -> None:
    """Interrupt a copy of this process, and read what it reports."""
    with child(lambda tell: _work(WORKS[case.work](), tell)) as running:
        running.line(100.0)  # it has its right results, and begins
        time.sleep(case.delay)
        began = time.monotonic()
        running.send(signal.SIGINT)
        late = float(running.line(20.0)) - began
        if late > _SOON:
            raise Fault(HANG, f"the interrupt acted {late:.2f} s later")
        verdict = running.line(60.0)
        if verdict != "fine":
            raise Fault(WRONG, verdict)
        running.wait(20.0)


def _work(work: Work, tell: Tell) -> None:
    """In the copy: work until interrupted; then watch new memory, look at the old, and work once more."""
    expected = work(1)
    sizes = {np.asarray(array).size for array in leaves(expected).values()}
    guards = [np.full(size, _PATTERN) for size in sizes for _ in range(3)]
    tell("begun")
    try:
        while True:
            work(THREADS)
    except KeyboardInterrupt:
        tell(repr(time.monotonic()))
    guards += [np.full(size, _PATTERN) for size in sizes for _ in range(3)]  # where freed results were, most likely
    time.sleep(0.2)
    tell(_verdict(guards, work, expected))


def _verdict(guards: list[np.ndarray], work: Work, expected: Any) -> str:
    if any(np.any(guard != _PATTERN) for guard in guards):
        return "unrelated arrays were overwritten after the interrupt"
    try:
        require_equal(work(THREADS), expected)
    except Fault as fault:
        return f"afterwards: {fault.message}"
    return "fine"


@cache
def _state(n: int, *batch: int) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(11).uniform(-2.0, 2.0, (3, *batch, n)))


def _flat_batch() -> Work:
    arm, state = fresh("panda"), _state(7, 200_000)
    return lambda threads: dal.inverse_dynamics(arm, *state, threads=threads)


def _broadcast_batch() -> Work:
    arm, (q, qd, qdd) = fresh("panda"), _state(7, 400)
    return lambda threads: dal.inverse_dynamics(arm, q[:, None], qd[None], qdd[None], threads=threads)


def _evaluation() -> Work:
    arm, (q, qd, _) = fresh("panda"), _state(7, 60_000)
    return lambda threads: dal.evaluate(arm, ("M", "h", "J"), q, qd, threads=threads)


def _derivatives() -> Work:
    arm, state = fresh("puma560"), _state(6, 30_000)
    return lambda threads: dal.derivatives(arm, *state, threads=threads)


def _large_regressor() -> Work:
    arm, state = dal.robots.chain(60).replace(), _state(60, 40)
    return lambda threads: dal.regressor(arm, *state, threads=threads)


def _large_derivatives() -> Work:
    arm, state = dal.robots.chain(50).replace(), _state(50, 60)
    return lambda threads: dal.derivatives(arm, *state, threads=threads)


def _rollout() -> Work:
    arm, (q, qd, _) = fresh("puma560"), _state(6, 4_000)
    return lambda threads: dal.rollout(arm, q, 0.1 * qd, None, dt=1e-4, steps=1_000, every=500, threads=threads)


def _simulation() -> Work:
    arm, (q, qd, _) = fresh("pendulum"), _state(1, 4_000)
    return lambda threads: dal.simulate(arm, q, qd, t_end=20.0, rtol=1e-10, threads=threads)


def _compiling() -> Work:
    """A new robot each time."""
    lengths = iter(np.random.default_rng(5).uniform(0.1, 2.0, 100_000))

    def work(threads: int) -> Any:
        with cold_cache():
            rows = [{"a": next(lengths), "d": 0.1, "alpha": 1.0, "mass": 1.0, "inertia": (0.1, 0.1, 0.1)} for _ in range(4)]
            arm = dal.from_dh(rows, convention="standard")
            q, qd, qdd = _state(4, 1_000)
            back = dal.forward_dynamics(arm, q, qd, dal.inverse_dynamics(arm, q, qd, qdd, threads=threads), threads=threads)
            return np.round(back, 6) + 0.0

    return work


WORKS: dict[str, Callable[[], Work]] = {
    "a flat batch": _flat_batch,
    "a broadcast batch": _broadcast_batch,
    "evaluate": _evaluation,
    "derivatives": _derivatives,
    "rollout": _rollout,
    "simulate": _simulation,
    "compiling": _compiling,
    "the regressor of a large chain": _large_regressor,
    "derivatives of a large chain": _large_derivatives,
}
