"""Motions as functions of time: made from a few numbers, with exact derivatives to third order.

>>> import dalembert as dal
>>> motion = dal.trajectory.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0)
>>> motion.sample(dt=0.5)
Trajectory(t: (5,), q: (5, 2), qd: (5, 2), qdd: (5, 2), qddd: (5, 2))
"""

from .b_splines import b_spline
from .blends import blended, faded
from .combined import stacked
from .fourier_series import fourier
from .limit_check import Exceeded, LimitCheck
from .limited import double_s, synchronised
from .motion import Motion, Trajectory
from .path_following import follow
from .polynomials import cubic, quintic, septic
from .profiles import duration_at, trapezoidal, triangular
from .recorded import sampled
from .splines import spline
from .tool_paths import ToolPath, ToolTrajectory, circle, line, through_poses

__all__ = [
    "Exceeded",
    "LimitCheck",
    "Motion",
    "ToolPath",
    "ToolTrajectory",
    "Trajectory",
    "b_spline",
    "blended",
    "circle",
    "cubic",
    "double_s",
    "duration_at",
    "faded",
    "follow",
    "fourier",
    "line",
    "quintic",
    "sampled",
    "septic",
    "spline",
    "stacked",
    "synchronised",
    "through_poses",
    "trapezoidal",
    "triangular",
]
