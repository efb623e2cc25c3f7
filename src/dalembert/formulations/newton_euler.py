"""Recursive Newton-Euler in link frames: the recursion of algorithms/newton_euler_recursion.py as a formulation."""

from __future__ import annotations

from ..algorithms.composite_bodies import mass_matrix
from ..algorithms.newton_euler_recursion import inverse_dynamics
from .base import Formulation
from .newton_euler_terms import TERMS

FORMULATION = Formulation(
    name="newton_euler",
    reference="Siciliano, §7.5",
    inverse_dynamics=inverse_dynamics,
    shows="the fewest operations: link motions outwards, joint forces inwards, in link frames",
    mass_matrix=mass_matrix,
    terms=TERMS,
    can_roll=True,
    regroup=True,
    moving_base=True,
    parameters=True,
)
