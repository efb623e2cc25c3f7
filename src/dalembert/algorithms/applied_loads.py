"""Applied loads as generalised forces, by virtual work with first-order influence coefficients.

    T^L = Σ G^Pᵀ f + Gᵀ m                                  (1)  [Freeman, Eq. 2-147]

for forces f at points P and moments m on links. A spring or a damper between two points A and B, with d from A to B, pulls A by
f and B by −f:

    f = k (1 − rest / |d|) d                               (2)
    f = c (ḋ·d) d / (d·d)                                  (3)

Where A and B meet, their line has no direction and the force is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..expr import ops
from ..model.tree import FramePlace
from ..spatial import ZERO, Pose, Vec3
from . import influence_coefficients
from .kinematics import place_pose, segment_poses
from .sweep import Unrolled

_TINY = 1e-300  # m²: keeps the quotients of (2) and (3) finite where d = 0, which makes the force zero


class Load(NamedTuple):
    """Force and moment on a segment at a point of the world."""

    segment: int
    P: Vec3
    f: Vec3
    m: Vec3 = ZERO


class AtJoint(NamedTuple):
    """A spring or damper of a joint: stiffness or coefficient, and for a spring the position without force."""

    segment: int
    coefficient: float
    rest: float = 0.0


class Between(NamedTuple):
    """A spring or damper between two points: stiffness or coefficient, and for a spring the length without force."""

    a: FramePlace
    b: FramePlace
    coefficient: float
    rest: float = 0.0


Element = AtJoint | Between


def applied(
    sweep: Unrolled,
    q: Any,
    qd: Any,
    wrenches: Iterable[tuple[FramePlace, Sequence[Any]]],
    springs: Iterable[Element],
    dampers: Iterable[Element],
    *,
    gravity: bool,
) -> list[Any]:
    """T^L per coordinate of wrenches [f; m] in world axes, springs, dampers and, if asked for, gravity. `qd` serves dampers."""
    poses = segment_poses(sweep, q)
    own, loads = element_loads(sweep, poses, q, qd, springs, dampers)
    loads = [Load(p.segment, place_pose(poses, p).p, Vec3(*w[:3]), Vec3(*w[3:])) for p, w in wrenches] + loads
    if gravity:
        loads += _weights(sweep, poses)
    return sweep.collect(_virtual_work(sweep, poses, own, loads))


def element_loads(
    sweep: Unrolled, poses: list[Pose], q: Any, qd: Any, springs: Iterable[Element], dampers: Iterable[Element]
) -> tuple[list[Any], list[Load]]:
    """What springs and dampers exert: at the joints of segments, and as forces on segments."""
    own: list[Any] = [0.0] * len(poses)
    loads: list[Load] = []
    for spring in springs:
        if isinstance(spring, AtJoint):
            own[spring.segment] += (spring.rest - sweep.expand(q)[spring.segment]) * spring.coefficient
        else:
            loads += _spring(poses, spring)
    for damper in dampers:
        if isinstance(damper, AtJoint):
            own[damper.segment] += sweep.expand(qd, rate=True)[damper.segment] * -damper.coefficient
        else:
            loads += _damper(sweep, poses, qd, damper)
    return own, loads


def stored_energy(sweep: Unrolled, q: Any, springs: Iterable[Element]) -> Any:
    """½ k (deflection)², summed over springs."""
    poses, total = segment_poses(sweep, q), 0.0
    for spring in springs:
        if isinstance(spring, AtJoint):
            deflection = sweep.expand(q)[spring.segment] - spring.rest
        else:
            A, B = (place_pose(poses, end).p for end in (spring.a, spring.b))
            deflection = ops.sqrt((B - A).dot(B - A)) - spring.rest
        total = total + deflection * deflection * (0.5 * spring.coefficient)
    return total


def _virtual_work(sweep: Unrolled, poses: list[Pose], own: list[Any], loads: list[Load]) -> list[Any]:
    """(1) over segments, added to what acts at the joints themselves."""
    total = list(own)
    for load in loads:
        (G,) = influence_coefficients.point(sweep.tree, poses, load.segment, load.P, 1)
        (turning,) = influence_coefficients.rotation(sweep.tree, poses, load.segment, 1)
        for (n,), g in G.items():
            total[n] = total[n] + g.dot(load.f) + turning.get((n,), ZERO).dot(load.m)
    return total


def _spring(poses: list[Pose], spring: Between) -> list[Load]:
    A, B = (place_pose(poses, end).p for end in (spring.a, spring.b))
    d, k = B - A, spring.coefficient
    f = d * (k - k * spring.rest / ops.sqrt(ops.maximum(d.dot(d), _TINY))) if spring.rest else d * k  # (2)
    return [Load(spring.a.segment, A, f), Load(spring.b.segment, B, -f)]


def _damper(sweep: Unrolled, poses: list[Pose], qd: Any, damper: Between) -> list[Load]:
    A, B = (place_pose(poses, end).p for end in (damper.a, damper.b))
    d = B - A
    rate = _velocity(sweep, poses, damper.b, qd) - _velocity(sweep, poses, damper.a, qd)
    f = d * (damper.coefficient * rate.dot(d) / ops.maximum(d.dot(d), _TINY))  # (3)
    return [Load(damper.a.segment, A, f), Load(damper.b.segment, B, -f)]


def _velocity(sweep: Unrolled, poses: list[Pose], place: FramePlace, qd: Any) -> Vec3:
    (G,) = influence_coefficients.point(sweep.tree, poses, place.segment, place_pose(poses, place).p, 1)
    rates = sweep.expand(qd, rate=True)
    return sum((g * rates[n] for (n,), g in G.items()), ZERO)


def _weights(sweep: Unrolled, poses: list[Pose]) -> list[Load]:
    """Gravity as a force at each centre of mass."""
    return [
        Load(j, poses[j].R @ place + poses[j].p, sweep.tree.gravity * mass)
        for j, s in enumerate(sweep.tree.segments)
        for mass, place in influence_coefficients.point_masses(s.inertia)
    ]
