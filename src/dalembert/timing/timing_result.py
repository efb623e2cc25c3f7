"""What a timing along a path is: how fast where, and which limit binds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..brief import brief
from ..checks import FloatArray
from ..errors import InfeasibleError
from ..trajectory import Motion
from .path_shapes import Paths
from .smooth_law import SmoothLaw
from .time_law import TimedPath, TimeLaw


class TorqueJump(NamedTuple):
    """Where dry friction makes a torque jump: s, t [s], the joint, and by how much [N m | N]."""

    s: float
    t: float
    joint: str
    size: float


Carried = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]
"""Torques of drives at times t (K,), at which a motion has q, q̇ and q̈ (K, n)."""


@dataclass(frozen=True, eq=False)
class FastestTiming:
    """The fastest timing along a path, or along each of a batch; arrays at the N + 1 grid points.

    Attributes
    ----------
    duration : ndarray, shape (...)
        T [s]; NaN where the path cannot be timed.
    t, s, sd, sdd : ndarray, shape (..., N + 1)
        Time [s], path parameter and its rates; s̈ is the one after each grid point. Along a motion that rests somewhere, s is
        the arc length in joint space; where it also nearly stops elsewhere, s goes with the arc length beside rests alone, and
        with the time of the motion elsewhere.
    tau : ndarray, shape (..., N + 1, n)
        Torques [N m | N].
    top_speed : ndarray, shape (..., N + 1)
        The largest ṡ from which the rest of the path can be followed: above it, no limit-keeping motion goes on. Limits of
        jerk and torque rate are not in it, nor is the inductance of motors.
    joints, torque_limits : tuple of n str, ndarray, shape (n,)
        The coordinates, and their largest torques [N m | N].
    drives : tuple of m str
        The driven joints, whose torques `drive_torques` gives: the coordinates, or others of a mechanism.
    limits : tuple of str
        Every limit, such as "torque of 'shoulder'".
    use : ndarray, shape (..., N, R)
        The share of each limit that is used in each interval, at most.
    excess : ndarray, shape (...)
        By how much a limit is exceeded at worst, relative to it, between grid points too.
    feasible : ndarray of bool, shape (...)
        Whether there is a timing.
    messages : tuple of str
        A sentence for each path; empty where all is well.
    jumps : tuple of tuple of TorqueJump
        With limits of jerk or torque rate, or motors with inductance, of each path the places at which a joint turns round, or
        is passed at rest, and its torque jumps by what dry friction turns: (s, t, joint, size). Between them torques are
        continuous. Joints are the coordinates; with a limit of `torque_rate`, the drives.
    """

    duration: FloatArray
    t: FloatArray
    s: FloatArray
    sd: FloatArray
    sdd: FloatArray
    tau: FloatArray
    top_speed: FloatArray
    joints: tuple[str, ...]
    torque_limits: FloatArray
    drives: tuple[str, ...]
    limits: tuple[str, ...]
    use: FloatArray
    excess: FloatArray
    feasible: Any
    messages: tuple[str, ...]
    paths: Paths
    laws: tuple[TimeLaw | SmoothLaw | None, ...]
    carried: tuple[Carried, ...]
    jumps: tuple[tuple[TorqueJump, ...], ...] = ()

    def __repr__(self) -> str:
        hidden = (
            "paths",
            "laws",
            "carried",
            "drives",
            "limits",
            "messages",
            "use",
            "tau",
            "top_speed",
            "sd",
            "sdd",
            "t",
            "feasible",
            "joints",
            "torque_limits",
            "jumps",
        )
        return brief(self, *hidden, limits=len(self.limits), all_feasible=bool(np.all(self.feasible)))

    @property
    def motion(self) -> Motion:
        """The path with this timing, as a motion of time; of a batch, `motion_of` gives each."""
        return self.motion_of(0) if self.duration.ndim == 0 else self._ask_for_one()

    def _ask_for_one(self) -> Motion:
        raise InfeasibleError(
            f"motion: the timings of {len(self.laws)} paths last differently long, so that they are no one motion. "
            "Try motion_of(0)."
        )

    def motion_of(self, row: int) -> Motion:
        """The motion of one path of a batch, counted without the shape of the batch."""
        law = self.laws[row]
        if law is None:
            raise InfeasibleError(self.messages[row])
        return TimedPath(self.paths.motion(row), law)

    def drive_torques(self, t: ArrayLike, row: int = 0) -> FloatArray:
        """Torques of the drives [N m | N] at times t (K,) along the motion of one path, shape (K, m).

        Of drives that share a load, with a limit of `torque_rate` those that keep it; else those whose largest share of its limit
        is the least, as `distribute_load` has them.
        """
        at = self.motion_of(row)(t)
        return self.carried[row](at.t, at.q, at.qd, at.qdd)

    @property
    def binding(self) -> Any:
        """The limit that is used most in each interval, as a number in `limits`, shape (..., N)."""
        return np.argmax(np.nan_to_num(self.use, nan=-1.0), axis=-1)

    def binding_parts(self, row: int = 0) -> list[tuple[float, float, str]]:
        """Where along the path which limit binds: (s from, s to, limit), one after another, of one path."""
        N = self.use.shape[-2]
        which = self.binding.reshape(-1, N)[row]
        s = self.s.reshape(-1, N + 1)[row]
        starts = np.flatnonzero(np.concatenate([[True], which[1:] != which[:-1]]))
        ends = np.append(starts[1:], N)
        return [(float(s[a]), float(s[b]), self.limits[which[a]]) for a, b in zip(starts, ends, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, in SI units; of a batch with its axes as nested lists."""
        arrays = ("duration", "t", "s", "sd", "sdd", "tau", "top_speed", "excess", "feasible")
        found = {name: np.asarray(getattr(self, name)).tolist() for name in arrays}
        found |= {"joints": list(self.joints), "torque_limits": self.torque_limits.tolist(), "drives": list(self.drives)}
        return (
            found
            | {"limits": list(self.limits), "binding": self.binding.tolist(), "messages": list(self.messages)}
            | ({"jumps": [[jump._asdict() for jump in row] for row in self.jumps]} if self.jumps else {})
        )


__all__ = ["Carried", "FastestTiming", "TorqueJump"]
