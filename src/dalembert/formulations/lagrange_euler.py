"""Lagrange-Euler with 4x4 matrices: transforms between the links' own frames and their derivatives by the joint variables.

With T_i the transform of link i into the world, J_i = ∫ r̃ r̃ᵀ dm the pseudo-inertia of all it carries (r̃ = (r, 1) in its own
frame), and j running over the links that joints i, k, m all move:

    U_ij  = ∂T_i/∂q_j,  U_ijk = ∂U_ij/∂q_k                 (1)  [Milicevic, Eq. 2.3]
    D_ik  = Σ_j tr(U_jk J_j U_jiᵀ)                          (2)  [Milicevic, Eq. 2.11; Lee, Eq. 3]
    h_ikm = Σ_j tr(U_jkm J_j U_jiᵀ)                         (3)  [Milicevic, Eq. 2.14; Lee, Eq. 4]
    c_i   = −Σ_j m_j g U_ji r̄_j                            (4)  [Milicevic, Eq. 2.15; Lee, Eq. 5]
    τ_i   = Σ_k D_ik q̈_k + Σ_km h_ikm q̇_k q̇_m + c_i        (5)  [Milicevic, Eq. 2.5; Lee, Eq. 2]

A joint moves its link by A_i(q) = A_i(0) exp(Q_i q), with A_i the transform to the parent's frame and Q_i the joint's twist as
a constant matrix in the link's frame, so that its axis may lie anywhere and turn or slide. With p the parent of i,

    T_i = T_p A_i,  U_ij = U_pj A_i,  U_ijk = U_pjk A_i     (6)
    U_ii = T_i Q_i,  U_iik = U_iki = U_ik Q_i               (7)

Last rows are known and not computed, U_ij is zero for joints off the path to link i, D_ik = D_ki and h_ikm = h_imk. And as D_im
is not changed by a joint k at or before both i and m, which moves all of it as one body,

    h_imk = −h_mik,  k at or before i and m                 (8)

so that h_iii = 0. The sums over links stay as the documents have them, and the operations grow with the fourth power of the
joints.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from ..algorithms.joint import joint_screw, transform
from ..algorithms.kinematics import WORLD, homogeneous
from ..algorithms.sweep import Unrolled
from ..model.tree import FramePlace, Segment, Tree
from ..spatial import Mat3, Matrix, Pose, Tensor, Vec3, outer, second_moment, skew
from ..spatial.nested import sum_of, zeros
from .base import (
    Formulation,
    FormulationTerm,
    Model,
    closed,
    closed_terms,
    spin_model,
    world_poses,
)

_DUST = 1e-14  # constants this near to 0 or ±1 are rounding of exactly that

# A `Pose` holds the upper three rows of a 4x4 matrix; the fourth is (0, 0, 0, 1) of a transform and zero of a derivative.


class LinkMatrices(NamedTuple):
    """T_i of a link, U_ij for the joints j on its path, base first, and U_ijk for its pairs j, k with k not before j."""

    T: Pose
    U: dict[int, Pose]
    U2: dict[tuple[int, int], Pose]


class PseudoInertia(NamedTuple):
    """J = [S h; hᵀ m]: second moments ∫ r rᵀ dm, first moment, mass."""

    S: Mat3
    h: Vec3
    mass: Any


def model(sweep: Unrolled, q: Any, gravity: Vec3) -> Model:
    """D, h and c over segments, (2) to (4), with the spin of full rotors, whose inertia at rest is part of their mounts."""
    size = len(sweep.tree.segments)
    D, h, c = zeros(size, size), zeros(size, size, size), zeros(size)
    for link, J in zip(link_matrices(sweep, q), pseudo_inertias(sweep.tree), strict=True):
        for i, U_i in link.U.items():
            UJ = with_inertia(U_i, J)
            c[i] = c[i] - gravity.dot(UJ.p)  # (4): the last column of J is m r̄
            for k, U_k in link.U.items():
                if k <= i:
                    D[i][k] = D[i][k] + trace(U_k, UJ)  # (2)
            for (k, m), U_km in link.U2.items():
                if i < m:
                    h[i][k][m] = h[i][k][m] + trace(U_km, UJ)  # (3)
    mirror(D, h)
    if sweep.tree.has_spin:
        poses = world_poses(sweep, q)
        D, h = sum_of([D, h], list(spin_model(sweep.tree, poses)))
    return Model(D, h, c)


def mirror(D: Matrix, h: Tensor) -> None:
    """The entries that follow from those computed, D_im for m ≤ i and h_ikm for k ≤ m > i, by symmetry and (8)."""
    for i in range(len(D)):
        for m in range(i):
            D[m][i] = D[i][m]
            for k in range(m + 1):
                h[i][k][m] = -h[m][k][i]  # (8)
    for plane in h:
        for m in range(len(D)):
            for k in range(m):
                plane[m][k] = plane[k][m]


def link_matrices(sweep: Unrolled, q: Any) -> list[LinkMatrices]:
    """T, U and U2 of every link, q being per segment."""
    tree = sweep.tree
    A = [link_transform(tree, s, place, x) for s, place, x in zip(tree.segments, tree.frames, q, strict=True)]
    Q = [twist_matrix(s, place) for s, place in zip(tree.segments, tree.frames, strict=True)]
    return sweep.outward(outward_step, LinkMatrices(WORLD, {}, {}), range(len(A)), A, Q)


def outward_step(s: Segment, parent: LinkMatrices, i: int, A: Pose, Q: Pose) -> LinkMatrices:
    """From the matrices of the parent to those of link i, (6) and (7)."""
    T = parent.T @ A
    U = {j: U_j @ A for j, U_j in parent.U.items()} | {i: times_twist(T, Q)}
    U2 = {jk: U_jk @ A for jk, U_jk in parent.U2.items()} | {(j, i): times_twist(U_j, Q) for j, U_j in U.items()}
    return LinkMatrices(T, U, U2)


def link_transform(tree: Tree, s: Segment, place: FramePlace, q: Any) -> Pose:
    """A_i(q): the link's own frame in its parent's own frame; of a standard DH table, its row [Milicevic, Eq. 2.1]."""
    R, p = s.R, s.p
    if s.parent >= 0:
        parent = tree.frames[s.parent]
        R, p = Mat3(*map(_exact, parent.R.T.times(R))), _exact(parent.R.T @ (p - parent.p))
    X = transform(dataclasses.replace(s, R=R, p=p), q)
    return Pose(X.rotation(), X.p) @ place.pose


def twist_matrix(s: Segment, place: FramePlace) -> Pose:
    """Q_i: the twist of the joint in the link's own frame; its axis is z of the internal frame, through that origin.

    Where the axis goes through the link's origin, what is left of a × arm is rounding, and no operation may depend on it.
    """
    v, w = joint_screw(s, place.R.z, place.R.T @ place.p)
    return Pose(skew(_exact(w)), _exact(v))


def times_twist(U: Pose, Q: Pose) -> Pose:
    """U Q for a matrix whose last row is zero; `@` is for a transform, whose last row is (0, 0, 0, 1)."""
    return Pose(U.R.times(Q.R), U.R @ Q.p)


def pseudo_inertias(tree: Tree) -> list[PseudoInertia]:
    """J of every segment in its link's own frame."""
    return [_pseudo_inertia(s, place) for s, place in zip(tree.segments, tree.frames, strict=True)]


