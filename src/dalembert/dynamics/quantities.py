"""What can be asked of a robot: for each quantity a recipe, the function of scalars to trace with its inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import checks
from ..algorithms import (
    articulated_bodies,
    composite_derivatives,
    energy,
    forward_by_mass_matrix,
    graph_derivatives,
    joint_wrenches,
    kinematics,
    newton_euler_recursion,
    regressor,
)
from ..algorithms.regressor import Options
from ..algorithms.sweep import Sweep, Unrolled
from ..errors import ModelError, UnknownNameError
from ..formulations import FORMULATIONS, Formulation
from ..formulations import base as formulation_base
from ..model.tree import Place, Tree
from ..spatial import ZERO

ARTICULATED_FROM = 10  # joints: below, mass matrix and LᵀDL take less time (docs/develop/decisions.md)
Shapes = dict[str, tuple[int, ...]]


class Recipe(NamedTuple):
    """A function of a sweep and scalars, its named inputs with shapes, the names of its outputs; whether it can be a
    loop, and whether base parameters are enough for it.
    """

    function: Callable[..., Any]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: Sequence[str]
    can_roll: bool = True
    regroup: bool = True


class Forces(NamedTuple):
    """Options of the dynamic quantities: frames where wrenches act, whether the base moves, whether parameters are inputs."""

    wrenches: tuple[str, ...] = ()
    moving_base: bool = False
    parameters: bool = False


FREE = Forces()
DEFAULT = "newton_euler"  # the formulation whose quantities have algorithms of their own, chosen for speed


BY_BODIES_FROM = 300  # triples of a segment and two before it (docs/develop/decisions.md)


def place_of(tree: Tree, name: str | None) -> Place:
    """The frame of a link, or the tool's for None or 'tool'."""
    if name is not None and name in tree.links:
        return tree.links[name]
    if name not in (None, "tool"):
        raise UnknownNameError.among("link", name, ["tool", *tree.links] if tree.tool else list(tree.links))
    if tree.tool is None:
        raise ModelError(f"tool: {tree.name!r} has several tips and no tool. Name a link: {', '.join(tree.links)}.")
    return tree.tool


WEIGHTLESS = newton_euler_recursion.still_base(ZERO)


class _Surroundings(NamedTuple):
    """What the extra inputs of a kernel amount to."""

    sweep: Any
    base: Any
    loads: Any


def _surroundings(sweep: Any, q: Any, forces: Forces, extra: Sequence[Any]) -> _Surroundings:
    """Free parameters, base motion and external loads from the extra inputs of a kernel, in this order from the end."""
    if forces.parameters:
        *extra, phi = extra
        sweep = Unrolled(regressor.with_parameters(sweep.tree, phi))
    gravity = sweep.tree.gravity
    base = newton_euler_recursion.still_base(gravity)
    if forces.moving_base:
        base = newton_euler_recursion.moving_base(gravity, *extra[len(forces.wrenches) :])
    if not forces.wrenches:
        return _Surroundings(sweep, base, None)
    places = [place_of(sweep.tree, name) for name in forces.wrenches]
    poses = kinematics.segment_poses(sweep, q)
    return _Surroundings(sweep, base, sweep.applied(newton_euler_recursion.wrench_step, places, extra[: len(places)], poses))


def _extra_inputs(tree: Tree, forces: Forces) -> Shapes:
    shapes: Shapes = {f"wrenches[{name!r}]": (6,) for name in forces.wrenches}
    if forces.moving_base:
        shapes |= {"base_velocity": (6,), "base_acceleration": (6,)}
    if forces.parameters:
        shapes["parameters"] = (len(regressor.columns(tree, regressor.STANDARD)),)
    return shapes


def _states(tree: Tree, *names: str) -> Shapes:
    return dict.fromkeys(names, (tree.n,))


def method_of(tree: Tree, formulation: str, forces: Forces = FREE) -> Formulation:
    """A formulation by name, if it can serve this robot and these forces; else a sentence that names one that can."""
    method = checks.choice("formulation", formulation, FORMULATIONS)
    if forces.moving_base and not method.moving_base:
        raise _cannot(method, "it has no moving base", lambda other: other.moving_base)
    if forces.parameters and not method.parameters:
        raise _cannot(method, "it has no dynamic parameters as inputs", lambda other: other.parameters)
    size = len(tree.segments)
    if method.largest is not None and size > method.largest:
        reason = f"{tree.name!r} has {size} moving joints, and its operations grow too fast beyond {method.largest}"
        raise _cannot(method, reason, lambda other: other.largest is None or size <= other.largest)
    return method


