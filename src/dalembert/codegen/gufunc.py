"""NumPy generalized ufuncs from raw function pointers, in pure Python.

NumPy publishes its C functions as a table of pointers (`_UFUNC_API`); `PyUFunc_FromFuncAndDataAndSignature` is called through
it with ctypes. The result is an ordinary ufunc: broadcasting, `out=`, casting, `__array_ufunc__` and shape errors are NumPy's
own, and the loop runs without the interpreter lock.

A ufunc can keep one object as long as it lives (`np.frompyfunc` keeps its function there): ours keep the machine code and the
arrays to which NumPy has pointers.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import cache
from typing import Any

import numpy as np

from ..expr import Slot
from .machine_code import MachineCode
from .precision import Real

_FROM_FUNC_AND_DATA_AND_SIGNATURE = 31  # place in the table, fixed by NumPy's stable ABI
_PYUFUNC_NONE = -1
_OBJECT = 88  # bytes into a ufunc: where the object it keeps is
_immortal: list[Any] = []  # what ufuncs need, if they cannot keep objects themselves


@cache
def _constructor() -> Any:
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")

    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get_pointer(umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
        *(ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p),
    )
    return kind(table[_FROM_FUNC_AND_DATA_AND_SIGNATURE])


def signature(inputs: tuple[Slot, ...], outputs: tuple[Slot, ...]) -> str:
    """Such as '(7),(7)->(7,7)'; the extents are fixed numbers, so NumPy refuses others."""

    def side(slots: tuple[Slot, ...]) -> str:
        return ",".join(f"({','.join(map(str, s.shape))})" for s in slots)

    return f"{side(inputs)}->{side(outputs)}"


def make(code: MachineCode, inputs: tuple[Slot, ...], outputs: tuple[Slot, ...], name: str, real: Real) -> np.ufunc:
    """The ufunc around a compiled inner loop."""
    count = len(inputs) + len(outputs)
    loops = (ctypes.c_void_p * 1)(code["loop"])
    data = (ctypes.c_void_p * 1)(None)
    types = ctypes.create_string_buffer(bytes([real.number] * count), count)
    texts = [text.encode() for text in (name, f"Kernel {name}.", signature(inputs, outputs))]
    ufunc: np.ufunc = _constructor()(
        ctypes.cast(loops, ctypes.c_void_p),
        ctypes.cast(data, ctypes.c_void_p),
        ctypes.cast(types, ctypes.c_char_p),
        *(1, len(inputs), len(outputs), _PYUFUNC_NONE),
        *(texts[0], texts[1], 0, texts[2]),
    )
    _keep(ufunc, (code, loops, data, types, texts))
    return ufunc


def _keep(ufunc: np.ufunc, needed: tuple[Any, ...]) -> None:
    if not keeps_objects():
        _immortal.append(needed)
        return
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(needed))
    ctypes.c_void_p.from_address(id(ufunc) + _OBJECT).value = id(needed)


@cache
def keeps_objects() -> bool:
    """Whether ufuncs are laid out as expected: that of a function has the function there."""

    def function(x: Any) -> Any:
        return x

    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    return bool(ctypes.c_void_p.from_address(id(np.frompyfunc(function, 1, 1)) + _OBJECT).value == id(function))
