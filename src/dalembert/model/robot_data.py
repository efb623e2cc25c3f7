"""The data of a robot: `Structure` (what is connected to what, and where) and `Parameters` (what it weighs), both frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import Part, UnknownNameError
from . import topology
from .motors import Motor, check_motors, ratio_of
from .parts import Body, Friction, Joint, Link, Rotor, pose
from .record import FrozenMapping, Record, named_parts, put

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, eq=False)
class Tool(Record):
    """The tool frame E: where Jacobians, payload and tip wrenches act, given in the frame of `link`."""

    link: str
    pose: FloatArray = field(default_factory=lambda: np.eye(4))

    def __post_init__(self) -> None:
        put(self, link=checks.name("tool: link", self.link), pose=pose("tool: pose", self.pose))


@dataclass(frozen=True, eq=False)
class Structure(Record):
    """Names, joints and geometry; joints stand so that a link's parent comes before it.

    Coordinates are the moving joints without `mimic`, in this order.
    """

    links: tuple[str, ...]
    joints: tuple[Joint, ...]
    tool: Tool | None = None

    def __post_init__(self) -> None:
        links, joints = checks.parts("links", self.links, str), checks.parts("joints", self.joints, Joint)
        checks.unique("links", links)
        checks.unique("joints", [j.name for j in joints])
        put(self, links=links, joints=topology.sort(links, joints))
        topology.check_mimics(self.joints)
        put(self, tool=self._checked_tool())

    def _checked_tool(self) -> Tool | None:
        tool = checks.optional("tool", self.tool, Tool)
        if tool is None:  # a serial chain has one natural place for its tool, a tree has not
            leaves = topology.leaves(self.links, self.joints)
            return Tool(leaves[0]) if len(leaves) == 1 else None
        if tool.link not in self.links:
            raise UnknownNameError.among("tool: link", tool.link, self.links, part=Part("tool", ""))
        return tool

    @cached_property
    def root(self) -> str:
        """The link that no joint moves."""
        return topology.root(self.links, self.joints)

    @cached_property
    def coordinates(self) -> tuple[Joint, ...]:
        """The joints that own a coordinate of q, in order."""
        return tuple(j for j in self.joints if j.moves and j.mimic is None)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @cached_property
    def _joint_of(self) -> dict[str, Joint]:
        return {j.name: j for j in self.joints}

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        return checks.choice("joint", name, self._joint_of)


@dataclass(frozen=True, eq=False)
class Parameters(Record):
    """Everything with a mass or a coefficient: links; friction, rotors and motors by joint name; gravity [m/s²], payload."""

    links: tuple[Link, ...]
    friction: Mapping[str, Friction] = FrozenMapping()
    rotors: Mapping[str, Rotor] = FrozenMapping()
    gravity: FloatArray = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    payload: Body | None = None
    motors: Mapping[str, Motor] = FrozenMapping()

    def __post_init__(self) -> None:
        put(
            self,
            links=checks.parts("links", self.links, Link),
            friction=self._acting_friction(),
            rotors=named_parts("rotor", self.rotors, Rotor),
            gravity=checks.array("gravity", self.gravity, (3,)),
            payload=checks.optional("payload", self.payload, Body),
            motors=named_parts("motor", self.motors, Motor),
        )
        check_motors(self.motors, self.rotors, self.friction)

    def _acting_friction(self) -> FrozenMapping[Friction]:
        given = named_parts("friction", self.friction, Friction)
        return FrozenMapping({joint: law for joint, law in given.items() if not law.is_none})


def with_motors(parameters: Parameters, motors: Mapping[str, Motor]) -> Parameters:
    """Parameters with motors added, and rotors and friction of those joints that had neither rotor nor motor."""
    given = named_parts("motor", motors, Motor)
    friction, rotors = dict(parameters.friction), dict(parameters.rotors)
    for joint, motor in given.items():
        if joint in rotors or joint in parameters.motors:
            continue
        ratio = ratio_of(motor, None)
        if motor.inertia:
            rotors[joint] = Rotor(motor.inertia, ratio)
        if motor.damping:
            law = friction.get(joint, Friction())
            friction[joint] = law.replace(viscous=law.viscous + ratio**2 * motor.damping)
    return parameters.replace(friction=friction, rotors=rotors, motors={**parameters.motors, **given})


class RobotData(Protocol):
    """A robot as the modules see it that check a robot when it is built: its data alone."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def structure(self) -> Structure:
        """What is connected to what."""

    @property
    def parameters(self) -> Parameters:
        """What it weighs."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed while it was read or built."""

    @property
    def n(self) -> int:
        """Number of coordinates."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints behind q, in order."""

    @property
    def gravity(self) -> FloatArray:
        """Gravitational acceleration in the world frame."""

    @property
    def tool(self) -> Tool | None:
        """The tool frame, if there is one."""
