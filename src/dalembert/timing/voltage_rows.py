"""Voltages of motors with inductance along a path, as rows of rates. With i = γ τ_m / k_t, γ being what a gear loses,

    v = L di/dt + R i + k_e ω,   τ_m = S τ,   ω = T q′ √x                                                   (1)

and τ, τ̇ of rate_rows this is √x (A u′ + B u + C x + G) + V u + W x + K, with ℓ = γ (L/k_t) S and ρ = γ (R/k_t) S:

    A = ℓ m,  B = ℓ (m′ + 2c),  C = ℓ c′,  G = ℓ (g′ + d′) + ρ v + k_e T q′                                   (2)
    V = ℓ v + ρ m,  W = ℓ v′ + ρ c,  K = ρ (g + d)

A gear with the efficiency η has γ = 1/η while its motor drives and η while it is driven: two rows, of which the one acts on whose
side the profile is. Beside places where the torque passes zero both act. Where the motor turns round, γ jumps as dry friction
does: the limit holds on either side.
"""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray
from ..model import DriveTrain
from ..trajectory.motion import Rates
from .limit_rows import RowNames, TimingLimits
from .path_grid import BoolArray, IndexArray
from .path_torque_rates import PathTorqueRates
from .path_torques import PathTorques

Columns = list[FloatArray]  # A, B, C, G, V, W, K of (2)
_FAR = 4.0  # R i of a motor that is driven is less than twice its limit over η: so far the limit of sides does not act
_ASIDE = 1e-4  # of the limit: while R i is less, both rows act, so that a motion that is slowed a little keeps them too


