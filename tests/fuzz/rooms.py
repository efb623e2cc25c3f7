"""Arrays inside larger ones filled with a pattern, so that a write outside of them is found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .campaign import WRONG, Fault

_PATTERN = np.float64(-8.765432e-200)
_GUARD = 512  # entries before and after: more than a block of rows of a small robot


class Room:
    """An array of a given shape (`view`) somewhere inside a larger one (`whole`): with gaps, backwards, in Fortran order."""

    def __init__(self, shape: tuple[int, ...], step: int = 1, order: Any = "C") -> None:
        size = math.prod(shape) * abs(step)
        self.whole = np.full(size + 2 * _GUARD, _PATTERN)
        self._inside = np.zeros(self.whole.shape, bool)
        self.view, marks = (_part(room[_GUARD : _GUARD + size], shape, step, order) for room in (self.whole, self._inside))
        marks[...] = True

    def require_clean(self) -> None:
        """Nothing was written outside."""
        outside = self.whole.view(np.int64)[~self._inside]
        changed = int(np.count_nonzero(outside != _PATTERN.view(np.int64)))
        if changed:
            raise Fault(WRONG, f"{changed} entries beside an array were overwritten")


def _part(row: np.ndarray, shape: tuple[int, ...], step: int, order: Any) -> np.ndarray:
    view = row[::step].reshape(shape, order=order)
    assert not view.size or np.shares_memory(view, row)
    return view
