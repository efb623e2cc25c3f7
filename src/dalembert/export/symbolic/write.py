r"""Forms as text: LaTeX with \ddot{q}_{1} and c_{12}, Unicode with q̈₁ and c₁₂, Python with qdd_1 and cos(q_1 + q_2)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from .form import Atom, Form, Product, Sum

BREAK, INNER = "\x00", "\x01"  # where a line may be broken: before a sign, rather outside of brackets than inside
_LOW, _MIDDLE, _HIGH = 0, 1, 2
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_DENOMINATOR = 12  # fractions up to this one are exact
_READABLE = (2, 3, 4, 6, 8)  # and these are shown as fractions
_CLOSE = 1e-12


class Style(NamedTuple):
    """How a kind of text writes names, numbers, products, powers, quotients, signs and functions."""

    atom: Callable[[Atom], str]
    number: Callable[[float], str]
    times: str
    minus: str
    power: Callable[[str, int], str]
    quotient: Callable[[str, str], str]
    functions: dict[str, str]
    marks: bool = True  # of places to break


def write(form: Form, style: Style) -> str:
    """A form as text."""
    return _write(form, style, _LOW)


def _write(form: Form, style: Style, least: int) -> str:
    if isinstance(form, Atom):
        return _atom(form, style)
    text, level = _sum(form, style) if isinstance(form, Sum) else _product(form, style)
    return f"({text.replace(BREAK, INNER)})" if level < least else text


def _sum(form: Sum, style: Style) -> tuple[str, int]:
    mark = BREAK if style.marks else ""
    pieces = []
    for k, t in enumerate(form.terms):
        negative = isinstance(t, Product) and t.value < 0
        shown = t._replace(value=-t.value) if isinstance(t, Product) and negative else t
        sign = style.minus if negative else "+"
        text = _write(shown, style, _MIDDLE)
        pieces.append((f"{style.minus}{text}" if negative else text) if k == 0 else f" {mark}{sign} {text}")
    return "".join(pieces), _LOW


def _product(form: Product, style: Style) -> tuple[str, int]:
    above = [(f, power) for f, power in form.factors if power > 0]
    below = [(f, -power) for f, power in form.factors if power < 0]
    sign, size = (style.minus, -form.value) if form.value < 0 else ("", form.value)
    text = _factors(size, above, style)
    if below:
        text = style.quotient(text, _factors(1.0, below, style))
    return sign + text, _LOW if sign else _HIGH if not form.factors else _MIDDLE


def _factors(value: float, factors: list[tuple[Form, int]], style: Style) -> str:
    texts = [_powered(f, power, style) for f, power in factors]
    if value != 1.0 or not texts:
        texts.insert(0, style.number(value))
    return style.times.join(texts)


def _powered(form: Form, power: int, style: Style) -> str:
    base = _write(form, style, _HIGH)
    return base if power == 1 else style.power(base, power)


def _atom(atom: Atom, style: Style) -> str:
    if not atom.op or (style.marks and atom.latex):
        return style.atom(atom)
    args = [_write(a, style, _LOW).replace(BREAK, "").replace(INNER, "") for a in atom.args]
    pattern = style.functions.get(atom.op, f"{atom.op}({{0}})")
    return pattern.format(", ".join(args), *args)


def rational(value: float) -> Fraction | None:
    """The simple fraction a number is, if it is one."""
    if not math.isfinite(value):  # where positions of a mechanism are not found
        return None
    near = Fraction(value).limit_denominator(_DENOMINATOR)
    return near if abs(float(near) - value) <= _CLOSE * max(1.0, abs(value)) and abs(near.numerator) < 10_000 else None


def _fraction(value: float) -> Fraction | None:
    """A fraction that reads better than its decimals: 1/2, 3/4, 1/3."""
    simple = rational(value)
    return simple if simple is not None and simple.denominator in _READABLE and simple.numerator < _DENOMINATOR else None


def _latex_number(digits: int) -> Callable[[float], str]:
    def number(value: float) -> str:
        simple = _fraction(value)
        if simple is not None:
            return rf"\frac{{{simple.numerator}}}{{{simple.denominator}}}"
        mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    return number


def _text_number(digits: int) -> Callable[[float], str]:
    def number(value: float) -> str:
        simple = _fraction(value)
        return f"{value:.{digits}g}" if simple is None else str(simple)

    return number


def _python_number(value: float) -> str:
    if not math.isfinite(value):
        return f"float('{value}')"
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _latex_power(base: str, power: int) -> str:
    r"""An exponent stands behind a name and behind brackets, or between a function and its brackets: \cos^{2}(x)."""
    called = re.match(r"\\(?:sin|cos|operatorname\{\w+\})(?=\()", base)
    if called:
        return f"{called.group()}^{{{power}}}{base[called.end() :]}"
    return f"({base})^{{{power}}}" if base.startswith((r"\sqrt", r"\frac", "|")) else f"{base}^{{{power}}}"


def latex(digits: int = 6) -> Style:
    """LaTeX."""
    functions = {
        "sin": r"\sin({0})",
        "cos": r"\cos({0})",
        "sqrt": r"\sqrt{{{0}}}",
        "abs": r"|{0}|",
        "sign": r"\operatorname{{sgn}}({0})",
        "atan2": r"\operatorname{{atan2}}({0})",
        "min": r"\min({0})",
        "max": r"\max({0})",
        "lt": r"[{1} < {2}]",
        "where": r"\operatorname{{where}}({0})",
        "inverse": r"\frac{{1}}{{{0}}}",
    }
    return Style(lambda a: a.latex, _latex_number(digits), " ", "-", _latex_power, _latex_quotient, functions)


def _latex_quotient(above: str, below: str) -> str:
    return rf"\frac{{{above}}}{{{below}}}"


def unicode(digits: int = 6) -> Style:
    """Plain text for a terminal."""
    functions = {"abs": "|{0}|", "sign": "sgn({0})", "sqrt": "√({0})", "lt": "[{1} < {2}]", "inverse": "1/({0})"}
    return Style(lambda a: a.text, _text_number(digits), " ", "−", _text_power, lambda a, b: f"{a}/({b})", functions)


def _text_power(base: str, power: int) -> str:
    shown = str(power).translate(_SUPERSCRIPTS)
    called = re.match(r"\w+(?=\()", base)
    if called:
        return f"{called.group()}{shown}{base[called.end() :]}"
    return f"({base}){shown}" if base.startswith(("√", "|", "1/")) else f"{base}{shown}"


def python() -> Style:
    """Python that runs, given `from math import *` and the names."""
    functions = {
        "abs": "fabs({0})",
        "sign": "(({0} > 0) - ({0} < 0))",
        "inverse": "1/({0})",
        "lt": "float({1} < {2})",
        "where": "({2} if {1} else {3})",
    }
    return Style(
        lambda a: a.name,
        _python_number,
        "*",
        "-",
        lambda base, power: f"{base}**{power}",
        lambda a, b: f"{a}/({b})",
        functions,
        marks=False,
    )


_COMMAND = re.compile(r"\\(?:dot|ddot|mathrm|operatorname|left|right)\b|\\[,;! ]|[{}^_$&]")


def visible(text: str) -> int:
    """About how many characters a piece of LaTeX takes on paper."""
    return len(re.sub(r"\\[a-zA-Z]+", "x", _COMMAND.sub("", text)))


def lines(text: str, width: int, measure: Callable[[str], int] = visible) -> list[str]:
    """Text broken before signs into lines of about `width`; inside brackets only where they are longer than that."""
    found = [""]
    for piece in text.split(BREAK):
        pieces = [piece.replace(INNER, "")] if measure(piece) <= width else piece.split(INNER)
        for part in pieces:
            if found[-1] and measure(found[-1]) + measure(part) > width:
                found.append(part)
            else:
                found[-1] += part
    return [line.rstrip() for line in found]
