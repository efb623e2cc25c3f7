"""Times that other work on the machine disturbs little."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_times(*functions: Callable[[], object], rounds: int = 40) -> list[float]:
    """The least time of each in seconds, taken in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[k] = min(best[k], time.perf_counter() - start)
    return best
