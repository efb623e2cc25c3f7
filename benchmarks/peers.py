"""Other libraries to compare with: their compiled loops where there is a C++ compiler, else their Python bindings."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from dalembert.model import Robot

from . import bindings, descriptions, loops
from .subjects import SIMPLE, States, arguments, result_shapes
from .timing import timer_of


class Loop:
    """A compiled loop over all states, running in a process of its own and waiting for requests."""

    def __init__(self, label: str, program: Path, model: str, states: States, *more: np.ndarray) -> None:
        self.label = label
        self.count, self.n = len(states.q), states.q.shape[1]
        self.folder = tempfile.TemporaryDirectory(prefix="dalembert-bench-")
        place = Path(self.folder.name)
        (place / "model.xml").write_text(model)
        np.stack(states).tofile(place / "states.bin")
        files = [str(place / f"more{k}.bin") for k in range(len(more))]
        for path, array in zip(files, more, strict=True):
            array.tofile(path)
        command = [str(program), str(place / "model.xml"), str(place / "states.bin"), str(self.count), str(self.n), *files]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _ask(self, request: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):  # then there is no answer either
            print(request, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.label}: the loop ended (code {self.process.wait()}) when asked for {request.split()[1]}.")
        return answer

    def seconds(self, quantity: str) -> float:
        """Time per state, by the loop's own clock."""
        return float(self._ask(f"time {quantity}")) / self.count

    def rows(self, quantity: str) -> np.ndarray:
        """The results in all states as they were written, shape (count, size)."""
        path = Path(self.folder.name) / "answer.bin"
        self._ask(f"answer {quantity} {path}")
        return np.fromfile(path).reshape(self.count, -1)

    def answer(self, quantity: str) -> np.ndarray:
        """The results in all states, shape (count, ...)."""
        rows = self.rows(quantity)
        if quantity not in SIMPLE:
            return rows
        (shape,) = result_shapes(quantity, self.n)
        return rows.reshape(self.count, *reversed(shape)).swapaxes(1, -1) if len(shape) == 2 else rows  # Eigen's order

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.communicate()
        self.folder.cleanup()


class Binding:
    """The same through Python, state by state, where there is no C++ compiler."""

    def __init__(self, label: str, functions: dict[str, Callable[..., np.ndarray]], states: States) -> None:
        self.label = label
        self.functions = functions
        self.states = states

    def seconds(self, quantity: str) -> float:
        """Time per state, over at most a thousand of them."""
        count = min(1000, len(self.states.q))
        return timer_of(lambda: self._rows(quantity, count))() / count

    def answer(self, quantity: str) -> np.ndarray:
        """The results in all states, shape (count, ...)."""
        return np.array(self._rows(quantity, len(self.states.q), np.array))  # some results are views that the next call changes

    def _rows(self, quantity: str, count: int, keep: Callable[[Any], Any] = lambda result: result) -> list[Any]:
        function = self.functions[quantity]
        columns = arguments(quantity, self.states)
        return [keep(function(*(column[k] for column in columns))) for k in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass


Peer = Loop | Binding
LOOPS = {"pinocchio": loops.pinocchio, "mujoco": loops.mujoco}
SECOND = "-DSECOND_DERIVATIVES"  # a program that has them too
LINEAR = "-DSTATE_MATRICES"  # and one that writes A and B of linear models


def pinocchio(robot: Robot, states: States, *definitions: str, compiled: bool = True) -> Peer | None:
    """Pinocchio on a robot, by a program with these names defined, or None where it is not installed."""
    if not bindings.has("pinocchio"):
        return None
    if compiled:
        try:
            return Loop("Pinocchio C++", loops.pinocchio(*definitions), descriptions.as_text(robot), states)
        except loops.NoLoopError as reason:
            tell("Pinocchio", reason)
    return Binding("Pinocchio from Python", bindings.pinocchio(robot), states)


def mujoco(robot: Robot, states: States, *, compiled: bool = True) -> Peer | None:
    """MuJoCo on a robot, or None where it is not installed."""
    if not bindings.has("mujoco"):
        return None
    if compiled:
        try:
            return Loop("MuJoCo C", loops.mujoco(), descriptions.as_mjcf(robot), states)
        except loops.NoLoopError as reason:
            tell("MuJoCo", reason)
    return Binding("MuJoCo from Python", bindings.mujoco(robot), states)


def missing() -> list[str]:
    """The peers that are not installed."""
    return [name for name in LOOPS if not bindings.has(name)]


def all_compiled() -> bool:
    """Whether every peer is there and runs in a compiled loop."""
    try:
        programs = (*LOOPS.values(), loops.pinocchio_mechanisms, loops.mujoco_mechanisms)
        return all(program().exists() for program in programs)
    except loops.NoLoopError:
        return False


_told: set[str] = set()


def tell(name: str, reason: loops.NoLoopError) -> None:
    """Say once why a library is measured through its binding."""
    if name not in _told:
        _told.add(name)
        print(f"{name}: {reason}; its Python binding is measured instead.")
