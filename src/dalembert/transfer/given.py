"""What users of this package pass in, checked: arrays by their number of axes, and maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..checks import FloatArray
from ..codegen.arguments import real
from ..dynamics import Influence
from ..errors import ShapeError

Map: TypeAlias = Influence | tuple[ArrayLike | None, ...] | ArrayLike
"""Influence coefficients: what `dal.influence` returns, a tuple (G, H) or (G, H, D), or G alone."""
_ORDERS = "GHD"
_REMEDY = {
    2: "Ask dal.influence for order=2, or, of a map that is linear, transfer.linear.",
    3: "Ask dal.influence for order=3, or, of a map that is linear, transfer.linear.",
}


def array_of(subject: str, value: Any, *axes: str) -> FloatArray:
    """Numbers with the axes that are named, and any batch axes before them: digits are extents, letters are free but agree."""
    wanted = f"({', '.join(('...', *axes))})"
    found = real(subject, value, wanted)
    own = found.shape[found.ndim - len(axes) :]
    if found.ndim < len(axes) or not _agree(axes, own):
        raise ShapeError(f"{subject}: shape {found.shape} found, {wanted} expected.")
    return found


def _agree(axes: Sequence[str], extents: Sequence[int]) -> bool:
    known: dict[str, int] = {}
    return all(known.setdefault(axis, int(axis) if axis.isdigit() else extent) == extent for axis, extent in zip(axes, extents))


def together(**batches: tuple[int, ...]) -> None:
    """Refuse batch axes, given by name, that do not broadcast."""
    try:
        np.broadcast_shapes(*batches.values())
    except ValueError:
        said = " and ".join(f"{shape} of {name}" for name, shape in batches.items())
        raise ShapeError(f"batch axes: {said} found, which do not broadcast. Give them the same ones, or none.") from None


def batch_of(influence: Influence) -> tuple[int, ...]:
    """The batch axes of a map."""
    return np.broadcast_shapes(*(x.shape[: -2 - k] for k, x in enumerate(influence) if x is not None))


def influence_of(subject: str, value: Map, order: int = 1) -> Influence:
    """A map with coefficients of this order at least, their shapes checked."""
    given = value if isinstance(value, tuple) else (value,)
    arrays = [array for array in given if array is not None]
    if not 1 <= len(arrays) <= len(_ORDERS) or any(array is None for array in given[: len(arrays)]):
        raise ShapeError(f"{subject}: {len(given)} entries, {len(arrays)} not None, found; G, (G, H) or (G, H, D) is expected.")
    if len(arrays) < order:
        raise ShapeError(f"{subject}: no {_ORDERS[order - 1]} found beside {_ORDERS[len(arrays) - 1]}. {_REMEDY[order]}")
    G = array_of(f"{subject}: G", arrays[0], "r", "n")
    r, n = map(str, G.shape[-2:])
    rest = [array_of(f"{subject}: {_ORDERS[k]}", array, r, *[n] * (k + 1)) for k, array in enumerate(arrays) if k]
    together(**{_ORDERS[k]: array.shape[: -2 - k] for k, array in enumerate([G, *rest])})
    return Influence(G, *rest)


def known_orders(influence: Influence) -> int:
    """How many of G, H, D there are."""
    return sum(array is not None for array in influence)


def H_of(influence: Influence) -> FloatArray:
    """The second order, where it was looked at that there is one."""
    assert influence.H is not None
    return influence.H


def D_of(influence: Influence) -> FloatArray:
    """The third order, where it was looked at that there is one."""
    assert influence.D is not None
    return influence.D


__all__ = ["D_of", "H_of", "Map", "array_of", "batch_of", "influence_of", "known_orders", "together"]
