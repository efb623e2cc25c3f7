"""Drive trains: the constant matrix between the speeds of motors and the rates of coordinates.

    ω = T q̇,   τ = Tᵀ τ_m                                                                              (1)

by virtual work [Freeman, Eq. 2-230 to 2-233; T is the inverse of the document's G]. T is diagonal where each motor drives one
joint; a wrist whose motors stand in the forearm, or a differential, has further entries; with more motors than coordinates there
are many torques τ_m for one τ, of which the one with the least Σ w τ_m² is taken:

    τ_m = W⁻¹ T (Tᵀ W⁻¹ T)⁻¹ τ                                                                         (2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import checks
from ..checks import FloatArray
from ..errors import ModelError, ShapeError
from ..wording import counted, listed
from .motors import Motor
from .record import FrozenMapping, Record, named_parts, put

_RANK = 1e-10  # of the largest singular value, below which motors do not move a combination of coordinates


@dataclass(frozen=True, eq=False)
class DriveTrain(Record):
    """Motors, and how they turn with the coordinates.

    Parameters
    ----------
    motors : mapping of str to Motor
        The m motors by name; their own `ratio` is left out, since the matrix has the gears in it.
    matrix : array_like, shape (m, n)
        T with ω = T q̇: turns of each motor for one of each coordinate, the other ones at rest.
    coordinates : sequence of str
        The n coordinates by name, in the order of the system.
    weights : array_like, shape (m,), optional
        w of (2), for more motors than coordinates; equal if left out. With w = 1 / (largest torque)² strong motors take more.
    added : bool
        Whether inertia and damping of the motors act beside the robot's own, as Tᵀ J T and Tᵀ B T. False where the robot's rotors
        and friction contain them.

    Examples
    --------
    A differential: both motors turn the same way for a roll, opposite ways for a pitch.

    >>> import dalembert as dal
    >>> motor = dal.Motor(resistance=1.0, torque_constant=0.05)
    >>> train = dal.DriveTrain({"left": motor, "right": motor}, [[10, 10], [10, -10]], ["roll", "pitch"])
    >>> train.motor_torques([4.0, 1.0])
    array([0.25, 0.15])
    """

    motors: Mapping[str, Motor]
    matrix: FloatArray
    coordinates: tuple[str, ...]
    weights: FloatArray | None = None
    added: bool = True

    def __post_init__(self) -> None:
        motors = named_parts("drive train: motors", self.motors, Motor)
        names = tuple(
            checks.name("drive train: coordinates", name) for name in checks.parts("coordinates", self.coordinates, str)
        )
        checks.unique("drive train: coordinates", names)
        put(self, motors=motors, coordinates=names, added=checks.flag("drive train: added", self.added))
        put(self, matrix=checks.array("drive train: matrix", self.matrix, (len(motors), len(names))))
        put(self, weights=self._checked_weights())
        self._check_gears()
        self._check_rank()

    def _checked_weights(self) -> FloatArray | None:
        if self.weights is None:
            return None
        weights = checks.array("drive train: weights", self.weights, (len(self.motors),))
        if not (weights > 0).all():
            raise ModelError(f"drive train: weights {checks.describe(weights)} found; positive numbers are expected.")
        return weights

    def _check_gears(self) -> None:
        geared = [name for name, motor in self.motors.items() if motor.ratio is not None]
        if geared:
            raise ModelError(
                f"drive train: a ratio found at {listed(geared)}, but the matrix has the gears in it. Leave `ratio` out there."
            )

    def _check_rank(self) -> None:
        m, n = self.matrix.shape
        sizes = np.linalg.svd(self.matrix, compute_uv=False)
        rank = int((sizes > _RANK * sizes.max(initial=0.0)).sum())
        if rank < n:
            raise ModelError(
                f"drive train: {counted(m, 'motor')} move {rank} of {counted(n, 'coordinate')} independently, so the others have "
                f"no drive. A row for each motor, and at least one motor for each of {listed(self.coordinates)}, is expected."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the motors, in order."""
        return tuple(self.motors)

    @cached_property
    def sharing(self) -> FloatArray:
        """The matrix of (2), shape (m, n)."""
        T = self.matrix
        if T.shape[0] == T.shape[1]:
            return np.asarray(np.linalg.inv(T).T, dtype=float)
        W = np.ones(len(T)) if self.weights is None else 1.0 / self.weights
        return np.asarray((W[:, None] * T) @ np.linalg.inv(T.T @ (W[:, None] * T)), dtype=float)

    def speeds(self, qd: Any) -> FloatArray:
        """ω of the motors [rad/s], shape (..., m)."""
        return self._given("qd", qd, len(self.coordinates)) @ self.matrix.T

    def joint_torques(self, tau_m: Any) -> FloatArray:
        """τ at the coordinates [N m | N], shape (..., n)."""
        return self._given("tau_m", tau_m, len(self.motors)) @ self.matrix

    def motor_torques(self, tau: Any) -> FloatArray:
        """τ_m of the motors [N m], shape (..., m); by (2) where there are more motors than coordinates."""
        return self._given("tau", tau, len(self.coordinates)) @ self.sharing.T

    def _given(self, name: str, value: Any, size: int) -> FloatArray:
        array = np.asarray(value, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size:
            raise ShapeError(f"{name}: shape {array.shape} found, (..., {size}) expected.")
        return array

    def column(self, key: str, default: float | None = None) -> FloatArray:
        """A number of every motor, shape (m,); refused where one does not have it."""
        found = [getattr(motor, key) for motor in self.motors.values()]
        missing = [name for name, value in zip(self.motors, found, strict=True) if value is None]
        if missing and default is None:
            words = key.replace("k_e", "back-EMF constant").replace("_", " ")
            raise ModelError(
                f"motor {missing[0]!r}: no {words} found, which this needs. Give it to Motor(...), from its data sheet."
            )
        return np.array([default if value is None else value for value in found], dtype=float)

    @cached_property
    def inertia(self) -> FloatArray:
        """Tᵀ J T, shape (n, n): what the motors add to the mass matrix [Freeman, Eq. 2-237]; zero unless they do."""
        return self._reflected("inertia")

    @cached_property
    def damping(self) -> FloatArray:
        """Tᵀ B T, shape (n, n): what the motors add to the viscous friction; zero unless they do."""
        return self._reflected("damping")

    def _reflected(self, key: str) -> FloatArray:
        scale = self.column(key) if self.added else np.zeros(len(self.motors))
        return self.matrix.T @ (scale[:, None] * self.matrix)


def diagonal_train(motors: Mapping[str, Motor], ratios: Mapping[str, float]) -> DriveTrain:
    """One motor for each coordinate, of the same name; the robot has their inertia and damping already."""
    bare = FrozenMapping({name: motor.replace(ratio=None) for name, motor in motors.items()})
    return DriveTrain(bare, np.diag([ratios[name] for name in motors]), tuple(motors), added=False)


__all__ = ["DriveTrain", "diagonal_train"]
