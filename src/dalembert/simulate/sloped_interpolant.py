"""Interpolants that begin with the slope of the motion, where events are looked for on them [theory: simulation, Eq. 28].

Where a joint has just left its stop, or begun to slide, the event is at the start of the step itself; an interpolant that is off
by a little there would find it again, and again.
"""

from __future__ import annotations

from typing import Any

from ..expr import ops
from ..expr.loops import Step
from .held_loop import HeldIntegrator


class SlopedInterpolant(HeldIntegrator):
    """x (1 − x)² c is added to what the method beside it supplies: zero at both ends, with its slope at the second.

    In stiff motions the slopes of velocities and of further states at the start are those of small errors that die out at once,
    so c is held within the tolerance there. The slope of a position is its velocity, which is no such thing.
    """

    def _interpolant(self) -> list[Step]:
        o, h, further = self.options, self.work.step, self.further
        steps = [*super()._interpolant(), *self.make.each(self.n, _sloped, [h, self.v, *self.Fq[:3]], self.Fq[1:3])]
        parts = [(self.n, self.v, self.Kv[0], self.Fv)]
        parts += [(further.size, further.z, further.K[0], further.F)] if further.size else []
        for size, y, slope, F in parts:
            steps += self.make.each(size, _sloped_within, [o.rtol, o.atol, y, h, slope, *F[:3]], F[1:3])
        return steps


def _sloped(h: Any, slope: Any, delta: Any, F1: Any, F2: Any) -> list[Any]:
    """The second and third coefficient; the first two are the slope at the start."""
    c = h * slope - (delta + F1)
    return [F1 + c, F2 - c]


def _sloped_within(rtol: Any, atol: Any, y: Any, h: Any, slope: Any, delta: Any, F1: Any, F2: Any) -> list[Any]:
    """The same, as far as the tolerance lets it."""
    most = atol + rtol * ops.maximum(abs(y), abs(y + delta))
    c = ops.minimum(ops.maximum(h * slope - (delta + F1), -most), most)
    return [F1 + c, F2 - c]


__all__ = ["SlopedInterpolant"]
