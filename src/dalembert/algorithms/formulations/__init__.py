"""The formulations of inverse dynamics, by name. They agree to rounding; each shows something different."""

from . import newton_euler
from .base import Formulation

FORMULATIONS: dict[str, Formulation] = {
    "newton_euler": Formulation("newton_euler", "Siciliano, §7.5", newton_euler.inverse_dynamics),
}

__all__ = ["FORMULATIONS", "Formulation"]
