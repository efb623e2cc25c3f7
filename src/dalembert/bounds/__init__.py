"""Bounds that are proofs: enclosures of a quantity over a box, by control points and by intervals."""

from ..lazy import load_later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bounding import Progress, bounds
    from .bounds_result import Bounds, ProvedExtreme

__all__ = ["Bounds", "Progress", "ProvedExtreme", "bounds"]

if not TYPE_CHECKING:
    _HOMES = {
        **dict.fromkeys(("Progress", "bounds"), "bounding"),
        **dict.fromkeys(("Bounds", "ProvedExtreme"), "bounds_result"),
    }
    __getattr__, __dir__ = load_later(__name__, _HOMES)
