"""Two columns: what a document says, and what is computed here."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

DUST = 1e-12  # relative to the largest entry: rounding of an exact zero


def show(title: str, rows: Mapping[str, tuple[ArrayLike, ArrayLike]], *, source: str = "document") -> float:
    """Print pairs (document, here) by name, an entry per line; return the largest difference, relative to the largest entry."""
    width = max(len(name) for name in rows) + 6
    print(f"{title}\n{'':<{width}}{source:>14}{'here':>14}")
    worst = 0.0
    for name, (document, here) in rows.items():
        expected, found = np.broadcast_arrays(np.asarray(document, float), np.asarray(here, float))
        scale = max(1.0, float(np.abs(expected).max()))
        worst = float(np.maximum(worst, np.abs(found - expected).max() / scale))  # NaN stays
        for place in np.ndindex(expected.shape):
            label = name + ("[" + ",".join(str(i + 1) for i in place) + "]" if place else "")
            print(f"{label:<{width}}" + "".join(f"{_clean(x[place], scale):14.7g}" for x in (expected, found)))
    print(f"largest relative difference {worst:.1e}\n")
    return worst


def _clean(x: float, scale: float) -> float:
    return 0.0 if abs(x) < DUST * scale else x
