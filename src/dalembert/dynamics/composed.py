"""Quantities of large systems, put together from several kernels and LAPACK.

Where full rotors rule out composite bodies, straight-line code for derivatives has some 25 operations for each joint and every
two joints before it, and takes more than five seconds to compile beyond sixty thousand. From there on, a loop kernel of
directional derivatives (expr/tangent.py) is run for a batch of unit directions: the same numbers, compiled in a third of a
second at any size. A regressor has a block of ten entries for each joint and each one before it; of many, they are computed
by one small kernel run for all of them. When each is taken stands in sizes.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from ..algorithms.newton_euler_recursion import still_base
from ..algorithms.regressor import INERTIAL, STANDARD, Options, columns, pair, parts
from ..algorithms.sweep import Unrolled
from ..codegen import Kernel
from ..codegen import build as compile_program
from ..expr import trace
from ..model.tree import Tree
from .surroundings import DEFAULT, FREE, Forces
from .system import Composition, Kernels


def forward_dynamics(tree: Tree, source: Kernels, forces: Forces = FREE, formulation: str = DEFAULT) -> Composition:
    """M q̈ = τ − h, where full rotors or couplings rule out recursion; of all that is around, M knows only the parameters."""
    mass_matrix = source.kernel("mass_matrix", Forces(parameters=forces.parameters), DEFAULT)
    inverse_dynamics = source.kernel("inverse_dynamics", formulation, forces)
    still = np.zeros(tree.n)

    def function(q: Any, qd: Any, tau: Any, *extra: Any) -> tuple[Any, ...]:
        h = inverse_dynamics.ufunc(q, qd, still, *extra)
        M = mass_matrix.ufunc(q, *extra[-1:]) if forces.parameters else mass_matrix.ufunc(q)
        return (_solved(M, (tau - h)[..., None])[..., 0],)

    return Composition(function, [(tree.n,)])


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


def inverse_derivatives(tree: Tree, source: Kernels) -> Composition:
    """Column by column along directions, and the mass matrix."""
    run, mass_matrix = source.directional("inverse_dynamics"), source.kernel("mass_matrix", FREE, DEFAULT)

    def function(q: Any, qd: Any, qdd: Any) -> tuple[Any, ...]:
        state = tuple(np.broadcast_arrays(q, qd, qdd))
        return _columns(run, state, 0), _columns(run, state, 1), mass_matrix(state[0])

    return Composition(function, [(tree.n, tree.n)] * 3)


def torque_rate(tree: Tree, source: Kernels) -> Composition:
    """One direction of the tangent of inverse dynamics: that of the motion."""
    run = source.directional("inverse_dynamics")

    def function(q: Any, qd: Any, qdd: Any, qddd: Any) -> tuple[Any, ...]:
        return (run(q, qd, qdd, qd, qdd, qddd),)

    return Composition(function, [(tree.n,)])


def forward_derivatives(tree: Tree, source: Kernels) -> Composition:
    """−M⁻¹ times the derivatives of inverse dynamics, at the acceleration that τ causes."""
    inverse, forward = source.kernel("inverse_derivatives"), source.kernel("forward_dynamics", FREE, DEFAULT)

    def function(q: Any, qd: Any, tau: Any) -> tuple[Any, ...]:
        by_q, by_qd, M = inverse(q, qd, forward(q, qd, tau))
        inverse_M = _solved(M, np.eye(M.shape[-1]))
        return -inverse_M @ by_q, -inverse_M @ by_qd, inverse_M

    return Composition(function, [(tree.n, tree.n)] * 3)


def coriolis_matrix(tree: Tree, source: Kernels, formulation: str = DEFAULT) -> Composition:
    """C = ½ ∂h/∂q̇ without gravity, column by column."""
    run = source.directional("bias")

    def function(q: Any, qd: Any) -> tuple[Any, ...]:
        return (_columns(run, tuple(np.broadcast_arrays(q, qd)), 1) * 0.5,)

    return Composition(function, [(tree.n, tree.n)])


def second_derivatives(tree: Tree, source: Kernels) -> Composition:
    """D²τ[v, w] for unit directions v and w of the state: the tangent of the tangent, which is linear in both."""
    run = source.directional("inverse_dynamics", 2)

    def function(q: Any, qd: Any, qdd: Any) -> tuple[Any, ...]:
        state = tuple(np.broadcast_arrays(q, qd, qdd))
        return tuple(_planes(run, state, *pair) for pair in ((0, 0), (0, 1), (1, 1), (2, 0)))

    return Composition(function, [(tree.n,) * 3] * 4)


def christoffel(tree: Tree, source: Kernels, formulation: str = DEFAULT) -> Composition:
    """c_ijk = ½ ∂²h_i/∂q̇_j∂q̇_k, h being quadratic in q̇."""
    run = source.directional("bias", 2)

    def function(q: Any) -> tuple[Any, ...]:
        return (_planes(run, (q, np.zeros_like(q)), 1, 1) * 0.5,)

    return Composition(function, [(tree.n,) * 3])


def _planes(run: Kernel, state: tuple[Any, ...], first: int, second: int) -> Any:
    """∂²τ_i/∂x_j∂y_k for two of the inputs x and y, with the index of the torque in front."""
    n = state[0].shape[-1]
    still = [np.zeros(n)] * len(state)
    v = [np.eye(n)[:, None, :] if k == first else np.zeros(n) for k in range(len(state))]
    w = [np.eye(n) if k == second else np.zeros(n) for k in range(len(state))]
    planes = run(*(x[..., None, None, :] for x in state), *v, *w, *still)
    return np.moveaxis(planes, -1, -3)


def regressor(tree: Tree, source: Kernels, options: Options = STANDARD) -> Composition:
    """The inertial columns pair by pair, written where they belong; then those of the drives."""
    run = _regressor_parts(tree, options)
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

    return Composition(function, [(tree.n, len(columns(tree, options)))])


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


def forward_parameter_derivatives(tree: Tree, source: Kernels, options: Options = STANDARD) -> Composition:
    """−M⁻¹ Y, at the acceleration that τ causes."""
    Y, forward = source.kernel("regressor", options), source.kernel("forward_dynamics", FREE, DEFAULT)
    mass_matrix = source.kernel("mass_matrix", FREE, DEFAULT)

    def function(q: Any, qd: Any, tau: Any) -> tuple[Any, ...]:
        return (-_solved(mass_matrix(q), Y(q, qd, forward(q, qd, tau))),)

    return Composition(function, [(tree.n, len(columns(tree, options)))])
