"""Trajectories scaled in time, their torques put together from parts [Siciliano, §7.7].

With q(r(t)) in place of q(t), where q(r) needs the torque τ = τ_s + v + d + g (masses and their velocity products; viscous and
dry friction; gravity),

    τ(t) = ṙ² τ_s(r) + ṙ v(r) + d(r) + g(r) + r̈ M(q(r)) q′(r)                            [Siciliano, Eq. 7.126]  (1)

and for r = c t nothing has to be computed anew: τ = c² τ_s + c v + d + g. What limits then leave of c, `scaling_limits` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import thread_count
from ..dynamics import engine, inverse_dynamics
from ..dynamics.system import AnySystem
from ..errors import ModelError, ShapeError
from ..loads.load_conditions import Contact, HeldForce, Squeeze
from ..options import samples as sample_count
from ..trajectory import Motion, Trajectory
from . import timing_refusals as refusals
from .friction_kinds import bends
from .gripped_drives import grip_of
from .limit_rows import RowMaker, TimingLimits
from .path_torques import path_torques
from .scaling_limits import TorqueLimits, TrajectoryParts, torque_limits
from .scaling_result import ScaledTrajectory
from .timing_limits import read_limits

_DENSER = 10
_LOOKS, _LOOK = 3, 40  # times the surroundings of the binding instant are looked at, and at how many places
_SPAN = 8  # lowest samples whose surroundings are looked at
_HALVES, _DOUBLINGS = 50, 60
_SLOW = 1e-9  # of the given speeds: dry friction as it is at rest, or nothing of it where it is smooth

Finder = Callable[[TrajectoryParts], tuple[FloatArray, FloatArray]]
"""Largest factors of a batch at samples, and ranks of these: the lower, the nearer to a limit."""


class Course(NamedTuple):
    """q̇, q̈ and τ of a scaled motion, (B, K, n)."""

    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray


class _Scaling(NamedTuple):
    """What is scaled: a system with its limits."""

    system: Any
    limits: TimingLimits
    torque: TorqueLimits
    threads: int | None
    bent: bool  # whether friction is no line in the speed

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Kinds and names of all that has a limit: torques, speeds of coordinates, and of joints within loops."""
        joints = () if self.limits.joints is None else self.limits.joints.names
        return (*self.torque.names, *(("velocity", name) for name in (*self.limits.velocity.names, *joints)))

    def use(self, parts: TrajectoryParts, course: Course, rate: FloatArray) -> FloatArray:
        """The share of each limit, shape (B, K, names), with ṙ that broadcasts against (B, K, n)."""
        wanted = self.torque.wanted((parts.q, course.qd, course.qdd, course.qdd), course.tau)
        return np.concatenate([self.torque.use(parts, wanted), np.abs(parts.speeds * rate) / self.limits.speeds], axis=-1)

    def factors(self, parts: TrajectoryParts) -> FloatArray:
        """The largest factors that limits of torques and speeds leave, of each sample, (B, K, rows)."""
        with np.errstate(divide="ignore"):
            by_speed = self.limits.speeds / np.abs(parts.speeds)
        return np.concatenate([self.torque.factors(parts), by_speed], axis=-1)

    def parts_at(self, motion: Motion | Trajectory, r: FloatArray) -> TrajectoryParts:
        """A motion at instants, or a trajectory at its own, in its parts."""
        rates = (motion.q, motion.qd, motion.qdd) if isinstance(motion, Trajectory) else motion.at(r)[:3]
        q, q1, q2 = (np.ascontiguousarray(part.reshape(-1, *part.shape[-2:])) for part in rates)
        speeds = RowMaker(self.system, self.limits, self.threads).speeds((q, q1, q2, q2))
        torques = path_torques(self.system, q, q1, q2, threads=self.threads)
        asked = self.torque.asked((q, q1, q2, q2), torques)
        if self.bent:  # no line tells the friction of very slow motions
            rest = np.zeros_like(q)
            slow = inverse_dynamics(self.system, q, _SLOW * q1, rest, threads=self.threads)
            torques = torques._replace(dry=slow - torques.gravity)
            asked = asked._replace(dry=self.torque.wanted((q, _SLOW * q1, rest, rest), slow) - asked.gravity)
        return TrajectoryParts(r, q, q1, q2, speeds, torques, self.torque.rows(q), asked)


