"""Charts: the coordinates in which a motion of a mechanism is integrated, where those of the user stop to tell its positions.

A four-bar whose rocker is the coordinate has dead points: there the rocker rests and the crank goes on. The motion is then
continued in other coordinates u, joints that are independent at that place, while torques and results stay those of the user's
coordinates y = f(x): with B = ∂y/∂u = f_x G, a torque τ at y is Bᵀ τ at u [Freeman, Eq. 3-35]. B is finite at a dead point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..algorithms.position_rows import Positions, Value, evaluated
from ..algorithms.sweep import Unrolled
from ..checks import FloatArray
from ..codegen import Kernel
from ..dynamics.system import AS_IT_IS, Reading, Recipe, Request
from ..expr.loops import LoopProgram
from ..spatial.sparse_lu import factor
from . import assembly_program, recipes
from .assembled import Assembled
from .numeric import rank_of, telling_joints

GOOD = 0.3  # of the pivots at a chart's seed: where a chart is entered again
AS_GOOD = 0.3  # of the best smallest singular value: with that, the user's own coordinates are kept


@dataclass(frozen=True, eq=False)
class Chart(Assembled):
    """A mechanism in coordinates for a part of a motion, with forces and results in those of the original."""

    original: Any = field(default=None, kw_only=True)

    @cached_property
    def kernels(self) -> dict[Any, Any]:
        """Its kernels, not compared, copied or pickled with it."""
        return {}

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """As that of a mechanism; forward dynamics takes forces at the original's coordinates."""
        found = recipes.recipe(self, request, reading)
        if request.quantity != "forward_dynamics":
            return found

        def function(u: Any, ud: Any, tau: Any, *extra: Any) -> Any:
            return found.function(u, ud, self.pulled_back(u, tau), *extra)

        return found._replace(function=function)

    def mapped(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        """The recipe of the tree beneath, its results changed by their rules."""
        return recipes.mapped(self, request, reading)

    def _seen(self, x: Any, xd: Any = None) -> list[Value]:
        at = Positions(Unrolled(self.tree), x, xd)
        return [evaluated(at, chosen.function) for chosen in self.original.coordinates]

    def pulled_back(self, u: Any, tau: Any) -> list[Any]:
        """Bᵀ τ, by the forces at the joints of the tree that do the same work."""
        closed = self.state(u)
        at_joints: list[Any] = [0.0] * self.tree.n
        for value, force in zip(self._seen(closed.x), tau, strict=True):
            for k, entry in value.row.items():
                at_joints[k] = at_joints[k] + entry * force
        return closed.forces(at_joints)

    def visible(self, q: Any, qd: Any) -> tuple[Any, Any]:
        """The original's coordinates and their rates."""
        closed = self.state(q)
        xd = closed.rates(qd)
        seen = self._seen(closed.x)
        return [value.value for value in seen], [sum((e * xd[k] for k, e in value.row.items()), 0.0) for value in seen]

    def completed(self, kernel: Kernel) -> Kernel:
        """Kernels of a chart take the positions as an input."""
        return kernel

    def positions_at(self, q: Any) -> Any:
        """Not found here: a motion enters a chart with its positions."""
        raise AssertionError("a chart is entered with positions")

    def tracker(self) -> LoopProgram:
        """From q and positions of a moment ago, the positions and the least pivot."""
        return assembly_program.tracker(self.setting)

    def chart_at(self, x: FloatArray, qd: FloatArray) -> tuple[Assembled, FloatArray, FloatArray]:
        """The chart to go on in."""
        return change(self, self.original, x, qd)

    def of_another(self, original: Any, x: FloatArray) -> Chart:
        """A chart of another mechanism with the same joints, in the same coordinates, that is good at these positions."""
        known = (chart for chart in original.charts if chart.joint_names == self.joint_names and _least_pivot(chart, x) > GOOD)
        return next(known, None) or _new(original, self.coordinates, x)


def change(leaving: Assembled, original: Any, x: FloatArray, qd: FloatArray) -> tuple[Assembled, FloatArray, FloatArray]:
    """A chart that is good at these positions, with coordinates and rates in it."""
    goal = np.concatenate([np.zeros(len(leaving.rows)), qd])
    xd = np.linalg.lstsq(leaving.equations(x)[1], goal, rcond=None)[0]
    chart = next((known for known in (original, *original.charts) if _least_pivot(known, x) > GOOD), None)
    chart = chart or _new(original, _coordinates(original, x), x)
    F, J = chart.equations(x)
    k = len(chart.rows)
    return chart, F[k:], J[k:] @ xd


def _new(original: Any, coordinates: Any, x: FloatArray) -> Chart:
    """A chart that is entered at these positions, kept with its mechanism."""
    elements = {"springs": original.springs, "dampers": original.dampers}
    chart = Chart(original.name, original.robot, original.closures, coordinates, x, **elements, original=original)
    original.charts.append(chart)
    return chart


def _least_pivot(chart: Assembled, x: FloatArray) -> float:
    """As the tracker tells it, at one place."""
    J, structure = chart.equations(x)[1], chart.equations.structure
    with np.errstate(all="ignore"):
        pivots = factor([{k: float(J[i, k]) for k in columns} for i, columns in enumerate(structure)], chart.plan).pivots
    return min(abs(pivot) / usual for pivot, usual in zip(pivots, chart.setting.pivots, strict=True))


def _coordinates(original: Assembled, x: FloatArray) -> Any:
    """The original's own if they tell the positions here nearly as well as any, else the joints that tell them best."""
    J = original.equations(x)[1]
    held = rank_of(J[: len(original.rows)])
    free = held.lost_columns  # one row for each freedom
    order = telling_joints(free)
    joints = np.eye(J.shape[1])[order]
    best = np.linalg.svd(joints @ free.T, compute_uv=False)[-1]
    own = np.linalg.svd(J[len(original.rows) :] @ free.T, compute_uv=False)[-1]
    if own > AS_GOOD * best:
        return original.coordinates
    return tuple(original.robot.joint_names[k] for k in sorted(order))


__all__ = ["Chart", "change"]
