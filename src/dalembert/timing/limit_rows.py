"""Limits along a path as rows: lo − p/ṡ ≤ m s̈ + c ṡ² + v ṡ + g + d ≤ hi + p/ṡ, and speeds ṡ that bound by themselves.

    torque          m, c, v, g, d of path_torques;  lo, hi = ∓ limit
    acceleration    m = q′, c = q″;                 lo, hi = ∓ limit
    power           as torque, with lo = hi = 0 and p = limit / |q′|
    current         torque of the motor S τ;        lo, hi = ∓ k_t · limit, times or by the efficiency of the gear
    voltage         R/k_t S τ + k_e T q′ ṡ;         lo, hi = ∓ limit

with ω = T q̇ and τ_m = S τ of the drive train. Through a gear with losses a motor gives τ_m / η while it drives and η τ_m while it
is driven, the larger of the two where it turns forwards: two rows, and the lower limit, which holds while it is driven, in the
second. A motor that stands all along gives τ_m, and one that turns round may do either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..codegen import Kernel, build
from ..expr import ops, trace
from ..mechanism.joint_motion import joint_numbers, joint_path
from ..model import DriveTrain
from ..trajectory.motion import Rates
from .path_torques import PathTorques, path_torques

_FASTEST = 1e9  # ṡ where no speed is limited
NO_LIMIT = 1e18  # in place of infinity, so that products stay numbers


class LimitRows(NamedTuple):
    """Rows of limits at samples, each of shape (P, K, R); `p` is None where no limit falls with the speed."""

    m: FloatArray
    c: FloatArray
    v: FloatArray
    g: FloatArray
    d: FloatArray
    lo: FloatArray
    hi: FloatArray
    p: FloatArray | None = None

    def value(self, sd: FloatArray, sdd: FloatArray) -> FloatArray:
        """The middle of the row, at rates of shape (P, K)."""
        z, u = sd[..., None], sdd[..., None]
        found: FloatArray = self.m * u + (self.c * z + self.v) * z + self.g + self.d
        return found


@dataclass(frozen=True)
class Limit:
    """A kind of limit: what it bounds, of which coordinates or motors, and how large it is."""

    kind: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    size: FloatArray

    @property
    def acts(self) -> bool:
        """Whether any of them is finite."""
        return bool(np.isfinite(self.size).any())


class DriveLimits(NamedTuple):
    """Limits of drives that are not the coordinates, beside those of torques: powers, and of their motors."""

    power: Limit
    train: DriveTrain | None = None
    current: Limit | None = None
    voltage: Limit | None = None
    speed: Limit | None = None

    @property
    def of_torques(self) -> bool:
        """Whether any of them bounds torques beside speeds."""
        return self.power.acts or any(limit is not None and limit.acts for limit in (self.current, self.voltage))


class TimingLimits(NamedTuple):
    """All limits of a timing; a kind that is not there has infinite sizes."""

    torque: Limit
    velocity: Limit
    acceleration: Limit
    power: Limit
    train: DriveTrain | None = None
    current: Limit | None = None
    voltage: Limit | None = None
    speed: Limit | None = None  # of motors
    drives: Limit | None = None  # of joints that are not the coordinates
    joints: Limit | None = None  # speeds of joints within loops
    of_drives: DriveLimits | None = None

    @property
    def speeds(self) -> FloatArray:
        """The largest speeds of coordinates, and of joints within loops."""
        return self.velocity.size if self.joints is None else np.concatenate([self.velocity.size, self.joints.size])


class RowNames(NamedTuple):
    """What each row is: the kind of its limit and the joint or motor, in the order of the rows; `falling` are the last ones, and
    `facets` of what drives can do together the first.
    """

    kinds: tuple[str, ...]
    names: tuple[str, ...]
    falling: int
    facets: int


RowBlock = Callable[[Rates, PathTorques], LimitRows]


class DriveRows(NamedTuple):
    """Rows of drives that share torques: what makes them, the drives that each is about, and whether they are facets; kinds of
    rows, if not all are torques; and rows of powers, which come last.
    """

    block: RowBlock
    names: tuple[tuple[str, ...], ...]
    facets: bool
    kinds: tuple[str, ...] = ()
    power: RowBlock | None = None
    powers: tuple[str, ...] = ()


def kept(limit: Limit) -> Any:
    """Which of the coordinates are limited; all of them without copying anything."""
    finite = np.isfinite(limit.size)
    return slice(None) if finite.all() else np.flatnonzero(finite)


def everywhere(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Values (R,) that are the same at all samples, without copying them; `np.broadcast_to` takes twenty times as long."""
    own = np.ascontiguousarray(values)
    found: FloatArray = np.ndarray(shape, own.dtype, own, strides=(*(0,) * (len(shape) - 1), *own.strides))
    found.flags.writeable = False
    return found


def _torque_rows(limit: Limit) -> RowBlock:
    keep = kept(limit)
    size = limit.size[keep]

    def rows(_: Rates, parts: PathTorques) -> LimitRows:
        m, c, g, v, d = (part[..., keep] for part in parts)
        return LimitRows(m, c, v, g, d, everywhere(-size, m.shape), everywhere(size, m.shape))

    return rows


