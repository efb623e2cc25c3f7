"""Programs with small summands left out: which terms of a graph matter on given samples, and the graph without the others.

At a sum a + b, leaving a out changes output i by −λ_i a to first order, λ_i = ∂output_i/∂(a + b) being its adjoint. Terms are
left out in the order of what they change per operation saved, while the sum of their changes, with signs, stays within the
budget on every sample. What remains is evaluated and looked at again; whoever calls measures the true error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..expr import Expr, Graph, Program, interpret
from ..expr.differentiate import DERIVATIVES, Choice
from ..expr.rewrite import apply_passes

_ROUNDS = 6
_COSTS = {"const": 0, "input": 0, "neg": 0, "sin": 10, "cos": 10, "div": 4, "sqrt": 4}  # others 1


class DroppedTerm(NamedTuple):
    """A summand that was left out: the inputs it depends on, the output it changes most, and by how much of its scale."""

    inputs: frozenset[str]
    output: int
    change: float


@dataclass(frozen=True, eq=False)
class Samples:
    """Inputs of a program, of shape (s, n) each, its exact output, shape (s, m), and what errors are measured by, shape (m,)."""

    inputs: tuple[FloatArray, ...]
    exact: FloatArray
    scale: FloatArray

    def errors(self, found: FloatArray) -> FloatArray:
        """The largest error of each output, relative to its scale."""
        return np.abs(found - self.exact).max(axis=0, initial=0.0) / self.scale

    def joined(self, other: Samples) -> Samples:
        """These and more."""
        inputs = tuple(np.concatenate(pair) for pair in zip(self.inputs, other.inputs, strict=True))
        return Samples(inputs, np.concatenate([self.exact, other.exact]), self.scale)

    def error(self, program: Program) -> float:
        """The largest error of a program."""
        return float(self.errors(run(program, self.inputs)).max(initial=0.0))


_CHUNK = 2048  # rows evaluated at once: the values of all nodes are held


def run(program: Program, inputs: Sequence[FloatArray]) -> FloatArray:
    """The first output of a program on samples, a piece at a time."""
    count = len(inputs[0])
    pieces = [interpret.run(program, *(x[k : k + _CHUNK] for x in inputs))[0] for k in range(0, count, _CHUNK)]
    return np.concatenate(pieces)


def pruned(program: Program, samples: Samples, budget: float) -> tuple[Program, list[DroppedTerm]]:
    """The program with summands left out, and which; the first-order error on the samples stays within the budget."""
    dropped: list[DroppedTerm] = []
    for _ in range(_ROUNDS):
        chosen, terms = _choice(program, samples, budget)
        if not chosen:
            break
        program = apply_passes(_without(program, chosen), ["dead_code"])
        dropped += terms
    return program, dropped


Place = tuple[Expr, int]  # a sum, and which of its arguments


def _choice(program: Program, samples: Samples, budget: float) -> tuple[set[Place], list[DroppedTerm]]:
    """The summands to leave out, the cheapest per operation saved first."""
    values = _values(program, samples.inputs)
    adjoints = _adjoints(program, values, samples)
    users = Counter(a for node in program.nodes for a in node.args)
    kept_alive = {s for s in program.results[0] if isinstance(s, Expr)}
    candidates = [c for c in _candidates(program, values, adjoints) if c.size <= budget]
    cones = {c.place: _cone(c.place[0].args[c.place[1]], users, kept_alive) for c in candidates}
    candidates.sort(key=lambda c: c.size / (1 + sum(_COSTS.get(n.op, 1) for n in cones[c.place])))
    depends = _dependence(program)
    error = (_outputs(program, values, samples) - samples.exact).T / samples.scale[:, None]
    chosen: set[Place] = set()
    gone: set[Expr] = set()
    terms = []
    for c in candidates:
        if c.place[0] in gone or (c.place[0], 1 - c.place[1]) in chosen:
            continue
        after = error + c.change
        if np.abs(after).max(initial=0.0) > budget:
            continue
        error = after
        chosen.add(c.place)
        gone |= cones[c.place]
        terms.append(DroppedTerm(depends[c.place[0].args[c.place[1]]], int(np.abs(c.change).max(axis=1).argmax()), c.size))
    return chosen, terms


class _Candidate(NamedTuple):
    place: Place
    change: FloatArray  # of the outputs, relative to their scales, shape (m, s)
    size: float


def _candidates(program: Program, values: Mapping[int, Any], adjoints: Mapping[Expr, FloatArray]) -> list[_Candidate]:
    found = []
    for node in program.nodes:
        if node.op not in ("add", "sub") or node not in adjoints:
            continue
        for k, a in enumerate(node.args):
            sign = 1.0 if node.op == "sub" and k == 1 else -1.0
            change = adjoints[node] * (sign * values[a.index])
            found.append(_Candidate((node, k), change, float(np.abs(change).max(initial=0.0))))
    return found


def _values(program: Program, inputs: Sequence[FloatArray]) -> dict[int, Any]:
    columns = {
        node.index: array[:, k] for entry, array in zip(program.entries, inputs, strict=True) for k, node in enumerate(entry)
    }
    return interpret.evaluate(program.nodes, columns)


def _outputs(program: Program, values: Mapping[int, Any], samples: Samples) -> FloatArray:
    columns = [values[s.index] if isinstance(s, Expr) else s for s in program.results[0]]
    return np.stack([np.broadcast_to(c, samples.exact.shape[:1]) for c in columns], axis=-1)


def _adjoints(program: Program, values: Mapping[int, Any], samples: Samples) -> dict[Expr, FloatArray]:
    """∂outputs/∂node, relative to the outputs' scales, shape (m, s)."""
    count, width = samples.exact.shape
    adjoints: dict[Expr, Any] = {}
    for i, scalar in enumerate(program.results[0]):
        if isinstance(scalar, Expr):
            unit = np.zeros((width, count))
            unit[i] = 1.0 / samples.scale[i]
            adjoints[scalar] = adjoints.get(scalar, 0.0) + unit
    with np.errstate(all="ignore"):
        for node in reversed(program.nodes):
            if node in adjoints and node.args:
                partials = DERIVATIVES[node.op](values[node.index], *(values[a.index] for a in node.args))
                for a, partial in zip(node.args, partials, strict=True):
                    adjoints[a] = adjoints.get(a, 0.0) + adjoints[node] * _number(partial)
    return adjoints


