"""Recipes of dynamic quantities over the tree of a robot."""

from __future__ import annotations

from typing import Any

from ..algorithms import (
    articulated_bodies,
    composite_derivatives,
    energy,
    forward_by_mass_matrix,
    graph_derivatives,
    joint_wrenches,
)
from ..algorithms import regressor as regressors
from ..algorithms.newton_euler_recursion import still_base
from ..algorithms.regressor import STANDARD, Options
from ..algorithms.sweep import Sweep, Unrolled
from ..checks import choice
from ..formulations import Formulation
from ..formulations import base as formulation_base
from ..model.tree import Tree
from . import sizes
from .quantity import TreeRecipe
from .surroundings import DEFAULT, FREE, WEIGHTLESS, Forces, check_inverse, extra_inputs, method_of, surroundings


def _states(tree: Tree, *names: str) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(names, (tree.n,))


def inverse_dynamics(tree: Tree, formulation: str = DEFAULT, forces: Forces = FREE, with_friction: bool = True) -> TreeRecipe:
    """τ = M q̈ + C q̇ + g + friction − Jᵀ wrench."""
    method = method_of(tree, formulation, forces)

    def function(sweep: Sweep, q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        around = surroundings(sweep, q, forces, extra)
        return method.inverse_dynamics(around.sweep, q, qd, qdd, around.base, around.loads, with_friction=with_friction)

    inputs = _states(tree, "q", "qd", "qdd") | extra_inputs(tree, forces)
    plain = not forces.parameters
    return TreeRecipe(function, inputs, ["tau"], can_roll=method.can_roll and plain, regroup=method.regroup and plain)


def bias(tree: Tree, formulation: str = DEFAULT, forces: Forces = FREE) -> TreeRecipe:
    """h = C q̇ + g: inverse dynamics without acceleration and friction."""
    full = inverse_dynamics(tree, formulation, forces, with_friction=False)
    still = [0.0] * tree.n
    return full._replace(
        function=lambda sweep, q, qd, *extra: full.function(sweep, q, qd, still, *extra),
        inputs={name: shape for name, shape in full.inputs.items() if name != "qdd"},
        outputs=["h"],
    )


def gravity_torque(tree: Tree, formulation: str = DEFAULT, forces: Forces = FREE) -> TreeRecipe:
    """g: inverse dynamics at rest."""
    full = inverse_dynamics(tree, formulation, forces, with_friction=False)
    still = [0.0] * tree.n
    return full._replace(
        function=lambda sweep, q, *extra: full.function(sweep, q, still, still, *extra),
        inputs={name: shape for name, shape in full.inputs.items() if name not in ("qd", "qdd")},
        outputs=["g"],
    )


def mass_matrix(tree: Tree, forces: Forces = FREE, formulation: str = DEFAULT) -> TreeRecipe:
    """M."""
    method = method_of(tree, formulation, forces)

    def function(sweep: Any, q: Any, *extra: Any) -> Any:
        return formulation_base.mass_matrix_of(method, surroundings(sweep, q, forces, extra).sweep, q, WEIGHTLESS)

    inputs = _states(tree, "q") | extra_inputs(tree, forces)
    plain = not forces.parameters
    return TreeRecipe(function, inputs, ["M"], can_roll=method.can_roll and plain, regroup=method.regroup and plain)


def forward_dynamics(tree: Tree, forces: Forces = FREE, formulation: str = DEFAULT) -> TreeRecipe:
    """q̈ = M⁻¹ (τ − C q̇ − g − friction + Jᵀ wrench)."""
    if not forces.parameters:  # given ones decide at run time, row by row
        check_inverse(tree)
    if formulation != DEFAULT:
        return _forward_by(method_of(tree, formulation, forces), tree, forces)
    algorithm = articulated_bodies if sizes.articulated(tree) else forward_by_mass_matrix

    def function(sweep: Sweep, q: Any, qd: Any, tau: Any, *extra: Any) -> Any:
        around = surroundings(sweep, q, forces, extra)
        return algorithm.forward_dynamics(around.sweep, q, qd, tau, around.base, around.loads)

    inputs = _states(tree, "q", "qd", "tau") | extra_inputs(tree, forces)
    can_roll = algorithm is articulated_bodies and not forces.parameters
    return TreeRecipe(function, inputs, ["qdd"], can_roll=can_roll, regroup=not forces.parameters)


def _forward_by(method: Formulation, tree: Tree, forces: Forces) -> TreeRecipe:
    def function(sweep: Unrolled, q: Any, qd: Any, tau: Any, *extra: Any) -> Any:
        around = surroundings(sweep, q, forces, extra)
        return formulation_base.forward_dynamics_of(method, around.sweep, q, qd, tau, around.base, WEIGHTLESS, around.loads)

    inputs = _states(tree, "q", "qd", "tau") | extra_inputs(tree, forces)
    return TreeRecipe(function, inputs, ["qdd"], can_roll=False, regroup=method.regroup and not forces.parameters)


def energy_gradient(tree: Tree) -> TreeRecipe:
    """Derivatives of the energies."""

    def function(sweep: Unrolled, q: Any, qd: Any) -> Any:
        return graph_derivatives.energy_gradient(*energy.energy(sweep, q, qd), q, qd)

    return TreeRecipe(function, _states(tree, "q", "qd"), ["dkinetic_dq", "dkinetic_dqd", "dpotential_dq"], can_roll=False)


def coriolis_matrix(tree: Tree, formulation: str = DEFAULT) -> TreeRecipe:
    """C by Christoffel symbols."""
    if formulation == DEFAULT:

        def default(sweep: Any, q: Any, qd: Any) -> Any:
            bodies = sizes.by_composite_bodies(tree, isinstance(sweep, Unrolled))
            return (composite_derivatives if bodies else graph_derivatives).coriolis_matrix(sweep, q, qd)

        return TreeRecipe(default, _states(tree, "q", "qd"), ["C"], can_roll=not tree.has_spin)
    method = method_of(tree, formulation)

    def function(sweep: Unrolled, q: Any, qd: Any) -> Any:
        return formulation_base.coriolis_of(method, sweep, q, qd, WEIGHTLESS)

    return TreeRecipe(function, _states(tree, "q", "qd"), ["C"], can_roll=False, regroup=method.regroup)


def christoffel(tree: Tree, formulation: str = DEFAULT) -> TreeRecipe:
    """The Christoffel symbols of the first kind."""
    if formulation == DEFAULT:

        def default(sweep: Any, q: Any) -> Any:
            return (graph_derivatives if isinstance(sweep, Unrolled) else composite_derivatives).christoffel(sweep, q)

        return TreeRecipe(default, _states(tree, "q"), ["c"], can_roll=not tree.has_spin)
    method = method_of(tree, formulation)

    def function(sweep: Unrolled, q: Any) -> Any:
        return formulation_base.christoffel_of(method, sweep, q, WEIGHTLESS)

    return TreeRecipe(function, _states(tree, "q"), ["c"], can_roll=False, regroup=method.regroup)


def regressor(tree: Tree, options: Options = STANDARD) -> TreeRecipe:
    """Y with τ = Y φ."""

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
        return regressors.regressor(sweep, q, qd, qdd, still_base(tree.gravity), options)

    return TreeRecipe(function, _states(tree, "q", "qd", "qdd"), ["Y"], can_roll=False, regroup=False)


def link_wrenches(tree: Tree, frame: str = "world", forces: Forces = FREE) -> TreeRecipe:
    """What the joints transmit."""
    choice("frame", frame, {"world": 0, "link": 0})

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        around = surroundings(sweep, q, forces, extra)
        return joint_wrenches.link_wrenches(around.sweep, q, qd, qdd, around.base, around.loads, frame=frame)

    inputs = _states(tree, "q", "qd", "qdd") | extra_inputs(tree, forces)
    return TreeRecipe(function, inputs, ["wrenches"], can_roll=False, regroup=False)


def inverse_derivatives(tree: Tree) -> TreeRecipe:
    """∂τ/∂q, ∂τ/∂q̇, ∂τ/∂q̈."""

    def function(sweep: Any, q: Any, qd: Any, qdd: Any) -> Any:
        if sizes.by_composite_bodies(tree, isinstance(sweep, Unrolled)):
            return composite_derivatives.first_derivatives(sweep, q, qd, qdd, tree.gravity)
        return graph_derivatives.inverse_derivatives(sweep, q, qd, qdd, still_base(tree.gravity))

    outputs = ["dtau_dq", "dtau_dqd", "dtau_dqdd"]
    return TreeRecipe(function, _states(tree, "q", "qd", "qdd"), outputs, can_roll=not tree.has_spin)


def torque_rate(tree: Tree) -> TreeRecipe:
    """dτ/dt along a motion that is known to its third order."""
    inner = inverse_dynamics(tree)

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any, qddd: Any) -> Any:
        return graph_derivatives.torque_along(inner.function(sweep, q, qd, qdd), q, qd, qdd, qddd)

    return TreeRecipe(function, _states(tree, "q", "qd", "qdd", "qddd"), ["tau_rate"], can_roll=False)


