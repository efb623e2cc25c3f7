"""A second entry point of a kernel, for one configuration at a time: a Python function made of machine code.

NumPy's generalized ufuncs cost about a microsecond per call, several times the work of a kernel. `@call` has the signature of a
C function of the interpreter (METH_FASTCALL) and checks the arrays itself. Exact ndarrays of the kernel's kind of number, of
just the core shape, with adjacent entries, are passed to `@body` with every lane on the same row, and the results go to new
arrays. Anything else gets the answer `NotImplemented`, and the caller uses the ufunc.

The layout of an array object is part of NumPy's ABI; the functions needed are called through addresses written into the
module's `@api` table once it is loaded. Where the head of an object is laid out differently (free-threaded builds, 32 bits)
this entry point is not used.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

from . import float_mode_ir
from .batch_loop_ir import Layout
from .ir import FunctionBuilder, function
from .machine_code import MachineCode
from .precision import Real
from .rows_ir import lane_offset

# Byte offsets in an array object: type, data, number of axes, extents, strides, element type.
_TYPE, _DATA, _NDIM, _EXTENTS, _STRIDES, _DESCR = 8, 16, 24, 32, 40, 56
# Places in the module's table of addresses.
_API = (
    *("ndarray", "element", "new_array", "not_implemented", "incref", "decref", "new_tuple", "set_item"),
    *("no_memory", "take_interpreter", "leave_interpreter"),
)
_FUNCTIONS = (
    *("Py_IncRef", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem"),
    *("PyErr_NoMemory", "PyGILState_Ensure", "PyGILState_Release"),
)
_API_INDEX = {name: k for k, name in enumerate(_API)}
_METH_FASTCALL = 0x80


def supported() -> bool:
    """Whether objects are laid out as this module expects."""
    standard = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
    return standard and ctypes.sizeof(ctypes.c_void_p) == 8


_SUPPORTED = supported()
_word_at = ctypes.c_size_t.from_address


def data_of(array: Any) -> int:
    """Where an array's entries begin; NumPy's own ways to say so take microseconds."""
    if _SUPPORTED:
        return _word_at(id(array) + _DATA).value
    return int(array.ctypes.data)


def emit_call(layout: Layout, scratch: int) -> list[str]:
    """`@call` and its table of addresses."""
    return _CallCode(layout, scratch).emit()


class _CallCode(FunctionBuilder):
    """The checks, the new arrays, the body."""

    def __init__(self, layout: Layout, scratch: int) -> None:
        super().__init__()
        self.layout = layout
        self.W = layout.lanes
        self.scratch_bytes = scratch * self.W * layout.real.bytes
        self.fits = "true"  # whether the arguments looked at so far fit

    def emit(self) -> list[str]:
        """The function, its table of addresses and the shapes of the results."""
        inputs, outputs = self.layout.inputs, self.layout.outputs
        for name, place in _API_INDEX.items():
            self.load_at("ptr", "@api", place * 8, name=name)
        self.go_if(self.let(f"icmp eq i64 %count, {len(inputs)}"), "look", "refuse")
        self.label("look")
        data = [self._checked(k) for k in range(len(inputs))]
        self.go_if(self.fits, "make", "refuse")
        self.label("make")
        objects = [self._new_array(k) for k in range(len(outputs))]
        self._aim([*data, *(self._field(o, _DATA, "ptr") for o in objects)])
        self.lines += float_mode_ir.room(self.layout.x86)
        self._run(len(objects))
        self._answer(objects)
        self.label("refuse")
        self.line("call void %incref(ptr %not_implemented)")
        self.line("ret ptr %not_implemented")
        self._fail(objects)
        addresses = f"@api = global [{len(_API)} x ptr] zeroinitializer, align 64"
        shapes = [f"@shape_{k} = internal constant {_row(slot.shape)}" for k, slot in enumerate(outputs)]
        return [addresses, *shapes, *function("ptr @call(ptr %self, ptr %args, i64 %count)", self.lines)]

    def _field(self, base: str, offset: int, kind: str) -> str:
        return self.load_at(kind, base, offset, align=4)

    def _and(self, condition: str) -> None:
        self.fits = self.let(f"and i1 {self.fits}, {condition}") if self.fits != "true" else condition

    def _checked(self, k: int) -> str:
        """The data pointer of argument k; whether it fits goes into `self.fits`.

        The type is checked first: the other fields exist only in arrays.
        """
        slot = self.layout.inputs[k]
        item = self._field("%args", 8 * k, "ptr")
        self.go_if(self.let(f"icmp eq ptr {self._field(item, _TYPE, 'ptr')}, %ndarray"), f"array{k}", "refuse")
        self.label(f"array{k}")
        self._and(self.let(f"icmp eq ptr {self._field(item, _DESCR, 'ptr')}, %element"))
        self.go_if(self.let(f"icmp eq i32 {self._field(item, _NDIM, 'i32')}, {len(slot.shape)}"), f"axes{k}", "refuse")
        self.label(f"axes{k}")
        if slot.shape:
            self._check_axes(item, slot.shape)
        data = self._field(item, _DATA, "ptr")
        low = self.let(f"and i64 {self.let(f'ptrtoint ptr {data} to i64')}, {self.layout.real.bytes - 1}")
        self._and(self.let(f"icmp eq i64 {low}, 0"))
        return data

    def _check_axes(self, item: str, shape: tuple[int, ...]) -> None:
        extents, strides = self._field(item, _EXTENTS, "ptr"), self._field(item, _STRIDES, "ptr")
        expected = self.layout.real.bytes
        for axis in reversed(range(len(shape))):
            self._and(self.let(f"icmp eq i64 {self._field(extents, 8 * axis, 'i64')}, {shape[axis]}"))
            if shape[axis] > 1:
                self._and(self.let(f"icmp eq i64 {self._field(strides, 8 * axis, 'i64')}, {expected}"))
            expected *= shape[axis]

    def _new_array(self, k: int) -> str:
        shape = self.layout.outputs[k].shape
        made = self.let(
            f"call ptr %new_array(ptr %ndarray, i32 {len(shape)}, ptr @shape_{k}, i32 {self.layout.real.number}, "
            "ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        self.go_unless_null(made, f"fail{k}", f"made{k}")
        return made

    def _aim(self, data: list[str]) -> None:
        """Every lane at the same row."""
        self.let(f"alloca [{len(data) * self.W} x ptr], align 32", "lanes")
        for k, pointer in enumerate(data):
            for lane in range(self.W):
                self.store("ptr", pointer, self.at("%lanes", lane_offset(k, lane, self.W)))

    def _run(self, made: int) -> None:
        if not self.scratch_bytes:
            self._run_body("null")
            return
        memory = self.let(f"call ptr @malloc(i64 {self.scratch_bytes + 64})")
        self.go_if(self.let(f"icmp eq ptr {memory}, null"), "nowhere", "somewhere")
        self.label("nowhere")
        self.let("call ptr %no_memory()")
        self.go(f"fail{made}")
        self.label("somewhere")
        self._run_body(self.rounded_up(memory))
        self.line(f"call void @free(ptr {memory})")

    def _run_body(self, scratch: str) -> None:
        self.lines += float_mode_ir.enter(self.layout.x86)
        self.line(f"call void @body(ptr %lanes, ptr {scratch})")
        self.lines += float_mode_ir.leave(self.layout.x86)

    def _answer(self, objects: list[str]) -> None:
        if len(objects) == 1:
            self.line(f"ret ptr {objects[0]}")
            return
        answer = self.let(f"call ptr %new_tuple(i64 {len(objects)})")
        self.go_unless_null(answer, f"fail{len(objects)}", "fill")
        for k, item in enumerate(objects):
            self.let(f"call i32 %set_item(ptr {answer}, i64 {k}, ptr {item})")
        self.line(f"ret ptr {answer}")

    def _fail(self, objects: list[str]) -> None:
        """Without memory for one more array, those made so far are given back; the error is set."""
        for k in reversed(range(len(objects))):
            self.label(f"fail{k + 1}")
            self.line(f"call void %decref(ptr {objects[k]})")
            self.go(f"fail{k}")
        self.label("fail0")
        self.line("ret ptr null")


def fail_function(*, alone: bool) -> list[str]:
    """`@fail`: there is no memory. A piece of a batch says so in the word after the number of rows; else the error is set."""
    code = FunctionBuilder()
    code.go_if(code.let("icmp eq ptr %data, null"), "tell", "mark")
    code.label("mark")
    code.line(f"store atomic i64 1, ptr {code.let('getelementptr i64, ptr %data, i64 1')} release, align 8")
    code.line("ret void")
    code.label("tell")
    if alone:
        for name in ("no_memory", "take_interpreter", "leave_interpreter"):
            code.load_at("ptr", "@api", _API_INDEX[name] * 8, name=name)
        state = code.let("call i32 %take_interpreter()")
        code.let("call ptr %no_memory()")
        code.line(f"call void %leave_interpreter(i32 {state})")
    code.line("ret void")
    return function("internal void @fail(ptr %data) cold noinline", code.lines)


def _row(shape: tuple[int, ...]) -> str:
    """An array constant of extents; LLVM has no empty ones."""
    extents = shape or (0,)
    return f"[{len(extents)} x i64] [{', '.join(f'i64 {extent}' for extent in extents)}]"


def address_of(name: str) -> int:
    """Where a function of the interpreter is, in this process."""
    return int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)


@cache
def _addresses(real: Real) -> tuple[int, ...]:
    """The addresses of `_API`, in this process."""
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get_pointer(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    numpy: Any = importlib.import_module("numpy")

    return (
        id(numpy.ndarray),
        id(numpy.dtype(real.dtype)),
        int(table[93] or 0),  # PyArray_New, its place fixed by NumPy's ABI
        id(NotImplemented),
        *(address_of(name) for name in _FUNCTIONS),
    )


class _MethodDef(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def make(code: MachineCode, name: str) -> Callable[..., Any]:
    """The Python function around a loaded `@call`; as its `self` it keeps the code and its own definition."""
    definition = _MethodDef(name.encode(), code["call"], _METH_FASTCALL, b"One configuration; NotImplemented if it is not that.")
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    function: Callable[..., Any] = new(ctypes.addressof(definition), (code, definition), None)
    return function


def fill_api_table(code: MachineCode, real: Real) -> None:
    """Write the addresses of the interpreter's functions into the table of loaded code."""
    ctypes.memmove(code["api"], (ctypes.c_void_p * len(_API))(*_addresses(real)), 8 * len(_API))


def refuse(*arrays: Any) -> Any:
    """Stands for `@call` where a kernel has none."""
    return NotImplemented