def _pseudo_inertia(s: Segment, place: FramePlace) -> PseudoInertia:
    body = s.inertia.placed(place.pose.inverse)
    return PseudoInertia(second_moment(body.I).matrix(), body.h, body.mass)


def with_inertia(U: Pose, J: PseudoInertia) -> Pose:
    """U J."""
    return Pose(U.R.times(J.S) + outer(U.p, J.h), U.R @ J.h + U.p * J.mass)


def trace(U: Pose, V: Pose) -> Any:
    """tr(U Vᵀ): the sum of products entry by entry."""
    return U.R.x.dot(V.R.x) + U.R.y.dot(V.R.y) + U.R.z.dot(V.R.z) + U.p.dot(V.p)


def _exact(v: Vec3) -> Vec3:
    """Numbers without rounding dust; lengths that are symbols or batches stay as they are."""
    return Vec3(*(float(round(x)) if isinstance(x, float) and abs(x - round(x)) < _DUST else x for x in v))


NATIVE = closed(model)


def _transforms(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
    return [homogeneous(link.T) for link in link_matrices(sweep, sweep.expand(q))]


def _first(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
    size = len(sweep.tree.segments)
    result = zeros(size, size, 4, 4)
    for i, link in enumerate(link_matrices(sweep, sweep.expand(q))):
        for j, U in link.U.items():
            result[i][j] = _derivative(U)
    return result


def _second(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Any:
    size = len(sweep.tree.segments)
    result = zeros(size, size, size, 4, 4)
    for i, link in enumerate(link_matrices(sweep, sweep.expand(q))):
        for (j, k), U in link.U2.items():
            result[i][j][k] = result[i][k][j] = _derivative(U)
    return result


def _derivative(U: Pose) -> Matrix:
    return [*homogeneous(U)[:3], [0.0] * 4]


def _inertias(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    return [[[*row, h] for row, h in zip(J.S, J.h, strict=True)] + [[*J.h, J.mass]] for J in pseudo_inertias(sweep.tree)]


OWN = closed_terms(
    model,
    M="D_ik: what multiplies q̈_k, rotors included, shape (n, n)",
    c="h_ikm: what multiplies q̇_k q̇_m, shape (n, n, n)",
    g="c_i: gravity loading, shape (n,)",
)
TERMS = {
    "T": FormulationTerm("T_i: own frame of each moving joint's link in the world, shape (m, 4, 4)", _transforms),
    "U": FormulationTerm("U_ij = ∂T_i/∂q_j by the joints' own variables, shape (m, m, 4, 4)", _first),
    "U2": FormulationTerm("U_ijk = ∂²T_i/∂q_j∂q_k, shape (m, m, m, 4, 4)", _second),
    "J": FormulationTerm("J_i: pseudo-inertia of all the link carries, in its own frame, shape (m, 4, 4)", _inertias),
    "D": OWN["M"],
    "h": OWN["c"],
    "c": OWN["g"],
}

FORMULATION = Formulation(
    name="lagrange_euler",
    reference="Milicevic, §2",
    inverse_dynamics=NATIVE["inverse_dynamics"],
    shows="4x4 transforms with their derivatives, and each coefficient D_ik, h_ikm, c_i on its own",
    mass_matrix=NATIVE["mass_matrix"],
    christoffel=NATIVE["christoffel"],
    terms=TERMS,
    parameters=True,
    largest=14,
)
