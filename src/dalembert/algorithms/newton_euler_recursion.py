"""Recursive Newton-Euler in link frames: velocities and accelerations outwards, forces inwards.

Per link, with ω, α its angular velocity and acceleration, a the acceleration of its origin minus gravity, m, h, I its mass,
first and second moment about that origin, and U = [α]× + [ω]×[ω]×:

    ω_B = Rᵀ ω_P + z q̇                                   (1)  [Siciliano, Eq. 7.107]
    α_B = Rᵀ α_P + z q̈ + Rᵀω_P × z q̇                     (2)  [Siciliano, Eq. 7.108]
    a_B = Rᵀ (a_P + U_P p)                                (3)  [Siciliano, Eq. 7.109]
    F   = m a + U h                                       (4)  [Siciliano, Eq. 7.112]
    N   = I α + ω × I ω + h × a                           (5)  [Siciliano, Eq. 7.113]
    τ   = z·n  (or z·f)                                   (6)  [Siciliano, Eq. 7.114]

with q̇, q̈ terms in (3) for a sliding joint. U is formed once and serves (3) and (4), and its entries serve (5):
that is fewer operations than repeated cross products. Rotors act by their spin momentum, see `rotor_step`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..model.tree import FramePlace, Segment
from ..spatial import NO_FORCE, ZERO, Force, Inertia, Mat3, Pose, Transform, Vec3
from .joint import added, along_axis, friction, transform
from .sweep import Sweep


class SegmentMotion(NamedTuple):
    """Motion of one segment in its own frame."""

    w: Vec3
    alpha: Vec3
    a: Vec3
    U: Mat3


class LinkState(NamedTuple):
    """What the way out leaves for the way back. The inertial load is formed on the way out, where its motion is known: six
    numbers are kept for the way back instead of eighteen, which saves registers of a kernel.
    """

    motion: SegmentMotion
    load: Force


def motion(w: Vec3, alpha: Vec3, a: Vec3) -> SegmentMotion:
    """Complete a motion by U = [α]× + [ω]×[ω]×."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    U = Mat3(
        Vec3(-(yy + zz), xy - alpha.z, xz + alpha.y),
        Vec3(xy + alpha.z, -(xx + zz), yz - alpha.x),
        Vec3(xz - alpha.y, yz + alpha.x, -(xx + yy)),
    )
    return SegmentMotion(w, alpha, a, U)


def motion_step(s: Segment, parent: SegmentMotion, X: Transform, qd: Any, qdd: Any) -> SegmentMotion:
    """Carry velocity and acceleration across one joint, (1) to (3)."""
    turn, turn_rate = qd * s.turn, qdd * s.turn
    slide, slide_rate = qd * s.slide, qdd * s.slide
    w_P = X.down(parent.w)
    w = Vec3(w_P.x, w_P.y, w_P.z + turn)  # (1)
    alpha_P = X.down(parent.alpha)
    alpha = Vec3(alpha_P.x + w_P.y * turn, alpha_P.y - w_P.x * turn, alpha_P.z + turn_rate)  # (2)
    a_P = X.down(parent.a + parent.U @ X.p)  # (3)
    double = slide + slide
    a = Vec3(a_P.x + w.y * double, a_P.y - w.x * double, a_P.z + slide_rate)
    return motion(w, alpha, a)


def inertial_load(body: Inertia, link: SegmentMotion) -> Force:
    """The wrench that makes a body move this way, (4) and (5), about the segment's origin."""
    w, alpha, a, U, h, I = link.w, link.alpha, link.a, link.U, body.h, body.I
    f = a * body.mass + U @ h  # (4)
    wx_wy, wx_wz, wy_wz = w.x * w.y, w.x * w.z, w.y * w.z
    # (5), with α ± ωω read off U and the principal differences folded: fifteen products instead of twenty-four
    spin = Vec3(
        alpha.x * I.xx + wy_wz * (I.zz - I.yy) - U.z.x * I.xy + U.y.x * I.xz + (U.y.y - U.z.z) * I.yz,
        alpha.y * I.yy + wx_wz * (I.xx - I.zz) + U.z.y * I.xy + (U.z.z - U.x.x) * I.xz - U.x.y * I.yz,
        alpha.z * I.zz + wx_wy * (I.yy - I.xx) + (U.x.x - U.y.y) * I.xy - U.y.z * I.xz + U.x.z * I.yz,
    )
    return Force(f, spin + h.cross(a))


