"""What users choose besides arrays, each looked at once: names, yes or no, whole numbers, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import ShapeError, UnknownNameError

_LONGEST = 80  # characters of a value that a message repeats


def shown(value: object) -> str:
    """A value in a message: as it prints, cut where that is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # integers of very many digits, and classes of somebody else's
        return f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 20]}... ({type(value).__name__})"


def flag(subject: str, value: object) -> bool:
    """True or False, or a number that equals one of them."""
    if isinstance(value, (bool, int, float, np.bool_, np.number)) and value in (0, 1):
        return bool(value)
    raise UnknownNameError(f"{subject}: {shown(value)} found, True or False expected.")


def whole(subject: str, value: Any, least: int) -> int:
    """A whole number that is not too small; 1e5 is one too."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if number and least <= value < 2**63 and value == value // 1:
        return int(value)
    raise ShapeError(f"{subject}: {shown(value)} found, a whole number is expected, not below {least}.")


def names(subject: str, value: Any, what: str) -> tuple[str, ...]:
    """A name, or several in a collection that has an order."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, np.ndarray, set, frozenset)):
        found = tuple(value)
        if all(isinstance(name, str) for name in found):
            return found
    raise UnknownNameError(f"{subject}: {shown(value)} found, {what} expected.")


def mapping(subject: str, value: Any, example: str) -> Mapping[Any, Any]:
    """A mapping."""
    if isinstance(value, Mapping):
        return value
    raise ShapeError(f"{subject}: {type(value).__name__} found, a mapping such as {example} expected.")


def function(subject: str, value: Any) -> Callable[..., Any] | None:
    """A function, or None."""
    if value is None or callable(value):
        return value
    raise ShapeError(f"{subject}: {shown(value)} found, a function expected.")
