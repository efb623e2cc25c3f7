"""The torque along a path, in the parts that timing changes in different ways, as one compiled kernel.

Along q(s), with ṡ > 0 and primes for derivatives by s [Siciliano, Eq. 7.119-7.126]:

    τ = s̈ M q′ + ṡ² (M q″ + C(q, q′) q′) + g + friction(q, ṡ q′)                                        (1)

Friction is viscous and dry: friction(ṡ q′) = ṡ v + d, where d depends on the direction of q′ alone. Both follow from the law at
q′ and at 2 q′, so that any system that has a recipe for its friction will do:

    v = friction(2 q′) − friction(q′),    d = 2 friction(q′) − friction(2 q′)                            (2)

For laws with a Stribeck peak or smoothing this is the line through those two speeds; what is missing is found by verification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.graph_derivatives import friction_forces
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import FORCE, Output, Quantity, TreeRecipe
from ..dynamics.recipes_dynamics import inverse_dynamics
from ..dynamics.surroundings import DEFAULT, FREE
from ..dynamics.system import AS_IT_IS, AnySystem, Reading, Recipe, Request
from ..model.tree import Tree

INPUTS = ("q", "q1", "q2")
PARTS = ("inertia", "motion", "gravity", "viscous", "dry")


class PathTorques(NamedTuple):
    """Parts of (1), each of shape (..., n): what multiplies s̈ and ṡ², gravity, what multiplies ṡ, and dry friction."""

    inertia: FloatArray
    motion: FloatArray
    gravity: FloatArray
    viscous: FloatArray
    dry: FloatArray

    @property
    def still(self) -> FloatArray:
        """What a motion as slow as can be takes."""
        return self.gravity + self.dry

    def at(self, sd: Any, sdd: Any) -> FloatArray:
        """τ at rates of the path parameter, which broadcast against (..., n)."""
        found: FloatArray = self.inertia * sdd + (self.motion * sd + self.viscous) * sd + self.still
        return found


def _parts(torque: Any, friction: Any, q: Any, q1: Any, q2: Any) -> list[list[Any]]:
    """(1) and (2) out of functions of scalars: torque(q, qd, qdd) without friction, and friction(q, qd)."""
    rest = [0.0] * len(q)
    gravity = torque(q, rest, rest)
    inertia = [a - b for a, b in zip(torque(q, rest, q1), gravity, strict=True)]
    motion = [a - b for a, b in zip(torque(q, q1, q2), gravity, strict=True)]
    once, twice = friction(q, q1), friction(q, [2.0 * rate for rate in q1])
    viscous = [b - a for a, b in zip(once, twice, strict=True)]
    dry = [2.0 * a - b for a, b in zip(once, twice, strict=True)]
    return [inertia, motion, gravity, viscous, dry]


def parts_over_tree(tree: Tree) -> TreeRecipe:
    """The parts over the tree of a robot."""
    torque = inverse_dynamics(tree, DEFAULT, FREE, False).function

    def function(sweep: Any, q: Any, q1: Any, q2: Any) -> Any:
        return _parts(lambda *motion: torque(sweep, *motion), lambda _, qd: friction_forces(sweep, qd), q, q1, q2)

    return TreeRecipe(function, dict.fromkeys(INPUTS, (tree.n,)), PARTS, can_roll=False)


def friction_of(system: Any, reading: Reading) -> Callable[[Any, Any], Any]:
    """friction(q, qd) of any system that has a recipe for it."""
    law = system.recipe(Request("friction_torque"), reading)

    def friction(q: Any, qd: Any) -> Any:
        return law.function(*({"q": q, "qd": qd}[name] for name in law.inputs))

    return friction


def derived_parts(system: Any, *, reading: Reading = AS_IT_IS) -> Recipe:
    """The parts of any system that has recipes for its torque and its friction."""
    torque = system.recipe(Request("inverse_dynamics", (DEFAULT, FREE, False)), reading).function
    friction = friction_of(system, reading)

    def function(q: Any, q1: Any, q2: Any) -> Any:
        return _parts(torque, friction, q, q1, q2)

    return Recipe(function, dict.fromkeys(INPUTS, (len(system.coordinates),)), PARTS)


_RECORD = Quantity(
    "path_torques", tuple(Output(name, FORCE) for name in PARTS), parts_over_tree, derived=derived_parts, exported=False
)


def path_torques(system: AnySystem, q: Any, q1: Any, q2: Any, *, threads: int | None = None) -> PathTorques:
    """The parts at samples (..., n) of a path and of its first two derivatives."""
    return PathTorques(*map(np.asarray, engine.kernel(system, _RECORD)(q, q1, q2, threads=threads)))


__all__ = ["INPUTS", "PathTorques", "derived_parts", "friction_of", "parts_over_tree", "path_torques"]
