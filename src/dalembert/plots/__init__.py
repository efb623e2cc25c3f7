"""Figures of results: each function takes arrays or a result, draws on axes and returns them, without showing or saving.

    from dalembert import plots

    ax = plots.torques(t, tau, names=robot.joint_names)
    ax.figure.savefig("torques.png")

Needs matplotlib, the extra `plots`; it is imported when the first figure is drawn.
"""

from .analysis import comparison, simplification
from .contributions import contributions
from .joints import motion, torques

__all__ = ["comparison", "contributions", "motion", "simplification", "torques"]
