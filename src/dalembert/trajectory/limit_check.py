"""Whether a motion keeps the limits of a robot: which joint passes which limit, when, by how much, and what to do.

Torques grow with the square of speed, but for gravity and friction: stretched by c, τ(t) becomes g + (τ − g)/c²
[Siciliano, Eqs. 7.117-7.126], from which the advised factor is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..brief import brief
from ..checks import FloatArray
from ..dynamics.engine import system_of
from ..dynamics.functions import gravity_torque, inverse_dynamics
from ..dynamics.system import Coordinate, LoopSystem
from ..errors import InfeasibleError, ShapeError

_ROUNDING = 1e-9  # share of a limit that is no excess
_NEAR = 0.9  # share of a limit from which on a closer look is worth its time
_CLOSER = 41  # instants of a closer look


class Exceeded(NamedTuple):
    """A limit that a motion passes: of which joint, when the most, and by how much."""

    joint: str
    quantity: str
    t: float
    value: float
    limit: float
    unit: str
    remedy: str
    row: tuple[int, ...] = ()

    def __str__(self) -> str:
        of_row = f"motion {', '.join(map(str, self.row))}, " if self.row else ""
        if self.quantity == "assembly":
            lost = f"no positions at t = {self.t:.6g} s, since its closures cannot be met there."
            return f"{of_row}mechanism {self.joint!r}: {lost} {self.remedy}"
        found = f"{self.quantity} {self.value:.6g} {self.unit} at t = {self.t:.6g} s"
        return f"{of_row}joint {self.joint!r}: {found} found, the limit is {self.limit:.6g}. {self.remedy}"


@dataclass(frozen=True, eq=False)
class LimitCheck:
    """What `motion.check(robot)` found.

    `passed` says of each motion of a batch whether it keeps all limits. `exceeded` lists those it does not keep, one entry for
    each joint and quantity, the worst first. `use` holds the largest share of each limit that is used, of shape (..., n), by
    quantity: "position" (0 in the middle, 1 at a limit), "velocity", "torque"; 0 where there is no limit. `t` says when [s], and
    `names` whose limits these are: coordinates, then joints within loops of a mechanism; torques are those of its drives.
    "assembly" is there where a mechanism has no positions.
    """

    passed: Any
    exceeded: tuple[Exceeded, ...]
    names: dict[str, tuple[str, ...]]
    use: dict[str, FloatArray]
    t: dict[str, FloatArray]
    samples: int

    def __repr__(self) -> str:
        return brief(self, "names", "use", "t")

    def __bool__(self) -> bool:
        return not self.exceeded

    def __str__(self) -> str:
        if self:
            return f"All limits are kept, at {self.samples} instants."
        return "\n".join(map(str, self.exceeded))

    def require(self) -> None:
        """Raise where a limit is not kept: the worst one, and how many more there are."""
        if self.exceeded:
            more = f" {len(self.exceeded) - 1} more limits are passed; see str(motion.check(robot))." * (len(self.exceeded) > 1)
            raise InfeasibleError(f"{self.exceeded[0]}{more}")


class _Watched(NamedTuple):
    """A quantity with limits: of which joints or drives; values, limits, shares of them in use, and what gravity takes of them,
    all of shape (..., K, axes).
    """

    quantity: str
    axes: tuple[Any, ...]
    value: FloatArray
    limit: FloatArray
    share: FloatArray
    still: FloatArray

    @property
    def most(self) -> FloatArray:
        """Of all instants."""
        found: FloatArray = self.share.max(axis=-2)
        return found


def check(system: Any, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray, *, torques: bool) -> LimitCheck:
    """Compare samples of a motion, of shape (..., k, n), with the limits of a system: of coordinates, of joints within loops,
    and of drives.
    """
    view = system_of(system)
    if q.shape[-1] != len(view.coordinates):
        raise ShapeError(
            f"robot: {len(view.coordinates)} coordinates found, but the motion has {q.shape[-1]}. Is it of another robot?"
        )
    watched = _watched(view, system, q, qd, qdd, torques)
    found = [_exceeded(one, t, index) for one in watched for index in np.argwhere(~(one.most <= 1 + _ROUNDING))]
    worst = sorted(found, key=lambda pair: -pair[0] if np.isfinite(pair[0]) else -np.inf)
    passed = np.all([(one.most <= 1 + _ROUNDING).all(axis=-1) for one in watched], axis=0)
    names = {one.quantity: tuple(axis.name for axis in one.axes) for one in watched}
    peaks = {one.quantity: one.most for one in watched}
    instants = {one.quantity: t[np.argmax(one.share, axis=-2)] for one in watched}
    return LimitCheck(passed if passed.ndim else bool(passed), tuple(one for _, one in worst), names, peaks, instants, len(t))


def _watched(view: Any, system: Any, q: FloatArray, qd: FloatArray, qdd: FloatArray, torques: bool) -> list[_Watched]:
    """Everything that has limits."""
    axes, x, xd = tuple(view.coordinates), q, qd
    lost: Any = np.zeros(q.shape[:-1], dtype=bool)
    if isinstance(view, LoopSystem):
        y, yd = view.motion_beside(q, qd)
        axes, x, xd = (*axes, *view.axes_beside), np.concatenate([q, y], axis=-1), np.concatenate([qd, yd], axis=-1)
        lost = np.isnan(y).any(axis=-1)
    found = [_positions(axes, x), _velocities(axes, xd)]
    if torques:
        elsewhere = lost[..., None]  # where there are no positions, torques are those of rest where there are some
        at = np.where(elsewhere, view.q0, q) if lost.any() else q
        found += _torques(view, system, at, np.where(elsewhere, 0.0, qd), np.where(elsewhere, 0.0, qdd))
    if not lost.any():
        return found
    kept = [one._replace(share=np.where(lost[..., None], 0.0, one.share)) for one in found]
    return [*kept, _unassembled(view.name, lost)]


def _positions(axes: tuple[Any, ...], x: FloatArray) -> _Watched:
    lower, upper = (_limits(axes, name) for name in ("lower", "upper"))
    with np.errstate(invalid="ignore"):
        nearest = np.where((x - lower) < (upper - x), lower, upper)
    return _Watched("position", axes, x, nearest, _share_of_range(x, lower, upper), np.zeros_like(x))


def _velocities(axes: tuple[Any, ...], xd: FloatArray) -> _Watched:
    fastest = _limits(axes, "velocity")
    return _Watched("velocity", axes, xd, fastest + 0 * xd, _share(xd, fastest), np.zeros_like(xd))


def _torques(view: Any, system: Any, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> list[_Watched]:
    """Those of drives, where these are not the coordinates; none without limits."""
    driven = view.drives_beside(q, qd, qdd) if isinstance(view, LoopSystem) else None
    axes = tuple(view.coordinates) if driven is None else driven.axes
    strongest = _limits(axes, "effort")
    if not np.isfinite(strongest).any():
        return []
    tau, still = (inverse_dynamics(system, q, qd, qdd), gravity_torque(system, q)) if driven is None else driven[1:]
    return [_Watched("torque", axes, tau, strongest + 0 * tau, _share(tau, strongest), still)]


def _limits(axes: tuple[Any, ...], name: str) -> FloatArray:
    return np.array([getattr(axis.limits, name) for axis in axes])


def _unassembled(name: str, lost: Any) -> _Watched:
    """Instants at which a mechanism has no positions."""
    value = np.where(lost, np.nan, 0.0)[..., None]
    return _Watched("assembly", (Coordinate(name),), value, value, np.where(lost, np.inf, 0.0)[..., None], value)


def around_peaks(found: LimitCheck, t: FloatArray) -> FloatArray:
    """Instants between the neighbours of those at which a motion uses limits most, where it comes near them."""
    near = [found.t[name][use > _NEAR] for name, use in found.use.items() if name != "assembly"]
    at = np.searchsorted(t, np.unique(np.concatenate(near)))
    before, after = t[np.maximum(at - 1, 0)], t[np.minimum(at + 1, len(t) - 1)]
    share = np.linspace(0.0, 1.0, _CLOSER)
    return np.unique(np.minimum(before[:, None] + (after - before)[:, None] * share, t[-1]))


def together(one: LimitCheck, other: LimitCheck) -> LimitCheck:
    """What was found in two sets of instants: of each quantity of each joint the worse."""
    use, t = one.use | other.use, one.t | other.t
    for name in one.use.keys() & other.use.keys():
        use[name] = np.maximum(one.use[name], other.use[name])
        t[name] = np.where(other.use[name] > one.use[name], other.t[name], one.t[name])
    found: dict[tuple[object, ...], Exceeded] = {}
    for entry in (*one.exceeded, *other.exceeded):
        key = (entry.joint, entry.quantity, entry.row)
        worse = key not in found or not excess(entry) <= excess(found[key])
        found |= {key: entry} if worse else {}
    passed = np.logical_and(one.passed, other.passed)
    worst = sorted(found.values(), key=lambda entry: -excess(entry))
    whole = tuple(worst), one.names | other.names, use, t, one.samples + other.samples
    return LimitCheck(passed if passed.ndim else bool(passed), *whole)


def excess(entry: Exceeded) -> float:
    """How far beyond its limit, as a share; what is not a number is farthest."""
    beyond = abs(entry.value - entry.limit) if entry.quantity == "position" else abs(entry.value) - entry.limit
    share = beyond / max(abs(entry.limit), 1e-9)
    return share if np.isfinite(share) else np.inf


def _share(value: FloatArray, limit: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.abs(value) / limit
    return np.where((value == 0) & (limit == 0), 0.0, share)


def _share_of_range(q: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """How far from the middle of its range a joint is; beyond a limit on one side only, 1 and more."""
    with np.errstate(invalid="ignore"):
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        share = np.abs(q - middle) / np.where(half > 0, half, 1.0)
    one_sided = 1 + np.maximum(lower - q, q - upper)
    return np.where(np.isfinite(half), share, np.where(one_sided > 1, one_sided, 0.0))


def _exceeded(watched: _Watched, t: FloatArray, index: Any) -> tuple[float, Exceeded]:
    *row, joint = (int(i) for i in index)
    axis, quantity = watched.axes[joint], watched.quantity
    k = int(np.argmax(watched.share[tuple(row)][:, joint]))  # NaN, which no limit is kept by, is the largest of all
    value, limit, share, still = (float(part[(*row, k, joint)]) for part in watched[2:])
    unit = {"position": axis.unit, "velocity": f"{axis.unit}/s", "torque": axis.force_unit, "assembly": ""}[quantity]
    remedy = _REMEDIES[quantity](value, limit, still)
    return share, Exceeded(axis.name, quantity, float(t[k]), value, limit, unit, remedy, tuple(row))


def _slower(value: float, limit: float, _: float) -> str:
    factor = f"{abs(value) / limit * 1.001:.4g}" if limit > 0 else ""
    return f"Take {factor} times the time: motion.stretched({factor})." if factor else "This joint may not move."


def _weaker(value: float, limit: float, gravity: float) -> str:
    if not abs(gravity) < limit:
        return f"Gravity alone takes {gravity:.6g} there, so no timing helps: choose another path or carry less."
    factor = np.sqrt(abs(value - gravity) / (limit - np.sign(value) * gravity))
    more = f"{factor * 1.001:.4g}"
    return f"Take about {more} times the time, motion.stretched({more}); see dal.scale_trajectory."


_REMEDIES: dict[str, Callable[[float, float, float], str]] = {
    "position": lambda value, limit, _: "Choose points within the limits, or another branch of the inverse kinematics.",
    "velocity": _slower,
    "torque": _weaker,
    "assembly": lambda value, limit, _: "Lead the motion elsewhere.",
}
