"""Names and units of states, inputs and outputs, and the motion that a linear model belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..brief import brief
from ..checks import FloatArray


class Signal(NamedTuple):
    """A state, an input or an output: its name, and its unit."""

    name: str
    unit: str = ""


class OperatingPoint(NamedTuple):
    """Where a model was made: motion and forces of the drives, each of shape (..., n)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray

    def __repr__(self) -> str:
        return brief(self)


def signals(names: Sequence[str | Signal]) -> tuple[Signal, ...]:
    """Names as signals."""
    return tuple(Signal(*name) if isinstance(name, tuple) else Signal(name) for name in names)


__all__ = ["OperatingPoint", "Signal", "signals"]
