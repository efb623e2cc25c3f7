"""Timing along paths: trajectories scaled in time, and the fastest timing within limits."""

from .fastest import fastest_timing
from .scaling import scale_trajectory
from .scaling_result import ScaledTrajectory
from .timing_result import FastestTiming

__all__ = ["FastestTiming", "ScaledTrajectory", "fastest_timing", "scale_trajectory"]
