"""All joint positions of a pose in closed form, for arms of known kinds; over scalars.

With the axes at q = 0 and the pose M there, a pose is X = e₁ e₂ … eₙ M, e_i the screw motion of joint i. Each kind takes the turn
and the place that joints have to make up, Y = X M⁻¹ = e₁ … eₙ, apart, joint by joint
[Murray1994, §3.3] [theory: inverse_kinematics]:

- a wrist: the last three axes meet in a point c, so that Y c = e₁ e₂ e₃ c places the arm, and the turn that is left the wrist;
- three parallel axes in the middle (2, 3, 4), and axes 5 and 6 that meet;
- parallel axes only, two or three of them, and perhaps a joint that slides along them;
- an arm of three joints, for positions alone.

An arm of three joints is placed where axes 2 and 3 are parallel (or joint 3 slides across axis 2), or where axes 1 and 2 meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..expr import ops
from ..spatial.vec3 import Mat3, Vec3
from .screw_angles import ScrewAxis, angle_between, angles_to_distance, angles_to_plane, turn_between


class Displacement(NamedTuple):
    """Y: a turn and where it brings the origin."""

    R: Mat3
    p: Vec3

    def of(self, point: Vec3) -> Vec3:
        """Where it brings a point."""
        return self.R @ point + self.p


Angles = list[Any]
Solver = Callable[[Displacement], list[Angles]]
"""From Y to the joint positions of every branch."""


def back(axes: Sequence[ScrewAxis], angles: Sequence[Any], point: Vec3) -> Vec3:
    """A point brought back by some joints: (e₁ … e_k)⁻¹ p."""
    for axis, angle in zip(axes, angles, strict=True):
        point = axis.moved(point, -angle)
    return point


def turned_back(axes: Sequence[ScrewAxis], angles: Sequence[Any], u: Vec3) -> Vec3:
    """The same for a direction."""
    for axis, angle in zip(axes, angles, strict=True):
        u = axis.turned(u, -angle)
    return u


def arm_across(axes: Sequence[ScrewAxis], c: Vec3, goal: Vec3) -> Iterator[Angles]:
    """e₁ e₂ e₃ c = goal where joints 2 and 3 both keep the height of a point along axis 2.

    The height alone gives q₁, then the distance from axis 2 gives q₃, then the direction q₂: four branches.
    """
    first, second, third = axes
    w = second.direction
    level = w.dot(c - first.point)
    for up in angles_to_plane(first.direction, goal - first.point, w, level):  # e₁⁻¹ turns by −q₁
        q1 = -up
        at = first.moved(goal, -q1)
        for q3 in _third(second, third, c, at):
            yield [q1, angle_between(second, third.moved(c, q3), at), q3]


def _third(second: ScrewAxis, third: ScrewAxis, c: Vec3, at: Vec3) -> tuple[Any, Any]:
    """Both positions of joint 3 with c as far from axis 2 as the goal; heights along it agree already."""
    gap = at - second.point
    if third.turns:
        on = second.point + second.direction * second.direction.dot(c - second.point)  # the point of axis 2 at the height of c
        reach = at - on
        return angles_to_distance(third, c, on, reach.dot(reach))
    w, v = second.direction, third.direction  # |c + q₃ v − p₂|² across ω₂ = |goal − p₂|²
    u, g = (x - w * w.dot(x) for x in (c - second.point, gap))
    middle = -u.dot(v)
    half = ops.sqrt(ops.maximum(middle * middle - u.dot(u) + g.dot(g), 0.0))
    return middle + half, middle - half


def arm_round(axes: Sequence[ScrewAxis], centre: Vec3, c: Vec3, goal: Vec3) -> Iterator[Angles]:
    """e₁ e₂ e₃ c = goal where axes 1 and 2 meet in a centre: the distance from it gives q₃, then both others are spherical."""
    first, second, third = axes
    gap = goal - centre
    for q3 in angles_to_distance(third, c, centre, gap.dot(gap)):
        u = third.moved(c, q3) - centre
        for q2 in angles_to_plane(second.direction, u, first.direction, first.direction.dot(gap)):
            yield [turn_between(first.direction, second.turned(u, q2), gap), q2, q3]


def wrist(axes: Sequence[ScrewAxis], turn: Mat3) -> Iterator[Angles]:
    """e₄ e₅ e₆ = turn, for axes that meet: what becomes of axis 6 gives q₅ and q₄, what is across it q₆. Two branches."""
    fourth, fifth, _ = axes
    w4, w5, w6 = (axis.direction for axis in axes)
    end = turn @ w6
    aside = across(w6)
    for q5 in angles_to_plane(w5, w6, w4, w4.dot(end)):
        q4 = turn_between(w4, fifth.turned(w6, q5), end)
        yield [q4, q5, turn_between(w6, aside, turned_back((fourth, fifth), (q4, q5), turn @ aside))]


def across(w: Vec3) -> Vec3:
    """A unit vector across another; of numbers."""
    a = min(range(3), key=lambda k: abs(w[k]))
    u = w.cross(Vec3(*(float(k == a) for k in range(3))))
    return u * (1.0 / u.dot(u) ** 0.5)


def turned_columns(axes: Sequence[ScrewAxis], angles: Sequence[Any], R: Mat3) -> Mat3:
    """(e₁ … e_k)⁻¹ R."""
    return Mat3(*(turned_back(axes, angles, column) for column in R.T)).T


def with_wrist(axes: Sequence[ScrewAxis], place: Callable[[Vec3, Vec3], Iterator[Angles]], c: Vec3) -> Solver:
    """The arm by the point where the wrist's axes meet, then the wrist."""

    def solve(Y: Displacement) -> list[Angles]:
        return [[*arm, *rest] for arm in place(c, Y.of(c)) for rest in wrist(axes[3:], turned_columns(axes[:3], arm, Y.R))]

    return solve


