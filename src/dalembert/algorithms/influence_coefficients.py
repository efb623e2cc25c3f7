"""Kinematic influence coefficients: how the rotation of a link and a point on it follow the joints, to third order.

Let S be the axis of a joint and R a point on it, P a point on the link, all in the world; joints are numbered from the base,
and only those on the way to the link count. With G = ∂u/∂q, H_mn = ∂G_n/∂q_m, D_lmn = ∂H_mn/∂q_l [Freeman, Eq. 2-6, 2-17, 2-42]:

    point     g_n   = S^n × (P − R^n),  or S^n where joint n slides             (1)  [Freeman, Table 2-3]
              h_mn  = S^i × g_k         for m, n in order i ≤ k                 (2)  [Freeman, Table 2-4]
              d_lmn = S^i × (S^j × g_k) for l, m, n in order i ≤ j ≤ k          (3)  [Freeman, Table 2-5]
    rotation  g_n   = S^n                                                       (4)  [Freeman, Table 2-3]
              h_mn  = S^m × S^n         for m < n                               (5)  [Freeman, Table 2-4]
              d_lmn = S^i × (S^j × S^n) for l, m < n, in order i ≤ j            (6)  [Freeman, Table 2-5]

and zero wherever a joint whose axis stands to the left of a cross, or any joint of a rotation, slides. Angles of rotation are
no functions of q (G q̇ is the angular velocity), so H and D of a rotation are not symmetric [theory: influence].
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ..model.tree import FramePlace, Tree
from ..spatial import ZERO, Inertia, Matrix, Pose, Vec3
from ..spatial.nested import add_at, zeros
from .joint import joint_screw
from .kinematics import place_pose, segment_poses
from .sweep import Unrolled

Coefficients = dict[tuple[int, ...], Vec3]  # by the numbers of the segments that move, those that are zero left out
KINDS = {"link": "point, then rotation", "point": "position of the point", "rotation": "rotation of the link"}


def point(tree: Tree, poses: Sequence[Pose], segment: int, P: Vec3, order: int) -> list[Coefficients]:
    """G, H, D (as many as `order`) of a point P of the world that is fixed in a segment, (1) to (3)."""
    path = sorted(tree.path(segment))
    S = {n: poses[n].R.third for n in path}
    turns = {n for n in path if tree.segments[n].turn}
    G: Coefficients = {(n,): joint_screw(tree.segments[n], S[n], P - poses[n].p).v for n in path}  # (1)
    H: Coefficients = {}
    D: Coefficients = {}
    for i, k in itertools.combinations_with_replacement(path, 2) if order > 1 else ():
        if i in turns:
            H[i, k] = H[k, i] = S[i].cross(G[k,])  # (2)
    for i, j, k in itertools.combinations_with_replacement(path, 3) if order > 2 else ():
        if {i, j} <= turns:
            D |= dict.fromkeys(itertools.permutations((i, j, k)), S[i].cross(H[j, k]))  # (3)
    return [G, H, D][:order]


def rotation(tree: Tree, poses: Sequence[Pose], segment: int, order: int) -> list[Coefficients]:
    """G, H, D (as many as `order`) of a segment's rotation, (4) to (6)."""
    path = sorted(n for n in tree.path(segment) if tree.segments[n].turn)
    S = {n: poses[n].R.third for n in path}
    G: Coefficients = {(n,): S[n] for n in path}  # (4)
    H: Coefficients = {}
    D: Coefficients = {}
    for m, n in itertools.combinations(path, 2) if order > 1 else ():
        H[m, n] = S[m].cross(S[n])  # (5)
        for i in (k for k in path if k <= m and order > 2):
            D[i, m, n] = D[m, i, n] = S[i].cross(H[m, n])  # (6)
    return [G, H, D][:order]


def rows(tree: Tree, coefficients: Coefficients, order: int) -> list[Any]:
    """Coefficients over segments as x, y, z rows over coordinates; a constant coupling multiplies each index."""
    result: list[Any] = [zeros(*(tree.n,) * order) for _ in range(3)]
    for key, vector in coefficients.items():
        moving = [tree.segments[k] for k in key]
        factor = math.prod(s.multiplier for s in moving)
        for row, component in zip(result, vector * factor, strict=True):
            add_at(row, [s.coordinate for s in moving], component)
    return result


def influence(sweep: Unrolled, q: Any, place: FramePlace, *, order: int, kind: str) -> list[Any]:
    """G[row][n], H[row][m][n], D[row][l][m][n] (as many as `order`) of a frame's origin, of its rotation, or of both."""
    poses = segment_poses(sweep, q)
    found: list[list[Coefficients]] = []
    if kind != "rotation":
        found.append(point(sweep.tree, poses, place.segment, place_pose(poses, place).p, order))
    if kind != "point":
        found.append(rotation(sweep.tree, poses, place.segment, order))
    return [[row for part in found for row in rows(sweep.tree, part[k], k + 1)] for k in range(order)]


