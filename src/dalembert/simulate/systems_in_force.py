"""Which system is in force when, along motions in which one takes the place of another; and what each tells of its part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .applied import Applied

Parts = tuple[Any, ...]
"""Of states along a motion, each (..., K, ·), or None."""

Told = Sequence[FloatArray]
"""Each (..., K) or (..., K, ·)."""


class SystemsInForce(NamedTuple):
    """Systems, that of the start first; and for each motion from when on which one is in force."""

    systems: tuple[Any, ...]
    changes: tuple[tuple[tuple[float, int], ...], ...]

    def at(self, t: FloatArray, batch: tuple[int, ...], *, after: bool = False) -> Any:
        """Which one is in force at times (K,), or (..., K) of each motion; at that of a change the one before, or `after` it."""
        times = np.broadcast_to(t, (*batch, t.shape[-1])).reshape(len(self.changes), t.shape[-1])
        side: Any = "right" if after else "left"
        found = [
            np.array([0, *(which for _, which in own)])[np.searchsorted([time for time, _ in own], row, side=side)]
            for own, row in zip(self.changes, times, strict=True)
        ]
        return np.array(found).reshape(*batch, t.shape[-1])


def systems_in_force(first: Any, records: Iterable[tuple[tuple[int, ...], Any]], batch: tuple[int, ...]) -> SystemsInForce | None:
    """By the records of what happened, each with its motion; None where one system is in force throughout."""
    systems: list[Any] = [first]
    changes: dict[tuple[int, ...], list[tuple[float, int]]] = {row: [] for row in np.ndindex(batch)}
    for row, event in records:
        if event.system is None:
            continue
        if all(event.system is not known for known in systems):
            systems.append(event.system)
        which = next(k for k, known in enumerate(systems) if known is event.system)
        changes[row].append((event.t, which))
    if not any(changes.values()):
        return None
    return SystemsInForce(tuple(systems), tuple(map(tuple, changes.values())))


def told_by_each(
    systems: Sequence[Any], which: Any, tell: Callable[[Any, Parts, Applied], Told], parts: Parts, acting: Applied
) -> list[FloatArray]:
    """What `tell(system, parts, acting)` finds for states in one row, each system at those where it is in force."""
    flat, acted = which.ravel(), acting.rows(which.shape)
    rows_of = [None if part is None else part.reshape(flat.size, part.shape[-1]) for part in parts]
    found: list[FloatArray] = []
    for k in np.unique(flat):
        rows = np.flatnonzero(flat == k)
        own = tell(systems[k], tuple(None if part is None else part[rows] for part in rows_of), acted.taken(rows))
        found = found or [np.empty((flat.size, *part.shape[1:])) for part in own]
        for whole, part in zip(found, own, strict=True):
            whole[rows] = part
    return [whole.reshape(*which.shape, *whole.shape[1:]) for whole in found]


__all__ = ["Parts", "SystemsInForce", "Told", "systems_in_force", "told_by_each"]
