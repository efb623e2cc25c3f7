"""How the parts of the torque change along a path, by exact derivatives of the kernel of path_torques.

Primes are derivatives by s. Dry friction of a joint is constant between the places where it turns round; that of joints within a
loop reaches a coordinate through gear ratios that change, so that it has a rate too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import FORCE, Output, Quantity, TreeRecipe
from ..dynamics.system import AS_IT_IS, AnySystem, Reading, Recipe
from ..expr.differentiate import jvp
from ..model.tree import Tree
from .path_torques import INPUTS, derived_parts, parts_over_tree

RATES = ("inertia_rate", "motion_rate", "gravity_rate", "viscous_rate", "dry_rate")
_THIRD = (*INPUTS, "q3")


class PathTorqueRates(NamedTuple):
    """m′, c′, g′, v′ and d′ of τ = m s̈ + c ṡ² + v ṡ + d + g, each of shape (..., n)."""

    inertia: FloatArray
    motion: FloatArray
    gravity: FloatArray
    viscous: FloatArray
    dry: FloatArray


def _along(parts: Any, q: Any, q1: Any, q2: Any, q3: Any) -> list[list[Any]]:
    """The derivative of each part by s: q goes on with q′, q′ with q″, and q″ with q‴."""
    return [list(jvp(part, [*q, *q1, *q2], [*q1, *q2, *q3])) for part in parts]


def _over_tree(tree: Tree) -> TreeRecipe:
    inner = parts_over_tree(tree).function

    def function(sweep: Any, q: Any, q1: Any, q2: Any, q3: Any) -> Any:
        return _along(inner(sweep, q, q1, q2), q, q1, q2, q3)

    return TreeRecipe(function, dict.fromkeys(_THIRD, (tree.n,)), RATES, can_roll=False)


def _derived(system: Any, *, reading: Reading = AS_IT_IS) -> Recipe:
    inner = derived_parts(system, reading=reading).function

    def function(q: Any, q1: Any, q2: Any, q3: Any) -> Any:
        return _along(inner(q, q1, q2), q, q1, q2, q3)

    return Recipe(function, dict.fromkeys(_THIRD, (len(system.coordinates),)), RATES)


_RECORD = Quantity(
    "path_torque_rates", tuple(Output(name, FORCE) for name in RATES), _over_tree, derived=_derived, exported=False
)


def path_torque_rates(system: AnySystem, q: Any, q1: Any, q2: Any, q3: Any, *, threads: int | None = None) -> PathTorqueRates:
    """The rates at samples (..., n) of a path and of its first three derivatives."""
    return PathTorqueRates(*map(np.asarray, engine.kernel(system, _RECORD)(q, q1, q2, q3, threads=threads)))


__all__ = ["PathTorqueRates", "path_torque_rates"]
