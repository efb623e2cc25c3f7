"""The steps of many motions, collected call by call: each motion takes its own, and they end up in one row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from .solution import BatchSolution, Pieces, starts_among
from .steering import Fields

_CURSOR = Fields._fields.index("cursor")
_ROOM = 4_000_000  # numbers that one call may write: 32 MB
_LEAST = 8  # steps of a call, however many motions there are


class StepRows:
    """Rows that calls of a kernel write, of which each motion fills some."""

    def __init__(self, count: int, sizes: list[int], powers: int) -> None:
        self.count, self.sizes, self.powers = count, sizes, powers
        self.rows = _LEAST
        self.last: Any = slice(None)
        self._pieces: list[list[Any]] = []

    def budget(self, most: int) -> int:
        """Trial steps of a call, so that its results have room."""
        self.rows = max(_LEAST, min(most, _ROOM // max(self.count * sum(self.sizes), 1)))
        return self.rows

    def run(self, group: Any) -> None:
        """One call, and what it wrote."""
        who = np.arange(self.count) if group.rows is None else group.rows
        out = [np.empty((len(who), self.rows + 1, size)) for size in self.sizes]
        group.run(out)
        done = group.motions.state[who, _CURSOR].astype(int)
        filled = np.arange(self.rows + 1) < done[:, None]
        owner = np.repeat(who, done)
        self._pieces.append([owner, np.full(len(owner), group.chart), *(array[filled] for array in out)])
        self.last = who

    def solution(
        self,
        batch: tuple[int, ...],
        interval: tuple[float, float],
        start: list[FloatArray],
        n: int,
        solved: bool,
        charts: Any,
        jumps: bool = False,
    ) -> BatchSolution:
        """All steps, motion by motion in the order of time, with the states where they begin."""
        owner, chart, *arrays = (np.concatenate(parts) for parts in zip(*self._pieces, strict=True))
        order = np.argsort(owner, kind="stable")
        owner, chart, arrays = owner[order], chart[order], [array[order] for array in arrays]
        first = np.searchsorted(owner, np.arange(self.count + 1))
        ends, shown, more = arrays[0], arrays[1 : 1 + len(start)], arrays[1 + len(start) :]
        begins = [_begins(rows, given, first) for rows, given in zip(shown, start, strict=True)]
        t = np.concatenate([_begins(ends, np.full((self.count, 1), interval[0]), first), ends], axis=1)
        z = shown[-1] if len(start) > (4 if solved else 2) else None
        starts = None
        if jumps:
            more, starts = starts_among(more, z is not None)
            begins[:2] = [starts.q, starts.qd]
        powers = [more[0], more[1], *([] if z is None else [more[-1]])]
        F = tuple(row.reshape(len(row), self.powers, row.shape[-1] // self.powers) for row in powers)
        if z is not None:  # where steps begin: what a sampled law holds jumps there
            z = z - F[2][:, 0] if starts is None else starts.z
        pieces = Pieces(chart, charts, more[2], more[3], begins[2]) if solved else None
        lengths = None if starts is None else starts.lengths
        return BatchSolution(batch, first, t, begins[0], begins[1], F, interval, pieces, z, lengths)


def _begins(rows: FloatArray, start: FloatArray, first: Any) -> FloatArray:
    """Rows where steps begin: where the step before has ended, or the start."""
    found = np.empty_like(rows)
    found[1:] = rows[:-1]
    moved = first[:-1] < first[1:]
    found[first[:-1][moved]] = start[moved]
    return found


__all__ = ["StepRows"]
