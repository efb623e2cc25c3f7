"""What is computable but unphysical: found when a robot is built, warned about, refused under `strict=True`.

Each finding has a code, such as 'negative-mass', and one or two sentences that name the part, the condition, the value and
something to try. Textbook planar data, where a tensor has a single diagonal entry, is accepted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import DalembertWarning, ModelError, Part, tell
from .idle import idle_joints, links_have_own
from .parts import Body, Joint, Link, Rotor
from .robot_data import RobotData
from .second_moments import second_moment, tensor
from .tree import tree_of

T = TypeVar("T")

_ROUNDING = 1e-9  # relative size of a negative principal moment that rounding alone can leave
_PRINTED = 1e-3  # published tensors carry about three digits, so a flat body misses the triangle inequality by that much
_LONG = 10.0  # [m] no single link of an arm is longer
_CONSTANTS = 1.5  # by which torque and back-EMF constant of a motor differ at most; iron losses and tolerances make some percent
_LOOKED_AT = 200  # joints; with more, one that moves no inertia is named when an acceleration is asked for
_TURNS = 4 * math.pi  # [rad] two full turns; what lies beyond was most likely meant in degrees


class Finding(NamedTuple):
    """One doubtful thing: its code (such as 'negative-mass'), the sentence about it, and the part it is about."""

    code: str
    message: str
    part: Part | None = None


class FoundNote(str):
    """A robot's note that came from a finding, so that it disappears when the number is corrected."""


class SourceNote(str):
    """A robot's note about a doubtful number of its source, of which the robot keeps only the corrected value."""

    code: str

    def __new__(cls, message: str, code: str = "note") -> SourceNote:
        """The finding as a note."""
        note = super().__new__(cls, message)
        note.code = code
        return note


def findings(robot: RobotData) -> list[Finding]:
    """Every doubtful number of the robot."""
    of_parts = (_of_bodies, _of_joints, _of_friction, _of_rotors, _of_motors, _of_groups, _of_gravity)
    found = [*_of_source(robot), *itertools.chain.from_iterable(find(robot) for find in of_parts)]
    return [*found, *_of_idle_joints(robot, found)]


def report(robot: RobotData, *, strict: bool) -> tuple[str, ...]:
    """Warn of each finding, or raise the first under `strict`; returns the robot's notes with the findings among them.

    A finding that already stands in the notes is not repeated: a copy with another payload does not warn again.
    """
    found = findings(robot)
    known = set(robot.notes)
    _tell([finding for finding in found if strict or finding.message not in known], strict=strict)
    kept = [note for note in robot.notes if not isinstance(note, FoundNote)]
    standing = set(kept)
    return (*kept, *(FoundNote(finding.message) for finding in found if finding.message not in standing))


def doubts_of_rows(rows: Sequence[Mapping[str, Any]], *, strict: bool) -> tuple[SourceNote, ...]:
    """Warn of doubtful angles in the rows of a Denavit-Hartenberg table, or raise the first; returns notes for the robot."""
    found = [
        _large_angle(Part("row", str(i)), f"joint {row['name']!r}: {key}", row[key], f" Then call it {key}_deg.")
        for i, row in enumerate(rows, start=1)
        for key in ("theta", "alpha")
        if abs(row[key]) > _TURNS
    ]
    _tell(found, strict=strict)
    return tuple(SourceNote(finding.message, finding.code) for finding in found)


def _tell(found: list[Finding], *, strict: bool) -> None:
    if strict and found:
        raise ModelError(found[0].message, part=found[0].part)
    for finding in found:
        warning = DalembertWarning(finding.message, finding.code, part=finding.part)
        tell(warning)


def _of_source(robot: RobotData) -> Iterator[Finding]:
    return (Finding(note.code, str(note)) for note in robot.notes if isinstance(note, SourceNote))


def nearest_inertia(I: FloatArray) -> FloatArray:
    """The nearest tensor that a distribution of positive mass can have.

    The second moments Σ = ½ tr(I) 1 − I (1) of a positive mass are positive semidefinite, which is the same as positive
    principal moments with the triangle inequality [Wensing2018]. Negative eigenvalues of Σ are set to
    zero, then I = tr(Σ) 1 − Σ (2).
    """
    values, vectors = np.linalg.eigh(second_moment(I))  # (1)
    S = (vectors * np.clip(values, 0, None)) @ vectors.T
    return tensor(S)  # (2)


