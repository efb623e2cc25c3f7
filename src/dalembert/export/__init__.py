"""Other readings of a traced graph: source text to compile elsewhere, and a function for JAX."""

from .code import export_code
from .jax_function import to_jax

__all__ = ["export_code", "to_jax"]
