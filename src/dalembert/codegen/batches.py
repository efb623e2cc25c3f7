"""Arrays with batch axes as the rows of one loop, cut into pieces for threads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .workers import Batch, run

_PIECES = 32  # per thread: asking for the next costs next to nothing
_BLOCK = 32  # rows: whole blocks of any width
_LONGEST = 5e6  # ns that a piece should take at most: nobody can interrupt it
_LOOK = 2e7  # ns between two looks for a Ctrl-C


def share(
    loop: int, arrays: Sequence[np.ndarray], cores: Sequence[int], batch: tuple[int, ...], cost_ns: float, threads: int
) -> None:
    """Run a kernel's loop over a batch; each array ends in so many axes of its own, and broadcasts over those before."""
    if math.prod(batch) == 0:
        return
    rows = batch_of(loop, arrays, cores, batch)
    piece = min(math.prod(batch) // (_PIECES * threads), int(_LONGEST / cost_ns))
    piece = (min(piece, rows.rows) // _BLOCK + 1) * _BLOCK
    run(rows, piece, max(1, int(_LOOK / (cost_ns * piece))), threads)


def batch_of(loop: int, arrays: Sequence[np.ndarray], cores: Sequence[int], batch: tuple[int, ...]) -> Batch:
    """The arrays as a loop takes them: one axis in the loop, the others around it."""
    steps = [_batch_strides(array, core, len(batch)) for array, core in zip(arrays, cores, strict=True)]
    axes = _merged(batch, list(zip(*steps, strict=True)))
    inner = axes.pop(max(range(len(axes)), key=lambda k: axes[k][0])) if axes else (1, (0,) * len(arrays))
    within = [stride for array, core in zip(arrays, cores, strict=True) for stride in array.strides[array.ndim - core :]]
    around = tuple(step[a] for a in range(len(arrays)) for _, step in axes)
    bases = [array.ctypes.data for array in arrays]
    return Batch(loop, bases, [*inner[1], *within], inner[0], tuple(extent for extent, _ in axes), around)


def _batch_strides(array: np.ndarray, core: int, axes: int) -> list[int]:
    """Byte strides along the batch axes, 0 along those it does not have or has but one entry of."""
    own = array.ndim - core
    found = [0 if array.shape[k] == 1 else array.strides[k] for k in range(own)]
    return [0] * (axes - own) + found


def _merged(batch: tuple[int, ...], steps: list[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """Lengths and strides of the batch axes, with neighbours made one wherever every array goes through both in even steps."""
    axes: list[tuple[int, tuple[int, ...]]] = []
    for extent, step in zip(batch, steps, strict=True):
        if extent == 1:
            continue
        if axes and all(outer == inner * extent for outer, inner in zip(axes[-1][1], step, strict=True)):
            axes[-1] = (axes[-1][0] * extent, step)
        else:
            axes.append((extent, step))
    return axes
