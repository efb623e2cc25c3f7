"""Matrices and tensors as nested lists of scalars: what equations over joints are written in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..expr import ops

Matrix = list[list[Any]]
Tensor = list[list[list[Any]]]


def zeros(*shape: int) -> Any:
    """Nested lists of 0.0."""
    return [zeros(*shape[1:]) for _ in range(shape[0])] if shape else 0.0


def dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Σ a_i b_i; entries of a that are zero by structure cost nothing."""
    return sum((x * y for x, y in zip(a, b, strict=True) if not ops.is_zero(x)), 0.0)


def transposed(A: Matrix) -> Matrix:
    """Rows become columns."""
    return [list(column) for column in zip(*A, strict=True)]


def sum_of(*nests: Any) -> Any:
    """Nested lists added entry by entry."""
    if isinstance(nests[0], list):
        return [sum_of(*entries) for entries in zip(*nests, strict=True)]
    return sum(nests[1:], nests[0])


def add_at(nest: list[Any], place: Sequence[int], value: Any) -> None:
    """Add a value to one entry, given by its indices."""
    *outer, last = place
    for k in outer:
        nest = nest[k]
    nest[last] = nest[last] + value