def _acceleration_rows(limit: Limit) -> RowBlock:
    keep = kept(limit)
    size = limit.size[keep]

    def rows(path: Rates, _: PathTorques) -> LimitRows:
        m, c = path[1][..., keep], path[2][..., keep]
        zero = np.zeros_like(m)
        return LimitRows(m, c, zero, zero, zero, everywhere(-size, m.shape), everywhere(size, m.shape))

    return rows


def power_rows(limit: Limit) -> RowBlock:
    """Rows of power: torques within p/ṡ."""
    keep = kept(limit)
    size = limit.size[keep]

    def rows(path: Rates, parts: PathTorques) -> LimitRows:
        m, c, g, v, d = (part[..., keep] for part in parts)
        zero = np.zeros_like(m)
        room = size / np.maximum(np.abs(path[1][..., keep]), size / NO_LIMIT)
        return LimitRows(m, c, v, g, d, zero, zero, room)

    return rows


def _motor_parts(train: DriveTrain, keep: Any, parts: PathTorques, scale: FloatArray) -> list[FloatArray]:
    """m, c, g, v, d of the torques of some motors, times a scale."""
    share = train.sharing[keep] * scale[:, None]
    return [part @ share.T for part in parts]


class _Ways(NamedTuple):
    """Which way motors turn along a path, (P, K, motors): T q′, forwards or about to, backwards or about to, or not at all."""

    speed: FloatArray
    forwards: Any
    backwards: Any
    still: Any

    @staticmethod
    def along(path: Rates, matrix: FloatArray) -> _Ways:
        """Of some motors."""
        speed, bend = (part @ matrix.T for part in path[1:3])
        return _Ways(speed, speed >= 0, speed <= 0, (speed == 0) & (bend == 0))


def current_rows(limit: Limit, train: DriveTrain) -> RowBlock:
    """Rows of current, while motors drive and while they are driven."""
    keep = np.flatnonzero(np.isfinite(limit.size))
    k_t, eta = train.column("torque_constant")[keep], train.column("efficiency")[keep]

    def rows(path: Rates, parts: PathTorques) -> LimitRows:
        m, c, g, v, d = _motor_parts(train, keep, parts, 1.0 / k_t)
        ways = _Ways.along(path, train.matrix[keep])
        hi = limit.size[keep] * np.where(ways.still, 1.0, np.where(ways.forwards, eta, 1.0 / eta))
        lo = -limit.size[keep] * np.where(ways.still, 1.0, np.where(ways.backwards, eta, 1.0 / eta))
        return LimitRows(m, c, v, g, d, lo, hi)

    return rows


def voltage_rows(limit: Limit, train: DriveTrain, driving: bool) -> RowBlock:
    """Rows of voltage while the motors drive, or while they are driven."""
    keep = np.flatnonzero(np.isfinite(limit.size))
    R, k_t, k_e, eta = (train.column(key)[keep] for key in ("resistance", "torque_constant", "k_e", "efficiency"))
    size, ideal = limit.size[keep], eta == 1.0

    def rows(path: Rates, parts: PathTorques) -> LimitRows:
        m, c, g, v, d = _motor_parts(train, keep, parts, R / k_t * (1.0 / eta if driving else eta))
        ways = _Ways.along(path, train.matrix[keep])
        if driving and ways.still.any():
            m, c, g, v, d = (np.where(ways.still, eta, 1.0) * part for part in (m, c, g, v, d))
        hi = np.where(ways.forwards | ideal | (not driving), size, NO_LIMIT)
        lo = np.where(ways.backwards | ideal | (not driving), -size, -NO_LIMIT)
        return LimitRows(m, c, v + k_e * ways.speed, g, d, lo, hi)

    return rows


@lru_cache(maxsize=64)
def _largest_share(n: int) -> Kernel:
    """The largest of |rate| / limit, and at least what stands for no limit: compiled, as NumPy is slow along short axes."""

    def largest(rate: Any, inverse: Any) -> Any:
        return reduce(ops.maximum, [ops.absolute(a) * b for a, b in zip(rate, inverse, strict=True)], 1.0 / _FASTEST)

    return build(trace(largest, {"rate": (n,), "inverse": (n,)}, ["share"], name="largest_share"))


def _motor_speeds(rate: Callable[[Rates], FloatArray], matrix: FloatArray, path: Rates) -> FloatArray:
    return rate(path) @ matrix.T


