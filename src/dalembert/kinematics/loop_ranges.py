"""Ranges of joints within loops, which are no coordinates: what they are beyond of, and how that changes, over scalars."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dynamics import engine
from ..dynamics.system import AnySystem, ranged_beside
from ..expr import ops


class BeyondRanges(NamedTuple):
    """How far joints are beyond their ranges [rad | m], above zero at the upper end; and the rows of what would bring them back,
    zero where they are within.
    """

    gaps: list[Any]
    rows: list[list[Any]]

    @property
    def largest(self) -> Any:
        """Of all joints."""
        found: Any = 0.0
        for gap in self.gaps:
            found = ops.maximum(found, ops.absolute(gap))
        return found


class LoopRanges:
    """The joints of a system that have ranges beside its coordinates."""

    def __init__(self, system: AnySystem) -> None:
        self.view: Any = engine.system_of(system)
        found = ranged_beside(self.view)
        self.which = [k for k, _ in found]
        self.turning = [axis.turns for _, axis in found]

    def beyond(self, q: Any, lower: Any, upper: Any) -> BeyondRanges:
        """At coordinates, with the positions in use."""
        if not self.which:
            return BeyondRanges([], [])
        x, rows = self.view.rows_beside(q)
        gaps = [
            ops.maximum(x[k] - high, 0.0) + ops.minimum(x[k] - low, 0.0)
            for k, low, high in zip(self.which, lower, upper, strict=True)
        ]
        outside = [ops.less(0.0, ops.absolute(gap)) for gap in gaps]
        return BeyondRanges(gaps, [[ops.where(out, g, 0.0) for g in rows[k]] for k, out in zip(self.which, outside, strict=True)])


__all__ = ["BeyondRanges", "LoopRanges"]
