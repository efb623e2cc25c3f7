"""How more drives than freedoms share the load of a motion."""

from __future__ import annotations

from .load_conditions import Contact, HeldForce, Squeeze
from .load_distribution import LoadDistribution, distribute_load

__all__ = ["Contact", "HeldForce", "LoadDistribution", "Squeeze", "distribute_load"]
