"""The one boundary: coercion of what users pass in, with a sentence when it does not fit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import DalembertError, ModelError, UnknownNameError
from .wording import shown

FloatArray = NDArray[np.float64]
T = TypeVar("T")

LARGEST = 1e30
"""Beyond every length, mass and ratio of a machine, and so small that products of several such numbers stay finite."""
SMALLEST = 1e-30
"""The least divisor: a number that is divided by is zero or not smaller than this."""
_LONGEST_NAME = 255  # characters; messages and tables repeat names whole
# Control characters act on a terminal, surrogates are half a character, and none of these can stand in an XML file.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_REAL = "fiu"  # kinds of NumPy types that hold real numbers


def array(subject: str, value: ArrayLike, shape: tuple[int, ...], *, largest: float = LARGEST) -> FloatArray:
    """A read-only float array of exactly this shape, without NaN or infinity; the value itself is copied."""
    result = numbers(subject, value, f"shape {shape} of numbers is expected")
    if result.shape != shape:
        raise ModelError(f"{subject}: shape {result.shape} found, {shape} expected.")
    if not all(-largest <= x <= largest for x in result.ravel().tolist()):  # of few numbers quicker than NumPy's own
        if not np.isfinite(result).all():
            raise ModelError(f"{subject}: {describe(result)} contains NaN or infinity; a model needs finite numbers.")
        raise ModelError(f"{subject}: {describe(result)} contains a number beyond {largest:g}. {_TOO_LARGE}")
    return frozen(result + 0.0)  # turns -0.0 into 0.0, so equal models compare and hash equal


def number(subject: str, value: object, *, infinite: bool = False) -> float:
    """One float; NaN never, infinity only where it has a meaning (limits), beyond `LARGEST` only there as well."""
    result = _real(subject, value)
    if abs(result) <= LARGEST or (infinite and not math.isnan(result)):
        return result + 0.0
    if not math.isfinite(result):
        raise ModelError(f"{subject}: {result} found; a finite number is expected.")
    raise ModelError(f"{subject}: {result:g} found, which is beyond {LARGEST:g}. {_TOO_LARGE}")


_TOO_LARGE = "Products of such numbers overflow; is the unit or the exponent wrong?"


def whole_number(subject: str, value: Any, least: int, most: int | None = None) -> int:
    """An integer that is not too small, nor too large where there is a bound; 1e5 is one too, True is none."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.timedelta64)
    if real and least <= value <= (2**63 - 1 if most is None else most) and value == value // 1:
        return int(value)
    bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
    raise ModelError(f"{subject}: {shown(value)} found; a whole number {bounds} is expected.")


def frozen(values: FloatArray) -> FloatArray:
    """A copy that nobody can write to, the owner of the flags included: its memory is that of a `bytes`."""
    return np.ndarray(values.shape, np.float64, values.tobytes())


def numbers(
    subject: str, value: Any, expected: str = "numbers are expected", error: Callable[[str], DalembertError] = ModelError
) -> FloatArray:
    """A float array of any shape, perhaps the value itself; strings, booleans, complex and masked numbers are refused."""
    try:
        found = value if type(value) is np.ndarray else np.asarray(_without_surprises(value))
    except Exception as problem:  # whatever the value's own conversion raises
        raise error(f"{subject}: {shown(value)} is not numeric; {expected}.") from problem
    if found.dtype.kind == "O" and found.ndim:  # fractions, or integers too large for NumPy
        return np.array([_real(subject, item) for item in found.flat], float).reshape(found.shape)
    if found.dtype.kind not in _REAL:
        raise error(f"{subject}: {shown(value)} is not numeric; {expected}.")
    if found.dtype == np.float64:
        return found
    with np.errstate(over="ignore"):  # a longdouble beyond the range becomes infinite, and is seen as such
        return found.astype(float)


