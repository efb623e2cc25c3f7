"""The functions algorithms call on scalars of any kind.

A scalar is a float, an ndarray (a whole batch) or an `Expr` (a node of a graph being traced).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .graph import Expr
from .primitives import PRIMITIVES

Scalar: TypeAlias = "float | np.ndarray | Expr"


def _unary(name: str, fold: Callable[[float], float]) -> Callable[[Any], Any]:
    meaning = PRIMITIVES[name].numpy

    def apply(x: Any) -> Any:
        if isinstance(x, Expr):
            return x.graph.apply(name, x)
        return fold(x) if type(x) is float or type(x) is int else meaning(x)

    apply.__name__ = name
    apply.__doc__ = f"{PRIMITIVES[name].doc[0].upper()}{PRIMITIVES[name].doc[1:]}, of a scalar of any kind."
    return apply


def _graph_of(*scalars: Any) -> Any:
    return next((s.graph for s in scalars if isinstance(s, Expr)), None)


def _general(name: str) -> Callable[..., Any]:
    meaning = PRIMITIVES[name].numpy

    def apply(*scalars: Any) -> Any:
        graph = _graph_of(*scalars)
        return meaning(*map(np.asarray, scalars)) if graph is None else graph.apply(name, *scalars)

    apply.__name__ = name
    apply.__doc__ = f"{PRIMITIVES[name].doc[0].upper()}{PRIMITIVES[name].doc[1:]}, of scalars of any kind."
    return apply


def divide(a: Any, b: Any) -> Any:
    """a / b, of scalars of any kind; a number over zero is infinite or NaN, as in the interpreter, and raises no error."""
    graph = _graph_of(a, b)
    if graph is not None:
        return graph.div(a, b)
    if isinstance(b, (float, int)) and b != 0:
        return a / b
    with np.errstate(all="ignore"):
        quotient = np.divide(a, b)
    return float(quotient) if isinstance(quotient, np.float64) else quotient


def is_zero(scalar: Any) -> bool:
    """Whether a scalar is the number zero; a node or a batch is not, whatever its value."""
    return isinstance(scalar, (float, int)) and scalar == 0


def _sign(x: float) -> float:
    return x if x == 0 or x != x else math.copysign(1.0, x)


sin = _unary("sin", lambda x: math.sin(x) if math.isfinite(x) else math.nan)
cos = _unary("cos", lambda x: math.cos(x) if math.isfinite(x) else math.nan)
sqrt = _unary("sqrt", lambda x: math.sqrt(x) if x >= 0 else math.nan)
absolute = _unary("abs", abs)
sign = _unary("sign", _sign)
atan2 = _general("atan2")
minimum = _general("min")
maximum = _general("max")
less = _general("lt")
less_equal = _general("le")
equal = _general("eq")
where = _general("where")
