"""Scalar functions of the positions of a tree: what closures hold at a value, and what coordinates can be.

A place is an anchor: a link's name, or a name and a point in the link's frame; 'world' is the fixed frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError
from .parts import Limits, pose, unit_axis
from .record import FrozenMapping, Record, put
from .springs import Anchor, anchor

WORLD = "world"
ANGLES = ("roll", "pitch", "yaw")
Direction = tuple[str, tuple[float, float, float]]
"""A direction in a link's frame, of length one; the link may be 'world'."""


def direction(subject: str, value: Any) -> Direction:
    """A link's name and a vector in its frame, as a direction of length one."""
    if not (isinstance(value, Sequence) and len(value) == 2 and isinstance(value[0], str)):
        raise ModelError(f"{subject}: {checks.shown(value)} found; a link's name and a vector expected: ('coupler', (0, 0, 1)).")
    x, y, z = unit_axis(f"{subject}: direction in {value[0]!r}", value[1]).tolist()
    return value[0], (x, y, z)


@dataclass(frozen=True, eq=False)
class JointSum(Record):
    """Σ c x over joints: one joint (c = 1), a gear, a belt."""

    coefficients: Mapping[str, float]

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise ModelError(f"joint sum: {checks.shown(self.coefficients)} found; joints with coefficients expected.")
        found = {checks.name("joint", j): checks.number(f"coefficient of {j!r}", c) for j, c in self.coefficients.items()}
        put(self, coefficients=FrozenMapping({joint: c for joint, c in found.items() if c}))


@dataclass(frozen=True, eq=False)
class Component(Record):
    """axis · (p_b − p_a): how far point b is from point a along an axis, given in the world or in the axes of a link.

    Without `axes`, those of the link next to both are meant that carries them both: where two points are one, the axes do not
    matter, and these are the cheapest.
    """

    b: Anchor
    axis: FloatArray
    a: Anchor = (WORLD, (0.0, 0.0, 0.0))
    axes: str | None = WORLD

    def __post_init__(self) -> None:
        put(
            self,
            a=anchor("component", self.a),
            b=anchor("component", self.b),
            axis=unit_axis("component", self.axis),
            axes=None if self.axes is None else checks.name("component: axes", self.axes),
        )


@dataclass(frozen=True, eq=False)
class Cosine(Record):
    """The scalar product of two directions of length one, each fixed in a link or in the world."""

    a: Direction
    b: Direction

    def __post_init__(self) -> None:
        put(self, a=direction("cosine", self.a), b=direction("cosine", self.b))


@dataclass(frozen=True, eq=False)
class Distance(Record):
    """|p_b − p_a|: the distance of two points."""

    a: Anchor
    b: Anchor

    def __post_init__(self) -> None:
        put(self, a=anchor("distance", self.a), b=anchor("distance", self.b))


@dataclass(frozen=True, eq=False)
class Thread(Record):
    """What a screw holds at zero: sin(2π s / pitch − θ), s the travel along the common axis z of two frames and θ their turn.

    A frame is a link's name and a 4x4 pose in it. The sine has no jump where the turn passes a whole one.
    """

    a: tuple[str, FloatArray]
    b: tuple[str, FloatArray]
    pitch: float

    def __post_init__(self) -> None:
        ends = {key: (getattr(self, key)[0], pose(f"thread: {key}", getattr(self, key)[1])) for key in ("a", "b")}
        put(self, **ends, pitch=checks.number("thread: pitch", self.pitch))
        if self.pitch == 0:
            raise ModelError("thread: pitch 0 found; a number other than 0 is expected.")


@dataclass(frozen=True, eq=False)
class LinkAngle(Record):
    """An angle of a link's orientation in the world: R = Rz(yaw) Ry(pitch) Rx(roll)."""

    link: str
    which: str

    def __post_init__(self) -> None:
        put(self, link=checks.name("angle: link", self.link))
        checks.choice("angle", self.which, dict.fromkeys(ANGLES))


@dataclass(frozen=True, eq=False)
class JointFunction(Record):
    """Any function of the tree's joint positions, over scalars with arithmetic and dalembert.expr.ops.

    It takes a mapping from joint names to scalars and returns a scalar. A mechanism with one cannot be saved to a file.
    """

    function: Callable[[Mapping[str, Any]], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ModelError(f"function: {checks.shown(self.function)} found; a function of joint positions expected.")


PositionFunction = JointSum | Component | Cosine | Distance | Thread | LinkAngle | JointFunction
KINDS = (JointSum, Component, Cosine, Distance, Thread, LinkAngle, JointFunction)


@dataclass(frozen=True, eq=False)
class Chosen(Record):
    """A generalised coordinate: its name and the function of positions it is; whether it is an angle [rad] or a length [m]."""

    name: str
    function: PositionFunction
    turns: bool = field(default=True, kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)

    def __post_init__(self) -> None:
        put(
            self,
            name=checks.name("coordinate", self.name),
            turns=checks.flag("turns", self.turns),
            limits=checks.instance("limits", self.limits, Limits),
        )
        if not isinstance(self.function, KINDS):
            raise ModelError(f"coordinate {self.name!r}: {checks.shown(self.function)} found; a function of positions expected.")

    @property
    def unit(self) -> str:
        """Of the coordinate itself."""
        return "rad" if self.turns else "m"

    @property
    def force_unit(self) -> str:
        """Of the generalised force that belongs to it."""
        return "N m" if self.turns else "N"


def links_of(function: PositionFunction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The links and the joints a function names."""
    if isinstance(function, JointSum):
        return (), tuple(function.coefficients)
    if isinstance(function, LinkAngle):
        return (function.link,), ()
    if isinstance(function, JointFunction):
        return (), ()
    axes = (function.axes,) if isinstance(function, Component) and function.axes is not None else ()
    return (function.a[0], function.b[0], *axes), ()


def point_of(link: str, *, point: Any = (0, 0, 0), axes: str = "xyz") -> tuple[Chosen, ...]:
    """World coordinates of a point of a link, those named in `axes`, as generalised coordinates.

    Examples
    --------
    >>> [chosen.name for chosen in point_of("platform", axes="xy")]
    ['platform_x', 'platform_y']
    """
    directions = dict(zip("xyz", np.eye(3), strict=True))
    place = anchor("point", (checks.name("link", link), point))
    return tuple(
        Chosen(f"{link}_{k}", Component(place, checks.choice("axes", k, directions)), turns=False)
        for k in checks.name("axes", axes)
    )


def pose_of(link: str, *, point: Any = (0, 0, 0)) -> tuple[Chosen, ...]:
    """World coordinates of a point of a link, then roll, pitch and yaw of the link, as generalised coordinates.

    Examples
    --------
    >>> [chosen.name for chosen in pose_of("platform")][3:]
    ['platform_roll', 'platform_pitch', 'platform_yaw']
    """
    return (*point_of(link, point=point), *(Chosen(f"{link}_{angle}", LinkAngle(link, angle)) for angle in ANGLES))


__all__ = [
    "ANGLES",
    "KINDS",
    "WORLD",
    "Chosen",
    "Component",
    "Cosine",
    "Direction",
    "Distance",
    "JointFunction",
    "JointSum",
    "LinkAngle",
    "PositionFunction",
    "Thread",
    "direction",
    "links_of",
    "point_of",
    "pose_of",
]
