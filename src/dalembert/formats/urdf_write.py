"""A `Robot` as URDF text, with a warning that names what URDF cannot express.

URDF puts the frame of a link into the joint that carries it, so the constant part of a standard DH row (`child_origin`) moves
into the link's inertial and into the joints that follow, and `home` into the joint's origin. Tool and payload become links of
their own.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np

from ..checks import FloatArray
from ..errors import DalembertWarning, Part, about, listed
from ..model import Body, Joint, Limits, Robot, topology
from ..model.mechanism_parts import MechanismParts
from ..model.robot_data import STANDARD_GRAVITY
from .poses import make_pose, rotate_tensor, rpy_from_rotation, turn
from .urdf_fields import UNBOUNDED
from .urdf_mechanism_write import extension_lines
from .urdf_text import number, quoted, vector


def write_urdf(content: Robot | MechanismParts) -> str:
    """The robot or mechanism as URDF text.

    Warns
    -----
    DalembertWarning
        Code 'left-out', when something acts in the robot that URDF cannot express: rotors, motors, a gravity of its own ...
    """
    robot = content if isinstance(content, Robot) else content.robot
    left_out = list(urdf_leaves_out(robot))
    if left_out:
        message = f"robot {robot.name!r}: URDF cannot express {'; '.join(left_out)}. Save as .toml to keep everything."
        warnings.warn(DalembertWarning(message, "left-out"), stacklevel=2)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={quoted(robot.name)}>"]
    frame_of = {joint.child: joint.child_origin for joint in robot.structure.joints}  # link frame in URDF's link frame
    for link in robot.parameters.links:
        with about(Part("link", link.name)):
            lines += _link(link.name, (link, *link.bodies), frame_of.get(link.name, np.eye(4)))
    for joint in robot.structure.joints:
        with about(Part("joint", joint.name)):
            lines += _joint(robot, joint, frame_of.get(joint.parent, np.eye(4)))
    lines += _tool_and_payload(robot, frame_of)
    if not isinstance(content, Robot):
        lines += extension_lines(content, frame_of)
    return "\n".join([*lines, "</robot>", ""])


def urdf_leaves_out(robot: Robot) -> Iterator[str]:
    """What acts in the robot and has no place in URDF, one phrase each."""
    parameters = robot.parameters
    if not np.array_equal(parameters.gravity, STANDARD_GRAVITY):
        yield f"gravity {parameters.gravity.tolist()} (a reader assumes {list(STANDARD_GRAVITY)})"
    if parameters.rotors:
        yield f"the rotors of {listed(parameters.rotors)}"
    if parameters.motors:
        yield f"the motors of {listed(parameters.motors)}"
    friction = parameters.friction.items()
    if names := [joint for joint, f in friction if f.coulomb != f.coulomb_negative]:
        yield f"the Coulomb friction for negative speed of {listed(names)} (that for positive speed was written)"
    if names := [joint for joint, f in friction if f.breakaway is not None]:
        yield f"the Stribeck friction of {listed(names)}"
    if names := [joint for joint, f in friction if f.width]:
        yield f"the smoothing width of the friction of {listed(names)}"
    if names := [joint.name for joint in robot.structure.joints if _is_far(joint.limits)]:
        yield f"limits of {UNBOUNDED:g} or more, other than none, of {listed(names)}"
    if robot.tool is not None and len(_tips(robot)) > 1:
        yield "which link of a tree is the tool"
    if any(link.virtual for link in parameters.links):
        yield "that a link is virtual (written as links without mass)"


def _is_far(limits: Limits) -> bool:
    return any(UNBOUNDED <= abs(bound) < math.inf for bound in (limits.lower, limits.upper, limits.velocity, limits.effort))


def _tips(robot: Robot) -> list[str]:
    return topology.leaves(robot.structure.links, robot.structure.joints)


def _link(name: str, bodies: tuple[Body, ...], X: FloatArray) -> list[str]:
    """The element of a link whose bodies are given in a frame that stands at X in URDF's link frame."""
    heavy = [body for body in bodies if not body.is_massless]
    if not heavy:
        return [f"  <link name={quoted(name)}/>"]
    mass, com, I = _merged(heavy, X)
    xx, xy, xz, yy, yz, zz = (number(I[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    return [
        f"  <link name={quoted(name)}>",
        "    <inertial>",
        f'      <origin xyz="{vector(com)}"/>',
        f'      <mass value="{number(mass)}"/>',
        f'      <inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>',
        "    </inertial>",
        "  </link>",
    ]


def _merged(bodies: list[Body], X: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre of mass and inertia about it of several bodies as one, seen from where X places their frame.

    I = Σ Iᵢ + mᵢ (|rᵢ|² 1 − rᵢ rᵢᵀ) with rᵢ from the common centre (Steiner's theorem).
    """
    R, p = X[:3, :3], X[:3, 3]
    masses = np.array([body.mass for body in bodies])
    coms = np.array([R @ body.com + p for body in bodies])
    mass = float(masses.sum())
    com = coms[0] if len(bodies) == 1 or mass == 0 else masses @ coms / mass
    I = np.zeros((3, 3))
    for body, m, r in zip(bodies, masses, coms - com, strict=True):
        I += rotate_tensor(R, body.inertia) + m * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, com, I


def _joint(robot: Robot, joint: Joint, X_parent: FloatArray) -> list[str]:
    return [
        f"  <joint name={quoted(joint.name)} type={quoted(joint.type)}>",
        f"    <parent link={quoted(joint.parent)}/>",
        f"    <child link={quoted(joint.child)}/>",
        *_origin(X_parent @ joint.origin @ _motion(joint)),
        *(_moving_part(robot, joint) if joint.moves else ()),
        "  </joint>",
    ]


def _motion(joint: Joint) -> FloatArray:
    """Where the joint stands at q = 0."""
    if joint.home == 0 or not joint.moves:
        return np.eye(4)
    if joint.turns:
        return make_pose((0, 0, 0), turn(joint.axis, joint.home))
    return make_pose(joint.axis * joint.home)


def _moving_part(robot: Robot, joint: Joint) -> Iterator[str]:
    yield f'    <axis xyz="{vector(joint.axis)}"/>'
    limits = joint.limits
    bounds = {"effort": limits.effort, "velocity": limits.velocity}
    if joint.type != "continuous":
        bounds = {"lower": limits.lower, "upper": limits.upper, **bounds}
    attributes = [f'{name}="{number(_bounded(value))}"' for name, value in bounds.items()]
    yield f"    <limit {' '.join(attributes)}/>"
    if joint.name in robot.parameters.friction:
        friction = robot.parameters.friction[joint.name]
        yield f'    <dynamics damping="{number(friction.viscous)}" friction="{number(friction.coulomb)}"/>'
    if joint.mimic is not None:
        multiplier, offset = number(joint.mimic.multiplier), number(joint.mimic.offset)
        yield f'    <mimic joint={quoted(joint.mimic.joint)} multiplier="{multiplier}" offset="{offset}"/>'


def _bounded(value: float) -> float:
    return math.copysign(min(abs(value), UNBOUNDED), value)


def _tool_and_payload(robot: Robot, frame_of: dict[str, FloatArray]) -> list[str]:
    """A fixed link at the tool frame and one for the payload, where the frame of the last link cannot be used."""
    tool, payload = robot.tool, robot.parameters.payload
    if tool is None:
        return []
    X = frame_of.get(tool.link, np.eye(4)) @ tool.pose
    carrier, lines = tool.link, []
    if not np.array_equal(X, np.eye(4)) or _tips(robot) != [tool.link]:
        carrier = _free_name("tool", robot)
        lines += [*_link(carrier, (), np.eye(4)), *_fixed(f"{carrier}_mount", tool.link, carrier, X)]
    if payload is not None:
        name = _free_name("payload", robot)
        lines += [*_link(name, (payload,), np.eye(4)), *_fixed(f"{name}_mount", carrier, name, np.eye(4))]
    return lines


def _fixed(name: str, parent: str, child: str, X: FloatArray) -> list[str]:
    return [
        f'  <joint name={quoted(name)} type="fixed">',
        f"    <parent link={quoted(parent)}/>",
        f"    <child link={quoted(child)}/>",
        *_origin(X),
        "  </joint>",
    ]


def _free_name(wish: str, robot: Robot) -> str:
    taken = {*robot.structure.links, *(joint.name for joint in robot.structure.joints)}
    while wish in taken or f"{wish}_mount" in taken:
        wish += "_"
    return wish


def _origin(X: FloatArray) -> list[str]:
    attributes = []
    if X[:3, 3].any():
        attributes.append(f'xyz="{vector(X[:3, 3])}"')
    if not np.array_equal(X[:3, :3], np.eye(3)):
        attributes.append(f'rpy="{vector(rpy_from_rotation(X[:3, :3]))}"')
    return [f"    <origin {' '.join(attributes)}/>"] if attributes else []
