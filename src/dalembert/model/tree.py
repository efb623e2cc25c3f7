"""A robot as algorithms see it: moving segments, each with its joint axis along its own z.

Fixed joints are merged, further bodies and mounted rotors join the segment that carries them, and the internal frames are
chosen so that most constants are zero: as with modified Denavit-Hartenberg frames, x of a segment lies along the common
normal of its own axis and the next, so that R_PB = Rx(α) Rz(q + offset) [theory: frames]. Users never see these frames;
`FramePlace` leads back to theirs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import FloatArray
from ..spatial import SYM_ZERO, ZERO, Inertia, Mat3, Pose, Sym3, Transform, Turn, Vec3, mat3, vec3
from .parts import Body, Friction, Joint, Rotor
from .robot_data import RobotData
from .second_moments import pseudo_inertia, tensor

_DUST = 1e-14  # entries below this, relative to the largest, are rounding of exact zeros and ones
_PARALLEL = 1e-9
_STEEP = 1e-2  # axes closer than this to parallel count as parallel here: their common normal may be far away


@dataclass(frozen=True)
class Spin:
    """A full rotor: its spin inertia times the gear ratio, once and twice, and its axis in the mount's frame."""

    mount: int
    axis: Vec3
    kI: float
    kkI: float


@dataclass(frozen=True)
class Law:
    """A friction law as numbers, with what it contains as flags: F = viscous q̇ + (mean σ + difference σ²) · peak(q̇)."""

    dry: bool
    smooth: bool
    stribeck: bool
    viscous: float
    mean: float
    difference: float
    width2: float = 0.0
    excess: float = 0.0
    inverse_speed: float = 0.0

    @classmethod
    def of(cls, friction: Friction) -> Law:
        """The law of a joint."""
        forward, backward = friction.coulomb, friction.coulomb_negative or 0.0
        stribeck = friction.breakaway is not None
        return cls(
            dry=bool(forward or backward),
            smooth=friction.width > 0,
            stribeck=stribeck,
            viscous=friction.viscous,
            mean=(forward + backward) / 2,
            difference=(forward - backward) / 2,
            width2=friction.width**2,
            excess=friction.breakaway / forward - 1.0 if friction.breakaway is not None else 0.0,
            inverse_speed=1.0 / friction.stribeck_velocity if stribeck else 0.0,
        )


@dataclass(frozen=True)
class Segment:
    """One moving joint and everything rigidly carried by it. All vectors are in internal frames.

    The joint leads from the parent's frame P to B: R_PB = R · Rz(turn · q + offset), p_PB = p + R z (slide · q). Its rotor acts
    by `armature` or `spin`; gear ratio and rotor inertia are kept for the regressor's column.
    """

    name: str
    parent: int
    coordinate: int
    multiplier: float
    shift: float
    turn: float
    slide: float
    offset: float
    R: Mat3
    p: Vec3
    inertia: Inertia
    armature: float
    friction: Law | None
    spin: Spin | None
    ratio: float = 1.0
    rotor_inertia: float = 0.0


@dataclass(frozen=True)
class FramePlace:
    """A frame fixed in a segment (-1 is the base): its pose in that segment's internal frame."""

    segment: int
    R: Mat3
    p: Vec3

    @property
    def pose(self) -> Pose:
        """Rotation and position together."""
        return Pose(self.R, self.p)


