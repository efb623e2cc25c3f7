"""The closed set of scalar primitives, and the functions algorithms call on scalars of any kind.

A scalar is a float, an ndarray (a whole batch) or an `Expr` (a node of a graph being traced). `PRIMITIVES` gives each
operation its NumPy meaning; every other reading of a graph (LLVM, C, SymPy, JAX, derivatives) follows this table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .graph import Expr

Scalar: TypeAlias = "float | np.ndarray | Expr"


class Primitive(NamedTuple):
    """One operation: how many arguments, its meaning on arrays, and a line for the reader."""

    arity: int
    numpy: Callable[..., Any]
    doc: str


def _select(condition: Any, a: Any, b: Any) -> Any:
    return np.where(np.not_equal(condition, 0.0), a, b)[()]  # [()] turns a 0-d array into a number, as ufuncs do


def _as_float(compare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: compare(a, b).astype(np.float64)


PRIMITIVES: dict[str, Primitive] = {
    "add": Primitive(2, np.add, "a + b"),
    "sub": Primitive(2, np.subtract, "a - b"),
    "mul": Primitive(2, np.multiply, "a b"),
    "div": Primitive(2, np.divide, "a / b"),
    "neg": Primitive(1, np.negative, "-a"),
    "sqrt": Primitive(1, np.sqrt, "square root, NaN below zero"),
    "sin": Primitive(1, np.sin, "sine of an angle in rad"),
    "cos": Primitive(1, np.cos, "cosine of an angle in rad"),
    "atan2": Primitive(2, np.arctan2, "angle of the point (b, a)"),
    "abs": Primitive(1, np.abs, "magnitude"),
    "sign": Primitive(1, np.sign, "-1, 0 or 1"),
    "min": Primitive(2, np.minimum, "the smaller; NaN if either is"),
    "max": Primitive(2, np.maximum, "the larger; NaN if either is"),
    "lt": Primitive(2, _as_float(np.less), "1 if a < b, else 0"),
    "le": Primitive(2, _as_float(np.less_equal), "1 if a <= b, else 0"),
    "eq": Primitive(2, _as_float(np.equal), "1 if a = b, else 0"),
    "where": Primitive(3, _select, "b where a is not 0, else c"),
}


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
    """a / b, of scalars of any kind; a number over zero is infinite or NaN, as in the interpreter, and no error of Python's."""
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
