"""The contract of a formulation.

1. It is one module of pure functions over scalars, written as steps for a sweep (sweep.py).
2. Its `inverse_dynamics(sweep, q, qd, qdd, base, loads=None, *, with_friction=True)` returns the generalised forces per
   coordinate for a motion, gravity entering through `base`, external loads through `loads`.
3. It names its `reference`, a citation with its key in docs/references.bib.
4. It is entered in the `FORMULATIONS` table, and so inherits every agreement and property test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Formulation:
    """One way to write the equations of motion."""

    name: str
    reference: str
    inverse_dynamics: Callable[..., Any]
