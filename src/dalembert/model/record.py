"""Frozen records whose fields may be arrays or mappings: equality, hashing, changed copies, and copies that stay frozen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, Self, TypeVar

import numpy as np

from .. import checks
from ..errors import ModelError

V = TypeVar("V")


class FrozenMapping(Mapping[str, V]):
    """A mapping that cannot be changed: it compares as a dict does, hashes by content, copies and pickles."""

    __slots__ = ("_items",)
    _items: dict[str, V]

    def __init__(self, items: Mapping[str, V] = {}) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self._items),)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}: {name!r} cannot be set; a robot is frozen. Use replace(...).")


class Record:
    """Mixin for frozen dataclasses (`eq=False`): compares and hashes arrays by content.

    What is copied or pickled are the fields alone, without what was computed from them (a robot's kernels, its root); the copy
    is not checked again, but its arrays are read-only again.
    """

    def _content(self) -> tuple[Any, ...]:
        return tuple(_by_content(getattr(self, f.name)) for f in dataclasses.fields(self))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._content()))

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        put(self, **{name: _frozen(value) for name, value in state.items()})

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, checked like a new one."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


def _by_content(value: Any) -> Any:
    """What compares and hashes as the value does, its arrays by their bytes, also those inside of tuples."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if type(value) is tuple:
        return tuple(map(_by_content, value))
    return value


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return checks.frozen(value)
    return tuple(map(_frozen, value)) if type(value) is tuple else value


def put(record: Record, **fields: Any) -> None:
    """Set fields of a frozen record from its own `__post_init__`."""
    for name, value in fields.items():
        object.__setattr__(record, name, value)


def named_parts(subject: str, value: object, kind: type[V]) -> FrozenMapping[V]:
    """Parts of this kind by name, in a mapping that cannot be changed."""
    if not isinstance(value, Mapping):
        raise ModelError(f"{subject}: {checks.shown(value)} found; a mapping from names to {kind.__name__}(...) is expected.")
    return FrozenMapping(
        {checks.name(subject, name): checks.instance(f"{subject} of {name!r}", part, kind) for name, part in value.items()}
    )


__all__ = ["FrozenMapping", "Record", "named_parts", "put"]
