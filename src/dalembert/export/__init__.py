"""Other readings of a traced graph: source text to compile elsewhere, a function for JAX, equations for people."""

from .code import export_code
from .jax_function import to_jax
from .symbolic import Equations, equations

__all__ = ["Equations", "equations", "export_code", "to_jax"]
