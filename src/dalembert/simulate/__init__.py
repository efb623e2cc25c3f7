"""Motion in time: adaptive simulation and fixed-step rollouts, their time loops compiled."""

from ..lazy import load_later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .adaptive import simulate
    from .fixed import METHODS
    from .rollouts import Rollout, rollout
    from .solution import Simulation, Solution

__all__ = ["METHODS", "Rollout", "Simulation", "Solution", "rollout", "simulate"]

if not TYPE_CHECKING:
    _HOMES = {
        "METHODS": "fixed",
        **dict.fromkeys(("Rollout", "rollout"), "rollouts"),
        **dict.fromkeys(("Simulation", "Solution"), "solution"),
        "simulate": "adaptive",
    }
    __getattr__, __dir__ = load_later(__name__, _HOMES)
