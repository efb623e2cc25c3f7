"""Trajectories scaled in time, their torques put together from parts [Siciliano, §7.7].

With q(r(t)) in place of q(t), where q(r) needs the torque τ = τ_s + v + d + g (masses and their velocity products; viscous and
dry friction; gravity),

    τ(t) = ṙ² τ_s(r) + ṙ v(r) + d(r) + g(r) + r̈ M(q(r)) q′(r)                            [Siciliano, Eq. 7.126]  (1)

and for r = c t nothing has to be computed anew: τ = c² τ_s + c v + d + g. A limit then bounds c by a quadratic of each joint at
each instant; the largest c up to which every slower motion keeps it is

    c = 2 h / (v + √(v² + 4 τ_s h)),   h = limit − d − g                                                      (2)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import FloatArray
from ..codegen import thread_count
from ..dynamics import engine, inverse_dynamics
from ..dynamics.system import AnySystem
from ..errors import ModelError, ShapeError
from ..options import samples as sample_count
from ..trajectory import Motion, Trajectory
from . import timing_refusals as refusals
from .friction_kinds import bends
from .limit_rows import RowMaker, TimingLimits
from .path_torques import PathTorques, path_torques
from .scaling_result import ScaledTrajectory
from .timing_limits import read_limits

_DENSER = 10
_LOOKS, _LOOK = 3, 40  # times the surroundings of the binding instant are looked at, and at how many places
_SPAN = 8  # lowest samples whose surroundings are looked at
_HALVES = 50


class _Parts(NamedTuple):
    """A trajectory at instants r, shape (K,), and the parts of its torques; arrays (B, K, n) of a batch B. `speeds` are those of
    all that has a limit: q′, and x′ of joints within loops.
    """

    r: FloatArray
    q: FloatArray
    q1: FloatArray
    q2: FloatArray
    speeds: FloatArray
    torques: PathTorques


def scale_trajectory(
    system: AnySystem,
    motion: Motion | Trajectory,
    *,
    torque: ArrayLike | Mapping[str, float] | None = None,
    velocity: ArrayLike | Mapping[str, float] | None = None,
    factor: float | None = None,
    law: Motion | None = None,
    samples: int = 1000,
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
        Largest magnitudes [N m | N], [rad/s | m/s]; those of the model where nothing is given, inf for no limit.
    factor : float, optional
        c, how many times as fast; left out, the largest one within the limits, above 1 where there is room.
    law : Motion, optional
        r(t) in place of c t: a motion of one coordinate that rises from 0 to the duration.
    samples : int
        Samples of a motion in the result. Limits are looked at on a grid ten times denser, and closer around the worst instant.
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
    _, limits = read_limits(system, False, {"torque": torque, "velocity": velocity, "acceleration": None, "power": None})
    if limits.drives is not None:
        raise ModelError(
            f"scale_trajectory: {system.name!r} is driven at other joints than its coordinates, whose torques are not parts of "
            "one motion here. Try fastest_timing, or distribute_load along the scaled motion."
        )
    threads = None if threads is None else thread_count(threads)
    K = sample_count("samples", samples, least=2)
    batch = _check_motion(motion, n)
    if law is not None:
        if factor is not None:
            raise ModelError("factor, law: both found; one of them is expected, c of r = c t or r(t) itself.")
        return _under_law(system, motion, _check_law(law, motion), limits, K, threads)
    if factor is not None:
        c = checks.number("factor", factor)
        if not c > 0:
            raise ModelError(f"factor: {c:g} found; a number above 0 is expected, 2 for twice as fast.")
        return _result(system, motion, np.full(max(1, int(np.prod(batch))), c), limits, K, batch, {}, threads)
    if not (limits.torque.acts or np.isfinite(limits.speeds).any()):
        raise ModelError(
            "scale_trajectory: no limit found, so that there is no fastest one. Give torque=..., or factor=..., or "
            "Limits(effort=...) to the joints."
        )
    factors, messages = _largest(system, motion, limits, K, threads)
    refusals.refuse_or_warn("scale_trajectory", messages, batch, len(factors))
    return _result(system, motion, factors, limits, K, batch, messages, threads)


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


def _parts_at(system: Any, motion: Motion | Trajectory, limits: TimingLimits, r: FloatArray, threads: int | None) -> _Parts:
    if isinstance(motion, Trajectory):
        rates = (motion.q, motion.qd, motion.qdd)
    else:
        rates = motion.at(r)[:3]
    q, q1, q2 = (np.ascontiguousarray(part.reshape(-1, *part.shape[-2:])) for part in rates)
    speeds = RowMaker(system, limits, threads).speeds((q, q1, q2, q2))
    return _Parts(r, q, q1, q2, speeds, path_torques(system, q, q1, q2, threads=threads))


def _largest(
    system: Any, motion: Motion | Trajectory, limits: TimingLimits, K: int, threads: int | None
) -> tuple[FloatArray, dict[int, str]]:
    """The largest factor of each of a batch, and sentences for those that have none."""
    parts = _parts_at(system, motion, limits, _instants(motion, _DENSER * K), threads)
    factors = _factors(parts, limits)
    messages = _too_weak(parts, limits)
    best = factors.min(axis=(1, 2))
    if isinstance(motion, Motion):
        lowest = np.unique(np.argsort(factors.min(axis=2), axis=1)[:, :_SPAN])
        best = np.minimum(best, _closer(system, motion, limits, parts.r, lowest, threads))
    best[list(messages)] = np.nan
    if bends(system):
        best = _by_halves(system, parts, limits, best, threads)
    still = np.flatnonzero(np.isinf(best))
    messages |= {int(row): "motion: it does not move, so that no factor exceeds a limit. Give one that moves." for row in still}
    best[still] = np.nan
    return best, messages


def _factors(parts: _Parts, limits: TimingLimits) -> FloatArray:
    """(2) for both limits of each torque, and for those of speeds: of each sample and joint, (B, K, 2n or more)."""
    A, V, D = parts.torques.motion, parts.torques.viscous, parts.torques.still
    by_torque = np.minimum(_first_root(A, V, limits.torque.size - D), _first_root(-A, -V, limits.torque.size + D))
    with np.errstate(divide="ignore"):
        by_speed = limits.speeds / np.abs(parts.speeds)
    return np.concatenate([by_torque, by_speed], axis=-1)


def _first_root(A: FloatArray, V: FloatArray, h: FloatArray) -> FloatArray:
    """The first c > 0 with A c² + V c = h > 0; infinite where there is none, or no limit."""
    with np.errstate(invalid="ignore", divide="ignore"):
        D = V * V + 4 * A * h
        below = V + np.sqrt(np.maximum(D, 0.0))
        found = np.where((D >= 0) & (below > 0) & np.isfinite(h), 2 * h / below, np.inf)
    return found


def _closer(system: Any, motion: Motion, limits: TimingLimits, r: FloatArray, lowest: Any, threads: int | None) -> FloatArray:
    """The least factors between the samples around the lowest ones, looked at more and more closely."""
    low, high = r[np.maximum(lowest - 1, 0)], r[np.minimum(lowest + 1, len(r) - 1)]
    best = np.full(max(1, int(np.prod(motion.shape[:-1]))), np.inf)
    for _ in range(_LOOKS):
        places = np.unique((low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _LOOK + 1)).ravel())
        found = _factors(_parts_at(system, motion, limits, places, threads), limits).min(axis=2)
        best = np.minimum(best, found.min(axis=1))
        k = np.unique(np.argsort(found, axis=1)[:, :_SPAN])
        low, high = places[np.maximum(k - 1, 0)], places[np.minimum(k + 1, len(places) - 1)]
    return best


def _too_weak(parts: _Parts, limits: TimingLimits) -> dict[int, str]:
    """Trajectories that no factor helps: gravity and dry friction alone are beyond a limit."""
    still, size = parts.torques.still, limits.torque.size
    over = np.abs(still) / size
    found = {}
    for row in np.flatnonzero((over >= 1).any(axis=(1, 2))):
        k, i = np.unravel_index(np.argmax(over[row]), over[row].shape)
        names, unit = limits.torque.names, limits.torque.units[i]
        found[int(row)] = refusals.still_too_much(names[i], still[row, k, i], size[i], unit, parts.r[k], parts.q[row, k])
    return found


def _torques_at(system: Any, parts: _Parts, c: FloatArray, threads: int | None) -> FloatArray:
    """τ at a factor for each of the batch: by (1), or anew where friction is no line in the speed."""
    c = c[:, None, None]
    if bends(system):
        return inverse_dynamics(system, parts.q, c * parts.q1, c * c * parts.q2, threads=threads)
    moving = np.any(parts.q1 != 0.0, axis=-1, keepdims=True)
    return (
        c * c * parts.torques.motion
        + c * parts.torques.viscous
        + parts.torques.gravity
        + np.where(moving, parts.torques.dry, 0.0)
    )


def _use(tau: FloatArray, speed: FloatArray, limits: TimingLimits) -> FloatArray:
    """The share of each limit, torques first, shape (B, K, 2n or more)."""
    return np.concatenate([np.abs(tau) / limits.torque.size, np.abs(speed) / limits.speeds], axis=-1)


def _by_halves(system: Any, parts: _Parts, limits: TimingLimits, best: FloatArray, threads: int | None) -> FloatArray:
    """Where friction bends: the largest factor up to the one found, at which all samples keep the limits, by bisection."""

    def keeps(c: FloatArray) -> Any:
        use = _use(_torques_at(system, parts, c, threads), c[:, None, None] * parts.speeds, limits)
        return use.max(axis=(1, 2)) <= 1.0

    top = np.where(np.isfinite(best), 2.0 * best, 1.0)
    low, high = np.zeros_like(top), top
    for _ in range(_HALVES):
        middle = (low + high) / 2
        good = keeps(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return np.where(np.isfinite(best), low, best)


def _result(
    system: Any,
    motion: Motion | Trajectory,
    factors: FloatArray,
    limits: TimingLimits,
    K: int,
    batch: tuple[int, ...],
    messages: dict[int, str],
    threads: int | None,
) -> ScaledTrajectory:
    parts = _parts_at(system, motion, limits, _instants(motion, K), threads)
    c = factors[:, None, None]
    tau = _torques_at(system, parts, factors, threads)
    span = parts.r[-1] - parts.r[0]
    t = (parts.r - parts.r[0]) / factors[:, None]
    dense = (
        parts if isinstance(motion, Trajectory) else _parts_at(system, motion, limits, _instants(motion, _DENSER * K), threads)
    )
    use = _use(_torques_at(system, dense, factors, threads), c * dense.speeds, limits)
    times = (dense.r - dense.r[0]) / factors[:, None]
    return _put_together(
        motion,
        None,
        factors,
        span / factors,
        t,
        parts,
        (c * parts.q1, c * c * parts.q2, tau),
        use,
        times,
        limits,
        batch,
        messages,
    )


def _under_law(system: Any, motion: Any, law: Motion, limits: TimingLimits, K: int, threads: int | None) -> ScaledTrajectory:
    """(1) with a time law."""

    def at(t: FloatArray) -> tuple[_Parts, FloatArray, FloatArray, FloatArray]:
        r, rd, rdd, _ = (part[:, 0] for part in law.at(t))
        parts = _parts_at(system, motion, limits, np.clip(r, 0.0, motion.duration), threads)
        z, u = rd[:, None], rdd[:, None]
        moving = z * np.any(parts.q1 != 0.0, axis=-1, keepdims=True) > 0
        tau = parts.torques._replace(dry=np.where(moving, parts.torques.dry, 0.0)).at(z, u)
        qd, qdd = parts.q1 * z, parts.q2 * z * z + parts.q1 * u
        return parts, qd, qdd, inverse_dynamics(system, parts.q, qd, qdd, threads=threads) if bends(system) else tau

    t, fine = _instants(law, K), _instants(law, _DENSER * K)
    parts, qd, qdd, tau = at(t)
    dense, _, _, dense_tau = at(fine)
    dense_speeds = dense.speeds * law.at(fine)[1]
    batch, rows = motion.shape[:-1], len(qd)
    use = _use(dense_tau, dense_speeds, limits)
    factors = np.full(rows, np.nan)
    shown = np.broadcast_to(t, (rows, len(t)))
    times = np.broadcast_to(fine, (rows, len(fine)))
    duration = np.full(rows, law.duration)
    return _put_together(motion, law, factors, duration, shown, parts, (qd, qdd, tau), use, times, limits, batch, {})


def _put_together(
    motion: Motion | Trajectory,
    law: Motion | None,
    factors: FloatArray,
    duration: FloatArray,
    t: FloatArray,
    parts: _Parts,
    rates: tuple[FloatArray, FloatArray, FloatArray],
    use: FloatArray,
    times: FloatArray,
    limits: TimingLimits,
    batch: tuple[int, ...],
    messages: dict[int, str],
) -> ScaledTrajectory:
    n = parts.q.shape[-1]
    rows = np.arange(len(use))
    flat = np.nan_to_num(use, nan=-1.0).reshape(len(use), -1)
    k, which = np.divmod(flat.argmax(axis=1), use.shape[-1])
    worst = flat.max(axis=1)
    names = np.array([*limits.torque.names, *limits.velocity.names, *(() if limits.joints is None else limits.joints.names)])
    arrays = {
        "factor": factors,
        "duration": duration,
        "t": t,
        "q": parts.q,
        "qd": rates[0],
        "qdd": rates[1],
        "tau": rates[2],
        "joint": names[which],
        "limit": np.where(which < n, "torque", "velocity"),
        "use": np.where(worst < 0, np.nan, worst),
        "binding_time": times[rows, k],
        "feasible": (worst >= 0) & (worst <= 1 + 1e-9),
    }
    shaped: dict[str, Any] = {name: array.reshape((*batch, *array.shape[1:])) for name, array in arrays.items()}
    texts = tuple(messages.get(row, "") for row in range(len(use)))
    source = motion if isinstance(motion, Motion) else None
    return ScaledTrajectory(r=parts.r, messages=texts, source=source, law=law, **shaped)


__all__ = ["scale_trajectory"]
