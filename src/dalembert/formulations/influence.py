"""Influence coefficients: the effective inertia I* and the inertia power array P* of a tree, in closed form.

With G, H of the centres of mass (superscript C) and of the rotations of the links, their masses M and central inertias II in
world axes, and f the loads applied at points:

    T_n  = Σ_m I*_nm q̈_m + q̇ᵀ P*_n q̇ − T^L_n                              (1)  [Freeman, Eq. 2-198]
    I*   = Σ_links M G^Cᵀ G^C + Gᵀ II G                                    (2)  [Freeman, Eq. 2-196]
    P*_n = Σ_links M g^C_n·H^C + (II g_n)·H + (II G)ᵀ (g_n × G)            (3)  [Freeman, Eq. 2-197]
    T^L  = Σ_points G^Pᵀ f,  with f = M × gravity at the centres of mass   (4)  [Freeman, Eq. 2-147]

In (3) the coefficients are written out by their tables (algorithms/influence_coefficients.py), and the sum over the
links is taken first:

    M g^C_n·h^C_im = S^i·(M g^C_m × g^C_n) for i ≤ m                       (5)
    (II g_n)·h_pm  = (II S^n)·(S^p × S^m)  for p < m                       (6)

so that no array larger than a vector per pair of joints is summed over links. `closed` solves (1) for q̈
[Freeman, Eq. 2-199].
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algorithms import influence_coefficients
from ..algorithms.sweep import Unrolled
from ..model.tree import FramePlace, Tree
from ..spatial import SYM_ZERO, ZERO, Matrix, Pose, Sym3, Tensor, Vec3
from ..spatial.inertia import symmetric_shift
from ..spatial.nested import sum_of, zeros
from .base import (
    Formulation,
    FormulationTerm,
    Model,
    closed,
    condensed_tensor,
    spin_model,
    world_poses,
)


class _Linear(NamedTuple):
    """What the point masses add up to, over segments."""

    M: Matrix  # Σ M g_k·g_n
    W: dict[tuple[int, int], Vec3]  # Σ M g_k × g_n, for k < n on one path
    T: list[Any]  # Σ M g_n·gravity


def model(sweep: Unrolled, q: Any, gravity: Vec3) -> Model:
    """I*, P* and −T^L over segments, full rotors included."""
    tree, poses = sweep.tree, world_poses(sweep, q)
    axes = [pose.R.third for pose in poses]
    linear = _linear(tree, poses, gravity)
    I, P = linear.M, _linear_power(tree, axes, linear.W)
    _add_rotations(tree, poses, axes, I, P)
    if tree.has_spin:
        spin_M, spin_c = spin_model(tree, poses)
        I, P = sum_of(I, spin_M), sum_of(P, spin_c)
    return Model(I, P, [-T for T in linear.T])


def _linear(tree: Tree, poses: list[Pose], gravity: Vec3) -> _Linear:
    size = len(tree.segments)
    M, W, T = zeros(size, size), dict[tuple[int, int], Vec3](), zeros(size)
    for j, s in enumerate(tree.segments):
        for mass, place in influence_coefficients.point_masses(s.inertia):
            (G,) = influence_coefficients.point(tree, poses, j, poses[j].R @ place + poses[j].p, 1)
            for (n,), g in G.items():
                weighted = g * mass
                T[n] = T[n] + weighted.dot(gravity)  # (4)
                for k in (k for (k,) in G if k <= n):
                    M[k][n] = M[n][k] = M[k][n] + G[k,].dot(weighted)  # (2)
                    if k < n:
                        W[k, n] = W.get((k, n), ZERO) + G[k,].cross(weighted)
    return _Linear(M, W, T)


def _linear_power(tree: Tree, axes: list[Vec3], W: dict[tuple[int, int], Vec3]) -> Tensor:
    """The first term of (3) by (5); g × g changes its sign with the order of the two."""
    size = len(axes)
    P: Tensor = zeros(size, size, size)
    for (a, b), w in W.items():
        for n, k, moment in ((b, a, w), (a, b, -w)):
            for i in tree.path(k):
                if tree.segments[i].turn:
                    P[n][i][k] = P[n][k][i] = axes[i].dot(moment)
    return P


def _add_rotations(tree: Tree, poses: list[Pose], axes: list[Vec3], I: Matrix, P: Tensor) -> None:
    """The angular terms of (2) and (3): E = (II S^a)·(S^b × S^c) serves as (6), and twice in the last term of (3)."""
    paths = [[n for n in tree.path(j) if tree.segments[n].turn] for j in range(len(axes))]
    momenta = [{n: II @ axes[n] for n in path} for II, path in zip(_carried(tree, poses), paths, strict=True)]
    for c, path in enumerate(paths):
        if not tree.segments[c].turn:
            continue
        related = [a for a in range(len(axes)) if tree.segments[a].turn and (a in path or c in paths[a])]
        for b in path:
            I[b][c] = I[b][c] + axes[b].dot(momenta[c][c])  # (2)
            if b == c:
                continue
            I[c][b] = I[b][c]
            turned = axes[b].cross(axes[c])
            for a in related:
                E = momenta[max(a, c)][a].dot(turned)
                P[a][b][c] = P[a][b][c] + E
                P[b][a][c] = P[b][a][c] + E
                P[c][a][b] = P[c][a][b] - E


def _carried(tree: Tree, poses: list[Pose]) -> list[Sym3]:
    """For each joint the sum of the central inertias of all links it moves, in world axes."""
    total = [_central(tree, j).rotated(pose.R) for j, pose in enumerate(poses)]
    for j in reversed(range(len(total))):
        parent = tree.segments[j].parent
        if parent >= 0:
            total[parent] = total[parent] + total[j]
    return total


def _central(tree: Tree, j: int) -> Sym3:
    """A segment's inertia without that of its point masses about the internal origin."""
    body = tree.segments[j].inertia
    shifts = [symmetric_shift(p, p).scaled(mass) for mass, p in influence_coefficients.point_masses(body)]
    return body.I - sum(shifts, SYM_ZERO)


