"""Drives of a mechanism that are others than its coordinates, or more: A, the rows of ∂x/∂q of the driven joints.

All u with Aᵀ u = τ move the mechanism alike [Freeman, Eq. 4-80]: they differ in what drives press against each other. The one
with the least Σ (u / limit)² is a function of the motion, as limits of its rate need it,

    u = S τ,   S = W⁻¹ A (Aᵀ W⁻¹ A)⁻¹,   W = diag(1 / limit²)                                                 (1)

With as many drives as freedoms there is no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics import engine
from ..dynamics.functions import forces_of
from ..loads.load_options import torque_limits
from ..loads.sharing_recipe import SHARING
from ..loads.torque_sets import filled, scaled
from ..mechanism.mechanism import Mechanism, PlacedMechanism
from ..trajectory.motion import Rates
from .limit_rows import DriveRows, Limit, LimitRows, kept
from .path_torques import PathTorques


def drives_limit(system: Any, given: Any, gripped: bool = False) -> Limit | None:
    """The limits of the drives of a mechanism that are not just its coordinates, or grip; None for everything else."""
    placed = system.mechanism if isinstance(system, PlacedMechanism) else system
    if not isinstance(placed, Mechanism) or not placed.closures or len(placed.actuated) < placed.n:
        return None
    names = tuple(placed.actuated)
    if not gripped and names == tuple(coordinate.name for coordinate in placed.coordinates):
        return None
    turns = {joint.name: joint.turns for joint in placed.robot.structure.coordinates}
    return Limit("torque", names, tuple("N m" if turns[name] else "N" for name in names), torque_limits(given, placed, names))


class SharedDrives:
    """The drives of a system, with their limits."""

    slack = 0  # drives that stand for what is left of conditions
    dear = False  # whether use of limits takes a programme for each place

    def __init__(self, system: Any, limit: Limit, threads: int | None) -> None:
        self.system, self.limit, self.threads = system, limit, threads

    @property
    def limited(self) -> tuple[str, ...]:
        """The drives that have limits."""
        return tuple(name for name, size in zip(self.limit.names, self.limit.size, strict=True) if np.isfinite(size))

    @property
    def width(self) -> int:
        """How many equations the torques of the drives have to meet."""
        return len(engine.system_of(self.system).coordinates)

    @property
    def results(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of everything whose use is told."""
        return tuple(("torque", name) for name in self.limited)

    def names_of(self, facet: Sequence[int]) -> tuple[str, ...]:
        """The drives that are at their limits on a facet: all others."""
        return tuple(name for k, name in enumerate(self.limit.names) if k not in facet)

    def terms(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> list[FloatArray]:
        """τ, A, and forces at closures."""
        run: Any = engine.kernel(self.system, SHARING, forces_of(None, None, None, None)[0])
        return [np.asarray(part) for part in run(q, qd, qdd, threads=self.threads)]

    def scaled(self, q: FloatArray) -> FloatArray:
        """A at configurations (..., n) in parts of the limits, (..., m, n)."""
        rest = np.zeros_like(q)
        return scaled(self.terms(q, rest, rest)[1], self.limit.size)

    def parts(self, path: Rates, parts: PathTorques) -> PathTorques:
        """What the torques of the drives have to make along a path."""
        return parts

    def use(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """|u| / limit of the limited drives, with torques whose largest one is the least, (K, drives)."""
        tau, A, *_ = self.terms(q, qd, qdd)
        return np.abs(filled(scaled(A, self.limit.size), tau).use)[:, kept(self.limit)]

    def shares(self, q: FloatArray) -> FloatArray:
        """S of (1) at configurations (..., n), shape (..., m, n)."""
        A = SharedDrives.scaled(self, q)
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
