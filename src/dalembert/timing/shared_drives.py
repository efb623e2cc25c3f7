"""Drives of a mechanism that are others than its coordinates, or more: their torques along a path, linear in those of (1).

With A the rows of ∂x/∂q of the driven joints, all u with Aᵀ u = τ move the mechanism alike [Freeman, Eq. 4-80]. The one with the
least Σ (u / limit)² is taken,

    u = S τ,   S = W⁻¹ A (Aᵀ W⁻¹ A)⁻¹,   W = diag(1 / limit²)                                                 (1)

so that every drive is a row like a joint's. With as many drives as freedoms it is the only one. `distribute_load` finds
torques that are smaller still where drives press against each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import FloatArray
from ..dynamics.engine import kernel
from ..dynamics.functions import forces_of
from ..loads.load_options import torque_limits
from ..loads.sharing_recipe import SHARING
from ..mechanism.mechanism import Mechanism, PlacedMechanism
from .limit_rows import Limit


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


def shares(system: Any, q: FloatArray, limit: Limit, threads: int | None) -> FloatArray:
    """S of (1) at configurations (..., n), shape (..., m, n)."""
    rest = np.zeros_like(q)
    A = np.asarray(kernel(system, SHARING, forces_of(None, None, None, None)[0])(q, rest, rest, threads=threads)[1])
    finite = np.isfinite(limit.size)
    largest = np.where(finite, limit.size, 1e3 * limit.size[finite].max(initial=1.0))
    weighted = A * largest[:, None] ** 2
    return weighted @ np.linalg.inv(np.swapaxes(A, -1, -2) @ weighted)


__all__ = ["drives_limit", "shares"]
