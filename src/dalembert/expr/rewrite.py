"""Named passes that make a program cheaper without changing what it computes, up to rounding.

Each pass returns a new program in a graph of its own that holds what is needed and nothing else, or the program it was given
when it would not be cheaper by `weight`. A pass regroups sums and products, so results move by rounding: relative to the
largest term of a sum, not to a sum that cancels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from ..checks import choice
from .collection_pause import growing
from .graph import Expr, Graph
from .program import Program

_SUMS, _PRODUCTS = ("add", "sub"), ("mul",)
_EITHER = _SUMS + _PRODUCTS
_AGE = attrgetter("index")
_PARTNER = {"sin": "cos", "cos": "sin"}
_FEW = 8  # factors of a product that is taken apart
_ROUNDING = 4e-16  # coefficients this close came from the same number
_WEIGHTS = {"const": 0, "input": 0, "neg": 0, "div": 4, "sqrt": 4, "sin": 10, "cos": 10, "atan2": 20}  # others 1

Pass: TypeAlias = Callable[[Program], Program]


def weight(program: Program) -> int:
    """Operations, each weighed by what it costs beside an addition: signs nothing, a division 4, a sine 10."""
    return sum(_WEIGHTS.get(node.op, 1) for node in program.nodes)


@growing()
def apply_passes(program: Program, passes: Iterable[str] | None = None) -> Program:
    """Apply passes by name, one after the other; all of `PASSES`, in that order, unless told."""
    for name in PASSES if passes is None else passes:
        program = choice("pass", name, PASSES)(program)
    return program


def dead_code(program: Program) -> Program:
    """Only the nodes the outputs need, numbered afresh."""
    return _Rebuild(program).finish()


class Monomial(NamedTuple):
    """coefficient · Π factors, one summand of a sum."""

    coefficient: float
    factors: tuple[Expr, ...]

    @property
    def products(self) -> int:
        """Multiplications it takes."""
        return max(len(self.factors) - (abs(self.coefficient) == 1.0), 0)

    def without(self, key: Expr | float) -> Monomial:
        """The term divided by one of its factors, or by the size of its coefficient."""
        if not isinstance(key, Expr):
            return Monomial(-1.0 if self.coefficient < 0.0 else 1.0, self.factors)
        k = self.factors.index(key)
        return Monomial(self.coefficient, self.factors[:k] + self.factors[k + 1 :])


class _Rebuild:
    """A program being copied into a fresh graph, node by node."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = Graph()
        self.new: dict[Expr, Any] = {e: self.graph.input(e.value) for entry in program.entries for e in entry}

    def copy(self, node: Expr) -> None:
        """The node as it is, over its rewritten arguments."""
        new = self.new
        if len(node.args) == 2:  # for the most part
            a, b = node.args
            new[node] = self.graph.apply(node.op, new[a], new[b])
        elif node.op == "const":
            new[node] = node.value
        elif node.op != "input":
            new[node] = self.graph.apply(node.op, *(new[a] for a in node.args))

    def finish(self) -> Program:
        """Copy what is not there yet and hand out the program."""
        for node in self.program.nodes:
            if node not in self.new:
                self.copy(node)
        old = self.program
        entries = tuple(tuple(self.new[e] for e in entry) for entry in old.entries)
        results = tuple(tuple(self.new[s] if isinstance(s, Expr) else s for s in result) for result in old.results)
        return Program(old.name, self.graph, old.inputs, entries, old.outputs, results)

    def term(self, sign: float, factors: Iterable[Expr]) -> Monomial:
        """A product of old nodes as a term of new ones."""
        coefficient, kept = sign, []
        for old in factors:
            scalar = self.new[old]
            if not isinstance(scalar, Expr):
                coefficient *= scalar
            elif scalar.op == "neg":
                coefficient = -coefficient
                kept.append(scalar.args[0])
            else:
                kept.append(scalar)
        return Monomial(coefficient, _ordered(kept))


