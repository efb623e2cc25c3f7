"""What an integration gives back: times, states, how it went, and the motion in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..codegen.arguments import real
from ..errors import ShapeError
from .steering import DONE, NOT_FINITE, TOO_MANY, TOO_SMALL

MESSAGES = {
    DONE: "The end of the interval was reached.",
    TOO_SMALL: "The step became as small as the spacing of numbers: the motion is singular or the tolerance out of reach.",
    NOT_FINITE: "The motion left the finite numbers. Look at the torque and the initial state.",
    TOO_MANY: "The number of steps reached max_steps. Allow more or a looser tolerance; dry friction wants a smoothing width.",
}


@dataclass(frozen=True, eq=False)
class Solution:
    """A motion at any time of its interval, by the interpolant of order 7 that goes with DOP853."""

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    coefficients: tuple[FloatArray, FloatArray]

    def __repr__(self) -> str:
        return brief(self, "coefficients")

    def __call__(self, t: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """q and qd at times of shape (...), each of shape (..., n)."""
        times = real("t", t, "(...)")
        if times.size and not (times.min() >= self.t[0] and times.max() <= self.t[-1]):
            raise ShapeError(f"t: outside of the solution, which goes from {self.t[0]} to {self.t[-1]} s.")
        step = np.clip(np.searchsorted(self.t, times, side="left") - 1, 0, len(self.t) - 2)
        x = ((times - self.t[step]) / (self.t[step + 1] - self.t[step]))[..., None]
        q, qd = (y[step] + _interpolated(F[step], x) for y, F in zip((self.q, self.qd), self.coefficients, strict=True))
        return q, qd


def _interpolated(F: FloatArray, x: Any) -> FloatArray:
    value = np.zeros(F.shape[:-2] + F.shape[-1:])
    for k in range(F.shape[-2]):
        value = (value + F[..., F.shape[-2] - 1 - k, :]) * (x if k % 2 == 0 else 1.0 - x)
    return value


@dataclass(frozen=True, eq=False)
class Simulation:
    """Motions with error control: row k of q and qd is the state at time t[k].

    Attributes
    ----------
    t : ndarray, shape (K,)
        Times [s].
    q, qd : ndarray, shape (..., K, n)
        Positions and velocities; NaN from where an integration failed.
    status : ndarray of int, shape (...)
        1 where the end was reached; see `message`.
    accepted, rejected, evaluations : ndarray of int, shape (...)
        Steps taken, steps refused by the error estimate, and evaluations of the forward dynamics.
    solution : Solution or None
        The motion at any time, if `dense=True` was asked for.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    status: Any
    accepted: Any
    rejected: Any
    evaluations: Any
    solution: Solution | None = None

    def __repr__(self) -> str:
        hidden = ("status", "accepted", "rejected", "evaluations", "solution")
        return brief(self, *hidden, success=self.success, steps=int(np.sum(self.accepted)), dense=self.solution is not None)

    @property
    def success(self) -> bool:
        """Whether every motion reached its end."""
        return bool(np.all(self.status == DONE))

    @property
    def message(self) -> str:
        """How it went, in a sentence or two; the worst first."""
        found = sorted({int(s) for s in np.ravel(self.status)}, reverse=True)
        if len(found) == 1:
            return MESSAGES[found[0]]
        counts = [f"{int(np.sum(self.status == s))} of {np.size(self.status)}: {MESSAGES[s]}" for s in found]
        return " ".join(counts)
