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
from .sloped_interpolant import SlopedInterpolant


class HeldDop853(HeldIntegrator, Dop853):
    """Its last stage is at the end of the step, and its first one at the start: nothing is to be added."""


class HeldAdams(SlopedInterpolant, Adams):
    """It corrects and looks at the end of the step; after an event it begins anew, with order 1."""


class HeldRosenbrock(SlopedInterpolant, Rosenbrock):
    """One more look, at the end of the step, and a Jacobian of the motion in which some coordinates are held."""

    looks = Rosenbrock.looks + 1

    def _reach(self) -> list[Step]:
        """A look at the end of the step; the slope found there is that at the start of the next one."""
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
        width = self.slopes.size // self.width
        through = self.held.through_rows(self.at, self.qdd, [self.K, self.D], self.slopes, width)
        if through:  # what is zero by structure in one row need not be in another
            columns = [any(self.pattern[j : self.n * width : width]) for j in range(width)]
            self.pattern[: self.n * width] = columns * self.n
        cells = [self.M, self.K, self.D, self.slopes]
        steps += through
        return [*steps, *self.make.once(self._cleared, [self.mode, *cells], cells)]

    def _cleared(self, mode: list[Any], M: list[Any], K: list[Any], D: list[Any], slopes: list[Any]) -> list[list[Any]]:
        n, width, own = self.n, len(slopes) // self.width, self.happenings.axes.own
        for i in (i for i, held in enumerate(self.happenings.held[:own]) if held):
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