class InductiveVoltages:
    """The motors of a train whose voltage is limited and whose current takes its time.

    Rows of motors that drive come first, then those of gears with losses that are driven, then as many "sides", which are no
    limits: R i of the latter, moved so far that its row is kept where the torque has the sign of a motor that is driven. They
    hold a profile on the side that was taken for it.
    """

    def __init__(self, train: DriveTrain, motors: IndexArray) -> None:
        eta = train.column("efficiency")
        self.train, lossy = train, motors[eta[motors] < 1.0]
        self.motors: IndexArray = np.concatenate([motors, lossy, lossy])
        self.kind = np.repeat(["driving", "driven", "side"], [len(motors), len(lossy), len(lossy)])
        self.ideal: BoolArray = eta[self.motors] == 1.0
        self.loss: FloatArray = np.where(self.kind == "driving", 1.0 / eta[self.motors], eta[self.motors])
        limit = train.column("voltage_limit")[self.motors]
        self.side: BoolArray = self.kind == "side"
        self.size: FloatArray = np.where(self.side, _FAR / eta[self.motors], 1.0) * limit
        self.shift: FloatArray = np.where(self.side, self.size + 1.001 * _ASIDE * self.loss * limit, 0.0)

    @property
    def lossy(self) -> bool:
        """Whether any gear has losses."""
        return not self.ideal.all()

    def _column(self, key: str) -> FloatArray:
        return self.train.column(key)[self.motors]

    def places_among(self, rows: RowNames) -> tuple[IndexArray, IndexArray]:
        """Rows of limits that leave the inductance of these motors out, and the row here of each: driven ones come second."""
        own = [self.train.names[k] for k in self.motors[~self.side]]
        without: list[int] = []
        here: list[int] = []
        for place, (kind, name) in enumerate(zip(rows.kinds, rows.names, strict=True)):
            if kind == "voltage" and name in own:
                again = any(rows.names[k] == name for k in without)
                without.append(place)
                here.append(len(own) - 1 - own[::-1].index(name) if again else own.index(name))
        return np.array(without, dtype=np.intp), np.array(here, dtype=np.intp)

    def rows(self, path: Rates, parts: PathTorques, rates: PathTorqueRates) -> Columns:
        """(2) at places (N, K, n)."""
        L, R, e = self._factors(path)
        m, c, g, v, d = self._of_motors(parts)
        m1, c1, g1, v1, d1 = self._of_motors(rates)
        K = R * (g + d) + self.shift
        return [L * m, L * (m1 + 2 * c), L * c1, L * (g1 + d1) + R * v + e, L * v + R * m, L * v1 + R * c, K]

    def by_torques(self, path: Rates) -> tuple[FloatArray, FloatArray]:
        """How rows follow from rates of torques and from torques themselves at places (N, K, n), (N, K, rows, n)."""
        L, R, _ = self._factors(path)
        share = self.train.sharing[self.motors]
        return L[..., None] * share, R[..., None] * share

    def acting(self, path: Rates, torque: FloatArray) -> BoolArray:
        """Which limits act at places (N, K, rows) of a profile with torques (N, K, n): those of their side, and beside it."""
        if not self.lossy:
            return np.ones((*torque.shape[:2], len(self.motors)), dtype=bool)
        per_torque = self._column("resistance") / self._column("torque_constant") / self._column("voltage_limit")
        share = self._of_motors((torque,))[0] * np.sign(_one_way(self._turns(path))) * per_torque
        here = self.ideal | np.where(self.kind == "driving", share >= -_ASIDE, share <= _ASIDE)
        found = here.copy()
        found[:, 1:] |= here[:, :-1]
        found[:, :-1] |= here[:, 1:]
        return found & ~self.side

    def held(self, acting: BoolArray) -> BoolArray:
        """The limits that act, and the sides of motors that are driven, where they are not about to drive."""
        found = acting.copy()
        found[..., self.side] = ~acting[..., self._rows_of_sides("driving")]
        return found

    def with_sides(self, within: BoolArray) -> BoolArray:
        """Rows that are held within intervals (N, rows), and the sides of their motors."""
        found = within.copy()
        found[:, self.side] = within[:, self._rows_of_sides("driving")] | within[:, self._rows_of_sides("driven")]
        return found

    def _rows_of_sides(self, kind: str) -> list[int]:
        """The rows of a kind that the motors of the sides have."""
        rows = {self.motors[row]: int(row) for row in np.flatnonzero(self.kind == kind)}
        return [rows[motor] for motor in self.motors[self.side]]

    def _of_motors(self, parts: tuple[FloatArray, ...]) -> Columns:
        share = self.train.sharing[self.motors].T
        return [part @ share for part in parts]

    def _turns(self, path: Rates) -> FloatArray:
        return path[1] @ self.train.matrix[self.motors].T

    def _factors(self, path: Rates) -> Columns:
        """γ L/k_t, γ R/k_t and k_e T q′; a motor that stands loses nothing. Sides have R/k_t alone, and the sign of ω."""
        turns = self._turns(path)
        way = _one_way(turns)
        gain = np.where(way == 0.0, 1.0, self.loss) / self._column("torque_constant")
        R = gain * self._column("resistance") * np.where(self.side, np.sign(way), 1.0)
        return [gain * self._column("inductance") * ~self.side, R, self._column("k_e") * turns * ~self.side]


def _one_way(turns: FloatArray) -> FloatArray:
    """At its ends an interval has the direction that it has within: there a motor may be about to turn round."""
    found = turns.copy()
    found[:, 0], found[:, -1] = turns[:, 1], turns[:, -2]
    return found


def inductive_voltages(limits: TimingLimits) -> InductiveVoltages | None:
    """Of the motors that have both a limit of voltage and an inductance; None where there are none."""
    own = limits if limits.of_drives is None else limits.of_drives
    train, voltage = own.train, own.voltage
    if train is None or voltage is None:
        return None
    motors = np.flatnonzero(np.isfinite(voltage.size) & (train.column("inductance") > 0))
    return InductiveVoltages(train, motors) if motors.size else None


__all__ = ["InductiveVoltages", "inductive_voltages"]
