"""What a robot can do at its tool with drives of bounded strength: ellipsoids, and polytopes."""

from .manipulability_functions import Manipulability, manipulability
from .manipulability_polytopes import ManipulabilityPolytope, manipulability_polytope

__all__ = ["Manipulability", "ManipulabilityPolytope", "manipulability", "manipulability_polytope"]
