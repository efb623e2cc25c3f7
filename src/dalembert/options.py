"""Options of the outer layers: a check for each kind of option, and a sentence when what is given is of another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from .brief import short
from .checks import FloatArray
from .errors import ModelError, ShapeError, UnknownNameError

T = TypeVar("T")
_MOST = 10_000_000  # samples: arrays of more fill the memory


def whole(subject: str, value: Any, least: int, most: int = _MOST) -> int:
    """A whole number within these bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ModelError(f"{subject}: {short(value)} found, a whole number from {least} to {most} is expected.")
    return int(value)


def flag(subject: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ModelError(f"{subject}: {short(value)} found, True or False is expected.")
    return bool(value)


def generator(value: Any) -> np.random.Generator:
    """Where random numbers come from; the same ones each time where None is given."""
    if value is None:
        return np.random.default_rng(0)
    if not isinstance(value, np.random.Generator):
        raise ModelError(f"rng: {short(value)} found, a numpy.random.Generator is expected. Try numpy.random.default_rng(seed).")
    return value


def text(subject: str, value: Any, expected: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UnknownNameError(f"{subject}: {short(value)} found, {expected} is expected.")
    return value


def words(subject: str, value: Any, expected: str) -> list[str]:
    """A word or several, as a list; `expected` says what is meant."""
    if isinstance(value, str):
        return [value]
    several = isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, Mapping))
    found: list[Any] = list(value) if several else [None]
    if not all(isinstance(word, str) for word in found):
        raise UnknownNameError(f"{subject}: {short(value)} found, {expected} is expected.")
    return found


def function(subject: str, value: Any) -> None:
    """Refuse what is neither None nor can be called."""
    if value is not None and not callable(value):
        raise ModelError(f"{subject}: {short(value)} found, a function is expected.")


def values(subject: str, given: Any, expected: str = "numbers") -> FloatArray:
    """Real numbers of any shape; NaN and infinity are left to the caller."""
    try:
        found = np.asarray(given)
        if found.dtype.kind in "fiu":
            return found.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):  # such as lists of different lengths
        pass
    raise ShapeError(f"{subject}: {short(given)} found, {expected} expected.")


def instance(subject: str, value: Any, kind: type[T], maker: str) -> T:
    """A result of this kind, which `maker` makes."""
    if not isinstance(value, kind):
        raise ModelError(f"{subject}: {short(value)} found, a {kind.__name__} is expected. Try {maker}.")
    return value
