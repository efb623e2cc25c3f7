"""Motion in time: adaptive simulation and fixed-step rollouts, their time loops compiled."""

from ..lazy import load_later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .adaptive import simulate
    from .balance import EnergyBalance
    from .events import Event, EventRecord
    from .fixed import METHODS
    from .power import PowerFlow
    from .rollouts import Rollout, rollout
    from .solution import BatchSolution, Simulation, Solution

__all__ = [
    "METHODS",
    "BatchSolution",
    "EnergyBalance",
    "Event",
    "EventRecord",
    "PowerFlow",
    "Rollout",
    "Simulation",
    "Solution",
    "rollout",
    "simulate",
]

if not TYPE_CHECKING:
    _HOMES = {
        "METHODS": "fixed",
        **dict.fromkeys(("Event", "EventRecord"), "events"),
        **dict.fromkeys(("Rollout", "rollout"), "rollouts"),
        **dict.fromkeys(("BatchSolution", "Simulation", "Solution"), "solution"),
        "EnergyBalance": "balance",
        "PowerFlow": "power",
        "simulate": "adaptive",
    }
    __getattr__, __dir__ = load_later(__name__, _HOMES)