def link_motion(sweep: Unrolled, place: FramePlace, q: Any, *rates: Any) -> Matrix:
    """Velocity, acceleration and jerk [linear; angular] of a frame, as many as there are rates q̇, q̈, q⃛.

        u̇ = G q̇                                                       (7)  [Freeman, Eq. 2-7]
        ü = G q̈ + q̇ᵀ H q̇                                              (8)  [Freeman, Eq. 2-27]
        u⃛ = G q⃛ + q̈ᵀ (H + 2 Hᵀ) q̇ + (q̇ᵀ D q̇) q̇                        (9)  [Freeman, Eq. 2-44]

    The sums over H and D are taken from the tip, where those of neighbouring joints have all but one term in common: a joint
    costs a few cross products, however many there are.
    """
    poses = segment_poses(sweep, q)
    path = sorted(sweep.tree.path(place.segment))
    column = [[rate[n] for n in path] for rate in (sweep.expand(r, rate=True) for r in rates)]
    S = [poses[n].R.third for n in path]
    axes = [z * sweep.tree.segments[n].turn for z, n in zip(S, path, strict=True)]
    G = point(sweep.tree, poses, place.segment, place_pose(poses, place).p, 1)[0]
    g = [G[n,] for n in path]
    linear, angular = _point_motion(axes, g, *column), _rotation_motion(axes, *column)
    return [[*v, *w] for v, w in zip(linear, angular, strict=True)]


def _point_motion(axes: list[Vec3], g: list[Vec3], *rates: list[Any]) -> list[Vec3]:
    """(7) to (9) for a point, whose H and D are symmetric: 3 q̈ᵀ H q̇ in (9) [Freeman, Eq. 2-116]."""
    motion = [_sum(_times(g, rate)) for rate in rates]
    if len(rates) > 1:
        motion[1] = motion[1] + _point_second(axes, g, rates[0], rates[0])
    if len(rates) > 2:
        motion[2] = motion[2] + _point_second(axes, g, rates[1], rates[0]) * 3.0 + _point_third(axes, g, rates[0])
    return motion


def _rotation_motion(axes: list[Vec3], *rates: list[Any]) -> list[Vec3]:
    """(7) to (9) for a rotation [Freeman, Eq. 2-107]."""
    motion = [_sum(_times(axes, rate)) for rate in rates]
    if len(rates) > 1:
        motion[1] = motion[1] + _rotation_second(axes, rates[0], rates[0])
    if len(rates) > 2:
        qd, qdd = rates[:2]
        mixed = _rotation_second(axes, qdd, qd) + _rotation_second(axes, qd, qdd) * 2.0
        motion[2] = motion[2] + mixed + _rotation_third(axes, qd)
    return motion


def _point_second(axes: list[Vec3], g: list[Vec3], x: list[Any], y: list[Any]) -> Vec3:
    """Σ h_mn x_m y_n = Σ_i S^i × (x_i Σ_k≥i y_k g_k + y_i Σ_k>i x_k g_k)."""
    gx, gy = _times(g, x), _times(g, y)
    parts = zip(axes, x, y, gy, _beyond(gx), _beyond(gy), strict=True)
    return _sum([S.cross((own + after_y) * a + after_x * b) for S, a, b, own, after_x, after_y in parts])


def _point_third(axes: list[Vec3], g: list[Vec3], x: list[Any]) -> Vec3:
    """Σ d_lmn x_l x_m x_n, each set of three joints as often as it can be arranged: 1, 3 or 6 times."""
    gx, Sx = _times(g, x), _times(axes, x)
    after = _beyond(gx)
    twice = [S.cross(own + rest * 3.0) for S, own, rest in zip(Sx, gx, after, strict=True)]  # joint i again as j
    later = _beyond([S.cross(own * 3.0 + rest * 6.0) for S, own, rest in zip(Sx, gx, after, strict=True)])
    return _sum([S.cross(a + b) for S, a, b in zip(Sx, twice, later, strict=True)])


def _rotation_second(axes: list[Vec3], x: list[Any], y: list[Any]) -> Vec3:
    """Σ h_mn x_m y_n = Σ_m S^m x_m × Σ_n>m S^n y_n."""
    return _sum([S.cross(rest) for S, rest in zip(_times(axes, x), _beyond(_times(axes, y)), strict=True)])


def _rotation_third(axes: list[Vec3], x: list[Any]) -> Vec3:
    """Σ d_lmn x_l x_m x_n: once for l = m, twice for two different joints before the third."""
    Sx = _times(axes, x)
    inner = [S.cross(rest) for S, rest in zip(Sx, _beyond(Sx), strict=True)]
    return _sum([S.cross(own + rest * 2.0) for S, own, rest in zip(Sx, inner, _beyond(inner), strict=True)])


def _times(vectors: list[Vec3], factors: list[Any]) -> list[Vec3]:
    return [v * x for v, x in zip(vectors, factors, strict=True)]


def _sum(vectors: list[Vec3]) -> Vec3:
    return sum(vectors, ZERO)


def _beyond(vectors: list[Vec3]) -> list[Vec3]:
    """For each joint the sum over all further out."""
    sums = itertools.accumulate(reversed(vectors[1:]), initial=ZERO)
    return list(sums)[::-1][: len(vectors)]


def point_masses(body: Inertia) -> list[tuple[float, Vec3]]:
    """Masses at points of the segment that have its mass and first moment: one at the centre of mass, as a rule.

    A body without mass has no centre. If it still has a first moment, as a difference of bodies may have, two opposite unit
    masses replace it.
    """
    if body.mass:
        return [(body.mass, body.centre)]
    return [(1.0, body.h), (-1.0, ZERO)] if any(body.h) else []
