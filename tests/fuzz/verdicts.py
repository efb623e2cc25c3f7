"""What an option may be: True for a value that has to work, False for one that has to be refused, None where either will do."""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .campaign import is_number, is_whole

Verdict = Callable[[Any], "bool | None"]
_MANY = 1_000_000  # a count beyond this may be too much for the machine


def never(value: Any) -> bool | None:
    """Nothing from the table of values fits."""
    return False


def anything(value: Any) -> bool | None:
    """Anything but an exception that is not from this package."""
    return None


def flag(value: Any) -> bool | None:
    """Truth values; 0 and 1 are none."""
    return isinstance(value, (bool, np.bool_))


def number(value: Any) -> bool | None:
    """One finite real number; whether it makes sense is for the model to say."""
    if isinstance(value, np.ndarray):
        return None if value.shape == () and value.dtype.kind in "fiu" else False
    if isinstance(value, (bool, fractions.Fraction, decimal.Decimal)) or is_number(value):
        return None
    return False


def zero(value: Any) -> bool | None:
    """The number 0."""
    return False if number(value) is False or value != 0 else None


def no(value: Any) -> bool | None:
    """False, and no other flag."""
    return flag(value) and not value


def number_or_infinity(value: Any) -> bool | None:
    """As `number`, or infinite."""
    return None if isinstance(value, float) and math.isinf(value) else number(value)


def positive(value: Any) -> bool | None:
    """As `number`, above zero."""
    return False if number(value) is False or not value > 0 else None


def positive_or_infinity(value: Any) -> bool | None:
    """As `positive`, or infinite."""
    return None if isinstance(value, float) and value == math.inf else positive(value)


def count(least: int) -> Verdict:
    """A whole number from here on."""

    def verdict(value: Any) -> bool | None:
        if is_whole(value):
            return False if value < least else True if value < _MANY else None
        whole = isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iu"
        return None if whole or isinstance(value, bool) else False

    return verdict


def among(known: Iterable[Any]) -> Verdict:
    """One of a few names or numbers."""
    names = tuple(known)

    def verdict(value: Any) -> bool | None:
        if isinstance(value, str):
            return value in names
        if is_whole(value):
            return value in names
        return None if isinstance(value, bool) and value in names else False

    return verdict


def place(value: Any) -> bool | None:
    """An array of floats may have the right shape by chance."""
    return None if isinstance(value, np.ndarray) and value.dtype == float else False


def text(value: Any) -> bool | None:
    """A name; which ones are fit is for the model to say."""
    return None if isinstance(value, str) and value else False


def array(*shape: int) -> Verdict:
    """Numbers of this shape; -1 stands for any extent."""

    def verdict(value: Any) -> bool | None:
        if isinstance(value, (str, bytes, dict, set, range)) or not isinstance(value, (list, tuple, np.ndarray)):
            return None if isinstance(value, range) and shape in ((3,), (-1,)) else False
        try:
            found = np.asarray(value, float) if not np.iscomplexobj(value) else None
        except (TypeError, ValueError):
            return False
        if found is None or np.asarray(value).dtype.kind in "USO":
            return False
        fits = found.ndim == len(shape) and all(b in (a, -1) for a, b in zip(found.shape, shape))
        return None if fits else False

    return verdict


def rows(size: int) -> Verdict:
    """Numbers with so many entries along the last axis."""
    return lambda value: None if any(array(*(-1,) * axes, size)(value) is None for axes in range(3)) else False


def optional(verdict: Verdict) -> Verdict:
    """As another, or None."""
    return lambda value: True if value is None else verdict(value)


def empty_or(verdict: Verdict) -> Verdict:
    """As another, or any collection without entries, or None."""
    return lambda value: None if value is None or _is_empty(value) else verdict(value)


def _is_empty(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.size == 0
    return isinstance(value, (list, tuple, dict, set, str)) and not value


def function(value: Any) -> bool | None:
    """Something to call."""
    return None if callable(value) else False