def _private(program: Program) -> set[Expr]:
    """Nodes used once, and not as an output: taking them apart loses no sharing."""
    uses = Counter(a for node in program.nodes for a in node.args)
    outputs = {s for result in program.results for s in result if isinstance(s, Expr)}
    return {node for node, times in uses.items() if times == 1 and node not in outputs}


def _roots(program: Program, private: set[Expr]) -> set[Expr]:
    """The sums and products that are not part of a larger sum of products."""
    within = {a for n in program.nodes if n.op in _SUMS for a in n.args if a in private}
    within |= {a for n in program.nodes if n.op in _PRODUCTS for a in n.args if a in private and a.op in _PRODUCTS}
    return {n for n in program.nodes if n.op in _EITHER and n not in within}


def _leaves(root: Expr, ops: Sequence[str], private: set[Expr]) -> list[tuple[float, Expr]]:
    """The summands (or factors) below a root with their signs, looking through private nodes of the same kind."""
    if root.op not in ops:
        return [(1.0, root)]
    found, stack = [], [(1.0, root)]
    while stack:
        sign, node = stack.pop()
        if node.op in ops and (node is root or node in private):
            stack.append((-sign if node.op == "sub" else sign, node.args[1]))
            stack.append((sign, node.args[0]))
        else:
            found.append((sign, node))
    return found


def _over_sums(program: Program, combine: Callable[[_Rebuild, list[Monomial]], Any]) -> Program:
    """Rewrite each largest sum of products by `combine`, which gets its terms, like ones added up."""
    work, private = _Rebuild(program), _private(program)
    roots = _roots(program, private)
    for node in program.nodes:
        if node in roots:
            terms = [work.term(sign, _factors(node, piece, private)) for sign, piece in _leaves(node, _SUMS, private)]
            work.new[node] = combine(work, _collected(terms))
        else:
            work.copy(node)
    return work.finish()


def _factors(root: Expr, piece: Expr, private: set[Expr]) -> list[Expr]:
    if piece.op not in _PRODUCTS or (piece is not root and piece not in private):
        return [piece]
    return [factor for _, factor in _leaves(piece, _PRODUCTS, private)]


def _collected(terms: list[Monomial]) -> list[Monomial]:
    """Terms of the same factors added up."""
    if len(terms) == 1:
        return terms if terms[0].coefficient != 0.0 else []
    total: dict[tuple[Expr, ...], float] = {}
    for term in terms:
        total[term.factors] = total.get(term.factors, 0.0) + term.coefficient
    return [Monomial(c, factors) for factors, c in total.items() if c != 0.0]


def _product(term: Monomial) -> Any:
    value: Any = 1.0
    for factor, times in _counted(term.factors):
        value = value * (factor if times == 1 else factor**times)
    return value * term.coefficient


def _counted(factors: tuple[Expr, ...]) -> Iterable[tuple[Expr, int]]:
    """Each factor and how often it occurs: once, for the most part."""
    return Counter(factors).items() if _has_powers(factors) else [(factor, 1) for factor in factors]


def _has_powers(factors: tuple[Expr, ...]) -> bool:
    return len(factors) > 1 and len(set(factors)) < len(factors)


def _sum(terms: Iterable[Monomial]) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total + _product(term)
    return total


def _factored(terms: list[Monomial], keys: Callable[[Monomial], Sequence[Any]]) -> Any:
    """The sum with what saves the most multiplications taken out first, again and again."""
    total: Any = 0.0
    while len(terms) > 1:  # most sums have one term, a product
        saved: dict[Any, int] = {}
        for term in terms:
            found = keys(term)
            saving = term.products - term.without(found[0]).products if found else 0  # all of them save as much
            for key in dict.fromkeys(found):
                saved[key] = saved.get(key, 0) + saving
        best = max(saved, key=saved.__getitem__, default=None)
        if best is None or saved[best] < 2:  # one multiplication comes back
            break
        inside, outside = [], []
        for term in terms:
            if best in keys(term):
                inside.append(term.without(best))
            else:
                outside.append(term)
        total = total + best * _factored(_collected(inside), keys)
        terms = outside
    return total + _sum(terms)


