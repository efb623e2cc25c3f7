"""A graph read as a polynomial in some of its inputs, whose coefficients are graphs in the others.

Torques are such polynomials: linear in accelerations, quadratic in velocities, linear in the mass of a payload. Inputs are given
as ranges. What is no polynomial but depends on these inputs alone, as dry friction does, is taken as a further variable, whose
range the interval reading gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..expr import Expr, Graph
from ..expr.graph import reachable
from .interval_reading import enclose, of
from .intervals import Interval, add, exactly, mul, square

Monomial: TypeAlias = tuple[int, ...]
"""Numbers of variables in order, one for each factor; () is the constant."""
Polynomial: TypeAlias = dict[Monomial, Any]

_PIECES = 4096  # of the range of one input, on which a function of it alone is enclosed
_SMALLEST = 5e-324  # the least number above zero
_MOST_TERMS = 4000  # of one polynomial: a graph with more is no polynomial of low degree
_POLYNOMIAL_OPS = frozenset(("const", "input", "add", "sub", "mul", "neg"))


class NotPolynomialError(Exception):
    """The graph is not such a polynomial."""


@dataclass
class RateReading:
    """A graph being read. `ranges` names the inputs that become variables, by index; the rest stay inputs of `graph`."""

    ranges: Mapping[int, tuple[float, float]]
    graph: Graph = field(default_factory=Graph)
    variables: list[Any] = field(default_factory=list)  # the index of the input, or the node, that each variable stands for
    bounds: list[tuple[float, float]] = field(default_factory=list)  # the range of each
    _known: dict[Any, Polynomial] = field(default_factory=dict)

    def read(self, outputs: Sequence[Any]) -> list[Polynomial]:
        """The polynomial of each output."""
        nodes = reachable(outputs)
        odd = self._functions_of_ranges(nodes)
        found: dict[Expr, Polynomial] = {}
        for node in nodes:
            if node not in odd:
                found[node] = self._value(node, {a: self._alone(a) if a in odd else found[a] for a in node.args})
        return [self._gathered(self._result(o, odd, found)) for o in outputs]

    def _result(self, output: Any, odd: set[Expr], found: Mapping[Expr, Polynomial]) -> Polynomial:
        if not isinstance(output, Expr):
            return {(): self._number(float(output))}
        return self._alone(output) if output in odd else found[output]

    def _functions_of_ranges(self, nodes: Sequence[Expr]) -> set[Expr]:
        """Operations that are no sums or products, on what depends on variables alone."""
        fixed: set[Expr] = set()
        odd: set[Expr] = set()
        for node in nodes:
            if node.op == "const" or (node.op == "input" and node.index in self.ranges) or (node.args and fixed >= {*node.args}):
                fixed.add(node)
                if node.op not in _POLYNOMIAL_OPS and any(a.op != "const" for a in node.args):
                    odd.add(node)
        return odd

    def _alone(self, node: Expr) -> Polynomial:
        """Such an operation as one variable."""
        if node not in self._known:
            nodes = reachable([node])
            inputs = [n for n in nodes if n.op == "input"]
            pieces = {n.index: _pieces(*self.ranges[n.index], len(inputs) == 1) for n in inputs}
            found = enclose(nodes, pieces)[node.index]
            self._known[node] = self._variable(node, *_hull(found))
        return self._known[node]

    def _gathered(self, polynomial: Polynomial) -> Polynomial:
        """The same with all that depends on one input alone, and is no polynomial of it, as one variable: dry and viscous
        friction of a joint, or the difference of two laws of it.
        """
        alone: dict[int, list[Monomial]] = {}
        for monomial, value in polynomial.items():
            sources = {index for v in monomial for index in self._sources(v)}
            if len(sources) == 1 and not any(n.op == "input" for n in reachable([value])):
                alone.setdefault(sources.pop(), []).append(monomial)
        result = dict(polynomial)
        for index, monomials in alone.items():
            if any(isinstance(self.variables[v], Expr) for m in monomials for v in m):
                key = ("gathered", index, tuple((m, polynomial[m]) for m in monomials))
                if key not in self._known:
                    self._known[key] = self._variable(index, *self._sum_range(index, {m: polynomial[m] for m in monomials}))
                for m in monomials:
                    del result[m]
                result = self._sum(result, self._known[key], "add")
        return result

    def _sources(self, variable: int) -> set[int]:
        """The inputs a variable depends on."""
        source = self.variables[variable]
        return {n.index for n in reachable([source]) if n.op == "input"} if isinstance(source, Expr) else {source}

    def _sum_range(self, index: int, terms: Polynomial) -> Interval:
        """The range of a polynomial in functions of one input, over many pieces of its range."""
        pieces = _pieces(*self.ranges[index], True)
        total = exactly(np.zeros_like(pieces.lo))
        for monomial, value in terms.items():
            term = of(value, enclose(reachable([value]), {}))
            for v, power in Counter(monomial).items():
                source = self.variables[v]
                factor = enclose(reachable([source]), {index: pieces})[source.index] if isinstance(source, Expr) else pieces
                for _ in range(power // 2):
                    term = mul(term, square(factor))
                if power % 2:
                    term = mul(term, factor)
            total = add(total, term)
        return Interval(*_hull(total))

    def _variable(self, source: Any, lo: float, hi: float) -> Polynomial:
        """A new variable; one that has a single value is a number."""
        if lo == hi:
            return {(): self._number(lo)}
        self.variables.append(source)
        self.bounds.append((lo, hi))
        return {(len(self.variables) - 1,): 1.0}

    def _number(self, value: float) -> Any:
        """A number as a node, so that products of numbers are operations whose rounding is accounted for."""
        return value if value in (0.0, 1.0, -1.0) else self.graph.const(value)

    def _value(self, node: Expr, values: Mapping[Expr, Polynomial]) -> Polynomial:
        if node.op == "const":
            return {(): self._number(node.value)}
        if node.op == "input":
            if node.index not in self.ranges:
                return {(): self.graph.input(node.value)}
            if node not in self._known:
                self._known[node] = self._variable(node.index, *self.ranges[node.index])
            return self._known[node]
        args = [values[a] for a in node.args]
        if node.op in ("add", "sub"):
            return self._sum(args[0], args[1], node.op)
        if node.op == "neg":
            return {key: -value for key, value in args[0].items()}
        if node.op == "mul":
            return self._product(*args)
        if node.op == "div" and set(args[1]) == {()}:
            return {key: self.graph.apply("div", self._node(value), self._node(args[1][()])) for key, value in args[0].items()}
        if any(set(a) - {()} for a in args):
            raise NotPolynomialError
        return {(): self.graph.apply(node.op, *(self._node(a.get((), 0.0)) for a in args))}

    def _node(self, scalar: Any) -> Expr:
        return scalar if isinstance(scalar, Expr) else self.graph.const(scalar)

    def _sum(self, a: Polynomial, b: Polynomial, op: str) -> Polynomial:
        total = dict(a)
        for key, value in b.items():
            if key not in total:
                total[key] = value if op == "add" else -value
            else:
                total[key] = self.graph.apply(op, self._node(total[key]), self._node(value))
        return total

    def _product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if len(a) * len(b) > _MOST_TERMS:
            raise NotPolynomialError
        total: Polynomial = {}
        for one, x in a.items():
            for other, y in b.items():
                total = self._sum(total, {tuple(sorted(one + other)): x * y}, "add")
        return total


def _hull(found: Interval) -> tuple[float, float]:
    """The ends of everything, which have to be finite."""
    lo, hi = float(np.min(found.lo)), float(np.max(found.hi))
    if not np.isfinite([lo, hi]).all():
        raise NotPolynomialError
    return lo, hi


def _pieces(lo: float, hi: float, alone: bool) -> Interval:
    """A range in pieces; zero is one of its own, so that a jump there is between pieces: inputs are floating-point numbers."""
    if not alone or lo == hi:
        return Interval(np.float64(lo), np.float64(hi))
    sides = [(lo, min(hi, -_SMALLEST)), (max(lo, _SMALLEST), hi)]
    ends = [np.linspace(a, b, _PIECES + 1) for a, b in sides if a <= b]
    at_zero = [np.zeros(1)] if lo <= 0.0 <= hi else []
    return Interval(np.concatenate([*(e[:-1] for e in ends), *at_zero]), np.concatenate([*(e[1:] for e in ends), *at_zero]))
