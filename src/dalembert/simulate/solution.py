"""What an integration gives back: times, states, how it went, and the motion in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..codegen.arguments import real
from ..errors import ShapeError
from .results import MotionResult
from .standing import StandingTimes
from .steering import DONE, ENDED, NOT_FINITE, TOO_MANY, TOO_SMALL
from .torques import Torque

MESSAGES = {
    DONE: "The end of the interval was reached.",
    ENDED: "A terminal event ended the motion.",
    TOO_SMALL: "The step became as small as the spacing of numbers: the motion is singular or the tolerance out of reach.",
    NOT_FINITE: "The motion left the finite numbers. Look at the torque and the initial state.",
    TOO_MANY: "The number of steps reached max_steps. Allow more or a looser tolerance.",
}
STIFF = "Stability bounds the steps, not accuracy, so the motion is stiff: try method='rosenbrock'."


class Pieces(NamedTuple):
    """Interpolants in several coordinates: the chart of each step, the charts, and state and positions where steps begin."""

    chart: Any
    charts: tuple[Any, ...]
    q: FloatArray
    qd: FloatArray
    x: FloatArray

    def shown(self, step: Any, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The coordinates of the system at points of steps, given in the charts of the steps."""
        q, qd = q.copy(), qd.copy()
        for k in np.unique(self.chart[step]):
            if k:  # the first is the system itself
                rows = self.chart[step] == k
                q[rows], qd[rows] = self.charts[k].moved_at(q[rows], qd[rows], self.x[step[rows]])[:2]
        return q, qd

    def tree(self, step: Any, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions and their rates at the same points."""
        x, xd = (np.empty((*q.shape[:-1], self.x.shape[-1])) for _ in range(2))
        for k in np.unique(self.chart[step]):
            rows = self.chart[step] == k
            x[rows], xd[rows] = self.charts[k].moved_at(q[rows], qd[rows], self.x[step[rows]])[2:]
        return x, xd


class Starts(NamedTuple):
    """Where steps begin, as velocities may jump between them, and how long each was before an event cut it."""

    q: FloatArray
    qd: FloatArray
    lengths: FloatArray
    z: FloatArray | None = None


def starts_among(rows: list[FloatArray], further: bool) -> tuple[list[FloatArray], Starts]:
    """What a kernel with events writes for dense output: the rows that others write too, and where steps begin."""
    *common, reach, z = rows if further else [*rows, rows[-1]]
    return common, Starts(common[2], common[3], reach[:, 0], z if further else None)


@dataclass(frozen=True, eq=False)
class Solution:
    """A motion at any time of its interval, by the interpolant of its method.

    It has order 7 for DOP853, 4 for Rodas5P, and the order of each step for Adams.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    coefficients: tuple[FloatArray, ...]
    pieces: Pieces | None = None
    z: FloatArray | None = None
    starts: Starts | None = None

    def __repr__(self) -> str:
        return brief(self, "coefficients", "pieces", "z", "starts")

    def __call__(self, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """q and qd at times of shape (...), each of shape (..., n)."""
        times = real("t", t, "(...)")
        if times.size and not (times.min() >= self.t[0] and times.max() <= self.t[-1]):
            raise ShapeError(f"t: outside of the solution, which goes from {self.t[0]} to {self.t[-1]} s.")
        return self.states(times)[:2]

    def states(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """q, qd and further states side by side, if there are any, at times of the interval."""
        if len(self.t) < 2:  # no step was taken: the motion is where it began
            q, qd = (np.broadcast_to(y[0], (*times.shape, y.shape[-1])) for y in (self.q, self.qd))
            return q, qd, None if self.z is None else np.full((*times.shape, self.z.shape[-1]), np.nan)
        begin = (self.q, self.qd) if self.starts is None else (self.starts.q, self.starts.qd)
        return states_in(*self._places(times), begin, self.coefficients, self.pieces, self.z)

    def tree(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions of a mechanism's tree and their rates at times of the interval, where they are solved for."""
        assert self.pieces is not None
        if len(self.t) < 2:
            x, xd = np.full((2, *times.shape, self.pieces.x.shape[-1]), np.nan)
            return x, xd
        return tree_in(*self._places(times), self.coefficients, self.pieces)

    def _places(self, times: FloatArray) -> tuple[Any, FloatArray]:
        """The step of each time, and the share of it that has passed."""
        step = np.clip(np.searchsorted(self.t, times, side="left") - 1, 0, len(self.t) - 2)
        length = self.t[step + 1] - self.t[step] if self.starts is None else self.starts.lengths[step]
        return step, ((times - self.t[step]) / length)[..., None]

    def ends(self, times: FloatArray) -> FloatArray:
        """The ends of the steps together with other times, in order."""
        return np.union1d(self.t, times[times <= self.t[-1]])


def states_in(
    step: Any, x: Any, begin: tuple[FloatArray, ...], F: tuple[FloatArray, ...], pieces: Pieces | None, z: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """States at shares x of steps, from where these begin and the coefficients of their interpolants."""
    q, qd = _on_steps(step, x, begin, F) if pieces is None else pieces.shown(step, *_on_steps(step, x, (pieces.q, pieces.qd), F))
    return q, qd, None if z is None else z[step] + _interpolated(F[2][step], x)


def tree_in(step: Any, x: Any, F: tuple[FloatArray, ...], pieces: Pieces) -> tuple[FloatArray, FloatArray]:
    """Positions and their rates at shares x of steps."""
    return pieces.tree(step, *_on_steps(step, x, (pieces.q, pieces.qd), F))


def _on_steps(step: Any, x: Any, begin: Sequence[FloatArray], F: tuple[FloatArray, ...]) -> tuple[FloatArray, FloatArray]:
    q, qd = (y[step] + _interpolated(f[step], x) for y, f in zip(begin, F[:2], strict=True))
    return q, qd


@dataclass(frozen=True, eq=False)
class BatchSolution:
    """A batch of motions at any time of their interval, each by the interpolants of its own steps.

    All steps are in one row, motion by motion: `first[k]` is the first one of motion k, and `t` has where each begins and ends.
    """

    batch: tuple[int, ...]
    first: Any
    t: FloatArray
    q: FloatArray
    qd: FloatArray
    coefficients: tuple[FloatArray, ...]
    interval: tuple[float, float]
    pieces: Pieces | None = None
    z: FloatArray | None = None
    lengths: FloatArray | None = None

    def __repr__(self) -> str:
        return f"BatchSolution(batch={self.batch}, steps={len(self.t)}, n={self.q.shape[-1]})"

    def __call__(self, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """q and qd at times of shape (...), the same for all motions: the axes of the batch, those of t, then n.

        NaN where a motion ended before.
        """
        times = real("t", t, "(...)")
        if times.size and not (times.min() >= self.interval[0] and times.max() <= self.interval[1]):
            raise ShapeError(f"t: outside of the solution, which goes from {self.interval[0]} to {self.interval[1]} s.")
        found = self.states(np.broadcast_to(times.ravel(), (*self.batch, times.size)))[:2]
        return tuple(y.reshape(*self.batch, *times.shape, y.shape[-1]) for y in found)  # type: ignore[return-value]

    def states(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """q, qd and further states, if there are any, at times (..., P) of each motion."""
        if not len(self.t):
            return *(np.full((*times.shape, y.shape[-1]), np.nan) for y in (self.q, self.qd)), None  # type: ignore[return-value]
        step, share, lost = self._places(times)
        found = states_in(step, share, (self.q, self.qd), self.coefficients, self.pieces, self.z)
        return tuple(None if y is None else np.where(lost, np.nan, y) for y in found)  # type: ignore[return-value]

    def tree(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions of trees and their rates at times (P,), or (..., P) of each motion, where they are solved for."""
        assert self.pieces is not None
        times = np.broadcast_to(times, (*self.batch, times.shape[-1]))
        if not len(self.t):
            x = np.full((*times.shape, self.pieces.x.shape[-1]), np.nan)
            return x, x
        step, share, lost = self._places(times)
        x, xd = (np.where(lost, np.nan, y) for y in tree_in(step, share, self.coefficients, self.pieces))
        return x, xd

    def _places(self, times: FloatArray) -> tuple[Any, FloatArray, Any]:
        """The step of each motion at its times, the share of it that has passed, and whether the motion had ended by then."""
        step, lost = self._steps(times)
        begin, end = np.moveaxis(self.t[step], -1, 0)
        length = end - begin if self.lengths is None else self.lengths[step]
        return step, ((times - begin) / length)[..., None], lost[..., None]

    def _steps(self, times: FloatArray) -> tuple[Any, Any]:
        """The step of each motion at its times, and whether it had ended by then."""
        rows = times.reshape(len(self.first) - 1, -1)
        step, lost = np.zeros(rows.shape, int), np.ones(rows.shape, bool)
        for k, own in enumerate(rows):
            a, b = self.first[k], self.first[k + 1]
            if b > a:
                step[k] = a + np.clip(np.searchsorted(self.t[a:b, 1], own, side="left"), 0, b - a - 1)
                lost[k] = own > self.t[b - 1, 1]
        return step.reshape(times.shape), lost.reshape(times.shape)

    def ends(self, times: FloatArray) -> FloatArray:
        """The ends of the steps of each motion together with other times, in order, the last one repeated, (..., B)."""
        own = [np.union1d(self.t[a:b], times) for a, b in zip(self.first[:-1], self.first[1:], strict=True)]
        most = max(map(len, own), default=1)
        padded = [np.pad(row, (0, most - len(row)), mode="edge") for row in own]
        return np.array(padded).reshape(*self.batch, most)


def _interpolated(F: FloatArray, x: Any) -> FloatArray:
    value = np.zeros(F.shape[:-2] + F.shape[-1:])
    for k in range(F.shape[-2]):
        value = (value + F[..., F.shape[-2] - 1 - k, :]) * (x if k % 2 == 0 else 1.0 - x)
    return value


@dataclass(frozen=True, eq=False)
class Simulation(MotionResult):
    """Motions with error control: row k of q and qd is the state at time t[k].

    Attributes
    ----------
    t : ndarray, shape (K,)
        Times [s].
    q, qd : ndarray, shape (..., K, n)
        Positions and velocities; NaN from where an integration failed, and in a batch after a terminal event.
    status : ndarray of int, shape (...)
        1 where the end was reached, 7 where a terminal event came before; see `message`.
    accepted, rejected, evaluations : ndarray of int, shape (...)
        Steps taken, steps refused by the error estimate, and evaluations of the forward dynamics.
    solution : Solution, BatchSolution or None
        The motion at any time, if `dense=True` was asked for.
    x, xd : ndarray, shape (..., K, N), or None
        Positions of the joints of a mechanism's tree, and their rates; None for a robot.
    states : dict of str to ndarray, shape (..., K) or (..., K, k)
        Further states by name.
    stiff : ndarray of bool, shape (...)
        Whether most steps of 'dop853' were as short as stability asks, not accuracy: then method='rosenbrock' takes fewer.
    tau, qdd : ndarray, shape (..., K, n)
        Torques as applied, and accelerations. These and all that follow are computed when first asked for.
    saturated : ndarray of bool, shape (..., K, n)
        Whether each torque is at its limit.
    energies, power, balance : Energy, PowerFlow, EnergyBalance
        Kinetic and potential energy, power by cause, and how well both agree.
    trajectory : Trajectory
        The motion for `inverse_dynamics`, `motor_table` and others.
    events : list of EventRecord, or ndarray of such lists, shape (...)
        What happened, in order: joints that stick, slip or hit a stop, events of the user, changes of the system.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    status: Any
    accepted: Any
    rejected: Any
    evaluations: Any
    solution: Solution | BatchSolution | None = None
    x: FloatArray | None = None
    xd: FloatArray | None = None
    system: Any = None
    states: dict[str, FloatArray] = field(default_factory=dict)
    stiff: Any = False
    torque: Torque | Callable[[], Torque] | None = None
    events: Any = field(default_factory=list)
    standing: StandingTimes | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        hidden = (
            "status",
            "accepted",
            "rejected",
            "evaluations",
            "solution",
            "x",
            "xd",
            "system",
            "states",
            "stiff",
            "torque",
            "events",
        )
        return brief(self, *hidden, success=self.success, steps=int(np.sum(self.accepted)), dense=self.solution is not None)

    @property
    def success(self) -> bool:
        """Whether every motion reached its end, or a terminal event."""
        status = np.asarray(self.status)
        return bool(((status == DONE) | (status == ENDED)).all())

    @cached_property
    def residual(self) -> FloatArray:
        """What the closures of a mechanism are off at each time [m | rad], shape (..., K); zero for a robot."""
        return np.zeros(self.q.shape[:-1]) if self.x is None else self.system.residual(self.x)

    @property
    def message(self) -> str:
        """How it went, in a sentence or two; the worst first."""
        found = sorted({int(s) for s in np.ravel(self.status)}, reverse=True)
        hint = f" {STIFF}" if np.any(self.stiff) else ""
        if len(found) == 1:
            return MESSAGES[found[0]] + hint
        counts = [f"{int(np.sum(self.status == s))} of {np.size(self.status)}: {MESSAGES[s]}" for s in found]
        return " ".join(counts) + hint
