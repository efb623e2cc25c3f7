"""Inverse kinematics: joint positions for wanted poses, by search and in closed form."""

from __future__ import annotations

from .branch_functions import Branches, inverse_branches
from .inverse_functions import inverse_kinematics
from .inverse_result import InverseKinematics

__all__ = ["Branches", "InverseKinematics", "inverse_branches", "inverse_kinematics"]
