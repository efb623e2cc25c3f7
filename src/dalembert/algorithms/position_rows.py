"""Functions of positions over a tree: their values, their rows of the Jacobian, and their acceleration at rest of the joints.

A row of the Jacobian is found as a generalised force is: where a function's rate is f · v of a point of a link, plus m · ω of the
link, its derivative by a joint is what the force f at that point and the moment m exert at the joint,

    ∂/∂x_j = z_j · (m + (p − p_j) × f)   for a joint that turns,    z_j · f   for one that slides                   (1)

summed over the links it moves. Between two links that a third carries, everything is expressed in the axes of the third, so that
only joints of the loop occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..expr import Expr, ops
from ..expr.differentiate import jacobian, jvp
from ..expr.graph import Graph, reachable
from ..model.position_functions import WORLD as GROUND
from ..model.position_functions import (
    Component,
    Cosine,
    Distance,
    JointFunction,
    JointSum,
    LinkAngle,
    PositionFunction,
    Thread,
)
from ..model.tree import FramePlace, Segment
from ..spatial import IDENTITY, ZERO, Mat3, Pose, Vec3, vec3
from .joint import transform
from .kinematics import WORLD
from .sweep import Unrolled

Row = dict[int, Any]


class Jet(NamedTuple):
    """A vector that depends on time: its value, its rate, and its second rate while the joints do not accelerate."""

    value: Vec3
    rate: Vec3
    bias: Vec3

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.value - other.value, self.rate - other.rate, self.bias - other.bias)

    def dot(self, other: Jet) -> tuple[Any, Any, Any]:
        """The scalar product: its value, rate and bias."""
        return (
            self.value.dot(other.value),
            self.rate.dot(other.value) + self.value.dot(other.rate),
            self.bias.dot(other.value) + self.rate.dot(other.rate) * 2.0 + self.value.dot(other.bias),
        )


class Push(NamedTuple):
    """A force at a point and a moment on a segment, in the axes of the frame that everything of a row is expressed in."""

    segment: int
    p: Vec3
    f: Vec3
    m: Vec3 = ZERO


class Turning(NamedTuple):
    """How a segment moves against the frame of a row: rates, and accelerations at rest of the joints, of turn and origin."""

    w: Vec3
    alpha: Vec3
    v: Vec3
    a: Vec3


RESTING = Turning(ZERO, ZERO, ZERO, ZERO)


class Positions:
    """The positions of a tree as rows see them: poses of segments against the ground, or against what carries a loop."""

    def __init__(self, sweep: Unrolled, x: Sequence[Any], xd: Sequence[Any] | None = None) -> None:
        self.tree = sweep.tree
        self.x, self.xd = x, xd
        self.q = sweep.expand(x)
        self.qd = None if xd is None else sweep.expand(xd, rate=True)
        self.steps = [transform(s, q) for s, q in zip(self.tree.segments, self.q, strict=True)]
        self._poses: dict[tuple[int, int], Pose] = {}
        self._motions: dict[tuple[int, int], Turning] = {}

    def place(self, link: str) -> FramePlace:
        """The frame of a link, the tool's or the ground's."""
        if link == GROUND:
            return FramePlace(-1, IDENTITY, ZERO)
        if link == "tool" and link not in self.tree.links:
            assert self.tree.tool is not None
            return self.tree.tool
        return self.tree.links[link]

    def carrier(self, *segments: int) -> int:
        """The segment next to all of these that carries them all; -1 for the ground."""
        paths = [self.tree.path(s) for s in segments]
        return next((s for s in paths[0] if all(s in path for path in paths)), -1)

    def pose(self, segment: int, base: int) -> Pose:
        """The pose of a segment's frame in that of a base which carries it."""
        if segment == base:
            return WORLD
        key = segment, base
        if key not in self._poses:
            self._poses[key] = self.pose(self.tree.segments[segment].parent, base).across(self.steps[segment])
        return self._poses[key]

    def motion(self, segment: int, base: int) -> Turning:
        """How a segment moves against the base."""
        if segment == base or self.qd is None:
            return RESTING
        key = segment, base
        if key not in self._motions:
            self._motions[key] = self._moved(segment, base)
        return self._motions[key]

    def _moved(self, segment: int, base: int) -> Turning:
        s = self.tree.segments[segment]
        assert self.qd is not None
        w, alpha, v, a = self.motion(s.parent, base)
        r = self.pose(segment, base).p - self.pose(s.parent, base).p
        own = self.pose(segment, base).R.third * self.qd[segment]
        turn, slide = own * s.turn, own * s.slide
        return Turning(
            w + turn,
            alpha + w.cross(turn),
            v + w.cross(r) + slide,
            a + alpha.cross(r) + w.cross(w.cross(r)) + w.cross(slide) * 2.0,
        )

    def point(self, link: str, point: Iterable[float], base: int) -> Jet:
        """A point of a link, seen from the base."""
        place = self.place(link)
        X, moving = self.pose(place.segment, base), self.motion(place.segment, base)
        arm = X.R @ (place.R @ Vec3(*point) + place.p)
        p, (w, alpha, v, a) = X.p + arm, moving
        return Jet(p, v + w.cross(arm), a + alpha.cross(arm) + w.cross(w.cross(arm)))

    def direction(self, link: str, vector: Iterable[float], base: int) -> Jet:
        """A direction fixed in a link, seen from the base."""
        place = self.place(link)
        e = self.pose(place.segment, base).R @ (place.R @ Vec3(*vector))
        w, alpha, _, _ = self.motion(place.segment, base)
        return Jet(e, w.cross(e), alpha.cross(e) + w.cross(w.cross(e)))

    def row(self, loads: Sequence[Push], base: int) -> Row:
        """The derivatives by the joints of what has these loads [(1)]."""
        found: Row = {}
        for load in loads:
            for j in self.tree.path(load.segment):
                if j == base:
                    break
                s, X = self.tree.segments[j], self.pose(j, base)
                entry = _at_joint(s, X, load) * s.multiplier
                found[s.coordinate] = found.get(s.coordinate, 0.0) + entry
        return {k: entry for k, entry in found.items() if not ops.is_zero(entry)}


