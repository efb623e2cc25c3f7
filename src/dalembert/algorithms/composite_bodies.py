"""The mass matrix by composite rigid bodies: everything beyond a joint moves as one body [Featherstone2008, §6.2].

Column i: a unit acceleration of joint i, the rest at rest, needs the wrench F = I_c (z) at link i; carried down to the
base, its projection on each joint passed is an entry of M. A full rotor adds its spin momentum to F where it is mounted.
"""

from __future__ import annotations

from typing import Any

from ..model.tree import Segment
from ..spatial import Force, Inertia, Transform, Vec3
from .joint import along_axis, transform
from .sweep import Sweep


def composite_step(s: Segment, children: Inertia | None, X: Transform) -> tuple[Inertia, Inertia]:
    """Everything from this segment outwards as one body, here and seen from the parent."""
    body = s.inertia if children is None else s.inertia + children
    return body, body.up(X)


def unit_wrench(s: Segment, body: Inertia) -> Force:
    """The wrench that gives a body unit acceleration along its joint: z × h and I z, or m z and h × z."""
    h, I = body.h, body.I
    f = Vec3(-h.y * s.turn, h.x * s.turn, body.mass * s.slide)
    n = Vec3(I.xz * s.turn + h.y * s.slide, I.yz * s.turn - h.x * s.slide, I.zz * s.turn)
    return Force(f, n)


def diagonal(s: Segment, wrench: Force) -> Any:
    """M_ii, with what the joint's own rotor adds."""
    own = along_axis(s, wrench) + s.armature
    return own if s.spin is None else own + s.spin.kkI


def climb_step(X: Transform, wrench: Force, rotor_moment: Vec3 | None) -> Force:
    """A wrench one joint nearer to the base, where a rotor may be mounted."""
    carried = X.force_up(wrench)
    return carried if rotor_moment is None else Force(carried.f, carried.n + rotor_moment)


def mass_matrix(sweep: Sweep, q: Any) -> Any:
    """M(q), n by n."""
    X = sweep.local(transform, sweep.expand(q))
    bodies = sweep.inward(composite_step, X)
    wrenches = sweep.local(unit_wrench, bodies)
    return sweep.climb(diagonal, climb_step, along_axis, wrenches, X)
