"""Kernels: compiled programs as NumPy functions, run in threads where the batch repays it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .. import checks
from ..expr import Program, Slot, interpret, loops
from ..expr.loop_passes import streamlined
from ..expr.loops import LoopProgram
from . import (
    arguments,
    batches,
    foreign,
    gufunc,
    loop_ir,
    machine_code,
    single_call,
    straight_ir,
    target,
)
from .precision import DOUBLE, REALS, Real
from .workers import MOST_ARRAYS, no_memory, thread_count

_SOON = 2e7  # ns of work after which an interrupt should be noticed
_LONG_STAGE = 600  # operations of a stage from which on registers spill anyway
_WORK_PER_ENTRY = 5  # operations for each number of the results, below which writing them takes much of the time
_WORK_PER_RESULT_ON_ZEN = 40  # likewise for each that is no constant; Zen cores turn registers into rows in halves
_FEW_RESULTS = 16  # numbers whose writing is never much there
_WORTH_A_THREAD = 2e5  # ns of work: some ten times what it costs to give it to a thread


class Kernel:
    """A program ready to run: arrays in, arrays out, with leading batch axes; a single output comes back bare."""

    def __init__(
        self,
        entry_points: tuple[Any, ...],
        inputs: tuple[Slot, ...],
        outputs: tuple[Slot, ...],
        cost_ns: float,
        dtype: str = DOUBLE.dtype,
    ) -> None:
        # For any batch; for one configuration, with the answer `NotImplemented` to anything else.
        self.ufunc, self.single = entry_points[:2]
        self.loop: int = entry_points[2] if len(entry_points) > 2 else 0  # the address of the inner loop, if there is one
        self.cost_ns = max(cost_ns, 1.0)  # of one configuration, roughly
        self.inputs = inputs
        self.outputs = outputs
        self.dtype = dtype
        self.program: Program | None = None  # kept by kernels that can be pickled
        self._element = np.dtype(dtype)
        self._is_plain = isinstance(self.ufunc, np.ufunc) and bool(inputs)
        self._has_axes = all(slot.shape for slot in outputs)
        # NumPy copies inputs that overlap with results, except where rows have one entry: it treats these as elementwise.
        self._is_thin = any(slot.size == 1 for slot in (*inputs, *outputs))
        rows = max(_WORTH_A_THREAD / self.cost_ns, 8.0)
        # Entries of all inputs up to which one thread is enough, and up to which one that was asked for needs no interrupt.
        entries = max(1, sum(slot.size for slot in inputs))
        self.small, self.soon = int(rows * entries), int(_SOON / self.cost_ns * entries)

    def __call__(self, /, *arrays: Any, out: Any = None, threads: int | None = None, **named: Any) -> Any:
        """Run on arrays of shape (..., *slot.shape), by place or by name."""
        if named:
            arrays = arguments.ordered(self.inputs, arrays, named)
        if len(arrays) != len(self.inputs):
            raise arguments.wrong_number(self.inputs, arrays)
        if threads is not None:
            thread_count(threads)
        given, size, deep = [], 0, False
        for slot, array in zip(self.inputs, arrays):
            if type(array) is not ndarray or array.dtype is not self._element:
                try:
                    array = arguments.prepared(slot, array, self.dtype)
                except arguments.Foreign:
                    return foreign.run(self, arrays, out, threads)
            given.append(array)
            size += array.size
            if array.ndim > 2:
                deep = True
        small = (self._entries(given) if deep else size) <= (self.soon if threads == 1 else self.small)
        try:
            if out is not None:
                return self._into(given, small, out, threads)
            results = self.ufunc(*given) if small else _in_threads(self, given, None, threads)
        except (ValueError, TypeError):
            arguments.batch_of(self.inputs, given)  # raises a clear message if shapes are the reason
            raise
        except MemoryError as error:
            raise no_memory(str(error)) from None
        return results if self._has_axes else arguments.as_arrays(results)

    def _entries(self, given: list[Any]) -> int:
        """Entries of all inputs, as if each had all the rows of the batch: few arrays may broadcast to many rows."""
        return math.prod(arguments.batch_of(self.inputs, given)) * sum(slot.size for slot in self.inputs)

    def _into(self, given: list[Any], small: bool, out: Any, threads: int | None) -> Any:
        """Write the results into `out`: at once if a quick check shows that it fits, else after a full check."""
        if self._is_thin:
            given = arguments.apart_from(given, out)
        if small and self._is_plain:
            shape = given[0].shape
            batch = shape[: len(shape) - len(self.inputs[0].shape)]
            try:
                if type(out) is ndarray:
                    if out.dtype is self._element and out.shape == batch + self.outputs[0].shape and 0 not in out.strides:
                        return self.ufunc(*given, out=out)
                elif arguments.are_obvious(self.outputs, out, batch, self._element):
                    return self.ufunc(*given, out=tuple(out))
            except (ValueError, TypeError):
                pass  # other inputs have more batch axes than the first, or are wrong
        batch = arguments.batch_of(self.inputs, given)
        obvious = arguments.are_obvious(self.outputs, out, batch, self._element)
        places = tuple(out) if obvious else arguments.targets(self.outputs, out, batch, self.dtype)
        if small:
            self.ufunc(*given, out=places)
        else:
            _in_threads(self, given, places, threads, batch)
        if not isinstance(out, tuple):
            return out
        return tuple(out) if len(out) > 1 else out[0]

    def __repr__(self) -> str:
        return f"Kernel({arguments.summary(self.inputs, self.outputs, self.dtype)})"

    def __reduce__(self) -> tuple[Any, ...]:
        """As its program: unpickling compiles it, or finds the code on disk."""
        if self.program is None:
            message = "kernel: this one belongs to a robot, and cannot be pickled by itself. Pickle the robot, or use dal.kernel."
            raise TypeError(message)
        return portable, (self.program, self.dtype)

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: Any) -> Kernel:
        return self


def build(program: Program | LoopProgram, dtype: str = DOUBLE.dtype, *, anew: bool = False) -> Kernel:
    """Compile a program, or fetch it from the cache; interpret it where there is no compiler.

    `dtype` is "float64" or "float32": what the kernel takes, computes in and returns. `anew` always compiles, for measurements.
    """
    real: Real = checks.choice("dtype", dtype, REALS)
    cost = (0.06 * program.work + 0.3 * sum(slot.size for slot in (*program.inputs, *program.outputs))) * real.bytes / 8
    slots = program.inputs, program.outputs
    if not target.available() or any(0 in slot.shape for slot in (*program.inputs, *program.outputs)):
        return Kernel((Interpreted(program, dtype), single_call.refuse), *slots, 100 * cost, dtype)
    lanes, x86 = target.host().lanes, target.host().x86
    if isinstance(program, LoopProgram):
        entry_points: tuple[Any, ...] = compiled(
            loop_ir.emit(streamlined(program), lanes * (2 if _is_worth_doubling(program) else 1), x86=x86), program, anew=anew
        )
        if real is not DOUBLE:
            entry_points = Rounded(entry_points[0], dtype), single_call.refuse
        return Kernel(entry_points, *slots, cost, dtype)
    zen = target.host().zen
    ir = straight_ir.emit(program, straight_lanes(program, lanes, zen=zen) * 8 // real.bytes, x86=x86, real=real, zen=zen)
    return Kernel(compiled(ir, program, real, anew=anew), *slots, cost, dtype)


def _is_worth_doubling(program: LoopProgram) -> bool:
    """Whether two registers side by side pay: they hide the latency of divisions, but in long code most of them spill."""
    stages = list(loops.stages_of(program.stages))
    divides = any(node.op in ("div", "sqrt") for stage in stages for node in stage.nodes)
    return divides and all(len(stage.nodes) <= _LONG_STAGE for stage in stages)


def straight_lanes(program: Program, widest: int, *, zen: bool) -> int:
    """The lanes of straight code: half of AVX-512's eight where most of the time goes into writing rows.

    Results leave the registers as rows, one per lane, and turning eight registers into eight rows takes longer than twice four
    (docs/develop/decisions.md). On Zen constants are left out, as they do not come from registers; elsewhere only long rows
    count. Code that would be cut into parts for four lanes, but not for eight, is faster whole.
    """
    if widest < 8 or (straight_ir.is_cut(program, 32) and not straight_ir.is_cut(program, 64)):
        return widest
    if zen:
        numbers, few, worth = straight_ir.result_count(program), _FEW_RESULTS, _WORK_PER_RESULT_ON_ZEN
    else:
        numbers, few, worth = straight_ir.row_length(program), straight_ir.SHORT_ROW, _WORK_PER_ENTRY
    return widest // 2 if numbers > few and program.work < worth * numbers else widest


def portable(program: Program, dtype: str = DOUBLE.dtype) -> Kernel:
    """A kernel that can be pickled: it keeps its program."""
    kernel = build(program, dtype)
    kernel.program = program
    return kernel


def compiled(ir: str, program: Program | LoopProgram, real: Real = DOUBLE, *, anew: bool = False) -> tuple[np.ufunc, Any, int]:
    """The entry points of a module and the address of its loop, compiled or from the cache; `anew` always compiles."""
    code = machine_code.code_of(ir, "loop", "call", "api", anew=anew)
    single_call.fill_api_table(code, real)
    ufunc = gufunc.make(code, program.inputs, program.outputs, program.name, real)
    return ufunc, single_call.make(code, program.name) if single_call.supported() else single_call.refuse, code["loop"]


class Interpreted:
    """A program run node by node by NumPy: the same answers, without a compiler."""

    def __init__(self, program: Any, dtype: str = DOUBLE.dtype) -> None:
        self.program = program
        self.dtype = dtype

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As the ufunc of a compiled kernel would."""
        run = loops.run if isinstance(self.program, LoopProgram) else interpret.run
        return arguments.delivered(run(self.program, *arrays), out, self.dtype)


