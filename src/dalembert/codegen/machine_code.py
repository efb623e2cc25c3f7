"""Machine code in this process: loaded once, kept while something refers to it, then given back.

Whoever runs code from an address holds the `Code` it belongs to: ufuncs and functions of the interpreter do so by a reference of
their own (gufunc.py, single_call.py). When the last one is gone, LLVM unmaps it. The same text is loaded once, however many
robots have it.

All work of LLVM is under one lock, which a fork takes as well: a child never finds LLVM in the middle of something. It is done
where no Ctrl-C can strike, in a thread of its own if need be: LLVM's objects have an owner, and an exception between two lines
that hand one over would leave it with two, or with none. The user can always interrupt the wait for that thread.
"""

from __future__ import annotations

import gc
import mmap
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from ..errors import CompileError
from . import disk_cache as disk
from . import target

T = TypeVar("T")
_lock = threading.RLock()  # search for cycles may discard code in the middle of loading some
_discarded: deque[Any] = deque()  # engines nobody needs any more
_closing: list[Any] = []  # the one that is being closed; it stays here if that is interrupted, as none may be closed twice
_TO_COMPILE = 1 << 26  # bytes that LLVM may need; it ends the process where there are none
_MAPS = 16  # memory maps that loading takes at most


class _Memory:
    """What LLVM has mapped for a module. It is nobody's but its `Code`'s: an object that others find by a weak reference must not
    have a `__del__`, as they could still find it while that runs.
    """

    __slots__ = ("engine",)

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # threads may still run it, and the process is about to give everything back
            return
        _discarded.append(self.engine)
        if _lock.acquire(blocking=False):  # else whoever holds the lock, or takes it next, does it
            try:
                _bury()
            finally:
                _lock.release()


class Code:
    """Loaded machine code; with the last reference to it, its memory goes."""

    __slots__ = ("__weakref__", "_addresses", "_memory")

    def __init__(self, engine: Any, addresses: dict[str, int]) -> None:
        self._memory = _Memory(engine)
        self._addresses = addresses

    def __getitem__(self, symbol: str) -> int:
        """The address of a function or a table."""
        return self._addresses[symbol]


_loaded: WeakValueDictionary[str, Code] = WeakValueDictionary()


def code_of(ir: str, *symbols: str, anew: bool = False) -> Code:
    """The code of a module: loaded already, from the disk, or compiled. `anew` compiles in any case, to measure."""
    host = target.host()
    key = disk.key_of(ir, host.triple, host.cpu, host.features, host.compiler)
    found = None if anew else _loaded.get(key)
    if found is not None:
        return found
    content = None if anew else disk.read(key)
    if content is None:
        content = _compiled(ir)
        disk.write(key, content)
    found = load(content, *symbols)
    _loaded[key] = found
    return found


def _compiled(ir: str) -> bytes:
    """What LLVM makes of a module."""

    def work() -> bytes:
        with _lock:
            _bury()
            _make_room(max(_TO_COMPILE, 300 * len(ir)))
            return target.compile_object(ir)

    return _undisturbed(work)


def _undisturbed(work: Callable[[], T]) -> T:
    """What the function returns, called where no Ctrl-C can strike: these reach the first thread of a process only."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    found: list[T] = []
    failed: list[Exception] = []

    def record() -> None:
        try:
            found.append(work())
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=record, name="dalembert compiler")
    try:
        thread.start()
    except RuntimeError:  # none to be had, or the interpreter is about to end
        return work()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def load(content: bytes, *symbols: str) -> Code:
    """Link an object file into this process."""

    def work() -> Code:
        with _lock:
            _bury()
            _make_room(4 * len(content))
            engine = target.engine_of(content)
            addresses = {s: int(engine.get_function_address(s) or engine.get_global_value_address(s)) for s in symbols}
            return Code(engine, addresses)

    found = _undisturbed(work)
    for symbol in symbols:
        if not found[symbol]:
            raise CompileError(f"kernel: compiled code has no function {symbol!r}. Please report this.")
    return found


def _bury() -> None:
    while _discarded:
        _closing.append(_discarded[0])
        _discarded.popleft()
        _closing[-1].close()
        _closing.pop()


def _make_room(size: int) -> None:
    """LLVM does not notice a mapping that failed, and jumps into it: so try first, and search for unused robots if need be."""
    if _has_room(size):
        return
    gc.collect()
    _bury()
    if not _has_room(size):
        raise CompileError(
            f"kernel: this process has no memory, or no memory maps, left for machine code ({len(_loaded)} kernels are loaded). "
            "Let go of robots you no longer use."
        )


def _has_room(size: int) -> bool:
    if os.name != "posix":
        return True
    taken = []
    try:
        for k in range(_MAPS):  # neighbours of other protection are maps of their own
            protection = mmap.PROT_READ | (mmap.PROT_WRITE if k % 2 else 0)
            taken.append(mmap.mmap(-1, max(size, mmap.PAGESIZE) if k == 0 else mmap.PAGESIZE, prot=protection))
    except (OSError, MemoryError):
        return False
    finally:
        for room in taken:
            room.close()
    return True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
