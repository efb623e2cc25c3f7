"""Power by cause: what drives, gravity, springs and friction do to a moving system.

With E the sum of kinetic and potential energy, T its kinetic part, and every power counted as what it adds to the motion,

    dT/dt = P_motors + P_gravity + P_springs + P_viscous + P_dry + P_dampers + P_external        (1)
    dE/dt = P_motors + P_viscous + P_dry + P_dampers + P_external                                (2)

Closures, rigid joints and the Coriolis terms do no work [theory: simulation]. Power does not depend on coordinates: that of a
mechanism is taken where its tree moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.energy import energy as tree_energy
from ..algorithms.joint import friction
from ..algorithms.newton_euler_recursion import inverse_dynamics, still_base
from ..algorithms.regressor import STANDARD, columns, with_parameters
from ..algorithms.sweep import Unrolled
from ..brief import brief
from ..checks import FloatArray
from ..dynamics import Energy, applied_torque, energy, engine, friction_torque, gravity_torque
from ..dynamics.quantity import Output, Quantity, TreeRecipe, plain
from ..dynamics.system import AnySystem, Request
from ..model.tree import Tree
from ..spatial.nested import dot
from .applied import Applied

CAUSES = {
    "motors": "motors",
    "gravity": "gravity",
    "springs": "springs",
    "viscous": "viscous friction",
    "dry": "dry friction",
    "dampers": "dampers",
    "external": "wrenches",
}
"""The causes by field, in words."""


@dataclass(frozen=True, eq=False)
class PowerFlow:
    """Power by cause along a motion [W], each of shape (..., K): positive where it speeds the motion up.

    Attributes
    ----------
    motors : ndarray
        τ · q̇ of the joint torques.
    gravity, springs : ndarray
        Taken from the potential energy.
    viscous, dry : ndarray
        Of joint friction: what is proportional to the velocity, and the rest (Coulomb, Stribeck).
    dampers : ndarray
        Of dampers inside a mechanism.
    external : ndarray
        Of the wrenches that the surroundings exert.
    """

    motors: FloatArray
    gravity: FloatArray
    springs: FloatArray
    viscous: FloatArray
    dry: FloatArray
    dampers: FloatArray
    external: FloatArray

    def __repr__(self) -> str:
        return brief(self)

    @property
    def friction(self) -> FloatArray:
        """All friction together."""
        return self.viscous + self.dry + self.dampers

    @property
    def energy_rate(self) -> FloatArray:
        """dE/dt of kinetic and potential energy together, Eq. (2)."""
        return self.motors + self.friction + self.external

    @property
    def kinetic_rate(self) -> FloatArray:
        """dT/dt, Eq. (1)."""
        return self.energy_rate + self.gravity + self.springs

    @property
    def by_cause(self) -> dict[str, FloatArray]:
        """The causes that act, by their names in words."""
        found = {CAUSES[field.name]: getattr(self, field.name) for field in fields(self)}
        return {name: values for name, values in found.items() if np.any(np.nan_to_num(values) != 0.0)}  # NaN: after its end


def _powers(sweep: Unrolled, q: Any, qd: Any) -> tuple[Any, Any, Any]:
    """Power of weights, of viscous and of dry friction, over the joints of the tree."""
    rates = sweep.expand(qd, rate=True)
    at_rest = [0.0] * sweep.tree.n
    weights = inverse_dynamics(sweep, q, at_rest, at_rest, still_base(sweep.tree.gravity), with_friction=False)
    viscous = sweep.local(lambda s, rate: 0.0 if s.friction is None else rate * rate * -s.friction.viscous, rates)
    whole = sweep.local(lambda s, rate: friction(s.friction, rate) * -rate, rates)
    return -dot(weights, qd), sweep.total(viscous), sweep.total(whole)


_NAMES = ("gravity", "viscous", "friction")
POWERS = Quantity(
    "power_flow",
    tuple(Output(name, unit="W") for name in _NAMES),
    plain(_powers, "q", "qd", outputs=_NAMES, can_roll=False),
    exported=False,
)


def _with_parameters(function: Callable[..., Any], names: Sequence[str]) -> Callable[[Tree], TreeRecipe]:
    """The recipe of a function of q and q̇ over a tree whose dynamic parameters are a further input."""

    def over_tree(tree: Tree) -> TreeRecipe:
        def own(sweep: Unrolled, q: Any, qd: Any, phi: Any) -> Any:
            return function(Unrolled(with_parameters(sweep.tree, phi)), q, qd)

        inputs = dict.fromkeys(("q", "qd"), (tree.n,)) | {"parameters": (len(columns(tree, STANDARD)),)}
        return TreeRecipe(own, inputs, names, can_roll=False, regroup=False)

    return over_tree


_ENERGIES = ("kinetic", "potential")
POWERS_WITH = Quantity("power_flow_with", POWERS.outputs, _with_parameters(_powers, _NAMES), exported=False)
ENERGY_WITH = Quantity(
    "energy_with", tuple(Output(name, unit="J") for name in _ENERGIES), _with_parameters(tree_energy, _ENERGIES), exported=False
)


class MovingStates(NamedTuple):
    """What moves, and its states (..., N): a robot, or the tree of a mechanism, whose loops do no work."""

    system: AnySystem
    q: FloatArray
    qd: FloatArray


def energy_along(moving: MovingStates, parameters: FloatArray | None) -> Energy:
    """Kinetic and potential energy at states, with parameters (..., p) in the place of the model's own, if any."""
    system, q, qd = moving
    if parameters is None:
        return energy(system, q, qd)
    bare = _without_elements(system)
    kinetic, potential = engine.kernel(bare, ENERGY_WITH)(q, qd, parameters)
    if bare is not system:  # what springs store is no matter of parameters
        potential = potential + energy(system, q, qd).potential - energy(bare, q, qd).potential
    return Energy(kinetic, potential)


