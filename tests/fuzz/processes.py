"""Children by fork, spawn and forkserver, of parents that have used threads or are compiling: right numbers, and no hang."""

from __future__ import annotations

import multiprocessing
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal
from tests.robots import fresh

from .campaign import CRASH, FOREIGN, HANG, Fault, pick, require_equal
from .functions import cold_cache

QUICK = 3
FULL = 120
LIMIT = 150.0
THREADS = 8
CHILDREN = 2
_PATIENCE = 40.0  # s: a child has to import and compile everything, on a busy machine


class Case(NamedTuple):
    """How children start, what they compute, and what the parent did before or does meanwhile."""

    method: str
    work: str
    used: bool
    compiling: bool

    def __str__(self) -> str:
        before = "after the parent" if self.used else "cold"
        return f"{self.work} in {CHILDREN} children by {self.method}, {before}{', while it compiles' if self.compiling else ''}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """Fork, which is quick and risky, more often than the others."""
    method = ("fork", "fork", "spawn", "fork", "fork", "forkserver")[number % 6]
    return Case(method, pick(rng, WORKS), bool(rng.random() < 0.7), bool(rng.random() < 0.4))


def judge(case: Case) -> None:
    """The parent's numbers by one thread against the children's by many; then the parent's by many."""
    context = multiprocessing.get_context(case.method)
    arm = fresh("two_link_planar")
    with cold_cache(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, about forks of processes with threads
        expected = WORKS[case.work](fresh("two_link_planar"), 1)
        if case.used:
            require_equal(WORKS[case.work](arm, THREADS), expected)
        with _compiling(case.compiling):
            results = _results(context, case.work, arm)
        for found in results:
            require_equal(found, expected)
        require_equal(WORKS[case.work](arm, THREADS), expected)


def _results(context: Any, work: str, arm: dal.Robot) -> list[Any]:
    pipes = [context.Pipe(duplex=False) for _ in range(CHILDREN)]
    children = [context.Process(target=_child, args=(work, arm, writing), daemon=True) for _, writing in pipes]
    try:
        for process, (_, writing) in zip(children, pipes):
            process.start()
            writing.close()
        return [_received(process, reading) for process, (reading, _) in zip(children, pipes)]
    finally:
        for process in children:
            if process.is_alive():
                process.kill()


def _received(process: Any, reading: Any) -> Any:
    if not reading.poll(_PATIENCE):
        raise Fault(HANG, f"a child gave no answer within {_PATIENCE:g} s")
    try:
        result = reading.recv()
    except EOFError:
        process.join(5.0)
        raise Fault(CRASH, f"a child ended with {process.exitcode}") from None
    if isinstance(result, str):
        raise Fault(FOREIGN, f"in a child: {result}")
    return result


def _child(work: str, arm: dal.Robot, writing: Any) -> None:
    """In the child."""
    try:
        result = WORKS[work](arm, THREADS)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    writing.send(result)
    writing.close()


@contextmanager
def _compiling(wanted: bool) -> Iterator[None]:
    """Another thread that compiles one robot after the other."""
    stop = threading.Event()

    def work() -> None:
        for number in range(10_000):
            if stop.is_set():
                return
            arm = dal.from_dh([{"a": 1.0 + 1e-6 * number, "mass": 1.0}] * 3, convention="standard")
            dal.mass_matrix(arm, np.zeros(3))

    thread = threading.Thread(target=work)
    if wanted:
        thread.start()
        time.sleep(0.05)
    try:
        yield
    finally:
        stop.set()
        if wanted:
            thread.join()


def _state(*batch: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(-2.0, 2.0, (3, *batch, 2))


def _flat(arm: dal.Robot, threads: int) -> Any:
    return dal.inverse_dynamics(arm, *_state(20_000), threads=threads)


def _broadcast(arm: dal.Robot, threads: int) -> Any:
    q, qd, qdd = _state(150)
    return dal.inverse_dynamics(arm, q[:, None], qd[None], qdd[None], threads=threads)


def _rollout(arm: dal.Robot, threads: int) -> Any:
    q, qd, _ = _state(200)
    motion = dal.rollout(arm, q, qd, None, dt=1e-3, steps=50, every=25, threads=threads)
    return motion.q, motion.qd


def _simulate(arm: dal.Robot, threads: int) -> Any:
    q, qd, _ = _state(200)
    motion = dal.simulate(arm, q, qd, t_end=0.1, threads=threads)
    return motion.q, motion.qd


WORKS: dict[str, Callable[[dal.Robot, int], Any]] = {
    "a flat batch": _flat,
    "a broadcast batch": _broadcast,
    "rollout": _rollout,
    "simulate": _simulate,
}
