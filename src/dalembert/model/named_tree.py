"""A robot whose numbers may be symbols: the tree of `tree.py` over scalars of any kind, in plain joint frames.

Frames do not depend on the numbers here, since these need not be known. The frame of a segment is that of its joint, z along the
axis. Rotations stay numbers, with exact zeros and ones where axes are aligned; what is zero stays zero. Lengths are those of
Denavit and Hartenberg between any two axes: d along an axis, a along the common normal. A centre of mass is measured from its
link's own joint, in the axes of its link frame, so that it does not depend on where the link frame sits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..spatial import SYM_ZERO, ZERO, Inertia, Pose, Sym3, Vec3, mat3, vec3
from .numbers import Number, Numbers
from .parts import Body, Friction, Joint, Rotor
from .robot import Robot
from .tree import FramePlace, Law, Segment, Spin, Tree

_DUST = 1e-12  # [m, or of 1] what rounding leaves of exact zeros and ones
_PARALLEL = 1e-9
_STEEP = 1e-2  # axes closer than this to parallel are split as parallel ones: their common normal may be far away
_TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")

Scalars = Callable[[Number], Any]


def symbolic_tree(robot: Robot, scalar: Scalars) -> Tree:
    """The tree of a robot, each of its numbers being what `scalar` makes of it: itself, a graph node, a batch."""
    return _Builder(robot, scalar).build()


class OffsetPart(NamedTuple):
    """A share of an offset between two axes: how far, in which direction, and the name it goes by."""

    stem: str
    sub: str
    length: float
    direction: FloatArray


class _Builder:
    """Joint frames as numbers first, then lengths, frames of links, bodies and drives as scalars."""

    def __init__(self, robot: Robot, scalar: Scalars) -> None:
        self.robot = robot
        self.joints = [j for j in robot.structure.joints if j.moves]
        self.number = {j.name: i for i, j in enumerate(self.joints)}
        self.coordinate = {name: i for i, name in enumerate(robot.joint_names)}
        self.numbers = Numbers(_heavy_rotors(robot), scalar)
        self.places: dict[str, tuple[int, FloatArray]] = {robot.structure.root: (-1, np.eye(4))}
        self.parent: list[int] = []
        self.before: list[FloatArray] = []
        self.along_next: set[str] = set()  # joints whose d is an offset before them
        for joint in robot.structure.joints:
            self._place_joint(joint)
        self.offsets = self._offsets()
        self.links = {name: self._link_place(name, i, X) for name, (i, X) in self.places.items()}

    def build(self) -> Tree:
        robot, n = self.robot, len(self.joints)
        bodies = self._bodies()
        return Tree(
            robot.name,
            robot.n,
            tuple(self._segment(i, sum(bodies[i][1:], bodies[i][0])) for i in range(n)),
            self.links,
            tuple(self.links[joint.child] for joint in self.joints),
            tuple(_joint_place(i, joint) for i, joint in enumerate(self.joints)),
            self._tool(),
            self._gravity(),
        )

    def _place_joint(self, joint: Joint) -> None:
        """The joint frame at q = 0 in the parent's, and the link frame in the joint frame, both as numbers."""
        i, X_P = self.places[joint.parent]
        if not joint.moves:
            self.places[joint.child] = (i, _clean(X_P @ joint.origin @ joint.child_origin))
            return
        align = _aligned(joint.axis)
        self.parent.append(i)
        self.before.append(_clean(X_P @ joint.origin @ align @ _motion(joint, joint.home)))
        self.places[joint.child] = (self.number[joint.name], _clean(align.T @ joint.child_origin))

    def _offsets(self) -> list[Vec3]:
        """Where each joint is in its parent's joint frame."""
        split = self._without_clashes([self._split(j) for j in range(len(self.joints))])
        self.along_next = {p.sub for j, parts in enumerate(split) for p in parts if (p.stem, p.sub) == ("d", str(j + 1))}
        return [self._vector(parts, joint.name) for parts, joint in zip(split, self.joints, strict=True)]

    def _split(self, j: int) -> list[OffsetPart]:
        i = self.parent[j]
        own = str(i + 1) if self.parent.count(i) == 1 else f"{i + 1}_{j + 1}"
        _, X = self.places[self.joints[j].parent]
        far = i < 0 or bool(np.abs(X[:3, 3]).max() <= _DUST)  # the link frame is at the joint: the next joint's offset
        return split_offset(self.before[j][:3, 3], self.before[j][:3, 2], X[:3, 0], own, str(j + 1), far=far)

    def _without_clashes(self, split: list[list[OffsetPart]]) -> list[list[OffsetPart]]:
        """An offset along the next axis is called b where that axis has an offset d of its own."""
        own = {(p.stem, p.sub) for j, parts in enumerate(split) for p in parts if p.sub != str(j + 1)}
        return [
            [p._replace(stem="b") if p.sub == str(j + 1) and (p.stem, p.sub) in own else p for p in parts]
            for j, parts in enumerate(split)
        ]

    def _vector(self, parts: list[OffsetPart], joint: str) -> Vec3:
        total = ZERO
        for p in parts:
            what = {"a": "along the common normal", "d": "along the axis", "b": "along the next axis"}[p.stem]
            length = self.numbers.length(p.stem, p.sub, "", p.length, f"offset of joint {joint!r} {what}")
            total = total + vec3(p.direction) * length
        return total

    def _link_place(self, name: str, i: int, X: FloatArray) -> FramePlace:
        R, p = mat3(X[:3, :3]), X[:3, 3]
        if i < 0 or np.abs(p).max() <= _DUST:
            return FramePlace(i, R, vec3(p))
        for j, parent in enumerate(self.parent):
            if parent == i and np.abs(self.before[j][:3, 3] - p).max() <= _DUST:
                return FramePlace(i, R, self.offsets[j])
        sub = str(i + 1)
        if name == self.joints[i].child and i not in self.parent and sub not in self.along_next:
            parts = split_offset(p, X[:3, 2], X[:3, 0], sub, "", far=False)
            if all(part.sub == sub for part in parts):  # the tip of a standard table: d and a of the last row
                return FramePlace(i, R, self._vector(parts, self.joints[i].name))
        others = [link for link, (at, _) in self.places.items() if at == i]
        sub = sub if name == self.joints[i].child else f"{sub}_{others.index(name) + 1}"
        return FramePlace(i, R, self._components("e", sub, p, f"frame of link {name!r} from its joint"))

    def _components(self, stem: str, sub: str, values: FloatArray, meaning: str) -> Vec3:
        return Vec3(
            *(
                self.numbers.length(stem, sub, axis, value, f"{meaning}, along {axis}")
                for axis, value in zip("xyz", values, strict=True)
            )
        )

    def _segment(self, i: int, inertia: Inertia) -> Segment:
        joint = self.joints[i]
        rotor = self.robot.parameters.rotors.get(joint.name)
        friction = self.robot.parameters.friction.get(joint.name)
        coordinate, multiplier, shift = self._coupling(joint)
        k, I = self._drive(i, rotor) if rotor else (1.0, 0.0)
        return Segment(
            name=joint.name,
            parent=self.parent[i],
            coordinate=coordinate,
            multiplier=multiplier,
            shift=shift,
            turn=float(joint.turns),
            slide=float(not joint.turns),
            offset=0.0,
            R=mat3(self.before[i][:3, :3]),
            p=self.offsets[i],
            inertia=inertia,
            armature=k * k * I if rotor and rotor.model == "reflected" else 0.0,
            friction=self._friction(i, friction) if friction else None,
            spin=self._spin(joint, rotor, k, I) if rotor and rotor.model == "full" else None,
            ratio=k,
            rotor_inertia=I,
        )

    def _coupling(self, joint: Joint) -> tuple[int, float, float]:
        if joint.mimic is None:
            return self.coordinate[joint.name], 1.0, 0.0
        return self.coordinate[joint.mimic.joint], joint.mimic.multiplier, joint.mimic.offset

    def _drive(self, i: int, rotor: Rotor) -> tuple[Any, Any]:
        """Gear ratio and inertia of a rotor; a ratio of one is no gear."""
        name = self.joints[i].name
        k = rotor.ratio if rotor.ratio == 1.0 else self.numbers.gear(i + 1, rotor.ratio, name)
        return k, self.numbers.rotor_inertia(i + 1, rotor.inertia, name)

    def _spin(self, joint: Joint, rotor: Rotor, k: Any, I: Any) -> Spin:
        mount, X = self.places[rotor.mount or joint.parent]
        return Spin(mount, vec3(_snapped(X[:3, :3] @ rotor.axis)), k * I, k * (k * I))

    def _friction(self, i: int, friction: Friction) -> Law:
        forward, backward, viscous = self._coefficients(i, friction)
        same = friction.coulomb == friction.coulomb_negative
        number, joint, stribeck = i + 1, self.joints[i].name, friction.breakaway is not None
        width = self.numbers.friction("w", number, "", friction.width, "speed of smoothing", joint, "rad/s | m/s")
        peak, speed = 0.0, 0.0
        if friction.breakaway is not None:
            peak = self.numbers.friction("F", number, "b", friction.breakaway, "breakaway level", joint) / forward - 1.0
            speed = 1.0 / self.numbers.friction(
                "v", number, "s", friction.stribeck_velocity, "Stribeck speed", joint, "rad/s | m/s"
            )
        return Law(
            dry=bool(friction.coulomb or friction.coulomb_negative),
            smooth=friction.width > 0,
            stribeck=stribeck,
            viscous=viscous,
            mean=forward if same else (forward + backward) * 0.5,
            difference=0.0 if same else (forward - backward) * 0.5,
            width2=width * width,
            excess=peak,
            inverse_speed=speed,
        )

    def _coefficients(self, i: int, friction: Friction) -> tuple[Any, Any, Any]:
        number, joint, levels = i + 1, self.joints[i].name, (friction.coulomb, friction.coulomb_negative or 0.0)
        viscous = self.numbers.friction("F", number, "v", friction.viscous, "viscous friction", joint, "N m s/rad | N s/m")
        if levels[0] == levels[1]:
            level = self.numbers.friction("F", number, "s", levels[0], "Coulomb friction", joint)
            return level, level, viscous
        forward, backward = (
            self.numbers.friction("F", number, "s", level, f"Coulomb friction, {way} motion", joint, sign=sign)
            for level, way, sign in zip(levels, ("forward", "backward"), "+-", strict=True)
        )
        return forward, backward, viscous

    def _bodies(self) -> list[list[Inertia]]:
        """What each segment carries, about its joint's origin."""
        carried: list[list[Inertia]] = [[Inertia(0.0, ZERO, SYM_ZERO)] for _ in self.joints]
        count = [0] * len(self.joints)
        for link in self.robot.parameters.links:
            i, X = self.places[link.name]
            for body in (link, *link.bodies):
                if i >= 0 and not body.is_massless:
                    count[i] += 1
                    sub = f"{i + 1}" if count[i] == 1 else f"{i + 1}_{count[i]}"
                    what = f"link {link.name!r}" if body is link else f"body {body.name!r} of link {link.name!r}"
                    carried[i].append(self._body(sub, X, body, what))
        tool, payload = self.robot.tool, self.robot.parameters.payload
        if payload is not None and tool is not None and self.places[tool.link][0] >= 0:
            i, X = self.places[tool.link]
            carried[i].append(self._body("p", _clean(X @ tool.pose), payload, "payload"))
        for name, rotor in self.robot.parameters.rotors.items():
            i, _ = self.places[rotor.mount or self.robot.structure.joint(name).parent]
            if rotor.model == "full" and i >= 0:
                carried[i].append(self._rotor_at_rest(self.number[name], name, rotor))
        return carried

    def _body(self, sub: str, X: FloatArray, body: Body, what: str) -> Inertia:
        R = mat3(X[:3, :3])
        centre = np.round(_snapped(X[:3, :3].T @ (X[:3, :3] @ body.com + X[:3, 3])), 15)  # a sum of decimals is one
        mass = self.numbers.mass(sub, body.mass, what)
        c = R @ self.numbers.centre(sub, centre if body.mass else np.zeros(3), what)
        entries = body.inertia[np.triu_indices(3)]
        I = Sym3(
            *(self.numbers.moment(sub, pair, value, what) for pair, value in zip(_TENSOR, _snapped(entries, 0.0), strict=True))
        )
        return about_joint(mass, c, I.rotated(R))

    def _rotor_at_rest(self, j: int, joint: str, rotor: Rotor) -> Inertia:
        """A symmetric top on its mount [Siciliano, Eq. 7.66]; its spin acts apart."""
        mount = rotor.mount or self.robot.structure.joint(joint).parent
        place, (_, X) = self.links[mount], self.places[mount]
        position = self._components("l", f"m{j + 1}", rotor.position, f"centre of the rotor of joint {joint!r}")
        z = _snapped(X[:3, :3] @ rotor.axis)
        spin = np.outer(z, z)
        I_m = self.numbers.rotor_inertia(j + 1, rotor.inertia, joint)
        I_t = self.numbers.transverse_inertia(j + 1, rotor.transverse_inertia, joint)
        entries = [
            float(along) * I_m + float(across) * I_t
            for along, across in zip(spin[np.triu_indices(3)], (np.eye(3) - spin)[np.triu_indices(3)], strict=True)
        ]
        mass = self.numbers.mass(f"m{j + 1}", rotor.mass, f"rotor of joint {joint!r}")
        return about_joint(mass, place.p + place.R @ position, Sym3(*entries))

    def _tool(self) -> FramePlace | None:
        tool = self.robot.tool
        if tool is None:
            return None
        place = self.links[tool.link]
        X = Pose(mat3(_snapped(tool.pose[:3, :3])), self._components("t", "", tool.pose[:3, 3], "tool in its link frame"))
        R, p = place.pose @ X
        return FramePlace(place.segment, R, p)

    def _gravity(self) -> Vec3:
        size = float(np.linalg.norm(self.robot.gravity))
        if size == 0.0:
            return ZERO
        return vec3(_snapped(self.robot.gravity / size)) * self.numbers.gravity(size)


