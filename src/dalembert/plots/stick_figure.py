"""What a stick figure is made of: rigid bodies as lines and plates, joints and closures as marks, in world coordinates.

Every point has shape (K, 3), one row per configuration. Links that are fixed to each other are one body. A massless body whose
joints all meet in one point is virtual: the joints it connects are one joint with several freedoms, and two slides in such
a joint are a way to let a body move freely, not a part that one could touch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..algorithms.position_rows import Positions
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..dynamics.robot_system import RobotSystem
from ..mechanism import Mechanism
from ..model import Joint, Robot
from ..model.position_functions import WORLD, Component, JointSum
from ..model.springs import Anchor

GROUND = -1
_TOGETHER = 1e-6  # of the size of the figure: points closer than this are one
_FLAT = 1e-3  # of the size of a body: points closer than this to a line are on it


class Mark(NamedTuple):
    """A sign at a point; `axis` is that of a joint, where it has one."""

    kind: str
    at: FloatArray
    driven: bool = False
    axis: FloatArray | None = None


class Stroke(NamedTuple):
    """A line through points, shape (K, points, 3): of a body, of a closure; `closed` for the outline of a plate."""

    kind: str
    points: FloatArray
    closed: bool = False
    name: str = ""


@dataclass
class StickFigure:
    """All that is drawn of a system."""

    lines: list[Stroke] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


class Places:
    """World coordinates of points and directions of a robot's links at positions of shape (K, N)."""

    def __init__(self, robot: Robot, x: FloatArray) -> None:
        self.tree, self.count = RobotSystem(robot).tree, len(x)
        self._at = Positions(Unrolled(self.tree), list(x.T))

    def body(self, link: str) -> int:
        """The segment that carries a link; `GROUND` for what does not move."""
        return self._at.place(link).segment

    def point(self, link: str, point: Iterable[float] = (0.0, 0.0, 0.0)) -> FloatArray:
        """A point of a link."""
        return self._rows(self._at.point(link, point, GROUND).value)

    def direction(self, link: str, vector: Iterable[float]) -> FloatArray:
        """A direction in a link's frame."""
        return self._rows(self._at.direction(link, vector, GROUND).value)

    def _rows(self, components: Iterable[float]) -> FloatArray:
        return np.stack([np.broadcast_to(component, self.count) for component in components], axis=-1)


class _Placed(NamedTuple):
    """A moving joint: where it stands in the body before, and where the body it moves begins."""

    joint: Joint
    before: FloatArray
    after: FloatArray
    axis: FloatArray


