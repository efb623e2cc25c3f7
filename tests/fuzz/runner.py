"""Campaigns in processes of their own: a case that crashes or hangs is a line in a table, and the next one follows."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .campaign import CRASH, HANG, KINDS, cut
from .worker import module_of

CAMPAIGNS = (
    "files",
    "arrays",
    "outs",
    "options",
    "caches",
    "kills",
    "interrupts",
    "processes",
    "many_kernels",
    "copies",
    "at_once",
)
_ROOT = Path(__file__).resolve().parents[2]


class Found(NamedTuple):
    """A fault, with what is needed to repeat it."""

    campaign: str
    seed: int
    number: int
    kind: str
    about: str
    message: str

    def __str__(self) -> str:
        again = f"python -m tests.fuzz --only {self.campaign} --seed {self.seed} --number {self.number}"
        return f"{self.campaign} {self.number} [{self.kind}] {self.about}\n    {self.message}\n    repeat: {again}"


@dataclass
class Tally:
    """How a campaign went."""

    name: str
    cases: int = 0
    seconds: float = 0.0
    found: list[Found] = field(default_factory=list)

    def count(self, kind: str) -> int:
        """Faults of one kind."""
        return sum(fault.kind == kind for fault in self.found)


def run(name: str, seed: int, first: int, end: int, tell: Callable[[Found], None] = lambda _: None) -> Tally:
    """Run the cases from `first` to `end` of a campaign; a new process takes over after each crash."""
    tally = Tally(name)
    began = time.monotonic()
    while first < end:
        with tempfile.TemporaryFile() as errors:
            for found, last in _follow(name, seed, (first, end), errors):
                tally.cases += last + 1 - first
                first = last + 1
                if found is not None:
                    tally.found.append(found)
                    tell(found)
    tally.seconds = time.monotonic() - began
    return tally


def _follow(name: str, seed: int, numbers: tuple[int, int], errors: Any) -> Iterator[tuple[Found | None, int]]:
    """The faults of one process and how far it has come; the last is that it died or hung, if it did."""
    worker = _start(name, seed, numbers, errors)
    number, about, limit = numbers[1] - 1, "before the first case", module_of(name).LIMIT  # then no case will run
    patience = limit  # for its end, once it has no more to tell
    try:
        for report in _reports(worker, limit):
            number, about = report["number"], report.get("about", about)
            if "kind" in report:
                yield Found(name, seed, number, report["kind"], about, report["message"]), number
    except TimeoutError:
        patience = 0.0
    finally:
        hung = _stop(worker, patience)
    if hung or worker.returncode:
        kind, how = (HANG, "no answer") if hung else (CRASH, f"the process ended with {worker.returncode}")
        yield Found(name, seed, number, kind, about, f"{how}: {_tail(errors)}"), number
    else:
        yield None, numbers[1] - 1


def _start(name: str, seed: int, numbers: tuple[int, int], errors: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"{__package__}.worker", name, str(seed), *map(str, numbers)]
    path = os.pathsep.join([str(_ROOT / "src"), str(_ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=_ROOT,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,  # so that what it starts ends with it
    )


def _reports(worker: subprocess.Popen[bytes], limit: float) -> Iterator[dict[str, Any]]:
    """Lines of the worker as they come, until it closes the pipe; a TimeoutError when it has been silent for too long."""
    assert worker.stdout is not None
    pipe, rest = worker.stdout.fileno(), b""
    while True:
        if not select.select([pipe], [], [], limit)[0]:
            raise TimeoutError
        piece = os.read(pipe, 1 << 16)
        if not piece:
            return
        *lines, rest = (rest + piece).split(b"\n")
        yield from map(json.loads, lines)


def _stop(worker: subprocess.Popen[bytes], patience: float) -> bool:
    """End the worker, if it has not ended, and all it started; whether it had not. Tracebacks go to its error stream first."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        worker.wait(timeout=patience)
    hung = worker.poll() is None
    if hung:
        worker.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.wait(timeout=2.0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    assert worker.stdout is not None
    worker.stdout.close()
    return hung


def _tail(errors: Any) -> str:
    errors.seek(0)
    written = errors.read().decode(errors="replace")
    return cut(written.split("Extension modules:")[0][-2000:], 2000)


def table(tallies: list[Tally]) -> str:
    """A summary, one line for each campaign."""
    head = ("campaign", "cases", *KINDS, "seconds")
    rows = [(t.name, str(t.cases), *(str(t.count(kind)) for kind in KINDS), f"{t.seconds:.1f}") for t in tallies]
    widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(w) if k else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths))) for row in (head, *rows)
    )
