"""Forms as SymPy expressions. SymPy is the extra `symbolic` and is imported when a result is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import MissingExtraError
from .form import Form, Product, Sum
from .write import rational


def sympy_module() -> Any:
    """SymPy, or the sentence that says how to get it."""
    try:
        return importlib.import_module("sympy")
    except ImportError:
        raise MissingExtraError.for_extra("equations in SymPy", "sympy", "symbolic") from None


def readings(sympy: Any) -> dict[str, Callable[..., Any]]:
    """Each primitive in SymPy; a comparison is 1 or 0, as in a graph."""

    def either(condition: Any) -> Any:
        return sympy.Piecewise((1, condition), (0, True))

    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "sqrt": sympy.sqrt,
        "sin": sympy.sin,
        "cos": sympy.cos,
        "atan2": sympy.atan2,
        "abs": sympy.Abs,
        "sign": sympy.sign,
        "min": sympy.Min,
        "max": sympy.Max,
        "lt": lambda a, b: either(sympy.Lt(a, b)),
        "le": lambda a, b: either(sympy.Le(a, b)),
        "eq": lambda a, b: either(sympy.Eq(a, b)),
        "where": lambda condition, a, b: sympy.Piecewise((a, sympy.Ne(condition, 0)), (b, True)),
    }


def expression(form: Form, sympy: Any) -> Any:
    """A form as a SymPy expression; brackets stay as they are written."""
    if isinstance(form, Sum):
        return sympy.Add(*(expression(t, sympy) for t in form.terms))
    if isinstance(form, Product):
        return sympy.Mul(number(form.value, sympy), *(expression(f, sympy) ** power for f, power in form.factors))
    if not form.op:
        return sympy.Symbol(form.name)
    args = [expression(a, sympy) for a in form.args]
    return 1 / args[0] if form.op == "inverse" else readings(sympy)[form.op](*args)


def number(value: float, sympy: Any) -> Any:
    """A number, exact where it is a simple fraction."""
    simple = rational(value)
    return sympy.Rational(simple.numerator, simple.denominator) if simple is not None else sympy.Float(value)


def array(forms: Sequence[Form], shape: tuple[int, ...], sympy: Any) -> Any:
    """A column, a matrix or an array of more axes; a single number for none."""
    entries = [expression(form, sympy) for form in forms]
    if not shape:
        return entries[0]
    if len(shape) <= 2:
        rows, columns = (*shape, 1)[:2]
        return sympy.ImmutableMatrix(rows, columns, entries)
    return sympy.ImmutableDenseNDimArray(entries, shape)
