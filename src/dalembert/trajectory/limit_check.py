"""Whether a motion keeps the limits of a robot: which joint passes which limit, when, by how much, and what to do.

Torques grow with the square of speed, but for gravity and friction: stretched by c, τ(t) becomes g + (τ − g)/c²
[Siciliano, Eqs. 7.117-7.126], from which the advised factor is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..brief import brief
from ..checks import FloatArray
from ..dynamics.engine import system_of
from ..dynamics.functions import gravity_torque, inverse_dynamics
from ..dynamics.system import Coordinate
from ..errors import InfeasibleError, ShapeError

_ROUNDING = 1e-9  # share of a limit that is no excess
_NEAR = 0.9  # share of a limit from which on a closer look is worth its time
_CLOSER, _MOST_PEAKS = 41, 1000  # instants of a closer look, and how many looks


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
        found = f"{self.quantity} {self.value:.6g} {self.unit} at t = {self.t:.6g} s"
        return f"{of_row}joint {self.joint!r}: {found} found, the limit is {self.limit:.6g}. {self.remedy}"


@dataclass(frozen=True, eq=False)
class LimitCheck:
    """What `motion.check(robot)` found.

    `passed` says of each motion of a batch whether it keeps all limits. `exceeded` lists those it does not keep, one entry for
    each joint and quantity, the worst first. `use` holds the largest share of each limit that is used, of shape (..., n), by
    quantity: "position" (0 in the middle, 1 at a limit), "velocity", "torque"; 0 where there is no limit. `t` says when [s].
    """

    passed: Any
    exceeded: tuple[Exceeded, ...]
    use: dict[str, FloatArray]
    t: dict[str, FloatArray]
    samples: int

    def __repr__(self) -> str:
        return brief(self, "use", "t")

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


def check(system: Any, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray, *, torques: bool) -> LimitCheck:
    """Compare samples of a motion, of shape (..., k, n), with the limits of a system's coordinates."""
    axes = system_of(system).coordinates
    if q.shape[-1] != len(axes):
        raise ShapeError(f"robot: {len(axes)} coordinates found, but the motion has {q.shape[-1]}. Is it of another robot?")
    names = ("lower", "upper", "velocity", "effort")
    lower, upper, fastest, strongest = (np.array([getattr(axis.limits, name) for axis in axes]) for name in names)
    below = (q - lower) < (upper - q)
    values = {"position": (q, np.where(below, lower, upper)), "velocity": (qd, fastest + 0 * qd)}
    use = {"position": _share_of_range(q, lower, upper), "velocity": _share(qd, fastest)}
    still = np.zeros_like(q)
    if torques and np.isfinite(strongest).any():
        tau, still = inverse_dynamics(system, q, qd, qdd), gravity_torque(system, q)
        values["torque"], use["torque"] = (tau, strongest + 0 * tau), _share(tau, strongest)
    found = [
        _exceeded(axes[index[-1]], quantity, t, index, values[quantity], share, still)
        for quantity, share in use.items()
        for index in np.argwhere(~(share.max(axis=-2) <= 1 + _ROUNDING))
    ]
    worst = sorted(found, key=lambda pair: -pair[0] if np.isfinite(pair[0]) else -np.inf)
    passed = np.all([(share.max(axis=-2) <= 1 + _ROUNDING).all(axis=-1) for share in use.values()], axis=0)
    peaks = {name: share.max(axis=-2) for name, share in use.items()}
    instants = {name: t[np.argmax(share, axis=-2)] for name, share in use.items()}
    return LimitCheck(passed if passed.ndim else bool(passed), tuple(one for _, one in worst), peaks, instants, len(t))


def around_peaks(found: LimitCheck, t: FloatArray) -> FloatArray:
    """Instants between the neighbours of those at which limits are used most; of many motions, those that come near one."""
    near = [found.t[name][use > _NEAR] for name, use in found.use.items()]
    at = np.searchsorted(t, np.unique(np.concatenate(near)))[:_MOST_PEAKS]
    before, after = t[np.maximum(at - 1, 0)], t[np.minimum(at + 1, len(t) - 1)]
    share = np.linspace(0.0, 1.0, _CLOSER)
    return np.unique(np.minimum(before[:, None] + (after - before)[:, None] * share, t[-1]))


def together(one: LimitCheck, other: LimitCheck) -> LimitCheck:
    """What was found in two sets of instants: of each quantity of each joint the worse."""
    use = {name: np.maximum(one.use[name], other.use[name]) for name in one.use}
    t = {name: np.where(other.use[name] > one.use[name], other.t[name], one.t[name]) for name in one.use}
    found: dict[tuple[object, ...], Exceeded] = {}
    for entry in (*one.exceeded, *other.exceeded):
        key = (entry.joint, entry.quantity, entry.row)
        worse = key not in found or not _excess(entry) <= _excess(found[key])
        found |= {key: entry} if worse else {}
    passed = np.logical_and(one.passed, other.passed)
    worst = sorted(found.values(), key=lambda entry: -_excess(entry))
    return LimitCheck(passed if passed.ndim else bool(passed), tuple(worst), use, t, one.samples + other.samples)


def _excess(entry: Exceeded) -> float:
    """How far beyond its limit, as a share; what is not a number is farthest."""
    excess = abs(entry.value - entry.limit) if entry.quantity == "position" else abs(entry.value) - entry.limit
    share = excess / max(abs(entry.limit), 1e-9)
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


def _exceeded(
    axis: Coordinate,
    quantity: str,
    t: FloatArray,
    index: Any,
    pair: tuple[FloatArray, FloatArray],
    share: FloatArray,
    still: FloatArray,
) -> tuple[float, Exceeded]:
    *row, joint = (int(i) for i in index)
    k = int(np.argmax(share[tuple(row)][:, joint]))  # NaN, which no limit is kept by, is the largest of all
    at = (*row, k, joint)
    value, limit = float(pair[0][at]), float(pair[1][at])
    unit = {"position": axis.unit, "velocity": f"{axis.unit}/s", "torque": axis.force_unit}[quantity]
    remedy = _REMEDIES[quantity](value, limit, float(still[at]))
    return float(share[at]), Exceeded(axis.name, quantity, float(t[k]), value, limit, unit, remedy, tuple(row))


def _slower(value: float, limit: float, _: float) -> str:
    factor = f"{abs(value) / limit * 1.001:.4g}" if limit > 0 else ""
    return f"Take {factor} times the time: motion.stretched({factor})." if factor else "This joint may not move."


def _weaker(value: float, limit: float, gravity: float) -> str:
    if not abs(gravity) < limit:
        return f"Gravity alone takes {gravity:.6g} there, so no timing helps: choose another path or carry less."
    factor = np.sqrt(abs(value - gravity) / (limit - np.sign(value) * gravity))
    more = f"{factor * 1.001:.4g}"
    return f"Take about {more} times the time, motion.stretched({more}); see dal.scale_trajectory."


_REMEDIES = {
    "position": lambda value, limit, _: "Choose points within the limits, or another branch of the inverse kinematics.",
    "velocity": _slower,
    "torque": _weaker,
}