def _cannot(method: Formulation, reason: str, can: Callable[[Formulation], bool]) -> ModelError:
    others = " or ".join(repr(other.name) for other in FORMULATIONS.values() if can(other))
    return ModelError(f"formulation: {method.name!r} cannot serve this: {reason}. Try {others}.")


def inverse_dynamics_recipe(tree: Tree, formulation: str = DEFAULT, forces: Forces = FREE, with_friction: bool = True) -> Recipe:
    """τ = M q̈ + C q̇ + g + friction − Jᵀ wrench."""
    method = method_of(tree, formulation, forces)

    def function(sweep: Sweep, q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        around = _surroundings(sweep, q, forces, extra)
        return method.inverse_dynamics(around.sweep, q, qd, qdd, around.base, around.loads, with_friction=with_friction)

    inputs = _states(tree, "q", "qd", "qdd") | _extra_inputs(tree, forces)
    plain = not forces.parameters
    return Recipe(function, inputs, ["tau"], can_roll=method.can_roll and plain, regroup=method.regroup and plain)


def bias_recipe(tree: Tree, formulation: str = DEFAULT, forces: Forces = FREE) -> Recipe:
    """h = C q̇ + g: inverse dynamics without acceleration and friction."""
    full = inverse_dynamics_recipe(tree, formulation, forces, with_friction=False)
    still = [0.0] * tree.n
    return full._replace(
        function=lambda sweep, q, qd, *extra: full.function(sweep, q, qd, still, *extra),
        inputs={name: shape for name, shape in full.inputs.items() if name != "qdd"},
        outputs=["h"],
    )


def gravity_recipe(tree: Tree, formulation: str = DEFAULT, forces: Forces = FREE) -> Recipe:
    """g: inverse dynamics at rest."""
    full = inverse_dynamics_recipe(tree, formulation, forces, with_friction=False)
    still = [0.0] * tree.n
    return full._replace(
        function=lambda sweep, q, *extra: full.function(sweep, q, still, still, *extra),
        inputs={name: shape for name, shape in full.inputs.items() if name not in ("qd", "qdd")},
        outputs=["g"],
    )


def check_inverse(tree: Tree) -> None:
    """Refuse a tree whose mass matrix has no inverse in any configuration."""
    if tree.idle:
        first, *others = tree.idle
        also = f" The same holds for {', '.join(repr(other.joint) for other in others)}." if others else ""
        raise ModelError(first.sentence + also)


def mass_matrix_recipe(tree: Tree, forces: Forces = FREE, formulation: str = DEFAULT) -> Recipe:
    """M."""
    method = method_of(tree, formulation, forces)

    def function(sweep: Any, q: Any, *extra: Any) -> Any:
        return formulation_base.mass_matrix_of(method, _surroundings(sweep, q, forces, extra).sweep, q, WEIGHTLESS)

    inputs = _states(tree, "q") | _extra_inputs(tree, forces)
    plain = not forces.parameters
    return Recipe(function, inputs, ["M"], can_roll=method.can_roll and plain, regroup=method.regroup and plain)


def forward_dynamics_recipe(tree: Tree, forces: Forces = FREE, formulation: str = DEFAULT) -> Recipe:
    """q̈ = M⁻¹ (τ − C q̇ − g − friction + Jᵀ wrench)."""
    if not forces.parameters:  # given ones decide at run time, row by row
        check_inverse(tree)
    if formulation != DEFAULT:
        return _forward_by(method_of(tree, formulation, forces), tree, forces)
    simple = tree.is_plain and not tree.has_spin
    algorithm = articulated_bodies if simple and tree.n >= ARTICULATED_FROM else forward_by_mass_matrix

    def function(sweep: Sweep, q: Any, qd: Any, tau: Any, *extra: Any) -> Any:
        around = _surroundings(sweep, q, forces, extra)
        return algorithm.forward_dynamics(around.sweep, q, qd, tau, around.base, around.loads)

    inputs = _states(tree, "q", "qd", "tau") | _extra_inputs(tree, forces)
    can_roll = algorithm is articulated_bodies and not forces.parameters
    return Recipe(function, inputs, ["qdd"], can_roll=can_roll, regroup=not forces.parameters)


def _forward_by(method: Formulation, tree: Tree, forces: Forces) -> Recipe:
    def function(sweep: Unrolled, q: Any, qd: Any, tau: Any, *extra: Any) -> Any:
        around = _surroundings(sweep, q, forces, extra)
        return formulation_base.forward_dynamics_of(method, around.sweep, q, qd, tau, around.base, WEIGHTLESS, around.loads)

    inputs = _states(tree, "q", "qd", "tau") | _extra_inputs(tree, forces)
    return Recipe(function, inputs, ["qdd"], can_roll=False, regroup=method.regroup and not forces.parameters)


def energy_recipe(tree: Tree) -> Recipe:
    """Kinetic and potential energy."""
    outputs = ["kinetic", "potential"]
    return Recipe(lambda sweep, q, qd: energy.energy(sweep, q, qd), _states(tree, "q", "qd"), outputs, regroup=False)


def energy_gradient_recipe(tree: Tree) -> Recipe:
    """Derivatives of the energies."""

    def function(sweep: Unrolled, q: Any, qd: Any) -> Any:
        return graph_derivatives.energy_gradient(*energy.energy(sweep, q, qd), q, qd)

    return Recipe(function, _states(tree, "q", "qd"), ["dkinetic_dq", "dkinetic_dqd", "dpotential_dq"], can_roll=False)


def forward_kinematics_recipe(tree: Tree, link: str | tuple[str, ...] | None = None) -> Recipe:
    """World pose of one frame, or of several."""
    several = isinstance(link, tuple)
    places = [place_of(tree, name) for name in (link if isinstance(link, tuple) else (link,))]

    def function(sweep: Unrolled, q: Any) -> Any:
        poses = kinematics.forward_kinematics(sweep, q, places)
        return poses if several else poses[0]

    return Recipe(function, _states(tree, "q"), ["X"], can_roll=False)


def jacobian_recipe(tree: Tree, link: str | None = None, frame: str = "world", with_point: bool = False) -> Recipe:
    """Geometric Jacobian of a frame, or of a point given in it."""
    checks.choice("frame", frame, {"world": 0, "body": 0})
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any, point: Any = None) -> Any:
        return kinematics.jacobian(sweep, q, kinematics.shifted(place, point), frame=frame)

    inputs = _states(tree, "q") | ({"point": (3,)} if with_point else {})
    return Recipe(function, inputs, ["J"], can_roll=False)


