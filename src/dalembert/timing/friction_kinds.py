"""Whether friction of a system is viscous and dry, which timing takes as it is, or another function of speed; and if it jumps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics import engine


def bends(system: Any) -> bool:
    """Whether friction may be another function of speed than a line and a jump."""
    view = engine.system_of(system)
    if not hasattr(view, "tree"):
        return True
    laws = [segment.friction for segment in view.tree.segments]
    return any(law is not None and (law.smooth or law.stribeck) for law in laws)


def jumps(system: Any) -> Any:
    """Of which coordinates dry friction jumps where they turn round, shape (n,); of all where that cannot be told."""
    view = engine.system_of(system)
    found = np.ones(len(view.coordinates), dtype=bool)
    if hasattr(view, "tree") and len(view.tree.segments) == len(found):
        for segment in view.tree.segments:
            found[segment.coordinate] = segment.friction is None or not segment.friction.smooth
    return found


__all__ = ["bends", "jumps"]
