"""Compiled time loops, kept beside the system: one for each kind of torque, and for the last few laws."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ..codegen.time_loop import TimeLoopKernel
from ..dynamics import engine
from ..dynamics.system import Request
from .laws import TorqueLaw

_LAWS = 16  # kernels of laws that are kept with a system: each may stem from another number that a function closes over


def loop_kernel(
    system: Any, loop: str, kind: str | TorqueLaw, further: tuple[Hashable, ...], make: Callable[[], TimeLoopKernel]
) -> TimeLoopKernel:
    """The kernel of a time loop, made if there is none yet; a law of which it cannot be known what it does is traced anew."""
    if isinstance(kind, str):
        return engine.kept(system, Request(loop, (kind, *further)), make)
    if kind.key is None:
        return make()
    known: dict[Any, TimeLoopKernel] = engine.kept(system, Request(loop, ("laws",)), dict)
    key = (kind.key, *further)
    found = known.pop(key, None)
    known[key] = found = found or make()  # the last one used is the last one in order
    for old in list(known)[:-_LAWS]:
        del known[old]
    return found


__all__ = ["loop_kernel"]
