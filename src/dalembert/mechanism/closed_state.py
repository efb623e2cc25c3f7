"""The state of the tree that coordinates mean, as nodes of a graph: one factorisation, several solutions.

With closures c(x) = 0 and coordinates f(x) = q stacked as F(x), and J = ∂F/∂x,

    J ẋ = [0; q̇]                                                                                       (1)
    J ẍ = [0; q̈] − J̇ ẋ                                                                                 (2)
    Jᵀ w = τ                                                                                           (3)

where τ are the forces that the tree needs for its motion, and w are the multipliers of the closures, then the forces at the
coordinates [Freeman, Eq. 4-8 to 4-20]. The positions x are inputs of the graph, found before, or nodes (assembly_program.py);
their derivatives by q are the columns G of J⁻¹ that belong to the coordinates, and differentiation takes them, whatever x is
made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..algorithms.position_rows import Positions, evaluated
from ..algorithms.sweep import Unrolled
from ..expr.differentiate import jvp
from ..expr.graph import Expr, Graph
from ..model.position_functions import PositionFunction
from ..model.tree import Tree
from ..spatial import Matrix
from ..spatial.sparse_lu import Factors, Plan, factor

INPUT = "x"


class ClosedState:
    """The positions of a tree in one graph, and what follows from them."""

    def __init__(self, x: Sequence[Expr], tree: Tree, functions: Sequence[PositionFunction], plan: Plan, n: int) -> None:
        self.tree, self.functions, self.plan, self.n = tree, functions, plan, n
        self.x = list(x)
        self.closures = len(functions) - n
        self.values = [evaluated(Positions(Unrolled(tree), self.x), function) for function in functions]
        self.factors: Factors = factor([value.row for value in self.values], plan)
        self._G: Matrix | None = None
        self._rates: dict[tuple[Any, ...], list[Any]] = {}
        self._biases: dict[tuple[Any, ...], list[Any]] = {}

    def follow(self, graph: Graph, q: Sequence[Expr]) -> None:
        """Let derivatives by q go through the positions."""
        for k, node in enumerate(self.x):
            graph.follow(node, q, partial(self._slopes, k))

    def _slopes(self, k: int) -> list[Any]:
        return self.G[k]

    @property
    def G(self) -> Matrix:
        """∂x/∂q, one row per joint."""
        if self._G is None:
            units = [[float(i == k) for i in range(self.n)] for k in range(self.n)]
            columns = [self.factors.solve([0.0] * self.closures + unit) for unit in units]
            self._G = [list(row) for row in zip(*columns, strict=True)]
        return self._G

    def rates(self, qd: Sequence[Any]) -> list[Any]:
        """ẋ [(1)]."""
        key = tuple(qd)
        if key not in self._rates:
            self._rates[key] = self.factors.solve([0.0] * self.closures + list(qd))
        return self._rates[key]

    def accelerations(self, qd: Sequence[Any], qdd: Sequence[Any]) -> list[Any]:
        """ẍ [(2)]."""
        goal = [0.0] * self.closures + list(qdd)
        return self.factors.solve([a - b for a, b in zip(goal, self._bias(qd), strict=True)])

    def _bias(self, qd: Sequence[Any]) -> list[Any]:
        """J̇ ẋ."""
        key = tuple(qd)
        if key not in self._biases:
            at = Positions(Unrolled(self.tree), self.x, self.rates(qd))
            self._biases[key] = [evaluated(at, function).bias for function in self.functions]
        return self._biases[key]

    def jerks(self, q: Sequence[Any], qd: Sequence[Any], qdd: Sequence[Any], qddd: Sequence[Any]) -> list[Any]:
        """d³x/dt³ = G q⃛ + 3 Ġ q̈ + G̈ q̇ with q̈ = 0 in the last, derivatives of G being taken through the positions."""
        mixed = jvp(self.rates(qdd), list(q), list(qd))
        last = jvp(self.accelerations(qd, [0.0] * self.n), list(q), list(qd))
        return [a + b * 3.0 + c for a, b, c in zip(self.rates(qddd), mixed, last, strict=True)]

    def reactions(self, tau: Sequence[Any]) -> list[Any]:
        """w: multipliers of the closures, then forces at the coordinates [(3)]."""
        return self.factors.solve_transposed(tau, len(self.functions))

    def forces(self, tau: Sequence[Any]) -> list[Any]:
        """Gᵀ τ: the forces at the coordinates alone."""
        return self.reactions(tau)[self.closures :]


__all__ = ["INPUT", "ClosedState"]
