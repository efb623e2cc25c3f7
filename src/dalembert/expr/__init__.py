"""The language algorithms are written in: scalar primitives, the graph they trace, and what it means."""

from . import ops
from .graph import Expr, Graph
from .ops import Scalar
from .primitives import PRIMITIVES
from .program import Program, Slot, trace

__all__ = ["PRIMITIVES", "Expr", "Graph", "Program", "Scalar", "Slot", "ops", "trace"]
