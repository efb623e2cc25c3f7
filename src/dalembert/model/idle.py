"""Joints that move no inertia: the mass matrix is singular in every configuration, and no acceleration follows from a torque.

A joint is idle if, for almost any q, it can move (with the joints beyond it following as they like) while nothing that has
inertia does: a point mass on its axis, a link without inertia at the tip, two joints on one axis with nothing in between. That
is a zero on the diagonal D of M = Lᵀ D L, counted from the tips. In some configurations only, M may be singular all the same.

If each link has inertia of its own about its joint's axis, or the joint a geared rotor, no joint is idle: from the base on, each
has to be at rest if nothing is to have energy. That is looked at first, and is enough for nearly all robots. Otherwise M is taken
at a few random configurations, in link frames, where what is zero stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..checks import FloatArray

if TYPE_CHECKING:
    from .robot import Robot
    from .tree import Segment, Tree

_ROUNDING = 1e-13  # of the inertia a joint would move about another axis: what rounding leaves of none
_CLEARLY = 1e-6  # likewise, for what is no rounding; what lies in between is looked at closely
_CONFIGURATIONS = 3


class Idle(NamedTuple):
    """A joint that moves no inertia; by itself, or since the joints beyond it can take back its motion."""

    joint: str
    alone: bool
    slides: bool

    @property
    def sentence(self) -> str:
        """What is wrong, what follows, what to try."""
        what = "it moves no inertia" if self.alone else "the joints beyond it can take back all it moves"
        give = "a mass" if self.slides else "an inertia about its axis"
        return (
            f"joint {self.joint!r}: {what}, so the mass matrix is singular in every configuration and no acceleration follows "
            f"from a torque; inverse dynamics is not affected. Give its link {give}, or the joint a rotor."
        )


def idle_joints(tree: Tree) -> tuple[Idle, ...]:
    """The joints of a tree that move no inertia, the innermost first; none if its numbers are symbols."""
    if not all(isinstance(x, float) for s in tree.segments for x in (s.inertia.mass, *s.inertia.h, *s.inertia.I, s.armature)):
        return ()
    bodies = np.array([_spatial(s) for s in tree.segments])
    if _all_have_own(tree, bodies):
        return ()
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_CONFIGURATIONS, tree.n))
    M, scale = _mass_matrices(tree, bodies, q)
    idle = _without_pivot(M, scale)
    own = np.diagonal(M, axis1=1, axis2=2)
    return tuple(
        Idle(s.name, bool((abs(own[:, s.coordinate]) <= _ROUNDING * scale[:, s.coordinate]).all()), bool(s.slide))
        for s in (_leader(tree, c) for c in idle)
    )


def links_have_own(robot: Robot) -> bool:
    """The same question to a robot, before there is a tree: whether its links, one by one, have inertia about their axes.

    False leaves it open: a rotor, a further body or a link fixed to it may have what a link has not.
    """
    joints = [joint for joint in robot.structure.joints if joint.moves]
    link_of = {link.name: link for link in robot.parameters.links}
    links = [link_of[joint.child] for joint in joints]
    X, axis = np.array([joint.child_origin for joint in joints]), np.array([joint.axis for joint in joints])
    mass, I = np.array([link.mass for link in links]), np.array([link.inertia for link in links])
    turned = np.einsum("kji,kj->ki", X[:, :3, :3], axis)
    arm = np.array([link.com for link in links]) + np.einsum("kji,kj->ki", X[:, :3, :3], X[:, :3, 3])
    about = np.einsum("ki,kij,kj->k", turned, I, turned) + mass * (np.cross(turned, arm) ** 2).sum(-1)
    around = np.trace(I, axis1=1, axis2=2) + mass * (arm**2).sum(-1)
    turns = np.array([joint.turns for joint in joints])
    return bool(np.where(turns, about > _CLEARLY * around, mass > 0.0).all() and (mass >= 0.0).all())


def _spatial(s: Segment) -> FloatArray:
    """[[m 1, [h]×ᵀ], [[h]×, I]] of a segment about its origin, for motions [v; ω]."""
    m, (x, y, z), (xx, xy, xz, yy, yz, zz) = s.inertia.mass, s.inertia.h, s.inertia.I
    H = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[m * np.eye(3), H.T], [H, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]])


def _all_have_own(tree: Tree, bodies: FloatArray) -> bool:
    """Whether every joint moves inertia of its own link about its axis, or a rotor."""
    held = bodies.copy()
    for s in tree.segments:
        if s.spin is not None and s.spin.mount >= 0:  # a rotor may turn against its mount, so as to stand still about its axis
            held[s.spin.mount, 3:, 3:] -= s.rotor_inertia * np.outer(s.spin.axis, s.spin.axis)
    return all(
        s.armature > 0.0 or (body[5, 5] > _CLEARLY * np.trace(body[3:, 3:]) if s.turn else body[0, 0] > 0.0)
        for s, body in zip(tree.segments, held, strict=True)
    )


def _mass_matrices(tree: Tree, bodies: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M at some configurations, (k, n, n), and beside each coordinate the inertia it moves about any axis, (k, n)."""
    X = [_down(s, q) for s in tree.segments]
    axes = [np.array([0.0, 0.0, s.slide, 0.0, 0.0, s.turn]) for s in tree.segments]
    carried = [np.repeat(body[None], len(q), axis=0) for body in bodies]
    for i in reversed(range(len(X))):
        if tree.segments[i].parent >= 0:
            carried[tree.segments[i].parent] += X[i].swapaxes(1, 2) @ carried[i] @ X[i]
    M, scale = np.zeros((len(q), tree.n, tree.n)), np.zeros((len(q), tree.n))

    def enter(i: int, j: int, value: Any) -> None:
        """An entry for segments i and j, for the coordinates that move them."""
        a, b = tree.segments[i], tree.segments[j]
        M[:, a.coordinate, b.coordinate] += value * (a.multiplier * b.multiplier)
        if i != j:
            M[:, b.coordinate, a.coordinate] += value * (a.multiplier * b.multiplier)

    def climb(i: int, start: int, wrench: FloatArray) -> None:
        """The work of a wrench that comes with joint i, on all joints that move the segment where it acts."""
        j = start
        while j >= 0:
            enter(i, j, wrench @ axes[j])
            wrench = (wrench[:, None, :] @ X[j])[:, 0]
            j = tree.segments[j].parent

    for i, s in enumerate(tree.segments):
        around = np.trace(carried[i][:, 3:, 3:], axis1=1, axis2=2) if s.turn else carried[i][:, 0, 0]
        own = s.armature + (s.spin.kkI if s.spin is not None else 0.0)
        scale[:, s.coordinate] += s.multiplier**2 * (around + own)
        climb(i, i, carried[i] @ axes[i])
        enter(i, i, own)
        if s.spin is not None:
            moment = np.concatenate([np.zeros(3), np.array(s.spin.axis) * s.spin.kI])
            climb(i, s.spin.mount, np.repeat(moment[None], len(q), axis=0))
    return M, abs(scale)


