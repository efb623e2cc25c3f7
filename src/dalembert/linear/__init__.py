"""Linear models of systems: A, B, C, D about points and motions, equilibria, modes, and the document's partial derivatives."""

from __future__ import annotations

from .analytical import load_partials
from .equilibria import Equilibrium, equilibrium
from .linear_model import LinearModel
from .linearization import linearize
from .modes import Modes
from .reach import Reach
from .signals import OperatingPoint, Signal

__all__ = [
    "Equilibrium",
    "LinearModel",
    "Modes",
    "OperatingPoint",
    "Reach",
    "Signal",
    "equilibrium",
    "linearize",
    "load_partials",
]
