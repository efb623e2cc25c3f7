"""How much to measure: the full run, a quick one, and one that only shows that everything works."""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """Sizes of all benchmarks."""

    batch: int  # states of the batch
    entries: int  # coordinates of a chain's batch, states times joints
    seconds: float  # for each comparison
    lengths: tuple[int, ...]  # of chains
    calls: int  # Python calls in a row
    starts: int  # fresh processes
    rounds: int  # through all chains
    batch_rounds: int  # through all quantities of the batch
    compiled: bool = True  # whether peers are compiled, too


_LENGTHS = (2, 3, 6, 7, 12, 30, 60, 120, 300)
FULL = Effort(100_000, 60_000, 3.0, _LENGTHS, 1000, 7, 3, 24)
QUICK = Effort(20_000, 20_000, 0.4, _LENGTHS, 300, 3, 1, 4)
TINY = Effort(8, 16, 0.0, (2,), 2, 1, 1, 1, compiled=False)
