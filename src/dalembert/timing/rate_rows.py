"""Limits of jerk and of torque rate along a path as rows. With x = ṡ², u = s̈ and u′ = du/ds, so that s⃛ = √x u′,

    q⃛ = √x (q′ u′ + 3 q″ u + q‴ x)                                                                        (1)
    τ̇ = √x (m u′ + (m′ + 2c) u + c′ x + g′ + d′) + v u + v′ x                                                (2)

are both of the form √x (A u′ + B u + C x + G) + V u + W x + K; (2) is the derivative of τ = m u + c x + v √x + d + g, and K = 0.
Friction that is no line in the speed has its tangents in v, v′, d and d′ (path_friction). Of drives that share torques, u_d = S τ
and what they press against each other (shared_drives, Eq. 1), the rate is S τ̇ + √x S′ τ and that of the latter (pressing).
Voltages of motors with inductance are rows of this form too (voltage_rows).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import FloatArray
from ..trajectory.motion import Rates
from .limit_rows import Limit
from .path_grid import BoolArray
from .path_torque_rates import PathTorqueRates, path_torque_rates
from .path_torques import PathTorques
from .shared_drives import SharedDrives
from .voltage_rows import InductiveVoltages


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

    def rates(self, path: Rates) -> PathTorqueRates | None:
        """How the parts of torques change at samples (..., n), where that is limited."""
        if self.limits.torques.acts or self.limits.voltage is not None:
            return path_torque_rates(self.system, *path, threads=self.threads)
        return None

    def __call__(self, path: Rates, parts: PathTorques, rates: PathTorqueRates | None) -> RateRows:
        """The rows at samples (..., n): jerks, rates of torque, voltages."""
        found, voltage = [], self.limits.voltage
        if self.limits.jerk.acts:
            found.append(self._jerks(path))
        if rates is not None and self.sharing is not None:
            parts, rates = self.sharing.fixed_torques(path, parts), self.sharing.fixed_rates(path, parts, rates)
        if rates is not None and self.limits.torques.acts:
            found.append(self._torques(parts, rates))
        if rates is not None and voltage is not None:
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


__all__ = ["RateLimits", "RateMaker", "RateRows"]
