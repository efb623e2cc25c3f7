"""Motions that really exist near a position: each direction that goes on to second order is followed for a small step.

The position after the step is closed again by Gauss-Newton. Where that leads back, the motion was none. Where it leads to a
closed position, the freedoms there are those of a branch of motion; branches whose tangent spaces are the same are one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from .closure_equations import ClosureEquations
from .second_order import LocalMotions, continued, local_at, span

STEP = 1e-3  # [rad, or of the typical length]: small against curvature, large against rounding
OPEN = 1e-10  # what a closed position may leave, of lengths and cosines
_SAME = 0.1  # sine of the angle below which two tangent spaces are one
MOST = 8  # directions that are followed


class Branch(NamedTuple):
    """One way to move: a basis (N, d) of its rates at the position, and a closed position on it nearby, with what holds there."""

    tangent: FloatArray
    near: LocalMotions
    tangent_near: FloatArray

    @property
    def freedoms(self) -> int:
        """How many."""
        return self.tangent_near.shape[1]


class FiniteMotions(NamedTuple):
    """What moves at a position: first order, directions that go on, branches with the most freedoms first."""

    local: LocalMotions
    directions: FloatArray
    branches: tuple[Branch, ...]

    @property
    def freedoms(self) -> int:
        """Of the branch that has the most."""
        return max((branch.freedoms for branch in self.branches), default=0)

    @property
    def is_cone(self) -> bool:
        """Whether the directions that go on fill a cone which is no union of planes: then some of a branch's tangents do not."""
        return any(_bent(self.local, branch.tangent) for branch in self.branches)

    @property
    def generic(self) -> tuple[LocalMotions, FloatArray]:
        """A position that is like its neighbours, and its tangent space: that of the first branch, or the position itself."""
        if not self.branches:
            return self.local, self.local.V[:, :0]
        return self.branches[0].near, self.branches[0].tangent_near


def finite_motions(equations: ClosureEquations, x: FloatArray) -> FiniteMotions:
    """The analysis of first and second order at a closed position, and the branches of motion that pass it."""
    local = local_at(equations, x)
    if not local.V.size:
        return FiniteMotions(local, np.zeros((0, 0)), ())
    if not local.found.lost_rows.size:  # as many independent conditions as there are: regular
        return FiniteMotions(local, np.eye(local.V.shape[1]), (Branch(local.V, local, local.V),))
    directions = continued(local)
    branches: list[Branch] = []
    for c in directions[:MOST]:
        branch = _branch(equations, local, c)
        if branch is not None and not any(_same(branch.tangent_near, other.tangent_near) for other in branches):
            branches.append(branch)
    if any(_bent(local, branch.tangent) for branch in branches):
        branches = branches[:1]  # of as many as there are directions, one stands for all
    branches.sort(key=lambda branch: -branch.freedoms)
    return FiniteMotions(local, directions, tuple(branches))


def _branch(equations: ClosureEquations, local: LocalMotions, c: FloatArray) -> Branch | None:
    """The branch that leaves along V c, if there is one."""
    for sign in (1.0, -1.0):
        x = followed(equations, local, sign * c)
        if x is not None:
            near = local_at(equations, x)
            tangent_near = span(near)
            if tangent_near.shape[1]:
                return Branch(_at_the_position(local, c, tangent_near), near, tangent_near)
    return None


def followed(equations: ClosureEquations, local: LocalMotions, c: FloatArray, step: float = STEP) -> FloatArray | None:
    """A closed position one step along V c; None where closing leads back or away."""
    v = local.V @ c
    a = np.linalg.lstsq(local.J, -equations.bias(local.x, v), rcond=1e-9)[0]
    moved = step * v + step**2 / 2.0 * a
    found = equations.nearest(local.x + equations.joint_scale * moved)
    went = (found.x - local.x) / equations.joint_scale
    kept = np.linalg.norm(went - moved) < 0.5 * step
    closed = np.abs(found.residual * equations.row_scale).max(initial=0.0) < OPEN
    return found.x if kept and closed else None


def _at_the_position(local: LocalMotions, c: FloatArray, tangent_near: FloatArray) -> FloatArray:
    """The tangent space of a branch at the position itself: inside the motions of first order there."""
    if tangent_near.shape[1] == 1:
        return local.V @ c[:, None]
    U, _, _ = np.linalg.svd(local.V @ (local.V.T @ tangent_near), full_matrices=False)
    found: FloatArray = U
    return found


def _bent(local: LocalMotions, tangent: FloatArray) -> bool:
    """Whether the forms do not vanish on a tangent space, which is known to the length of a step."""
    C = local.V.T @ tangent
    return bool(np.abs(C.T @ local.forms @ C).max(initial=0.0) > _SAME * local.size)


def _same(A: FloatArray, B: FloatArray) -> bool:
    """Whether two orthonormal bases span the same space."""
    return A.shape == B.shape and float(np.linalg.norm(A - B @ (B.T @ A), 2)) < _SAME


__all__ = ["Branch", "FiniteMotions", "finite_motions", "followed"]
