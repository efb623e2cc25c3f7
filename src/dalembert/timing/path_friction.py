"""Friction along a path at a given speed, and its tangents, where it is no line in the speed: smoothed, or with a Stribeck peak.

With φ(s, ż) the friction at the path speed z = ṡ, its tangent at a profile z₀(s) is one more viscous and one more dry part of
τ = m s̈ + c ṡ² + v ṡ + d + g,

    v = φ_z,    d = φ − φ_z z₀                                                                             (1)

As z₀ changes along the path by z₀′ = u₀ / z₀, so do these parts,

    v′ = φ_sz + φ_zz u₀ / z₀,    d′ = φ_s − v′ z₀                                                          (2)

so that v u + (v′ z + d′) z is the rate of friction at the profile, and its tangent in z and u.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algorithms.graph_derivatives import friction_forces
from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.quantity import FORCE, Output, Quantity, TreeRecipe
from ..dynamics.system import AS_IT_IS, AnySystem, Reading, Recipe
from ..expr.differentiate import jvp
from ..model.tree import Tree
from ..trajectory.motion import Rates
from .path_torque_rates import PathTorqueRates
from .path_torques import INPUTS, PathTorques, friction_of

OUTPUTS = ("value", "by_z", "by_s", "by_zz", "by_sz")


class PathFriction(NamedTuple):
    """φ and its derivatives by the speed and along the path, each of shape (..., n)."""

    value: FloatArray
    by_z: FloatArray
    by_s: FloatArray
    by_zz: FloatArray
    by_sz: FloatArray

    def widened(self, sharpness: float, line: PathTorques, viscous_rate: FloatArray | float, z: FloatArray) -> PathFriction:
        """φ(s, κ z) + (1 − κ) v z, of the friction at κ z and the viscous part v of a line: as it is where κ = 1."""
        if sharpness == 1.0:
            return self
        rest = 1.0 - sharpness
        return PathFriction(
            self.value + rest * line.viscous * z,
            sharpness * self.by_z + rest * line.viscous,
            self.by_s + rest * viscous_rate * z,
            sharpness**2 * self.by_zz,
            sharpness * self.by_sz + rest * viscous_rate,
        )

    def tangents(self, z: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """v, d, v′ and d′ of (1) and (2), of a profile that has ṡ = z and s̈ = u there, (..., 1)."""
        viscous_rate = self.by_sz + self.by_zz * u / z
        return self.by_z, self.value - self.by_z * z, viscous_rate, self.by_s - viscous_rate * z


def _derivatives(friction: Any, q: Any, q1: Any, q2: Any, z: Any) -> list[list[Any]]:
    """Out of a function of scalars friction(q, qd): along s, q goes on with q′ and q′ with q″."""
    speed = z[0]
    value = friction(q, [speed * rate for rate in q1])
    along = [*q, *q1], [*q1, *q2]
    by_z, by_s = jvp(value, [speed], [1.0]), jvp(value, *along)
    return [list(part) for part in (value, by_z, by_s, jvp(by_z, [speed], [1.0]), jvp(by_z, *along))]


def _over_tree(tree: Tree) -> TreeRecipe:
    def function(sweep: Any, q: Any, q1: Any, q2: Any, z: Any) -> Any:
        return _derivatives(lambda _, qd: friction_forces(sweep, qd), q, q1, q2, z)

    return TreeRecipe(function, dict.fromkeys(INPUTS, (tree.n,)) | {"z": (1,)}, OUTPUTS, can_roll=False)


def _derived(system: Any, *, reading: Reading = AS_IT_IS) -> Recipe:
    friction = friction_of(system, reading)

    def function(q: Any, q1: Any, q2: Any, z: Any) -> Any:
        return _derivatives(friction, q, q1, q2, z)

    return Recipe(function, dict.fromkeys(INPUTS, (len(system.coordinates),)) | {"z": (1,)}, OUTPUTS)


_RECORD = Quantity("path_friction", tuple(Output(name, FORCE) for name in OUTPUTS), _over_tree, derived=_derived, exported=False)


def path_friction(system: AnySystem, path: Rates, z: FloatArray, *, threads: int | None = None) -> PathFriction:
    """Friction at samples (..., n) of a path that is passed with ṡ = z, (..., 1)."""
    return PathFriction(*map(np.asarray, engine.kernel(system, _RECORD)(*path[:3], z, threads=threads)))


def with_tangents(
    parts: PathTorques, rates: PathTorqueRates | None, friction: PathFriction, z: FloatArray, u: FloatArray
) -> tuple[PathTorques, PathTorqueRates | None]:
    """The parts of torques, and of their rates if these are asked for, with friction as its tangent at a profile."""
    viscous, dry, viscous_rate, dry_rate = friction.tangents(z, u)
    parts = parts._replace(viscous=viscous, dry=dry)
    return parts, None if rates is None else rates._replace(viscous=viscous_rate, dry=dry_rate)


__all__ = ["PathFriction", "path_friction", "with_tangents"]
