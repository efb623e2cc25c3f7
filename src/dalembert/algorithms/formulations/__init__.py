"""The formulations of the dynamics, by name. They agree to rounding; each shows something different."""

from . import newton_euler
from .base import Formulation, Term

FORMULATIONS: dict[str, Formulation] = {
    "newton_euler": newton_euler.FORMULATION,
}

__all__ = ["FORMULATIONS", "Formulation", "Term"]
