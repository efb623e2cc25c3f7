"""Results as one line: shapes in place of numbers, and the few facts that say how it went."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .wording import shown

_FEW = 3  # entries of a tuple that are shown


def brief(result: Any, /, *hidden: str, **facts: object) -> str:
    """`Name(array: shape, other=value, ...)` of a named tuple or a dataclass, without its hidden fields and with further facts.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     M: np.ndarray
    ...     energy: float
    ...     name: str
    >>> brief(Pair(np.eye(7), 1.5, "arm"), "name", n=7)
    'Pair(M: (7, 7), energy=1.5, n=7)'
    """
    entries = {name: getattr(result, name) for name in _fields(result) if name not in hidden}
    parts = [_entry(name, value) for name, value in (entries | facts).items()]
    return f"{type(result).__name__}({', '.join(parts)})"


def _fields(result: Any) -> tuple[str, ...]:
    if isinstance(result, tuple):
        return tuple(getattr(result, "_fields", ()))
    return tuple(field.name for field in dataclasses.fields(result) if field.repr)


def _entry(name: str, value: object) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{name}: {value.shape}"
    return f"{name}={_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, (float, np.ndarray, np.generic)):
        return f"{float(value):.6g}" if np.asarray(value).dtype.kind == "f" else str(value)
    if isinstance(value, tuple) and len(value) > _FEW:
        return f"<{len(value)} entries>"
    return shown(value)
