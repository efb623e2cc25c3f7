"""All steps of a rollout: call after call of its kernel; a mechanism goes on in other coordinates where its own do not do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen.time_loop import TimeLoopKernel
from .python_law import PythonLaw

_CALLS = 50  # time is cut into about as many pieces when progress is to be told
_STEP = 0  # its place among the counters


class HeldSamples(NamedTuple):
    """How many of the last states a sampled law holds, and what calls it if it is Python code."""

    held: int
    callback: PythonLaw | None
    batch: tuple[int, ...]

    def cuts(self) -> list[int]:
        """Steps before which a call has to end; after the first one it is known what is held in it."""
        return [1, *([] if self.callback is None else self.callback.events.tolist())]


class TreeRows(NamedTuple):
    """Positions of a mechanism's tree and their rates, a row for each of the results."""

    x: FloatArray
    xd: FloatArray


class Together(NamedTuple):
    """Motions that one call takes on: all (None) or some rows, from which step on, in which chart, and whether they ever left
    the coordinates of the system.
    """

    rows: Any
    step: int
    chart: int
    left: bool


class RolloutRun:
    """The motions of a rollout, and what its calls share.

    A motion of a mechanism waits where its coordinates are about to stop telling its positions, and goes on in others, as in
    `simulate`; `tree` then has positions and rates of all motions at all rows.
    """

    def __init__(
        self,
        system: Any,
        kernel: Callable[..., TimeLoopKernel],
        settings: FloatArray,
        start: tuple[Any, ...],
        results: list[FloatArray],
        threads: int | None,
    ) -> None:
        q, qd, p, self.given, *solved = (x for x in start if x is not None)
        self.system, self.settings, self.results, self.threads = system, settings, results, threads
        self.state = [np.ascontiguousarray(np.broadcast_to(x, (len(q), x.shape[1]))) for x in (q, qd, p, *solved)]
        self.start = self.state[3:4]  # positions, where they are solved for
        self.count, self.single, self.every = len(q), len(q) == 1, int(settings[0, 2])
        self.kernel, self.loop = kernel, kernel(system, single=self.single, placed=False)
        self.watched = self.loop.program.outputs[-1].name == "counters_end"
        self.charts: list[Any] = [system]
        self.chart, self.left = np.zeros(self.count, int), np.zeros(self.count, bool)
        self.tree: TreeRows | None = None
        results[0][:, 0], results[1][:, 0] = q, qd
        if len(results) > 2:
            results[2][:, 0] = solved[-1]  # further states stand last

    def steps(self, count: int, progress: Callable[[float], None] | None, samples: HeldSamples | None) -> None:
        """All of them; in several calls that hand on the state, where somebody wants to know how far they are, and where a
        motion takes so long that a Ctrl-C would have to wait.
        """
        chunk = min(max(1, -(-count // self.every // _CALLS)) * self.every if progress else max(count, 1), self.loop.turns)
        cuts = [*range(0, count, chunk), count]
        if samples is not None:
            cuts = sorted({*cuts, *(cut for cut in samples.cuts() if cut < count)})
        for first, following in pairwise(cuts):
            if samples is not None and samples.callback is not None and first in samples.callback.events:
                self._follow(samples.callback, first, samples.batch)
            self._advance(first, following)
            if samples is not None and first == 0:
                self.results[2][:, 0, -samples.held :] = self.state[-1][:, -samples.held :]
            if progress:
                progress(following / count)
        if self.tree is not None:
            self._tell_all(self.tree)

    def _follow(self, callback: PythonLaw, step: int, batch: tuple[int, ...]) -> None:
        """What is due before a step is Python code, which sees the coordinates of the user."""
        self.state[-1] = self.state[-1].copy()
        q, qd = self.state[:2]
        for k in np.unique(self.chart[self.chart > 0]):
            rows = self.chart == k
            q, qd = q.copy(), qd.copy()
            q[rows], qd[rows] = self.charts[k].moved_at(q[rows], qd[rows], self.state[3][rows])[:2]
        callback.follow(step, q, qd, self.state[-1], batch)

    def _advance(self, first: int, following: int) -> None:
        """From one step to another, all motions."""
        step, last = np.full(self.count, first), np.full(self.count, -1)
        while (step < following).any():
            for together in self._groups(step, following):
                self._call(together, following, step)
            for k in np.flatnonzero(step < following):
                self._change(int(k), int(step[k]), lost=step[k] == last[k])
            last = step.copy()

    def _groups(self, step: Any, following: int) -> Iterator[Together]:
        """Motions that can go on in one call: at the same step, in the same coordinates."""
        keys = np.stack([step, self.chart, self.left], axis=1)
        todo = step < following
        if todo.all() and (keys == keys[:1]).all() and self.count:
            yield Together(None, int(step[0]), int(self.chart[0]), bool(self.left[0]))
            return
        for key in np.unique(keys[todo], axis=0):
            yield Together(np.flatnonzero(todo & (keys == key).all(axis=1)), int(key[0]), int(key[1]), bool(key[2]))

    def _call(self, together: Together, following: int, step: Any) -> None:
        rows, first, chart, left = together
        loop = self.kernel(self.charts[chart], single=self.single, placed=True) if left else self.loop
        counters = np.array([[float(first), 1.0 + first // self.every, float(first % self.every), float(following - first)]])
        placed = list(self.tree) if left and self.tree is not None else []

        def own(array: FloatArray) -> FloatArray:
            return array if rows is None or len(array) == 1 < self.count else np.ascontiguousarray(array[rows])

        out, state = [own(array) for array in (*self.results, *placed)], [own(array) for array in self.state]
        size = self.count if rows is None else len(rows)
        ends = [np.empty((size, array.shape[1])) for array in (*state, *([counters] if self.watched else []))]
        inputs = [self.settings, counters, *state[:3], *map(own, self.given), *state[3:]]
        loop(inputs, [*out, *ends], turns=following - first, threads=self.threads)
        at = slice(None) if rows is None else rows
        step[at] = ends.pop()[:, _STEP].astype(int) if self.watched else following
        if rows is None:
            self.state = ends
            return
        for array, new in zip([*self.results, *placed, *self.state], [*out, *ends], strict=True):
            array[rows] = new

    def _change(self, k: int, step: int, *, lost: bool) -> None:
        """A motion that waits goes on in other coordinates; one that is `lost` there, too, is no number any more."""
        q, qd, _, x = (array[k] for array in self.state[:4])
        if lost:
            q[:] = np.nan
            return
        chart, q[:], qd[:] = self.charts[self.chart[k]].chart_at(x, qd)
        if all(chart is not known for known in self.charts):
            self.charts.append(chart)
        self.chart[k] = next(i for i, known in enumerate(self.charts) if known is chart)
        if self.tree is None:
            shape = (*self.results[0].shape[:2], x.shape[-1])
            self.tree = TreeRows(np.full(shape, np.nan), np.full(shape, np.nan))
        if not self.left[k]:
            self.left[k] = True
            self._tell(self.tree, np.array([k]), 1 + step // self.every)

    def _tell(self, tree: TreeRows, rows: Any, until: int) -> None:
        """Positions and rates of motions at their first rows, where the coordinates of the system tell them."""
        q, qd = (array[rows, :until] for array in self.results[:2])
        x = self.system.assemble(q, near=self.start[0][rows], continuous=True).x
        tree.x[rows, :until], tree.xd[rows, :until] = self.system.moved_at(q, qd, x)[2:]

    def _tell_all(self, tree: TreeRows) -> None:
        """The same for motions that never left these coordinates."""
        rows = np.flatnonzero(~self.left)
        if len(rows):
            self._tell(tree, rows, tree.x.shape[1])


__all__ = ["HeldSamples", "RolloutRun"]
