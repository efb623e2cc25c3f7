"""Recipes from other recipes of the same system, by algebra and by differentiating the traced graph.

A robot has quicker ways over its tree. A system that has none answers with these: it needs recipes of inverse dynamics, mass
matrix, energy, friction, kinematics and regressor of its own, and the rest follows.
"""

from __future__ import annotations

from typing import Any

from ..algorithms import torque_parts
from ..algorithms.graph_derivatives import (
    along,
    christoffel_of,
    from_christoffel,
    mass_slopes,
    minus_solved,
    second_slopes,
    torque_along,
    with_acceleration,
)
from ..algorithms.graph_derivatives import energy_gradient as gradient_of
from ..algorithms.regressor import STANDARD, Options
from ..errors import ModelError
from ..expr.differentiate import jacobian as slopes_of
from ..spatial import ldl
from ..spatial.nested import transposed
from .recipes_kinematics import ORDERS
from .surroundings import DEFAULT, FREE, Forces
from .system import AS_IT_IS, MappedSystem, Reading, Recipe, Request, Shapes, System


def _size(system: System) -> int:
    return len(system.coordinates)


def _states(system: System, *names: str) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(names, (_size(system),))


def _others(inputs: Shapes) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in inputs.items() if name not in ("q", "qd", "qdd")}


def bias(system: System, formulation: str = DEFAULT, forces: Forces = FREE, *, reading: Reading = AS_IT_IS) -> Recipe:
    """h: inverse dynamics without acceleration and friction."""
    full = system.recipe(Request("inverse_dynamics", (formulation, forces, False)), reading)
    still = [0.0] * _size(system)
    inputs = _states(system, "q", "qd") | _others(full.inputs)
    return Recipe(lambda q, qd, *extra: full.function(q, qd, still, *extra), inputs, ["h"])


def gravity_torque(system: System, formulation: str = DEFAULT, forces: Forces = FREE, *, reading: Reading = AS_IT_IS) -> Recipe:
    """g: inverse dynamics at rest."""
    full = system.recipe(Request("inverse_dynamics", (formulation, forces, False)), reading)
    still = [0.0] * _size(system)
    inputs = _states(system, "q") | _others(full.inputs)
    return Recipe(lambda q, *extra: full.function(q, still, still, *extra), inputs, ["g"])


def forward_dynamics(system: System, forces: Forces = FREE, formulation: str = DEFAULT, *, reading: Reading = AS_IT_IS) -> Recipe:
    """q̈ = M⁻¹ (τ − h)."""
    full = system.recipe(Request("inverse_dynamics", (formulation, forces, True)), reading)
    matrix = system.recipe(Request("mass_matrix", (Forces(parameters=forces.parameters), formulation)), reading)
    still = [0.0] * _size(system)

    def function(q: Any, qd: Any, tau: Any, *extra: Any) -> Any:
        h = full.function(q, qd, still, *extra)
        M = matrix.function(q, *(extra[-1:] if forces.parameters else ()))
        return ldl.solve(M, [t - b for t, b in zip(tau, h, strict=True)])

    return Recipe(function, _states(system, "q", "qd", "tau") | _others(full.inputs), ["qdd"])


def _mass(system: System, reading: Reading, formulation: str = DEFAULT) -> Any:
    return system.recipe(Request("mass_matrix", (FREE, formulation)), reading).function


def _torque(system: System, reading: Reading) -> Any:
    return system.recipe(Request("inverse_dynamics", (DEFAULT, FREE, True)), reading).function


def christoffel(system: System, formulation: str = DEFAULT, *, reading: Reading = AS_IT_IS) -> Recipe:
    """c_ijk from ∂M/∂q."""
    mass = _mass(system, reading, formulation)
    return Recipe(lambda q: christoffel_of(mass_slopes(mass(q), q)), _states(system, "q"), ["c"])


def coriolis_matrix(system: System, formulation: str = DEFAULT, *, reading: Reading = AS_IT_IS) -> Recipe:
    """C_ij = Σ_k c_ijk q̇_k."""
    symbols = christoffel(system, formulation, reading=reading).function
    return Recipe(lambda q, qd: from_christoffel(symbols(q), qd), _states(system, "q", "qd"), ["C"])


def energy_gradient(system: System, *, reading: Reading = AS_IT_IS) -> Recipe:
    """∂T/∂q, ∂T/∂q̇, ∂U/∂q."""
    energy = system.recipe(Request("energy"), reading).function

    def function(q: Any, qd: Any) -> Any:
        kinetic, potential = energy(q, qd)
        return gradient_of(kinetic, potential, q, qd)

    return Recipe(function, _states(system, "q", "qd"), ["dkinetic_dq", "dkinetic_dqd", "dpotential_dq"])


def jacobian_dot(system: System, link: str | None = None, frame: str = "world", *, reading: Reading = AS_IT_IS) -> Recipe:
    """The time derivative of the Jacobian."""
    jacobian = system.recipe(Request("jacobian", (link, frame, False)), reading).function
    return Recipe(lambda q, qd: along(jacobian(q), q, qd), _states(system, "q", "qd"), ["Jdot"])


