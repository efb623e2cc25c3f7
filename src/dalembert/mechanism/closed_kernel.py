"""A kernel of a mechanism: positions are found first, by one kernel that all quantities share, then the quantity itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen import Kernel, arguments, refuse

Judge = Callable[[Any, Any, Any], None]
"""Told of q, x and how the closure went (assembly_program.STATE) where something is doubtful; warns or raises."""
GIVEN_UP = 60.0  # turns that only an assembly counts which was given up
NEAR_SINGULAR = 1e-3  # of a pivot's size at the seed: below, the true condition is looked at


class Finder:
    """How the positions of a kernel's tree are found from its coordinates: by the closure kernel, from some start."""

    def __init__(self, closure: Kernel, start: Any, judge: Judge) -> None:
        self.closure, self.start, self.judge = closure, start, judge

    def one(self, q: Any) -> Any:
        """For one configuration; `NotImplemented` for anything else."""
        found = self.closure.single(q, self.start)
        if found is NotImplemented:
            return NotImplemented
        x, state = found
        if not state.item(1) > NEAR_SINGULAR or state.item(2) > GIVEN_UP:
            self.judge(q, x, state)
        return x

    def many(self, q: Any, threads: int | None = None) -> Any:
        """For any batch; doubtful positions are told of."""
        x, state = self.closure(q, self.start, threads=threads)
        if type(state) is np.ndarray and not bool(np.all((state[..., 1] > NEAR_SINGULAR) & (state[..., 2] < GIVEN_UP))):
            self.judge(np.asarray(q, dtype=float), x, state)
        return x


class Given:
    """Positions that are known already: they are looked at, and taken."""

    def __init__(self, x: Any, taken: Callable[[Any, Any, int | None], Any]) -> None:
        self.x, self.taken = x, taken

    def one(self, q: Any) -> Any:
        """Not for the quick way: positions are looked at first."""
        return NotImplemented

    def many(self, q: Any, threads: int | None = None) -> Any:
        """The positions, if they are closed and those of q; NaN in rows that are singular."""
        return self.taken(q, self.x, threads)


class ClosedKernel:
    """Looks like a kernel without the positions among its inputs."""

    def __init__(self, inner: Kernel, finder: Finder | Given) -> None:
        self.inner, self.finder = inner, finder
        self.inputs, self.outputs, self.dtype = inner.inputs[:-1], inner.outputs, inner.dtype
        self.cost_ns = 3 * inner.cost_ns
        quick = inner.single is not refuse and isinstance(finder, Finder) and finder.closure.single is not refuse
        self.single = self._single if quick and inner.inputs[0].name == "q" else refuse

    def _single(self, *arrays: Any) -> Any:
        """For one configuration; `NotImplemented` for anything else."""
        if len(arrays) != len(self.inputs):
            return NotImplemented
        x = self.finder.one(arrays[0])
        return NotImplemented if x is NotImplemented else self.inner.single(*arrays, x)

    def __call__(self, /, *arrays: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """As a kernel."""
        if named:
            arrays = arguments.ordered(self.inputs, arrays, named)
        if len(arrays) != len(self.inputs):
            raise arguments.wrong_number(self.inputs, arrays)
        if not self.inputs or self.inputs[0].name != "q":  # what does not depend on the positions
            return self.inner(*arrays, np.zeros(self.inner.inputs[-1].shape), out=out, threads=threads)
        return self.inner(*arrays, self.finder.many(arrays[0], threads), out=out, threads=threads)

    def with_finder(self, finder: Finder | Given) -> ClosedKernel:
        """The same with positions from elsewhere."""
        return ClosedKernel(self.inner, finder)


class CheckedKernel:
    """A kernel that needs no positions, though some are given: they are looked at, and their leading axes count."""

    def __init__(self, inner: Kernel, given: Given) -> None:
        self.inner, self.given = inner, given
        self.inputs, self.outputs, self.dtype, self.cost_ns = inner.inputs, inner.outputs, inner.dtype, inner.cost_ns
        self.single = refuse

    def __call__(self, /, *arrays: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """As a kernel."""
        if named:
            arrays = arguments.ordered(self.inputs, arrays, named)
        if arrays and self.inputs[0].name == "q":
            batch = np.shape(self.given.many(arrays[0]))[:-1]
            q = np.asarray(arrays[0], dtype=float)
            arrays = (np.broadcast_to(q, np.broadcast_shapes((*batch, 1), q.shape)), *arrays[1:])
        return self.inner(*arrays, out=out, threads=threads)


def placed(kernel: Kernel, finder: Finder | Given) -> Kernel | CheckedKernel:
    """The kernel of a mechanism whose positions are linear in q: no start changes them, and given ones are looked at."""
    return CheckedKernel(kernel, finder) if isinstance(finder, Given) else kernel


__all__ = ["NEAR_SINGULAR", "CheckedKernel", "ClosedKernel", "Finder", "Given", "placed"]
