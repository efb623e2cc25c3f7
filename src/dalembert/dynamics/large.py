"""Large systems: quantities whose code would grow with the square or cube of the joints, from several kernels and LAPACK.

Where full rotors rule out composite bodies, straight-line code for derivatives has some 25 operations for each joint and every
two joints before it, and takes more than five seconds to compile beyond sixty thousand. From there on, a loop kernel of
directional derivatives (expr/tangent.py) is run for a batch of unit directions: the same numbers, compiled in a third of a
second at any size. A regressor has a block of ten entries for each joint and each one before it; of many, they are computed
by one small kernel run for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.newton_euler_recursion import still_base
from ..algorithms.regressor import INERTIAL, STANDARD, Options, columns, pair, parts
from ..algorithms.sweep import Unrolled
from ..codegen import Kernel, arguments, refuse
from ..codegen import build as compile_program
from ..codegen.precision import DOUBLE
from ..errors import ModelError
from ..expr import Slot, trace
from ..model.tree import Tree
from .quantities import DEFAULT, FREE, QUANTITIES, Forces

DENSE_FROM = 45  # coordinates from which a traced LᵀDL factorisation would take too long to compile
SECOND_PAIRS = 12  # pairs from which second derivatives of systems with full rotors are taken by directions
TABLED_TRIPLES = 80_000  # triples from which tensors of all systems are: tables of that many places take seconds to make
SOLVED_COLUMNS = 8  # coordinates up to which M⁻¹ times a regressor is traced
TRIPLES = 2400  # from which first derivatives of systems with full rotors are, and straight code takes too long to compile
PAIRS = 500  # of a joint and one before it, from which a regressor is computed pair by pair
ENTRIES = 4_000_000  # results per configuration that are served at most: 32 megabytes
_BY_DIRECTIONS = ("inverse_derivatives", "coriolis_matrix", "christoffel")
_MANY_ENTRIES: dict[str, tuple[Callable[[int, int], int], str]] = {
    "christoffel": (lambda n, m: n**3, "Ask for coriolis_matrix, which has their sum along a velocity"),
    "second_derivatives": (lambda n, m: 4 * n**3, "Ask for derivatives, and take differences of them"),
    "regressor": (lambda n, m: 13 * n * m, "Fix what you do not identify, or cut the chain"),
    "forward_parameter_derivatives": (lambda n, m: 13 * n * m, "Fix what you do not identify, or cut the chain"),
}


class Source(NamedTuple):
    """Where the parts come from: kernels by quantity and options, kernels of directional derivatives by quantity and order."""

    segments: Tree
    kernel: Callable[..., Kernel]
    directional: Callable[..., Kernel]


def serves(segments: Tree, quantity: str, *options: Any) -> bool:
    """Whether this quantity of this tree is made here; formulations other than the default go their own way."""
    if quantity in _MANY_ENTRIES:
        count, remedy = _MANY_ENTRIES[quantity]
        entries = count(segments.n, len(segments.segments))
        if entries > ENTRIES:
            raise ModelError(
                f"{quantity}: {segments.n} joints make {entries} entries per configuration, more than the {ENTRIES} that are "
                f"served. {remedy}."
            )
    if any(isinstance(option, str) and option != DEFAULT for option in options):
        return False
    if quantity == "forward_parameter_derivatives":
        return segments.n > SOLVED_COLUMNS
    if quantity == "forward_dynamics":
        return segments.n >= DENSE_FROM and (segments.has_spin or not segments.is_plain)
    if quantity == "regressor":
        return segments.pairs > PAIRS
    if quantity in ("christoffel", "second_derivatives") and segments.triples > TABLED_TRIPLES:
        return True
    if quantity == "second_derivatives":
        return segments.has_spin and segments.pairs > SECOND_PAIRS
    if quantity == "forward_derivatives":
        return segments.triples > TRIPLES
    return quantity in _BY_DIRECTIONS and segments.has_spin and segments.triples > TRIPLES


def build(source: Source, quantity: str, *options: Any) -> Kernel:
    """The kernel of a large system."""
    recipe = QUANTITIES[quantity](source.segments, *options)
    function = _FUNCTIONS[quantity](source, *options)
    inputs = tuple(Slot(name, shape) for name, shape in recipe.inputs.items())
    n = source.segments.n
    outputs = tuple(Slot(name, _shape(source.segments, quantity, *options)) for name in recipe.outputs)

    def run(*arrays: Any, out: Any = None) -> Any:
        arguments.batch_of(inputs, arrays)
        return arguments.delivered(function(*arrays), out, DOUBLE.dtype)

    return Kernel((run, refuse), inputs, outputs, cost_ns=100.0 * n**2)


def _shape(segments: Tree, quantity: str, *options: Any) -> tuple[int, ...]:
    n = segments.n
    if quantity in ("regressor", "forward_parameter_derivatives"):
        return (n, len(columns(segments, *(options or (STANDARD,)))))
    return {"forward_dynamics": (n,), "second_derivatives": (n, n, n), "christoffel": (n, n, n)}.get(quantity, (n, n))


def _forward_dynamics(source: Source, forces: Forces = FREE, formulation: str = DEFAULT) -> Callable[..., tuple[Any, ...]]:
    """M q̈ = τ − h, where full rotors or couplings rule out recursion; of all that is around, M knows only the parameters."""
    mass_matrix = source.kernel("mass_matrix", Forces(parameters=forces.parameters))
    inverse_dynamics = source.kernel("inverse_dynamics", formulation, forces)

    def function(q: Any, qd: Any, tau: Any, *extra: Any) -> tuple[Any, ...]:
        h = inverse_dynamics.ufunc(q, qd, np.zeros(source.segments.n), *extra)
        M = mass_matrix.ufunc(q, *extra[-1:]) if forces.parameters else mass_matrix.ufunc(q)
        return (_solved(M, (tau - h)[..., None])[..., 0],)

    return function


def _solved(M: Any, B: Any) -> Any:
    """M⁻¹ B for stacks of matrices; NaN where M is singular, which LAPACK would refuse for the whole stack."""
    try:
        return np.linalg.solve(M, B)
    except np.linalg.LinAlgError:
        singular = (np.linalg.slogdet(M).sign == 0.0)[..., None, None]
        return np.linalg.solve(np.where(singular, np.eye(M.shape[-1]), M), np.where(singular, np.nan, B))


def _columns(run: Kernel, state: tuple[Any, ...], which: int) -> Any:
    """The Jacobian by one of the inputs: a batch of unit directions, turned so that rows are outputs."""
    n = state[0].shape[-1]
    directions = [np.eye(n) if k == which else np.zeros(n) for k in range(len(state))]
    return np.swapaxes(run(*(x[..., None, :] for x in state), *directions), -1, -2)


def _inverse_derivatives(source: Source) -> Callable[..., tuple[Any, ...]]:
    run, mass_matrix = source.directional("inverse_dynamics"), source.kernel("mass_matrix", FREE)

    def function(q: Any, qd: Any, qdd: Any) -> tuple[Any, ...]:
        state = tuple(np.broadcast_arrays(q, qd, qdd))
        return _columns(run, state, 0), _columns(run, state, 1), mass_matrix(state[0])

    return function


def _forward_derivatives(source: Source) -> Callable[..., tuple[Any, ...]]:
    inverse, forward = source.kernel("inverse_derivatives"), source.kernel("forward_dynamics", FREE)

    def function(q: Any, qd: Any, tau: Any) -> tuple[Any, ...]:
        by_q, by_qd, M = inverse(q, qd, forward(q, qd, tau))
        inverse_M = _solved(M, np.eye(M.shape[-1]))
        return -inverse_M @ by_q, -inverse_M @ by_qd, inverse_M

    return function


def _coriolis_matrix(source: Source, formulation: str = DEFAULT) -> Callable[..., tuple[Any, ...]]:
    run = source.directional("bias")

    def function(q: Any, qd: Any) -> tuple[Any, ...]:
        return (_columns(run, tuple(np.broadcast_arrays(q, qd)), 1) * 0.5,)

    return function


def _second_derivatives(source: Source) -> Callable[..., tuple[Any, ...]]:
    """D²τ[v, w] for unit directions v and w of the state: the tangent of the tangent, which is linear in both."""
    run = source.directional("inverse_dynamics", 2)

    def function(q: Any, qd: Any, qdd: Any) -> tuple[Any, ...]:
        state = tuple(np.broadcast_arrays(q, qd, qdd))
        return tuple(_planes(run, state, *pair) for pair in ((0, 0), (0, 1), (1, 1), (2, 0)))

    return function


def _christoffel(source: Source, formulation: str = DEFAULT) -> Callable[..., tuple[Any, ...]]:
    """c_ijk = ½ ∂²h_i/∂q̇_j∂q̇_k, h being quadratic in q̇."""
    run = source.directional("bias", 2)

    def function(q: Any) -> tuple[Any, ...]:
        return (_planes(run, (q, np.zeros_like(q)), 1, 1) * 0.5,)

    return function


def _planes(run: Kernel, state: tuple[Any, ...], first: int, second: int) -> Any:
    """∂²τ_i/∂x_j∂y_k for two of the inputs x and y, with the index of the torque in front."""
    n = state[0].shape[-1]
    still = [np.zeros(n)] * len(state)
    v = [np.eye(n)[:, None, :] if k == first else np.zeros(n) for k in range(len(state))]
    w = [np.eye(n) if k == second else np.zeros(n) for k in range(len(state))]
    planes = run(*(x[..., None, None, :] for x in state), *v, *w, *still)
    return np.moveaxis(planes, -1, -3)


def _regressor(source: Source, options: Options = STANDARD) -> Callable[..., tuple[Any, ...]]:
    """The inertial columns pair by pair, written where they belong; then those of the drives."""
    tree, run = source.segments, _regressor_parts(source.segments, options)
    segments, inertial, width = tree.segments, len(INERTIAL), len(INERTIAL) + len(options.drive)
    kind = _kinds(tree, range(len(segments)))
    turned = _kinds(tree, [s.spin.mount if s.spin is not None else -1 for s in segments])[..., 1]
    coordinates = np.zeros((tree.n, len(segments)))
    coordinates[[s.coordinate for s in segments], range(len(segments))] = [s.multiplier for s in segments]

    def function(q: Any, qd: Any, qdd: Any) -> tuple[Any, ...]:
        axes, frames, motions, *drives = run(q, qd, qdd)
        Y = np.zeros((*axes.shape[:-1], len(segments), width))
        _pair()(kind, axes[..., :, None, :], frames[..., None, :, :], motions[..., None, :, :], out=Y[..., :inertial])
        if drives:
            np.einsum("...jjk->...jk", Y)[..., inertial:] = drives[0]
        if len(drives) > 1:  # moments of full rotors, on all joints that turn their mounts
            Y[..., inertial] += np.einsum("...ik,...jk->...ij", axes[..., :3], drives[1]) * turned
        if not tree.is_plain:
            Y = np.einsum("ci,...ijk->...cjk", coordinates, Y)
        return (Y.reshape(*Y.shape[:-2], -1),)

    return function


def _regressor_parts(tree: Tree, options: Options) -> Kernel:
    outputs = ["axes", "frames", "motions"] + ["drives"] * bool(options.drive) + ["moments"] * (options.rotor and tree.has_spin)

    def function(q: Any, qd: Any, qdd: Any) -> Any:
        found = parts(Unrolled(tree), q, qd, qdd, still_base(tree.gravity), options)
        return tuple(found[name] for name in outputs)

    return compile_program(trace(function, dict.fromkeys(("q", "qd", "qdd"), (tree.n,)), outputs, name="regressor_parts"))


def _kinds(tree: Tree, carriers: Iterable[int]) -> Any:
    """How each joint moves some segments: what it slides and turns them by, or nothing."""
    kinds = np.zeros((len(tree.segments), len(tree.segments), 2))
    for j, carrier in enumerate(carriers):
        for i in tree.path(carrier) if carrier >= 0 else ():
            kinds[i, j] = tree.segments[i].slide, tree.segments[i].turn
    return kinds


@cache
def _pair() -> Kernel:
    """The kernel of one joint's row and one link's columns, the same for all robots."""
    return compile_program(
        trace(pair, {"kind": (2,), "axis": (6,), "frame": (12,), "motion": (9,)}, ["Y"], name="regressor_pair")
    )


def _forward_parameter_derivatives(source: Source, options: Options = STANDARD) -> Callable[..., tuple[Any, ...]]:
    regressor, forward = source.kernel("regressor", options), source.kernel("forward_dynamics", FREE)
    mass_matrix = source.kernel("mass_matrix", FREE)

    def function(q: Any, qd: Any, tau: Any) -> tuple[Any, ...]:
        return (-_solved(mass_matrix(q), regressor(q, qd, forward(q, qd, tau))),)

    return function


_FUNCTIONS: dict[str, Callable[..., Callable[..., tuple[Any, ...]]]] = {
    "forward_dynamics": _forward_dynamics,
    "inverse_derivatives": _inverse_derivatives,
    "forward_derivatives": _forward_derivatives,
    "coriolis_matrix": _coriolis_matrix,
    "christoffel": _christoffel,
    "second_derivatives": _second_derivatives,
    "regressor": _regressor,
    "forward_parameter_derivatives": _forward_parameter_derivatives,
}