def inverse_derivatives(system: System, *, reading: Reading = AS_IT_IS) -> Recipe:
    """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M."""
    torque, mass, n = _torque(system, reading), _mass(system, reading), _size(system)

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        slopes = slopes_of(torque(q, qd, qdd), [*q, *qd])
        return [row[:n] for row in slopes], [row[n:] for row in slopes], mass(q)

    return Recipe(function, _states(system, "q", "qd", "qdd"), ["dtau_dq", "dtau_dqd", "dtau_dqdd"])


def torque_rate(system: System, *, reading: Reading = AS_IT_IS) -> Recipe:
    """dτ/dt: the change of the torque along q̇, q̈ and the jerk."""
    torque = _torque(system, reading)

    def function(q: Any, qd: Any, qdd: Any, qddd: Any) -> Any:
        return torque_along(torque(q, qd, qdd), q, qd, qdd, qddd)

    return Recipe(function, _states(system, "q", "qd", "qdd", "qddd"), ["tau_rate"])


def forward_derivatives(system: System, *, reading: Reading = AS_IT_IS) -> Recipe:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = −M⁻¹ ∂τ/∂q̇, ∂q̈/∂τ = M⁻¹, at the acceleration that τ causes."""
    torque, mass, n = _torque(system, reading), _mass(system, reading), _size(system)
    forward = system.recipe(Request("forward_dynamics", (FREE, DEFAULT)), reading).function

    def function(q: Any, qd: Any, tau: Any) -> Any:
        slopes = slopes_of(torque(q, qd, [0.0] * n), [*q, *qd])
        M = mass(q)
        by_q = with_acceleration([row[:n] for row in slopes], mass_slopes(M, q), forward(q, qd, tau))
        factors = ldl.factor(M)
        by_qd = minus_solved(factors, [row[n:] for row in slopes])
        return minus_solved(factors, by_q), by_qd, ldl.inverse(factors)

    return Recipe(function, _states(system, "q", "qd", "tau"), ["dqdd_dq", "dqdd_dqd", "dqdd_dtau"])


def forward_parameter_derivatives(system: System, options: Options = STANDARD, *, reading: Reading = AS_IT_IS) -> Recipe:
    """∂q̈/∂φ = −M⁻¹ Y, at the acceleration that τ causes."""
    regressor, mass = system.recipe(Request("regressor", (options,)), reading).function, _mass(system, reading)
    forward = system.recipe(Request("forward_dynamics", (FREE, DEFAULT)), reading).function

    def function(q: Any, qd: Any, tau: Any) -> Any:
        return minus_solved(ldl.factor(mass(q)), regressor(q, qd, forward(q, qd, tau)))

    return Recipe(function, _states(system, "q", "qd", "tau"), ["dqdd_dphi"])


def second_derivatives(system: System, *, reading: Reading = AS_IT_IS) -> Recipe:
    """∂²τ/∂q∂q, ∂²τ/∂q∂q̇, ∂²τ/∂q̇∂q̇ and ∂M/∂q."""
    torque, mass = _torque(system, reading), _mass(system, reading)

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        return second_slopes(torque(q, qd, qdd), mass(q), q, qd)

    outputs = ["d2tau_dqdq", "d2tau_dqdqd", "d2tau_dqddqd", "dM_dq"]
    return Recipe(function, _states(system, "q", "qd", "qdd"), outputs)


def influence(
    system: System,
    link: str | None = None,
    order: int = 2,
    kind: str = "link",
    with_point: bool = False,
    *,
    reading: Reading = AS_IT_IS,
) -> Recipe:
    """G, and its derivatives H[row][m][n] = ∂G[row][n]/∂q_m and D[row][l][m][n] = ∂H[row][m][n]/∂q_l."""
    jacobian = system.recipe(Request("jacobian", (link, "world", with_point)), reading)
    rows = {"link": slice(6), "point": slice(3), "rotation": slice(3, 6)}[kind]

    def function(q: Any, *point: Any) -> Any:
        found = [jacobian.function(q, *point)[rows]]
        for _ in range(order - 1):
            found.append([by_each(row, q) for row in found[-1]])
        return found if order > 1 else found[0]

    return Recipe(function, jacobian.inputs, ORDERS[:order])


def by_each(nest: Any, q: Any) -> Any:
    """The derivatives of a nest by each coordinate, the coordinate as the first index."""
    if not isinstance(nest[0], list):
        return transposed(slopes_of(nest, q))
    inner = [by_each(part, q) for part in nest]
    return [[part[k] for part in inner] for k in range(len(q))]


def contributions(system: System, wrenches: tuple[str, ...] = (), *, reading: Reading = AS_IT_IS) -> Recipe:
    """The parts of a torque: those of links by the rules of their outputs, those by cause from M and c of the system itself."""
    if not isinstance(system, MappedSystem):
        raise ModelError(f"system {system.name!r}: it has no links, of which contributions are made up. Ask for terms it has.")
    mapped = system.mapped(Request("contributions", (wrenches,)), reading)
    mass = _mass(system, reading)

    def function(q: Any, qd: Any, qdd: Any, *given: Any) -> Any:
        M = mass(q)
        centrifugal, coriolis = torque_parts.velocity_parts(christoffel_of(mass_slopes(M, q)), qd)
        return torque_parts.inertia_parts(M, qdd), centrifugal, coriolis, *mapped.function(q, qd, qdd, *given)[3:]

    return mapped._replace(function=function)
