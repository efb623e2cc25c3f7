"""Limits of jerk and of torque rate along a path as rows. With x = ṡ², u = s̈ and u′ = du/ds, so that s⃛ = √x u′,

    q⃛ = √x (q′ u′ + 3 q″ u + q‴ x)                                                                        (1)
    τ̇ = √x (m u′ + (m′ + 2c) u + c′ x + g′ + d′) + v u + v′ x                                                (2)

are both of the form √x (A u′ + B u + C x + G) + V u + W x + K; (2) is the derivative of τ = m u + c x + v √x + d + g, and K = 0.
Friction that is no line in the speed has its rate, less that of the line, in K, as it was at the last profile. Of drives that
share torques, u_d = S τ and what they press against each other (shared_drives, Eq. 1), the rate is S τ̇ + √x S′ τ and that of the
latter (pressing). Voltages of motors with inductance are rows of this form too (voltage_rows).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..dynamics import torque_rate
from ..trajectory.motion import Rates
from .limit_rows import Limit
from .path_grid import BoolArray
from .path_torque_rates import PathTorqueRates, path_torque_rates
from .path_torques import PathTorques
from .shared_drives import SharedDrives
from .voltage_rows import InductiveVoltages

_FLAT = 1e-9  # of the largest q̈, below which a rate of friction tells no slope


class RateRows(NamedTuple):
    """Coefficients at samples, each of shape (..., R), with the largest magnitudes `size` (R,)."""

    A: FloatArray
    B: FloatArray
    C: FloatArray
    G: FloatArray
    V: FloatArray
    W: FloatArray
    K: FloatArray
    size: FloatArray

    def value(self, x: FloatArray, u: FloatArray, slope: FloatArray) -> FloatArray:
        """The rates at samples with these ṡ², s̈ and ds̈/ds."""
        x, u, slope = x[..., None], u[..., None], slope[..., None]
        found: FloatArray = np.sqrt(x) * (self.A * slope + self.B * u + self.C * x + self.G) + self.V * u + self.W * x
        return found + self.K


class RateLimits(NamedTuple):
    """Limits of rates, infinite where there is none; `drives` in place of `torque_rate` where torques are those of drives.
    Voltages of motors with inductance are limited with them.
    """

    jerk: Limit
    torque_rate: Limit
    drives: Limit | None = None
    voltage: InductiveVoltages | None = None
    boundless: bool = False  # whether rates of drives have a limit only so that torques are functions of time

    @property
    def act(self) -> bool:
        """Whether any of them is finite."""
        return self.jerk.acts or self.torques.acts or self.voltage is not None

    @property
    def torques(self) -> Limit:
        """Of joints or drives."""
        return self.torque_rate if self.drives is None else self.drives

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of every row of jerk or torque rate; those of voltages come after them, and have their names already."""
        return tuple((limit.kind, name) for limit in (self.jerk, self.torques) for name in _only(limit, limit.names))

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """Those that were asked for, which are the first of them."""
        return self.names[: len(_only(self.jerk, self.jerk.names))] if self.boundless else self.names


def _only(limit: Limit, values: Any) -> tuple[Any, ...]:
    return tuple(value for value, size in zip(values, limit.size, strict=True) if np.isfinite(size))