def _of_bodies(robot: RobotData) -> Iterator[Finding]:
    bodies = list(_bodies(robot))
    moments = np.linalg.eigvalsh(np.array([body.inertia for _, _, body in bodies]))  # ascending
    for part, subject, body in bodies:
        if body.mass < 0:
            sentence = f"{subject}: mass {body.mass:g} kg found; it needs to be zero or positive. Is the sign wrong?"
            yield Finding("negative-mass", sentence, part)
        if math.hypot(*body.com.tolist()) > _LONG:
            yield _far(subject, body)._replace(part=part)
    scale = np.abs(moments).max(axis=1)
    masses = np.array([body.mass if body.mass > 0 else math.inf for _, _, body in bodies])
    for i in np.flatnonzero(scale > _LONG**2 * masses):
        part, subject, body = bodies[i]
        yield _wide(subject, body, scale[i])._replace(part=part)
    indefinite = moments[:, 0] < -_ROUNDING * scale
    broken = ~indefinite & (moments[:, 0] + moments[:, 1] < (1 - _PRINTED) * moments[:, 2])
    for i in np.flatnonzero(indefinite | broken):
        part, subject, body = bodies[i]
        if indefinite[i]:
            yield _indefinite(subject, body, moments[i])._replace(part=part)
        elif not _is_planar(body.inertia):
            yield _triangle(subject, body, moments[i])._replace(part=part)


def _bodies(robot: RobotData) -> Iterator[tuple[Part, str, Body]]:
    """Each body of the robot with its part and the words that name it."""
    for link in robot.parameters.links:
        part = Part("link", link.name)
        yield part, f"link {link.name!r}", link
        for body in link.bodies:
            yield part, f"link {link.name!r}, body {body.name!r}", body
    if robot.parameters.payload is not None:
        yield Part("payload", ""), "payload", robot.parameters.payload


def _far(subject: str, body: Body) -> Finding:
    return Finding(
        "far-centre",
        f"{subject}: its centre of mass stands {math.hypot(*body.com.tolist()):g} m from its frame, more than the {_LONG:g} m "
        "expected of an arm. Are the lengths in millimetres?",
    )


def _wide(subject: str, body: Body, moment: float) -> Finding:
    radius = math.sqrt(moment) / math.sqrt(body.mass)
    return Finding(
        "large-inertia",
        f"{subject}: inertia {moment:g} kg m² of a mass of {body.mass:g} kg means a radius of gyration of {radius:g} m, more "
        f"than the {_LONG:g} m expected of an arm. Is it in kg mm² or g cm²?",
    )


def _is_planar(I: FloatArray) -> bool:
    """Whether only one diagonal entry is given, as books do for planar arms."""
    return int(np.count_nonzero(I)) == 1


def _indefinite(subject: str, body: Body, moments: FloatArray) -> Finding:
    return Finding(
        "indefinite-inertia",
        f"{subject}: inertia about the centre of mass has principal values {_listed(moments)} kg m²; all need to be positive. "
        f"Is the tensor given about the joint frame instead? Nearest valid: {_rounded(nearest_inertia(body.inertia))}.",
    )


def _triangle(subject: str, body: Body, moments: FloatArray) -> Finding:
    largest = max(moments)
    return Finding(
        "triangle-inequality",
        f"{subject}: inertia about the centre of mass has principal values {_listed(moments)} kg m²; of a positive mass none "
        f"exceeds the sum of the other two, but {largest:.4g} > {sum(moments) - largest:.4g}. "
        f"Are the axes those of the link frame? Nearest valid: {_rounded(nearest_inertia(body.inertia))}.",
    )


def _listed(moments: FloatArray) -> str:
    return ", ".join(f"{value:.4g}" for value in moments[::-1])


def _rounded(I: FloatArray) -> str:
    """Six significant digits relative to the largest entry, without the rounding of the eigenvalue computation."""
    largest = np.abs(I).max()
    if largest == 0:
        return checks.describe(I)
    decimals = min(5 - math.floor(math.log10(largest)), 300)  # ten to a higher power is infinite
    return checks.describe(np.round(I, decimals) + 0.0)


