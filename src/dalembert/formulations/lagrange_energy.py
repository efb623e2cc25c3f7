"""Lagrange's equations from kinetic and potential energy, by Jacobians of the centres of mass, in world axes.

Of link l, with mass m, centre of mass p_l and inertia tensor I_l about it, joint j on the path to l has the columns

    J_Pj = z_j × (p_l − p_j),  J_Oj = z_j,  turning         (1)  [Siciliano, Eq. 7.18, 7.19]
    J_Pj = z_j,                J_Oj = 0,    sliding
    I    = R I_l Rᵀ                                         (2)  [Siciliano, Eq. 7.12]

and of a rotor that turns k times as fast as its joint i, about an axis z fixed in its mount,

    J_O^(m) = J_O of the mount, with k z in column i        (3)  [Siciliano, Eq. 7.29]

B of T = ½ q̇ᵀB q̇ is a sum over links and rotors. Mass and inertia of a rotor at rest are part of its mount, so only what its
spin changes is counted with the rotor:

    B = Σ_l (m J_PᵀJ_P + J_Oᵀ I J_O) + Σ_m I_m (J_O^(m)ᵀ z zᵀ J_O^(m) − J_Oᵀ z zᵀ J_O)    (4)  [Siciliano, Eq. 7.32]

When joint k moves, what comes after it turns with it, and the centre of mass moves by J_Pk. With [k > j] = 1 where k comes
after j on the path, else 0,

    ∂J_Pj/∂q_k = J_Oa × J_Pb,  a the first and b the last of j and k                      (5)
    ∂(J_Oi·I J_Oj)/∂q_k = [k > i] (J_Oi × J_Ok)·I J_Oj + [k > j] (J_Oj × J_Ok)·I J_Oi     (6)
    ∂(z·J_Oj)/∂q_k = [k > j] (J_Oj × J_Ok)·z                                              (7)

so that b_ij is not changed by joints at or before both i and j. Then

    c_ijk = ½ (∂b_ij/∂q_k + ∂b_ik/∂q_j − ∂b_jk/∂q_i)        (8)  [Siciliano, Eq. 7.45]
    g_i   = −Σ_l m g₀·J_Pi                                  (9)  [Siciliano, Eq. 7.39]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..algorithms.joint import joint_screw
from ..algorithms.kinematics import WORLD
from ..algorithms.sweep import Unrolled
from ..expr import ops
from ..model.tree import FramePlace, Segment, Tree
from ..spatial import SYM_ZERO, ZERO, Matrix, Pose, Sym3, Tensor, Vec3
from ..spatial.inertia import symmetric_shift
from ..spatial.nested import zeros
from .base import (
    Formulation,
    FormulationTerm,
    Model,
    closed,
    closed_terms,
    condensed,
    world_poses,
)


class CentralBody(NamedTuple):
    """A body by its mass, its centre of mass in the segment's frame and the inertia tensor about that, in its axes."""

    mass: Any
    com: Vec3
    I: Sym3


class Columns(NamedTuple):
    """J_P and J_O of a point of a link for the joints on its path, base first, in world axes."""

    joints: list[int]
    P: list[Vec3]
    O: list[Vec3]


class Momenta(NamedTuple):
    """Linear and angular momentum of a body for unit rates of the joints on its path: m J_P and I J_O."""

    p: list[Vec3]
    L: list[Vec3]


def model(sweep: Unrolled, q: Any, gravity: Vec3) -> Model:
    """B, Christoffel symbols and gravity over segments, (4), (8) and (9)."""
    tree, poses = sweep.tree, world_poses(sweep, q)
    size = len(poses)
    B, dB, g = zeros(size, size), zeros(size, size, size), zeros(size)
    for i, s in enumerate(tree.segments):
        for J, momenta in moving_bodies(tree, poses, i):
            _enter(B, J.joints, link_matrix(J, momenta))
            _enter_rates(dB, J.joints, link_rates(J, momenta))
            for j, p in zip(J.joints, momenta.p, strict=True):
                g[j] = g[j] - gravity.dot(p)  # (9)
        if s.spin is not None:
            add_rotor(B, dB, tree, poses, i)
    return Model(B, christoffel(dB), g)


