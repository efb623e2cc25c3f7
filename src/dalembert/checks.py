"""The one boundary: coercion of what users pass in, with a sentence when it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ModelError, UnknownNameError

FloatArray = NDArray[np.float64]
T = TypeVar("T")


def array(subject: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """A read-only float array of exactly this shape, without NaN or infinity."""
    try:
        result = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{subject}: {value!r} is not numeric; shape {shape} of numbers is expected.") from error
    if result.shape != shape:
        raise ModelError(f"{subject}: shape {result.shape} found, {shape} expected.")
    if not np.isfinite(result).all():
        raise ModelError(f"{subject}: {describe(result)} contains NaN or infinity; a model needs finite numbers.")
    result += 0.0  # turns -0.0 into 0.0, so equal models compare and hash equal
    result.flags.writeable = False
    return result


def number(subject: str, value: object, *, infinite: bool = False) -> float:
    """One float; NaN never, infinity only where it has a meaning (limits)."""
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ModelError(f"{subject}: {value!r} is not a number.") from error
    if np.isnan(result) or (np.isinf(result) and not infinite):
        raise ModelError(f"{subject}: {result} found; a finite number is expected.")
    return result + 0.0


def choice(subject: str, name: str, table: Mapping[str, T]) -> T:
    """Look a name up in a table, or say what is known."""
    try:
        return table[name]
    except (KeyError, TypeError):
        raise UnknownNameError.among(subject, name, table) from None


def unique(subject: str, names: Iterable[str]) -> None:
    """Refuse a name that stands twice."""
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ModelError(f"{subject}: {name!r} found; each needs a non-empty name.")
        if name in seen:
            raise ModelError(f"{subject}: {name!r} stands twice; names need to be unique. Rename one of them.")
        seen.add(name)


def describe(value: FloatArray) -> str:
    """A short printing of an array for a message."""
    return np.array2string(value, precision=6, separator=", ", max_line_width=10_000).replace("\n", "")
