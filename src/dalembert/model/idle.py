"""Joints that move no inertia: the mass matrix is singular in every configuration, and no acceleration follows from a torque.

A joint is idle if, for almost any q, it can move (with any motion of the joints beyond it) while nothing that has
inertia does: a point mass on its axis, a link without inertia at the tip, two joints on one axis with nothing in between. That
is a zero on the diagonal D of M = Lᵀ D L, counted from the tips. In some configurations only, M may be singular all the same.

If each link has inertia about its own joint's axis, or the joint a geared rotor, no joint is idle: without kinetic energy each is
at rest, from the base on. That is checked first, and is enough for nearly all robots. Otherwise M is taken
at a few random configurations, in link frames, where what is zero stays small; without couplings and full rotors, its D alone, by
articulated bodies, which takes a time that grows with the joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from .robot_data import RobotData
from .tree import Segment, Tree

_ROUNDING = 1e-13  # of the inertia a joint would move about another axis: what rounding leaves of none
_CLEARLY = 1e-6  # likewise, for what is certainly no rounding; what lies between the two is examined
_CONFIGURATIONS = 3
_MOST_COUPLED = 400  # coordinates up to which trees with couplings or full rotors are examined, which needs their M


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
    recursive = tree.is_plain and not tree.has_spin
    if _all_have_own(tree, bodies) or (not recursive and tree.n > _MOST_COUPLED):
        return ()
    with np.errstate(all="ignore"):  # overflow of very large numbers is reported elsewhere
        look = _Look(tree, bodies)
        pivots = look.by_articulated_bodies() if recursive else look.by_mass_matrix()
        idle = np.flatnonzero((abs(pivots) <= _ROUNDING * look.scale).all(axis=0))
        alone = (abs(look.own) <= _ROUNDING * look.scale).all(axis=0)
    return tuple(Idle(s.name, bool(alone[s.coordinate]), bool(s.slide)) for s in (_leader(tree, int(c)) for c in idle))


def links_have_own(robot: RobotData) -> bool:
    """The same question to a robot, before there is a tree: whether its links, one by one, have inertia about their axes.

    False does not decide: a rotor, a further body or a link fixed to it may have the inertia that a link lacks.
    """
    joints = [joint for joint in robot.structure.joints if joint.moves]
    link_of = {link.name: link for link in robot.parameters.links}
    links = [link_of[joint.child] for joint in joints]
    if all(link.mass > 0.0 and _is_definite(*link.inertia.tolist()) for link in links):
        return True  # as of most robots, and found in a tenth of the time of what follows
    X, axis = np.array([joint.child_origin for joint in joints]), np.array([joint.axis for joint in joints])
    mass, I = np.array([link.mass for link in links]), np.array([link.inertia for link in links])
    turned = np.einsum("kji,kj->ki", X[:, :3, :3], axis)
    arm = np.array([link.com for link in links]) + np.einsum("kji,kj->ki", X[:, :3, :3], X[:, :3, 3])
    with np.errstate(all="ignore"):
        about = np.einsum("ki,kij,kj->k", turned, I, turned) + mass * (np.cross(turned, arm) ** 2).sum(-1)
        around = np.trace(I, axis1=1, axis2=2) + mass * (arm**2).sum(-1)
    turns = np.array([joint.turns for joint in joints])
    return bool(np.where(turns, about > _CLEARLY * around, mass > 0.0).all() and (mass >= 0.0).all())


def _is_definite(x: list[float], y: list[float], z: list[float]) -> bool:
    """Whether a tensor, given by its rows, is clearly positive definite: by its leading minors."""
    minor = x[0] * y[1] - x[1] * x[1]
    rest = y[1] * z[2] - y[2] * y[2], x[1] * z[2] - y[2] * x[2], x[1] * y[2] - y[1] * x[2]
    det = x[0] * rest[0] - x[1] * rest[1] + x[2] * rest[2]
    return x[0] > 0.0 and minor > _CLEARLY * x[0] * y[1] and det > _CLEARLY * x[0] * y[1] * z[2]


def _spatial(s: Segment) -> FloatArray:
    """[[m 1, [h]×ᵀ], [[h]×, I]] of a segment about its origin, for motions [v; ω]."""
    m, (x, y, z), (xx, xy, xz, yy, yz, zz) = s.inertia.mass, s.inertia.h, s.inertia.I
    H = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[m * np.eye(3), H.T], [H, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]])


def _all_have_own(tree: Tree, bodies: FloatArray) -> bool:
    """Whether every joint moves inertia of its own link about its axis, or a rotor."""
    held = bodies.copy()
    for s in tree.segments:
        if s.spin is not None and s.spin.mount >= 0:  # a rotor may turn against its mount and so be at rest about its axis
            held[s.spin.mount, 3:, 3:] -= s.rotor_inertia * np.outer(s.spin.axis, s.spin.axis)
    return all(
        s.armature > 0.0 or (body[5, 5] > _CLEARLY * np.trace(body[3:, 3:]) if s.turn else body[0, 0] > 0.0)
        for s, body in zip(tree.segments, held, strict=True)
    )


class _Look:
    """A tree at k random configurations: `own` and `scale`, both (k, n), are for each coordinate the inertia it moves about its
    axis and about any axis.
    """

    def __init__(self, tree: Tree, bodies: FloatArray) -> None:
        self.tree = tree
        q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_CONFIGURATIONS, tree.n))
        self.X = [_down(s, q) for s in tree.segments]
        self.axes = [np.array([0.0, 0.0, s.slide, 0.0, 0.0, s.turn]) for s in tree.segments]
        self.bodies = [np.repeat(body[None], len(q), axis=0) for body in bodies]
        self.carried = [body.copy() for body in self.bodies]
        for i in reversed(range(len(self.X))):
            self._pass_down(self.carried, i, self.carried[i])
        self.own, self.scale = np.zeros((2, *q.shape))
        for s, body, z in zip(tree.segments, self.carried, self.axes, strict=True):
            around = np.trace(body[:, 3:, 3:], axis1=1, axis2=2) if s.turn else body[:, 0, 0]
            self.own[:, s.coordinate] += s.multiplier**2 * (z @ body @ z + _of_rotor(s))
            self.scale[:, s.coordinate] += s.multiplier**2 * abs(around + _of_rotor(s))

    def _pass_down(self, bodies: list[FloatArray], i: int, body: FloatArray) -> None:
        """Add what a segment carries to what its parent does."""
        parent = self.tree.segments[i].parent
        if parent >= 0:
            bodies[parent] += self.X[i].swapaxes(1, 2) @ body @ self.X[i]

    def by_articulated_bodies(self) -> FloatArray:
        """The diagonal of D in M = Lᵀ D L, (k, n), of a tree without couplings and full rotors, one joint after the other."""
        bodies, pivots = [body.copy() for body in self.bodies], np.zeros_like(self.own)
        for i in reversed(range(len(bodies))):
            U = bodies[i] @ self.axes[i]
            pivot = pivots[:, i] = U @ self.axes[i] + self.tree.segments[i].armature
            clear = abs(pivot) > _ROUNDING * self.scale[:, i]  # an idle joint eliminates nothing
            inverse = np.where(clear, 1.0, 0.0) / np.where(clear, pivot, 1.0)
            self._pass_down(bodies, i, bodies[i] - U[:, :, None] * U[:, None, :] * inverse[:, None, None])
        return pivots

    def by_mass_matrix(self) -> FloatArray:
        """The same for any tree."""
        A, pivots = self._mass_matrix(), np.zeros_like(self.own)
        for k in reversed(range(self.tree.n)):
            pivot = pivots[:, k] = A[:, k, k]
            clear = abs(pivot) > _ROUNDING * self.scale[:, k]
            inverse = np.where(clear, 1.0, 0.0) / np.where(clear, pivot, 1.0)
            row = A[:, k, :k].copy()
            A[:, :k, :k] -= row[:, :, None] * row[:, None, :] * inverse[:, None, None]
        return pivots

    def _mass_matrix(self) -> FloatArray:
        """M, (k, n, n), by composite bodies."""
        M = np.zeros((len(self.own), self.tree.n, self.tree.n))
        for i, s in enumerate(self.tree.segments):
            self._climb(M, i, i, self.carried[i] @ self.axes[i])
            M[:, s.coordinate, s.coordinate] += s.multiplier**2 * _of_rotor(s)
            if s.spin is not None:
                moment = np.concatenate([np.zeros(3), np.array(s.spin.axis) * s.spin.kI])
                self._climb(M, i, s.spin.mount, np.repeat(moment[None], len(M), axis=0))
        return M

    def _climb(self, M: FloatArray, i: int, start: int, wrench: FloatArray) -> None:
        """Enter the work of a wrench that comes with joint i, on all joints that move the segment where it acts."""
        a, j = self.tree.segments[i], start
        while j >= 0:
            b = self.tree.segments[j]
            work = wrench @ self.axes[j] * (a.multiplier * b.multiplier)
            M[:, a.coordinate, b.coordinate] += work
            if i != j:
                M[:, b.coordinate, a.coordinate] += work
            wrench = (wrench[:, None, :] @ self.X[j])[:, 0]
            j = b.parent


def _of_rotor(s: Segment) -> float:
    return s.armature + (s.spin.kkI if s.spin is not None else 0.0)


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


def _leader(tree: Tree, coordinate: int) -> Segment:
    """The segment whose joint owns a coordinate."""
    moved = [s for s in tree.segments if s.coordinate == coordinate]
    return next((s for s in moved if s.multiplier == 1.0 and s.shift == 0.0), moved[0])
