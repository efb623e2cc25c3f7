"""Arrays of other libraries in a kernel: Dask runs it block by block, others by NumPy's own protocol for functions."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..errors import DalembertError, ShapeError
from ..expr import Slot
from . import arguments


class Runnable(Protocol):
    """A kernel, as far as it is asked here."""

    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    dtype: Any
    ufunc: Any

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """Run on arrays of NumPy's."""


def run(kernel: Runnable, arrays: Sequence[Any], out: Any, threads: int | None) -> Any:
    """A kernel of arrays of which some belong to another library, which decides what comes back."""
    if out is not None:  # results go to an array of NumPy, so arrays of other libraries are read
        own = [arguments.prepared(slot, a, kernel.dtype, own=True) for slot, a in zip(kernel.inputs, arrays, strict=True)]
        return kernel(*own, out=out, threads=threads)
    given = [_given(kernel, k, array) for k, array in enumerate(arrays)]
    if any(map(arguments.is_dask, given)):
        return _by_blocks(kernel, given, threads)
    names = [slot.name for slot in kernel.inputs]
    name, array = next((name, a) for name, a in zip(names, given, strict=True) if type(a) is not np.ndarray)
    if not isinstance(kernel.ufunc, np.ufunc):
        raise arguments.refusal(name, array)
    try:
        return kernel.ufunc(*given)
    except DalembertError:
        raise
    except (TypeError, ValueError, NotImplementedError) as error:
        raise arguments.refusal(name, array) from error


def _given(kernel: Runnable, place: int, array: Any) -> Any:
    """An array of another library unchanged, if it may hold real numbers; anything else as an array of NumPy."""
    slot = kernel.inputs[place]
    try:
        return arguments.prepared(slot, array, kernel.dtype)
    except arguments.Foreign:
        kind = getattr(getattr(array, "dtype", None), "kind", "f")
        if kind not in "fiub":
            raise ShapeError(f"{slot.name}: {array.dtype} entries found, real numbers expected.") from None
        return array


def _by_blocks(kernel: Runnable, arrays: Sequence[Any], threads: int | None) -> Any:
    """A function of each block of rows, which Dask runs when it computes: in one thread each, as Dask has threads of its own."""
    for slot, array in zip(kernel.inputs, arrays, strict=True):
        arguments.batch_of([slot], [array])
    count = itertools.count()
    inputs, outputs = ([tuple(f"d{next(count)}" for _ in slot.shape) for slot in s] for s in (kernel.inputs, kernel.outputs))
    sides = (",".join(f"({','.join(axes)})" for axes in side) for side in (inputs, outputs))
    sizes = dict(zip(itertools.chain(*outputs), itertools.chain(*(slot.shape for slot in kernel.outputs)), strict=True))
    options = {"output_sizes": sizes, "output_dtypes": [kernel.dtype] * len(outputs), "allow_rechunk": True}
    dask: Any = sys.modules["dask.array"]
    try:
        return dask.apply_gufunc(partial(_block, kernel, threads or 1), "->".join(sides), *arrays, **options)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise ShapeError(f"batch: Dask could not bring the arrays together: {reason}") from error


def _block(kernel: Runnable, threads: int, *arrays: Any) -> Any:
    return kernel(*arrays, threads=threads)
