"""Figures of results: each function takes arrays or a result, draws on axes and returns them, without showing or saving.

    from dalembert import plots

    ax = plots.torques(t, tau, names=robot.joint_names)
    ax.figure.savefig("torques.png")

Needs matplotlib, the extra `plots`; it is imported when the first figure is drawn.
"""

from .abilities import ellipsoid, manipulability_map
from .analysis import comparison, simplification
from .contributions import contributions
from .joints import motion, torques
from .pole_map import poles
from .simulation_histories import simulation
from .skeleton import skeleton
from .timing_plot import timing

__all__ = [
    "comparison",
    "contributions",
    "ellipsoid",
    "manipulability_map",
    "motion",
    "poles",
    "simplification",
    "simulation",
    "skeleton",
    "timing",
    "torques",
]
