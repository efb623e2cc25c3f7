"""What users choose besides arrays: a check for each kind of option, and a sentence when what is given is of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .checks import FloatArray, number, whole_number
from .errors import ModelError, ShapeError, UnknownNameError
from .wording import shown

MOST_SAMPLES = 10_000_000  # arrays of more fill the memory


def samples(subject: str, value: Any, least: int = 1) -> int:
    """How many states to look at."""
    return whole_number(subject, value, least, MOST_SAMPLES)


def generator(value: Any) -> np.random.Generator:
    """Where random numbers come from; the same ones each time where None is given."""
    if value is None:
        return np.random.default_rng(0)
    if not isinstance(value, np.random.Generator):
        raise ModelError(f"rng: {shown(value)} found, a numpy.random.Generator is expected. Try numpy.random.default_rng(seed).")
    return value


def text(subject: str, value: Any, expected: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UnknownNameError(f"{subject}: {shown(value)} found, {expected} is expected.")
    return value


def several_names(subject: str, value: Any, expected: str) -> tuple[str, ...]:
    """A name, or several in a collection that has an order; `expected` says what is meant."""
    if isinstance(value, str):
        return (value,)
    found = tuple(value) if _has_order(value) else (None,)
    if not all(isinstance(name, str) for name in found):
        raise UnknownNameError(f"{subject}: {shown(value)} found, {expected} expected.")
    return found


def _has_order(value: Any) -> bool:
    if isinstance(value, (bytes, bytearray, Mapping, set, frozenset)) or (isinstance(value, np.ndarray) and value.ndim != 1):
        return False
    return isinstance(value, Iterable)


def mapping(subject: str, value: Any, example: str) -> Mapping[Any, Any]:
    """A mapping."""
    if isinstance(value, Mapping):
        return value
    raise ShapeError(f"{subject}: {type(value).__name__} found, a mapping such as {example} expected.")


def numbers_by_name(subject: str, what: str, given: Mapping[Any, Any], names: tuple[str, ...], default: FloatArray) -> FloatArray:
    """One number for each name: those given, infinite ones among them, in the place of defaults; `what` says whose names."""
    found = default.copy()
    for name, value in given.items():
        if name not in names:
            raise UnknownNameError.among(f"{subject}: {what}", name, names)
        found[names.index(name)] = number(f"{subject}: {name!r}", value, infinite=True)
    return found


def function(subject: str, value: Any) -> Callable[..., Any] | None:
    """A function, or None."""
    if value is None or callable(value):
        return value
    raise ShapeError(f"{subject}: {shown(value)} found, a function is expected.")
