"""Growing and shrinking a finished robot: a link, a payload or a whole chain attached to one of its links, and taken off again.

Nothing that is there changes, the tool and the payload at it included, so that taking off gives back the robot as it was. A
joint without a motor is one whose drive can exert nothing: `limits=Limits(effort=0.0)`. It has a coordinate like any other,
and its torque in the equations of motion is zero; no other mark is needed, and none is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError, UnknownNameError
from .motors import Motor
from .parts import JOINT_TYPES, Body, Friction, Joint, Link, Rotor
from .record import FrozenMapping
from .robot import Robot
from .robot_data import Structure


class Addition(NamedTuple):
    """What an attachment adds to a robot; the first joint leads to it."""

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    friction: Mapping[str, Friction]
    rotors: Mapping[str, Rotor]
    motors: Mapping[str, Motor] = FrozenMapping()

    @property
    def name(self) -> str:
        """The name by which it is taken off again: that of the joint that leads to it."""
        return self.joints[0].name

    @property
    def parent(self) -> str:
        """The link that carries it."""
        return self.joints[0].parent


def attach(robot: Robot, part: Body | Robot, *, joint: Joint | str | None = None, parent: str | None = None) -> Robot:
    """The same robot with a link, a body or another robot attached to one of its links.

    The tool stays where it is; move it with `with_tool` if it belongs to the new part. Where names have to differ, those of an
    attached robot get its own name in front: link `jaw` of the robot `gripper` becomes `gripper_jaw`.

    Parameters
    ----------
    robot : Robot
        The robot to grow.
    part : Link, Body or Robot
        What to attach. A body, or a link with several bodies, becomes a link; of a robot the root is attached, its payload comes
        along, and its gravity and tool do not count.
    joint : Joint or str, optional
        How. None: rigidly. A type such as 'revolute': by a joint of this type about (or along) z, named as the part. A `Joint` of
        one's own, from a link of the robot to the part's root; with `limits=Limits(effort=0.0)` it is passive. A joint with a
        rotor or friction comes inside a robot that is attached rigidly.
    parent : str, optional
        The link to attach to, in its frame; by default the tool's link, in the tool's frame. A `Joint` names its parent itself.

    Returns
    -------
    Robot
        With the new coordinates where the new joints stand in `joint_names`: after those of the link's other branches.

    Raises
    ------
    ModelError
        For a name that is taken, a tree without a tool if `parent` is not given, or a joint that leads elsewhere.

    Examples
    --------
    >>> import dalembert as dal
    >>> crucible = dal.Link("crucible", 1.5, (0.11, 0, 0), [[0, 0, 0], [0, 0, 0], [0, 0, 0.02]])
    >>> dal.attach(dal.robots.pelican(), crucible, joint="revolute").joint_names
    ('joint1', 'joint2', 'crucible')
    """
    return joined(robot, addition(robot, part, joint, parent))


def detach(robot: Robot, name: str) -> Robot:
    """The robot without a part that `attach` has added (or any other), and without everything that part carries.

    Parameters
    ----------
    robot : Robot
        The robot to take something off.
    name : str
        The link at which the part begins, or the joint that leads to it: the name of the attached link, body or robot.

    Returns
    -------
    Robot
        Equal to the robot before the part was attached.

    Raises
    ------
    ModelError
        If the tool is on the part, or the part is the whole robot.

    Examples
    --------
    >>> import dalembert as dal
    >>> arm = dal.robots.pelican()
    >>> dal.detach(dal.attach(arm, dal.Link("load", 2.0)), "load") == arm
    True
    """
    structure, parameters = checks.instance("detach", robot, Robot).structure, robot.parameters
    gone = _carried_by(structure, _first_link(robot, checks.name("detach: link or joint", name)))
    if robot.tool is not None and robot.tool.link in gone:
        raise ModelError(
            f"detach: the tool is on {robot.tool.link!r}, a part of {name!r}. Move it with with_tool(pose, link=...)."
        )
    lost = {joint.name for joint in structure.joints if joint.child in gone}
    kept = Structure(
        tuple(link for link in structure.links if link not in gone),
        tuple(joint for joint in structure.joints if joint.name not in lost),
        structure.tool,
    )
    return robot.replace(
        structure=kept,
        parameters=parameters.replace(
            links=tuple(link for link in parameters.links if link.name not in gone),
            friction={joint: law for joint, law in parameters.friction.items() if joint not in lost},
            rotors={joint: rotor for joint, rotor in parameters.rotors.items() if joint not in lost},
            motors={joint: motor for joint, motor in parameters.motors.items() if joint not in lost},
        ),
    )


def _first_link(robot: Robot, name: str) -> str:
    if name == robot.structure.root:
        raise ModelError(f"detach: {name!r} is the root of {robot.name!r}, which carries all the rest. Name a link further out.")
    ends = {joint.name: joint.child for joint in robot.structure.joints}
    return checks.choice("detach: link or joint", name, ends | {link: link for link in ends.values()})


def _carried_by(structure: Structure, link: str) -> set[str]:
    found = {link}
    for joint in structure.joints:  # parents stand before their children
        if joint.parent in found:
            found.add(joint.child)
    return found


def joined(robot: Robot, added: Addition) -> Robot:
    """The robot with an addition."""
    structure, parameters = robot.structure, robot.parameters
    names = tuple(link.name for link in added.links)
    return robot.replace(
        structure=Structure(structure.links + names, structure.joints + added.joints, structure.tool),
        parameters=parameters.replace(
            links=parameters.links + added.links,
            friction={**parameters.friction, **added.friction},
            rotors={**parameters.rotors, **added.rotors},
            motors={**parameters.motors, **added.motors},
        ),
    )


def addition(robot: Robot, part: Body | Robot, joint: Joint | str | None, parent: str | None) -> Addition:
    """What attaching a part would add."""
    checks.instance("attach", robot, Robot)
    if isinstance(part, Robot):
        connection = _connection(robot, part.name, part.structure.root, joint, parent)
        return _of_robot(part, connection)
    if not isinstance(part, Body):
        raise ModelError(f"attach: {type(part).__name__} found; a Link, a Body or a Robot is expected.")
    link = part if isinstance(part, Link) else Link(part.name, part.mass, part.com, part.inertia)
    return Addition((link,), (_connection(robot, link.name, link.name, joint, parent),), {}, {})


def _connection(robot: Robot, name: str, root: str, joint: Joint | str | None, parent: str | None) -> Joint:
    """The joint that leads to a part of this name, whose root is still called as the part calls it."""
    if parent is not None:
        checks.name("attach: parent link", parent)
    if isinstance(joint, Joint):
        for end, found, expected in (("child", joint.child, root), ("parent", joint.parent, parent or joint.parent)):
            if found != expected:
                raise ModelError(f"attach: joint {joint.name!r} has {found!r} as its {end}, where {expected!r} is attached.")
        return joint
    carrier, origin = _carrier(robot, parent)
    kind = "fixed" if joint is None else joint
    checks.choice("attach: joint type", kind, JOINT_TYPES)
    return Joint(name, kind, carrier, root, origin=origin)


def _carrier(robot: Robot, parent: str | None) -> tuple[str, FloatArray]:
    """The link that carries a part, and where on it."""
    if parent is not None:
        if parent not in robot.link_names:
            raise UnknownNameError.among("attach: parent link", parent, robot.link_names)
        return parent, np.eye(4)
    if robot.tool is None:
        raise ModelError(f"attach: {robot.name!r} has several tips and no tool. Give parent=, the link that carries the part.")
    return robot.tool.link, robot.tool.pose


def _of_robot(part: Robot, connection: Joint) -> Addition:
    """A whole robot, its names with its own in front; what it holds becomes a link of its tool."""

    def own(name: str) -> str:
        return f"{part.name}_{name}"

    links = [link.replace(name=own(link.name)) for link in part.parameters.links]
    joints = [connection.replace(child=own(connection.child))]
    for joint in part.structure.joints:
        mimic = None if joint.mimic is None else joint.mimic.replace(joint=own(joint.mimic.joint))
        joints.append(joint.replace(name=own(joint.name), parent=own(joint.parent), child=own(joint.child), mimic=mimic))
    held = part.parameters.payload
    if held is not None and part.tool is not None:
        name = own(held.name)
        links.append(Link(name, held.mass, held.com, held.inertia))
        joints.append(Joint(name, "fixed", own(part.tool.link), name, origin=part.tool.pose))
    friction = {own(name): law for name, law in part.parameters.friction.items()}
    rotors = {own(name): _moved(rotor, part.name) for name, rotor in part.parameters.rotors.items()}
    motors = {own(name): motor for name, motor in part.parameters.motors.items()}
    return Addition(tuple(links), tuple(joints), friction, rotors, motors)


def _moved(rotor: Rotor, prefix: str) -> Rotor:
    return rotor if rotor.mount is None else rotor.replace(mount=f"{prefix}_{rotor.mount}")


__all__ = ["Addition", "addition", "attach", "detach", "joined"]