class Maker:
    """Collects the figure of a robot, or of a mechanism over it."""

    def __init__(self, robot: Robot, x: FloatArray, mechanism: Mechanism | None = None, traced: Anchor | None = None) -> None:
        self.robot, self.mechanism = robot, mechanism
        self.places = Places(robot, x)
        self.traced = traced
        self.joints = [self._placed(joint) for joint in robot.structure.joints if joint.moves]
        everything = np.concatenate([p for j in self.joints for p in (j.before, j.after)] or [np.zeros((1, 3))])
        self.size = float(np.ptp(everything, axis=0).max()) or 1.0
        self.ends = self._closure_ends()
        self.joint_groups = self._groups()
        self.driven = self._driven()

    def figure(self) -> StickFigure:
        """Bodies, the ground, joints, then closures."""
        made = StickFigure()
        for body in range(len(self.joints)):
            self._draw_body(made, body)
        self._draw_ground(made)
        for group in self.joint_groups:
            self._mark_joints(made, group)
        self._draw_closures(made)
        self._mark_tool(made)
        return made

    def _placed(self, joint: Joint) -> _Placed:
        start = joint.origin[:3, 3]
        back = np.linalg.inv(joint.child_origin)[:3, 3]
        axis = joint.origin[:3, :3] @ joint.axis
        place = self.places
        return _Placed(
            joint, place.point(joint.parent, start), place.point(joint.child, back), place.direction(joint.parent, axis)
        )

    def _closure_ends(self) -> list[tuple[str, int, FloatArray]]:
        """Name of the closure, body and point of each end that is a point."""
        closures = () if self.mechanism is None else self.mechanism.closures
        return [
            (closure.name, self.places.body(link), self.places.point(link, X[:3, 3]))
            for closure in closures
            if closure.links and closure.between is not None
            for link, X in closure.between
        ]

    def _driven(self) -> set[str]:
        """The joints that are coordinates, or have a drive."""
        if self.mechanism is None:
            return set(self.robot.joint_names)
        sums = [chosen.function for chosen in self.mechanism.coordinates if isinstance(chosen.function, JointSum)]
        return {*self.mechanism.actuated, *(joint for function in sums for joint in function.coefficients)}

    def _exits(self, body: int) -> list[int]:
        return [k for k, j in enumerate(self.joints) if self.places.body(j.joint.parent) == body]

    def _on(self, body: int) -> list[FloatArray]:
        """Points of a body that closures take."""
        return [at for _, carrier, at in self.ends if carrier == body]

    def _extras(self, body: int) -> list[FloatArray]:
        """Points of a body that coordinates and the path take, and the tool of a robot."""
        named = [*self._points(), *([] if self.traced is None else [self.traced])]
        if self.mechanism is None and self.robot.tool is not None:
            named.append(("tool", (0.0, 0.0, 0.0)))
        return [self.places.point(*place) for place in named if body != GROUND and self.places.body(place[0]) == body]

    def _points(self) -> list[Anchor]:
        """Points whose places are coordinates."""
        chosen = () if self.mechanism is None else self.mechanism.coordinates
        components = [c.function for c in chosen if isinstance(c.function, Component)]
        return [function.b for function in components if function.a[0] == WORLD and function.b[0] != WORLD]

    def _together(self, a: FloatArray, b: FloatArray) -> bool:
        return float(np.abs(a - b).max()) < _TOGETHER * self.size

    def _distinct(self, points: Iterable[FloatArray]) -> list[FloatArray]:
        found: list[FloatArray] = []
        for point in points:
            if not any(self._together(point, other) for other in found):
                found.append(point)
        return found

    def _is_virtual(self, body: int) -> bool:
        """Whether a body only connects joints that meet in one point, and weighs nothing where others do."""
        exits, links = self._exits(body), self.robot.parameters.links
        own = [link for link in links if self.places.body(link.name) == body]
        light = all(link.virtual for link in own) or (not any(link.mass for link in own) and any(link.mass for link in links))
        return (
            light
            and len(exits) == 1
            and not self._on(body)
            and self._together(self.joints[body].after, self.joints[exits[0]].before)
        )

    def _groups(self) -> list[list[int]]:
        """Joints in the order of the tree, those together that virtual bodies connect."""
        groups: dict[int, list[int]] = {}
        first: dict[int, int] = {}
        for k, j in enumerate(self.joints):
            parent = self.places.body(j.joint.parent)
            first[k] = first[parent] if parent != GROUND and self._is_virtual(parent) else k
            groups.setdefault(first[k], []).append(k)
        return list(groups.values())

    def _is_free(self, group: Sequence[int]) -> bool:
        return sum(not self.joints[k].joint.turns for k in group) >= 2

    def _hidden(self) -> set[int]:
        return {k for group in self.joint_groups if self._is_free(group) for k in group}

    def _name(self, body: int) -> str:
        return self.joints[body].joint.child

    def _draw_body(self, made: StickFigure, body: int) -> None:
        """A line, a plate where there are three points or more, or what leads to the centre of mass."""
        hidden, j = self._hidden(), self.joints[body]
        if not j.joint.turns and body not in hidden and not self._together(j.before, j.after):
            kind = "rail" if self._on_ground(body) else "body"
            made.lines.append(Stroke(kind, np.stack([j.before, j.after], axis=1), name=self._name(body)))
        exits = [self.joints[k].before for k in self._exits(body) if k not in hidden]
        points = self._distinct([*([] if body in hidden else [j.after]), *exits, *self._on(body)])
        if len(points) < 3:
            points = self._distinct([*points, *(self._extras(body) or self._tip(body, points))])
        else:
            made.lines += spurs(points, [*_off_the_plate(points), *self._extras(body)], self._name(body))
        if len(points) == 1 and body not in hidden and not exits and not self._on(body):
            self._draw_mass(made, body)
        elif len(points) == 2 and self._turns_alone(body):
            made.lines.append(Stroke("body", self._bent(body, points[1]), name=self._name(body)))
        elif len(points) > 1:
            made.lines.append(outline(points, self._name(body)))

    def _on_ground(self, k: int) -> bool:
        return self.places.body(self.joints[k].joint.parent) == GROUND

    def _tip(self, body: int, points: Sequence[FloatArray]) -> list[FloatArray]:
        """The tool of a mechanism's tree, where the link that carries it has no other end."""
        if len(points) > 1 or self.robot.tool is None or self.places.body("tool") != body:
            return []
        return [self.places.point("tool")]

    def _turns_alone(self, body: int) -> bool:
        """Whether a body hangs on one turning joint."""
        (group,) = (group for group in self.joint_groups if body in group)
        return len(group) == 1 and self.joints[body].joint.turns

    def _bent(self, body: int, end: FloatArray) -> FloatArray:
        """From a turning joint along its axis as far as the other end lies, then there: as links of arms are built."""
        j = self.joints[body]
        along = j.axis * np.sum(j.axis * (end - j.after), axis=-1, keepdims=True)
        corners = self._distinct([j.after, j.after + along, end])
        return np.stack(corners, axis=1)

    def _draw_mass(self, made: StickFigure, body: int) -> None:
        j = self.joints[body]
        link = self.robot.link(j.joint.child)
        centre = self.places.point(link.name, link.com)
        if link.mass and not self._together(centre, j.after):
            made.lines.append(Stroke("body", np.stack([j.after, centre], axis=1), name=link.name))
            made.marks.append(Mark("mass", centre))

    def _draw_ground(self, made: StickFigure) -> None:
        """A mark where anything stands on the ground; one foot leads down to the origin of the root."""
        hidden = self._hidden()
        points = self._distinct([*(self.joints[k].before for k in self._exits(GROUND) if k not in hidden), *self._on(GROUND)])
        if len(points) == 1:
            root = self.places.point(self.robot.structure.root)
            if not self._together(root, points[0]):
                made.lines.append(Stroke("body", np.stack([root, points[0]], axis=1)))
            points = [root]
        made.marks += [Mark("ground", at) for at in points]
        if len(points) > 2:
            made.lines.append(outline(points)._replace(kind="base"))

    def _mark_joints(self, made: StickFigure, group: Sequence[int]) -> None:
        """One mark for joints of a group that meet in a point; none where the group lets a body move freely."""
        if self._is_free(group):
            return
        while group:
            here = [k for k in group if self._together(self.joints[k].before, self.joints[group[0]].before)]
            group = [k for k in group if k not in here]
            turning = [k for k in here if self.joints[k].joint.turns]
            driven = any(self.joints[k].joint.name in self.driven for k in turning)
            if len(turning) > 1:
                made.marks.append(Mark("ball", self.joints[turning[0]].before, driven))
            for k in here:
                if len(turning) == 1 or k not in turning:
                    made.marks.append(self._single_mark(k))

    def _single_mark(self, k: int) -> Mark:
        """The mark of one joint; on the ground a slide is marked where the slider is, at another joint somewhat along."""
        j = self.joints[k]
        alone = not any(self._together(j.before, other.before) for other in self.joints if other is not j)
        driven = j.joint.name in self.driven
        if j.joint.turns:
            return Mark("revolute", j.before, driven, j.axis)
        if self._on_ground(k):
            return Mark("slider", j.after, driven)
        return Mark("prismatic", j.before if alone else 0.6 * j.before + 0.4 * j.after, driven)

    def _draw_closures(self, made: StickFigure) -> None:
        """A mark where two bodies meet; a dashed line where they are apart, as by a rod or along a slide."""
        for closure in () if self.mechanism is None else self.mechanism.closures:
            ends = [at for name, _, at in self.ends if name == closure.name]
            if closure.type in ("gear", "belt") and closure.between is not None:
                ends = [j.before for name in closure.between for j in self.joints if j.joint.name == name]
                made.lines.append(Stroke("closure", np.stack(ends, axis=1)))
                continue
            if len(ends) == 2 and not self._together(*ends):
                made.lines.append(Stroke("rod" if closure.type == "distance" else "closure", np.stack(ends, axis=1)))
                ends = ends if closure.type == "distance" else [(ends[0] + ends[1]) / 2]
            made.marks += [Mark("closure", at) for at in self._distinct(ends)]

    def _mark_tool(self, made: StickFigure) -> None:
        """The tool where it stands apart from joints, and points that are coordinates."""
        taken = [mark.at for mark in made.marks]
        if self.robot.tool is not None and self.places.body("tool") != GROUND:
            tool = self.places.point("tool")
            if self.mechanism is None and not any(self._together(tool, at) for at in taken):
                made.marks.append(Mark("tool", tool))
        for at in self._distinct(self.places.point(*place) for place in self._points()):
            made.marks.append(Mark("point", at, driven=True))


