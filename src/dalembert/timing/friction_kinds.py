"""Whether friction of a system is viscous and dry, which timing takes as it is, or another function of speed."""

from __future__ import annotations

from typing import Any

from ..dynamics import engine


def bends(system: Any) -> bool:
    """Whether friction may be another function of speed than a line and a jump."""
    view = engine.system_of(system)
    if not hasattr(view, "tree"):
        return True
    laws = [segment.friction for segment in view.tree.segments]
    return any(law is not None and (law.smooth or law.stribeck) for law in laws)


__all__ = ["bends"]
