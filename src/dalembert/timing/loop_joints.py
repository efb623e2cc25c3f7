"""Joints of a mechanism whose dry friction jumps where they turn round, those within loops too that are no coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..checks import FloatArray
from ..dynamics import engine
from ..mechanism.joint_motion import joint_path
from ..model.tree import Law
from ..trajectory.motion import Rates

JointRates = Callable[[Rates], tuple[FloatArray, FloatArray]]
"""x′ and x″ of joints (..., k) at places of a path (..., n)."""


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
        _, x1, x2 = joint_path(system, path, threads, which)
        return x1, x2

    return rates


__all__ = ["JointRates", "jumping_laws", "rubbing_rates"]
