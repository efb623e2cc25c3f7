"""Machine code in this process: loaded once, kept while something refers to it, then given back.

Whatever runs code from an address must hold the `MachineCode` it belongs to; ufuncs and functions of the interpreter each keep
a reference to it (gufunc.py, single_call.py). When the last reference is gone, LLVM unmaps the code. Equal texts are loaded
once, however many robots use them.

All work of LLVM is done under one lock. A fork takes this lock too, so a child never finds LLVM in the middle of something. The
work runs where Ctrl-C cannot interrupt it, in a thread of its own if need be: an exception between two lines that pass an
object of LLVM's to its next owner would leave it with two owners, or with none. Waiting for that thread can always be
interrupted.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import itertools
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
_lock = threading.RLock()  # garbage collection may discard code while this thread loads some
_engines: dict[int, Any] = {}  # LLVM's, by number; only from here, so that no garbage collection finds one to close
_numbers = itertools.count()
_discarded: deque[int] = deque()  # those that are no longer used
_asked = False  # whether a thread has been started to close them
_closing: list[Any] = []  # the one being closed; it stays here if closing is interrupted, as none may be closed twice
_TO_COMPILE = 1 << 26  # bytes that LLVM may need; without them it ends the process
_TO_LOAD = 1 << 25  # and to load what it made
_TO_START = 1 << 24  # bytes that a thread may need; one that finds none never says that it has started
_MAPS = 16  # memory maps that loading takes at most


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


class _Memory:
    """What LLVM has mapped for a module. Only its `MachineCode` refers to it: an object that others find by a weak reference must
    not have a `__del__`, as they could still find it while that runs. It has the engine's number, not the engine: a collection
    of cycles would call the `__del__` of both, and that of the engine closes it whoever holds the lock.
    """

    __slots__ = ("number",)

    def __init__(self, engine: Any) -> None:
        self.number = next(_numbers)
        _engines[self.number] = engine

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # threads may still run it, and the process ends anyway
            return
        _discarded.append(self.number)
        if _in_main_thread():
            _close_apart()
        elif _lock.acquire(blocking=False):  # else the holder of the lock, or the next one to take it, does it
            try:
                _close_discarded()
            finally:
                _lock.release()


class MachineCode:
    """Loaded machine code; its memory is given back with the last reference to it."""

    __slots__ = ("__weakref__", "_addresses", "_memory")

    def __init__(self, engine: Any, addresses: dict[str, int]) -> None:
        self._memory = _Memory(engine)
        self._addresses = addresses

    def __getitem__(self, symbol: str) -> int:
        """The address of a function or a table."""
        return self._addresses[symbol]


_loaded: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()


def code_of(ir: str, *symbols: str, anew: bool = False) -> MachineCode:
    """The code of a module: loaded already, from the disk, or compiled. `anew` always compiles, for measurements."""
    host = target.host()
    ir += target.ROOM
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
            _close_discarded()
            _make_room(max(_TO_COMPILE, 300 * len(ir)))
            return target.compile_object(ir)

    return _without_interrupts(work)


def _without_interrupts(work: Callable[[], T]) -> T:
    """What the function returns, called where Ctrl-C cannot interrupt it: only the first thread of a process receives it.

    A bare thread and a bare lock: a `Thread` is started by code in Python, and a Ctrl-C in the middle of that leaves it waiting
    for ever.
    """
    if not _in_main_thread() or not _has_room(_TO_START):
        return work()
    found: list[T] = []
    failed: list[Exception] = []
    done = _thread.allocate_lock()
    done.acquire()

    def record() -> None:
        try:
            found.append(work())
        except Exception as error:
            failed.append(error)
        finally:
            done.release()

    try:
        _thread.start_new_thread(record, ())
    except RuntimeError:  # no thread can be started, or the interpreter is about to end
        return work()
    done.acquire()
    if failed:
        raise failed.pop()
    return found.pop()  # the thread may not have ended yet, and shall not keep what it found


def load(content: bytes, *symbols: str) -> MachineCode:
    """Link an object file into this process."""

    def work() -> MachineCode:
        with _lock:
            _close_discarded()
            _make_room(max(_TO_LOAD, 4 * len(content)))
            engine = target.engine_of(content)
            addresses = {s: int(engine.get_function_address(s) or engine.get_global_value_address(s)) for s in symbols}
            return MachineCode(engine, addresses)

    found = _without_interrupts(work)
    for symbol in symbols:
        if not found[symbol]:
            raise CompileError(f"kernel: compiled code has no function {symbol!r}. Please report this.")
    return found


def _close_apart() -> None:
    """Give back memory in a thread of its own: a Ctrl-C would leave LLVM's binding with its lock taken, and no one to return it.

    It may be asked for in the middle of anything, so no lock is asked for here; without a thread the next work of LLVM does it.
    """
    global _asked
    if _asked or not _has_room(_TO_START):
        return
    _asked = True
    try:
        _thread.start_new_thread(_close_in_turn, ())
    except RuntimeError:
        _asked = False


def _close_in_turn() -> None:
    with _lock:
        _close_discarded()


def _close_discarded() -> None:
    """Give back the memory of code that is no longer used."""
    global _asked
    _asked = False
    while True:
        try:
            engine = _engines.pop(_discarded.popleft())
        except IndexError:  # asked for in one step: a collection of garbage anywhere in here comes to this function, too
            return
        _closing.append(engine)
        engine.close()
        _closing.pop()


def _make_room(size: int) -> None:
    """Check that memory can be mapped, after a garbage collection if need be: LLVM would run code in a mapping that failed."""
    if _has_room(size):
        return
    gc.collect()
    _close_discarded()
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
        for k in range(_MAPS):  # neighbours with different protection stay separate maps
            protection = mmap.PROT_READ | (mmap.PROT_WRITE if k % 2 else 0)
            taken.append(mmap.mmap(-1, max(size, mmap.PAGESIZE) if k == 0 else mmap.PAGESIZE, prot=protection))
    except (OSError, MemoryError):
        return False
    finally:
        for room in taken:
            room.close()
    return True


def _in_child() -> None:
    """A fork has no thread but its own."""
    global _asked
    _asked = False
    _lock.release()


# The interpreter waits for the compiler's thread before it ends, unless a Ctrl-C strikes just then: LLVM would go on in a process
# that is being torn down. Nothing begins after this either.
atexit.register(_lock.acquire)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_in_child)
