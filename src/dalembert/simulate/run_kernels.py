"""The compiled integrators of a run, one for each kind of result and each chart, and the rows that their calls share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..codegen.time_loop import TimeLoopKernel
from ..dynamics.system import AnySystem
from . import held_methods
from .events import Occasions
from .integrator import Integrator
from .kept_loops import loop_kernel
from .torques import Torque


class RunKernels:
    """Kernels by what they write and the number of the chart that they are for."""

    def __init__(
        self,
        integrator: type[Integrator],
        torque: Torque,
        occasions: Occasions | None,
        charts: list[Any],
        batch: tuple[int, ...],
    ) -> None:
        self.integrator, self.torque, self.occasions = integrator, torque, occasions
        self.charts, self.batch = charts, batch
        self._kernels: dict[Any, TimeLoopKernel] = {}

    def kernel(self, output: str, chart: int) -> TimeLoopKernel:
        """The compiled integrator; one with a user's function is traced anew, as what it refers to may have changed."""
        if (output, chart) not in self._kernels:
            self._kernels[output, chart] = self._kernel(output, self.charts[chart], math.prod(self.batch) == 1)
        return self._kernels[output, chart]

    def _kernel(self, output: str, system: AnySystem, single: bool) -> TimeLoopKernel:
        kind, occasions = self.torque.kind, self.occasions
        if occasions is None:
            return loop_kernel(
                system,
                "simulate",
                kind,
                (output, single, self.integrator.__name__),
                lambda: TimeLoopKernel(self.integrator(system, kind, output).program(), single=single),
            )

        def make() -> TimeLoopKernel:
            program = held_methods.program(self.integrator, system, kind, output, occasions.happenings(system))
            return TimeLoopKernel(program, single=single)

        key = occasions.key
        return (
            make()
            if key is None
            else loop_kernel(system, "simulate", kind, (output, single, self.integrator.__name__, key), make)
        )

    def rows_for_all(self, count: int) -> list[FloatArray]:
        """Torque rows and inputs, (N, entries) each, or (1, entries) where all share them."""
        torque = self.torque
        found = [self._for_all(torque.values, torque.values.ndim - self._core(), count)]
        if torque.inputs is not None and torque.inputs.fields:
            found.append(self._for_all(torque.inputs.values, len(torque.inputs.batch), count))
        if torque.marks is not None:
            found.append(torque.marks)
        return found if self.occasions is None else [*found, self.occasions.limits[None]]

    def _core(self) -> int:
        """Axes of the torque's values that are not of the batch."""
        return self.torque.values.ndim - len(self.torque.batch) if isinstance(self.torque.kind, str) else 2

    def _for_all(self, values: FloatArray, lead: int, count: int) -> FloatArray:
        if not lead:
            return np.ascontiguousarray(values).reshape(1, -1)
        core = values.shape[lead:]
        return np.ascontiguousarray(np.broadcast_to(values, (*self.batch, *core))).reshape(count, math.prod(core))


__all__ = ["RunKernels"]
