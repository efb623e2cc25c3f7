"""Closures that hold all turns, and yet are met with frames half a turn apart: their axes stand at right angles there too."""

from __future__ import annotations

import numpy as np

from ..checks import FloatArray
from ..model.closures import TYPES, Closure
from ..model.position_functions import Cosine
from ..model.tree import Tree
from .numeric import NumericEquations

_TURNS = {"rx", "ry", "rz"}


def turned(tree: Tree, closure: Closure, x: FloatArray) -> bool:
    """Whether a closure that lets nothing turn has its frames half a turn apart at these positions."""
    if not set(closure.directions or TYPES[closure.type]) >= _TURNS:
        return False
    assert closure.between is not None
    (a, A), (b, B) = closure.between
    cosines = [Cosine((a, A[:3, k].tolist()), (b, B[:3, k].tolist())) for k in range(3)]
    return bool(np.min(NumericEquations(tree, cosines)(x)[0]) < 0.0)


__all__ = ["turned"]