def scale_trajectory(
    system: AnySystem,
    motion: Motion | Trajectory,
    *,
    torque: ArrayLike | Mapping[str, float] | None = None,
    velocity: ArrayLike | Mapping[str, float] | None = None,
    factor: float | None = None,
    law: Motion | None = None,
    samples: int = 1000,
    contacts: Mapping[str, Contact] | None = None,
    internal: HeldForce | Squeeze | Iterable[HeldForce | Squeeze] = (),
    threads: int | None = None,
) -> ScaledTrajectory:
    """The same path in other time, with its torques from parts of the given ones; by default as fast as limits allow.

    Uniform scaling, r = c t, keeps the shape of the velocities. For the least time along the path itself, take `fastest_timing`.

    Parameters
    ----------
    system : Robot or System
        With n coordinates.
    motion : Motion or Trajectory
        What is scaled, or a batch; of a `Trajectory`, its samples alone are looked at.
    torque, velocity : array_like, shape () or (n,), or mapping of joint to float, optional
        Largest magnitudes [N m | N], [rad/s | m/s]; those of the model where nothing is given, inf for no limit. Torques are
        those of the drives of a mechanism (`actuated`), which share what the motion takes so that the factor is the largest.
        Joints within loops keep their speeds too.
    factor : float, optional
        c, how many times as fast; left out, the largest one within the limits, above 1 where there is room.
    law : Motion, optional
        r(t) in place of c t: a motion of one coordinate that rises from 0 to the duration.
    samples : int
        Samples of a motion in the result. Limits are looked at on a grid ten times denser, and closer around the worst instant.
    contacts, internal
        As in `fastest_timing`: closures of a mechanism that only push, within their cones of friction, and forces that are held.
    threads
        As in `inverse_dynamics`.

    Returns
    -------
    ScaledTrajectory
        With `factor`, `duration`, torques, and the joint and the instant that bind.

    Raises
    ------
    InfeasibleError
        If gravity and dry friction alone exceed a limit, so that no timing helps; with the joint and the instant. Of a batch
        such rows are marked instead, with one warning (`timing-infeasible`).

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as dal

    In the horizontal plane torques go with c²: a quarter of the torque is left at half the speed.

    >>> rod = dal.robots.pendulum().with_gravity([0, 9.81, 0])
    >>> motion = dal.trajectory.quintic([0.0], [1.0], duration=1.0)
    >>> peak = np.abs(dal.scale_trajectory(rod, motion, factor=1.0).tau).max()
    >>> found = dal.scale_trajectory(rod, motion, torque=peak / 4)
    >>> round(float(found.factor), 4), round(float(found.duration), 4), str(found.joint)
    (0.5, 2.0, 'pivot')
    """
    n = engine.size(system)
    grip = grip_of(system, contacts, internal)
    given = {"torque": torque, "velocity": velocity, "acceleration": None, "power": None}
    _, limits = read_limits(system, False, given, gripped=any(grip))
    threads = None if threads is None else thread_count(threads)
    scaling = _Scaling(system, limits, torque_limits(system, limits, grip, threads), threads, bends(system))
    K = sample_count("samples", samples, least=2)
    batch = _check_motion(motion, n)
    if law is not None:
        if factor is not None:
            raise ModelError("factor, law: both found; one of them is expected, c of r = c t or r(t) itself.")
        return _under_law(scaling, motion, _check_law(law, motion), K)
    if factor is not None:
        c = checks.number("factor", factor)
        if not c > 0:
            raise ModelError(f"factor: {c:g} found; a number above 0 is expected, 2 for twice as fast.")
        return _result(scaling, motion, np.full(max(1, int(np.prod(batch))), c), K, batch, {})
    if not (scaling.torque.acts or np.isfinite(limits.speeds).any()):
        raise ModelError(
            "scale_trajectory: no limit found that some factor would reach, so that there is no fastest one. Give torque=..., or "
            "factor=..., or Limits(effort=...) to the joints."
        )
    factors, messages = _largest(scaling, motion, K)
    refusals.refuse_or_warn("scale_trajectory", messages, batch, len(factors))
    return _result(scaling, motion, factors, K, batch, messages)


