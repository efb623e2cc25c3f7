"""A system together with the inertia and damping of its motors, where the robot itself does not contain them.

With ω = T q̇ the motors add Tᵀ J T to the mass matrix and Tᵀ B T q̇ to the friction [Freeman, Eq. 2-236, 2-237]. For a coupled
drive train neither is diagonal, so no `Rotor` could stand for it. All else follows from these (dynamics/derived.py).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..dynamics.quantities import QUANTITIES
from ..dynamics.quantity import record_of
from ..dynamics.system import AS_IT_IS, Reading, Recipe, Request, System
from ..errors import ModelError
from ..model import DriveTrain
from ..spatial.nested import dot

_OF_PARAMETERS = ("regressor", "parameters", "forward_parameter_derivatives", "contributions", "terms")


class DrivenSystem:
    """A system whose motors have inertia and damping of their own."""

    def __init__(self, inner: System, train: DriveTrain) -> None:
        self.inner, self.train = inner, train
        self.name, self.coordinates = inner.name, tuple(inner.coordinates)
        self._inertia, self._damping = train.inertia.tolist(), train.damping.tolist()

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Those with the motors in them."""
        return {}

    @property
    def tree(self) -> Any:
        """The tree of links beneath, whose friction may jump."""
        return self.inner.tree  # type: ignore[attr-defined]

    def parameter_names(self, options: Any) -> list[str]:
        """Of the system beneath."""
        return self.inner.parameter_names(options)  # type: ignore[attr-defined]

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of a quantity: with what the motors add, derived from such ones, or that of the system beneath."""
        record = record_of(request, QUANTITIES)
        if record.name in _OF_PARAMETERS:
            raise ModelError(f"system {self.name!r}: {record.name} counts no motors of a drive train. Give the joints Rotors.")
        if record.name in ("inverse_dynamics", "mass_matrix", "friction_torque", "energy"):
            inner = self.inner.recipe(request, reading)._replace(way="straight", loops=None, composed=None)
            friction = record.name == "friction_torque" or (record.name == "inverse_dynamics" and request.options[2])
            return _ADDED[record.name](self, inner, friction)
        if record.derived is not None:
            return record.derived(self, *request.options, reading=reading)
        return self.inner.recipe(request, reading)

    def torques(self, inner: Recipe, friction: bool) -> Recipe:
        """Inverse dynamics, or friction alone, with that of the motors."""
        names = list(inner.inputs)

        def function(*given: Any) -> Any:
            state = dict(zip(names, given, strict=True))
            tau = inner.function(*given)
            if "qdd" in state:
                tau = [a + dot(row, state["qdd"]) for a, row in zip(tau, self._inertia, strict=True)]
            return [a + dot(row, state["qd"]) for a, row in zip(tau, self._damping, strict=True)] if friction else tau

        return inner._replace(function=function)

    def mass_matrix(self, inner: Recipe, _: bool) -> Recipe:
        """M + Tᵀ J T."""

        def function(*given: Any) -> Any:
            rows = zip(inner.function(*given), self._inertia, strict=True)
            return [[a + b for a, b in zip(*pair, strict=True)] for pair in rows]

        return inner._replace(function=function)

    def energy(self, inner: Recipe, _: bool) -> Recipe:
        """With the kinetic energy ½ q̇ᵀ Tᵀ J T q̇."""

        def function(q: Any, qd: Any) -> Any:
            kinetic, potential = inner.function(q, qd)
            return kinetic + 0.5 * dot(qd, [dot(row, qd) for row in self._inertia]), potential

        return inner._replace(function=function)


_ADDED = {
    "inverse_dynamics": DrivenSystem.torques,
    "friction_torque": DrivenSystem.torques,
    "mass_matrix": DrivenSystem.mass_matrix,
    "energy": DrivenSystem.energy,
}

__all__ = ["DrivenSystem"]
