"""Closures: what joins two links of a tree, or a link and the ground, so that a loop arises.

A closure is a list of scalar functions of the positions, each held at a value. Frame A is on the first link, frame B on the
second, z along the joint's axis in both; `d` leads from A to B, a and b are their axes:

    revolute      d = 0, b_z ⟂ a_x, a_y            cylindrical   d_x = d_y = 0, b_z ⟂ a_x, a_y
    prismatic     d_x = d_y = 0, B not turned      planar        d_z = 0, b_z ⟂ a_x, a_y
    spherical     d = 0                            universal     d = 0, a_z ⟂ b_z
    weld          d = 0, B not turned              screw         as cylindrical, and travel = pitch · turns
    distance      |d| = length                     gear, belt    x_a = ratio · x_b + offset, of two joints
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError
from .parts import pose, unit_axis
from .position_functions import KINDS, Component, Cosine, Distance, JointSum, PositionFunction, Thread
from .record import Record, put

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
TYPES: dict[str, tuple[str, ...]] = {
    "revolute": ("x", "y", "z", "rx", "ry"),
    "prismatic": ("x", "y", "rx", "ry", "rz"),
    "spherical": ("x", "y", "z"),
    "cylindrical": ("x", "y", "rx", "ry"),
    "planar": ("z", "rx", "ry"),
    "weld": DIRECTIONS,
    "universal": ("x", "y", "z"),
    "screw": ("x", "y", "rx", "ry"),
    "distance": (),
    "gear": (),
    "belt": (),
    "function": (),
    "directions": (),
}
"""The directions each type holds, in frame A; what more it holds is said above."""
# Which axes of A and B are kept at a right angle, by the turns that are held: where one is free, the other two hold its axis.
_TURNS: dict[tuple[str, ...], tuple[tuple[int, int], ...]] = {
    (): (),
    ("rx",): ((1, 2),),
    ("ry",): ((2, 0),),
    ("rz",): ((0, 1),),
    ("rx", "ry"): ((0, 2), (1, 2)),
    ("rx", "rz"): ((0, 1), (2, 1)),
    ("ry", "rz"): ((1, 0), (2, 0)),
    ("rx", "ry", "rz"): ((1, 2), (0, 2), (0, 1)),
}


class Row(NamedTuple):
    """One scalar condition: a function of positions held at a value; `what` says which part of the closure it is."""

    function: PositionFunction
    value: float
    what: str


Frame = tuple[str, FloatArray]


def frame(subject: str, value: Any) -> Frame:
    """A link's name, with a point or a 4x4 pose in its frame if given, as a frame."""
    if isinstance(value, str):
        return checks.name(subject, value), checks.frozen(np.eye(4))
    if not (isinstance(value, Sequence) and len(value) == 2 and isinstance(value[0], str)):
        raise ModelError(
            f"{subject}: {checks.shown(value)} found; a link's name expected, or a name and a point or a 4x4 pose: "
            "('coupler', (0.1, 0, 0))."
        )
    link, place = value
    if np.shape(place) == (4, 4):
        return link, pose(f"{subject}: pose in {link!r}", place)
    X = np.eye(4)
    X[:3, 3] = checks.array(f"{subject}: point of {link!r}", place, (3,))
    return link, checks.frozen(X)