class RowMaker:
    """From samples of paths to rows of all limits."""

    def __init__(self, system: Any, limits: TimingLimits, threads: int | None, drives: DriveRows | None = None) -> None:
        self.system, self.limits, self.threads, self.drives = system, limits, threads, drives
        self.blocks: list[RowBlock] = []
        kinds: list[tuple[str, str]] = []

        def add(block: RowBlock, limit: Limit) -> None:
            self.blocks.append(block)
            kinds.extend((limit.kind, name) for name, size in zip(limit.names, limit.size, strict=True) if np.isfinite(size))

        if drives is not None:
            self.blocks.append(drives.block)
            of = drives.kinds or ("torque",) * len(drives.names)
            kinds.extend((kind, " ".join(names)) for kind, names in zip(of, drives.names, strict=True))
        if limits.torque.acts:
            add(_torque_rows(limits.torque), limits.torque)
        if limits.acceleration.acts:
            add(_acceleration_rows(limits.acceleration), limits.acceleration)
        if limits.train is not None and limits.current is not None and limits.current.acts:
            add(current_rows(limits.current, limits.train), limits.current)
        if limits.train is not None and limits.voltage is not None and limits.voltage.acts:
            add(voltage_rows(limits.voltage, limits.train, True), limits.voltage)
            if (limits.train.column("efficiency") < 1.0).any():
                add(voltage_rows(limits.voltage, limits.train, False), limits.voltage)
        if limits.power.acts:
            add(power_rows(limits.power), limits.power)
        falling = int(np.isfinite(limits.power.size).sum())
        if drives is not None and drives.power is not None:
            self.blocks.append(drives.power)
            kinds.extend(("power", name) for name in drives.powers)
            falling += len(drives.powers)
        facets = len(drives.names) if drives is not None and drives.facets else 0
        self.names = RowNames(tuple(kind for kind, _ in kinds), tuple(name for _, name in kinds), falling, facets)

    def with_drives(self, drives: DriveRows) -> RowMaker:
        """The same with these rows of drives."""
        return RowMaker(self.system, self.limits, self.threads, drives)

    def __call__(self, path: Rates, parts: PathTorques | None = None) -> LimitRows:
        """The rows at samples (P, K, n)."""
        if parts is None:
            parts = self.torques(path)
        found = [block(path, parts) for block in self.blocks]
        if not found:
            empty = np.zeros((*path[0].shape[:-1], 0))
            return LimitRows(*[empty] * 7)
        if len(found) == 1:
            return found[0]
        columns = [np.concatenate(part, axis=-1) for part in zip(*(block[:7] for block in found), strict=True)]
        return LimitRows._make([*columns, found[-1].p])

    def torques(self, path: Rates) -> PathTorques:
        """The parts of the torques there."""
        return path_torques(self.system, *path[:3], threads=self.threads)

    def slowness(self, path: Rates) -> FloatArray:
        """1 / the largest ṡ that limits of speed allow, shape (P, K); nearly 0 where there is none."""
        speeds = [(limit, rate) for limit, rate in self._speeds() if limit.acts]
        if not speeds:
            return np.full(path[1].shape[:-1], 1.0 / _FASTEST)
        shares = []
        for limit, rate in speeds:
            moving = rate(path)
            shares.append(_largest_share(moving.shape[-1])(moving, 1.0 / limit.size, threads=self.threads))
        return reduce(np.maximum, shares)

    def speed_use(self, path: Rates) -> FloatArray:
        """The share of every limit of speed that ṡ = 1 uses, shape (P, K, R)."""
        found = []
        for limit, rate in self._speeds():
            moving = np.abs(rate(path))
            found.append(np.multiply(moving, 1.0 / limit.size, out=moving))
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)

    def speeds(self, path: Rates) -> FloatArray:
        """Speeds over ṡ of all that has a limit of speed, (P, K, R)."""
        found = [rate(path) for _, rate in self._speeds()]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)

    def _speeds(self) -> list[tuple[Limit, Callable[[Rates], FloatArray]]]:
        """Limits of speeds, and what they limit, over ṡ."""
        limits = self.limits
        found: list[tuple[Limit, Callable[[Rates], FloatArray]]] = [(limits.velocity, lambda path: path[1])]
        if limits.joints is not None:
            which = joint_numbers(self.system, limits.joints.names)
            found.append((limits.joints, lambda path: joint_path(self.system, path, self.threads, which).x1))
        for train, speed, rate in ((limits.train, limits.speed, lambda path: path[1]), self._drive_speeds()):
            if train is not None and speed is not None:
                found.append((speed, partial(_motor_speeds, rate, train.matrix)))
        return found

    def _drive_speeds(self) -> tuple[DriveTrain | None, Limit | None, Callable[[Rates], FloatArray]]:
        """The motors of drives that are not the coordinates, their speeds, and those of the drives."""
        own = self.limits.of_drives
        if own is None or self.limits.drives is None:
            return None, None, lambda path: path[1]
        which = joint_numbers(self.system, self.limits.drives.names)
        return own.train, own.speed, lambda path: joint_path(self.system, path, self.threads, which).x1

    @property
    def speed_names(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of every speed that is limited, in the order of `speed_use`."""
        return tuple((limit.kind, name) for limit, _ in self._speeds() for name in limit.names)


__all__ = [
    "NO_LIMIT",
    "DriveLimits",
    "DriveRows",
    "Limit",
    "LimitRows",
    "RowBlock",
    "RowMaker",
    "TimingLimits",
    "current_rows",
    "everywhere",
    "kept",
    "power_rows",
    "voltage_rows",
]
