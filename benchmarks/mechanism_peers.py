"""Other libraries on closed loops: their compiled programs where there is a C++ compiler, else their Python bindings."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import numpy as np

from dalembert.mechanism import Mechanism

from . import bindings, loops, mechanism_bindings, peers
from .mechanism_descriptions import mechanism_mjcf, mechanism_text
from .mechanism_subjects import LoopStates
from .subjects import States
from .timing import timer_of

ARGUMENTS = {
    "inverse_dynamics": ("x", "xd", "xdd"),
    "forward_dynamics": ("x", "xd", "tau"),
    "closed_inverse_dynamics": ("x", "xd", "xdd", "start"),
}


class LoopBinding:
    """A library through Python, state by state, where there is no C++ compiler."""

    def __init__(self, label: str, functions: mechanism_bindings.Functions, states: LoopStates) -> None:
        self.label, self.functions, self.states = label, functions, states

    def seconds(self, quantity: str) -> float:
        """Time per state, over at most a thousand of them."""
        count = min(1000, len(self.states.x))
        return timer_of(lambda: self.rows(quantity, count))() / count

    def rows(self, quantity: str, count: int | None = None) -> np.ndarray:
        """The results, shape (count, ...)."""
        columns = [getattr(self.states, name)[:count] for name in ARGUMENTS[quantity]]
        return np.array([np.array(self.functions[quantity](*row)) for row in zip(*columns, strict=True)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass


LoopPeer = peers.Loop | LoopBinding


def pinocchio(mechanism: Mechanism, states: LoopStates, *, compiled: bool = True) -> LoopPeer | None:
    """Pinocchio on a mechanism, or None where it is not installed."""
    if not bindings.has("pinocchio"):
        return None
    if compiled:
        try:
            program = loops.pinocchio_mechanisms()
            return peers.Loop("Pinocchio C++", program, mechanism_text(mechanism), States(*states[:4]), states.start)
        except loops.NoLoopError as reason:
            peers.tell("Pinocchio", reason)
    return LoopBinding("Pinocchio from Python", mechanism_bindings.pinocchio_loops(mechanism), states)


def mujoco(mechanism: Mechanism, states: LoopStates, *, compiled: bool = True) -> LoopPeer | None:
    """MuJoCo on a mechanism, or None where it is not installed."""
    if not bindings.has("mujoco"):
        return None
    if compiled:
        try:
            return peers.Loop("MuJoCo C", loops.mujoco_mechanisms(), mechanism_mjcf(mechanism), States(*states[:4]))
        except loops.NoLoopError as reason:
            peers.tell("MuJoCo", reason)
    return LoopBinding("MuJoCo from Python", mechanism_bindings.mujoco_loops(mechanism), states)


def at_drives(rows: np.ndarray, states: LoopStates) -> np.ndarray:
    """Results at the driven joints; some programs write those of all joints."""
    return rows if rows.shape[1] == len(states.driven) else rows[:, states.driven]