def _check_motion(motion: Any, n: int) -> tuple[int, ...]:
    """The batch axes of what is given."""
    if isinstance(motion, Motion):
        found: tuple[int, ...] = motion.shape
    elif isinstance(motion, Trajectory):
        found = (*motion.q.shape[:-2], motion.q.shape[-1])
        for name in ("q", "qd", "qdd"):
            if not np.isfinite(getattr(motion, name)).all():
                raise ShapeError(f"motion: NaN or infinity found in {name}; finite samples are expected.")
        if len(motion.t) < 2:
            raise ShapeError(f"motion: {len(motion.t)} sample found; two or more are expected.")
    else:
        raise ModelError(
            f"motion: {checks.shown(motion)} found; a Motion or a Trajectory is expected. Try dal.trajectory.quintic(...)."
        )
    if found[-1] != n:
        raise ShapeError(f"motion: {motion!r} found, but the system has {n} coordinates. Was it made for another arm?")
    return found[:-1]


def _check_law(law: Any, motion: Any) -> Motion:
    checks.instance("law", law, Motion, "dal.trajectory.quintic([0.0], [motion.duration], duration=2.0)")
    if not isinstance(motion, Motion):
        raise ModelError("law: found with samples, which are not known in between. Give a Motion.")
    if law.shape != (1,):
        raise ShapeError(f"law: {law!r} found, a motion of one coordinate is expected: r(t).")
    r, rd, _, _ = law.at(np.linspace(0.0, law.duration, 1001))
    slack = 1e-9 * motion.duration
    if r.min() < -slack or r.max() > motion.duration + slack or rd.min() < -1e-9 * np.abs(rd).max():
        raise ModelError(
            f"law: r from {r.min():.4g} to {r.max():.4g} s with rates from {rd.min():.4g} found; it needs to rise from 0 to the "
            f"motion's {motion.duration:.4g} s and never to fall."
        )
    return law


def _instants(motion: Motion | Trajectory, K: int) -> FloatArray:
    """The samples of a trajectory, or even instants of a motion with those just before and at its jumps."""
    if isinstance(motion, Trajectory):
        return motion.t
    jumps = motion.breaks[1:-1]
    before = jumps - 1e-9 * motion.duration
    return np.unique(np.concatenate([np.linspace(0.0, motion.duration, K), jumps, before]))


def _largest(scaling: _Scaling, motion: Motion | Trajectory, K: int) -> tuple[FloatArray, dict[int, str]]:
    """The largest factor of each of a batch, and sentences for those that have none."""
    parts = scaling.parts_at(motion, _instants(motion, _DENSER * K))
    messages = scaling.torque.too_weak(parts) | _unassembled(parts)
    if len(messages) == len(parts.q):
        return np.full(len(parts.q), np.nan), messages
    find = _Bisection(scaling, len(parts.q)).found if scaling.bent else partial(_by_rows, scaling)
    best, ranks = find(parts)
    if isinstance(motion, Motion):
        best = np.minimum(best, _closer(scaling, motion, parts.r, ranks, find))
    best[list(messages)] = np.nan
    still = np.flatnonzero(np.isinf(best))
    messages |= {int(row): "motion: it does not move, so that no factor exceeds a limit. Give one that moves." for row in still}
    best[still] = np.nan
    return best, messages


