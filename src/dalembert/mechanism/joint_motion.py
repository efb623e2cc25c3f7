"""Joints of a mechanism as it moves: all of them, those within loops too that are none of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import Output, Quantity, TreeRecipe
from ..dynamics.system import AS_IT_IS, Reading, Recipe
from ..errors import ModelError
from ..model import Joint
from ..model.tree import Tree

INPUTS = ("q", "q1", "q2")
RATES = ("positions", "rates", "accelerations")


def _refused(tree: Tree) -> TreeRecipe:
    raise ModelError(f"joint rates: {tree.name!r} has no joints beside its coordinates.")


def _derived(system: Any, *, reading: Reading = AS_IT_IS) -> Recipe:
    def function(q: Any, q1: Any, q2: Any) -> Any:
        closed = system.state(q)
        return [closed.x, closed.rates(q1), closed.accelerations(q1, q2)]

    return Recipe(function, dict.fromkeys(INPUTS, (system.n,)), RATES)


def _driven(system: Any, *, reading: Reading = AS_IT_IS) -> Recipe:
    driven = joint_numbers(system, system.actuated)

    def function(q: Any) -> Any:
        G = system.state(q).G
        return [G[joint] for joint in driven]

    return Recipe(function, {"q": (system.n,)}, ["rows"])


_RECORD = Quantity("joint_rates", tuple(Output(name) for name in RATES), _refused, derived=_derived, exported=False)


_ROWS = Quantity("driven_rows", (Output("rows"),), _refused, derived=_driven, exported=False)


class JointPath(NamedTuple):
    """x, x′ and x″ of joints (..., k) at places of a path."""

    x: FloatArray
    x1: FloatArray
    x2: FloatArray


def joint_path(system: Any, path: Sequence[FloatArray], threads: int | None, which: Any = slice(None)) -> JointPath:
    """Of all joints of a mechanism, or some by their numbers, at places of a path (..., n)."""
    found = engine.kernel(system, _RECORD)(*path[:3], threads=threads)
    return JointPath(*(np.asarray(part)[..., which] for part in found))


def driven_rows(system: Any, q: FloatArray, threads: int | None = None) -> FloatArray:
    """∂x/∂q of the driven joints at coordinates (..., n), shape (..., m, n)."""
    return np.asarray(engine.kernel(system, _ROWS)(q, threads=threads))


def other_drives(system: Any) -> tuple[str, ...]:
    """The driven joints of a mechanism where these are not just its coordinates; none where they are, or are too few."""
    names: tuple[str, ...] = tuple(system.actuated)
    own = tuple(coordinate.name for coordinate in system.coordinates)
    return names if system.closures and names != own and len(names) >= len(own) else ()


def loop_joints(system: Any) -> dict[int, Joint]:
    """The joints of a mechanism that are none of its coordinates, by their numbers; none of anything else."""
    view = engine.system_of(system)
    if not hasattr(view, "robot") or not hasattr(view, "state"):
        return {}
    chosen = {coordinate.name for coordinate in view.coordinates}
    return {k: joint for k, joint in enumerate(view.robot.structure.coordinates) if joint.name not in chosen}


def joint_numbers(system: Any, names: Iterable[str]) -> list[int]:
    """The numbers of joints of a mechanism by their names."""
    view: Any = engine.system_of(system)
    known = view.robot.joint_names
    return [known.index(name) for name in names]


__all__ = ["JointPath", "driven_rows", "joint_numbers", "joint_path", "loop_joints", "other_drives"]
