"""What closures hold between two bodies taken by themselves, and the count of freedoms that follows from it alone.

The count of Gruebler and Kutzbach takes every closure for independent of the others: freedoms of all joints, less d for each
loop, where d = 6, or 3 if all bodies move in parallel planes. Written over a tree, it is the number of its joints less what each
closure holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..algorithms.position_rows import Positions, evaluated
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..model.closures import Closure
from .assembled import Assembled
from .numeric import rank_of
from .reactions import in_world

_PARALLEL = 1e-9
ALL = np.eye(6)


class FreedomCount(NamedTuple):
    """Freedoms counted in a space of 3 or of 6 dimensions, and what was counted."""

    freedoms: int
    dimension: int
    joints: int
    held: int


def counts(assembled: Assembled, x: FloatArray) -> tuple[FreedomCount, FreedomCount]:
    """The count in the space where the mechanism moves, and that in space; the same twice for one that is not planar."""
    at = Positions(Unrolled(assembled.tree), x.tolist())
    return _count(assembled, at, directions_of(at)), _count(assembled, at, ALL)


def _count(assembled: Assembled, at: Positions, directions: FloatArray) -> FreedomCount:
    held = sum(held_by(at, closure, directions) for closure in assembled.closures)
    return FreedomCount(assembled.robot.n - held, len(directions), assembled.robot.n, held)


def directions_of(at: Positions) -> FloatArray:
    """The velocities, then angular velocities, that bodies have: three in a plane, else all six."""
    normal = plane_of(at)
    if normal is None:
        return ALL
    found = np.zeros((3, 6))
    found[:2, :3], found[2, 3:] = np.linalg.svd(normal[None])[2][1:], normal
    return found


def held_by(at: Positions, closure: Closure, directions: FloatArray) -> int:
    """How many motions of its two links against each other a closure holds, of those in these directions."""
    if not closure.links:
        return len(closure.rows)
    return rank_of(_wrenches(at, closure) @ directions.T).rank


def _wrenches(at: Positions, closure: Closure) -> FloatArray:
    """Force and moment about the world's origin of each condition, on one of its links."""
    first, second = (at.place(link).segment for link in closure.links)
    segment = second if second >= 0 else first
    found = np.zeros((len(closure.rows), 6))
    for k, row in enumerate(closure.rows):
        value = evaluated(at, row.function)
        for push in value.pushes:
            if push.segment == segment:
                f, m, p = in_world(at, value, push)
                found[k] += np.array([*f, *(m + p.cross(f))], dtype=float)
    return found


def plane_of(at: Positions) -> FloatArray | None:
    """The normal of the planes in which all segments move, if they do: joints turn about it, and slide at right angles to it."""
    axes = np.array([[*at.pose(k, -1).R.third] for k in range(len(at.tree.segments))], dtype=float).reshape(-1, 3)
    turns = np.array([bool(s.turn) for s in at.tree.segments], dtype=bool)
    if turns.any():
        normal = axes[turns][0]
    else:
        found = np.linalg.svd(axes)
        if not axes.size or np.sum(found[1] > _PARALLEL) > 2:
            return None
        normal = found[2][-1]
    along = np.abs(axes @ normal)
    planar = np.where(turns, np.abs(along - 1.0) < _PARALLEL, along < _PARALLEL)
    return normal if planar.all() else None


__all__ = ["FreedomCount", "counts", "directions_of", "held_by"]
