"""The expression graph: scalar operations, each stored once, in an order in which arguments come first.

Numbers fold while the graph grows: x + 0, 1 x and 0 x never become nodes, constants merge, signs move outwards until an
addition or subtraction takes them up. Folding 0 x = 0 is a statement about structure: it holds even where x would be NaN.
Likewise x + 0 = x drops the sign of a zero, and x / c multiplies by the rounded 1 / c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from ..errors import ExprError
from .primitives import PRIMITIVES

_COMMUTATIVE = frozenset(("min", "max", "eq"))  # add and mul order their own arguments: a constant first, then by age
_TINY, _HUGE = 1e-300, 1e300  # between them a number and its inverse are normal


class Expr:
    """A node of a graph, standing for a number that is not known yet. Arithmetic on it adds nodes."""

    __slots__ = ("args", "graph", "index", "op", "value")
    __array_ufunc__ = None  # NumPy does not wrap nodes in an object array

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Expr, ...], value: Any = None) -> None:
        self.graph = graph
        self.index = index
        self.op = op
        self.args = args
        self.value = value  # the number of a 'const', the name of an 'input'

    def __add__(self, other: Any) -> Any:
        return self.graph.add(self, other) if type(other) is not ndarray else _each(other, lambda x: self + x)

    def __radd__(self, other: Any) -> Any:
        return self.graph.add(other, self) if type(other) is not ndarray else _each(other, lambda x: x + self)

    def __sub__(self, other: Any) -> Any:
        return self.graph.sub(self, other) if type(other) is not ndarray else _each(other, lambda x: self - x)

    def __rsub__(self, other: Any) -> Any:
        return self.graph.sub(other, self) if type(other) is not ndarray else _each(other, lambda x: x - self)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            return NotImplemented  # a vector multiplies its own components
        return self.graph.mul(self, other) if type(other) is not ndarray else _each(other, lambda x: self * x)

    def __rmul__(self, other: Any) -> Any:
        return self.graph.mul(other, self) if type(other) is not ndarray else _each(other, lambda x: x * self)

    def __truediv__(self, other: Any) -> Any:
        return self.graph.div(self, other) if type(other) is not ndarray else _each(other, lambda x: self / x)

    def __rtruediv__(self, other: Any) -> Any:
        return self.graph.div(other, self) if type(other) is not ndarray else _each(other, lambda x: x / self)

    def __neg__(self) -> Any:
        return self.graph.neg(self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Any:
        return self.graph.apply("abs", self)

    def __pow__(self, exponent: int) -> Any:
        if not isinstance(exponent, int) or exponent < 0:
            raise ExprError(
                f"power: exponent {exponent!r} found; a traced scalar takes a non-negative integer one. "
                "Write ops.sqrt(x) for a root, 1 / x for an inverse."
            )
        return math.prod([self] * exponent, start=1.0)

    def __lt__(self, other: Any) -> Any:
        return self.graph.apply("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return self.graph.apply("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.graph.apply("lt", other, self)

    def __ge__(self, other: Any) -> Any:
        return self.graph.apply("le", other, self)

    def __bool__(self) -> bool:
        raise ExprError(
            "bool: a traced scalar has no truth value, since its number is not known yet. "
            "Select with ops.where(condition, a, b) instead of `if`."
        )

    def __float__(self) -> float:
        raise ExprError("float: a traced scalar has no number yet. Evaluate the graph, or keep working with scalars.")

    __index__ = __int__ = __float__

    def __repr__(self) -> str:
        inner = self.value if self.value is not None else ", ".join(f"%{a.index}" for a in self.args)
        return f"%{self.index} = {self.op}({inner})"


class Follower(NamedTuple):
    """What an input follows: others, of which it is a function known by its slopes alone, as a root of equations is.

    `slopes` returns its partial derivative by each of them; they are made when a derivative is first taken.
    """

    variables: Sequence[Expr]
    slopes: Callable[[], Sequence[Any]]


class Graph:
    """Nodes in topological order, each (operation, arguments) once."""

    def __init__(self) -> None:
        self.nodes: list[Expr] = []
        self.followers: dict[Expr, Follower] = {}
        self.memory: dict[Any, Any] = {}  # what was made in this graph and is asked for again, by a key of its maker
        self._known: dict[tuple[Any, ...], Expr] = {}

    def input(self, name: str) -> Expr:
        """The scalar input of this name."""
        node = self._known.get(("input", name))
        if node is None:
            node = self._known["input", name] = Expr(self, len(self.nodes), "input", (), name)
            self.nodes.append(node)
        return node

    def const(self, value: float) -> Expr:
        """A number as a node; only needed as an argument, results stay plain floats."""
        value = _number(value)
        # -0.0 and 0.0 are equal as keys but not as numbers; every NaN is the same number but none equals itself
        key = ("const", value, math.copysign(1.0, value)) if value == value else ("const", "nan")
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = Expr(self, len(self.nodes), "const", (), value)
            self.nodes.append(node)
        return node

    def follow(self, node: Expr, variables: Sequence[Expr], slopes: Callable[[], Sequence[Any]]) -> None:
        """Take an input as a function of others: derivatives by these go through it."""
        self.followers[node] = Follower(variables, slopes)

    def restored(self, rows: Iterable[tuple[str, tuple[int, ...], Any]]) -> list[Expr]:
        """Nodes from (operation, places of its arguments in this list, value), as they were: nothing is folded again."""
        nodes: list[Expr] = []
        for op, args, value in rows:
            if op == "input":
                nodes.append(self.input(value))
            elif op == "const":
                nodes.append(self.const(value))
            else:
                nodes.append(self._node(op, _in_order(op, tuple(nodes[k] for k in args))))
        return nodes

    def apply(self, op: str, *args: Any) -> Any:
        """A node of any primitive, folded when every argument is a number."""
        rule = _RULES.get(op)
        if rule is not None:
            return rule(self, *args)
        if not any(isinstance(a, Expr) for a in args):
            return _fold(op, args)
        return self._node(op, _in_order(op, tuple(self._as_node(a) for a in args)))

    def add(self, a: Any, b: Any) -> Any:
        """a + b."""
        if not isinstance(b, Expr):
            return self._shift(_number(b), a) if isinstance(a, Expr) else _number(a) + _number(b)
        if not isinstance(a, Expr):
            return self._shift(_number(a), b)
        if b.op == "neg":
            return self.sub(a, b.args[0])
        if a.op == "neg":
            return self.sub(b, a.args[0])
        return self._node("add", (a, b) if a.index <= b.index else (b, a))

    def _shift(self, offset: float, x: Expr) -> Any:
        if offset == 0.0:
            return x
        if x.op == "neg":
            return self.sub(offset, x.args[0])
        if x.op in ("add", "sub") and x.args[0].op == "const":
            return self.apply(x.op, offset + x.args[0].value, x.args[1])
        return self._node("add", (self.const(offset), x))

    def sub(self, a: Any, b: Any) -> Any:
        """a - b."""
        if not isinstance(b, Expr):
            return self.add(a, -_number(b))
        if not isinstance(a, Expr):
            return self._mirror(_number(a), b)
        if a is b:
            return 0.0
        if b.op == "neg":
            return self.add(a, b.args[0])
        if a.op == "neg":
            return self.neg(self.add(a.args[0], b))
        mirrored = self._known.get(("sub", b, a))
        return self._node("sub", (a, b)) if mirrored is None else self.neg(mirrored)

    def _mirror(self, centre: float, x: Expr) -> Any:
        if centre == 0.0:
            return self.neg(x)
        if x.op == "neg":
            return self._shift(centre, x.args[0])
        if x.op == "add" and x.args[0].op == "const":
            return self._mirror(centre - x.args[0].value, x.args[1])
        if x.op == "sub" and x.args[0].op == "const":
            return self._shift(centre - x.args[0].value, x.args[1])
        return self._node("sub", (self.const(centre), x))

    def mul(self, a: Any, b: Any) -> Any:
        """a b."""
        if not isinstance(a, Expr):
            return self._scale(_number(a), b) if isinstance(b, Expr) else _number(a) * _number(b)
        if not isinstance(b, Expr):
            return self._scale(_number(b), a)
        if a.op == "neg":
            return self.neg(self.mul(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.mul(a, b.args[0]))
        return self._node("mul", (a, b) if a.index <= b.index else (b, a))

    def _scale(self, factor: float, x: Expr) -> Any:
        if factor == 0.0:
            return 0.0
        if factor < 0.0:
            return self.neg(self._scale(-factor, x))
        if factor == 1.0:
            return x
        if x.op == "neg":
            return self.neg(self._scale(factor, x.args[0]))
        if x.op == "mul" and x.args[0].op == "const":
            merged = factor * x.args[0].value
            if _TINY < abs(merged) < _HUGE:  # else merging would lose a product that is finite and not zero
                return self._scale(merged, x.args[1])
        return self._node("mul", (self.const(factor), x))

    def div(self, a: Any, b: Any) -> Any:
        """a / b."""
        if not isinstance(b, Expr):
            return self._divide(a, _number(b)) if isinstance(a, Expr) else _fold("div", (a, b))
        if not isinstance(a, Expr):
            a = _number(a)
            if a == 0.0:
                return 0.0
            if a < 0.0:
                return self.neg(self.div(-a, b))
            a = self.const(a)
        if a.op == "neg":
            return self.neg(self.div(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.div(a, b.args[0]))
        return self._node("div", (a, b))

    def _divide(self, x: Expr, divisor: float) -> Any:
        if _TINY < abs(divisor) < _HUGE:
            return self._scale(1.0 / divisor, x)
        return self._node("div", (x, self.const(divisor)))  # 1 / divisor is not a normal number

    def neg(self, a: Any) -> Any:
        """-a."""
        if not isinstance(a, Expr):
            return -_number(a)
        return a.args[0] if a.op == "neg" else self._node("neg", (a,))

    def _odd(self, op: str, a: Any) -> Any:
        if isinstance(a, Expr) and a.op == "neg":
            return self.neg(self._odd(op, a.args[0]))
        return self._node(op, (a,)) if isinstance(a, Expr) else _fold(op, (a,))

    def _even(self, op: str, a: Any) -> Any:
        if isinstance(a, Expr) and a.op == "neg":
            return self._even(op, a.args[0])
        return self._node(op, (a,)) if isinstance(a, Expr) else _fold(op, (a,))

    def _where(self, condition: Any, a: Any, b: Any) -> Any:
        if not isinstance(condition, Expr):
            return a if condition != 0.0 else b
        if a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and a == b):
            return a
        return self._node("where", (condition, self._as_node(a), self._as_node(b)))

    def _as_node(self, value: Any) -> Expr:
        if not isinstance(value, Expr):
            return self.const(value)
        if value.graph is not self:
            raise ExprError("graph: a scalar of another graph found; one function is traced in one graph. Trace them together.")
        return value

    def _node(self, op: str, args: tuple[Expr, ...]) -> Expr:
        key = (op, *args)  # nodes compare by identity, so a node of another graph never finds one of this graph
        node = self._known.get(key)
        if node is None:
            for a in args:
                if a.graph is not self:
                    self._as_node(a)
            node = self._known[key] = Expr(self, len(self.nodes), op, args)
            self.nodes.append(node)
        return node


_RULES: dict[str, Callable[..., Any]] = {
    "add": Graph.add,
    "sub": Graph.sub,
    "mul": Graph.mul,
    "div": Graph.div,
    "neg": Graph.neg,
    "sin": lambda graph, a: graph._odd("sin", a),
    "cos": lambda graph, a: graph._even("cos", a),
    "sign": lambda graph, a: graph._odd("sign", a),
    "abs": lambda graph, a: graph._even("abs", a),
    "where": Graph._where,
}


def _in_order(op: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The older argument first where their order means nothing."""
    return args[::-1] if op in _COMMUTATIVE and args[0].index > args[1].index else args


