"""What the equations of a robot are like: their properties, their cost, and how far they can be simplified."""

from .comparison import Comparison, compare
from .costs import Complexity, complexity
from .identities import Properties, properties
from .simplify import SimplifiedModel, simplify_model
from .workspace import Workspace

__all__ = [
    "Comparison",
    "Complexity",
    "Properties",
    "SimplifiedModel",
    "Workspace",
    "compare",
    "complexity",
    "properties",
    "simplify_model",
]