def _cheaper(step: Pass) -> Pass:
    """The pass, but the program itself when nothing is gained."""

    @wraps(step)
    def guarded(program: Program) -> Program:
        result = dead_code(step(program))
        return result if weight(result) < weight(program) else program

    return guarded


@_cheaper
def factor_common(program: Program) -> Program:
    """a x + b x = (a + b) x, where the products have no other use; the factor in most terms goes first."""
    return _over_sums(program, lambda work, terms: _factored(terms, lambda t: t.factors))


@_cheaper
def factor_constants(program: Program) -> Program:
    """c x + c y = c (x + y) and (c x)(d y) = (c d)(x y)."""
    return _over_sums(program, lambda work, terms: _factored(terms, _size))


def _size(term: Monomial) -> tuple[float, ...]:
    return (abs(term.coefficient),) if term.factors and math.isfinite(term.coefficient) else ()


@_cheaper
def pythagoras(program: Program) -> Program:
    """sin² + cos² = 1, also with factors in front, and 1 - cos² = sin² where both are at hand."""
    sines, cosines = ({n.args[0] for n in program.nodes if n.op == op} for op in ("sin", "cos"))
    both = sines & cosines

    def combine(work: _Rebuild, terms: list[Monomial]) -> Any:
        angles = {work.new[a] for a in both if a in work.new}
        shorter = _without_squares(work.graph, terms, angles)
        return _sum(min(terms, shorter, key=_operations))

    return _over_sums(program, combine)


def _without_squares(graph: Graph, terms: list[Monomial], angles: set[Any]) -> list[Monomial]:
    table = {t.factors: t.coefficient for t in _collected([_spread(term) for term in terms])}
    for factors in list(table):
        if not _has_powers(factors):
            continue
        for square in [f for f, times in _counted(factors) if times > 1 and f.op in _PARTNER and f.args[0] in angles]:
            if factors in table:
                _replace_square(table, factors, square, graph.apply(_PARTNER[square.op], square.args[0]))
    return [Monomial(c, factors) for factors, c in table.items() if c != 0.0]


def _replace_square(table: dict[tuple[Expr, ...], float], factors: tuple[Expr, ...], square: Expr, partner: Expr) -> None:
    k = factors.index(square)
    rest = factors[:k] + factors[k + 2 :]
    other = _ordered((*rest, partner, partner))
    a = table[factors]
    if other in table:  # a s² + b c² = a + (b - a) c²
        b = table.pop(other)
        table[rest] = table.pop(factors) + table.get(rest, 0.0)
        if not math.isclose(a, b, rel_tol=_ROUNDING):
            table[other] = b - a
    elif rest in table and math.isclose(table[rest], -a, rel_tol=_ROUNDING):  # a - a s² = a c²
        table[other] = table.pop(rest)
        del table[factors]


def _spread(term: Monomial) -> Monomial:
    """The term with its sines and cosines as single factors: shared products of them are taken apart too."""
    if all(factor.op not in ("mul", "const") for factor in term.factors):
        return term
    coefficient, found = term.coefficient, []
    for f in (leaf for factor in term.factors for leaf in _sines_in(factor)):
        if f.op == "const":
            coefficient *= f.value
        else:
            found.append(f)
    return Monomial(coefficient, _ordered(found))


def _sines_in(factor: Expr) -> list[Expr]:
    """The few sines, cosines and constants a factor is the product of, else the factor itself."""
    leaves: list[Expr] = []
    stack = [factor]
    while stack:
        node = stack.pop()
        if node.op == "mul":
            stack.extend(node.args)
        elif len(leaves) < _FEW and (node.op in _PARTNER or node.op == "const"):
            leaves.append(node)
        else:
            return [factor]
    return leaves


def _operations(terms: Iterable[Monomial]) -> int:
    return sum(t.products + 1 for t in terms)


def _ordered(factors: Iterable[Expr]) -> tuple[Expr, ...]:
    return tuple(sorted(factors, key=_AGE))


PASSES: dict[str, Pass] = {
    "dead_code": dead_code,
    "pythagoras": pythagoras,
    "factor_constants": factor_constants,
    "factor_common": factor_common,
}
