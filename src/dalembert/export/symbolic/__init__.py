"""Equations for people: a traced graph as closed forms or as a list of named steps, in SymPy, LaTeX, Unicode and Python."""

from .build import equations
from .result import Equations

__all__ = ["Equations", "equations"]