CLOSED = closed(model)


def _inertia(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Matrix:
    return CLOSED["mass_matrix"](sweep, q)


def _power(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    return condensed_tensor(sweep.tree, model(sweep, sweep.expand(q), sweep.tree.gravity).c)


def _gravity(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> list[Any]:
    return sweep.collect([-g for g in model(sweep, sweep.expand(q), sweep.tree.gravity).g])


def _centre(tree: Tree, j: int) -> FramePlace:
    """Where the centre of mass of a segment is; the origin of its link frame, if it has no mass."""
    body = tree.segments[j].inertia
    return FramePlace(j, tree.frames[j].R, body.centre) if body.mass else tree.frames[j]


def _coefficients(order: int, kind: str) -> Any:
    """For each segment the coefficients of one order, of its centre of mass or of its rotation."""

    def function(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> list[Any]:
        places = [_centre(sweep.tree, j) for j in range(len(sweep.tree.segments))]
        return [influence_coefficients.influence(sweep, q, place, order=order, kind=kind)[order - 1] for place in places]

    return function


TERMS = {
    "I": FormulationTerm("effective inertia I*, rotors included: the mass matrix, shape (n, n)", _inertia),
    "P": FormulationTerm("inertia power array P*: q̇ᵀ P*_n q̇ is the velocity torque at coordinate n, shape (n, n, n)", _power),
    "G_com": FormulationTerm(
        "∂c/∂q_n, c the centre of mass of all a moving joint carries rigidly, shape (m, 3, n)", _coefficients(1, "point")
    ),
    "H_com": FormulationTerm("∂G_n/∂q_l of the centres of mass, indices l, n, shape (m, 3, n, n)", _coefficients(2, "point")),
    "G_rot": FormulationTerm("angular velocity of a link per q̇_n, shape (m, 3, n)", _coefficients(1, "rotation")),
    "H_rot": FormulationTerm(
        "∂G_n/∂q_l of the rotations, indices l, n, not symmetric, shape (m, 3, n, n)", _coefficients(2, "rotation")
    ),
    "T_gravity": FormulationTerm(
        "generalised force T^L of gravity as an applied load: minus the gravity torque, shape (n,)", _gravity
    ),
}

FORMULATION = Formulation(
    name="influence",
    reference="Freeman, Ch. II",
    shows="geometry apart from time: torques as inertia and power arrays of the configuration, from joint axes and positions",
    terms=TERMS,
    largest=16,  # their operations grow with n³: 47 000 for a chain of 16, some twenty seconds to compile
    inverse_dynamics=CLOSED["inverse_dynamics"],
    mass_matrix=CLOSED["mass_matrix"],
    christoffel=CLOSED["christoffel"],
)
