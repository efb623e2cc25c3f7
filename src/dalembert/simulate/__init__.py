"""Motion in time: adaptive simulation and fixed-step rollouts, their time loops compiled."""

from .adaptive import simulate
from .fixed import METHODS
from .rollout import Rollout, rollout
from .solution import Simulation, Solution

__all__ = ["METHODS", "Rollout", "Simulation", "Solution", "rollout", "simulate"]
