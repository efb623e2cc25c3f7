"""A robot as MJCF."""

from __future__ import annotations

from collections import defaultdict
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

from dalembert.model import Body, Friction, Joint, Robot


def numbers(values: np.ndarray) -> str:
    return '"' + " ".join(repr(float(v)) for v in np.ravel(values)) + '"'


def placed(X: np.ndarray) -> str:
    """A pose as attributes; `as_quat` puts the scalar last, MuJoCo first."""
    return f"pos={numbers(X[:3, 3])} quat={numbers(np.roll(Rotation.from_matrix(X[:3, :3]).as_quat(), 1))}"


def merged(parts: list[tuple[np.ndarray, Body]]) -> str:
    """All bodies of a link as one inertial element."""
    mass = sum(body.mass for _, body in parts)
    centres = [X[:3, :3] @ body.com + X[:3, 3] for X, body in parts]
    com = sum(body.mass * c for c, (_, body) in zip(centres, parts, strict=True)) / mass
    I = np.zeros((3, 3))
    for c, (X, body) in zip(centres, parts, strict=True):
        r = c - com
        I += X[:3, :3] @ body.inertia @ X[:3, :3].T + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
    six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return f'<inertial pos={numbers(com)} mass="{mass!r}" fullinertia={numbers(np.array(six))}/>'


class Writer:
    """A robot as MJCF: a MuJoCo body stands where our joint frame is, so `child_origin` moves into what it carries."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.children: dict[str, list[Joint]] = defaultdict(list)
        for joint in robot.structure.joints:
            self.children[joint.parent].append(joint)

    def text(self) -> str:
        inner = self.carried(self.robot.structure.root, np.eye(4))
        flags = '<flag contact="disable" limit="disable" equality="disable"/>'
        option = f"<option gravity={numbers(self.robot.gravity)}>{flags}</option>"
        compiler = '<compiler angle="radian" inertiafromgeom="false"/>'
        return f"<mujoco>{compiler}{option}<worldbody>{inner}</worldbody></mujoco>"

    def carried(self, link: str, X: np.ndarray) -> str:
        """The joints on a link whose frame is X in the MuJoCo body."""
        return "".join(self.body(joint, X @ joint.origin) for joint in self.children[link])

    def body(self, joint: Joint, X: np.ndarray) -> str:
        link = self.robot.link(joint.child)
        parts = [(joint.child_origin, body) for body in (link, *link.bodies)]
        payload, tool = self.robot.parameters.payload, self.robot.tool
        if payload is not None and tool.link == link.name:
            parts.append((joint.child_origin @ tool.pose, payload))
        inertial = merged(parts) if any(body.mass for _, body in parts) else ""
        inner = inertial + self.carried(link.name, joint.child_origin)
        return f"<body name={quoteattr(link.name)} {placed(X)}>{self.joint(joint) if joint.moves else ''}{inner}</body>"

    def joint(self, joint: Joint) -> str:
        rotor = self.robot.parameters.rotors.get(joint.name)
        friction = self.robot.parameters.friction.get(joint.name, Friction())
        armature = rotor.ratio**2 * rotor.inertia if rotor else 0.0
        kind = "hinge" if joint.turns else "slide"
        axis = numbers(joint.axis)
        return f'<joint type="{kind}" axis={axis} armature="{armature!r}" damping="{friction.viscous!r}"/>'
