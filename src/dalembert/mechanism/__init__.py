"""Mechanisms: trees of links whose loops are closed, in coordinates of the user's choice."""

from __future__ import annotations

from .assembled_positions import AssembledPositions
from .freedoms import mobility
from .mechanism import Mechanism, PlacedMechanism
from .mobility_result import Mobility
from .reaction_functions import ConstraintForces, constraint_forces

__all__ = [
    "AssembledPositions",
    "ConstraintForces",
    "Mechanism",
    "Mobility",
    "PlacedMechanism",
    "constraint_forces",
    "mobility",
]
