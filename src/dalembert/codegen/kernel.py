"""Kernels: compiled programs as NumPy functions, run in threads where the batch repays it."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from .. import checks
from ..errors import DalembertError, ShapeError
from ..expr import Program, Slot, interpret, loops
from ..expr.loops import LoopProgram
from ..expr.streamline import streamlined
from . import cache as disk
from . import call, gufunc, llvm, rolled, target
from .crew import MOST_ARRAYS, Batch, crew
from .real import DOUBLE, REALS, Real

_PIECES = 4  # per thread
_FINE_PIECES = 32  # likewise, in a crew
_BLOCK = 32  # rows: whole blocks of any width
_WORTH_A_THREAD = 2e5  # ns of work: some ten times what handing it over costs


class Kernel:
    """A program ready to run: arrays in, arrays out, with leading batch axes; a single output comes back bare."""

    def __init__(
        self,
        doors: tuple[Any, ...],
        inputs: tuple[Slot, ...],
        outputs: tuple[Slot, ...],
        cost_ns: float,
        dtype: str = DOUBLE.dtype,
    ) -> None:
        self.ufunc, self.single = doors[:2]  # for any batch; for one configuration, `NotImplemented` if it is not just that
        self.loop: int = doors[2] if len(doors) > 2 else 0  # the address of the inner loop, if there is one
        self.inputs = inputs
        self.outputs = outputs
        self.dtype = dtype
        self._prepared = _as_array if dtype == DOUBLE.dtype else _as_single
        rows = max(_WORTH_A_THREAD / max(cost_ns, 1.0), 8.0)
        self.small = int(rows * max(1, sum(slot.size for slot in inputs)))  # entries of all inputs below which one thread serves

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """Run on arrays of shape (..., *slot.shape)."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(slot.name for slot in self.inputs)
            raise ShapeError(f"arguments: {len(arrays)} found, {len(self.inputs)} expected: {names}.")
        given = [self._prepared(slot, array) for slot, array in zip(self.inputs, arrays, strict=True)]
        try:
            if sum(array.size for array in given) <= self.small:
                return self.ufunc(*given) if out is None else self.ufunc(*given, out=out)
            return _in_threads(self, tuple(given), out, threads)
        except (ValueError, TypeError) as error:
            raise self._explain(given, out) or error from None

    def _explain(self, arrays: Sequence[Any], out: Any) -> DalembertError | None:
        """Say in the house's words what NumPy refused."""
        for slot, array in zip(self.inputs, arrays, strict=False):
            shape = np.shape(array)
            cut = len(shape) - len(slot.shape)
            if cut < 0 or shape[cut:] != slot.shape:
                return ShapeError(f"{slot.name}: shape {shape} found, {expected(slot)} expected.")
            if np.asarray(array).dtype.kind not in "fiub":
                return ShapeError(f"{slot.name}: {np.asarray(array).dtype} entries found, real numbers expected.")
        batches = {s.name: np.shape(a)[: np.ndim(a) - len(s.shape)] for s, a in zip(self.inputs, arrays, strict=True)}
        try:
            batch = np.broadcast_shapes(*batches.values())
        except ValueError:
            listing = ", ".join(f"{name} {shape}" for name, shape in batches.items())
            return ShapeError(f"batch: leading axes do not broadcast together: {listing}.")
        if out is not None:
            return ShapeError(f"out: it does not fit; leading axes {batch} and {self.dtype} entries are expected.")
        return None


def _as_array(slot: Slot, value: Any) -> Any:
    if hasattr(value, "__array_ufunc__"):
        return value
    try:
        return np.asarray(value)
    except ValueError:
        message = f"{slot.name}: a nest of lists of unequal lengths found, {expected(slot)} expected."
        raise ShapeError(message) from None


def _as_single(slot: Slot, value: Any) -> Any:
    """Rounded to single precision: NumPy itself would not choose a loop that loses digits."""
    array = _as_array(slot, value)
    if not isinstance(array, (np.ndarray, np.generic)) or array.dtype.kind not in "fiub":
        return array
    with np.errstate(over="ignore"):
        return np.asanyarray(array).astype(np.float32, copy=False)


