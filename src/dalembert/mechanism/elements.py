"""Springs and dampers inside a mechanism: what they change in the recipes of its tree."""

from __future__ import annotations

from typing import Any

from ..algorithms import applied_loads
from ..algorithms.sweep import Unrolled
from ..dynamics.recipes_forces import PARTS, elements_of
from ..dynamics.robot_system import RobotSystem
from ..dynamics.system import Reading, Recipe, Request
from .assembled import Assembled


def with_elements(mechanism: Assembled, request: Request, reading: Reading) -> Recipe:
    """The recipe of the tree with the forces and the energy of its springs and dampers."""
    inner = RobotSystem(mechanism.robot).recipe(request, reading)
    change = _CHANGES.get(str(request.quantity))
    if change is None or not (mechanism.springs or mechanism.dampers):
        return inner
    return change(mechanism, inner, request.options)


def _torque(mechanism: Assembled, x: Any, xd: Any, *, springs: bool, dampers: bool) -> list[Any]:
    """The joint torques that the elements exert."""
    found = elements_of(mechanism.tree, mechanism.springs if springs else (), mechanism.dampers if dampers else ())
    return applied_loads.applied(Unrolled(mechanism.tree), x, xd, (), *found, gravity=False)


def _less(tau: Any, exerted: list[Any]) -> list[Any]:
    return [a - b for a, b in zip(tau, exerted, strict=True)]


def _inverse_dynamics(mechanism: Assembled, inner: Recipe, options: Any) -> Recipe:
    """The drives need not do what springs do; dampers count as friction."""
    with_friction = bool(options[2])

    def function(x: Any, xd: Any, xdd: Any, *extra: Any) -> Any:
        exerted = _torque(mechanism, x, xd, springs=True, dampers=with_friction)
        return _less(inner.function(x, xd, xdd, *extra), exerted)

    return inner._replace(function=function)


def _friction(mechanism: Assembled, inner: Recipe, options: Any) -> Recipe:
    def function(x: Any, xd: Any) -> Any:
        return _less(inner.function(xd), _torque(mechanism, x, xd, springs=False, dampers=True))

    return inner._replace(function=function, inputs={"q": inner.inputs["qd"], **inner.inputs})


def _energy(mechanism: Assembled, inner: Recipe, options: Any) -> Recipe:
    springs, _ = elements_of(mechanism.tree, mechanism.springs, ())

    def function(x: Any, xd: Any) -> Any:
        kinetic, potential = inner.function(x, xd)
        return kinetic, potential + applied_loads.stored_energy(Unrolled(mechanism.tree), x, springs)

    return inner._replace(function=function)


def _contributions(mechanism: Assembled, inner: Recipe, options: Any) -> Recipe:
    """Springs are among what acts from outside the links, dampers among friction."""
    friction, external = PARTS.index("friction"), PARTS.index("external")

    def function(x: Any, xd: Any, xdd: Any, *extra: Any) -> Any:
        parts = list(inner.function(x, xd, xdd, *extra))
        parts[friction] = _less(parts[friction], _torque(mechanism, x, xd, springs=False, dampers=True))
        parts[external] = _less(parts[external], _torque(mechanism, x, xd, springs=True, dampers=False))
        return parts

    return inner._replace(function=function)


_CHANGES = {
    "inverse_dynamics": _inverse_dynamics,
    "friction_torque": _friction,
    "energy": _energy,
    "contributions": _contributions,
}
