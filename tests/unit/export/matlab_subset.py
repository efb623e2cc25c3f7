"""A strict interpreter of the little MATLAB that exported code uses: anything else is refused.

Functions with `end`, assignments to names, fields and entries counted from 1, `if`/`else`, calls of functions of the file and
of a few built-in ones. A value is a double, a 2-d or 3-d array, a struct or a handle, as in MATLAB; a comparison is true or
false and no number until `double` makes it one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?)|([A-Za-z]\w*)|('[^']*')|(~=|<=|>=|==|\|\||&&|[-+*/(),.<>@~]))")
KEYWORDS = frozenset(("function", "if", "else", "elseif", "end", "for", "while", "return"))
NAME = r"[A-Za-z]\w{0,62}"  # MATLAB reads no more than 63 letters of a name
HEAD = re.compile(rf"function (?:({NAME})|\[({NAME}(?:, {NAME})*)\]) = ({NAME})\(((?:{NAME}(?:, {NAME})*)?)\)")


class MatlabError(Exception):
    """What MATLAB would refuse, or what this subset does not know."""


@dataclass
class Function:
    name: str
    inputs: list[str]
    outputs: list[str]
    lines: list[str] = field(default_factory=list)


def load(text: str) -> Callable[..., Any]:
    """The function of a file: its first one. Tells `nargout` apart by returning a tuple for several outputs."""
    functions = parsed(text)
    return lambda *values: call(functions, next(iter(functions.values())), values)


def parsed(text: str) -> dict[str, Function]:
    text.encode("ascii")
    functions: dict[str, Function] = {}
    current, depth = None, 0
    for raw in text.splitlines():
        line = _without_comment(raw).strip()
        if not line:
            continue
        if line.startswith("function "):
            match = HEAD.fullmatch(line)
            if match is None or current is not None:
                raise MatlabError(f"head of a function: {line}")
            outputs = match.group(1) or match.group(2)
            current, depth = Function(match.group(3), _names(match.group(4)), _names(outputs)), 1
            continue
        if current is None:
            raise MatlabError(f"outside of a function: {line}")
        depth += line.startswith("if ")
        depth -= line == "end"
        if depth == 0:
            functions[current.name], current = current, None
        else:
            current.lines.append(line)
    if current is not None:
        raise MatlabError(f"no end of {current.name}")
    return functions


def _names(text: str) -> list[str]:
    names = [name for name in text.split(", ") if name]
    if len(set(names)) != len(names) or any(name in KEYWORDS for name in names):
        raise MatlabError(f"names: {names}")
    return names


def _without_comment(line: str) -> str:
    """Up to a % outside of a string."""
    quoted = False
    for k, letter in enumerate(line):
        quoted ^= letter == "'"
        if letter == "%" and not quoted:
            return line[:k]
    return line


def call(functions: dict[str, Function], function: Function, values: tuple[Any, ...]) -> Any:
    if len(values) > len(function.inputs):
        raise MatlabError(f"too many inputs of {function.name}")
    scope: dict[str, Any] = dict(zip(function.inputs, values, strict=False))
    _run(iter(function.lines), scope, functions, len(values), active=True)
    results = [scope[name] for name in function.outputs]
    return results[0] if len(results) == 1 else tuple(results)


def _run(lines: Iterator[str], scope: dict[str, Any], functions: dict[str, Function], given: int, *, active: bool) -> str:
    """Run to the end of a block; the word that ended it."""
    for line in lines:
        if line in ("end", "else"):
            return line
        if line.startswith("if "):
            taken = active and _truth(_value(line[3:], scope, functions, given)) if active else False
            if _run(lines, scope, functions, given, active=active and taken) == "else":
                _run(lines, scope, functions, given, active=active and not taken)
        elif active:
            _statement(line, scope, functions, given)
        elif not line.endswith(";"):
            raise MatlabError(f"prints its value: {line}")
    return ""


def _statement(line: str, scope: dict[str, Any], functions: dict[str, Function], given: int) -> None:
    if not line.endswith(";"):
        raise MatlabError(f"prints its value: {line}")
    line = line[:-1]
    if line.startswith("error("):
        _value(line, scope, functions, given)
        return
    match = re.fullmatch(rf"({NAME})(?:\.({NAME})|\(([\d, ]+)\))? = (.+)", line)
    if match is None or match.group(1) in KEYWORDS:
        raise MatlabError(f"statement: {line}")
    name, part, index, right = match.groups()
    value = _value(right, scope, functions, given)
    if part:
        scope.setdefault(name, {})[part] = value
    elif index:
        place = tuple(int(k) - 1 for k in index.split(", "))
        array = scope[name]
        place = place if len(place) > 1 else (place[0], 0)
        if min(place) < 0 or len(place) != array.ndim or any(k >= n for k, n in zip(place, array.shape, strict=True)):
            raise MatlabError(f"index: {line}")
        if isinstance(value, (bool, np.bool_)) or np.ndim(value):
            raise MatlabError(f"not a number: {line}")
        array[place] = value
    else:
        scope[name] = value.copy() if isinstance(value, np.ndarray) else value


def _truth(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise MatlabError(f"condition: {value!r}")
    return bool(value)


def _value(text: str, scope: dict[str, Any], functions: dict[str, Function], given: int) -> Any:
    reader = _Reader(text, scope, functions, given)
    value = reader.either()
    if reader.tokens[reader.place] != "":
        raise MatlabError(f"rest of {text!r}: {reader.tokens[reader.place :]}")
    return value


BUILT_IN: dict[str, Callable[..., Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "atan2": np.arctan2,
    "abs": np.abs,
    "sign": np.sign,
    "numel": lambda x: float(np.size(x)),
    "double": lambda x: np.asarray(x, np.float64)[()] if np.ndim(x) else np.float64(x),
    "single": lambda x: np.asarray(x, np.float32)[()] if np.ndim(x) else np.float32(x),
}


def _sqrt(x: Any) -> Any:
    if not x >= 0:
        raise MatlabError(f"sqrt({x}) is complex")
    return np.sqrt(x)


def _zeros(*shape: Any) -> Any:
    kind = shape[-1] if isinstance(shape[-1], str) else "double"
    sizes = tuple(int(n) for n in (shape[:-1] if isinstance(shape[-1], str) else shape))
    if len(sizes) < 2:
        raise MatlabError("zeros(n) is a square matrix")
    return np.zeros(sizes, {"double": np.float64, "single": np.float32}[kind])


def _error(message: str, *values: Any) -> None:
    raise ValueError(message % tuple(int(v) for v in values))


BUILT_IN |= {"sqrt": _sqrt, "zeros": _zeros, "error": _error}


class _Reader:
    """An expression, by recursive descent."""

    def __init__(self, text: str, scope: dict[str, Any], functions: dict[str, Function], given: int) -> None:
        self.scope, self.functions, self.given = scope, functions, given
        self.tokens = [*_tokens(text), ""]
        self.place = 0

    def take(self, *expected: str) -> str:
        token = self.tokens[self.place]
        if expected and token not in expected:
            raise MatlabError(f"{token!r} found, {expected} expected")
        self.place += 1
        return token

    def peek(self) -> str:
        return self.tokens[self.place]

    def either(self) -> Any:
        value = self.comparison()
        while self.peek() == "||":
            self.take()
            other = self.comparison()
            value = _truth(value) or _truth(other)
        return value

    def comparison(self) -> Any:
        value = self.sum()
        if self.peek() in ("<", ">", "<=", ">=", "==", "~="):
            op, other = self.take(), self.sum()
            tests = {"<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal}
            return bool({**tests, "==": np.equal, "~=": np.not_equal}[op](_number(value), _number(other)))
        return value

    def sum(self) -> Any:
        value = self.product()
        while self.peek() in ("+", "-"):
            op, other = self.take(), self.product()
            value = _number(value) + _number(other) if op == "+" else _number(value) - _number(other)
        return value

    def product(self) -> Any:
        value = self.signed()
        while self.peek() in ("*", "/"):
            op, other = self.take(), self.signed()
            value = _number(value) * _number(other) if op == "*" else np.divide(_number(value), _number(other))
        return value

    def signed(self) -> Any:
        if self.peek() == "-":
            self.take()
            return -_number(self.signed())
        return self.atom()

    def atom(self) -> Any:
        token = self.take()
        if token == "(":
            value = self.either()
            self.take(")")
            return value
        if token == "@":
            function = self.functions[self.take()]
            return lambda *values: call(self.functions, function, values)
        if token[:1] == "'":
            return token[1:-1]
        if token[:1].isdigit():
            return np.float64(token)
        if re.fullmatch(NAME, token) and token not in KEYWORDS:
            return self.name(token)
        raise MatlabError(f"{token!r} found, a value expected")

    def name(self, token: str) -> Any:
        if token in self.scope:
            return self.entry(self.scope[token])
        if token in ("Inf", "NaN"):
            return np.float64(math.inf if token == "Inf" else math.nan)
        if token == "nargin":
            return np.float64(self.given)
        values = self.arguments()
        if token in self.functions:
            return call(self.functions, self.functions[token], tuple(values))
        if token not in BUILT_IN:
            raise MatlabError(f"{token!r} is neither a variable nor a function")
        return BUILT_IN[token](*values)

    def entry(self, value: Any) -> Any:
        if self.peek() == ".":
            self.take()
            if not isinstance(value, dict):
                raise MatlabError("a field of something that is no struct")
            return value[self.take()]
        if self.peek() != "(":
            return value
        place = tuple(int(k) - 1 for k in self.arguments())
        if min(place) < 0:
            raise MatlabError("index below 1")
        return np.ravel(value)[place[0]] if len(place) == 1 else value[place]

    def arguments(self) -> list[Any]:
        self.take("(")
        values = []
        while self.peek() != ")":
            values.append(self.either())
            if self.peek() != ")":
                self.take(",")
        self.take(")")
        return values


def _tokens(text: str) -> Iterator[str]:
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise MatlabError(f"cannot read {text[place:]!r}")
        yield match.group().strip()
        place = match.end()


def _number(value: Any) -> Any:
    if isinstance(value, (str, dict, bool, np.bool_)) or np.ndim(value):
        raise MatlabError(f"{value!r} found, a number expected")
    return value
