"""Forces that act beside the drives as a kernel of their own, and the linear model of a large robot put together with it.

A large robot has no single kernel of its derivatives (dynamics/composed.py), so neither has its linear model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics.quantities import QUANTITIES
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.system import AS_IT_IS, Composition, Kernels, Reading, Recipe, Request, System
from ..model.tree import Tree
from .acting_loads import NOTHING, Acting, Ask, forces_of

FORCES = ["force", "by_q", "by_qd", "by_wrench"]


def ask_system(system: System, reading: Reading) -> Ask:
    """Recipes of a system, all options filled in."""

    def ask(request: Request) -> Any:
        record = QUANTITIES[request.quantity]
        options = (*request.options, *list(record.options.values())[len(request.options) :])
        return system.recipe(Request(request.quantity, options), reading).function

    return ask


def ask_tree(tree: Tree, sweep: Any) -> Ask:
    """The same over a tree."""

    def ask(request: Request) -> Any:
        function = QUANTITIES[request.quantity](tree, *request.options).function
        return lambda *given: function(sweep, *given)

    return ask


def _outputs(acting: Acting) -> list[str]:
    return FORCES if acting.anchors else FORCES[:3]


def _inputs(n: int, acting: Acting) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(("q", "qd"), (n,)) | acting.inputs


def _slopes(ask: Ask, acting: Acting, q: Any, qd: Any, *wrenches: Any) -> Any:
    found = forces_of(ask, acting, q, qd, wrenches)
    assert found is not None
    return found[: len(_outputs(acting))]


def _over_tree(tree: Tree, acting: Acting = NOTHING) -> TreeRecipe:
    def function(sweep: Any, *given: Any) -> Any:
        return _slopes(ask_tree(tree, sweep), acting, *given)

    return TreeRecipe(function, _inputs(tree.n, acting), _outputs(acting), can_roll=False, regroup=False)


def _derived(system: Any, acting: Acting = NOTHING, *, reading: Reading = AS_IT_IS) -> Recipe:
    ask = ask_system(system, reading)
    return Recipe(lambda *given: _slopes(ask, acting, *given), _inputs(len(system.coordinates), acting), _outputs(acting))


LOAD_SLOPES = Quantity("load_slopes", tuple(Output(name) for name in FORCES), _over_tree, derived=_derived, exported=False)


def composed_matrices(tree: Tree, source: Kernels, by_acceleration: bool = True, acting: Acting = NOTHING) -> Composition:
    """A, B and the other of τ and q̈, from kernels of the derivatives and of the loads."""
    n, width = tree.n, tree.n + 6 * len(acting.anchors)
    inverse, torque = source.kernel("inverse_derivatives"), source.kernel("inverse_dynamics")
    forward = source.kernel("forward_dynamics")
    slopes = None if acting == NOTHING else source.kernel(LOAD_SLOPES, acting)

    def function(q: Any, qd: Any, third: Any, *wrenches: Any) -> tuple[Any, ...]:
        force, *more = (0.0,) if slopes is None else slopes(q, qd, *wrenches)
        qdd = third if by_acceleration else forward(q, qd, third + force)
        other = torque(q, qd, qdd) - force if by_acceleration else qdd
        by_q, by_qd, M = inverse(q, qd, qdd)
        if more:
            by_q, by_qd = by_q - more[0], by_qd - more[1]
        A, B = np.zeros((*M.shape[:-2], 2 * n, 2 * n)), np.zeros((*M.shape[:-2], 2 * n, width))
        A[..., :n, n:] = np.eye(n)
        right = [-by_q, -by_qd, np.broadcast_to(np.eye(n), M.shape)]
        right += [np.broadcast_to(slope, (*M.shape[:-1], width - n)) for slope in more[2:]]
        solved = np.linalg.solve(M, np.concatenate(right, axis=-1))
        A[..., n:, :], B[..., n:, :] = solved[..., : 2 * n], solved[..., 2 * n :]
        return A, B, np.broadcast_to(other, (*M.shape[:-2], n))

    return Composition(function, [(2 * n, 2 * n), (2 * n, width), (n,)])


__all__ = ["LOAD_SLOPES", "ask_system", "ask_tree", "composed_matrices"]