def _unassembled(parts: TrajectoryParts) -> dict[int, str]:
    """Trajectories that lead where a mechanism has no positions."""
    lost: Any = np.isnan(parts.torques.gravity).any(axis=2)
    first = ((int(row), int(np.argmax(lost[row]))) for row in np.flatnonzero(lost.any(axis=1)))
    return {row: refusals.no_positions_at(parts.r[k], parts.q[row, k]) for row, k in first}


def _by_rows(scaling: _Scaling, parts: TrajectoryParts) -> tuple[FloatArray, FloatArray]:
    """The largest factor of each of a batch, and those of its samples."""
    found = scaling.factors(parts).min(axis=2)
    return found.min(axis=1), found


def _closer(scaling: _Scaling, motion: Motion, r: FloatArray, ranks: FloatArray, find: Finder) -> FloatArray:
    """The largest factors between samples, around those of the lowest ranks (B, K), looked at more and more closely."""
    best = np.full(len(ranks), np.inf)
    for _ in range(_LOOKS):
        k = np.unique(np.argsort(ranks, axis=1)[:, :_SPAN])
        low, high = r[np.maximum(k - 1, 0)], r[np.minimum(k + 1, len(r) - 1)]
        r = np.unique((low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _LOOK + 1)).ravel())
        found, ranks = find(scaling.parts_at(motion, r))
        best = np.minimum(best, found)
    return best


def _course_at(scaling: _Scaling, parts: TrajectoryParts, c: FloatArray) -> Course:
    """The motion at a factor for each of the batch, τ by (1), or anew where friction is no line in the speed."""
    c = c[:, None, None]
    qd, qdd = c * parts.q1, c * c * parts.q2
    if scaling.bent:
        return Course(qd, qdd, inverse_dynamics(scaling.system, parts.q, qd, qdd, threads=scaling.threads))
    moving = np.any(parts.q1 != 0.0, axis=-1, keepdims=True)
    return Course(qd, qdd, parts.torques._replace(dry=np.where(moving, parts.torques.dry, 0.0)).at(c, 0.0))


class _Bisection:
    """The largest factor of each of a batch where friction bends: from the line through two speeds, doubled until it is too
    large.
    """

    def __init__(self, scaling: _Scaling, count: int) -> None:
        self.scaling, self.most = scaling, np.full(count, np.inf)  # a factor that is known to be too large, or just so

    def found(self, parts: TrajectoryParts) -> tuple[FloatArray, FloatArray]:
        """At which all samples keep their limits, and how little each uses of them there."""
        first = np.minimum(_by_rows(self.scaling, parts)[0], self.most)
        moves = np.isfinite(first) & (first > 0)
        low, high = np.zeros(len(first)), np.where(moves, first, 1.0)
        for _ in range(_DOUBLINGS):
            good = moves & (high < self.most) & (self._use(parts, high).max(axis=1) <= 1.0)
            if not good.any():
                break
            low, high = np.where(good, high, low), np.where(good, np.minimum(2.0 * high, self.most), high)
        for _ in range(_HALVES):
            middle = (low + high) / 2
            good = self._use(parts, middle).max(axis=1) <= 1.0
            low, high = np.where(good, middle, low), np.where(good, high, middle)
        best = np.where(moves, low, first)
        self.most = np.fmin(self.most, best)
        return best, -self._use(parts, np.where(moves, low, 1.0))

    def _use(self, parts: TrajectoryParts, c: FloatArray) -> FloatArray:
        """The largest share of a limit at each sample, (B, K)."""
        found: FloatArray = self.scaling.use(parts, _course_at(self.scaling, parts, c), c[:, None, None]).max(axis=2)
        return found


