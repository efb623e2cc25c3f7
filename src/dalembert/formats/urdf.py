"""URDF into a `Robot`: small, strict, with the line number in every message.

SI units. The inertia is about the centre of mass, in the axes of the inertial origin. A missing origin is identity, a missing
axis is x. `damping` is viscous and `friction` is Coulomb friction. Elements for drawing and for simulators (visual, collision,
gazebo ...) are ignored; anything else that is not understood is refused, or mentioned in `robot.notes`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..checks import FloatArray
from ..errors import Part, did_you_mean, listed, near_match, reading, shown
from ..model import Friction, Joint, Limits, Link, Mimic, Robot
from ..model.combinations import floating, planar
from ..model.mechanism_parts import MechanismParts
from ..wording import cut
from .other_models import about_mujoco, about_sdf
from .poses import rotate_tensor
from .urdf_fields import XACRO_REMEDY, Context
from .urdf_mechanism import TAG, read_extension
from .xml_tree import Element, parse

_ONE_COORDINATE = ("revolute", "continuous", "prismatic")
_SEVERAL_COORDINATES = ("planar", "floating")
_TYPES = (*_ONE_COORDINATE, "fixed", *_SEVERAL_COORDINATES)
_DRAWN = ("visual", "collision", "material", "gazebo", "sensor", "collision_checking", "contact")  # geometry and simulators
_KNOWN = {
    "robot": ("link", "joint", "transmission", TAG, *_DRAWN),
    "link": ("inertial", *_DRAWN),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "safety_controller", "calibration"),
}
_KNOWN_ATTRIBUTES = {
    "robot": ("name", "version"),
    "link": ("name", "type"),
    "joint": ("name", "type"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
}
_OTHER_ROOTS = {"mujoco": about_mujoco, "sdf": about_sdf}


def read_urdf(text: str | bytes, *, source: str = "<string>", strict: bool = False) -> Robot | MechanismParts:
    """The robot a URDF text describes, or with <dalembert> in it a mechanism; `source` is the file's name in messages.

    Raises
    ------
    FormatError
        `source:line: subject: what was found, what was expected`; under `strict=True` also for what is merely unphysical.
    """
    context = Context(source, parse(text, source))
    root = context.root
    _check_root(context, root)
    parts = _Parts()
    for element in root.children:
        context.part = None
        _read_top(context, element, parts)
    _check_ends(context, root, parts)
    with reading(context.place_of):
        robot = Robot.from_parts(
            root.attributes["name"], parts.links, parts.joints, friction=parts.friction, strict=strict, notes=context.all_notes()
        )
        extension = context.child(root, TAG, "robot")
        return robot if extension is None else read_extension(context, extension, robot, strict=strict)


@dataclass
class _Parts:
    """What was read so far."""

    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    friction: dict[str, Friction] = field(default_factory=dict)


def _check_root(context: Context, root: Element) -> None:
    if root.tag != "robot":
        about = _OTHER_ROOTS.get(root.tag)
        what = f"found <{root.tag}>, <robot> expected." if about is None else about(root)
        raise context.error(root, f"root element: {what}")
    for element in root.walk():
        if element.tag.startswith("xacro:"):
            raise context.error(element, f"<{element.tag}>: this is a xacro macro, not yet URDF. {XACRO_REMEDY}")
    context.attribute(root, "name", "robot")
    _note_unknown(context, root, "robot")


def _read_top(context: Context, element: Element, parts: _Parts) -> None:
    if element.tag == "link":
        _read_link(context, element, parts)
    elif element.tag == "joint":
        _read_joint(context, element, parts)
    elif element.tag.endswith((":joint", ":link")):
        name = element.attributes.get("name", "?")
        raise context.error(
            element,
            f"{shown(name)}: <{element.tag}> is an extension of one simulator, so what it connects is unknown. "
            "Rewrite it with the standard joint types.",
        )
    elif element.tag == "transmission":
        _note_transmission(context, element)


def _note_unknown(context: Context, element: Element, subject: str) -> None:
    """Report children and attributes that nothing here reads."""
    for child in element.children:
        if child.tag not in _KNOWN.get(element.tag, ()) and not child.tag.endswith((":joint", ":link")):
            context.note(child, f"{subject}: <{child.tag}> is not understood and has no effect.")
    for name in element.attributes:
        if name not in _KNOWN_ATTRIBUTES.get(element.tag, ()) and not name.startswith("xmlns"):
            context.note(element, f"{subject}: attribute {name!r} of <{element.tag}> is not understood and has no effect.")


def _note_transmission(context: Context, element: Element) -> None:
    """A reduction without a rotor inertia changes no equation of motion; say so where one is given."""
    name = element.attributes.get("name", "?")
    for part in element.walk():
        if part.tag == "mechanicalReduction" and part.text.strip() not in ("1", "1.0", ""):
            context.note(
                part,
                f"transmission {shown(name)}: reduction {part.text.strip()} not applied, since no rotor inertia comes with it. "
                "Add a Rotor.",
            )
        elif part.tag.endswith("rotor_inertia"):
            context.note(part, f"transmission {shown(name)}: <{part.tag}> not applied. Add a Rotor.")


def _named(context: Context, element: Element) -> str:
    """The name of a link or joint, which from here on is the part being read."""
    name = context.attribute(element, "name", element.tag)
    if not name:
        raise context.error(element, f"{element.tag}: name '' found; a non-empty name is expected.")
    part = Part(element.tag, name)
    if part in context.elements:
        raise context.error(
            element,
            f"{part}: the name stands twice, first on line {context.elements[part].line}; names need to be unique. "
            "Rename one of them.",
        )
    context.elements[part] = element
    context.part = part
    return name


def _read_link(context: Context, element: Element, parts: _Parts) -> None:
    name = _named(context, element)
    subject = str(context.part)
    _note_unknown(context, element, subject)
    inertial = context.child(element, "inertial", subject)
    if inertial is None:
        with context.at(element, subject):
            parts.links.append(Link(name))
        return
    _note_unknown(context, inertial, subject)
    with context.at(inertial, subject):
        mass, com, inertia = _read_inertial(context, inertial, subject)
        parts.links.append(Link(name, mass, com, inertia))


def _read_inertial(context: Context, inertial: Element, subject: str) -> tuple[float, FloatArray, FloatArray]:
    X = context.origin(inertial, f"{subject}: inertial")
    mass = _required(context, inertial, "mass", subject)
    context.refuse_unknown_attributes(mass, ("value",), f"{subject}: mass")
    tensor = _required(context, inertial, "inertia", subject)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    context.refuse_unknown_attributes(tensor, names, f"{subject}: inertia")
    xx, xy, xz, yy, yz, zz = (context.number(tensor, name, f"{subject}: inertia") for name in names)
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return context.number(mass, "value", f"{subject}: mass"), X[:3, 3], rotate_tensor(X[:3, :3], I)


def _required(context: Context, parent: Element, tag: str, subject: str) -> Element:
    element = context.child(parent, tag, subject)
    if element is None:
        raise context.error(parent, f"{subject}: <{parent.tag}> has no <{tag}>, which is required.")
    return element


def _read_joint(context: Context, element: Element, parts: _Parts) -> None:
    name = _named(context, element)
    subject = str(context.part)
    _note_unknown(context, element, subject)
    kind = _joint_type(context, element, subject)
    if kind in _SEVERAL_COORDINATES:
        _read_combination(context, element, kind, parts)
        return
    with context.at(element, subject):
        joint = Joint(
            name,
            kind,
            _end(context, element, "parent", subject),
            _end(context, element, "child", subject),
            context.origin(element, subject),
            _axis(context, element, kind, subject),
            limits=_limits(context, element, kind, subject),
            mimic=_mimic(context, element, kind, subject),
        )
    parts.joints.append(joint)
    _read_friction(context, element, joint, parts)


def _read_combination(context: Context, element: Element, kind: str, parts: _Parts) -> None:
    """A planar or floating joint, as the sequence of one-coordinate joints it is equal to."""
    name, subject = element.attributes["name"], str(context.part)
    ends = _end(context, element, "parent", subject), _end(context, element, "child", subject)
    origin = context.origin(element, subject)
    _refuse_or_note_on_combination(context, element, kind, subject)
    with context.at(element, subject):
        if kind == "planar":
            joints, frames = planar(name, *ends, origin=origin, normal=_axis(context, element, kind, subject))
        else:
            joints, frames = floating(name, *ends, origin=origin)
    for made in (*(Part("joint", joint.name) for joint in joints), *(Part("link", link.name) for link in frames)):
        if made in context.elements:
            raise context.error(element, f"{subject}: it needs the name {made.name!r}, which is taken. Rename one of them.")
        context.elements[made] = element
    parts.joints.extend(joints)
    parts.links.extend(frames)
    context.note(element, f"{subject}: type {kind!r} read as the joints {', '.join(joint.name for joint in joints)}.")


def _refuse_or_note_on_combination(context: Context, element: Element, kind: str, subject: str) -> None:
    if mimic := element.all("mimic"):
        raise context.error(mimic[0], f"{subject}: <mimic> has no meaning for type {kind!r}. Remove it.")
    for tag in ("limit", "dynamics"):
        for found in element.all(tag):
            context.note(found, f"{subject}: <{tag}> is not applied: a {kind} joint has several coordinates.")


def _joint_type(context: Context, element: Element, subject: str) -> str:
    kind = context.attribute(element, "type", subject)
    if kind not in _TYPES:
        hint = f"{did_you_mean(kind, _TYPES)} Known: {listed(_TYPES)}."
        raise context.error(element, f"{subject}: type {shown(kind)} is not known{hint}")
    return kind


def _end(context: Context, joint: Element, tag: str, subject: str) -> str:
    return context.attribute(_required(context, joint, tag, subject), "link", f"{subject}: {tag}")


def _axis(context: Context, joint: Element, kind: str, subject: str) -> FloatArray:
    element = context.child(joint, "axis", subject)
    if element is None or kind == "fixed":  # some programs write <axis xyz="0 0 0"/> on fixed joints, where it has no meaning
        return np.array([1.0, 0.0, 0.0])
    context.refuse_unknown_attributes(element, ("xyz",), f"{subject}: axis")
    axis = context.vector(element, "xyz", f"{subject}: axis")
    length = math.hypot(*axis)
    if abs(length - 1) > 1e-6:
        context.note(element, f"{subject}: axis {shown(element.attributes['xyz'])} has length {length:.6g} and was scaled to 1.")
    return axis


def _limits(context: Context, joint: Element, kind: str, subject: str) -> Limits:
    element = context.child(joint, "limit", subject)
    if kind == "fixed":
        return Limits()
    if element is None:
        if kind != "continuous":
            context.note(joint, f"{subject}: no <limit>, though URDF requires one for type {kind!r}; read as unlimited.")
        return Limits()
    _note_unknown(context, element, subject)
    velocity = context.optional(element, "velocity", math.inf, f"{subject}: limit", infinite=True)
    effort = context.optional(element, "effort", math.inf, f"{subject}: limit", infinite=True)
    for name, value in (("velocity", velocity), ("effort", effort)):
        if value == 0:
            context.note(element, f"{subject}: limit {name} is 0, which allows no {name}; kept as given.")
    with context.at(element, subject):
        return Limits(*_range(context, element, kind, subject), velocity, effort)


def _range(context: Context, element: Element, kind: str, subject: str) -> tuple[float, float]:
    given = [name for name in ("lower", "upper") if name in element.attributes]
    if kind == "continuous":
        if given:
            context.note(element, f"{subject}: {' and '.join(given)} have no effect on a continuous joint.")
        return -math.inf, math.inf
    if not given:
        context.note(element, f"{subject}: <limit> without lower and upper; read as unlimited.")
        return -math.inf, math.inf
    if len(given) == 1:
        context.note(element, f"{subject}: <limit> with {given[0]} only; the other end is 0, as URDF says.")
    lower = context.optional(element, "lower", 0.0, f"{subject}: limit", infinite=True)
    return lower, context.optional(element, "upper", 0.0, f"{subject}: limit", infinite=True)


def _mimic(context: Context, joint: Element, kind: str, subject: str) -> Mimic | None:
    element = context.child(joint, "mimic", subject)
    if element is None:
        return None
    if kind == "fixed":
        context.note(element, f"{subject}: <mimic> has no effect on a fixed joint.")
        return None
    context.refuse_unknown_attributes(element, ("joint", "multiplier", "offset"), f"{subject}: mimic")
    return Mimic(
        context.attribute(element, "joint", f"{subject}: mimic"),
        context.optional(element, "multiplier", 1.0, f"{subject}: mimic"),
        context.optional(element, "offset", 0.0, f"{subject}: mimic"),
    )


def _read_friction(context: Context, element: Element, joint: Joint, parts: _Parts) -> None:
    subject = str(context.part)
    dynamics = context.child(element, "dynamics", subject)
    if dynamics is None:
        return
    _note_unknown(context, dynamics, subject)
    damping = context.optional(dynamics, "damping", 0.0, f"{subject}: dynamics")
    coulomb = context.optional(dynamics, "friction", 0.0, f"{subject}: dynamics")
    if joint.moves:
        with context.at(dynamics, subject):
            parts.friction[joint.name] = Friction(damping, coulomb)
    elif damping or coulomb:
        context.note(dynamics, f"{subject}: <dynamics> has no effect on a fixed joint.")


def _check_ends(context: Context, root: Element, parts: _Parts) -> None:
    context.part = None
    if not parts.links:
        raise context.error(root, "robot: no <link> found; at least a base link is expected.")
    for joint in parts.joints:
        for tag, name in (("parent", joint.parent), ("child", joint.child)):
            if Part("link", name) not in context.elements:
                context.part = Part("joint", joint.name)
                raise context.error(context.elements[context.part].all(tag)[0], _undeclared(context, tag, name))


def _undeclared(context: Context, tag: str, name: str) -> str:
    near = near_match(name, (part.name for part in context.elements if part.kind == "link"))
    hint = f"Did you mean {near!r}? If not, add" if near else "Add"
    return f'{context.part}: {tag} link {shown(name)} is not declared. {hint} <link name="{cut(name, 100)}"/> to the file.'
