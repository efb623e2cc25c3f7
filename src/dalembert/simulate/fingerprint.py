"""What a function refers to, as a key: two functions with equal keys do the same, so what was compiled for one serves the other.

A function is its code and what the code can reach: defaults, values that its scope closes over, and globals that it names.
Numbers, texts and arrays count by value, functions by their own keys, frozen records and what belongs to a few known packages by
identity. Where something else is in reach there is no key: it may have changed from one call to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..dynamics import InsideModel
from ..model.record import Record

_LARGE = 100_000  # numbers of an array that are looked at; a larger one has no key
_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
_FIXED = (BuiltinFunctionType, np.ufunc, Record)
_KNOWN = ("builtins", "cmath", "dalembert", "math", "numpy", "operator", "scipy")  # packages that nobody changes
_DEEPEST = 20


class NoKeyError(Exception):
    """Something is in reach that may change."""


def fingerprint(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """A key that equals that of every function which does the same, or None."""
    try:
        return _of(function, 0)
    except NoKeyError:
        return None


def _of(value: Any, depth: int) -> tuple[Any, ...]:
    if depth > _DEEPEST:
        raise NoKeyError
    if isinstance(value, _PLAIN):
        return (type(value), repr(value))  # so that 1, 1.0 and True, and 0.0 and -0.0, are told apart
    if isinstance(value, np.ndarray) and value.dtype != object and value.size <= _LARGE:
        return (np.ndarray, value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, (tuple, list)):
        return (type(value), *(_of(entry, depth + 1) for entry in value))
    if isinstance(value, dict):
        return (dict, *((_of(key, depth + 1), _of(entry, depth + 1)) for key, entry in value.items()))
    if isinstance(value, FunctionType):
        return (FunctionType, value.__code__, *_reach(value, depth + 1))
    if isinstance(value, MethodType):
        return (MethodType, _of(value.__self__, depth + 1), _of(value.__func__, depth + 1))
    if isinstance(value, InsideModel):
        return (InsideModel, Kept(value.law_key()))
    if isinstance(value, _FIXED) or _is_known(value):
        return (type(value), Kept(value))
    raise NoKeyError


def _is_known(value: Any) -> bool:
    """Whether it is a module or a class of a known package."""
    name = value.__name__ if isinstance(value, ModuleType) else value.__module__ if isinstance(value, type) else ""
    return name.partition(".")[0] in _KNOWN


def _reach(function: FunctionType, depth: int) -> Iterator[Any]:
    """Defaults, closed-over values and globals, one after the other."""
    yield _of(function.__defaults__ or (), depth)
    yield _of(function.__kwdefaults__ or {}, depth)
    for cell in function.__closure__ or ():
        try:
            yield _of(cell.cell_contents, depth)
        except ValueError:  # empty: a name that is bound later
            raise NoKeyError from None
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            own = function.__globals__[name]
            yield (name, "itself" if own is function else _of(own, depth))


def _names(code: CodeType) -> set[str]:
    """Names that code, and the code inside of it, looks up."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*(_names(part) for part in inner))


class Kept:
    """An object as a key: equal to itself alone, and alive as long as the key is."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


__all__ = ["fingerprint"]
