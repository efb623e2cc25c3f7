"""Principal screws of inertia, screw transformations and the Jacobian of a link [Laus, §2.1, §2.2].

Everything is at the link's centre of mass and, unless it says base axes, in the axes of the link's own frame. A link is all that
a moving joint carries rigidly: fixed links, further bodies, payload and rotors at rest included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.joint import joint_screw
from ..algorithms.sweep import Unrolled
from ..model.tree import Segment, Tree
from ..spatial import AT_REST, Inertia, Mat3, Matrix, Twist, Vec3
from ..spatial.nested import zeros
from .base import world_poses
from .screw_links import LinkBody, centre, link_body

Columns = Mapping[int, Twist]
_ROUNDING = 1e-14  # of moments about a frame's origin, in what is left about the centre of mass: some 50 units


def body_in_link_axes(tree: Tree, i: int) -> LinkBody:
    """The body of segment i about its centre of mass, in the axes of the user's link frame."""
    body, R = link_body(tree.segments[i]), tree.frames[i].R.T
    mass, h, I = body.inertia
    return LinkBody(Inertia(mass, R @ h, I.rotated(R)), body.E.rotated(R))


def mass_matrices(tree: Tree) -> list[Matrix]:
    """M̄_i, linear rows first: blocks m 1 and Ī [Laus, Eq. 9]; what m and Ī are without mass stands about the frame's origin."""
    return [_mass_matrix(body_in_link_axes(tree, i)) for i in range(len(tree.segments))]


def _mass_matrix(body: LinkBody) -> Matrix:
    units = [Twist(*(Vec3(*(1.0 if 3 * part + k == j else 0.0 for k in range(3))) for part in (0, 1))) for j in range(6)]
    columns = [body.momentum(unit) for unit in units]
    return [[column[part][k] for column in columns] for part in (0, 1) for k in range(3)]


def principal_screws(tree: Tree) -> list[Matrix]:
    """S_C of each link, in its axes."""
    return [principal_screws_of(body_in_link_axes(tree, i), _moved_moment(s)) for i, s in enumerate(tree.segments)]


def _moved_moment(s: Segment) -> float:
    """The size of the moments that cancel when a tensor is taken from a frame's origin to the centre of mass."""
    I, c = s.inertia.I, centre(s)
    return float(abs(I.xx) + abs(I.yy) + abs(I.zz) + abs(s.inertia.mass) * c.dot(c))


def principal_screws_of(body: LinkBody, moved: float = 0.0) -> Matrix:
    """Six screws in rows, two along each principal axis e with pitches ± its radius of gyration r: [e; ± r e] [Laus, Eq. 2-7].

    Then M̄ = ½ m S_Cᵀ S_C [Laus, Eq. 10]. The axes are numbered like the link axes they are nearest to. A massless body's
    screws are zero; one with moments but no mass, or with a negative moment, has none, and NaN stands for them. A moment is
    zero if it is nothing beside the largest, or beside `moved`, the moments whose difference it is: of a point mass, only
    rounding is left.
    """
    moments, axes = np.linalg.eigh(np.array(body.inertia.I.matrix(), dtype=float))
    order = np.argsort(np.abs(axes).argmax(axis=0), kind="stable")
    rounding = max(1e-12 * np.abs(moments).max(), _ROUNDING * moved)
    squares = np.where(np.abs(moments) <= rounding, 0.0, moments)[order]
    if body.inertia.mass == 0.0:
        return [[0.0 if not squares.any() else np.nan] * 6 for _ in range(6)]
    with np.errstate(invalid="ignore"):
        radii = np.sqrt(squares / body.inertia.mass)
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), range(3)])
    rows = zip((axes * signs).T[order], radii, strict=True)
    return [[*map(float, e), *map(float, sign * r * e)] for e, r in rows for sign in (1.0, -1.0)]


class _World(NamedTuple):
    """Where everything is: joint axes z and points p on them, link axes R and centres of mass c, in base axes."""

    z: list[Vec3]
    p: list[Vec3]
    R: list[Mat3]
    c: list[Vec3]


def _world(sweep: Unrolled, q: Any) -> _World:
    tree, poses = sweep.tree, world_poses(sweep, sweep.expand(q))
    R = [pose.R.times(frame.R) for pose, frame in zip(poses, tree.frames, strict=True)]
    c = [pose.R @ centre(s) + pose.p for pose, s in zip(poses, tree.segments, strict=True)]
    return _World([pose.R.third for pose in poses], [pose.p for pose in poses], R, c)


def _screw(s: Segment, z: Vec3, to_joint: Vec3) -> Twist:
    """The screw of a joint at a point from which `to_joint` leads to its axis z."""
    return joint_screw(s, z, -to_joint)


def _columns(tree: Tree, i: int, screw: Callable[[int], Twist]) -> Columns:
    """The screws of the joints that move link i, by coordinate."""
    columns: dict[int, Twist] = {}
    for j in tree.path(i):
        s = tree.segments[j]
        columns[s.coordinate] = columns.get(s.coordinate, AT_REST) + screw(j) * s.multiplier
    return columns


def _matrix(columns: Columns, n: int) -> Matrix:
    J: Matrix = zeros(6, n)
    for j, (v, w) in columns.items():
        for k in range(3):
            J[k][j], J[3 + k][j] = v[k], w[k]
    return J


def at_base(sweep: Unrolled, q: Any) -> list[Matrix]:
    """J_i⁰: the joints' screws at the base origin, in base axes, the same for all links they move [Laus, Eq. 23]."""
    tree, world = sweep.tree, _world(sweep, q)
    return [_matrix(_base_columns(tree, world, i), tree.n) for i in range(len(tree.segments))]


def _base_columns(tree: Tree, world: _World, i: int) -> Columns:
    return _columns(tree, i, lambda j: _screw(tree.segments[j], world.z[j], world.p[j]))


def at_centre(sweep: Unrolled, q: Any) -> list[Matrix]:
    """J̄_i⁰: the joints' screws at the centre of mass, in base axes [Laus, Eq. 30]."""
    tree, world = sweep.tree, _world(sweep, q)
    return [_matrix(_centre_columns(tree, world, i), tree.n) for i in range(len(tree.segments))]


def _centre_columns(tree: Tree, world: _World, i: int) -> Columns:
    return _columns(tree, i, lambda j: _screw(tree.segments[j], world.z[j], world.p[j] - world.c[i]))


def transformations(sweep: Unrolled, q: Any) -> list[Matrix]:
    """T_0^Ci, linear rows first: [R, −R S(c); 0, R] with R from base to link axes [Laus, Eq. 14]."""
    world = _world(sweep, q)
    return [_transformation(R.T, c) for R, c in zip(world.R, world.c, strict=True)]


def _transformation(R: Mat3, c: Vec3) -> Matrix:
    units = [Vec3(*(1.0 if k == j else 0.0 for k in range(3))) for j in range(3)]
    moved = [R @ unit.cross(c) for unit in units]
    linear = [[*R[k], *(column[k] for column in moved)] for k in range(3)]
    return linear + [[0.0, 0.0, 0.0, *R[k]] for k in range(3)]


def directly(sweep: Unrolled, q: Any) -> list[Matrix]:
    """J_i from axes and arms in link axes: one Jacobian per body [Laus, Eq. 28]."""
    tree, world = sweep.tree, _world(sweep, q)

    def screw(i: int, j: int) -> Twist:
        R = world.R[i].T
        return _screw(tree.segments[j], R @ world.z[j], R @ (world.p[j] - world.c[i]))

    return [_matrix(_columns(tree, i, partial(screw, i)), tree.n) for i in range(len(tree.segments))]