class Rounded:
    """A kernel of double precision whose results are rounded: loop programs are compiled in no other."""

    def __init__(self, ufunc: Any, dtype: str) -> None:
        self.ufunc = ufunc
        self.dtype = dtype

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """As a ufunc of single precision would."""
        results = self.ufunc(*arrays, dtype=np.float64)
        return arguments.delivered(results if isinstance(results, tuple) else (results,), out, self.dtype)


def _in_threads(
    kernel: Kernel,
    given: list[np.ndarray],
    out: tuple[np.ndarray, ...] | None,
    threads: int | None,
    batch: tuple[int, ...] | None = None,
) -> Any:
    """A large batch: the loops run without the interpreter lock, in threads, and stop when the user interrupts."""
    count = thread_count(threads)
    slots = (*kernel.inputs, *kernel.outputs)
    if not kernel.loop or len(slots) > MOST_ARRAYS:
        return kernel.ufunc(*given) if out is None else kernel.ufunc(*given, out=out)
    batch = arguments.batch_of(kernel.inputs, given) if batch is None else batch
    if count == 1 and math.prod(batch) * kernel.cost_ns < _SOON:  # short enough that an interrupt can wait
        return kernel.ufunc(*given) if out is None else kernel.ufunc(*given, out=out)
    if out is None:
        results = tuple(np.empty((*batch, *slot.shape), kernel.dtype) for slot in kernel.outputs)
    else:
        results, given = out, arguments.apart_from(given, out)
    given = [_loadable(array, kernel.dtype) for array in given]
    places = [result if result.flags.aligned else np.empty(result.shape, kernel.dtype) for result in results]
    batches.share(kernel.loop, [*given, *places], [len(slot.shape) for slot in slots], batch, kernel.cost_ns, count)
    for result, place in zip(results, places, strict=True):
        if place is not result:
            result[...] = place
    return results[0] if len(results) == 1 else results


def _loadable(array: np.ndarray, dtype: str) -> np.ndarray:
    """The same numbers as a loop reads them."""
    return array if array.dtype == dtype and array.flags.aligned else array.astype(dtype)
