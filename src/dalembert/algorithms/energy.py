"""Kinetic and potential energy of a tree [Siciliano, Eq. 7.20, 7.30, 7.36]."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..model.tree import Segment
from ..spatial import AT_REST, IDENTITY, ZERO, Pose, Transform, Twist, Vec3
from .joint import added, transform, with_rate
from .sweep import Sweep


class Moving(NamedTuple):
    """Velocity of a segment, in its own frame, and where it is."""

    motion: Twist
    pose: Pose


def outward_step(s: Segment, parent: Moving, X: Transform, qd: Any) -> Moving:
    """Velocity and place across one joint."""
    return Moving(with_rate(s, X.motion_down(parent.motion), qd), parent.pose.across(X))


def kinetic_step(s: Segment, link: Moving, qd: Any) -> Any:
    """½ m v·v + v·(ω × h) + ½ ω·I ω, and ½ k² I_r q̇² of a reflected rotor."""
    (v, w), body = link.motion, s.inertia
    linear = v.dot(v) * (0.5 * body.mass) + v.dot(w.cross(body.h))
    return linear + w.dot(body.I @ w) * 0.5 + qd * qd * (0.5 * s.armature)


def rotor_step(s: Segment, mount: Moving, qd: Any) -> tuple[Any, None]:
    """What spin adds: k I_m q̇ (z·ω) + ½ k² I_m q̇² [Siciliano, Eq. 7.68]."""
    assert s.spin is not None
    return qd * mount.motion.w.dot(s.spin.axis) * s.spin.kI + qd * qd * (0.5 * s.spin.kkI), None


def potential_step(s: Segment, link: Moving, gravity: Vec3) -> Any:
    """−g·(m p + R h)."""
    return -gravity.dot(link.pose.p * s.inertia.mass + link.pose.R @ s.inertia.h)


def energy(sweep: Sweep, q: Any, qd: Any) -> tuple[Any, Any]:
    """Kinetic and potential energy [J]; the latter is zero for masses at the height of the base origin."""
    base = Moving(AT_REST, Pose(IDENTITY, ZERO))
    rates = sweep.expand(qd, rate=True)
    links = sweep.outward(outward_step, base, sweep.local(transform, sweep.expand(q)), rates)
    kinetic = sweep.local(kinetic_step, links, rates)
    if sweep.tree.has_spin:
        kinetic = sweep.local(added, kinetic, sweep.mounted(rotor_step, base, links, rates)[0])
    gravity = sweep.tree.gravity
    potential = sweep.local(lambda s, link: potential_step(s, link, gravity), links)
    return sweep.total(kinetic), sweep.total(potential)
