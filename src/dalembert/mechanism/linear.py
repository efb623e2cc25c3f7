"""Positions in closed form where all closures and coordinates are sums of joint positions, as in a parallelogram or a geared arm.

Then J is constant, and J x = [values; q] has one solution, x = A q + b, for every q: nothing is iterated, there are no branches,
and differentiation goes through it as through any other expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algorithms.position_rows import Positions, evaluated
from ..algorithms.sweep import Unrolled
from ..model.position_functions import JointSum, PositionFunction
from ..model.tree import Tree
from ..spatial.sparse_lu import Plan, factor


def is_linear(functions: Sequence[PositionFunction]) -> bool:
    """Whether all of these are sums of joint positions."""
    return all(isinstance(function, JointSum) for function in functions)


def positions(tree: Tree, functions: Sequence[PositionFunction], plan: Plan, goal: Sequence[Any]) -> list[Any]:
    """x = A q + b, the positions at which these sums have the goal's values."""
    at_zero = [evaluated(Positions(Unrolled(tree), [0.0] * tree.n), function) for function in functions]
    left = [wanted - value.value for wanted, value in zip(goal, at_zero, strict=True)]
    return factor([value.row for value in at_zero], plan).solve(left)


__all__ = ["is_linear", "positions"]