def _of_joints(robot: RobotData) -> Iterator[Finding]:
    root = robot.structure.root
    for joint in robot.structure.joints:
        length = max(math.hypot(*joint.origin[:3, 3]), math.hypot(*joint.child_origin[:3, 3]))
        placed_in_world = not joint.moves and joint.parent == root  # a base may stand anywhere
        if length > _LONG and not placed_in_world:
            yield Finding(
                "long-link",
                f"joint {joint.name!r}: it stands {length:g} m from link {joint.parent!r}, more than the {_LONG:g} m "
                "expected of an arm. Are the lengths in millimetres?",
                Part("joint", joint.name),
            )
        if joint.turns:
            yield from _large_angles(joint)


def _large_angles(joint: Joint) -> Iterator[Finding]:
    for name, value in (("lower limit", joint.limits.lower), ("upper limit", joint.limits.upper), ("home", joint.home)):
        if _TURNS < abs(value) < math.inf:
            yield _large_angle(Part("joint", joint.name), f"joint {joint.name!r}: {name}", value)


def _large_angle(part: Part, subject: str, value: float, remedy: str = "") -> Finding:
    return Finding("large-angle", f"{subject} {value:g} rad is beyond two full turns (4π). Is it in degrees?{remedy}", part)


def _in_order(robot: RobotData, parts: Mapping[str, T]) -> list[tuple[str, T]]:
    """Parts of joints in the joints' order, whatever the order they were given in: equal robots have equal notes."""
    return [(joint.name, parts[joint.name]) for joint in robot.structure.joints if joint.name in parts]


def _of_friction(robot: RobotData) -> Iterator[Finding]:
    for joint, friction in _in_order(robot, robot.parameters.friction):
        for name in ("viscous", "coulomb", "coulomb_negative"):
            value = getattr(friction, name)
            same_as_coulomb = name == "coulomb_negative" and value == friction.coulomb
            if value < 0 and not same_as_coulomb:
                yield Finding(
                    "negative-friction",
                    f"joint {joint!r}: {name} friction {value:g} is negative, so it would drive the joint instead of braking it. "
                    "Give the magnitude.",
                    Part("joint", joint),
                )
        if friction.breakaway is not None and friction.breakaway < friction.coulomb:
            yield Finding(
                "low-breakaway",
                f"joint {joint!r}: breakaway friction {friction.breakaway:g} is below the Coulomb level {friction.coulomb:g}; a "
                "joint holds at least as firmly at rest as when it moves. Are the two exchanged?",
                Part("joint", joint),
            )


def _of_rotors(robot: RobotData) -> Iterator[Finding]:
    for joint, rotor in _in_order(robot, robot.parameters.rotors):
        for name, unit in (("inertia", "kg m²"), ("transverse_inertia", "kg m²"), ("mass", "kg")):
            value = getattr(rotor, name)
            if value < 0:
                yield Finding(
                    "negative-rotor",
                    f"rotor of joint {joint!r}: {name} {value:g} {unit} found; it needs to be zero or positive. "
                    "A reversed gear belongs in the sign of `ratio`.",
                    Part("joint", joint),
                )


def _of_motors(robot: RobotData) -> Iterator[Finding]:
    for joint, motor in _in_order(robot, robot.parameters.motors):
        k_t, k_e = motor.torque_constant, motor.back_emf_constant
        if k_t is not None and k_e is not None and not 1 / _CONSTANTS < k_e / k_t < _CONSTANTS:
            yield Finding(
                "unequal-constants",
                f"motor of joint {joint!r}: torque constant {k_t:g} N m/A and back-EMF constant {k_e:g} V s/rad found; in SI "
                "units the two are nearly equal. Is one of them per 1000 rpm, or in other units?",
                Part("joint", joint),
            )


def _of_gravity(robot: RobotData) -> Iterator[Finding]:
    x, y, z = robot.gravity.tolist()
    if z > 0 and math.hypot(x, y) <= _ROUNDING * z:  # an oblique one is no mistake: the base is inclined
        yield Finding(
            "gravity-up",
            f"gravity: {checks.describe(robot.gravity)} m/s² points straight up; kept as given. Did the source count it as the "
            "acceleration of the base? Then turn its sign.",
            Part("gravity", ""),
        )


