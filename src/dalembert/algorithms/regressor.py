"""The regressor: joint forces as a linear function of the dynamic parameters, τ = Y(q, q̇, q̈) φ [Siciliano, Eq. 7.80].

For link j, with ω, α, a its motion in its own frame (a minus gravity), the wrench of a body with parameters
(m, h, I) is linear in them; projected on the axis of an ancestor joint i, seen in link j's frame as the twist (v, w):

    y_m   = v·a                                                (1)
    y_h   = Uᵀ v + a × w          (one entry per component)    (2)
    y_I   = the six products of w with α, ω ωᵀ                 (3)

Carrying the twist of each joint outwards costs less than carrying ten wrenches inwards: one vector pair instead of ten. For many
joints, the entries of one pair are a function (`pair`) that is run for all pairs, so that its code does not grow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..model.tree import FramePlace, Law, Segment, Tree
from ..spatial import ZERO, Inertia, Mat3, Matrix, Pose, Sym3, Transform, Twist, Vec3
from .joint import friction_terms, own_screw, transform
from .kinematics import segment_poses
from .newton_euler_recursion import LinkState, SegmentMotion, motion, outward_step
from .sweep import Unrolled

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
DRIVE = ("Im", "Fv", "Fc", "Fo")


class Options(NamedTuple):
    """Which columns a joint has beyond the ten inertial ones."""

    rotor: bool = True
    friction: bool = True
    offset: bool = False

    @property
    def drive(self) -> tuple[str, ...]:
        """Their names."""
        return ("Im",) * self.rotor + ("Fv", "Fc") * self.friction + ("Fo",) * self.offset


STANDARD = Options()


def columns(tree: Tree, options: Options) -> list[str]:
    """The name of each column, such as 'joint2.Ixx'."""
    return [f"{s.name}.{name}" for s in tree.segments for name in (*INERTIAL, *options.drive)]


def regressor(sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkState, options: Options) -> Matrix:
    """Y, one row per coordinate."""
    tree = sweep.tree
    rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    X = sweep.local(transform, sweep.expand(q))
    states = sweep.outward(outward_step, base, X, rates, accelerations)
    twists = joint_twists(sweep, X)
    width = len(INERTIAL) + len(options.drive)
    Y: Matrix = [[0.0] * (width * len(tree.segments)) for _ in range(tree.n)]
    for j in range(len(tree.segments)):
        _link_columns(sweep, Y, j, j * width, states[j].motion, twists[j])
        place = j * width + len(INERTIAL)
        if options.rotor:
            spin = tree.segments[j].spin
            m = spin.mount if spin is not None else -1
            mount, carrying = (states[m].motion, twists[m]) if m >= 0 else (base.motion, {})
            _rotor_column(sweep, Y, j, place, mount, carrying, rates[j], accelerations[j])
        _friction_columns(sweep, Y, j, place + options.rotor, options, rates[j])
    return Y


def _link_columns(sweep: Unrolled, Y: Matrix, j: int, first: int, link: SegmentMotion, twists: dict[int, Twist]) -> None:
    """Enter the ten columns of link j in the rows of all joints that move it."""
    frame = sweep.tree.frames[j].pose
    link = in_frame(link, frame)
    for i, twist in twists.items():
        moved = twist.at(frame.p)
        entries = _projected(link, Twist(frame.R.T @ moved.v, frame.R.T @ moved.w))
        _enter(sweep, Y, i, first, entries)


def parts(sweep: Unrolled, q: Any, qd: Any, qdd: Any, base: LinkState, options: Options) -> dict[str, Matrix]:
    """What `pair` takes, a row per segment: axis and origin of its joint, pose and motion of its link frame; and the columns of
    its drive in its own row, with the moment of a full rotor on its mount.
    """
    tree, poses = sweep.tree, segment_poses(sweep, q)
    rates, accelerations = sweep.expand(qd, rate=True), sweep.expand(qdd, rate=True)
    states = sweep.outward(outward_step, base, sweep.local(transform, sweep.expand(q)), rates, accelerations)
    found: dict[str, Matrix] = {"axes": [], "frames": [], "motions": [], "drives": [], "moments": []}
    for j, (s, place, pose) in enumerate(zip(tree.segments, tree.frames, poses, strict=True)):
        frame = place.pose
        link, seen = in_frame(states[j].motion, frame), pose @ frame
        found["axes"].append([*(pose.R.third), *pose.p])
        found["frames"].append([*(x for row in seen.R for x in row), *seen.p])
        found["motions"].append([*link.w, *link.alpha, *link.a])
        m = s.spin.mount if s.spin is not None else -1
        own, moment = _rotor(s, states[m].motion if m >= 0 else base.motion, rates[j], accelerations[j])
        viscous, dry, offset = friction_terms(s.friction, rates[j])
        found["drives"].append([own] * options.rotor + [viscous, dry] * options.friction + [offset] * options.offset)
        found["moments"].append([*(poses[m].R @ moment)] if m >= 0 else [0.0] * 3)
    return found


def pair(kind: Sequence[Any], axis: Sequence[Any], frame: Sequence[Any], link: Sequence[Any]) -> list[Any]:
    """The ten entries of a link in the row of a joint. `kind` has how much that joint slides and turns it: (1, 0), (0, 1), or
    nothing if it does not move it; the rest is as `parts` has it.
    """
    (slide, turn), z, R = kind, Vec3(*axis[:3]), Mat3(Vec3(*frame[:3]), Vec3(*frame[3:6]), Vec3(*frame[6:9]))
    arm = Vec3(*frame[9:]) - Vec3(*axis[3:])
    twist = Twist(R.T @ (z * slide + z.cross(arm) * turn), R.T @ z * turn)
    return _projected(motion(Vec3(*link[:3]), Vec3(*link[3:6]), Vec3(*link[6:])), twist)


def in_frame(link: SegmentMotion, frame: Pose) -> SegmentMotion:
    """The motion of a segment, at another frame fixed in it."""
    R = frame.R.T
    return motion(R @ link.w, R @ link.alpha, R @ (link.a + link.U @ frame.p))


def joint_twists(sweep: Unrolled, X: list[Transform]) -> list[dict[int, Twist]]:
    """For each segment, the twist of every joint that moves it, at its origin and in its frame."""
    found: list[dict[int, Twist]] = []
    for j, s in enumerate(sweep.tree.segments):
        carried = found[s.parent] if s.parent >= 0 else {}
        found.append({i: X[j].motion_down(twist) for i, twist in carried.items()} | {j: own_screw(s)})
    return found


def _projected(link: SegmentMotion, twist: Twist) -> list[Any]:
    """(1) to (3): the generalised force of unit parameters on one twist."""
    (w, alpha, a, U), (v, z) = link, twist
    by_mass = v.dot(a)  # (1)
    moment = a.cross(z)
    by_first = [v.x * U.x[k] + v.y * U.y[k] + v.z * U.z[k] + moment[k] for k in range(3)]  # (2)
    xy, xz, yz = w.x * w.y, w.x * w.z, w.y * w.z
    by_second = [  # (3), column by column of I α + ω × I ω
        z.x * alpha.x + z.y * xz - z.z * xy,
        -(z.x * U.z.x) + z.y * U.z.y + z.z * (U.x.x - U.y.y),
        z.x * U.y.x + z.y * (U.z.z - U.x.x) - z.z * U.y.z,
        -(z.x * yz) + z.y * alpha.y + z.z * xy,
        z.x * (U.y.y - U.z.z) - z.y * U.x.y + z.z * U.x.z,
        z.x * yz - z.y * xz + z.z * alpha.z,
    ]
    return [by_mass, *by_first, *by_second]


def _rotor_column(
    sweep: Unrolled, Y: Matrix, j: int, place: int, mount: SegmentMotion, twists: dict[int, Twist], qd: Any, qdd: Any
) -> None:
    """The spin inertia of joint j's rotor: k² q̈ on its own joint, and for a full rotor the coupling with its mount."""
    own, moment = _rotor(sweep.tree.segments[j], mount, qd, qdd)
    _enter(sweep, Y, j, place, [own])
    for i, twist in twists.items():
        _enter(sweep, Y, i, place, [moment.dot(twist.w)])


