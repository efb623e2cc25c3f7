"""Rigid transforms across one joint whose axis is z, and rigid poses."""

from __future__ import annotations

from typing import Any, NamedTuple

from .twists import Force, Twist
from .vec3 import Mat3, Vec3


class Turn(NamedTuple):
    """A rotation about z by its cosine and sine: four multiplications to apply, where a matrix takes nine."""

    c: Any
    s: Any

    def up(self, v: Vec3) -> Vec3:
        """Rz v: from the turned frame to the frame before."""
        return Vec3(self.c * v.x - self.s * v.y, self.s * v.x + self.c * v.y, v.z)

    def down(self, v: Vec3) -> Vec3:
        """Rzᵀ v: into the turned frame."""
        return Vec3(self.c * v.x + self.s * v.y, self.c * v.y - self.s * v.x, v.z)

    def matrix(self) -> Mat3:
        """Rz."""
        return Mat3(Vec3(self.c, -self.s, 0.0), Vec3(self.s, self.c, 0.0), Vec3(0.0, 0.0, 1.0))


class Transform(NamedTuple):
    """X_PB of one joint: R_PB = R · Rz, p_PB = p, with R constant. `up` leads from B to P, `down` from P to B."""

    R: Mat3
    turn: Turn
    p: Vec3

    def up(self, v: Vec3) -> Vec3:
        """R_PB v."""
        return self.R @ self.turn.up(v)

    def down(self, v: Vec3) -> Vec3:
        """R_PBᵀ v."""
        return self.turn.down(self.R.T @ v)

    def force_up(self, force: Force) -> Force:
        """A force on B, about P's origin and in its axes."""
        f = self.up(force.f)
        return Force(f, self.up(force.n) + self.p.cross(f))

    def motion_down(self, motion: Twist) -> Twist:
        """A motion of P's frame, at B's origin and in its axes."""
        moved = motion.at(self.p)
        return Twist(self.down(moved.v), self.down(moved.w))

    def rotation(self) -> Mat3:
        """R_PB as a matrix."""
        return self.R.times(self.turn.matrix())


class Pose(NamedTuple):
    """X_AB: rotation and position of frame B in A."""

    R: Mat3
    p: Vec3

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R.times(other.R), self.R @ other.p + self.p)

    @property
    def inverse(self) -> Pose:
        """X_BA."""
        return Pose(self.R.T, -(self.R.T @ self.p))

    def across(self, X: Transform) -> Pose:
        """The pose one joint further out."""
        return Pose(self.R.times(X.rotation()), self.R @ X.p + self.p)