def _at_joint(s: Segment, X: Pose, load: Push) -> Any:
    """What a load exerts at a joint, by the cross product that all loads at one point share."""
    z = X.R.third
    if s.slide:
        return z.dot(load.f) * s.slide
    return (z.cross(load.p - X.p).dot(load.f) + z.dot(load.m)) * s.turn


class Value(NamedTuple):
    """A function of positions: its value, its row of the Jacobian, its second rate at rest of the joints, and the forces on
    segments, in the frame of `base`, whose virtual work the row is; none for what acts at joints.
    """

    value: Any
    row: Row
    bias: Any
    pushes: Sequence[Push] = ()
    base: int = -1


def evaluated(positions: Positions, function: PositionFunction) -> Value:
    """A function of positions at these positions; its bias is 0 where no velocities are given."""
    return _KINDS[type(function)](positions, function)


def difference(function: PositionFunction, value: Any, wanted: Any) -> Any:
    """How far a value is from what is wanted; of an angle that goes round and round, the short way."""
    left = value - wanted
    return ops.atan2(ops.sin(left), ops.cos(left)) if goes_round(function) else left


def goes_round(function: PositionFunction) -> bool:
    """Whether a function is known up to whole turns only."""
    return isinstance(function, LinkAngle) and function.which != "pitch"


def _joint_sum(at: Positions, function: JointSum) -> Value:
    index = {s.name: s for s in at.tree.segments}
    row: Row = {}
    total: Any = 0.0
    for joint, c in function.coefficients.items():
        s = index[joint]
        row[s.coordinate] = row.get(s.coordinate, 0.0) + c * s.multiplier
        total = total + (at.x[s.coordinate] * s.multiplier + s.shift) * c
    return Value(total, row, 0.0)