def _each(array: ndarray, combine: Callable[[Any], Any]) -> ndarray:
    """A traced scalar with each of an array of traced scalars; an array of numbers is a batch, which has no place in a graph."""
    if array.dtype != object:
        raise _not_a_scalar(array)
    found = np.empty(array.shape, dtype=object)
    for place in np.ndindex(array.shape):
        found[place] = combine(array[place])
    return found


def _number(value: Any) -> float:
    if type(value) is float:
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _not_a_scalar(value) from None


def _not_a_scalar(value: Any) -> ExprError:
    return ExprError(
        f"graph: {type(value).__name__} found beside a traced scalar; a number or a scalar of the graph is expected. "
        "Take the array's entries one by one."
    )


def _fold(op: str, args: tuple[Any, ...]) -> float:
    with np.errstate(all="ignore"):  # NaN and infinity are numbers here, as in the interpreter
        return float(PRIMITIVES[op].numpy(*map(np.float64, args)))


def reachable(outputs: Iterable[Any]) -> list[Expr]:
    """The nodes these outputs need, arguments first."""
    found: dict[int, Expr] = {}
    stack = [o for o in outputs if isinstance(o, Expr)]
    while stack:
        node = stack.pop()
        if node.index not in found:
            found[node.index] = node
            stack.extend(node.args)
    return [found[i] for i in sorted(found)]