def _without_surprises(value: Any, depth: int = 3) -> Any:
    """The value, refused where NumPy would make numbers of booleans or of what is masked."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)):
        raise TypeError("not a number")
    if isinstance(value, list | tuple) and depth:
        for item in value:
            _without_surprises(item, depth - 1)
    return value


def _real(subject: str, value: Any) -> float:
    """A float out of anything that is a real number: not out of text, a boolean, an array or a date."""
    if type(value) is float or type(value) is int or _is_real(value):
        try:
            return float(value)
        except DalembertError:
            raise
        except OverflowError:
            raise ModelError(f"{subject}: the integer is too large, beyond {LARGEST:g}. {_TOO_LARGE}") from None
        except Exception as error:  # whatever the value's own conversion raises
            raise ModelError(f"{subject}: {shown(value)} is not a number.") from error
    raise ModelError(f"{subject}: {shown(value)} is not a number.")


def _is_real(value: Any) -> bool:
    if isinstance(value, bool | type):
        return False
    if isinstance(value, np.ndarray | np.generic):
        return value.ndim == 0 and value.dtype.kind in _REAL and not np.ma.is_masked(value)
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def name(subject: str, value: object) -> str:
    """A name: text that is not empty and can be printed."""
    if not isinstance(value, str) or not value:
        raise ModelError(f"{subject}: {shown(value)} found; each needs a non-empty name.")
    if _UNPRINTABLE.search(value):
        raise ModelError(f"{subject}: {shown(value)} contains a control character or half a character. Leave it out.")
    if len(value) > _LONGEST_NAME:
        raise ModelError(f"{subject}: {shown(value)} has {len(value)} characters, more than {_LONGEST_NAME}. Shorten it.")
    return str(value)


def flag(subject: str, value: object) -> bool:
    """Yes or no, and nothing that only counts as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{subject}: {shown(value)} found; True or False is expected.")
    return bool(value)


def instance(subject: str, value: object, kind: type[T], maker: str = "") -> T:
    """An object of this kind; `maker` is the call that makes one, where its class is not meant to be called."""
    if not isinstance(value, kind):
        expected = f"{kind.__name__} is expected. Try {maker}" if maker else f"{kind.__name__}(...) is expected"
        raise ModelError(f"{subject}: {shown(value)} found; a {expected}.")
    return value


def optional(subject: str, value: object, kind: type[T]) -> T | None:
    """A part of this kind, or None."""
    return None if value is None else instance(subject, value, kind)


def parts(subject: str, value: Iterable[object], kind: type[T]) -> tuple[T, ...]:
    """Any number of parts of this kind."""
    return tuple(instance(subject, item, kind) for item in items(subject, value, f"a sequence of {kind.__name__}(...)"))


def items(subject: str, value: Iterable[T], expected: str) -> Iterator[T]:
    """What a sequence or any other iterable holds; text and mappings, which could be iterated, hold something else."""
    try:
        if not isinstance(value, str | bytes | Mapping):
            return iter(value)
    except TypeError:
        pass
    raise ModelError(f"{subject}: {shown(value)} found; {expected} is expected.")


def choice(subject: str, name: str, table: Mapping[str, T]) -> T:
    """Look a name up in a table, or say what is known."""
    try:
        return table[name]
    except (KeyError, TypeError):
        raise UnknownNameError.among(subject, name, table) from None


def unique(subject: str, names: Iterable[str]) -> None:
    """Refuse a name that stands twice."""
    seen: set[str] = set()
    for text in names:
        if name(subject, text) in seen:
            raise ModelError(f"{subject}: {text!r} stands twice; names need to be unique. Rename one of them.")
        seen.add(text)


def describe(value: FloatArray) -> str:
    """A short printing of an array for a message."""
    return np.array2string(value, precision=6, separator=", ", max_line_width=10_000, threshold=100).replace("\n", "")


__all__ = [
    "LARGEST",
    "SMALLEST",
    "FloatArray",
    "array",
    "choice",
    "describe",
    "flag",
    "frozen",
    "instance",
    "items",
    "name",
    "number",
    "numbers",
    "optional",
    "parts",
    "shown",
    "unique",
    "whole_number",
]
