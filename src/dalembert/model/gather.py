"""Several robots on one ground, and bodies that are free to move: trees from which mechanisms are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import ModelError, UnknownNameError
from .motors import Motor
from .parts import Body, Friction, Joint, Link, Rotor, pose
from .robot import Robot
from .robot_data import STANDARD_GRAVITY, Tool

GROUND = "ground"
_SPATIAL = (("x", 0, False), ("y", 1, False), ("z", 2, False), ("yaw", 2, True), ("pitch", 1, True), ("roll", 0, True))
_PLANAR = (("x", 0, False), ("y", 1, False), ("yaw", 2, True))


def free_body(
    mass: float, *, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None, planar: bool = False, name: str = "body"
) -> Robot:
    """A rigid body carried by joints that let it go anywhere: x, y, z, then yaw, pitch, roll; in the plane x, y, yaw.

    Parameters
    ----------
    mass : float
        [kg].
    com, inertia : array_like, shape (3,) and (3, 3) or (3,)
        Centre of mass [m] and inertia about it [kg m²] (or its diagonal), in the body's frame.
    planar : bool
        Let it move in the plane of x and y only.
    name : str
        Of the robot, and of the link that is the body.

    Returns
    -------
    Robot
        Its last link is the body.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.free_body(2.0, inertia=[0.1, 0.1, 0.1], planar=True).joint_names
    ('x', 'y', 'yaw')
    """
    steps = _PLANAR if checks.flag("planar", planar) else _SPATIAL
    checks.name("name", name)
    tensor = np.zeros((3, 3)) if inertia is None else checks.numbers("inertia", inertia)
    tensor = checks.array("inertia", np.diag(tensor) if tensor.shape == (3,) else tensor, (3, 3))
    names = [GROUND, *(f"moved_{step}" for step, _, _ in steps[:-1]), name]
    links = [*(Link(link, virtual=True) for link in names[:-1]), Link(name, mass, com, tensor)]  # type: ignore[arg-type]
    joints = [
        Joint(step, "continuous" if turns else "prismatic", names[k], names[k + 1], axis=np.eye(3)[axis])
        for k, (step, axis, turns) in enumerate(steps)
    ]
    return Robot.from_parts(name, links, joints)


def gather(
    name: str, parts: Mapping[str, Robot], *, poses: Mapping[str, ArrayLike] | None = None, gravity: ArrayLike = STANDARD_GRAVITY
) -> Robot:
    """One tree of several robots that stand on the same ground.

    Names of links and joints get the part's name in front: link `elbow` of part `left` becomes `left_elbow`.

    Parameters
    ----------
    name : str
        Of the new robot; its root is the link `ground`.
    parts : mapping of str to Robot
        The robots by the names they have here. Their own gravity, tool and root's mass do not count; payloads come along.
    poses : mapping of str to array_like, shape (4, 4), optional
        Where each root stands on the ground; at its origin if left out.
    gravity : array_like, shape (3,)
        [m/s²], points down.

    Returns
    -------
    Robot
        With the joints of all parts, part by part.

    Examples
    --------
    >>> import dalembert as dal
    >>> legs = {"left": dal.robots.pendulum(), "right": dal.robots.pendulum()}
    >>> dal.gather("pair", legs).joint_names
    ('left_pivot', 'right_pivot')
    """
    parts, given = _by_name("parts", parts, "robots"), _by_name("poses", {} if poses is None else poses, "4x4 poses")
    for part in given:
        if part not in parts:
            raise UnknownNameError.among("poses: part", part, parts)
    links, joints = [Link(GROUND)], []
    friction: dict[str, Friction] = {}
    rotors: dict[str, Rotor] = {}
    motors: dict[str, Motor] = {}
    for part, robot in parts.items():
        checks.name("part", part)
        own = checks.instance(f"part {part!r}", robot, Robot)
        base = pose(f"pose of {part!r}", given.get(part, np.eye(4)))
        links += [link.replace(name=f"{part}_{link.name}") for link in _loaded_links(own)]
        joints.append(Joint(f"{part}_mount", "fixed", GROUND, f"{part}_{own.structure.root}", origin=base))
        joints += [_renamed(joint, part) for joint in own.structure.joints]
        friction |= {f"{part}_{joint}": law for joint, law in own.parameters.friction.items()}
        motors |= {f"{part}_{joint}": motor for joint, motor in own.parameters.motors.items()}
        for joint, rotor in own.parameters.rotors.items():
            rotors[f"{part}_{joint}"] = rotor if rotor.mount is None else rotor.replace(mount=f"{part}_{rotor.mount}")
    if len(links) == 1:
        raise ModelError("gather: no parts found; at least one robot is expected.")
    tool = Tool(GROUND) if len(parts) > 1 else None
    return Robot.from_parts(name, links, joints, friction=friction, rotors=rotors, motors=motors, gravity=gravity, tool=tool)


def _by_name(what: str, given: Any, expected: str) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    example = f"{{'left': {what.removesuffix('s')}}}"
    raise ModelError(f"gather: {what}: {checks.shown(given)} found; {expected} by name are expected: {example}.")


def _renamed(joint: Joint, part: str) -> Joint:
    names = {key: f"{part}_{getattr(joint, key)}" for key in ("name", "parent", "child")}
    mimic = None if joint.mimic is None else joint.mimic.replace(joint=f"{part}_{joint.mimic.joint}")
    return joint.replace(**names, mimic=mimic)


def _loaded_links(robot: Robot) -> list[Link]:
    """The links, the payload as a body of the link that carries the tool."""
    payload, tool = robot.parameters.payload, robot.tool
    if payload is None or tool is None:
        return list(robot.parameters.links)
    R, p = tool.pose[:3, :3], tool.pose[:3, 3]
    body = Body(payload.name, payload.mass, R @ payload.com + p, R @ payload.inertia @ R.T)
    return [link.replace(bodies=(*link.bodies, body)) if link.name == tool.link else link for link in robot.parameters.links]


__all__ = ["free_body", "gather"]
