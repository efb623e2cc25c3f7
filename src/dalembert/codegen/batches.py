"""Arrays with batch axes as the rows of one loop, cut into pieces for threads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .single_call import data_of
from .workers import Batch, run

_PIECES = 32  # per thread: taking the next piece costs very little
_BLOCK = 32  # rows of which a piece is a multiple: whole blocks for any number of lanes
_LONGEST = 5e6  # ns that a piece should take at most: it cannot be interrupted
_LOOK = 2e7  # ns between two checks for Ctrl-C


def share(
    loop: int, arrays: Sequence[np.ndarray], cores: Sequence[int], batch: tuple[int, ...], cost_ns: float, threads: int
) -> None:
    """Run a kernel's loop over a batch; each array ends in its number of `cores` axes, and broadcasts over the axes before."""
    if math.prod(batch) == 0:
        return
    rows = batch_of(loop, arrays, cores, batch)
    piece = min(math.prod(batch) // (_PIECES * threads), int(_LONGEST / cost_ns))
    piece = (min(piece, rows.rows) // _BLOCK + 1) * _BLOCK
    run(rows, piece, max(1, int(_LOOK / (cost_ns * piece))), threads)


def batch_of(loop: int, arrays: Sequence[np.ndarray], cores: Sequence[int], batch: tuple[int, ...]) -> Batch:
    """The arrays as a loop takes them: the longest axis in the loop, the others around it."""
    count = len(batch)
    steps: list[list[int]] = []
    within: list[int] = []
    bases: list[int] = []
    for array, core in zip(arrays, cores):
        own = array.ndim - core
        strides = array.strides
        within += strides[own:]
        bases.append(data_of(array))
        steps.append(_batch_strides(array.shape, strides, own, count))
    axes = _merged(batch, list(zip(*steps))) if count else []
    inner = axes.pop(max(range(len(axes)), key=lambda k: axes[k][0])) if axes else (1, (0,) * len(arrays))
    around = tuple(step[a] for a in range(len(arrays)) for _, step in axes)
    return Batch(loop, bases, [*inner[1], *within], inner[0], tuple(extent for extent, _ in axes), around)


def _batch_strides(shape: tuple[int, ...], strides: tuple[int, ...], own: int, axes: int) -> list[int]:
    """Byte strides along the batch axes, 0 along axes that an array does not have or has only one entry of."""
    return [0] * (axes - own) + [0 if shape[k] == 1 else strides[k] for k in range(own)]


def _merged(batch: tuple[int, ...], steps: list[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """Lengths and strides of the batch axes; two neighbours become one where every array passes through both in equal steps."""
    axes: list[tuple[int, tuple[int, ...]]] = []
    for extent, step in zip(batch, steps, strict=True):
        if extent == 1:
            continue
        if axes and all(outer == inner * extent for outer, inner in zip(axes[-1][1], step, strict=True)):
            axes[-1] = (axes[-1][0] * extent, step)
        else:
            axes.append((extent, step))
    return axes