def _number(partial: Any) -> Any:
    """A partial derivative as numbers."""
    if isinstance(partial, Choice):
        condition: Any = partial.condition
        return np.where(np.not_equal(condition, 0.0), _number(partial.yes), _number(partial.no))
    return partial


def _cone(node: Expr, users: Counter[Expr], kept_alive: set[Expr]) -> set[Expr]:
    """The nodes that nothing needs any more when one user of this node is gone."""
    left: Counter[Expr] = Counter()
    cone: set[Expr] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        left[current] += 1
        if left[current] == users[current] and current not in kept_alive and current.args:
            cone.add(current)
            stack.extend(current.args)
    return cone


def _dependence(program: Program) -> dict[Expr, frozenset[str]]:
    """The names of the inputs each node is computed from."""
    names: dict[Expr, frozenset[str]] = {
        node: frozenset((slot.name,)) for slot, entry in zip(program.inputs, program.entries, strict=True) for node in entry
    }
    for node in program.nodes:
        if node not in names:
            names[node] = frozenset().union(*(names[a] for a in node.args))
    return names


def _without(program: Program, places: set[Place]) -> Program:
    """The program with some summands replaced by nothing."""
    graph = Graph()
    new: dict[Expr, Any] = {node: graph.input(node.value) for entry in program.entries for node in entry}
    for node in program.nodes:
        if node.op == "const":
            new[node] = node.value
        elif node.op != "input":
            args = [0.0 if (node, k) in places else new[a] for k, a in enumerate(node.args)]
            new[node] = graph.apply(node.op, *args)
    entries = tuple(tuple(new[node] for node in entry) for entry in program.entries)
    results = tuple(tuple(new[s] if isinstance(s, Expr) else s for s in result) for result in program.results)
    return Program(program.name, graph, program.inputs, entries, program.outputs, results)