def _result(
    scaling: _Scaling,
    motion: Motion | Trajectory,
    factors: FloatArray,
    K: int,
    batch: tuple[int, ...],
    messages: dict[int, str],
) -> ScaledTrajectory:
    parts = scaling.parts_at(motion, _instants(motion, K))
    dense = parts if isinstance(motion, Trajectory) else scaling.parts_at(motion, _instants(motion, _DENSER * K))
    use = scaling.use(dense, _course_at(scaling, dense, factors), factors[:, None, None])
    t, times = ((at.r - at.r[0]) / factors[:, None] for at in (parts, dense))
    span = parts.r[-1] - parts.r[0]
    course = _course_at(scaling, parts, factors)
    return _put_together(scaling, motion, None, (factors, span / factors, t), parts, course, use, times, batch, messages)


def _under_law(scaling: _Scaling, motion: Any, law: Motion, K: int) -> ScaledTrajectory:
    """(1) with a time law."""

    def at(t: FloatArray) -> tuple[TrajectoryParts, Course]:
        r, rd, rdd, _ = (part[:, 0] for part in law.at(t))
        parts = scaling.parts_at(motion, np.clip(r, 0.0, motion.duration))
        z, u = rd[:, None], rdd[:, None]
        moving = z * np.any(parts.q1 != 0.0, axis=-1, keepdims=True) > 0
        tau = parts.torques._replace(dry=np.where(moving, parts.torques.dry, 0.0)).at(z, u)
        qd, qdd = parts.q1 * z, parts.q2 * z * z + parts.q1 * u
        if scaling.bent:
            tau = inverse_dynamics(scaling.system, parts.q, qd, qdd, threads=scaling.threads)
        return parts, Course(qd, qdd, tau)

    t, fine = _instants(law, K), _instants(law, _DENSER * K)
    (parts, course), (dense, dense_course) = at(t), at(fine)
    use = scaling.use(dense, dense_course, law.at(fine)[1])
    rows = len(parts.q)
    shown, times = (np.broadcast_to(instants, (rows, len(instants))) for instants in (t, fine))
    clock = np.full(rows, np.nan), np.full(rows, law.duration), shown
    return _put_together(scaling, motion, law, clock, parts, course, use, times, motion.shape[:-1], {})


def _put_together(
    scaling: _Scaling,
    motion: Motion | Trajectory,
    law: Motion | None,
    clock: tuple[FloatArray, FloatArray, FloatArray],
    parts: TrajectoryParts,
    course: Course,
    use: FloatArray,
    times: FloatArray,
    batch: tuple[int, ...],
    messages: dict[int, str],
) -> ScaledTrajectory:
    """`clock` are factors, durations and times of samples; `use` is that at the `times` looked at."""
    flat = np.nan_to_num(use, nan=-1.0).reshape(len(use), -1)
    k, which = np.divmod(flat.argmax(axis=1), use.shape[-1])
    worst = flat.max(axis=1)
    kinds, names = (np.array(column) for column in zip(*scaling.names, strict=True))
    wanted = scaling.torque.wanted((parts.q, course.qd, course.qdd, course.qdd), course.tau)
    arrays = {
        "factor": clock[0],
        "duration": clock[1],
        "t": clock[2],
        "q": parts.q,
        "qd": course.qd,
        "qdd": course.qdd,
        "tau": course.tau,
        "drive_torques": scaling.torque.of_drives(parts, wanted),
        "joint": names[which],
        "limit": kinds[which],
        "use": np.where(worst < 0, np.nan, worst),
        "binding_time": times[np.arange(len(use)), k],
        "feasible": (worst >= 0) & (worst <= 1 + 1e-9),
    }
    shaped: dict[str, Any] = {name: array.reshape((*batch, *array.shape[1:])) for name, array in arrays.items()}
    texts = tuple(messages.get(row, "") for row in range(len(use)))
    source = motion if isinstance(motion, Motion) else None
    return ScaledTrajectory(r=parts.r, drives=scaling.torque.drives, messages=texts, source=source, law=law, **shaped)


__all__ = ["scale_trajectory"]
