"""The two subproblems that closed forms of inverse kinematics are made of, over scalars [Murray1994, §3.2].

An axis is a unit vector ω and a point on it. Both take any position: where there is no solution, the nearest angle results, and
where every angle is one, zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..expr import ops
from ..spatial.vec3 import Vec3

_DUST2 = 1e-14  # of squared lengths: an angle whose arms are seen so much shortened is lost in rounding


class ScrewAxis(NamedTuple):
    """A joint's axis at q = 0, in the world: it turns about the line through `point`, or slides along the direction."""

    direction: Vec3
    point: Vec3
    turns: bool = True

    def moved(self, p: Vec3, angle: Any) -> Vec3:
        """Where the joint brings a point: p − r ↦ ω (ω·u) + cos(θ) u⊥ + sin(θ) ω × u."""
        if not self.turns:
            return p + self.direction * angle
        return self.turned(p - self.point, angle) + self.point

    def turned(self, u: Vec3, angle: Any) -> Vec3:
        """The same for a direction."""
        if not self.turns:
            return u
        along, across, normal = split(self.direction, u)
        return along + across * ops.cos(angle) + normal * ops.sin(angle)


def split(w: Vec3, u: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """The parts of u along and across an axis, and ω × u."""
    along = w * w.dot(u)
    return along, u - along, w.cross(u)


def angle_between(axis: ScrewAxis, a: Vec3, b: Vec3) -> Any:
    """The angle by which an axis turns the point a to the point b, or as near to it as it can."""
    return turn_between(axis.direction, a - axis.point, b - axis.point)


def turn_between(w: Vec3, u: Vec3, v: Vec3) -> Any:
    """The angle about ω from u to v, both seen along ω."""
    _, across, normal = split(w, u)
    return _angle(normal.dot(v), across.dot(v), u.dot(u) * v.dot(v))


def _angle(b: Any, a: Any, size2: Any) -> Any:
    """The angle of (a, b), and zero where both are rounding: every angle would do."""
    return ops.where(ops.less(_DUST2 * size2, a * a + b * b), ops.atan2(b, a), 0.0)


def angles_to_plane(w: Vec3, u: Vec3, h: Vec3, level: Any) -> tuple[Any, Any]:
    """Both angles θ with h · (u turned by θ about ω) = level: of a cos θ + b sin θ = c, atan2(b, a) ± acos(c / √(a² + b²))."""
    along, across, normal = split(w, u)
    a, b, c = h.dot(across), h.dot(normal), level - h.dot(along)
    size2 = u.dot(u) * h.dot(h)
    middle = _angle(b, a, size2)
    half = _angle(ops.sqrt(ops.maximum(a * a + b * b - c * c, 0.0)), c, size2)
    return middle + half, middle - half


def angles_to_distance(axis: ScrewAxis, p: Vec3, to: Vec3, distance2: Any) -> tuple[Any, Any]:
    """Both angles that bring the point p to this squared distance from the point `to`: |u|² + |v|² − 2 v·(u turned) = d²."""
    u, v = p - axis.point, to - axis.point
    return angles_to_plane(axis.direction, u, v, (u.dot(u) + v.dot(v) - distance2) * 0.5)


__all__ = ["ScrewAxis", "angle_between", "angles_to_distance", "angles_to_plane", "split", "turn_between"]
