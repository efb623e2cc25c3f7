"""The quantities, each with all that is known of it: its recipe over a tree, its results with units and equations, from which
size on it is written as loops or composed, how it follows from others, how it changes with the coordinates.

A new one needs its algorithm (algorithms/), its record here, and the function that users call.
"""

from __future__ import annotations

from ..algorithms import centroidal, energy, graph_derivatives, regressor
from ..algorithms.regressor import STANDARD, Options
from ..model.tree import Tree
from . import composed, derived, recipes_dynamics, recipes_forces, recipes_kinematics, sizes
from .quantity import COLUMNS, FORCE, MATRIX, ROWS, Composed, Equation, Output, Quantity, TreeRecipe, plain

_TORQUE = ("N m", "N")
_INERTIA = ("kg m^2", "kg m", "kg")
_PER_PARAMETER = "per unit of parameter, columns as in dalembert.parameter_names"

INPUT_UNITS: dict[str, str | tuple[str, ...]] = {
    "q": ("rad", "m"),
    "qd": ("rad/s", "m/s"),
    "qdd": ("rad/s^2", "m/s^2"),
    "tau": _TORQUE,
    "base_velocity": "m/s, then rad/s, in axes of the base",
    "base_acceleration": "m/s^2, then rad/s^2, in axes of the base",
    "parameters": "in the order of dalembert.parameter_names, SI units",
}
"""Units of what recipes take, as those of `Output`."""


def _parameters(tree: Tree, options: Options = STANDARD) -> TreeRecipe:
    return TreeRecipe(lambda sweep: regressor.parameter_values(sweep.tree, options), {}, ["phi"], can_roll=False, regroup=False)


def _matrices(*names: str) -> tuple[Output, ...]:
    return tuple(Output(name) for name in names)