def _down(s: Segment, q: FloatArray) -> FloatArray:
    """The motion of the segment's frame from that of its parent, (k, 6, 6): X [v; ω], when the joint is at rest."""
    x = s.multiplier * q[:, s.coordinate] + s.shift
    c, sine = np.cos(s.turn * x + s.offset), np.sin(s.turn * x + s.offset)
    turn = np.zeros((len(q), 3, 3))
    turn[:, 0, 0] = turn[:, 1, 1] = c
    turn[:, 1, 0], turn[:, 0, 1], turn[:, 2, 2] = sine, -sine, 1.0
    R = np.array(s.R) @ turn
    p = np.array(s.p) + np.outer(x * s.slide, np.array(s.R)[:, 2])
    X = np.zeros((len(q), 6, 6))
    X[:, :3, :3] = X[:, 3:, 3:] = R.swapaxes(1, 2)
    X[:, :3, 3:] = R.swapaxes(1, 2) @ -np.cross(np.eye(3), p[:, None, :])  # v + ω × p
    return X


def _without_pivot(M: FloatArray, scale: FloatArray) -> list[int]:
    """Coordinates whose entry of D in M = Lᵀ D L is nothing but rounding, in each of the configurations."""
    A, found = M.copy(), []
    for k in reversed(range(A.shape[1])):
        pivot = A[:, k, k].copy()
        if (abs(pivot) <= _ROUNDING * scale[:, k]).all():
            found.append(k)
            continue
        row = A[:, k, :k]
        A[:, :k, :k] -= row[:, :, None] * row[:, None, :] / pivot[:, None, None]
    return found[::-1]


def _leader(tree: Tree, coordinate: int) -> Segment:
    """The segment whose joint owns a coordinate."""
    moved = [s for s in tree.segments if s.coordinate == coordinate]
    return next((s for s in moved if s.multiplier == 1.0 and s.shift == 0.0), moved[0])