def _rotor(s: Segment, mount: SegmentMotion, qd: Any, qdd: Any) -> tuple[Any, Vec3]:
    """What a rotor of unit inertia asks of its own joint, and its moment on its mount, in the mount's frame."""
    if s.spin is None:
        return qdd * s.ratio**2, ZERO
    z, k = s.spin.axis, s.ratio
    return (mount.alpha.dot(z) + qdd * k) * k, (z * qdd + mount.w.cross(z) * qd) * k


def _friction_columns(sweep: Unrolled, Y: Matrix, j: int, place: int, options: Options, qd: Any) -> None:
    viscous, dry, offset = friction_terms(sweep.tree.segments[j].friction, qd)
    _enter(sweep, Y, j, place, [viscous, dry] * options.friction + [offset] * options.offset)


def _enter(sweep: Unrolled, Y: Matrix, segment: int, first: int, entries: list[Any]) -> None:
    s: Segment = sweep.tree.segments[segment]
    row = Y[s.coordinate]
    for k, entry in enumerate(entries):
        row[first + k] = row[first + k] + entry * s.multiplier


def parameter_values(tree: Tree, options: Options) -> list[float]:
    """φ: the robot's own values in the order of the columns."""
    values: list[float] = []
    for s, place in zip(tree.segments, tree.frames, strict=True):
        body = s.inertia.placed(place.pose.inverse)
        law = s.friction
        values += [body.mass, *body.h, *body.I] + [s.rotor_inertia] * options.rotor
        values += [law.viscous if law else 0.0, law.mean if law else 0.0] * options.friction
        values += [law.difference if law else 0.0] * options.offset
    return values


def with_parameters(tree: Tree, phi: Sequence[Any]) -> Tree:
    """The same tree with other parameters, numbers or graph nodes, in the order of the standard columns."""
    width = len(INERTIAL) + len(STANDARD.drive)
    segments = tuple(
        _with_parameters(s, place, phi[j * width : (j + 1) * width])
        for j, (s, place) in enumerate(zip(tree.segments, tree.frames, strict=True))
    )
    return dataclasses.replace(tree, segments=segments)


def _with_parameters(s: Segment, place: FramePlace, phi: Sequence[Any]) -> Segment:
    m, hx, hy, hz, *I, rotor, viscous, coulomb = phi
    body = Inertia(m, Vec3(hx, hy, hz), Sym3(*I)).placed(place.pose)
    law = s.friction or Law(dry=True, smooth=False, stribeck=False, viscous=0.0, mean=0.0, difference=0.0)
    spin = None if s.spin is None else dataclasses.replace(s.spin, kI=rotor * s.ratio, kkI=rotor * s.ratio**2)
    return dataclasses.replace(
        s,
        inertia=body,
        armature=0.0 if spin is not None else rotor * s.ratio**2,
        spin=spin,
        friction=dataclasses.replace(law, dry=True, viscous=viscous, mean=coulomb),
        rotor_inertia=rotor,
    )
