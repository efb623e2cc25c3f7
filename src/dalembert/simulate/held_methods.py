"""The adaptive methods with events: each supplies its steps to `HeldIntegrator`, and what else events ask of it."""

from __future__ import annotations

from typing import Any

from ..dynamics.system import AnySystem
from ..expr import ops
from ..expr.loops import LoopProgram, Step
from .adams import Adams
from .dop853 import Dop853
from .happenings import Happenings
from .held_loop import HeldIntegrator
from .integrator import Integrator
from .laws import TorqueLaw
from .rosenbrock import Rosenbrock


class HeldDop853(HeldIntegrator, Dop853):
    """Its last stage is at the end of the step, and its first one at the start: nothing is to be added."""


class SlopedInterpolant(HeldIntegrator):
    """An interpolant that begins with the slope at the start of the step.

    Where a joint has just left its stop, or begun to slide, the event is at the start itself; an interpolant that is off by a
    little there would find it again, and again. x (1 − x)² c is added, which is zero with its slope at the end. In stiff
    motions slopes of velocities and of further states are those of what dies out at once: c is within the tolerance there.
    """

    def _interpolant(self) -> list[Step]:
        o, further = self.options, self.further
        steps = super()._interpolant()
        cells = [self.work.step, self.v, *self.Fq[:3]]
        steps += self.make.each(self.n, _sloped, cells, self.Fq[1:3])
        parts = [(self.n, self.v, self.Kv[0], self.Fv)] + (
            [(further.size, further.z, further.K[0], further.F)] if further.size else []
        )
        for size, y, slope, F in parts:
            steps += self.make.each(size, _sloped_within, [o.rtol, o.atol, y, self.work.step, slope, *F[:3]], F[1:3])
        return steps


def _sloped(h: Any, slope: Any, delta: Any, F1: Any, F2: Any) -> list[Any]:
    c = h * slope - (delta + F1)
    return [F1 + c, F2 - c]


def _sloped_within(rtol: Any, atol: Any, y: Any, h: Any, slope: Any, delta: Any, F1: Any, F2: Any) -> list[Any]:
    most = atol + rtol * ops.maximum(abs(y), abs(y + delta))
    c = ops.minimum(ops.maximum(h * slope - (delta + F1), -most), most)
    return [F1 + c, F2 - c]


class HeldAdams(SlopedInterpolant, Adams):
    """It corrects and looks at the end of the step; after an event it begins anew, with order 1."""


class HeldRosenbrock(SlopedInterpolant, Rosenbrock):
    """One more look, at the end of the step, and a Jacobian of the motion in which some coordinates are held."""

    looks = Rosenbrock.looks + 1

    def _reach(self) -> list[Step]:
        make, last, further = self.make, self.last, self.further
        end = make.each(self.n, lambda q, v: [q, v, v], [self.new_q, self.new_v], [self.at.q, self.at.qd, self.Kq[last]])
        keep = make.each(self.n, lambda a: [a], [self.qdd], [self.Kv[last]])
        if further.size:
            end += make.each(further.size, lambda z: [z], [further.new], [further.at])
            keep += make.each(further.size, lambda z: [z], [further.rate], [further.K[last]])
        if self.plant.solved:
            keep += make.once(lambda xd: [xd], [self.plant.xd], [self.Kx[last]])
        return [*self._clock(1.0), *end, *self.slope, *keep]

    def _linearise(self) -> list[Step]:
        """Rows of coordinates that are held say that their velocities stay."""
        steps = super()._linearise()
        cells = [self.M, self.K, self.D, self.slopes]
        return [*steps, *self.make.once(self._cleared, [self.mode, *cells], cells)]

    def _cleared(self, mode: list[Any], M: list[Any], K: list[Any], D: list[Any], slopes: list[Any]) -> list[list[Any]]:
        n, width = self.n, len(slopes) // self.width
        for i in (i for i, held in enumerate(self.happenings.held) if held):
            for j in range(n):
                K[n * i + j], D[n * i + j] = (ops.where(mode[i], x[n * i + j], 0.0) for x in (K, D))
                M[n * i + j] = M[n * i + j] if i == j else ops.where(mode[i], M[n * i + j], 0.0)
            for j in range(width * i, width * (i + 1)):
                slopes[j] = ops.where(mode[i], slopes[j], 0.0) if self.pattern[j] else slopes[j]
        return [M, K, D, slopes]


WITH_EVENTS: dict[type[Integrator], type[HeldIntegrator]] = {
    Dop853: HeldDop853,
    Adams: HeldAdams,
    Rosenbrock: HeldRosenbrock,
}


def program(
    method: type[Integrator], system: AnySystem, torque: str | TorqueLaw, output: str, happenings: Happenings
) -> LoopProgram:
    """The loop of a method for a system with events."""
    return WITH_EVENTS[method](system, torque, output, happenings).program()


__all__ = ["program"]