@dataclass(frozen=True)
class Tree:
    """The segments of a robot, parents first, and where its links and tool are."""

    name: str
    n: int
    segments: tuple[Segment, ...]
    links: Mapping[str, FramePlace]
    frames: tuple[FramePlace, ...]  # the user's frame of each segment: that of the link its joint moves
    joints: tuple[FramePlace, ...]  # the joint's own frame in the parent, as seen from the segment at q = 0
    tool: FramePlace | None
    gravity: Vec3

    @cached_property
    def is_plain(self) -> bool:
        """One segment per coordinate, in order, with no coupling: q drives the segments one to one."""
        return all(
            s.coordinate == i and s.multiplier == 1.0 and s.shift == 0.0 for i, s in enumerate(self.segments)
        ) and self.n == len(self.segments)

    @cached_property
    def pairs(self) -> int:
        """How many pairs there are of a segment and one on its path, itself included."""
        return sum(self.depths)

    @cached_property
    def triples(self) -> int:
        """The same with two on its path."""
        return sum(depth**2 for depth in self.depths)

    @cached_property
    def depths(self) -> list[int]:
        """How many segments stand on the path of each, itself included."""
        depths: list[int] = []
        for s in self.segments:
            depths.append(1 + (depths[s.parent] if s.parent >= 0 else 0))
        return depths

    @cached_property
    def is_chain(self) -> bool:
        """One segment after another, without branches."""
        return all(s.parent == i - 1 for i, s in enumerate(self.segments))

    @cached_property
    def has_spin(self) -> bool:
        """Whether a full rotor acts."""
        return any(s.spin is not None for s in self.segments)

    @cached_property
    def regrouped(self) -> Tree:
        """The same tree with fewer numbers: what a segment and its parent cannot tell apart is moved to the parent.

        Mass on a joint's axis is at rest in both its links, so a needle on the axis (m, h_z, I_xx = I_yy) may go over from a
        turning segment, leaving it m = h_z = I_yy = 0; a sliding segment does not turn against its parent, so its whole I may
        [Khalil2002, §9.4]. Motion and joint forces stay the same; forces between links and the height of the potential do not.
        """
        segments = list(self.segments)
        for i in reversed(range(len(segments))):
            s = segments[i]
            kept, moved = _split(s)
            segments[i] = dataclasses.replace(s, inertia=kept)
            if s.parent >= 0:
                parent = segments[s.parent]
                rigid = Transform(s.R, Turn(1.0, 0.0), s.p)
                segments[s.parent] = dataclasses.replace(parent, inertia=parent.inertia + moved.up(rigid))
        return dataclasses.replace(self, segments=tuple(segments))

    def path(self, segment: int) -> list[int]:
        """The segments from this one down to the base, itself first."""
        path = []
        while segment >= 0:
            path.append(segment)
            segment = self.segments[segment].parent
        return path


def _split(s: Segment) -> tuple[Inertia, Inertia]:
    """What a segment has to keep, and what may go to its parent."""
    m, h, I = s.inertia
    if s.turn:
        needle = Inertia(m, Vec3(0.0, 0.0, h.z), Sym3(I.yy, 0.0, 0.0, I.yy, 0.0, 0.0))
        return Inertia(0.0, Vec3(h.x, h.y, 0.0), Sym3(I.xx - I.yy, I.xy, I.xz, 0.0, I.yz, I.zz)), needle
    return Inertia(m, h, SYM_ZERO), Inertia(0.0, ZERO, I)


def tree_of(robot: RobotData) -> Tree:
    """The tree of a robot."""
    return _Builder(robot).build()