def moving_bodies(tree: Tree, poses: list[Pose], i: int) -> list[tuple[Columns, Momenta]]:
    """Jacobian columns and momenta of what segment i carries."""
    result = []
    for body in bodies(tree.segments[i], tree.frames[i]):
        J = columns(tree, poses, i, poses[i].R @ body.com + poses[i].p)
        I = body.I.rotated(poses[i].R)  # (2)
        result.append((J, Momenta([P * body.mass for P in J.P], [I @ O for O in J.O])))
    return result


def bodies(s: Segment, place: FramePlace) -> list[CentralBody]:
    """What a segment carries as a body with a centre of mass.

    Without mass there is none and none is needed: the tensor is the same about every point, and the origin of the link's own
    frame is taken. A first moment without mass, which needs masses of both signs, is written as that of a unit mass and of its
    opposite at the origin.
    """
    m, h, I = body = s.inertia
    if not ops.is_zero(m):
        return [CentralBody(m, body.centre, body.about_centre().I)]
    if h == ZERO:
        return [CentralBody(0.0, place.p, I)]
    return [CentralBody(1.0, h, I - symmetric_shift(h, h)), CentralBody(-1.0, ZERO, SYM_ZERO)]


def columns(tree: Tree, poses: list[Pose], link: int, point: Vec3) -> Columns:
    """The Jacobian of a point of a link, (1)."""
    joints = tree.path(link)[::-1]
    screws = [joint_screw(tree.segments[j], poses[j].R.third, point - poses[j].p) for j in joints]
    return Columns(joints, [S.v for S in screws], [S.w for S in screws])


def link_matrix(J: Columns, momenta: Momenta) -> Matrix:
    """m J_PᵀJ_P + J_Oᵀ I J_O of one body over the joints of its path, as in (4)."""
    size = len(J.joints)
    b: Matrix = zeros(size, size)
    for i in range(size):
        for j in range(i, size):
            b[i][j] = b[j][i] = J.P[i].dot(momenta.p[j]) + J.O[i].dot(momenta.L[j])
    return b


def link_rates(J: Columns, momenta: Momenta) -> Tensor:
    """db[i][j][k] = ∂b_ij/∂q_k of `link_matrix`, by (5) and (6)."""
    (_, P, O), (p, L) = J, momenta
    path = range(len(P))
    dP = [[O[min(j, k)].cross(P[max(j, k)]) for k in path] for j in path]  # (5)
    turned = [[O[j].cross(O[k]) if k > j else ZERO for k in path] for j in path]
    db: Tensor = zeros(len(P), len(P), len(P))
    for i in path:
        for j in path[i:]:
            for k in path[i + 1 :]:  # no other joint changes b_ij
                linear = dP[i][k].dot(p[j]) + dP[j][k].dot(p[i])
                angular = turned[i][k].dot(L[j]) + turned[j][k].dot(L[i])  # (6)
                db[i][j][k] = db[j][i][k] = linear + angular
    return db


def add_rotor(B: Matrix, dB: Tensor, tree: Tree, poses: list[Pose], i: int) -> None:
    """Add to B and its derivatives what the spin of joint i's rotor gives, (4) and (7)."""
    spin = tree.segments[i].spin
    assert spin is not None
    B[i][i] = B[i][i] + spin.kkI
    if spin.mount < 0:
        return
    mount = poses[spin.mount]
    z = mount.R @ (spin.axis * spin.kI)
    joints, _, O = columns(tree, poses, spin.mount, mount.p)
    for a, j in enumerate(joints):
        for row, column in ((i, j), (j, i)):
            B[row][column] = B[row][column] + z.dot(O[a])
            for b, k in enumerate(joints[a + 1 :], a + 1):
                dB[row][column][k] = dB[row][column][k] + z.dot(O[a].cross(O[b]))  # (7)


def christoffel(dB: Tensor) -> Tensor:
    """c_ijk from dB[i][j][k] = ∂b_ij/∂q_k, (8)."""
    n = range(len(dB))
    c: Tensor = zeros(len(n), len(n), len(n))
    for i in n:
        for j in n:
            for k in n[j:]:
                c[i][j][k] = c[i][k][j] = (dB[i][j][k] + dB[i][k][j] - dB[j][k][i]) * 0.5
    return c


def _enter(B: Matrix, joints: list[int], b: Matrix) -> None:
    """Add a matrix over the joints of a path to one over all."""
    for i, row in zip(joints, b, strict=True):
        for j, entry in zip(joints, row, strict=True):
            B[i][j] = B[i][j] + entry