def outline(points: Sequence[FloatArray], name: str = "") -> Stroke:
    """A line through the two ends of points in a row, or round about those that span a plate."""
    shape = np.stack(points, axis=1)
    flat = shape[0] - shape[0].mean(axis=0)
    _, spread, axes = np.linalg.svd(flat)
    if len(points) < 3 or spread[1] < _FLAT * spread[0]:
        return Stroke("body", shape[:, np.argsort(flat @ axes[0])[[0, -1]]], name=name)
    return Stroke("body", shape[:, _hull(flat @ axes[:2].T)], closed=True, name=name)


def _hull(points: FloatArray) -> list[int]:
    """The corners of the convex polygon around points of a plane, in their order."""
    order = [int(k) for k in np.lexsort((points[:, 1], points[:, 0]))]
    chains = []
    for way in (order, order[::-1]):
        chain: list[int] = []
        for k in way:
            while len(chain) > 1 and _turn(points[chain[-2]], points[chain[-1]], points[k]) <= 0.0:
                chain.pop()
            chain.append(k)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
    """Positive where a, b, c turn to the left."""
    (x1, y1), (x2, y2) = b - a, c - b
    return float(x1 * y2 - y1 * x2)


def _off_the_plate(points: Sequence[FloatArray]) -> list[FloatArray]:
    """Points that are no corners of the plate through them all, and stand above or below it."""
    kept = outline(points).points
    normal = np.linalg.svd(kept[0] - kept[0].mean(axis=0))[2][2]
    height = [abs(float(normal @ (point[0] - kept[0].mean(axis=0)))) for point in points]
    corner = [any(np.array_equal(point, kept[:, k]) for k in range(kept.shape[1])) for point in points]
    size = float(np.ptp(kept[0], axis=0).max())
    return [point for point, up, is_corner in zip(points, height, corner, strict=True) if not is_corner and up > 0.02 * size]


def spurs(plate: Sequence[FloatArray], points: Sequence[FloatArray], name: str) -> list[Stroke]:
    """Lines from the middle of a plate to further points of its body."""
    middle = np.mean(plate, axis=0)
    far = [point for point in points if np.abs(point - middle).max() > _FLAT * np.ptp(np.stack(plate), axis=0).max()]
    return [Stroke("body", np.stack([middle, point], axis=1), name=name) for point in far]


__all__ = ["Maker", "Mark", "Places", "StickFigure", "Stroke", "outline"]
