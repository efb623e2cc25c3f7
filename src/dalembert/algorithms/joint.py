"""What one joint does on its own: its transform, its friction, its share of a wrench."""

from __future__ import annotations

from typing import Any

from ..expr import ops
from ..model.tree import Law, Segment
from ..spatial import Z_AXIS, Force, Transform, Turn, Twist, Vec3


def transform(s: Segment, q: Any) -> Transform:
    """X_PB(q) in internal frames; a turning joint has slide = 0 and the other way round, so one line serves both."""
    angle = q * s.turn + s.offset
    return Transform(s.R, Turn(ops.cos(angle), ops.sin(angle)), s.p + s.R.third * (q * s.slide))


def joint_screw(s: Segment, z: Vec3, arm: Vec3) -> Twist:
    """The motion of a point for unit joint velocity: (z × arm, z) if the joint turns, (z, 0) if it slides.

    z is the joint's axis, `arm` leads from there to the point; both in the axes in which the motion is wanted.
    """
    return Twist(z.cross(arm) * s.turn + z * s.slide, z * s.turn)


def own_screw(s: Segment) -> Twist:
    """The same at the segment's own origin and in its own frame, where the axis is z."""
    return Twist(Z_AXIS * s.slide, Z_AXIS * s.turn)


def along_axis(s: Segment, force: Force) -> Any:
    """The generalised force of a wrench at the segment's origin: nz of a turning joint, fz of a sliding one."""
    return force.n.z * s.turn + force.f.z * s.slide


def joint_force(s: Segment, z: Vec3, wrench: Force) -> Any:
    """The same in any axes, of a wrench about a point of the joint's axis z: z·n or z·f."""
    return z.dot(wrench.n) * s.turn + z.dot(wrench.f) * s.slide


def with_rate(s: Segment, motion: Twist, rate: Any) -> Twist:
    """A motion plus the joint's own at this rate, in the segment's frame."""
    v, w = motion
    return Twist(Vec3(v.x, v.y, v.z + rate * s.slide), Vec3(w.x, w.y, w.z + rate * s.turn))


def friction(law: Law | None, qd: Any) -> Any:
    """Joint friction: viscous, Coulomb (with Stribeck peak and smoothing where given) [ArmstrongHelouvry1994, §2].

    With σ the (smoothed) sign of q̇, F = F_v q̇ + ½(F⁺ + F⁻) σ + ½(F⁺ − F⁻) σ², which is F⁺ for q̇ > 0 and −F⁻ for q̇ < 0.
    """
    if law is None:
        return 0.0
    if not law.dry:
        return qd * law.viscous
    viscous, dry, offset = friction_terms(law, qd)
    return viscous * law.viscous + dry * law.mean + offset * law.difference


def friction_terms(law: Law | None, qd: Any) -> tuple[Any, Any, Any]:
    """What multiplies the viscous coefficient, the Coulomb level and half the difference of its two directions."""
    sigma = qd / ops.sqrt(qd * qd + law.width2) if law is not None and law.smooth else ops.sign(qd)
    peak: Any = 1.0
    if law is not None and law.stribeck:
        ratio = qd * law.inverse_speed
        peak = law.excess / (ratio * ratio + 1.0) + 1.0
    return qd, sigma * peak, sigma * sigma * peak


def added(s: Segment, a: Any, b: Any) -> Any:
    """The sum of two values of a segment."""
    return a + b