def _component(at: Positions, function: Component) -> Value:
    (a, pa), (b, pb) = function.a, function.b
    i, j = at.place(a).segment, at.place(b).segment
    base = at.carrier(i, j)
    axes = function.axes
    if axes is not None and at.place(axes).segment not in (i, j, base):
        base = at.carrier(i, j, at.place(axes).segment)
    first, second = at.point(a, pa, base), at.point(b, pb, base)
    e = Jet(vec3(function.axis), ZERO, ZERO) if axes is None else at.direction(axes, function.axis, base)
    value, _, bias = e.dot(second - first)
    own = None if axes is None else at.place(axes).segment
    # In the axes of one of the two links, forces and reactions are at the same point of it.
    p, r = first.value, second.value
    p, r = (r, r) if own == i != base else (p, p) if own == j != base else (p, r)
    loads = [Push(j, r, e.value), Push(i, p, -e.value)]
    if own not in (None, i, j, base):
        assert own is not None
        loads.append(Push(own, ZERO, ZERO, e.value.cross((second - first).value)))
    return Value(value, at.row(loads, base), bias, loads, base)


def _cosine(at: Positions, function: Cosine) -> Value:
    (a, u), (b, v) = function.a, function.b
    i, j = at.place(a).segment, at.place(b).segment
    base = at.carrier(i, j)
    first, second = at.direction(a, u, base), at.direction(b, v, base)
    value, _, bias = first.dot(second)
    m = second.value.cross(first.value)
    loads = [Push(j, ZERO, ZERO, m), Push(i, ZERO, ZERO, -m)]
    return Value(value, at.row(loads, base), bias, loads, base)


def _distance(at: Positions, function: Distance) -> Value:
    (a, pa), (b, pb) = function.a, function.b
    i, j = at.place(a).segment, at.place(b).segment
    base = at.carrier(i, j)
    first, second = at.point(a, pa, base), at.point(b, pb, base)
    d = second - first
    square, twice_rate, twice_bias = d.dot(d)
    length = ops.sqrt(square)
    inverse = ops.divide(1.0, length)
    u = d.value * inverse
    rate = twice_rate * 0.5 * inverse
    loads = [Push(j, second.value, u), Push(i, second.value, -u)]
    return Value(length, at.row(loads, base), (twice_bias * 0.5 - rate * rate) * inverse, loads, base)


def _thread(at: Positions, function: Thread) -> Value:
    (a, A), (b, B) = function.a, function.b
    i, j = at.place(a).segment, at.place(b).segment
    base = at.carrier(i, j)
    d = at.point(b, B[:3, 3], base) - at.point(a, A[:3, 3], base)
    ax, ay, az = (at.direction(a, A[:3, k], base) for k in range(3))
    bx = at.direction(b, B[:3, 0], base)
    k = 2.0 * np.pi / function.pitch
    (s, ds, dds), (C, dC, ddC), (S, dS, ddS) = az.dot(d), ax.dot(bx), ay.dot(bx)
    sin, cos = ops.sin(s * k), ops.cos(s * k)
    slope = (cos * C + sin * S) * k  # of sin(ks) C − cos(ks) S by s, by C, by S: slope, sin, −cos
    value = sin * C - cos * S
    bias = slope * dds + sin * ddC - cos * ddS + (cos * dC + sin * dS) * (ds * (2.0 * k)) - value * (ds * ds * k * k)
    turned = (bx.value.cross(ax.value) * sin) - (bx.value.cross(ay.value) * cos)
    p = at.point(b, B[:3, 3], base).value
    loads = [Push(j, p, az.value * slope, turned), Push(i, p, az.value * -slope, -turned)]
    return Value(value, at.row(loads, base), bias, loads, base)