def about_joint(mass: Any, c: Vec3, I: Sym3) -> Inertia:
    """A body with centre of mass c and inertia I about it, seen from the joint: h = m c, I + m (c·c 1 − c cᵀ)."""
    h = c * mass
    xx, yy, zz = h.x * c.x, h.y * c.y, h.z * c.z
    return Inertia(mass, h, I + Sym3(yy + zz, -(h.x * c.y), -(h.x * c.z), xx + zz, -(h.y * c.z), xx + yy))


def split_offset(p: FloatArray, z: FloatArray, x: FloatArray, own: str, following: str, *, far: bool) -> list[OffsetPart]:
    """An offset p from one joint to the next, whose axis is z, as d z₀ + a n + d' z with n the common normal.

    a is counted along x where that is the normal (the signed a of a table), and is positive elsewhere. Between parallel axes
    the whole d is the first joint's, or the second's if `far`.
    """
    z0 = np.array([0.0, 0.0, 1.0])
    normal = np.cross(z0, z)
    sine = float(np.linalg.norm(normal))
    if sine > _STEEP:
        n = normal / sine
        basis, names = np.column_stack([z0, n, z]), (("d", own), ("a", own), ("d", following))
    else:
        rest = p - p[2] * z0
        size = float(np.linalg.norm(rest))
        n = rest / size if size > _DUST else np.array([1.0, 0.0, 0.0])
        basis, names = np.column_stack([z0, n, np.cross(z0, n)]), (("d", following if far else own), ("a", own), ("a", own))
    lengths = _snapped(np.linalg.solve(basis, p))
    towards = float(n @ x)
    if towards < 0 if abs(towards) > 1 - _PARALLEL else lengths[1] < 0:
        basis[:, 1], lengths[1] = -n, -lengths[1]
    return [
        OffsetPart(stem, sub, float(length), _snapped(basis[:, k]))
        for k, ((stem, sub), length) in enumerate(zip(names, lengths, strict=True))
        if length != 0.0
    ]


