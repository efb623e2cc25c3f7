"""Forward dynamics by the mass matrix: M q̈ = τ − h, solved by LᵀDL; serves couplings and full rotors too."""

from __future__ import annotations

from typing import Any

from ..spatial import ldl
from .composite_bodies import mass_matrix
from .newton_euler_recursion import LinkState, inverse_dynamics
from .sweep import Unrolled


def forward_dynamics(sweep: Unrolled, q: Any, qd: Any, tau: Any, base: LinkState, loads: Any = None) -> list[Any]:
    """q̈ for given joint forces."""
    still = [0.0] * sweep.tree.n
    h = inverse_dynamics(sweep, q, qd, still, base, loads)
    M = mass_matrix(sweep, q)
    return ldl.solve(M, [t - b for t, b in zip(tau, h, strict=True)])
