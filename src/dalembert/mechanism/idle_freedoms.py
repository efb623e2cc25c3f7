"""Idle freedoms: a body in a loop that moves while all others rest, as a rod does that spins between two spherical joints.

Up to three bodies that move as one count as well: cylinder and piston of a leg between two spherical joints. A body that is
joined to the others at one place only, such as the last link of an arm, is not idle, nor is a shaft in bearings, whose turn is
what its joints are there for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..algorithms.position_rows import Positions
from ..algorithms.sweep import Unrolled
from ..brief import brief
from ..checks import FloatArray
from .assembled import Assembled
from .constraint_count import directions_of, held_by
from .numeric import rank_of

_MOST = 3  # bodies that move as one
_AT_REST = 1e-6  # of the largest rate: what the tangent space is off by


@dataclass(frozen=True, eq=False)
class IdleFreedom:
    """Bodies that can move while all others rest: their names, the joints that take part, and the rates of all joints."""

    links: tuple[str, ...]
    joints: tuple[str, ...]
    motion: FloatArray

    def __repr__(self) -> str:
        return brief(self)


class Connection(NamedTuple):
    """Two bodies that are joined, and how many motions against each other that leaves; -1 is the ground."""

    a: int
    b: int
    freedoms: int


def idle_freedoms(assembled: Assembled, x: FloatArray, tangent: FloatArray, scale: FloatArray) -> tuple[IdleFreedom, ...]:
    """All at a position, whose free motions are the columns of `tangent`; rates of joints are scale · those."""
    if not assembled.closures or not tangent.size:
        return ()
    at = Positions(Unrolled(assembled.tree), x.tolist())
    bodies = bodies_of(assembled)
    rates = {s: twist_map(at, s, assembled.typical_length, scale) @ tangent for s in bodies}
    joined = connections(assembled, at, bodies)
    found: list[IdleFreedom] = []
    taken: set[int] = set()
    for group in _groups(joined, bodies):
        if taken & set(group) or not _between_others(group, joined):
            continue
        for motion in _only(group, rates):
            taken |= set(group)
            found.append(_named(assembled, [bodies[s] for s in group], scale * (tangent @ motion)))
    return tuple(found)


def bodies_of(assembled: Assembled) -> dict[int, str]:
    """The segments that are bodies, by the name of their first link; frames between the joints of a combination are none."""
    found: dict[int, str] = {}
    for link in assembled.robot.parameters.links:
        segment = assembled.tree.links[link.name].segment
        if segment >= 0 and not link.virtual:
            found.setdefault(segment, link.name)
    return dict(sorted(found.items()))


def twist_map(at: Positions, segment: int, length: float, scale: FloatArray) -> FloatArray:
    """Velocity of a segment's origin, in typical lengths, and its angular velocity, by the rates of the scaled joints."""
    found = np.zeros((6, at.tree.n))
    p = at.pose(segment, -1).p
    for j in at.tree.path(segment):
        s, X = at.tree.segments[j], at.pose(j, -1)
        z = X.R.third
        v = z * s.slide if s.slide else z.cross(p - X.p) * s.turn
        found[:, s.coordinate] += s.multiplier * np.array([*(v * (1.0 / length)), *(z * s.turn)], dtype=float)
    return found * scale


def connections(assembled: Assembled, at: Positions, bodies: dict[int, str]) -> list[Connection]:
    """Joints of the tree and closures, between bodies; one that leaves all motions is none, such as that of a free body."""
    directions = directions_of(at)
    found = []
    for segment in bodies:
        base, count = _carrier(at, bodies, at.tree.segments[segment].parent)
        found.append(Connection(base, segment, count + 1))
    for closure in assembled.closures:
        if closure.links:
            (a, above), (b, over) = (_carrier(at, bodies, at.place(link).segment) for link in closure.links)
            found.append(Connection(a, b, len(directions) - held_by(at, closure, directions) + above + over))
    return [connection for connection in found if connection.freedoms < len(directions)]


def _carrier(at: Positions, bodies: dict[int, str], segment: int) -> tuple[int, int]:
    """The body that a segment is or hangs on, and how many joints are between."""
    count = 0
    while segment >= 0 and segment not in bodies:
        segment, count = at.tree.segments[segment].parent, count + 1
    return segment, count


def _groups(joined: Sequence[Connection], bodies: dict[int, str]) -> Iterator[tuple[int, ...]]:
    """Bodies alone, then two and three that are joined with each other."""
    groups: set[tuple[int, ...]] = {(s,) for s in bodies}
    for _ in range(_MOST):
        yield from sorted(groups)
        groups = {
            tuple(sorted({*group, a, b}))
            for group in groups
            for a, b, _ in joined
            if (a in group) != (b in group) and min(a, b) >= 0
        }


def _between_others(group: tuple[int, ...], joined: Sequence[Connection]) -> bool:
    """Whether a group is joined to others at two places or more, and not by simple joints alone."""
    freedoms = [freedom for a, b, freedom in joined if (a in group) != (b in group)]
    return len(freedoms) > 1 and max(freedoms) > 1


def _only(group: tuple[int, ...], rates: dict[int, FloatArray]) -> list[FloatArray]:
    """Motions in which these bodies move as one and no other moves."""
    first = group[0]
    rest = [rates[s] for s in rates if s not in group] + [rates[s] - rates[first] for s in group[1:]]
    free = rank_of(np.vstack(rest)) if rest else rank_of(np.zeros((0, rates[first].shape[1])))
    return [v for v in free.lost_columns if np.abs(rates[first] @ v).max() > _AT_REST]


def _named(assembled: Assembled, links: list[str], motion: FloatArray) -> IdleFreedom:
    motion = motion / np.abs(motion).max()
    motion = np.where(np.abs(motion) > _AT_REST, motion, 0.0)
    joints = tuple(name for name, rate in zip(assembled.robot.joint_names, motion, strict=True) if rate)
    return IdleFreedom(tuple(links), joints, motion)


__all__ = ["IdleFreedom", "idle_freedoms"]
