"""What a file says of a mechanism: plain data from which a `Mechanism` is made, and the check that its names are known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..checks import FloatArray
from ..errors import ModelError, PlaceOf, UnknownNameError
from .closures import Closure
from .position_functions import WORLD, Chosen, PositionFunction, links_of
from .robot import Robot
from .springs import Damper, Spring


class MechanismParts(NamedTuple):
    """The parts of a mechanism, in the order and the meaning of `Mechanism`.

    `extend` asks to add joints to the coordinates where the mechanism has more freedoms; `place_of` leads from what is said of
    the mechanism to its place in the file.
    """

    name: str
    robot: Robot
    closures: tuple[Closure, ...]
    coordinates: tuple[str | Chosen, ...]
    guess: FloatArray
    springs: tuple[Spring, ...] = ()
    dampers: tuple[Damper, ...] = ()
    actuated: tuple[str, ...] = ()
    strict: bool = False
    extend: bool = False
    place_of: PlaceOf | None = None


def check_function(robot: Robot, function: PositionFunction) -> None:
    """Refuse a function of positions that names a link or joint the robot does not have."""
    links, joints = links_of(function)
    moving = [joint.name for joint in robot.structure.joints if joint.moves]
    for joint in joints:
        if joint not in moving:
            raise UnknownNameError.among("joint", joint, moving)
    _check_links(robot, links)


def check_elements(robot: Robot, *elements: Spring | Damper) -> None:
    """Refuse springs and dampers at a link or joint the robot does not have."""
    moving = [joint.name for joint in robot.structure.joints if joint.moves]
    for element in elements:
        if element.joint is not None and element.joint not in moving:
            raise UnknownNameError.among("joint", element.joint, moving)
        _check_links(robot, (link for link, _ in element.between or ()))


def _check_links(robot: Robot, links: Iterable[str]) -> None:
    for link in links:
        if link not in (WORLD, "tool") and link not in robot.link_names:
            raise UnknownNameError.among("link", link, (WORLD, *robot.link_names))
        if link == "tool" and robot.tool is None and "tool" not in robot.link_names:
            raise ModelError("tool: this tree has several tips and no tool. Name a link, or give the robot a tool.")


__all__ = ["MechanismParts", "check_elements", "check_function"]
