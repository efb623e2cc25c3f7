"""Where arguments become arrays: what a kernel is given, and where its results go. They are checked here, and nowhere after.

An input is an array of real numbers, or anything NumPy reads as one: numbers of every size (rounded to the kernel's own kind),
booleans (0 and 1), lists, tables of pandas and xarray (by their values). Text, dates, complex numbers, masked entries and
quantities with units are refused. Arrays of other libraries that take part in NumPy's protocols are left to foreign.py. An
`out` has just the shape and the kind of numbers of the result, for it is written into as it is.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray

from ..checks import FloatArray
from ..errors import ShapeError, UnknownNameError
from ..expr import Slot
from .precision import DOUBLE

_WORDS = {"c": "complex", "U": "text", "S": "bytes", "M": "date", "m": "time span", "V": "structured", "O": "object"}
_BY_VALUE = ("pandas", "xarray")  # their protocols do not know generalised functions: pandas would pass its table transposed
_NUMPY = np.ndarray.__array_ufunc__
_PLAIN = (np.ndarray, list, tuple, float, int)  # neither masked nor of another library
_DOUBLES = np.dtype(np.float64)
_SAFE = {np.dtype(code) for code in "?bhilqBHILQefd"}  # kinds of numbers that doubles hold, or nearly


class Foreign(Exception):
    """Raised for an array that its own library has to serve."""


def prepared(slot: Slot, value: Any, dtype: str, *, own: bool = False) -> np.ndarray:
    """An input as an array a kernel of this kind of numbers takes; `own` also reads arrays of Dask."""
    if type(value) in _PLAIN:
        array = numbers(slot.name, value, slot) if type(value) is not np.ndarray else value
        if array.dtype in _SAFE and dtype == DOUBLE.dtype:
            return array  # NumPy converts row by row, without a copy
    elif _has_protocol(value):
        if not own:
            raise Foreign
        if not is_dask(value):
            raise refusal(slot.name, value)
    array = numbers(slot.name, value, slot)
    with np.errstate(over="ignore"):
        return array.astype(dtype, copy=False)


def real(subject: str, value: Any, wanted: str) -> FloatArray:
    """An array of doubles, for functions that are not kernels; `wanted` is the shape in words."""
    if type(value) is np.ndarray and value.dtype == _DOUBLES:
        return value
    if _has_protocol(value) and not is_dask(value):
        raise refusal(subject, value)
    with np.errstate(over="ignore"):
        return numbers(subject, value, wanted).astype(np.float64, copy=False)


def numbers(subject: str, value: Any, wanted: str | Slot) -> np.ndarray:
    """An array of real numbers of any kind, or an error; `wanted` is the shape, in words or of a slot."""
    if type(value) not in _PLAIN and isinstance(value, MaskedArray):
        value = _unmasked(subject, value)
    try:
        array = np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:  # it is not known what classes of other libraries raise
        raise _unreadable(subject, value, wanted, error) from error
    if array.dtype.kind in "fiub":
        return array
    if array.dtype == object and array.ndim == 0:
        hint = f" Try {subject}.toarray()." if hasattr(value, "toarray") else ""
        raise ShapeError(f"{subject}: {type(value).__name__} found, real numbers of shape {expected(wanted)} expected.{hint}")
    hint = " Try np.asarray(..., dtype=float)." if array.dtype == object else ""
    raise ShapeError(f"{subject}: {_WORDS.get(array.dtype.kind, array.dtype)} entries found, real numbers expected.{hint}")


def _unmasked(subject: str, value: MaskedArray[Any, Any]) -> np.ndarray:
    hidden = int(np.sum(np.ma.getmaskarray(value)))
    if hidden:
        raise ShapeError(
            f"{subject}: a masked array with {hidden} masked entries found; every entry is needed. Try {subject}.filled(np.nan), "
            "as NaN passes through, or leave these rows out."
        )
    return np.asarray(value.data)


def _unreadable(subject: str, value: Any, wanted: str | Slot, error: Exception) -> ShapeError:
    if isinstance(value, (list, tuple)) and isinstance(error, ValueError):
        return ShapeError(f"{subject}: a nest of lists of unequal lengths found, {expected(wanted)} expected.")
    reason = str(error).partition("\n")[0][:200]
    found = f"{type(value).__name__} found, which NumPy cannot read ({reason})"
    return ShapeError(f"{subject}: {found}; real numbers of shape {expected(wanted)} expected.")


def _has_protocol(value: Any) -> bool:
    """Whether NumPy's functions leave a value to its own library."""
    kind = type(value)
    protocol = getattr(kind, "__array_ufunc__", None)
    if protocol is None or protocol is _NUMPY or issubclass(kind, np.generic):
        return False
    return not any(base.__module__.partition(".")[0] in _BY_VALUE for base in kind.__mro__)