def _heavy_rotors(robot: Robot) -> bool:
    return any(rotor.model == "full" and rotor.mass for rotor in robot.parameters.rotors.values())


def _joint_place(i: int, joint: Joint) -> FramePlace:
    X = _clean(_motion(joint, -joint.home) @ _aligned(joint.axis).T)
    return FramePlace(i, mat3(X[:3, :3]), vec3(X[:3, 3]))


def _motion(joint: Joint, value: float) -> FloatArray:
    """The joint's motion along or about z."""
    X = np.eye(4)
    if not joint.turns:
        X[2, 3] = value
        return X
    c, s = np.cos(value), np.sin(value)
    X[:2, :2] = [[c, -s], [s, c]]
    return _clean(X)


def _aligned(axis: FloatArray) -> FloatArray:
    """A rotation whose z is the axis, a permutation for coordinate axes."""
    X = np.eye(4)
    if axis[2] > 1 - _DUST:
        return X
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    X[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    return _clean(X)


def _clean(X: FloatArray) -> FloatArray:
    result = X.copy()
    result[:3, :3], result[:3, 3] = _snapped(X[:3, :3]), _snapped(X[:3, 3])
    return result


def _snapped(values: FloatArray, dust: float = _DUST) -> FloatArray:
    """Rounding of exact zeros and ones taken back."""
    near = np.round(values)
    return np.where((np.abs(values - near) <= dust) & (np.abs(near) <= 1), near, values) + 0.0


__all__ = ["OffsetPart", "about_joint", "split_offset", "symbolic_tree"]
