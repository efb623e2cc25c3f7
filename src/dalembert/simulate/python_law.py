"""A controller as Python code: called once for each sample and all motions, compiled code in between.

It is the slow way, for functions that cannot be traced: with branches on values, tables, a trained network. Each call leaves the
compiled loop, so a motion takes some tens of microseconds for each sample beside what the function itself takes.
"""

from __future__ import annotations

from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..errors import DalembertWarning, ShapeError, tell
from ..wording import shown
from .acting_law import ActingLaw
from .laws import InputRows, by_name, held_width
from .sample_times import rows_at
from .sampling import FILL, PUT, TAKE
from .steering import DONE, RUNNING, Fields

CODE = "python-callback"
_AT = Fields(*range(len(Fields._fields)))
_T_END = 2  # its place among the settings


class PythonLaw:
    """The function with what it takes, the times and marks of its samples, and what it has cost so far."""

    def __init__(self, function: Any, law: ActingLaw, numbers: InputRows, signals: InputRows, times: Any, marks: Any) -> None:
        self.function, self.law, self.numbers, self.signals = function, law, numbers, signals
        self.grid, self.marks = times, marks
        self.events = np.flatnonzero(marks.any(axis=-1))
        self.calls, self.inside, self.began = 0, 0.0, perf_counter()

    def follow(self, event: int, q: FloatArray, qd: FloatArray, z: FloatArray, batch: tuple[int, ...]) -> None:
        """Call the function if this time asks for it; states z (N, k) get what is held from now on."""
        held, marks = held_width(self.law), self.marks[event]
        own, n = z[:, z.shape[1] - held :], self.law.held[0].size
        if marks[TAKE] or marks[FILL]:
            wanted = self._called(float(self.grid[event]), q, qd, z, batch)
            if marks[FILL]:
                own[:] = np.tile(wanted, held // n)
            elif held > n:
                own[:, n:] = np.concatenate([wanted, own[:, n:-n]], axis=1)
            else:
                own[:] = wanted
        if marks[PUT] and held > n:
            own[:, :n] = own[:, -n:]

    def _called(self, t: float, q: FloatArray, qd: FloatArray, z: FloatArray, batch: tuple[int, ...]) -> FloatArray:
        points, wanted = (*batch, q.shape[-1]), (*batch, self.law.held[0].size)
        given = [SimpleNamespace(**self._named(t, z, batch))] if self.law.has_arguments else []
        begin = perf_counter()
        returned = self.function(t, q.reshape(points).copy(), qd.reshape(points).copy(), *given)
        self.inside += perf_counter() - begin
        self.calls += 1
        try:
            return np.broadcast_to(np.asarray(returned, dtype=float), wanted).reshape(len(q), wanted[-1])
        except (TypeError, ValueError, RuntimeError):
            found = f"shape {np.shape(returned)}" if isinstance(returned, np.ndarray) else shown(returned)
            option, noun, *_ = self.law.words
            raise ShapeError(
                f"{option}: the function returned {found} at t = {t:g} s; {noun}s of shape {wanted} are expected."
            ) from None

    def _named(self, t: float, z: FloatArray, batch: tuple[int, ...]) -> dict[str, Any]:
        """Inputs, signals and further states by name, as arrays with the batch axes they were given with."""
        found = by_name(self.numbers.fields, self.numbers.values)
        if self.signals.fields:
            row = rows_at(np.array([t]), self.grid, self.signals.values, self.law.between)[..., 0, :]
            found |= by_name(self.signals.fields, row)
        if self.law.integrated:
            found |= by_name(self.law.integrated, z.reshape(*batch, z.shape[-1]))
        return {name: value for name, value in found.items() if name.isidentifier()}

    def tell(self, subject: str) -> None:
        """Say what it has cost, and what would be quicker."""
        whole = perf_counter() - self.began
        tell(
            DalembertWarning(
                f"{subject}: {self.law.words.option} was called as Python code {self.calls} times, which took "
                f"{self.inside:.3g} s of {whole:.3g} s; the compiled loop stops at each sample. Written over scalars with "
                "dalembert.expr.ops, without python=True, it would be compiled into the loop.",
                CODE,
            )
        )


class Segments:
    """A motion with error control from one sample to the next."""

    def __init__(self, law: PythonLaw, t_end: float) -> None:
        self.law, self.ends = law, [*law.grid[law.events[1:]], t_end]
        self.done = 0

    def begin(self, run: Any, motions: Any) -> None:
        """The first sample."""
        self._follow(run, motions)

    def resume(self, run: Any, motions: Any) -> bool:
        """Go on to the next sample, if there is one and any motion has come so far."""
        status = motions.state[:, _AT.status]
        if self.done >= len(self.ends) or not np.any(status == DONE):
            return False
        going = status == DONE
        motions.state[going, _AT.sample] = self.law.events[self.done]  # it begins where the segment before has ended
        motions.state[going, _AT.moved] = 1.0
        self._follow(run, motions)
        status[going] = RUNNING
        return True

    def _follow(self, run: Any, motions: Any) -> None:
        q, qd = run.visible(motions)
        self.law.follow(int(self.law.events[self.done]), q, qd, motions.further[0], run.batch)
        run.settings[0, _T_END] = self.ends[self.done]
        self.done += 1


__all__ = ["PythonLaw", "Segments"]