def is_dask(value: Any) -> bool:
    """Whether it is an array of Dask, which can exist only if Dask is imported."""
    dask: Any = sys.modules.get("dask.array")
    return dask is not None and isinstance(value, dask.Array)


def refusal(subject: str, value: Any) -> ShapeError:
    """The error for an array whose library cannot do what is asked."""
    return ShapeError(
        f"{subject}: {type(value).__name__} found, whose library does not run compiled functions; a NumPy array is expected. "
        f"Try np.asarray({subject}), in SI units."
    )


def expected(slot: Slot | str) -> str:
    """The shape a slot wants, in words."""
    if isinstance(slot, str):
        return slot
    return f"(..., {', '.join(map(str, slot.shape))})" if slot.shape else "(...)"


def summary(inputs: Sequence[Slot], outputs: Sequence[Slot], dtype: str) -> str:
    """Inputs and outputs with their shapes, in a line."""
    given, found = (", ".join(f"{slot.name} {expected(slot)}" for slot in slots) for slots in (inputs, outputs))
    return f"{given} -> {found}; {dtype}"


def ordered(slots: Sequence[Slot], arrays: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """Arguments given by place and by name, in the order of the slots."""
    names = [slot.name for slot in slots]
    for name in named:
        if name not in names:
            raise UnknownNameError.among("arguments", name, names)
        if name in names[: len(arrays)]:
            raise ShapeError(f"{name}: found twice, by place and by name. Give it once.")
    missing = [name for name in names[len(arrays) :] if name not in named]
    if missing:
        raise ShapeError(f"arguments: no {', '.join(missing)} found; {', '.join(names)} expected.")
    return (*arrays, *(named[name] for name in names[len(arrays) :]))


def wrong_number(slots: Sequence[Slot], arrays: Sequence[Any]) -> ShapeError:
    """The error for too few or too many arguments."""
    return ShapeError(f"arguments: {len(arrays)} found, {len(slots)} expected: {', '.join(slot.name for slot in slots)}.")


def batch_of(slots: Sequence[Slot], arrays: Sequence[Any]) -> tuple[int, ...]:
    """The leading axes of all inputs together; an error where a shape does not fit."""
    batches = [_batch(slot, array.shape) for slot, array in zip(slots, arrays, strict=True)]
    if batches.count(batches[0] if batches else ()) == len(batches):
        return batches[0] if batches else ()
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        listing = ", ".join(f"{slot.name} {batch}" for slot, batch in zip(slots, batches, strict=True))
        raise ShapeError(f"batch: leading axes do not broadcast together: {listing}.") from None


def _batch(slot: Slot, shape: tuple[int, ...]) -> tuple[int, ...]:
    cut = len(shape) - len(slot.shape)
    if cut < 0 or shape[cut:] != slot.shape:
        raise ShapeError(f"{slot.name}: shape {shape} found, {expected(slot)} expected.")
    return shape[:cut]


def as_arrays(results: Any) -> Any:
    """Results as arrays, where NumPy made bare numbers of those without axes."""
    return tuple(map(np.asarray, results)) if isinstance(results, tuple) else np.asarray(results)


def delivered(results: Sequence[Any], out: tuple[np.ndarray, ...] | np.ndarray | None, dtype: str) -> Any:
    """Results of something other than a ufunc, as a ufunc would return them."""
    with np.errstate(over="ignore"):
        if out is not None:
            places = out if isinstance(out, tuple) else (out,)
            for place, result in zip(places, results, strict=True):
                place[...] = result
            results = places
        results = tuple(np.asarray(result).astype(dtype, copy=False) for result in results)
    return results[0] if len(results) == 1 else results


def are_obvious(slots: Sequence[Slot], out: Any, batch: tuple[int, ...], element: np.dtype[Any]) -> bool:
    """Whether a quick check shows that arrays have the shapes and the kind of numbers of the results, and share nothing."""
    if not isinstance(out, tuple) or len(out) != len(slots):
        return False
    seen = set()
    for slot, array in zip(slots, out):
        if type(array) is not np.ndarray or array.dtype is not element or array.base is not None:
            return False
        if array.shape != batch + slot.shape or not array.flags.writeable:
            return False
        seen.add(id(array))
    return len(seen) == len(out)


def targets(slots: Sequence[Slot], out: Any, batch: tuple[int, ...], dtype: str = DOUBLE.dtype) -> tuple[np.ndarray, ...]:
    """The arrays results go to, each checked; a tuple with names, such as an earlier result, is a tuple."""
    given = tuple(out) if isinstance(out, tuple) else (out,)
    if len(given) != len(slots) or (len(slots) > 1 and not isinstance(out, tuple)):
        raise ShapeError(f"out: {_kind(out)} found, {_wanted(slots, batch, dtype)} expected.")
    for slot, array in zip(slots, given, strict=True):
        shape = batch + slot.shape
        fits = type(array) is np.ndarray and array.dtype == dtype and array.shape == shape and array.flags.writeable
        if not fits or 0 in array.strides:
            _refuse("out" if len(slots) == 1 else f"out, {slot.name}", array, shape, dtype)
    if len(given) > 1:
        _refuse_shared(slots, given)
    return tuple(map(np.asarray, given))


def _refuse(subject: str, array: Any, shape: tuple[int, ...], dtype: str) -> None:
    """Raise the error for what cannot be written into; arrays in files and other plain subclasses can."""
    wanted = f"a NumPy array of {dtype} and of shape {shape} expected"
    if not isinstance(array, np.ndarray) or isinstance(array, MaskedArray) or _has_protocol(array):
        raise ShapeError(f"{subject}: {_kind(array)} found, {wanted}.")
    if array.shape != shape:
        raise ShapeError(f"{subject}: shape {array.shape} found, {shape} expected.")
    if array.dtype != dtype:
        raise ShapeError(f"{subject}: {array.dtype} entries found, {dtype} expected, of shape {shape}.")
    if not array.flags.writeable:
        raise ShapeError(f"{subject}: a read-only array found, one to write into expected, of {dtype} and of shape {shape}.")
    if not _is_spread(array):
        raise ShapeError(f"{subject}: an array whose entries share memory found, {wanted}. Try np.empty.")


def _is_spread(array: np.ndarray) -> bool:
    """Whether no axis repeats the same entry."""
    return array.size == 0 or all(step or extent <= 1 for step, extent in zip(array.strides, array.shape, strict=True))


def _refuse_shared(slots: Sequence[Slot], given: Sequence[np.ndarray]) -> None:
    """Refuse two results in one place."""
    for (slot, a), (other, b) in itertools.combinations(zip(slots, given, strict=True), 2):
        if slot.name != other.name and np.may_share_memory(a, b) and np.shares_memory(a, b):
            raise ShapeError(f"out: {slot.name} and {other.name} share memory; an array of its own is expected for each result.")


def _kind(out: Any) -> str:
    if isinstance(out, tuple):
        return f"a tuple of {len(out)}"
    return "nothing" if out is None else f"{type(out).__name__}"


def _wanted(slots: Sequence[Slot], batch: tuple[int, ...], dtype: str) -> str:
    if len(slots) == 1:
        return f"a NumPy array of {dtype} and of shape {batch + slots[0].shape}"
    listing = ", ".join(f"{slot.name} {batch + slot.shape}" for slot in slots)
    return f"a tuple of {len(slots)} NumPy arrays of {dtype}: {listing}"


def apart_from(given: list[np.ndarray], out: Any) -> list[np.ndarray]:
    """The inputs; those that share memory with an array for results are copied, as one may be written before another is read."""
    places = [place for place in (out if isinstance(out, tuple) else (out,)) if isinstance(place, np.ndarray)]
    return [array.copy() if any(np.may_share_memory(array, place) for place in places) else array for array in given]
