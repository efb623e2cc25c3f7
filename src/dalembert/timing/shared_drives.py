"""Drives of a mechanism that are others than its coordinates, or more: A, the rows of ∂x/∂q of the driven joints.

All u with Aᵀ u = τ move the mechanism alike [Freeman, Eq. 4-80]: they differ in what drives press against each other. The one
with the least Σ (u / limit)² is a function of the motion, as limits of its rate need it,

    u = S τ,   S = W⁻¹ A (Aᵀ W⁻¹ A)⁻¹,   W = diag(1 / limit²)                                                 (1)

With as many drives as freedoms there is no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics.engine import kernel
from ..dynamics.functions import forces_of
from ..loads.load_options import torque_limits
from ..loads.sharing_recipe import SHARING
from ..loads.torque_sets import scaled
from ..mechanism.mechanism import Mechanism, PlacedMechanism
from ..trajectory.motion import Rates
from .limit_rows import DriveRows, Limit, LimitRows, kept
from .path_torques import PathTorques


def drives_limit(system: Any, given: Any) -> Limit | None:
    """The limits of the drives of a mechanism that are not just its coordinates; None for everything else."""
    placed = system.mechanism if isinstance(system, PlacedMechanism) else system
    if not isinstance(placed, Mechanism) or not placed.closures or len(placed.actuated) < placed.n:
        return None
    names = tuple(placed.actuated)
    if names == tuple(coordinate.name for coordinate in placed.coordinates):
        return None
    turns = {joint.name: joint.turns for joint in placed.robot.structure.coordinates}
    return Limit("torque", names, tuple("N m" if turns[name] else "N" for name in names), torque_limits(given, placed, names))


class SharedDrives:
    """The drives of a system, with their limits."""

    def __init__(self, system: Any, limit: Limit, threads: int | None) -> None:
        self.system, self.limit, self.threads = system, limit, threads

    @property
    def limited(self) -> tuple[str, ...]:
        """The drives that have limits."""
        return tuple(name for name, size in zip(self.limit.names, self.limit.size, strict=True) if np.isfinite(size))

    def scaled(self, q: FloatArray) -> FloatArray:
        """A at configurations (..., n) in parts of the limits, (..., m, n)."""
        rest = np.zeros_like(q)
        run = kernel(self.system, SHARING, forces_of(None, None, None, None)[0])
        return scaled(np.asarray(run(q, rest, rest, threads=self.threads)[1]), self.limit.size)

    def shares(self, q: FloatArray) -> FloatArray:
        """S of (1) at configurations (..., n), shape (..., m, n)."""
        A = self.scaled(q)
        largest = scaled(np.ones((len(self.limit.size), 1)), self.limit.size)
        return largest * (A @ np.linalg.inv(np.swapaxes(A, -1, -2) @ A))

    def fixed_rows(self) -> DriveRows:
        """A row for each drive, with torques as in (1)."""
        keep = kept(self.limit)
        size = self.limit.size[keep]

        def rows(path: Rates, parts: PathTorques) -> LimitRows:
            S = self.shares(path[0])[..., keep, :]
            m, c, g, v, d = ((S @ part[..., None])[..., 0] for part in parts)
            return LimitRows(m, c, v, g, d, np.broadcast_to(-size, m.shape), np.broadcast_to(size, m.shape))

        return DriveRows(rows, tuple((name,) for name in self.limited), facets=False)


__all__ = ["SharedDrives", "drives_limit"]