def expected(slot: Slot) -> str:
    """The shape a slot wants, in words."""
    return f"(..., {', '.join(map(str, slot.shape))})" if slot.shape else "(...)"


def build(program: Program | LoopProgram, dtype: str = DOUBLE.dtype, *, anew: bool = False) -> Kernel:
    """Compile a program, or fetch it from the cache; interpret it where there is no compiler.

    `dtype` is "float64" or "float32": what the kernel takes, computes in and returns. `anew` compiles in any case, to measure.
    """
    real: Real = checks.choice("dtype", dtype, REALS)
    cost = (0.06 * program.work + 0.3 * sum(slot.size for slot in (*program.inputs, *program.outputs))) * real.bytes / 8
    slots = program.inputs, program.outputs
    if not target.available() or any(0 in slot.shape for slot in (*program.inputs, *program.outputs)):
        return Kernel((Interpreted(program, dtype), call.refuse), *slots, 100 * cost, dtype)
    lanes, x86 = target.host().lanes, target.host().x86
    if isinstance(program, LoopProgram):
        # Two registers side by side hide the latency of divisions; without any, they would mostly spill.
        divides = any(node.op in ("div", "sqrt") for stage in loops.stages_of(program.stages) for node in stage.nodes)
        doors = compiled(rolled.emit(streamlined(program), lanes * (2 if divides else 1), x86=x86), program, anew=anew)
        return Kernel(doors if real is DOUBLE else (Rounded(doors[0], dtype), call.refuse), *slots, cost, dtype)
    ir = llvm.emit(program, lanes * 8 // real.bytes, x86=x86, real=real)
    return Kernel(compiled(ir, program, real, anew=anew), *slots, cost, dtype)


def compiled(ir: str, program: Program | LoopProgram, real: Real = DOUBLE, *, anew: bool = False) -> tuple[np.ufunc, Any, int]:
    """The doors of a module and the address of its loop, from the cache if it is there and not to be compiled anew."""
    host = target.host()
    key = disk.key_of(ir, host.triple, host.cpu, host.features, host.compiler)
    code = None if anew else disk.read(key)
    if code is None:
        code = target.compile_object(ir)
        disk.write(key, code)
    loop, single, api = target.load_object(code, "loop", "call", "api")
    ufunc = gufunc.make(loop, program.inputs, program.outputs, program.name, real)
    return ufunc, call.make(single, api, program.name, real) if call.supported() else call.refuse, loop


class Interpreted:
    """A program run node by node by NumPy: the same answers, without a compiler."""

    def __init__(self, program: Any, dtype: str = DOUBLE.dtype) -> None:
        self.program = program
        self.dtype = dtype

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As the ufunc of a compiled kernel would."""
        run = loops.run if isinstance(self.program, LoopProgram) else interpret.run
        return _delivered(run(self.program, *arrays), out, self.dtype)


class Rounded:
    """A kernel of double precision whose results are rounded: loop programs are compiled in no other."""

    def __init__(self, ufunc: Any, dtype: str) -> None:
        self.ufunc = ufunc
        self.dtype = dtype

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As a ufunc of single precision would."""
        results = self.ufunc(*arrays, dtype=np.float64)
        return _delivered(results if isinstance(results, tuple) else (results,), out, self.dtype)


def _delivered(results: Sequence[Any], out: Any, dtype: str) -> Any:
    """Results as a ufunc would hand them over."""
    if out is not None:
        for target_array, result in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
            target_array[...] = result
        return out
    if dtype != DOUBLE.dtype:
        with np.errstate(over="ignore"):
            results = tuple(np.asarray(result).astype(dtype) for result in results)
    return results[0] if len(results) == 1 else results


def thread_count(threads: int | None) -> int:
    """The number of threads asked for: the argument, `DALEMBERT_NUM_THREADS`, or every core this process may use."""
    if threads is not None:
        return max(1, int(threads))
    chosen = os.environ.get("DALEMBERT_NUM_THREADS", "")
    return max(1, int(chosen)) if chosen.isdigit() else _cores()


@cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="dalembert")


