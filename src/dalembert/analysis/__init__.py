"""What the equations of a robot are like: their properties, their cost, and how far they can be simplified."""

from .compare import Comparison, compare
from .complexity import Complexity, complexity
from .properties import Properties, properties
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
