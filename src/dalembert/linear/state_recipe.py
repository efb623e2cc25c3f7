"""A and B of the linear model, written whole by one kernel.

With τ(q, q̇, q̈) the generalised load of inverse dynamics, Q(q, q̇, w) what else acts, and τ + Q = τ(q, q̇, q̈) along the motion,

    δq̈ = −M⁻¹ (∂τ/∂q − ∂Q/∂q) δq − M⁻¹ (∂τ/∂q̇ − ∂Q/∂q̇) δq̇ + M⁻¹ δτ + M⁻¹ ∂Q/∂w δw           (1)  [Freeman, Eq. 2-225 to 2-227]

which is the lower half of A and B; the upper one is δq̇ = δq̇. The motion is given by its accelerations, or by the drives' forces;
the other of the two is the third result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms.graph_derivatives import minus_solved
from ..dynamics import sizes
from ..dynamics.quantity import Composed, Output, Quantity, TreeRecipe
from ..dynamics.surroundings import check_inverse
from ..dynamics.system import AS_IT_IS, Reading, Recipe, Request
from ..model.tree import Tree
from ..spatial import ldl
from ..spatial.nested import dot, transposed
from .acting_loads import NOTHING, Acting, ActingForces, Ask, Matrix, Scalars, forces_of
from .load_slopes import ask_system, ask_tree, composed_matrices

OUTPUTS = ["A", "B", "other"]


def _inputs(n: int, by_acceleration: bool, acting: Acting) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(("q", "qd", "qdd" if by_acceleration else "tau"), (n,)) | acting.inputs


def _over_tree(tree: Tree, by_acceleration: bool = True, acting: Acting = NOTHING) -> TreeRecipe:
    check_inverse(tree)

    def function(sweep: Any, *given: Any) -> Any:
        return _matrices(ask_tree(tree, sweep), by_acceleration, acting, given)

    return TreeRecipe(function, _inputs(tree.n, by_acceleration, acting), OUTPUTS, can_roll=False)


def _derived(system: Any, by_acceleration: bool = True, acting: Acting = NOTHING, *, reading: Reading = AS_IT_IS) -> Recipe:
    ask, n = ask_system(system, reading), len(system.coordinates)
    return Recipe(lambda *given: _matrices(ask, by_acceleration, acting, given), _inputs(n, by_acceleration, acting), OUTPUTS)


def _matrices(ask: Ask, by_acceleration: bool, acting: Acting, given: Sequence[Any]) -> Any:
    q, qd, third, *wrenches = given
    forces = forces_of(ask, acting, q, qd, wrenches)
    lower, B, other = (_from_acceleration if by_acceleration else _from_torque)(ask, forces, q, qd, third)
    n = len(q)
    unit = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    A = [[*[0.0] * n, *row] for row in unit] + [[_positive_zero(x) for x in row] for row in lower]
    return A, [[0.0] * len(B[0]) for _ in range(n)] + B, other


def _positive_zero(x: Any) -> Any:
    """A constant zero without its sign, which would only show when it is printed."""
    return 0.0 if isinstance(x, float) and x == 0.0 else x


def _from_acceleration(ask: Ask, forces: ActingForces | None, q: Any, qd: Any, qdd: Any) -> tuple[Matrix, Matrix, Scalars]:
    """The lower rows of A and B by (1), and τ."""
    by_q, by_qd, M = ask(Request("inverse_derivatives"))(q, qd, qdd)
    tau = ask(Request("inverse_dynamics"))(q, qd, qdd)
    if forces is not None:
        by_q, by_qd, tau = _less(by_q, forces.by_q), _less(by_qd, forces.by_qd), _less([tau], [forces.values])[0]
    factors = ldl.factor(M)
    lower = _beside(minus_solved(factors, by_q), minus_solved(factors, by_qd))
    B = ldl.inverse(factors)
    if forces is not None and forces.by_wrench[0]:
        B = _beside(B, minus_solved(factors, [[-x for x in row] for row in forces.by_wrench]))
    return lower, B, tau


def _from_torque(ask: Ask, forces: ActingForces | None, q: Any, qd: Any, tau: Any) -> tuple[Matrix, Matrix, Scalars]:
    """The same, and q̈."""
    total = tau if forces is None else [a + b for a, b in zip(tau, forces.values, strict=True)]
    qdd = ask(Request("forward_dynamics"))(q, qd, total)
    by_q, by_qd, B = ask(Request("forward_derivatives"))(q, qd, total)
    if forces is None:
        return _beside(by_q, by_qd), B, qdd
    more_q, more_qd, by_wrench = (_times(B, slopes) for slopes in forces[1:])
    return _beside(_sum(by_q, more_q), _sum(by_qd, more_qd)), _beside(B, by_wrench), qdd


def _times(A: Matrix, X: Matrix) -> Matrix:
    columns = transposed(X) if X[0] else []
    return [[dot(row, column) for column in columns] for row in A]


def _less(A: Matrix, X: Matrix) -> Matrix:
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(A, X, strict=True)]


def _sum(A: Matrix, X: Matrix) -> Matrix:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(A, X, strict=True)]


def _beside(A: Matrix, X: Matrix) -> Matrix:
    return [[*a, *b] for a, b in zip(A, X, strict=True)]


def _is_large(tree: Tree) -> bool:
    return tree.triples > sizes.DERIVATIVE_TRIPLES


STATE_MATRICES = Quantity(
    "state_matrices",
    tuple(Output(name) for name in OUTPUTS),
    _over_tree,
    derived=_derived,
    composed=Composed(_is_large, composed_matrices),
    exported=False,
)

__all__ = ["STATE_MATRICES"]
