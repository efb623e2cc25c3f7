"""Voltages of motors with inductance along a path, as rows of rates. With i = γ τ_m / k_t, γ being what a gear loses,

    v = L di/dt + R i + k_e ω,   τ_m = S τ,   ω = T q′ √x                                                   (1)

and τ, τ̇ of rate_rows this is √x (A u′ + B u + C x + G) + V u + W x + K, with ℓ = γ (L/k_t) S and ρ = γ (R/k_t) S:

    A = ℓ m,  B = ℓ (m′ + 2c),  C = ℓ c′,  G = ℓ (g′ + d′) + ρ v + k_e T q′                                   (2)
    V = ℓ v + ρ m,  W = ℓ v′ + ρ c,  K = ρ (g + d)

A gear with the efficiency η has γ = 1/η while its motor drives and η while it is driven: two rows, of which the one acts that the
profile is on. In an interval with both, where the torque passes zero, both act. Where the motor turns round, γ jumps as dry
friction does: the limit holds on either side.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..checks import FloatArray
from ..model import DriveTrain
from ..trajectory.motion import Rates
from .limit_rows import RowNames, TimingLimits
from .path_grid import BoolArray, IndexArray
from .path_torque_rates import PathTorqueRates
from .path_torques import PathTorques

Columns = list[FloatArray]  # A, B, C, G, V, W, K of (2)


class InductiveVoltages:
    """The motors of a train whose voltage is limited and whose current takes its time; driving rows first, then driven ones."""

    def __init__(self, train: DriveTrain, motors: IndexArray) -> None:
        eta = train.column("efficiency")
        self.train, lossy = train, motors[eta[motors] < 1.0]
        self.motors: IndexArray = np.concatenate([motors, lossy])
        self.drives: BoolArray = np.arange(len(self.motors)) < len(motors)
        self.ideal: BoolArray = eta[self.motors] == 1.0
        self.loss: FloatArray = np.where(self.drives, 1.0 / eta[self.motors], eta[self.motors])

    @cached_property
    def size(self) -> FloatArray:
        """The limit of each row [V]."""
        return self._column("voltage_limit")

    def _column(self, key: str) -> FloatArray:
        return self.train.column(key)[self.motors]

    def places_among(self, rows: RowNames) -> tuple[IndexArray, IndexArray]:
        """Rows of limits that leave the inductance of these motors out, and the row here of each: driven ones come second."""
        own = [self.train.names[k] for k in self.motors]
        without, here = [], []
        for place, (kind, name) in enumerate(zip(rows.kinds, rows.names, strict=True)):
            if kind == "voltage" and name in own:
                again = any(rows.names[k] == name for k in without)
                without.append(place)
                here.append(len(own) - 1 - own[::-1].index(name) if again else own.index(name))
        return np.array(without, dtype=np.intp), np.array(here, dtype=np.intp)

    def rows(self, path: Rates, parts: PathTorques, rates: PathTorqueRates) -> Columns:
        """(2) at places (N, K, n)."""
        L, R = self._per_torque(path)
        m, c, g, v, d = self._of_motors(parts)
        m1, c1, g1, v1, d1 = self._of_motors(rates)
        G = L * (g1 + d1) + R * v + self._column("k_e") * self._turns(path)
        return [L * m, L * (m1 + 2 * c), L * c1, G, L * v + R * m, L * v1 + R * c, R * (g + d)]

    def at(self, path: Rates, z: FloatArray, tau: FloatArray, rate: FloatArray) -> FloatArray:
        """(1) for torques and their rates (N, K, n) at the speed z (N, K, 1)."""
        (torque, slope), (L, R) = self._of_motors((tau, rate)), self._per_torque(path)
        return L * slope + R * torque + self._column("k_e") * self._turns(path) * z

    def acting(self, path: Rates, parts: PathTorques, z: FloatArray, u: FloatArray) -> BoolArray:
        """Which row acts in each interval (N, rows), at a profile with ṡ and s̈ of shape (N, K, 1)."""
        if self.ideal.all():
            return np.ones((len(z), len(self.motors)), dtype=bool)
        power = self._of_motors((parts.at(z, u),))[0] * _one_way(self._turns(path))
        here: BoolArray = self.ideal | np.where(self.drives, power >= 0, power <= 0)
        return here.any(axis=1)

    def _of_motors(self, parts: tuple[FloatArray, ...]) -> Columns:
        share = self.train.sharing[self.motors].T
        return [part @ share for part in parts]

    def _turns(self, path: Rates) -> FloatArray:
        return path[1] @ self.train.matrix[self.motors].T

    def _per_torque(self, path: Rates) -> Columns:
        """γ L/k_t and γ R/k_t; a motor that stands loses nothing."""
        gain = np.where(_one_way(self._turns(path)) == 0.0, 1.0, self.loss) / self._column("torque_constant")
        return [gain * self._column(key) for key in ("inductance", "resistance")]


def _one_way(turns: FloatArray) -> FloatArray:
    """At its ends an interval has the direction that it has within: there a motor may be about to turn round."""
    found = turns.copy()
    found[:, 0], found[:, -1] = turns[:, 1], turns[:, -2]
    return found


def inductive_voltages(limits: TimingLimits) -> InductiveVoltages | None:
    """Of the motors that have both a limit of voltage and an inductance; None where there are none."""
    if limits.train is None or limits.voltage is None:
        return None
    motors = np.flatnonzero(np.isfinite(limits.voltage.size) & (limits.train.column("inductance") > 0))
    return InductiveVoltages(limits.train, motors) if motors.size else None


__all__ = ["InductiveVoltages", "inductive_voltages"]
