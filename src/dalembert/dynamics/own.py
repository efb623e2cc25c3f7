"""Functions of one's own as recipes: what they take and what they return, looked at while they are traced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DalembertError, ExprError, ShapeError
from ..expr import Expr
from ..wording import shown
from .system import Recipe


def function_recipe(function: Callable[..., Any], inputs: Any, outputs: Sequence[str]) -> Recipe:
    """The recipe of a user's function of scalars."""
    if not isinstance(inputs, Mapping):
        raise ShapeError("kernel: a function needs its inputs as a mapping of name to shape, such as {'q': (3,)}.")
    if not outputs:
        raise ShapeError("outputs: no name found; one for each output is expected, such as ('y',).")
    return Recipe(lambda *given: _returned(function, given, outputs), _shapes(inputs), list(outputs))


def _shapes(inputs: Mapping[Any, Any]) -> dict[str, tuple[int, ...]]:
    for name, shape in inputs.items():
        if not isinstance(name, str) or not name:
            raise ShapeError(f"inputs: {shown(name)} found as a name; text expected, as in {{'q': (3,)}}.")
        if not isinstance(shape, (tuple, list)) or not all(_is_extent(extent) for extent in shape):
            raise ShapeError(f"inputs: {shown(shape)} found as the shape of {name!r}; whole numbers expected, as in (3,) or ().")
    return {name: tuple(int(extent) for extent in shape) for name, shape in inputs.items()}


def _is_extent(extent: Any) -> bool:
    return isinstance(extent, (int, np.integer)) and not isinstance(extent, bool) and int(extent) >= 0


def _returned(function: Callable[..., Any], given: Sequence[Any], outputs: Sequence[str]) -> Any:
    """What a function returns for symbols, if it is one nest of scalars for each output."""
    try:
        returned = function(*given)
    except DalembertError:
        raise
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise ExprError(
            f"kernel: the function could not be traced ({error}). Write it over scalars with arithmetic and dalembert.expr.ops, "
            "and with one parameter for each input."
        ) from error
    several = isinstance(returned, (list, tuple))
    if len(outputs) != 1 and not (several and len(returned) == len(outputs)):
        found = len(returned) if several else 1
        raise ShapeError(f"outputs: {len(outputs)} names found, but the function returns {found}. Name each output.")
    for name, nest in zip(outputs, returned if len(outputs) > 1 else (returned,), strict=True):
        _shape(name, nest)
    return returned


def _shape(name: str, nest: Any) -> tuple[int, ...]:
    """The shape of a nest of scalars; a sentence where it is no such thing."""
    if isinstance(nest, (list, tuple)):
        inner = {_shape(name, item) for item in nest}
        if len(inner) > 1:
            raise ShapeError(f"outputs: a nest of lists of unequal lengths found for {name!r}; one shape is expected.")
        return (len(nest), *(inner.pop() if inner else ()))
    if not isinstance(nest, (Expr, int, float, np.integer, np.floating)):
        raise ExprError(f"outputs: {type(nest).__name__} found in {name!r}; scalars or nested lists of them are expected.")
    return ()