@dataclass(frozen=True, eq=False)
class Closure(Record):
    """A joint, rod or gear that closes a loop.

    Parameters
    ----------
    name : str
        What messages call it.
    type : str
        'revolute', 'prismatic', 'spherical', 'cylindrical', 'planar', 'universal', 'weld', 'screw', 'distance', 'gear', 'belt',
        'directions' (those in `directions`), or 'function' (those in `functions`).
    between : pair of places, optional
        Each a link's name, or (name, point in its frame), or (name, 4x4 pose in its frame); 'world' is the fixed frame. For
        a gear or belt: two joints.
    axis : array_like, shape (3,), or a pair of them
        The joint's axis in the frames of both links (or one for each); z of the given poses if left out.
    directions : sequence of {'x', 'y', 'z', 'rx', 'ry', 'rz'}
        For the type 'directions': what is held, in the axes of the first place.
    length, pitch, ratio, offset : float
        Length of a rod [m] between spherical ends, travel of a screw per turn [m], x_a = ratio · x_b + offset of gear and belt.
    functions : sequence of (function of positions, value)
        For the type 'function'.

    Examples
    --------
    >>> import dalembert as dal
    >>> dal.Closure("pin", "revolute", (("rocker", (0.5, 0, 0)), ("world", (0.93, 0.09, 0)))).rows[0].what
    'x'
    """

    name: str
    type: str
    between: tuple[Any, Any] | None = None
    axis: Any = None
    directions: tuple[str, ...] = field(default=(), kw_only=True)
    length: float | None = field(default=None, kw_only=True)
    pitch: float | None = field(default=None, kw_only=True)
    ratio: float | None = field(default=None, kw_only=True)
    offset: float = field(default=0.0, kw_only=True)
    functions: tuple[tuple[PositionFunction, float], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        subject = f"closure {checks.name('closure', self.name)!r}"
        checks.choice(f"{subject}: type", self.type, TYPES)
        put(self, between=self._checked_ends(subject), offset=checks.number(f"{subject}: offset", self.offset))
        for wanted, owner in (("length", ("distance",)), ("pitch", ("screw",)), ("ratio", ("gear", "belt"))):
            self._check_number(subject, wanted, owner)
        self._check_lists(subject)
        if self.axis is not None:
            self._turn_to_axis(subject)

    def _checked_ends(self, subject: str) -> tuple[Any, Any] | None:
        ends = self.between
        if self.type == "function":
            if ends is not None:
                raise ModelError(f"{subject}: `between` has no effect for functions of positions. Leave it out.")
            return None
        if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
            raise ModelError(
                f"{subject}: between {checks.shown(ends)} found; two ends expected. Try between=('coupler', 'world')."
            )
        if self.type in ("gear", "belt"):
            joints = checks.name(f"{subject}: joint", ends[0]), checks.name(f"{subject}: joint", ends[1])
            return _apart(subject, "joint", joints, joints)
        frames = frame(f"{subject}: between", ends[0]), frame(f"{subject}: between", ends[1])
        return _apart(subject, "link", (frames[0][0], frames[1][0]), frames)

    def _check_number(self, subject: str, wanted: str, owners: tuple[str, ...]) -> None:
        value = getattr(self, wanted)
        if self.type not in owners:
            if value is not None:
                raise ModelError(f"{subject}: {wanted} {value!r} has no effect on the type {self.type!r}. Leave it out.")
            return
        if value is None:
            raise ModelError(f"{subject}: no {wanted} found, which the type {self.type!r} needs. Try {wanted}=1.0.")
        put(self, **{wanted: checks.number(f"{subject}: {wanted}", value)})
        if getattr(self, wanted) == 0 or (wanted == "length" and getattr(self, wanted) < 0):
            raise ModelError(
                f"{subject}: {wanted} {value:g} found; a number {'above' if wanted == 'length' else 'other than'} 0."
            )

    def _check_lists(self, subject: str) -> None:
        put(self, directions=checks.parts(f"{subject}: directions", self.directions, str), functions=self._held(subject))
        for name in self.directions:
            checks.choice(f"{subject}: direction", name, dict.fromkeys(DIRECTIONS))
        for kind, found in (("directions", self.directions), ("function", self.functions)):
            if (self.type == kind) != bool(found):
                what = "directions" if kind == "directions" else "functions"
                reason = f"no {what} found, which this type needs" if self.type == kind else f"{what} have no effect on this type"
                raise ModelError(f"{subject}: {reason}. Try type={kind!r} with {what}=(...).")

    def _held(self, subject: str) -> tuple[tuple[PositionFunction, float], ...]:
        found = []
        for held in checks.parts(f"{subject}: functions", self.functions, tuple):
            if len(held) != 2 or not isinstance(held[0], KINDS):
                raise ModelError(
                    f"{subject}: functions: {checks.shown(held)} found; a function of positions and a value expected."
                )
            found.append((held[0], checks.number(f"{subject}: value", held[1])))
        return tuple(found)

    def _turn_to_axis(self, subject: str) -> None:
        if not self.links:
            raise ModelError(f"{subject}: axis has no effect on the type {self.type!r}. Leave it out.")
        assert self.between is not None
        pair = checks.numbers(f"{subject}: axis", self.axis).shape == (2, 3)
        axes = [unit_axis(subject, axis) for axis in (self.axis if pair else (self.axis, self.axis))]
        put(self, between=tuple(_aligned(end, axis) for end, axis in zip(self.between, axes, strict=True)), axis=None)

    @property
    def links(self) -> tuple[str, ...]:
        """The links it joins; none for what acts on joints."""
        if self.type in ("gear", "belt", "function"):
            return ()
        assert self.between is not None
        return tuple(link for link, _ in self.between)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The scalar conditions."""
        if self.type == "function":
            return tuple(Row(function, value, f"function {k}") for k, (function, value) in enumerate(self.functions, 1))
        assert self.between is not None
        if self.type in ("gear", "belt"):
            return (Row(JointSum({self.between[0]: 1.0, self.between[1]: -float(self.ratio or 0.0)}), self.offset, "ratio"),)
        held = self.directions or TYPES[self.type]
        (a, A), (b, B) = self.between
        p, r = tuple(A[:3, 3].tolist()), tuple(B[:3, 3].tolist())
        if self.type == "distance":
            return (Row(Distance((a, p), (b, r)), float(self.length or 0.0), "length"),)
        meets = {"x", "y", "z"} <= set(held)  # two points are one: any axes tell that
        axes, axis = (None, np.eye(3)) if meets else (a, A[:3, :3].T)
        rows = [Row(Component((b, r), axis[k], (a, p), axes), 0.0, "xyz"[k]) for k in range(3) if "xyz"[k] in held]
        turned = tuple(name for name in ("rx", "ry", "rz") if name in held)
        names = turned if len(turned) != 2 else tuple(f"axis {k}" for k in (1, 2))
        for name, (i, j) in zip(names, _TURNS[turned], strict=True):
            rows.append(Row(_right_angle(self.between, i, j), 0.0, name))
        if self.type == "universal":
            rows.append(Row(_right_angle(self.between, 2, 2), 0.0, "cross"))
        if self.type == "screw":
            rows.append(Row(Thread(*self.between, float(self.pitch or 0.0)), 0.0, "thread"))
        return tuple(rows)


def _apart(subject: str, what: str, names: tuple[str, str], ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """Both ends, if they are not the same link or joint."""
    if names[0] == names[1]:
        raise ModelError(f"{subject}: between: {what} {names[0]!r} found at both ends, which closes no loop. Name two {what}s.")
    return ends


def _right_angle(frames: tuple[Frame, Frame], i: int, j: int) -> Cosine:
    (a, A), (b, B) = frames
    return Cosine((a, A[:3, i].tolist()), (b, B[:3, j].tolist()))


def _aligned(end: Frame, axis: FloatArray) -> Frame:
    """The frame turned so that its z is along an axis given in it."""
    link, X = end
    z = X[:3, :3] @ axis
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(X[:3, :3] @ helper, z)
    x /= np.linalg.norm(x)
    turned = X.copy()
    turned[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    if (axis == (0, 0, 1)).all():
        return end
    return link, checks.frozen(turned + 0.0)  # no -0.0, as everywhere in models


__all__ = ["DIRECTIONS", "TYPES", "Closure", "Frame", "Row", "frame"]
