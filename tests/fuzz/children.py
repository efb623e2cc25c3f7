"""Forked copies of this process that do something and tell how it went, a line at a time."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator

from .campaign import CRASH, HANG, Fault

Tell = Callable[[str], None]


class Child:
    """A running copy."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid = pid
        self._pipe = pipe
        self._rest = b""
        self._status: int | None = None

    def line(self, seconds: float) -> str:
        """The next line it tells; a fault if it ends or falls silent before."""
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            if not select.select([self._pipe], [], [], max(0.0, until - time.monotonic()))[0]:
                raise Fault(HANG, f"no answer within {seconds:g} s")
            piece = os.read(self._pipe, 1 << 12)
            if not piece:
                raise Fault(CRASH, f"the process ended with status {self.wait(seconds)}")
            self._rest += piece
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def wait(self, seconds: float) -> int:
        """Its exit status, negative for a signal; a fault if it does not end."""
        until = time.monotonic() + seconds
        while self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                raise Fault(HANG, f"the process did not end within {seconds:g} s")
            else:
                time.sleep(0.002)
        return self._status

    def end(self) -> None:
        """Make sure that it is gone."""
        if self._status is None:
            with contextlib.suppress(ProcessLookupError):
                self.send(signal.SIGKILL)
            self.wait(10.0)
        os.close(self._pipe)


@contextlib.contextmanager
def child(work: Callable[[Tell], None]) -> Iterator[Child]:
    """A copy of this process that does the work and ends with status 0, or with 1 if it raises."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, about forks of processes with threads
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _work(work, lambda line: _tell(writing, line))
    os.close(writing)
    running = Child(pid, reading)
    try:
        yield running
    finally:
        running.end()


def _tell(pipe: int, line: str) -> None:
    os.write(pipe, line.encode() + b"\n")


def _work(work: Callable[[Tell], None], tell: Tell) -> None:
    """Do it, and leave without the parent's clean-up."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work(tell)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
