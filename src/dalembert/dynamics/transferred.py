"""A system in other coordinates: q = φ(u) put in place of the coordinates of another system.

With G = ∂φ/∂u the rates are q̇ = G u̇ and q̈ = G ü + Ġ u̇, and virtual work gives the rest [Freeman, Eq. 3-33 to 3-36]: forces are
Gᵀ τ, the mass matrix is Gᵀ M G, a Jacobian J G, a regressor Gᵀ Y. Each quantity's record names the rule of its results. What
follows no such rule is derived from quantities in the new coordinates (derived.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ..algorithms.regressor import Options
from ..expr.differentiate import jacobian, jvp
from ..model.tree import Tree
from ..spatial import Matrix
from ..spatial.nested import dot, sum_of, transposed
from .quantities import QUANTITIES
from .quantity import COLUMNS, FORCE, MATRIX, ROWS, SAME, record_of
from .recipes_kinematics import STATES
from .system import AS_IT_IS, Coordinate, Reading, Recipe, Request, TreeSystem


class Transferred:
    """A system whose coordinates u give those of another by q = φ(u); φ takes and returns lists of scalars."""

    def __init__(
        self,
        inner: TreeSystem,
        coordinates: Sequence[Coordinate],
        positions: Callable[[Any], Sequence[Any]],
        name: str | None = None,
    ) -> None:
        self.inner = inner
        self.coordinates = tuple(coordinates)
        self.positions = positions
        self.name = inner.name if name is None else name

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Kernels in these coordinates."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """A copy compiles its own kernels, or finds their code on disk."""
        return {key: value for key, value in self.__dict__.items() if key != "kernels"}

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(coordinate.name for coordinate in self.coordinates)

    def parameter_names(self, options: Options) -> list[str]:
        """Names of the dynamic parameters, those of the system beneath."""
        return self.inner.parameter_names(options)

    @property
    def tree(self) -> Tree:
        """The tree of links beneath."""
        return self.inner.tree

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of a quantity in these coordinates."""
        record = record_of(request, QUANTITIES)
        if record.derived is not None:
            return record.derived(self, *request.options, reading=reading)
        return self.mapped(request, reading)

    def mapped(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of the system beneath at the state that u, u̇, ü mean, its results changed by their rules."""
        record, inner = record_of(request, QUANTITIES), self.inner.recipe(request, reading)
        order = max((STATES.index(name) for name in inner.inputs if name in STATES), default=-1)
        states = STATES[: order + 1]
        inputs = dict.fromkeys(states, (self.n,)) | {name: shape for name, shape in inner.inputs.items() if name not in STATES}
        rules = [record.rule_of(name) for name in inner.outputs]

        def function(*given: Any) -> Any:
            values = dict(zip(inputs, given, strict=True))
            state, G = self._state([values[name] for name in states])
            results = inner.function(*({**values, **state}[name] for name in inner.inputs))
            if len(rules) == 1:
                return _RULES[rules[0]](results, G)
            return [_RULES[rule](result, G) for rule, result in zip(rules, results, strict=True)]

        return Recipe(function, inputs, inner.outputs)

    def _state(self, given: Sequence[Any]) -> tuple[dict[str, Any], Matrix]:
        """q and its rates, as many as of u are given, and G."""
        if not given:
            return {}, []
        u = given[0]
        q = list(self.positions(u))
        G = jacobian(q, u)
        found = [q]
        if len(given) > 1:
            found.append(_times(G, given[1]))
        if len(given) > 2:
            turning = jvp(found[1], u, given[1])
            found.append(sum_of(_times(G, given[2]), turning))
        if len(given) > 3:  # d/dt of q̈, with Ġ u̇ quadratic in u̇
            mixed = jvp(_times(G, given[2]), u, given[1])
            found.append(sum_of(_times(G, given[3]), mixed, mixed, mixed, jvp(turning, u, given[1])))
        return dict(zip(STATES, found, strict=False)), G


def _times(A: Matrix, x: Sequence[Any]) -> list[Any]:
    return [dot(row, x) for row in A]


def _force(x: Sequence[Any], G: Matrix) -> list[Any]:
    """Gᵀ x."""
    return [dot(column, x) for column in zip(*G, strict=True)]


def _columns(X: Matrix, G: Matrix) -> Matrix:
    """X G."""
    return [_force(row, G) for row in X]


def _rows(X: Matrix, G: Matrix) -> Matrix:
    """Gᵀ X."""
    return transposed([_force(column, G) for column in zip(*X, strict=True)])


_RULES: dict[str, Callable[[Any, Matrix], Any]] = {
    SAME: lambda x, G: x,
    FORCE: _force,
    MATRIX: lambda X, G: _rows(_columns(X, G), G),
    ROWS: _rows,
    COLUMNS: _columns,
}
