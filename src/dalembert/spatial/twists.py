"""Screw quantities of a rigid body at a frame's origin: motions (twists) and forces (wrenches), with named parts.

Parts are named, so no order of components arises; public arrays have the linear part first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .vec3 import ZERO, Vec3


class Twist(NamedTuple):
    """Linear velocity (or acceleration) `v` of the origin and angular `w` of the body."""

    v: Vec3
    w: Vec3

    def __add__(self, other: Twist) -> Twist:  # type: ignore[override]
        return Twist(self.v + other.v, self.w + other.w)

    def __mul__(self, factor: Any) -> Twist:
        return Twist(self.v * factor, self.w * factor)

    def __sub__(self, other: Twist) -> Twist:
        return Twist(self.v - other.v, self.w - other.w)

    def cross(self, other: Twist) -> Twist:
        """The rate of another motion that is carried along by this one: the screw product."""
        return Twist(self.w.cross(other.v) + self.v.cross(other.w), self.w.cross(other.w))

    def carries(self, force: Force) -> Force:
        """The rate of a force that is carried along by this motion."""
        return Force(self.w.cross(force.f), self.w.cross(force.n) + self.v.cross(force.f))

    def at(self, p: Vec3) -> Twist:
        """The same motion at another point of the body: v + ω × p."""
        return Twist(self.v + self.w.cross(p), self.w)


class Force(NamedTuple):
    """Force `f` and moment `n` about the origin."""

    f: Vec3
    n: Vec3

    def __add__(self, other: Force) -> Force:  # type: ignore[override]
        return Force(self.f + other.f, self.n + other.n)

    def __mul__(self, factor: Any) -> Force:
        return Force(self.f * factor, self.n * factor)

    def __neg__(self) -> Force:
        return Force(-self.f, -self.n)

    def power(self, motion: Twist) -> Any:
        """f·v + n·ω: the rate of work on a motion at the same origin."""
        return self.f.dot(motion.v) + self.n.dot(motion.w)


NO_FORCE = Force(ZERO, ZERO)
AT_REST = Twist(ZERO, ZERO)
