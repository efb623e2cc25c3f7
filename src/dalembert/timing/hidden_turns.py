"""Where joints turn round that are no coordinates, as those within loops: their dry friction jumps there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.system import AS_IT_IS, Reading, Recipe
from ..errors import ModelError
from ..model.tree import Law, Tree
from ..trajectory.motion import Rates

INPUTS = ("q", "q1", "q2")
RATES = ("rates", "accelerations")

JointRates = Callable[[Rates], tuple[FloatArray, FloatArray]]
"""x′ and x″ of joints (..., k) at places of a path (..., n)."""


def _refused(tree: Tree) -> TreeRecipe:
    raise ModelError(f"joint rates: {tree.name!r} has no joints beside its coordinates.")


def _derived(system: Any, *, reading: Reading = AS_IT_IS) -> Recipe:
    def function(q: Any, q1: Any, q2: Any) -> Any:
        closed = system.state(q)
        return [closed.rates(q1), closed.accelerations(q1, q2)]

    return Recipe(function, dict.fromkeys(INPUTS, (system.n,)), RATES)


_RECORD = Quantity("joint_rates", tuple(Output(name) for name in RATES), _refused, derived=_derived, exported=False)


def joint_rates(system: Any, path: Rates, threads: int | None) -> tuple[FloatArray, FloatArray]:
    """x′ and x″ of all joints of a mechanism at places of a path (..., n)."""
    x1, x2 = (np.asarray(part) for part in engine.kernel(system, _RECORD)(*path[:3], threads=threads))
    return x1, x2


def jumping_laws(system: Any) -> dict[int, Law]:
    """The friction of the joints of a mechanism whose dry friction jumps, by their numbers."""
    view = engine.system_of(system)
    if not hasattr(view, "tree") or not hasattr(view, "state"):
        return {}
    laws = ((segment.coordinate, segment.friction) for segment in view.tree.segments)
    return {k: law for k, law in laws if law is not None and law.dry and not law.smooth}


def rubbing_rates(system: Any, threads: int | None = None) -> JointRates | None:
    """x′ and x″ of the joints of a mechanism whose dry friction jumps; None where there are none."""
    which = list(jumping_laws(system))
    if not which:
        return None

    def rates(path: Rates) -> tuple[FloatArray, FloatArray]:
        x1, x2 = joint_rates(system, path, threads)
        return x1[..., which], x2[..., which]

    return rates


__all__ = ["JointRates", "joint_rates", "jumping_laws", "rubbing_rates"]
