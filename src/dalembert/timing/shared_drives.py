"""Drives of a mechanism that are others than its coordinates, or more: A, the rows of ∂x/∂q of the driven joints.

All u with Aᵀ u = τ move the mechanism alike [Freeman, Eq. 4-80]: they differ in what drives press against each other. In parts of
sizes D, limits or as large,

    u = D (S τ + P w),   S = A (Aᵀ A)⁻¹,   P = 1 − S Aᵀ                    with D A for A                          (1)

S τ has the least Σ (u / D)², and P w is what drives press, for any w. With as many drives as freedoms there is none of it. Forces
that are held are further equations, and columns of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.functions import forces_of
from ..loads.load_distribution import distribute_load
from ..loads.load_options import torque_limits
from ..loads.sharing_recipe import SHARING
from ..mechanism.joint_motion import driven_rows, joint_numbers, joint_path, other_drives
from ..mechanism.mechanism import Mechanism, PlacedMechanism
from ..mechanism.torque_sets import filled, scaled
from ..trajectory.motion import Rates
from .drive_motors import DriveMotors, strongest
from .limit_rows import DriveLimits, DriveRows, Limit, LimitRows, kept
from .loop_joints import jumping_laws
from .path_grid import rates_of
from .path_torque_rates import PathTorqueRates
from .path_torques import PathTorques

_STEP = 1e-4  # of a coordinate, over which S and P are differenced to both sides: the error is some 1e-9 of their rates


def drives_limit(system: Any, given: Any, gripped: bool = False) -> Limit | None:
    """The limits of the drives of a mechanism that are not just its coordinates, or grip; None for everything else."""
    placed = system.mechanism if isinstance(system, PlacedMechanism) else system
    if not isinstance(placed, Mechanism):
        return None
    names = tuple(placed.actuated) if gripped else other_drives(placed)
    if not names:
        return None
    turns = {joint.name: joint.turns for joint in placed.robot.structure.coordinates}
    return Limit("torque", names, tuple("N m" if turns[name] else "N" for name in names), torque_limits(given, placed, names))


class Split(NamedTuple):
    """S (..., m, n) and P (..., m, m) of (1) at configurations."""

    S: FloatArray
    P: FloatArray


class SharedDrives:
    """The drives of a system, with their limits; `rates` are those of their torques."""

    slack = 0  # drives that stand for what is left of conditions
    dear = False  # whether use of limits takes a programme for each place

    def __init__(
        self, system: Any, limit: Limit, threads: int | None, rates: Limit | None = None, further: DriveLimits | None = None
    ) -> None:
        self.system, self.limit, self.threads = system, limit, threads
        self.further = further
        self.motors = None if further is None else DriveMotors.of(further)
        self.mechanism: Any = system.mechanism if isinstance(system, PlacedMechanism) else system
        self.sizes = _sizes(limit, rates)

    @property
    def limited(self) -> tuple[str, ...]:
        """The drives that have limits."""
        return tuple(name for name, size in zip(self.limit.names, self.limit.size, strict=True) if np.isfinite(size))

    @property
    def equations(self) -> int:
        """How many equations the torques of the drives have to meet."""
        return len(engine.system_of(self.system).coordinates)

    @property
    def width(self) -> int:
        """The same, with those of what is left of conditions."""
        return self.equations

    @property
    def free(self) -> int:
        """In how many ways drives press against each other."""
        return len(self.limit.names) - self.equations

    def able(self) -> SharedDrives:
        """The same with the largest torques that motors leave at rest."""
        if self.further is None:
            return self
        found = copy(self)
        found.limit = replace(self.limit, size=strongest(self.further, self.limit.size))
        return found

    @property
    def results(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of everything whose use is told."""
        return (*(("torque", name) for name in self.limited), *self.motor_names)

    @property
    def motor_names(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of rows of motors."""
        return () if self.motors is None else self.motors.names

    def names_of(self, facet: Sequence[int]) -> tuple[str, ...]:
        """The drives that are at their limits on a facet: all others."""
        return tuple(name for k, name in enumerate(self.limit.names) if k not in facet)

    def terms(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> list[FloatArray]:
        """τ, A, and forces at closures."""
        run: Any = engine.kernel(self.system, SHARING, forces_of(None, None, None, None)[0])
        return [np.asarray(part) for part in run(q, qd, qdd, threads=self.threads)]

    def scaled(self, q: FloatArray) -> FloatArray:
        """A at configurations (..., n) in parts of the limits, (..., m, n)."""
        return scaled(driven_rows(self.system, q, self.threads), self.limit.size)

    def parts(self, path: Rates, parts: PathTorques) -> PathTorques:
        """What the torques of the drives have to make along a path, with what is left of conditions."""
        return parts

    def wanted(self, motion: Rates, tau: FloatArray) -> FloatArray:
        """What they have to make along a motion (..., n) that takes τ."""
        return tau

    def told_of(self, use: FloatArray) -> FloatArray:
        """Shares of limits of everything that has one and can be at it, from those of all drives and conditions."""
        return use[..., kept(self.limit)]

    def use(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """|u| / limit of the limited drives, with torques whose largest one is the least, (K, drives)."""
        tau, A, *_ = self.terms(q, qd, qdd)
        return np.abs(filled(scaled(A, self.limit.size), tau).use)[:, kept(self.limit)]

    def torques(self, q: FloatArray, qd: FloatArray, qdd: FloatArray, pressed: FloatArray | None) -> FloatArray:
        """u along a motion (K, n), with w in parts of sizes (K, m).

        Without w, those whose largest share of a limit is the least; without limits of torque either, those with the least Σ u².
        """
        if pressed is None:
            given: dict[str, Any] = {"objective": "ratio", "limits": self.limit.size} if self.limited else {}
            return distribute_load(self.system, q, qd, qdd, threads=self.threads, **given, **self.asked).torques
        S, P = self.split(q)
        b = np.concatenate([self.terms(q, qd, qdd)[0], self.held((q, qd, qdd, q))], axis=-1)
        found: FloatArray = self.sizes * (S @ b[..., None] + P @ pressed[..., None])[..., 0]
        return found

    @property
    def asked(self) -> dict[str, Any]:
        """What `distribute_load` is asked for beside limits."""
        return {}

    def columns(self, q: FloatArray) -> FloatArray:
        """A of (1), of all equations, in parts of sizes, (..., m, equations)."""
        found: FloatArray = driven_rows(self.system, q, self.threads) * self.sizes[:, None]
        return found

    def split(self, q: FloatArray) -> Split:
        """(1) at configurations (..., n)."""
        A = self.columns(q)
        AT = np.swapaxes(A, -1, -2)
        S = A @ np.linalg.inv(AT @ A)
        return Split(S, np.eye(A.shape[-2]) - S @ AT)

    def split_rates(self, path: Rates) -> Split:
        """How S and P change along a path: differences over q ± ε q′ + ε² q″/2."""
        back, ahead, step = beside(path)
        return Split(*((b - a) / (2 * step[..., None]) for a, b in zip(self.split(back[0]), self.split(ahead[0]), strict=True)))

    def bases(self, q: FloatArray) -> FloatArray:
        """What drives can press with at configurations (K, n), as orthonormal columns, in parts of sizes: (K, m, free)."""
        return np.linalg.qr(self.columns(q), mode="complete")[0][..., self.equations :]

    def right(self, path: Rates, parts: PathTorques) -> PathTorques:
        """The right sides of all equations along a path, (..., equations)."""
        return parts

    def right_rates(self, path: Rates, rates: PathTorqueRates) -> PathTorqueRates:
        """How they change along it."""
        return rates

    def held(self, motion: Rates) -> FloatArray:
        """The right sides of what is held along a motion, (..., equations − n)."""
        return motion[0][..., :0]

    def own_friction(self, path: Rates) -> FloatArray:
        """Dry friction of the driven joints themselves as they move along a path, in parts of sizes, (..., m)."""
        joints = joint_numbers(self.system, self.limit.names)
        laws, found = jumping_laws(self.system), np.zeros((*path[0].shape[:-1], len(joints)))
        own = [k for k, joint in enumerate(joints) if joint in laws]
        if own:
            sign = np.sign(joint_path(self.system, path, self.threads, [joints[k] for k in own]).x1)
            mean, difference, excess = np.array(
                [(law.mean, law.difference, law.excess) for law in (laws[joints[k]] for k in own)]
            ).T
            found[..., own] = (mean * sign + difference * sign**2) * (1 + excess) / self.sizes[own]
        return found

    def drive_path(self, path: Rates) -> Rates:
        """The driven joints along a path, (..., m)."""
        x, x1, x2 = joint_path(self.system, path, self.threads, joint_numbers(self.system, self.limit.names))
        return x, x1, x2, x2

    def rows_of(self, path: Rates) -> FloatArray:
        """How rows of limits follow from torques in parts of sizes, (..., rows, m): drives, conditions, motors."""
        found = [self._own_rows(path)]
        if self.motors is not None and self.motors.blocks:
            found += [self.sizes * part for part in self.motors.by_torques(self.drive_path(path))]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-2)

    def _own_rows(self, path: Rates) -> FloatArray:
        """Those of drives and conditions."""
        own = np.diag(self.sizes)[kept(self.limit)]
        return np.broadcast_to(own, (*path[0].shape[:-1], *own.shape))

    def powers_of(self, path: Rates) -> FloatArray | None:
        """How rows of powers follow from torques in parts of sizes, if there are any."""
        if self.motors is None or self.motors.power is None:
            return None
        return self.sizes * self.motors.power_by_torques(self.drive_path(path))

    def told(self, use: FloatArray) -> FloatArray:
        """Shares of limits in use of `results`, from those of rows."""
        return use

    def fixed_rows(self) -> DriveRows:
        """Rows of drives, conditions and motors, with the torques S τ; those of powers come apart."""
        motors = self.motors
        own = [("torque", name) for name in self._row_names()]
        kinds, names = zip(*own, *self.motor_names, strict=True) if own or self.motor_names else ((), ())

        def rows(path: Rates, parts: PathTorques) -> LimitRows:
            found = [self._fixed_own(path, parts)]
            if motors is not None and motors.blocks:
                found += motors.rows(self.drive_path(path), self.fixed_torques(path, parts))
            columns = zip(*(one[:7] for one in found), strict=True)
            return LimitRows._make([*(np.concatenate(column, axis=-1) for column in columns), None])

        found = DriveRows(rows, tuple((name,) for name in names), False, tuple(kinds))
        if motors is None or motors.power is None:
            return found
        of_drives = motors.power

        def powers(path: Rates, parts: PathTorques) -> LimitRows:
            return of_drives(self.drive_path(path), self.fixed_torques(path, parts))

        return found._replace(power=powers, powers=motors.powers)

    def _row_names(self) -> tuple[str, ...]:
        """What rows of drives and conditions are about."""
        return self.limited

    def fixed_torques(self, path: Rates, parts: PathTorques) -> PathTorques:
        """S τ in its parts, (..., m)."""
        S = self.sizes[:, None] * self.split(path[0]).S
        return PathTorques(*(_times(S, part) for part in self.right(path, parts)))

    def _shares(self, path: Rates) -> tuple[FloatArray, FloatArray]:
        """S and S′ along a path, in torques."""
        D = self.sizes[:, None]
        return D * self.split(path[0]).S, D * self.split_rates(path).S

    def fixed_rates(self, path: Rates, parts: PathTorques, rates: PathTorqueRates) -> PathTorqueRates:
        """How these parts change along a path: S τ′ + S′ τ."""
        S, S1 = self._shares(path)
        both = zip(self.right_rates(path, rates), self.right(path, parts), strict=True)
        return PathTorqueRates(*(_times(S, change) + _times(S1, part) for change, part in both))

    def _fixed_own(self, path: Rates, parts: PathTorques) -> LimitRows:
        """Rows of drives that have limits, and of conditions."""
        keep = kept(self.limit)
        size = self.limit.size[keep]
        m, c, g, v, d = (part[..., keep] for part in self.fixed_torques(path, parts))
        return LimitRows(m, c, v, g, d, np.broadcast_to(-size, m.shape), np.broadcast_to(size, m.shape))


def beside(path: Rates) -> tuple[Rates, Rates, FloatArray]:
    """A path, or a motion, a step before and after its places, and the step (..., 1): small beside what changes there."""
    q, q1, q2, q3 = path
    changes = (np.abs(part).max(axis=-1, keepdims=True) ** (1 / k) for k, part in enumerate((q1, q2, q3), 1))
    step = _STEP / reduce(np.maximum, changes, np.array(1e-12))

    def at(e: FloatArray) -> Rates:
        return rates_of((q + e * q1 + e * e / 2 * q2, q1 + e * q2 + e * e / 2 * q3, q2 + e * q3, q3))

    return at(-step), at(step), step


def _times(S: FloatArray, part: FloatArray) -> FloatArray:
    found: FloatArray = (S @ part[..., None])[..., 0]
    return found


def _sizes(limit: Limit, rates: Limit | None) -> FloatArray:
    """What torques of drives are measured by: their limits, or as large as others are; without any, a second of their rates."""
    for known in (limit.size, np.ones(0) if rates is None else rates.size):
        finite = known[np.isfinite(known)]
        if finite.size:
            return np.where(np.isfinite(limit.size), limit.size, finite.max())
    return np.ones(len(limit.size))


__all__ = ["SharedDrives", "Split", "beside", "drives_limit"]
