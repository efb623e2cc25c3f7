"""Motions that one call of a compiled integrator takes on together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from .motions import Motions
from .run_kernels import RunKernels


class CallSettings(NamedTuple):
    """What all calls of a run have in common."""

    kernels: RunKernels
    settings: FloatArray
    threads: int | None


class Group(NamedTuple):
    """Motions that one call of a kernel takes on: all of them, or some rows."""

    common: CallSettings
    output: str
    motions: Motions
    wanted: FloatArray
    budget: int
    rows: Any = None

    @property
    def chart(self) -> int:
        """The number of the chart that they are in."""
        return 0 if self.rows is None else int(self.motions.chart[self.rows[0]])

    def run(self, out: list[FloatArray]) -> None:
        """Call the kernel, and keep where the motions are after it."""
        motions, rows = self.motions, self.rows
        given = [motions.state, *motions.vectors]
        if rows is None:
            motions.state, *motions.vectors = self._call(given, out, bool(motions.fresh[:1].any()))
            motions.fresh[:] = 0
            return
        kept = self._call([array[rows] for array in given], out, bool(motions.fresh[rows[0]]))
        for array, new in zip(given, kept, strict=True):
            array[rows] = new
        motions.fresh[rows] = 0

    def _call(self, given: list[FloatArray], out: list[FloatArray], fresh: bool) -> list[FloatArray]:
        kernels, settings, threads = self.common
        kernel, given_rows = kernels.kernel(self.output, self.chart), kernels.rows_for_all(len(self.motions.state))
        settings = settings.copy()
        settings[0, -2:] = min(self.budget, kernel.turns), fresh
        kept = [np.empty(array.shape) for array in given]
        if self.rows is not None:
            given_rows = [rows if len(rows) == 1 else np.ascontiguousarray(rows[self.rows]) for rows in given_rows]
        inputs = [settings, *given, self.wanted, kernels.torque.grid, *given_rows]
        kernel(inputs, [*kept, *out], turns=int(settings[0, -2]), threads=threads)
        return kept


__all__ = ["CallSettings", "Group"]