def three_parallel(axes: Sequence[ScrewAxis], c: Vec3) -> Solver:
    """Axes 2, 3, 4 parallel to ω; axes 5 and 6 meet in c.

    Y c = e₁ … e₄ c, whose height along ω only e₁ changes: q₁. The cosine ω · Y₁ω₆ = ω · e₅ω₆ with Y₁ = e₁⁻¹ Y: q₅. What Y₁ᵀ
    makes of ω: q₆. Then e₂ e₃ e₄ is known and plane: its turn is q₂ + q₃ + q₄, and a point of axis 4 shows q₃ and q₂.
    """
    first, second, third, fourth, fifth, sixth = axes
    w = second.direction
    sense = [w.dot(axis.direction) for axis in (third, fourth)]  # parallel axes may point either way

    def solve(Y: Displacement) -> list[Angles]:
        found = []
        for up in angles_to_plane(first.direction, Y.of(c) - first.point, w, w.dot(c - first.point)):
            q1 = -up
            turn = turned_columns([first], [q1], Y.R)
            for q5 in angles_to_plane(fifth.direction, sixth.direction, w, w.dot(turn @ sixth.direction)):
                q6 = -turn_between(sixth.direction, fifth.turned(w, -q5), turn.T @ w)
                found += [[q1, *arm, q5, q6] for arm in _plane(Y, q1, turn, q5, q6)]
        return found

    def _plane(Y: Displacement, q1: Any, turn: Mat3, q5: Any, q6: Any) -> Iterator[Angles]:
        point = fourth.point  # Y₁ (e₅ e₆)⁻¹ p = e₂ e₃ e₄ p = e₂ e₃ p
        goal = first.moved(Y.of(back((fifth, sixth), (q5, q6), point)), -q1)
        level = goal - second.direction * w.dot(goal - point)  # heights agree, but for what is not reached
        gap = level - (second.point + w * w.dot(point - second.point))
        aside = across(w)
        whole = turn_between(w, aside, turn @ turned_back((fifth, sixth), (q5, q6), aside))
        for q3 in angles_to_distance(third, point, second.point + w * w.dot(point - second.point), gap.dot(gap)):
            q2 = angle_between(second, third.moved(point, q3), goal)
            yield [q2, q3, (whole - q2 - q3 * sense[0]) * sense[1]]

    return solve


def all_parallel(axes: Sequence[ScrewAxis], tool: Vec3) -> Solver:
    """Two or three axes parallel to ω, and perhaps a joint that slides along it, placed by the height; the rest is plane."""
    turning = [k for k, axis in enumerate(axes) if axis.turns]
    sliding = [k for k, axis in enumerate(axes) if not axis.turns]
    first, second = (axes[k] for k in turning[:2])
    w = first.direction
    sense = [w.dot(axes[k].direction) for k in turning]  # parallel axes may point either way
    point = axes[turning[2]].point if len(turning) == 3 else tool

    def solve(Y: Displacement) -> list[Angles]:
        goal = Y.of(point)
        rise = w.dot(goal - point)
        level = goal - w * rise
        foot = first.point + w * w.dot(point - first.point)
        gap = level - foot
        found = []
        for q2 in angles_to_distance(second, point, foot, gap.dot(gap)):
            q = [0.0] * len(axes)
            q[turning[1]], q[turning[0]] = q2, angle_between(first, second.moved(point, q2), level)
            if len(turning) == 3:
                aside = across(w)
                whole = turn_between(w, aside, Y.R @ aside)
                q[turning[2]] = (whole - q[turning[0]] - q2 * sense[1]) * sense[2]
            for k in sliding:
                q[k] = rise * axes[k].direction.dot(w)
            found.append(q)
        return found

    return solve


def three_joints(place: Callable[[Vec3, Vec3], Iterator[Angles]], tool: Vec3) -> Solver:
    """Positions of an arm of three joints."""
    return lambda Y: list(place(tool, Y.of(tool)))


__all__ = [
    "Displacement",
    "Solver",
    "all_parallel",
    "arm_across",
    "arm_round",
    "three_joints",
    "three_parallel",
    "with_wrist",
]