def outward_step(s: Segment, parent: LinkState, X: Transform, qd: Any, qdd: Any) -> LinkState:
    """One segment on the way out: its motion and the load that goes with it."""
    link = motion_step(s, parent.motion, X, qd, qdd)
    return LinkState(link, inertial_load(s.inertia, link))


def inward_step(s: Segment, children: Force | None, X: Transform, state: LinkState, load: Force | None) -> tuple[Any, Force]:
    """Sum the loads of a segment and hand them to its parent; the result is (6)."""
    total = state.load if load is None else state.load + load
    if children is not None:
        total = total + children
    return along_axis(s, total), X.force_up(total)


def rotor_step(s: Segment, at: LinkState, qd: Any, qdd: Any) -> tuple[Any, Force]:
    """A rotor with spin momentum k I_m q̇ z_m on its mount [Siciliano, Eq. 7.105, 7.106, 7.114].

    Its mass and its inertia at rest are part of the mount; here is what the spin adds: the torque
    k I_m z·(α + k q̈ z) on its own joint, and the moment k I_m (q̈ z + q̇ ω × z) on the mount.
    """
    assert s.spin is not None
    mount = at.motion
    z, kI = s.spin.axis, s.spin.kI
    torque = mount.alpha.dot(z) * kI + qdd * s.spin.kkI
    moment = (z * qdd + mount.w.cross(z) * qd) * kI
    return torque, Force(ZERO, moment)


def drive_step(s: Segment, tau: Any, qd: Any, qdd: Any) -> Any:
    """Add what acts at the joint itself: reflected rotor inertia and friction."""
    return tau + qdd * s.armature + friction(s.friction, qd)


def frictionless_step(s: Segment, tau: Any, qd: Any, qdd: Any) -> Any:
    """Add what acts at the joint itself, friction left out."""
    return tau + qdd * s.armature


def inverse_dynamics(
    sweep: Sweep, q: Any, qd: Any, qdd: Any, base: LinkState, loads: Any = None, *, with_friction: bool = True
) -> Any:
    """Generalised forces per coordinate for a motion; `loads` are those the segments exert on the outside, if any."""
    q, qd, qdd = sweep.expand(q), sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    X = sweep.local(transform, q)
    links = sweep.outward(outward_step, base, X, qd, qdd)
    spins = None
    if sweep.tree.has_spin:
        spins, carried = sweep.mounted(rotor_step, base, links, qd, qdd)
        loads = carried if loads is None else sweep.local(_both, loads, carried)
    if loads is None:
        loads = sweep.local(_none)
    tau = sweep.inward(inward_step, X, links, loads)
    if spins is not None:
        tau = sweep.local(added, tau, spins)
    return sweep.collect(sweep.local(drive_step if with_friction else frictionless_step, tau, qd, qdd))


def _none(s: Segment) -> None:
    return None


def _both(s: Segment, a: Force | None, b: Force | None) -> Force | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def still_base(gravity: Vec3) -> LinkState:
    """A base at rest; gravity acts as its acceleration upwards."""
    return base_state(motion(ZERO, ZERO, -gravity))


def base_state(link: SegmentMotion) -> LinkState:
    """The state of a base that moves; it has no joint, so its own load does not matter."""
    return LinkState(link, NO_FORCE)


def moving_base(gravity: Vec3, velocity: list[Any], acceleration: list[Any]) -> LinkState:
    """A base that moves: [v; ω] and [a; α] of its origin, in its own axes. Its linear velocity has no effect."""
    return base_state(motion(Vec3(*velocity[3:]), Vec3(*acceleration[3:]), Vec3(*acceleration[:3]) - gravity))


def wrench_step(place: FramePlace, wrench: list[Any], pose: Pose) -> Force:
    """A wrench [f; m] on the robot at a frame's origin, in world axes, as the load its segment exerts on the outside."""
    f, m = pose.R.T @ Vec3(*wrench[:3]), pose.R.T @ Vec3(*wrench[3:])
    return Force(-f, -(m + place.p.cross(f)))