_RECORDS = (
    Quantity(
        "inverse_dynamics",
        (Output("tau", FORCE, _TORQUE, Equation("tau", r"\tau", "τ", "joint torques", ("M", "c", "g", "friction"))),),
        recipes_dynamics.inverse_dynamics,
        loops=sizes.long_recursion,
    ),
    Quantity(
        "bias",
        (Output("h", FORCE, _TORQUE, Equation("h", "h", "h", "bias C qd + g", ("c", "g"))),),
        recipes_dynamics.bias,
        derived=derived.bias,
        loops=sizes.long_recursion,
    ),
    Quantity(
        "gravity_torque",
        (Output("g", FORCE, _TORQUE, Equation("g", "g", "g", "gravity torque")),),
        recipes_dynamics.gravity_torque,
        derived=derived.gravity_torque,
        loops=sizes.long_rest,
    ),
    Quantity(
        "mass_matrix",
        (Output("M", MATRIX, _INERTIA, Equation("M", "M", "M", "mass matrix")),),
        recipes_dynamics.mass_matrix,
        loops=sizes.many_pairs(sizes.MATRIX_PAIRS),
        rewritten=True,
    ),
    Quantity(
        "forward_dynamics",
        (Output("qdd", unit=INPUT_UNITS["qdd"]),),
        recipes_dynamics.forward_dynamics,
        derived=derived.forward_dynamics,
        loops=sizes.long_forward,
        composed=Composed(sizes.is_dense, composed.forward_dynamics),
    ),
    Quantity(
        "energy",
        (
            Output("kinetic", unit="J", equation=Equation("T", "T", "T", "kinetic energy")),
            Output("potential", unit="J", equation=Equation("U", "U", "U", "potential energy")),
        ),
        plain(energy.energy, "q", "qd", outputs=["kinetic", "potential"], regroup=False),
        loops=sizes.long_rest,
    ),
    Quantity(
        "energy_gradient",
        _matrices("dkinetic_dq", "dkinetic_dqd", "dpotential_dq"),
        recipes_dynamics.energy_gradient,
        derived=derived.energy_gradient,
    ),
    Quantity(
        "forward_kinematics",
        (Output("X", unit="rotation without unit, position in m"),),
        recipes_kinematics.forward_kinematics,
    ),
    Quantity(
        "jacobian",
        (Output("J", COLUMNS, "rates in m/s and rad/s per unit of qd"),),
        recipes_kinematics.jacobian,
    ),
    Quantity(
        "jacobian_dot",
        (Output("Jdot", unit="accelerations in m/s^2 and rad/s^2 per unit of qd"),),
        recipes_kinematics.jacobian_dot,
        derived=derived.jacobian_dot,
    ),
    Quantity(
        "analytical_jacobian",
        (Output("J", COLUMNS, "rates in m/s and rad/s per unit of qd"),),
        recipes_kinematics.analytical_jacobian,
    ),
    Quantity(
        "coriolis_matrix",
        (
            Output(
                "C",
                unit=("kg m^2/s", "kg m/s", "kg/s"),
                equation=Equation("C", "C", "C", "Coriolis matrix by Christoffel symbols", ("c",)),
            ),
        ),
        recipes_dynamics.coriolis_matrix,
        derived=derived.coriolis_matrix,
        loops=sizes.many_triples(sizes.DERIVATIVE_TRIPLES),
        composed=Composed(sizes.has_many_rotor_terms, composed.coriolis_matrix),
        rewritten=True,
    ),
    Quantity(
        "christoffel",
        (Output("c", unit=_INERTIA, equation=Equation("c", "c", "c", "Christoffel symbols of the first kind")),),
        recipes_dynamics.christoffel,
        derived=derived.christoffel,
        loops=sizes.many_triples(sizes.CHRISTOFFEL_TRIPLES),
        composed=Composed(sizes.has_many_tensor_entries, composed.christoffel),
        rewritten=True,
        refused=sizes.CUBIC,
    ),
    Quantity(
        "friction_torque",
        (Output("friction", FORCE, _TORQUE, Equation("friction", "f", "f", "joint friction")),),
        plain(graph_derivatives.friction_forces, "qd", outputs=["friction"], can_roll=False),
    ),
    Quantity(
        "regressor",
        (Output("Y", ROWS, f"torque {_PER_PARAMETER}", Equation("Y", "Y", "Y", "regressor, tau = Y phi")),),
        recipes_dynamics.regressor,
        composed=Composed(lambda tree: tree.pairs > sizes.REGRESSOR_PAIRS, composed.regressor),
        refused=sizes.WIDE,
    ),
    Quantity(
        "link_wrenches",
        (Output("wrenches", unit="force in N, then moment in N m"),),
        recipes_dynamics.link_wrenches,
    ),
    Quantity(
        "inverse_derivatives",
        _matrices("dtau_dq", "dtau_dqd", "dtau_dqdd"),
        recipes_dynamics.inverse_derivatives,
        derived=derived.inverse_derivatives,
        loops=sizes.many_triples(sizes.DERIVATIVE_TRIPLES),
        composed=Composed(sizes.has_many_rotor_terms, composed.inverse_derivatives),
        rewritten=True,
    ),
    Quantity(
        "torque_rate",
        (Output("tau_rate", unit=("N m/s", "N/s")),),
        recipes_dynamics.torque_rate,
        derived=derived.torque_rate,
        composed=Composed(sizes.long_recursion, composed.torque_rate),
        exported=False,
    ),
    Quantity(
        "forward_derivatives",
        _matrices("dqdd_dq", "dqdd_dqd", "dqdd_dtau"),
        recipes_dynamics.forward_derivatives,
        derived=derived.forward_derivatives,
        composed=Composed(lambda tree: tree.triples > sizes.DERIVATIVE_TRIPLES, composed.forward_derivatives),
    ),
    Quantity(
        "forward_parameter_derivatives",
        (Output("dqdd_dphi", unit=f"acceleration {_PER_PARAMETER}"),),
        recipes_dynamics.forward_parameter_derivatives,
        derived=derived.forward_parameter_derivatives,
        composed=Composed(lambda tree: tree.n > sizes.SOLVED_COLUMNS, composed.forward_parameter_derivatives),
        refused=sizes.WIDE,
    ),
    Quantity(
        "second_derivatives",
        _matrices("d2tau_dqdq", "d2tau_dqdqd", "d2tau_dqddqd", "dM_dq"),
        recipes_dynamics.second_derivatives,
        derived=derived.second_derivatives,
        loops=sizes.many_triples(sizes.SECOND_TRIPLES),
        composed=Composed(sizes.has_many_second_entries, composed.second_derivatives),
        refused=sizes.FOUR_CUBIC,
    ),
    Quantity(
        "centroidal_momentum",
        (
            Output("momentum", unit="linear in kg m/s, then angular in kg m^2/s, in world axes"),
            Output("momentum_matrix", COLUMNS, "momentum per unit of qd"),
            Output("centre_of_mass", unit="m, in world axes"),
        ),
        plain(
            centroidal.momentum,
            "q",
            "qd",
            outputs=["momentum", "momentum_matrix", "centre_of_mass"],
            can_roll=False,
            regroup=False,
        ),
    ),
    Quantity(
        "parameters",
        (Output("phi", equation=Equation("phi", r"\varphi", "φ", "dynamic parameters")),),
        _parameters,
        exported=False,
    ),
    Quantity("influence", _matrices("G", "H", "D"), recipes_kinematics.influence, derived=derived.influence, exported=False),
    Quantity("link_motion", _matrices("velocity", "acceleration", "jerk"), recipes_kinematics.link_motion, exported=False),
    Quantity("applied_torque", (Output("tau", FORCE),), recipes_forces.applied_torque, exported=False),
    Quantity("terms", (), recipes_forces.terms, exported=False),
    Quantity(
        "contributions",
        (
            *_matrices("inertia", "centrifugal_by", "coriolis"),
            *(Output(name, FORCE) for name in ("friction", "external")),
            *(Output(name, COLUMNS) for name in recipes_forces.PARTS[5:]),
        ),
        recipes_forces.contributions,
        derived=derived.contributions,
        exported=False,
    ),
)

QUANTITIES: dict[str, Quantity] = {record.name: record for record in _RECORDS}
EXPORTED = {name: record for name, record in QUANTITIES.items() if record.exported}
NAMES: dict[str, str] = {}
for _name, _record in EXPORTED.items():
    for _output in _record.outputs:
        NAMES.setdefault(_output.name, _name)  # J is that of `jacobian`, which comes first
"""What `evaluate` knows by name, and the quantity it belongs to."""


def unit_of(name: str) -> str | tuple[str, ...] | None:
    """The unit of an input or an output by its name, if a record has it."""
    known = (output.unit for record in _RECORDS for output in record.outputs if output.name == name and output.unit)
    return INPUT_UNITS.get(name) or next(known, None)