def _angle(at: Positions, function: LinkAngle) -> Value:
    place = at.place(function.link)
    R = at.pose(place.segment, -1).R.times(place.R)
    cosine = ops.sqrt(R.x.x * R.x.x + R.y.x * R.y.x)
    value = {
        "roll": lambda: ops.atan2(R.z.y, R.z.z),
        "pitch": lambda: ops.atan2(-R.z.x, cosine),
        "yaw": lambda: ops.atan2(R.y.x, R.x.x),
    }[function.which]()
    loads = [Push(place.segment, ZERO, ZERO, _angle_moment(R, cosine, function.which))]
    row = at.row(loads, -1)
    return Value(value, row, _differentiated(at, row), loads)


def _angle_moment(R: Mat3, cosine: Any, which: str) -> Vec3:
    """m with rate = m · ω: the rows of the inverse of what turns rates of angles into ω [Siciliano, §3.6]."""
    inverse = ops.divide(1.0, cosine)
    cos_yaw, sin_yaw = R.x.x * inverse, R.y.x * inverse
    if which == "pitch":
        return Vec3(-sin_yaw, cos_yaw, 0.0)
    roll = Vec3(cos_yaw * inverse, sin_yaw * inverse, 0.0)
    return roll if which == "roll" else Vec3(0.0, 0.0, 1.0) - roll * R.z.x


def _function(at: Positions, function: JointFunction) -> Value:
    """By a graph of its own, in which the joints are independent whatever their positions are made of here."""
    own = Graph()
    x, xd = ([own.input(f"{name}{k}") for k in range(at.tree.n)] for name in ("x", "xd"))
    value = function.function({s.name: x[s.coordinate] * s.multiplier + s.shift for s in at.tree.segments})
    slopes = jacobian([value], x)[0]
    bias: Any = 0.0
    if at.xd is not None:
        moving: list[Any] = [k for k in range(at.tree.n) if isinstance(slopes[k], Expr)]
        rates = jvp([slopes[k] for k in moving], x, xd)
        bias = sum((rate * xd[k] for k, rate in zip(moving, rates, strict=True)), 0.0)
    given = dict(zip([*x, *xd], [*at.x, *(at.xd or ())], strict=False))
    value, bias, *slopes = _placed([value, bias, *slopes], given)
    return Value(value, {k: entry for k, entry in enumerate(slopes) if not ops.is_zero(entry)}, bias)


def _placed(scalars: Sequence[Any], given: dict[Expr, Any]) -> list[Any]:
    """Scalars of one graph at other scalars in place of its inputs: numbers, or nodes of another graph."""
    found = dict(given)
    for node in reachable(scalars):
        if node.op == "const":
            found[node] = node.value
        elif node not in found:
            arguments = [found[a] for a in node.args]
            graph = next((a.graph for a in arguments if isinstance(a, Expr)), node.graph)
            found[node] = graph.apply(node.op, *arguments)
    return [found[scalar] if isinstance(scalar, Expr) else scalar for scalar in scalars]


def _differentiated(at: Positions, row: Row) -> Any:
    """d/dt (row ẋ) at rest of the joints, by differentiating the row along ẋ."""
    if at.xd is None:
        return 0.0
    moving: list[Any] = [k for k in row if isinstance(row[k], Expr)]
    nodes = {node: rate for node, rate in zip(at.x, at.xd, strict=True) if isinstance(node, Expr)}
    rates = jvp([row[k] for k in moving], list(nodes), list(nodes.values()))
    return sum((rate * at.xd[k] for k, rate in zip(moving, rates, strict=True)), 0.0)


_KINDS: dict[type, Callable[[Positions, Any], Value]] = {
    JointSum: _joint_sum,
    Component: _component,
    Cosine: _cosine,
    Distance: _distance,
    Thread: _thread,
    LinkAngle: _angle,
    JointFunction: _function,
}

__all__ = ["Positions", "Row", "Value", "difference", "evaluated", "goes_round"]