def _enter_rates(dB: Tensor, joints: list[int], db: Tensor) -> None:
    for i, plane in zip(joints, db, strict=True):
        for j, row in zip(joints, plane, strict=True):
            for k, entry in zip(joints, row, strict=True):
                dB[i][j][k] = dB[i][j][k] + entry


NATIVE = closed(model)


def _linear(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    return [_by_coordinates(sweep.tree, J.joints, J.P) for J in _central_columns(sweep, q)]


def _angular(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    return [_by_coordinates(sweep.tree, J.joints, J.O) for J in _central_columns(sweep, q)]


def _central_columns(sweep: Unrolled, q: Any) -> list[Columns]:
    """Of every link at its centre of mass or, without mass, at the origin of its own frame."""
    tree, poses = sweep.tree, world_poses(sweep, sweep.expand(q))
    result = []
    for i, (s, place) in enumerate(zip(tree.segments, tree.frames, strict=True)):
        point = place.p if ops.is_zero(s.inertia.mass) else s.inertia.centre
        result.append(columns(tree, poses, i, poses[i].R @ point + poses[i].p))
    return result


def _rotor_angular(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    tree, poses = sweep.tree, world_poses(sweep, sweep.expand(q))
    result = []
    for i, s in enumerate(tree.segments):
        if s.spin is None:
            result.append(zeros(3, tree.n))
            continue
        mount = poses[s.spin.mount] if s.spin.mount >= 0 else WORLD
        joints, _, O = columns(tree, poses, s.spin.mount, mount.p)
        result.append(_by_coordinates(tree, [*joints, i], [*O, mount.R @ (s.spin.axis * s.ratio)]))  # (3)
    return result


def _by_coordinates(tree: Tree, joints: list[int], of_joints: list[Vec3]) -> Matrix:
    """The rows of a Jacobian over coordinates from its columns over joints."""
    total = [ZERO] * tree.n
    for j, column in zip(joints, of_joints, strict=True):
        s = tree.segments[j]
        total[s.coordinate] = total[s.coordinate] + column * s.multiplier
    return [[column[row] for column in total] for row in range(3)]


def _links(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    tree, poses = sweep.tree, world_poses(sweep, sweep.expand(q))
    result = []
    for i in range(len(poses)):
        B = zeros(len(poses), len(poses))
        for J, momenta in moving_bodies(tree, poses, i):
            _enter(B, J.joints, link_matrix(J, momenta))
        result.append(condensed(tree, B))
    return result


def _rotors(sweep: Unrolled, q: Any, qd: Any, qdd: Any) -> Tensor:
    tree, poses = sweep.tree, world_poses(sweep, sweep.expand(q))
    size = len(poses)
    result = []
    for i, s in enumerate(tree.segments):
        B = zeros(size, size)
        B[i][i] = s.armature
        if s.spin is not None:
            add_rotor(B, zeros(size, size, size), tree, poses, i)
        result.append(condensed(tree, B))
    return result


OWN = closed_terms(
    model,
    M="inertia matrix, the sum of `links` and `rotors`, shape (n, n)",
    c="Christoffel symbols c_ijk of B, shape (n, n, n)",
    g="gravity torque, shape (n,)",
)
TERMS = {
    "B": OWN["M"],
    "c": OWN["c"],
    "g": OWN["g"],
    "J_P": FormulationTerm(
        "linear Jacobian of each link's centre of mass, shape (m, 3, n); of a massless link's origin", _linear
    ),
    "J_O": FormulationTerm("angular Jacobian of each link, shape (m, 3, n)", _angular),
    "J_O_rotor": FormulationTerm(
        "angular Jacobian of each joint's full rotor, shape (m, 3, n); zero where there is none", _rotor_angular
    ),
    "links": FormulationTerm("part of each link in B, rotors at rest included, shape (m, n, n)", _links),
    "rotors": FormulationTerm("part of each joint's rotor in B, by its spin, shape (m, n, n)", _rotors),
}

FORMULATION = Formulation(
    name="lagrange_energy",
    reference="Siciliano, §7.1",
    inverse_dynamics=NATIVE["inverse_dynamics"],
    shows="where energy is: Jacobians of centres of mass and rotors, the inertia matrix of each link, Christoffel symbols",
    mass_matrix=NATIVE["mass_matrix"],
    christoffel=NATIVE["christoffel"],
    terms=TERMS,
    largest=14,
)
