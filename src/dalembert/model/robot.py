"""A robot: its structure plus its parameters (robot_data.py), both frozen, checked together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError, Part, UnknownNameError
from ..wording import listed
from . import physical, topology
from .hints import HINTS, Hint
from .motors import Motor
from .parts import Body, Friction, Joint, Link, Rotor
from .record import Record, put
from .robot_data import STANDARD_GRAVITY, Parameters, Structure, Tool, with_motors


@dataclass(frozen=True, eq=False)
class Robot(Record):
    """An open chain or tree of rigid links. Build one with `Robot.from_parts`, `from_dh`, `load` or from `dal.robots`.

    `notes` collects what was noticed while reading the source (a normalised axis, an ignored element) or building the robot
    (an unphysical number); they do not act.
    """

    name: str
    structure: Structure
    parameters: Parameters
    strict: bool = field(default=False, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        put(
            self,
            name=checks.name("robot", self.name),
            structure=checks.instance("structure", self.structure, Structure),
            strict=checks.flag("strict", self.strict),
            notes=checks.parts("notes", self.notes, str),
        )
        put(self, parameters=self._aligned_parameters())
        self._check_names()
        put(self, notes=physical.report(self, strict=self.strict))

    def __repr__(self) -> str:
        letters = "".join("R" if joint.turns else "P" for joint in self.structure.coordinates)
        if self.n > 12:
            letters = " ".join(f"{letters.count(kind)}{kind}" for kind in "RP" if kind in letters)
        counts = (f"{k} {what}{'' if k == 1 else 's'}" for k, what in ((self.n, "joint"), (len(self.structure.links), "link")))
        joints, links = counts
        return f"Robot {self.name!r}: {joints}{f' ({letters})' if letters else ''}, {links}"

    def _content(self) -> tuple[Any, ...]:
        return self.name, self.structure, self.parameters

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in HINTS]

    @classmethod
    def from_parts(
        cls,
        name: str,
        links: Iterable[Link],
        joints: Iterable[Joint],
        *,
        friction: Mapping[str, Friction] | None = None,
        rotors: Mapping[str, Rotor] | None = None,
        motors: Mapping[str, Motor] | None = None,
        gravity: ArrayLike = STANDARD_GRAVITY,
        tool: Tool | None = None,
        payload: Body | None = None,
        strict: bool = False,
        notes: Iterable[str] = (),
    ) -> Robot:
        """Assemble a robot from links and joints; `friction`, `rotors` and `motors` go by joint name.

        Raises
        ------
        ModelError
            For what has no meaning: two roots, a loop, an unknown name, a NaN; and, under `strict=True`, for what is
            computable but unphysical, which otherwise only warns.
        """
        links = checks.parts("links", links, Link)
        structure = Structure(tuple(link.name for link in links), checks.parts("joints", joints, Joint), tool)
        laws, drives, electric = ({} if table is None else table for table in (friction, rotors, motors))
        parameters = Parameters(links, laws, drives, gravity, payload, electric)  # type: ignore[arg-type]
        return cls(name, structure, parameters, strict, checks.parts("notes", notes, str))

    def _aligned_parameters(self) -> Parameters:
        links = checks.instance("parameters", self.parameters, Parameters).links
        names = tuple(link.name for link in links)
        if names == self.structure.links:
            return self.parameters
        checks.unique("links", names)
        by_name = dict(zip(names, links, strict=True))
        if set(by_name) != set(self.structure.links):
            odd = sorted(set(by_name) ^ set(self.structure.links))
            raise ModelError(f"robot {self.name!r}: structure and parameters name different links: {listed(odd)}.")
        return self.parameters.replace(links=tuple(by_name[name] for name in self.structure.links))

    def _check_names(self) -> None:
        moving = {j.name for j in self.structure.joints if j.moves}
        tables = {"friction": self.parameters.friction, "rotor": self.parameters.rotors, "motor": self.parameters.motors}
        for what, table in tables.items():
            for joint in table:
                if joint not in moving:
                    raise UnknownNameError.among(f"{what}: moving joint", joint, sorted(moving), part=Part("joint", joint))
        topology.check_mounts(self.structure, {joint: rotor.mount for joint, rotor in self.parameters.rotors.items()})
        if self.parameters.payload is not None and self.structure.tool is None:
            sentence = "payload: this tree has several tips, so its place is unknown. Give tool=Tool(link)."
            raise ModelError(sentence, part=Part("payload", ""))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.structure.n

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Compiled functions of this robot, kept by the layers above; a robot is frozen, so they never go stale."""
        return {}

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints behind q, in order."""
        return tuple(j.name for j in self.structure.coordinates)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, the root first."""
        return self.structure.links

    @property
    def gravity(self) -> FloatArray:
        """Gravitational acceleration in the world frame [m/s²], points down."""
        return self.parameters.gravity

    @property
    def tool(self) -> Tool | None:
        """The tool frame, if the robot has one."""
        return self.structure.tool

    def link(self, name: str) -> Link:
        """The link of this name."""
        return checks.choice("link", name, {link.name: link for link in self.parameters.links})

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The same robot under another gravity vector."""
        return self.replace(parameters=self.parameters.replace(gravity=gravity))

    def with_payload(self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None) -> Self:
        """The same robot holding a rigid body at its tool; `com` and `inertia` (about it) are in the tool frame."""
        tensor = np.zeros((3, 3)) if inertia is None else inertia
        body = Body("payload", mass, com, tensor)  # type: ignore[arg-type]
        return self.replace(parameters=self.parameters.replace(payload=body))

    def with_motors(self, motors: Mapping[str, Motor]) -> Self:
        """The same robot with motors at joints, by their names, beside those it has.

        A joint with neither rotor nor motor gets what the motor brings: its inertia as a `Rotor`, and ratio² times its damping as
        viscous friction. Where there is one already, rotor and friction stay, since they contain those of the motor.
        """
        return self.replace(parameters=with_motors(self.parameters, motors))

    def smoothed(self, width: float) -> Self:
        """The same robot with smooth friction: sign(q̇) becomes q̇ / sqrt(q̇² + width²) where it jumps or was smoothed before.

        For optimisation, linear models and what else needs derivatives; `simulate` takes dry friction as it is. `width` is a
        speed [rad/s | m/s]: a joint at rest under a load creeps at about load / coulomb times as fast.
        """
        width = checks.number("smoothed: width", width)
        if width <= 0:
            raise ModelError(f"smoothed: a width of {width:g} found; a speed above 0 is expected, such as 1e-3.")
        laws = {
            name: law.replace(width=width) if law.coulomb or law.coulomb_negative else law
            for name, law in self.parameters.friction.items()
        }
        return self.replace(parameters=self.parameters.replace(friction=laws))

    def with_tool(self, pose: ArrayLike, link: str | None = None) -> Self:
        """The same robot with another tool frame, on `link` or where the tool is now."""
        if link is None and self.tool is None:
            raise ModelError("tool: this tree has several tips. Say which link carries it: with_tool(pose, link=...).")
        carrier = link if link is not None else self.tool.link  # type: ignore[union-attr]
        return self.replace(structure=self.structure.replace(tool=Tool(carrier, pose)))  # type: ignore[arg-type]


for _name in HINTS:
    setattr(Robot, _name, Hint(_name))