def jacobian_dot_recipe(tree: Tree, link: str | None = None, frame: str = "world") -> Recipe:
    """The time derivative of the geometric Jacobian."""
    inner = jacobian_recipe(tree, link, frame)

    def function(sweep: Unrolled, q: Any, qd: Any) -> Any:
        return graph_derivatives.along(inner.function(sweep, q), q, qd)

    return Recipe(function, _states(tree, "q", "qd"), ["Jdot"], can_roll=False)


def analytical_jacobian_recipe(tree: Tree, link: str | None = None, angles: str = "rpy") -> Recipe:
    """Jacobian of position and orientation angles."""
    checks.choice("angles", angles, kinematics.RATES)
    place = place_of(tree, link)

    def function(sweep: Unrolled, q: Any) -> Any:
        return kinematics.analytical_jacobian(sweep, q, place, angles=angles)

    return Recipe(function, _states(tree, "q"), ["J"], can_roll=False)


def _by_bodies(tree: Tree, sweep: Any) -> bool:
    """Whether first derivatives are those of composite bodies, not of the graph: in loops, and where they take less."""
    return not tree.has_spin and (tree.triples >= BY_BODIES_FROM or not isinstance(sweep, Unrolled))


def coriolis_recipe(tree: Tree, formulation: str = DEFAULT) -> Recipe:
    """C by Christoffel symbols."""
    if formulation == DEFAULT:

        def default(sweep: Any, q: Any, qd: Any) -> Any:
            return (composite_derivatives if _by_bodies(tree, sweep) else graph_derivatives).coriolis_matrix(sweep, q, qd)

        return Recipe(default, _states(tree, "q", "qd"), ["C"], can_roll=not tree.has_spin)
    method = method_of(tree, formulation)

    def function(sweep: Unrolled, q: Any, qd: Any) -> Any:
        return formulation_base.coriolis_of(method, sweep, q, qd, WEIGHTLESS)

    return Recipe(function, _states(tree, "q", "qd"), ["C"], can_roll=False, regroup=method.regroup)


def christoffel_recipe(tree: Tree, formulation: str = DEFAULT) -> Recipe:
    """The Christoffel symbols of the first kind."""
    if formulation == DEFAULT:

        def default(sweep: Any, q: Any) -> Any:
            return (graph_derivatives if isinstance(sweep, Unrolled) else composite_derivatives).christoffel(sweep, q)

        return Recipe(default, _states(tree, "q"), ["c"], can_roll=not tree.has_spin)
    method = method_of(tree, formulation)

    def function(sweep: Unrolled, q: Any) -> Any:
        return formulation_base.christoffel_of(method, sweep, q, WEIGHTLESS)

    return Recipe(function, _states(tree, "q"), ["c"], can_roll=False, regroup=method.regroup)


def friction_recipe(tree: Tree) -> Recipe:
    """Friction alone."""
    return Recipe(graph_derivatives.friction_forces, _states(tree, "qd"), ["friction"], can_roll=False)