def _in_threads(kernel: Kernel, arrays: tuple[Any, ...], out: Any, threads: int | None) -> Any:
    """Cut the longest batch axis into one piece per thread; the loops run without the interpreter lock."""
    count = thread_count(threads)
    plain = all(type(array) is np.ndarray for array in arrays)
    shapes = [interpret.batch_shape(s, a.shape) for s, a in zip(kernel.inputs, arrays, strict=True)] if plain else []
    batch = np.broadcast_shapes(*shapes)
    if count == 1 or not plain or not batch:  # arrays of other libraries go through NumPy's own protocols, whole
        return kernel.ufunc(*arrays) if out is None else kernel.ufunc(*arrays, out=out)
    if out is None:
        results = tuple(np.empty((*batch, *slot.shape), kernel.dtype) for slot in kernel.outputs)
    else:
        results = out if isinstance(out, tuple) else (out,)
        # NumPy minds overlap within a piece, but one piece must not write what another still has to read.
        arrays = tuple(a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in arrays)
    flat = _flat(kernel, (*arrays, *results), batch)
    if flat is None or not crew(count - 1).run(flat, _piece(flat.rows, count)):
        _run_pieces(kernel, arrays, results, batch, count)
    return results[0] if len(results) == 1 else results


def _piece(rows: int, count: int) -> int:
    """Rows of a piece, whole blocks: small ones, since asking for the next costs next to nothing."""
    return (rows // (_FINE_PIECES * count) // _BLOCK + 1) * _BLOCK


def _flat(kernel: Kernel, arrays: Sequence[np.ndarray], batch: tuple[int, ...]) -> Batch | None:
    """The arrays as a loop takes them, if one loop goes through all rows: else NumPy has to."""
    slots = (*kernel.inputs, *kernel.outputs)
    if not kernel.loop or len(slots) > MOST_ARRAYS:
        return None
    fitting = all(array.dtype == kernel.dtype and array.flags.aligned for array in arrays)
    if not fitting or not all(array.flags.writeable for array in arrays[len(kernel.inputs) :]):
        return None
    rows: list[int] = []
    strides: list[int] = []
    for slot, array in zip(slots, arrays, strict=True):
        step = _row_step(array, len(slot.shape), batch)
        if step is None:
            return None
        rows.append(step)
        strides += array.strides[array.ndim - len(slot.shape) :]
    return Batch(kernel.loop, [array.ctypes.data for array in arrays], [*rows, *strides], math.prod(batch))


def _row_step(array: np.ndarray, core: int, batch: tuple[int, ...]) -> int | None:
    """The distance from row to row in bytes, if there is one: 0 for a single row that serves all."""
    if array.ndim == core:
        return 0
    if array.shape[: array.ndim - core] != batch:
        return None
    if len(batch) == 1:
        return array.strides[0]
    return math.prod(array.shape[len(batch) :]) * array.itemsize if array.flags.c_contiguous else None


def _run_pieces(
    kernel: Kernel, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray], batch: tuple[int, ...], count: int
) -> None:
    """Pieces are handed out as threads become free: one that starts late, or is held up, takes fewer of them."""
    axis = int(np.argmax(batch))
    edges = np.linspace(0, batch[axis], _PIECES * count + 1).astype(int)
    place = axis - len(batch)  # counted from the end of the batch axes, where broadcasting aligns

    def run(piece: slice) -> None:
        parts = [_cut(a, len(s.shape), place, piece) for s, a in zip(kernel.inputs, arrays, strict=True)]
        outs = tuple(_cut(r, len(s.shape), place, piece) for s, r in zip(kernel.outputs, results, strict=True))
        kernel.ufunc(*parts, out=outs)

    pieces = iter([slice(int(a), int(b)) for a, b in itertools.pairwise(edges) if b > a])

    def work() -> None:
        for piece in pieces:  # a list iterator hands out each item once, whichever thread asks
            run(piece)

    futures = [_pool(count).submit(work) for _ in range(count - 1)]
    work()
    for future in futures:
        future.result()


def _cut(array: np.ndarray, core: int, place: int, piece: slice) -> np.ndarray:
    """A piece of an array along one batch axis, if the array has that axis at all."""
    axis = array.ndim - core + place
    if axis < 0 or array.shape[axis] == 1:
        return array
    return array[(slice(None),) * axis + (piece,)]
