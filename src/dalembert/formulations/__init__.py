"""The formulations of the dynamics, by name. They agree to rounding; each shows something different."""

from . import (
    generalized_dalembert,
    influence,
    lagrange_energy,
    lagrange_euler,
    newton_euler,
    newton_euler_base,
    screw,
)
from .base import Formulation, FormulationTerm

FORMULATIONS: dict[str, Formulation] = {
    "newton_euler": newton_euler.FORMULATION,
    "newton_euler_base": newton_euler_base.FORMULATION,
    "influence": influence.FORMULATION,
    "generalized_dalembert": generalized_dalembert.FORMULATION,
    "lagrange_energy": lagrange_energy.FORMULATION,
    "lagrange_euler": lagrange_euler.FORMULATION,
    "screw": screw.FORMULATION,
}

__all__ = ["FORMULATIONS", "Formulation", "FormulationTerm"]