class RateMaker:
    """From samples of a path to rows of rates."""

    def __init__(self, system: Any, limits: RateLimits, threads: int | None, sharing: SharedDrives | None) -> None:
        self.system, self.limits, self.threads = system, limits, threads
        self.sharing = sharing if limits.torques.acts else None

    def __call__(self, path: Rates, parts: PathTorques) -> RateRows:
        """The rows at samples (..., n): jerks, rates of torque, voltages."""
        found, voltage = [], self.limits.voltage
        if self.limits.jerk.acts:
            found.append(self._jerks(path))
        if self.limits.torques.acts or voltage is not None:
            rates = path_torque_rates(self.system, *path, threads=self.threads)
            if self.sharing is not None:
                parts, rates = self.sharing.fixed_torques(path, parts), self.sharing.fixed_rates(path, parts, rates)
        if self.limits.torques.acts:
            found.append(self._torques(parts, rates))
        if voltage is not None:
            found.append(RateRows._make([*voltage.rows(self.driven(path), parts, rates), voltage.size]))
        return RateRows._make(np.concatenate(columns, axis=-1) for columns in zip(*found, strict=True))

    def driven(self, path: Rates) -> Rates:
        """What the motors drive along a path: the coordinates, or drives."""
        return path if self.sharing is None else self.sharing.drive_path(path)

    def _jerks(self, path: Rates) -> RateRows:
        keep = np.flatnonzero(np.isfinite(self.limits.jerk.size))
        _, q1, q2, q3 = (part[..., keep] for part in path)
        zero = np.zeros_like(q1)
        return RateRows(q1, 3 * q2, q3, zero, zero, zero, zero, self.limits.jerk.size[keep])  # (1)

    def _torques(self, parts: PathTorques, rates: PathTorqueRates) -> RateRows:
        m, c, v = parts.inertia, parts.motion, parts.viscous
        columns = [m, rates.inertia + 2 * c, rates.motion, rates.gravity + rates.dry, v, rates.viscous, np.zeros_like(m)]  # (2)
        limit = self.limits.torques
        keep = np.flatnonzero(np.isfinite(limit.size))
        return RateRows._make([*(column[..., keep] for column in columns), limit.size[keep]])

    def acting(self, path: Rates, parts: PathTorques, x: FloatArray, u: FloatArray, pressed: FloatArray | float) -> BoolArray:
        """Which rows act (N, K, R), at a profile with ṡ² and s̈ (N, K): all but some voltages of gears with losses. `pressed` are
        torques that drives press with.
        """
        found = np.ones((*x.shape, len(self.limits.names)), dtype=bool)
        if self.limits.voltage is None:
            return found
        if self.sharing is not None:
            parts = self.sharing.fixed_torques(path, parts)
        own = self.limits.voltage.acting(self.driven(path), parts.at(np.sqrt(x)[..., None], u[..., None]) + pressed)
        return np.concatenate([found, own], axis=-1)

    def bent(self, path: Rates, rows: RateRows, x: FloatArray, u: FloatArray, slope: FloatArray, tau: FloatArray) -> RateRows:
        """The rows with K such that rates of torque, and voltages for torques τ, are the true ones at these ṡ², s̈ and ds̈/ds."""
        first, count = int(np.isfinite(self.limits.jerk.size).sum()), len(self.limits.names)
        if first == len(rows.size):
            return rows
        q, q1, q2, q3 = path
        z, u1 = np.sqrt(x)[..., None], u[..., None]
        motion = q, q1 * z, q2 * z * z + q1 * u1, q3 * z**3 + 3 * q2 * z * u1 + q1 * z * slope[..., None]
        rate = torque_rate(self.system, *motion, threads=self.threads)
        true = np.zeros_like(rows.K)
        if self.sharing is not None:
            tau, rate = self.sharing.fixed_motion(path, z, motion, tau, rate)
        if self.limits.voltage is not None:
            true[..., count:] = self.limits.voltage.at(self.driven(path), z, tau, rate)
        true[..., first:count] = rate[..., np.flatnonzero(np.isfinite(self.limits.torques.size))]
        K = true - rows._replace(K=np.zeros_like(rows.K)).value(x, u, slope)
        K[..., :first] = 0.0
        return rows._replace(K=K) if self.sharing is not None else self._with_slopes(rows, K, path, x, u)

    def _with_slopes(self, rows: RateRows, K: FloatArray, path: Rates, x: FloatArray, u: FloatArray) -> RateRows:
        """Rates of friction K of joints as f′(q̇) q̈ with q̈ = q′ u + q″ x: in V and W, so that they are less in a slower motion."""
        first, count = int(np.isfinite(self.limits.jerk.size).sum()), len(self.limits.names)
        keep = np.flatnonzero(np.isfinite(self.limits.torques.size))
        q1, q2 = path[1][..., keep], path[2][..., keep]
        qdd = q1 * u[..., None] + q2 * x[..., None]
        own = K[..., first:count]
        moving = np.abs(qdd) > _FLAT * np.abs(qdd).max(initial=1e-300)
        slope = np.where(moving, own / np.where(moving, qdd, 1.0), 0.0)
        V, W, rest = rows.V.copy(), rows.W.copy(), K.copy()
        V[..., first:count] += slope * q1
        W[..., first:count] += slope * q2
        rest[..., first:count] -= slope * qdd
        return rows._replace(V=V, W=W, K=rest)


__all__ = ["RateLimits", "RateMaker", "RateRows"]
