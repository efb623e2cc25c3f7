"""Figures of what was computed: each function takes arrays, draws on axes and returns them; none shows or saves.

    from dalembert import plots

    ax = plots.torques(t, tau, names=robot.joint_names)
    ax.figure.savefig("torques.png")

Needs matplotlib, the extra `plots`; it is imported when the first figure is drawn.
"""

from .analysis import comparison, simplification
from .contributions import contributions
from .joints import motion, torques

__all__ = ["comparison", "contributions", "motion", "simplification", "torques"]