def regressor_recipe(tree: Tree, options: Options = regressor.STANDARD) -> Recipe:
    """Y with τ = Y φ."""

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
        return regressor.regressor(sweep, q, qd, qdd, newton_euler_recursion.still_base(tree.gravity), options)

    return Recipe(function, _states(tree, "q", "qd", "qdd"), ["Y"], can_roll=False, regroup=False)


def link_wrenches_recipe(tree: Tree, frame: str = "world", forces: Forces = FREE) -> Recipe:
    """What the joints transmit."""
    checks.choice("frame", frame, {"world": 0, "link": 0})

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any, *extra: Any) -> Any:
        around = _surroundings(sweep, q, forces, extra)
        return joint_wrenches.link_wrenches(around.sweep, q, qd, qdd, around.base, around.loads, frame=frame)

    inputs = _states(tree, "q", "qd", "qdd") | _extra_inputs(tree, forces)
    return Recipe(function, inputs, ["wrenches"], can_roll=False, regroup=False)


def inverse_derivatives_recipe(tree: Tree) -> Recipe:
    """∂τ/∂q, ∂τ/∂q̇, ∂τ/∂q̈."""

    def function(sweep: Any, q: Any, qd: Any, qdd: Any) -> Any:
        if _by_bodies(tree, sweep):
            return composite_derivatives.first_derivatives(sweep, q, qd, qdd, tree.gravity)
        return graph_derivatives.inverse_derivatives(sweep, q, qd, qdd, newton_euler_recursion.still_base(tree.gravity))

    outputs = ["dtau_dq", "dtau_dqd", "dtau_dqdd"]
    return Recipe(function, _states(tree, "q", "qd", "qdd"), outputs, can_roll=not tree.has_spin)


def forward_derivatives_recipe(tree: Tree) -> Recipe:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ."""
    check_inverse(tree)

    def function(sweep: Unrolled, q: Any, qd: Any, tau: Any) -> Any:
        return graph_derivatives.forward_derivatives(sweep, q, qd, tau, newton_euler_recursion.still_base(tree.gravity))

    outputs = ["dqdd_dq", "dqdd_dqd", "dqdd_dtau"]
    return Recipe(function, _states(tree, "q", "qd", "tau"), outputs, can_roll=False)


def forward_parameter_derivatives_recipe(tree: Tree, options: Options = regressor.STANDARD) -> Recipe:
    """∂q̈/∂φ."""
    check_inverse(tree)

    def function(sweep: Unrolled, q: Any, qd: Any, tau: Any) -> Any:
        base = newton_euler_recursion.still_base(tree.gravity)
        return graph_derivatives.forward_parameter_derivatives(sweep, q, qd, tau, base, options)

    return Recipe(function, _states(tree, "q", "qd", "tau"), ["dqdd_dphi"], can_roll=False, regroup=False)


def second_derivatives_recipe(tree: Tree) -> Recipe:
    """Second derivatives of inverse dynamics."""

    def function(sweep: Any, q: Any, qd: Any, qdd: Any) -> Any:
        if tree.has_spin:
            return graph_derivatives.second_derivatives(sweep, q, qd, qdd, newton_euler_recursion.still_base(tree.gravity))
        return composite_derivatives.second_derivatives(sweep, q, qd, qdd, tree.gravity)

    outputs = ["d2tau_dqdq", "d2tau_dqdqd", "d2tau_dqddqd", "dM_dq"]
    return Recipe(function, _states(tree, "q", "qd", "qdd"), outputs, can_roll=not tree.has_spin)


QUANTITIES: dict[str, Callable[..., Recipe]] = {
    "inverse_dynamics": inverse_dynamics_recipe,
    "bias": bias_recipe,
    "gravity_torque": gravity_recipe,
    "mass_matrix": mass_matrix_recipe,
    "forward_dynamics": forward_dynamics_recipe,
    "energy": energy_recipe,
    "energy_gradient": energy_gradient_recipe,
    "forward_kinematics": forward_kinematics_recipe,
    "jacobian": jacobian_recipe,
    "jacobian_dot": jacobian_dot_recipe,
    "analytical_jacobian": analytical_jacobian_recipe,
    "coriolis_matrix": coriolis_recipe,
    "christoffel": christoffel_recipe,
    "friction_torque": friction_recipe,
    "regressor": regressor_recipe,
    "link_wrenches": link_wrenches_recipe,
    "inverse_derivatives": inverse_derivatives_recipe,
    "forward_derivatives": forward_derivatives_recipe,
    "forward_parameter_derivatives": forward_parameter_derivatives_recipe,
    "second_derivatives": second_derivatives_recipe,
}