def forward_derivatives(tree: Tree) -> TreeRecipe:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ."""
    check_inverse(tree)

    def function(sweep: Unrolled, q: Any, qd: Any, tau: Any) -> Any:
        return graph_derivatives.forward_derivatives(sweep, q, qd, tau, still_base(tree.gravity))

    outputs = ["dqdd_dq", "dqdd_dqd", "dqdd_dtau"]
    return TreeRecipe(function, _states(tree, "q", "qd", "tau"), outputs, can_roll=False)


def forward_parameter_derivatives(tree: Tree, options: Options = STANDARD) -> TreeRecipe:
    """∂q̈/∂φ."""
    check_inverse(tree)

    def function(sweep: Unrolled, q: Any, qd: Any, tau: Any) -> Any:
        base = still_base(tree.gravity)
        return graph_derivatives.forward_parameter_derivatives(sweep, q, qd, tau, base, options)

    return TreeRecipe(function, _states(tree, "q", "qd", "tau"), ["dqdd_dphi"], can_roll=False, regroup=False)


def second_derivatives(tree: Tree) -> TreeRecipe:
    """Second derivatives of inverse dynamics."""

    def function(sweep: Any, q: Any, qd: Any, qdd: Any) -> Any:
        if tree.has_spin:
            return graph_derivatives.second_derivatives(sweep, q, qd, qdd, still_base(tree.gravity))
        return composite_derivatives.second_derivatives(sweep, q, qd, qdd, tree.gravity)

    outputs = ["d2tau_dqdq", "d2tau_dqdqd", "d2tau_dqddqd", "dM_dq"]
    return TreeRecipe(function, _states(tree, "q", "qd", "qdd"), outputs, can_roll=not tree.has_spin)
