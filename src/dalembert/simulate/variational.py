"""One step of the variational midpoint rule, over scalars [theory: simulation, Eq. 5 to 8], [MarsdenWest2001, §1.5].

With q_m = q + ½ h v the momenta at both ends of a step are

    p  = M(q_m) v − ½ h f        (5)
    p' = M(q_m) v + ½ h f        (6)     f = ∂L/∂q (q_m, v) + τ − friction(v)

(5) is solved for the step's velocity v by v ← v − M(q_m)⁻¹ (M(q_m) v − ½ h f − p); then q' = q + h v, p' = p + h f.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..algorithms import energy
from ..algorithms.sweep import Unrolled
from ..dynamics import engine, sizes
from ..dynamics.quantity import Output, Quantity, plain
from ..dynamics.system import AS_IT_IS, AnySystem, Reading, Recipe, Request, System
from ..errors import ModelError
from ..expr import ops
from ..expr.differentiate import gradient
from ..spatial import ldl
from ..spatial.nested import dot

MOST_TURNS = 30.0
_ROUNDING = 4e-16  # a correction of that size relative to the velocity is none


def _slope(sweep: Unrolled, q: Any, v: Any) -> list[Any]:
    """∂L/∂q of the Lagrangian L = T − V, by reverse differentiation of the energies."""
    kinetic, potential = energy.energy(sweep, q, v)
    return list(gradient(kinetic - potential, q))


def _derived_slope(system: System, *, reading: Reading = AS_IT_IS) -> Recipe:
    """The same from the energies of any system."""
    energies = system.recipe(Request("energy"), reading)

    def function(q: Any, v: Any) -> list[Any]:
        kinetic, potential = energies.function(q, v)
        return list(gradient(kinetic - potential, q))

    return Recipe(function, energies.inputs, ["slope"])


SLOPE = Quantity("lagrangian_slope", (Output("slope"),), plain(_slope, "q", "qd", outputs=["slope"]), derived=_derived_slope)


class _Model(NamedTuple):
    """What a step needs of a system, as functions of scalars."""

    mass_matrix: Callable[..., Any]
    slope: Callable[..., Any]
    friction: Callable[[Any, Any], Any]


def _model(system: AnySystem) -> _Model:
    if (n := engine.size(system)) >= sizes.DENSE_FROM:
        raise ModelError(
            f"method: 'symplectic' serves up to {sizes.DENSE_FROM - 1} coordinates, but {system.name!r} has {n}. Try 'rk4'."
        )
    view = engine.system_of(system)
    view.recipe(engine.request_of("forward_dynamics"))  # refuses a mass matrix that has no inverse
    mass, slope, friction = (view.recipe(engine.request_of(what)) for what in ("mass_matrix", SLOPE, "friction_torque"))

    def friction_at(q: Any, v: Any) -> Any:
        return friction.function(*({"q": q, "qd": v}[name] for name in friction.inputs))

    return _Model(mass.function, slope.function, friction_at)


def iteration(system: AnySystem) -> Callable[..., list[Any]]:
    """Improve v; tell the force f, whether to go on, the size of the correction, and the number of turns so far.

    A trajectory that is done keeps what it has, while its neighbours go on.
    """
    model = _model(system)

    def improve(h: Any, middle: Any, v: Any, p: Any, tau: Any, force: Any, pending: Any, last: Any, turn: Any) -> list[Any]:
        M = model.mass_matrix(middle)
        f = [a + t - b for a, t, b in zip(model.slope(middle, v), tau, model.friction(middle, v), strict=True)]
        momentum = [dot(row, v) for row in M]
        residual = [a - 0.5 * h[0] * b - c for a, b, c in zip(momentum, f, p, strict=True)]
        correction = ldl.solve(M, residual)
        better = [a - b for a, b in zip(v, correction, strict=True)]
        size, scale = _largest(correction), _largest(better)
        smaller = ops.less(size, 0.5 * last[0])  # rounding alone makes no progress
        again = ops.less(_ROUNDING * scale, size) * smaller * ops.less(turn[0] + 1.0, MOST_TURNS) * pending[0]
        return [_chosen(pending[0], better, v), _chosen(pending[0], f, force), [again], [size], [turn[0] + 1.0]]

    return improve


def velocity(system: AnySystem) -> Callable[..., list[Any]]:
    """q̇ = M(q)⁻¹ p."""
    model = _model(system)
    return lambda q, p: [ldl.solve(model.mass_matrix(q), p)]


def _chosen(condition: Any, new: list[Any], old: list[Any]) -> list[Any]:
    return [ops.where(condition, a, b) for a, b in zip(new, old, strict=True)]


def _largest(scalars: list[Any]) -> Any:
    largest: Any = 0.0
    for x in scalars:
        largest = ops.maximum(largest, abs(x))
    return largest
