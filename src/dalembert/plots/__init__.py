"""Figures of what was computed: each function takes arrays, draws on axes and returns them; none shows or saves.

    from dalembert import plots

    ax = plots.torques(t, tau, names=robot.joint_names)
    ax.figure.savefig("torques.png")

Needs matplotlib, the extra `plots`; it is imported when the first figure is drawn.
"""

from .joints import contributions, torques

__all__ = ["contributions", "torques"]
