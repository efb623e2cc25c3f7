"""The closed set of scalar primitives: each operation with its NumPy meaning.

Every reading of a graph (LLVM, C, SymPy, JAX, derivatives) follows this table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Primitive(NamedTuple):
    """One operation: how many arguments, its meaning on arrays, and a line for the reader."""

    arity: int
    numpy: Callable[..., Any]
    doc: str


def _select(condition: Any, a: Any, b: Any) -> Any:
    return np.where(np.not_equal(condition, 0.0), a, b)[()]  # [()] turns a 0-d array into a number, as ufuncs do


def _angle(a: Any, b: Any) -> Any:
    """The angle of a point; of complex numbers its analytic continuation, for complex steps."""
    if not (np.iscomplexobj(a) or np.iscomplexobj(b)):
        return np.arctan2(a, b)
    angle = np.arctan2(np.real(a), np.real(b))
    c, s = np.cos(angle), np.sin(angle)
    return angle + np.arctan((a * c - b * s) / (b * c + a * s))


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
    "atan2": Primitive(2, _angle, "angle of the point (b, a)"),
    "abs": Primitive(1, np.abs, "magnitude"),
    "sign": Primitive(1, np.sign, "-1, 0 or 1"),
    "min": Primitive(2, np.minimum, "the smaller; NaN if either is"),
    "max": Primitive(2, np.maximum, "the larger; NaN if either is"),
    "lt": Primitive(2, _as_float(np.less), "1 if a < b, else 0"),
    "le": Primitive(2, _as_float(np.less_equal), "1 if a <= b, else 0"),
    "eq": Primitive(2, _as_float(np.equal), "1 if a = b, else 0"),
    "where": Primitive(3, _select, "b where a is not 0, else c"),
}