class _Group(NamedTuple):
    """Links rigidly joined by fixed joints: the joint that moves them (None for the base) and whether anything has inertia."""

    joint: Joint | None
    links: list[Link]
    heavy: list[bool]


def _of_groups(robot: RobotData) -> Iterator[Finding]:
    groups, group_of = _rigid_groups(robot)
    moving = [group for group in groups if group.joint is not None]
    if moving and not any(any(group.heavy) for group in moving) and not robot.parameters.rotors:
        yield Finding(
            "no-dynamics",
            f"robot {robot.name!r}: no moving link has mass or inertia, so only kinematics can be computed. "
            "Give masses for dynamics.",
        )
        return
    carried = _carried(robot, groups, group_of)
    for group in moving:
        if not any(group.heavy) and not any(link.virtual for link in group.links):
            yield _massless(robot, group, carried[group_of[group.links[0].name]])


def _of_idle_joints(robot: RobotData, found: list[Finding]) -> Iterator[Finding]:
    """Joints that move no inertia, if nothing has been said of their links already."""
    if any(finding.code == "no-dynamics" for finding in found) or not 0 < robot.n <= _LOOKED_AT or links_have_own(robot):
        return
    said = {finding.part for finding in found if finding.code == "massless-link"}
    for idle in idle_joints(tree_of(robot)):
        if not (idle.alone and Part("link", robot.structure.joint(idle.joint).child) in said):
            yield Finding("idle-joint", idle.sentence, Part("joint", idle.joint))


def _rigid_groups(robot: RobotData) -> tuple[list[_Group], dict[str, int]]:
    """The rigid groups, a group's carrier before it, and the group number of each link."""
    link_of = {link.name: link for link in robot.parameters.links}
    mounted = set(_mounts(robot))
    groups = [_Group(None, [], [])]
    group_of = {robot.structure.root: 0}
    for joint in robot.structure.joints:
        if joint.moves:
            group_of[joint.child] = len(groups)
            groups.append(_Group(joint, [], []))
        else:
            group_of[joint.child] = group_of[joint.parent]
    for name, number in group_of.items():
        link = link_of[name]
        groups[number].links.append(link)
        groups[number].heavy.append(name in mounted or not all(body.is_massless for body in (link, *link.bodies)))
    return groups, group_of


def _mounts(robot: RobotData) -> Iterator[str]:
    """Links that carry a payload or the body of a full rotor."""
    payload, tool = robot.parameters.payload, robot.structure.tool
    if payload is not None and tool is not None and not payload.is_massless:
        yield tool.link
    parent = {joint.name: joint.parent for joint in robot.structure.joints}
    for name, rotor in robot.parameters.rotors.items():
        if rotor.model == "full" and (rotor.mass or rotor.inertia or rotor.transverse_inertia):
            yield rotor.mount or parent[name]


def _carried(robot: RobotData, groups: list[_Group], group_of: dict[str, int]) -> list[bool]:
    """For each group: whether it, or anything that it carries, has inertia; a geared rotor of a carried joint counts."""
    carried = [any(group.heavy) for group in groups]
    for number in range(len(groups) - 1, 0, -1):
        joint = groups[number].joint
        assert joint is not None  # only group 0, the base, has none
        below = group_of[joint.parent]
        carried[below] = carried[below] or carried[number]
    return [
        heavy or (group.joint is not None and _turns_a_rotor(robot.parameters.rotors.get(group.joint.name)))
        for heavy, group in zip(carried, groups, strict=True)
    ]


def _turns_a_rotor(rotor: Rotor | None) -> bool:
    return rotor is not None and rotor.inertia != 0 and rotor.ratio != 0


def _massless(robot: RobotData, group: _Group, carried: bool) -> Finding:
    assert group.joint is not None
    consequence = (
        "Give its mass and inertia, or mark a frame between joints as virtual=True."
        if carried
        else "Nothing it carries has either, so the mass matrix will be singular. Give masses, or fix the joint."
    )
    return Finding(
        "massless-link",
        f"link {group.joint.child!r}: it is moved by joint {group.joint.name!r} but has neither mass nor inertia. {consequence}",
        Part("link", group.joint.child),
    )
