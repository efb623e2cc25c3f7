"""Kernels whose outputs have more axes than a compiled function takes: in one row inside, shaped outside; kept with the robot."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ..checks import FloatArray
from ..codegen import Kernel, build
from ..errors import UnknownNameError
from ..expr import trace
from ..model import Robot
from ..wording import shown

T = TypeVar("T")


class Shaped(NamedTuple):
    """A kernel of rows, and the shape each row has for users."""

    run: Kernel
    shapes: dict[str, tuple[int, ...]]

    def __call__(self, *arrays: Any, threads: int | None = None) -> dict[str, FloatArray]:
        """The outputs by name, each of shape (..., *shape)."""
        results = self.run(*arrays, threads=threads)
        flat = results if isinstance(results, tuple) else (results,)
        rows = zip(self.shapes.items(), flat, strict=True)
        return {name: row.reshape(row.shape[:-1] + shape) for (name, shape), row in rows}


def shaped(
    function: Callable[..., Sequence[Any]], inputs: Mapping[str, tuple[int, ...]], outputs: Sequence[str], name: str
) -> Shaped:
    """Compile a function of scalars that returns one nest of any depth per output."""
    shapes: dict[str, tuple[int, ...]] = {}

    def rows(*given: Any) -> Any:
        flat = []
        for output, nest in zip(outputs, function(*given), strict=True):
            shapes[output], row = _flattened(nest)
            flat.append(row)
        return flat if len(flat) > 1 else flat[0]

    return Shaped(build(trace(rows, inputs, outputs, name=name)), shapes)


def _flattened(nest: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested sequences of scalars, and their entries in one row."""
    if not isinstance(nest, (list, tuple)):
        return (), [nest]
    inner = [_flattened(entry) for entry in nest]
    return (len(inner), *inner[0][0]), [scalar for _, row in inner for scalar in row]


def kept(system: Robot, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """What was made for this robot under this key before, or is made now."""
    try:
        found: T | None = system.kernels.get(key)
    except TypeError:
        raise UnknownNameError(f"{key[0]}: {shown(key[1:])} found as options; names are expected.") from None
    if found is None:
        found = system.kernels[key] = make()
    return found


__all__ = ["Shaped", "kept", "shaped"]