class _Builder:
    """Numeric preparation, in three steps: joint frames, internal frames, segments."""

    def __init__(self, robot: RobotData) -> None:
        self.robot = robot
        self.joints = [j for j in robot.structure.joints if j.moves]
        self.number = {j.name: i for i, j in enumerate(self.joints)}
        self.coordinate = {name: i for i, name in enumerate(robot.joint_names)}
        # X of each link frame in the joint frame (axis along z, moved with the joint) of the segment that carries it
        self.link_frames: dict[str, tuple[int, FloatArray]] = {robot.structure.root: (-1, np.eye(4))}
        self.parent: list[int] = []
        self.before: list[FloatArray] = []  # joint frame at q = 0 in the parent's joint frame
        self.adjust: list[FloatArray] = [np.eye(4)] * len(self.joints)  # internal frame in the joint frame

    def build(self) -> Tree:
        self._place_joint_frames()
        self._choose_internal_frames()
        links = {name: self._place(i, X) for name, (i, X) in self.link_frames.items()}
        tool = self.robot.tool
        return Tree(
            self.robot.name,
            self.robot.n,
            tuple(self._segment(i) for i in range(len(self.joints))),
            links,
            tuple(links[joint.child] for joint in self.joints),
            tuple(self._place(i, _along_z(j, -j.home) @ _frame_with_z(j.axis).T) for i, j in enumerate(self.joints)),
            None if tool is None else self._place(*self._tool_frame()),
            vec3(self.robot.gravity),
        )

    def _place_joint_frames(self) -> None:
        for joint in self.robot.structure.joints:
            i, X_parent = self.link_frames[joint.parent]
            if not joint.moves:
                self.link_frames[joint.child] = (i, _clean(X_parent @ joint.origin @ joint.child_origin))
                continue
            align = _frame_with_z(joint.axis)
            self.parent.append(i)
            self.before.append(_clean(X_parent @ joint.origin @ align @ _along_z(joint, joint.home)))
            self.link_frames[joint.child] = (self.number[joint.name], _clean(np.linalg.inv(align) @ joint.child_origin))

    def _choose_internal_frames(self) -> None:
        leading: dict[int, int] = {}
        weight = [1] * len(self.joints)
        for i in reversed(range(len(self.joints))):
            if self.parent[i] >= 0:
                weight[self.parent[i]] += weight[i]
        for i, parent in enumerate(self.parent):
            if parent >= 0 and (parent not in leading or weight[i] > weight[leading[parent]]):
                leading[parent] = i
        for i in range(len(self.joints)):
            # A branch point serves the heavier branch; a tip moves its origin next to the parent's.
            self.adjust[i] = _common_normal(self.before[leading[i]]) if i in leading else self._tip_frame(i)

    def _tip_frame(self, i: int) -> FloatArray:
        if not self.joints[i].turns:
            return np.eye(4)
        X = self._from_parent(i)
        _, psi = _split_turn(X[:3, :3])
        right = abs(np.sin(2 * psi)) < _PARALLEL  # a right angle leaves an inertia tensor's zeros; then the joint has no offset
        return _screw_z(-psi if right else 0.0, -float(X[:3, 2] @ X[:3, 3]))

    def _from_parent(self, i: int) -> FloatArray:
        """The joint frame at q = 0 in the parent's internal frame."""
        outer = np.linalg.inv(self.adjust[self.parent[i]]) if self.parent[i] >= 0 else np.eye(4)
        return _clean(outer @ self.before[i])

    def _segment(self, i: int) -> Segment:
        joint, X = self.joints[i], self._from_parent(i)
        angle, height = _z_screw_of(self.adjust[i])
        p = X[:3, 3] + X[:3, 2] * height
        R, offset = _split_turn(X[:3, :3])
        if joint.turns:
            R, offset = _nearer(R, offset + angle)
        else:
            R, offset = X[:3, :3] @ _screw_z(angle, 0.0)[:3, :3], 0.0
        rotor = self.robot.parameters.rotors.get(joint.name)
        friction = self.robot.parameters.friction.get(joint.name)
        coordinate, multiplier, shift = self._coupling(joint)
        return Segment(
            name=joint.name,
            parent=self.parent[i],
            coordinate=coordinate,
            multiplier=multiplier,
            shift=shift,
            turn=float(joint.turns),
            slide=float(not joint.turns),
            offset=_snap_angle(offset),
            R=mat3(_clean_array(R)),
            p=vec3(_clean_array(p)),
            inertia=self._inertia(i),
            armature=rotor.ratio**2 * rotor.inertia if rotor and rotor.model == "reflected" else 0.0,
            friction=Law.of(friction) if friction else None,
            spin=self._spin(joint, rotor) if rotor and rotor.model == "full" else None,
            ratio=rotor.ratio if rotor else 1.0,
            rotor_inertia=rotor.inertia if rotor else 0.0,
        )

    def _coupling(self, joint: Joint) -> tuple[int, float, float]:
        if joint.mimic is None:
            return self.coordinate[joint.name], 1.0, 0.0
        return self.coordinate[joint.mimic.joint], joint.mimic.multiplier, joint.mimic.offset

    def _spin(self, joint: Joint, rotor: Rotor) -> Spin:
        mount, X = self._mount(joint, rotor)
        R = (np.linalg.inv(self.adjust[mount]) @ X)[:3, :3] if mount >= 0 else X[:3, :3]
        kI = rotor.ratio * rotor.inertia
        return Spin(mount, vec3(_clean_array(R @ rotor.axis)), kI, rotor.ratio * kI)

    def _mount(self, joint: Joint, rotor: Rotor) -> tuple[int, FloatArray]:
        return self.link_frames[rotor.mount or joint.parent]

    def _tool_frame(self) -> tuple[int, FloatArray]:
        tool = self.robot.tool
        assert tool is not None
        i, X = self.link_frames[tool.link]
        return i, X @ tool.pose

    def _place(self, i: int, X: FloatArray) -> FramePlace:
        inner = _clean(np.linalg.inv(self.adjust[i]) @ X) if i >= 0 else X
        return FramePlace(i, mat3(inner[:3, :3]), vec3(inner[:3, 3]))

    def _inertia(self, i: int) -> Inertia:
        """Everything rigidly carried by segment i, about its internal origin."""
        total = np.zeros((4, 4))
        for X, body in self._carried(i):
            total += X @ pseudo_inertia(body) @ X.T
        inner = np.linalg.inv(self.adjust[i])
        return _inertia_of(inner @ total @ inner.T)

    def _carried(self, i: int) -> list[tuple[FloatArray, Body]]:
        return self._all_carried.get(i, [])

    @cached_property
    def _all_carried(self) -> dict[int, list[tuple[FloatArray, Body]]]:
        carried: dict[int, list[tuple[FloatArray, Body]]] = {}
        for link in self.robot.parameters.links:
            i, X = self.link_frames[link.name]
            carried.setdefault(i, []).extend((X, body) for body in (link, *link.bodies))
        if self.robot.parameters.payload is not None:
            i, X = self._tool_frame()
            carried.setdefault(i, []).append((X, self.robot.parameters.payload))
        for name, rotor in self.robot.parameters.rotors.items():
            if rotor.model == "full":
                i, X = self._mount(self.robot.structure.joint(name), rotor)
                carried.setdefault(i, []).append((X, _rotor_body(rotor)))
        return carried


