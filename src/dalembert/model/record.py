"""Frozen records whose fields may be arrays: equality, hashing and changed copies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Self, TypeVar

import numpy as np

from .. import checks
from ..errors import ModelError

V = TypeVar("V")


class Record:
    """Mixin for frozen dataclasses (`eq=False`): compares and hashes arrays by content."""

    def _content(self) -> tuple[Any, ...]:
        return tuple(_freeze(getattr(self, f.name)) for f in dataclasses.fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._content()))

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, checked like a new one."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


def _freeze(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return value


def put(record: Record, **fields: Any) -> None:
    """Set fields of a frozen record from its own `__post_init__`."""
    for name, value in fields.items():
        object.__setattr__(record, name, value)


def named_parts(subject: str, value: object, kind: type[V]) -> dict[str, V]:
    """Parts of this kind by name."""
    if not isinstance(value, Mapping):
        raise ModelError(f"{subject}: {checks.shown(value)} found; a mapping from names to {kind.__name__}(...) is expected.")
    return {checks.name(subject, name): checks.instance(f"{subject} of {name!r}", part, kind) for name, part in value.items()}
