"""Kernels: compiled programs as NumPy functions, run in threads where the batch repays it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import checks
from ..errors import DalembertError, ShapeError
from ..expr import Program, Slot, interpret, loops
from ..expr.loops import LoopProgram
from ..expr.streamline import streamlined
from . import batches, call, gufunc, llvm, machine, rolled, target
from .real import DOUBLE, REALS, Real
from .workers import MOST_ARRAYS, no_memory, thread_count

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
        self.cost_ns = max(cost_ns, 1.0)  # of one configuration, roughly
        self.inputs = inputs
        self.outputs = outputs
        self.dtype = dtype
        self.program: Program | None = None  # kept by those that may travel to another process
        self._prepared = _as_array if dtype == DOUBLE.dtype else _as_single
        rows = max(_WORTH_A_THREAD / self.cost_ns, 8.0)
        self.small = int(rows * max(1, sum(slot.size for slot in inputs)))  # entries of all inputs below which one thread serves

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """Run on arrays of shape (..., *slot.shape)."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(slot.name for slot in self.inputs)
            raise ShapeError(f"arguments: {len(arrays)} found, {len(self.inputs)} expected: {names}.")
        if threads is not None:
            thread_count(threads)
        given = [self._prepared(slot, array) for slot, array in zip(self.inputs, arrays, strict=True)]
        try:
            if sum(array.size for array in given) <= self.small:
                return self.ufunc(*given) if out is None else self.ufunc(*given, out=out)
            return _in_threads(self, tuple(given), out, threads)
        except (ValueError, TypeError) as error:
            raise self._explain(given, out) or error from None
        except MemoryError as error:
            raise no_memory(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        """As its program: whoever unpickles it compiles, or finds the code on disk."""
        if self.program is None:
            message = "kernel: this one belongs to a robot, and cannot be pickled by itself. Pickle the robot, or use dal.kernel."
            raise TypeError(message)
        return portable, (self.program, self.dtype)

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self

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


def portable(program: Program, dtype: str = DOUBLE.dtype) -> Kernel:
    """A kernel that can be pickled: it keeps its program."""
    kernel = build(program, dtype)
    kernel.program = program
    return kernel


def compiled(ir: str, program: Program | LoopProgram, real: Real = DOUBLE, *, anew: bool = False) -> tuple[np.ufunc, Any, int]:
    """The doors of a module and the address of its loop, from the cache if it is there and not to be compiled anew."""
    code = machine.code_of(ir, "loop", "call", "api", anew=anew)
    call.introduce(code, real)
    ufunc = gufunc.make(code, program.inputs, program.outputs, program.name, real)
    return ufunc, call.make(code, program.name) if call.supported() else call.refuse, code["loop"]


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


def _in_threads(kernel: Kernel, arrays: tuple[Any, ...], out: Any, threads: int | None) -> Any:
    """A large batch: the loops run without the interpreter lock, in threads, and stop when the user interrupts."""
    count = thread_count(threads)
    plain = all(type(array) is np.ndarray and array.dtype.kind in "fiub" for array in arrays)
    shapes = [interpret.batch_shape(s, a.shape) for s, a in zip(kernel.inputs, arrays, strict=True)] if plain else []
    batch = np.broadcast_shapes(*shapes)
    slots = (*kernel.inputs, *kernel.outputs)
    if (
        not plain or not kernel.loop or len(slots) > MOST_ARRAYS
    ):  # arrays of other libraries go through NumPy's own protocols, whole
        return kernel.ufunc(*arrays) if out is None else kernel.ufunc(*arrays, out=out)
    if out is None:
        results = tuple(np.empty((*batch, *slot.shape), kernel.dtype) for slot in kernel.outputs)
    else:
        results = out if isinstance(out, tuple) else (out,)
        # One piece must not write what another still has to read.
        arrays = tuple(a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in arrays)
    given = [_loadable(array, kernel.dtype) for array in arrays]
    places = [result if result.flags.aligned else np.empty(result.shape, kernel.dtype) for result in results]
    batches.share(kernel.loop, [*given, *places], [len(slot.shape) for slot in slots], batch, kernel.cost_ns, count)
    for result, place in zip(results, places, strict=True):
        if place is not result:
            result[...] = place
    return results[0] if len(results) == 1 else results


def _loadable(array: np.ndarray, dtype: str) -> np.ndarray:
    """The same numbers as a loop reads them."""
    return array if array.dtype == dtype and array.flags.aligned else array.astype(dtype)