def _rotor_body(rotor: Rotor) -> Body:
    """The rotor at rest on its mount, as a symmetric top [Siciliano, Eq. 7.66]."""
    spin_part = np.outer(rotor.axis, rotor.axis)
    inertia = rotor.inertia * spin_part + rotor.transverse_inertia * (np.eye(3) - spin_part)
    return Body("rotor", rotor.mass, rotor.position, inertia)


def _inertia_of(pseudo: FloatArray) -> Inertia:
    I = _clean_array(tensor(pseudo[:3, :3]), 0.0)
    entries = (I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])
    return Inertia(float(pseudo[3, 3]), vec3(_clean_array(pseudo[:3, 3])), Sym3(*map(float, entries)))


def _along_z(joint: Joint, value: float) -> FloatArray:
    return _screw_z(value, 0.0) if joint.turns else _screw_z(0.0, value)


def _screw_z(angle: float, height: float) -> FloatArray:
    c, s = np.cos(angle), np.sin(angle)
    return _clean(np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, height], [0, 0, 0, 1.0]]))


def _z_screw_of(X: FloatArray) -> tuple[float, float]:
    return float(np.arctan2(X[1, 0], X[0, 0])), float(X[2, 3])


def _frame_with_z(axis: FloatArray) -> FloatArray:
    """A rotation whose z is the axis, exact for coordinate axes."""
    X = np.eye(4)
    if np.array_equal(axis, [0.0, 0.0, 1.0]):  # the last entry alone may be 1 by rounding
        return X
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    X[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    return _clean(X)


def _common_normal(X: FloatArray) -> FloatArray:
    """The move along and about z that puts x on the common normal of this axis and the next, whose frame is X.

    Of the two directions of x, the nearer to the present one is taken, so that frames already chosen well stay.
    """
    u, p = X[:3, 2], X[:3, 3]
    sine2 = u[0] ** 2 + u[1] ** 2
    if sine2 > _STEEP**2:
        normal, height = np.array([-u[1], u[0]]), p[2] - (p[:2] @ u[:2]) / sine2 * u[2]
    else:
        normal, height = p[:2], p[2]
    if np.hypot(*normal) <= _PARALLEL * max(1.0, float(np.abs(p).max())) and sine2 <= _STEEP**2:
        return _screw_z(0.0, float(height))
    angle = float(np.arctan2(normal[1], normal[0]))
    if angle > np.pi / 2 + _PARALLEL:
        angle -= np.pi
    elif angle <= -np.pi / 2 + _PARALLEL:
        angle += np.pi
    return _screw_z(_snap_angle(angle), float(height))


def _split_turn(R: FloatArray) -> tuple[FloatArray, float]:
    """R = R' Rz(ψ) with as many zeros in R' as there can be: its last row has none in x, or R' is the identity."""
    if np.hypot(R[2, 0], R[2, 1]) > _PARALLEL:
        psi = float(np.arctan2(R[2, 0], R[2, 1]))
    else:
        psi = float(np.arctan2(-R[0, 1], R[0, 0]))
    psi = _snap_angle(psi)
    return R @ _screw_z(-psi, 0.0)[:3, :3], psi


def _nearer(R: FloatArray, offset: float) -> tuple[FloatArray, float]:
    """R Rz(offset) with the smaller of the two offsets that leave as many zeros in R: a turn by π changes signs, no count."""
    if abs(offset) <= np.pi / 2 + _PARALLEL:
        return R, offset
    turns = np.round(offset / np.pi)
    return R @ _screw_z(turns * np.pi, 0.0)[:3, :3], offset - turns * np.pi


def _snap_angle(angle: float) -> float:
    return 0.0 if abs(angle) < _DUST * 10 else float(angle)


def _clean(X: FloatArray) -> FloatArray:
    result = X.copy()
    result[:3, :3] = _clean_array(X[:3, :3])
    result[:3, 3] = _clean_array(X[:3, 3])
    return result


def _clean_array(values: FloatArray, scale: float = 1e-3) -> FloatArray:
    """Rounding dust removed: entries tiny beside the largest (or `scale`) become 0, those next to ±1 exactly that."""
    result = np.where(np.abs(values) < _DUST * max(scale, float(np.abs(values).max(initial=0.0))), 0.0, values)
    near = np.abs(np.abs(result) - 1.0) < _DUST
    return np.where(near, np.sign(result), result)


__all__ = ["FramePlace", "Law", "Segment", "Spin", "Tree", "tree_of"]
