"""Chains of bars in the plane of x and y, from which planar mechanisms are closed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import DalembertWarning
from ..model import Joint, Link, Robot

STANDARD_GRAVITY = 9.81
DOWN = (0.0, -STANDARD_GRAVITY, 0.0)
INCH = 0.0254  # [m]
POUND_FORCE = 4.4482216152605  # [N]


@dataclass(frozen=True)
class Bar:
    """A bar that turns about z at the origin of its frame: its name, where it hangs in the bar before, and its mass.

    Masses in kg, lengths in m, moments about the centre of mass in kg m² (or any other set of units that belong together).
    """

    name: str
    joint: str
    at: tuple[float, float]
    mass: float
    com: tuple[float, float]
    moment: float

    def link(self) -> Link:
        """The bar; its moments about x and y, which no motion in the plane meets, are those of a flat body."""
        return Link(self.name, self.mass, np.array([*self.com, 0.0]), np.diag([0.0, self.moment, self.moment]))

    def joint_on(self, parent: str) -> Joint:
        """The joint by which it turns on another link."""
        return Joint(self.joint, "continuous", parent, self.name, origin=shift(*self.at))


def uniform(name: str, joint: str, at: tuple[float, float], mass: float, length: float) -> Bar:
    """A thin rod along x: centre in its middle, moment m l²/12."""
    return Bar(name, joint, at, mass, (length / 2, 0.0), mass * length**2 / 12)


def shift(x: float, y: float, z: float = 0.0) -> FloatArray:
    """A pose that is moved and not turned."""
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def with_massless_links(name: str, links: Iterable[Link], joints: Iterable[Joint], **options: Any) -> Robot:
    """A tree of which some joints move no inertia, as a mechanism may have it: its loops make them follow the others."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*moves? no inertia", DalembertWarning)
        return Robot.from_parts(name, links, joints, **options)


def hang(root: str, bars: Iterable[Bar]) -> tuple[list[Link], list[Joint]]:
    """Links and joints of bars that hang one on the other, the first on the root."""
    links, joints = [], []
    parent = root
    for bar in bars:
        links.append(bar.link())
        joints.append(bar.joint_on(parent))
        parent = bar.name
    return links, joints
