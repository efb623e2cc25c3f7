"""The conditions of a mechanism's closures alone, without dimension: what its freedoms are found from.

Lengths are measured in a length L that is typical of the mechanism: y = x / L for a joint that slides, y = x for one that turns,
and conditions on lengths are divided by L. Singular values can then be compared, and do not depend on the unit of length.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..checks import FloatArray
from ..model.position_functions import Component, Distance, JointSum, PositionFunction
from .assembled import Assembled
from .numeric import Nearest, NumericEquations, nearest


class ClosureEquations:
    """The conditions of closures, or those of them that are kept, at positions x of the tree."""

    def __init__(self, assembled: Assembled, kept: Sequence[int] | None = None) -> None:
        self.assembled = assembled
        self.kept = list(range(len(assembled.rows))) if kept is None else list(kept)
        rows = [assembled.rows[k] for k in self.kept]
        self.values = np.array([row.value for row in rows])
        self.size, self.columns = len(rows), assembled.robot.n
        self.raw = NumericEquations(assembled.tree, [row.function for row in rows])
        self.row_scale = np.array([self._unit(row.function) for row in rows])

    def without(self, row: int) -> ClosureEquations:
        """The same without one condition, given by its number among all."""
        return ClosureEquations(self.assembled, [k for k in self.kept if k != row])

    @property
    def names(self) -> list[str]:
        """Closure and condition of each row."""
        return [self.assembled.row_names[k] for k in self.kept]

    @cached_property
    def joint_scale(self) -> FloatArray:
        """L for joints that slide, 1 for those that turn: x = joint_scale · y."""
        joints = self.assembled.robot.structure.coordinates
        return np.array([1.0 if joint.turns else self.assembled.typical_length for joint in joints])

    def _unit(self, function: PositionFunction) -> float:
        """What a condition is multiplied by: 1 / L for a length."""
        if isinstance(function, JointSum):
            slides = not self.assembled.robot.structure.joint(next(iter(function.coefficients))).turns
            return 1.0 / self.assembled.typical_length if slides else 1.0
        return 1.0 / self.assembled.typical_length if isinstance(function, (Component, Distance)) else 1.0

    def jacobian(self, x: FloatArray) -> FloatArray:
        """∂ conditions / ∂y."""
        found: FloatArray = self.row_scale[:, None] * self.raw(x)[1] * self.joint_scale
        return found

    def bias(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """vᵀ H v of each condition for rates v of y, shape (..., N)."""
        found: FloatArray = self.row_scale * self.raw.bias(x, v * self.joint_scale)
        return found

    def nearest(self, x: FloatArray) -> Nearest:
        """The closed positions nearest to x, and what is left open."""
        return nearest(self.raw, self.values, x)


__all__ = ["ClosureEquations"]
