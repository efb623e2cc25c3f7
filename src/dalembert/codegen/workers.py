"""Threads that share a batch without the interpreter: woken by a word in memory, they take piece after piece until none is left.

To give work to a sleeping thread through Python costs one or two tenths of a millisecond, as much as a light kernel needs for
ten thousand configurations. Here a worker that has finished keeps reading its word for a fraction of a millisecond before it
goes to sleep. The caller works too, and does not wait for workers that have not begun.

A batch is one call from the interpreter's point of view: it returns when no worker reads or writes its arrays any more, whether
all of it is done or not. From time to time the caller checks whether the user has interrupted; then no further pieces are
taken.

Each worker has a slot, a word in a cache line of its own:

    0   awake, waiting                      1   asleep: its wake lock is to be released
    2   at work                             else the address of a batch to take part in

Workers are threads of the operating system only: they never use Python, so they need not end before it does. A child process
has none after a fork, and starts its own when they are needed.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
import warnings
from array import array
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..errors import DalembertWarning, OutOfMemoryError, ShapeError
from ..wording import shown
from . import machine_code, target
from .single_call import address_of
from .workers_ir import LINE, MOST_ARRAYS, MOST_WORKERS, module

SPIN_TURNS = 50_000  # turns of the waiting loop, some 20 ns each: a millisecond
_API = (
    *("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals"),
    *("PyThread_acquire_lock", "PyThread_release_lock", "PyThread_acquire_lock_timed"),
)
_PIECES, _FAILED, _HEAD = (
    6,
    9,
    14,
)  # in a job: the word with the number of pieces, the word that tells of missing memory, the words before its lists


class Batch(NamedTuple):
    """Rows of arrays for a kernel's loop, as NumPy passes them, and axes around them.

    `bases` are addresses of the first entries; `steps` has each array's byte stride from row to row, then strides within rows.
    `extents` are lengths of further batch axes, `strides` each array's byte strides along these, one array after the other.
    """

    loop: int
    bases: list[int]
    steps: list[int]
    rows: int
    extents: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()


def run(batch: Batch, piece: int, every: int, threads: int) -> None:
    """Compute all rows, in pieces of `piece` rows, by `threads` threads; the caller checks for Ctrl-C once in `every` pieces.

    While another batch has the workers, the caller computes alone.
    """
    code = _code()
    job, address = _job(batch, piece)
    workers = min(threads, MOST_WORKERS + 1, job[_PIECES]) - 1  # no more than there are pieces for
    if workers > code.started:
        _start(code, workers)
    code.run(address, min(workers, code.started), every)
    if job[_FAILED]:
        raise no_memory()


def no_memory(reason: str = "") -> OutOfMemoryError:
    """The error of a kernel that could not get memory; NumPy gives a reason for its arrays."""
    wanted = f" ({reason})" if reason else ""
    return OutOfMemoryError(f"kernel: no memory is left for its results{wanted}. Take smaller batches, or fewer threads.")


def thread_count(threads: Any) -> int:
    """The number of threads asked for: the argument, `DALEMBERT_NUM_THREADS`, or every core this process may use."""
    if type(threads) is int and 0 < threads <= MOST_WORKERS:  # at once: every call of a kernel comes here
        return threads
    if threads is None:
        return _usual(os.environ.get("DALEMBERT_NUM_THREADS", ""))
    if isinstance(threads, (bool, np.bool_)) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ShapeError(f"threads: {shown(threads)} found, a whole number of 1 or more is expected. Leave it out for all cores.")
    return min(int(threads), MOST_WORKERS + 1)


@cache
def _usual(chosen: str) -> int:
    if chosen.isdecimal() and chosen.isascii() and int(chosen[:9]) > 0:
        return min(int(chosen[:9]), MOST_WORKERS + 1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if chosen:
        message = f"DALEMBERT_NUM_THREADS: {shown(chosen)} found, a whole number of 1 or more is expected; {cores} are used."
        warnings.warn(DalembertWarning(message, "threads"), stacklevel=2)
    return min(cores, MOST_WORKERS + 1)


def _job(batch: Batch, piece: int) -> tuple[array[int], int]:
    """What `@take` reads, in one array: words (listed in workers_ir.py), then lists; and the address of that array."""
    loop, bases, steps, rows, extents, strides = batch
    runs, per_run = math.prod(extents), -(-rows // piece)
    words = (loop, len(bases), piece, rows, 0, per_run, per_run * runs, len(extents), rows * runs, 0)
    job = array("q", (*words, 0, 0, 0, 0, *extents, *bases, *strides, *steps))
    address, _ = job.buffer_info()
    place = address + 8 * _HEAD
    for k, entries in enumerate((extents, bases, strides, steps), len(words)):
        job[k] = place
        place += 8 * len(entries)
    return job, address


class _Workers:
    """The loaded code, and how many threads run it in this process."""

    def __init__(self, code: machine_code.MachineCode) -> None:
        self.code = code
        ctypes.memmove(code["api"], (ctypes.c_void_p * len(_API))(*map(address_of, _API)), 8 * len(_API))
        self.run: Any = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(code["run"])
        self.started = 0
        self.lock = threading.Lock()
        self.new_wake_lock(MOST_WORKERS)
        self.reset()

    def new_wake_lock(self, k: int) -> None:
        """The lock worker k sleeps on, taken; the one behind the last is never released, and serves for pauses."""
        allocate, acquire = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
        allocate.restype, acquire.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]
        lock = allocate()
        acquire(lock, 0)
        ctypes.c_void_p.from_address(self.code["wake_locks"] + 8 * k).value = lock

    def reset(self) -> None:
        """All asleep and none busy: at the start, and in a child process after a fork, which has no workers."""
        ctypes.c_int64.from_address(self.code["busy"]).value = 0
        slots = (ctypes.c_int64 * (LINE * MOST_WORKERS)).from_address(self.code["slots"])
        for k in range(MOST_WORKERS):
            slots[LINE * k] = 1
        self.started = 0
        self.lock = threading.Lock()


def _start(workers: _Workers, count: int) -> None:
    """Start threads until there are `count`; where the system gives no more, fewer of them work."""
    start = ctypes.pythonapi.PyThread_start_new_thread
    start.restype, start.argtypes = ctypes.c_ulong, [ctypes.c_void_p, ctypes.c_void_p]
    with workers.lock:
        while workers.started < count:
            k = workers.started
            workers.new_wake_lock(k)
            workers.started = (
                k + 1
            )  # before the start: two threads in one slot would wait for ever, a slot without one does no harm
            start(workers.code["serve"], k)


_made: list[_Workers] = []
_making = threading.Lock()


def _code() -> _Workers:
    if not _made:
        with _making:
            if not _made:
                symbols = ("run", "serve", "api", "wake_locks", "slots", "busy")
                _made.append(_Workers(machine_code.code_of(module(target.host().triple, SPIN_TURNS), *symbols)))
    return _made[0]


def _after_fork() -> None:
    global _making
    _making = threading.Lock()  # the thread that held it is not in this process
    for workers in _made:
        workers.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

__all__ = ["MOST_ARRAYS", "MOST_WORKERS", "Batch", "no_memory", "run", "thread_count"]
