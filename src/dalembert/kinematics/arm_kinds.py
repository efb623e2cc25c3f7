"""Which closed form an arm has, from its axes at q = 0: no table of lengths and angles is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.kinematics_functions import forward_kinematics, jacobian
from ..dynamics.system import AnySystem, TreeSystem, solves
from ..errors import ModelError
from ..spatial.vec3 import Vec3, vec3
from .closed_forms import Angles, Solver, all_parallel, arm_across, arm_round, three_joints, three_parallel, with_wrist
from .screw_angles import ScrewAxis

_ALIKE = 1e-7  # of unit vectors, and of lengths by the size of the arm

Place = Callable[[Vec3, Vec3], Iterator[Angles]]
POSE, POSITION = "pose", "position"


class ArmKind(NamedTuple):
    """The closed form of an arm: in words, what of a pose it reaches, the pose at q = 0, and how it is solved."""

    name: str
    reaches: str
    home: FloatArray
    solve: Solver
    branches: int


def arm_kind(system: AnySystem, link: str | None) -> ArmKind:
    """The kind of an arm; arms of other kinds are refused."""
    n, view = engine.size(system), engine.system_of(system)
    if solves(view) or not isinstance(view, TreeSystem):
        raise _unknown(view.name, "it is not an open chain")
    home = np.asarray(forward_kinematics(system, np.zeros(n), link))
    axes = _axes(view.name, home, np.asarray(jacobian(system, np.zeros(n), link)))
    found = _Geometry(axes, vec3(home[:3, 3])).kind()
    if found is None:
        raise _unknown(view.name, f"its {n} axes are neither of a spherical wrist nor parallel as these need")
    name, reaches, solve, branches = found
    return ArmKind(name, reaches, home, solve, branches)


def _unknown(name: str, why: str) -> ModelError:
    return ModelError(
        f"inverse_branches: {name!r} has no closed form that is known here: {why}. Known are six joints with a spherical wrist "
        "or with three parallel axes, planar arms, and arms of three joints. Use dal.inverse_kinematics, from several q0."
    )


def _axes(name: str, home: FloatArray, J: FloatArray) -> list[ScrewAxis]:
    """Directions and points of the joint axes, from the Jacobian at the origin of the frame."""
    axes = []
    for column in J.T:
        v, w = column[:3], column[3:]
        turns = bool(np.linalg.norm(w) > _ALIKE)
        size = np.linalg.norm(w if turns else v)
        if abs(size - 1.0) > _ALIKE:
            raise _unknown(name, "a joint does not move this frame, or several at once")
        axes.append(ScrewAxis(vec3(w if turns else v), vec3(home[:3, 3] + np.cross(w, v)), turns))
    return axes


class _Geometry:
    """Questions about the axes of an arm."""

    def __init__(self, axes: Sequence[ScrewAxis], tool: Vec3) -> None:
        self.axes, self.tool = list(axes), tool
        self.points = [np.array(axis.point) for axis in axes]
        self.directions = [np.array(axis.direction) for axis in axes]
        turning = [p for p, axis in zip(self.points, axes, strict=True) if axis.turns]
        spread = np.array([*turning, tool]) if turning else np.zeros((1, 3))
        self.size = max(float(np.linalg.norm(spread - spread.mean(axis=0), axis=1).max()), 1e-3)

    def kind(self) -> tuple[str, str, Solver, int] | None:
        """Name, what it reaches, the solution and the number of its branches."""
        turning = [axis.turns for axis in self.axes]
        if self._all_parallel():
            count = sum(turning)
            return "parallel axes", POSE if count == 3 else POSITION, all_parallel(self.axes, self.tool), 2
        if len(self.axes) == 6 and all(turning[3:]):
            c = self._meeting_point((3, 4, 5))
            place = None if c is None else self._arm()
            if c is not None and place is not None:
                return "spherical wrist", POSE, with_wrist(self.axes, place, c), 8
            if all(turning) and self._parallel(1, 2) and self._parallel(1, 3) and not self._parallel(0, 1):
                c = self._meeting_point((4, 5))
                if c is not None:
                    return "three parallel axes", POSE, three_parallel(self.axes, c), 8
        if len(self.axes) == 3 and (place := self._arm()) is not None:
            return "three joints", POSITION, three_joints(place, self.tool), 4
        return None

    def _arm(self) -> Place | None:
        """How the first three joints place a point."""
        first, second, third = self.axes[:3]
        if not (first.turns and second.turns):
            return None
        keeps = self._parallel(1, 2) if third.turns else abs(self.directions[1] @ self.directions[2]) < _ALIKE
        if keeps and not self._parallel(0, 1):
            return partial(arm_across, self.axes[:3])
        centre = self._meeting_point((0, 1))
        if third.turns and centre is not None:
            return partial(arm_round, self.axes[:3], centre)
        return None

    def _parallel(self, i: int, j: int) -> bool:
        return bool(np.linalg.norm(np.cross(self.directions[i], self.directions[j])) < _ALIKE)

    def _all_parallel(self) -> bool:
        turning = [axis.turns for axis in self.axes]
        return 2 <= sum(turning) <= 3 and turning.count(False) <= 1 and all(self._parallel(0, k) for k in range(len(self.axes)))

    def _meeting_point(self, which: Sequence[int]) -> Vec3 | None:
        """The point that axes have in common; None if they have none, or if neighbours are parallel."""
        if any(self._parallel(i, j) for i, j in pairwise(which)):
            return None
        A = [np.eye(3) - np.outer(self.directions[k], self.directions[k]) for k in which]
        b = [M @ self.points[k] for M, k in zip(A, which, strict=True)]
        found = np.linalg.lstsq(np.concatenate(A), np.concatenate(b), rcond=None)[0]
        off = max(float(np.linalg.norm(M @ found - p)) for M, p in zip(A, b, strict=True))
        return vec3(found) if off < _ALIKE * self.size else None


__all__ = ["POSE", "POSITION", "ArmKind", "arm_kind"]
