"""Exact derivatives of a graph, as new nodes of the same graph: forward mode, reverse mode, one table of rules.

**Which mode.** Forward mode (`jacobian`, `jvp`) costs in proportion to the inputs each node depends on, reverse mode
(`gradient`, `vjp`) in proportion to the outputs. One output of many inputs, such as an energy, is a case for reverse; square
Jacobians, such as dtau_dq, are cheaper forward, since joint i only touches the links beyond it and zero tangents never become
nodes. Hash consing shares the partial derivatives between columns, and a second application gives second derivatives.

**Inputs that follow others** (`Graph.follow`): an input can be a function of others of which only the slopes are known, as the
root of equations that were solved before. Derivatives by those others go through it.

**Where the function has a kink, a jump or a pole**, the derivative returned is

- abs: 0 at 0, the middle of the slopes -1 and 1;
- min, max: the mean of both arguments' derivatives at a tie (or a NaN), again the middle of the two slopes;
- sign and the comparisons: 0 everywhere, at the jump too;
- where: that of the arm taken, 0 for the condition. Forward mode never reads the other arm. Reverse mode hands it the
  adjoint 0, and 0 times an infinite partial derivative is NaN: keep both arms finite;
- sqrt: infinite at 0, NaN below;
- division: infinite or NaN where the divisor is 0;
- atan2: NaN at the origin; the jump across the negative axis is not seen, as both sides have the same slope. The squared
  radius must neither overflow nor underflow: coordinates between 1e-150 and 1e150.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..errors import ExprError
from . import ops
from .graph import Expr, reachable
from .ops import Scalar, is_zero


class Choice(NamedTuple):
    """A partial derivative that depends on a condition. The arm not taken is left out, not multiplied by zero."""

    condition: Scalar
    yes: Partial
    no: Partial


Partial: TypeAlias = "Scalar | Choice"
_Rule: TypeAlias = "Callable[..., tuple[Any, ...]]"


def _div(y: Any, a: Any, b: Any) -> tuple[Partial, ...]:
    inverse = 1.0 / b
    return inverse, -(y * inverse)


def _atan2(y: Any, a: Any, b: Any) -> tuple[Partial, ...]:
    inverse = 1.0 / (a * a + b * b)
    return b * inverse, -(a * inverse)


def _pick(first_wins: Any, second_wins: Any) -> tuple[Partial, ...]:
    return Choice(first_wins, 1.0, Choice(second_wins, 0.0, 0.5)), Choice(first_wins, 0.0, Choice(second_wins, 1.0, 0.5))


DERIVATIVES: dict[str, _Rule] = {
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "mul": lambda y, a, b: (b, a),
    "div": _div,
    "neg": lambda y, a: (-1.0,),
    "sqrt": lambda y, a: (0.5 / y,),
    "sin": lambda y, a: (ops.cos(a),),
    "cos": lambda y, a: (-ops.sin(a),),
    "atan2": _atan2,
    "abs": lambda y, a: (ops.sign(a),),
    "sign": lambda y, a: (0.0,),
    "min": lambda y, a, b: _pick(ops.less(a, b), ops.less(b, a)),
    "max": lambda y, a, b: _pick(ops.less(b, a), ops.less(a, b)),
    "lt": lambda y, a, b: (0.0, 0.0),
    "le": lambda y, a, b: (0.0, 0.0),
    "eq": lambda y, a, b: (0.0, 0.0),
    "where": lambda y, condition, a, b: (0.0, Choice(condition, 1.0, 0.0), Choice(condition, 0.0, 1.0)),
}
"""For each primitive: from its value y and its arguments, the partial derivative of y by each argument."""


def jacobian(outputs: Sequence[Scalar], wrt: Sequence[Expr]) -> list[list[Scalar]]:
    """∂outputs_i / ∂wrt_j by forward mode; entries that vanish by structure are exactly 0.0.

    Any nodes can stand in `wrt`. Each is taken as an independent variable: what it was computed from is not looked at.
    """
    seeds: dict[Expr, dict[int, Scalar]] = {}
    for column, node in enumerate(_variables(outputs, wrt)):
        seeds.setdefault(node, {})[column] = 1.0
    rows = _forward(outputs, seeds)
    return [[rows[o].get(j, 0.0) if isinstance(o, Expr) and o in rows else 0.0 for j in range(len(wrt))] for o in outputs]


def derivative(function: Callable[[Any], Any], x: Expr, order: int = 1) -> Scalar:
    """A derivative of a function of one scalar, at a node x.

    By a variable of its own, for which x is put in afterwards: x may be computed from others, and merge with what uses it.
    """
    variable = x.graph.input("a variable of its own")
    value = function(variable)
    for _ in range(order):
        value = jacobian([value], [variable])[0][0]
    found: dict[Expr, Scalar] = {variable: x}
    for node in reachable([value]):
        if node not in found:
            found[node] = x.graph.apply(node.op, *(found[a] for a in node.args)) if node.args else node
    return found[value] if isinstance(value, Expr) else value


def jvp(outputs: Sequence[Scalar], wrt: Sequence[Expr], tangents: Sequence[Scalar]) -> list[Scalar]:
    """Σ_j ∂outputs_i / ∂wrt_j · tangents_j by forward mode: how the outputs move when `wrt` moves along `tangents`."""
    seeds: dict[Expr, dict[int, Scalar]] = {}
    for node, tangent in zip(_variables(outputs, wrt), tangents, strict=True):
        total: Any = seeds.get(node, {}).get(0, 0.0)
        seeds[node] = {0: total + tangent}
    rows = _forward(outputs, seeds)
    return [rows[o].get(0, 0.0) if isinstance(o, Expr) and o in rows else 0.0 for o in outputs]


def vjp(outputs: Sequence[Scalar], adjoints: Sequence[Scalar], wrt: Sequence[Expr]) -> list[Scalar]:
    """Σ_i adjoints_i · ∂outputs_i / ∂wrt_j by reverse mode: what each of `wrt` contributes to the weighted outputs."""
    variables = set(_variables(outputs, wrt))
    total: dict[Expr, Any] = {}
    for output, adjoint in zip(outputs, adjoints, strict=True):
        if isinstance(output, Expr):
            total[output] = total.get(output, 0.0) + adjoint
    _reverse(_active(reachable(outputs), variables), variables, total)
    return [_clean(total.get(node, 0.0)) for node in wrt]


def gradient(output: Scalar, wrt: Sequence[Expr]) -> list[Scalar]:
    """∂output / ∂wrt_j by reverse mode, at a cost that does not grow with the number of variables."""
    return vjp([output], [1.0], wrt)


def _forward(outputs: Iterable[Scalar], seeds: dict[Expr, dict[int, Scalar]]) -> dict[Expr, dict[int, Scalar]]:
    """For each node, its tangent in every column where it is not zero by structure."""
    rows: dict[Expr, dict[int, Scalar]] = {}
    for node in reachable(outputs):
        if node in seeds:
            rows[node] = seeds[node]
            continue
        if node in node.graph.followers and (row := _following(node, seeds)):
            rows[node] = row
            continue
        moving = [k for k, a in enumerate(node.args) if a in rows]
        if not moving:
            continue
        partials = _partials(node)
        row = {}
        for column in sorted({c for k in moving for c in rows[node.args[k]]}):
            terms = [(partials[k], rows[node.args[k]][column]) for k in moving if column in rows[node.args[k]]]
            tangent = _weighted(terms)
            if not is_zero(tangent):
                row[column] = tangent
        if row:
            rows[node] = row
    return rows


def _following(node: Expr, seeds: dict[Expr, dict[int, Scalar]]) -> dict[int, Scalar]:
    """The tangent of an input that follows others, by the slopes it has."""
    variables, slopes = node.graph.followers[node]
    if not any(v in seeds for v in variables):
        return {}
    row: dict[int, Any] = {}
    for v, slope in zip(variables, slopes(), strict=True):
        for column, tangent in seeds.get(v, {}).items():
            row[column] = row.get(column, 0.0) + slope * tangent
    return {column: tangent for column, tangent in row.items() if not is_zero(tangent)}


def _reverse(nodes: list[Expr], variables: set[Expr], total: dict[Expr, Any]) -> None:
    """Hand the adjoint of each node down to its arguments, adding up in `total`; nodes that are not active get none."""
    active = set(nodes)
    for node in reversed(nodes):
        adjoint = total.get(node, 0.0)
        if node in variables or is_zero(adjoint):
            continue
        if node in node.graph.followers:
            arguments, partials = node.graph.followers[node]
            pairs: Any = [(v, slope) for v, slope in zip(arguments, partials(), strict=True) if v in variables]
        else:
            pairs = [(a, partial) for a, partial in zip(node.args, _partials(node), strict=True) if a in active]
        for a, partial in pairs:
            total[a] = total.get(a, 0.0) + _weighted([(partial, adjoint)])


def _active(nodes: Iterable[Expr], variables: set[Expr]) -> list[Expr]:
    active: dict[Expr, None] = {}
    for node in nodes:
        follower = node.graph.followers.get(node)
        if (
            node in variables
            or any(a in active for a in node.args)
            or (follower is not None and not variables.isdisjoint(follower.variables))
        ):
            active[node] = None
    return list(active)


def _partials(node: Expr) -> tuple[Partial, ...]:
    return DERIVATIVES[node.op](node, *(a.value if a.op == "const" else a for a in node.args))


def _weighted(terms: Sequence[tuple[Any, Any]]) -> Any:
    """Σ partial · tangent, with conditions outermost."""
    pivot = next((p.condition for p, _ in terms if isinstance(p, Choice)), None)
    if pivot is not None:
        return ops.where(pivot, _weighted(_given(pivot, terms, 1)), _weighted(_given(pivot, terms, 2)))
    total: Any = 0.0
    for partial, tangent in terms:
        total = total + partial * tangent
    return total


def _given(pivot: Scalar, terms: Sequence[tuple[Any, Any]], arm: int) -> list[tuple[Any, Any]]:
    """The terms once the condition is known: arm 1 is yes, arm 2 is no."""
    return [(p[arm] if isinstance(p, Choice) and p.condition is pivot else p, t) for p, t in terms]


def _variables(outputs: Iterable[Scalar], wrt: Sequence[Expr]) -> Sequence[Expr]:
    graphs = {o.graph for o in outputs if isinstance(o, Expr)}
    for node in wrt:
        if not isinstance(node, Expr):
            raise ExprError(f"wrt: {node!r} is a number; derivatives are taken with respect to nodes of the graph.")
        if graphs and node.graph not in graphs:
            raise ExprError("wrt: a scalar of another graph than the outputs' found. Trace both in one graph.")
    return wrt


def _clean(scalar: Scalar) -> Scalar:
    return 0.0 if is_zero(scalar) else scalar  # -0.0 included