def _without_elements(system: Any) -> Any:
    """The system without springs and dampers, whose dynamic parameters are all that is in it."""
    if not has_elements(system):
        return system
    return engine.kept(system, Request("without_elements"), lambda: system.replace(springs=(), dampers=()))


def power_flow(moving: MovingStates, motors: FloatArray, acting: Applied) -> PowerFlow:
    """The power of each cause at states and under what acts there, that of the motors being known."""
    system, q, qd = moving
    if acting.parameters is None:
        gravity, viscous, joints = engine.kernel(system, POWERS)(q, qd)
    else:
        gravity, viscous, joints = engine.kernel(_without_elements(system), POWERS_WITH)(q, qd, acting.parameters)
    springs, dampers = _of_elements(moving) if has_elements(system) else np.zeros((2, *gravity.shape))
    pushed = applied_torque(system, q, wrenches=dict(acting.wrenches.items())) if acting.wrenches else np.zeros_like(q)
    return PowerFlow(motors, gravity, springs, viscous, joints - viscous, dampers, product(pushed, qd))


def _of_elements(moving: MovingStates) -> list[FloatArray]:
    """The power of springs and of dampers: what torques of the whole system have more than those of its links and joints."""
    system, q, qd = moving
    both = system, _without_elements(system)
    stored, lost = [gravity_torque(each, q) for each in both], [friction_torque(each, qd, q=q) for each in both]
    return [product(without - whole, qd) for whole, without in (stored, lost)]


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Of forces and velocities (..., n), the power."""
    found: FloatArray = np.einsum("...i,...i->...", a, b)
    return found


def has_elements(system: Any) -> bool:
    """Whether springs or dampers act inside."""
    return bool(getattr(system, "springs", ()) or getattr(system, "dampers", ()))


__all__ = ["CAUSES", "MovingStates", "PowerFlow", "energy_along", "has_elements", "power_flow", "product"]
