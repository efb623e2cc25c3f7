"""Threads that share a batch without the interpreter: woken by a word in memory, they take piece after piece until none is left.

Handing work to a sleeping thread through Python costs a tenth of a millisecond or two, as much as a light kernel needs for ten
thousand configurations. Here a worker that has finished waits for the next batch with its eyes open, for a fraction of a
millisecond, before it goes to sleep; and whoever asks works too, and waits for nobody who has not begun.

Each worker has a slot, a word of its own cache line:

    0   awake, waiting                      1   asleep: its bell has to be rung
    2   at work                             else the address of a batch to take part in
"""

from __future__ import annotations

import ctypes
import os
import threading
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from . import cache as disk
from . import target

PATIENCE = 50_000  # turns of the waiting loop, some 20 ns each: a millisecond
MOST_ARRAYS = 32
_LINE = 8  # words of a cache line
_BASES, _STEPS, _WORDS = 5, 6, 7  # places in a job


class Batch(NamedTuple):
    """Rows of arrays for a kernel's loop: addresses of the first rows, then byte strides as NumPy hands them to a loop."""

    loop: int
    bases: list[int]
    steps: list[int]
    rows: int


class _Code(NamedTuple):
    post: Any
    finish: Any
    serve: Any


class Crew:
    """Workers for batches, one batch at a time."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        room = np.ones((workers + 1) * _LINE, np.int64)
        first = -room.ctypes.data % (8 * _LINE) // 8
        self.slots = room[first : first + workers * _LINE]
        self.address = self.slots.ctypes.data
        self.bells = [threading.Semaphore(0) for _ in range(workers)]
        self.free = threading.Lock()
        for k in range(workers):
            threading.Thread(target=self._serve, args=(k,), daemon=True, name=f"dalembert {k}").start()

    def _serve(self, k: int) -> None:
        slot = self.address + 8 * _LINE * k
        while True:
            self.bells[k].acquire()
            _code().serve(slot, PATIENCE)

    def run(self, batch: Batch, piece: int) -> bool:
        """The rows of a batch, in pieces, shared with all workers; False, and nothing done, if they are busy."""
        if not self.free.acquire(blocking=False):
            return False
        try:
            job, address = _job(batch, piece)
            asleep = _code().post(self.address, self.workers, address)
            for k in range(self.workers):
                if asleep >> k & 1:
                    self.bells[k].release()
            _code().finish(self.address, self.workers, address)
            del job  # nobody reads it any more
        finally:
            self.free.release()
        return True


def _job(batch: Batch, piece: int) -> tuple[Any, int]:
    """What `@work` reads, in one array: its words, then addresses and strides; and where it is."""
    count = len(batch.bases)
    job = np.array([batch.loop, count, piece, batch.rows, 0, 0, 0, *batch.bases, *batch.steps], np.int64)
    address = job.ctypes.data
    job[_BASES], job[_STEPS] = address + 8 * _WORDS, address + 8 * (_WORDS + count)
    return job, address


@cache
def crew(workers: int) -> Crew:
    """The crew of this process with so many workers beside the caller."""
    return Crew(workers)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=crew.cache_clear)  # threads do not survive a fork


@cache
def _code() -> _Code:
    """The machine code: from the cache, or compiled."""
    host = target.host()
    text = _module(host.triple)
    key = disk.key_of(text, host.triple, host.cpu, host.features, host.compiler)
    code = disk.read(key)
    if code is None:
        code = target.compile_object(text)
        disk.write(key, code)
    post, finish, serve = target.load_object(code, "post", "finish", "serve")
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    return _Code(
        ctypes.PYFUNCTYPE(word, pointer, word, pointer)(post),  # a few instructions: not worth giving up the interpreter
        ctypes.CFUNCTYPE(None, pointer, word, pointer)(finish),
        ctypes.CFUNCTYPE(None, pointer, word)(serve),
    )


def _pause(triple: str) -> tuple[str, str]:
    """A hint to the processor that this is a waiting loop: its declaration and the call."""
    if triple.startswith(("x86_64", "i386", "i686")):
        return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
    if triple.startswith(("aarch64", "arm64")):
        return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
    return "", "fence seq_cst"


def _module(triple: str) -> str:
    declared, pause = _pause(triple)
    return "\n".join([declared, _WORK, _POST, _FINISH.replace("PAUSE", pause), _SERVE.replace("PAUSE", pause)])


# A job's words: loop, number of arrays, rows of a piece, rows, next piece, addresses, strides.
_WORK = f"""
define internal void @work(ptr %job) {{
entry:
  %args = alloca [{MOST_ARRAYS} x ptr], align 16
  %dims = alloca i64, align 8
  %loop = load ptr, ptr %job, align 8
  %count.at = getelementptr i64, ptr %job, i64 1
  %count = load i64, ptr %count.at, align 8
  %piece.at = getelementptr i64, ptr %job, i64 2
  %piece = load i64, ptr %piece.at, align 8
  %rows.at = getelementptr i64, ptr %job, i64 3
  %rows = load i64, ptr %rows.at, align 8
  %next = getelementptr i64, ptr %job, i64 4
  %bases.at = getelementptr i64, ptr %job, i64 5
  %bases = load ptr, ptr %bases.at, align 8
  %steps.at = getelementptr i64, ptr %job, i64 6
  %steps = load ptr, ptr %steps.at, align 8
  br label %ask
ask:
  %k = atomicrmw add ptr %next, i64 1 monotonic
  %first = mul i64 %k, %piece
  %left = sub i64 %rows, %first
  %none = icmp sle i64 %left, 0
  br i1 %none, label %done, label %take
take:
  %last = icmp slt i64 %left, %piece
  %some = select i1 %last, i64 %left, i64 %piece
  store i64 %some, ptr %dims, align 8
  br label %aim
aim:
  %a = phi i64 [ 0, %take ], [ %a.next, %aim ]
  %base.at = getelementptr ptr, ptr %bases, i64 %a
  %base = load ptr, ptr %base.at, align 8
  %step.at = getelementptr i64, ptr %steps, i64 %a
  %step = load i64, ptr %step.at, align 8
  %offset = mul i64 %first, %step
  %row = getelementptr i8, ptr %base, i64 %offset
  %arg = getelementptr ptr, ptr %args, i64 %a
  store ptr %row, ptr %arg, align 8
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %count
  br i1 %a.more, label %aim, label %go
go:
  call void %loop(ptr %args, ptr %dims, ptr %steps, ptr %rows.at)
  br label %ask
done:
  ret void
}}"""

_POST = f"""
define i64 @post(ptr %slots, i64 %workers, ptr %job) {{
entry:
  %word = ptrtoint ptr %job to i64
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %each ]
  %asleep = phi i64 [ 0, %entry ], [ %asleep.next, %each ]
  %place = mul i64 %k, {_LINE}
  %slot = getelementptr i64, ptr %slots, i64 %place
  %old = atomicrmw xchg ptr %slot, i64 %word acq_rel
  %sleeps = icmp eq i64 %old, 1
  %bit = zext i1 %sleeps to i64
  %mark = shl i64 %bit, %k
  %asleep.next = or i64 %asleep, %mark
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %workers
  br i1 %more, label %each, label %done
done:
  ret i64 %asleep.next
}}"""

_FINISH = f"""
define void @finish(ptr %slots, i64 %workers, ptr %job) {{
entry:
  %word = ptrtoint ptr %job to i64
  call void @work(ptr %job)
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %place = mul i64 %k, {_LINE}
  %slot = getelementptr i64, ptr %slots, i64 %place
  br label %look
look:
  %back = cmpxchg ptr %slot, i64 %word, i64 0 acq_rel acquire
  %found = extractvalue {{ i64, i1 }} %back, 0
  %busy = icmp eq i64 %found, 2
  br i1 %busy, label %wait, label %next
wait:
  PAUSE
  br label %look
next:
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %workers
  br i1 %more, label %each, label %done
done:
  ret void
}}"""

_SERVE = """
define void @serve(ptr %slot, i64 %patience) {
entry:
  %up = cmpxchg ptr %slot, i64 1, i64 0 acq_rel acquire
  br label %look
look:
  %i = phi i64 [ 0, %entry ], [ %i.next, %wait ], [ 0, %work ], [ 0, %sleep ]
  %word = load atomic i64, ptr %slot acquire, align 8
  %called = icmp ugt i64 %word, 2
  br i1 %called, label %take, label %wait
take:
  %taken = cmpxchg ptr %slot, i64 %word, i64 2 acq_rel acquire
  %mine = extractvalue { i64, i1 } %taken, 1
  br i1 %mine, label %work, label %wait
work:
  %job = inttoptr i64 %word to ptr
  call void @work(ptr %job)
  store atomic i64 0, ptr %slot release, align 8
  br label %look
wait:
  PAUSE
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %patience
  br i1 %more, label %look, label %sleep
sleep:
  %down = cmpxchg ptr %slot, i64 0, i64 1 acq_rel acquire
  %asleep = extractvalue { i64, i1 } %down, 1
  br i1 %asleep, label %done, label %look
done:
  ret void
}"""
